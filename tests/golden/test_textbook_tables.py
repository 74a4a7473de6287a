"""Textbook tables retyped, with the numbers their sources print: these run without the data
folder."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pytest

from konsil.stats.agreement import alpha, icc, kappa, multirater
from konsil.stats.agreement import standard_errors as se
from konsil.stats.engine import ranks
from konsil.stats.engine.contract import Codes, Statistic

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), data of section C; 0 is missing.
FOUR_CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
# Shrout and Fleiss, Psychol Bull 86:420 (1979), table 2: six targets, four judges.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
# Fleiss, Psychol Bull 76:378 (1971), table 1: 30 patients, six psychiatrists, five diagnoses;
# patient by patient.
FLEISS_1971 = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
# Landis and Koch, Biometrics 33:159 (1977), table 1: two neurologists, multiple sclerosis, Winnipeg
# and New Orleans.
WINNIPEG = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
NEW_ORLEANS = [[5, 3, 0, 0], [3, 11, 4, 0], [2, 13, 3, 4], [1, 2, 4, 14]]


def value_of(statistic: Statistic, codes: Codes) -> float:
    return float(statistic.finalise(np.asarray(statistic.tally(codes).sum(0)))[..., 0])


def four_coders() -> Codes:
    return Codes(np.array(FOUR_CODERS).T - 1, np.arange(12), 5, (1.0, 2.0, 3.0, 4.0, 5.0))


@pytest.mark.parametrize(
    ("level", "printed"),
    [("nominal", "0.743"), ("ordinal", "0.815"), ("interval", "0.849"), ("ratio", "0.797")],
)
def test_krippendorff_2011_four_coders(level: alpha.Level, printed: str) -> None:
    codes = four_coders()
    statistic = alpha.krippendorff_alpha(5, level, codes.values)
    assert f"{value_of(statistic, codes):.3f}" == printed


@pytest.mark.parametrize(
    ("form", "printed"),
    [
        ("icc1", "0.17"),
        ("icc2", "0.29"),
        ("icc3", "0.71"),
        ("icc1k", "0.44"),
        ("icc2k", "0.62"),
        ("icc3k", "0.91"),
    ],
)
def test_shrout_fleiss_1979_six_forms(form: icc.IccForm, printed: str) -> None:
    codes = Codes(np.array(SHROUT_FLEISS) - 1, np.arange(6), 10, tuple(range(1, 11)))
    assert f"{value_of(icc.icc(form, 4), codes):.2f}" == printed


def test_fleiss_1971_psychiatric_diagnoses() -> None:
    counts = np.array([[int(c) for c in patient] for patient in FLEISS_1971.split()])
    labels = np.array([np.repeat(np.arange(5), row) for row in counts])
    codes = Codes(labels, np.arange(30), 5)
    assert f"{value_of(multirater.fleiss_kappa(5), codes):.3f}" == "0.430"
    # Randolph's kappa needs the number of labels declared: the same ratings on a form of six labels
    # agree better.
    assert value_of(multirater.randolph_kappa(5), codes) == pytest.approx(4 / 9)
    wider = Codes(labels, codes.clusters, 6)
    assert value_of(multirater.randolph_kappa(6), wider) == pytest.approx((5 / 9 - 1 / 6) / (5 / 6))


@pytest.mark.parametrize(
    ("table", "printed"),
    [(WINNIPEG, (0.208, 0.050, 0.525, 0.060)), (NEW_ORLEANS, (0.297, 0.079, 0.626, 0.079))],
)
def test_landis_koch_1977_multiple_sclerosis(
    table: list[list[int]], printed: tuple[float, ...]
) -> None:
    codes = se.codes_of_table(table)
    got = (
        value_of(kappa.cohen_kappa(2, 4), codes),
        se.cohen_kappa_se(table),
        value_of(kappa.cohen_kappa(2, 4, "quadratic"), codes),
        se.cohen_kappa_se(table, "quadratic"),
    )
    assert tuple(round(x, 3) for x in got) == printed


def test_kappa_paradox_high_agreement_low_kappa() -> None:
    # Feinstein and Cicchetti, J Clin Epidemiol 43:543 (1990), the kind of table they discuss: 85 %
    # agreement.
    codes = se.codes_of_table([[80, 10], [5, 5]])
    assert value_of(kappa.percent_agreement(2, 2), codes) == pytest.approx(0.85)
    assert value_of(kappa.cohen_kappa(2, 2), codes) == pytest.approx(0.3181818)
    assert value_of(kappa.pabak(2, 2), codes) == pytest.approx(0.7)
    assert value_of(multirater.gwet_ac1(2), codes) == pytest.approx(0.808)


def test_kendall_w_of_shrout_and_fleiss_judges() -> None:
    codes = Codes(np.array(SHROUT_FLEISS) - 1, np.arange(6), 10)
    assert value_of(ranks.kendall_w(4, 10), codes) == pytest.approx(0.887037037)


def test_krippendorff_codings_file(data: Callable[[str], Path]) -> None:
    codes = _read(data("evalica_golden") / "codings.csv")
    assert np.array_equal(codes.labels, four_coders().labels)
    for level, printed in {
        "nominal": 0.743,
        "ordinal": 0.815,
        "interval": 0.849,
        "ratio": 0.797,
    }.items():
        assert (
            round(value_of(alpha.krippendorff_alpha(5, level, (1, 2, 3, 4, 5)), codes), 3)
            == printed
        )


def test_part_of_speech_file(data: Callable[[str], Path]) -> None:
    codes = _read(data("evalica_golden") / "gcl.csv")
    peer = krippendorff.alpha(
        np.where(codes.labels < 0, np.nan, codes.labels).T, level_of_measurement="nominal"
    )
    assert value_of(alpha.krippendorff_alpha(2), codes) == pytest.approx(peer, abs=1e-12)
    assert value_of(alpha.krippendorff_alpha(2), codes) == pytest.approx(_by_hand(codes), abs=1e-12)


def _by_hand(codes: Codes) -> float:
    """Alpha of two labels from its definition, unit by unit and pair by pair."""
    different, labels = 0.0, []
    for unit in codes.labels:
        given = [v for v in unit if v >= 0]
        if len(given) < 2:
            continue
        labels += given
        different += sum(
            a != b for i, a in enumerate(given) for j, b in enumerate(given) if i != j
        ) / (len(given) - 1)
    n, ones = len(labels), sum(labels)
    return 1 - (n - 1) * different / (2 * ones * (n - ones))


def _read(path: Path) -> Codes:
    """One row a coder, one column a unit."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    used = sorted({cell for row in rows for cell in row if cell})
    labels = np.array([[used.index(cell) if cell else -1 for cell in row] for row in rows]).T
    return Codes(labels, np.arange(len(labels)), len(used))
