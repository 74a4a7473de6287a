"""What `leave_out` of an analysis must not name; without the tables, which no check loads."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from konsil.analysis.model.catalogue.known import COLUMNS
from konsil.analysis.model.spec import Analysis

OWN_COLUMNS = ("rater", "item", "case")
"""Columns of every rating whose values can be omitted; all others are characteristics."""
FAMILIES = ("agreement", "shares", "pairs")
"""Families of statistics whose estimates can be computed again without some of the ratings."""
OTHER_COLUMNS = tuple(column for column in COLUMNS if column not in OWN_COLUMNS)
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
    yield from majority_problems(analysis, ("rater",))


def majority_problems(analysis: Analysis, of_raters: Collection[str]) -> Iterator[str]:
    """Each column of `leave_out` whose omission makes another panel of one whose majorities count.

    `of_raters` are the raters' characteristics. Of an odd number of raters omissions make an even
    one, which has ties: their number is no influence of the rater omitted.

    >>> analysis = Analysis("a", "without_majority", "c", "experts", leave_out=("item", "site"))
    >>> list(majority_problems(analysis, {"site"}))
    ["leave_out[1]: 'site' cannot be omitted from 'without_majority', since ties depend on the \
number of raters; expected 'item', 'case' or a characteristic of the items"]
    """
    if analysis.statistic != "without_majority":
        return
    for n, column in enumerate(analysis.leave_out):
        if column in of_raters:
            yield (
                f"leave_out[{n}]: {column!r} cannot be omitted from 'without_majority', since ties"
                " depend on the number of raters; expected 'item', 'case' or a characteristic of"
                " the items"
            )
