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
    shared = Measure(
        sums, statistic.finalise, panel.clusters, len(panel.units), len(names), int((votes[:, 1:] >= 0).sum())
    )
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
            n_ratings=shared.n_ratings,
            n_undefined=int(found.n_undefined[n]),
            method=method,
            reason="" if np.isfinite(found.value[n]) else say("no slot on which it has a majority"),
        )
        keys = {"ensemble": " + ".join(names[i] for i in subsets[n]), "size": str(len(subsets[n]))}
        yield row(context, keys, Told(told), shared, detail=place >= SHOWN and len(subsets[n]) > 1)
    yield _out_of_bag(context, shared, len(subsets))


def _out_of_bag(context: Context, shared: Measure, n: int) -> Row:
    draws = min(context.resampling.draws, 2_000)
    best = best_of(shared.sums, shared.finalise, draws=draws, key=context.key, level=context.resampling.level)
    told = Estimate(
        best.out_of_bag,
        best.low,
        best.high,
        context.resampling.level,
        n_clusters=len(shared.clusters),
        n_ratings=shared.n_ratings,
        n_undefined=best.n_undefined,
        method=say(
            "out of bag: in each of {draws:,} resamples the best is chosen and scored on the clusters left out",
            draws=draws,
        ),
        reason="" if np.isfinite(best.out_of_bag) else say("no resample has a best and clusters left out"),
    )
    note = say(
        "The best of {n} was chosen on the same data: its value is too high by about {optimism:.3f};"
        " the out-of-bag value is what an ensemble chosen in this way reaches on new items.",
        n=n,
        optimism=best.optimism,
    )
    return row(
        context, {"ensemble": say("best of {n}, out of bag", n=n), "size": ""}, Told(told, notes=(note,)), shared
    )
