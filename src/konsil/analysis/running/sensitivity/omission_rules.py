"""What `leave_out` of an analysis must not name; without the tables, which no check loads."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.spec import Analysis

OWN_COLUMNS = ("rater", "item", "case")
"""Columns of every rating whose values can be omitted; all others are characteristics."""
FAMILIES = ("agreement", "shares", "pairs")
"""Families of statistics whose estimates can be computed again without some of the ratings."""
OTHER_COLUMNS = (
    "task",
    "panel",
    "kind",
    "family",
    "criterion",
    "answers",
    "system",
    "span",
    "state",
    "label",
    "seconds",
    "confidence",
    "instrument",
    "design",
    "arm",
    "phase",
    "batch",
    "purpose",
    "repeat_of",
)
"""The other columns of every rating, whose values cannot be omitted."""
BLINDED_CHARACTERISTICS = ("rater_system",)
"""Characteristics of judges that blinded records lack: the system that a judge is."""


def omission_problems(analysis: Analysis, family: str) -> Iterator[str]:
    """Each contradiction of `leave_out` as 'key: what is wrong'.

    >>> analysis = Analysis("a", "mean", "c", "experts", by=("site",), leave_out=("site",))
    >>> list(omission_problems(analysis, "shares"))
    ["leave_out[0]: 'site' is one of `by` already; expected a column that forms no groups"]
    """
    columns = analysis.leave_out
    if columns and family not in FAMILIES:
        yield (
            "leave_out: belongs to agreement, proportions, means and comparisons, not to"
            f" {analysis.statistic!r}"
        )
    for n, column in enumerate(columns):
        if column in OTHER_COLUMNS:
            yield (
                f"leave_out[{n}]: {column!r} cannot be omitted; expected 'rater', 'item', 'case' or"
                " a characteristic of the items or raters"
            )
        elif column in columns[:n]:
            yield f"leave_out[{n}]: {column!r} occurs twice"
        elif column in analysis.by or (column == "rater" and "rater_pair" in analysis.by):
            yield (
                f"leave_out[{n}]: {column!r} is one of `by` already; expected a column that forms"
                " no groups"
            )
