"""Which kinds of questions an analysis answers, by its statistic and what it compares."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.catalogue.entry import QuestionKind
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import TranslatableMessage, listed, message

_CONDITIONS = ("arm", "level", "phase", "length")
"""Columns whose values are conditions of the same systems and raters."""
_SUBJECTS = ("system", "rater", "rater_pair", "raters", "panel", "criterion")
"""Columns whose values are no conditions: what differs between them has not changed."""


def kinds_answered(analysis: Analysis) -> tuple[QuestionKind, ...]:
    """The kinds of questions that the analysis answers, the likeliest first.

    >>> kinds_answered(Analysis("a", "win_difference", "better", "experts"))
    ('difference', 'level')
    >>> kinds_answered(Analysis("a", "win_rate", "x", "experts", by=("arm",), compare="arm"))
    ('change', 'difference', 'level')
    """
    return tuple(dict.fromkeys((*_of_differences(analysis), *_of_estimates(analysis))))


def is_of_estimates(analysis: Analysis) -> bool:
    """Whether the stated question asks for the estimates, although the analysis compares them.

    >>> from dataclasses import replace
    >>> analysis = Analysis("a", "mean", "x", "experts", by=("system",), compare="system")
    >>> is_of_estimates(analysis), is_of_estimates(replace(analysis, question_kind="level"))
    (False, True)
    """
    stated = analysis.question_kind
    is_compared = bool(analysis.compare) and stated not in _of_differences(analysis)
    return is_compared and stated in _of_estimates(analysis)


def _of_differences(analysis: Analysis) -> tuple[QuestionKind, ...]:
    if not analysis.compare:
        return ()
    if analysis.compare in _SUBJECTS:
        return ("difference",)
    is_condition = analysis.compare in _CONDITIONS
    return ("change", "difference") if is_condition else ("difference", "change")


def _of_estimates(analysis: Analysis) -> tuple[QuestionKind, ...]:
    entry, has_panel = statistic_of(analysis.statistic), analysis.against not in {None, "rest"}
    if entry.is_among_raters:
        return ("judge_against_people", "agreement") if has_panel else ("agreement",)
    others: tuple[QuestionKind, ...] = (
        ("difference", "level") if entry.is_difference else ("level",)
    )
    return (*(entry.questions or others), *(("judge_against_people",) if has_panel else ()))


def question_kind(analysis: Analysis) -> QuestionKind:
    """The kind of the analysis' question: that which it states, or else the likeliest."""
    return analysis.question_kind or kinds_answered(analysis)[0]


def kind_problems(analysis: Analysis) -> Iterator[TranslatableMessage]:
    """That a stated kind is none that the analysis answers, with what would answer it.

    >>> analysis = Analysis("a", "win_rate", "better", "experts", question_kind="change")
    >>> [str(problem).partition(";")[0] for problem in kind_problems(analysis)]
    ['the analysis answers a question of the kind level or difference, not change']
    """
    answered, stated = kinds_answered(analysis), analysis.question_kind
    if not stated or stated in answered:
        return
    yield message(
        "the analysis answers a question of the kind {kinds}, not {stated}; expected {hint}",
        message_id="question_kind.not_answered",
        kinds=listed(answered, end="{some} or {last}"),
        stated=stated,
        hint=_hint(stated),
    )


def _hint(kind: QuestionKind) -> TranslatableMessage:
    match kind:
        case "change":
            return message(
                "'compare' with the condition that changes", message_id="question_kind.change"
            )
        case "difference":
            return message(
                "'compare' with the groups that may differ", message_id="question_kind.difference"
            )
        case "agreement":
            return message("a statistic of agreement", message_id="question_kind.agreement")
        case "judge_against_people":
            return message(
                "the panel of people in 'against'", message_id="question_kind.judge_against_people"
            )
        case "recommendation":
            return message(
                "a statistic of designs or of ensembles", message_id="question_kind.recommendation"
            )
        case "level":
            return message(
                "a statistic of the groups themselves",
                message_id="question_kind.level",
            )
