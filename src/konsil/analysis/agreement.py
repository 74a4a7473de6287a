"""Agreement statistics of any table of ratings, without a study: what `konsil agreement` and konsil.agreement give."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from konsil.analysis import agree
from konsil.analysis.asked import Asked, Layout, Level
from konsil.analysis.estimate import sentence
from konsil.analysis.frames import lone_index, to_polars
from konsil.analysis.spec import Resampling
from konsil.analysis.tabular import is_role, read
from konsil.errors import AnalysisError, nearest
from konsil.stats.contract import Estimate
from konsil.stats.names import STATISTICS
from konsil.stats.weights import stream_key

if TYPE_CHECKING:
    import pandas as pd

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class NamedEstimate:
    """One statistic's estimate."""

    name: str
    """The statistic."""
    estimate: Estimate
    """The number and how sure."""


@dataclass(frozen=True)
class Agreement:
    """All agreement statistics that apply to one table."""

    n_units: int
    """Units with at least one label."""
    n_raters: int
    """Raters with at least one label."""
    n_ratings: int
    """Labels; abstentions are not counted."""
    n_abstained: int
    """Abstentions."""
    statistics: tuple[NamedEstimate, ...]
    """Headline estimates, in the registry's order."""
    companions: tuple[NamedEstimate, ...]
    """The same numbers with other intervals."""
    warnings: tuple[str, ...]
    """What a reader must know."""
    labels: tuple[str, ...]
    """The scale's labels."""
    constant: str | None = None
    """The only label in the table, where no scale was declared: nothing beyond chance can then be said."""

    def __getitem__(self, name: str) -> Estimate:
        """The headline estimate of a statistic by name."""
        found = {s.name: s.estimate for s in self.statistics}
        if name not in found:
            raise AnalysisError(f"no statistic {name!r} here; {nearest(name, found)}")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as --json prints it: undefined is None, with its reason."""
        return {
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "statistics": [_plain(s) for s in self.statistics],
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """The JSON that --json prints."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_polars(self) -> pl.DataFrame:
        """One row a statistic, as a Polars frame."""
        schema = {
            "name": pl.String,
            "value": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "se": pl.Float64,
            "n_clusters": pl.Int64,
            "n_undefined": pl.Int64,
            "method": pl.String,
            "reason": pl.String,
        }
        return pl.DataFrame([_plain(s) for s in self.statistics], schema=schema)

    def to_pandas(self) -> pd.DataFrame:
        """One row a statistic, as a pandas frame; needs pandas."""
        import pandas

        return pandas.DataFrame([_plain(s) for s in self.statistics])


