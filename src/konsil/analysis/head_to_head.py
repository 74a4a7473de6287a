"""Who is preferred, in any table of comparisons, without a study: `konsil preference` and konsil.preference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from konsil.analysis.comparisons import Layout, read_comparisons
from konsil.analysis.frames import to_polars
from konsil.analysis.spec import Mode
from konsil.analysis.standings import MATRIX, position, standing, warnings_of, worths_of
from konsil.errors import AnalysisError
from konsil.stats.crossed import crossed
from konsil.stats.preference import preferences
from konsil.stats.votes import pair_members
from konsil.stats.weights import stream_key
from konsil.stats.wins import head_to_head, one_against_rest
from konsil.stats.worth_designs import Model, Ties


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
    """One entry a system: wins minus losses against the others, every rival with the same weight."""
    win_rate: tuple[dict[str, Any], ...]
    """One entry for each ordered pair of systems: the share of their comparisons that `system` won against `rival`."""
    davidson: dict[str, Any]
    """Worths by Davidson's model, ties included."""
    bradley_terry: dict[str, Any]
    """Worths by Bradley and Terry's model."""
    position: dict[str, Any]
    """How much more often the first column's system won: position bias, if it was shown first."""
    warnings: tuple[str, ...]
    """What a reader must know."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as --json prints it; how many items and raters each number rests on stands beside it."""
        return {
            "systems": list(self.systems),
            "n_comparisons": self.n_comparisons,
            "win_difference": list(self.win_difference),
            "win_rate": list(self.win_rate),
            "davidson": self.davidson,
            "bradley_terry": self.bradley_terry,
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """The JSON that --json prints."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)

    def to_polars(self) -> pl.DataFrame:
        """One row a system: its win difference and its worths, as a Polars frame."""
        rows = []
        for one, worth, other in zip(
            self.win_difference, self.davidson["worths"], self.bradley_terry["worths"], strict=True
        ):
            kept = {k: v for k, v in one.items() if not isinstance(v, dict)}
            rows.append({**kept, "davidson": worth["log_worth"], "bradley_terry": other["log_worth"]})
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
    missing: Sequence[str] = ("",),
    strict: bool = False,
    ties: Ties = "half",
    mode: Mode = "valid",
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> HeadToHead:
    """Win differences, win rates and worths of a long table of comparisons, with intervals by item and rater.

    `frame` is a Polars or pandas data frame, one row a comparison: columns for item, rater, the two systems and the
    outcome, which is a winner (a system's name, "left", "a", a column's name), a tie, or a label of `scale`, given in
    order from the first system's side to the second's. `strict`: only the scale's outermost labels are wins.

    Headline: the two-way interval (items and raters). Beside it the item-cluster bootstrap with the test that flips
    whole items; in mode "paper" flips of single comparisons.

    >>> import polars as pl
    >>> votes = {"item": list("aabbccdd"), "rater": list("rsrsrsrs"), "first": ["x"] * 8, "second": ["y"] * 8}
    >>> table = pl.DataFrame({**votes, "winner": ["x", "x", "tie", "y", "x", "tie", "x", "x"]})
    >>> [round(one["value"], 3) for one in preference(table, resamples=200).win_difference]
    [0.5, -0.5]
    """
    if isinstance(scale, str) or isinstance(missing, str):
        raise AnalysisError("scale and missing: expected a list of labels, got one text")
    asked = Layout(item, rater, first, second, outcome, tuple(map(str, scale)), tuple(missing))
    wanted = [name for name in (item, rater, first, second, outcome) if name is not None]
    return from_layout(
        to_polars(frame, wanted),
        asked,
        strict=strict,
        ties=ties,
        mode=mode,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )


def from_layout(
    frame: pl.DataFrame,
    asked: Layout,
    *,
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
        raise AnalysisError(f"got ties = {ties!r}, mode = {mode!r}; expected 'half' or 'dropped', 'valid' or 'paper'")
    table = read_comparisons(frame, asked)
    made, k = table.votes, len(table.systems)
    threshold = made.steps if strict else 1
    statistics = [one_against_rest(k, made.steps, threshold=threshold)]
    if k <= MATRIX:
        statistics.append(head_to_head(k, made.steps, threshold=threshold))
    key = stream_key(seed, "preference")
    found = preferences(made, statistics, draws=resamples, key=key, level=confidence, mode=mode)
    shown = crossed(table.shown, head_to_head(2, made.steps, "difference", threshold), level=confidence)
    pairs = [*zip(*(side.tolist() for side in pair_members(k)), strict=True)]
    ordered = [*pairs, *((b, a) for a, b in pairs)] if k <= MATRIX else []
    names = table.systems
    win_rate = [{"system": names[a], "rival": names[b]} for a, b in ordered]
    models: tuple[Model, Model] = ("davidson", "bradley_terry")
    davidson, bradley_terry = (worths_of(table, model, ties, threshold, confidence) for model in models)
    return HeadToHead(
        systems=names,
        n_comparisons=made.n_votes,
        n_items=made.n_questions,
        n_raters=made.n_raters if table.has_raters else None,
        win_difference=tuple(
            {"system": name} | standing(found[0], n, mode, confidence) for n, name in enumerate(names)
        ),
        win_rate=tuple(one | standing(found[1], n, mode, confidence) for n, one in enumerate(win_rate)),
        davidson=davidson,
        bradley_terry=bradley_terry | {"ties": ties},
        position=position(shown),
        warnings=(*table.warnings, *warnings_of(table, found[0], mode, (davidson, bradley_terry))),
    )
