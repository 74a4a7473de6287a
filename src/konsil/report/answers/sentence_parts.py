"""What the sentences of answers are made of: names of groups, and the evidence in brackets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import is_about_these
from konsil.analysis.model.catalogue.known import CASES, statistic_of
from konsil.analysis.model.verdicts import weakness
from konsil.analysis.pairs.pair_rules import CRITERION
from konsil.errors.message import Listed, TranslatableMessage, listed, message
from konsil.report.figures.units import Unit
from konsil.report.material.table_rows import counts_of
from konsil.report.material.tables import Numbers


@dataclass(frozen=True)
class Query:
    """An analysis with its rows, and the words of the study for them."""

    spec: Analysis
    """The analysis."""
    rows: tuple[Row, ...]
    """Its rows, companions included; rows for the data files alone are not."""
    quantity: str
    """What is estimated, in words."""
    numbers: Numbers
    """How numbers are written."""
    draws: int
    """Resamples that were asked for."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Column -> its title, for columns whose values say nothing alone, such as levels."""
    criteria: Mapping[str, str] = field(default_factory=dict)
    """Criterion -> its title, for rows of several criteria."""

    @property
    def unit(self) -> Unit:
        """The unit of its numbers."""
        return Unit(self.spec.statistic, self.numbers)

    @property
    def is_of_criteria(self) -> bool:
        """Whether its rows are those of several criteria beside other groups."""
        groups = [r.group for r in self.rows if r.kind != "companion"]
        return all(CRITERION in g for g in groups) and any(len(g) > 1 for g in groups)

    @property
    def estimates(self) -> list[Row]:
        """The estimates that have a value."""
        return [r for r in self.rows if r.kind == "estimate" and math.isfinite(r.estimate.value)]


def evidence(query: Query, row: Row, low: float, high: float) -> str:
    """In brackets: the interval or that there is none, the adjusted p value, and how many units."""
    translate, numbers = query.numbers.translated, query.numbers
    parts = []
    if math.isfinite(low) and math.isfinite(high):
        interval = message(
            "{level:.0%} CI, {limits}",
            message_id="answer.interval",
            level=row.estimate.level,
            limits=query.unit.limits(low, high),
        )
    else:
        interval = message("no CI", message_id="answer.no_interval")
    parts.append(translate(interval))
    if math.isfinite(row.p_adjusted):
        text = numbers.p(row.p_adjusted)
        parts.append(
            translate(
                message(
                    "adjusted p {p}",
                    message_id="answer.adjusted_p",
                    p=text if text[0] in "<>" else f"= {text}",
                )
            )
        )
    if row.estimate.n_clusters:
        parts.append(_counts(query, row))
    return f"({'; '.join(parts)})"


def _counts(query: Query, row: Row) -> str:
    """How many clusters, and how many rated units where these are another number."""
    clusters = query.numbers.translated(_clusters(query.spec, row.estimate.n_clusters))
    units = [n for n in counts_of(row) if n]
    if not units or set(units) == {row.estimate.n_clusters}:
        return clusters
    return query.numbers.translated(
        message(
            "n = {units} in {clusters}",
            message_id="answer.units_in",
            units=listed([query.numbers.count(n) for n in dict.fromkeys(units)]),
            clusters=clusters,
        )
    )


def _clusters(spec: Analysis, n: int) -> TranslatableMessage:
    if spec.cluster == "rater":
        return message("{n:,} {n|rater|raters}", message_id="answer.raters", n=n)
    if spec.cluster == "case" or spec.statistic in CASES:
        return message("{n:,} {n|case|cases}", message_id="answer.cases", n=n)
    return message("{n:,} {n|item|items}", message_id="answer.items", n=n)


def judgement(query: Query) -> str | None:
    """Whose judgement a number is that is about these raters, whatever the report's target.

    Of cases also the panel that they are compared with, as of known failures. None for other
    numbers, for judges, and for agreement with others.
    """
    spec = query.spec
    rows = [r for r in query.rows if r.kind != "companion"]
    family = statistic_of(spec.statistic).family
    is_of_panel = family == "cases" or (spec.against is None and family != "judges")
    is_of_these = all(r.estimate.raters == "these" for r in rows)
    if not (is_of_panel and is_about_these(spec) and is_of_these):
        return None
    # Of two panels the row's number of raters is that of one.
    n = 0 if spec.against else max((r.n_raters for r in rows), default=0)
    against = [str(spec.against)] if spec.against else []
    panels = listed([spec.raters, *against, *spec.options.panels])
    raters = (
        message(
            "{n|this|these} {n:,} {n|rater|raters} ({panels})",
            message_id="answer.these_n_raters",
            n=n,
            panels=panels,
        )
        if n
        else message("these raters ({panels})", message_id="answer.these_raters", panels=panels)
    )
    if spec.consensus == "majority":
        text = message(
            "by the majorities of {raters}", message_id="answer.by_majorities", raters=raters
        )
    elif spec.consensus == "mean":
        text = message("by the means of {raters}", message_id="answer.by_means", raters=raters)
    else:
        text = message("by {raters}", message_id="answer.by_raters", raters=raters)
    return query.numbers.translated(text)


