"""From a measure to estimates: the primary CI, its companions, notes and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.interval_rules import (
    ResampledNumber,
    as_published,
    first_interval,
    no_interval_reason,
    wald_method,
)
from konsil.analysis.estimation.measure import Measure, is_linearised, together, value
from konsil.analysis.estimation.raters.posterior_intervals import of_thin_pairs
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
    """One number with its CIs: by the first of `interval_rules.RULES`, two-way Wald also.

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
    number = ResampledNumber(headline, inference, n, measure, cluster, drawn, is_published)
    headline, companions, is_resampled = (
        as_published(number) if is_published else first_interval(number)
    )
    cautions = stepwise(infer.cautions(inference, n), measure)
    if not is_published:
        width_codes = {"no-variation", "one-width"}
        cautions = tuple(
            c
            for c in cautions
            if np.isfinite(headline.low)
            and (c.code == "few-clusters" or (is_resampled and c.code not in width_codes))
        )
    notes = list(measure.notes)
    if measure.uneven is not None and not is_published:
        notes.append(rare_events.uneven_note(measure.uneven, cluster))
    two = two_way(headline, measure, cluster)
    if two is not None and rare_events.has_width(two):
        companions.append(replace(two, reason=""))
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
        method=wald_method(measure, cluster, int(df[0])),
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
