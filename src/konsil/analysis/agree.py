"""Agreement among raters: which statistics apply, each as a measure, and why one is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.coding import Sample
from konsil.analysis.estimate import Told, estimate, estimates
from konsil.analysis.measure import Measure
from konsil.analysis.said import say
from konsil.analysis.spec import Resampling
from konsil.errors import AnalysisError, nearest
from konsil.stats import kappa, ranks
from konsil.stats.alpha import Level
from konsil.stats.contract import Array, Codes, Finalise
from konsil.stats.icc import ICC_FORMS, icc_test
from konsil.stats.names import SHARE, STATISTICS, Entry
from konsil.stats.names import statistic as named
from konsil.stats.rows import Sums
from konsil.stats.tables import by_cluster, unit_counts

PREVALENCE = 0.9
"""Where one label makes up more than this, kappa and its relatives are unsteady and their intervals unreliable."""

WIDEST = 2_000_000
"""Sums of one cluster beyond which a statistic is not tallied: a gigabyte for every 64 resamples."""

COMMAND = (
    "percent_agreement",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "fleiss_kappa",
    "randolph_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2",
    "icc1",
    "icc2",
    "icc3",
    "icc1k",
    "icc2k",
    "icc3k",
    "kendall_w",
)
"""What `konsil agreement` prints, as far as it applies to the level."""


def applicable(level: str) -> tuple[str, ...]:
    """The command's statistics that apply to a level of measurement."""
    return tuple(name for name in COMMAND if level in STATISTICS[name].levels)


def entry(name: str, level: str, where: str) -> Entry:
    """The registry's entry, or an error that says why there is none."""
    if name not in STATISTICS:
        raise AnalysisError(f"{where}: there is no statistic {name!r}; {nearest(name, STATISTICS)}")
    found = STATISTICS[name]
    if level not in found.levels:
        raise AnalysisError(f"{where}: {name!r} needs a scale of level {', '.join(found.levels)}; this one is {level}")
    return found


