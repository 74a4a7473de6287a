"""Three cardiologists, three systems, four criteria: from the authors' spreadsheet to a report with
their numbers.

Pierri, Evaluating Large Language Models in Cardiology: A Comparative Study of ChatGPT, Claude, and
Gemini (2025). Their weighted kappa has quadratic weights. Their Kendall's W leaves ties
uncorrected: 12 S / (m^2 (n^3 - n)) of the mid-ranks, .653 for accuracy; ours is corrected for ties,
as W is defined where labels repeat: .734. The sheet Completeness numbers the last twenty requests
51 to 70 where the others say 1_1 to 1_20, and sorts them differently; nothing in the file says
which is which, so they stay items of their own and nothing rests on row order."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import openpyxl
import pytest
from scipy.stats import rankdata

import konsil
from konsil.analysis import Results, Row
from konsil.api import Folder

pytestmark = pytest.mark.slow

CRITERIA = ("Accuracy", "Completeness", "Clarity", "Coherence")
PRINTED_W = "Kendall's W (classical)"
REVIEWERS = ("Reviewer1", "Reviewer2", "Reviewer3")
TITLE = """
title = "Three assistants in cardiology"
seed = 20250604
systems = [{ id = "ChatGPT" }, { id = "Claude" }, { id = "Gemini" }]
resampling = { draws = 1000 }
"""
RATER = '\n[[raters]]\nid = "{0}"\npanel = "cardiologists"\n'
ITEMS = """
[[sources]]
file = "2_Data.xlsx"
sheet = "{0}"
records = "items"
columns = {{ item = "Request" }}
strata = ["Origin", "Diagnosis"]
"""
CRITERION = """
[[instruments.criteria]]
id = "{0}"
question = "How good is its {0}, from 1 to 5?"
scale = {{ labels = ["1", "2", "3", "4", "5"], values = [1, 2, 3, 4, 5], level = "ordinal" }}
"""
RATINGS = """
[[sources]]
file = "2_Data.xlsx"
sheet = "{0}"
records = "ratings"
columns = {{ item = "Request", system = "Model" }}
fixed = {{ criterion = "{0}" }}
raters = {{ Reviewer1 = "Reviewer1", Reviewer2 = "Reviewer2", Reviewer3 = "Reviewer3" }}
"""
ANALYSES = """
[[analyses]]
name = "{0}: each two reviewers"
statistic = "cohen_kappa_quadratic"
criterion = "{0}"
raters = "cardiologists"
by = "rater_pair"

[[analyses]]
name = "{0}: concordance"
statistic = "kendall_w"
criterion = "{0}"
raters = "cardiologists"

[[analyses]]
name = "{0}: means"
statistic = "mean"
criterion = "{0}"
raters = "cardiologists"
by = "system"
compare = "system"

[[analyses]]
name = "{0}: who asks"
statistic = "mean"
criterion = "{0}"
raters = "cardiologists"
by = "Origin"
compare = "Origin"

