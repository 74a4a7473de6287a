"""Published verdicts of judges: imported as ratings of kind llm, their published agreement with
people found again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.analysis.model.rows import Row
from konsil.api import Folder

Data = Callable[[str], Path]

MTBENCH = """
title = "MT-Bench: GPT-4's verdicts beside people's"
seed = 2306
resampling = { draws = 100 }

[[instruments]]
id = "comparison"
unit = "pair"

[[instruments.criteria]]
id = "better"
question = "Which of the two conversations is better?"
scope = "pair"
scale = { labels = ["A", "B"], abstain = "tie" }

[[sources]]
file = "human.jsonl"
records = "items"
columns = { item = ["question_id", "turn"], case = "question_id" }
strata = ["turn"]

[[sources]]
file = "gpt4_pair.jsonl"
records = "items"
columns = { item = ["question_id", "turn"], case = "question_id" }
strata = ["turn"]

[[sources]]
file = "human.jsonl"
records = "ratings"
columns = { rater = "judge", item = ["question_id", "turn"], system_a = "model_a", system_b = "model_b", \
label = "winner" }
fixed = { criterion = "better" }
labels = { model_a = "A", model_b = "B" }

[[sources]]
file = "gpt4_pair.jsonl"
records = "ratings"
columns = { rater = "judge", item = ["question_id", "turn"], system_a = "model_a", system_b = "model_b", \
label = "winner" }
fixed = { criterion = "better" }
labels = { model_a = "A", model_b = "B", "tie (inconsistent)" = "tie" }

[[analyses]]
name = "against the experts' majority"
statistic = "percent_agreement"
criterion = "better"
raters = "gpt-4"
against = "experts"
mode = "paper"
by = ["turn"]
cluster = "case"
"""


def written(path: Path, protocol: str, raters: Iterable[tuple[str, str, str]]) -> Folder:
    listed = "".join(
        f'\n[[raters]]\nid = "{r}"\npanel = "{p}"\nkind = "{k}"\n' for r, p, k in raters
    )
    (path / "study.toml").write_text(protocol + listed, "utf-8")
    folder = konsil.open(path)
    folder.import_sources()
    return folder


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def estimates(folder: Folder) -> dict[str, list[Row]]:
    """Analysis -> its estimates."""
    found: dict[str, list[Row]] = {}
    for row in folder.results().rows:
        if row.kind == "estimate":
            found.setdefault(row.analysis, []).append(row)
    return found


@pytest.fixture(scope="module")
def mtbench(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    source = data("mtbench_human_judgments") / "data" / "snapshots" / "mtbench"
    path = tmp_path_factory.mktemp("mtbench")
    for name in ("human.jsonl", "gpt4_pair.jsonl"):
        (path / name).write_bytes((source / name).read_bytes())
    people = sorted({row["judge"] for row in lines(path / "human.jsonl")})
    panels = [(p, "experts" if p.startswith("expert") else "authors", "human") for p in people]
    return written(path, MTBENCH, [*panels, ("gpt4_pair", "gpt-4", "llm")])


def votes(folder: Folder) -> pl.DataFrame:
    """Every expert's vote and GPT-4's on one comparison; a tie is a label of its own here."""
    frame = folder.ratings().filter(pl.col("panel").is_in(["experts", "gpt-4"]))
    label = pl.when(pl.col("state") == "abstained").then(pl.lit("tie")).otherwise(pl.col("label"))
    return frame.select("case", "turn", "item", "answers", "rater", "panel", label.alias("vote"))


def with_gpt4(found: pl.DataFrame) -> pl.DataFrame:
    """One row a vote: the expert's beside GPT-4's."""
    key = ["case", "turn", "item", "answers"]
    judge = found.filter(pl.col("panel") == "gpt-4").select(*key, pl.col("vote").alias("gpt-4"))
    people = found.filter(pl.col("panel") == "experts").rename({"vote": "expert"})
    return people.join(judge, on=key).with_row_index("unit")


def with_each_other(found: pl.DataFrame) -> pl.DataFrame:
    """One row two votes of experts on one comparison."""
    people = found.filter(pl.col("panel") == "experts").sort("rater")
    rows = [
        {"case": case, "turn": turn, "expert": a, "other": b}
        for (case, turn, *_), part in people.group_by(
            "case", "turn", "item", "answers", maintain_order=True
        )
        for a, b in combinations(part["vote"].to_list(), 2)
    ]
    return pl.DataFrame(rows).with_row_index("unit")


def test_mtbench_votes_come_in_whichever_way_round_they_were_shown(mtbench: Folder) -> None:
    with mtbench.store() as store:
        counts = store.counts()
        held = store.batch()
    assert counts["ratings"] == 3355 + 2400
    assert counts["items"] == 160
    assert {r.kind for r in held.raters if r.panel == "gpt-4"} == {"llm"}
    assert all(r.answers[0] < r.answers[1] for r in held.ratings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "ties", "gpt4", "n_gpt4", "people", "n_people"),
    [
        ("1", True, "66", 1343, "63", 721),
        ("1", False, "85", 859, "81", 479),
        ("2", True, "66", 1325, "67", 707),
        ("2", False, "85", 864, "82", 474),
    ],
)
def test_mtbench_agreement_of_gpt4_with_people_and_of_people(
    mtbench: Folder, turn: str, ties: bool, gpt4: str, n_gpt4: int, people: str, n_people: int
) -> None:
    """Zheng et al. 2023, Table 5: setup S1 with ties, S2 without; votes are pooled, as the paper
    does."""
    found = votes(mtbench).filter(pl.col("turn") == turn)
    if not ties:
        found = found.filter(pl.col("vote") != "tie")
    for frame, pair, share, n in (
        (with_gpt4(found), ["gpt-4", "expert"], gpt4, n_gpt4),
        (with_each_other(found), ["expert", "other"], people, n_people),
    ):
        labels = ["A", "B", "tie"] if ties else ["A", "B"]
        told = konsil.agreement(
            frame,
            layout="wide",
            unit="unit",
            rater=pair,
            cluster="case",
            labels=labels,
            resamples=100,
        )
        assert told.n_units == n
        agreed = told["percent_agreement"]
        assert f"{100 * agreed.value:.0f}" == share
        # Votes on one question are not independent: the interval is of questions.
        assert agreed.n_clusters <= 80
        assert agreed.low < agreed.value < agreed.high


@pytest.mark.slow
def test_mtbench_against_the_majority_by_hand(mtbench: Folder) -> None:
    by_unit: dict[tuple[str, str], list[str]] = {}
    judge: dict[tuple[str, str], str] = {}
    for item, answers, panel, vote in (
        votes(mtbench).select("item", "answers", "panel", "vote").iter_rows()
    ):
        if vote == "tie":
            continue
        if panel == "gpt-4":
            judge[item, answers] = vote
        else:
            by_unit.setdefault((item, answers), []).append(vote)
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for unit, given in by_unit.items():
        label, n = Counter(given).most_common(1)[0]
        if 2 * n > len(given) and unit in judge:
            turn = unit[0].split(" / ")[1]
            every[turn] += 1
            right[turn] += judge[unit] == label
    rows = {
        r.group["turn"]: r.estimate for r in estimates(mtbench)["against the experts' majority"]
    }
    assert {turn: e.value for turn, e in rows.items()} == {
        t: pytest.approx(right[t] / every[t]) for t in ("1", "2")
    }


PANDALM = """
title = "PandaLM's test set: two judges beside three annotators"
seed = 2306
resampling = { draws = 100 }

