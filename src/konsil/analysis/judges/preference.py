"""Self and family preference of judges, plain and with leniency taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rows.result_rows import estimate_rows, estimates_of, row
from konsil.analysis.model.catalogue.design_needs import is_kin
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.terms import LENIENT
from konsil.analysis.table.encoding import sample_of, select, subjects_of
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import OWN, Lineage
from konsil.errors import NotRatedError
from konsil.errors.message import message, placed
from konsil.records import Rater
from konsil.records.numerals import natural
from konsil.stats.agreement.consensus import majority
from konsil.stats.engine.contract import Array, Estimate, IntArray
from konsil.stats.judges.self_preference import (
    Bools,
    adjusted_preference,
    comparable,
    plain_preference,
    preference_sums,
    strata_of_means,
)

Names = np.ndarray[tuple[int], np.dtype[np.str_]]


@dataclass(frozen=True)
class Bench:
    """All judges' scores, and whose answers they are about."""

    judges: Sample
    """Their labels as codes."""
    scores: Array
    """(n_units, n_judges), nan where a judge gave none."""
    strata: IntArray
    """(n_units,) the stratum of the experts' scores, -1 where there is none."""
    n_strata: int
    """How many strata there are."""
    own_answers: Mapping[str, Bools]
    """Judge -> which units are its own (its siblings') answers."""
    others: Mapping[str, Bools]
    """Judge -> which units are answers of other families."""
    written: Bools
    """(n_units, n_judges) which answers a judge, or a model of its family, wrote."""
    peers: Mapping[str, list[int]]
    """Judge -> the columns of the judges of other families."""
    systems: Names
    """(n_units,) whose answers they are."""

    def own_systems(self, name: str) -> list[str]:
        """The systems of a judge's own (its siblings') answers, in their natural order."""
        return sorted(set(self.systems[self.own_answers[name]].tolist()), key=natural)

    def of_system(self, name: str, system: str) -> Bench:
        """The same with only one system's answers as a judge's own; others stay what they are."""
        own = self.own_answers[name] & (self.systems == system)
        return replace(self, own_answers={**self.own_answers, name: own})

    def parts(self, name: str, scores: Array) -> tuple[Array, Array, Bools, Bools, IntArray]:
        """A judge's scores and its peers', with the answers' owners and strata.

        Its scores, its peers' of what they did not write, its own and the others' answers, the
        strata.
        """
        peers = np.where(self.written, np.nan, scores)[:, self.peers[name]]
        return (
            scores[:, self.judges.raters.index(name)],
            peers,
            self.own_answers[name],
            self.others[name],
            self.strata,
        )

    def sums(self, name: str, scores: Array) -> Array:
        """A judge's advantage by cluster, from these scores."""
        return preference_sums(*self.parts(name, scores), self.judges.codes.clusters, self.n_strata)

    def used(self, name: str) -> Bools:
        """Which of its own answers the difference in differences uses."""
        return comparable(*self.parts(name, self.scores), self.n_strata)


def bench_of(
    context: Context, table: RatingTable, frame: pl.DataFrame, judges: Sample, families: Lineage
) -> Bench:
    """The judges of an analysis with their scores."""
    analysis = context.analysis
    system_of = _systems(frame)
    systems = np.array([system_of[unit] for unit in judges.units])
    siblings = analysis.statistic == "family_preference"
    of = {name: families.judges[name] for name in judges.raters}
    n_units = len(judges.units)
    strata, n_strata = (
        _strata(context, table, judges)
        if analysis.mode == "valid"
        else (np.full(n_units, -1, dtype=np.int64), 1)
    )
    kin = {name: _kin(judge, systems, families) for name, judge in of.items()}
    itself = {name: _itself(judge, systems) for name, judge in of.items()}
    return Bench(
        judges,
        _scores(judges),
        strata,
        n_strata,
        {name: kin[name] & ~itself[name] if siblings else itself[name] for name in of},
        {name: ~(kin[name] | itself[name]) for name in of},
        np.column_stack([kin[name] | itself[name] for name in of]),
        {
            name: [n for n, other in enumerate(judges.raters) if of[other].family != judge.family]
            for name, judge in of.items()
        },
        systems,
    )


def preference_range(context: Context, bench: Bench, gaps: Bools, name: str) -> tuple[float, float]:
    """A judge's preference at its least and its greatest, over the gaps.

    Gaps lower its own answers' scores and raise its peers', or the reverse. Both versions of the
    number rise with the judge's scores of its own answers and with its peers' scores of the others,
    and fall with the rest, so that no other labels in the gaps go beyond.
    """
    lowest, highest = (
        float(min(bench.judges.codes.values or (0.0,))),
        float(max(bench.judges.codes.values or (1.0,))),
    )
    is_judge = np.zeros(gaps.shape, dtype=bool)
    is_judge[:, bench.judges.raters.index(name)] = True
    raising = is_judge == bench.own_answers[name][:, None]
    finalise = plain_preference if context.analysis.mode == "paper" else adjusted_preference
    extremes = []
    for up, down in ((lowest, highest), (highest, lowest)):
        scores = np.where(gaps, np.where(raising, up, down), bench.scores)
        extremes.append(float(finalise(bench.sums(name, scores).sum(axis=0))[0]))
    return extremes[0], extremes[1]


