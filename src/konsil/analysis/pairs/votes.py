"""Votes from a study's ratings of pairs: systems, steps, items and raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.model.context import Context
from konsil.analysis.table.columns import task_columns
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.labels import labels_of
from konsil.analysis.table.pair_labels import reach, steps_of_criterion, steps_of_scale
from konsil.errors import AnalysisError
from konsil.errors.message import message, placed
from konsil.stats.engine.contract import IntArray
from konsil.stats.pairs.rank_agreement import jury
from konsil.stats.pairs.votes import Votes, votes


@dataclass(frozen=True, eq=False)
class Ballot:
    """One group's comparisons as columns."""

    first: IntArray
    """(n_votes,) the number of the system whose answer the label calls A."""
    second: IntArray
    """(n_votes,) of the other."""
    outcomes: IntArray
    """(n_votes,) steps in favour of the first."""
    questions: IntArray
    """(n_votes,) numbers of the clusters: items, or cases."""
    raters: IntArray
    """(n_votes,)."""
    systems: tuple[str, ...]
    """The systems' names, sorted; the same for all groups of an analysis."""
    clusters: tuple[str, ...]
    """The clusters' names, sorted; likewise."""
    steps: int
    """How far outcomes reach."""
    rows: pl.DataFrame
    """The ratings, in the votes' order."""
    ratings: pl.DataFrame | None = None
    """One row a single rating: the number of its `vote`, its `item` and its `rater`; None where
    each vote is one rating and its cluster the item."""

    @property
    def names_of_raters(self) -> tuple[str, ...]:
        """The raters' names by their numbers."""
        return tuple(self.rows.get_column("rater").unique().sort().to_list())

    @property
    def votes(self) -> Votes:
        """As votes."""
        return self.of(np.ones(len(self.first), dtype=bool))

    def of(
        self, selected: NDArray[np.bool_], *, by_length: NDArray[np.bool_] | None = None
    ) -> Votes:
        """Some of them as votes; `by_length` (n_votes,) whether the first's answer is the longer.

        By length there are twice as many systems: each as the longer one, then each as the shorter
        one, so that a longer one meets shorter ones only and every rival keeps the same weight.
        """
        k = len(self.systems)
        first, second = self.first[selected], self.second[selected]
        if by_length is not None:
            longer = by_length[selected]
            first, second = np.where(longer, first, first + k), np.where(longer, second + k, second)
        return votes(
            first,
            second,
            self.outcomes[selected],
            self.questions[selected],
            self.raters[selected],
            n_systems=k if by_length is None else 2 * k,
            steps=self.steps,
        ).among(n_questions=len(self.clusters), n_raters=int(self.raters.max(initial=-1)) + 1)


@dataclass(frozen=True)
class Member:
    """One group of an analysis: its keys, its votes, and which row each value has."""

    keys: dict[str, str]
    """Column -> value."""
    votes: Votes
    """What was compared, and how it went."""
    rows: tuple[tuple[int, dict[str, str]], ...]
    """Which value of the statistic, and the row's further keys."""
    raters: tuple[str, ...] = ()
    """The raters' names by their numbers."""
    ratings: pl.DataFrame | None = None
    """One row a single rating: the `pair` of its vote, its `item` and its `rater`; None as in
    `Ballot`."""


def ratings_of(ratings: pl.DataFrame | None, support: NDArray[np.bool_]) -> pl.DataFrame | None:
    """A member's single ratings of some pairs of systems, `support` (n_pairs,)."""
    if ratings is None:
        return None
    return ratings.filter(pl.Series(support[ratings.get_column("pair").to_numpy()]))


def steps_of(context: Context) -> dict[str, int]:
    """The analysis' labels to steps in favour of A, before collapsing."""
    analysis = context.analysis
    criterion_steps = steps_of_criterion(context.criterion, analysis.name)
    if not analysis.collapse and not analysis.labels:
        return criterion_steps
    collapsed = steps_of_scale(labels_of(analysis, context.criterion).names)
    # A scale may begin with B, but steps of collapsed labels know their order alone.
    backwards = next(iter(criterion_steps.values())) < 0
    after = {label: analysis.collapse.get(label, label) for label in criterion_steps}
    missing = [label for label in after.values() if label not in collapsed]
    if missing:
        raise AnalysisError(
            f"{analysis.name}: collapse: {missing[0]!r} is not one of the labels {list(collapsed)}"
        )
    return {label: -collapsed[to] if backwards else collapsed[to] for label, to in after.items()}


def ballot_of(
    context: Context, frame: pl.DataFrame, systems: Sequence[str], clusters: Sequence[str]
) -> Ballot:
    """The comparisons among a group's ratings; abstentions are left out."""
    steps = steps_of(context)
    refuse_unknown_labels(frame, steps)
    rows = frame.filter((pl.col("state") == "rated") & pl.col("label").is_not_null())
    number = {name: n for n, name in enumerate(systems)}
    place = {name: n for n, name in enumerate(clusters)}
    two = rows.get_column("system").str.split(" | ")
    first, second = (
        two.list.get(n).replace_strict(number, return_dtype=pl.Int64).to_numpy() for n in (0, 1)
    )
    cluster = (
        rows.get_column(_cluster(context)).replace_strict(place, return_dtype=pl.Int64).to_numpy()
    )
    rater = rows.get_column("rater").rank("dense").to_numpy().astype(np.int64) - 1
    outcome = rows.get_column("label").replace_strict(steps, return_dtype=pl.Int64).to_numpy()
    return Ballot(
        first,
        second,
        outcome,
        cluster,
        rater,
        tuple(systems),
        tuple(clusters),
        reach(steps),
        rows,
        None
        if _cluster(context) == "item"
        else rows.select(
            pl.int_range(pl.len()).alias("vote"),
            "item",
            pl.col("rater") if context.has_known_raters else pl.lit("").alias("rater"),
        ),
    )


