"""Ratings in long form: one row a label, whichever way the file lays them out."""

from __future__ import annotations

import polars as pl

from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.answers import answer_id
from konsil.sources.tables.checks import ROW
from konsil.sources.tables.columns import Columns, column, refuse_texts, require

PAIRS = ("system_a", "system_b", "answer_a", "answer_b")
"""The fields that make a rating one of a pair."""

WORD = "_word"
"""The label as the file has it, before Source.labels."""
COLUMN = "_column"
"""The column that the label came from."""

# Not the identifiers: an item may well be called 0 or NA.
MAY_BE_MISSING = ("label", "confidence", "seconds", "at")


def long_form(
    table: Table, source: Source, columns: Columns, fields: tuple[str, ...]
) -> pl.DataFrame:
    """One row a label: every field, the file's word beside the label, and where it came from.

    Rows without a label are left out: they were not rated.
    """
    wide = _wide(table, source)
    over, key = ("rater", "raters") if source.raters else ("criterion", "criteria")
    for field in (over, "label") if wide else ():
        if field in source.columns or field in source.fixed:
            raise SourceError(
                f"{table.name}: {field!r} is given twice: by itself and by the columns in {key}"
            )
    if "label" in source.values:
        raise SourceError(f"{table.name}: values: translate labels in 'labels' or 'labels_of'")
    needed = ("criterion",) if source.unknown_raters else ("rater", "criterion")
    for field in (*needed, *(() if wide else ("label",))):
        if not (wide and field == over):
            require(columns, field, table, source)
    row_fields = [f for f in fields if not (wide and f in (over, "label"))]
    frame = table.frame.with_row_index(ROW).select(
        ROW,
        *(columns.expression(f) for f in row_fields),
        *(pl.col(c).alias(f"{COLUMN} {c}") for c in wide),
    )
    if wide:
        names = {f"{COLUMN} {c}": name for c, name in wide.items()}
        frame = (
            frame.unpivot(
                list(names), index=[ROW, *row_fields], variable_name=COLUMN, value_name="label"
            )
            .with_columns(
                pl.col(COLUMN).replace_strict(names, return_dtype=pl.String).alias(over),
                pl.col(COLUMN).str.strip_prefix(f"{COLUMN} "),
                pl.col("label").str.strip_chars(),
            )
            .sort(ROW, maintain_order=True)
        )
    else:
        frame = frame.with_columns(pl.lit(columns.called("label")).alias(COLUMN))
    frame = _rated(frame, source)
    refuse_texts(
        columns,
        frame,
        ("rater", "item", "system", "answer", *PAIRS, "criterion", "task"),
        table.name,
    )
    return _answers(columns.digested(frame, table.name))


def _wide(table: Table, source: Source) -> dict[str, str]:
    """Column of labels -> rater or criterion; empty for a long table."""
    if source.raters and source.criteria:
        raise SourceError(
            f"{table.name}: raters and criteria are both given; a wide table has one column per"
            " rater or per criterion"
        )
    key, name_by_column = (
        ("raters", source.raters) if source.raters else ("criteria", source.criteria)
    )
    for name, identifier in name_by_column.items():
        if not identifier.strip():
            raise SourceError(
                f"{table.name}: {key}: column {name!r} has no identifier; expected that of a"
                f" {'rater' if source.raters else 'criterion'}"
            )
    return {column(table, name, key): identifier for name, identifier in name_by_column.items()}


def _rated(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Empty missing values, translate the labels, and leave out rows without a rating."""
    missing = [word for word in source.missing if word]
    if missing:
        values = pl.col(MAY_BE_MISSING)
        frame = frame.with_columns(pl.when(~values.is_in(missing)).then(values))
    frame = frame.with_columns(pl.when(pl.col("label") != "").then(pl.col("label")).alias(WORD))
    label = pl.col(WORD).replace(dict(source.labels)) if source.labels else pl.col(WORD)
    for criterion, labels in source.labels_of.items():
        of_criterion = (pl.col("criterion") == criterion) & pl.col(WORD).is_in(list(labels))
        label = pl.when(of_criterion).then(pl.col(WORD).replace(dict(labels))).otherwise(label)
    return frame.with_columns(pl.when(label != "").then(label).alias("label")).filter(
        pl.col("label").is_not_null() | (pl.col("state").fill_null("") == "abstained")
    )


def systems_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Each answer that has both an identifier and a system, with its item and row."""
    sides = (("answer", "system"), ("answer_a", "system_a"), ("answer_b", "system_b"))
    return pl.concat(
        frame.filter(pl.col(answer).is_not_null() & pl.col(system).is_not_null()).select(
            pl.col(answer).alias("answer"), "item", pl.col(system).alias("system"), ROW
        )
        for answer, system in sides
    ).unique(["answer", "item", "system"], keep="first", maintain_order=True)


def _answers(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `first` and `second`: the answers' identifiers, null where the rating has none or one."""
    item = pl.col("item")
    first = pl.coalesce(
        "answer_a", answer_id(item, pl.col("system_a")), "answer", answer_id(item, pl.col("system"))
    )
    second = pl.coalesce("answer_b", answer_id(item, pl.col("system_b")))
    return frame.with_columns(first.alias("first"), second.alias("second"))
