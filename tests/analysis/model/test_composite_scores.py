"""Composite scores against the same numbers from pandas, SciPy and pingouin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from konsil.analysis import Analysis, CompositeScore, Exclusions, Resampling, Results, Row
from konsil.analysis.model.composite.analysis_rules import scored_problems
from konsil.analysis.model.composite.definition import with_scores
from konsil.analysis.model.composite.definition_rules import score_problems
from konsil.analysis.model.composite.score_rows import composites_of
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.model.spec import Consensus
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data, rating_table
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale, number_word
from konsil.records import Answer, Item, Rater, Rating, System, Task

SCALE = Scale(("0", "0.25", "0.5", "0.75", "1"), level="ordinal", values=(0, 0.25, 0.5, 0.75, 1))
PARTS = ("truth", "depth", "style")
FORM = Instrument("form", tuple(Criterion(name, "?", SCALE) for name in PARTS))
OVERALL = CompositeScore("overall", PARTS)
LEVELS = ("narrative", "0", "1")
SYSTEMS = ("north", "south")
RATERS = (*(Rater(name, "experts") for name in ("ann", "bob", "cyd")),)
JUDGES = (
    Rater("judge-n", "judges", "llm", "fam-n", {"system": "north"}),
    Rater("judge-s", "judges", "llm", "fam-s", {"system": "south"}),
    Rater("judge-x", "judges", "llm", "fam-x"),
)


def table_of(n_cases: int = 8, seed: int = 3, raters: Sequence[Rater] = RATERS) -> pd.DataFrame:
    """One row a label: case, level, system, rater, criterion, value."""
    generator = np.random.default_rng(seed)
    rows = [
        (f"c{case}", level, system, rater.id, part, float(generator.integers(5)) / 4)
        for case in range(n_cases)
        for level in LEVELS
        for system in SYSTEMS
        for rater in raters
        for part in PARTS
    ]
    return pd.DataFrame(rows, columns=["case", "level", "system", "rater", "criterion", "value"])


def word(value: float) -> str:
    return number_word(value)


def data_of(table: pd.DataFrame, raters: Sequence[Rater] = RATERS) -> Data:
    """The labels as records; a value of nan is an abstention, a row that is not there no label."""
    items, answers, tasks = {}, {}, {}
    ratings = []
    for row in table.itertuples():
        item, answer = f"{row.case}-{row.level}", f"{row.case}-{row.level}:{row.system}"
        task = f"{row.rater} {answer}"
        items[item] = Item(item, "?", case=row.case, strata={"level": row.level})
        answers[answer] = Answer(answer, item, row.system, "x")
        tasks[task] = Task(task, task, row.rater, "form", item, (answer,))
        state, label = ("abstained", None) if math.isnan(row.value) else ("rated", word(row.value))
        ratings.append(Rating(task, row.rater, row.criterion, item, (answer,), None, state, label))
    return Data(
        tuple(items.values()),
        tuple(answers.values()),
        tuple(raters),
        tuple(tasks.values()),
        ratings,
    )


def results_of(
    analyses: Sequence[Analysis],
    table: pd.DataFrame,
    scores: Sequence[CompositeScore] = (OVERALL,),
    raters: Sequence[Rater] = RATERS,
    form: Instrument = FORM,
) -> Results:
    return run(
        analyses,
        data_of(table, raters),
        RunSettings(
            instruments=[form],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
            systems=[System("north", "fam-n"), System("south", "fam-s")],
            scores=scores,
            planned=True,
        ),
    )


def row_of(analysis: Analysis, table: pd.DataFrame, **group: str) -> Row:
    rows = results_of([analysis], table).rows
    return next(r for r in rows if r.kind == "estimate" and dict(r.group) == group)


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Each rater's mean of the three criteria, by pandas."""
    keys = ["case", "level", "system", "rater"]
    return table.groupby(keys, as_index=False)["value"].agg(
        lambda values: values.mean() if values.notna().all() and len(values) == 3 else math.nan
    )


def scores_of(table: pd.DataFrame, score: CompositeScore) -> dict[tuple[str, str], float]:
    """(rater, answer) -> the score that konsil's table has; abstentions are nan."""
    data = data_of(table)
    ratings = replace(
        rating_table(data, Exclusions(), [FORM]), composites=composites_of([score], [FORM])
    )
    part = ratings.part(score.id, "experts")
    return {
        (rater, answer): math.nan if label is None else float(label)
        for rater, answer, label in part.select("rater", "answers", "label").iter_rows()
    }


