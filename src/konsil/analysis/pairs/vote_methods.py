"""Methods of comparisons: sentences, names of intervals, and why strengths are not estimable."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.estimation.raters.two_way import two_way_method
from konsil.analysis.model.catalogue.known import PREFERENCE, WINS, WORTHS, statistic_of
from konsil.analysis.model.interval_methods import has, name_of, within_wrappers
from konsil.analysis.model.options import PairOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.pairs.rank_agreement import JURY_LINE
from konsil.stats.pairs.strong_parts import Place
from konsil.stats.pairs.worth_designs import WhyUndefined


def votes_method(cluster: str, way: str, kind: str, df: float) -> TranslatableMessage:
    """The method of an interval of votes.

    `way` is 'two-way', 'item' or 'rater'; `kind` is `how` of a `crossed.Interval`.
    """
    both, unit = way == "two-way", cluster if way == "item" else message("rater")
    if kind == "exact" and both:
        return message(
            (
                "exact, all comparisons identical: {n:.3g} effective comparisons, by"
                " {cluster} or rater, whichever are fewer"
            ),
            message_id="two_way.exact_both",
            n=df + 1,
            cluster=cluster,
        )
    if kind == "exact":
        return message(
            "exact, all comparisons identical: {n:.3g} effective comparisons, by {cluster}",
            message_id="two_way.exact",
            n=df + 1,
            cluster=unit,
        )
    if kind == "wilson" and both:
        return message(
            (
                "two-way Wilson with the effective sample size ({cluster} and rater), t with"
                " {df:.3g} degrees of freedom"
            ),
            message_id="two_way.wilson_both",
            cluster=cluster,
            df=df,
        )
    if kind == "wilson":
        return message(
            (
                "Wilson with the effective sample size ({cluster} clusters), t with {df:.3g}"
                " degrees of freedom"
            ),
            message_id="two_way.wilson",
            cluster=unit,
            df=df,
        )
    if both:
        return two_way_method(cluster, df)
    return message(
        "cluster-robust Wald ({cluster}-clustered), t with {df:.3g} degrees of freedom",
        message_id="two_way.one_way",
        cluster=unit,
        df=df,
    )


def conditional(method: str, *, people: bool = True, is_jury: bool = False) -> TranslatableMessage:
    """The method of an interval by item of one rater; of one judge, or a jury, without `people`."""
    if is_jury:
        return message(
            "{method}, conditional on this jury",
            message_id="comparisons.about_this_jury",
            method=method,
        )
    if people:
        return message(
            "{method}, conditional on this rater",
            message_id="comparisons.about_this",
            method=method,
        )
    return message(
        "{method}, conditional on this judge",
        message_id="comparisons.about_this_judge",
        method=method,
    )


def penalised(method: str, penalty: float) -> str:
    """The method of an interval of strengths with its penalty; itself without one."""
    if not (method and penalty):
        return method
    return message(
        "penalised fit ({penalty:g} virtual {penalty|comparison|comparisons} of each system with an"
        " average system), {method}",
        message_id="worths.penalised",
        penalty=penalty,
        method=method,
    )


def penalised_without_interval(penalty: float) -> TranslatableMessage:
    """That a strength is penalised, where no interval's method says so."""
    return message(
        "Penalised fit ({penalty:g} virtual {penalty|comparison|comparisons} of each system with an"
        " average system).",
        message_id="worths.penalised_without_interval",
        penalty=penalty,
    )


def undefined_worths(reason: WhyUndefined) -> str:
    """The sentence for a reason; empty where worths are defined."""
    match reason:
        case "no_comparisons":
            return message("there are no comparisons", message_id="worths.no_comparisons")
        case "no_ties":
            return message(
                (
                    "there are no ties, so the tie parameter is not estimable; the"
                    " Bradley-Terry model does not need it"
                ),
                message_id="worths.no_ties",
            )
        case "all_ties":
            return message("every comparison is a tie", message_id="worths.all_ties")
        case "unconnected":
            return message(
                "some systems were never compared with the others, directly or indirectly",
                message_id="worths.unconnected",
            )
        case "undefeated":
            return message(
                "some systems never lost to the others, directly or indirectly",
                message_id="worths.undefeated",
            )
        case "unbounded":
            return message(
                (
                    "no comparison contradicts the ranking (complete separation), so the"
                    " strength parameters are unbounded"
                ),
                message_id="worths.unbounded",
            )
        case "no_maximum":
            return message(
                ("the maximum-likelihood estimation did not converge"),
                message_id="worths.no_maximum",
            )
        case "":
            return ""


def estimable_with_penalty(reason: WhyUndefined) -> TranslatableMessage:
    """That only the penalty makes strengths estimable, with the reason."""
    return message(
        "Not estimable without the penalty: {reason}. The distances between systems follow from"
        " the penalty, too, and the CIs contain the true strengths less often than they should.",
        message_id="worths.estimable_with_penalty",
        reason=undefined_worths(reason),
    )


