"""Comparisons of two answers: who wins, by how much, and who agrees."""

from __future__ import annotations

from konsil.analysis.model.catalogue.design_needs import CONNECTED, OF_AGREEMENT, TWO_SYSTEMS
from konsil.analysis.model.catalogue.entry import SHARE, SIGNED, Statistic
from konsil.analysis.model.catalogue.limits import (
    NO_LENGTH,
    ONLY_MEANS,
    Limits,
    Need,
    Refusal,
)
from konsil.analysis.model.catalogue.zeros import (
    CHANCE,
    MEAN_OF_SYSTEMS,
    NO_ASSOCIATION,
    NO_DIFFERENCE,
    NO_EFFECT,
)
from konsil.errors.message import message
from konsil.stats.engine.ranks import SPEARMAN
from konsil.stats.pairs.bradley_terry_davidson import BRADLEY_TERRY, DAVIDSON
from konsil.stats.pairs.paired_choice_agreement import CHOICE_KAPPA
from konsil.stats.pairs.rank_agreement import KENDALL
from konsil.stats.pairs.wins import DIFFERENCE, MARGIN, WIN_RATE

_JURY = (
    "{statistic!r} does not support this option; a jury is consensus = 'mean' of wins or rankings"
)
_PAIRS = Limits((ONLY_MEANS,))
_NO_DIFFERENCES = Limits((NO_LENGTH, Refusal("compare")))
_NO_JURY = Limits((Refusal("consensus", reason=_JURY),))
_JURIES = Limits((Refusal("consensus", values=("majority",), reason=_JURY),))
_BY_SYSTEM = Limits(
    (Refusal("by", values=("system",), reason="{statistic!r} already has a row for each system"),)
)
_NO_RATERS_AS_PUBLISHED = Limits(
    (
        Refusal(
            "cluster",
            values=("rater",),
            modes=("paper",),
            reason=(
                "{statistic!r} has no paper mode with raters as clusters; expected a win difference"
            ),
        ),
    )
)
_ITEMS_ALONE = Limits(
    (
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} does not support this option; expected 'item' or 'case'",
        ),
    )
)
_WIN_DIFFERENCES = (
    _PAIRS
    + _JURIES
    + _BY_SYSTEM
    + Limits(
        (
            Refusal(
                "compare",
                modes=("paper",),
                reason="paper mode does not estimate differences between groups of comparisons",
            ),
        )
    )
)
_WINS = _WIN_DIFFERENCES + _NO_RATERS_AS_PUBLISHED
_WORTHS = _PAIRS + _NO_DIFFERENCES + _JURIES + _BY_SYSTEM + _NO_RATERS_AS_PUBLISHED
_CHOICES = _PAIRS + _NO_DIFFERENCES + _NO_JURY + _ITEMS_ALONE + _NO_RATERS_AS_PUBLISHED
_POSITION = _PAIRS + _NO_DIFFERENCES + _NO_JURY + _NO_RATERS_AS_PUBLISHED
_RANKINGS = (
    _PAIRS
    + _NO_DIFFERENCES
    + _JURIES
    + _ITEMS_ALONE
    + _NO_RATERS_AS_PUBLISHED
    + Limits(
        (Refusal("by", reason="{statistic!r} has a row for every judge and no other groups"),),
        (Need("against", "rankings are compared with those of a panel; state the panel"),),
    )
)
_CORRELATION = (
    _PAIRS
    + _NO_DIFFERENCES
    + _NO_JURY
    + _BY_SYSTEM
    + _ITEMS_ALONE
    + _NO_RATERS_AS_PUBLISHED
    + Limits(needs=(Need("criteria", "is empty; a correlation needs a second criterion"),))
)
_PUBLISHED_WINS = (
    "comparator systems have weights that are computed once, before any resample; p permutes single"
    " comparisons"
)
_PUBLISHED_CHOICES = "not symmetrised over the presentation order"

