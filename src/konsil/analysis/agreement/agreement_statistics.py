"""Agreement among raters: which statistics apply, each as a measure, and why one is undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from konsil.analysis.agreement.agreement_limits import (
    LEAST_UNITS,
    columns,
    computed_from_margins,
    has_too_few_units,
    is_too_large,
    n_rated_twice,
)
from konsil.analysis.estimation import rare_events
from konsil.analysis.estimation.agreement_scales import share_of, spaced
from konsil.analysis.estimation.measure import Measure, from_formula, is_linearised
from konsil.analysis.estimation.own_weights import PairWeights, Weights
from konsil.analysis.estimation.prevalence import LINEAR, commonest, label_notes
from konsil.analysis.model.sample import Sample
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message
from konsil.stats.agreement import kappa
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.drawn_forms import drawn_form
from konsil.stats.agreement.label_sets import SET_STATISTICS
from konsil.stats.agreement.long_scales.by_name import long_form
from konsil.stats.agreement.long_scales.coefficients import OverPairs
from konsil.stats.agreement.long_scales.rank_correlations import RankCorrelation
from konsil.stats.agreement.long_scales.ranks import unit_members
from konsil.stats.agreement.registry import STATISTICS, Entry, Uses
from konsil.stats.agreement.registry import statistic as named
from konsil.stats.agreement.thin_pairs import ThinPairs, by_shared_units, thin_pairs
from konsil.stats.engine import ranks
from konsil.stats.engine.arithmetic import WithGradient
from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Codes, Finalise, Statistic
from konsil.stats.engine.tables import label_counts
from konsil.stats.inference.both_ways import both_ways
from konsil.stats.inference.posterior import Prior, of_defined_tables, prior
from konsil.stats.shares.uneven_clusters import sizes, uneven_clusters

COMMAND = (
    "percent_agreement",
    "within_one",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "scott_pi",
    "fleiss_kappa",
    "conger_kappa",
    "randolph_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2_linear",
    "gwet_ac2",
    "icc1",
    "icc2",
    "icc3",
    "icc1k",
    "icc2k",
    "icc3k",
    "kendall_w",
    "spearman",
    "kendall_tau_b",
)
"""What `konsil agreement` prints, as far as it applies to the level."""

INCOMPLETE = {"percent_agreement": "multirater_percent_agreement"}
"""Also printed where labels are missing: the same with equal weight of each unit."""


def applicable(level: str, *, is_incomplete: bool = False) -> tuple[str, ...]:
    """The command's statistics for a level of measurement.

    `is_incomplete`: labels are missing, so the statistics for missing labels are included.
    """
    suitable = (name for name in COMMAND if level in STATISTICS[name].levels)
    pairs = (
        (name, INCOMPLETE[name]) if is_incomplete and name in INCOMPLETE else (name,)
        for name in suitable
    )
    return tuple(name for pair in pairs for name in pair)


EQUAL_LABELS = frozenset(
    {
        "percent_agreement",
        "multirater_percent_agreement",
        "unanimity",
        "cohen_kappa",
        "light_kappa",
        "pabak",
        "scott_pi",
        "fleiss_kappa",
        "conger_kappa",
        "randolph_kappa",
        "brennan_prediger",
        "gwet_ac1",
    }
)
"""Statistics that count equal labels and no distances, where no weights are given."""


def counts_equal_labels(name: str, level: str, weights: Weights = "") -> bool:
    """Whether a statistic counts equal labels alone, so that it means nothing of measured values.

    >>> counts_equal_labels("cohen_kappa", "interval"), counts_equal_labels("icc2", "interval")
    (True, False)
    """
    if name == "krippendorff_alpha":
        return level == "nominal" and isinstance(weights, str)
    is_weighted = STATISTICS[name].weighted and weights not in {"", "unweighted"}
    return name in EQUAL_LABELS and not is_weighted


def needs_raters(name: str) -> bool:
    """Whether a statistic needs to know which rater gave which label."""
    return STATISTICS[name].needs not in {"counts", "coincidences", "one_way"}


def full_name(name: str, where: str) -> str:
    """The name of the statistic that is meant, where a part of its name means no other one.

    An AnalysisError lists the statistics that a part of a name can mean.

    >>> full_name("alpha", "statistic"), full_name("ac1", "statistic")
    ('krippendorff_alpha', 'gwet_ac1')
    >>> full_name("masi", "statistic"), full_name("kapa", "statistic")
    ('krippendorff_alpha_masi', 'kapa')
    """
    word = name.strip().casefold() if isinstance(name, str) else ""
    if name in STATISTICS or name in SET_STATISTICS or not word:
        return name
    candidates = [n for n in STATISTICS if n.startswith(word) or word in n.split("_")]
    # Of statistics of sets alone, so that alpha remains the one of single labels.
    candidates = candidates or [n for n in SET_STATISTICS if word in n.split("_")]
    if len(candidates) > 1:
        meanings = ", ".join(f"{n} ({STATISTICS[n].title})" for n in candidates)
        raise AnalysisError(
            f"{where}: {name!r} can mean several statistics: {meanings}; expected one of these"
            " names"
        )
    return candidates[0] if candidates else name


def title_of(name: str) -> str:
    """A statistic's title for people."""
    of_sets = SET_STATISTICS.get(name)
    return STATISTICS[name].title if of_sets is None else of_sets.title