def place_of_system(place: Place) -> str:
    """Where a system without an estimate is, with the reason; empty for one with an estimate."""
    match place:
        case "above":
            return message(
                "above the systems with an estimate, and not estimable itself: it never lost to"
                " them, directly or indirectly",
                message_id="worths.above",
            )
        case "below":
            return message(
                "below the systems with an estimate, and not estimable itself: it never won"
                " against them, directly or indirectly",
                message_id="worths.below",
            )
        case "apart":
            return message(
                "neither above nor below the systems with an estimate, and not estimable itself:"
                " no chain of wins leads from one to the other",
                message_id="worths.apart",
            )
        case "estimated":
            return ""


def comparison_methods(analyses: Sequence[Analysis], rows: Sequence[Row]) -> list[str]:
    """How comparisons of answers were weighted and their intervals made; none if there are none."""
    wins = [a for a in analyses if a.statistic in {*WINS, *WORTHS}]
    has_companions = any(r.kind == "companion" for r in rows if r.statistic in {*WINS, *WORTHS})
    sentences: list[str] = []
    if any(statistic_of(a.statistic).is_of_one_system for a in wins):
        sentences.append(
            message(
                "Win differences weight all comparator systems equally, regardless of the"
                " number of comparisons; the weights were recomputed in every resample,"
                " and ties stay in the denominators.",
                message_id="methods.win_difference",
            )
        )
    if any(a.mode == "valid" for a in wins) and _are_about_these(rows):
        sentences.append(
            message(
                (
                    "CIs and p values of human comparisons are item-clustered (cluster-robust"
                    " Wald, t with effective degrees of freedom) and apply to these raters"
                    " only."
                ),
                message_id="target.comparisons_these",
            )
        )
        if has_companions:
            sentences.append(
                message(
                    "Also reported: item-bootstrap CIs, with p values from a permutation test"
                    " exchanging the systems in all comparisons of an item, and two-way CIs.",
                    message_id="target.comparisons_these_beside",
                )
            )
    elif any(a.mode == "valid" for a in wins):
        sentences.append(
            message(
                "CIs and p values of human comparisons are two-way cluster-robust (items"
                " and raters; Taylor linearisation, t with effective degrees of freedom).",
                message_id="two_way.comparisons",
            )
        )
        if has_companions:
            sentences.append(
                message(
                    "Also reported, for these raters only: item-bootstrap CIs, with p values"
                    " from a permutation test exchanging the systems in all comparisons of an"
                    " item, and rater-clustered CIs.",
                    message_id="two_way.comparisons_beside",
                )
            )
    if any(a.mode == "valid" and _is_rate(a) for a in wins):
        sentences.append(
            message(
                (
                    "Win rates have Wilson CIs with the effective sample size, the same"
                    " variance and the same degrees of freedom."
                ),
                message_id="two_way.win_rates",
            )
        )
    penalties = sorted({p for a in wins if (p := a.options_as(PairOptions).penalty)})
    sentences.extend(map(_of_penalty, penalties))
    if any(a.mode == "paper" for a in wins):
        sentences.append(
            message(
                "In analyses “as published”, comparisons have item-clustered percentile"
                " CIs and permutation tests of single comparisons; these reject too often"
                " where comparisons share items or raters."
            )
        )
    if any(a.consensus == "mean" for a in analyses if a.statistic in PREFERENCE):
        sentences.append(
            message(
                "The jury outcome is the mean judge rating on the preference scale; a mean"
                " beyond {line:g} steps counts as a win.",
                message_id="methods.jury_outcome",
                line=JURY_LINE,
            )
        )
    return sentences


def _of_penalty(penalty: float) -> str:
    return message(
        "Strength parameters with a penalty are those of the comparisons together with"
        " virtual ones: {penalty:g} of each system with an average system, half of them won"
        " and half lost (in Davidson's model one third each won, tied and lost), so that"
        " systems that never lost, or never won, have an estimate, too; all strength"
        " parameters are shrunk towards their mean.",
        message_id="methods.penalised",
        penalty=penalty,
    )


def _are_about_these(rows: Sequence[Row]) -> bool:
    """Whether comparisons by people have item-clustered primary CIs, and none a two-way one."""
    primary = [
        within_wrappers(r.estimate.method)
        for r in rows
        if r.statistic in {*WINS, *WORTHS} and r.kind != "companion"
    ]
    return "two_way.one_way" in map(name_of, primary) and not any(
        has(m, "two_way") for m in primary
    )


def _is_rate(analysis: Analysis) -> bool:
    """Whether it is a win rate, of the comparisons of two systems."""
    entry = statistic_of(analysis.statistic)
    return entry.group == "wins" and not entry.is_of_one_system