def test_each_rater_has_the_mean_that_pandas_has():
    table = table_of()
    ours = scores_of(table, OVERALL)
    theirs = {
        (row.rater, f"{row.case}-{row.level}:{row.system}"): row.value
        for row in overall(table).itertuples()
    }
    assert ours.keys() == theirs.keys()
    assert ours == pytest.approx(theirs, abs=1e-15)


@pytest.mark.parametrize("system", SYSTEMS)
def test_mean_and_standard_deviation_are_those_of_pandas(system: str):
    table = table_of()
    expected = overall(table).query("system == @system")["value"]
    mean = Analysis("a", "mean", "overall", "experts", by=("system",))
    assert row_of(mean, table, system=system).estimate.value == pytest.approx(
        expected.mean(), abs=1e-12
    )
    spread = Analysis("a", "standard_deviation", "overall", "experts", by=("system",))
    row = row_of(spread, table, system=system)
    assert row.estimate.value == pytest.approx(expected.std(ddof=1), abs=1e-12)
    assert row.estimate.low < row.estimate.value < row.estimate.high
    of_means = replace(spread, consensus="mean")
    by_answer = overall(table).query("system == @system").groupby(["case", "level"])["value"].mean()
    assert row_of(of_means, table, system=system).estimate.value == pytest.approx(
        by_answer.std(ddof=1), abs=1e-12
    )


def test_standard_deviation_of_a_criterion_and_its_difference():
    table = table_of()
    analysis = Analysis(
        "a", "standard_deviation", "truth", "experts", by=("system",), compare="system"
    )
    spread = table.query("criterion == 'truth'").groupby("system")["value"].std(ddof=1)
    rows = results_of([analysis], table).rows
    [difference] = [r for r in rows if r.kind == "difference"]
    assert difference.estimate.value == pytest.approx(spread["north"] - spread["south"], abs=1e-12)
    assert 0 < difference.estimate.p <= 1


def test_standard_deviation_of_equal_numbers_is_0_and_of_one_number_undefined():
    analysis = Analysis("a", "standard_deviation", "overall", "experts")
    table = table_of().assign(value=0.75)
    assert row_of(analysis, table).estimate.value == 0
    one = table.query("case == 'c0' and level == '0' and system == 'north' and rater == 'ann'")
    estimate = row_of(analysis, one).estimate
    assert math.isnan(estimate.value)
    assert estimate.reason


def test_a_large_offset_costs_the_standard_deviation_no_digits():
    scale = Scale(kind="number", level="interval")
    form = Instrument("form", tuple(Criterion(name, "?", scale) for name in PARTS))
    table = table_of()
    table["value"] += 1_000_000
    analysis = Analysis("a", "standard_deviation", "truth", "experts")
    [row] = [r for r in results_of([analysis], table, (), form=form).rows if r.kind == "estimate"]
    spread = table.query("criterion == 'truth'")["value"].std(ddof=1)
    assert row.estimate.value == pytest.approx(spread, rel=1e-9)


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize(("name", "theirs"), [("icc1", "ICC(1,1)"), ("icc2", "ICC(A,1)")])
def test_icc_is_that_of_pingouin(name: str, theirs: str):
    table = overall(table_of())
    table["unit"] = table["case"] + table["level"] + table["system"]
    published = pingouin.intraclass_corr(table, "unit", "rater", "value").set_index("Type")
    analysis = Analysis("a", name, "overall", "experts")
    assert row_of(analysis, table_of()).estimate.value == pytest.approx(
        float(published.loc[theirs, "ICC"]), abs=1e-9
    )


def test_effect_sizes_are_those_of_case_means():
    table = table_of()
    means = overall(table).groupby(["case", "system"])["value"].mean().unstack()
    rows = results_of([Analysis("a", "mann_whitney", "overall", "experts")], table).rows
    paired, signed_ranks, unpaired = rows
    gaps = means["north"] - means["south"]
    assert paired.estimate.value == pytest.approx(gaps.mean() / gaps.std(ddof=1), abs=1e-12)
    wilcoxon = stats.wilcoxon(gaps.round(12)).pvalue
    assert signed_ranks.estimate.value == paired.estimate.value
    assert signed_ranks.estimate.p == pytest.approx(wilcoxon, abs=1e-12)
    pooled = math.sqrt((means["north"].var(ddof=1) + means["south"].var(ddof=1)) / 2)
    assert unpaired.estimate.value == pytest.approx(gaps.mean() / pooled, abs=1e-12)


