"""Judges against a panel of two: pairs of a judge and a rater, minus the pair of raters."""

from __future__ import annotations

import math
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from konsil.analysis.agreement.consensus import against_panel
from konsil.analysis.agreement.consensus_methods import consensus_methods
from konsil.analysis.agreement.judge_vs_panel import _mean_of, judge_gaps
from konsil.analysis.estimation.measure import Measure, value
from konsil.analysis.estimation.raters.consensus_rules import is_of_two
from konsil.analysis.estimation.raters.leave_one_out import leave_one_out_measure
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.analysis.model.terms import Term, both_raters
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage
from konsil.stats.engine.contract import Codes, Estimate

K = 3
STATISTICS = {
    "percent_agreement": lambda a, b: float((a == b).mean()),
    "cohen_kappa": lambda a, b: float(cohen_kappa_score(a, b)),
    "cohen_kappa_linear": lambda a, b: float(cohen_kappa_score(a, b, weights="linear")),
    "cohen_kappa_quadratic": lambda a, b: float(cohen_kappa_score(a, b, weights="quadratic")),
}
LABELS = arrays(
    np.int64, st.tuples(st.integers(1, 12), st.just(4)), elements=st.integers(-1, K - 1)
)


def sample_of(labels: np.ndarray, letter: str) -> Sample:
    units = tuple(map(str, range(len(labels))))
    raters = tuple(f"{letter}{n}" for n in range(labels.shape[1]))
    codes = Codes(labels, np.arange(len(labels)), K, (0.0, 1.0, 2.0))
    return Sample(codes, raters, units, units)


def compared(
    people: np.ndarray, judges: np.ndarray, statistic: str
) -> list[tuple[str, Measure, Measure, Measure]]:
    analysis = Analysis("a", statistic, "good", "judges", against="people")
    return against_panel(
        sample_of(people, "h"), sample_of(judges, "j"), analysis, "valid", "ordinal", is_mean=True
    )


def by_hand(people: np.ndarray, judge: np.ndarray, statistic: str) -> tuple[float, float]:
    """The mean over the pairs of judge and person, and the pair of people, on common units."""
    common = (people >= 0).all(axis=1) & (judge >= 0)
    first, second, own = people[common, 0], people[common, 1], judge[common]
    agreement = STATISTICS[statistic]
    return (agreement(own, first) + agreement(own, second)) / 2, agreement(first, second)


