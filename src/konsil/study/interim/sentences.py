"""What the methods say of interim analyses: the looks, and the last analysis adjusted for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from konsil.analysis.model.rows import AdjustedEstimate
from konsil.analysis.model.verdicts import p_words, probability_words
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records import Event
from konsil.study.definition.interim import Interim
from konsil.study.definition.protocol import Study
from konsil.study.interim.last import ShownAnalysis
from konsil.study.interim.looks import TakenLook, family_words, taken_looks


def interim_sentences(
    study: Study,
    events: Sequence[Event],
    adjusted: AdjustedEstimate | None,
    *,
    is_stopped: bool = False,
) -> tuple[TranslatableMessage, ...]:
    """Sentences of the methods: the looks made, and the adjusted estimate of the last analysis.

    `is_stopped`: the last analysis replaces the look that stopped the study.
    """
    looks = taken_looks(events)
    out = []
    if pooled := [look for look in looks if look.kind == "pooled"]:
        out.append(
            message(
                "{n:,} blinded interim {n|analysis|analyses} pooled all systems (at {fractions} of"
                " the ratings) and spent no type I error.",
                message_id="interim.pooled_looks",
                n=len(pooled),
                fractions=_percentages([look.fraction for look in pooled]),
            )
        )
    if adjusted is not None and study.interim is not None:
        looks_before = [look for look in looks if look.kind == "comparative"]
        out.extend(
            _sequential_sentences(study.interim, looks_before, adjusted, is_stopped=is_stopped)
        )
    return tuple(out)


def _sequential_sentences(
    interim: Interim, looks: Sequence[TakenLook], adjusted: AdjustedEstimate, *, is_stopped: bool
) -> Iterator[TranslatableMessage]:
    """The looks made, what replaced or joined one, whether the test rejects, the adjustment."""
    yield message(
        "The analysis “{analysis}” was group sequential, with {n:,} comparative interim"
        " {n|look|looks} (at {looks} of the ratings).",
        message_id="interim.comparative_looks",
        analysis=adjusted.analysis,
        n=len(looks),
        looks=_percentages([look.fraction for look in looks]),
    )
    last, at = looks[-1].fraction, adjusted.fractions[-1]
    if is_stopped and math.isclose(last, at):
        yield message(
            "The study was stopped at {stop:.0%}.", message_id="interim.stopped", stop=last
        )
    elif is_stopped:
        yield message(
            "The study was stopped at {stop:.0%}; the last analysis, at {last:.0%}, replaces that"
            " look (deletion method, Sooriyarachchi et al. 2003).",
            message_id="interim.replaced",
            stop=last,
            last=at,
        )
    elif last not in adjusted.fractions[:-1]:
        yield message(
            "The look at {look:.1%} is part of the last analysis, which has less than 1% more"
            " ratings.",
            message_id="interim.merged",
            look=last,
        )
    yield message(
        "Critical values of |z| were {critical} at {fractions} of the ratings; type I error"
        " {alpha:g} was spent by a function of Lan and DeMets ({family}) up to {spent}.",
        message_id="interim.sequential",
        fractions=_percentages(adjusted.fractions),
        critical=listed(
            [
                message("{value:.3f}", message_id="interim.critical", value=value)
                for value in adjusted.critical
            ]
        ),
        alpha=interim.alpha,
        family=family_words(interim.spending),
        spent=probability_words(adjusted.spent[-1]),
    )
    yield _outcome(adjusted)
    if len(adjusted.fractions) == 1:
        yield message(
            "No other look remains to adjust for: the estimate, CI and p value in the tables are"
            " those of the analysis itself.",
            message_id="interim.nothing_adjusted",
        )
        return
    yield message(
        "Adjusted for the looks, the estimate is {value:.3f} ({level:.0%} CI, {low:.3f} to"
        " {high:.3f}; {p}): median-unbiased, by normal theory with stage-wise ordering; the"
        " estimate and CI in the tables are not adjusted.",
        message_id="interim.adjusted",
        value=adjusted.value,
        level=adjusted.level,
        low=adjusted.low,
        high=adjusted.high,
        p=p_words(adjusted.p, is_precise=True),
    )
    if adjusted.is_truncated:
        yield message(
            "The adjusted CI is truncated at the possible values.", message_id="interim.truncated"
        )


def _outcome(adjusted: AdjustedEstimate) -> TranslatableMessage:
    """Whether the last analysis rejects: by its critical value, not by its p value."""
    size, critical = abs(adjusted.z), adjusted.critical[-1]
    if size >= critical:
        return message(
            "At the last analysis |z| is {z:.3f} and reaches the critical value {critical:.3f}.",
            message_id="interim.reached",
            z=size,
            critical=critical,
        )
    return message(
        "At the last analysis |z| is {z:.3f} and does not reach the critical value"
        " {critical:.3f}: the null hypothesis is not rejected, whatever the p value.",
        message_id="interim.not_reached",
        z=size,
        critical=critical,
    )


def _percentages(fractions: Sequence[float]) -> TranslatableMessage | str:
    parts = [
        message("{share:.0%}", message_id="interim.share", share=fraction) for fraction in fractions
    ]
    return parts[0] if len(parts) == 1 else listed(parts)  # type: ignore[return-value]


def shown_sentence(shown: ShownAnalysis | None) -> Iterator[TranslatableMessage]:
    """The numbers of the last analysis that was shown, where its test was estimable."""
    if shown is None or shown.z is None or shown.p is None:
        return
    if shown.critical is None:
        yield message(
            "At the last analysis, of {rated:,} tasks or ratings, |z| was {z:.3f} ({p}), without a"
            " look to adjust for.",
            message_id="interim.confirmed_alone",
            rated=shown.rated,
            z=shown.z,
            p=p_words(shown.p, is_precise=True),
        )
        return
    yield message(
        "At the last analysis, of {rated:,} tasks or ratings, |z| was {z:.3f}, its critical value"
        " {critical:.3f} and the p value adjusted for the looks {p}.",
        message_id="interim.confirmed",
        rated=shown.rated,
        z=shown.z,
        critical=shown.critical,
        p=probability_words(shown.p),
    )
