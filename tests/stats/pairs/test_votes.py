"""Votes as cells: slots, order and names never matter, and the statistics of cells equal plain
computations."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from konsil.stats.engine.resample import jackknife
from konsil.stats.inference import wald
from konsil.stats.inference.permutation import flip_test
from konsil.stats.pairs.bradley_terry_davidson import fit, worths
from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.vote_flips import vote_flips
from konsil.stats.pairs.votes import (
    Clusterings,
    Votes,
    cell_counts,
    cell_rows,
    clusterings,
    mirrored,
    n_pairs,
    totals,
    votes,
)
from konsil.stats.pairs.wins import head_to_head, matrix, pooled, system_against_others
from konsil.stats.pairs.worth_designs import design

SYSTEMS = 4


def paper_size(seed: int = 1, steps: int = 2) -> tuple[np.ndarray, ...]:
    """A table of the size of Real-POCQi's: first, second, outcome, question, rater."""
    g = np.random.default_rng(seed)
    n = 1156
    first = g.choice(SYSTEMS, n, p=[1 / 3, 2 / 9, 2 / 9, 2 / 9])
    second = (first + g.integers(1, SYSTEMS, n)) % SYSTEMS
    lean = np.array([0.8, 0.1, 0.0, -0.6])[first] - np.array([0.8, 0.1, 0.0, -0.6])[second]
    outcome = np.clip(np.rint(lean + g.normal(0, 1.2, n)), -steps, steps).astype(int)
    return first, second, outcome, g.integers(0, 620, n), g.integers(0, 149, n)


def made(seed: int = 1, steps: int = 2) -> Votes:
    return votes(*paper_size(seed, steps), n_systems=SYSTEMS, steps=steps)


def plainly(first, second, outcome, system, rival, score):
    """The mean score of a system against a rival, comparison by comparison."""
    found = [
        score(y)
        for a, b, y in zip(first, second, outcome, strict=True)
        if (a, b) == (system, rival)
    ]
    found += [
        score(-y)
        for a, b, y in zip(first, second, outcome, strict=True)
        if (b, a) == (system, rival)
    ]
    return math.fsum(found) / len(found)


