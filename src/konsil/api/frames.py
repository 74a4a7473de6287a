"""A study's items, answers and planned tasks as Polars frames, and the study in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import polars as pl

from konsil.analysis.table.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from konsil.records import Answer, Item, Task

_TASK_TYPES: dict[str, pl.DataType] = {
    "id": pl.String(),
    "rater": pl.String(),
    "instrument": pl.String(),
    "item": pl.String(),
    "answers": pl.List(pl.String),
    "arm": pl.String(),
    "phase": pl.String(),
    "batch": pl.String(),
    "position": pl.Int64(),
    "purpose": pl.String(),
    "repeat_of": pl.String(),
}


def item_frame(items: Sequence[Item]) -> pl.DataFrame:
    """One row an item: identifier, text, reference, case, and a column for each stratum.

    A stratum that is called like one of the others has the column `stratum.NAME`.
    """
    fields = ("id", "text", "reference", "case")
    strata = sorted({name for item in items for name in item.strata})
    columns = {name: f"stratum.{name}" if name in fields else name for name in strata}
    rows = [
        {
            **{name: getattr(item, name) for name in fields},
            **{column: item.strata.get(name) for name, column in columns.items()},
        }
        for item in items
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys([*fields, *columns.values()], pl.String))


def answer_frame(answers: Sequence[Answer]) -> pl.DataFrame:
    """One row an answer: identifier, item, system and text."""
    rows = [{"id": a.id, "item": a.item, "system": a.system, "text": a.text} for a in answers]
    return pl.DataFrame(rows, schema=dict.fromkeys(["id", "item", "system", "text"], pl.String))


def task_frame(tasks: Sequence[Task]) -> pl.DataFrame:
    """The plan: one row a task, in the order in which each rater has them."""
    if isinstance(tasks, Columns):
        lists = pl.col("answers").str.json_decode(pl.List(pl.String))
        frame = tasks.frame.with_columns(lists).select(
            pl.col(name).cast(kind) for name, kind in _TASK_TYPES.items()
        )
    else:
        rows = [{name: getattr(task, name) for name in _TASK_TYPES} for task in tasks]
        frame = pl.DataFrame(rows, schema=_TASK_TYPES)
    return frame.sort("rater", "position", "id")


def study_html(title: str, place: str, counts: Mapping[str, int]) -> str:
    """The study in a notebook: its title, its folder, and how much is in it."""
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{n:,}</td></tr>" for name, n in counts.items())
    return f"<p><b>{escape(title)}</b><br>{escape(place)}</p><table><tbody>{rows}</tbody></table>"
