"""Judges against a panel beside its own raters, and raters against themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.estimation.agreement_scales import share_of, spaced
from konsil.analysis.estimation.measure import Column, Measure, quotient, share
from konsil.analysis.estimation.prevalence import label_notes
from konsil.analysis.estimation.rare_events import is_sparse
from konsil.analysis.estimation.raters.consensus_rules import (
    PAIR,
    SMALLEST_PANEL,
    of_two,
    too_small,
)
from konsil.analysis.estimation.raters.leave_one_out import (
    leave_one_out_measure,
    refuse_many_labels,
    table_measure,
    without_majority,
)
from konsil.analysis.model.catalogue.limits import Mode
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.encoding import matrix, of_tasks, subjects_of
from konsil.analysis.table.labels import Labels
from konsil.errors import AnalysisError
from konsil.stats.agreement import consensus
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.thin_pairs import ThinPairs, slots_of, thin_majorities
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array
from konsil.stats.inference.both_ways import both_ways
from konsil.stats.inference.posterior import of_defined_tables, prior
from konsil.stats.shares.uneven_clusters import sizes, uneven_clusters


def against_panel(
    panel: Sample,
    judges: Sample,
    analysis: Analysis,
    mode: Mode,
    level: Level,
    *,
    is_mean: bool = False,
) -> list[tuple[str, Measure, Measure, Measure]]:
    """For each judge: agreement with the panel, the leave-one-out agreement, their difference.

    The leave-one-out agreement is the panel's. valid: judge and held-out rater are scored on the
    same majorities and slots. With a panel of two, the majority without one rater is the label of
    the other one: the judge's value is (a(j, 1) + a(j, 2)) / 2, a the agreement of two raters on
    the units that judge and both raters labelled, the ceiling is a(1, 2) on the same units, and the
    interval holds for these two raters; undefined where one of the three is. paper: the judge
    against the majority of the full panel, which favours neither side equally; for reproduction.
    `is_mean`: the judges are averaged afterwards, so that a judge of a few units counts as much as
    a judge of all units.
    """
    measure, weights = table_measure(analysis)
    codes, names = judges_and_panel(panel, judges)
    codes = spaced(codes, analysis.statistic, level)
    n_panel = panel.codes.labels.shape[1]
    if mode == "valid" and n_panel < SMALLEST_PANEL:
        raise AnalysisError(f"{analysis.name}: {too_small(analysis, n_panel)}")
    # Percent agreement needs no tables, but of very many labels it means nothing either.
    is_short = measure == "percent_agreement" and weights == "unweighted" and mode == "valid"
    size = codes.n_labels if is_short else codes.n_labels**2
    refuse_many_labels(analysis, codes, 2 * n_panel * len(names) * size)
    parts = [
        consensus.judge_and_ceiling(
            n_panel, len(names), codes.n_labels, measure, part, mode, weights, codes.values
        )
        for part in ("judge", "ceiling", "difference")
    ]
    parts = [both_ways(part, codes) for part in parts]
    sums = parts[0].tally(codes)
    is_pair = mode == "valid" and n_panel == PAIR
    notes = (
        *((of_two(str(analysis.against)),) if is_pair else ()),
        *without_majority(panel),
        *label_notes(panel, analysis.statistic),
    )
    share = share_of(analysis.statistic, "", codes)
    thin: list[ThinPairs | None] = [None] * len(names)
    defined: Array | None = None
    if mode == "valid":
        thin, defined = _thin_judges(sums, (len(names), n_panel, codes.n_labels), is_mean=is_mean)
    is_spread = share is None and is_sparse(codes)
    virtual = (
        prior(codes, parts[0].tally, defined=defined) if is_spread or defined is not None else None
    )
    comparisons = []
    entering = _entering(codes.labels, n_panel, mode, is_mean=is_mean)
    for n, name in enumerate(names):
        n_units, n_raters, of_panel, of_judges = entering[n]
        shared = Measure(
            sums,
            parts[0].finalise,
            panel.clusters,
            n_units,
            n_raters + (len(names) if is_mean else 1),
            of_panel + of_judges,
            scale="atanh",
            share=share,
            sizes=sizes(codes),
            prior=virtual if is_spread or thin[n] is not None else None,
            thin=thin[n],
            notes=notes,
        )
        columns = [Column(p.finalise, n) for p in parts]
        judge, ceiling = (
            replace(shared, finalise=column, uneven=uneven_clusters(codes, parts[0].tally, column))
            for column in columns[:2]
        )
        # The ceiling's ratings are the panel's on the judge's units, whoever the judge is.
        ceiling = replace(ceiling, n_raters=n_raters, n_ratings=of_panel)
        if mode == "paper":
            # Its raters meet the others on all units.
            has_slot = np.asarray(consensus.slots(panel.codes.labels).any(axis=1))
            alone = panel.with_labels_of(has_slot)
            ceiling = replace(
                ceiling, n_units=alone.n_units, n_raters=alone.n_raters, n_ratings=alone.n_ratings
            )
        minus = replace(shared, finalise=columns[2])
        comparisons.append(
            (
                name,
                judge,
                ceiling,
                # A difference is no proportion: neither its scale nor its limits hold.
                replace(minus, scale="identity", share=None, prior=None, thin=None),
            )
        )
    return comparisons


def _entering(
    labels: NDArray[np.signedinteger[Any]],
    n_panel: int,
    mode: Mode,
    *,
    is_mean: bool,
) -> list[tuple[int, int, int, int]]:
    """For each judge the units, the panel's raters, its ratings and the judges' that enter.

    A judge's unit enters where a rater of the panel meets a majority of the others (valid), or
    where the panel has a majority (paper). `is_mean`: those of all judges together, for each.
    """
    panel, judged = labels[:, :n_panel] >= 0, labels[:, n_panel:] >= 0
    if mode == "valid":
        has_majority = np.asarray(consensus.slots(labels[:, :n_panel]).any(axis=1))
    else:
        has_majority = consensus.majority(labels[:, :n_panel]) >= 0
    judged &= has_majority[:, None]
    groups = [judged] * judged.shape[1] if is_mean else [column[:, None] for column in judged.T]
    counts = []
    for judges in groups:
        used = panel[judges.any(axis=1)]
        counts.append((len(used), int(used.any(axis=0).sum()), int(used.sum()), int(judges.sum())))
    return counts


def ceilings_of_panel(
    ceilings: Sequence[Measure], panel: Sample, judges: Sample, analysis: Analysis, level: Level
) -> list[Measure]:
    """The judges' ceilings with the panel's own prior, where some raters rated few units.

    The raters are the panel's. Where a judge labelled all that the panel labelled, the ceiling is
    that of the panel by itself; with the panel's own prior both have the same CI, whichever judge
    is compared.
    """
    if all(ceiling.thin is None for ceiling in ceilings):
        return list(ceilings)
    labels = panel.codes.labels
    slots = (labels >= 0) & (consensus.leave_one_out(labels) >= 0)
    used = judges_and_panel(panel, judges)[0].labels[slots.any(axis=1), labels.shape[1] :]
    alone = leave_one_out_measure(panel, analysis, level)
    return [
        (
            replace(
                alone, n_units=ceiling.n_units, n_ratings=ceiling.n_ratings, notes=ceiling.notes
            )
            if ceiling.thin is not None and bool((column >= 0).all())
            else ceiling
        )
        for ceiling, column in zip(ceilings, used.T, strict=True)
    ]


def _thin_judges(
    sums: Sums, shape: tuple[int, int, int], *, is_mean: bool
) -> tuple[list[ThinPairs | None], Array | None]:
    """Overlap of each judge and the raters with the others' majority; and defined columns.

    The overlap is given where some of them share little with that majority. `shape`: judges, raters
    of the panel, labels. The sums are those of `ceiling_agreement` or `ceiling_tables`; their
    defined columns are None where no judge is concerned.
    """
    n_judges, n_panel, n_labels = shape
    n_slots = n_judges * n_panel
    if sums.shape[1] == 3 * n_slots:
        slots = sums[:, 2 * n_slots :]
        defined = np.tile((np.asarray(slots.sum(axis=0)).ravel() > 0).astype(np.float64), 3)
        of_judge = np.arange(n_slots).reshape(n_judges, n_panel)
    else:
        slots, defined = slots_of(sums, n_labels**2), of_defined_tables(sums, n_labels**2)
        of_judge = np.arange(2 * n_slots).reshape(n_judges, 2, n_panel)[:, 0]
    judged = [of_judge.ravel()] * n_judges if is_mean else list(of_judge.reshape(n_judges, n_panel))
    thin = [thin_majorities(slots[:, columns]) for columns in judged]
    return thin, defined if any(each is not None for each in thin) else None


def self_agreement(frame: pl.DataFrame, analysis: Analysis, labels: Labels) -> Measure:
    """Proportion of repeated subjects to which a rater gave the same label both times.

    A repeat is a task that names the task that it repeats; both labels are needed. Where the
    analysis makes one label of an answer's sentences, these labels are compared.
    """
    collapse = analysis.collapse
    # Sentences that count as one do so before the two times are compared.
    if analysis.spans in {"all", "any"}:
        frame, collapse = of_tasks(frame, analysis, labels), {}
    repeats = frame.filter(pl.col("repeat_of").is_not_null())
    key = ["rater", "item", "answers", "span"]
    first = frame.select(
        "task", *key, pl.col("label").alias("first"), pl.col("state").alias("first_state")
    )
    both = repeats.join(
        first, left_on=["repeat_of", *key], right_on=["task", *key], nulls_equal=True
    )
    both = both.filter((pl.col("state") == "rated") & (pl.col("first_state") == "rated"))
    if both.height == 0:
        return Measure(np.zeros((0, 2)), quotient, (), 0, 0, 0)
    same = [
        collapse.get(a, a) == collapse.get(b, b)
        for a, b in zip(both.get_column("first"), both.get_column("label"), strict=True)
    ]
    cluster = both.get_column("case" if analysis.cluster == "case" else "item").fill_null("")
    yes_no = Labels(("different", "same"), (0.0, 1.0), "nominal")
    codes = np.array(same, dtype=np.int64)
    sample = matrix(subjects_of(both), both.get_column("rater"), cluster, codes, yes_no)
    return share(sample, [1])


def majority_sample(sample: Sample, name: str) -> Sample:
    """The panel's strict majority as one rater."""
    codes = sample.codes
    column = consensus.majority(codes.labels).astype(np.int32)[:, None]
    return replace(sample, codes=replace(codes, labels=column), raters=(name,))
