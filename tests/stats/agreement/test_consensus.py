"""Majorities and agreement with them, against counting by hand."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.stats.agreement import consensus
from konsil.stats.engine import tables
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.inference.infer import infer

panels = st.integers(2, 6).flatmap(
    lambda k: st.integers(1, 7).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(-1, k - 1), min_size=m, max_size=m), min_size=1, max_size=8
        ).map(np.array)
    )
)


def by_hand(labels: list[int]) -> int:
    votes = Counter(v for v in labels if v >= 0)
    if not votes:
        return -1
    label, times = votes.most_common(1)[0]
    return label if 2 * times > votes.total() else -1


def value(statistic: Statistic, codes: Codes) -> np.ndarray:
    return statistic.finalise(statistic.tally(codes).sum(0))


@settings(deadline=None)
@given(panels)
def test_a_majority_is_more_than_half_of_those_who_did_not_abstain(
    labels: np.ndarray,
) -> None:
    assert consensus.majority(labels).tolist() == [by_hand(list(row)) for row in labels]
    rest = [
        [by_hand([*row[:r], *row[r + 1 :]]) for r in range(len(row))] for row in labels.tolist()
    ]
    assert consensus.leave_one_out(labels).tolist() == rest


def sample(
    seed: int = 0, n_panel: int = 5, n_judges: int = 3, k: int = 2, missing: float = 0.1
) -> Codes:
    g = np.random.default_rng(seed)
    truth = g.integers(0, k, (60, 1))
    shape = (60, n_panel + n_judges)
    labels = np.where(g.random(shape) < 0.7, truth, g.integers(0, k, shape))
    labels[g.random(labels.shape) < missing] = -1
    return Codes(labels, np.repeat(np.arange(12), 5), k)


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    both = (first >= 0) & (second >= 0)
    return float((first == second)[both].mean()) if both.any() else float("nan")


def test_leave_one_out_agreement_averages_the_raters() -> None:
    codes = sample(n_judges=0)
    rest = consensus.leave_one_out(codes.labels)
    expected = [agreement(codes.labels[:, r], rest[:, r]) for r in range(5)]
    assert value(consensus.leave_one_out_agreement(5, 2, per_rater=True), codes) == pytest.approx(
        expected
    )
    assert value(consensus.leave_one_out_agreement(5, 2), codes) == pytest.approx(
        [np.mean(expected)]
    )


@pytest.mark.parametrize("k", [2, 3])
def test_valid_mode_scores_judge_and_rater_on_the_same_slots(k: int) -> None:
    codes = sample(k=k)
    panel, judges = codes.labels[:, :5], codes.labels[:, 5:]
    rest = consensus.leave_one_out(panel)
    for j in range(3):
        judge_scores, rater_scores = [], []
        for r in range(5):
            slots = (panel[:, r] >= 0) & (rest[:, r] >= 0) & (judges[:, j] >= 0)
            judge_scores.append((judges[slots, j] == rest[slots, r]).mean())
            rater_scores.append((panel[slots, r] == rest[slots, r]).mean())
        parts = {
            part: value(consensus.judge_and_ceiling(5, 3, k, part=part), codes)[j]
            for part in ("judge", "ceiling", "difference")
        }
        assert parts["judge"] == pytest.approx(np.mean(judge_scores))
        assert parts["ceiling"] == pytest.approx(np.mean(rater_scores))
        assert parts["difference"] == pytest.approx(np.mean(judge_scores) - np.mean(rater_scores))


def test_paper_mode_scores_the_judge_against_the_whole_majority() -> None:
    codes = sample()
    panel, judges = codes.labels[:, :5], codes.labels[:, 5:]
    whole = consensus.majority(panel)
    expected = [agreement(judges[:, j], whole) for j in range(3)]
    ceiling = value(consensus.leave_one_out_agreement(5, 2), Codes(panel, codes.clusters, 2))[0]
    got = value(consensus.judge_and_ceiling(5, 3, 2, part="judge", mode="paper"), codes)
    assert got == pytest.approx(expected)
    difference = value(consensus.judge_and_ceiling(5, 3, 2, mode="paper"), codes)
    assert difference == pytest.approx(np.array(expected) - ceiling)


def test_an_exchangeable_judge_meets_the_ceiling_in_valid_mode_and_not_in_paper_mode() -> None:
    g = np.random.default_rng(11)
    differences = {"valid": [], "paper": []}
    for _ in range(60):
        latent = np.where(g.random((300, 1)) < 0.6, 0.8, -0.8) + 0.7 * g.normal(size=(300, 1))
        labels = (latent + g.normal(size=(300, 4)) > 0).astype(
            np.int8
        )  # three raters and a judge like them
        codes = Codes(labels, np.arange(300), 2)
        for mode, found in differences.items():
            found.append(
                value(consensus.judge_and_ceiling(3, 1, 2, "cohen_kappa", mode=mode), codes)[0]
            )
    error = {mode: np.std(found) / np.sqrt(60) for mode, found in differences.items()}
    assert abs(np.mean(differences["valid"])) < 4 * error["valid"]
    assert np.mean(differences["paper"]) < -4 * error["paper"]


def test_a_rater_that_is_undefined_counts_for_neither_side() -> None:
    # Rater 0 and the others agree on one label throughout: kappa is undefined there, for the judge
    # and for the rater.
    labels = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]])
    codes = Codes(labels, np.arange(3), 2)
    for part in ("judge", "ceiling", "difference"):
        assert np.isnan(
            value(consensus.judge_and_ceiling(3, 1, 2, "cohen_kappa", part=part), codes)
        ).all()


def test_no_majority_anywhere_is_undefined() -> None:
    codes = Codes(np.array([[0, 1], [1, 0]]), np.arange(2), 2)
    assert not np.isnan(value(consensus.leave_one_out_agreement(2, 2), codes)).any()
    tied = Codes(np.array([[0, 0, 1, 1, -1], [1, 1, 0, 0, -1]]), np.arange(2), 2)
    assert np.isnan(value(consensus.leave_one_out_agreement(5, 2, per_rater=True), tied)[4])
    alone = Codes(np.array([[0], [1]]), np.arange(2), 2)
    assert np.isnan(value(consensus.leave_one_out_agreement(1, 2), alone)).all()


def test_self_agreement_compares_the_repeat() -> None:
    codes = Codes(np.array([[0, 0], [1, 1], [1, 0], [1, -1]]), np.arange(4), 2)
    assert value(consensus.self_agreement(2), codes) == pytest.approx([2 / 3])
    assert np.isnan(
        value(consensus.self_agreement(2), Codes(np.array([[0, -1]]), np.arange(1), 2))
    ).all()


def test_the_same_tally_is_the_same_object() -> None:
    assert consensus.ceiling_tables(9) is consensus.ceiling_tables(9)
    a, b = (consensus.judge_and_ceiling(9, 2, 2, measure) for measure in ("pabak", "cohen_kappa"))
    assert a.tally is b.tally


@pytest.mark.parametrize("mode", ["valid", "paper"])
def test_sparse_tables_of_many_labels_give_what_dense_ones_give(
    monkeypatch: pytest.MonkeyPatch, mode: Literal["valid", "paper"]
) -> None:
    """Kills: a limit that counts no clusters, cells of a sparse table in another place."""
    codes = sample(k=7)
    statistic = consensus.judge_and_ceiling(5, 3, 7, "cohen_kappa", mode=mode)
    dense = statistic.tally(codes)
    monkeypatch.setattr(tables, "DENSE_CELLS", dense.size)
    assert isinstance(statistic.tally(codes), np.ndarray)
    monkeypatch.setattr(tables, "DENSE_CELLS", dense.size - 1)
    sparse = statistic.tally(codes)
    assert not isinstance(sparse, np.ndarray)
    assert np.array_equal(sparse.toarray(), dense)
    intervals = [
        infer(sums, statistic.finalise, draws=200, level=0.95, key=1, scale="identity")
        for sums in (dense, sparse)
    ]
    assert repr(intervals[0]) == repr(intervals[1])
