"""The numbers of labels that analyses were computed with, in sentences of the methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from konsil.analysis.model.composite.definition import CompositeScore
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.labels import counted_labels, reads_numbers
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import Criterion, number_word


def numbers_read(
    analysis: Analysis, criteria: Iterable[Criterion], scores: Iterable[CompositeScore] = ()
) -> dict[str, str]:
    """Criterion -> the numbers of its labels, for those that an analysis computes with.

    A composite score is computed with the labels of its criteria. A label that is its number
    stands alone: "1, 2, 10"; a word with its number: "mild = 0, severe = 1".
    """
    parts = {score.id: score.of for score in scores}
    named = [
        name
        for own_numbers_of in (analysis.criterion, *analysis.criteria)
        for name in parts.get(own_numbers_of, (own_numbers_of,))
    ]
    return {
        c.id: text
        for c in criteria
        if c.id in named and reads_numbers(analysis, c.scale.level) and (text := _text(analysis, c))
    }


def number_sentences(
    analyses: Sequence[Analysis], criteria: Sequence[Criterion], scores: Sequence[CompositeScore]
) -> list[TranslatableMessage]:
    """A sentence for each scale with whose numbers analyses were computed."""
    by_numbers: dict[str, list[str]] = {}
    for analysis in analyses:
        for name, numbers in numbers_read(analysis, criteria, scores).items():
            by_numbers.setdefault(numbers, []).append(repr(name))
    return [
        message(
            "Numbers of the labels of {criteria}: {numbers}.",
            message_id="methods.label_numbers",
            criteria=listed(list(dict.fromkeys(names))),
            numbers=numbers,
        )
        for numbers, names in by_numbers.items()
    ]


def _text(analysis: Analysis, criterion: Criterion) -> str:
    if criterion.scale.kind != "choice":
        return ""
    try:
        labels, numbers = counted_labels(analysis, criterion.scale)
    except AnalysisError:  # told where the analysis is refused
        return ""
    words = [number_word(number) for number in numbers]
    if [*labels] == words:
        return ", ".join(words)
    return ", ".join(f"{label} = {word}" for label, word in zip(labels, words, strict=True))
