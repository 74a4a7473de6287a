"""All 169 published agreement values: ours, expected, source; and what we do not offer, with the
reason.

One trap is worth knowing: "ordinal" is two things. Krippendorff's ordinal metric gives 0.815 on his
four-coder table, Gwet's ordinal weights 0.834; both are here under their own names."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from konsil.stats.agreement import alpha, icc, kappa, multirater
from konsil.stats.agreement import standard_errors as se
from konsil.stats.engine import ranks
from konsil.stats.engine.contract import Codes, Statistic

Compute = Callable[[], float]
Key = tuple[str, str]

TWO_WAY_GAPS = (
    "two-way intraclass correlation of tables with gaps: irrNA removes the raters' effects by an"
    " iteration with a stopping rule, so its value is no formula of the ratings; offered are the"
    " one-way form with gaps and all six forms on complete units"
)
NOT_OFFERED: dict[Key, str] = {
    (data, f"irrNA_ICC({form})"): TWO_WAY_GAPS
    for data in ("ebel1951", "irrNA_ConsistNA")
    for form in ("A,1", "A,k", "C,1", "C,k")
} | {("fleiss1971_diagnoses", "fleiss_kappa_z"): "a test against agreement by chance"}

MISSING = ("", "NA")


def value_of(statistic: Statistic, codes: Codes) -> float:
    """One number: the statistic over all clusters."""
    sums = statistic.tally(codes).sum(0)
    return float(statistic.finalise(np.asarray(sums))[..., 0])


def labels_of(rows: list[list[str]], numeric: bool = False) -> Codes:
    """Units by raters, labels sorted; `numeric` declares the labels' numbers as values."""
    used = sorted(
        {cell for row in rows for cell in row if cell not in MISSING}, key=float if numeric else str
    )
    place = {label: n for n, label in enumerate(used)} | dict.fromkeys(MISSING, -1)
    labels = np.array([[place[cell] for cell in row] for row in rows])
    return Codes(
        labels, np.arange(len(rows)), len(used), tuple(map(float, used)) if numeric else None
    )


def ratings(folder: Path, name: str, numeric: bool = False) -> Codes:
    """A file with one row a unit and one column a rater."""
    return labels_of(_rows(folder, name)[1:], numeric)


def table(folder: Path, name: str) -> Codes:
    """A contingency table of two raters, with or without row names, as labels."""
    rows = _rows(folder, name)[1:]
    cells = [row[-len(rows) :] for row in rows]
    return se.codes_of_table(np.array(cells, dtype=np.int64))


def distribution(folder: Path, name: str) -> Codes:
    """Counts of raters per unit and label, written out; which rater gave which label is lost and
    not needed."""
    return codes_of_counts(np.array(_rows(folder, name)[1:], dtype=np.int64))