[[analyses]]
name = "{0}: before or after the diagnosis"
statistic = "mean"
criterion = "{0}"
raters = "cardiologists"
by = "Diagnosis"
compare = "Diagnosis"
"""


def protocol() -> str:
    parts = [TITLE, *(RATER.format(r) for r in REVIEWERS), '\n[[instruments]]\nid = "form"\n']
    parts += [CRITERION.format(c) for c in CRITERIA]
    parts += [ITEMS.format("Accuracy"), ITEMS.format("Completeness")]
    parts += [RATINGS.format(c) + ANALYSES.format(c) for c in CRITERIA]
    return "".join(parts)


@pytest.fixture(scope="module")
def source(data: Callable[[str], Path]) -> Path:
    return data("cardiology_llm_eval")


@pytest.fixture(scope="module")
def folder(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    path = tmp_path_factory.mktemp("cardiology")
    shutil.copy(source / "data" / "2_Data.xlsx", path)
    (path / "study.toml").write_text(protocol(), encoding="utf-8")
    opened = konsil.open(path)
    opened.import_sources()
    return opened


@pytest.fixture(scope="module")
def results(folder: Folder) -> Results:
    return folder.results()


def published(source: Path, name: str) -> list[dict[str, str]]:
    with (source / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def row(results: Results, analysis: str, kind: str = "estimate", **group: str) -> Row:
    (found,) = (
        r
        for r in results.rows
        if r.analysis == analysis and r.kind == kind and dict(r.group) == group
    )
    return found


def test_everything_came_in_once(folder: Folder) -> None:
    with folder.store() as store:
        counts = store.counts()
    assert (counts["ratings"], counts["raters"], counts["items"]) == (4 * 210 * 3, 3, 70 + 20)
    again = folder.import_sources()
    assert not any(again.new.values())


def test_the_kappa_of_each_two_reviewers_is_the_printed_one(source: Path, results: Results) -> None:
    printed = published(source, "reliability_kappa")
    assert len(printed) == 12
    for line in printed:
        pair = "pair:" + line["Reviewer Pair"].replace(" vs ", ":")
        found = row(results, f"{line['Criterion']}: each two reviewers", raters=pair)
        assert f"{found.estimate.value:.3f}" == f"{float(line['Weighted Kappa']):.3f}"
        assert (found.n_units, found.n_raters, found.estimate.n_clusters) == (210, 2, 70)


def test_kendalls_w_is_corrected_for_ties_and_theirs_is_not(source: Path, results: Results) -> None:
    book = openpyxl.load_workbook(source / "data" / "2_Data.xlsx", read_only=True)
    for line in published(source, "reliability_kendall"):
        columns = list(
            zip(
                *(r[4:7] for r in book[line["Criterion"]].iter_rows(min_row=2, values_only=True)),
                strict=True,
            )
        )
        ranks = [rankdata(c) for c in columns]
        n, m = len(ranks[0]), len(ranks)
        sums = [sum(r[u] for r in ranks) for u in range(n)]
        spread = sum((s - m * (n + 1) / 2) ** 2 for s in sums)
        plain = 12 * spread / (m**2 * (n**3 - n))
        assert f"{plain:.3f}" == f"{float(line[PRINTED_W]):.3f}"
        ties = sum(sum(list(c).count(v) ** 3 - list(c).count(v) for v in set(c)) for c in columns)
        corrected = 12 * spread / (m**2 * (n**3 - n) - m * ties)
        ours = row(results, f"{line['Criterion']}: concordance").estimate.value
        assert ours == pytest.approx(corrected)
        assert ours > plain
    assert f"{row(results, 'Accuracy: concordance').estimate.value:.3f}" == "0.734"


def test_the_means_of_the_systems_are_the_printed_ones(source: Path, results: Results) -> None:
    printed = published(source, "stat_analysis_descriptive")
    assert len(printed) == 12
    for line in printed:
        found = row(results, f"{line['Criterion']}: means", system=line["Model"])
        assert f"{found.estimate.value:.3f}" == f"{float(line['Mean']):.3f}"
        assert found.estimate.n_ratings == int(line["N"])


@pytest.mark.parametrize(
    ("name", "stratum", "analysis", "values"),
    [
        ("stat_analysis_user_type", "Origin", "who asks", ("Patient", "Doctor")),
        (
            "stat_analysis_diagnostic_phase",
            "Diagnosis",
            "before or after the diagnosis",
            ("Pre", "Post"),
        ),
    ],
)
def test_the_means_of_the_strata_are_the_printed_ones(
    source: Path, results: Results, name: str, stratum: str, analysis: str, values: tuple[str, str]
) -> None:
    for line in published(source, name):
        for value in values:
            found = row(results, f"{line['Criterion']}: {analysis}", **{stratum: value})
            assert f"{found.estimate.value:.3f}" == f"{float(line[f'Mean {value}']):.3f}"


def test_the_differences_of_the_systems_are_those_of_their_means(
    source: Path, results: Results
) -> None:
    for line in published(source, "stat_analysis_posthoc_dunn"):
        found = [
            r
            for r in results.rows
            if r.kind == "difference"
            and r.analysis == f"{line['Criterion']}: means"
            and (r.group["system"], r.versus["system"]) == (line["Model A"], line["Model B"])
        ]
        assert len(found) == 1
        # They subtract means that are rounded already: 3.710 - 3.586 = 0.124 and 0.353 where 0.352
        # is meant.
        assert found[0].estimate.value == pytest.approx(float(line["Δ Mean"]), abs=0.0015)
        assert found[0].estimate.low < found[0].estimate.value < found[0].estimate.high


def test_each_pair_is_read_by_item_and_not_by_row(folder: Folder) -> None:
    """The sheets are sorted differently; a join by row would give other labels to the same
    answer."""
    frame = folder.ratings()
    assert frame.height == 2520
    assert len(list(combinations(REVIEWERS, 2))) == 3
    per_screen = frame.group_by("criterion", "item", "answers").len()
    assert set(per_screen["len"].to_list()) == {3}


@pytest.mark.slow
def test_the_report_is_written_and_is_the_same_again(folder: Folder) -> None:
    page = folder.report()
    first = page.read_bytes()
    assert b"Three assistants in cardiology" in first
    assert b"Reviewer1 and Reviewer2" in first
    assert folder.report().read_bytes() == first