def entry(name: str, level: str, where: str) -> Entry:
    """The registry's entry, or an error that states why there is none."""
    if name not in STATISTICS:
        known = (*STATISTICS, *SET_STATISTICS)
        raise AnalysisError(f"{where}: there is no statistic {name!r}; {nearest(name, known)}")
    statistic = STATISTICS[name]
    if level not in statistic.levels:
        raise AnalysisError(
            f"{where}: {name!r} needs a scale of level {', '.join(statistic.levels)}; this one is"
            f" {level}"
        )
    return statistic


@dataclass
class Tallied:
    """Sums and priors that the statistics of one sample share.

    Statistics of the same sums are tallied and resampled once.
    """

    sums: dict[tuple[Callable[[Codes], Sums], tuple[float, ...] | None, int], Sums] = field(
        default_factory=dict
    )
    """Sums by tally, the labels' numbers and the ratings that enter."""
    priors: dict[tuple[int, bool], Prior | None] = field(default_factory=dict)
    """What sparse labels, or pairs that share few units, add to the sums, by the sums' identity."""
    sparse: dict[int, bool] = field(default_factory=dict)
    """Whether labels are too sparse for a bootstrap, by the ratings that enter."""
    pairs: dict[int, ThinPairs | None] = field(default_factory=dict)
    """What pairs of raters share where some share few units, by the ratings that enter."""
    samples: dict[Uses, Sample] = field(default_factory=dict)
    """The ratings that enter a statistic, by the units that it uses."""

    def entering(self, sample: Sample, uses: Uses) -> Sample:
        """The sample's ratings that enter a statistic which uses these units."""
        if uses not in self.samples:
            self.samples[uses] = entering(sample, uses)
        return self.samples[uses]

    def thin(self, codes: Codes) -> ThinPairs | None:
        """What pairs of raters share, where some share few units; else None."""
        place = id(codes.labels)
        if place not in self.pairs:
            self.pairs[place] = thin_pairs(codes)
        return self.pairs[place]

    def prior(
        self, codes: Codes, tally: Callable[[Codes], Sums], sums: Sums, *, is_thin: bool = False
    ) -> Prior | None:
        """What sparse labels add to these sums, or `is_thin` pairs of raters.

        None where labels are not sparse.
        """
        if id(codes.labels) not in self.sparse:
            self.sparse[id(codes.labels)] = rare_events.is_sparse(codes)
        if not (self.sparse[id(codes.labels)] or is_thin):
            return None
        place = (id(sums), is_thin)
        if place not in self.priors:
            defined = of_defined_tables(sums, codes.n_labels**2) if is_thin else None
            self.priors[place] = prior(codes, tally, defined=defined)
        return self.priors[place]


def entering(sample: Sample, uses: Uses) -> Sample:
    """The sample with the ratings that enter a statistic, and no others.

    All units and clusters remain, those without a rating that enters are empty: they add nothing to
    sums, and count for nothing.
    """
    is_rated = sample.codes.labels >= 0
    match uses:
        case "rated":
            return sample
        case "paired":
            return sample.with_labels_of(is_rated.sum(axis=1) > 1)
        case "complete":
            return sample.with_labels_of(np.asarray(is_rated.all(axis=1)))