SCORES = {
    "difference": lambda threshold: lambda y: int(y >= threshold) - int(y <= -threshold),
    "win": lambda threshold: lambda y: y >= threshold,
    "half": lambda threshold: lambda y: 1.0 if y >= threshold else 0.0 if y <= -threshold else 0.5,
    "margin": lambda threshold: lambda y: y,
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("threshold", [1, 2])
def test_every_value_is_the_plain_one(score, threshold):
    table, cells = paper_size(), totals(made())
    one = SCORES[score](threshold)
    against = [
        [math.nan if a == b else plainly(*table[:3], a, b, one) for b in range(SYSTEMS)]
        for a in range(SYSTEMS)
    ]
    found = head_to_head(SYSTEMS, 2, score, threshold).finalise(cells)
    np.testing.assert_allclose(matrix(found, SYSTEMS), against, rtol=0, atol=1e-12)
    rest = system_against_others(SYSTEMS, 2, score, threshold).finalise(cells)
    np.testing.assert_allclose(rest, np.nanmean(against, axis=1), rtol=0, atol=1e-12)


def test_the_pooled_difference_is_wins_minus_losses_over_comparisons():
    first, second, outcome, *_ = paper_size()
    found = pooled(SYSTEMS, 2).finalise(totals(made()))
    for system in range(SYSTEMS):
        mine = np.r_[outcome[first == system], -outcome[second == system]]
        assert abs(found[system] - np.sign(mine).mean()) < 1e-12


STATISTICS = {
    "rest": system_against_others(SYSTEMS, 2),
    "strict": system_against_others(SYSTEMS, 2, threshold=2),
    "margin": system_against_others(SYSTEMS, 2, "margin"),
    "pooled": pooled(SYSTEMS, 2),
    "pairs": head_to_head(SYSTEMS, 2),
    "davidson": worths(totals(made()), design(SYSTEMS, 2)),
    "bradley_terry": worths(totals(made()), design(SYSTEMS, 2, "bradley_terry")),
    "dropped": worths(totals(made()), design(SYSTEMS, 2, "bradley_terry", "dropped")),
    "strict davidson": worths(totals(made()), design(SYSTEMS, 2, threshold=2)),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_are_those_of_the_engine(name):
    """The cells' derivative and variance, against numerical derivatives of single votes."""
    statistic, all_votes = STATISTICS[name], made()
    rows = np.zeros((all_votes.n_votes, all_votes.n_cells))
    rows[np.arange(all_votes.n_votes), all_votes.cells] = 1
    influence = wald.linearised(rows, statistic.finalise)
    found = crossed(all_votes, statistic)
    for j, value in enumerate(found.value):
        mine = statistic.support[all_votes.pairs, j]
        questions, raters = all_votes.questions[mine], all_votes.raters[mine]
        of_pair = all_votes.pairs[mine]
        strata = of_pair if statistic.by_pair else None
        two = wald.two_way(
            influence[mine][:, [j]], questions, raters, np.array([value]), strata=strata
        )
        # Where all pairs are one stratum, votes count by their pair's influence, in rows each
        # alike.
        close = 1e-4 if statistic.by_pair else 0.02
        np.testing.assert_allclose(found.two_way.se[j], two.se[0], rtol=close)
        np.testing.assert_allclose(
            found.two_way.df[j], two.df[0], rtol=1e-3 if statistic.by_pair else 0.15
        )
        expected = wald.with_test(np.array([value]), found.two_way.se[[j]], found.two_way.df[[j]])
        np.testing.assert_allclose(found.two_way.p[j], expected.p[0])
        if statistic.kind == "share":
            n = min(value * (1 - value) / two.se[0] ** 2, mine.sum())
            z = special.stdtrit(two.df[0], 0.975)
            low = (
                value + z * z / (2 * n) - z * np.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
            ) / (1 + z * z / n)
            np.testing.assert_allclose(found.two_way.low[j], low, rtol=1e-3)
        else:
            np.testing.assert_allclose(
                found.two_way.low[j], max(expected.low[0], statistic.limits[0])
            )
        votes_of = np.bincount(raters)
        assert (found.busiest[j], found.largest_share[j]) == (
            votes_of.argmax(),
            votes_of.max() / mine.sum(),
        )
        np.testing.assert_allclose(found.effective_raters[j], mine.sum() ** 2 / (votes_of**2).sum())
        assert found.n_votes[j] == mine.sum()


@pytest.mark.parametrize("name", STATISTICS)
def test_votes_that_share_question_and_rater_and_those_that_do_not_are_one_formula(name):
    """Single votes take a short cut; counted as clusters of one vote each they give the same."""
    statistic, all_votes = STATISTICS[name], made()
    vote_numbers = np.arange(all_votes.n_votes, dtype=np.int64)
    short = crossed(
        replace(all_votes, questions=vote_numbers, n_questions=len(vote_numbers)), statistic
    )
    single = clusterings(replace(all_votes, questions=vote_numbers, n_questions=len(vote_numbers)))
    long = crossed(
        all_votes,
        statistic,
        counts=Clusterings(single.by_question, single.by_rater, single.by_question),
    )
    np.testing.assert_allclose(short.two_way.se, long.two_way.se, rtol=1e-10)


def test_many_clusters_are_taken_in_parts(monkeypatch):
    undivided = crossed(made(), STATISTICS["rest"])
    monkeypatch.setattr("konsil.stats.pairs.two_way_clusters._CHUNK", 40)
    parts = crossed(made(), STATISTICS["rest"])
    for field in ("value", "n_raters", "busiest", "largest_share", "effective_raters"):
        np.testing.assert_allclose(getattr(parts, field), getattr(undivided, field))
    np.testing.assert_allclose(parts.two_way.se, undivided.two_way.se)
    np.testing.assert_allclose(parts.two_way.df, undivided.two_way.df)


@pytest.mark.parametrize("name", STATISTICS)
def test_doubled_questions_weigh_two_and_jackknife_is_recomputation(name):
    statistic, all_votes = STATISTICS[name], made()
    sums = cell_counts(all_votes, all_votes.questions, all_votes.n_questions)
    twice = np.where(np.arange(len(sums)) < 5, 2, 1) @ sums
    np.testing.assert_allclose(
        statistic.finalise(twice),
        statistic.finalise(np.concatenate([sums, sums[:5]]).sum(0)),
        atol=1e-9,
    )
    without = jackknife(sums[:40], statistic.finalise)[3]
    np.testing.assert_allclose(
        without,
        statistic.finalise(np.delete(sums[:40], 3, 0).sum(0)[None])[0],
        atol=1e-8,
        equal_nan=True,
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_order_renaming_and_slots_change_nothing(data):
    n = data.draw(st.integers(1, 30))
    rows = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, 3),
                st.integers(1, 3),
                st.integers(-2, 2),
                st.integers(0, 6),
                st.integers(0, 4),
            ),
            min_size=n,
            max_size=n,
        )
    )
    a, step, y, q, r = (np.array(c) for c in zip(*rows, strict=True))
    b = (a + step) % 4
    whole = votes(a, b, y, q, r, n_systems=4, steps=2)
    other_slots = votes(b, a, -y, q, r, n_systems=4, steps=2)
    assert (whole.cells == other_slots.cells).all()
    renamed = np.array(data.draw(st.permutations(range(4))))
    order = np.array(data.draw(st.permutations(range(n))))
    moved = votes(
        renamed[a][order], renamed[b][order], y[order], q[order], r[order], n_systems=4, steps=2
    )
    for statistic in (
        system_against_others(4, 2),
        system_against_others(4, 2, "win", 2),
        pooled(4, 2, "margin"),
    ):
        before, after = crossed(whole, statistic), crossed(moved, statistic)
        np.testing.assert_allclose(before.value, after.value[renamed], atol=1e-12)
        np.testing.assert_allclose(before.two_way.se, after.two_way.se[renamed], atol=1e-9)
    one, other = (fit(totals(v), design(4, 2, "bradley_terry")) for v in (whole, moved))
    assert one.reason == other.reason
    np.testing.assert_allclose(one.log_worths, other.log_worths[renamed], atol=1e-8)


