"""What the methods say of the curation of a study's items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konsil.analysis.model.message import TranslatableMessage, message
from konsil.prepare import last_screened
from konsil.prepare.identifiers.identifiers import Recall
from konsil.prepare.identifiers.suspects import RECALLS
from konsil.records import Event
from konsil.study import Study


def curation_sentences(study: Study, events: Iterable[Event]) -> Iterator[TranslatableMessage]:
    """The recall of the screening's rules, where items were screened."""
    screen = study.prepare.screen if study.prepare is not None else None
    if screen is None:
        return
    screened = last_screened(events)[1]
    if screened is None:
        return
    if "identifier" in screen.rules:
        yield message(
            "Items were screened for identifiers by rules, which flagged {share} ({k}/{n}; 95% CI,"
            " {low} to {high}) of made-up questions with identifiers by a person who had not seen"
            " the rules; people decided on {decided:,} {decided|item|items}.",
            message_id="curation.identifier_recall",
            **_figures(RECALLS["identifier"]),
            decided=len(screened.decided),
        )
    if "follow-up" in screen.rules:
        yield message(
            "Items were screened for follow-up questions by rules, which flagged {share} ({k}/{n};"
            " 95% CI, {low} to {high}) of made-up ones by a person who had not seen the rules.",
            message_id="curation.follow_up_recall",
            **_figures(RECALLS["follow-up"]),
        )
    if "no question for a decision" in screen.rules:
        yield message(
            "Items were screened for texts that ask for no clinical decision by rules, which"
            " flagged {share} ({k}/{n}; 95% CI, {low} to {high}) of made-up ones by a person who"
            " had not seen the rules.",
            message_id="curation.no_decision_recall",
            **_figures(RECALLS["no question for a decision"]),
        )


def _figures(recall: Recall) -> dict[str, str | int]:
    """The gaps of a sentence about a recall."""
    k, n, low, high = recall
    return {"share": f"{k / n:.0%}", "k": k, "n": n, "low": f"{low:.0%}", "high": f"{high:.0%}"}
