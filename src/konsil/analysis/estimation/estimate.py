"""From a measure to estimates: the primary CI, its companions, notes and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.measure import Measure, is_linearised, together, value
from konsil.analysis.estimation.raters.posterior_intervals import from_posterior, of_thin_pairs
from konsil.analysis.estimation.raters.rater_notes import dominated, rater_sampling_notes
from konsil.analysis.estimation.raters.two_way import two_way
from konsil.analysis.model.spec import AsPublished, Resampling
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.cluster_sums import Sums, prepare
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.inference import infer, posterior, wald

BUDGET = 1_000_000_000
"""Sums times draws from which on there is no resampling but the linearised interval."""

WORK = 200_000_000_000
"""Sums times draws times clusters from which on resampling takes half a minute or more."""


@dataclass(frozen=True)
class EstimateSummary:
    """A headline, other intervals of the same number, and sentences."""

    headline: Estimate
    """What is reported first."""
    companions: tuple[Estimate, ...] = ()
    """The same number with other intervals."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the labels."""
    cautions: tuple[infer.Caution, ...] = ()
    """What a reader must know of the intervals."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """All of it as sentences."""
        return (*self.notes, *(sentence(c) for c in self.cautions))


def sentence(caution: infer.Caution) -> TranslatableMessage:
    """What a reader must know of an interval, in words."""
    a, b = (*caution.numbers, 0, 0)[:2]
    match caution.code:
        case "few-clusters":
            return message(
                "CI based on {n:.0f} {n|cluster|clusters} (fewer than {few:.0f}); coverage"
                " may be below nominal.",
                message_id="interval.few_clusters",
                n=a,
                few=b,
            )
        case "no-variation":
            return message(
                "All resamples gave the same value; a CI without width does not indicate"
                " certainty.",
                message_id="interval.no_width",
            )
        case "widths-differ":
            return message(
                "The bootstrap CI is {times:.2f} times as wide as the cluster-robust Wald CI.",
                message_id="interval.wider_than_wald",
                times=a,
            )
        case "one-width":
            return message(
                "The cluster-robust Wald CI has no width, whereas the bootstrap CI does."
            )
        case "undefined-draws":
            return message(
                "The statistic was not estimable in {n:.0f} of {all:.0f} resamples.", n=a, all=b
            )


def estimate(
    measure: Measure, *, key: int, resampling: Resampling, cluster: str, reason: str = ""
) -> EstimateSummary:
    """One number with its CIs: BCa over clusters as primary CI, Wald and two-way Wald also.

    A share with one outcome a cluster at most has Wilson's interval instead (Clopper-Pearson at 0
    and 1); so has one whose rarer outcome is in few clusters, at the sample size that its clusters
    are worth. Slopes of rare events have the linearised interval first. `reason` is the reason
    given when the value is undefined.
    """
    return estimates([measure], key=key, resampling=resampling, cluster=cluster, reasons=[reason])[
        0
    ]


def estimates(
    measures: Sequence[Measure],
    *,
    key: int,
    resampling: Resampling,
    cluster: str,
    reasons: Sequence[str],
) -> list[EstimateSummary]:
    """Several numbers of the same sums (the same object), each as by `estimate`, resampled once."""
    plain = [n for n, m in enumerate(measures) if _one_outcome_a_cluster(m)]
    if plain:
        others = [n for n in range(len(measures)) if n not in plain]
        remaining = [measures[n] for n in others], [reasons[n] for n in others]
        summary_by_index = dict(
            zip(
                others,
                estimates(
                    remaining[0],
                    key=key,
                    resampling=resampling,
                    cluster=cluster,
                    reasons=remaining[1],
                ),
                strict=True,
            )
        )
        return [
            summary_by_index[n] if n in summary_by_index else _plain_share(m, resampling, cluster)
            for n, m in enumerate(measures)
        ]
    if not measures:
        return []
    first = measures[0]
    if first.n_ratings == 0 or not first.clusters:
        stated = [reason or message("no ratings available") for reason in reasons]
        return [
            EstimateSummary(Estimate(float("nan"), level=resampling.level, reason=reason))
            for reason in stated
        ]
    if too_long(first.sums, resampling.draws) or any(map(is_linearised, measures)):
        return [
            _linearised(m, resampling, cluster, reason)
            for m, reason in zip(measures, reasons, strict=True)
        ]

    inference = infer.infer(
        first.sums,
        together(measures),
        draws=resampling.draws,
        level=resampling.level,
        key=key,
        scale=first.scale,
    )
    drawn = _posteriors(measures, key, resampling)
    return [
        _resampled(inference, n, m, resampling, cluster, reason, drawn.get(n))
        for n, (m, reason) in enumerate(zip(measures, reasons, strict=True))
    ]


def _posteriors(measures: Sequence[Measure], key: int, resampling: Resampling) -> dict[int, Array]:
    """Posterior draws, (2, draws, 1) each, by the index of each measure with sparse labels."""
    places = [n for n, m in enumerate(measures) if m.prior is not None]
    if not places or isinstance(resampling, AsPublished):
        return {}
    first = measures[places[0]]
    if first.prior is None or first.sums.shape[0] * first.sums.shape[1] > posterior.WIDEST:
        return {}
    sums = first.sums if isinstance(first.sums, np.ndarray) else first.sums.toarray()
    forms = [
        m if m.drawn_as is None else replace(m, finalise=m.drawn_as)
        for m in (measures[n] for n in places)
    ]
    drawn = posterior.draws_of(sums, first.prior, together(forms), draws=resampling.draws, key=key)
    return {n: drawn[..., [column]] for column, n in enumerate(places)}


def stepwise(cautions: tuple[infer.Caution, ...], measure: Measure) -> tuple[infer.Caution, ...]:
    """Without what compares with a linearised interval, where there is none to compare with."""
    return (
        cautions
        if measure.is_smooth
        else tuple(c for c in cautions if c.code not in {"widths-differ", "one-width"})
    )


def too_long(sums: Sums, draws: int) -> bool:
    """Whether resampling would take minutes or more.

    The sums are very wide, or there are very many clusters of wide sums.
    """
    n_clusters, width = sums.shape
    return bool(width * draws > BUDGET or width * draws * n_clusters > WORK)


def _resampled(
    inference: infer.Inference,
    n: int,
    measure: Measure,
    resampling: Resampling,
    cluster: str,
    reason: str,
    drawn: Array | None,
) -> EstimateSummary:
    at = float(inference.value[n])
    if not np.isfinite(at):
        reason = reason or message("not estimable from these labels")
        return EstimateSummary(
            undefined_estimate(measure, resampling, inference.n_clusters, reason),
            notes=measure.notes,
        )
    headline = Estimate(
        at,
        float(inference.low[n]),
        float(inference.high[n]),
        resampling.level,
        float(inference.se[n]),
        n_clusters=inference.n_clusters,
        n_ratings=measure.n_ratings,
        n_undefined=int(inference.n_undefined[n]),
        method=message(
            "{cluster}-cluster bootstrap, BCa, {draws:,} resamples",
            message_id="method.bootstrap",
            cluster=cluster,
            draws=inference.draws,
        )
        if np.isfinite(inference.low[n])
        else "",
        reason=no_interval_reason(inference),
    )
    is_published = isinstance(resampling, AsPublished)
    companions = (
        [_wald(headline, inference, n, measure, cluster, is_published)] if measure.is_smooth else []
    )
    cautions = stepwise(infer.cautions(inference, n), measure)
    if not is_published and measure.thin is not None:
        # What the labels themselves say of the variance is too little here, so nothing stands
        # beside the posterior.
        headline, companions = (
            of_thin_pairs(headline, drawn, measure, measure.thin, cluster),
            [],
        )
        cautions = tuple(c for c in cautions if c.code == "few-clusters")
    elif not is_published:
        if drawn is not None:
            first: Estimate | None = from_posterior(headline, drawn, cluster, measure.uneven)
        elif measure.uneven is not None and measure.share is None and companions:
            first = companions[0]
        else:
            first = (
                companions[0]
                if measure.is_rare and companions
                else rare_events.rare_outcome_interval(headline, measure, cluster)
            )
            if first is None and measure.is_smooth:
                first = of_few_clusters(headline, inference, n, cluster)
                # Of few clusters both are its approximations, and this one is without draws.
                companions = [] if first is not None else companions
                if first is not None and not np.isfinite(first.low):
                    headline = first
        if first is not None and np.isfinite(first.low):
            # Resamples that lack what is rare are no second opinion on agreement.
            is_agreement = (
                drawn is not None or measure.share is not None or measure.uneven is not None
            )
            alternatives = [] if is_agreement else [headline]
            companions = [*alternatives, *(c for c in companions if c is not first)]
            headline = first
            cautions = tuple(c for c in cautions if measure.is_rare or c.code == "few-clusters")
        headline, companions = (
            rare_events.with_width(headline),
            [rare_events.with_width(c) for c in companions if rare_events.has_width(c)],
        )
        cautions = tuple(c for c in cautions if c.code not in {"no-variation", "one-width"})
    notes = list(measure.notes)
    if measure.uneven is not None and not is_published:
        notes.append(rare_events.uneven_note(measure.uneven, cluster))
    two = two_way(headline, measure, cluster)
    if two is not None and rare_events.has_width(two):
        companions.append(two)
        notes += rater_sampling_notes(headline, two, measure)
    notes += dominated(measure)
    return EstimateSummary(headline, tuple(companions), tuple(notes), cautions)


def _linearised(
    measure: Measure, resampling: Resampling, cluster: str, reason: str
) -> EstimateSummary:
    """The linearised CI alone, where resamples of very many sums would take hours."""
    at = value(measure)
    used = prepare(measure.sums).informative
    if not np.isfinite(at):
        return EstimateSummary(
            undefined_estimate(
                measure, resampling, used, reason or message("not estimable from these labels")
            ),
            notes=measure.notes,
        )
    influence = wald.linearised(measure.sums, measure.finalise)
    se = wald.one_way(influence, np.array([at]), n_clusters=used).se
    # Influences of measured values have heavy tails, and then few of them make the variance.
    df = wald.variance_degrees(influence, used)
    low, high = wald.interval(np.array([at]), se, df, level=resampling.level, scale=measure.scale)
    headline = Estimate(
        at,
        float(low[0]),
        float(high[0]),
        resampling.level,
        float(se[0]),
        n_clusters=used,
        n_ratings=measure.n_ratings,
        method=_wald_method(measure, cluster, int(df[0])),
        reason=message("no CI from a single cluster") if used < 2 else "",
    )
    notes = measure.notes
    if measure.thin is not None and used > 1 and not isinstance(resampling, AsPublished):
        return EstimateSummary(
            of_thin_pairs(headline, None, measure, measure.thin, cluster), notes=notes
        )
    if measure.uneven is not None and used > 1 and not isinstance(resampling, AsPublished):
        headline = rare_events.of_uneven_clusters(headline, measure, measure.uneven, cluster)
        notes = (*notes, rare_events.uneven_note(measure.uneven, cluster))
    headline = rare_events.with_width(headline)
    note = message(
        "The bootstrap was omitted because of the size of the data; the CI is the"
        " cluster-robust Wald CI."
    )
    return EstimateSummary(headline, notes=(*notes, note))


def undefined_estimate(
    measure: Measure, resampling: Resampling, n_clusters: int, reason: str
) -> Estimate:
    """An estimate without a value, with its reason."""
    return Estimate(
        float("nan"),
        level=resampling.level,
        n_clusters=n_clusters,
        n_ratings=measure.n_ratings,
        n_undefined=resampling.draws,
        reason=reason,
    )


def without_limits(headline: Estimate, reason: str) -> Estimate:
    """The number without an interval and without a p value, with the reason."""
    nothing = float("nan")
    return replace(headline, low=nothing, high=nothing, se=nothing, p=nothing, reason=reason)


def no_interval_reason(inference: infer.Inference) -> str:
    """The reason for a value without an interval; empty where it has one."""
    if inference.n_clusters < 2:
        return message("no CI from a single cluster")
    return ""


def _wald(
    headline: Estimate,
    inference: infer.Inference,
    n: int,
    measure: Measure,
    cluster: str,
    is_published: bool,
) -> Estimate:
    if measure.uneven is not None and not is_published:
        return rare_events.of_uneven_clusters(headline, measure, measure.uneven, cluster)
    df = inference.n_clusters - 1
    low, high = float(inference.wald_low[n]), float(inference.wald_high[n])
    if measure.share is not None and measure.scale == "atanh":
        low, high = rare_events.wald_bounds(
            measure, headline.value, headline.se, df, headline.level
        )
    return replace(
        headline, low=low, high=high, n_undefined=0, method=_wald_method(measure, cluster, df)
    )


def of_few_clusters(
    headline: Estimate, inference: infer.Inference, n: int, cluster: str
) -> Estimate | None:
    """The jackknife interval and p value where there are too few clusters for a bootstrap.

    None where there are enough of them. Without limits where the number does not vary, or is
    undefined, without one of them: resamples would hide that it rests on so few.
    """
    interval = infer.of_few_clusters(inference)
    if interval is None or not rare_events.has_width(headline):
        return None
    if not np.isfinite(interval.low[n]):
        reason = message(
            "no CI: without one of the clusters the estimate stays the same or is undefined",
            message_id="interval.no_jackknife",
        )
        return replace(without_limits(headline, reason), method="")
    return replace(
        headline,
        low=float(interval.low[n]),
        high=float(interval.high[n]),
        se=float(interval.se[n]),
        # Of estimates that are differences; the others' value of 0 means nothing.
        p=float(interval.p[n]) if np.isfinite(headline.p) else headline.p,
        n_undefined=0,
        method=_jackknife_method(inference.scale, cluster, int(interval.df[n])),
    )


def _jackknife_method(scale: wald.Scale, cluster: str, df: int) -> str:
    match scale:
        case "identity":
            return message(
                "{cluster}-cluster jackknife, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife",
                cluster=cluster,
                df=df,
            )
        case "atanh":
            return message(
                "{cluster}-cluster jackknife on the atanh scale, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife_atanh",
                cluster=cluster,
                df=df,
            )
        case "logit":
            return message(
                "{cluster}-cluster jackknife on the logit scale, t with {df} degrees of freedom",
                message_id="method.cluster_jackknife_logit",
                cluster=cluster,
                df=df,
            )


def _wald_method(measure: Measure, cluster: str, df: int) -> str:
    if measure.scale == "atanh" and measure.share is not None:
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the logit scale of the"
                " proportion, t with {df} degrees of freedom"
            ),
            message_id="edges.wald_logit",
            cluster=cluster,
            df=df,
        )
    if measure.scale == "logit":
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the logit scale, t with {df}"
                " degrees of freedom"
            ),
            message_id="method.wald_logit",
            cluster=cluster,
            df=df,
        )
    if measure.scale == "atanh":
        return message(
            (
                "cluster-robust Wald ({cluster}-clustered) on the atanh scale, t with {df}"
                " degrees of freedom"
            ),
            message_id="method.wald_atanh",
            cluster=cluster,
            df=df,
        )
    return message(
        "cluster-robust Wald ({cluster}-clustered), t with {df} degrees of freedom",
        message_id="method.wald",
        cluster=cluster,
        df=df,
    )


def _one_outcome_a_cluster(measure: Measure) -> bool:
    return bool(measure.trials is not None and measure.trials.any() and (measure.trials <= 1).all())


def _plain_share(measure: Measure, resampling: Resampling, cluster: str) -> EstimateSummary:
    n = 0.0 if measure.trials is None else float(measure.trials.sum())
    headline = rare_events.plain(measure, value(measure), n, resampling.level)
    two = two_way(headline, measure, cluster)
    if two is None or not rare_events.has_width(two):
        return EstimateSummary(headline, notes=(*measure.notes, *dominated(measure)))
    return EstimateSummary(
        headline, (two,), (*measure.notes, *rater_sampling_notes(headline, two, measure))
    )
