"""Worst-case bounds: range of a number if the missing judgements had been given.

Missing judgements stay missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np
import polars as pl

from konsil.analysis.cases.approval import absent_of, approval_bounds
from konsil.analysis.estimation.raters.leave_one_out import MEASURE_BY_STATISTIC, table_measure
from konsil.analysis.judges.abstention_slope import abstentions_by_item, score_column
from konsil.analysis.judges.preference import bench_of, preference_range
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import ShareOptions
from konsil.analysis.model.results import Bounds
from konsil.analysis.model.rows import Row
from konsil.analysis.model.sample import Sample, judges_and_panel
from konsil.analysis.pairs.pair_bounds import OF_SYSTEMS, concerned, pair_range
from konsil.analysis.pairs.pairs import is_of_pairs
from konsil.analysis.table.encoding import labels_in, sample_of, select, subjects_of
from konsil.analysis.table.frame import RatingTable
from konsil.analysis.table.lineage import Lineage
from konsil.stats.agreement.consensus import majority
from konsil.stats.judges.abstention_slope import slope, slope_sums
from konsil.stats.judges.bounds import judge_range, share_range
from konsil.stats.judges.self_preference import Bools

Range = tuple[float, float]
UNKNOWN: Range = (math.nan, math.nan)


@dataclass(frozen=True)
class Gaps:
    """One group's ratings with the gaps among them."""

    frame: pl.DataFrame
    """The ratings there are."""
    absent: pl.DataFrame
    """The ones there are not, without a label."""

    def within(self, group: Mapping[str, str]) -> Gaps:
        """Those of one group."""
        frame, absent = self.frame, self.absent
        for column, value in group.items():
            if column in frame.columns:
                frame = frame.filter(pl.col(column).fill_null("") == str(value))
                absent = absent.filter(pl.col(column).fill_null("") == str(value))
        return Gaps(frame, absent)

    def of_pairs(self, group: Mapping[str, str]) -> Gaps:
        """One group's ratings of two systems each, and the gaps that concern the group.

        The ratings are all comparisons, those of other systems included.
        """
        part = self.within(
            {column: value for column, value in group.items() if column not in OF_SYSTEMS}
        )
        return Gaps(part.frame, concerned(part.absent, group))

    def together(self) -> pl.DataFrame:
        """Ratings and gaps as one table."""
        return pl.concat([self.frame, as_missing_labels(self.absent).select(self.frame.columns)])

    def sample(self, context: Context) -> tuple[Sample, Bools]:
        """All of them as codes, and which codes are gaps."""
        ratings = self.together()
        raters = tuple(ratings.get_column("rater").unique().sort().to_list())
        sample = sample_of(context, ratings, raters)
        row = {unit: n for n, unit in enumerate(sample.units)}
        column = {rater: n for n, rater in enumerate(raters)}
        units, theirs = subjects_of(self.absent), self.absent.get_column("rater")
        gaps = np.zeros(sample.codes.labels.shape, dtype=bool)
        gaps[[row[u] for u in units], [column[r] for r in theirs]] = True
        return sample, gaps


def _without_enums(frame: pl.DataFrame) -> pl.DataFrame:
    """Without the columns that number a table's own texts, which differ from table to table."""
    return frame.select(
        [name for name, kind in frame.schema.items() if not isinstance(kind, pl.Enum)]
    )


def as_missing_labels(absent: pl.DataFrame) -> pl.DataFrame:
    """Gaps as rows that are neither rated nor abstained."""
    return absent.with_columns(
        pl.lit("missing", dtype=absent.schema["state"]).alias("state"),
        pl.lit(None, dtype=absent.schema["label"]).alias("label"),
    )


@dataclass(frozen=True)
class Case:
    """One number with everything that its bounds may need."""

    context: Context
    """The analysis."""
    table: RatingTable
    """All ratings."""
    families: Lineage
    """Who is of which family."""
    all_gaps: Gaps
    """The analysis' ratings and gaps."""
    part: Gaps
    """Those of the number's group."""
    row: Row
    """The number."""


def bounds_of(
    context: Context,
    table: RatingTable,
    missing: RatingTable,
    rows: Sequence[Row],
    families: Lineage,
) -> Iterator[Bounds]:
    """Worst-case bounds of each number of the analysis that missing judgements affect.

    nan where the bounds are not known.
    """
    analysis = context.analysis
    rule = statistic_of(analysis.statistic).bounds
    if rule == "audit":
        yield from approval_bounds(context, table, missing, rows)
        return
    if rule == "none":
        # its pairs are in no table of ratings; those without a label are counted in its notes
        return
    absent = absent_of(missing, table, analysis)
    if absent.height == 0:
        return
    gaps = Gaps(_without_enums(select(table, analysis, analysis.raters)), _without_enums(absent))
    pairs = is_of_pairs(context)
    find: _Rule | None = _pair if pairs else _RULES.get(rule)
    if (
        find is None
        and analysis.against not in {None, "rest"}
        and analysis.statistic in MEASURE_BY_STATISTIC
    ):
        find = _against
    for row in rows:
        if row.analysis != analysis.name or row.kind != "estimate" or row.detail:
            continue
        # Gaps in the answers that a judge's siblings are compared with matter to them as well.
        group = {k: v for k, v in row.group.items() if rule != "preference" or k != "system"}
        part = gaps.of_pairs(row.group) if pairs else gaps.within(group)
        if part.absent.height == 0 or not math.isfinite(row.estimate.value):
            continue
        low, high = (
            find(Case(context, table, families, gaps, part, row)) if find is not None else UNKNOWN
        )
        # A number that is no more than a range of nothing must not leave its own range by rounding.
        low, high = min(low, row.estimate.value), max(high, row.estimate.value)
        yield Bounds(
            analysis.name,
            row.group,
            row.estimate.value,
            low,
            high,
            part.absent.height,
            part.frame.height,
        )