def reason_of(query: Query, row: Row) -> str:
    """Why a row has no estimate, or one that supports no conclusion; without the full stop."""
    reason = row.estimate.reason or weakness(row.estimate, query.draws) or ""
    return query.numbers.translated(reason).rstrip(".")


def group_name(query: Query, group: Mapping[str, str]) -> str:
    """A group by its values, with the titles of columns whose values need them.

    An ensemble is the list of its judges, so that their number would only say the same again.
    """
    columns = {c: v for c, v in group.items() if v and not (c == "size" and "ensemble" in group)}
    return ", ".join(_word(query, c, v) for c, v in columns.items())


def _word(query: Query, column: str, value: str) -> str:
    if column == "criterion":
        return query.criteria.get(value, value)
    return f"{query.titles[column]} {value}" if column in query.titles else value


def names_of(
    query: Query, first: Mapping[str, str], second: Mapping[str, str]
) -> tuple[str, str, str]:
    """What two groups share, and the name of each by what they differ in."""
    shared = [_word(query, c, v) for c, v in first.items() if v and second.get(c) == v]
    first_name, second_name = (
        ", ".join(_word(query, c, v) for c, v in group.items() if v and other.get(c) != v)
        for group, other in ((first, second), (second, first))
    )
    if first_name and second_name:
        return ", ".join(shared), first_name, second_name
    # One group is a part of the other: its name is what both share.
    first_name, second_name = (
        ", ".join([*shared, name] if name else shared) for name in (first_name, second_name)
    )
    return "", first_name, second_name


def names_listed(query: Query, rows: Sequence[Row]) -> Listed:
    """The groups of rows; of several criteria each other group once, with its criteria."""
    if not query.is_of_criteria:
        return listed([group_name(query, row.group) for row in rows])
    n_criteria = len({row.group[CRITERION] for row in query.estimates})
    criteria: dict[str, list[str]] = {}
    for row in rows:
        others = {c: v for c, v in row.group.items() if c != CRITERION}
        criteria.setdefault(group_name(query, others), []).append(row.group[CRITERION])
    names = []
    for name, some in criteria.items():
        words = ", ".join(_word(query, CRITERION, c) for c in some)
        if len(some) == n_criteria > 1:
            every = message("all {n:,} criteria", message_id="answer.all_criteria", n=n_criteria)
            words = query.numbers.translated(every)
        names.append(f"{name} ({words})")
    return listed(names)


def groups_in_words(rows: Sequence[Row]) -> TranslatableMessage:
    """What the rows are about, in the plural: systems, raters, criteria, or groups of any kind."""
    match _grouped_by(row.group for row in rows):
        case "system":
            return message("systems", message_id="answer.systems")
        case "rater":
            return message("raters", message_id="answer.all_raters")
        case "criterion":
            return message("criteria", message_id="answer.the_criteria")
        case "arm":
            return message("arms", message_id="answer.arms")
    return message("groups", message_id="answer.groups")


def counted_groups(query: Query, rows: Sequence[Row]) -> TranslatableMessage:
    """How many systems, raters or groups the rows are about, and on how many criteria."""
    criteria = {row.group.get(CRITERION, "") for row in rows}
    others = [{c: v for c, v in row.group.items() if c != CRITERION} for row in rows]
    different = {tuple(group.items()) for group in others}
    if not query.is_of_criteria or len(different) * len(criteria) != len(rows):
        return _counted([row.group for row in rows])
    return message(
        "{groups} on {n:,} {n|criterion|criteria}",
        message_id="answer.groups_on_criteria",
        groups=_counted([dict(group) for group in different]),
        n=len(criteria),
    )


def _counted(groups: Sequence[Mapping[str, str]]) -> TranslatableMessage:
    n = len(groups)
    match _grouped_by(groups):
        case "system":
            return message("{n:,} {n|system|systems}", message_id="answer.n_systems", n=n)
        case "rater":
            return message("{n:,} {n|rater|raters}", message_id="answer.n_raters", n=n)
        case "criterion":
            return message("{n:,} {n|criterion|criteria}", message_id="answer.n_criteria", n=n)
    return message("{n:,} {n|group|groups}", message_id="answer.n_groups", n=n)


def _grouped_by(groups: Iterable[Mapping[str, str]]) -> str:
    """The column by whose values the groups differ; empty where there are several."""
    values: dict[str, set[str]] = {}
    for group in groups:
        for column, value in group.items():
            values.setdefault(column, set()).add(value)
    differing = [c for c, several in values.items() if len(several) > 1] or list(values)
    return differing[0] if len(differing) == 1 else ""
