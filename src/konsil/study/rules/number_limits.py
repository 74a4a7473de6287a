"""Numbers of a protocol that no study can have."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.study.definition.protocol import Study

MOST_PLACES = 100_000
"""Places that one line of [[places]] may have."""


def place_number_problems(study: Study, where: str) -> Iterator[str]:
    """Each line of [[places]] that has more of them than can be laid out."""
    for n, line in enumerate(study.places):
        if line.number > MOST_PLACES:
            yield f"{where}[{n}].number: expected {MOST_PLACES:,} or fewer, got {line.number:,}"


def resampling_problems(study: Study, where: str) -> Iterator[str]:
    """Too few resamples, or a coverage that is none."""
    if study.resampling.draws < 100:
        yield f"{where}.draws: expected at least 100 resamples, got {study.resampling.draws}"
    if not 0.5 <= study.resampling.level < 1:
        yield (
            f"{where}.level: expected a coverage from 0.5 to below 1, got"
            f" {study.resampling.level:g}"
        )
