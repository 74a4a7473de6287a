"""konsil plan: who rates what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.api.running.planning import Planned
    from konsil.plan import Balance, Meetings, PlannedOverlap, Washout


FEW = 12
"""Raters of a panel, or values of a stratum, that are listed one by one; of more, the range."""


@click.command(short_help="Assign items to raters at random and report the balance.")
@on_folder
@click.option("--dry-run", is_flag=True, help="Dry run: print the plan; store nothing.")
@click.option(
    "--strict",
    is_flag=True,
    help="Stop if an item lacks an answer, instead of excluding it.",
)
@click.option(
    "--raters", is_flag=True, help=f"Print one line per rater, even in panels of more than {FEW}."
)
@with_json
def command(folder: Path, database: str, dry_run: bool, strict: bool, raters: bool) -> Printout:
    """Assign the tasks of the [[plan]] of the study in FOLDER to raters and store them.

    The same protocol, seed and items give the same tasks and the same checksum, which can be
    preregistered. Run again after ratings were collected, the command adds the required tie-breaks.
    A plan that cannot be met is refused.

    Missing answers stay missing: an item without any answer is excluded, an item with some answers
    is shown with these, and both are counted.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.running.planning import make_plan

    opened = open_folder(folder, database=database)
    planned = make_plan(opened, save=not dry_run, strict=strict)
    unsearched = list(unsearched_lines(opened))
    lines = [*_plan_lines(planned, dry_run, raters), *(f"  {line}" for line in unsearched)]
    return Printout({**_record(planned, dry_run), "sentences": unsearched}, lines)


def _record(planned: Planned, dry_run: bool) -> dict[str, object]:
    """The plan in numbers; of tie-breaks only what the text states."""
    balance = planned.balance
    return {
        "tasks": len(planned.tasks),
        "purposes": planned.purposes(),
        "new": planned.new,
        "is_stored": not dry_run,
        "raters": [
            {
                "rater": rater,
                "panel": balance.panels[rater],
                "tasks": n,
                "items": balance.items[rater],
            }
            for rater, n in balance.screens.items()
        ],
        "shared_items": [
            {"panel": panel, "pairs": len(counts), "least": min(counts), "most": max(counts)}
            for panel, counts in balance.shared().items()
        ],
        "positions": balance.positions,
        "comparisons": {panel: _meetings_record(each) for panel, each in planned.meetings.items()},
        "overlaps": [
            {
                **{key: getattr(overlap, key) for key in ("panel", "share", "raters")},
                "comparisons": overlap.comparisons,
                "shared": overlap.shared,
                "each": overlap.each,
            }
            for overlap in planned.overlaps
        ],
        "washouts": [
            {"panel": panel, "kind": kind, **asdict(apart)}
            for (panel, kind), apart in planned.washouts.items()
        ],
        "strata": [
            {"panel": panel, "column": column, "items_of_each_rater": values}
            for (panel, column), values in balance.strata.items()
        ],
        "missing_answers": [asdict(lacking) for lacking in planned.missing],
        "first_digest": planned.first_digest or None,
        "digest": planned.digest,
    }


def _meetings_record(meetings: Meetings) -> dict[str, object]:
    return {
        "comparisons": meetings.comparisons,
        "first": [{"systems": pair, "first": counts} for pair, counts in meetings.first.items()],
        "items_by_number_of_raters": meetings.raters,
        "repeated": meetings.repeated,
    }


def _plan_lines(planned: Planned, dry_run: bool, raters: bool) -> Iterator[str]:
    from konsil.api.running.planning import missing_answers_sentence

    purposes = ", ".join(f"{n:,} {purpose}" for purpose, n in planned.purposes().items())
    stored = "nothing stored" if dry_run else f"{planned.new:,} new"
    yield f"{len(planned.tasks):,} tasks ({purposes}); {stored}"
    yield from _loads(planned.balance, each=raters)
    for panel, counts in planned.balance.shared().items():
        yield (
            f"  pairs of {panel} share {_range(sorted(set(counts)))} items ({len(counts):,} pairs)"
        )
    for system, counts in planned.balance.positions.items():
        positions = (f"{_ordinal(place)} {n:,}" for place, n in enumerate(counts, start=1))
        yield f"  {system} by position: {', '.join(positions)}"
    for panel, meetings in planned.meetings.items():
        yield from _meeting_lines(panel, meetings)
    for overlap in planned.overlaps:
        yield from _overlap(overlap)
    for (panel, kind), apart in planned.washouts.items():
        yield _apart(panel, kind, apart)
    for (panel, column), values in planned.balance.strata.items():
        yield _stratum_line(panel, column, values)
    for lacking in planned.missing:
        yield f"  {missing_answers_sentence(lacking)}"
    if planned.first_digest:
        yield f"  checksum (SHA-256) of the plan without added rater slots: {planned.first_digest}"
    yield f"  checksum (SHA-256): {planned.digest}"


