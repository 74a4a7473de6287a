"""n counts the ratings that entered a statistic: all others can be deleted, and nothing changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.analysis.agreement.agreement_estimates import estimate_jointly
from konsil.analysis.agreement.agreement_statistics import agreement, agreement_alone
from konsil.analysis.agreement.consensus import against_panel
from konsil.analysis.estimation.measure import Measure, clusters_used, value
from konsil.analysis.estimation.raters.leave_one_out import each_rest, leave_one_out_measure
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Codes

N_LABELS = 3


@st.composite
def samples(draw: st.DrawFn, fewest: int = 2) -> Sample:
    """Up to twelve units of up to four raters, many of them incomplete, in clusters of one or two."""
    n_raters = draw(st.integers(fewest, 4))
    label = st.integers(-1, N_LABELS - 1)
    rows = draw(st.lists(st.tuples(*[label] * n_raters), min_size=2, max_size=12))
    n_each = draw(st.integers(1, 2))
    return sample(np.array(rows, dtype=np.int64), n_each)


def sample(labels: np.ndarray[tuple[int, int], np.dtype[np.int64]], n_each: int = 1) -> Sample:
    clusters = np.arange(len(labels)) // n_each
    return Sample(
        Codes(labels, clusters, N_LABELS, tuple(map(float, range(N_LABELS)))),
        tuple("abcd"[: labels.shape[1]]),
        tuple(f"u{n:02}" for n in range(len(labels))),
        tuple(f"c{n:02}" for n in range(clusters.max() + 1)),
    )


def measure_of(name: str, of: Sample) -> Measure:
    """The statistic at a level that it has."""
    return agreement(of, name, STATISTICS[name].levels[-1])


def counts(measure: Measure) -> tuple[int, int, int, frozenset[str], tuple[str, ...]]:
    used = clusters_used(measure)
    return measure.n_units, measure.n_raters, measure.n_ratings, used, measure.notes


def without(of: Sample, places: list[tuple[int, int]]) -> Sample:
    labels = of.codes.labels.copy()
    for unit, rater in places:
        labels[unit, rater] = -1
    return replace(of, codes=replace(of.codes, labels=labels))


@pytest.mark.parametrize("name", STATISTICS)
@given(samples())
def test_what_does_not_count_changes_nothing(name: str, of: Sample) -> None:
    whole = measure_of(name, of)
    rated = [(int(u), int(r)) for u, r in zip(*np.nonzero(of.codes.labels >= 0), strict=True)]
    # Of a unit whose labels enter, n falls when one is deleted.
    idle = [
        place
        for place in rated
        if measure_of(name, without(of, [place])).n_ratings == whole.n_ratings
    ]
    reduced = measure_of(name, without(of, idle))
    assert counts(reduced) == counts(whole)
    assert whole.n_ratings == len(rated) - len(idle)
    alone = agreement_alone(of, name, STATISTICS[name].levels[-1])
    expected = pytest.approx((value(reduced), value(alone), reduced.commonest), nan_ok=True)
    assert (value(whole), value(whole), whole.commonest) == expected


def against_others(of: Sample) -> dict[str, Measure]:
    """Each rater against the others, the first one as a judge as well, in both ways."""
    measures = {"rest": leave_one_out_measure(of, REST, "nominal")}
    each = each_rest(of, REST, "nominal")
    measures |= {f"rest {n}": measure for n, measure in enumerate(each)}
    labels = of.codes.labels
    panel, judge = (
        replace(of, codes=replace(of.codes, labels=part), raters=raters)
        for part, raters in ((labels[:, 1:], of.raters[1:]), (labels[:, :1], of.raters[:1]))
    )
    for mode in ("valid", "paper"):
        [(_, judged, ceiling, minus)] = against_panel(panel, judge, REST, mode, "nominal")
        measures |= {f"judge {mode}": judged, f"ceiling {mode}": ceiling}
        if mode == "valid":
            measures["minus"] = minus
    return measures


REST = Analysis("a", "cohen_kappa", "c", "p", against="rest")


@given(samples(fewest=3))
def test_what_meets_no_majority_changes_nothing(of: Sample) -> None:
    whole, rated = against_others(of), of.codes.labels >= 0
    without_each = [
        against_others(without(of, [(n, r) for r in range(len(of.raters))]))
        for n in range(len(of.units))
    ]
    for name, measure in whole.items():
        n = measure.n_ratings
        idle = [u for u in range(len(of.units)) if without_each[u][name].n_ratings == n]
        places = [(u, r) for u in idle for r in range(len(of.raters))]
        reduced = against_others(without(of, places))[name]
        # Raters on the same sums share their clusters.
        assert counts(reduced)[:3] == counts(measure)[:3]
        assert value(reduced) == pytest.approx(value(measure), nan_ok=True)
        assert measure.n_units == len(of.units) - len(idle)
        # A judge's labels choose the units of the panel's own agreement, and do not enter it.
        is_panel_alone = name.startswith("ceiling")
        entering = np.delete(rated, idle, axis=0)[:, int(is_panel_alone) :]
        assert n == entering.sum()


@pytest.mark.parametrize("name", STATISTICS)
def test_units_that_do_not_enter_are_no_clusters(name: str) -> None:
    # 20 units of three raters, and 60 that one rater labelled: of a statistic that pairs raters,
    # the interval is that of the 20.
    rng = np.random.default_rng(5)
    of_three = np.where(rng.random((20, 3)) < 0.2, 1, rng.integers(0, 2, (20, 1)))
    of_one = np.full((60, 3), -1)
    of_one[:, 0] = rng.integers(0, 3, 60)
    both = sample(np.concatenate([of_three, of_one]))
    level = STATISTICS[name].levels[-1]
    resampling = Resampling(200)
    estimates = [
        estimate_jointly(s, [name], level, key=3, resampling=resampling, cluster="unit")[name]
        for s in (both, sample(of_three))
    ]
    joint, alone = (e.headline for e in estimates)
    if STATISTICS[name].uses == "rated":
        assert (joint.n_clusters, joint.n_ratings) == (80, 120)
        return
    assert (joint.n_clusters, joint.n_ratings) == (alone.n_clusters, alone.n_ratings) == (20, 60)
    assert (joint.value, joint.se) == pytest.approx((alone.value, alone.se), nan_ok=True)
    wald = [
        [limit for c in e.companions if "Wald" in str(c.method) for limit in (c.low, c.high)]
        for e in estimates
    ]
    assert wald[0] == pytest.approx(wald[1], nan_ok=True)
