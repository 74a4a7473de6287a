"""Whom a report's intervals and tests are about: raters like these, or these raters alone.

One target per report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.raters.rater_samples import without_interval
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.frames import whom
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import Listed, TranslatableMessage, listed, message
from konsil.stats.engine.contract import Estimate, RatersTarget
from konsil.stats.inference.wald import linearised

LEAST_PEOPLE = 5
"""From so many people on, a panel is a sample of raters where the protocol states no target."""

LEAST_EFFECTIVE = 4.5
"""With fewer effective raters ratings carry no conclusion about raters like these well.

About five raters who rated equally much, measured by two-way intervals of shares, kappas and win
differences with tastes of standard deviation .3 and .8 (`docs/coverage.md`, "Few raters"). With two
raters they hold the truth in .88 to .94 of the studies. From three on one design of 40 is beyond
chance outside .93 to .985 (.914: a share of 10 %, five raters, taste .8), but the intervals of
three are one and a half to three times as wide as those of five: for kappa .66 to .77, for win
differences .9 to 1.7. """

LEAST_RATERS = 3
"""With fewer raters of its own a number is about these raters, whatever the report's target."""


ABOUT_THESE = frozenset(
    {
        "spearman",
        "kendall_tau_b",
        "median",
        "relative_difference",
        "choice_agreement",
        "choice_kappa",
        "preference_correlation",
        "rank_agreement",
        "median_seconds",
        "length_correlation",
        "part_whole",
        "part_variance",
        "reliability",
        "rater_hours",
        "budget_reliability",
    }
)
"""Statistics that have no interval for raters like these."""


def is_about_these(analysis: Analysis, *, has_known_raters: bool = True) -> bool:
    """Whether an analysis' numbers are about these raters, whatever the report's target.

    These are the exceptions that a report's target has: those of a panel's consensus, as all
    statistics of cases are, and of raters against others; judges; unknown raters; statistics
    without an interval for raters like these, as those that users add.
    """
    statistic = statistic_of(analysis.statistic)
    return (
        not has_known_raters
        or analysis.consensus != "none"
        or bool(analysis.against)
        or statistic.needs_majority
        or statistic.family in {"cases", "judges"}
        or analysis.statistic in ABOUT_THESE
        or analysis.statistic in additions()
    )


def is_constant(measure: Measure) -> bool:
    """Whether all ratings are alike in what a proportion or agreement counts: it is -1, 0 or 1.

    The interval is then an exact one or that of a prior, and there is none for other raters.
    """
    # A standard deviation may have no slope, too, at 0.5 of as many 0 as 1: it is not constant.
    if abs(value(measure)) not in {0.0, 1.0}:
        return False
    return not (np.abs(linearised(measure.sums, measure.finalise)) > _ROUNDING).any()


_ROUNDING = 1e-12
"""Influences up to here are rounding errors of zero."""


STATED = frozenset({"two_way.dominated_ratings", "two_way.too_large"})
"""Notes by which a number itself states that its interval is about these raters."""


@dataclass(frozen=True)
class Target:
    """A report's target of inference, and why it is that one."""

    raters: RatersTarget
    """'like these': the raters are a sample; 'these': no other raters are meant."""
    is_stated: bool = False
    """Whether the protocol states it."""
    panel: str = ""
    """The raters of an analysis, if several people, of whom there are the fewest; empty: there are
    none."""
    members: tuple[str, ...] = ()
    """The panels that the name combines, where it is none itself."""
    n_raters: int = 0
    """How many people it has, whoever of them answered."""
    unknown: tuple[str, ...] = ()
    """The panels whose raters are unknown."""
    is_frozen: bool = False
    """Whether it is that of the frozen plan, which the protocol of today would not have."""


def planned_target(
    stated: RatersTarget | None,
    panels: Iterable[str],
    people: Mapping[str, int],
    together: Mapping[str, tuple[str, ...]],
) -> Target:
    """The protocol's target; else that of the smallest panel of several people, before any rating.

    `panels`: those that analyses name; `people`: how many each panel has who are to rate;
    `together`: the panels of a name. Who answered and how much decides nothing: the target stays as
    it was planned. A panel of one person is no sample of raters and decides nothing either.

    >>> planned_target(None, ["experts", "chair"], {"experts": 5, "chair": 1}, {}).raters
    'like these'
    """
    sizes = []
    for panel in dict.fromkeys(panels):
        n = sum(people.get(member, 0) for member in together.get(panel, (panel,)))
        if n > 1:
            sizes.append((n, panel))
    n_raters, panel = min(sizes, default=(0, ""))
    raters: RatersTarget = stated or ("like these" if n_raters >= LEAST_PEOPLE else "these")
    return Target(raters, stated is not None, panel, together.get(panel, ()), n_raters)