def test_as_published_a_composite_is_tested_by_its_single_scores():
    table = table_of()
    analysis = Analysis("a", "mann_whitney", "overall", "experts", mode="paper")
    [row] = results_of([analysis], table).rows
    a, b = (table.query("system == @s")["value"].dropna() for s in SYSTEMS)
    u, p = stats.mannwhitneyu(a, b, method="asymptotic")
    assert row.estimate.value == pytest.approx(
        pingouin.compute_effsize(a, b, eftype="cohen"), abs=1e-12
    )
    assert row.estimate.n_ratings == row.estimate.n_clusters == len(a) + len(b)
    assert f"U = {u:g}" in str(row.estimate.method)
    assert row.estimate.p == pytest.approx(p, rel=1e-9)


def test_a_score_correlates_with_a_criterion_as_scipy_has_it():
    table = table_of()
    options = CaseOptions(criteria=("truth",))
    analysis = Analysis("a", "criteria_correlation", "overall", "experts", options=options)
    [row] = [r for r in results_of([analysis], table).rows if r.kind == "estimate"]
    keys = ["case", "level", "system"]
    whole = overall(table).groupby(keys)["value"].mean()
    part = table.query("criterion == 'truth'").groupby(keys)["value"].mean()
    assert row.estimate.value == pytest.approx(
        stats.spearmanr(whole.round(12), part.round(12)).statistic, abs=1e-9
    )


def test_degradation_and_accuracy_of_a_score():
    table = table_of()
    answers = overall(table).groupby(["case", "level", "system"])["value"].mean()
    north = answers.xs("north", level="system").unstack()
    gap = Analysis("a", "reasoning_gap", "overall", "experts", options=CaseOptions(levels=LEVELS))
    assert row_of(gap, table, system="north").estimate.value == pytest.approx(
        (north["narrative"] - north["1"]).mean(), abs=1e-12
    )
    right = Analysis("a", "accuracy", "overall", "experts", options=CaseOptions(correct=0.5))
    assert row_of(right, table, system="north").estimate.value == pytest.approx(
        float((north >= 0.5 - 1e-9).to_numpy().mean()), abs=1e-12
    )


def judged(seed: int = 5) -> pd.DataFrame:
    experts = table_of(seed=seed)
    return pd.concat([experts, table_of(seed=seed + 1, raters=JUDGES)], ignore_index=True)


def test_approval_of_a_score_is_of_its_failures():
    table = judged()
    options = CaseOptions(failure=0.4, failure_by="mean", approve=0.5)
    analysis = Analysis("a", "approval", "overall", "judges", against="experts", options=options)
    rows = results_of([analysis], table, raters=(*RATERS, *JUDGES)).rows
    scores = overall(table)
    keys = ["case", "level", "system"]
    experts = scores[~scores["rater"].str.startswith("judge")].groupby(keys)["value"].mean()
    failures = experts[experts <= 0.4 + 1e-9].index
    assert len(failures) > 3
    for row in rows:
        judge = scores[scores["rater"] == row.group["rater"]].set_index(keys)["value"]
        assert row.estimate.value == pytest.approx(
            float((judge.loc[failures] >= 0.5 - 1e-9).mean()), abs=1e-12
        )


def test_self_preference_on_a_score_as_published():
    table = judged()
    analysis = Analysis("a", "self_preference", "overall", "judges", mode="paper")
    rows = results_of([analysis], table, raters=(*RATERS, *JUDGES)).rows
    scores = overall(table)
    row = next(r for r in rows if r.group["rater"] == "judge-n")
    own = scores[scores["system"] == "north"].groupby("rater")["value"].mean()
    peers = (own["judge-s"] + own["judge-x"]) / 2
    assert row.estimate.value == pytest.approx(own["judge-n"] - peers, abs=1e-12)


VALUES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
TRIPLES = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=6)


