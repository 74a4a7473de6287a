"""Real-POCQi from its two released tables to its report, beside the numbers that the paper prints.

The tables are those of the Hugging Face data set jjfenglab/Real-POCQi (CC BY 4.0), cited as arXiv
2606.28960; they are not in this repository."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from konsil.api import open_folder
from published_data import DATA
from small_studies import exit_code

RELEASED = DATA / "real_pocqi_public"
SYSTEMS = {
    "system-1": "openevidence",
    "system-2": "gpt-5.5",
    "system-3": "claude-opus-4-8",
    "system-4": "gemini-3.1-pro",
}
PRINTED = {
    ("accuracy", "openevidence"): 24.7,
    ("accuracy", "gpt-5.5"): -21.1,
    ("accuracy", "claude-opus-4-8"): -1.5,
    ("accuracy", "gemini-3.1-pro"): -2.1,
    ("clinical_utility", "openevidence"): 29.6,
    ("clinical_utility", "gpt-5.5"): -19.4,
    ("clinical_utility", "claude-opus-4-8"): -13.7,
    ("clinical_utility", "gemini-3.1-pro"): 3.5,
    ("source_quality", "openevidence"): 38.8,
}
"""The win differences that the paper prints, in per cent, answers without citations."""
AGREEMENT = (74.1, 76.9)
"""The least and the greatest of the five shares of agreement within one step, in per cent."""
AXES = ("accuracy", "clinical_utility", "source_quality", "verifiability", "completeness")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not RELEASED.is_dir(), reason="the released tables are not here"),
]
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from the protocol, with nothing changed but the two files put beside it."""
    folder = tmp_path_factory.mktemp("released") / "my-study"
    assert exit_code("new", folder, "--protocol", "real-pocqi") == 0
    for name in ("questions", "ratings"):
        shutil.copy(RELEASED / f"{name}.parquet", folder)
    assert exit_code("import", folder) == 0
    return folder


