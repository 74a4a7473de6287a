"""Recovery: 95 % intervals cover about 95 % of simulated studies of known truth
(benchmarks/coverage.py, smaller)."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"


def load():
    spec = importlib.util.spec_from_file_location("coverage_simulations", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


simulations = load()


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("panel", simulations.KAPPA, ids=str)
def test_kappa(panel):
    found = simulations.agreement_coverage(panel, "kappa", studies=800, draws=1000)
    assert 0.92 <= found["bca"] <= 0.98
    assert 0.92 <= found["atanh"] <= 0.98
    assert abs(found["bias"]) < 0.02


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("panel", simulations.ALPHA, ids=str)
def test_alpha(panel):
    found = simulations.agreement_coverage(panel, "alpha", studies=500, draws=1000)
    assert 0.92 <= found["bca"] <= 0.98
    assert 0.92 <= found["atanh"] <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("design", simulations.WINS, ids=lambda design: design.name)
def test_two_way_interval_of_a_win_difference(design):
    found = simulations.win_coverage(design, studies=500, draws=500)
    assert 0.92 <= found["two-way"] <= 0.98
    if not design.rater:
        assert 0.92 <= found["bca"] <= 0.98
        assert 0.025 <= found["flip"] <= 0.08


@pytest.mark.slow
def test_a_question_interval_is_too_sure_where_raters_have_tastes():
    found = simulations.win_coverage(simulations.WINS[-1], studies=300, draws=500)
    assert found["bca"] < 0.8
    assert found["flip"] > 0.2


def test_the_engine_recovers_kappa_in_a_few_studies():
    panel = simulations.KAPPA[1]
    found = simulations.agreement_coverage(panel, "kappa", studies=200, draws=500, seed=4)
    assert 0.9 <= found["bca"] <= 0.99
    assert found["undefined"] == 0
