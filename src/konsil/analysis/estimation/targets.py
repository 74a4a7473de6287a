"""Whom a report's intervals and tests are about: raters like these, or these raters alone.

One target per report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.errors.message import Listed, TranslatableMessage, listed, message
from konsil.stats.engine.contract import RatersTarget

LEAST_EFFECTIVE = 4.5
"""From so many effective raters on, panels are told of as a sample where the protocol states no
target.

About five raters who rated equally much, measured by two-way intervals of shares, kappas and win
differences with tastes of standard deviation .3 and .8 (`docs/coverage.md`, "Few raters"). With two
raters they hold the truth in .88 to .94 of the studies. From three on one design of 40 is beyond
chance outside .93 to .985 (.914: a share of 10 %, five raters, taste .8), but the intervals of
three are one and a half to three times as wide as those of five: for kappa .66 to .77, for win
differences .9 to 1.7. """

LEAST_RATERS = 3
"""With fewer raters of its own a number is about these raters, whatever the report's target."""


@dataclass(frozen=True)
class Target:
    """A report's target of inference, and why it is that one."""

    raters: RatersTarget
    """'like these': the raters are a sample; 'these': no other raters are meant."""
    is_stated: bool = False
    """Whether the protocol states it."""
    panel: str = ""
    """The raters of an analysis, if several people, that count like the fewest; empty: there are
    none."""
    members: tuple[str, ...] = ()
    """The panels that the name combines, where it is none itself."""
    n_raters: int = 0
    """How many people it has."""
    effective: float = math.nan
    """Like how many with equal shares of the ratings they count."""
    unknown: tuple[str, ...] = ()
    """The panels whose raters are unknown."""


def answering(
    summary: EstimateSummary, target: RatersTarget | None, n_raters: int
) -> EstimateSummary:
    """The summary of a number, with the CI of the target first and the other as companion."""
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
        return summary
    rest = (summary.headline, *(c for c in summary.companions if c is not first))
    notes = tuple(dict.fromkeys(_swapped(note) for note in summary.notes))
    return replace(summary, headline=first, companions=rest, notes=notes)


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
        companion_sentence = message(
            (
                "The primary CI and p value allow for other items and other raters; the"
                " item-clustered CI and p value, also reported, apply to these raters only."
            ),
            message_id="target.beside_like_these",
        )
    else:
        companion_sentence = message(
            (
                "The primary CI and p value allow for other items; the two-way CI, also"
                " reported, applies to raters like these."
            ),
            message_id="target.beside_these",
        )
    rest = message(
        (
            "Estimates for judges, for a panel's consensus, for each rater against the others,"
            " or from fewer than {few} raters always apply to these raters only."
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
        "effective": target.effective,
        "least": LEAST_EFFECTIVE,
    }
    if target.raters == "like these":
        return message(
            (
                "Target of inference: raters like these. The protocol does not specify a"
                " target. Of all analyses with ratings by several people, the smallest"
                " effective number of raters is {effective:.2f} of {n} (panel: {panel}); from"
                " {least:g} on, raters are treated as a sample."
            ),
            message_id="target.enough",
            **numbers,
        )
    return message(
        (
            "Target of inference: these raters only. The protocol does not specify a target."
            " Of all analyses with ratings by several people, the smallest effective number of"
            " raters is {effective:.2f} of {n} (panel: {panel}); only from {least:g} on are"
            " raters treated as a sample."
        ),
        message_id="target.too_few",
        **numbers,
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