def test_sparse_rows_are_the_dense_ones():
    all_votes = made()
    dense = cell_counts(all_votes, all_votes.raters, 149)
    assert (cell_rows(all_votes, all_votes.raters, 149).toarray() == dense).all()
    assert (mirrored(mirrored(dense, 5), 5) == dense).all()


def test_davidson_is_the_maximum_of_its_likelihood():
    cells = totals(made())
    table = cells.reshape(-1, 5)
    win, tie, loss = table[:, 3:].sum(1), table[:, 2], table[:, :2].sum(1)
    pairs = list(itertools.combinations(range(SYSTEMS), 2))

    def minus_log_likelihood(x):
        worth, d = np.exp(np.r_[x[:3], -x[:3].sum()]), np.exp(x[3])
        total = 0.0
        for n, (i, j) in enumerate(pairs):
            a, b = worth[i], worth[j]
            whole = a + b + d * np.sqrt(a * b)
            total += win[n] * np.log(a / whole) + loss[n] * np.log(b / whole)
            total += tie[n] * np.log(d * np.sqrt(a * b) / whole)
        return -total

    best = optimize.minimize(
        minus_log_likelihood,
        np.zeros(4),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9999},
    )
    found = fit(cells, design(SYSTEMS, 2))
    np.testing.assert_allclose(found.log_worths[:3], best.x[:3], atol=1e-6)
    assert abs(found.log_tie - best.x[3]) < 1e-6
    # The covariance, against second differences of the likelihood.
    step = 1e-4 * np.eye(4)
    hessian = np.array(
        [
            [
                sum(
                    s * t * minus_log_likelihood(best.x + s * step[a] + t * step[b])
                    for s in (1, -1)
                    for t in (1, -1)
                )
                / 4e-8
                for b in range(4)
            ]
            for a in range(4)
        ]
    )
    np.testing.assert_allclose(found.covariance[:3, :3], np.linalg.inv(hessian)[:3, :3], rtol=1e-3)


