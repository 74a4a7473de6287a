"""The benchmark of recovery, at a small size."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PLACE = Path(__file__).resolve().parents[2] / "benchmarks" / "recovery.py"


@pytest.mark.slow
def test_small_medqade_studies_cover_what_was_planted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(PLACE.parent))
    spec = importlib.util.spec_from_file_location("recovery", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "recovery", module)
    spec.loader.exec_module(module)
    known = module.truths()
    assert len(known) > 150
    hits = {name: [] for name in known}
    for seed in range(1, 41):
        found = module.one(seed)
        for name, (_, told, _) in known.items():
            _, low, high = found.get(name, (np.nan,) * 3)
            if np.isfinite(low):
                hits[name].append(low <= told.truth <= high)
    shares = np.array([np.mean(h) for h in hits.values() if h])
    # Four standard errors of forty studies below .95 for one number; the mean of all is much surer.
    assert shares.min() >= 0.8
    assert 0.925 <= shares.mean() <= 0.975
