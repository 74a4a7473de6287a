"""Comparisons of two answers: who wins, by how much, and who agrees."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SHARE, SIGNED, Statistic
from konsil.stats.pairs.bradley_terry_davidson import BRADLEY_TERRY, DAVIDSON
from konsil.stats.pairs.paired_choice_agreement import CHOICE_KAPPA
from konsil.stats.pairs.rank_agreement import KENDALL
from konsil.stats.pairs.wins import DIFFERENCE, MARGIN, WIN_RATE

PAIRS = (
    Statistic(
        id="win_difference",
        family="pairs",
        group="wins",
        title="Win difference",
        text=(
            "Wins minus losses of a system in comparisons with the others, from -1 to 1; every"
            " rival has the same weight."
        ),
        definition=(
            "wins minus losses of a system against the others, on a criterion about a pair; every"
            " rival has the same weight, estimated again in every resample. One row a system; `by ="
            ' ["length"]` tells the longer answers from the shorter'
        ),
        undefined="the system was compared with no other",
        source=DIFFERENCE,
        range=SIGNED,
        marks_zero=True,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="win_difference_strict",
        family="pairs",
        group="wins",
        title="Win difference, strict",
        text=(
            "The win difference in which the outermost labels alone are wins and everything else is"
            " a tie."
        ),
        definition="`win_difference` with the outermost labels alone as wins",
        undefined="the system was compared with no other",
        source=DIFFERENCE,
        range=SIGNED,
        marks_zero=True,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="win_rate",
        family="pairs",
        group="wins",
        title="Win rate",
        text=(
            "The share of two systems' comparisons that the first won; ties stay in the"
            " denominator."
        ),
        definition=(
            "the share of two systems' comparisons that the first won, ties in the denominator. One"
            " row for each ordered pair"
        ),
        undefined="the two were never compared",
        source=WIN_RATE,
        range=SHARE,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="win_rate_strict",
        family="pairs",
        group="wins",
        title="Win rate, strict",
        text="The win rate in which the outermost labels alone are wins.",
        definition="`win_rate` with the outermost labels alone as wins",
        undefined="the two were never compared",
        source=WIN_RATE,
        range=SHARE,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="margin",
        family="pairs",
        group="wins",
        title="Margin in steps",
        text=(
            "By how many steps of the scale a system leads the others on average; every rival has"
            " the same weight."
        ),
        definition="the mean number of steps of the scale by which a system leads the others",
        undefined="the system was compared with no other",
        source=MARGIN,
        marks_zero=True,
        is_difference=True,
        is_flipped=True,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="davidson",
        family="pairs",
        group="worths",
        title="Davidson worth",
        text=(
            "The logarithm of a system's worth in Davidson's model with ties; over the systems they"
            " sum to zero."
        ),
        definition=(
            "the logarithm of a system's worth in Davidson's model with ties (J Am Stat Assoc"
            " 65:317, 1970), summing to zero; beside it its ratio to the best"
        ),
        undefined=(
            "some systems were never compared with the others, or lost to none of them; there are"
            " only ties or none; no comparison goes against the order of the others"
        ),
        source=DAVIDSON,
        marks_zero=True,
    ),
    Statistic(
        id="bradley_terry",
        family="pairs",
        group="worths",
        title="Bradley-Terry worth",
        text=(
            "The logarithm of a system's worth in Bradley and Terry's model, a tie half for each;"
            " they sum to zero."
        ),
        definition=(
            "`davidson` in Bradley and Terry's model (Biometrika 39:324, 1952), a tie counting half"
            " for each side"
        ),
        undefined="some systems were never compared with the others, or lost to none of them",
        source=BRADLEY_TERRY,
        marks_zero=True,
    ),
    Statistic(
        id="choice_agreement",
        family="pairs",
        group="choices",
        title="Agreement of comparisons",
        text=(
            "How often two raters of the same two answers differ by at most one step; to be read"
            " beside its chance level."
        ),
        definition=(
            "how often two raters who compared the same two answers in the same arm differ by at"
            " most one step, beside its chance level"
        ),
        undefined="nobody compared the same two answers",
        range=SHARE,
    ),
    Statistic(
        id="choice_kappa",
        family="pairs",
        group="choices",
        title="Kappa of comparisons",
        text="Quadratic kappa of those who compared the same two answers; the sides are balanced.",
        definition=(
            "quadratic kappa of two raters who compared the same two answers in the same arm, sides"
            " balanced"
        ),
        undefined="nobody compared the same two answers, or all labels are the same",
        source=CHOICE_KAPPA,
        range=SIGNED,
        marks_zero=True,
    ),
    Statistic(
        id="position_bias",
        family="pairs",
        group="position",
        title="Position bias",
        text=(
            "How much more often the answer shown first wins than loses; 0 if its place makes no"
            " difference."
        ),
        definition="how much more often the answer shown first wins than loses",
        undefined="presentation order not recorded",
        range=SIGNED,
        marks_zero=True,
        is_difference=True,
        is_flipped=True,
    ),
    Statistic(
        id="rank_agreement",
        family="pairs",
        group="rankings",
        title="Agreement of rankings",
        text="Kendall's tau-b of the judges' ranking of the systems and the experts'.",
        definition=(
            "Kendall's tau-b of each judge's ranking of the systems by win difference and that of"
            " the panel in `against`; with `criteria` for each criterion and averaged, on one"
            ' bootstrap; `consensus = "mean"` makes the judges a jury'
        ),
        undefined="one of the two puts all systems level",
        source=KENDALL,
        range=SIGNED,
        marks_zero=True,
        keys=frozenset({"criteria"}),
    ),
)