def labels_of(seed: int = 1, n: int = 60, missing: float = 0.1) -> np.ndarray:
    """Two people and two judges who move the true label by one step, where any is given."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, K, (n, 1))
    moved = generator.random((n, 4)) < [0.1, 0.2, 0.3, 0.4]
    labels = np.where(moved, (truth + 1) % K, truth)
    labels[generator.random((n, 4)) < missing] = -1
    return labels


@pytest.mark.parametrize("statistic", STATISTICS)
def test_judges_are_compared_by_pairs_on_the_units_that_all_three_labelled(statistic: str) -> None:
    """Kills: units of the pair alone, a sum for the mean, the two people exchanged for a judge."""
    labels = labels_of()
    people, judges = labels[:, :2], labels[:, 2:]
    every = compared(people, judges, statistic)
    expected = [by_hand(people, judge, statistic) for judge in judges.T]
    for (_, judge, ceiling, minus), (pairs, of_people) in zip(every, expected, strict=True):
        assert value(judge) == pytest.approx(pairs)
        assert value(ceiling) == pytest.approx(of_people)
        assert value(minus) == pytest.approx(pairs - of_people)
    _, judge, ceiling, minus = _mean_of(every)
    means = np.mean(expected, axis=0)
    assert [value(judge), value(ceiling)] == pytest.approx(list(means))
    assert value(minus) == pytest.approx(means[0] - means[1])


@settings(max_examples=60, deadline=None)
@given(LABELS, st.sampled_from(sorted(STATISTICS)))
def test_names_and_order_of_the_two_people_change_nothing(
    labels: np.ndarray, statistic: str
) -> None:
    people, judges = labels[:, :2], labels[:, 2:]
    for one, other in zip(
        compared(people, judges, statistic),
        compared(people[:, ::-1], judges, statistic),
        strict=True,
    ):
        for a, b in zip(one[1:], other[1:], strict=True):
            assert value(a) == pytest.approx(value(b), nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(LABELS)
def test_a_judge_who_repeats_a_person_has_the_mean_of_the_people_s_agreement_and_one(
    labels: np.ndarray,
) -> None:
    """Of a judge who gives each label of the first person, one pair agrees wholly."""
    people = labels[:, :2]
    [(_, judge, ceiling, minus)] = compared(people, people[:, :1], "percent_agreement")
    if not (people >= 0).all(axis=1).any():
        assert math.isnan(value(judge)) and math.isnan(value(minus))
    else:
        assert value(judge) == pytest.approx((1 + value(ceiling)) / 2)
        assert value(minus) >= 0


def test_without_a_common_unit_nothing_is_defined() -> None:
    people = np.array([[0, 1], [1, 1], [2, 2]])
    [(_, judge, ceiling, minus)] = compared(people, np.full((3, 1), -1), "cohen_kappa")
    assert all(math.isnan(value(m)) for m in (judge, ceiling, minus))


def test_the_interval_is_that_of_the_exchange_of_judge_and_people_and_says_for_whom_it_holds() -> (
    None
):
    labels = labels_of(n=80)
    labels[:, 2] = np.random.default_rng(3).integers(0, K, 80)
    people, judges = sample_of(labels[:, :2], "h"), sample_of(labels[:, 2:3], "j")
    analysis = Analysis("a", "cohen_kappa", "good", "judges", against="people", by=("rater",))
    [(_, judge, ceiling, minus)] = against_panel(people, judges, analysis, "valid", "nominal")
    [gap] = judge_gaps(
        people,
        judges,
        [minus],
        analysis,
        "nominal",
        key=1,
        resampling=Resampling(999),
        cluster="item",
    )
    assert gap.headline.high < 0 and gap.headline.p < 0.01
    for measure in (judge, ceiling, minus):
        identifiers = [n.message_id for n in measure.notes if isinstance(n, TranslatableMessage)]
        assert "panel.of_two" in identifiers
        assert "majority.without_one" not in identifiers


def test_three_people_are_no_pair_and_one_has_no_benchmark() -> None:
    labels = labels_of()
    [(_, judge, *_)] = compared(labels[:, :3], labels[:, 3:], "cohen_kappa")
    assert all(getattr(note, "message_id", "") != "panel.of_two" for note in judge.notes)
    with pytest.raises(AnalysisError, match="panel of 1 rater"):
        compared(labels[:, :1], labels[:, 3:], "cohen_kappa")


def test_methods_name_the_pairs_where_a_row_is_of_two_raters() -> None:
    analysis = Analysis("a", "cohen_kappa", "good", "judges", against="people")
    two, three = (
        [Row("a", "cohen_kappa", "good", "judges", Estimate(0.5), {"rater": term})]
        for term in (both_raters("people"), Term("leave_one_out", "people"))
    )
    assert is_of_two(analysis, two) and not is_of_two(analysis, three)

    def identifiers(rows: list[Row]) -> list[str]:
        return [getattr(s, "message_id", "") for s in consensus_methods([analysis], rows)]

    assert identifiers(two) == ["methods.judges_and_two_raters"]
    assert "methods.leave_one_out_judges" in identifiers(three)


@pytest.mark.parametrize("statistic", ["cohen_kappa_quadratic", "percent_agreement"])
def test_majorities_of_measured_values_are_refused_before_anything_is_counted(
    statistic: str,
) -> None:
    """100,000 ratings of as many values: seconds and gigabytes without the refusal."""
    n = 25_000
    labels = np.arange(4 * n).reshape(n, 4)
    units = tuple(map(str, range(n)))
    codes = Codes(labels, np.arange(n), 4 * n, tuple(np.arange(4.0 * n).tolist()))
    people, judges = (
        Sample(replace(codes, labels=labels[:, part]), raters, units, units)
        for part, raters in ((slice(2), ("a", "b")), (slice(2, 4), ("c", "d")))
    )
    analysis = Analysis("a", statistic, "score", "judges", against="people")
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(AnalysisError, match="100,000 different labels"):
        against_panel(people, judges, analysis, "valid", "interval")
    with pytest.raises(AnalysisError, match="100,000 different labels"):
        leave_one_out_measure(people, analysis, "interval")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - begun < 5 and peak < 100e6
