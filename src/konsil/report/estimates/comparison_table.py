"""Table 2: proportions, means and medians of systems or groups, with their differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis.model.rows import Row
from konsil.analysis.model.terms import words_of
from konsil.errors.message import message
from konsil.report.material.glossary import title
from konsil.report.material.tables import Cell, Numbers, Table, table
from konsil.stats.engine.contract import Estimate

_DIGITS = 2
"""Decimals of means and medians."""
_FINE = 100
"""Ratings of each group from which on percentages have a decimal: one rating is then at most 1%."""


@dataclass(frozen=True)
class _Outcome:
    """The rows of one criterion that belong together."""

    criterion: str
    """The criterion."""
    statistic: str
    """share, mean or median: what is in the first column of numbers."""
    estimates: Sequence[Row]
    """A row for each group."""
    differences: Sequence[Row]
    """Between the groups."""
    deviations: Sequence[Row]
    """The standard deviations of the groups."""
    medians: Sequence[Row]
    """The medians of the groups."""


def comparison_table(
    rows: Sequence[Row],
    numbers: Numbers,
    *,
    by: str = "",
    reference: str | None = None,
    outcomes: Sequence[str] = (),
) -> Table:
    """The table of the estimates and differences of some analyses.

    A row for each group: n/N (%) of proportions, mean (SD) or median, with its interval. With a
    reference the difference to it and its p values are in the group's row, without one each
    difference has a row. Rows of other statistics are left out.

    Args:
        rows: the rows of analyses of proportions, means, standard deviations and medians.
        numbers: the numbers as text in the table's language.
        by: the heading of the groups.
        reference: the group that is subtracted from the others; None: differences of all pairs.
        outcomes: sentences of what was rated and which labels are counted, the first notes.
    """
    _ = numbers.language.gettext
    layout = _Layout(list(_outcomes(rows)), numbers, reference)
    body = [line for outcome in layout.outcomes for line in layout.lines(outcome)]
    head = [*([_("Criterion")] if layout.has_criteria else []), by or _("Group"), *layout.head()]
    return table(
        _("Estimates and differences by group, with CIs."),
        head,
        body,
        row_heads=2 if layout.has_criteria else 1,
        general=[*map(numbers.translated, outcomes), *layout.notes(rows)],
    )


def _outcomes(rows: Sequence[Row]) -> Iterator[_Outcome]:
    for criterion in dict.fromkeys(row.criterion for row in rows):
        of = [row for row in rows if row.criterion == criterion]

        def chosen(statistic: str, kind: str, of: Sequence[Row] = of) -> list[Row]:
            return [row for row in of if (row.statistic, row.kind) == (statistic, kind)]

        deviations = chosen("standard_deviation", "estimate")
        medians = chosen("median", "estimate")
        has_mean = bool(chosen("mean", "estimate"))
        for statistic in ("share", "mean") if has_mean or not medians else ("share", "median"):
            is_share = statistic == "share"
            if estimates := chosen(statistic, "estimate"):
                yield _Outcome(
                    criterion,
                    statistic,
                    estimates,
                    chosen(statistic, "difference"),
                    [] if is_share else deviations,
                    medians if statistic == "mean" else [],
                )


@dataclass(frozen=True)
class _Layout:
    """Which columns the table has, and its cells."""

    outcomes: Sequence[_Outcome]
    numbers: Numbers
    reference: str | None

    @property
    def has_criteria(self) -> bool:
        """Whether several outcomes are distinguished by their criterion."""
        return len({outcome.criterion for outcome in self.outcomes}) > 1

    @property
    def has_medians(self) -> bool:
        """Whether medians have a column of their own."""
        return any(outcome.medians for outcome in self.outcomes)

    @property
    def _decimals(self) -> int:
        """Decimals of percentages, of their intervals and of their differences alike."""
        shares = (outcome for outcome in self.outcomes if outcome.statistic == "share")
        n_each = (row.estimate.n_ratings for outcome in shares for row in outcome.estimates)
        return int(min(n_each, default=0) >= _FINE)

    @property
    def n_tested(self) -> int:
        """How many differences have a p value."""
        rows = [row for outcome in self.outcomes for row in outcome.differences]
        return sum(math.isfinite(row.p_adjusted) for row in rows)

    @property
    def has_differences(self) -> bool:
        """Whether any difference is in the table."""
        return any(outcome.differences for outcome in self.outcomes)

    def head(self) -> list[str]:
        """The columns of numbers."""
        _ = self.numbers.language.gettext
        words = {"share": _("n/N (%)"), "mean": _("Mean (SD)"), "median": _("Median")}
        statistics = dict.fromkeys(outcome.statistic for outcome in self.outcomes)
        differences = [self._with_level(_("Difference")), _("p")]
        return [
            " / ".join(words[statistic] for statistic in statistics),
            self._interval(),
            *([self._with_level(_("Median"))] if self.has_medians else []),
            *(differences if self.has_differences else []),
            *([_("p (Holm)")] if self.n_tested > 1 else []),
            _("Units"),
            _("Ratings"),
        ]

    @property
    def _level(self) -> str:
        levels = {row.estimate.level for outcome in self.outcomes for row in outcome.estimates}
        return self.numbers.level(max(levels, default=0.95))

    def _with_level(self, word: str) -> str:
        text = self.numbers.language.gettext("%(word)s [%(level)s%% CI]")
        return text % {"word": word, "level": self._level}

    def _interval(self) -> str:
        level = f"{self._level}{self.numbers.language.per_cent}"
        return self.numbers.translated(
            message("{level} CI", message_id="comparison.interval", level=level)
        )

    def lines(self, outcome: _Outcome) -> Iterator[list[Cell]]:
        """The rows of one outcome."""
        for row in outcome.estimates:
            difference = next(
                (d for d in outcome.differences if self.reference and d.group == row.group), None
            )
            yield [
                *self._names(outcome, _group(row)),
                *self._estimate(outcome, row),
                *self._difference(outcome, difference),
                Cell(self.numbers.count(row.n_units), number=True),
                Cell(self.numbers.count(row.estimate.n_ratings), number=True),
            ]
        if self.reference:
            return
        for row in outcome.differences:
            name = self.numbers.translated(
                message(
                    "{group} minus {other}",
                    message_id="comparison.minus",
                    group=_group(row),
                    other=_value(row.versus),
                )
            )
            empty = [Cell("")] * (2 + self.has_medians)
            yield [
                *self._names(outcome, name),
                *empty,
                *self._difference(outcome, row),
                Cell(""),
                Cell(""),
            ]

    def _names(self, outcome: _Outcome, group: str) -> list[Cell]:
        return [*([Cell(outcome.criterion)] if self.has_criteria else []), Cell(group)]

    def _estimate(self, outcome: _Outcome, row: Row) -> list[Cell]:
        e, is_share = row.estimate, outcome.statistic == "share"
        reasons = (str(e.reason),) if e.reason else ()
        if is_share and math.isfinite(e.value):
            n = round(e.value * e.n_ratings)
            text = self.numbers.proportion(n, e.n_ratings, decimals=self._decimals)
        else:
            text = self._number(e.value, is_share=is_share)
            deviation = _of_group(outcome.deviations, row)
            if deviation is not None and math.isfinite(deviation.estimate.value):
                text += f" ({self._number(deviation.estimate.value, is_share=False)})"
        cells = [Cell(text, reasons, number=True), Cell(self._ends(e, is_share), number=True)]
        if self.has_medians:
            median = _of_group(outcome.medians, row)
            cells.append(Cell("") if median is None else self._with_ends(median.estimate, False))
        return cells

    def _difference(self, outcome: _Outcome, row: Row | None) -> list[Cell]:
        n_p = 1 + (self.n_tested > 1)
        if not self.has_differences:
            return []
        if row is None:
            return [Cell(""), *[Cell("")] * n_p]
        p_values = [row.estimate.p, row.p_adjusted][:n_p]
        return [
            self._with_ends(row.estimate, outcome.statistic == "share"),
            *(Cell(self.numbers.p(p), number=True) for p in p_values),
        ]

    def _with_ends(self, e: Estimate, is_share: bool) -> Cell:
        reasons = (str(e.reason),) if e.reason else ()
        text = self._number(e.value, is_share=is_share)
        return Cell(f"{text} {self._ends(e, is_share)}".strip(), reasons, number=True)

    def _number(self, value: float, *, is_share: bool) -> str:
        if is_share and math.isfinite(value):
            return self.numbers.plain(100 * value, self._decimals)
        return self.numbers.plain(value, _DIGITS)

    def _ends(self, e: Estimate, is_share: bool) -> str:
        if not math.isfinite(e.low):
            return ""
        low, high = (self._number(end, is_share=is_share) for end in (e.low, e.high))
        return f"[{low}{self.numbers.language.between}{high}]"

    def notes(self, rows: Sequence[Row]) -> list[str]:
        """What is in brackets, the unit of proportions, and the methods of the intervals."""
        translated = self.numbers.translated
        notes = []
        if any(outcome.statistic == "share" for outcome in self.outcomes):
            notes.append(
                translated(
                    message(
                        "Intervals of proportions in per cent; their differences in percentage"
                        " points.",
                        message_id="comparison.percentage_points",
                    )
                )
            )
        if any(outcome.deviations for outcome in self.outcomes):
            notes.append(
                translated(
                    message(
                        "SD: standard deviation of all ratings of a group.",
                        message_id="comparison.deviation",
                    )
                )
            )
        by_method: dict[str, list[str]] = {}
        for row in rows:
            has_interval = bool(row.estimate.method) and math.isfinite(row.estimate.low)
            if has_interval and row.kind != "companion" and row.statistic != "standard_deviation":
                name = title(row.statistic, self.numbers.language)
                kind = message(
                    "{statistic}, difference",
                    message_id="comparison.difference_of",
                    statistic=name,
                )
                names = by_method.setdefault(row.estimate.method, [])
                names.append(translated(kind) if row.versus else name)
        for method, names in by_method.items():
            of = "; ".join(dict.fromkeys(names))
            notes.append(
                translated(
                    message("{of}: {method}.", message_id="comparison.method", of=of, method=method)
                )
            )
        return notes


def _of_group(rows: Sequence[Row], row: Row) -> Row | None:
    return next((other for other in rows if other.group == row.group), None)


def _group(row: Row) -> str:
    return _value(row.group)


def _value(group: Mapping[str, str]) -> str:
    return ", ".join(words_of(value) for value in group.values())
