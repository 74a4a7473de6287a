"""What concerns the whole study and not one number of it."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.message import message
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage


def study_warnings(table: RatingTable, analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """Ratings that are left out, and analyses that only reproduce a paper."""
    warnings = []
    if table.excluded.height:
        warnings.append(
            message(
                "{n:,} of {total:,} {total|rating|ratings} {n|was|were} excluded under the"
                " protocol's rules; reasons are in the table “Completeness of ratings”.",
                message_id="warning.excluded",
                n=table.excluded.height,
                total=table.excluded.height + table.frame.height,
            )
        )
    if any(a.mode == "paper" for a in analyses):
        warnings.append(
            message(
                "Analyses “as published” reproduce a paper's method; they are not"
                " recommended for conclusions.",
                message_id="warning.as_published",
            )
        )
    return tuple(warnings)


def of_same_family(families: Lineage) -> tuple[str, ...]:
    """Which judges are of the family of a system that they judge."""
    judged = {family for family in families.systems.values() if family}
    names = sorted(r.id for r in families.judges.values() if r.kind == "llm" and r.family in judged)
    return (
        (
            message(
                "Risk of self-preference, as a rated system is of the same model family: {names}.",
                message_id="warning.family",
                names=", ".join(names),
            ),
        )
        if names
        else ()
    )
