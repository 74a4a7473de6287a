"""Cells with several labels of one rater, as sets of labels."""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl

from konsil.analysis.recoding.rewritten import chosen_repeats
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.scale import ScaledRatings, decide
from konsil.analysis.tabular.unnamed import labels_of_cell
from konsil.errors import SourceError, option
from konsil.instrument import places
from konsil.stats.agreement.label_sets import Members


def set_rows(cells: pl.DataFrame, options: TableOptions, warnings: list[str]) -> ScaledRatings:
    """One set of labels for each cell, in which the order and repeats of labels mean nothing.

    A list without labels is the empty set. A cell with the abstention alone is an abstention;
    beside labels it is refused, as are labels that are not declared, by line.
    """
    _refuse_order(options)
    # Equal cells are read once, since cells are many and their different words few.
    distinct = cells.sort("row", "rater").unique("label", keep="first", maintain_order=True)
    words_by_cell: dict[str, tuple[str, ...]] = {}
    first_by_word: dict[str, tuple[int, str]] = {}
    for row, rater, cell in distinct.select("row", "rater", "label").iter_rows():
        words_by_cell[cell] = words = _words(cell, row, rater, options)
        if options.abstain not in words:
            first_by_word |= {word: (row, rater) for word in words if word not in first_by_word}
    if not first_by_word:
        raise SourceError(f"{options.name}: no cell contains a label; every list is empty")
    firsts = [(*place, word) for word, place in first_by_word.items()]
    single = pl.DataFrame(firsts, schema=("row", "rater", "label"), orient="row")
    single, labels, _ = decide(single, options, warnings)
    codes = labels.codes()
    code_by_word = {
        w: codes[label] for w, label in zip(first_by_word, single["label"], strict=True)
    }
    is_abstained = cells["label"].is_in(
        [c for c, w in words_by_cell.items() if options.abstain in w]
    )
    sets = {
        cell: json.dumps(
            [labels.names[code] for code in sorted({code_by_word[word] for word in words})],
            ensure_ascii=False,
        )
        for cell, words in words_by_cell.items()
        if options.abstain not in words
    }
    rated = cells.filter(~is_abstained).with_columns(pl.col("label").replace_strict(sets))
    if options.repeat in ("first", "last"):
        rated = chosen_repeats(rated, options.repeat, warnings)
    return ScaledRatings(rated, cells.filter(is_abstained), labels)


def _words(cell: str, row: int, rater: str, options: TableOptions) -> tuple[str, ...]:
    """The words of a cell, or its abstention, which is refused beside others."""
    labels = [label.strip() for label in labels_of_cell(cell, options, row) if label]
    words = tuple(sys.intern(options.recode.get(label, label)) for label in labels if label)
    if options.abstain in words and len({*words}) > 1:
        raise SourceError(
            f"{options.name}: {options.place} {options.line(row)}, rater {rater!r}: the abstention"
            f" {options.abstain!r} is beside labels; expected it alone in its cell"
        )
    return words


def label_words(frame: pl.DataFrame, options: TableOptions) -> set[str]:
    """The different words of a table's ratings; of cells with several labels, each."""
    if options.layout == "counts":
        return {*options.labels, *([] if options.abstain is None else [options.abstain])}
    columns = options.rater if options.layout == "wide" else (str(options.label),)
    words = {word for name in columns for word in frame[name].unique().drop_nulls().to_list()}
    if options.has_sets or options.layout == "lists":
        words = {str(label) for word in words for label in labels_of_cell(word, options, 0)}
    return {word.strip() for word in words}


def members_of(rated: pl.DataFrame, labels: Labels) -> tuple[Labels, Members]:
    """The different sets of some ratings as a scale, and which of the labels each contains."""
    names = tuple(rated.get_column("label").unique().sort().to_list())
    code_of = labels.codes()
    members = np.zeros((len(names), len(labels.names)), dtype=np.bool_)
    for row, name in enumerate(names):
        members[row, [code_of[label] for label in json.loads(name)]] = True
    return Labels(names, places(names), "nominal"), members


def _refuse_order(options: TableOptions) -> None:
    """Refuse what needs an order or numbers, where ratings are sets."""
    if options.level != "nominal":
        raise SourceError(
            f"{options.name}: {option('level', options.level)}: cells have several labels, which"
            " are compared as sets without an order; expected the level nominal"
        )
    if options.repeat in ("sum", "mean", "max"):
        raise SourceError(
            f"{options.name}: {option('repeat', options.repeat)}: cells have several labels, which"
            " are no numbers; expected first or last"
        )
