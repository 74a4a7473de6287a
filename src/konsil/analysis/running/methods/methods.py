"""The methods paragraph, sentence by sentence, from what was run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from konsil.analysis.estimation.rare_events import FEW_HITS
from konsil.analysis.estimation.raters.consensus_rules import (
    is_of_two,
    leaves_one_out,
    needs_majority,
)
from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.composite.definition import CompositeScore
from konsil.analysis.model.composite.score_rows import Composite
from konsil.analysis.model.interval_methods import has, is_by_rater, leads, name_of
from konsil.analysis.model.message import TranslatableMessage, listed, message
from konsil.analysis.model.options import JudgeOptions
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, Exclusions, Resampling
from konsil.analysis.model.terms import words_of
from konsil.analysis.running.families import FAMILIES
from konsil.analysis.running.methods.number_methods import number_sentences
from konsil.analysis.running.sensitivity.omissions import omission_sentences
from konsil.analysis.table.adjudicated import adjudication_sentences
from konsil.analysis.table.frame import RatingTable, reasons
from konsil.analysis.table.screens import display_sentences
from konsil.instrument import Instrument


def methods(
    analyses: Sequence[Analysis],
    rows: Sequence[Row],
    table: RatingTable,
    *,
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
    instruments: Sequence[Instrument] = (),
) -> tuple[str, ...]:
    """Sentences for a methods section, on what was done only."""
    sentences = [_material(table), *presentation(table.frame, instruments)]
    sentences += [*_excluded(table, exclusions), *_abstentions(analyses, table)]
    sentences += adjudication_sentences(
        table.adjudicated, [a.name for a in analyses if a.adjudication == "after"]
    )
    composites = table.composites.values()
    sentences += score_sentences(analyses, composites)
    criteria = [criterion for form in instruments for criterion in form.criteria]
    sentences += number_sentences(analyses, criteria, [c.score for c in composites])
    sentences += display_sentences(analyses, table.frame, table.displays)
    for family in FAMILIES.values():
        sentences += family.methods(analyses, rows)
    sentences += consensus_methods(_of_labels(analyses, table), rows)
    sentences += interval_methods(analyses, rows, seed, resampling)
    sentences += difference_methods(rows)
    sentences += family_methods(rows)
    sentences += omission_sentences(analyses, rows)
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


def presentation(frame: pl.DataFrame, instruments: Sequence[Instrument]) -> list[str]:
    """One sentence on the rated forms whose sentences are presented one at a time."""
    rated = set(frame.get_column("instrument").unique())
    names = [i.id for i in instruments if i.present == "sentence" and i.id in rated]
    if not names:
        return []
    return [
        message(
            "Each page and each judge's call of {forms} presented the whole answer with one marked"
            " sentence.",
            message_id="methods.present_sentence",
            forms=listed(names),
        )
    ]


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


def interval_methods(
    analyses: Sequence[Analysis], rows: Sequence[Row], seed: int, resampling: Resampling
) -> list[str]:
    """Sentences on the intervals of estimates."""
    clusters = sorted({"item" if a.cluster == "rater" else a.cluster for a in analyses})
    if not rows or not clusters:
        return []
    sentences: list[str] = []
    if any(has(r.estimate.method, "bootstrap") for r in rows):
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
    if any(name_of(r.estimate.method) == "method.log_jackknife" for r in rows):
        sentences.append(
            message(
                "CIs of standard deviations are from a jackknife over clusters on the log scale.",
                message_id="methods.log_jackknife",
            )
        )
    if any(name_of(r.estimate.method) == "relative.interval" for r in rows):
        sentences.append(
            message(
                (
                    "Relative differences of proportions have CIs of a ratio (MOVER) with the"
                    " effective sample sizes of the clusters, which exclude 0 exactly where the"
                    " square-and-add CI of the difference does; no p value is computed for them."
                ),
                message_id="relative.methods",
            )
        )
    if any(has(r.estimate.method, "two_way") for r in rows if r.statistic not in PREFERENCE):
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
    if any(name_of(r.estimate.method) in {"method.wilson", "method.exact"} for r in rows):
        sentences.append(
            message("Proportions without clustering have Wilson CIs (Clopper-Pearson at 0 and 1).")
        )
    if any(leads(r.estimate.method, "effective_clusters") for r in rows):
        sentences.append(
            message(
                (
                    "Where the less frequent outcome occurred in fewer than {few} clusters,"
                    " Wilson CIs with the effective sample size were used (Clopper-Pearson by"
                    " cluster if it did not occur)."
                ),
                message_id="methods.rare_outcomes",
                few=FEW_HITS,
            )
        )
    if any(has(r.estimate.method, "thin_pairs") for r in rows):
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
    if any(has(r.estimate.method, "thin_majorities") for r in rows):
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
    if any(has(r.estimate.method, "uneven") for r in rows):
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


def difference_methods(rows: Sequence[Row]) -> list[str]:
    """Sentences on the intervals and tests of differences."""
    differences = [r for r in rows if r.kind == "difference"]
    if not differences:
        return []
    sentences: list[str] = []
    methods = [r.estimate.method for r in differences]
    if any(has(m, "score") or has(m, "square_and_add") for m in methods):
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
    if any(has(m, "permutation") for m in methods):
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
    if any(leads(m, "rare_events") for m in methods):
        sentences.append(
            message(
                (
                    "Differences of estimates based on rare events have cluster-robust Wald"
                    " CIs with effective degrees of freedom."
                ),
                message_id="difference.intervals_of_rare_events",
            )
        )
    if any(leads(m, "straight_difference") for m in methods):
        sentences.append(
            message(
                "Differences of groups that cannot be exchanged have cluster-robust Wald CIs.",
                message_id="difference.intervals_of_linearisation",
            )
        )
    if any(has(m, "bootstrap") for m in methods):
        sentences.append(message("Differences were computed on the same resamples (paired)."))
    tested = [r for r in differences if math.isfinite(r.estimate.p)]
    by_t = [
        r for r in tested if is_by_rater(r.estimate.method) or has(r.estimate.method, "jackknife")
    ]
    if any(not has(r.estimate.method, "bootstrap") for r in tested if r not in by_t):
        sentences.append(
            message(
                "The p value of a difference is from the test that its CI inverts.",
                message_id="difference.tests",
            )
        )
    if any(has(r.estimate.method, "bootstrap") for r in tested):
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


def family_methods(rows: Sequence[Row]) -> list[str]:
    """How the declared win differences are adjusted for one another."""
    members = [r for r in rows if math.isfinite(r.p_max_t)]
    if not members:
        return []
    return [
        message(
            "The p values of the {n} declared tests of win differences are adjusted for"
            " multiple testing in two ways: by the Holm method over all declared tests, and by"
            " max-T over these tests, with their correlations from shared items and raters.",
            message_id="two_way.family",
            n=len(members),
        )
    ]


def score_sentences(
    analyses: Sequence[Analysis], composites: Iterable[Composite]
) -> list[TranslatableMessage]:
    """A sentence on each score that an analysis names."""
    named = {name for a in analyses for name in (a.criterion, *a.criteria)}
    return [score_sentence(c) for c in composites if c.score.id in named]


def score_sentence(composite: Composite) -> TranslatableMessage:
    """How a score is made, for the methods."""
    score = composite.score
    titles = {part.id: part.title for parts in composite.parts.values() for part in parts}
    method = {
        "mean": message("the mean", message_id="score.mean"),
        "sum": message("the sum", message_id="score.sum"),
        "weighted": message(
            "the mean weighted by {weights}",
            message_id="score.weighted",
            weights=", ".join(f"{weight:g}" for weight in score.weights),
        ),
        "minimum": message("the minimum", message_id="score.minimum"),
        "share": _share_words(score),
    }[score.combine]
    if score.missing == "complete":
        rule = message(
            "missing if the rater did not rate a criterion or abstained",
            message_id="score.complete",
        )
    else:
        rule = message(
            "of the criteria available, at least {n}",
            message_id="score.available",
            n=score.min_parts,
        )
    return message(
        ("Composite score “{name}”: {method} of {n} criteria ({criteria}) for each rater; {rule}."),
        message_id="score.sentence",
        name=score.title or score.id,
        method=method,
        n=len(score.of),
        criteria=listed([titles.get(name) or name for name in score.of]),
        rule=rule,
    )


def _share_words(score: CompositeScore) -> TranslatableMessage:
    if score.labels:
        return message(
            "the proportion with the label {labels}",
            message_id="score.share_labels",
            labels=listed(score.labels),
        )
    return message(
        "the proportion with a value of {number:g} or more",
        message_id="score.share_numbers",
        number=0.0 if score.at_least is None else score.at_least,
    )


def consensus_methods(analyses: Sequence[Analysis], rows: Sequence[Row] = ()) -> list[str]:
    """Sentences on the majorities of the analyses of labels; rows show which panels are pairs."""
    sentences: list[str] = []
    pairs = {a.name for a in analyses if is_of_two(a, rows)}
    if any(needs_majority(a) and a.name not in pairs for a in analyses):
        sentences.append(
            message(
                "A majority is more than half of the raters who did not abstain; otherwise"
                " it is not defined."
            )
        )
    breakers = sorted({panel for a in analyses for panel in a.options.panels})
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
    if pairs:
        sentences.append(
            message(
                "With a panel of two raters, judges were compared by the mean over the pairs of a"
                " judge and a rater, minus the agreement of the two raters on the same units; CIs"
                " and tests are over units and hold for these two raters.",
                message_id="methods.judges_and_two_raters",
            )
        )
    if any(a.mode == "valid" and a.name not in pairs for a in judged):
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
    ranked = [
        a.options_as(JudgeOptions)
        for a in analyses
        if a.statistic.startswith("ensembles_") and a.mode == "valid"
    ]
    sentences += [
        message(
            "Members of ensembles were judges with labels on at least {coverage:.0%} of the panel's"
            " units.",
            message_id="ensembles.coverage",
            coverage=coverage,
        )
        for coverage in sorted({options.coverage for options in ranked if options.coverage})
    ]
    if any(options.ensemble_units == "members" for options in ranked):
        sentences.append(
            message(
                "Each ensemble was scored on the units on which its own members have a majority.",
                message_id="ensembles.members",
            )
        )
    return sentences
