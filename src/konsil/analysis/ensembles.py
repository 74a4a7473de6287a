"""Every odd-sized ensemble of judges by majority vote against a panel, ranked, with the best one's out-of-bag value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis import panels
from konsil.analysis.coding import select
from konsil.analysis.estimate import Told
from konsil.analysis.frame import Long
from konsil.analysis.kinds import Context, sample_of
from konsil.analysis.measure import Measure
from konsil.analysis.results import Row
from konsil.analysis.rows import row
from konsil.analysis.said import say
from konsil.errors import AnalysisError
from konsil.stats import ensembles, infer
from konsil.stats.consensus import majority, with_consensus
from konsil.stats.contract import Estimate
from konsil.stats.kappa import MeasureName
from konsil.stats.selection import best_of

MEASURES: dict[str, MeasureName] = {
    "ensembles_percent_agreement": "percent_agreement",
    "ensembles_cohen_kappa": "cohen_kappa",
    "ensembles_pabak": "pabak",
}
"""Statistic of an analysis -> what each ensemble is ranked on."""

SHOWN = 15
"""Ensembles on the page; the data files have all."""

MOST = 15
"""Judges: more would make more than 16,384 ensembles."""


def ensemble_rows(context: Context, table: Long, frame: pl.DataFrame) -> Iterator[Row]:
    """All odd ensembles, the best first; then what is left of the best on clusters that did not choose it.

    valid: all ensembles on the slots where every one has a majority. paper: each on its own slots.
    """
    analysis = context.analysis
    panel_frame = select(table, analysis, str(analysis.against))
    if panel_frame.height == 0:
        raise AnalysisError(f"{analysis.name}: panel {analysis.against!r} has no ratings")
    experts = tuple(panel_frame.get_column("rater").unique().sort().to_list())
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    if len(names) > MOST:
        raise AnalysisError(f"{analysis.name}: {len(names)} judges: expected at most {MOST}")
    panel, judges = sample_of(context, panel_frame, experts), sample_of(context, frame, names)
    codes, _ = panels.judges_and_panel(panel, judges)
    if codes.n_labels != 2:
        raise AnalysisError(f"{analysis.name}: ensembles vote on two labels, here are {codes.n_labels}; collapse them")
    votes = with_consensus(majority(panel.codes.labels, 2), codes.labels[:, len(experts) :])
    codes = replace(codes, labels=votes.astype(np.int64))
    statistic = ensembles.ensembles(len(names), MEASURES[analysis.statistic], common=analysis.mode == "valid")
    sums = statistic.tally(codes)
    found = infer.infer(
        sums, statistic.finalise, draws=context.resampling.draws, level=context.resampling.level, key=context.key
    )
    subsets = ensembles.odd_subsets(len(names))
    slots, labels = ensembles.ensemble_counts(codes, common=analysis.mode == "valid")
    shared = Measure(sums, statistic.finalise, panel.clusters, int(slots.max()), len(names), int(labels.max()))
    cautions = tuple(c for c in infer.cautions(found) if c.code == "few-clusters")
    notes = _common_slots(int(slots.max()), len(panel.units)) if analysis.mode == "valid" else ()
    method = say("{cluster}-cluster bootstrap, BCa, {draws:,} resamples", cluster=context.cluster, draws=found.draws)
    order = np.argsort(-np.where(np.isfinite(found.value), found.value, -np.inf), kind="stable")
    for place, n in enumerate(order):
        told = Estimate(
            float(found.value[n]),
            float(found.low[n]),
            float(found.high[n]),
            found.level,
            float(found.se[n]),
            n_clusters=found.n_clusters,
            n_ratings=int(labels[n]),
            n_undefined=int(found.n_undefined[n]),
            method=method,
            reason="" if np.isfinite(found.value[n]) else say("no slot on which it has a majority"),
        )
        keys = {"ensemble": " + ".join(names[i] for i in subsets[n]), "size": str(len(subsets[n]))}
        mine = replace(shared, n_units=int(slots[n]), n_raters=len(subsets[n]))
        is_detail = place >= SHOWN and len(subsets[n]) > 1
        yield row(context, keys, Told(told, notes=notes, cautions=cautions), mine, detail=is_detail)
    yield _out_of_bag(context, shared, len(subsets), found.n_clusters, cautions)


def _common_slots(n: int, of: int) -> tuple[str, ...]:
    """Say so where some units are left out because one judge or the panel has no label there."""
    if n == of:
        return ()
    said = say(
        "Compared on {n:,} of {all:,} units: those with a majority of the panel on which every judge gave a label.",
        n=n,
        all=of,
    )
    return (said,)


def _out_of_bag(context: Context, shared: Measure, n: int, n_clusters: int, cautions: tuple[infer.Caution, ...]) -> Row:
    draws = min(context.resampling.draws, 2_000)
    best = best_of(shared.sums, shared.finalise, draws=draws, key=context.key, level=context.resampling.level)
    told = Estimate(
        best.out_of_bag,
        best.low,
        best.high,
        context.resampling.level,
        n_clusters=n_clusters,
        n_ratings=shared.n_ratings,
        n_undefined=best.n_undefined,
        method=say(
            "out of bag: in each of {draws:,} resamples the best is chosen and scored on the clusters left out",
            draws=draws,
        ),
        reason="" if np.isfinite(best.out_of_bag) else say("no resample has a best and clusters left out"),
    )
    notes: tuple[str, ...] = ()
    if np.isfinite(best.optimism):
        said = say(
            "The best of {n} was chosen on the same data: its value is too high by about {optimism:.3f};"
            " the out-of-bag value is what an ensemble chosen in this way reaches on new items.",
            n=n,
            optimism=best.optimism,
        )
        notes = (said,)
    keys = {"ensemble": say("best of {n}, out of bag", n=n), "size": ""}
    return row(context, keys, Told(told, notes=notes, cautions=cautions), shared)
