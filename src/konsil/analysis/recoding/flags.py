"""What the requests of `konsil agreement` and `konsil preference` have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from konsil.records.request import Flag

Where = Mapping[str, str | Sequence[str]]
"""Column -> the value, or the values, that its rows may have."""

WHERE = Flag("Use only the rows with this value; repeatable.", metavar="C=VALUE")
BY = Flag("Column that defines groups; one result for each value.", metavar="C")
COMPARE = Flag("Column with the two groups to compare (difference, CI, p value).", metavar="C")
MISSING = Flag("Value that means not rated, in addition to the empty cell.", metavar="W")
CONFIDENCE = Flag("Confidence level, e.g. 0.95.")
