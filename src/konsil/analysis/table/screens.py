"""Subject of a question about a screen: the answers that it shows, in whichever order."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from konsil.analysis.table.columns import task_columns
from konsil.instrument import Instrument
from konsil.records import Task


def about_screens(
    ratings: pl.DataFrame, tasks: Sequence[Task], instruments: Sequence[Instrument]
) -> pl.DataFrame:
    """Ratings whose questions about a screen name its answers where items have several screens.

    Such a question is, for example, that about confidence. A question about the item keeps its
    subject: the item, whatever its screens showed.
    """
    criteria_by_instrument = {
        i.id: [c.id for c in i.criteria if c.scope == "task"] for i in instruments
    }
    pairs = [
        (instrument, criterion)
        for instrument, several in criteria_by_instrument.items()
        for criterion in several
    ]
    if not pairs:
        return ratings
    shown = answers_of_screens(tasks, instruments)
    if not shown.height:
        return ratings
    of_screens = pl.DataFrame(
        pairs, schema={"instrument": pl.String, "criterion": pl.String}, orient="row"
    )
    screen_answers = shown.join(of_screens, on="instrument").drop("instrument")
    joined = ratings.join(
        screen_answers, on=["task", "criterion"], how="left", maintain_order="left"
    )
    return joined.with_columns(pl.coalesce("shown", "answers").alias("answers")).drop("shown")


def answers_of_screens(tasks: Sequence[Task], instruments: Sequence[Instrument]) -> pl.DataFrame:
    """Screens with questions about their answers: task, instrument and `shown` (JSON text).

    They are those of instruments with such questions in which a rater has several screens of one
    item. Answers are in the order of their identifiers, so that a repeated screen with its answers
    in another order is the same.
    """
    asking = sorted(i.id for i in instruments if any(c.scope == "task" for c in i.criteria))
    screens = task_columns(tasks, ("id", "rater", "instrument", "item", "answers")).rename(
        {"id": "task"}
    )
    screens = screens.filter(pl.col("instrument").is_in(asking) & pl.col("item").is_not_null())
    texts = screens.get_column("answers").unique().to_list()
    ordered = {text: json.dumps(sorted(json.loads(text)), ensure_ascii=False) for text in texts}
    screens = screens.with_columns(
        pl.col("answers").replace_strict(ordered, return_dtype=pl.String).alias("shown")
    )
    counted = screens.group_by("instrument", "rater", "item").agg(pl.col("shown").n_unique())
    several = (
        counted.filter((pl.col("shown") > 1) & (pl.col("rater") != ""))
        .get_column("instrument")
        .unique()
    )
    return screens.filter(pl.col("instrument").is_in(several.to_list())).select(
        "task", "instrument", "shown"
    )
