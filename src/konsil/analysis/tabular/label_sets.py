"""Cells with several labels of one rater, as sets of labels."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from konsil.analysis.recoding.rewritten import chosen_repeats, recoded
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.scale import ScaledRatings, decide
from konsil.analysis.tabular.unnamed import labels_of_cell
from konsil.errors import SourceError, option
from konsil.instrument import places
from konsil.stats.agreement.label_sets import Members

_CELL = "\x1fcell"


def set_rows(cells: pl.DataFrame, options: TableOptions, warnings: list[str]) -> ScaledRatings:
    """One set of labels for each cell, in which the order and repeats of labels mean nothing.

    A list without labels is the empty set. A cell with the abstention alone is an abstention;
    beside labels it is refused, as are labels that are not declared, by line.
    """
    _refuse_order(options)
    lists = [
        labels_of_cell(cell, options, int(row)) for row, cell in cells.select("row", "label").rows()
    ]
    numbered = cells.with_columns(pl.Series("label", lists, dtype=pl.List(pl.String)))
    numbered = numbered.with_row_index(_CELL)
    single = numbered.explode("label").with_columns(pl.col("label").str.strip_chars())
    single = recoded(single.filter(pl.col("label") != ""), options.recode)
    is_abstention = pl.lit(False)
    if options.abstain is not None:
        is_abstention = pl.col("label") == options.abstain
    abstentions, single = single.filter(is_abstention), single.filter(~is_abstention)
    both = abstentions.join(single, on=_CELL, how="semi")
    if both.height:
        row = both.row(0, named=True)
        raise SourceError(
            f"{options.name}: {options.place} {options.line(int(row['row']))}, rater"
            f" {row['rater']!r}: the abstention {options.abstain!r} is beside labels; expected it"
            " alone in its cell"
        )
    rated = numbered.join(abstentions, on=_CELL, how="anti", maintain_order="left")
    abstained = numbered.join(abstentions, on=_CELL, how="semi", maintain_order="left")
    if not single.height:
        raise SourceError(f"{options.name}: no cell contains a label; every list is empty")
    single, labels, _ = decide(single, options, warnings)
    codes = single.get_column("label").replace_strict(labels.codes(), return_dtype=pl.Int64)
    sets = single.select(_CELL, codes).unique().sort(_CELL, "label").group_by(_CELL).agg("label")
    written = [
        json.dumps([labels.names[code] for code in given or ()], ensure_ascii=False)
        for given in rated.select(_CELL)
        .join(sets, on=_CELL, how="left", maintain_order="left")["label"]
        .to_list()
    ]
    rated = rated.with_columns(pl.Series("label", written, dtype=pl.String))
    rated, abstained = rated.drop(_CELL), abstained.drop(_CELL)
    if options.repeat in ("first", "last"):
        rated = chosen_repeats(rated, options.repeat, warnings)
    return ScaledRatings(rated, abstained, labels)


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