def agreement(
    sample: Sample,
    name: str,
    level: Level,
    weights: Weights = "",
    tallied: Tallied | None = None,
    pair_weights: PairWeights = "alike",
) -> Measure:
    """One agreement statistic of one sample as a measure.

    `tallied` keeps and gives the sums of its sample.

    `pair_weights`: a mean over pairs of raters with every pair alike, or weighted by the units that
    a pair shares.
    """
    tallied = Tallied() if tallied is None else tallied
    sample = tallied.entering(sample, STATISTICS[name].uses)
    codes = spaced(sample.codes, name, level)
    if is_too_large(codes, name, weights) or has_too_few_units(codes, name):
        return _blank(sample)
    chosen = _formula(codes, name, level, weights, pair_weights)
    key = (chosen.tally, codes.values, id(codes.labels))
    # Statistics with one tally share its sums, and so their resamples.
    if key not in tallied.sums:
        tallied.sums[key] = chosen.tally(codes)
    sums = tallied.sums[key]
    share = share_of(name, weights, codes)
    is_mean_of_pairs = STATISTICS[name].needs == "pairs" and pair_weights == "alike"
    thin = tallied.thin(codes) if is_mean_of_pairs else None
    measure = Measure(
        sums=sums,
        finalise=chosen.finalise,
        clusters=sample.clusters,
        n_units=sample.n_units,
        n_raters=sample.n_raters,
        n_ratings=sample.n_ratings,
        n_undefined_pairs=_undefined_pairs(codes, name, sums, chosen.finalise),
        scale="atanh",
        trials=_trials(sums, name, weights, sample.codes, chosen.finalise),
        share=share,
        sizes=sizes(sample.codes),
        uneven=uneven_clusters(codes, chosen.tally, chosen.finalise),
        thin=thin,
        notes=label_notes(sample, name),
        commonest=commonest(sample),
    )
    # Proportions have exact limits where labels are rare, and need no prior. The sums of ranks on
    # long scales are the units themselves: no pattern can be added to them.
    if (
        (share is not None and thin is None)
        or chosen.tally is unit_members
        or is_linearised(measure)
    ):
        return measure
    virtual = tallied.prior(codes, chosen.tally, sums, is_thin=thin is not None)
    if virtual is None:
        return measure
    if thin is not None:
        # The common distribution of raters would be that of pairs which share many units.
        return replace(measure, prior=virtual)
    # However pairs are weighted, the common distribution of the raters is that of all pairs.
    alike = chosen if pair_weights == "alike" else _formula(codes, name, level, weights, "alike")
    form = drawn_form(alike.finalise, sums, _at(sums, chosen.finalise))
    return replace(measure, prior=virtual, drawn_as=form)


def agreement_alone(
    sample: Sample,
    name: str,
    level: Level,
    weights: Weights = "",
    pair_weights: PairWeights = "alike",
) -> Measure:
    """The same number without what its intervals need: for the samples without a rater."""
    sample = entering(sample, STATISTICS[name].uses)
    codes = spaced(sample.codes, name, level)
    if is_too_large(codes, name, weights) or has_too_few_units(codes, name):
        return _blank(sample)
    formula = _formula(codes, name, level, weights, pair_weights)
    return from_formula(replace(sample, codes=codes), formula)


def _formula(
    codes: Codes, name: str, level: Level, weights: Weights, pair_weights: PairWeights
) -> Statistic:
    if computed_from_margins(codes, name):
        tally, finalise = long_form(
            name, codes, weights or None, level, by_units=pair_weights == "units"
        )
        return Statistic(name, tally, finalise, STATISTICS[name].source)
    chosen = named(name, codes, weights or None, level=level)
    if pair_weights == "units" and STATISTICS[name].needs == "pairs":
        chosen = by_shared_units(chosen, codes.labels.shape[1], codes.n_labels)
    return both_ways(chosen, codes)


