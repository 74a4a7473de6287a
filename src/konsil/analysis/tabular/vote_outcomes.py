"""The outcomes of a table of comparisons: words, labels of a scale or numbers, as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from konsil.analysis.roles.outcomes import FIRST, SECOND, TIE, steps_of_words
from konsil.analysis.table.pair_labels import reach, steps_of_scale
from konsil.analysis.tabular.coded_votes import outcomes_of_orders
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.errors import AnalysisError, SourceError, nearest, option
from konsil.stats.engine.contract import Array, IntArray


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The outcomes of the combinations of systems and outcome, in favour of the first system."""

    by_order: tuple[IntArray, ...]
    """(n_combinations,) the steps, in each order in which the systems were shown."""
    steps: int
    """How far steps reach."""
    numbers: Array | None = None
    """(n_combinations,) the preference from 1 for the first system to -1 for the second."""

    @property
    def merged(self) -> IntArray:
        """The steps; where the two orders differ the comparison is a tie."""
        first, last = self.by_order[0], self.by_order[-1]
        return np.where(first == last, first, 0)


def read_outcomes(
    combinations: pl.DataFrame, columns: tuple[str, str], options: VotesOptions
) -> Outcomes:
    """The outcomes of the combinations of systems and outcome, each with its first row.

    `columns` are those of the first and of the second system.
    """
    in_order = combinations.with_row_index("place").sort("row")
    at = np.argsort(in_order.get_column("place").to_numpy())
    if options.ends is not None:
        numbers = _numbers(in_order, options.ends, options)[at]
        return Outcomes((np.sign(numbers).astype(np.int64),), 1, numbers)
    orders = [in_order]
    if "second_outcome" in options.columns:
        both = outcomes_of_orders(in_order.get_column("outcome"))
        orders = [in_order.with_columns(words.alias("outcome")) for words in both]
    parts = [_outcomes(rows, columns, options) for rows in orders]
    return Outcomes(tuple(steps[at] for steps, _ in parts), max(n for _, n in parts))


def placed(numbers: Array) -> tuple[IntArray, Array]:
    """Preferences from -1 to 1 as places on a symmetric scale, and the shares of each place."""
    sizes = np.unique(np.abs(numbers[numbers != 0]))
    places = (np.searchsorted(sizes, np.abs(numbers)) + 1) * np.sign(numbers)
    first = (np.concatenate([-sizes[::-1], [0.0], sizes]) + 1) / 2
    if not len(sizes):
        first = np.array([0.0, 0.5, 1.0])
    return places.astype(np.int64), np.stack([first, first[::-1]])


def _numbers(comparisons: pl.DataFrame, ends: tuple[float, float], options: VotesOptions) -> Array:
    """Preferences from 1 for the first system to -1 for the second, from numbers between `ends`."""
    first, second = ends
    words = comparisons.get_column("outcome")
    numbers = words.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    is_wrong = ~((numbers >= min(ends)) & (numbers <= max(ends)))
    if is_wrong.any():
        at = int(is_wrong.argmax())
        raise SourceError(
            f"{options.name}: line {options.line(int(comparisons.item(at, 'row')))}: the outcome"
            f" {words[at]!r} is not a number from {min(ends):g} to {max(ends):g}"
        )
    return np.asarray((first + second - 2 * numbers) / (second - first))


def _outcomes(
    comparisons: pl.DataFrame, columns: tuple[str, str], options: VotesOptions
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
    """Steps in favour of the first system, and how far they reach."""
    observed = comparisons.get_column("outcome").unique().sort().to_list()
    if options.scale:
        if len(options.scale) < 2 or len({*options.scale}) < len(options.scale):
            raise SourceError(
                f"{options.name}: {option('scale')} {','.join(options.scale)}: expected two or more"
                " different labels"
            )
        steps = steps_of_scale(options.scale)
        # The label 2.0 of the scale is the 2 of a cell.
        steps |= _by_number(steps, observed)
        unknown = comparisons.filter(~pl.col("outcome").is_in(list(steps)))
        if unknown.height:
            word, line = unknown.item(0, "outcome"), options.line(int(unknown.item(0, "row")))
            raise SourceError(
                f"{options.name}: line {line}: {word!r} is not on the scale; {nearest(word, steps)}"
            )
        return comparisons.get_column("outcome").replace_strict(
            steps, return_dtype=pl.Int64
        ).to_numpy(), reach(steps)
    words = {*FIRST, *SECOND, *TIE}
    named = {*comparisons.get_column("first"), *comparisons.get_column("second")}
    plain = [word for word in observed if word not in named or word.casefold() in words]
    steps = _words(plain, columns, comparisons, options)
    by_name = (
        pl.when(pl.col("outcome") == pl.col("first"))
        .then(1)
        .when(pl.col("outcome") == pl.col("second"))
        .then(-1)
    )
    with_steps = comparisons.with_columns(
        by_name.otherwise(
            pl.col("outcome").replace_strict(steps, default=None, return_dtype=pl.Int64)
        ).alias("steps")
    )
    stranger = with_steps.filter(pl.col("steps").is_null())
    if stranger.height:
        word, line = stranger.item(0, "outcome"), options.line(int(stranger.item(0, "row")))
        raise SourceError(
            f"{options.name}: line {line}: the winner {word!r} is neither of the two systems"
            " compared"
        )
    return with_steps.get_column("steps").cast(pl.Int64).to_numpy(), reach(steps)


def _words(
    plain: Sequence[str], columns: tuple[str, str], comparisons: pl.DataFrame, options: VotesOptions
) -> dict[str, int]:
    """Words to steps; an error for an unknown word names its line."""
    try:
        return steps_of_words(plain, columns, options.name)
    except AnalysisError:
        for word in plain:
            try:
                steps_of_words([word], columns, options.name)
            except AnalysisError as error:
                line = options.line(
                    int(comparisons.filter(pl.col("outcome") == word).item(0, "row"))
                )
                raise SourceError(
                    str(error).replace(options.name, f"{options.name}: line {line}", 1)
                ) from error
        raise


def _by_number(steps: Mapping[str, int], words: Sequence[str]) -> dict[str, int]:
    """Words that are no labels of the scale, with the step of the label that is the same number."""
    by_number = {number: step for label, step in steps.items() if (number := _number(label))}
    return {
        word: by_number[number]
        for word in words
        if word not in steps and (number := _number(word)) in by_number
    }


def _number(word: str) -> str:
    """The number that a word is, as text; empty where it is none."""
    try:
        return f"{float(word) + 0.0!r}"
    except ValueError:
        return ""
