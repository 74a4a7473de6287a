"""The registry of the agreement statistics: their names, levels, tallies and formulas.

The module is long because it is one table: an entry for each statistic, read side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal, Protocol

from konsil.stats.agreement import alpha, icc, kappa, multirater
from konsil.stats.agreement.alpha import LEVELS, Level
from konsil.stats.engine import ranks
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.distances import Weights

Values = tuple[float, ...] | None


class Factory(Protocol):
    """Makes a statistic for codes.

    `weights` None means the statistic's own, `level` matters to alpha alone.
    """

    def __call__(
        self, codes: Codes, weights: Weights | None = None, *, level: Level = "nominal"
    ) -> Statistic:
        """Return the statistic with its tally and finalise."""
        ...


def of_pairs(make: Callable[[int, int, Weights, Values], Statistic]) -> Factory:
    """Wrap make(n_raters, n_labels, weights, values), unweighted unless weights are given."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        chosen_weights: Weights = "unweighted" if weights is None else weights
        return make(codes.labels.shape[1], codes.n_labels, chosen_weights, codes.values)

    return factory


def of_units(
    make: Callable[[int, Weights, Values], Statistic], default: Weights = "unweighted"
) -> Factory:
    """Wrap make(n_labels, weights, values), with the default's weights unless others are given."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        return make(codes.n_labels, default if weights is None else weights, codes.values)

    return factory


def unweighted(name: str, make: Callable[[Codes], Statistic]) -> Factory:
    """Wrap make(codes) of a statistic that takes no weights, or whose name says them."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        if weights is not None:
            raise ValueError(f"{name}: got weights; expected none for this statistic")
        return make(codes)

    return factory


def alpha_of_level(
    codes: Codes, weights: Weights | None = None, *, level: Level = "nominal"
) -> Statistic:
    """Krippendorff's alpha with the level's difference, or with given agreement weights."""
    if weights is not None:
        return alpha.krippendorff_alpha_weighted(codes.n_labels, weights, codes.values)
    return alpha.krippendorff_alpha(codes.n_labels, level, codes.values)


Uses = Literal["rated", "paired", "complete"]
"""The units whose labels enter: with a label, with two or more, or with one of every rater."""
Needs = Literal[
    "pairs", "complete_pairs", "counts", "coincidences", "counts_and_margins", "anova", "one_way"
]
OF_NUMBERS: frozenset[Needs] = frozenset({"anova", "one_way"})
"""What is tallied of the labels' numbers at every level: sums of squares."""
Range = tuple[float, float]

ANY: tuple[Level, ...] = LEVELS
ORDERED: tuple[Level, ...] = ("ordinal", "interval", "ratio")
SHARE: Range = (0.0, 1.0)
KAPPA: Range = (-1.0, 1.0)
OPEN: Range = (float("-inf"), 1.0)


@dataclass(frozen=True)
class Entry:
    """One statistic by name."""

    name: str
    """The name an analysis uses."""
    title: str
    """The name people read."""
    levels: tuple[Level, ...]
    """The levels of measurement it applies to."""
    needs: Needs
    """What is tallied: tables of pairs, label counts per unit, rater margins, coincidences, sums of
    squares of units and raters, or of units alone."""
    uses: Uses
    """The units whose labels enter its value; all others change nothing."""
    range: Range
    """The smallest and the largest value possible."""
    weighted: bool
    """Whether agreement weights can be given."""
    factory: Factory
    """(codes, weights=None, *, level="nominal") -> Statistic."""
    source: str
    """Where it comes from."""
    description: str
    """The interpretation of the statistic, in plain words."""


