"""The methods paragraph, sentence by sentence, from what was run."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from konsil.analysis.agreement.consensus_methods import consensus_methods
from konsil.analysis.cases.case_methods import case_methods
from konsil.analysis.designs.design_methods import design_methods
from konsil.analysis.estimation.rows.inference_methods import (
    difference_methods,
    family_methods,
    interval_methods,
)
from konsil.analysis.model.catalogue.known import CASES, PREFERENCE, WINS, WORTHS
from konsil.analysis.model.composite.score_sentences import score_sentences
from konsil.analysis.model.interval_methods import leads
from konsil.analysis.model.message import listed, message
from konsil.analysis.model.options import AgreementOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, Exclusions, Resampling
from konsil.analysis.model.terms import words_of
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
    sentences += score_sentences(analyses, table.composites.values())
    sentences += display_sentences(analyses, table.frame, table.displays)
    sentences += _statistics(analyses)
    sentences += _comparisons(analyses, rows)
    if any(a.statistic in CASES for a in analyses):
        sentences += case_methods(analyses)
    sentences += design_methods(analyses)
    sentences += consensus_methods(_of_labels(analyses, table))
    sentences += interval_methods(analyses, rows, seed, resampling)
    sentences += difference_methods(rows)
    sentences += family_methods(rows)
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
        message("{n:,} {n|rating|ratings} ({reason})", n=n, reason=words_of(reason_by_text[reason]))
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
    weights_by_statistic = [
        (a.statistic, a.options_as(AgreementOptions).weights)
        for a in analyses
        if a.statistic in STATISTICS
    ]
    if ("krippendorff_alpha", "") in weights_by_statistic:
        sentences.append(
            message(
                "Krippendorff's alpha used the difference function for the scale's level"
                " of measurement (ordinal: mid-ranks, not Gwet's ordinal weights).",
                message_id="methods.alpha_difference",
            )
        )
    weights = sorted({w or "quadratic" for name, w in weights_by_statistic if name == "gwet_ac2"})
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
                (
                    "Agreement within one category is reported with its chance level (two"
                    " ratings drawn at random from all ratings)."
                ),
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
    two_way = {r.kind == "companion" for r in of_pairs if leads(r.estimate.method, "wald_two_way")}
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
