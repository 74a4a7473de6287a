"""Comparisons of raters of pairs: agreement, rankings, own systems, positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from konsil.analysis.estimation.estimate import EstimateSummary, estimates
from konsil.analysis.estimation.group_estimates import estimate_of
from konsil.analysis.estimation.measure import Column, Measure
from konsil.analysis.estimation.rows.result_rows import estimate_rows, row
from konsil.analysis.model.catalogue.design_needs import is_kin, is_own
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import MEAN_OVER_CRITERIA, MINUS_EXPERTS, MINUS_PEERS, Term
from konsil.analysis.pairs.pair_estimates import counting_ratings, value_rows
from konsil.analysis.pairs.votes import (
    Ballot,
    ballot_of,
    jury_votes,
    names_in,
    shown_first,
    with_known_raters,
)
from konsil.analysis.table.encoding import groups, select
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import OWN, Lineage
from konsil.errors import NotRatedError
from konsil.errors.message import TranslatableMessage, message, placed
from konsil.instrument import Criterion
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.pairs.paired_choice_agreement import (
    CHANCE,
    OVER_SIDES,
    WITHIN,
    WITHIN_PAIRS,
    KappasOfChoices,
    are_shared,
    choice_agreement,
    choice_tables,
    tables_by_pair,
)
from konsil.stats.pairs.preference import preferences
from konsil.stats.pairs.rank_agreement import (
    own_minus_others,
    preference_correlation,
    preference_tables,
    rank_agreement,
)
from konsil.stats.pairs.votes import Votes, cell_counts, votes
from konsil.stats.pairs.wins import head_to_head


def choice_rows(context: Context, frame: pl.DataFrame) -> Iterator[Row]:
    """Agreement of raters who compared the same two answers in the same arm.

    To within one category, with its chance level; or quadratic kappa with the chance of each pair
    of systems, and the one over both sides, in which a favourite that all share is agreement.
    """
    systems, clusters = names_in(context, frame)
    is_kappa = context.analysis.statistic == "choice_kappa"
    for keys, part in groups(frame, context.analysis.by):
        ballot = ballot_of(context, part, systems, clusters)
        arms = (
            ballot.rows.select(pl.struct("item", "arm").rank("dense"))
            .to_series()
            .to_numpy()
            .astype(np.int64)
        )
        is_shared = are_shared(ballot.votes, arms)
        tally, headline, companion = (
            (
                tables_by_pair,
                Column(KappasOfChoices(ballot.votes.n_outcomes), WITHIN_PAIRS),
                OVER_SIDES,
            )
            if is_kappa
            else (choice_tables, Column(choice_agreement, WITHIN), CHANCE)
        )
        measure = Measure(
            sums=tally(ballot.votes, arms),
            finalise=headline,
            clusters=clusters,
            n_units=ballot.rows.filter(pl.Series(is_shared)).get_column("item").n_unique(),
            n_raters=len(np.unique(ballot.votes.raters[is_shared])),
            n_ratings=int(is_shared.sum()),
        )
        beside = replace(measure, finalise=replace(headline, place=companion))
        reason = message("no two raters compared the same two answers")
        summary, other = estimates(
            [measure, beside],
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
            reasons=[reason, reason],
        )
        yield from estimate_rows(context, keys, summary, measure)
        if math.isfinite(other.headline.value):
            method = (_over_sides if is_kappa else _chance_level)(other.headline.method)
            yield row(
                context,
                keys,
                EstimateSummary(replace(other.headline, method=method)),
                measure,
                kind="companion",
            )


def _chance_level(method: str) -> TranslatableMessage:
    return message(
        "chance level (two ratings drawn at random from all ratings), {method}",
        message_id="method.chance_level",
        method=method,
    )


def _over_sides(method: str) -> TranslatableMessage:
    return message(
        "chance over all pairs and both orders of the systems, {method}",
        message_id="method.chance_over_sides",
        method=method,
    )


def correlation_rows(
    context: Context, table: RatingTable, criteria: Sequence[Criterion]
) -> Iterator[Row]:
    """How alike raters prefer by every two criteria, over comparisons rated on both of them."""
    preferences_by_criterion = {c.id: _preferences(context.of(c), table) for c in criteria}
    reason = message(
        "no comparison has both criteria, or all are ties on one of them",
        message_id="pairs.no_correlation",
    )
    for a, b in combinations(preferences_by_criterion, 2):
        for keys, first in groups(preferences_by_criterion[a], context.analysis.by):
            both = first.join(
                preferences_by_criterion[b].select(*_COMPARISON, pl.col("steps").alias("other")),
                on=_COMPARISON,
                how="inner",
                maintain_order="left",
            )
            x, y = (both.get_column(c).to_numpy().astype(np.int64) for c in ("steps", "other"))
            cluster = both.get_column("cluster")
            reach = int(max(np.abs(x).max(initial=1), np.abs(y).max(initial=1)))
            names = cluster.unique().sort().to_list()
            questions = cluster.rank("dense").to_numpy().astype(np.int64) - 1
            measure = Measure(
                sums=preference_tables(x, y, questions, reach),
                finalise=preference_correlation(reach),
                clusters=tuple(names),
                n_units=both.height,
                n_raters=both.get_column("rater").n_unique(),
                n_ratings=2 * both.height,
                scale="atanh",
            )
            summary = estimate_of(context, measure, reason)
            yield from estimate_rows(
                context, {"criterion": a, "other": b, **keys}, summary, measure
            )


_COMPARISON = ["task", "rater", "two"]
"""What tells one rater's comparison from another, whatever the criterion."""


