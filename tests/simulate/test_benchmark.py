"""The benchmark of recovery, at a small size."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PLACE = Path(__file__).resolve().parents[2] / "benchmarks" / "recovery.py"


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("recovery", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PLACE.parent))
        patch.setitem(sys.modules, "recovery", module)
        spec.loader.exec_module(module)
        # Large batches of items, the same for every test.
        patch.setattr(module, "truths", cache(module.truths))
        yield module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "parameters"),
    [
        pytest.param("medqade", 150, marks=pytest.mark.long),
        ("clexeval", 45),
        pytest.param("cqa-eval", 45, marks=pytest.mark.long),
    ],
)
def test_small_studies_cover_what_was_planted(benchmark: ModuleType, design: str, parameters: int):
    known = benchmark.truths(design)
    assert len(known) >= parameters
    hits = {name: [] for name in known}
    for seed in range(1, 41):
        found = benchmark.one(seed, design)
        for name, (_, told, _) in known.items():
            _, low, high = found.get(name, (np.nan,) * 3)
            if np.isfinite(low):
                hits[name].append(low <= told.truth <= high)
    shares = np.array([np.mean(h) for h in hits.values() if h])
    # Four standard errors of forty studies below .95 for one number; the mean of all is much surer.
    assert shares.min() >= 0.8
    assert 0.925 <= shares.mean() <= 0.98


def test_every_table_of_the_document_can_be_made_anew(benchmark: ModuleType):
    text = benchmark.DOCUMENT.read_text("utf-8")
    places = [text.index(benchmark.MARKS[0].format(design)) for design in benchmark.DESIGNS]
    assert places == sorted(places)
    assert text.count(benchmark.MARKS[1]) == len(places)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["clexeval", "cqa-eval"])
def test_every_number_of_a_small_study_has_a_true_value(benchmark: ModuleType, design: str):
    known, found = benchmark.truths(design), benchmark.one(1, design)
    assert set(found) == set(known)
