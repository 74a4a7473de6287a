"""Whole studies without any effect: nothing is concluded more often than chance allows
(benchmarks/null_studies.py)."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from konsil.analysis.model.rows import Row
from konsil.stats.engine.contract import Estimate

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "null_studies.py"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("null_studies", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        yield module


def row(
    statistic: str, p: float, adjusted: float = 1.0, kind: str = "estimate", analysis: str = "a"
) -> Row:
    estimate = Estimate(0.1, 0.0, 0.2, p=p)
    return Row(analysis, statistic, "c", "panel", estimate, kind=kind, p_adjusted=adjusted)  # type: ignore[arg-type]


def test_what_a_study_claims_is_counted(script: ModuleType) -> None:
    study = script.material("real-pocqi", "fifth", 100)[0]
    published = next(a.name for a in study.analyses if a.mode == "paper")
    rows = [
        row("share", 0.01),
        row("share", 0.5),
        row("share", 0.001, kind="companion"),
        row("seconds", 0.001, 0.001),
        row("win_difference", 0.0, analysis=published),
        row("mean", float("nan")),
    ]
    counts = script.counted(rows, study, 100, frozenset({"seconds"}))
    assert (counts.tested, counts.rejected, counts.adjusted) == ({"share": 2}, {"share": 1}, False)
    assert script.counted([row("share", 0.01, 0.04)], study, 100).adjusted


def test_too_often_is_what_the_exact_limits_exclude(script: ModuleType) -> None:
    hit = script.Counts({"share": 2}, {"share": 1}, True, False, {"design for x": 1})
    miss = script.Counts({"share": 2}, {"share": 0}, False, False, {})
    text = script.table("p", "fifth", [hit] * 12 + [miss] * 88)
    assert (
        "| any declared finding after adjustment (Holm) | 12 | 100 | 0.120 | 0.064 to 0.200 **too"
        " often** |" in text
    )
    assert "| `share` | 200 | 12 | 0.060 |" in text
    fine = script.table("p", "fifth", [hit] * 8 + [miss] * 92)
    assert "| design for x | 8 | 100 | 0.080 | 0.035 to 0.152 |" in fine


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["medqade", "real-pocqi", "clexeval", "cqa-eval"])
def test_few_studies_without_effects_claim_nothing(script: ModuleType, name: str) -> None:
    """Six studies: three false claims of one kind would come by chance in one of 440 protocols at a
    level of .05."""
    studies = script.all_studies(name, "fifth", 6, 400, 1)
    assert sum(study.adjusted for study in studies) <= 2
    assert sum(study.max_t for study in studies) <= 2
    claims = {claim for study in studies for claim in study.verdicts}
    assert {
        claim for claim in claims if sum(claim in study.verdicts for study in studies) > 2
    } == set()
    assert sum(sum(study.tested.values()) for study in studies) > 50
