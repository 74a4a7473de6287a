"""Agreement among raters: which statistics apply, each as a measure, and why one is undefined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from konsil.analysis.coding import Sample
from konsil.analysis.estimate import Told, estimate, estimates
from konsil.analysis.measure import Measure
from konsil.analysis.spec import Resampling
from konsil.errors import AnalysisError, nearest
from konsil.stats import kappa
from konsil.stats.alpha import Level
from konsil.stats.contract import Array, Codes, Finalise
from konsil.stats.icc import ICC_FORMS, icc_test
from konsil.stats.names import STATISTICS, Entry
from konsil.stats.names import statistic as named
from konsil.stats.rows import Sums
from konsil.stats.tables import unit_counts

PREVALENCE = (0.1, 0.9)
"""Outside of it kappa and its relatives are unsteady and their intervals unreliable."""

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
        n_undefined_pairs=_undefined_pairs(codes, name, weights, sums),
        scale="atanh",
        notes=prevalence_note(sample, name),
    )


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


_PER_PAIR = {"cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "percent_agreement", "pabak"}


def _undefined_pairs(codes: Codes, name: str, weights: str, sums: Sums) -> int:
    if name not in _PER_PAIR:
        return 0
    raters = codes.labels.shape[1]
    if name.startswith("cohen_kappa"):
        own = {"cohen_kappa_linear": "linear", "cohen_kappa_quadratic": "quadratic"}.get(name, weights or "unweighted")
        each = kappa.cohen_kappa(raters, codes.n_labels, own, codes.values, per_pair=True)
    else:
        each = kappa.percent_agreement(raters, codes.n_labels, per_pair=True)
    count = kappa.undefined_pairs(each)
    return int(_at(sums, count.finalise))


def prevalence_note(sample: Sample, name: str) -> tuple[str, ...]:
    """Say so where one of two labels is so common that chance-corrected agreement is unsteady."""
    if name in {"percent_agreement", "within_one"} or sample.codes.n_labels != 2:
        return ()
    counts = unit_counts(sample.codes).sum(axis=0)
    share = float(counts[1] / counts.sum()) if counts.sum() else float("nan")
    if PREVALENCE[0] <= share <= PREVALENCE[1] or not np.isfinite(share):
        return ()
    return (
        f"One of the two labels makes up {max(share, 1 - share):.0%} of all: kappa and its relatives are unsteady.",
    )


def reason(sample: Sample, name: str) -> str:
    """Why a statistic is undefined on a sample, in words."""
    n_raters, n_labels = sample.codes.labels.shape[1], sample.codes.n_labels
    if columns(name, n_raters, n_labels) > WIDEST:
        return (
            f"not computed: {n_labels:,} different labels of {n_raters:,} raters need tables of"
            f" {columns(name, n_raters, n_labels):,} cells; round the labels to fewer"
        )
    counts = unit_counts(sample.codes)
    if not (counts.sum(axis=1) >= 2).any():
        return "no unit was labelled by two raters"
    used = int((counts.sum(axis=0) > 0).sum())
    if used == 1:
        return "all labels are the same, so agreement beyond chance is undefined"
    if name in ICC_FORMS or name == "kendall_w":
        complete = int((sample.codes.labels >= 0).all(axis=1).sum())
        if complete < 2:
            return f"needs at least two units that every rater labelled; there are {complete}"
        return "the units or the raters do not vary"
    return "undefined for every pair of raters"


def told(
    sample: Sample, name: str, level: Level, *, key: int, resampling: Resampling, cluster: str, weights: str = ""
) -> tuple[Told, Measure]:
    """An agreement statistic with its intervals; for ICC the textbook's F interval stands beside."""
    measure = agreement(sample, name, level, weights)
    found = estimate(measure, key=key, resampling=resampling, cluster=cluster, why=reason(sample, name))
    return _completed(found, measure, sample, name, resampling), measure


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
            found[name] = _completed(told, measures[name], sample, name, resampling)
    return {name: found[name] for name in names}


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
            method="F interval of Shrout and Fleiss: independent, normal units",
        )
        found = replace(found, companions=(*found.companions, textbook))
    complete = int((sample.codes.labels >= 0).all(axis=1).sum())
    if (name in ICC_FORMS or name == "kendall_w") and complete < sample.n_units:
        note = f"Of {sample.n_units} units, the {complete} that every rater labelled are used."
        found = replace(found, notes=(note, *found.notes))
    return found


def _total(sums: Sums) -> Array:
    return np.asarray(sums.sum(axis=0), dtype=np.float64).ravel()


def _at(sums: Sums, finalise: Finalise) -> float:
    return float(finalise(_total(sums))[0])