def _share(case: Case) -> Range:
    analysis = case.context.analysis
    sample, gaps = case.part.sample(case.context)
    labels = labels_in(case.context, case.part.frame)
    hits = [labels.codes()[name] for name in analysis.options_as(ShareOptions).of]
    if analysis.consensus == "none":
        rated_codes = sample.codes.labels[~gaps]
        return share_range(
            float(np.isin(rated_codes, hits).sum()),
            float((rated_codes >= 0).sum()),
            float(gaps.sum()),
        )
    others = [n for n in range(len(labels.names)) if n not in hits]
    if not others:
        return UNKNOWN
    shares = []
    for fill in (others[0], hits[0]):
        filled = np.where(gaps, fill, sample.codes.labels)
        decided = majority(filled)
        shares.append(
            float(np.isin(decided[decided >= 0], hits).mean()) if (decided >= 0).any() else math.nan
        )
    return shares[0], shares[1]


def _mean(case: Case) -> Range:
    scale = case.context.criterion.scale
    if case.context.analysis.consensus != "none" or case.context.analysis.spans == "mean":
        return UNKNOWN
    sample, gaps = case.part.sample(case.context)
    values = np.asarray(sample.codes.values, dtype=np.float64)
    ends = (scale.low, scale.high) if scale.kind == "number" else (values.min(), values.max())
    if None in ends:
        return UNKNOWN
    rated_codes = sample.codes.labels[sample.codes.labels >= 0]
    n, total = len(rated_codes) + gaps.sum(), values[rated_codes].sum()
    low, high = (float((total + gaps.sum() * float(end or 0.0)) / n) for end in ends)
    return low, high


def _abstention(case: Case) -> Range:
    abstained = case.part.frame.filter(pl.col("state") == "abstained").height
    return share_range(
        float(abstained), float(case.part.frame.height), float(case.part.absent.height)
    )


def _pair(case: Case) -> Range:
    absent = (
        case.all_gaps.absent
        if case.context.analysis.statistic == "self_preference"
        else case.part.absent
    )
    frame = (
        case.all_gaps.frame
        if case.context.analysis.statistic == "self_preference"
        else case.part.frame
    )
    return pair_range(case.context, case.table, case.families, frame, absent, case.row.group)


def _slope(case: Case) -> Range:
    """The slope is linear in the abstentions: each gap counts where it moves the slope furthest."""
    counted = abstentions_by_item(case.part.together(), score_column(case.context, case.table))
    gaps = case.part.absent.group_by("item").len("gaps")
    items = (
        counted.join(gaps, on="item", how="left")
        .with_columns(pl.col("gaps").fill_null(0))
        .drop_nulls("x")
    )
    if items.height == 0:
        return UNKNOWN
    x, events, trials, n = (
        items.get_column(c).cast(pl.Float64).to_numpy() for c in ("x", "events", "trials", "gaps")
    )
    # An abstention above the mean raises the slope, one below it lowers the slope.
    hard = x > float((x * trials).sum() / trials.sum())
    low, high = (
        slope(slope_sums(x, events + np.where(side, n, 0.0), trials).sum(axis=0))
        for side in (~hard, hard)
    )
    return float(low[0]), float(high[0])


def _preference(case: Case) -> Range:
    sample, gaps = case.all_gaps.sample(case.context)
    bench = bench_of(case.context, case.table, case.all_gaps.together(), sample, case.families)
    name, system = case.row.group.get("rater", ""), case.row.group.get("system", "")
    bench = bench.of_system(name, system) if system else bench
    return preference_range(case.context, bench, gaps, name)


def _against(case: Case) -> Range:
    """A judge against a panel; of several judges the mean of their ranges."""
    analysis = case.context.analysis
    panel_frame = select(case.table, analysis, str(analysis.against))
    group = {c: v for c, v in case.row.group.items() if c != "rater"}
    panel_frame = Gaps(panel_frame, panel_frame.clear()).within(group).frame
    if panel_frame.height == 0:
        return UNKNOWN
    measure, weights = table_measure(analysis)
    if weights != "unweighted" or measure == "within_one":
        return UNKNOWN
    if case.context.criterion.scope == "pair" and measure not in {"percent_agreement", "pabak"}:
        return UNKNOWN
    panel = sample_of(
        case.context, panel_frame, tuple(panel_frame.get_column("rater").unique().sort().to_list())
    )
    judges, gaps = case.part.sample(case.context)
    codes, _ = judges_and_panel(panel, judges)
    n = len(panel.raters)
    # The gaps as labels of their own: aligning them with the panel puts them where the judges'
    # labels go.
    marked = replace(
        judges, codes=replace(judges.codes, labels=np.where(gaps, 0, -1).astype(np.int64))
    )
    at, _ = judges_and_panel(panel, marked)
    find = partial(
        judge_range, n_labels=codes.n_labels, measure=measure, valid=analysis.mode == "valid"
    )
    ranges = [
        find(codes.labels[:, :n], codes.labels[:, j], at.labels[:, j] == 0)
        for j in range(n, codes.labels.shape[1])
    ]
    low, high = np.mean(ranges, axis=0)
    return float(low), float(high)


_Rule = Callable[[Case], Range]
_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "share": _share,
        "mean": _mean,
        "abstention": _abstention,
        "slope": _slope,
        "preference": _preference,
    }
)