[[instruments]]
id = "comparison"
unit = "pair"

[[instruments.criteria]]
id = "better"
question = "Which response is better?"
scope = "pair"
scale = { labels = ["A", "tie", "B"] }

[[sources]]
file = "verdicts.jsonl"
records = "items"
columns = { item = "idx", text = "question", case = "question" }
hashed = ["case"]

[[sources]]
file = "verdicts.jsonl"
records = "ratings"
columns = { item = "idx" }
fixed = { criterion = "better" }
raters = { annotator1 = "annotator-1", annotator2 = "annotator-2", annotator3 = "annotator-3", \
gpt_result = "gpt-3.5-turbo", pandalm_result = "pandalm-7b" }
labels = { 1 = "A", 2 = "B", 0 = "tie", Tie = "tie" GARBAGE }
MISSING

[[analyses]]
name = "accuracy"
statistic = "percent_agreement"
criterion = "better"
raters = "judges"
against = "annotators"
mode = "paper"
by = ["rater"]
cluster = "case"

[[analyses]]
name = "annotators"
statistic = "cohen_kappa"
criterion = "better"
raters = "annotators"
by = ["rater_pair"]
cluster = "case"
"""
JUDGES = ("gpt-3.5-turbo", "pandalm-7b")
KEPT = (
    "idx",
    "question",
    "system_a",
    "system_b",
    "annotator1",
    "annotator2",
    "annotator3",
    "gpt_result",
    "pandalm_result",
)


def pandalm(data: Data, path: Path, *, garbage: bool) -> Folder:
    """The three files side by side; a reply that is no verdict counts as a tie, as published, or is
    missing."""
    source = data("pandalm_testset") / "data"
    names = ("testset-v1.json", "gpt-3.5-turbo-testset-v1.json", "pandalm-7b-testset-v1.json")
    rows = []
    for parts in zip(
        *(json.loads((source / name).read_text("utf-8")) for name in names), strict=True
    ):
        assert len({p["idx"] for p in parts}) == 1
        row = {k: v for p in parts for k, v in p.items()}
        row["question"] = f"{row['instruction']}\n\n{row['input']}".strip()
        row["system_a"], row["system_b"] = row["cmp_key"].split("_")
        rows.append({k: row[k] for k in KEPT})
    (path / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    protocol = PANDALM.replace("GARBAGE", ', garbage = "tie"' if garbage else "")
    protocol = protocol.replace("MISSING", "" if garbage else 'missing = ["garbage"]')
    people = [(f"annotator-{n}", "annotators", "human") for n in (1, 2, 3)]
    return written(path, protocol, [*people, *((j, "judges", "llm") for j in JUDGES)])


def macro(folder: Folder, judge: str) -> tuple[float, float, float]:
    """Macro-averaged precision, recall and F1 against the majority, from the imported ratings."""
    long = folder.ratings()
    people = (
        long.filter(pl.col("panel") == "annotators")
        .group_by("item")
        .agg(pl.col("label").mode().alias("meant"))
    )
    both = people.explode("meant").join(
        long.filter(pl.col("rater") == judge).select("item", "label"), on="item"
    )
    assert both.height == people.height
    parts = []
    for label in ("A", "tie", "B"):
        said, meant = both["label"] == label, both["meant"] == label
        hit = (said & meant).sum()
        precision, recall = hit / said.sum(), hit / meant.sum()
        parts.append((precision, recall, 2 * precision * recall / (precision + recall)))
    precision, recall, f1 = (sum(p) / 3 for p in zip(*parts, strict=True))
    return precision, recall, f1


@pytest.mark.slow
def test_pandalm_accuracy_and_f1_of_the_judges(data: Data, tmp_path: Path) -> None:
    """The figures beside the published script of the metrics, and the README's kappas of the
    annotators."""
    folder = pandalm(data, tmp_path, garbage=True)
    told = estimates(folder)
    accuracy = {r.group["rater"]: r.estimate for r in told["accuracy"]}
    assert {j: f"{e.value:.4f}" for j, e in accuracy.items()} == {
        "gpt-3.5-turbo": "0.7107",
        "pandalm-7b": "0.6677",
    }
    # The 999 comparisons are about 170 questions, and those of one question are not independent.
    assert {r.n_units for r in told["accuracy"] if r.kind == "estimate"} == {999}
    # The judge's ratings and those of three people, whose majority is the standard.
    assert {(e.n_ratings, e.n_clusters) for e in accuracy.values()} == {(4 * 999, 170)}
    published = {"gpt-3.5-turbo": "0.5879 0.5736 0.5755", "pandalm-7b": "0.5738 0.5750 0.5743"}
    assert {j: " ".join(f"{v:.4f}" for v in macro(folder, j)) for j in JUDGES} == published
    pairs = {r.group["raters"]: f"{r.estimate.value:.2f}" for r in told["annotators"]}
    assert pairs == {
        "pair:annotator-1:annotator-2": "0.85",
        "pair:annotator-1:annotator-3": "0.88",
        "pair:annotator-2:annotator-3": "0.86",
    }


@pytest.mark.slow
def test_pandalm_replies_without_a_verdict_are_missing_unless_one_calls_them_ties(
    data: Data, tmp_path: Path
) -> None:
    folder = pandalm(data, tmp_path, garbage=False)
    found = {r.group["rater"]: r for r in estimates(folder)["accuracy"]}
    assert found["gpt-3.5-turbo"].n_units == 999 - 25
    assert f"{found['gpt-3.5-turbo'].estimate.value:.4f}" == "0.7156"
    assert f"{found['pandalm-7b'].estimate.value:.4f}" == "0.6677"


LLMBAR = """
title = "LLMBar: evaluators in both orders"
seed = 2310
resampling = { draws = 100 }