def _loads(balance: Balance, *, each: bool) -> Iterator[str]:
    """How much each rater has to rate; large panels in one line."""
    for panel in dict.fromkeys(balance.panels[rater] for rater in balance.screens):
        members = [rater for rater in balance.screens if balance.panels[rater] == panel]
        if each or len(members) <= FEW:
            for rater in members:
                yield (
                    f"  {rater}: {balance.screens[rater]:,} tasks, {balance.items[rater]:,} items"
                )
        else:
            screens = _range(sorted({balance.screens[rater] for rater in members}))
            items = _range(sorted({balance.items[rater] for rater in members}))
            yield (
                f"  each of the {len(members):,} raters of {panel}: {screens} tasks, {items} items"
            )


def _stratum_line(panel: str, column: str, values: Mapping[str, Sequence[int]]) -> str:
    """How many items of each value a rater has; a column with many values is a range.

    >>> _stratum_line("judges", "arm", {"a": [2, 3], "b": [2, 2]})
    '  items of each of judges by arm: a 2 to 3, b 2'
    >>> _stratum_line("judges", "text", {f"text {n}": [n // 12] for n in range(13)})
    '  items of each of judges by text: 0 to 1 of each of 13 values'
    """
    if len(values) > FEW:
        counts = sorted({n for each in values.values() for n in each})
        each = f"{_range(counts)} of each of {len(values):,} values"
    else:
        each = ", ".join(f"{value} {_range(sorted(set(n)))}" for value, n in values.items())
    return f"  items of each of {panel} by {column}: {each}"


def _apart(panel: str, kind: str, washout: Washout) -> str:
    ratings = "ratings of answers on a second form" if kind == "designs" else "repeat ratings"
    tasks = (
        f"washout {washout.least:,} to {washout.greatest:,} tasks (median {washout.median:,.0f})"
    )
    batches = f", at least {washout.batches:,} whole batches" if washout.batches else ""
    return f"  {panel}: {washout.looks:,} {ratings}; {tasks}{batches}"


def _ordinal(number: int) -> str:
    """A place in English.

    >>> [_ordinal(n) for n in (1, 2, 3, 4, 11, 21)]
    ['1st', '2nd', '3rd', '4th', '11th', '21st']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _overlap(overlap: PlannedOverlap) -> Iterator[str]:
    share = overlap.shared / overlap.comparisons if overlap.comparisons else 0.0
    yield (
        f"  {overlap.panel} share {overlap.shared:,} of {overlap.comparisons:,} comparisons"
        f" ({share:.1%})"
        f" among {overlap.raters} raters, including overlap by chance; requested overlap:"
        f" {overlap.share:.1%}"
    )
    yield f"    of each of {overlap.panel}: {_range(sorted(set(overlap.each)))}"
    for (value, arm), (shared, comparisons) in overlap.cells.items():
        if value or arm:
            yield (
                f"    {' in arm '.join(filter(None, (value, arm)))}: {shared:,} of {comparisons:,}"
            )


def _meeting_lines(panel: str, meetings: Meetings) -> Iterator[str]:
    yield f"  {panel} compare {meetings.comparisons:,} times"
    for (system, other), (before, after) in meetings.first.items():
        yield f"    {system} with {other}: {system} first {before:,}, {other} first {after:,}"
    for column, values in meetings.strata.items():
        wholes = sorted({sum(pairs.values()) for pairs in values.values()})
        each = sorted({n for pairs in values.values() for n in pairs.values()})
        yield (
            f"    by {column} ({len(values):,}): {_range(wholes)}; of the same two systems"
            f" {_range(each)}"
        )
    times = ", ".join(f"{n:,} by {raters:,}" for raters, n in meetings.raters.items())
    yield f"    items by number of raters of {panel}: {times}"
    yield f"    comparisons also made by another rater of {panel}: {meetings.repeated:,}"


def _range(numbers: list[int]) -> str:
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
