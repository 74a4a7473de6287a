"""Published numbers of real ratings that need no study: PubMedQA's two annotators, evalica's
codings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import konsil

Data = Callable[[str], Path]


def decisions(data: Data) -> pl.DataFrame:
    table = pl.read_csv(data("pubmedqa_two_annotators") / "pqa_labeled_labels.csv")
    return table.filter(pl.col("in_test"))


def test_pubmedqas_single_annotator(data: Data) -> None:
    """Accuracy 78.0 % and macro-F1 72.19 on the 500 test questions: 'human performance' of the
    leaderboard."""
    table = decisions(data)
    assert table.height == 500
    found = konsil.agreement(
        table,
        unit="pmid",
        rater=["reasoning_required_pred", "final_decision"],
        labels=["yes", "no", "maybe"],
        resamples=500,
    )
    assert found["percent_agreement"].value == 0.780
    assert (found.n_units, found.n_raters, found.n_ratings) == (500, 2, 1000)
    # The same as a share of questions, each its own cluster.
    right = table.select(
        (pl.col("reasoning_required_pred") == pl.col("final_decision")).mean()
    ).item()
    assert found["percent_agreement"].value == right
    assert found["percent_agreement"].low < 0.78 < found["percent_agreement"].high


def test_pubmedqas_macro_f1(data: Data) -> None:
    """The other half of the leaderboard's row, from the same two columns."""
    table = decisions(data)
    scores = []
    for label in ("yes", "no", "maybe"):
        said = pl.col("reasoning_required_pred") == label
        meant = pl.col("final_decision") == label
        both, one, other = (table.filter(e).height for e in (said & meant, said, meant))
        scores.append(2 * both / (one + other))
    assert f"{100 * sum(scores) / 3:.2f}" == "72.19"


def codings(data: Data, name: str) -> pl.DataFrame:
    """One row a coder, one column a unit, as evalica keeps them; turned to one row a unit."""
    table = pl.read_csv(data("evalica_golden") / name, has_header=False, infer_schema=False)
    return table.transpose(column_names=[f"coder {n}" for n in range(table.height)])


@pytest.mark.parametrize(
    ("level", "alpha"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_evalicas_codings(data: Data, level: str, alpha: float) -> None:
    """Krippendorff's four-coder table: the values that Krippendorff 2011 prints and evalica
    asserts."""
    found = konsil.agreement(codings(data, "codings.csv"), level=level, resamples=200)  # type: ignore[arg-type]
    assert f"{found['krippendorff_alpha'].value:.3f}" == f"{alpha:.3f}"
    # The last unit has a single value: it is counted and says nothing about agreement.
    assert (found.n_units, found.n_raters, found.n_ratings) == (12, 4, 41)


def test_evalicas_words(data: Data) -> None:
    """Part-of-speech tags of four units with a value missing: alpha by its definition from the
    coincidences."""
    frame = codings(data, "gcl.csv")
    units = [[v for v in row if v] for row in frame.iter_rows()]
    kept = [u for u in units if len(u) > 1]
    every = [v for u in kept for v in u]
    observed = sum(
        sum(a != b for i, a in enumerate(u) for j, b in enumerate(u) if i != j) / (len(u) - 1)
        for u in kept
    ) / len(every)
    expected = sum(a != b for a in every for b in every) / (len(every) * (len(every) - 1))
    found = konsil.agreement(frame, resamples=200)
    assert found["krippendorff_alpha"].value == pytest.approx(1 - observed / expected)
    import krippendorff

    tags = sorted(set(every))
    matrix = [[float(tags.index(v)) if v else float("nan") for v in column] for column in frame]
    peer = krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")
    assert found["krippendorff_alpha"].value == pytest.approx(peer)
