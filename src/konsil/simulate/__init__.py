"""Rehearsal: whole studies simulated from stated parameters, and parameter recovery."""

from konsil.simulate.draw import Latent, Simulated, draw, lengthened, people
from konsil.simulate.recovery import Recovered, cases_of, lengths_of, recovery, sets_of
from konsil.simulate.truth import (
    CriterionTruth,
    Departure,
    PanelTruth,
    SystemTruth,
    Truth,
    read_truth,
    toml_of,
    without_effects,
)
from konsil.simulate.truth_check import check_truth

__all__ = [
    "CriterionTruth",
    "Departure",
    "Latent",
    "PanelTruth",
    "Recovered",
    "Simulated",
    "SystemTruth",
    "Truth",
    "cases_of",
    "check_truth",
    "draw",
    "lengthened",
    "lengths_of",
    "people",
    "read_truth",
    "recovery",
    "sets_of",
    "toml_of",
    "without_effects",
]
