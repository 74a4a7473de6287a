"""Data quality while a study runs, pooled over all systems: agreement, abstentions, drift."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.columns import Columns, rating_columns
from konsil.analysis.table.frame import SUBJECT, Data, rating_table
from konsil.instrument import Criterion
from konsil.instrument.definition.mirror import mirrored
from konsil.records import Rating
from konsil.records.numerals import natural
from konsil.stats.engine.contract import Array, Estimate
from konsil.stats.engine.streams import stream_key
from konsil.stats.inference.multiplicity import holm
from konsil.stats.inference.shift import Shift, chi_square, shift_test, variance_of_means

NOTHING = Estimate(float("nan"))
"""What is estimated where nothing was rated."""
FEWEST = 2
"""Raters of a unit from which on it tells something of agreement."""


@dataclass(frozen=True)
class PeriodQuality:
    """The ratings of one period: a batch, or a week."""

    name: str
    """The batch, or the week by ISO 8601."""
    n_ratings: int
    """Ratings and abstentions."""
    shares: Mapping[str, float]
    """Label -> its proportion, the abstention among them; empty for numbers. Of comparisons the two
    labels that mirror one another are counted together: apart they would show which system wins."""
    agreement: Estimate
    """The agreement within the period."""
    abstention: Estimate = NOTHING
    """The proportion of abstentions within the period; undefined where the scale has none."""
    seconds: Estimate = NOTHING
    """The geometric mean of the seconds per screen; undefined where no time is known."""


@dataclass(frozen=True)
class CriterionQuality:
    """What is known of one criterion before anybody is unblinded."""

    criterion: str
    """The criterion."""
    statistic: str
    """The agreement statistic: Fleiss' kappa of unordered labels, else Krippendorff's alpha."""
    agreement: Estimate
    """The agreement of the panel over all systems."""
    abstention: Estimate
    """The proportion of abstentions; undefined where the scale has none."""
    standard_deviation: Estimate
    """Of the ratings as numbers; undefined of unordered labels and of comparisons."""
    n_raters: int
    """Raters with at least one rating."""
    n_ratings: int
    """Ratings and abstentions."""
    n_abstained: int
    """Abstentions."""
    n_units: int
    """Units that two raters or more have rated."""
    periods: tuple[PeriodQuality, ...] = ()
    """Batches or weeks in their order; none where there is only one."""
    label_shift: Shift = field(default=Shift(float("nan"), float("nan")))
    """Test of whether the labels' proportions differ between periods."""
    agreement_shift: Shift = field(default=Shift(float("nan"), float("nan")))
    """Test of whether observed agreement differs between periods."""
    label_drift: float = float("nan")
    """The p value of `label_shift`, adjusted for all tests of drift of the panel (Holm)."""
    agreement_drift: float = float("nan")
    """That of `agreement_shift`, likewise."""


def agreement_statistic(criterion: Criterion) -> str:
    """The agreement statistic of a criterion by its level of measurement.

    Both take units that some raters have not rated. Krippendorff's alpha weighs by the level.
    """
    scale = criterion.scale
    is_nominal = scale.kind != "number" and scale.level == "nominal"
    return "fleiss_kappa" if is_nominal else "krippendorff_alpha"


def pooled_quality(
    data: Data,
    settings: RunSettings,
    panel: str,
    criteria: Sequence[Criterion],
    period_by_task: Mapping[str, str],
) -> tuple[CriterionQuality, ...]:
    """Agreement, abstentions and drift of a panel by criterion, over all systems.

    A unit is what one label is about (an answer, a sentence, a pair); units are clustered in items.
    `period_by_task` has the batch or week of each task. Pilot tasks, repeats and what the protocol
    excludes stay out. Free texts have no quality here. Undefined numbers have a reason.
    """
    rated = [c for c in criteria if c.scale.kind != "text"]
    analyses = [a for c in rated for a in _analyses(c, panel)]
    rows = _rows(analyses, data, settings)
    table = rating_table(data, settings.exclusions, settings.instruments, settings.together)
    periods = sorted(set(period_by_task.values()), key=natural)
    of_periods = {
        name: _rows(
            [analysis for c in rated for analysis in _of_period(c, panel)],
            _within(data, {t for t, period in period_by_task.items() if period == name}),
            settings,
        )
        for name in (periods if len(periods) > 1 else ())
    }
    out = []
    for criterion in rated:
        frame = table.part(criterion.id, panel).filter(pl.col("purpose") != "repeat")
        out.append(_quality(criterion, frame, rows, of_periods, period_by_task, settings.seed))
    return _adjusted(out)