def columns(name: str, n_raters: int, n_labels: int) -> int:
    """How many sums a cluster has: a table of labels by labels, once or for each pair of raters."""
    needs = STATISTICS[name].needs
    if needs == "anova":
        return n_raters + 3
    table = n_labels * n_labels
    return table * (n_raters * (n_raters - 1) // 2) if needs in {"pairs", "complete_pairs"} else table + n_labels


Tallied = dict[tuple[Callable[[Codes], Sums], tuple[float, ...] | None], Sums]
"""Sums of one sample by tally, so that statistics of the same sums are tallied and resampled once."""


def agreement(sample: Sample, name: str, level: Level, weights: str = "", tallied: Tallied | None = None) -> Measure:
    """One agreement statistic of one sample as a measure; `tallied` keeps and gives the sums of its sample."""
    codes = spaced(sample.codes, name, level)
    if columns(name, codes.labels.shape[1], codes.n_labels) > WIDEST:
        return _blank(sample)
    chosen = named(name, codes, weights or None, level=level)
    tallied = {} if tallied is None else tallied
    key = (chosen.tally, codes.values)
    if key not in tallied:
        tallied[key] = chosen.tally(codes)
    sums = tallied[key]
    return Measure(
        sums=sums,
        finalise=chosen.finalise,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        n_undefined_pairs=_undefined_pairs(codes, name, sums),
        scale="atanh",
        trials=_trials(sums, name, weights, sample.codes.labels.shape[1]),
        notes=prevalence_note(sample, name),
        commonest=_commonest(sample),
    )


def _trials(sums: Sums, name: str, weights: str, n_raters: int) -> Array | None:
    """How many comparisons each cluster has, where the number is the share of them that agree; else None.

    Two raters compared on one unit agree or do not; the pairs of three raters on one unit are not independent.
    """
    if name == "unanimity":
        trials = np.asarray(sums[:, 1], dtype=np.float64).ravel()
    elif n_raters == 2 and (name == "within_one" or (name == "percent_agreement" and weights in {"", "unweighted"})):
        trials = np.asarray(sums.sum(axis=1), dtype=np.float64).ravel()
    else:
        return None
    return trials if trials.sum() > 1 else None


def _blank(sample: Sample) -> Measure:
    """A measure without a value, for what cannot be tallied."""
    return Measure(
        sums=np.ones((len(sample.clusters), 1)),
        finalise=lambda totals: np.full_like(totals, np.nan),
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
    )


def spaced(codes: Codes, name: str, level: Level) -> Codes:
    """Ordinal labels are steps apart, not numbers apart, for all but the statistics that average numbers."""
    if level in {"nominal", "ordinal"} and name not in ICC_FORMS:
        return replace(codes, values=None)
    return codes


def _undefined_pairs(codes: Codes, name: str, sums: Sums) -> int:
    """How many pairs of raters a statistic of pairs is undefined for, whatever its weights."""
    if STATISTICS[name].needs != "pairs":
        return 0
    raters = codes.labels.shape[1]
    if name in {"spearman", "kendall_tau_b"}:
        each = ranks.spearman(raters, codes.n_labels, per_pair=True)
    elif name.startswith("cohen_kappa") or name in {"light_kappa", "scott_pi"}:
        each = kappa.cohen_kappa(raters, codes.n_labels, per_pair=True)
    else:
        each = kappa.percent_agreement(raters, codes.n_labels, per_pair=True)
    return int(_at(sums, kappa.undefined_pairs(each).finalise))


def _commonest(sample: Sample) -> float:
    """The share of the label that was given most often; nan where there is none."""
    counts = unit_counts(sample.codes).sum(axis=0)
    return float(counts.max() / counts.sum()) if counts.sum() else math.nan


def prevalence_note(sample: Sample, name: str) -> tuple[str, ...]:
    """Say so where one label is so common that chance-corrected agreement is unsteady."""
    if STATISTICS[name].range == SHARE or sample.codes.n_labels < 2:
        return ()
    common = _commonest(sample)
    if not common > PREVALENCE:
        return ()
    if sample.codes.n_labels == 2:
        return (
            say(
                "One of the two labels makes up {share:.0%} of all: kappa and its relatives are unsteady.", share=common
            ),
        )
    return (say("One label makes up {share:.0%} of all: kappa and its relatives are unsteady.", share=common),)


def reason(sample: Sample, name: str) -> str:
    """Why a statistic is undefined on a sample, in words."""
    n_raters, n_labels = sample.codes.labels.shape[1], sample.codes.n_labels
    if columns(name, n_raters, n_labels) > WIDEST:
        return say(
            "not computed: {labels:,} different labels of {raters:,} raters need tables of {cells:,} cells; round the"
            " labels to fewer",
            labels=n_labels,
            raters=n_raters,
            cells=columns(name, n_raters, n_labels),
        )
    counts = unit_counts(sample.codes)
    if not (counts.sum(axis=1) >= 2).any():
        return say("no unit was labelled by two raters")
    used = int((counts.sum(axis=0) > 0).sum())
    if used == 1:
        return say("all labels are the same, so agreement beyond chance is undefined")
    if name in ICC_FORMS or name == "kendall_w":
        complete = int((sample.codes.labels >= 0).all(axis=1).sum())
        if complete < 2:
            return say("needs at least two units that every rater labelled; there are {n}", n=complete)
        if name in {"icc1k", "icc2k", "icc3k"}:
            return say("units differ no more than chance has it, so that the mean's reliability has no denominator")
        return say("the units or the raters do not vary")
    return say("undefined for every pair of raters")


def told(
    sample: Sample, name: str, level: Level, *, key: int, resampling: Resampling, cluster: str, weights: str = ""
) -> tuple[Told, Measure]:
    """An agreement statistic with its intervals; for ICC the textbook's F interval stands beside."""
    measure = agreement(sample, name, level, weights)
    found = estimate(measure, key=key, resampling=resampling, cluster=cluster, why=reason(sample, name))
    found = _completed(found, measure, sample, name, resampling)
    return with_chance(found, sample, name, key=key, resampling=resampling, cluster=cluster), measure


def with_chance(found: Told, sample: Sample, name: str, *, key: int, resampling: Resampling, cluster: str) -> Told:
    """Agreement within one step with the chance level beside it, on the same resamples; other statistics as they are.

    The chance level is that of two labels drawn from all the labels given: sum over labels at most one step apart of
    p_i p_j, p the shares of the labels.
    """
    if name != "within_one" or not np.isfinite(found.headline.value):
        return found
    counts = by_cluster(unit_counts(sample.codes), sample.codes)
    near = 1 - kappa.measure_disagreements("within_one", sample.codes.n_labels)

    def finalise(totals: Array) -> Array:
        shares = kappa.ratio(totals, np.broadcast_to(totals.sum(-1, keepdims=True), totals.shape))
        return np.asarray(((shares @ near) * shares).sum(-1, keepdims=True), dtype=np.float64)

    measure = Measure(counts, finalise, sample.clusters, sample.n_units, sample.n_raters, sample.n_ratings)
    chance = estimate(measure, key=key, resampling=resampling, cluster=cluster).headline
    method = say("chance level (two labels drawn from all labels given), {method}", method=chance.method)
    beside = replace(chance, method=method)
    return replace(found, companions=(*found.companions, beside))


def told_together(
    sample: Sample, names: Sequence[str], level: Level, *, key: int, resampling: Resampling, cluster: str
) -> dict[str, Told]:
    """Several agreement statistics of one sample: the same numbers as one by one, each kind of sums resampled once."""
    tallied: Tallied = {}
    measures = {name: agreement(sample, name, level, tallied=tallied) for name in names}
    together: dict[int, list[str]] = {}
    for name, measure in measures.items():
        together.setdefault(id(measure.sums), []).append(name)
    found: dict[str, Told] = {}
    for members in together.values():
        whys = [reason(sample, name) for name in members]
        tolds = estimates(
            [measures[name] for name in members], key=key, resampling=resampling, cluster=cluster, whys=whys
        )
        for name, told in zip(members, tolds, strict=True):
            told = _completed(told, measures[name], sample, name, resampling)
            found[name] = replace(told, notes=(*told.notes, *_pairs_note(measures[name], sample)))
    return {name: found[name] for name in names}


def _pairs_note(measure: Measure, sample: Sample) -> tuple[str, ...]:
    undefined, n_raters = measure.n_undefined_pairs, sample.codes.labels.shape[1]
    pairs = n_raters * (n_raters - 1) // 2
    if not 0 < undefined < pairs:
        return ()
    return (
        say("undefined for {n:,} of {all:,} pairs of raters, which are left out of the mean", n=undefined, all=pairs),
    )


def _completed(found: Told, measure: Measure, sample: Sample, name: str, resampling: Resampling) -> Told:
    """What ICC and W say besides: the textbook's interval, and how many units are complete."""
    if name in ICC_FORMS and np.isfinite(found.headline.value):
        form = icc_test(name, _total(measure.sums), sample.codes.labels.shape[1], resampling.level)
        textbook = replace(
            found.headline,
            low=form.low,
            high=form.high,
            se=float("nan"),
            p=form.p,
            n_undefined=0,
            method=say("F interval of Shrout and Fleiss: independent, normal units"),
        )
        found = replace(found, companions=(*found.companions, textbook))
    complete = int((sample.codes.labels >= 0).all(axis=1).sum())
    if (name in ICC_FORMS or name == "kendall_w") and complete < sample.n_units:
        note = say("Of {all:,} units, the {n:,} that every rater labelled are used.", all=sample.n_units, n=complete)
        found = replace(found, notes=(note, *found.notes))
    return found


def _total(sums: Sums) -> Array:
    return np.asarray(sums.sum(axis=0), dtype=np.float64).ravel()


def _at(sums: Sums, finalise: Finalise) -> float:
    return float(finalise(_total(sums))[0])
