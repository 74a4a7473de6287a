"""Answers that a question about a screen is about, and those displayed to their end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.columns import task_columns, text_types
from konsil.errors.message import listed, message
from konsil.instrument import Instrument
from konsil.records import Task
from konsil.records.worked import Worked

Displays = Mapping[tuple[str, str, str], bool | None]
"""Task, rater and answer -> whether the answer was displayed to its end; None: not known."""


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
    of_screens = pl.DataFrame(pairs, schema=text_types("instrument", "criterion"), orient="row")
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
    # A task that nobody holds yet says nothing of how many screens of an item one person has.
    several = (
        counted.filter((pl.col("shown") > 1) & (pl.col("rater") != ""))
        .get_column("instrument")
        .unique()
    )
    return screens.filter(pl.col("instrument").is_in(several.to_list())).select(
        "task", "instrument", "shown"
    )


def displays(worked: Sequence[Worked], tasks: Sequence[Task]) -> Displays:
    """What the pages recorded of each answer on each screen that was handed in."""
    frame = task_columns(tasks, ("id", "answers"))
    recorded = {screen.task for screen in worked if screen.displayed}
    # Only the screens with a record: the answers of every other task would be parsed for nothing.
    shown = frame.filter(pl.col("id").is_in(list(recorded)))
    answers = {task: json.loads(text) for task, text in shown.iter_rows()}
    return {
        (screen.task, screen.rater, answer): is_displayed
        for screen in worked
        # Not strict: a task that is not in this table has no answers here.
        for answer, is_displayed in zip(
            answers.get(screen.task, ()), screen.displayed, strict=False
        )
    }


def displayed(frame: pl.DataFrame, displays_by_answer: Displays) -> pl.Series:
    """For each rating whether all answers that it is about were displayed to their end.

    False where any answer was not displayed; null where the rating is about no answer, or where it
    is not known of an answer and all others were displayed.
    """
    key = ["task", "rater", "answers"]
    # Once for all criteria of a screen.
    rows = frame.select(key).unique()
    states = [
        _of_all([displays_by_answer.get((task, rater, answer)) for answer in text.split(" | ")])
        for task, rater, text in rows.rows()
    ]
    table = rows.with_columns(pl.Series("displayed", states, dtype=pl.Boolean))
    return (
        frame.select(key)
        .join(table, on=key, how="left", maintain_order="left")
        .get_column("displayed")
    )


def _of_all(answers: Sequence[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def with_answers_displayed(frame: pl.DataFrame, displays_by_answer: Displays) -> pl.DataFrame:
    """Ratings by people whose answers were displayed to their end, and all ratings by models.

    Models read the whole text.
    """
    by_people = pl.col("kind") == "human"
    return frame.filter(~by_people | displayed(frame, displays_by_answer).fill_null(value=False))


def display_sentences(
    analyses: Sequence[Analysis], frame: pl.DataFrame, displays_by_answer: Displays
) -> tuple[str, ...]:
    """What the methods paragraph says of analyses that are restricted so; nothing where none is."""
    names = [analysis.name for analysis in analyses if analysis.display == "complete"]
    if not names:
        return ()
    ratings = frame.filter((pl.col("kind") == "human") & (pl.col("answers") != ""))
    counts = Counter(displayed(ratings, displays_by_answer).to_list())
    return (
        message(
            (
                "{analyses} use ratings by people only if every rated answer was displayed to"
                " its end on the rating page. This applies to {n:,} of {total:,}"
                " {total|rating|ratings} of answers by people; for {unknown:,} it is unknown,"
                " and {unknown|it is|they are} excluded. All ratings by models are used."
            ),
            message_id="display.complete",
            analyses=listed(names),
            n=counts[True],
            total=ratings.height,
            unknown=counts[None],
        ),
    )
