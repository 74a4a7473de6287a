"""konsil interim: interim analyses while ratings are collected."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.verdicts import p_words
from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json
from konsil.errors import option
from konsil.study.interim.rules import AppliedRule

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality
    from konsil.api.running.interim import InterimState, LookReport
    from konsil.study.definition.interim import LookKind


@click.command(short_help="Make a planned interim analysis, or list them and what is due.")
@on_folder
@click.option("--look", "number", type=int, metavar="N", help="Make this look of the protocol.")
@click.option(
    "--unplanned",
    type=click.Choice(["pooled", "comparative"]),
    help="Make a look that is not in the protocol; it is exploratory.",
)
@click.option(
    "--last",
    is_flag=True,
    help="Declare data collection closed: the next report is the last analysis.",
)
@click.option("--reason", default="", help="Reason for an unplanned look or --last, for the log.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="New file of a comparative look, outside of FOLDER.",
)
@acting("makes the look")
@with_json
def command(
    folder: Path,
    database: str,
    number: int | None,
    unplanned: str | None,
    last: bool,
    reason: str,
    output: Path | None,
    by: str,
) -> Printout:
    """Make an interim analysis of the study in FOLDER, as its protocol plans it.

    Without --look or --unplanned, list the looks and what is due. A pooled look prints agreement
    and data quality over all systems, and the rules that apply. A comparative look is written to a
    file for the unblinded person named in the protocol (--by); only the decision is printed.

    --last declares that no further ratings come although not all of the planned ones are there:
    the comparison is confirmatory with these ratings, and exploratory with later ones.
    """
    from konsil.api import open_folder
    from konsil.api.running.interim import (
        close_collection,
        interim_state,
        take_look,
    )
    from konsil.api.running.interim import take_unplanned_look as take_unplanned
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if (number is not None) + (unplanned is not None) + last > 1:
        raise StudyError("--look, --unplanned and --last: expected one of them")
    if last:
        return _closed(close_collection(opened, by=by, reason=reason).data)
    if number is not None:
        return _printed(take_look(opened, number, by=by, output=output))
    if unplanned is not None:
        kind: LookKind = "comparative" if unplanned == "comparative" else "pooled"
        return _printed(take_unplanned(opened, kind, by=by, reason=reason, output=output))
    if by or reason or output is not None:
        raise StudyError("--look: missing; state the look, such as --look 1")
    state = interim_state(opened)
    return Printout(_state_record(state), state_lines(state, folder))


def _closed(data: Mapping[str, object]) -> Printout:
    record = {key: data[key] for key in ("fraction", "rated", "tasks")}
    lines = [
        f"data collection is closed at {data['rated']:,} of {data['tasks']:,}",
        "the next report is the last analysis; further ratings make it exploratory",
    ]
    return Printout(record, lines)


def _printed(report: LookReport) -> Printout:

    data = report.event.data
    record = {
        "look": report.event.subject,
        "kind": data["look"],
        "is_planned": data["is_planned"],
        "fraction": data["fraction"],
        "decision": data["decision"],
        "at": report.event.at,
        "criteria": report.qualities,
        "rules": data.get("rules", []),
        "file": report.file,
    }
    lines = [
        f"look {report.event.subject}: {data['look']}, at {data['rated']:,} of {data['tasks']:,}",
        *quality_lines(report.qualities),
        *rule_lines(report.rules),
    ]
    if not data["is_planned"]:
        lines.append("exploratory: not a look of a frozen protocol")
    if report.file is not None:
        lines.append(f"for the unblinded person only: {report.file}")
    return Printout(record, [*lines, f"decision: {data['decision']}"])


def _state_record(state: InterimState) -> dict[str, object]:
    return {
        "rated": state.progress.rated,
        "tasks": state.progress.tasks,
        "due": state.due,
        "looks": state.interim.looks,
        "made": state.previous,
        "last": state.last,
        "is_last_next": state.is_last_next,
    }


def state_lines(state: InterimState, folder: Path) -> Iterator[str]:
    """Which looks there are, were made and are due, a line each; `folder` as it was typed."""
    progress = state.progress
    share = f" ({progress.fraction:.0%})" if progress.tasks else "; run 'konsil plan' first"
    yield f"{progress.unit}: {progress.rated:,} of {progress.tasks:,}{share}"
    place = "" if folder == Path() else f" {shlex.quote(str(folder))}"
    looks_before = {t.number: t for t in state.previous if t.number}
    for n, look in enumerate(state.interim.looks, 1):
        status = "planned"
        if n in looks_before:
            status = f"made at {looks_before[n].at}: {looks_before[n].decision}"
        elif n == state.due:
            status = f"due; run 'konsil interim{place} {option('look')} {n}'"
        elif progress.fraction >= look.fraction:
            status = "not made"
        yield f"look {n}: {look.kind}, at {look.fraction:.0%}: {status}"
    for extra in state.previous:
        if not extra.number:
            yield f"unplanned look: {extra.kind}, made at {extra.at} (exploratory)"
    if state.is_last_next:
        yield "the next report is the last analysis; later ratings are only described"
    if (last := state.last) is not None:
        yield (
            f"last analysis: made at {last.at} with {last.rated:,} {progress.unit}; a comparison"
            " of other data is exploratory"
        )


def quality_lines(computed: Sequence[CriterionQuality]) -> Iterator[str]:
    """Agreement, abstentions and drift of each criterion, a line each."""
    for quality in computed:
        yield (
            f"{quality.criterion}: {_agreement_words(quality)};"
            f" {quality.n_units:,} units with two raters or more;"
            f" {quality.n_abstained:,} of {quality.n_ratings:,} ratings are abstentions"
        )
        if quality.periods:
            labels, agreement = quality.label_shift.p, quality.agreement_shift.p
            yield (
                f"  drift over {len(quality.periods)} periods: categories {p_words(labels)},"
                f" agreement {p_words(agreement)}; adjusted (Holm)"
                f" {p_words(quality.label_drift)} and {p_words(quality.agreement_drift)}"
            )


def _agreement_words(quality: CriterionQuality) -> str:
    estimate, title = quality.agreement, statistic_of(quality.statistic).title
    if math.isnan(estimate.value):
        return f"{title} is undefined ({estimate.reason or 'too few data'})"
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return f"{title} {estimate.value:.3f} (no CI: {estimate.reason or 'too few data'})"
    return (
        f"{title} {estimate.value:.3f} ({estimate.level:.0%} CI, {estimate.low:.3f} to"
        f" {estimate.high:.3f})"
    )


def rule_lines(rules: Sequence[AppliedRule]) -> Iterator[str]:
    """Every rule and whether it applies."""
    for applied in rules:
        rule = applied.rule
        limit = f"below {rule.below:g}" if rule.below is not None else f"above {rule.above:g}"
        verdict = {True: "applies", False: "does not apply", None: "is not estimable"}
        text = f" ({rule.text})" if rule.text and applied.applies else ""
        number = "" if applied.applies is None else f"{applied.number:.3f}, "
        yield (
            f"rule: {rule.action} if {rule.measure} of {rule.criterion} ({rule.end}) is {limit}:"
            f" {number}{verdict[applied.applies]}{text}"
        )
        if applied.needed is not None and applied.is_extended:
            yield (
                f"  no further extension: {applied.present:,} are there ({applied.needed:,} are"
                f" needed, the maximum is {rule.maximum:,})"
            )
        elif applied.needed is not None:
            yield (
                f"  extend to {applied.advised:,} in all ({applied.needed:,} are needed, the"
                f" maximum is {rule.maximum:,})"
            )
            yield "  with further items; they narrow no uncertainty about other raters"
