"""The scale of a table of ratings: its labels, their order and their numbers.

What is not on it is refused by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.recoding.rewritten import chosen_repeats, combined_repeats
from konsil.analysis.roles.label_codes import alike
from konsil.analysis.roles.vocabulary import NO_NUMBER, TRUTH_VALUES, known_order
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.slices import Slices
from konsil.errors import SourceError, UnclearTableError, entry, nearest, option
from konsil.errors.message import listed, message
from konsil.instrument import label_numbers, number_word, places, rise
from konsil.records.numerals import own_numbers

_SOMETIMES = {"null", "none", "n/a"}
"""Not a label among numbers; among words ('none', 'mild', 'severe') it is one."""

_LARGEST = 1e100
"""Squares of larger numbers are no numbers any more."""


@dataclass(frozen=True, eq=False)
class ScaledRatings:
    """Ratings whose labels are on a scale."""

    rated: pl.DataFrame
    """One row a rating; a set of labels is written as a JSON list in the order of the scale."""
    abstained: pl.DataFrame
    """The abstentions, in the same columns."""
    labels: Labels
    """The scale; of sets, the single labels."""
    constant: str | None = None
    """The only label, where no scale was declared and there is just one."""


def on_scale(
    rows: pl.DataFrame,
    options: TableOptions,
    warnings: list[str],
    *,
    counts_labels: bool = True,
) -> ScaledRatings:
    """Ratings without abstentions on their scale, several by one rater combined or chosen.

    Raises SourceError where all are abstentions, and for what is not on the scale.
    """
    is_abstention = pl.lit(value=False)
    if options.abstain is not None:
        is_abstention = pl.col("label") == options.abstain
    rated, abstained = rows.filter(~is_abstention), rows.filter(is_abstention)
    if rated.height == 0:
        raise SourceError(
            f"{options.name}: every rating is the abstention {options.abstain!r}; there is no label"
            " to compare"
        )
    if options.repeat in ("sum", "mean", "max"):
        rated = combined_repeats(rated, options.repeat, options.name)
    rated, labels, constant = decide(rated, options, warnings, counts_labels=counts_labels)
    if options.repeat in ("first", "last"):
        rated = chosen_repeats(rated, options.repeat, warnings)
    return ScaledRatings(rated, abstained, labels, constant)


def refuse_absent_abstention(
    n_abstained: int, labels: Iterable[str], options: TableOptions, slices: Slices
) -> None:
    """Refuse an abstention that no rating is; some rows of a table may have none."""
    if options.abstain is None or n_abstained or slices.where:
        return
    raise SourceError(
        f"{options.name}: {option('abstain', options.abstain)}: no rating is this label;"
        f" {nearest(options.abstain, labels)}"
    )


def decide(
    rows: pl.DataFrame,
    options: TableOptions,
    warnings: list[str],
    *,
    counts_labels: bool = True,
) -> tuple[pl.DataFrame, Labels, str | None]:
    """Decide labels and numbers; refuse what is not on the scale, by line.

    `counts_labels`: whether statistics depend on the number of labels, observed or not.
    """
    rows, options = _truth_values(rows, options)
    _check_declared(options)
    rows = _without_words(rows, options, warnings)
    observed = rows.get_column("label").unique().sort().to_list()
    words = (*observed, *options.labels)
    canonical = {
        word: number_word(number)
        for word, number in zip(words, own_numbers(words), strict=True)
        if number is not None
    }
    numeric = all(word in canonical for word in words)
    declared = list(options.labels)
    if numeric:
        rows = rows.with_columns(pl.col("label").replace(canonical))
        observed = sorted({canonical[v] for v in observed}, key=float)
        declared = [canonical[v] for v in declared]
    elif not options.values:
        others = [v for v in observed if v not in canonical]
        _refuse_non_numbers(rows, others, options, numbers=len(others) < len(observed))
    if (
        not numeric
        and options.level == "ordinal"
        and not declared
        and len(observed) > 1
        and not set(observed) <= TRUTH_VALUES
    ):
        raise _refusal_of_words(observed, options)
    if declared:
        _refuse_undeclared(rows, observed, declared, options)
    elif (
        counts_labels
        and len(observed) > 1
        and options.level in {"nominal", "ordinal"}
        and not options.has_sets
    ):
        warnings.append(
            f"the scale was taken from the {len(observed)} labels observed; if a label was never"
            f" used, declare all with {option('labels', example='[...]')}: pabak, randolph_kappa,"
            " gwet_ac1 and gwet_ac2 depend on their number"
        )
    if not declared:
        warnings.extend(_lookalike_labels(observed))
    names = tuple(declared or observed)
    constant = names[0] if len(names) == 1 else None
    declared_values = dict(zip(declared, options.values, strict=False))
    values = label_numbers(names, options.level, declared_values) or places(names)
    if not rise(values):
        stated = option("values" if options.values else "labels")
        numbers = ",".join(map(number_word, values))
        raise SourceError(f"{options.name}: {stated} {numbers}: numbers must increase strictly")
    if max(map(abs, values)) > _LARGEST:
        raise SourceError(
            f"{options.name}: {max(values, key=abs):g} is too large for a label; expected below"
            f" {_LARGEST:g}"
        )
    if options.level == "ratio" and min(values) < 0:
        raise SourceError(
            f"{options.name}: level ratio: {min(values):g} is below zero; a ratio scale starts at"
            " zero"
        )
    return rows, Labels(names, values, options.level, None), constant


def lookalikes(words: Sequence[str]) -> Iterator[str]:
    """A note for each group of words that differ in case, spaces or width of letters alone."""
    for group in alike(words):
        yield message(
            (
                "{words} differ only in case or spaces and are counted as different; write"
                " them identically if they mean the same"
            ),
            message_id="table.lookalikes",
            words=listed([repr(word) for word in group]),
        )


def _lookalike_labels(labels: Sequence[str]) -> Iterator[str]:
    for group in alike(labels):
        *others, last = group
        recode = [entry("recode", other, repr(last), last) for other in others]
        yield message(
            (
                "{labels} differ only in case or spaces and are counted as different; use"
                " {recode} if they mean the same"
            ),
            message_id="table.lookalike_labels",
            labels=listed([repr(label) for label in group]),
            recode=" ".join(recode),
        )


def _truth_values(rows: pl.DataFrame, options: TableOptions) -> tuple[pl.DataFrame, TableOptions]:
    """True and false are one label each however they are written.

    Among 0 and 1, and as numbers, they are 1 and 0.
    """
    words = [*rows.get_column("label").unique().to_list(), *options.labels]
    others = {word for word in words if word.casefold() not in TRUTH_VALUES}
    numbers = others | ({"0"} if options.level in {"interval", "ratio"} else set())
    if len(others) == len(words) or not {*own_numbers([*others])} <= {0.0, 1.0}:
        return rows, options
    written = {word: word.casefold() for word in words if word not in others}
    if numbers:
        written = {word: str(int(folded == "true")) for word, folded in written.items()}
    labels = tuple(written.get(word, word) for word in options.labels)
    return rows.with_columns(pl.col("label").replace(written)), replace(options, labels=labels)


def _without_words(rows: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    """Labels such as '5 : fully correct' as the number before the sign, where numbers are needed.

    No scale is declared, and among the labels of each unit a number has one label: questions of a
    survey may have words of their own.
    """
    if options.level == "nominal" or options.labels:
        return rows
    words = rows.get_column("label").unique().sort().to_list()
    numbers = {word: match[1] for word in words if (match := _CODE.fullmatch(word))}
    if not numbers or len(numbers) < len(words):
        return rows
    read = rows.with_columns(pl.col("label").replace(numbers).alias(_CODES))
    if read.group_by("unit", _CODES).agg(pl.col("label").n_unique()).get_column("label").max() != 1:
        return rows
    warnings.append(
        message(
            "labels such as {label} are read as the numbers that they begin with",
            message_id="table.labels_with_numbers",
            label=repr(words[0]),
        )
    )
    return read.with_columns(pl.col(_CODES).alias("label")).drop(_CODES)


_CODES = "\x1fcodes"
_CODE = re.compile(r"\s*([+-]?\d+)\s*[:=]\s*[^\W\d].*", re.DOTALL)
"""A number, a sign, and words."""


def _check_declared(options: TableOptions) -> None:
    for n, label in enumerate(options.labels):
        if not label:
            raise SourceError(
                f"{options.name}: {option('labels')}: label {n + 1} is empty; expected words with"
                " commas between them"
            )
        if label in options.labels[:n]:
            raise SourceError(
                f"{options.name}: {option('labels')}: {label!r} occurs twice; expected each label"
                " once"
            )
    if options.values and len(options.values) != len(options.labels):
        raise SourceError(
            f"{options.name}: {option('values')}: has {len(options.values)} numbers for"
            f" {len(options.labels)} labels; expected as many as {option('labels')} has labels"
        )
    if options.abstain is not None and options.abstain in options.labels:
        raise SourceError(
            f"{options.name}: {option('abstain')} {options.abstain!r} is among {option('labels')};"
            " an abstention is not a value"
        )


def _first_occurrence(
    rows: pl.DataFrame, options: TableOptions, bad: Sequence[str]
) -> tuple[str, int, str]:
    matches = rows.filter(pl.col("label").is_in(list(bad))).sort("row", "rater")
    row = matches.row(0, named=True)
    return (
        f"{options.place} {options.line(int(row['row']))}, rater {row['rater']!r}",
        matches.height,
        str(row["label"]),
    )


def _refusal_of_words(observed: Sequence[str], options: TableOptions) -> SourceError:
    """The refusal of words without an order, with the order of the usual scale that has them."""
    sentence = (
        f"level ordinal: the labels {', '.join(map(repr, observed[:6]))} are words; give them in"
        f" order with {option('labels', example='[...]')}"
    )
    if order := known_order(observed):
        return UnclearTableError(
            options.name, unclear=(f"{sentence}.",), arguments=[("labels", order)]
        )
    return SourceError(f"{options.name}: {sentence}")


def _refuse_non_numbers(
    rows: pl.DataFrame, words: Sequence[str], options: TableOptions, *, numbers: bool
) -> None:
    """Where numbers are expected, everything else is wrong.

    Among words, or beside `numbers`, only what programs write for 'no number'.
    """
    bad = [*words]
    if options.level not in {"interval", "ratio"}:
        bad = [
            v for v in bad if v.casefold() in ({*NO_NUMBER, *_SOMETIMES} if numbers else NO_NUMBER)
        ]
    if not bad:
        return
    place, n, label = _first_occurrence(rows, options, bad)
    more = f" (and {n - 1:,} more)" if n > 1 else ""
    if label.casefold() in {*NO_NUMBER, *_SOMETIMES}:
        hint = (
            f"leave the cell empty or use {option('missing', label, several=True)} if it means"
            " not rated"
        )
    elif own_numbers((label.replace(",", ".", 1),)) != (None,):
        hint = (
            f"write {label.replace(',', '.', 1)!r} if its comma is a decimal one, or"
            f" {label.replace(',', '', 1)!r}"
        )
    else:
        hint = (
            f"level {options.level} needs numbers: give those of words with"
            f" {option('labels', example='[...]')} and {option('values', example='[...]')}"
        )
    raise SourceError(f"{options.name}: {place}: {label!r} is not a number{more}; {hint}")


def _refuse_undeclared(
    rows: pl.DataFrame, observed: Sequence[str], declared: Sequence[str], options: TableOptions
) -> None:
    bad = [v for v in observed if v not in set(declared)]
    if bad:
        place, n, label = _first_occurrence(rows, options, bad)
        more = f" (and {n - 1:,} more)" if n > 1 else ""
        raise SourceError(
            f"{options.name}: {place}: {label!r} is not one of the declared labels{more};"
            f" {nearest(label, declared)}"
        )