def small(triples: Sequence[tuple[float, float, float]]) -> pd.DataFrame:
    rows = [
        (f"c{n}", "0", "north", "ann", part, value)
        for n, triple in enumerate(triples)
        for part, value in zip(PARTS, triple, strict=True)
    ]
    return pd.DataFrame(rows, columns=["case", "level", "system", "rater", "criterion", "value"])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(TRIPLES, st.permutations(PARTS))
def test_the_order_of_criteria_changes_nothing(
    triples: list[tuple[float, float, float]], order: list[str]
):
    table = small(triples)
    for combine in ("mean", "sum", "minimum"):
        score = replace(OVERALL, combine=combine)
        assert scores_of(table, score) == scores_of(table, replace(score, of=tuple(order)))


@settings(max_examples=25, deadline=None)
@given(TRIPLES)
def test_sum_mean_and_minimum_fit_one_another(triples: list[tuple[float, float, float]]):
    table = small(triples)
    mean, total, least = (
        scores_of(table, replace(OVERALL, combine=combine))
        for combine in ("mean", "sum", "minimum")
    )
    for key, value in mean.items():
        assert total[key] == pytest.approx(3 * value, abs=1e-12)
        assert least[key] <= value + 1e-12
        assert 0 <= value <= 1


@settings(max_examples=25, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=6))
def test_the_mean_of_equal_criteria_is_the_criterion(values: list[float]):
    scores = scores_of(small([(value, value, value) for value in values]), OVERALL)
    assert list(scores.values()) == values


@settings(max_examples=25, deadline=None)
@given(
    TRIPLES,
    st.tuples(*[st.floats(0.1, 10)] * 3),
    st.floats(0.01, 100),
)
def test_only_proportions_of_weights_matter(
    triples: list[tuple[float, float, float]], weights: tuple[float, ...], factor: float
):
    table = small(triples)
    score = replace(OVERALL, combine="weighted", weights=weights)
    scaled = replace(score, weights=tuple(weight * factor for weight in weights))
    ours = scores_of(table, score)
    assert ours == pytest.approx(scores_of(table, scaled), abs=1e-10)
    expected = [float(np.average(triple, weights=weights)) for triple in triples]
    assert list(ours.values()) == pytest.approx(expected, abs=1e-10)


def test_shares_of_criteria_that_count():
    table = small([(1, 0.75, 0.25), (0, 0.5, 0.25)])
    by_number = replace(OVERALL, combine="share", at_least=0.75)
    by_label = replace(OVERALL, combine="share", labels=("0.25", "0.75"))
    assert list(scores_of(table, by_number).values()) == pytest.approx([2 / 3, 0])
    assert list(scores_of(table, by_label).values()) == pytest.approx([2 / 3, 1 / 3])


def test_what_is_missing_is_never_0():
    table = small([(1, 0.5, 0), (1, 0.5, 0), (1, 0.5, 0)])
    table.loc[(table["case"] == "c1") & (table["criterion"] == "depth"), "value"] = math.nan
    table = table[~((table["case"] == "c2") & (table["criterion"] == "truth"))]
    complete = scores_of(table, OVERALL)
    assert complete[("ann", "c0-0:north")] == 0.5
    assert math.isnan(complete[("ann", "c1-0:north")])  # an abstention
    assert ("ann", "c2-0:north") not in complete
    available = replace(OVERALL, missing="available", min_parts=2)
    assert list(scores_of(table, available).values()) == [0.5, 0.5, 0.25]
    strict = scores_of(table, replace(available, min_parts=3))
    assert not any(value == 0 for value in strict.values())


@pytest.mark.parametrize(
    ("statistic", "consensus"),
    [
        ("mean", "none"),
        ("mean", "mean"),
        ("standard_deviation", "none"),
        ("standard_deviation", "mean"),
        ("icc1", "none"),
        ("krippendorff_alpha", "none"),
    ],
)
def test_nothing_but_abstentions_has_no_number(statistic: str, consensus: Consensus):
    table = table_of().assign(value=math.nan)
    analysis = Analysis("a", statistic, "overall", "experts", consensus=consensus)
    estimate = row_of(analysis, table).estimate
    assert math.isnan(estimate.value)
    assert estimate.reason


