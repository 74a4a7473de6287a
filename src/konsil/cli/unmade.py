"""The end of commands whose study has analyses that cannot be made.

Everything else is written, and the exit code is 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.errors import IncompleteError


def error_of_unmade(refused: Sequence[str]) -> IncompleteError | None:
    """The error that names each analysis that cannot be made, with its reason; None without any."""
    return IncompleteError(_by_reason(refused)) if refused else None


def _by_reason(refused: Sequence[str]) -> Iterator[str]:
    """One line for each reason, with the analyses that it stops.

    Each sentence begins with its analysis.
    """
    analyses: dict[str, list[str]] = {}
    for sentence in refused:
        name, _, reason = sentence.partition(": ratings have no column ")
        analyses.setdefault(f"ratings have no column {reason}" if reason else sentence, []).append(
            name
        )
    for reason, names in analyses.items():
        if len(names) == 1:
            yield reason if reason == names[0] else f"{names[0]}: {reason}"
        else:
            yield (
                f"{len(names)} analyses cannot be computed ({names[0]}, {names[1]}, ...): {reason}"
            )
