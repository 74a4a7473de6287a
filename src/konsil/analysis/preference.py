"""Self and family preference of judges, plain and with leniency taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.coding import Sample, select, subjects_of
from konsil.analysis.estimate import Told
from konsil.analysis.frame import Long
from konsil.analysis.kinds import Context, sample_of
from konsil.analysis.measure import Measure
from konsil.analysis.results import Row
from konsil.analysis.rows import estimates_of, row, told_rows
from konsil.analysis.said import say
from konsil.errors import AnalysisError
from konsil.records import Rater, System
from konsil.stats.consensus import majority
from konsil.stats.contract import Array, Estimate, IntArray
from konsil.stats.leniency import Bools, adjusted_preference, advantage, plain_preference, preference_sums

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


@dataclass(frozen=True)
class Bench:
    """All judges' scores, and whose answers they are about."""

    judges: Sample
    """Their labels as codes."""
    scores: Array
    """(n_units, n_judges), nan where a judge gave none."""
    experts: IntArray
    """(n_units,) the experts' majority, -1 where there is none."""
    own: Mapping[str, Bools]
    """Judge -> which units are its own (its siblings') answers."""
    peers: Mapping[str, list[int]]
    """Judge -> the columns of the judges of other families."""

    def sums(self, name: str, scores: Array) -> Array:
        """A judge's advantage by cluster, from these scores."""
        codes, own = self.judges.codes, self.own[name]
        difference = advantage(scores[:, self.judges.raters.index(name)], scores[:, self.peers[name]])
        return preference_sums(difference, own, self.experts, codes.clusters, codes.n_labels)


def bench_of(context: Context, table: Long, frame: pl.DataFrame, judges: Sample, families: Lineage) -> Bench:
    """The judges of an analysis with their scores."""
    analysis = context.analysis
    system_of = _systems(frame)
    systems = np.array([system_of[unit] for unit in judges.units])
    siblings = analysis.statistic == "family_preference"
    of = {name: families.judges[name] for name in judges.raters}
    return Bench(
        judges,
        _scores(judges),
        _experts(context, table, judges) if analysis.mode == "valid" else np.full(len(judges.units), -1),
        {name: _own(judge, systems, families, siblings) for name, judge in of.items()},
        {
            name: [n for n, other in enumerate(judges.raters) if of[other].family != judge.family]
            for name, judge in of.items()
        },
    )


def preference_range(context: Context, bench: Bench, gaps: Bools, name: str) -> tuple[float, float]:
    """A judge's preference at its least and its most: gaps lower its own answers' scores and raise its peers', or not.

    Both versions of the number rise with the judge's scores of its own answers and with its peers' scores of the
    others, and fall with the rest, so that no other labels in the gaps go beyond.
    """
    lowest, highest = float(min(bench.judges.codes.values or (0.0,))), float(max(bench.judges.codes.values or (1.0,)))
    mine = np.zeros(gaps.shape, dtype=bool)
    mine[:, bench.judges.raters.index(name)] = True
    raising = mine == bench.own[name][:, None]
    finalise = plain_preference if context.analysis.mode == "paper" else adjusted_preference
    found = []
    for up, down in ((lowest, highest), (highest, lowest)):
        scores = np.where(gaps, np.where(raising, up, down), bench.scores)
        found.append(float(finalise(bench.sums(name, scores).sum(axis=0))[0]))
    return found[0], found[1]


def preference_rows(context: Context, table: Long, frame: pl.DataFrame, families: Lineage) -> Iterator[Row]:
    """For each judge: its advantage for its own (or its siblings') answers over judges of other families.

    valid: the difference in differences within the experts' label first, the plain difference beside it. paper: the
    plain difference alone, which a merely lenient judge has too.
    """
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    bench = bench_of(context, table, frame, sample_of(context, frame, names), families)
    told: dict[str, tuple[Measure, Measure]] = {}
    for name in names:
        own, peers = bench.own[name], bench.peers[name]
        if not own.any() or not peers:
            why = say("no answers of its own among them") if not own.any() else say("no judge of another family")
            nothing = Estimate(float("nan"), level=context.resampling.level, reason=why)
            yield row(context, {"rater": name}, Told(nothing))
            continue
        sums = bench.sums(name, bench.scores)
        n_own = int(sums[:, 1].sum())
        plain = Measure(sums, plain_preference, bench.judges.clusters, n_own, len(peers) + 1, n_own)
        told[name] = (plain, replace(plain, finalise=adjusted_preference))
    yield from _rows(context, told)


def _rows(context: Context, found: Mapping[str, tuple[Measure, Measure]]) -> Iterator[Row]:
    if context.analysis.mode == "paper":
        plain = estimates_of(context, [p for p, _ in found.values()])
        for (name, (measure, _)), told in zip(found.items(), plain, strict=True):
            yield from told_rows(context, {"rater": name}, told, measure)
        return
    both = estimates_of(context, [*(a for _, a in found.values()), *(p for p, _ in found.values())])
    adjusted, plain = both[: len(found)], both[len(found) :]
    version = say("own minus peers, leniency included")
    for (name, (measure, _)), told, beside in zip(found.items(), adjusted, plain, strict=True):
        yield from told_rows(context, {"rater": name}, told, measure)
        yield row(context, {"rater": name, "version": version}, beside, measure, kind="companion")


def _systems(frame: pl.DataFrame) -> dict[str, str]:
    return dict(frame.select(subjects_of(frame), "system").unique().iter_rows())


def _scores(judges: Sample) -> Array:
    values = np.asarray(judges.codes.values, dtype=np.float64)
    labels = judges.codes.labels
    return np.where(labels >= 0, values[np.maximum(labels, 0)], np.nan)


def _experts(context: Context, table: Long, judges: Sample) -> IntArray:
    """The experts' majority on the judges' units, -1 where there is none."""
    analysis = context.analysis
    frame = select(table, analysis, str(analysis.against))
    if frame.height == 0:
        raise AnalysisError(f"{analysis.name}: panel {analysis.against!r} has no ratings; mode = 'paper' needs none")
    panel = sample_of(context, frame, None)
    of_unit = dict(zip(panel.units, majority(panel.codes.labels, panel.codes.n_labels).tolist(), strict=True))
    return np.array([of_unit.get(unit, -1) for unit in judges.units], dtype=np.int64)


def _own(judge: Rater, systems: np.ndarray[tuple[int], np.dtype[np.str_]], families: Lineage, siblings: bool) -> Bools:
    mine = judge.strata.get(OWN, "")
    if not siblings:
        return np.asarray(systems == mine) if mine else np.zeros(len(systems), dtype=bool)
    siblings_of = [s for s, family in families.systems.items() if family == judge.family and family and s != mine]
    return np.isin(systems, siblings_of)
