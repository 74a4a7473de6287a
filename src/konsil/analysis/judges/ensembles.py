"""Odd-sized ensembles of judges by majority vote against a panel, ranked.

The best ensemble also has an out-of-bag value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.interval_rules import without_limits
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.raters.consensus_rules import no_ratings
from konsil.analysis.estimation.raters.posterior_intervals import from_posterior
from konsil.analysis.estimation.rows.result_rows import row
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import JudgeOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.model.terms import Term
from konsil.analysis.table.encoding import sample_of, select
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, NotRatedError
from konsil.errors.message import listed, message, placed
from konsil.stats.agreement.consensus import majority, with_consensus
from konsil.stats.agreement.kappa import MeasureName
from konsil.stats.engine.contract import Array, Codes, Estimate, IntArray, Statistic
from konsil.stats.engine.resample import by_cluster
from konsil.stats.inference import infer, posterior
from konsil.stats.judges import ensembles
from konsil.stats.judges.selection import best_of
from konsil.stats.shares.shares import FEW_HITS

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


_MOST_DRAWN = 50_000_000
"""Values of all ensembles in all draws of a posterior, beyond which there is none."""

_CHOSEN = message(
    "Ranked first on the same data: the estimate is too high; see the out-of-bag row.",
    message_id="ensembles.first",
)


def ensemble_rows(context: Context, table: RatingTable, frame: pl.DataFrame) -> Iterator[Row]:
    """All odd ensembles, the best first, and the best one's out-of-bag value.

    That value is its performance on clusters that did not choose it.

    valid: all ensembles on the slots where every one has a majority, or each on those of its
    members. paper: each on its own slots. A judge with labels on too few slots is in no ensemble,
    so that it takes none from the others.
    """
    analysis = context.analysis
    panel_frame = select(table, analysis, str(analysis.against))
    if panel_frame.height == 0:
        raise NotRatedError(placed(analysis.name, no_ratings(str(analysis.against))))
    experts = tuple(panel_frame.get_column("rater").unique().sort().to_list())
    names = tuple(frame.get_column("rater").unique().sort().to_list())
    if len(names) > MOST:
        raise AnalysisError(f"{analysis.name}: {len(names)} judges: expected at most {MOST}")
    panel, judges = sample_of(context, panel_frame, experts), sample_of(context, frame, names)
    codes, _ = judges_and_panel(panel, judges)
    if codes.n_labels != 2:
        raise AnalysisError(
            f"{analysis.name}: ensembles need two labels, got {codes.n_labels}; recode them"
            " with collapse"
        )
    votes = with_consensus(majority(panel.codes.labels), codes.labels[:, len(experts) :])
    options = analysis.options_as(JudgeOptions)
    coverage = options.coverage if analysis.mode == "valid" else 0.0
    codes, names, weak = _covered(replace(codes, labels=votes.astype(np.int64)), names, coverage)
    is_common = analysis.mode == "valid" and options.ensemble_units == "common"
    statistic = ensembles.ensembles(len(names), MEASURES[analysis.statistic], common=is_common)
    sums = statistic.tally(codes)
    inference = infer.infer(
        sums,
        statistic.finalise,
        draws=context.resampling.draws,
        level=context.resampling.level,
        key=context.key,
    )
    subsets = ensembles.odd_subsets(len(names))
    counts = ensembles.entering(codes, panel.codes.labels, common=is_common)
    slots = counts.n_slots
    shared = Measure(
        sums, statistic.finalise, panel.clusters, *_entering_any(panel, codes, common=is_common)
    )
    notes = _left_out(weak, coverage)
    if analysis.mode == "valid":
        notes += (
            _common_slots(int(slots.max()), len(panel.units)) if is_common else _own_slots(slots)
        )
    bootstrap = message(
        "{cluster}-cluster bootstrap, BCa, {draws:,} resamples",
        message_id="method.bootstrap",
        cluster=context.cluster,
        draws=inference.draws,
    )
    sparse = _Sparse.of(context, codes, statistic, sums)
    # Stable: of ensembles with the same value the smaller one is first.
    order = np.argsort(
        -np.where(np.isfinite(inference.value), inference.value, -np.inf), kind="stable"
    )
    for place, n in enumerate(order):
        estimate = Estimate(
            float(inference.value[n]),
            float(inference.low[n]),
            float(inference.high[n]),
            inference.level,
            float(inference.se[n]),
            n_clusters=int(counts.n_clusters[n]),
            n_ratings=int(counts.n_labels[n]),
            n_undefined=int(inference.n_undefined[n]),
            method=bootstrap,
            reason=""
            if np.isfinite(inference.value[n])
            else message("no unit on which it has a majority"),
        )
        keys = {"ensemble": " + ".join(names[i] for i in subsets[n]), "size": str(len(subsets[n]))}
        if analysis.mode == "valid":
            estimate = sparse.interval(estimate, n, int(slots[n]), context.cluster)
        ensemble_measure = replace(shared, n_units=int(slots[n]), n_raters=int(counts.n_raters[n]))
        cautions = _few_clusters(inference, int(counts.n_clusters[n]), n)
        chosen = (_CHOSEN,) if place == 0 and len(subsets) > 1 else ()
        is_detail = place >= SHOWN and len(subsets[n]) > 1
        yield row(
            context,
            keys,
            EstimateSummary(estimate, notes=(*notes, *chosen), cautions=cautions),
            ensemble_measure,
            detail=is_detail,
        )
    cautions = _few_clusters(inference, inference.n_clusters, int(order[0]))
    yield _out_of_bag(context, shared, len(subsets), inference.n_clusters, cautions)


def _few_clusters(inference: infer.Inference, n_clusters: int, n: int) -> tuple[infer.Caution, ...]:
    """The caution of few clusters of one ensemble's interval, if there is one."""
    cautions = infer.cautions(replace(inference, n_clusters=n_clusters), n)
    return tuple(c for c in cautions if c.code == "few-clusters")


