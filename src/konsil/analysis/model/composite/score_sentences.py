"""How composite scores are made, in sentences for the methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from konsil.analysis.model.composite.definition import CompositeScore
from konsil.analysis.model.composite.score_rows import Composite
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import TranslatableMessage, listed, message


def score_sentences(
    analyses: Sequence[Analysis], composites: Iterable[Composite]
) -> list[TranslatableMessage]:
    """A sentence on each score that an analysis names."""
    named = {name for a in analyses for name in (a.criterion, *a.criteria)}
    return [score_sentence(c) for c in composites if c.score.id in named]


def score_sentence(composite: Composite) -> TranslatableMessage:
    """How a score is made, for the methods."""
    score = composite.score
    titles = {part.id: part.title for parts in composite.parts.values() for part in parts}
    method = {
        "mean": message("the mean", message_id="score.mean"),
        "sum": message("the sum", message_id="score.sum"),
        "weighted": message(
            "the mean weighted by {weights}",
            message_id="score.weighted",
            weights=", ".join(f"{weight:g}" for weight in score.weights),
        ),
        "minimum": message("the minimum", message_id="score.minimum"),
        "share": _share_words(score),
    }[score.combine]
    if score.missing == "complete":
        rule = message(
            "missing if the rater did not rate a criterion or abstained",
            message_id="score.complete",
        )
    else:
        rule = message(
            "of the criteria available, at least {n}",
            message_id="score.available",
            n=score.min_parts,
        )
    return message(
        ("Composite score “{name}”: {method} of {n} criteria ({criteria}) for each rater; {rule}."),
        message_id="score.sentence",
        name=score.title or score.id,
        method=method,
        n=len(score.of),
        criteria=listed([titles.get(name) or name for name in score.of]),
        rule=rule,
    )


def _share_words(score: CompositeScore) -> TranslatableMessage:
    if score.labels:
        return message(
            "the proportion with the label {labels}",
            message_id="score.share_labels",
            labels=listed(score.labels),
        )
    return message(
        "the proportion with a value of {number:g} or more",
        message_id="score.share_numbers",
        number=0.0 if score.at_least is None else score.at_least,
    )
