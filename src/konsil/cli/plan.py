"""konsil plan: who rates what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import on_folder

if TYPE_CHECKING:
    from konsil.api.running.planning import Planned
    from konsil.plan import Balance, Meetings, PlannedOverlap, Washout


FEW = 12
"""Raters of a panel that are listed one by one; of larger panels the range is printed."""


@click.command(short_help="Assign items to raters at random and report the balance.")
@on_folder
@click.option("--dry-run", is_flag=True, help="Only say what the plan would be; store nothing.")
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse where an item lacks an answer, instead of leaving it out.",
)
@click.option(
    "--raters", is_flag=True, help=f"Print a line for each rater, in panels of more than {FEW} too."
)
def command(folder: Path, database: str, dry_run: bool, strict: bool, raters: bool) -> None:
    """Draw the tasks of the [[plan]] of the study in FOLDER and store them.

    The same protocol, seed and items give the same tasks and the same digest, which a
    pre-registration can name. Asked again after ratings came in, it adds the tie-breaks that they
    call for. A plan that cannot be met is refused.

    What a system was asked and did not answer stays missing: an item that nobody answered is left
    out, one that some answered is shown with their answers, and both are counted.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.running.planning import make_plan

    opened = open_folder(folder, database=database)
    planned = make_plan(opened, save=not dry_run, strict=strict)
    for line in _plan_lines(planned, dry_run, raters):
        click.echo(line)
    for line in unsearched_lines(opened):
        click.echo(f"  {line}")


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
        each = ", ".join(
            f"{value} {_range(sorted(set(counts)))}" for value, counts in values.items()
        )
        yield f"  items of each of {panel} by {column}: {each}"
    for lacking in planned.missing:
        yield f"  {missing_answers_sentence(lacking)}"
    if planned.first_digest:
        yield f"  digest of the plan without the places added later: {planned.first_digest}"
    yield f"  digest: {planned.digest}"


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
        f" among {overlap.raters} raters, those by chance included; the overlap asks for"
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
    yield f"    items by how many of {panel} compare there: {times}"
    yield f"    comparisons that another of {panel} makes as well: {meetings.repeated:,}"


def _range(numbers: list[int]) -> str:
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
