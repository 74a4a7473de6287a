"""Ratings rewritten by stated rules: labels read as others, one of repeated ratings chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.recoding.repeat import Repeat
from konsil.errors import AnalysisError, entry, nearest, option


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


def chosen_repeats(rows: pl.DataFrame, repeat: Repeat, warnings: list[str]) -> pl.DataFrame:
    """The first or the last label of each rater for each unit, in the order of the table.

    A warning states how many ratings are not used.

    >>> rows = pl.DataFrame(
    ...     {"unit": ["1", "1"], "rater": ["a", "a"], "label": ["x", "y"], "row": [0, 1]}
    ... )
    >>> chosen_repeats(rows, "last", [])["label"].to_list()
    ['y']
    """
    chosen = rows.sort("row", maintain_order=True).unique(
        ["unit", "rater"], keep=repeat, maintain_order=True
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