def names_in(context: Context, *frames: pl.DataFrame) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems compared and the clusters, sorted, over all groups and panels of an analysis."""
    systems: set[str] = set()
    clusters: set[str] = set()
    for frame in frames:
        two = frame.get_column("system").unique().to_list()
        strange = next(
            (name for name in two if name.count(" | ") != 1 or "" in name.split(" | ")), None
        )
        if strange is not None:
            fact = message(
                "a rating refers to {answers!r}; expected two answers with known systems",
                message_id="refused.no_two_systems",
                answers=strange,
            )
            raise AnalysisError(placed(context.analysis.name, fact))
        systems.update(name for pair in two for name in pair.split(" | "))
        clusters.update(frame.get_column(_cluster(context)).unique().to_list())
    return tuple(sorted(systems)), tuple(sorted(clusters))


def with_known_raters(context: Context, of_panel: Votes) -> Votes:
    """The votes; where raters are unknown as those of one rater.

    The number of an unknown rater identifies nobody beyond one comparison.
    """
    if context.has_known_raters:
        return of_panel
    return replace(of_panel, raters=np.zeros(of_panel.n_votes, dtype=np.int64), n_raters=1)


def _cluster(context: Context) -> str:
    return "case" if context.analysis.cluster == "case" else "item"


def jury_votes(ballot: Ballot, name: str) -> Ballot:
    """All raters' votes on one comparison as one vote of a jury.

    It is their mean, a win beyond half a step. A comparison is an item with two answers; where each
    judge made it several times, their first ones are one comparison, their second ones another, in
    the order of the tasks.
    """
    if not len(ballot.first):
        return ballot
    numbered = ballot.rows.with_row_index("row").sort("task")
    again = numbered.with_columns(
        pl.int_range(pl.len()).over("rater", "item", "answers").alias("again")
    )
    unit = again.select(
        "row", pl.struct("item", "answers", "again").rank("dense").alias("unit")
    ).sort("row")
    units = unit.get_column("unit").to_numpy().astype(np.int64) - 1
    n = int(units.max()) + 1
    outcome = jury(units, ballot.outcomes, n)
    first_votes = np.unique(units, return_index=True)[1]
    rows = ballot.rows[first_votes.tolist()].with_columns(pl.lit(name).alias("rater"))
    return Ballot(
        ballot.first[first_votes],
        ballot.second[first_votes],
        outcome,
        ballot.questions[first_votes],
        np.zeros(n, dtype=np.int64),
        ballot.systems,
        ballot.clusters,
        1,
        rows,
        ballot.rows.select(pl.Series("vote", units), "item", "rater"),
    )


def longer_first(ballot: Ballot, table: RatingTable) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the first's answer is the longer, and for which votes that can be said.

    (n_votes,) each.
    """
    text_lengths = {a.id: len(a.text) for a in table.data.answers} if table.data is not None else {}
    lengths = text_lengths | dict(table.data.lengths) if table.data is not None else text_lengths
    two = ballot.rows.get_column("answers").str.split(" | ").to_list()
    vote_lengths = np.array(
        [[lengths.get(a, -1) for a in pair[:2]] for pair in two], dtype=np.int64
    ).reshape(-1, 2)
    # A length of 0 is that of a text that is not there, as in public tables without texts.
    unknown = (vote_lengths <= 0).any(axis=1)
    return vote_lengths[:, 0] > vote_lengths[:, 1], (
        vote_lengths[:, 0] != vote_lengths[:, 1]
    ) & ~unknown


def shown_first(ballot: Ballot, table: RatingTable) -> NDArray[np.signedinteger]:
    """The screen position of each vote's first answer: first 1, second -1, unknown 0."""
    if table.data is None:
        return np.zeros(len(ballot.first), dtype=np.int64)
    tasks = task_columns(table.data.tasks, ("id", "answers"))
    shown = tasks.select(
        pl.col("id").alias("task"),
        pl.col("answers").str.json_decode(pl.List(pl.String)).list.get(0, null_on_oob=True),
    ).rename({"answers": "shown"})
    joined = ballot.rows.select("task", pl.col("answers").str.split(" | ").list.get(0).alias("own"))
    both = joined.join(shown, on="task", how="left", maintain_order="left")
    columns = (
        pl.when(pl.col("shown").is_null())
        .then(0)
        .when(pl.col("shown") == pl.col("own"))
        .then(1)
        .otherwise(-1)
    )
    return both.select(columns.cast(pl.Int64)).to_series().to_numpy()