[[instruments]]
id = "comparison"
unit = "pair"

[[instruments.criteria]]
id = "follows"
question = "Which output follows the instruction better?"
scope = "pair"
scale = { labels = ["A", "B"] }

[[sources]]
file = "verdicts.jsonl"
records = "items"
strata = ["set"]

[[sources]]
file = "verdicts.jsonl"
records = "ratings"
columns = { COLUMNS }
fixed = { criterion = "follows" }
ANALYSES
"""
ACCURACY = """
[[analyses]]
name = "accuracy, {order}"
statistic = "percent_agreement"
criterion = "follows"
raters = "evaluators"
against = "authors"
mode = "paper"
where = {{ arm = ["{order}", "gold"] }}
by = ["rater", "set"]
"""
CONSISTENCY = """
[[analyses]]
name = "consistency"
statistic = "self_agreement"
criterion = "follows"
raters = "evaluators"
by = ["rater", "set"]
"""
SETS = {"Natural": "Natural", "Manual": "Adversarial/Manual"}
EVALUATORS = ("ChatGPT", "ChatGPT-0301", "Falcon", "GPT-4", "LLaMA2", "PaLM2")


def llmbar_rows(source: Path) -> Iterator[dict[str, object]]:
    """Every verdict as the evaluator gave it: on what it was shown first and second. The files have
    it turned back."""
    for name, place in SETS.items():
        for evaluator in EVALUATORS:
            found = json.loads(
                (source / place / "evaluators" / evaluator / "Vanilla" / "result.json").read_text(
                    "utf-8"
                )
            )
            for n, one in enumerate(found):
                shared = {"item": f"{name}-{n}", "set": name}
                if evaluator == EVALUATORS[0]:
                    yield {
                        **shared,
                        "rater": "gold",
                        "arm": "gold",
                        "time": 1,
                        "system_a": "output-1",
                        "system_b": "output-2",
                        "label": "AB"[one["label"] - 1],
                    }
                for time, (order, (first, second)) in enumerate(
                    {"as given": ("1", "2"), "swapped": ("2", "1")}.items(), start=1
                ):
                    winner = one["results"][-1][f"swap = {order == 'swapped'}"]["winner"]
                    label = None if winner is None else "A" if winner == first else "B"
                    yield {
                        **shared,
                        "rater": evaluator,
                        "arm": order,
                        "time": time,
                        "system_a": f"output-{first}",
                        "system_b": f"output-{second}",
                        "label": label,
                    }


@pytest.fixture(scope="module")
def llmbar(data: Data) -> Path:
    return data("llmbar_position_swap") / "Dataset" / "LLMBar"


def published(llmbar: Path, name: str, evaluator: str) -> dict[str, str]:
    path = llmbar / SETS[name] / "evaluators" / evaluator / "Vanilla" / "statistics.json"
    told: dict[str, str] = json.loads(path.read_text("utf-8"))
    return told


def llmbar_study(llmbar: Path, path: Path, columns: str, analyses: str) -> Folder:
    rows = "".join(json.dumps(row) + "\n" for row in llmbar_rows(llmbar))
    (path / "verdicts.jsonl").write_text(rows, "utf-8")
    protocol = LLMBAR.replace("COLUMNS", columns).replace("ANALYSES", analyses)
    return written(
        path,
        protocol,
        [("gold", "authors", "human"), *((e, "evaluators", "llm") for e in EVALUATORS)],
    )


@pytest.mark.slow
def test_llmbar_accuracy_in_either_order(llmbar: Path, tmp_path: Path) -> None:
    """statistics.json: correct verdicts in the order given and swapped; a reply without a verdict
    is no correct one."""
    orders = {"as given": "correct_False", "swapped": "correct_True"}
    folder = llmbar_study(llmbar, tmp_path, "", "".join(ACCURACY.format(order=o) for o in orders))
    told, seen = estimates(folder), 0
    for order, key in orders.items():
        for row in told[f"accuracy, {order}"]:
            right, every = (
                published(llmbar, row.group["set"], row.group["rater"])[key]
                .split(" = ")[0]
                .split(" / ")
            )
            rated = row.n_units
            assert rated == int(every) or row.group["rater"] == "PaLM2"
            assert row.estimate.value * rated == pytest.approx(int(right))
            seen += 1
    assert seen == 2 * len(SETS) * len(EVALUATORS)


@pytest.mark.slow
def test_llmbar_positional_agreement(llmbar: Path, tmp_path: Path) -> None:
    """statistics.json: how often both orders have the same winner, and Cohen's kappa of the two
    orders.

    It counts two replies without a verdict as agreeing; here neither is a rating. Only PaLM2 has
    any."""
    folder = llmbar_study(llmbar, tmp_path, 'repeat = "time", arm = []', CONSISTENCY)
    rows, long = estimates(folder)["consistency"], folder.ratings()
    assert len(rows) == len(SETS) * len(EVALUATORS)
    for row in rows:
        told = published(llmbar, row.group["set"], row.group["rater"])
        same, every = (int(n) for n in told["equal"].split(" = ")[0].split(" / "))
        silent = every - row.estimate.n_ratings
        assert silent == {("PaLM2", "Manual"): 1, ("PaLM2", "Natural"): 2}.get(
            (row.group["rater"], row.group["set"]), 0
        )
        assert row.estimate.value == pytest.approx((same - silent) / (every - silent))
        if silent:
            continue
        mine = long.filter(
            (pl.col("rater") == row.group["rater"]) & (pl.col("set") == row.group["set"])
        )
        wide = mine.pivot("purpose", index="item", values="label")
        kappa = konsil.agreement(
            wide,
            layout="wide",
            unit="item",
            rater=["main", "repeat"],
            labels=["A", "B"],
            resamples=100,
        )["cohen_kappa"]
        assert kappa.value == pytest.approx(float(told["kappa_agreement"]))
