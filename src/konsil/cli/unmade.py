"""The end of commands whose study has analyses without a result.

Everything else is written. The exit code is 3 if every rating is excluded, 2 if an analysis cannot
be made of the ratings, and 0 if ratings are only missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.results import Results
from konsil.cli.terminal import Note
from konsil.errors import AllExcludedError, AnalysisError, IncompleteError


def error_of_unmade(results: Results) -> AnalysisError | None:
    """The error that names the analyses without a result by reason; None if nothing is wrong."""
    if results.all_excluded:
        n = len(results.reasons_without_result)
        are = "analysis has" if n == 1 else "analyses have"
        return AllExcludedError(f"{n:,} {are} no result: {results.all_excluded}")
    return IncompleteError(_by_reason(results)) if results.refused else None


def notes_of_unmade(results: Results) -> Iterator[Note]:
    """The number of analyses without a result, and one line a reason, where it is no error."""
    if results.reasons_without_result and not (results.refused or results.all_excluded):
        n, of = len(results.reasons_without_result), len({row.analysis for row in results.rows})
        have = "has" if n == 1 else "have"
        yield Note(f"note: {n:,} of {of:,} analyses {have} no result")
        yield from (Note(f"note: {sentence}") for sentence in _by_reason(results))


def _by_reason(results: Results) -> Iterator[str]:
    """One sentence for each reason, with the analyses that it stops."""
    analyses: dict[str, list[str]] = {}
    for name, reason in results.reasons_without_result.items():
        analyses.setdefault(reason, []).append(name)
    for reason, names in analyses.items():
        if len(names) == 1:
            yield f"{names[0]}: {reason}"
        else:
            yield f"{len(names):,} analyses have no result ({names[0]}, {names[1]}, ...): {reason}"
