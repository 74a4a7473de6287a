"""Preference in any table of comparisons: `konsil preference` and konsil.preference.

No study is needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.model.spec import Mode
from konsil.analysis.pairs.ranking_summary import MATRIX, position, standing, warnings_of, worths_of
from konsil.analysis.standalone.group_preferences import compared
from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.dataframes import to_polars
from konsil.analysis.tabular.ratings_table import as_text
from konsil.analysis.tabular.slices import Part, Slices, as_values, parts
from konsil.analysis.tabular.votes_table import Comparisons, Layout, read_comparisons
from konsil.errors import AnalysisError
from konsil.records.digits import written
from konsil.stats.engine.weights import stream_key
from konsil.stats.pairs.preference import preferences
from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.votes import pair_members
from konsil.stats.pairs.wins import head_to_head, system_against_others
from konsil.stats.pairs.worth_designs import Model, Ties


@dataclass(frozen=True, eq=False)
class HeadToHead:
    """Who is preferred to whom in one table of comparisons; plain data, undefined is None."""

    systems: tuple[str, ...]
    """The systems, sorted."""
    n_comparisons: int
    """Comparisons with an outcome."""
    n_items: int
    """Items compared on."""
    n_raters: int | None
    """Raters who compared; None where no rater is known."""
    win_difference: tuple[dict[str, Any], ...]
    """One entry a system: wins minus losses against the others, every rival with the same
    weight."""
    win_rate: tuple[dict[str, Any], ...]
    """One entry for each ordered pair of systems: the share of their comparisons that `system` won
    against `rival`."""
    davidson: dict[str, Any]
    """Worths by Davidson's model, ties included."""
    bradley_terry: dict[str, Any]
    """Worths by Bradley and Terry's model."""
    position: dict[str, Any]
    """How much more often the first column's system won: position bias, if it was shown first."""
    warnings: tuple[str, ...]
    """What a reader must know."""
    n_missing: int = 0
    """Rows without an outcome."""
    mode: Mode = "valid"
    """What holds, or what many papers compute."""
    confidence: float = 0.95
    """The intervals' nominal coverage."""
    by: str = ""
    """The column whose values are the groups; empty for the whole table."""
    groups: Mapping[str, HeadToHead] = field(default_factory=dict)
    """Each group's result; the numbers of the whole are then not given."""
    comparison: dict[str, Any] | None = None
    """The differences of two groups' win differences, where requested."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as --json prints it.

        Each number has the number of items and raters that it is based on.
        """
        plain: dict[str, Any] = written(self._plain())
        return plain

    def _plain(self) -> dict[str, Any]:
        counts = {
            "systems": list(self.systems),
            "n_comparisons": self.n_comparisons,
            "n_items": self.n_items,
            "n_raters": self.n_raters,
            "n_missing": self.n_missing,
            "mode": self.mode,
            "confidence": self.confidence,
        }
        if self.groups:
            groups = [{"group": name, **result.to_dict()} for name, result in self.groups.items()]
            compared = {} if self.comparison is None else {"comparison": self.comparison}
            return {
                **counts,
                "by": self.by,
                "groups": groups,
                **compared,
                "warnings": list(self.warnings),
            }
        return {
            **counts,
            "win_difference": list(self.win_difference),
            "win_rate": list(self.win_rate),
            "davidson": self.davidson,
            "bradley_terry": self.bradley_terry,
            "position": self.position,
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """The JSON that --json prints."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_polars(self) -> pl.DataFrame:
        """One row a system (of each group), as a Polars frame: its win difference and worths."""
        if self.groups:
            parts = [
                result.to_polars().insert_column(0, pl.lit(name).alias("group"))
                for name, result in self.groups.items()
            ]
            return pl.concat(parts, how="diagonal_relaxed")
        rows = []
        for difference, worth, other in zip(
            self.win_difference, self.davidson["worths"], self.bradley_terry["worths"], strict=True
        ):
            scalars = {k: v for k, v in difference.items() if not isinstance(v, dict)}
            rows.append(
                {**scalars, "davidson": worth["log_worth"], "bradley_terry": other["log_worth"]}
            )
        return pl.DataFrame(rows, infer_schema_length=None)


def preference(
    frame: object,
    *,
    item: str | None = None,
    rater: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
    scale: Sequence[str] = (),
    won: str | None = None,
    lost: str | None = None,
    tied: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    by: str | None = None,
    compare: str | None = None,
    missing: Sequence[str] = ("",),
    strict: bool = False,
    ties: Ties = "half",
    mode: Mode = "valid",
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> HeadToHead:
    """Win differences, win rates and worths of a table of comparisons.

    CIs are by item and rater. `frame` is a Polars or pandas data frame, one row a comparison
    (long): columns for item, rater, the two systems and the outcome, which is a winner (a system's
    name, "left", "a", a column's name), a tie, or a label of `scale`, given in order from the first
    system's side to the second's. `strict`: only the scale's outermost labels are wins. Instead of
    an outcome, a row may count wins in the columns `won` (by the first system), `lost` and `tied`.

    `where` selects the rows with certain values of columns; `by` gives one result for each value of
    a column in `groups`; `compare` does so for a column with two values and adds the differences of
    the win differences in `comparison`.

    Primary CI: two-way (items and raters). Also reported: the item-cluster bootstrap with the
    permutation test that exchanges the systems within whole items; in mode "paper" within single
    comparisons.

    >>> import polars as pl
    >>> votes = {"item": list("aabbccdd"), "rater": list("rsrsrsrs")}
    >>> votes |= {"first": ["x"] * 8, "second": ["y"] * 8}
    >>> table = pl.DataFrame({**votes, "winner": ["x", "x", "tie", "y", "x", "tie", "x", "x"]})
    >>> [round(row["value"], 3) for row in preference(table, resamples=200).win_difference]
    [0.5, -0.5]
    """
    if isinstance(scale, str) or isinstance(missing, str):
        raise AnalysisError("scale and missing: expected a list of labels, got one text")
    words = tuple(map(str, scale))
    layout = Layout(item, rater, first, second, outcome, words, won, lost, tied, tuple(missing))
    slices = Slices(as_values(where), by, compare)
    named = (item, rater, first, second, outcome, won, lost, tied, *slices.columns)
    column_names = [name for name in named if name is not None]
    return from_layout(
        to_polars(frame, column_names),
        layout,
        slices=slices,
        strict=strict,
        ties=ties,
        mode=mode,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )


def from_layout(
    frame: pl.DataFrame,
    layout: Layout,
    *,
    slices: Slices | None = None,
    strict: bool = False,
    ties: Ties = "half",
    mode: Mode = "valid",
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> HeadToHead:
    """The same, from a frame and how it is to be read."""
    if resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {resamples}")
    if not 0.5 <= confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {confidence:g}")
    if ties not in ("half", "dropped") or mode not in ("valid", "paper"):
        raise AnalysisError(
            f"got ties = {ties!r}, mode = {mode!r}; expected 'half' or 'dropped', 'valid' or"
            " 'paper'"
        )
    slices = Slices() if slices is None else slices
    options = _Settings(strict, ties, mode, resamples, seed, confidence)
    warnings: list[str] = []
    layout, slices = composed(layout), composed(slices)
    table_parts = parts(as_text(frame, layout.name), slices, layout.name, warnings)
    tables = [
        read_comparisons(part.frame, replace(layout, rows=part.rows, name=_named(part, layout)))
        for part in table_parts
    ]
    if slices.group is None:
        (comparisons,) = tables
        result = _of_table(comparisons, options)
        return replace(result, warnings=(*warnings, *result.warnings))
    groups = {
        part.name: _of_table(table, options)
        for part, table in zip(table_parts, tables, strict=True)
    }
    comparison = None
    if slices.compare is not None:
        comparison, notes = compared(tables, tuple(groups), strict=strict, level=confidence)
        warnings += notes
    has_raters = all(table.has_raters for table in tables)
    nothing: dict[str, Any] = {}
    return HeadToHead(
        systems=tuple(sorted({name for table in tables for name in table.systems})),
        n_comparisons=sum(group.n_comparisons for group in groups.values()),
        n_items=len({name for table in tables for name in table.items}),
        n_raters=len({name for table in tables for name in table.raters}) if has_raters else None,
        win_difference=(),
        win_rate=(),
        davidson=nothing,
        bradley_terry=nothing,
        position=nothing,
        warnings=tuple(warnings),
        n_missing=sum(group.n_missing for group in groups.values()),
        mode=mode,
        confidence=confidence,
        by=slices.group,
        groups=groups,
        comparison=comparison,
    )


def _named(part: Part, layout: Layout) -> str:
    return f"{layout.name}, {part.name}" if part.name else layout.name


@dataclass(frozen=True)
class _Settings:
    """Options for the evaluation of a table of comparisons."""

    strict: bool
    ties: Ties
    mode: Mode
    resamples: int
    seed: int
    confidence: float


def _of_table(table: Comparisons, options: _Settings) -> HeadToHead:
    """All numbers of one table."""
    votes, k = table.votes, len(table.systems)
    threshold = votes.steps if options.strict else 1
    statistics = [system_against_others(k, votes.steps, threshold=threshold)]
    if k <= MATRIX:
        statistics.append(head_to_head(k, votes.steps, threshold=threshold))
    key, level, mode = stream_key(options.seed, "preference"), options.confidence, options.mode
    estimates = preferences(
        votes, statistics, draws=options.resamples, key=key, level=level, mode=mode
    )
    shown = crossed(table.shown, head_to_head(2, votes.steps, "difference", threshold), level=level)
    pairs = [*zip(*(side.tolist() for side in pair_members(k)), strict=True)]
    ordered = [*pairs, *((b, a) for a, b in pairs)] if k <= MATRIX else []
    names = table.systems
    win_rate = [{"system": names[a], "rival": names[b]} for a, b in ordered]
    models: tuple[Model, Model] = ("davidson", "bradley_terry")
    davidson, bradley_terry = (
        worths_of(table, model, options.ties, threshold, level) for model in models
    )
    independence = (
        [_INDEPENDENT]
        if mode == "valid" and votes.n_questions == votes.n_raters == votes.n_votes
        else []
    )
    return HeadToHead(
        systems=names,
        n_comparisons=votes.n_votes,
        n_items=votes.n_questions,
        n_raters=votes.n_raters if table.has_raters else None,
        win_difference=tuple(
            {"system": name} | standing(estimates[0], n, mode, level)
            for n, name in enumerate(names)
        ),
        win_rate=tuple(
            pair | standing(estimates[1], n, mode, level) for n, pair in enumerate(win_rate)
        ),
        davidson=davidson,
        bradley_terry=bradley_terry | {"ties": options.ties},
        position=position(shown),
        warnings=(
            *table.warnings,
            *independence,
            *warnings_of(table, estimates[0], mode, level, (davidson, bradley_terry)),
        ),
        n_missing=table.n_missing,
        mode=mode,
        confidence=level,
    )


_INDEPENDENT = message(
    (
        "Each comparison has its own item and rater, so the votes are independent: report the"
        " permutation test (p, these raters; p_flip in JSON), which then also applies to other"
        " raters; the CI and its p value are approximations."
    ),
    message_id="comparisons.independent_votes",
)