def test_a_missing_judgement_of_a_part_bounds_the_score():
    table = judged()
    lost = (
        (table["rater"] == "judge-x")
        & (table["case"] == "c0")
        & (table["level"] == "0")
        & (table["criterion"] == "style")
    )
    data = data_of(table, (*RATERS, *JUDGES))
    ratings = [r for r, gone in zip(data.ratings, lost, strict=True) if not gone]
    analysis = Analysis("a", "mean", "overall", "judges", by=("rater",))
    results = run(
        [analysis],
        replace(data, ratings=ratings),
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
            scores=[OVERALL],
            planned=True,
        ),
    )
    [bounds] = results.bounds
    assert bounds.group == {"rater": "judge-x"}
    n = len(LEVELS) * len(SYSTEMS) * 8
    present = overall(table[~lost]).query("rater == 'judge-x'")["value"]
    assert (bounds.n_missing, bounds.n_given) == (2, n - 2)
    assert bounds.low == pytest.approx(present.sum() / n, abs=1e-12)
    assert bounds.high == pytest.approx((present.sum() + 2) / n, abs=1e-12)


def test_methods_state_how_the_score_is_made():
    analyses = [Analysis("a", "mean", "overall", "experts")]
    sentence = (
        "Composite score “overall”: the mean of 3 criteria (truth, depth and style) for each"
        " rater; missing if the rater did not rate a criterion or abstained."
    )
    assert sentence in results_of(analyses, table_of()).methods
    other = Analysis("b", "mean", "truth", "experts")
    assert not any("Composite score" in s for s in results_of([other], table_of()).methods)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"combine": "sum"}, "the sum of 3 criteria"),
        ({"combine": "minimum"}, "the minimum of 3 criteria"),
        (
            {"combine": "weighted", "weights": (2.0, 1.0, 1.0)},
            "the mean weighted by 2, 1, 1 of 3 criteria",
        ),
        (
            {"combine": "share", "at_least": 0.75},
            "the proportion with a value of 0.75 or more of 3 criteria",
        ),
        ({"combine": "share", "labels": ("1",)}, "the proportion with the label 1 of 3 criteria"),
        ({"missing": "available", "min_parts": 2}, "of the criteria available, at least 2."),
    ],
)
def test_methods_of_every_combination(changes: dict[str, object], words: str):
    score = replace(OVERALL, **changes)
    results = results_of([Analysis("a", "mean", "overall", "experts")], table_of(), [score])
    assert any(words in sentence for sentence in results.methods)


NOMINAL = Criterion("kind", "?", Scale(("cat", "dog", "cow")))
TEXT = Criterion("remark", "?", Scale(kind="text"))
OF_ITEM = Criterion("hard", "?", SCALE, "item")
PAIR = tuple(Criterion(f"pair-{n}", "?", SCALE, "pair") for n in range(2))
WIDE = Criterion("wide", "?", Scale(kind="number", level="interval", low=0, high=10))
GRAMS, MILLIGRAMS = (
    Criterion(unit, "?", Scale(kind="number", level="ratio", low=0, high=9, unit=unit))
    for unit in ("g", "mg")
)
RICH = Instrument("rich", (*FORM.criteria, NOMINAL, TEXT, OF_ITEM, *PAIR, WIDE, GRAMS, MILLIGRAMS))
OTHER = Instrument("other", (Criterion("else", "?", SCALE),))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"of": ("truth", "dept")}, "of: there is no criterion 'dept'; did you mean 'depth'?"),
        ({"of": ("truth",)}, "of: expected two or more different criteria, got ['truth']"),
        (
            {"of": ("truth", "truth")},
            "of: expected two or more different criteria, got ['truth', 'truth']",
        ),
        ({"id": "truth"}, "id: 'truth' is a criterion already; choose another"),
        (
            {"of": ("truth", "else")},
            "of: no instrument has all of these criteria: 'truth' in 'rich', 'else' in 'other'",
        ),
        (
            {"of": ("truth", "hard")},
            "of: the criteria are about different things (answer, item); expected one",
        ),
        (
            {"of": ("pair-0", "pair-1")},
            "of: criteria about a pair of answers make no score; expected those about one answer",
        ),
        ({"of": ("truth", "remark")}, "of: 'remark' is a free text and has no number"),
        (
            {"of": ("truth", "kind"), "combine": "sum"},
            "of: the labels of 'kind' have no order, so they are no numbers; expected combine ="
            " 'share' with labels",
        ),
        (
            {"of": ("truth", "wide")},
            "combine: 'mean' of criteria with different scales; expected 'weighted', 'sum' or"
            " 'share'",
        ),
        (
            {"of": ("g", "mg"), "combine": "minimum"},
            "combine: 'minimum' of criteria with different units; expected 'weighted', 'sum' or"
            " 'share'",
        ),
        (
            {"combine": "weighted", "weights": (1.0,)},
            "weights: expected 3, one for each of `of`, got 1",
        ),
        (
            {"combine": "weighted", "weights": (1.0, 0.0, 1.0)},
            "weights: expected numbers above 0, got [1.0, 0.0, 1.0]",
        ),
        (
            {"weights": (1.0, 1.0, 1.0)},
            "weights: belong to combine = 'weighted', not to 'mean'",
        ),
        (
            {"combine": "share"},
            "at_least: a share needs either the number from which on a label counts (at_least) or"
            " the labels that count (labels)",
        ),
        ({"at_least": 0.5}, "at_least: belongs to combine = 'share', not to 'mean'"),
        ({"labels": ("1",)}, "labels: belongs to combine = 'share', not to 'mean'"),
        (
            {"combine": "share", "labels": ("2",)},
            "labels: 'truth' has no label '2'; known: 0, 0.25, 0.5, 0.75, 1",
        ),
        (
            {"combine": "share", "at_least": 0.0},
            "at_least: every label of 'truth' reaches 0",
        ),
        ({"combine": "share", "at_least": 1.5}, "at_least: no label of 'truth' reaches 1.5"),
        ({"min_parts": 2}, "min_parts: belongs to missing = 'available', not to 'complete'"),
        (
            {"missing": "available", "min_parts": 4},
            "min_parts: expected a whole number from 1 to 3, got 4",
        ),
        (
            {"missing": "available", "combine": "sum"},
            "missing: 'available' would make the sum of fewer criteria comparable with that of"
            " all; expected 'complete', or combine = 'mean'",
        ),
    ],
)
def test_a_score_that_cannot_be_made(changes: dict[str, object], problem: str):
    score = replace(OVERALL, **changes)
    assert problem in list(score_problems(score, [RICH, OTHER]))


