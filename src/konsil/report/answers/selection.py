"""Which analyses the first page answers: by what the protocol states, never by a result."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis import Analysis
from konsil.report.material.glossary import entry


def answered(analyses: Sequence[Analysis]) -> list[Analysis]:
    """Those with a question; where none has, the first declared analysis of each outcome.

    In the order of the protocol. Without questions, analyses that only repeat an outcome with
    another statistic are left to the appendix, and so are those computed as published.
    """
    chosen = [a for a in analyses if a.question]
    if chosen:
        return chosen
    first: dict[tuple[str, ...], Analysis] = {}
    for analysis in analyses:
        if analysis.prespecified and analysis.mode == "valid":
            first.setdefault(_outcome(analysis), analysis)
    return list(first.values())


def by_question(analyses: Sequence[Analysis]) -> list[tuple[str, list[Analysis]]]:
    """Each question with its analyses, in the order of the protocol.

    An analysis without a question stands under its name.
    """
    groups: dict[str, list[Analysis]] = {}
    for analysis in analyses:
        groups.setdefault(analysis.question or analysis.name, []).append(analysis)
    return list(groups.items())


def _outcome(analysis: Analysis) -> tuple[str, ...]:
    """The outcome of an analysis, whatever its coefficient: agreement of a panel is one outcome."""
    if analysis.statistic.startswith("ensembles_"):
        return ("ensembles", analysis.criterion)
    kind = "agreement" if entry(analysis.statistic).is_among_raters else analysis.statistic
    return (kind, analysis.criterion, analysis.raters, analysis.against or "")
