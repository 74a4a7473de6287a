"""Results of `konsil agreement` and konsil.agreement: numbers with their CIs.

As plain data, tables and frames.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from konsil.analysis.agreement.agreement_statistics import full_name, title_of
from konsil.analysis.model.frames import finite_or_none, whom
from konsil.analysis.model.notebook import Dot, ShownResult, dot_plot, html_table, interval_text
from konsil.errors import AnalysisError, nearest
from konsil.records.digits import written
from konsil.stats.engine.contract import Estimate, RatersTarget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LISTED_PAIRS = 1_000
"""Largest number of pairs of raters that are listed with the units they share."""


@dataclass(frozen=True)
class NamedEstimate:
    """One statistic's estimate."""

    name: str
    """The statistic."""
    estimate: Estimate
    """The number and how sure."""


@dataclass(frozen=True)
class RaterCount:
    """How much one rater did."""

    name: str
    """The rater."""
    n_ratings: int
    """Labels given."""
    n_abstained: int
    """Abstentions."""


@dataclass(frozen=True)
class PairResult:
    """The units that two raters share, and what is known of the two by themselves."""

    raters: tuple[str, str]
    """The two raters."""
    n_units: int
    """Units that both labelled."""
    statistics: tuple[NamedEstimate, ...] = ()
    """Their agreement, where requested."""


@dataclass(frozen=True)
class Comparison:
    """The differences of two groups: the first minus the second."""

    groups: tuple[str, str]
    """The two groups."""
    n_shared: int
    """Clusters with labels in both groups, which are drawn together."""
    differences: tuple[NamedEstimate, ...]
    """Each statistic's difference, with interval and two-sided p value."""
    companions: tuple[NamedEstimate, ...]
    """The same differences with other intervals."""
    target: RatersTarget | None = None
    """Whom the differences are about; None where raters are unknown."""
    target_sentence: str = ""
    """The same in words, and why; empty where raters are unknown."""


@dataclass(frozen=True, repr=False)
class Agreement(ShownResult):
    """All agreement statistics that apply to one table, or to each group of its rows."""

    n_units: int
    """Units with at least one label."""
    n_raters: int | None
    """Raters with at least one label; None where it is not known who gave which label."""
    n_ratings: int
    """Labels; abstentions are not counted."""
    n_abstained: int
    """Abstentions."""
    statistics: tuple[NamedEstimate, ...]
    """Headline estimates, in the registry's order."""
    companions: tuple[NamedEstimate, ...]
    """The same numbers with other intervals, and the chance level of agreement within one step."""
    warnings: tuple[str, ...]
    """What a reader must know."""
    labels: tuple[str, ...]
    """The scale's labels."""
    level: str = "nominal"
    "Level of measurement."
    confidence: float = 0.95
    """The intervals' nominal coverage."""
    pair_weights: str = "alike"
    """Whether pairs of raters weigh alike or by the units they share."""
    raters: tuple[RaterCount, ...] = ()
    """The raters; empty where they are not known."""
    overlaps: tuple[PairResult, ...] = ()
    """Each two raters' common units."""
    pairs: tuple[PairResult, ...] = ()
    """Each two raters by themselves, where requested."""
    by: str = ""
    """The column whose values are the groups; empty for the whole table."""
    groups: Mapping[str, Agreement] = field(default_factory=dict)
    """Each group's result; the statistics of the whole are then not given."""
    comparison: Comparison | None = None
    """The differences of the two groups, where requested."""
    reading: str = ""
    """What the table's columns were taken for; empty where all of it was stated."""

    def __getitem__(self, name: str) -> Estimate:
        """The headline estimate of a statistic by name."""
        estimates = {s.name: s.estimate for s in self.statistics}
        if self.groups and not self.statistics:
            raise AnalysisError(
                f"no statistic {name!r} of all rows; choose a group:"
                f" groups[{next(iter(self.groups))!r}]"
            )
        if name not in estimates:
            name = full_name(name, "statistic")
        if name not in estimates:
            raise AnalysisError(
                f"there is no statistic {name!r} in this result; {nearest(name, estimates)}"
            )
        return estimates[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the statistics; none where they are those of groups."""
        return iter([s.name for s in self.statistics])

    def counts(self) -> str:
        """How much was rated, in words."""
        raters = "" if self.n_raters is None else f", {self.n_raters:,} raters"
        groups = f", {len(self.groups)} groups of {self.by}" if self.groups else ""
        return f"{self.n_units:,} units{raters}, {self.n_ratings:,} ratings{groups}"

    def _repr_html_(self) -> str:
        """What a notebook shows: every statistic with its interval, and what a reader must know."""
        rows = [
            [*([name] if self.groups else []), *_shown(s)]
            for name, result in self._parts()
            for s in result.statistics
        ]
        targets: Iterable[str] = ()
        if self.comparison is not None:
            name = " minus ".join(self.comparison.groups)
            rows += [[name, *_shown(s)] for s in self.comparison.differences]
            targets = filter(None, [self.comparison.target_sentence])
        head = (
            *(["group"] if self.groups else []),
            "statistic",
            f"estimate [{self.confidence:.0%} CI]",
            "clusters",
            "CI method",
        )
        notes = [w for _, result in self._parts() for w in result.warnings]
        every = dict.fromkeys([*targets, *self.warnings, *notes])
        return html_table(self.counts(), head, rows, every)

    def plot(self, statistics: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
        """Draw estimates with their intervals on matplotlib axes, and return these to be changed.

        `statistics` names which; none: all of them. Raises AnalysisError where a name is unknown.
        """
        estimates = [(name, s) for name, result in self._parts() for s in result.statistics]
        names = dict.fromkeys(s.name for _, s in estimates)
        for name in statistics:
            if name not in names:
                raise AnalysisError(f"there is no statistic {name!r} here; {nearest(name, names)}")
        dots = [
            Dot(f"{s.name}, {name}" if name else s.name, e.value, e.low, e.high)
            for name, s in estimates
            if not statistics or s.name in statistics
            for e in (s.estimate,)
        ]
        return dot_plot(dots, ax, label=f"estimate with {self.confidence:.0%} CI")

    def _parts(self) -> list[tuple[str, Agreement]]:
        """The results that have statistics, each with its groups' names."""
        inner = [
            (", ".join(filter(None, (name, group))), result)
            for name, part in self.groups.items()
            for group, result in part._parts()
        ]
        return [("", self), *inner] if self.statistics or not self.groups else inner

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as --json prints it: undefined is None, with its reason.

        Numbers have 12 significant digits.
        """
        plain: dict[str, Any] = written(self._fields())
        return plain | ({"reading": self.reading} if self.reading else {})

    def _fields(self) -> dict[str, Any]:
        counts: dict[str, Any] = {
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "n_abstained": self.n_abstained,
            "level": self.level,
            "labels": list(self.labels),
            "confidence": self.confidence,
            "target": None if self.n_raters is None else "these raters",
        }
        if self.groups:
            groups = [{"group": name, **result.to_dict()} for name, result in self.groups.items()]
            compared = {} if self.comparison is None else {"comparison": _compared(self.comparison)}
            counts |= {"by": self.by, "groups": groups, **compared}
        if self.statistics or not self.groups:
            counts |= self._estimates()
        return {**counts, "warnings": list(self.warnings)}

    def _estimates(self) -> dict[str, Any]:
        return {
            "pair_weights": self.pair_weights,
            "raters": [
                {"name": r.name, "n_ratings": r.n_ratings, "n_abstained": r.n_abstained}
                for r in self.raters
            ],
            "statistics": _with_companions(self.statistics, self.companions),
            "overlap": self.overlap(),
            **({"pairs": [_pair(pair) for pair in self.pairs]} if self.pairs else {}),
        }

    def overlap(self) -> dict[str, Any] | None:
        """How many units pairs of raters share; None where raters are not known."""
        if not self.overlaps:
            return None
        n = sorted(pair.n_units for pair in self.overlaps)
        middle = (n[(len(n) - 1) // 2] + n[len(n) // 2]) / 2
        listed = [
            {"raters": list(pair.raters), "n_units": pair.n_units}
            for pair in self.overlaps[:LISTED_PAIRS]
        ]
        return {
            "n_pairs": len(n),
            "n_without": sum(shared == 0 for shared in n),
            "smallest": n[0],
            "median": middle,
            "largest": n[-1],
            "pairs": listed if len(n) <= LISTED_PAIRS else None,
        }

    def to_json(self) -> str:
        """The JSON that --json prints."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_polars(self) -> pl.DataFrame:
        """One row a statistic (of each group), as a Polars frame."""
        schema = {
            **({"group": pl.String} if self.groups else {}),
            "name": pl.String,
            "value": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "se": pl.Float64,
            "n_clusters": pl.Int64,
            "n_undefined": pl.Int64,
            "method": pl.String,
            "reason": pl.String,
        }
        return pl.DataFrame(self._records(), schema=schema)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {**({"group": name} if self.groups else {}), **_estimate_fields(s)}
            for name, result in self._parts()
            for s in result.statistics
        ]