def with_effective_raters(row: Row, effective: float, least: float = LEAST_EFFECTIVE) -> Row:
    """The row with a note where fewer raters gave the ratings than its target was planned with.

    `effective`: the effective number of raters of its analysis. Not of companions, nor of rows that
    are about these raters anyway.
    """
    notes = () if row.kind == "companion" else hardly_carried(row.estimate, effective, least)
    return replace(row, warnings=(*row.warnings, *notes)) if notes else row


def hardly_carried(
    estimate: Estimate, effective: float, least: float = LEAST_EFFECTIVE
) -> tuple[TranslatableMessage, ...]:
    """A note on a number for raters like these that too few effective raters rated; else empty."""
    is_about_others = estimate.raters == "like these" and math.isfinite(estimate.low)
    if not (effective < least and is_about_others):
        return ()
    return (
        message(
            "The ratings hardly carry conclusions about raters like these: the effective number of"
            " raters of this analysis is {effective:.1f}, below {least:g}.",
            message_id="target.hardly_carried",
            effective=effective,
            least=least,
        ),
    )


def answering(
    summary: EstimateSummary,
    target: RatersTarget | None,
    n_raters: int,
    *,
    is_exempt: bool = False,
    measure: Measure | None = None,
) -> EstimateSummary:
    """The summary of a number, with the CI of the target first and the other as companion.

    Where none of the target exists, there is no CI and no p value but as companion, and a reason:
    why these raters have none, or that it is not estimable for the target. `is_exempt`:
    whether it is then the other one instead, as for the exceptions (`is_about_these`); `measure`:
    that of a single number, which is an exception too where it is constant.
    """
    if (
        target in (None, summary.headline.raters)
        or not math.isfinite(summary.headline.value)
        or n_raters < LEAST_RATERS
    ):
        return summary
    first = next(
        (c for c in summary.companions if c.raters == target and math.isfinite(c.low)), None
    )
    if first is None:
        is_single_constant = measure is not None and is_constant(measure)
        if is_exempt or is_single_constant or target == "these" or _states_these(summary):
            return summary
        reason = message(
            "no CI and no p value: not estimable for raters like these",
            message_id="target.not_estimable",
        )
        return replace(
            summary,
            headline=without_interval(summary.headline, summary.headline.reason or reason),
            companions=(summary.headline, *summary.companions),
        )
    rest = (summary.headline, *(c for c in summary.companions if c is not first))
    notes = tuple(dict.fromkeys(_swapped(note) for note in summary.notes))
    return replace(summary, headline=first, companions=rest, notes=notes)


ONLY_THESE, BY_SINGLE_RATINGS = "target.only_these", "target.by_single_ratings"
"""Message ids of the notes by which a comparison is about these raters in a report about raters
like these: without any for the latter, or with one of single ratings beside it."""


def scope_note(
    summary: EstimateSummary, target: RatersTarget | None
) -> tuple[TranslatableMessage, ...]:
    """That a comparison is about these raters only, where the target is raters like these.

    What it shows, it shows of these raters. Where single ratings stand beside it, they decide
    whether it shows anything of raters like these. Empty for other numbers.
    """
    headline = summary.headline
    if target != "like these" or headline.raters == target or not math.isfinite(headline.low):
        return ()
    if any(leads(c.method, "single_ratings") for c in summary.companions):
        return (
            message(
                "The CI and p value apply to the consensus of these raters only; the two-way CI of"
                " single ratings applies to raters like these.",
                message_id="target.by_single_ratings",
            ),
        )
    return (
        message(
            "Not estimable for raters like these: the CI and p value apply to these raters only.",
            message_id="target.only_these",
        ),
    )


def _states_these(summary: EstimateSummary) -> bool:
    """Whether a number has no CI and no p value anyway, or states that they are about these."""
    headline = summary.headline
    is_blank = math.isnan(headline.low) and math.isnan(headline.p)
    return is_blank or any(
        isinstance(note, TranslatableMessage) and note.message_id in STATED
        for note in summary.notes
    )


def _swapped(note: str) -> str:
    """A note about raters as it reads where the interval about raters like these comes first."""
    if not isinstance(note, TranslatableMessage):
        return note
    if note.message_id == "two_way.wider":
        return message(
            (
                "Allowing for rater sampling widens the CI by {wider:.0%}, compared with items"
                " alone."
            ),
            message_id="target.wider",
            wider=note.values["wider"],
        )
    if note.message_id == "two_way.few_raters":
        return message(
            "There are {n} raters (fewer than {few}); do not generalise to other raters.",
            message_id="target.few_raters",
            n=note.values["n"],
            few=note.values["few"],
        )
    return note


