"""Every rating accounted for: rated, abstained, unreadable, missing, excluded and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import polars as pl

from konsil.analysis.columns import answers_in, rating_columns, task_columns
from konsil.analysis.frame import Data, Long, reasons
from konsil.analysis.results import CoverageRow
from konsil.analysis.said import say
from konsil.analysis.spec import Exclusions
from konsil.instrument import Instrument

Key = tuple[str, str, str]
"""(panel, criterion, system)."""


def coverage(
    data: Data, long: Long, instruments: Sequence[Instrument], exclusions: Exclusions, *, planned: bool
) -> tuple[CoverageRow, ...]:
    """One row for each panel, criterion and system.

    Expected counts come from the tasks, and only where there is a plan: imported tasks exist because they were rated.
    """
    rated = _count(long.frame.filter(pl.col("state") == "rated"))
    abstained = _count(long.frame.filter(pl.col("state") == "abstained"))
    excluded = _excluded(long.excluded, exclusions)
    unreadable = _unreadable(data, instruments)
    expected = _expected(data, instruments) if planned else {}
    keys = sorted({*rated, *abstained, *excluded, *unreadable, *expected})
    return tuple(
        _row(key, rated[key], abstained[key], unreadable[key], excluded.get(key, {}), expected.get(key)) for key in keys
    )


def _row(
    key: Key, rated: int, abstained: int, unreadable: int, excluded: Mapping[str, int], expected: int | None
) -> CoverageRow:
    seen = rated + abstained + unreadable + sum(excluded.values())
    missing = None if expected is None else max(expected - seen, 0)
    return CoverageRow(*key, expected, rated, abstained, unreadable, missing, dict(sorted(excluded.items())))


def _count(frame: pl.DataFrame) -> Counter[Key]:
    found: Counter[Key] = Counter()
    for panel, criterion, system, n in frame.group_by("panel", "criterion", "system").len().iter_rows():
        found[(panel, criterion, system)] = n
    return found


def _excluded(frame: pl.DataFrame, exclusions: Exclusions) -> dict[Key, dict[str, int]]:
    found: dict[Key, dict[str, int]] = defaultdict(dict)
    # A table holds plain texts; the same sentence with its parts can be told in the report's language.
    told = {str(one): one for one in reasons(exclusions)}
    for panel, criterion, system, reason, n in (
        frame.group_by("panel", "criterion", "system", "reason").len().sort("reason").iter_rows()
    ):
        found[(panel, criterion, system)][told[reason]] = n
    return dict(found)


def _unreadable(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    """Each subject of a task whose last call gave nothing readable, under its criterion and system."""
    failed = {a.task for a in data.attempts if a.outcome not in {"ok", "repaired", "re-asked"}}
    if not failed:
        return Counter()
    failed -= set(rating_columns(data.ratings).get_column("task").unique())
    return _subjects(task_columns(data.tasks).filter(pl.col("id").is_in(sorted(failed))), data, instruments)


def _expected(data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    # A task that is nobody's has lapsed, or waits for somebody to sign up: nothing is expected of it.
    return _subjects(task_columns(data.tasks).filter(pl.col("rater") != ""), data, instruments)


def _subjects(tasks: pl.DataFrame, data: Data, instruments: Sequence[Instrument]) -> Counter[Key]:
    """How many labels each criterion asks for in these tasks, by the rater's panel and the answers' system."""
    panels = {r.id: r.panel for r in data.raters}
    criteria = {i.id: i.criteria for i in instruments}
    found: Counter[Key] = Counter()
    for scopes, counts in _scopes(tasks, data, {c.scope for i in instruments for c in i.criteria}):
        for rater, instrument, system, n in counts.iter_rows():
            for criterion in criteria.get(instrument, ()):
                if criterion.scope in scopes:
                    found[(panels.get(rater, ""), criterion.id, system)] += n
    return found


def _scopes(tasks: pl.DataFrame, data: Data, asked: AbstractSet[str]) -> Iterator[tuple[set[str], pl.DataFrame]]:
    """Scopes, and for them how many labels are asked for by rater, instrument and system."""
    by = ("rater", "instrument")
    if not asked.isdisjoint(whole := {"item", "task"}):
        yield whole, tasks.group_by(by).len("n").select(*by, pl.lit("").alias("system"), "n")
    if asked.isdisjoint({"answer", "sentence", "pair"}):
        return
    theirs = {"answer": [a.id for a in data.answers], "system": [a.system for a in data.answers]}
    systems = pl.DataFrame(theirs, schema=dict.fromkeys(theirs, pl.String))
    each = answers_in(tasks).join(systems, on="answer", how="left", maintain_order="left")
    each = each.with_columns(pl.col("system").fill_null(""))
    yield {"answer"}, each.group_by(*by, "system").len("n")
    yield {"sentence"}, each.group_by(*by, "system").agg(pl.col("spans").clip(1).cast(pl.Int64).sum().alias("n"))
    if "pair" in asked:
        pairs = each.group_by("id", *by, maintain_order=True).agg(pl.col("system").str.join(" | "))
        yield {"pair"}, pairs.group_by(*by, "system").len("n")


def label_counts(long: Long, instruments: Sequence[Instrument]) -> dict[tuple[str, str, str, str], int]:
    """How often each label was given: (panel, criterion, system, label), abstentions under their own label."""
    abstain = {c.id: c.scale.abstain or say("abstained") for i in instruments for c in i.criteria}
    choices = {c.id for i in instruments for c in i.criteria if c.scale.kind == "choice"}
    counted = long.frame.group_by("panel", "criterion", "system", "state", "label").len()
    found: dict[tuple[str, str, str, str], int] = {}
    for panel, criterion, system, state, label, n in counted.sort("panel", "criterion", "system", "label").iter_rows():
        if criterion in choices:
            key = (panel, criterion, system, abstain[criterion] if state == "abstained" else label)
            found[key] = found.get(key, 0) + n
    return found
