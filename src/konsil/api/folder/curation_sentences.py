"""What the methods say of the curation of a study's items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konsil.analysis.model.message import TranslatableMessage, message
from konsil.prepare import last_screened
from konsil.prepare.identifiers.identifiers import RECALL
from konsil.records import Event
from konsil.study import Study


def curation_sentences(study: Study, events: Iterable[Event]) -> Iterator[TranslatableMessage]:
    """The proportion of identifiers that the screening's rules detect.

    It is stated where items were screened for identifiers.
    """
    screen = study.prepare.screen if study.prepare is not None else None
    screened = last_screened(events)[1]
    if screen is None or "identifier" not in screen.rules or screened is None:
        return
    share, (k, n, low, high) = RECALL.k / RECALL.n, RECALL
    yield message(
        "Items were screened for identifiers by rules, which flagged {share} ({k}/{n}; 95% CI,"
        " {low} to {high}) of made-up questions with identifiers by a person who had not seen the"
        " rules; people decided on {decided:,} {decided|item|items}.",
        message_id="curation.identifier_recall",
        share=f"{share:.0%}",
        k=k,
        n=n,
        low=f"{low:.0%}",
        high=f"{high:.0%}",
        decided=len(screened.decided),
    )
