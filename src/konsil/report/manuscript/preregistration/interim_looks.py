"""The interim looks of a protocol in sentences: when, what they spend, and what follows."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.message import Listed, TranslatableMessage, listed, message
from konsil.analysis.running.interim.sequential import planned_critical_values
from konsil.study import Study
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.interim.looks import family_words


def interim_plan(study: Study) -> Iterator[TranslatableMessage]:
    """Sentences on the planned looks and rules; none where the protocol plans no looks."""
    interim = study.interim
    if interim is None:
        return
    if pooled := [look for look in interim.looks if look.kind == "pooled"]:
        yield message(
            "Blinded interim looks that pool all systems are made at {fractions} of the ratings;"
            " they spend no type I error.",
            message_id="preregistration.pooled_looks",
            fractions=_fractions(pooled),
        )
    if interim.comparative:
        yield _comparative(interim)
    for rule in interim.rules:
        yield _rule(rule)
        if rule.maximum is not None:
            yield message(
                "The sample is then extended in proportion to the square of the number compared, to"
                " {maximum:,} tasks or ratings at most.",
                message_id="preregistration.interim_extension",
                maximum=rule.maximum,
            )


def _comparative(interim: Interim) -> TranslatableMessage:
    looks = interim.comparative
    critical = planned_critical_values(
        interim.sequential, [look.fraction for look in looks], [look.futility for look in looks]
    )
    return message(
        "At {fractions} of the ratings, {who} alone looks at the analysis “{analysis}”. The study"
        " may stop where |z| reaches {critical}; the last value is of the last analysis. The"
        " two-sided type I error {alpha:g} is spent by a function of Lan and DeMets ({family})."
        " Bounds of futility: {futility}.",
        message_id="preregistration.comparative_looks",
        fractions=_fractions(looks),
        who=interim.unblinded,
        analysis=interim.analysis,
        critical=listed([f"{value:.3f}" for value in critical]),
        alpha=interim.alpha,
        family=family_words(interim.spending),
        futility=listed([f"{look.futility:g}" for look in looks]),
    )


def _rule(rule: InterimRule) -> TranslatableMessage:
    is_below = rule.below is not None
    return message(
        "Rule of pooled looks: “{action}” if {measure} ({end}) of {criterion} is {side} {limit:g}."
        " {text}",
        message_id="preregistration.interim_rule",
        action=rule.action,
        measure=rule.measure,
        end=rule.end,
        criterion=rule.criterion,
        side="<" if is_below else ">",
        limit=float(rule.below if rule.below is not None else rule.above or 0.0),
        text=rule.text,
    )


def _fractions(looks: list[Look] | tuple[Look, ...]) -> Listed:
    return listed(
        [message("{share:.0%}", message_id="interim.share", share=look.fraction) for look in looks]
    )