def _adjusted(qualities: Sequence[CriterionQuality]) -> tuple[CriterionQuality, ...]:
    """With the p values of drift adjusted for their number: two tests of each criterion."""
    adjusted = holm([p for q in qualities for p in (q.label_shift.p, q.agreement_shift.p)])
    return tuple(
        replace(q, label_drift=float(labels), agreement_drift=float(agreement))
        for q, (labels, agreement) in zip(qualities, adjusted.reshape(-1, 2), strict=True)
    )


def _agreement(criterion: Criterion, panel: str) -> Analysis:
    return Analysis(
        f"{criterion.id}: agreement",
        agreement_statistic(criterion),
        CriterionRef(criterion.id),
        panel,
        prespecified=False,
    )


def _of_period(criterion: Criterion, panel: str) -> Iterator[Analysis]:
    """What is estimated within each period."""
    agreement = _agreement(criterion, panel)
    yield agreement
    if criterion.scale.abstain is not None:
        abstention = agreement.with_statistic("abstention")
        yield replace(abstention, name=f"{criterion.id}: abstention")
    seconds = agreement.with_statistic("geometric_seconds")
    yield replace(seconds, name=f"{criterion.id}: seconds")


def _analyses(criterion: Criterion, panel: str) -> list[Analysis]:
    scale, agreement = criterion.scale, _agreement(criterion, panel)
    analyses = [agreement]
    if scale.abstain is not None:
        analyses.append(
            replace(agreement.with_statistic("abstention"), name=f"{criterion.id}: abstention")
        )
    # That of comparisons would show how clearly one system is preferred.
    if agreement.statistic == "krippendorff_alpha" and criterion.scope != "pair":
        analyses.append(
            replace(
                agreement.with_statistic("standard_deviation"),
                name=f"{criterion.id}: standard_deviation",
            )
        )
    return analyses


def _rows(analyses: Sequence[Analysis], data: Data, settings: RunSettings) -> dict[str, Row]:
    """Analysis -> its one estimate; without those that the ratings cannot give."""
    if not analyses or not data.ratings:
        return {}
    settings = replace(settings, strict=False, derived=(), scores=(), duplicates=())
    rows = run(analyses, data, settings).rows
    return {r.analysis: r for r in rows if r.kind == "estimate" and r.is_made and not r.group}


def _within(data: Data, tasks: set[str]) -> Data:
    """The records with the ratings of these tasks alone."""
    if isinstance(data.ratings, Columns):
        kept_rows = data.ratings.frame.filter(pl.col("task").is_in(sorted(tasks)))
        columns: Columns[Rating] = data.ratings.with_frame(kept_rows)
        return replace(data, ratings=columns)
    return replace(data, ratings=[r for r in data.ratings if r.task in tasks])


def _quality(
    criterion: Criterion,
    frame: pl.DataFrame,
    rows: Mapping[str, Row],
    of_periods: Mapping[str, Mapping[str, Row]],
    period_by_task: Mapping[str, str],
    seed: int,
) -> CriterionQuality:
    is_label = pl.col("state").is_in(["rated", "abstained"])
    frame = frame.filter(is_label).with_columns(
        pl.col("task")
        .replace_strict(period_by_task, default="", return_dtype=pl.String)
        .alias("period")
    )
    rated = frame.filter(pl.col("state") == "rated")
    n_by_unit = rated.group_by(SUBJECT).agg(pl.col("rater").n_unique().alias("n"))

    def estimate_of(name: str, source: Mapping[str, Row]) -> Estimate:
        row = source.get(f"{criterion.id}: {name}")
        return NOTHING if row is None else row.estimate

    periods = tuple(
        PeriodQuality(
            name,
            part.height,
            _shares(criterion, part),
            estimate_of("agreement", of_periods[name]),
            estimate_of("abstention", of_periods[name]),
            estimate_of("seconds", of_periods[name]),
        )
        for name in of_periods
        if (part := frame.filter(pl.col("period") == name)).height
    )
    labels, agreement = _shifts(frame, rated, seed) if len(periods) > 1 else (None, None)
    undefined = Shift(float("nan"), float("nan"))
    return CriterionQuality(
        criterion.id,
        agreement_statistic(criterion),
        estimate_of("agreement", rows),
        estimate_of("abstention", rows),
        estimate_of("standard_deviation", rows),
        n_raters=frame["rater"].n_unique(),
        n_ratings=frame.height,
        n_abstained=frame.height - rated.height,
        n_units=n_by_unit.filter(pl.col("n") >= FEWEST).height,
        periods=periods,
        label_shift=labels or undefined,
        agreement_shift=agreement or undefined,
    )


