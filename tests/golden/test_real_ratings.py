"""Real ratings with the numbers their authors printed; skipped where the data folder is absent."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from konsil.stats.agreement import consensus, kappa
from konsil.stats.engine import ranks
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.tables import pair_tables

Data = Callable[[str], Path]


def value_of(statistic: Statistic, codes: Codes) -> float:
    return float(statistic.finalise(np.asarray(statistic.tally(codes).sum(0)))[..., 0])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def cardiology(data: Data) -> dict[str, Codes]:
    """Three cardiologists, 210 answers, four criteria on five points."""
    book = openpyxl.load_workbook(
        data("cardiology_llm_eval") / "data" / "2_Data.xlsx", read_only=True
    )
    found = {}
    for sheet in book:
        head, *rows = list(sheet.iter_rows(values_only=True))
        columns = [n for n, name in enumerate(head) if str(name).startswith("Reviewer")]
        labels = np.array(
            [[int(row[n]) - 1 for n in columns] for row in rows if row[columns[0]] is not None]
        )
        found[sheet.title] = Codes(labels, np.arange(len(labels)), 5)
    book.close()
    return found


def test_cardiology_weighted_kappas(data: Data, cardiology: dict[str, Codes]) -> None:
    printed = rows_of(data("cardiology_llm_eval") / "tables" / "reliability_kappa.csv")
    assert len(printed) == 12
    pairs = ["Reviewer1 vs Reviewer2", "Reviewer1 vs Reviewer3", "Reviewer2 vs Reviewer3"]
    for row in printed:
        codes = cardiology[row["Criterion"]]
        each = kappa.cohen_kappa(3, 5, "quadratic", per_pair=True).finalise(
            pair_tables(codes).sum(0)
        )
        assert each[pairs.index(row["Reviewer Pair"])] == pytest.approx(
            float(row["Weighted Kappa"]), abs=6e-4
        )


def test_cardiology_w_is_printed_without_the_correction_for_ties(
    data: Data, cardiology: dict[str, Codes]
) -> None:
    printed = rows_of(data("cardiology_llm_eval") / "tables" / "reliability_kendall.csv")
    for row in printed:
        codes = cardiology[row["Criterion"]]
        uncorrected = value_of(ranks.kendall_w(3, 5, ties=False), codes)
        assert uncorrected == pytest.approx(float(row["Kendall's W (classical)"]), abs=6e-4)
        assert value_of(ranks.kendall_w(3, 5), codes) > uncorrected + 0.05
    assert value_of(ranks.kendall_w(3, 5), cardiology["Accuracy"]) == pytest.approx(0.734, abs=6e-4)


def test_kqa_majority_of_three_physicians(data: Data) -> None:
    rows = rows_of(data("kqa") / "dataset" / "NLI_medical_annotator.csv")
    names = sorted({row[f"label_{n}"] for row in rows for n in range(3)} - {""})
    labels = np.array(
        [
            [names.index(row[f"label_{n}"]) if row[f"label_{n}"] else -1 for n in range(3)]
            for row in rows
        ]
    )
    ours = consensus.majority(labels)
    theirs = np.array(
        [
            names.index(row["majority_label"]) if row["majority_label"] in names else -1
            for row in rows
        ]
    )
    decided = ours >= 0
    assert decided.mean() > 0.9
    assert np.array_equal(ours[decided], theirs[decided])


def test_pubmedqa_single_annotator_accuracy(data: Data) -> None:
    rows = [
        r
        for r in rows_of(data("pubmedqa_two_annotators") / "pqa_labeled_labels.csv")
        if r["in_test"] == "True"
    ]
    names = ["no", "maybe", "yes"]
    columns = ("final_decision", "reasoning_required_pred")
    labels = np.array([[names.index(row[c]) for c in columns] for row in rows])
    codes = Codes(labels, np.arange(len(labels)), 3)
    assert len(rows) == 500
    assert value_of(consensus.self_agreement(3), codes) == pytest.approx(0.780, abs=1e-9)
