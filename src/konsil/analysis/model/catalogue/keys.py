"""Keys of an analysis that belong to other statistics than its own."""

from __future__ import annotations

from collections.abc import Mapping

from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
from konsil.analysis.model.options import OPTIONS, Options

_MOST_NAMES = 6
"""So many statistics of a key are named in a sentence; of more, the first few."""


def options_kind(stated: Mapping[str, object]) -> type[Options] | None:
    """The options of the statistic that is stated; None if there is no such statistic."""
    entry = statistic_of(str(stated.get("statistic")))
    return entry.options_kind if entry.family else None


def options_kinds() -> tuple[type[Options], ...]:
    """The options of every family, then those of added statistics."""
    added = (addition.statistic.options for addition in additions().values())
    return (*OPTIONS.values(), *(kind for kind in added if kind is not None))


def misplacement(key: str, statistic: str) -> str:
    """That a key belongs to other statistics.

    >>> misplacement("of", "mean")
    "belongs to the statistics 'share' and 'relative_difference', not to 'mean'"
    """
    return f"belongs to {_owners(key)}, not to {statistic!r}"


def _owners(key: str) -> str:
    names = [repr(name) for name in known_statistics() if statistic_of(name).takes(key)]
    if len(names) == 1:
        return f"the statistic {names[0]}"
    if len(names) > _MOST_NAMES:
        return (
            f"statistics such as {', '.join(names[: _MOST_NAMES - 1])} and {names[_MOST_NAMES - 1]}"
        )
    return f"the statistics {', '.join(names[:-1])} and {names[-1]}"