def _percents() -> Iterable[Entry]:
    yield Entry(
        "percent_agreement",
        "Percent agreement",
        ANY,
        "pairs",
        "paired",
        SHARE,
        True,
        of_pairs(kappa.percent_agreement),
        kappa.PERCENT,
        (
            "Proportion of units to which two raters gave the same rating, averaged over "
            "the pairs of raters; high by chance alone if one category is much more "
            "frequent than the others."
        ),
    )
    yield Entry(
        "multirater_percent_agreement",
        "Percent agreement, mean of units",
        ANY,
        "counts",
        "paired",
        SHARE,
        True,
        of_units(multirater.multirater_percent_agreement),
        multirater.GWET_PERCENT,
        (
            "Proportion of agreeing pairs of ratings within a unit, averaged over units "
            "instead of pairs of raters; the two differ only if ratings are missing."
        ),
    )
    yield Entry(
        "within_one",
        "Agreement to within one category",
        ORDERED,
        "pairs",
        "paired",
        SHARE,
        False,
        unweighted(
            "within_one", lambda codes: kappa.within_one(codes.labels.shape[1], codes.n_labels)
        ),
        kappa.WITHIN_ONE,
        (
            "Proportion of units on which two raters differ by at most one category of the "
            "scale; compare it with its chance level, which is high on short scales."
        ),
    )
    yield Entry(
        "unanimity",
        "Unanimous agreement",
        ANY,
        "counts",
        "complete",
        SHARE,
        False,
        unweighted("unanimity", lambda _: multirater.unanimity()),
        "convention",
        (
            "Proportion of units to which all raters gave the same rating; it falls as "
            "raters are added."
        ),
    )


def _weighted_kappa(codes: Codes, weights: Weights) -> Statistic:
    return kappa.cohen_kappa(codes.labels.shape[1], codes.n_labels, weights, codes.values)


def _kappas() -> Iterable[Entry]:
    yield Entry(
        "cohen_kappa",
        "Cohen's kappa",
        ANY,
        "pairs",
        "paired",
        KAPPA,
        True,
        of_pairs(kappa.cohen_kappa),
        kappa.COHEN,
        (
            "Agreement of two raters beyond the chance agreement expected from their own "
            "category frequencies, averaged over the pairs of raters; 1 is perfect "
            "agreement, 0 is chance level."
        ),
    )
    yield Entry(
        "cohen_kappa_linear",
        "Cohen's kappa, linear weights",
        ORDERED,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted("cohen_kappa_linear", partial(_weighted_kappa, weights="linear")),
        kappa.COHEN,
        "Cohen's kappa with disagreements weighted by their distance on the scale.",
    )
    yield Entry(
        "cohen_kappa_quadratic",
        "Cohen's kappa, quadratic weights",
        ORDERED,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted("cohen_kappa_quadratic", partial(_weighted_kappa, weights="quadratic")),
        kappa.COHEN,
        (
            "Cohen's kappa with disagreements weighted by their squared distance on the "
            "scale; large disagreements dominate."
        ),
    )
    yield Entry(
        "pabak",
        "PABAK",
        ANY,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted("pabak", lambda codes: kappa.pabak(codes.labels.shape[1], codes.n_labels)),
        kappa.BYRT,
        (
            "Percent agreement rescaled so that guessing among all declared categories "
            "gives 0 (prevalence- and bias-adjusted kappa; for more than two categories "
            "Bennett's S); a rare category does not lower it."
        ),
    )
    yield Entry(
        "light_kappa",
        "Light's kappa",
        ANY,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted(
            "light_kappa", lambda codes: kappa.light_kappa(codes.labels.shape[1], codes.n_labels)
        ),
        kappa.LIGHT,
        "Mean of Cohen's kappa over all pairs of raters.",
    )
    yield Entry(
        "scott_pi",
        "Scott's pi",
        ANY,
        "pairs",
        "paired",
        KAPPA,
        True,
        of_pairs(kappa.scott_pi),
        kappa.SCOTT,
        (
            "As Cohen's kappa, with chance agreement from the pooled category frequencies "
            "of the two raters; averaged over the pairs of raters."
        ),
    )


