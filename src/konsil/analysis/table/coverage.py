"""Every rating accounted for: rated, abstained, unreadable, missing, excluded and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from konsil.analysis.model.results import CoverageRow
from konsil.analysis.model.spec import Exclusions
from konsil.analysis.table.columns import answers_in, rating_columns, task_columns
from konsil.analysis.table.frame import Data, RatingTable, reasons
from konsil.analysis.table.screens import answers_of_screens
from konsil.errors.message import message
from konsil.instrument import Instrument, surveyed

Key = tuple[str, str, str]
"""(panel, criterion, system); several systems in the order of their names, whatever a screen or a
record's order."""

_TOGETHER = " | "


def coverage(
    data: Data,
    long: RatingTable,
    instruments: Sequence[Instrument],
    exclusions: Exclusions,
    *,
    planned: bool,
) -> tuple[CoverageRow, ...]:
    """One row for each panel, criterion and system.

    Expected counts come from the tasks, and only where there is a plan: imported tasks exist
    because they were rated. What no task requests is expected 0 times.
    """
    counts = _counts(long.frame)
    rated, abstained = counts["rated"], counts["abstained"]
    excluded = _excluded(long.excluded, exclusions)
    unreadable = _unreadable(data, instruments)
    expected = _expected(data, instruments) if planned else None
    # A free text may stay empty: none is missing.
    texts = {c.id for i in instruments for c in i.criteria if c.scale.kind == "text"}
    keys = sorted(
        {
            *rated,
            *abstained,
            *excluded,
            *unreadable,
            *(key for key in expected or () if key[1] not in texts),
        }
    )
    return tuple(
        _row(
            key,
            rated[key],
            abstained[key],
            unreadable[key],
            excluded.get(key, {}),
            None if expected is None or key[1] in texts else expected[key],
        )
        for key in keys
    )


def _row(
    key: Key,
    rated: int,
    abstained: int,
    unreadable: int,
    excluded: Mapping[str, int],
    expected: int | None,
) -> CoverageRow:
    received = rated + abstained + unreadable + sum(excluded.values())
    # More than was asked for cannot be: then nobody knows how many are missing beside them.
    missing = None if expected is None or received > expected else expected - received
    return CoverageRow(
        *key, expected, rated, abstained, unreadable, missing, dict(sorted(excluded.items()))
    )


def surplus(rows: Sequence[CoverageRow]) -> tuple[str, ...]:
    """A warning for each row with more ratings than the tasks request (inconsistent records)."""
    return tuple(
        message(
            (
                "There are more ratings of {subject} than its tasks require: {given:,} instead"
                " of at most {expected:,}. The number of missing ratings is therefore unknown."
            ),
            message_id="coverage.surplus",
            subject=", ".join(part for part in (row.panel, row.criterion, row.system) if part),
            given=row.received,
            expected=row.expected,
        )
        for row in rows
        if row.expected is not None and row.received > row.expected
    )


def _counts(frame: pl.DataFrame) -> dict[str, Counter[Key]]:
    """State -> how many ratings have it."""
    counts: dict[str, Counter[Key]] = defaultdict(Counter)
    for state, panel, criterion, system, n in (
        frame.group_by("state", "panel", "criterion", "system").len().iter_rows()
    ):
        counts[state][(panel, criterion, _in_order(system))] += n
    return counts


def _in_order(systems: str) -> str:
    """The order of a pair's answers depends on their identifiers, which follow no system."""
    return _TOGETHER.join(sorted(systems.split(_TOGETHER)))


def _excluded(frame: pl.DataFrame, exclusions: Exclusions) -> dict[Key, dict[str, int]]:
    counts: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    # A table holds plain texts; the term knows the values of its sentence.
    reason_by_text = {str(reason): reason for reason in reasons(exclusions)}
    for panel, criterion, system, reason, n in (
        frame.group_by("panel", "criterion", "system", "reason").len().sort("reason").iter_rows()
    ):
        counts[(panel, criterion, _in_order(system))][reason_by_text[reason]] += n
    return dict(counts)