def _plain(one: NamedEstimate) -> dict[str, Any]:
    e = one.estimate
    return {
        "name": one.name,
        "value": _number(e.value),
        "low": _number(e.low),
        "high": _number(e.high),
        "se": _number(e.se),
        "n_clusters": e.n_clusters,
        "n_undefined": e.n_undefined,
        "method": e.method,
        "reason": e.reason,
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def agreement(
    frame: object,
    *,
    layout: Layout | None = None,
    unit: str | None = None,
    rater: str | Sequence[str] | None = None,
    label: str | None = None,
    cluster: str | None = None,
    level: Level = "nominal",
    labels: Sequence[str | float] = (),
    abstain: str | None = None,
    missing: Sequence[str] = ("",),
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Agreement:
    """Agreement statistics of a table of ratings, with intervals that respect clusters.

    `frame` is a Polars or pandas data frame. Wide: one row a unit, one column a rater, empty cells not rated. Long: one
    row a rating, with columns `unit`, `rater` and `label`. Units of one `cluster` are resampled together. `labels`
    declares the scale in order; without it the observed labels are taken. An `abstain` label is not a value.

    Which statistics are given depends on `level`; undefined ones are nan with a reason. Intervals: BCa bootstrap over
    clusters; `companions` holds the linearised cluster intervals, and the F intervals of ICC.

    >>> import polars as pl
    >>> table = pl.DataFrame({"ann": list("aabbabab"), "ben": list("aabbabba")})
    >>> result = agreement(table, labels=["a", "b"], resamples=200)
    >>> round(result["cohen_kappa"].value, 3)
    0.5
    """
    if isinstance(labels, str) or isinstance(missing, str):
        raise AnalysisError("labels and missing: expected a list of labels, got one text")
    if layout not in {None, "wide", "long"}:
        raise AnalysisError(f"layout {layout!r} is not one of 'wide', 'long'; leave it out to have it guessed")
    chosen = (rater,) if isinstance(rater, str) else tuple(rater or ())
    words = tuple(f"{v:g}" if isinstance(v, float) else str(v) for v in labels)
    index = lone_index(frame)
    if unit is None and index is not None and index not in {*chosen, label, cluster} and not is_role(index):
        unit = index
    asked = Asked(layout, unit, chosen, label, cluster, level, words, abstain, tuple(missing))
    wanted = [name for name in (unit, label, cluster, *chosen) if name is not None]
    return from_asked(to_polars(frame, wanted), asked, resamples=resamples, seed=seed, confidence=confidence)


def _check(level: str, resamples: int, confidence: float) -> None:
    if level not in LEVELS:
        raise AnalysisError(f"level {level!r} is not one of {', '.join(LEVELS)}; {nearest(level, LEVELS)}")
    if resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {resamples}")
    if not 0.5 <= confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {confidence:g}")


def from_asked(frame: pl.DataFrame, asked: Asked, *, resamples: int, seed: int, confidence: float = 0.95) -> Agreement:
    """The same, from a frame and how it is to be read."""
    _check(asked.level, resamples, confidence)
    table = read(frame, asked)
    resampling = Resampling(resamples, confidence)
    found: list[NamedEstimate] = []
    companions: list[NamedEstimate] = []
    # Warnings that many statistics share are told once, with the names of those they concern.
    notes: dict[str, list[str]] = {}
    everything = agree.told_together(
        table.sample,
        agree.applicable(asked.level),
        asked.level,
        key=stream_key(seed, "agreement"),
        resampling=resampling,
        cluster=asked.cluster or "unit",
    )
    for name, told in everything.items():
        found.append(NamedEstimate(name, told.headline))
        companions.extend(NamedEstimate(name, c) for c in told.companions)
        for note in told.notes:
            notes.setdefault(note, []).append(name)
        for caution in told.cautions:
            notes.setdefault(_SAID.get(caution.code) or sentence(caution), []).append(name)
    sample = table.sample
    if not asked.labels and asked.level == "nominal" and _looks_ordered(table.labels.names):
        notes[
            "the labels are numbers but were taken as names; say --level ordinal or interval if their order counts"
        ] = []
    n_resampled = sum("bootstrap" in s.estimate.method for s in found)
    warnings = (*table.warnings, *(_told_once(text, names, n_resampled) for text, names in notes.items()))
    return Agreement(
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        n_abstained=table.n_abstained,
        statistics=tuple(found),
        companions=tuple(companions),
        warnings=warnings,
        labels=table.labels.names,
        constant=table.constant,
    )


_SAID = {
    "widths-differ": "the BCa and the linearised interval differ by more than 15 % in width",
    "undefined-draws": "undefined in some resamples, which are counted and left out of the interval",
    "no-variation": "no resample differs from the estimate: the interval has no width and is no evidence",
}
"""Cautions whose own sentence differs from statistic to statistic, said once for all of them."""


def _told_once(text: str, names: Sequence[str], n_resampled: int) -> str:
    """A warning with the statistics it concerns; one about the clusters of all resampled ones needs no names."""
    everywhere = len(names) >= n_resampled and "clusters, fewer" in text
    return f"{', '.join(names)}: {text}" if names and not everywhere else text


def _looks_ordered(labels: Sequence[str]) -> bool:
    return len(labels) > 2 and all(v.lstrip("-").replace(".", "", 1).isdigit() for v in labels)


def describe(name: str) -> str:
    """A statistic's title for people."""
    return STATISTICS[name].title


__all__ = ["LEVELS", "Agreement", "NamedEstimate", "agreement", "describe", "from_asked"]