def test_bradley_terry_of_the_statistics_journals():
    """Stigler's citations (Stat Sci 9:94, 1994), as in Agresti, Categorical Data Analysis, 2002,
    10.6."""
    names = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
    cited = np.array(
        [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
    )
    cells = np.array(
        [[cited[b, a], 0, cited[a, b]] for a, b in itertools.combinations(range(4), 2)], dtype=float
    )
    found = fit(cells.ravel(), design(len(names), 1, "bradley_terry"))
    np.testing.assert_allclose(
        (found.log_worths - found.log_worths[0])[1:], [-2.9491, -0.4796, 0.2690], atol=5e-5
    )
    contrast = np.column_stack([-np.ones(3), np.eye(3)])
    errors = np.sqrt(np.diag(contrast @ found.covariance @ contrast.T))
    np.testing.assert_allclose(errors, [0.1025, 0.0606, 0.0708], atol=5e-5)


@pytest.mark.parametrize(
    ("cells", "model", "why"),
    [
        ([0, 0, 0], "davidson", "no_comparisons"),
        ([1, 0, 2], "davidson", "no_ties"),
        ([0, 3, 0], "davidson", "all_ties"),
        ([0, 1, 3], "davidson", "unbounded"),
        ([0, 6, 6], "davidson", "unbounded"),
        ([1, 6, 6], "davidson", ""),
        # 0 beats 1, 1 beats 2, and 2 ties with 0: two wins and one tie; with a tie more on the way
        # there is no excess.
        ([0, 0, 3, 0, 2, 0, 0, 0, 3], "davidson", ""),
        ([0, 0, 3, 0, 2, 0, 0, 4, 0], "davidson", "unbounded"),
        ([0, 0, 3], "bradley_terry", "undefeated"),
        ([0, 0, 0, 1, 0, 1, 0, 0, 0], "bradley_terry", "unconnected"),
    ],
)
def test_worths_that_do_not_exist_are_undefined_with_a_reason(cells, model, why):
    cells = np.array(cells, dtype=float)
    chosen = design({3: 2, 9: 3}[len(cells)], 1, model)
    found = fit(cells, chosen)
    assert found.reason == why
    assert np.isnan(found.log_worths).all() == bool(why)
    assert np.isnan(worths(cells, chosen).finalise(cells)).all() == bool(why)


def test_draws_without_a_fit_are_undefined_and_the_others_exact():
    all_votes = made(steps=1)
    cells = totals(all_votes)
    statistic = worths(cells, design(SYSTEMS, 1))
    g = np.random.default_rng(5)
    draws = g.poisson(cells * g.uniform(0.02, 1.5, (40, 1))).astype(float)
    draws[0] = 0
    draws[1].reshape(-1, 3)[:3, :2] = 0  # the first system loses to nobody and ties nobody
    found = statistic.finalise(draws)
    assert np.isnan(found[:2]).all()
    for n in range(40):
        np.testing.assert_allclose(
            found[n], fit(draws[n], design(SYSTEMS, 1)).log_worths, atol=1e-8, equal_nan=True
        )


@pytest.mark.parametrize("unit", ["question", "comparison"])
def test_flips_are_exact_where_they_say_so(unit):
    """Against all sign patterns of a small study."""
    first, second, outcome, question, rater = (c[:60] for c in paper_size(3))
    question = np.arange(60) if unit == "comparison" else question % 12
    few = votes(
        first[:12], second[:12], outcome[:12], question[:12], rater[:12], n_systems=SYSTEMS, steps=2
    )
    statistic = system_against_others(SYSTEMS, 2)
    found = vote_flips(few, statistic, unit=unit, draws=999)
    for j in range(SYSTEMS):
        if not np.isfinite(statistic.finalise(totals(few))[j]):
            assert math.isnan(found.p[j])
            continue
        column = found.differences[:, j]
        moving = column[column != 0]
        signs = np.array(list(itertools.product([1, -1], repeat=len(moving))))
        p = np.mean(np.abs(signs @ moving) >= abs(moving.sum()) - 1e-12)
        assert found.method[j] == "exact" or len(moving) <= 16
        assert abs(found.p[j] - p) < 1e-12


def test_exact_and_sampled_flips_agree():
    all_votes = made()
    exact = vote_flips(all_votes, system_against_others(SYSTEMS, 2, "margin"), unit="comparison")
    assert set(exact.method) == {"exact"}
    sampled = flip_test(exact.differences, draws=4000, key=2).p
    assert (
        np.abs(exact.p - sampled) < 4 * np.sqrt(exact.p * (1 - exact.p) / 4000) + 1 / 4000
    ).all()


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        (([0], [0], [1], [0], [0]), "two different systems"),
        (([0], [5], [1], [0], [0]), "two different systems"),
        (([0], [1], [3], [0], [0]), "at most 1 steps"),
        (([0], [1, 2], [1], [0], [0]), "expected as many"),
    ],
)
def test_columns_that_cannot_be_votes_are_refused(columns, what):
    with pytest.raises(ValueError, match=what):
        votes(*columns, n_systems=3)


def test_no_votes_are_undefined():
    none = votes([], [], [], [], [], n_systems=3)
    assert none.n_cells == 3 * n_pairs(3)
    assert np.isnan(system_against_others(3).finalise(totals(none))).all()


@pytest.mark.slow
def test_a_fit_exists_exactly_where_nothing_speaks_against_it():
    """Many small tables: the reasons for undefined worths are complete, since whatever is left has
    a maximum."""
    g = np.random.default_rng(3)
    reasons = set()
    for n in range(250):
        k = int(g.integers(2, 6))
        chosen = design(k, 1, ("davidson", "bradley_terry")[n % 2], ("half", "dropped")[n // 2 % 2])
        size = n_pairs(k) * 3
        cells = (
            g.poisson(g.uniform(0.2, 1.5), size) * (g.random(size) < g.uniform(0.2, 1))
        ).astype(float)
        found = fit(cells, chosen)
        reasons.add(found.reason)
        assert "did not converge" not in found.reason
        assert np.isfinite(found.log_worths).all() == (not found.reason)
        draws = g.poisson(np.tile(cells, (4, 1))).astype(float)
        for one, row in zip(worths(cells, chosen).finalise(draws), draws, strict=True):
            expected = np.full(k, np.nan) if found.reason else fit(row, chosen).log_worths
            np.testing.assert_allclose(one, expected, atol=1e-7, equal_nan=True)
    assert len(reasons) == 7