def test_scores_that_can_be_made():
    for score in (
        OVERALL,
        CompositeScore("a", ("truth", "wide"), "sum"),
        CompositeScore("a", ("truth", "wide"), "weighted", (10.0, 1.0)),
        CompositeScore("a", ("g", "mg"), "share", at_least=3),
        CompositeScore("a", PARTS, missing="available", min_parts=2),
    ):
        assert not list(score_problems(score, [RICH, OTHER]))


def test_a_run_refuses_a_score_that_cannot_be_made():
    score = replace(OVERALL, of=("truth", "dept"))
    with pytest.raises(AnalysisError, match="score 'overall': of: there is no criterion 'dept'"):
        results_of([Analysis("a", "mean", "truth", "experts")], table_of(), [score])


@pytest.mark.parametrize(
    ("score", "ends"),
    [
        (OVERALL, (0, 1)),
        (replace(OVERALL, combine="sum"), (0, 3)),
        (CompositeScore("overall", ("truth", "wide"), "sum"), (0, 11)),
        (CompositeScore("overall", ("truth", "wide"), "weighted", (1.0, 3.0)), (0, 7.75)),
        (
            CompositeScore(
                "overall", ("truth", "wide"), "weighted", (1.0, 3.0), missing="available"
            ),
            (0, 10),
        ),
        (CompositeScore("overall", ("g", "mg"), "share", at_least=3), (0, 1)),
    ],
)
def test_a_score_lies_between_the_ends_that_its_criteria_give_it(
    score: CompositeScore, ends: tuple[float, float]
):
    [rich, other] = with_scores([RICH, OTHER], [score])
    criterion = rich.criterion("overall")
    assert criterion is not None
    assert (criterion.scale.low, criterion.scale.high) == pytest.approx(ends)
    assert other == OTHER


