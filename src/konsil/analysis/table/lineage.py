"""Families of systems and of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.records import Rater, System

OWN = "system"
"""The stratum of a judge that names the system it is."""


@dataclass(frozen=True)
class Lineage:
    """Who is of which family."""

    systems: Mapping[str, str]
    """System -> family."""
    judges: Mapping[str, Rater]
    """Judge -> its record."""


def lineage(systems: Sequence[System], raters: Sequence[Rater]) -> Lineage:
    """The families of systems and raters."""
    return Lineage({s.id: s.family for s in systems}, {r.id: r for r in raters})
