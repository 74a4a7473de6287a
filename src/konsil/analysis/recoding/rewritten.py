"""Ratings rewritten by stated rules: labels read as others, one of repeated ratings chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Literal

import polars as pl

from konsil.errors import AnalysisError, entry, nearest, option
from konsil.errors.message import message
from konsil.instrument import number_word
from konsil.records.numerals import own_numbers
from konsil.records.source import Repeat


def check_recode(words: Collection[str], recode: Mapping[str, str]) -> None:
    """Refuse a label to be read as another one that is not among the words of the cells."""
    for old, new in recode.items():
        if old not in words:
            raise AnalysisError(
                f"{entry('recode', old, repr(new), new)}: no cell is {old!r}; {nearest(old, words)}"
            )


def recoded(rows: pl.DataFrame, recode: Mapping[str, str]) -> pl.DataFrame:
    """The rows with some labels read as others; each label is replaced once.

    >>> rows = pl.DataFrame({"label": ["Yes", "yes", "no"]})
    >>> recoded(rows, {"Yes": "yes"})["label"].to_list()
    ['yes', 'yes', 'no']
    """
    if not recode:
        return rows
    return rows.with_columns(pl.col("label").replace(dict(recode)))


def rating_key(rows: pl.DataFrame) -> list[str]:
    """The columns that name a rating, which a rater gives once.

    >>> rating_key(pl.DataFrame(schema=["row", "unit", "rater", "label"]))
    ['unit', 'rater']
    """
    return [name for name in ("group", "unit", "rater") if name in rows.columns]


def combined_repeats(
    rows: pl.DataFrame, repeat: Repeat, table: str, recode: str = "recode"
) -> pl.DataFrame:
    """One label for each rater and unit: the sum, mean or maximum of the numbers of all of theirs.

    Labels are numbers, or are recoded as numbers before, such as the weights of errors, by the
    option `recode`. A sum of decimals is exact where they have a finite number of digits: 0.1 and
    0.2 are 0.3.

    >>> rows = pl.DataFrame(
    ...     {"unit": ["1", "1"], "rater": ["a", "a"], "label": ["0.1", "0.2"], "row": [0, 1]}
    ... )
    >>> combined_repeats(rows, "sum", "t")["label"].to_list()
    ['0.3']
    """
    words = rows.get_column("label").unique().to_list()
    numbers = dict(zip(words, own_numbers(words), strict=True))
    for word in sorted(words):
        if numbers[word] is None:
            raise AnalysisError(
                f"{table}: {option('repeat', repeat)}: {word!r} is not a number; state its number"
                f" with {entry(recode, word, '...', '...')}"
            )
    exact = {word: Fraction(str(number)) for word, number in numbers.items()}

    def combination(labels: list[str]) -> str:
        values = [exact[label] for label in labels]
        value = max(values) if repeat == "max" else sum(values, Fraction())
        return number_word(float(value / len(values) if repeat == "mean" else value))

    key = rating_key(rows)
    together = rows.group_by(key, maintain_order=True).agg(pl.col("label").alias(_LABELS))
    return (
        rows.unique(key, keep="first", maintain_order=True)
        .join(together, on=key, how="left", maintain_order="left")
        .with_columns(
            pl.col(_LABELS).map_elements(combination, return_dtype=pl.String).alias("label")
        )
        .drop(_LABELS)
    )


_LABELS = "\x1flabels"


def chosen_repeats(
    rows: pl.DataFrame, repeat: Literal["first", "last"], warnings: list[str]
) -> pl.DataFrame:
    """The first or the last label of each rater for each unit, in the order of the table.

    A warning states how many ratings are not used.

    >>> rows = pl.DataFrame(
    ...     {"unit": ["1", "1"], "rater": ["a", "a"], "label": ["x", "y"], "row": [0, 1]}
    ... )
    >>> chosen_repeats(rows, "last", [])["label"].to_list()
    ['y']
    """
    chosen = rows.sort("row", maintain_order=True).unique(
        rating_key(rows), keep=repeat, maintain_order=True
    )
    n = rows.height - chosen.height
    if n:
        warnings.append(
            message(
                "{n:,} repeated {n|rating|ratings} of the same rater and unit {n|is|are} not used"
                " ({option})",
                message_id="table.repeats_not_used",
                n=n,
                option=option("repeat", repeat),
            )
        )
    return chosen