def codes_of_counts(counts: np.ndarray) -> Codes:
    """Counts (n_units, k) with equal row sums, as labels."""
    labels = np.array([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    return Codes(labels, np.arange(len(labels)), counts.shape[1])


def _rows(folder: Path, name: str) -> list[list[str]]:
    with (folder / "data" / f"{name}.csv").open(newline="") as file:
        return list(csv.reader(file))


WEIGHTS = ("unweighted", "linear", "quadratic", "ordinal", "ratio", "radical")


def _many_raters(codes: Codes, weights: Any = "unweighted") -> dict[str, Compute]:
    """IrrCAC's coefficients of raw ratings."""
    k, m, x = codes.n_labels, codes.labels.shape[1], codes.values
    statistics = {
        "gwet.ac1": multirater.gwet_ac2(k, weights, x),
        "fleiss.kappa": multirater.fleiss_kappa(k, weights, x),
        "krippen.alpha": alpha.krippendorff_alpha_weighted(k, weights, x),
        "conger.kappa": multirater.conger_kappa(m, k, weights, x),
        "bp.coeff": multirater.brennan_prediger(k, weights, x),
        "pa.coeff": multirater.multirater_percent_agreement(k, weights, x),
    }
    return {name: lambda s=s: value_of(s, codes) for name, s in statistics.items()}


STANDARD_ERRORS: dict[str, se.Coefficient] = {
    "gwet.ac1": "gwet_ac",
    "fleiss.kappa": "fleiss_kappa",
    "krippen.alpha": "krippendorff_alpha",
    "conger.kappa": "conger_kappa",
    "bp.coeff": "brennan_prediger",
    "pa.coeff": "percent_agreement",
}


def ours(folder: Path) -> Iterator[tuple[Key, Compute]]:
    """Every value we offer, by (data, statistic)."""
    # Krippendorff's four coders, twelve units, with gaps
    data = "krippendorff2011_4coders"
    codes = ratings(folder, data, numeric=True)
    for level in alpha.LEVELS:
        statistic = alpha.krippendorff_alpha(codes.n_labels, level, codes.values)
        yield (data, f"krippendorff_alpha_{level}"), lambda s=statistic, c=codes: value_of(s, c)
    for weights in WEIGHTS:
        for name, compute in _many_raters(codes, weights).items():
            yield (data, f"{name}.raw[{weights}]"), compute
    for name, coefficient in STANDARD_ERRORS.items():
        yield (data, f"{name}.raw_se"), lambda f=coefficient, c=codes: se.standard_error(f, c)
    # Gwet's raw ratings
    for data in ("gwet_raw5obser", "gwet_raw4raters"):
        codes = ratings(folder, data, numeric=True)
        for name, compute in _many_raters(codes).items():
            yield (data, f"{name}.raw"), compute
        if data == "gwet_raw5obser":
            for name, coefficient in STANDARD_ERRORS.items():
                yield (
                    (data, f"{name}.raw_se"),
                    lambda f=coefficient, c=codes: se.standard_error(f, c),
                )
    # Gwet's distribution of six raters
    codes = distribution(folder, "distrib6raters")
    for name, compute in _many_raters(codes).items():
        if name != "conger.kappa":
            yield ("distrib6raters", f"{name}.dist"), compute
    yield from _fleiss(folder)
    yield from _irr(folder)
    yield from _icc(folder)
    yield from _two_raters(folder)


def _fleiss(folder: Path) -> Iterator[tuple[Key, Compute]]:
    data = "fleiss1971_diagnoses"
    codes = ratings(folder, data)
    yield (data, "fleiss_kappa"), lambda c=codes: value_of(multirater.fleiss_kappa(5), c)
    yield (data, "conger_exact_kappa"), lambda c=codes: value_of(multirater.conger_kappa(6, 5), c)
    yield (data, "light_kappa"), lambda c=codes: value_of(kappa.light_kappa(6, 5), c)
    data = "fleiss1971_counts"
    counts = distribution(folder, data)
    yield (data, "gwet_ac1"), lambda c=counts: value_of(multirater.gwet_ac1(5), c)
    yield (
        (data, "randolph_free_marginal_kappa(q=5)"),
        lambda c=counts: value_of(multirater.randolph_kappa(5), c),
    )
    yield (
        (data, "krippendorff_alpha_nominal"),
        lambda c=counts: value_of(alpha.krippendorff_alpha(5), c),
    )


def _irr(folder: Path) -> Iterator[tuple[Key, Compute]]:
    data = "irr_anxiety"
    codes = ratings(folder, data, numeric=True)
    k = codes.n_labels
    test = icc.icc_test("icc2", icc.anova_sums(codes).sum(0), 3)
    yield (data, "icc_A1"), lambda: test.value
    yield (data, "icc_A1_lower95"), lambda: test.low
    yield (data, "icc_A1_upper95"), lambda: test.high
    yield (data, "kendall_W_tie_corrected"), lambda c=codes: value_of(ranks.kendall_w(3, k), c)
    yield (
        (data, "kendall_W_uncorrected"),
        lambda c=codes: value_of(ranks.kendall_w(3, k, ties=False), c),
    )
    yield (
        (data, "krippendorff_alpha_ordinal"),
        lambda c=codes: value_of(alpha.krippendorff_alpha(k, "ordinal"), c),
    )
    two = Codes(codes.labels[:, :2], codes.clusters, k, codes.values)
    for weights in ("quadratic", "linear", "unweighted"):
        yield (
            (data, f"kappa2_rater12_{weights}"),
            lambda w=weights: value_of(kappa.cohen_kappa(2, k, w), two),
        )
    video = ratings(folder, "irr_video", numeric=True)
    yield ("irr_video", "agreement_pct"), lambda: 100 * value_of(multirater.unanimity(), video)
    yield (
        ("irr_video", "agreement_pct_tol1"),
        lambda: 100 * value_of(multirater.unanimity(1), video),
    )
    vision = ratings(folder, "irr_vision_7477")
    yield ("irr_vision_7477", "kappa_unweighted"), lambda: value_of(kappa.cohen_kappa(2, 4), vision)
    yield (
        ("irr_vision_7477", "kappa_quadratic"),
        lambda: value_of(kappa.cohen_kappa(2, 4, "quadratic"), vision),
    )


def _icc(folder: Path) -> Iterator[tuple[Key, Compute]]:
    data = "shrout_fleiss1979"
    codes = ratings(folder, data, numeric=True)
    for form in icc.ICC_FORMS:
        test = icc.icc_test(form, icc.icc(form, 4).tally(codes).sum(0), 4)
        name = form.replace("icc", "ICC")
        yield (data, name), lambda f=form, c=codes: value_of(icc.icc(f, 4), c)
        yield (data, f"{name}_lower95"), lambda t=test: t.low
        yield (data, f"{name}_upper95"), lambda t=test: t.high
    k = codes.n_labels
    yield (data, "kendall_W_tie_corrected"), lambda c=codes: value_of(ranks.kendall_w(4, k), c)
    interval = alpha.krippendorff_alpha(k, "interval", codes.values)
    yield (data, "alpha_interval"), lambda c=codes: value_of(interval, c)
    for data in ("ebel1951", "irrNA_ConsistNA"):
        gaps = ratings(folder, data, numeric=True)
        yield (data, "irrNA_ICC(1)"), lambda c=gaps: value_of(icc.oneway_icc("icc1", c), c)
        yield (
            (data, "irrNA_ICC(k)"),
            lambda c=gaps: value_of(icc.oneway_icc("icc1k", c), c),
        )


def _two_raters(folder: Path) -> Iterator[tuple[Key, Compute]]:
    for data in ("cont3x3abstractors", "cont4x4diagnosis"):
        codes = table(folder, data)
        k = codes.n_labels
        statistics: dict[str, tuple[Any, se.Coefficient]] = {
            "kappa2": (kappa.cohen_kappa(2, k), "conger_kappa"),
            "scott2": (kappa.scott_pi(2, k), "fleiss_kappa"),
            "gwet.ac1": (multirater.gwet_ac1(k), "gwet_ac"),
            "bp2": (multirater.brennan_prediger(k), "brennan_prediger"),
            "krippen2": (alpha.krippendorff_alpha(k), "krippendorff_alpha"),
            "pa2": (kappa.percent_agreement(2, k), "percent_agreement"),
        }
        counts = kappa.pair_tables(codes).sum(0).reshape(k, k)
        for name, (statistic, coefficient) in statistics.items():
            yield (data, f"{name}.table"), lambda s=statistic, c=codes: value_of(s, c)
            yield (
                (data, f"{name}.table_se"),
                lambda f=coefficient, t=counts: se.two_rater_standard_error(f, t),
            )
        for weights in ("linear", "quadratic"):
            weighted = kappa.cohen_kappa(2, k, weights)
            yield (data, f"weighted_kappa_{weights}"), lambda s=weighted, c=codes: value_of(s, c)
            yield (
                (data, f"gwet_AC2_{weights}"),
                lambda w=weights, c=codes: value_of(multirater.gwet_ac2(c.n_labels, w), c),
            )
    for data in ("mspatients_Winnipeg", "mspatients_New Orleans"):
        codes = table(folder, data)
        counts = kappa.pair_tables(codes).sum(0).reshape(4, 4)
        for weights in ("unweighted", "quadratic", "linear"):
            yield (
                (data, f"kappa_{weights}"),
                lambda w=weights, c=codes: value_of(kappa.cohen_kappa(2, 4, w), c),
            )
        for weights in ("unweighted", "quadratic"):
            yield (
                (data, f"kappa_{weights}_ase"),
                lambda w=weights, t=counts: se.cohen_kappa_se(t, w),
            )
    fun = table(folder, "sexualfun_agresti")
    yield ("sexualfun_agresti", "kappa_unweighted"), lambda: value_of(kappa.cohen_kappa(2, 4), fun)
    yield (
        ("sexualfun_agresti", "kappa_weighted_equal_spacing"),
        lambda: value_of(kappa.cohen_kappa(2, 4, "linear"), fun),
    )
    paradox = table(folder, "paradox_2x2")
    yield ("paradox_2x2", "cohen_kappa"), lambda: value_of(kappa.cohen_kappa(2, 2), paradox)
    yield ("paradox_2x2", "pabak(=BP q=2)"), lambda: value_of(kappa.pabak(2, 2), paradox)
    yield ("paradox_2x2", "gwet_ac1"), lambda: value_of(multirater.gwet_ac1(2), paradox)
    wiki = se.codes_of_table([[20, 5], [10, 15]])
    yield ("table [[20,5],[10,15]]", "cohen_kappa"), lambda: value_of(kappa.cohen_kappa(2, 2), wiki)


def tolerance(entry: dict[str, Any]) -> float:
    """Half a unit of the last printed digit: five decimals where irrCAC rounded, ten significant
    digits elsewhere."""
    expected = float(entry["value"])
    decimals = len(str(entry["value"]).partition(".")[2])
    if ".raw" in entry["statistic"] and decimals <= 5:
        return 0.500001e-5
    return 0.51 * 10.0 ** (math.floor(math.log10(abs(expected))) - 9)


@pytest.fixture(scope="module")
def folder(data: Callable[[str], Path]) -> Path:
    return data("agreement_reference")


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "expected.json").read_text())