def _trials(
    sums: Sums, name: str, weights: Weights, codes: Codes, finalise: Finalise
) -> Array | None:
    """Number of comparisons in each cluster, for a number linear in the proportion that agree.

    None for other numbers. Two raters compared on one unit agree or do not; the pairs of three
    raters on one unit are not independent.
    """
    if name in LINEAR and codes.n_labels < 2:
        return None
    if name == "unanimity":
        trials = np.asarray(sums[:, 1], dtype=np.float64).ravel()
    elif codes.labels.shape[1] == 2 and (
        name in _UNWEIGHTED or (name in _WEIGHTED and weights in {"", "unweighted"})
    ):
        if isinstance(finalise, WithGradient):
            tables = sums[:, :1]
        else:
            tables = sums if STATISTICS[name].needs == "pairs" else sums[:, : codes.n_labels**2]
        trials = np.asarray(tables.sum(axis=1), dtype=np.float64).ravel()
    else:
        return None
    return trials if trials.sum() > 1 else None


_UNWEIGHTED = frozenset({"within_one", "pabak", "randolph_kappa"})
"""Linear in a share of pairs of labels that agree or do not."""

_WEIGHTED = frozenset({"percent_agreement", "multirater_percent_agreement", "brennan_prediger"})
"""The same unless weights make agreement a matter of degree."""


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


def _undefined_pairs(codes: Codes, name: str, sums: Sums, finalise: Finalise) -> int:
    """How many pairs of raters a statistic of pairs is undefined for, whatever its weights."""
    if STATISTICS[name].needs != "pairs":
        return 0
    if isinstance(finalise, OverPairs | RankCorrelation):
        return int(np.isnan(finalise.each(totals_of(sums))).sum())
    raters = codes.labels.shape[1]
    if name in {"spearman", "kendall_tau_b"}:
        each = ranks.spearman(raters, codes.n_labels, per_pair=True)
    elif name.startswith("cohen_kappa") or name in {"light_kappa", "scott_pi"}:
        each = kappa.cohen_kappa(raters, codes.n_labels, per_pair=True)
    else:
        each = kappa.percent_agreement(raters, codes.n_labels, per_pair=True)
    return int(_at(sums, kappa.undefined_pairs(each).finalise))


def reason(sample: Sample, name: str, weights: Weights = "") -> str:
    """Why a statistic is undefined on a sample, in words."""
    codes = sample.codes
    if is_too_large(codes, name, weights):
        return message(
            "not computed: {labels:,} distinct values of {raters:,} raters need {cells:,}"
            " cells; round or group the values",
            message_id="undefined.too_many_values",
            labels=codes.n_labels,
            raters=codes.labels.shape[1],
            cells=columns(name, codes.labels.shape[1], codes.n_labels),
        )
    n_paired = n_rated_twice(codes)
    if not n_paired:
        return message("no unit was rated by two raters")
    if np.count_nonzero(label_counts(codes)) == 1:
        return message("all labels are identical; chance-corrected agreement is not estimable")
    if has_too_few_units(codes, name):
        return message(
            "needs at least {least} units with two ratings or more; there {n|is|are} {n}",
            message_id="undefined.few_units",
            least=LEAST_UNITS,
            n=n_paired,
        )
    if STATISTICS[name].uses == "complete":
        n_complete = int((sample.codes.labels >= 0).all(axis=1).sum())
        if name == "unanimity":
            return message(
                "no unit has a rating from every rater", message_id="undefined.no_complete_unit"
            )
        if n_complete < 2:
            return message(
                "needs at least two units that every rater rated; there are {n}", n=n_complete
            )
    if name in {"icc1k", "icc2k", "icc3k"}:
        return message(
            "between-unit variance does not exceed error variance; reliability of the"
            " mean is not estimable",
            message_id="undefined.reliability_of_mean",
        )
    if name in {"icc2", "icc3", "kendall_w"}:
        return message("the units or the raters do not vary")
    if STATISTICS[name].needs == "one_way":
        return message("the units do not vary", message_id="table.no_variation")
    return message("not estimable for any pair of raters")


def totals_of(sums: Sums) -> Array:
    """The sums of all clusters together, in one row."""
    return np.asarray(sums.sum(axis=0), dtype=np.float64).ravel()


def _at(sums: Sums, finalise: Finalise) -> float:
    return float(finalise(totals_of(sums))[0])
