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
from konsil.stats.agreement.consensus import majority, with_consensus
from konsil.stats.agreement.kappa import MeasureName
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Codes
from konsil.stats.judges.ensembles import ensembles, entering, odd_subsets

N_LABELS = 3


@st.composite
def samples(draw: st.DrawFn, fewest: int = 2, most: int = 4) -> Sample:
    """Up to twelve units of up to four raters, many of them incomplete, in clusters of one or two."""
    n_raters = draw(st.integers(fewest, most))
    label = st.integers(-1, N_LABELS - 1)
    rows = draw(st.lists(st.tuples(*[label] * n_raters), min_size=2, max_size=12))
    n_each = draw(st.integers(1, 2))
    return sample(np.array(rows, dtype=np.int64), n_each)


def sample(labels: np.ndarray[tuple[int, int], np.dtype[np.int64]], n_each: int = 1) -> Sample:
    clusters = np.arange(len(labels)) // n_each
    return Sample(
        Codes(labels, clusters, N_LABELS, tuple(map(float, range(N_LABELS)))),
        tuple("abcdef"[: labels.shape[1]]),
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


Numbers = tuple[tuple[int, ...], float]
"""Units, clusters, raters and ratings of an ensemble, and its agreement."""


def of_ensembles(of: Sample, name: MeasureName, *, common: bool) -> list[Numbers]:
    """The ensembles of the last three raters against the majority of the first three."""
    labels = np.minimum(of.codes.labels, 1)
    panel, judges = labels[:, :3], labels[:, 3:]
    codes = Codes(
        with_consensus(majority(panel), judges).astype(np.int64), of.codes.clusters, n_labels=2
    )
    statistic = ensembles(3, name, common=common)
    values = statistic.finalise(np.asarray(statistic.tally(codes)).sum(axis=0))
    counts = entering(codes, panel, common=common)
    each = (counts.n_slots, counts.n_clusters, counts.n_raters, counts.n_labels)
    return [(tuple(int(c[n]) for c in each), float(values[n])) for n in range(len(values))]


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("name", ["percent_agreement", "cohen_kappa"])
@given(samples(fewest=6, most=6))
def test_what_meets_no_ensemble_changes_nothing(
    name: MeasureName, common: bool, of: Sample
) -> None:
    whole = of_ensembles(of, name, common=common)
    places = [[(u, r) for r in range(6)] for u in range(len(of.units))]
    without_each = [of_ensembles(without(of, unit), name, common=common) for unit in places]
    for n, (members, (counts, at)) in enumerate(zip(odd_subsets(3), whole, strict=True)):
        used = [u for u in range(len(of.units)) if without_each[u][n][0] != counts]
        idle = [place for u in range(len(of.units)) if u not in used for place in places[u]]
        reduced, same = of_ensembles(without(of, idle), name, common=common)[n]
        assert reduced == counts
        assert same == pytest.approx(at, nan_ok=True)
        entered = of.codes.labels[used][:, [0, 1, 2, *(3 + m for m in members)]] >= 0
        n_clusters = len(np.unique(of.codes.clusters[used]))
        assert counts == (len(used), n_clusters, entered.any(axis=0).sum(), entered.sum())


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
