"""What the requests of `konsil agreement` and `konsil preference` have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from konsil.records.request import Flag

Where = Mapping[str, str | Sequence[str]]
"""Column -> the value, or the values, that its rows may have."""

WHERE = Flag("Use the rows with this value only; repeatable.", metavar="C=VALUE")
BY = Flag("The column for each value of which there is one result.", metavar="C")
COMPARE = Flag("The column whose two values are compared: difference, interval, p.", metavar="C")
MISSING = Flag("A word that means not rated, besides the empty cell.", metavar="W")
CONFIDENCE = Flag("Confidence level, e.g. 0.95.")