def _many_raters() -> Iterable[Entry]:
    yield Entry(
        "fleiss_kappa",
        "Fleiss' kappa",
        ANY,
        "counts",
        "rated",
        KAPPA,
        True,
        of_units(multirater.fleiss_kappa),
        multirater.FLEISS,
        (
            "Agreement of all raters beyond chance, with chance agreement from the category"
            " frequencies of all raters together."
        ),
    )
    yield Entry(
        "conger_kappa",
        "Conger's kappa",
        ANY,
        "counts_and_margins",
        "rated",
        OPEN,
        True,
        of_pairs(multirater.conger_kappa),
        multirater.CONGER,
        (
            "Agreement of all raters beyond chance, with chance agreement from each rater's"
            " own category frequencies."
        ),
    )
    yield Entry(
        "randolph_kappa",
        "Randolph's free-marginal kappa",
        ANY,
        "counts",
        "paired",
        KAPPA,
        False,
        unweighted("randolph_kappa", lambda codes: multirater.randolph_kappa(codes.n_labels)),
        multirater.RANDOLPH,
        (
            "Agreement of all raters beyond guessing among the declared categories, whether"
            " these were used or not."
        ),
    )
    yield Entry(
        "brennan_prediger",
        "Brennan and Prediger's coefficient",
        ANY,
        "counts",
        "paired",
        OPEN,
        True,
        of_units(multirater.brennan_prediger),
        multirater.BRENNAN,
        "Randolph's kappa with weights for partial agreement.",
    )
    yield Entry(
        "krippendorff_alpha",
        "Krippendorff's alpha",
        ANY,
        "coincidences",
        "paired",
        OPEN,
        True,
        alpha_of_level,
        alpha.KRIPPENDORFF,
        (
            "One minus the ratio of observed to expected disagreement of any number of "
            "raters, for the scale's level of measurement; ratings may be missing."
        ),
    )
    yield Entry(
        "gwet_ac1",
        "Gwet's AC1",
        ANY,
        "counts",
        "rated",
        OPEN,
        False,
        unweighted("gwet_ac1", lambda codes: multirater.gwet_ac1(codes.n_labels)),
        multirater.GWET,
        (
            "Agreement of all raters beyond chance, with a chance agreement that is small "
            "if one category is much more frequent than the others; more stable than kappa "
            "if categories are rare."
        ),
    )
    yield Entry(
        "gwet_ac2_linear",
        "Gwet's AC2, linear weights",
        ORDERED,
        "counts",
        "rated",
        OPEN,
        False,
        unweighted(
            "gwet_ac2_linear",
            lambda codes: multirater.gwet_ac2(codes.n_labels, "linear", codes.values),
        ),
        multirater.GWET,
        "Gwet's AC1 with disagreements weighted by their distance on the scale.",
    )
    yield Entry(
        "gwet_ac2",
        "Gwet's AC2",
        ORDERED,
        "counts",
        "rated",
        OPEN,
        True,
        of_units(multirater.gwet_ac2, "quadratic"),
        multirater.GWET,
        "Gwet's AC1 with weights for partial agreement; quadratic weights by default.",
    )


_ICC: tuple[tuple[icc.IccForm, str, str], ...] = (
    (
        "icc1",
        "ICC(1,1)",
        (
            "Reliability of a single rating if each unit has different raters (one-way "
            "random effects); units may have unequal numbers of ratings."
        ),
    ),
    (
        "icc2",
        "ICC(2,1)",
        (
            "Reliability of a single rating by a randomly sampled rater: absolute "
            "agreement, differences in rater means included (two-way random effects)."
        ),
    ),
    (
        "icc3",
        "ICC(3,1)",
        (
            "Reliability of a single rating by these raters only: consistency, without "
            "differences in rater means (two-way mixed effects)."
        ),
    ),
    (
        "icc1k",
        "ICC(1,k)",
        (
            "Reliability of the mean of k ratings if each unit has different raters; k is "
            "the typical number of ratings of a unit where these numbers are unequal."
        ),
    ),
    (
        "icc2k",
        "ICC(2,k)",
        (
            "Reliability of the mean of k randomly sampled raters: absolute agreement, "
            "differences in rater means included."
        ),
    ),
    (
        "icc3k",
        "ICC(3,k)",
        (
            "Reliability of the mean of these k raters only: consistency, without "
            "differences in rater means."
        ),
    ),
)


