"""Rehearsal: whole studies drawn from stated parameters, and whether the estimates find them again."""

from konsil.simulate.draw import Latent, Simulated, draw, people
from konsil.simulate.recovery import Recovered, recovery, sets_of
from konsil.simulate.truth import CriterionTruth, PanelTruth, SystemTruth, Truth, check_truth, read_truth

__all__ = [
    "CriterionTruth",
    "Latent",
    "PanelTruth",
    "Recovered",
    "Simulated",
    "SystemTruth",
    "Truth",
    "check_truth",
    "draw",
    "people",
    "read_truth",
    "recovery",
    "sets_of",
]
