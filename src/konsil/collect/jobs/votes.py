"""Several calls for one task become one set of ratings, or a missing one that says why: pure.

Votes of one order are counted first; where a pair was shown in both orders, their two labels are
compared afterwards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal

from konsil.collect.jobs.confidence import Chances
from konsil.instrument import Criterion, mirrored
from konsil.records import Rating, Span
from konsil.study.sections.calling import Combine, Inconsistent

Subject = tuple[str, frozenset[str], Span | None]
"""What a rating is about: criterion, answers, sentence."""
_ABSTAINED = object()
"""The vote of who abstains; no label of any scale."""
_Vote = str | object


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one call said."""

    exchanged: bool = False
    """Whether the two answers were shown the other way round."""
    ratings: tuple[Rating, ...] = ()
    """Its ratings; none where it could not be read."""
    chances: Mapping[Subject, Chances] = field(default_factory=dict)
    """How probable each label was, as it reads in the ratings; empty where that is not known."""

    @property
    def readable(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.ratings)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A rating that is missing, or a tie, because the votes or the orders did not agree."""

    outcome: Literal["no majority", "inconsistent"]
    """Why."""
    evidence: str
    """What was said, as JSON: criterion, answers, sentence, and the votes in the order in which
    they were cast."""


@dataclass(frozen=True, slots=True)
class Polled:
    """What the ballots of one task come to."""

    ratings: tuple[Rating, ...]
    """One for each question that was decided."""
    undecided: tuple[Undecided, ...]
    """One for each question that was not, and for each pair that is a tie only because its orders
    disagreed."""


def subject_of(rating: Rating) -> Subject:
    """What a rating is about, whichever way round a pair stands in it."""
    return rating.criterion, frozenset(rating.answers), rating.span


def poll(
    ballots: Sequence[Ballot],
    criteria: Sequence[Criterion],
    rule: Inconsistent = "missing",
    combine: Combine = "majority",
) -> Polled:
    """Decide each question by the votes of all ballots of one task.

    All of them must have been cast.
    """
    criterion_by_id = {c.id: c for c in criteria}
    decided: list[Rating] = []
    undecided: list[Undecided] = []
    for subject in dict.fromkeys(subject_of(r) for b in ballots for r in b.ratings):
        rating, open_question = _decide(
            subject, ballots, criterion_by_id[subject[0]], rule, combine
        )
        if rating is not None:
            decided.append(rating)
        if open_question is not None:
            undecided.append(open_question)
    return Polled(tuple(decided), tuple(undecided))


def _decide(
    subject: Subject,
    ballots: Sequence[Ballot],
    criterion: Criterion,
    rule: Inconsistent,
    combine: Combine,
) -> tuple[Rating | None, Undecided | None]:
    votes = [next((r for r in b.ratings if subject_of(r) == subject), None) for b in ballots]
    first = next(r for r in votes if r is not None)
    if criterion.scale.kind == "text":
        return first, None
    turned = any(b.exchanged for b in ballots) and criterion.scope == "pair"
    # What does not compare is the same question in both orders, so that its votes count together.
    cast = list(zip(ballots, votes, strict=True))
    sides = [[(b, r) for b, r in cast if b.exchanged == e] for e in (False, True)]
    labels = [_label(side, subject, criterion, combine) for side in (sides if turned else [cast])]
    if any(s is _UNREAD for s in labels):
        return None, None  # the calls' own outcomes say why
    if any(s is None for s in labels):
        return None, Undecided("no majority", _vote_note(subject, votes))
    if not turned or labels[0] == labels[1]:
        return _rating(labels[0], subject, ballots, votes, criterion), None
    open_question = Undecided("inconsistent", _vote_note(subject, votes))
    between = _between(labels[0], labels[1], criterion) if rule == "tie" else None
    return (
        None if between is None else _rating(between, subject, ballots, votes, criterion)
    ), open_question


_UNREAD = object()
"""Too few votes could be read."""


def _label(
    cast: Sequence[tuple[Ballot, Rating | None]],
    subject: Subject,
    criterion: Criterion,
    combine: Combine,
) -> _Vote | None:
    """What the votes of one order come to; None: nothing."""
    if (
        combine == "majority"
        or criterion.scale.kind != "choice"
        or criterion.scale.level == "nominal"
    ):
        return _majority([r for _, r in cast], criterion)
    read = [(b, r) for b, r in cast if r is not None]
    if 2 * len(read) <= len(cast):
        return _UNREAD
    rated = [(b, r.label) for b, r in read if r.label is not None]
    if 2 * len(rated) < len(read):
        return _ABSTAINED
    numbers = dict(zip(criterion.scale.labels, criterion.scale.numbers(), strict=True))
    if combine == "median":
        # The lower median is a label that was given, and not a number between two.
        return sorted((label for _, label in rated), key=numbers.__getitem__)[(len(rated) - 1) // 2]
    mean = fmean(_expectation(b.chances.get(subject), label, numbers) for b, label in rated)
    # Of two labels that are equally near the lower one, as with medians.
    return min(numbers, key=lambda label: (abs(numbers[label] - mean), numbers[label]))


def _expectation(chances: Chances | None, label: str, numbers: Mapping[str, float]) -> float:
    """The mean of a vote's labels by their probabilities, without an abstention's.

    Without probabilities it is the vote's own label.
    """
    weights = {name: p for name, p in (chances or {}).items() if name in numbers}
    total = sum(weights.values())
    return (
        numbers[label]
        if not total
        else sum(numbers[name] * p for name, p in weights.items()) / total
    )


def _majority(votes: Sequence[Rating | None], criterion: Criterion) -> _Vote | None:
    """What more than half say; None: nothing is."""
    readable: list[_Vote] = [_vote(r) for r in votes if r is not None]
    if 2 * len(readable) <= len(votes):
        return _UNREAD
    labels = [v for v in readable if v is not _ABSTAINED]
    if 2 * len(labels) < len(readable):
        return _ABSTAINED
    if criterion.scale.kind == "number":  # the lower median, as it was written
        return sorted((str(v) for v in labels), key=float)[(len(labels) - 1) // 2]
    label, n = Counter(labels).most_common(1)[0]
    return label if 2 * n > len(labels) else None


def _vote(rating: Rating) -> _Vote:
    return _ABSTAINED if rating.label is None else rating.label


def _between(a: _Vote | None, b: _Vote | None, criterion: Criterion) -> str | None:
    """The label between two that contradict one another, towards the tie.

    None where one of them is an abstention.
    """
    labels = criterion.scale.labels
    if a not in labels or b not in labels:
        return None
    n = len(labels)
    # Where labels are no mirror images of one another, the middle is not found by counting.
    if any(mirrored(criterion, label) != labels[n - 1 - i] for i, label in enumerate(labels)):
        return next((label for label in labels if mirrored(criterion, label) == label), None)
    doubled, middle = labels.index(str(a)) + labels.index(str(b)), n - 1
    return labels[doubled // 2 if doubled > middle else -(-doubled // 2)]


def _rating(
    vote: _Vote | None,
    subject: Subject,
    ballots: Sequence[Ballot],
    votes: Sequence[Rating | None],
    criterion: Criterion,
) -> Rating:
    read = [(b, r) for b, r in zip(ballots, votes, strict=True) if r is not None]
    like = next((r for _, r in read if _vote(r) == vote), None)
    base = (
        like if like is not None else replace(read[0][1], note="", state="rated", label=str(vote))
    )
    return replace(
        base,
        confidence=_confidence(vote, subject, read, criterion, len(votes)),
        seconds=_total_seconds(ballots),
        at=max(r.at for _, r in read),
    )


def _confidence(
    vote: _Vote | None,
    subject: Subject,
    read: Sequence[tuple[Ballot, Rating]],
    criterion: Criterion,
    cast: int,
) -> float | None:
    """The mean probability of the label over the readable ballots.

    A vote without probabilities is 1 or 0.
    """
    if criterion.scale.kind != "choice":
        return None
    has_probabilities = any(b.chances.get(subject) for b, _ in read)
    if not has_probabilities and (cast == 1 or not any(_vote(r) == vote for _, r in read)):
        return None
    name = criterion.scale.abstain if vote is _ABSTAINED else vote
    return fmean(
        of.get(str(name), 0.0) if (of := b.chances.get(subject)) else float(_vote(r) == vote)
        for b, r in read
    )


def _total_seconds(ballots: Sequence[Ballot]) -> float | None:
    """The time of all ballots' screens, which stands on their ratings; None where none has one."""
    seconds = [
        next((r.seconds for r in ballot.ratings if r.seconds is not None), None)
        for ballot in ballots
    ]
    stated = [s for s in seconds if s is not None]
    return sum(stated) if stated else None


def _vote_note(subject: Subject, votes: Sequence[Rating | None]) -> str:
    criterion, answers, span = subject
    labels = [
        None if r is None else (r.label if r.label is not None else {"state": r.state})
        for r in votes
    ]
    about: dict[str, object] = {"criterion": criterion, "answers": sorted(answers), "votes": labels}
    if span is not None:
        about["span"] = [span.start, span.end]
    return json.dumps(about, ensure_ascii=False, sort_keys=True)
