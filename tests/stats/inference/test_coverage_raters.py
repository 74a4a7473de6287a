"""The benchmarks about raters, panels and uneven clusters, at a small size; and that the document
has their parts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from konsil.stats.agreement import kappa
from konsil.stats.engine.contract import Codes
from konsil.stats.inference import wald

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
NAMES = (
    "coverage_raters",
    "coverage_few_raters",
    "coverage_panels",
    "coverage_common_raters",
    "coverage_single_ratings",
    "coverage_uneven",
)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """A benchmark by its name, as the command line imports it."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield imported
    for name in (*NAMES, "coverage_document"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", NAMES)
def test_the_document_has_the_part_of_every_benchmark(load, name: str) -> None:
    script = load(name)
    text = (BENCHMARKS.parent / "docs" / "coverage.md").read_text(encoding="utf-8")
    part = text[text.index(script.BEGIN) : text.index(script.END)]
    assert f"1,000 studies of each design by `python benchmarks/{name}.py --write`" in part


@pytest.mark.slow
def test_raters_with_tastes_are_covered_and_a_busy_one_does_not_make_tests_reject(load) -> None:
    """200 studies of each design: four standard errors of a coverage of .95 are .06."""
    script = load("coverage_raters")
    for design in (script.Tastes(12, 100, 0.8, each=30), script.Tastes(40, 100, 0.4, 0.6)):
        shares = script.coverage(design, 200)
        assert 0.89 <= shares["two-way"] <= 0.995
        assert 0.89 <= shares["Davidson"] <= 0.995
        assert shares["p"] <= 0.11
        assert shares.get("max-T", 0.0) <= 0.13
        assert shares.get("Holm", 0.0) <= 0.13
        # About these raters the interval must miss what others would say.
        assert shares["items"] < 0.85


def test_the_kappas_of_the_panels_are_those_of_the_package(load) -> None:
    script = load("coverage_panels")
    generator = np.random.default_rng(1)
    labels = script.Panel(4, 0.8).labels(generator, generator.standard_normal(40))
    for name, statistic in (
        ("cohen_kappa", kappa.cohen_kappa),
        ("percent_agreement", kappa.percent_agreement),
    ):
        chosen = statistic(4, 2)
        sums = chosen.tally(Codes(labels, np.arange(40), 2))
        value, influence = script.mean_of(script.pairs_of(labels, name))
        assert value == pytest.approx(float(chosen.finalise(sums.sum(axis=0))[0]))
        assert influence == pytest.approx(wald.linearised(sums, chosen.finalise), abs=1e-9)


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["share", "percent_agreement", "cohen_kappa"])
def test_panels_of_one_population_are_told_apart_no_more_often_than_stated(
    load, statistic: str
) -> None:
    script = load("coverage_panels")
    alike = script.cell(script.Panel(5, 0.8), script.Panel(9, 0.8), statistic, 0.0, 400, 3)
    assert alike.known == 1
    assert alike.rejects <= 0.09
    assert alike.covers >= 0.91


@pytest.mark.slow
def test_systems_alike_to_raters_are_told_apart_no_more_often_than_stated(load) -> None:
    """300 studies of six raters with tastes: .08 is more than two standard errors above .05."""
    script = load("coverage_common_raters")
    alike = script.cell(6, 100, 0.6, "percent_agreement", 300)
    assert alike.n == 300
    assert alike.rejects <= 0.08 < 0.2 < alike.by_items


@pytest.mark.slow
def test_majorities_show_more_than_the_single_ratings_behind_them(load) -> None:
    """100 studies of nine raters with tastes, two an item: .1 is two standard errors above .05."""
    script = load("coverage_single_ratings")
    alike = script.cell(script.Design(9, 2, 300), 0.6, 100)
    assert alike.pairs == 300
    assert alike.any_single <= 0.1 < 0.3 < alike.any_of_majorities


@pytest.mark.slow
def test_a_cluster_with_much_of_the_units_does_not_make_intervals_too_narrow(load) -> None:
    script = load("coverage_uneven")
    law, sizes = script.Law(2, 0.5, True), np.array(script.SIZES["60, one with 40 %"])
    truths, generator = law.truths(), np.random.default_rng(6)
    every = [script.limits(law.draw(generator, sizes), study) for study in range(150)]
    for name in script.NAMES:
        ends = np.array([study[name] for study in every])
        held = ((ends[:, :, 0] <= truths[name]) & (truths[name] <= ends[:, :, 1])).mean(axis=0)
        assert held[0] >= 0.88
        assert held[1] < held[0]