@pytest.mark.parametrize(
    ("analysis", "problem"),
    [
        (
            Analysis("a", "cohen_kappa", "overall", "experts"),
            "criterion: 'overall' is a composite score, and 'cohen_kappa' is of labels; expected a"
            " criterion",
        ),
        (
            Analysis("a", "abstention", "overall", "experts"),
            "criterion: 'overall' is a composite score, and 'abstention' is of labels; expected a"
            " criterion",
        ),
        (
            Analysis("a", "mean", "overall", "experts", collapse={"1": "0"}),
            "collapse: 'overall' is a composite score and has no labels to recode",
        ),
        (
            Analysis("a", "mean", "overall", "experts", abstain="label"),
            "abstain: 'overall' is a composite score; abstentions are missing in it",
        ),
        (
            Analysis("a", "mean", "overall", "experts", consensus="majority"),
            "consensus: 'overall' is a composite score and has no majority; expected 'mean' or"
            " 'none'",
        ),
        (
            Analysis("a", "cohen_kappa_quadratic", "overall", "judges", against="experts"),
            "against: 'overall' is a composite score, and a panel has no majority of it; expected"
            " none",
        ),
        (
            Analysis(
                "a",
                "mismatch",
                "truth",
                "experts",
                against="judges",
                options=CaseOptions(criteria=("overall", "depth")),
            ),
            "criteria: 'overall' is a composite score, and 'mismatch' takes labels here; expected a"
            " criterion",
        ),
    ],
)
def test_what_cannot_be_asked_of_a_score(analysis: Analysis, problem: str):
    assert list(scored_problems(analysis, {"overall"})) == [problem]
    assert not list(scored_problems(analysis, set()))


def test_an_interval_of_a_mean_score_stays_within_its_ends():
    table = table_of(n_cases=4)
    table["value"] = 1.0
    table.loc[table.index[0], "value"] = 0.75
    rows = results_of([Analysis("a", "mean", "overall", "experts")], table).rows
    assert all(row.estimate.high <= 1 for row in rows)


def test_the_interval_of_a_standard_deviation_is_a_jackknife_of_its_logarithm():
    table = table_of()
    analysis = Analysis("a", "standard_deviation", "overall", "experts", cluster="case")
    estimate = row_of(analysis, table).estimate
    numbers = overall(table)
    logs = np.array(
        [
            math.log(numbers.loc[numbers["case"] != case, "value"].std(ddof=1))
            for case in sorted(numbers["case"].unique())
        ]
    )
    n = len(logs)
    gaps = logs - logs.mean()
    se = math.sqrt((n - 1) / n * (gaps**2).sum())
    kurtosis = (gaps**4).mean() / (gaps**2).mean() ** 2
    df = min(n - 1, 2 * n / (kurtosis - (n - 3) / (n - 1)))
    reach = stats.t.ppf(0.975, df) * se
    whole = numbers["value"].std(ddof=1)
    assert (estimate.low, estimate.high) == pytest.approx(
        (whole * math.exp(-reach), whole * math.exp(reach)), abs=1e-12
    )
    assert estimate.method.startswith("jackknife on the log scale (case-clustered), t with")
    as_published = row_of(replace(analysis, mode="paper"), table).estimate
    assert "bootstrap" in as_published.method


def test_methods_have_the_titles_of_score_and_criteria():
    titled = replace(
        FORM, criteria=tuple(replace(c, title=c.id.capitalize()) for c in FORM.criteria)
    )
    score = replace(OVERALL, title="Overall")
    analyses = [Analysis("a", "mean", "overall", "experts")]
    methods = results_of(analyses, table_of(), [score], form=titled).methods
    assert any("“Overall”: the mean of 3 criteria (Truth, Depth and Style)" in s for s in methods)


def test_methods_state_the_interval_of_standard_deviations():
    analysis = Analysis("a", "standard_deviation", "overall", "experts")
    sentence = "CIs of standard deviations are from a jackknife over clusters on the log scale."
    assert sentence in results_of([analysis], table_of()).methods
    mean = Analysis("a", "mean", "overall", "experts")
    assert sentence not in results_of([mean], table_of()).methods


def test_case_scores_stand_behind_a_fall_over_the_levels():
    table = table_of()
    analysis = Analysis(
        "fall", "reasoning_gap", "overall", "experts", options=CaseOptions(levels=LEVELS)
    )
    results = results_of([analysis], table)
    ours = {(c.system, c.case, c.level): c.value for c in results.case_scores}
    theirs = overall(table).groupby(["system", "case", "level"])["value"].mean().to_dict()
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert {c.analysis for c in results.case_scores} == {"fall"}
    lacking = table[~((table["case"] == "c0") & (table["level"] == "1"))]
    assert len(results_of([analysis], lacking).case_scores) == len(ours) - 2