def preference_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, families: Lineage
) -> Iterator[Row]:
    """Each judge's advantage for its own answers over judges of other families.

    Own answers may be those of its siblings; with `by = ["system"]` those of each sibling alone,
    so that a row states which judge rates which system.

    valid: the difference in differences within the experts' score first, the plain difference
    beside it. paper: the plain difference alone, which a merely lenient judge has too.
    """
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    bench = bench_of(context, table, frame, sample_of(context, frame, names), families)
    groups = list(_groups(context, bench, names))
    if not groups:
        nothing = _undefined(context, message("no own answers among them"))
        yield row(context, {}, EstimateSummary(nothing))
    numbers: list[tuple[dict[str, str], Measure, Measure]] = []
    for keys, part in groups:
        name = keys["rater"]
        own_answers, peers = part.own_answers[name], part.peers[name]
        if not own_answers.any() or not peers:
            reason = (
                message("no own answers among them")
                if not own_answers.any()
                else message("no judge of another family")
            )
            yield row(context, keys, EstimateSummary(_undefined(context, reason)))
            continue
        sums = part.sums(name, part.scores)
        n_own = int(sums[:, 1].sum())
        plain = Measure(sums, plain_preference, part.judges.clusters, n_own, len(peers) + 1, n_own)
        adjusted = replace(plain, finalise=adjusted_preference)
        if context.analysis.mode == "valid":
            adjusted = _with_counts(adjusted, int(part.used(name).sum()), n_own)
        numbers.append((keys, plain, adjusted))
    yield from _rows(context, numbers)


def _groups(
    context: Context, bench: Bench, names: Sequence[str]
) -> Iterator[tuple[dict[str, str], Bench]]:
    """A group for each judge, or for each judge and each other system of its family."""
    for name in names:
        if "system" not in context.analysis.by:
            yield {"rater": name}, bench
            continue
        for system in bench.own_systems(name):
            yield {"rater": name, "system": system}, bench.of_system(name, system)


def _undefined(context: Context, reason: str) -> Estimate:
    return Estimate(float("nan"), level=context.resampling.level, reason=reason)


def _with_counts(measure: Measure, n_used: int, n_own: int) -> Measure:
    """The measure with a note of how many own answers it uses."""
    note = message(
        "Own answers used: {used:,} of {all:,}; excluded: {without:,} without a comparable answer"
        " of another family (same experts' score, same peer).",
        message_id="preference.own_answers_used",
        used=n_used,
        all=n_own,
        without=n_own - n_used,
    )
    return replace(measure, n_units=n_used, n_ratings=n_used, notes=(*measure.notes, note))


def _rows(
    context: Context, numbers: Sequence[tuple[dict[str, str], Measure, Measure]]
) -> Iterator[Row]:
    """The rows of each group's plain and adjusted number."""
    if context.analysis.mode == "paper":
        alone = estimates_of(context, [plain for _, plain, _ in numbers])
        for (keys, measure, _), summary in zip(numbers, alone, strict=True):
            yield from estimate_rows(context, keys, summary, measure)
        return
    reason = message(
        "no own answer has a comparable answer of another family (same experts' score, same peer)",
        message_id="preference.nothing_comparable",
    )
    # The two numbers of a judge rest on different answers, so that their counts are told apart, and
    # on the same sums, which are resampled once.
    for keys, plain, adjusted in numbers:
        if plain.n_ratings and adjusted.n_ratings:
            unadjusted, summary = estimates_of(context, [plain, adjusted], ["", reason])
        else:
            unadjusted, summary = (
                estimate_of(context, plain),
                estimate_of(context, adjusted, reason),
            )
        yield from estimate_rows(context, keys, summary, adjusted)
        yield row(context, {**keys, "version": LENIENT}, unadjusted, plain, kind="companion")


def _systems(frame: pl.DataFrame) -> dict[str, str]:
    return dict(frame.select(subjects_of(frame), "system").unique().iter_rows())


def _scores(judges: Sample) -> Array:
    values = np.asarray(judges.codes.values, dtype=np.float64)
    labels = judges.codes.labels
    return np.where(labels >= 0, values[np.maximum(labels, 0)], np.nan)


def _strata(context: Context, table: RatingTable, judges: Sample) -> tuple[IntArray, int]:
    """Strata of answers with equal experts' scores.

    By their mean score, or by their majority where labels have no order.
    """
    analysis = context.analysis
    frame = select(table, analysis, str(analysis.against))
    if frame.height == 0:
        raise NotRatedError(
            placed(
                analysis.name,
                message(
                    "panel {panel!r} has no ratings; mode = 'paper' needs none",
                    message_id="refused.not_rated_paper",
                    panel=str(analysis.against),
                ),
            )
        )
    panel = sample_of(context, frame, None)
    place = {unit: n for n, unit in enumerate(panel.units)}
    at = np.array([place.get(unit, -1) for unit in judges.units], dtype=np.int64)
    if context.level == "nominal" and panel.codes.n_labels > _BINARY:
        decided = majority(panel.codes.labels)
        return np.where(at >= 0, decided[at], -1), panel.codes.n_labels
    scores = _scores(panel)
    is_scored = np.isfinite(scores)
    means = np.where(is_scored, scores, 0.0).sum(axis=1) / np.where(
        is_scored.any(axis=1), is_scored.sum(axis=1), np.nan
    )
    strata, n_strata = strata_of_means(means, np.asarray(panel.codes.values, dtype=np.float64))
    return np.where(at >= 0, strata[at], -1), n_strata


_BINARY = 2
"""Labels of which any two have an order."""


def _itself(judge: Rater, systems: Names) -> Bools:
    """The answers of the system that a judge is."""
    system = judge.strata.get(OWN, "")
    return np.asarray(systems == system) if system else np.zeros(len(systems), dtype=bool)


def _kin(judge: Rater, systems: Names, families: Lineage) -> Bools:
    """The answers of the systems of a judge's family."""
    return np.isin(systems, [s for s, family in families.systems.items() if is_kin(judge, family)])
