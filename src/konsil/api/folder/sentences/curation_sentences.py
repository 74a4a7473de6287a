"""What a report says of the curation of a study's items, and of its verified log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konsil.errors.message import TranslatableMessage, message
from konsil.prepare import last_screened
from konsil.prepare.identifiers.identifiers import Recall
from konsil.prepare.identifiers.suspects import RECALLS
from konsil.records import Event
from konsil.store import Store
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


def log_sentence(store: Store) -> tuple[bool, TranslatableMessage]:
    """Whether the audit log is verified, and the sentence of the methods that states so.

    The sentence has the last hash to deposit.
    """
    problems = store.verify_log()
    entries, last = store.log_head()
    if not problems:
        return True, message(
            (
                "Audit log verified: {n:,} {n|entry|entries}; chain and records are intact."
                " The last hash is {hash}."
            ),
            message_id="log.whole",
            n=entries,
            hash=last,
        )
    return False, message(
        (
            "Verification of the audit log failed, so estimates may be based on altered"
            " records: {problem}{more}. For details, run 'konsil verify-log'."
        ),
        message_id="log.broken",
        problem=problems[0],
        more=f" (+ {len(problems) - 1})" if len(problems) > 1 else "",
    )