def _entering_any(panel: Sample, codes: Codes, *, common: bool) -> tuple[int, int, int]:
    """Slots, raters and labels by which the best ensemble is chosen: those of all ensembles."""
    judges = codes.labels[:, 1:] >= 0
    used = (codes.labels[:, 0] >= 0) & (judges.all(axis=1) if common else judges.any(axis=1))
    labelled = np.column_stack([panel.codes.labels >= 0, judges])[used]
    return len(labelled), int(labelled.any(axis=0).sum()), int(labelled.sum())


def _covered(
    codes: Codes, names: tuple[str, ...], coverage: float
) -> tuple[Codes, tuple[str, ...], dict[str, float]]:
    """The judges with labels on enough of the slots with a consensus.

    Also the proportion of those slots on which each of the other judges has labels.
    """
    scored = codes.labels[codes.labels[:, 0] >= 0, 1:]
    shares = (scored >= 0).mean(axis=0) if len(scored) else np.ones(len(names))
    enough = shares >= coverage
    if enough.all() or not enough.any():  # where nobody has enough there is nobody to protect
        return codes, names, {}
    weak = {
        name: float(share)
        for name, share, is_enough in zip(names, shares, enough, strict=True)
        if not is_enough
    }
    columns = np.concatenate([[True], enough])
    members = tuple(name for name, is_enough in zip(names, enough, strict=True) if is_enough)
    return replace(codes, labels=codes.labels[:, columns]), members, weak


def _left_out(weak: Mapping[str, float], coverage: float) -> tuple[str, ...]:
    if not weak:
        return ()
    judges = [
        message("{judge} ({share:.0%})", message_id="ensembles.judge", judge=name, share=share)
        for name, share in weak.items()
    ]
    return (
        message(
            "In no ensemble, with labels on fewer than {coverage:.0%} of the panel's units:"
            " {judges}.",
            message_id="ensembles.left_out",
            coverage=coverage,
            judges=listed(judges),
        ),
    )


def _own_slots(slots: IntArray) -> tuple[str, ...]:
    """Say so where ensembles are compared on different units."""
    low, high = int(slots.min()), int(slots.max())
    if low == high:
        return ()
    return (
        message(
            "Each ensemble is compared on the units on which its own members have a majority,"
            " {low:,} to {high:,}; its rank depends on these units, too.",
            message_id="ensembles.own_units",
            low=low,
            high=high,
        ),
    )


