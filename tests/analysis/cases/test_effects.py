"""Systems compared on case means: what holds, and what a paper computes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.analyses import flat_analysis, restated
from tests.clexeval_tables import (
    CRITERIA,
    LEVELS,
    SCALE,
    answer,
    answers,
    items,
    pair_of,
    rated,
    results,
)

from konsil.analysis import Analysis, contradictions
from konsil.analysis.model.catalogue.known import DEGRADATION
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Mode
from konsil.analysis.table.frame import Data
from konsil.records import Rater
from konsil.stats.cases.anova import mixed_anova

N = 24
TWO = CRITERIA[:2]


def study(seed: int = 1) -> tuple[Data, dict[str, np.ndarray]]:
    """Two experts a case on two criteria; the generalist is ahead and falls; (case, system, level)
    means beside."""
    rng = np.random.default_rng(seed)
    its = items(N)
    ratings, means = [], {c: np.zeros((N, 2, 5)) for c in TWO}
    for n in range(N):
        base = rng.normal(0, 0.5)
        for s, system in enumerate(("generalist", "specialist")):
            for level in range(5):
                quality = 3.2 - 0.6 * s - 0.35 * level + base
                for c, criterion in enumerate(TWO):
                    for expert in pair_of(n):
                        code = int(np.clip(round(quality - 0.3 * c + rng.normal(0, 0.6)), 0, 4))
                        ratings.append(
                            rated(expert, criterion, answer(system, n, level), SCALE.labels[code])
                        )
                        means[criterion][n, s, level] += code / 8
    raters = tuple(Rater(e, "experts") for e in ("e1", "e2", "e3", "e4"))
    return Data(its, answers(its), raters, (), tuple(ratings)), means


DATA, MEANS = study()
MANN = flat_analysis("a", "mann_whitney", TWO[0], "experts", criteria=TWO[1:])
ANOVA = flat_analysis("a", "anova", TWO[0], "experts", levels=LEVELS)


def rows(asked: Analysis, kind: str) -> list[Row]:
    return [r for r in results(DATA, asked).rows if r.kind == kind]


def test_the_headline_is_paired_by_case() -> None:
    found = rows(MANN, "difference")
    assert [r.group["criterion"] for r in found] == list(TWO)
    for row in found:
        by_case = MEANS[row.group["criterion"]].mean(axis=2)
        gap = by_case[:, 0] - by_case[:, 1]
        assert row.estimate.value == pytest.approx(gap.mean() / gap.std(ddof=1))
        assert (row.estimate.p <= 0.05) == (row.estimate.low > 0 or row.estimate.high < 0)
        assert row.estimate.n_clusters == N
        assert row.estimate.low < row.estimate.value < row.estimate.high
    beside = [r for r in rows(MANN, "companion") if "Wilcoxon" in r.estimate.method]
    gap = MEANS[TWO[0]].mean(axis=2) @ (1, -1)
    assert beside[0].estimate.p == pytest.approx(stats.wilcoxon(gap.round(12)).pvalue, rel=1e-6)
    beside = [r for r in rows(MANN, "companion") if "Mann-Whitney" in r.estimate.method]
    a, b = MEANS[TWO[0]].mean(axis=2).T
    pooled = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert beside[0].estimate.value == pytest.approx((a.mean() - b.mean()) / pooled)
    assert beside[0].estimate.p == pytest.approx(
        stats.mannwhitneyu(a, b, method="asymptotic").pvalue
    )


def test_no_row_has_an_interval_of_one_procedure_and_the_p_value_of_another() -> None:
    """With the rank tests' p values beside the interval of d, one row in eight contradicted
    itself at this effect."""
    for seed in range(40):
        data, _ = study(seed)
        few_items = {i.id for i in items(12)}
        few = replace(data, ratings=[r for r in data.ratings if r.item in few_items])
        for row in results(few, MANN).rows:
            at = row.estimate
            if np.isfinite([at.low, at.p]).all():
                assert (at.p <= 0.05) == (at.low > 0 or at.high < 0)
            if "Wilcoxon" in at.method or "Mann-Whitney" in at.method:
                assert np.isnan(at.low)


def test_paper_mode_takes_every_score_for_an_observation_and_says_so() -> None:
    [row, _] = rows(replace(MANN, mode="paper"), "difference")
    assert row.estimate.n_clusters == N * 5 * 2 * 2
    assert np.isnan(row.estimate.low)
    assert (
        "The test treats 480 clustered scores as independent; its p value is too small."
        in row.warnings
    )
    scores = {
        s: [r for r in DATA.ratings if r.criterion == TWO[0] and s in r.answers[0]]
        for s in ("generalist", "specialist")
    }
    a, b = ([float(str(r.label)) for r in scores[s]] for s in ("generalist", "specialist"))
    assert row.estimate.p == pytest.approx(stats.mannwhitneyu(a, b, method="asymptotic").pvalue)


def test_anova_is_within_cases() -> None:
    found = {r.group["effect"]: r for r in rows(ANOVA, "estimate")}
    assert set(found) == {
        "between_systems",
        "between_levels",
        "system_by_level",
        "level_within:generalist",
        "level_within:specialist",
    }
    y = MEANS[TWO[0]]
    gap = y.mean(axis=2)
    t = stats.ttest_rel(gap[:, 0], gap[:, 1])
    assert found["between_systems"].estimate.p == pytest.approx(t.pvalue)
    assert found["between_systems"].estimate.value == pytest.approx(
        t.statistic**2 / (t.statistic**2 + N - 1)
    )
    assert found["between_levels"].estimate.p < 1e-6
    assert "Greenhouse-Geisser" in found["between_levels"].estimate.method
    assert all(r.estimate.low <= r.estimate.value <= r.estimate.high for r in found.values())
    assert all(
        (r.estimate.low > 0) == (r.estimate.p < 0.025) for r in found.values()
    )  # it inverts the test


def test_anova_in_paper_mode_is_mixed_without_intervals() -> None:
    found = {r.group["effect"]: r for r in rows(replace(ANOVA, mode="paper"), "estimate")}
    theirs = mixed_anova(MEANS[TWO[0]])
    assert found["system_by_level"].estimate.value == pytest.approx(theirs["interaction"].eta)
    assert found["between_systems"].estimate.p == pytest.approx(theirs["system"].p)
    assert np.isnan(found["between_systems"].estimate.low)
    assert any("is inappropriate" in w for w in found["between_systems"].warnings)


@pytest.mark.slow
def test_tukey_compares_all_cells_and_shows_those_that_share_something() -> None:
    asked = restated(ANOVA, statistic="tukey", levels=("narrative", "3"))
    found = rows(asked, "difference")
    assert len(found) == 6
    assert sum(not r.detail for r in found) == 2 + 2
    first = found[0]
    assert (first.group, first.versus) == (
        {"system": "generalist", "level": "narrative"},
        {"system": "generalist", "level": "3"},
    )
    y = MEANS[TWO[0]][:, :, [0, 4]]
    assert first.estimate.value == pytest.approx((y[:, 0, 0] - y[:, 0, 1]).mean())
    alone = stats.ttest_rel(y[:, 0, 0], y[:, 0, 1]).pvalue
    assert alone < first.estimate.p < 0.001  # stricter than one test, and still clear
    paper = rows(replace(asked, mode="paper"), "difference")
    theirs = stats.tukey_hsd(*y.reshape(N, 4).T)
    assert paper[0].estimate.p == pytest.approx(theirs.pvalue[0, 1])
    assert paper[1].estimate.value == pytest.approx(theirs.statistic[2, 3])


def test_criteria_are_correlated_over_answers() -> None:
    asked = flat_analysis("a", "criteria_correlation", TWO[0], "experts", criteria=TWO[1:])
    [row] = rows(asked, "estimate")
    assert row.group == {"criterion": TWO[0], "other": TWO[1]}
    assert row.estimate.value == pytest.approx(
        stats.spearmanr(MEANS[TWO[0]].ravel(), MEANS[TWO[1]].ravel()).statistic
    )
    assert row.estimate.n_clusters == N
    by_system = rows(replace(asked, by=("system",)), "estimate")
    assert [r.group["system"] for r in by_system] == ["generalist", "specialist"]
    of_one = MEANS[TWO[0]][:, 1].ravel(), MEANS[TWO[1]][:, 1].ravel()
    assert by_system[1].estimate.value == pytest.approx(stats.spearmanr(*of_one).statistic)


ALL = (
    *(
        flat_analysis(name, name, TWO[0], "experts", levels=LEVELS)
        for name in (*DEGRADATION, "crossover", "anova")
    ),
    flat_analysis("tukey", "tukey", TWO[0], "experts", levels=("narrative", "3")),
    Analysis("accuracy", "accuracy", TWO[0], "experts", by=("level",)),
    flat_analysis("illusion", "illusion_gap", TWO[0], "experts", criteria=("communication",)),
    Analysis("mismatch", "mismatch", TWO[0], "experts", against="detector"),
    Analysis("approval", "approval", TWO[0], "judges", against="experts"),
    Analysis("strictness", "strictness", TWO[0], "judges", against="experts"),
    flat_analysis("mann", "mann_whitney", TWO[0], "experts", criteria=("communication",)),
    flat_analysis(
        "correlation", "criteria_correlation", TWO[0], "experts", criteria=("communication",)
    ),
)


@pytest.mark.parametrize("mode", ["valid", "paper"])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_cases_that_are_all_right_break_nothing_and_show_nothing(n: int, mode: Mode) -> None:
    its = items(n)
    ratings = [
        rated("e1", criterion, a.id, "1")
        for criterion in (TWO[0], "communication")
        for a in answers(its)
    ]
    data = Data(
        its, answers(its), (Rater("e1", "experts"), Rater("j", "judges", "llm")), (), tuple(ratings)
    )
    found = results(data, *(replace(a, mode=mode) for a in ALL)).rows
    assert {r.analysis for r in found} == {a.name for a in ALL}
    assert all(np.isnan(r.estimate.p) or r.estimate.p == 1 for r in found)
    assert not [
        r.finding for r in found if r.finding.startswith(("Rank reversal:", "Hidden knowledge: "))
    ]
    undefined = [r for r in found if np.isnan(r.estimate.value)]
    assert all(r.estimate.reason for r in undefined), [
        r.analysis for r in undefined if not r.estimate.reason
    ]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (restated(ANOVA, levels=()), "levels: is empty"),
        (replace(ANOVA, by=("level",)), "by[0]: 'anova' has a row for every effect"),
        (replace(MANN, by=("system",)), "by[0]: 'mann_whitney' already compares the systems"),
        (
            replace(MANN, by=("system",), compare="system"),
            "compare: 'mann_whitney' is already a comparison; leave compare out",
        ),
        (Analysis("a", "criteria_correlation", "x", "experts"), "criteria: is empty"),
        (replace(ANOVA, against="judges"), "against: 'anova' does not support this option"),
    ],
)
def test_settings_that_do_not_fit(asked: Analysis, told: str) -> None:
    assert [p for p in contradictions(asked) if p.startswith(told)]
