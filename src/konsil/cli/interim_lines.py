"""Interim analyses in lines for people: the state, a pooled look, its rules."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.verdicts import p_words
from konsil.errors import option
from konsil.study.interim.rules import AppliedRule

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality
    from konsil.api.running.interim import InterimState


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