def _shares(criterion: Criterion, frame: pl.DataFrame) -> dict[str, float]:
    if criterion.scale.kind == "number":
        return {}
    counts = dict(frame.group_by("label").len().iter_rows())
    abstain = criterion.scale.abstain
    shares: dict[str, float] = {}
    for label in criterion.scale.labels:
        other = mirrored(criterion, label) if criterion.scope == "pair" else None
        if other in (None, label):
            shares[label] = counts.get(label, 0) / frame.height
        elif f"{other} / {label}" not in shares:
            both = counts.get(label, 0) + counts.get(other, 0)
            shares[f"{label} / {other}"] = both / frame.height
    if abstain is not None:
        shares[abstain] = counts.get(abstain, 0) / frame.height
    return shares


def _shifts(frame: pl.DataFrame, rated: pl.DataFrame, seed: int) -> tuple[Shift, Shift]:
    """Tests between periods of the labels' proportions and of observed agreement.

    What is exchanged between periods is an item with all its ratings of a period.
    """
    key = stream_key(seed, "drift")
    cells = frame.select("item", "period").unique().sort("item", "period")
    cells = cells.with_row_index("cell")
    places = {name: n for n, name in enumerate(sorted(cells["period"].unique().to_list()))}
    groups = np.array([places[name] for name in cells["period"]], dtype=np.int64)

    def sums_of(part: pl.DataFrame, columns: Sequence[str]) -> Array:
        """The totals of each cell, in the order of the cells."""
        totals = part.group_by("item", "period").agg(pl.col(columns).sum())
        placed = cells.join(totals, on=["item", "period"], how="left", nulls_equal=True)
        return placed.sort("cell").select(columns).fill_null(0).to_numpy().astype(np.float64)

    names = sorted(frame["label"].drop_nulls().unique().to_list())
    marked = frame.with_columns(
        (pl.col("label") == n).cast(pl.Float64).alias(f"= {n}") for n in names
    )
    counts = sums_of(marked, [f"= {n}" for n in names])
    pairs = (
        rated.group_by(SUBJECT, "item", "period", "label")
        .len()
        .group_by(SUBJECT, "item", "period")
        .agg(
            (pl.col("len") * (pl.col("len") - 1)).sum().alias("agreeing"),
            pl.col("len").sum().alias("n"),
        )
        .filter(pl.col("n") >= FEWEST)
        .with_columns(
            (pl.col("agreeing") / (pl.col("n") * (pl.col("n") - 1))).alias("share"),
            pl.lit(1.0).alias("units"),
        )
    )
    agreement = sums_of(pairs, ["share", "units"])
    has_units = agreement[:, 1] > 0
    return (
        shift_test(counts, groups, chi_square, key=key),
        shift_test(agreement[has_units], groups[has_units], variance_of_means, key=key),
    )


def task_times(ratings: Sequence[Rating]) -> dict[str, str]:
    """Task -> the time of its first rating; without those of which no time is known."""
    if isinstance(ratings, Columns):
        if "at" not in ratings.frame.columns:
            return {}
        times = ratings.frame.filter(pl.col("at").fill_null("") != "")
        return dict(times.group_by("task").agg(pl.col("at").min()).iter_rows())
    times_by_task: dict[str, str] = {}
    for rating in ratings:
        if rating.at:
            times_by_task[rating.task] = min(times_by_task.get(rating.task, rating.at), rating.at)
    return times_by_task


def n_ratings_of(ratings: Sequence[Rating], raters: Collection[str]) -> int:
    """How many ratings these raters gave, abstentions included."""
    frame = rating_columns(ratings)
    return frame.filter(pl.col("rater").is_in(sorted(raters))).height


def rated_tasks(ratings: Sequence[Rating]) -> frozenset[str]:
    """The tasks with at least one rating."""
    return frozenset(rating_columns(ratings)["task"].unique().to_list())