def _preferences(context: Context, table: RatingTable) -> pl.DataFrame:
    """One row a comparison: `steps` in favour of its answer that is first by identifier."""
    frame = select(table, context.analysis, context.analysis.raters)
    ballot = ballot_of(context, frame, *names_in(context, frame))
    two = pl.col("answers").str.split(" | ")
    cluster = "case" if context.analysis.cluster == "case" else "item"
    return ballot.rows.with_columns(
        pl.Series("outcome", ballot.outcomes), two.list.sort().list.join(" | ").alias("two")
    ).with_columns(
        pl.when(pl.col("answers") == pl.col("two"))
        .then(pl.col("outcome"))
        .otherwise(-pl.col("outcome"))
        .alias("steps"),
        pl.col(cluster).alias("cluster"),
    )


def position_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, families: Lineage
) -> Iterator[Row]:
    """Win difference of the answer shown first, over all comparisons of a group."""
    systems, clusters = names_in(context, frame)
    people = any(
        families.judges[r].kind == "human" for r in frame.get_column("rater").unique().to_list()
    )
    for keys, part in groups(frame, context.analysis.by):
        ballot = ballot_of(context, part, systems, clusters)
        side = shown_first(ballot, table)
        has_position = side != 0
        if not has_position.any():
            nothing = Estimate(
                math.nan,
                level=context.resampling.level,
                reason=message("presentation order not recorded"),
            )
            yield row(context, keys, EstimateSummary(nothing))
            continue
        zero = np.zeros(int(has_position.sum()), dtype=np.int64)
        position_votes = votes(
            zero,
            zero + 1,
            (ballot.outcomes * side)[has_position],
            ballot.questions[has_position],
            ballot.raters[has_position],
            n_systems=2,
            steps=ballot.steps,
        ).among(n_questions=len(clusters))
        position_votes = with_known_raters(context, position_votes)
        level, draws = context.resampling.level, context.resampling.draws
        mode = context.analysis.mode
        statistic = head_to_head(2, ballot.steps, "difference")
        if context.analysis.test == "none":
            statistic = replace(statistic, terms=None)
        preference = preferences(
            position_votes, [statistic], draws=draws, key=context.key, level=level, mode=mode
        )[0]
        ratings = None
        if ballot.ratings is not None:
            at = ballot.ratings.get_column("vote").to_numpy()
            ratings = ballot.ratings.filter(pl.Series(has_position[at]))
        for value_row in value_rows(context, keys, preference, 0, people, ballot.names_of_raters):
            yield counting_ratings(value_row, ratings)


def rank_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, criteria: Sequence[Criterion]
) -> Iterator[Row]:
    """Kendall's tau-b of each judge's (or the jury's) ranking of systems and the experts'.

    It is averaged over criteria. One bootstrap of questions carries all criteria, so that their
    mean has an interval of its own.
    """
    analysis = context.analysis
    parts = []
    for criterion in criteria:
        criterion_context = context.of(criterion)
        parts.append(
            (
                criterion_context,
                select(table, criterion_context.analysis, analysis.raters),
                select(table, criterion_context.analysis, str(analysis.against)),
            )
        )
    if any(theirs.height == 0 for _, _, theirs in parts):
        raise NotRatedError(
            placed(
                analysis.name,
                message(
                    "panel {panel!r} has no ratings on every criterion",
                    message_id="refused.not_rated_all",
                    panel=str(analysis.against),
                ),
            )
        )
    systems, clusters = names_in(context, *(f for _, ours, theirs in parts for f in (ours, theirs)))
    names = (
        [""]
        if analysis.consensus == "mean"
        else frame.get_column("rater").unique().sort().to_list()
    )
    for name in names:
        steps: list[tuple[int, int]] = []
        sums: list[Array] = []
        n_votes = 0
        for criterion_context, ours, theirs in parts:
            judge = ballot_of(
                criterion_context,
                ours.filter(pl.col("rater") == name) if name else ours,
                systems,
                clusters,
            )
            judge = judge if name else jury_votes(judge, analysis.raters)
            experts = ballot_of(criterion_context, theirs, systems, clusters)
            steps.append((judge.steps, experts.steps))
            sums += [_counts(judge.votes), _counts(experts.votes)]
            n_votes += len(judge.first)
        statistic = rank_agreement(len(systems), steps)
        # A ranking changes in steps.
        measure = Measure(
            np.hstack(sums), statistic, clusters, len(clusters), 1, n_votes, is_smooth=False
        )
        measures = [replace(measure, finalise=Column(statistic, n)) for n in range(len(parts) + 1)]
        measures = measures if len(parts) > 1 else measures[:1]
        reason = message("one of the two rankings ties all systems")
        summaries = estimates(
            measures,
            key=context.key,
            resampling=context.resampling,
            cluster=context.cluster,
            reasons=[reason] * len(measures),
        )
        rater = name or Term("jury", analysis.raters)
        labels = [*(c.id for c in criteria), MEAN_OVER_CRITERIA]
        k = len(systems) * (len(systems) - 1) // 2 + 1
        for summary, label, group_measure in zip(summaries, labels, measures, strict=False):
            few_systems = message(
                "With {n} systems, tau can take only {k} values.", n=len(systems), k=k
            )
            notes = (few_systems,) if len(systems) <= _FEW_SYSTEMS else ()
            keys = {"rater": rater, "criterion": label} if len(parts) > 1 else {"rater": rater}
            yield from estimate_rows(
                context, keys, replace(summary, notes=(*summary.notes, *notes)), group_measure
            )


