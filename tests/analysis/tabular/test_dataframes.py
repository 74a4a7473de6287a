"""Data frames of pandas: the levels of their rows are columns, and other objects are refused."""

from __future__ import annotations

import pandas as pd
import pytest

import konsil
from konsil.analysis.tabular.dataframes import to_polars
from konsil.errors import AnalysisError

LONG = pd.DataFrame(
    [
        (f"c{n}", rater, label)
        for n in range(8)
        for rater, label in (("ann", n % 3), ("ben", n % 2))
    ],
    columns=["case", "rater", "label"],
)


def test_all_levels_of_the_rows_are_columns() -> None:
    by_case = LONG.set_index(["case", "rater"])
    assert to_polars(by_case).columns == ["case", "rater", "label"]
    plain, indexed = (
        konsil.agreement(frame, level="nominal", resamples=100) for frame in (LONG, by_case)
    )
    assert plain.reading == indexed.reading == "8 units in case; raters in rater, labels in label"
    assert plain["cohen_kappa"].value == indexed["cohen_kappa"].value
    # Levels without names are the rows' numbers.
    unnamed = by_case.rename_axis([None, None])
    assert to_polars(unnamed).columns == ["label"]


@pytest.mark.parametrize(("part", "kind"), [(LONG["label"], "Series"), (LONG.style, "Styler")])
def test_what_is_no_frame_is_refused_in_a_sentence(part: object, kind: str) -> None:
    with pytest.raises(AnalysisError, match=f"expected a Polars or pandas data frame, got {kind}"):
        konsil.agreement(part)  # type: ignore[call-overload]