@pytest.fixture(scope="module")
def rows(study: Path) -> Rows:
    """The estimates of the report, under the systems' names."""
    # Fewer resamples than the protocol has.
    file = study / "study.toml"
    text = file.read_text("utf-8").replace("blinded = true", "blinded = false")
    file.write_text(text + "\n[resampling]\ndraws = 500\n", "utf-8")
    assert exit_code("report", study) == 0
    with (study / "report" / "estimates.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def value(rows: Rows, analysis: str, **group: str) -> float:
    (row,) = (
        r
        for r in rows
        if (r["analysis"], r["kind"]) == (analysis, "estimate")
        and all(r[f"group.{name}"] == text for name, text in group.items())
    )
    return float(row["value"])


def test_the_released_tables_are_all_read(study: Path) -> None:
    with open_folder(study).store() as store:
        assert len(store.items()) == 620
        assert len(store.ratings()) == 5780
        assert {r.kind for r in store.raters()} == {"unknown"}
        # Several answers to the same question about the same two answers in one arm: which of
        # the five axes belong together is not known there.
        assert len({t.item for t in store.tasks()}) == 620


def test_another_order_adds_nothing(study: Path) -> None:
    file = study / "ratings.parquet"
    pl.read_parquet(file).sample(fraction=1, shuffle=True, seed=7).write_parquet(file)
    assert open_folder(study).import_sources().total_new() == 0


@pytest.mark.parametrize(("axis", "system"), PRINTED)
def test_the_printed_win_differences(rows: Rows, axis: str, system: str) -> None:
    ids = {name: key for key, name in SYSTEMS.items()}
    name = f"win difference, {axis.replace('_', ' ')}"
    got = 100 * value(rows, name, system=ids[system])
    assert got == pytest.approx(PRINTED[axis, system], abs=1.5)
    assert got == pytest.approx(by_hand(axis, system, "qa_text_only"), abs=1e-9)


def by_hand(axis: str, system: str, mode: str) -> float:
    """A system's win difference in per cent, every rival weighing alike; without konsil."""
    ratings = pl.read_parquet(RELEASED / "ratings.parquet").filter(
        (pl.col("axis") == axis) & (pl.col("render_mode") == mode)
    )
    outcomes: dict[str, list[int]] = {}
    for row in ratings.iter_rows(named=True):
        sides = {"a": row["slot_a_provider"], "b": row["slot_b_provider"]}
        for side, other in (("a", "b"), ("b", "a")):
            if sides[side] == system:
                outcome = row["choice"].endswith(f"_{side}") - row["choice"].endswith(f"_{other}")
                outcomes.setdefault(sides[other], []).append(outcome)
    return 100 * sum(sum(x) / len(x) for x in outcomes.values()) / len(outcomes)


def test_the_printed_agreement_within_one_step(rows: Rows) -> None:
    shares = [
        100 * value(rows, f"agreement to within one category, {axis.replace('_', ' ')}")
        for axis in AXES
    ]
    assert min(shares) == pytest.approx(AGREEMENT[0], abs=1)
    assert max(shares) == pytest.approx(AGREEMENT[1], abs=1)


# Each axis: over both sides, and oriented by the systems' names in alphabetical order.
KAPPAS = {
    "accuracy": (0.310, 0.226),
    "clinical_utility": (0.462, 0.366),
    "source_quality": (0.510, 0.265),
    "verifiability": (0.203, 0.058),
    "completeness": (0.390, 0.283),
}


@pytest.mark.parametrize("axis", AXES)
def test_kappa_of_comparisons_by_three_chances(rows: Rows, axis: str) -> None:
    ids = {name: key for key, name in SYSTEMS.items()}
    name = f"quadratic kappa, {axis.replace('_', ' ')}"
    over_sides, alphabetical = KAPPAS[axis]
    (beside,) = (
        float(row["value"])
        for row in rows
        if row["analysis"] == name and row["method"].startswith("chance over all pairs")
    )
    assert beside == pytest.approx(over_sides, abs=0.0006)
    published = value(rows, f"as published: {name}")
    assert published == pytest.approx(oriented_kappa(axis, ids), abs=1e-9)
    assert oriented_kappa(axis, {s: s for s in ids}) == pytest.approx(alphabetical, abs=0.0006)
    # The chance of each pair of systems depends on no order, and credits no common favourite.
    assert alphabetical - 0.03 < value(rows, name) < over_sides - 0.09


def oriented_kappa(axis: str, places: Mapping[str, str]) -> float:
    """Cohen's quadratic kappa of every two ratings of a comparison, from the side of the system
    whose place is first; without konsil."""
    sides = {"strongly_a": -2, "slightly_a": -1, "tie": 0, "slightly_b": 1, "strongly_b": 2}
    groups: dict[tuple[str, ...], list[int]] = {}
    ratings = pl.read_parquet(RELEASED / "ratings.parquet").filter(pl.col("axis") == axis)
    for row in ratings.iter_rows(named=True):
        a, b = (places[row[f"slot_{side}_provider"]] for side in "ab")
        unit = (row["question_id"], row["render_mode"], min(a, b), max(a, b))
        groups.setdefault(unit, []).append(sides[row["choice"]] * (1 if a < b else -1))
    x, y = np.array([p for steps in groups.values() for p in combinations(steps, 2)]).T
    return float(1 - ((x - y) ** 2).mean() / ((x[:, None] - y) ** 2).mean())


@pytest.mark.parametrize(("axis", "expected"), [("accuracy", 0.114), ("verifiability", 0.342)])
def test_text_against_citations(rows: Rows, axis: str, expected: float) -> None:
    """The difference of two win differences, beside another group's bootstrap of it."""
    (row,) = (
        r
        for r in rows
        if r["analysis"] == f"win difference, {axis}: text and citations"
        and r["kind"] == "difference"
        and r["group.system"] == "system-1"
    )
    text, citations = (by_hand(axis, "openevidence", f"qa_text_{m}") for m in ("only", "citations"))
    got, low, high = (abs(float(row[name])) for name in ("value", "low", "high"))
    assert got == pytest.approx(abs(text - citations) / 100, abs=1e-9)
    assert got == pytest.approx(expected, abs=0.002)
    assert 0 < min(low, high) < got < max(low, high) < got + 0.12


def test_no_interval_is_about_other_raters(rows: Rows) -> None:
    methods = [row["method"].replace("raters and sides in the given order", "") for row in rows]
    assert not any("two-way" in method or "rater" in method for method in methods)
    assert {row["n_raters"] for row in rows} == {"0"}


def test_the_report_says_that_the_raters_are_unknown(study: Path, rows: Rows) -> None:
    page = (study / "report" / "index.html").read_text("utf-8")
    assert "inference to other raters is not possible" in page
    assert rows