ABOUT_COMPANIONS = frozenset({"target.beside_like_these", "target.beside_these", "two_way.wider"})
"""Sentences that point to an alternative interval of the same number; for documents without it."""


def target_sentences(target: Target, *, compares: bool = False) -> tuple[TranslatableMessage, ...]:
    """Sentences for the top of the report: the target, the reason for it, and the other CIs.

    `compares`: whether an analysis compares groups of people.
    """
    unknown_sentences = (
        (
            message(
                "The raters of {panels} are unknown: intervals and tests allow for other items"
                " only, inference to other raters is not possible, and estimates without each"
                " rater are not computed.",
                message_id="target.unknown",
                panels=listed(target.unknown),
            ),
        )
        if target.unknown
        else ()
    )
    if unknown_sentences and not target.panel:
        return unknown_sentences
    if target.raters == "like these":
        primary_sentence = message(
            "The primary CI and p value allow for other items and other raters.",
            message_id="target.primary_like_these",
        )
        companion_sentence = message(
            "The item-clustered CI and p value, also reported, apply to these raters only.",
            message_id="target.beside_like_these",
        )
    else:
        primary_sentence = message(
            "The primary CI and p value allow for other items.",
            message_id="target.primary_these",
        )
        companion_sentence = message(
            "The two-way CI, also reported, applies to raters like these.",
            message_id="target.beside_these",
        )
    rest = message(
        (
            "Estimates for judges, for a panel's consensus, for each rater against the others,"
            " from fewer than {few} raters, or by statistics without a two-way method (such as"
            " medians and reliability) always apply to these raters only."
        ),
        message_id="target.rest",
        few=LEAST_RATERS,
    )
    panels = message(
        (
            "Comparisons of groups without common raters, such as panels, apply to raters like"
            " these."
        ),
        message_id="target.panels",
    )
    return (
        _target_sentence(target),
        primary_sentence,
        companion_sentence,
        *unknown_sentences,
        *([rest] if target.raters == "like these" else []),
        *([panels] if compares and (target.raters == "like these" or not target.is_stated) else []),
    )


def _target_sentence(target: Target) -> TranslatableMessage:
    if target.is_stated:
        if target.raters == "like these":
            return message(
                "Target of inference: raters like these, as specified in the protocol.",
                message_id="target.stated",
            )
        return message(
            "Target of inference: these raters only, as specified in the protocol.",
            message_id="target.stated_these",
        )
    if target.is_frozen:
        if target.raters == "like these":
            return message(
                "Target of inference: raters like these, as in the frozen plan.",
                message_id="target.frozen",
            )
        return message(
            "Target of inference: these raters only, as in the frozen plan.",
            message_id="target.frozen_these",
        )
    if not target.panel:
        return message(
            (
                "Target of inference: these raters only, because no analysis uses ratings by"
                " several people."
            ),
            message_id="target.nobody",
        )
    numbers: dict[str, str | int | float | Listed] = {
        "n": target.n_raters,
        "panel": _panel(target),
        "least": LEAST_PEOPLE,
    }
    if target.raters == "like these":
        return message(
            (
                "Target of inference: raters like these. The protocol does not specify a"
                " target. Of all panels of several people in its analyses, the smallest has {n}"
                " people who were to rate (panel: {panel}); from {least} on, raters are treated as"
                " a sample."
            ),
            message_id="target.enough",
            **numbers,
        )
    return message(
        (
            "Target of inference: these raters only. The protocol does not specify a target. Of all"
            " panels of several people in its analyses, the smallest has {n} people who were to"
            " rate (panel: {panel}); only from {least} on are raters treated as a sample."
        ),
        message_id="target.too_few",
        **numbers,
    )


def table_sentence(target: Target) -> TranslatableMessage:
    """The target of the differences between groups of a table, and why it is that one."""
    if target.is_stated:
        return message(
            "Target of the differences: {raters}, as stated.",
            message_id="target.of_table_stated",
            raters=whom(target.raters),
        )
    return message(
        "Target of the differences: {raters}, as the table has {n} {n|rater|raters} (raters like"
        " these from {least} on).",
        message_id="target.of_table",
        raters=whom(target.raters),
        n=target.n_raters,
        least=LEAST_PEOPLE,
    )


def _panel(target: Target) -> str:
    """A panel's name; where it combines several, these too, since tables may list them alone."""
    if not target.members:
        return target.panel
    return message(
        "{panel} ({members} together)",
        message_id="target.together",
        panel=target.panel,
        members=listed(target.members),
    )