def _unreadable(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    """Subjects of tasks without a readable response in the last call, by criterion and system."""
    failed = {a.task for a in data.attempts if a.outcome not in {"ok", "repaired", "re-asked"}}
    if not failed:
        return Counter()
    failed -= set(rating_columns(data.ratings).get_column("task").unique())
    return _subjects(
        task_columns(data.tasks).filter(pl.col("id").is_in(sorted(failed))), data, instruments
    )


def _expected(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    # What is reviewed at an adjudication was asked for before.
    tasks = task_columns(data.tasks).filter(pl.col("purpose").fill_null("main") != "adjudication")
    # A task that is nobody's has lapsed, or waits for somebody to sign up: nothing is expected of
    # it.
    return _subjects(tasks.filter(pl.col("rater") != ""), data, instruments)


def _subjects(tasks: pl.DataFrame, data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    """Number of labels that each criterion requests in these tasks.

    By the rater's panel, the criterion and the answers' system.
    """
    panels = {r.id: r.panel for r in data.raters}
    criteria = {i.id: i.criteria for i in instruments}
    totals: Counter[Key] = Counter()
    for scopes, counts in _scopes(tasks, data, instruments):
        for rater, instrument, system, n in counts.iter_rows():
            for criterion in (c for c in criteria.get(instrument, ()) if c.scope in scopes):
                totals[(panels.get(rater, ""), criterion.id, system)] += n
    for rater, instrument, batch, n in _questionnaires(tasks).iter_rows():
        for criterion in surveyed(criteria.get(instrument, ()), in_batch=bool(batch)):
            totals[(panels.get(rater, ""), criterion.id, "")] += n
    return totals


def _questionnaires(tasks: pl.DataFrame) -> pl.DataFrame:
    """How many tasks are about no item, by rater, instrument and batch."""
    return tasks.filter(pl.col("item").is_null()).group_by("rater", "instrument", "batch").len("n")


def _scopes(
    tasks: pl.DataFrame, data: Data, instruments: Sequence[Instrument]
) -> Iterator[tuple[set[str], pl.DataFrame]]:
    """Scopes, and the number of labels requested in them, by rater, instrument and system."""
    scopes = {c.scope for i in instruments for c in i.criteria}
    by = ("rater", "instrument")
    about_items = tasks.filter(pl.col("item").is_not_null())
    # Where each sentence has a screen of its own, no other question is on it.
    is_apart = pl.col("instrument").is_in([i.id for i in instruments if i.present == "sentence"])
    screens = about_items.filter(~is_apart | (pl.col("spans") == 0))
    if "item" in scopes:
        yield {"item"}, screens.group_by(by).len("n").select(*by, pl.lit("").alias("system"), "n")
    if scopes.isdisjoint({"answer", "sentence", "pair", "task"}):
        return
    theirs = {"answer": [a.id for a in data.answers], "system": [a.system for a in data.answers]}
    systems = pl.DataFrame(theirs, schema=dict.fromkeys(theirs, pl.String))

    def by_answer(frame: pl.DataFrame) -> pl.DataFrame:
        joined = answers_in(frame).join(systems, on="answer", how="left", maintain_order="left")
        return joined.with_columns(pl.col("system").fill_null(""))

    each = by_answer(screens)
    yield {"answer"}, each.group_by(*by, "system").len("n")
    if "sentence" in scopes:
        n_sentences = pl.col("spans").clip(1).cast(pl.Int64).sum().alias("n")
        of_sentences = by_answer(about_items.filter(~is_apart | (pl.col("spans") > 0)))
        yield {"sentence"}, of_sentences.group_by(*by, "system").agg(n_sentences)
    if scopes.isdisjoint({"pair", "task"}):
        return
    together = (
        each.sort("system")
        .group_by("id", *by, maintain_order=True)
        .agg(pl.col("system").str.join(_TOGETHER))
    )
    yield {"pair"}, together.group_by(*by, "system").len("n")
    if "task" in scopes:
        about = answers_of_screens(data.tasks, instruments).get_column("task").implode()
        named = together.select("id", pl.col("system").alias("shown"))
        with_system = screens.join(named, on="id", how="left").with_columns(
            pl.when(pl.col("id").is_in(about)).then("shown").fill_null("").alias("system")
        )
        yield {"task"}, with_system.group_by(*by, "system").len("n")


def label_counts(
    long: RatingTable, instruments: Sequence[Instrument]
) -> dict[tuple[str, str, str, str], int]:
    """Frequency of each label, by (panel, criterion, system, label).

    Abstentions count under their own label.
    """
    abstain = {
        c.id: c.scale.abstain or message("abstained") for i in instruments for c in i.criteria
    }
    choices = {c.id for i in instruments for c in i.criteria if c.scale.kind == "choice"}
    counted = long.frame.group_by("panel", "criterion", "system", "state", "label").len()
    counts: dict[tuple[str, str, str, str], int] = {}
    for panel, criterion, system, state, label, n in counted.sort(
        "panel", "criterion", "system", "label"
    ).iter_rows():
        if criterion in choices:
            key = (panel, criterion, system, abstain[criterion] if state == "abstained" else label)
            counts[key] = counts.get(key, 0) + n
    return counts
