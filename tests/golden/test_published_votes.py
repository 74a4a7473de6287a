"""Published scores of real and invented votes: evalica's counting, win rates, Elo, Bradley-Terry
and Newman."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.stats.pairs.ranking_baselines import average_win_rate, counting, elo

from konsil.analysis.standalone.preference_table import preference
from konsil.stats.pairs.bradley_terry_davidson import fit
from konsil.stats.pairs.votes import totals, votes
from konsil.stats.pairs.worth_designs import design

FILES = {
    "simple": ("evalica_golden", "simple.csv"),
    "food": ("evalica_golden", "food.csv"),
    "llmfao": ("llmfao_crowd_pairwise", "crowd-comparisons.csv"),
}
Data = Callable[[str], Path]
OUTCOME = {"left": 1, "right": -1, "tie": 0}


def table(data: Data, name: str) -> tuple[list[str], list[int], list[int], list[int]]:
    folder, file = FILES[name]
    frame = pl.read_csv(data(folder) / file, infer_schema=False)
    systems = sorted({*frame["left"], *frame["right"]})
    number = {s: n for n, s in enumerate(systems)}
    columns = ([number[s] for s in frame[side]] for side in ("left", "right"))
    first, second = columns
    return systems, first, second, [OUTCOME[word] for word in frame["winner"]]


def published(data: Data, name: str, algorithm: str, systems: list[str]) -> np.ndarray:
    frame = pl.read_csv(
        data("evalica_golden") / f"{name}-golden.csv", schema_overrides={"item": pl.String}
    )
    score = dict(frame.filter(pl.col("algorithm") == algorithm).select("item", "score").iter_rows())
    return np.array([score[s] for s in systems])


@pytest.mark.parametrize("name", FILES)
def test_published_scores(data: Data, name: str):
    systems, first, second, outcome = table(data, name)
    k, n = len(systems), len(first)
    cells = totals(votes(first, second, outcome, np.arange(n), np.zeros(n), n_systems=k))
    np.testing.assert_allclose(
        counting(cells, k), published(data, name, "counting", systems), rtol=1e-12
    )
    np.testing.assert_allclose(
        average_win_rate(cells, k), published(data, name, "average_win_rate", systems), rtol=1e-9
    )
    np.testing.assert_allclose(
        elo(first, second, outcome, k), published(data, name, "elo", systems), rtol=1e-9
    )
    # Worths have no scale of their own; theirs stop iterating at 1e-6.
    for algorithm, model in (("bradley_terry", "bradley_terry"), ("newman", "davidson")):
        theirs = np.log(published(data, name, algorithm, systems))
        ours = fit(cells, design(k, 1, model)).log_worths
        np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=2e-4, err_msg=algorithm)


def test_the_crowd_of_llmfao_by_the_command(data: Data):
    frame = pl.read_csv(data("llmfao_crowd_pairwise") / "crowd-comparisons.csv", infer_schema=False)
    found = preference(
        frame, item="prompt", rater="worker", first="left", second="right", resamples=200
    )
    assert (len(found.systems), found.n_comparisons, found.n_items, found.n_raters) == (
        59,
        8931,
        13,
        124,
    )
    theirs = np.log(published(data, "llmfao", "newman", list(found.systems)))
    ours = np.array([one["log_worth"] for one in found.davidson["worths"]])
    np.testing.assert_allclose(ours, theirs - theirs.mean(), atol=2e-4)


def test_mt_bench_by_people_and_by_a_judge(data: Data):
    """Zheng et al. 2023: GPT-4 first, LLaMA last; ties, 65 human raters and one judge with verdicts
    of both orders."""
    folder = data("mtbench_human_judgments") / "data" / "snapshots" / "mtbench"
    people = preference(pl.read_ndjson(folder / "human.jsonl"), resamples=500)
    assert (people.n_comparisons, people.n_items, people.n_raters) == (3355, 80, 65)
    order = sorted(people.win_difference, key=lambda one: -one["value"])
    assert (order[0]["system"], order[-1]["system"]) == ("gpt-4", "llama-13b")
    frame = pl.read_ndjson(folder / "human.jsonl")
    both = frame.filter(
        pl.col("model_a").is_in(["gpt-4", "llama-13b"])
        & pl.col("model_b").is_in(["gpt-4", "llama-13b"])
    )
    won = (
        pl.when(pl.col("winner") == "model_a")
        .then(pl.col("model_a"))
        .when(pl.col("winner") == "model_b")
    )
    winner = both.select(won.then(pl.col("model_b")).otherwise(pl.lit("tie"))).to_series()
    rate = next(o for o in people.win_rate if (o["system"], o["rival"]) == ("gpt-4", "llama-13b"))
    assert abs(rate["value"] - (winner == "gpt-4").sum() / both.height) < 1e-12
    judge = pl.read_ndjson(folder / "gpt4_pair.jsonl")
    words = judge["winner"].unique().to_list()
    judged = preference(
        judge.with_columns(
            pl.when(pl.col("winner").str.starts_with("tie"))
            .then(pl.lit("tie"))
            .otherwise("winner")
            .alias("winner")
        ),
        rater="-",
        # Both turns of a conversation are pooled, as published.
        where={"turn": ["1", "2"]},
        resamples=200,
    )
    assert "tie" in {w[:3] for w in words}
    assert max(judged.win_difference, key=lambda one: one["value"])["system"] == "gpt-4"
