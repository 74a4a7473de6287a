"""The methods paragraph, sentence by sentence, from what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from konsil.analysis.agreement.consensus_rules import leaves_one_out, needs_majority
from konsil.analysis.cases.case_methods import case_methods
from konsil.analysis.designs.design_methods import design_methods
from konsil.analysis.estimation.rare_events import FEW_HITS
from konsil.analysis.model.catalogue.known import PREFERENCE, WINS, WORTHS
from konsil.analysis.model.message import listed, message
from konsil.analysis.model.results import Row
from konsil.analysis.model.spec import Analysis, Exclusions, Resampling
from konsil.analysis.table.adjudicated import adjudication_sentences
from konsil.analysis.table.frame import RatingTable, reasons
from konsil.analysis.table.screens import display_sentences
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.pairs.rank_agreement import JURY_LINE


def methods(
    analyses: Sequence[Analysis],
    rows: Sequence[Row],
    table: RatingTable,
    *,
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
) -> tuple[str, ...]:
    """Sentences for a methods section, on what was done only."""
    sentences = [_material(table), *_excluded(table, exclusions), *_abstentions(analyses, table)]
    sentences += adjudication_sentences(
        table.adjudicated, [a.name for a in analyses if a.adjudication == "after"]
    )
    sentences += display_sentences(analyses, table.frame, table.displays)
    sentences += _statistics(analyses)
    sentences += _comparisons(analyses, rows)
    sentences += case_methods(analyses)
    sentences += design_methods(analyses)
    sentences += _consensus(_of_labels(analyses, table))
    sentences += _intervals(analyses, rows, seed, resampling)
    sentences += _tests(rows)
    sentences += _family(rows)
    return tuple(s for s in sentences if s)


def _material(table: RatingTable) -> str:
    panels = table.frame.group_by("panel").agg(
        pl.col("rater").n_unique().alias("n"), pl.len().alias("ratings")
    )
    parts = [
        message(
            "{n} {panel} ({ratings:,} {ratings|rating|ratings})",
            message_id="methods.raters_part",
            n=n,
            panel=panel,
            ratings=ratings,
        )
        for panel, n, ratings in panels.sort("panel").iter_rows()
    ]
    if not parts:
        return message("No ratings were available.")
    items = table.frame.filter(pl.col("item").fill_null("") != "").get_column("item").n_unique()
    return message(
        "{items:,} {items|item was|items were} rated by {raters}.",
        message_id="methods.raters",
        raters=listed(parts),
        items=items,
    )


def _excluded(table: RatingTable, exclusions: Exclusions) -> list[str]:
    if not table.excluded.height:
        rule = exclusions.min_seconds
        if rule <= 0:
            return []
        return [
            message("No rating was faster than the protocol's {seconds:g} seconds.", seconds=rule)
        ]
    reason_by_text = {str(reason): reason for reason in reasons(exclusions)}
    counts = table.excluded.group_by("reason").len().sort("reason")
    parts = [
        message("{n:,} {n|rating|ratings} ({reason})", n=n, reason=reason_by_text[reason])
        for reason, n in counts.iter_rows()
    ]
    return [message("Excluded: {what}.", what=listed(parts))]


def _abstentions(analyses: Sequence[Analysis], table: RatingTable) -> list[str]:
    n = table.frame.filter(pl.col("state") == "abstained").height
    if not n:
        return []
    sentences: list[str] = [
        message(
            "{n:,} {n|abstention was|abstentions were} treated as missing, except in"
            " analyses of abstention; statistics use all available ratings (pairwise"
            " deletion).",
            message_id="methods.abstentions",
            n=n,
        )
    ]
    named = [a.name for a in analyses if a.abstain == "label"]
    if named:
        sentences.append(
            message(
                "In {analyses}, abstentions were counted as a separate category.",
                analyses=listed(named),
            )
        )
    return sentences


def _statistics(analyses: Sequence[Analysis]) -> list[str]:
    names = sorted({a.statistic for a in analyses if a.statistic in STATISTICS})
    if not names:
        return []
    entries = [STATISTICS[n] for n in names]
    parts = [
        message("{statistic} ({source})", statistic=message(e.title), source=message(e.source))
        for e in entries
    ]
    sentences: list[str] = [
        message(
            "Agreement was measured by {statistics}; statistics of two raters are averaged over"
            " rater pairs.",
            statistics=listed(parts, "; "),
        )
    ]
    if any(a.statistic == "krippendorff_alpha" and not a.weights for a in analyses):
        sentences.append(
            message(
                "Krippendorff's alpha used the difference function for the scale's level"
                " of measurement (ordinal: mid-ranks, not Gwet's ordinal weights).",
                message_id="methods.alpha_difference",
            )
        )
    weights = sorted({a.weights or "quadratic" for a in analyses if a.statistic == "gwet_ac2"})
    if weights:
        sentences.append(
            message(
                "The weights of Gwet's AC2 are {weights}.",
                weights=listed([message(w) for w in weights]),
            )
        )
    if "within_one" in names:
        sentences.append(
            message(
                "Agreement within one category is reported with its chance level (two"
                " labels drawn at random from all ratings).",
                message_id="methods.within_one_chance",
            )
        )
    return sentences


def _comparisons(analyses: Sequence[Analysis], rows: Sequence[Row]) -> list[str]:
    wins = [a for a in analyses if a.statistic in {*WINS, *WORTHS}]
    sentences: list[str] = []
    if any(a.statistic in WINS and not a.statistic.startswith("win_rate") for a in wins):
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
                    " only. Also reported: item-bootstrap CIs, with p values from a"
                    " permutation test exchanging the systems in all comparisons of an item,"
                    " and two-way CIs."
                ),
                message_id="target.comparisons_these",
            )
        )
    elif any(a.mode == "valid" for a in wins):
        sentences.append(
            message(
                "CIs and p values of human comparisons are two-way cluster-robust (items"
                " and raters; Taylor linearisation, t with effective degrees of freedom)."
                " Also reported, for these raters only: item-bootstrap CIs, with p values"
                " from a permutation test exchanging the systems in all comparisons of an"
                " item, and rater-clustered CIs.",
                message_id="two_way.comparisons",
            )
        )
    if any(a.mode == "valid" and a.statistic.startswith("win_rate") for a in wins):
        sentences.append(
            message(
                (
                    "Win rates have Wilson CIs with the effective sample size, the same"
                    " variance and the same degrees of freedom."
                ),
                message_id="two_way.win_rates",
            )
        )
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


def _are_about_these(rows: Sequence[Row]) -> bool:
    """Whether comparisons by people have the two-way CI as a companion, never as primary CI."""
    of_pairs = [r for r in rows if r.statistic in {*WINS, *WORTHS}]
    two_way = {
        r.kind == "companion"
        for r in of_pairs
        if r.estimate.method.startswith("linearised two-way")
    }
    return two_way == {True}


def _of_labels(analyses: Sequence[Analysis], table: RatingTable) -> list[Analysis]:
    """The analyses that are not of comparisons.

    Between two answers there is no majority that a judge is compared with.
    """
    pairs = (
        table.frame.filter(pl.col("system").str.contains(" | ", literal=True))
        .get_column("criterion")
        .unique()
    )
    return [
        a
        for a in analyses
        if a.statistic not in PREFERENCE and a.criterion not in {*pairs.to_list()}
    ]


def _consensus(analyses: Sequence[Analysis]) -> list[str]:
    sentences: list[str] = []
    if any(needs_majority(a) for a in analyses):
        sentences.append(
            message(
                "A majority is more than half of the raters who did not abstain; otherwise"
                " it is not defined."
            )
        )
    breakers = sorted({a.tiebreak for a in analyses if a.tiebreak})
    if breakers:
        sentences.append(
            message(
                "Ratings of {panels} entered the majority vote only where the panel"
                " disagreed without a majority (tie-break).",
                message_id="methods.tie_break",
                panels=listed([repr(name) for name in breakers]),
            )
        )
    if any(a.against == "rest" and needs_majority(a) for a in analyses):
        sentences.append(
            message("Leave-one-out agreement compares each rater with the majority of the others.")
        )
    judged = [a for a in analyses if leaves_one_out(a)]
    if any(a.mode == "valid" for a in judged):
        sentences.append(
            message(
                "Judges were compared with the same leave-one-out majorities, on the same"
                " ratings, as the held-out rater; the expected difference is zero for a"
                " judge exchangeable with the panel.",
                message_id="methods.leave_one_out_judges",
            )
        )
    if any(a.mode == "paper" for a in judged):
        sentences.append(
            message(
                "In analyses “as published”, LLM judges were compared with the majority of"
                " the whole panel; this biases the difference."
            )
        )
    if any(a.statistic.startswith("ensembles_") for a in analyses):
        sentences.append(
            message(
                (
                    "Ensembles, including single judges, were compared with the majority of"
                    " the whole panel; their values are not comparable with those of judges"
                    " compared with leave-one-out majorities."
                ),
                message_id="ensembles.whole_panel",
            )
        )
    ranked = [a for a in analyses if a.statistic.startswith("ensembles_") and a.mode == "valid"]
    sentences += [
        message(
            "Members of ensembles were judges with labels on at least {coverage:.0%} of the panel's"
            " units.",
            message_id="ensembles.coverage",
            coverage=coverage,
        )
        for coverage in sorted({a.coverage for a in ranked if a.coverage})
    ]
    if any(a.ensemble_units == "members" for a in ranked):
        sentences.append(
            message(
                "Each ensemble was scored on the units on which its own members have a majority.",
                message_id="ensembles.members",
            )
        )
    return sentences


def _intervals(
    analyses: Sequence[Analysis], rows: Sequence[Row], seed: int, resampling: Resampling
) -> list[str]:
    clusters = sorted({"item" if a.cluster == "rater" else a.cluster for a in analyses})
    if not rows or not clusters:
        return []
    sentences: list[str] = []
    if any("bootstrap" in r.estimate.method for r in rows):
        sentences.append(
            message(
                (
                    "All CIs are {level:g}% CIs. Bootstrap CIs are bias-corrected and"
                    " accelerated (BCa) unless stated otherwise, from {draws:,} resamples of"
                    " clusters ({clusters}; study seed {seed}); all analyses of the same"
                    " clusters use the same resamples."
                ),
                message_id="methods.bootstrap",
                level=resampling.level * 100,
                draws=resampling.draws,
                clusters=listed([message(c) for c in clusters]),
                seed=seed,
            )
        )
    if any("two-way" in r.estimate.method for r in rows if r.statistic not in PREFERENCE):
        sentences.append(
            message(
                (
                    "Two-way CIs allow for other items and other raters (cluster-robust Wald,"
                    " for agreement with a leave-one-rater-out jackknife; t with effective"
                    " degrees of freedom)."
                ),
                message_id="target.two_way",
            )
        )
    if any(a.cluster == "rater" for a in analyses):
        sentences.append(
            message(
                "With raters as clusters, the CI is a cluster-robust Wald CI for sums of"
                " single ratings and a leave-one-rater-out jackknife CI otherwise."
            )
        )
    if any(r.estimate.method in {"Wilson", "Clopper-Pearson"} for r in rows):
        sentences.append(
            message("Proportions without clustering have Wilson CIs (Clopper-Pearson at 0 and 1).")
        )
    of_few_hits = ("Wilson at", "Clopper-Pearson, each")
    if any(
        r.estimate.method.startswith(of_few_hits) and "bias-reduced" not in r.estimate.method
        for r in rows
    ):
        sentences.append(
            message(
                "Where the less frequent outcome occurred in fewer than {few} clusters,"
                " Wilson CIs with the effective sample size were used.",
                message_id="methods.rare_outcomes",
                few=FEW_HITS,
            )
        )
    if any("for every pair of raters" in r.estimate.method for r in rows):
        sentences.append(
            message(
                (
                    "Means over pairs of raters have CIs from a posterior of the rating"
                    " patterns if some pairs share few units; the prior has equal weight for"
                    " every pair. The degrees of freedom of t are the harmonic mean of the"
                    " clusters that pairs share, minus 1."
                ),
                message_id="edges.thin_methods",
            )
        )
    if any("with the others' majority" in r.estimate.method for r in rows):
        sentences.append(
            message(
                (
                    "Means over raters compared with the majority of the others have CIs from"
                    " a posterior of the rating patterns if some raters rated few units; the"
                    " prior has equal weight for every rater. The degrees of freedom of t are"
                    " the harmonic mean of the clusters that raters share with that majority,"
                    " minus 1."
                ),
                message_id="edges.thin_majorities_methods",
            )
        )
    of_uneven = ("bias-reduced variance", "tails of t", "Clopper-Pearson at")
    if any(word in r.estimate.method for r in rows for word in of_uneven):
        sentences.append(
            message(
                (
                    "Agreement in clusters of very unequal size has CIs with bias-reduced"
                    " variance and effective degrees of freedom."
                ),
                message_id="edges.uneven_methods",
            )
        )
    return sentences


def _tests(rows: Sequence[Row]) -> list[str]:
    differences = [r for r in rows if r.kind == "difference"]
    if not differences:
        return []
    sentences: list[str] = []
    methods = [r.estimate.method for r in differences]
    if any("score interval" in m or "square-and-add" in m for m in methods):
        sentences.append(
            message(
                (
                    "Differences of proportions have score CIs; where a cluster has several"
                    " outcomes of a group, Newcombe square-and-add CIs with the effective"
                    " sample sizes."
                ),
                message_id="difference.intervals_of_shares",
            )
        )
    if any("permutation" in m for m in methods):
        sentences.append(
            message(
                (
                    "CIs of other differences are from studentised permutation tests that"
                    " exchange the two groups within whole clusters; where a cluster belongs"
                    " to only one group, the group membership of these clusters is permuted."
                ),
                message_id="difference.intervals_of_permutation",
            )
        )
    if any(
        "effective degrees of freedom" in m
        for m in methods
        if m.startswith("difference, linearised")
    ):
        sentences.append(
            message(
                (
                    "Differences of estimates based on rare events have cluster-robust Wald"
                    " CIs with effective degrees of freedom."
                ),
                message_id="difference.intervals_of_rare_events",
            )
        )
    if any(
        m.startswith("difference, linearised") and "effective degrees" not in m for m in methods
    ):
        sentences.append(
            message(
                "Differences of groups that cannot be exchanged have cluster-robust Wald CIs.",
                message_id="difference.intervals_of_linearisation",
            )
        )
    if any("bootstrap" in m for m in methods):
        sentences.append(message("Differences were computed on the same resamples (paired)."))
    tested = [r for r in differences if math.isfinite(r.estimate.p)]
    by_t = [
        r
        for r in tested
        if "rater-cluster" in r.estimate.method or "jackknife" in r.estimate.method
    ]
    if any("bootstrap" not in r.estimate.method for r in tested if r not in by_t):
        sentences.append(
            message(
                "The p value of a difference is from the test that its CI inverts.",
                message_id="difference.tests",
            )
        )
    if any("bootstrap" in r.estimate.method for r in tested):
        sentences.append(
            message(
                ("Two-sided p values for differences were obtained by inverting the bootstrap CI."),
                message_id="methods.inverted",
            )
        )
    if by_t:
        sentences.append(
            message("Where raters are the clusters, p values are from the t distribution.")
        )
    if any(math.isfinite(r.p_adjusted) for r in differences):
        sentences.append(
            message(
                "The Holm adjustment covers all declared differences.", message_id="declared.holm"
            )
        )
    return sentences


def _family(rows: Sequence[Row]) -> list[str]:
    """How the declared win differences are adjusted for one another."""
    members = [r for r in rows if math.isfinite(r.p_max_t)]
    if not members:
        return []
    return [
        message(
            "The p values of the {n} declared tests of win differences are adjusted for one another"
            " in two ways: by Holm's method over all declared tests; and by max-T over these tests,"
            " with the correlations that items and raters give them.",
            message_id="two_way.family",
            n=len(members),
        )
    ]