@dataclass(frozen=True)
class _Sparse:
    """The data of intervals where an ensemble and the panel nearly always agree or disagree."""

    share: tuple[float, float] | None
    """(a, b) where the statistic is a + b times the share of slots that agree; None of kappa."""
    rarer: IntArray
    """(n_ensembles,) how many clusters hold the rarer outcome."""
    drawn: Array | None
    """(2, draws, n_ensembles) of the posterior of kappa, where labels are sparse; None: there is
    none."""

    @classmethod
    def of(cls, context: Context, codes: Codes, statistic: Statistic, sums: Array) -> _Sparse:
        name = MEASURES[context.analysis.statistic]
        if name == "cohen_kappa":
            spread = (
                posterior.prior(codes, statistic.tally) if rare_events.is_sparse(codes) else None
            )
            drawn = None
            if spread is not None and context.resampling.draws * sums.shape[1] <= _MOST_DRAWN:
                drawn = posterior.draws_of(
                    sums,
                    spread,
                    statistic.finalise,
                    draws=context.resampling.draws,
                    key=context.key,
                )
            return cls(None, np.zeros(0, dtype=np.int64), drawn)
        share = (0.0, 1.0) if name == "percent_agreement" else (-1.0, 2.0)
        each = (by_cluster(sums, statistic.finalise) - share[0]) / share[1]
        # With a tolerance: a share of exactly 0 or 1, scaled forth and back, is not quite that.
        rarer = np.minimum((each > 1e-9).sum(axis=0), (each < 1 - 1e-9).sum(axis=0))
        return cls(share, rarer.astype(np.int64), None)

    def interval(self, headline: Estimate, n: int, slots: int, cluster: str) -> Estimate:
        """The estimate of ensemble n, its interval with a width, or none and the reason."""
        if not np.isfinite(headline.value):
            return headline
        if headline.n_clusters < 2:
            reason = message("no CI from a single cluster")
            return replace(without_limits(headline, reason), method="")
        if self.share is not None and self.rarer[n] < FEW_HITS:
            return rare_events.of_rare_outcomes(
                headline,
                self.share,
                n_outcomes=slots,
                is_extreme=not self.rarer[n],
                cluster=cluster,
            )
        if self.drawn is not None:
            headline = from_posterior(headline, self.drawn[..., [n]], cluster)
        return rare_events.with_width(headline)


def _common_slots(n: int, of: int) -> tuple[str, ...]:
    """Say so where some units are left out because one judge or the panel has no label there."""
    if n == of:
        return ()
    sentence = message(
        (
            "Compared on {n:,} of {all:,} units: those with a panel majority and a label from"
            " every judge."
        ),
        n=n,
        all=of,
    )
    return (sentence,)


def _out_of_bag(
    context: Context, shared: Measure, n: int, n_clusters: int, cautions: tuple[infer.Caution, ...]
) -> Row:
    draws = min(context.resampling.draws, 2_000)
    best = best_of(
        shared.sums, shared.finalise, draws=draws, key=context.key, level=context.resampling.level
    )
    estimate = Estimate(
        best.out_of_bag,
        best.low,
        best.high,
        context.resampling.level,
        n_clusters=n_clusters,
        n_ratings=shared.n_ratings,
        n_undefined=best.n_undefined,
        method=message(
            (
                "out of bag: {draws:,} resamples, each evaluated on the omitted clusters;"
                " percentiles, wider than a {level:.0%} CI"
            ),
            message_id="ensembles.out_of_bag",
            draws=draws,
            level=context.resampling.level,
        ),
        reason=(
            ""
            if np.isfinite(best.out_of_bag)
            else message("no resample has both a best ensemble and omitted clusters")
        ),
    )
    notes: tuple[str, ...] = ()
    if np.isfinite(best.optimism):
        notes = (
            message(
                (
                    "The best of {n} ensembles was selected on the same data; its estimate and"
                    " CI are optimistic by more than {optimism:.3f}. The out-of-bag estimate"
                    " applies to an ensemble selected in this way on new items. Its range is"
                    " that of single resamples on a third of the items; it is wider than a"
                    " {level:.0%} CI."
                ),
                message_id="ensembles.best",
                n=n,
                optimism=best.optimism,
                level=context.resampling.level,
            ),
        )
    keys = {"ensemble": Term("best_out_of_bag", n), "size": ""}
    return row(
        context,
        keys,
        EstimateSummary(rare_events.with_width(estimate), notes=notes, cautions=cautions),
        shared,
    )