def test_every_published_value_is_reproduced_to_its_printed_digits(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    computed = dict(ours(folder))
    lines, misses = [f"{'data':26}{'statistic':36}{'ours':>15}{'expected':>15}  source"], 0
    for entry in expected:
        key = (entry["data"], entry["statistic"])
        if key in NOT_OFFERED:
            continue
        mine = computed[key]()
        hit = abs(mine - entry["value"]) <= tolerance(entry)
        misses += not hit
        mark = "" if hit else "  <-- differs"
        lines.append(
            f"{key[0]:26}{key[1]:36}{mine:15.10f}{entry['value']:15.10f} "
            f" {entry['computed_by'][:30]}{mark}"
        )
    assert len(lines) == 1 + 160
    assert not misses, "\n".join(lines)


def test_published_figures_agree_with_ours_when_rounded(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    computed = dict(ours(folder))
    published = [e for e in expected if e["published"]]
    assert len(published) == 13
    for entry in published:
        decimals = len(entry["published"].partition(".")[2])
        assert (
            f"{computed[entry['data'], entry['statistic']]():.{decimals}f}" == entry["published"]
        ), entry


def test_offered_and_not_offered_cover_all_values(
    folder: Path, expected: list[dict[str, Any]]
) -> None:
    keys = [(entry["data"], entry["statistic"]) for entry in expected]
    offered = [key for key, _ in ours(folder)]
    assert len(keys) == len(set(keys)) == 169
    assert len(offered) == len(set(offered))
    assert set(offered) | set(NOT_OFFERED) == set(keys)
    assert not set(offered) & set(NOT_OFFERED)
    assert all(NOT_OFFERED.values())


def test_the_two_ordinals_differ(folder: Path) -> None:
    codes = ratings(folder, "krippendorff2011_4coders", numeric=True)
    metric = value_of(alpha.krippendorff_alpha(5, "ordinal"), codes)
    weights = value_of(alpha.krippendorff_alpha_weighted(5, "ordinal"), codes)
    assert (round(metric, 3), round(weights, 3)) == (0.815, 0.834)
