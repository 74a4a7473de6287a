"""K-QA: three physicians say whether an answer entails a claim; from the authors' table to a
report.

Manes et al., K-QA: A Real-World Medical Q&A Benchmark, BioNLP 2024. Items are claims on a question,
the answers are those of four language models; identifiers are digests, because the table has only
texts."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.analysis import Results
from konsil.api import Folder

LABELS = ("Contradiction", "Neutral", "Entailment")
PROTOCOL = """
title = "Claims entailed by answers"
seed = 2024
resampling = { draws = 500 }

[[instruments]]
id = "entailment"

[[instruments.criteria]]
id = "entails"
question = "Does the answer entail the claim, contradict it, or neither?"
scale = { labels = ["Contradiction", "Neutral", "Entailment"] }

[[raters]]
id = "physician-0"
panel = "physicians"
[[raters]]
id = "physician-1"
panel = "physicians"
[[raters]]
id = "physician-2"
panel = "physicians"

[[sources]]
file = "NLI_medical_annotator.csv"
records = "items"
columns = { item = ["Question", "claim"], text = "claim", case = "Question" }
hashed = ["item", "case"]
strata = ["category_x"]

[[sources]]
file = "NLI_medical_annotator.csv"
records = "ratings"
columns = { item = ["Question", "claim"], system = "llm_x", answer = [] }
hashed = ["item"]
fixed = { criterion = "entails" }
raters = { label_0 = "physician-0", label_1 = "physician-1", label_2 = "physician-2" }
missing = [""]

[[analyses]]
name = "fleiss"
statistic = "fleiss_kappa"
criterion = "entails"
raters = "physicians"
cluster = "case"

[[analyses]]
name = "alpha"
statistic = "krippendorff_alpha"
criterion = "entails"
raters = "physicians"
cluster = "case"

[[analyses]]
name = "entailed"
statistic = "share"
of = ["Entailment"]
criterion = "entails"
raters = "physicians"
consensus = "majority"
by = "system"
cluster = "case"

[[analyses]]
name = "contradicted"
statistic = "share"
of = ["Contradiction"]
criterion = "entails"
raters = "physicians"
consensus = "majority"
by = "system"
cluster = "case"
"""


@pytest.fixture(scope="module")
def source(data: Callable[[str], Path]) -> Path:
    return data("kqa") / "dataset" / "NLI_medical_annotator.csv"


@pytest.fixture(scope="module")
def table(source: Path) -> list[dict[str, str]]:
    with source.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    path = tmp_path_factory.mktemp("kqa")
    shutil.copy(source, path)
    (path / "study.toml").write_text(PROTOCOL, encoding="utf-8")
    opened = konsil.open(path)
    opened.import_sources()
    return opened


@pytest.fixture(scope="module")
def results(folder: Folder) -> Results:
    return folder.results()


def test_every_label_came_in_with_its_answer(folder: Folder, table: list[dict[str, str]]) -> None:
    with folder.store() as store:
        counts = store.counts()
        items = store.items()
    assert counts["ratings"] == 3 * len(table) == 1197
    assert counts["items"] == counts["answers"] == len(table)
    assert len({i.case for i in items}) == len({r["Question"] for r in table}) == 50
    assert Counter(i.strata["category_x"] for i in items) == Counter(r["category_x"] for r in table)


def test_our_majority_of_each_claim_is_the_published_one(
    folder: Folder, table: list[dict[str, str]]
) -> None:
    published = {(r["claim"], r["llm_x"]): r["majority_label"] for r in table}
    with folder.store() as store:
        claims = {i.id: i.text for i in store.items()}
    long = folder.ratings()
    counted = long.group_by("item", "system", "label").len()
    ours = {
        (claims[item], system): label for item, system, label, n in counted.iter_rows() if 2 * n > 3
    }
    assert ours == published


def test_the_shares_of_the_majorities_are_the_published_ones(
    results: Results, table: list[dict[str, str]]
) -> None:
    for analysis, label in (("entailed", "Entailment"), ("contradicted", "Contradiction")):
        rows = [r for r in results.rows if r.analysis == analysis and r.kind == "estimate"]
        assert {r.group["system"] for r in rows} == {"gpt35", "gpt4", "bard", "askk"}
        for row in rows:
            mine = [r["majority_label"] for r in table if r["llm_x"] == row.group["system"]]
            assert row.estimate.value == pytest.approx(mine.count(label) / len(mine))
            assert row.estimate.n_ratings == len(mine)


def test_fleiss_kappa_and_alpha_by_hand(results: Results, table: list[dict[str, str]]) -> None:
    units = [Counter(r[f"label_{n}"] for n in range(3)) for r in table]
    agree = sum(sum(c * (c - 1) for c in u.values()) / 6 for u in units) / len(units)
    total = Counter(r[f"label_{n}"] for r in table for n in range(3))
    n = total.total()
    chance = sum((c / n) ** 2 for c in total.values())
    values = {r.analysis: r.estimate for r in results.rows if r.kind == "estimate"}
    assert values["fleiss"].value == pytest.approx((agree - chance) / (1 - chance))
    expected = sum(a * b for x, a in total.items() for y, b in total.items() if x != y) / (
        n * (n - 1)
    )
    assert values["alpha"].value == pytest.approx(1 - (1 - agree) / expected)
    assert values["alpha"].n_clusters == 50
    assert values["fleiss"].low < values["fleiss"].value < values["fleiss"].high


def test_the_command_without_a_study_says_the_same(source: Path, results: Results) -> None:
    frame = pl.read_csv(source)
    found = konsil.agreement(
        frame,
        rater=["label_0", "label_1", "label_2"],
        cluster="Question",
        labels=LABELS,
        resamples=200,
    )
    values = {r.analysis: r.estimate.value for r in results.rows if r.kind == "estimate"}
    assert found["fleiss_kappa"].value == pytest.approx(values["fleiss"])
    assert found["krippendorff_alpha"].value == pytest.approx(values["alpha"])
    assert found["fleiss_kappa"].n_clusters == 50


@pytest.mark.slow
def test_the_report_is_written(folder: Folder) -> None:
    page = folder.report().read_text(encoding="utf-8")
    assert "Claims entailed by answers" in page
    assert "Fleiss" in page
