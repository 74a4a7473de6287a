"""Where two raters gave different labels to the same answer: what calls for a tie-break."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from konsil.instrument import Instrument, canonical
from konsil.records import Purpose, Rater, Rating


def conflicting_items(
    ratings: Iterable[Rating],
    instrument: Instrument,
    tiebreakers: Iterable[Rater],
    raters: Mapping[str, Rater],
    purposes: Mapping[str, Purpose],
    systems: Mapping[str, str],
) -> frozenset[str]:
    """Items of which some answer has two different labels by two raters of the tie-breakers' kind.

    An abstention is not a label and causes no conflict. Ratings of practice, pilot, repeat and
    tie-break tasks do not count; `purposes` gives those of the tasks planned so far, and ratings of
    other tasks (imported) count as main ones unless a tie-breaker gave them. `systems` maps the
    answers that matter to their systems.
    """
    breakers = {r.id for r in tiebreakers}
    # Disagreements of people are broken by people, those of judges by judges.
    kinds = {raters[r].kind for r in breakers}
    criteria = {c.id: c for c in instrument.criteria if c.scope in ("answer", "sentence", "pair")}
    labels_by_subject: dict[object, dict[str, str]] = {}
    conflicts: set[str] = set()
    for rating in ratings:
        criterion, rater = criteria.get(rating.criterion), raters.get(rating.rater)
        if criterion is None or rater is None or rater.kind not in kinds or rating.state != "rated":
            continue
        if (
            rating.item is None
            or rating.label is None
            or not all(a in systems for a in rating.answers)
        ):
            continue
        # Practice does not count; a task outside the plan does, unless it is a tie-breaker's.
        purpose = purposes.get(rating.task)
        if purpose != "main" and (purpose is not None or rating.rater in breakers):
            continue
        # Pairs are shown either way round: labels are compared in one order.
        answers, label = canonical(criterion, rating.answers, rating.label)
        subject = (rating.criterion, rating.item, answers, rating.span)
        labels = labels_by_subject.setdefault(subject, {})
        labels[rating.rater] = label
        if any(other != label for other in labels.values()):
            conflicts.add(rating.item)
    return frozenset(conflicts)
