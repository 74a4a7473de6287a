"""Keys of an analysis that belong to other statistics than its own."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.catalogue.entry import OPTIONAL
from konsil.analysis.model.catalogue.known import CATALOGUE, statistic_of
from konsil.analysis.model.spec import Analysis

_MOST_NAMES = 6
"""So many statistics of a key are named in a sentence; of more, the first few."""
_PLAIN = Analysis("", "", "", "")
"""Every key with its default."""


def misplaced_keys(analysis: Analysis) -> Iterator[str]:
    """Each key that the analysis states and its statistic does not take, as 'key: what is wrong'.

    >>> list(misplaced_keys(Analysis("a", "mean", "correct", "experts", of=("yes",))))
    ["of: belongs to the statistic 'share', not to 'mean'"]
    """
    valid_keys = statistic_of(analysis.statistic).keys
    for key in OPTIONAL:
        if key not in valid_keys and getattr(analysis, key) != getattr(_PLAIN, key):
            yield f"{key}: belongs to {_owners(key)}, not to {analysis.statistic!r}"


def _owners(key: str) -> str:
    names = [repr(statistic.id) for statistic in CATALOGUE.values() if key in statistic.keys]
    if len(names) == 1:
        return f"the statistic {names[0]}"
    if len(names) > _MOST_NAMES:
        return (
            f"statistics such as {', '.join(names[: _MOST_NAMES - 1])} and {names[_MOST_NAMES - 1]}"
        )
    return f"the statistics {', '.join(names[:-1])} and {names[-1]}"
