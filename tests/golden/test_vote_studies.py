"""Two published sets of votes as whole studies: imported, analysed and reported, with the numbers
of the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from konsil.analysis import Results
from konsil.analysis.standalone.preference_table import preference
from konsil.api import open_folder
from konsil.report import Section

Data = Callable[[str], Path]

PROTOCOL = """
title = "{title}"
seed = 1

[[instruments]]
id = "pairs"
unit = "pair"

[[instruments.criteria]]
id = "better"
question = "Which answer is better?"
scope = "pair"

[instruments.criteria.scale]
kind = "choice"
level = "ordinal"
labels = ["A is better", "about equal", "B is better"]

[[sources]]
file = "people.csv"
records = "ratings"
fixed = {{ criterion = "better" }}

[sources.labels]
first = "A is better"
tie = "about equal"
second = "B is better"

[[sources]]
file = "judge.csv"
records = "ratings"
fixed = {{ criterion = "better" }}

[sources.labels]
first = "A is better"
tie = "about equal"
second = "B is better"

{raters}

[resampling]
draws = 500
"""
ANALYSES = (
    ("wins", "win_difference", "people", ""),
    ("rates", "win_rate", "people", ""),
    ("worths", "davidson", "people", ""),
    ("bt", "bradley_terry", "people", ""),
    ("agreement", "choice_agreement", "people", ""),
    ("judge", "win_difference", "judges", 'by = ["rater"]'),
    ("rankings", "rank_agreement", "judges", 'against = "people"'),
)


def study(
    folder: Path, title: str, people: pl.DataFrame, judge: pl.DataFrame, skip: tuple[str, ...] = ()
) -> Path:
    folder.mkdir()
    people.write_csv(folder / "people.csv")
    judge.write_csv(folder / "judge.csv")
    named = [(r, "people", "human") for r in sorted(people["rater"].unique())]
    named += [(r, "judges", "llm") for r in sorted(judge["rater"].unique())]
    raters = "\n".join(
        f'[[raters]]\nid = "{r}"\npanel = "{panel}"\nkind = "{kind}"' for r, panel, kind in named
    )
    text = PROTOCOL.format(title=title, raters=raters)
    for name, statistic, panel, more in ANALYSES:
        if name not in skip:
            text += (
                f'\n[[analyses]]\nname = "{name}"\nstatistic = "{statistic}"\ncriterion ='
                ' "better"\n'
            )
            text += f'raters = "{panel}"\n{more}\n'
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


def columns(
    frame: pl.DataFrame, item: str, rater: str | pl.Expr, first: str, second: str
) -> pl.DataFrame:
    word = pl.col("winner").str.to_lowercase()
    outcome = (
        pl.when(word.str.starts_with("tie"))
        .then(pl.lit("tie"))
        .when(word.is_in(["left", "model_a"]))
        .then(pl.lit("first"))
        .otherwise(pl.lit("second"))
    )
    who = pl.col(rater) if isinstance(rater, str) else rater
    return frame.select(
        pl.col(item).cast(pl.String).alias("item"),
        who.cast(pl.String).alias("rater"),
        pl.col(first).alias("system_a"),
        pl.col(second).alias("system_b"),
        outcome.alias("label"),
    )


def told(folder: Path, people: pl.DataFrame) -> dict[str, list]:
    opened = open_folder(folder)
    opened.import_sources()
    computed: list[Results] = []

    def remember(results: Results) -> tuple[Section, ...]:
        computed.append(results)
        return ()

    page = opened.report(extras=remember)
    assert page.stat().st_size > 100_000
    assert "Win difference" in page.read_text("utf-8")
    [results] = computed
    rows = [r for r in results.rows if r.kind == "estimate"]
    plain = preference(
        people, item="item", first="system_a", second="system_b", outcome="label", resamples=200
    )
    wins = {one["system"]: one for one in plain.win_difference}
    mine = [r for r in rows if r.analysis == "wins"]
    assert len(mine) == len(wins)
    for r in mine:
        one = wins[r.group["system"]]
        assert abs(r.estimate.value - one["value"]) < 1e-12
        assert abs(r.estimate.low - one["low"]) < 1e-9
    logs = {one["system"]: one["log_worth"] for one in plain.davidson["worths"]}
    for r in rows:
        if r.analysis == "worths":
            assert abs(r.estimate.value - logs[r.group["system"]]) < 1e-8
    return {name: [r for r in rows if r.analysis == name] for name, *_ in ANALYSES}


@pytest.mark.slow
def test_mt_bench(data: Data, tmp_path: Path) -> None:
    folder = data("mtbench_human_judgments") / "data" / "snapshots" / "mtbench"
    item = pl.concat_str("question_id", pl.lit("-"), "turn").alias("asked")
    frames = [
        pl.read_ndjson(folder / name).with_columns(item)
        for name in ("human.jsonl", "gpt4_pair.jsonl")
    ]
    people, judge = (
        columns(f, "asked", who, "model_a", "model_b").unique(
            ["item", "rater", "system_a", "system_b"], maintain_order=True
        )
        for f, who in zip(frames, ("judge", pl.lit("gpt-4 as a judge")), strict=True)
    )
    rows = told(study(tmp_path / "mt", "MT-Bench", people, judge), people)
    best = max(rows["wins"], key=lambda r: r.estimate.value)
    assert best.group["system"] == "gpt-4"
    assert 0.5 < rows["agreement"][0].estimate.value <= 1
    assert rows["rankings"][0].estimate.value > 0.5
    assert all(r.estimate.method.startswith("item-cluster bootstrap") for r in rows["judge"])


@pytest.mark.slow
def test_llmfao(data: Data, tmp_path: Path) -> None:
    folder = data("llmfao_crowd_pairwise")
    crowd = pl.read_csv(folder / "crowd-comparisons.csv", infer_schema=False)
    judge = pl.read_csv(folder / "gpt4-crowd-comparisons.csv", infer_schema=False)
    ours = columns(crowd, "prompt", pl.concat_str(pl.lit("w"), "worker"), "left", "right")
    theirs = columns(judge, "prompt", pl.lit("gpt-4 as a judge"), "left", "right")
    keys = ["item", "rater", "system_a", "system_b"]
    people, judged = (f.unique(keys, maintain_order=True) for f in (ours, theirs))
    rows = told(study(tmp_path / "llmfao", "LLMFAO", people, judged, skip=("rates",)), people)
    assert len(rows["wins"]) == 59
    assert rows["rankings"][0].estimate.value > 0
