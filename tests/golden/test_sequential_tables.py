"""Constants and bounds of group sequential tests, as published."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.designs.sequential import Bounds, bounds, stages

# Jennison and Turnbull (2000), Group Sequential Methods, tables 2.1 (C_P) and 2.3 (C_B).
POCOCK = {
    0.01: {2: 2.772, 3: 2.873, 4: 2.939, 5: 2.986, 10: 3.117},
    0.05: {2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555},
    0.10: {2: 1.875, 3: 1.992, 4: 2.067, 5: 2.122, 10: 2.270},
}
OBRIEN_FLEMING = {
    0.01: {2: 2.580, 3: 2.595, 4: 2.609, 5: 2.621, 10: 2.660},
    0.05: {2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 10: 2.087},
    0.10: {2: 1.678, 3: 1.710, 4: 1.733, 5: 1.751, 10: 1.801},
}
# Two-sided level 0.05, equal steps: the output of ld98 and ldbounds (Reboussin, DeMets, Kim and Lan
# 2000, Controlled Clinical Trials 21), and of gsDesign's sfLDOF and sfLDPocock at 0.025 a side.
LAN_DEMETS = {
    ("obrien_fleming", 2): (2.9626, 1.9686),
    ("obrien_fleming", 3): (3.7103, 2.5114, 1.9930),
    ("obrien_fleming", 4): (4.3326, 2.9631, 2.3590, 2.0141),
    ("obrien_fleming", 5): (4.8769, 3.3569, 2.6803, 2.2898, 2.0310),
    ("pocock", 5): (2.4380, 2.4268, 2.4101, 2.3966, 2.3859),
}


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 10])
def test_classical_constants(alpha, k):
    """Tests with the published constants, which have three decimals, reject at their level."""
    t = np.arange(1, k + 1) / k
    for constant, shape in (
        (POCOCK[alpha][k], np.ones(k)),
        (OBRIEN_FLEMING[alpha][k], np.sqrt(1 / t)),
    ):
        none = np.zeros(k)
        levels = [
            sum(s.upper + s.lower for s in stages(Bounds(t, (constant + e) * shape, none, none)))
            for e in (-6e-4, 6e-4)
        ]
        assert levels[0] > alpha > levels[1]


@pytest.mark.parametrize(("family", "k"), list(LAN_DEMETS))
def test_lan_demets_bounds(family, k):
    design = bounds(np.arange(1, k + 1) / k, spending=family)
    assert design.critical == pytest.approx(LAN_DEMETS[family, k], abs=2e-4)