def _icc(codes: Codes, form: icc.IccForm) -> Statistic:
    if form in icc.ONE_WAY:
        return icc.oneway_icc(form, codes)
    return icc.icc(form, codes.labels.shape[1])


def _iccs() -> Iterable[Entry]:
    for form, title, description in _ICC:
        is_one_way = form in icc.ONE_WAY
        yield Entry(
            form,
            title,
            ORDERED,
            "one_way" if is_one_way else "anova",
            "rated" if is_one_way else "complete",
            OPEN,
            False,
            unweighted(form, partial(_icc, form=form)),
            icc.SEARLE if is_one_way else icc.SHROUT,
            description,
        )
    # Studies name it from the time when icc1 left out the units that not every rater rated.
    yield Entry(
        "icc1_incomplete",
        "ICC(1,1), missing ratings",
        ORDERED,
        "one_way",
        "rated",
        OPEN,
        False,
        unweighted("icc1_incomplete", lambda _: icc.icc1_incomplete()),
        icc.SEARLE,
        "Another name of ICC(1,1): icc1 gives the same number.",
    )


def _ranks() -> Iterable[Entry]:
    yield Entry(
        "kendall_w",
        "Kendall's W",
        ORDERED,
        "complete_pairs",
        "complete",
        SHARE,
        False,
        unweighted(
            "kendall_w", lambda codes: ranks.kendall_w(codes.labels.shape[1], codes.n_labels)
        ),
        ranks.KENDALL_W,
        (
            "Concordance of all raters' rankings of the units, corrected for ties: 1 is the"
            " same ranking by all raters, 0 no concordance."
        ),
    )
    yield Entry(
        "spearman",
        "Spearman's rho",
        ORDERED,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted("spearman", lambda codes: ranks.spearman(codes.labels.shape[1], codes.n_labels)),
        ranks.SPEARMAN,
        "Rank correlation of two raters' ratings, averaged over the pairs of raters.",
    )
    yield Entry(
        "kendall_tau_b",
        "Kendall's tau-b",
        ORDERED,
        "pairs",
        "paired",
        KAPPA,
        False,
        unweighted(
            "kendall_tau_b",
            lambda codes: ranks.kendall_tau_b(codes.labels.shape[1], codes.n_labels),
        ),
        ranks.KENDALL_TAU,
        (
            "Proportion of concordant minus discordant pairs of units in two raters' "
            "rankings, corrected for ties; averaged over the pairs of raters."
        ),
    )


STATISTICS: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entries in (_percents, _kappas, _many_raters, _iccs, _ranks)
        for entry in entries()
    }
)
"""Every agreement statistic by its name."""


def statistic(
    name: str, codes: Codes, weights: Weights | None = None, *, level: Level = "nominal"
) -> Statistic:
    """Return the statistic with this name, ready to be tallied on these codes.

    Raises ValueError, with all names, where the registry has none of this name.

    Example:
        >>> import numpy as np
        >>> codes = Codes(np.array([[0, 0], [1, 1], [1, 0]]), np.arange(3), 2)
        >>> kappa = statistic("cohen_kappa", codes)
        >>> kappa.finalise(kappa.tally(codes).sum(0))
        array([0.4])
    """
    if name not in STATISTICS:
        raise ValueError(f"statistic: got {name!r}; expected one of {', '.join(STATISTICS)}")
    # One factory may serve several entries: the result is called as the caller asked.
    return replace(STATISTICS[name].factory(codes, weights, level=level), name=name)