def _shown(statistic: NamedEstimate) -> list[str]:
    """A statistic's title, estimate with CI, number of clusters, and the CI's method."""
    e = statistic.estimate
    return [title_of(statistic.name), _interval_text(e), f"{e.n_clusters:,}", e.method]


def _interval_text(e: Estimate) -> str:
    return interval_text(e.value, e.low, e.high, e.reason)


def _estimate_fields(statistic: NamedEstimate) -> dict[str, Any]:
    e = statistic.estimate
    return {
        "name": statistic.name,
        "value": finite_or_none(e.value),
        "low": finite_or_none(e.low),
        "high": finite_or_none(e.high),
        "se": finite_or_none(e.se),
        "n_clusters": e.n_clusters,
        "n_undefined": e.n_undefined,
        "method": e.method,
        "reason": e.reason,
    }


def _companion(estimate: Estimate) -> dict[str, Any]:
    numbers = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "se": estimate.se,
        "p": estimate.p,
    }
    return {**{k: finite_or_none(v) for k, v in numbers.items()}, "method": estimate.method}


def _with_companions(
    statistics: tuple[NamedEstimate, ...], all_of_them: tuple[NamedEstimate, ...]
) -> list[Any]:
    return [
        {
            **_estimate_fields(statistic),
            "companions": [_companion(c.estimate) for c in all_of_them if c.name == statistic.name],
        }
        for statistic in statistics
    ]


def _pair(pair: PairResult) -> dict[str, Any]:
    return {
        "raters": list(pair.raters),
        "n_units": pair.n_units,
        "statistics": [_estimate_fields(s) for s in pair.statistics],
    }


def _compared(comparison: Comparison) -> dict[str, Any]:
    differences = _with_companions(comparison.differences, comparison.companions)
    for entry, difference in zip(differences, comparison.differences, strict=True):
        entry["p"] = finite_or_none(difference.estimate.p)
        others = [c for c in comparison.companions if c.name == difference.name]
        named = zip((entry, *entry["companions"]), (difference, *others), strict=True)
        for fields, of in () if comparison.target is None else named:
            fields["target"] = whom(of.estimate.raters)
    return {
        "groups": list(comparison.groups),
        "n_shared": comparison.n_shared,
        "target": None if comparison.target is None else whom(comparison.target),
        "differences": differences,
    }