_FEW_SYSTEMS = 5
"""Up to this many systems tau has few possible values, and a note says so."""


def own_rows(
    context: Context, table: RatingTable, frame: pl.DataFrame, families: Lineage
) -> Iterator[Row]:
    """A judge's win difference for its own system minus the experts' and its peers'.

    In pairs one system's gain is another's loss, so leniency has no part in it. valid: minus the
    experts' first, minus the peers' beside it, who count only where they are no party; paper: minus
    the peers' of whatever system.
    """
    analysis = context.analysis
    theirs = (
        select(table, analysis, str(analysis.against))
        if analysis.mode == "valid"
        else frame.clear()
    )
    systems, clusters = names_in(context, *([frame, theirs] if theirs.height else [frame]))
    ballots = {
        name: ballot_of(context, frame.filter(pl.col("rater") == name), systems, clusters)
        for name in frame.get_column("rater").unique().sort().to_list()
    }
    experts = ballot_of(context, theirs, systems, clusters) if theirs.height else None
    for name, ballot in ballots.items():
        judge = families.judges[name]
        own_system = judge.strata.get(OWN, "")
        peers = {
            n: _written(families, n, systems)
            for n in ballots
            if families.judges[n].family != judge.family
        }
        if analysis.mode == "paper":
            peers = dict.fromkeys(peers, frozenset())
        # A peer that is, or is of the family of, every rival has no comparison in which it is no
        # party.
        peers = {n: w for n, w in peers.items() if len(w) < len(systems) - 1}
        if own_system not in systems or not (peers or experts):
            reason = (
                message("no own answers among them")
                if own_system not in systems
                else message("no judge of another family")
            )
            yield row(
                context,
                {"rater": name},
                EstimateSummary(Estimate(math.nan, level=context.resampling.level, reason=reason)),
            )
            continue
        versions: list[tuple[list[Ballot], list[frozenset[int]], str]] = []
        if experts is not None:
            versions.append(([experts], [frozenset()], MINUS_EXPERTS))
        if peers:
            peer_ballots = [ballots[n] for n in peers]
            versions.append((peer_ballots, list(peers.values()), MINUS_PEERS))
        for n, (others, written, version) in enumerate(versions):
            every = [ballot, *others]
            at = systems.index(own_system)
            finalise = own_minus_others(len(systems), at, [b.steps for b in every], written=written)
            sums = np.hstack([_counts(b.votes) for b in every])
            measure = Measure(
                sums, Column(finalise, 0), clusters, len(clusters), len(every), len(ballot.first)
            )
            summary = estimates(
                [measure],
                key=context.key,
                resampling=context.resampling,
                cluster=context.cluster,
                reasons=[""],
            )[0]
            if n == 0:
                yield from estimate_rows(context, {"rater": name}, summary, measure)
            else:
                yield row(
                    context, {"rater": name, "version": version}, summary, measure, kind="companion"
                )


def _written(families: Lineage, judge: str, systems: Sequence[str]) -> frozenset[int]:
    """The systems that a judge is, or that are of its family."""
    record = families.judges[judge]
    return frozenset(
        n
        for n, system in enumerate(systems)
        if is_own(record, system) or is_kin(record, families.systems.get(system, ""))
    )


def _counts(votes: Votes) -> Array:
    return np.asarray(cell_counts(votes, votes.questions, votes.n_questions), dtype=np.float64)