PAIRS = (
    Statistic(
        id="win_difference",
        design=(TWO_SYSTEMS,),
        family="pairs",
        group="wins",
        better="higher",
        title="Win difference",
        text=(
            "Proportion of a system's comparisons won minus the proportion lost, from -1 to"
            " 1; all comparator systems have equal weight."
        ),
        definition=(
            "the proportion of a system's comparisons won minus the proportion lost, on a "
            "criterion about a pair; all comparator systems have equal weight, recomputed "
            'in every resample. One row a system; `by = ["length"]` separates comparisons '
            "in which the system's answer was the longer or the shorter"
        ),
        undefined="the system was compared with no other",
        source=DIFFERENCE,
        range=SIGNED,
        zero=NO_DIFFERENCE,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WIN_DIFFERENCES,
        is_of_one_system=True,
        as_published=_PUBLISHED_WINS,
        unit="points",
    ),
    Statistic(
        id="win_difference_strict",
        design=(TWO_SYSTEMS,),
        family="pairs",
        group="wins",
        better="higher",
        title="Win difference, strict",
        text=(
            "Win difference in which only the two outermost categories of the scale count "
            "as wins and all others as ties."
        ),
        definition="`win_difference` with only the two outermost categories of the scale as wins",
        undefined="the system was compared with no other",
        source=DIFFERENCE,
        range=SIGNED,
        zero=NO_DIFFERENCE,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WIN_DIFFERENCES,
        is_of_one_system=True,
        as_published=_PUBLISHED_WINS,
        unit="points",
    ),
    Statistic(
        id="win_rate",
        design=(TWO_SYSTEMS,),
        questions=("level", "difference"),
        family="pairs",
        group="wins",
        better="higher",
        title="Win rate",
        text=(
            "Proportion of two systems' comparisons that the first won; ties stay in the "
            "denominator."
        ),
        definition=(
            "the proportion of two systems' comparisons that the first won, with ties in "
            "the denominator. One row for each ordered pair"
        ),
        undefined="the two systems were never compared",
        source=WIN_RATE,
        range=SHARE,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WINS,
        unit="percent",
    ),
    Statistic(
        id="win_rate_strict",
        design=(TWO_SYSTEMS,),
        questions=("level", "difference"),
        family="pairs",
        group="wins",
        better="higher",
        title="Win rate, strict",
        text=("Win rate in which only the two outermost categories of the scale count as wins."),
        definition="`win_rate` with only the two outermost categories of the scale as wins",
        undefined="the two systems were never compared",
        source=WIN_RATE,
        range=SHARE,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WINS,
        unit="percent",
    ),
    Statistic(
        id="margin",
        design=(TWO_SYSTEMS,),
        family="pairs",
        group="wins",
        better="higher",
        title="Mean preference (scale points)",
        text=(
            "Mean preference for a system over the others in points of the scale; all "
            "comparator systems have equal weight."
        ),
        definition="the mean preference for a system over the others, in points of the scale",
        undefined="the system was compared with no other",
        source=MARGIN,
        zero=NO_DIFFERENCE,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WINS,
        is_of_one_system=True,
        unit="number",
    ),
    Statistic(
        id="davidson",
        design=(TWO_SYSTEMS, CONNECTED),
        questions=("level", "difference"),
        family="pairs",
        group="worths",
        better="higher",
        title="Davidson strength parameter (log scale)",
        text=(
            "Strength of a system on the log scale in Davidson's model of paired "
            "comparisons with ties; the strengths of all systems sum to zero."
        ),
        definition=(
            "the log strength parameter of a system in Davidson's model with ties (J Am "
            "Stat Assoc 65:317, 1970), summing to zero over the systems; its ratio to the "
            "best is also reported. With `penalty`, each system also has so many virtual "
            "comparisons with an average one, won, tied and lost alike (Mease, Am Stat 57:241, "
            "2003), so that a system that never lost has an estimate, too"
        ),
        undefined=(
            "no two systems won and lost against each other, directly or indirectly (where some "
            "did, the others are stated above or below them); there are only ties or none; no "
            "comparison contradicts the order of the others"
        ),
        source=DAVIDSON,
        zero=MEAN_OF_SYSTEMS,
        keys=frozenset({"penalty"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WORTHS,
        unit="number",
    ),
    Statistic(
        id="bradley_terry",
        design=(TWO_SYSTEMS, CONNECTED),
        questions=("level", "difference"),
        family="pairs",
        group="worths",
        better="higher",
        title="Bradley-Terry strength parameter (log scale)",
        text=(
            "Strength of a system on the log scale in the Bradley-Terry model, with a tie "
            "as half a win for each system; the strengths of all systems sum to zero."
        ),
        definition=(
            "`davidson` in the Bradley-Terry model (Biometrika 39:324, 1952), with a tie as"
            " half a win for each system; half of the virtual comparisons of a `penalty` are "
            "won and half are lost"
        ),
        undefined=(
            "no two systems won and lost against each other, directly or indirectly (where some "
            "did, the others are stated above or below them)"
        ),
        source=BRADLEY_TERRY,
        zero=MEAN_OF_SYSTEMS,
        keys=frozenset({"penalty"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_WORTHS,
        unit="number",
    ),
    Statistic(
        id="choice_agreement",
        design=(TWO_SYSTEMS, *OF_AGREEMENT),
        questions=("agreement",),
        family="pairs",
        group="choices",
        better="higher",
        title="Agreement on pairwise comparisons",
        text=(
            "Proportion of comparisons of the same two answers on which two raters differ "
            "by at most one category; compare it with its chance level."
        ),
        definition=(
            "the proportion of comparisons of the same two answers in the same arm on which"
            " two raters differ by at most one category; its chance level is also reported"
        ),
        undefined="no two raters compared the same two answers",
        range=SHARE,
        scopes=("pair",),
        columns=("arm",),
        limits=_CHOICES,
        as_published=_PUBLISHED_CHOICES,
        unit="percent",
    ),
    Statistic(
        id="choice_kappa",
        design=(TWO_SYSTEMS, *OF_AGREEMENT),
        questions=("agreement",),
        family="pairs",
        group="choices",
        better="higher",
        title="Weighted kappa of pairwise comparisons",
        text=(
            "Quadratically weighted kappa of two raters who compared the same two answers. "
            "Chance is that of each pair of systems: a favourite that all raters share is no "
            "agreement beyond chance."
        ),
        definition=(
            "quadratically weighted kappa of two raters who compared the same two answers "
            "in the same arm, with the chance of each pair of systems: a favourite that all raters "
            "share is no agreement beyond chance; the value with chance over all pairs and both "
            "orders of the systems, for which it is, is also reported"
        ),
        undefined=(
            "no two raters compared the same two answers, or all ratings of each pair of systems "
            "are the same"
        ),
        source=CHOICE_KAPPA,
        range=SIGNED,
        zero=CHANCE,
        scopes=("pair",),
        columns=("arm",),
        limits=_CHOICES,
        as_published=(
            "chance over all pairs of systems, each in the order of the systems' names; raters in "
            "the given order"
        ),
        unit="number",
    ),
    Statistic(
        id="position_bias",
        design=(TWO_SYSTEMS,),
        family="pairs",
        group="position",
        title="Position bias",
        text=(
            "Proportion of comparisons won minus the proportion lost by the answer shown "
            "first; 0 if its position has no effect."
        ),
        definition=(
            "the proportion of comparisons won minus the proportion lost by the answer shown first"
        ),
        undefined="presentation order not recorded",
        range=SIGNED,
        zero=NO_EFFECT,
        above_zero=message(
            "Above 0: the answer shown first wins more often.",
            message_id="above_zero.position_bias",
        ),
        is_difference=True,
        is_flipped=True,
        scopes=("pair",),
        columns=("arm",),
        limits=_POSITION,
        unit="points",
    ),
    Statistic(
        id="rank_agreement",
        design=(TWO_SYSTEMS,),
        questions=("judge_against_people", "agreement"),
        family="pairs",
        group="rankings",
        better="higher",
        title="Agreement of rankings (Kendall's tau-b)",
        text="Kendall's tau-b between a judge's and the experts' ranking of the systems.",
        definition=(
            "Kendall's tau-b between each judge's ranking of the systems by win difference "
            "and that of the panel in `against`; with `criteria` for each criterion and "
            'averaged, on one bootstrap; `consensus = "mean"` combines the judges into a '
            "jury"
        ),
        undefined="one of the two rankings has all systems tied",
        source=KENDALL,
        range=SIGNED,
        zero=NO_ASSOCIATION,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        columns=("arm",),
        limits=_RANKINGS,
        has_own_panel=True,
        unit="number",
    ),
    Statistic(
        id="preference_correlation",
        design=(TWO_SYSTEMS,),
        family="pairs",
        group="correlations",
        title="Correlation of preferences between criteria (Spearman)",
        text=(
            "Spearman's rank correlation of the preferences on two criteria, over the comparisons "
            "from both sides; high where one order of preference is shared by the criteria."
        ),
        definition=(
            "Spearman's rank correlation of the signed preferences on every two of `criterion` "
            "and `criteria`, over comparisons rated on both, each from the side of both answers, "
            "so that exchanging them changes nothing"
        ),
        undefined="all comparisons are ties on a criterion, or none is rated on both",
        source=SPEARMAN,
        range=SIGNED,
        zero=NO_ASSOCIATION,
        keys=frozenset({"criteria"}),
        scopes=("pair",),
        limits=_CORRELATION,
        unit="number",
    ),
)
