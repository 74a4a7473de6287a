"""The outcomes of a table of comparisons: words, labels of a scale or numbers, as steps."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from konsil.analysis.roles.outcomes import (
    FIRST,
    FIVE,
    SECOND,
    TIE,
    are_outcomes,
    known_step,
    steps_of_words,
)
from konsil.analysis.table.pair_labels import reach, steps_of_scale
from konsil.analysis.tabular.coded_votes import outcomes_of_orders
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.errors import SourceError, nearest, option
from konsil.records.numerals import own_numbers
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


def read_outcomes(combinations: pl.DataFrame, options: VotesOptions) -> Outcomes:
    """The outcomes of the combinations of systems and outcome, each with its first row."""
    in_order = combinations.with_row_index("place").sort("row")
    at = np.argsort(in_order.get_column("place").to_numpy())
    if options.ends is not None:
        numbers = _numbers(in_order, options.ends, options)[at]
        return Outcomes((np.sign(numbers).astype(np.int64),), 1, numbers)
    if "second_outcome" in options.columns:
        both = outcomes_of_orders(in_order.get_column("outcome"))
        orders = [in_order.with_columns(words.alias("outcome")) for words in both]
        parts = [_outcomes(orders[0], options), _in_other_order(orders[1], options)]
    else:
        parts = [_outcomes(in_order, options)]
    by_order = zip(parts, options.senses, strict=False)
    return Outcomes(
        tuple(sense * steps[at] for (steps, _), sense in by_order), max(n for _, n in parts)
    )


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
    words = comparisons.get_column("outcome").to_list()
    numbers = np.array([math.nan if n is None else n for n in own_numbers(words)])
    is_wrong = ~((numbers >= min(ends)) & (numbers <= max(ends)))
    if is_wrong.any():
        word = words[int(is_wrong.argmax())]
        raise SourceError(
            f"{_place(comparisons, word, options)}: the outcome {word!r} is not a number from"
            f" {min(ends):g} to {max(ends):g}"
        )
    return np.asarray((first + second - 2 * numbers) / (second - first))


def _place(comparisons: pl.DataFrame, word: str, options: VotesOptions) -> str:
    """Where an outcome is first."""
    row = comparisons.filter(pl.col("outcome") == word).item(0, "row")
    return f"{options.name}: line {options.line(int(row))}"


def _in_other_order(comparisons: pl.DataFrame, options: VotesOptions) -> tuple[IntArray, int]:
    """The steps of the second order, in which the second system was shown first."""
    if not options.is_second_swapped:
        return _outcomes(comparisons, options)
    columns = options.columns
    exchanged = {**columns, "first": columns["second"], "second": columns["first"]}
    rows = comparisons.rename({"first": "second", "second": "first"})
    steps, reach_of_steps = _outcomes(rows, replace(options, columns=exchanged))
    return -steps, reach_of_steps


def _outcomes(comparisons: pl.DataFrame, options: VotesOptions) -> tuple[IntArray, int]:
    """Steps in favour of the first system, and how far they reach."""
    columns = options.columns["first"], options.columns["second"]
    observed = comparisons.get_column("outcome").unique(maintain_order=True).to_list()
    if options.scale:
        steps = _steps_on_scale(observed, options)
        stranger = next((word for word in observed if word not in steps), None)
        if stranger is not None:
            raise SourceError(
                f"{_place(comparisons, stranger, options)}: {stranger!r} is not on the scale;"
                f" {nearest(stranger, steps)}"
            )
        outcomes = comparisons.get_column("outcome")
        return outcomes.replace_strict(steps, return_dtype=pl.Int64).to_numpy(), reach(steps)
    comparisons, plain = _with_names(comparisons, columns)
    stranger = next((word for word in plain if known_step(word, columns) is None), None)
    is_unknown = stranger is not None and not are_outcomes(plain)
    where = _place(comparisons, str(stranger), options) if is_unknown else options.name
    steps = steps_of_words(plain, columns, where)
    in_favour = _in_favour(comparisons, steps)
    if in_favour.null_count():
        word, row = comparisons.filter(in_favour.is_null()).select("outcome", "row").row(0)
        raise SourceError(
            f"{options.name}: line {options.line(row)}: the winner {word!r} is neither of the two"
            " systems compared"
        )
    return in_favour.to_numpy(), reach(steps)


def known_steps(comparisons: pl.DataFrame, columns: tuple[str, str]) -> pl.Series:
    """Steps of outcomes in favour of the first system; null where a word is none in its row.

    `columns`: those of the systems, whose names stand for them.

    >>> rows = pl.DataFrame({"first": ["x", "y", "x"], "second": ["y", "x", "y"]})
    >>> outcomes = pl.Series("outcome", ["y", "left", "better"])
    >>> known_steps(rows.with_columns(outcomes), ("left", "right")).to_list()
    [-1, 1, None]
    """
    comparisons, plain = _with_names(comparisons, columns)
    steps = {word: known_step(word, columns) for word in plain}
    if are_outcomes(plain):
        steps = {word: FIVE[word.strip().casefold()] for word in plain}
    return _in_favour(comparisons, {word: n for word, n in steps.items() if n is not None})


def _with_names(
    comparisons: pl.DataFrame, columns: tuple[str, str]
) -> tuple[pl.DataFrame, list[str]]:
    """The comparisons with the names of systems as their columns have them, and all other words."""
    observed = comparisons.get_column("outcome").unique(maintain_order=True).to_list()
    named = {*comparisons.get_column("first"), *comparisons.get_column("second")}
    spelled = _as_systems(observed, named, columns)
    words = {*FIRST, *SECOND, *TIE}
    others = (word for word in observed if word not in spelled)
    plain = [word for word in others if word not in named or word.casefold() in words]
    return comparisons.with_columns(pl.col("outcome").cast(pl.String).replace(spelled)), plain


def _in_favour(comparisons: pl.DataFrame, steps: Mapping[str, int]) -> pl.Series:
    """Steps in favour of the first system, by the systems' names before the steps of words."""
    outcome = pl.col("outcome")
    by_name = pl.when(outcome == pl.col("first")).then(1).when(outcome == pl.col("second")).then(-1)
    by_word = outcome.replace_strict(dict(steps), default=None, return_dtype=pl.Int64)
    return comparisons.select(by_name.otherwise(by_word).cast(pl.Int64)).to_series()


def _as_systems(
    observed: Sequence[str], named: Collection[str], columns: tuple[str, str]
) -> dict[str, str]:
    """The systems that outcomes name in other letters, large for small; none of two alike.

    >>> _as_systems(["GPT", "a", "tie"], {"gpt", "Llama"}, ("a", "b"))
    {'GPT': 'gpt'}
    >>> _as_systems(["TEA"], {"tea", "Tea"}, ("a", "b"))
    {}
    """
    by_letters = {name.casefold(): name for name in sorted(named)}
    if len(by_letters) < len(named):
        return {}
    return {
        word: by_letters[word.casefold()]
        for word in observed
        if word not in named and word.casefold() in by_letters and known_step(word, columns) is None
    }


def _steps_on_scale(observed: Sequence[str], options: VotesOptions) -> dict[str, int]:
    """The scale's labels to steps, and other words for the same numbers: 2.0 is the 2 of a cell."""
    if len(options.scale) < 2 or len({*options.scale}) < len(options.scale):
        raise SourceError(
            f"{options.name}: {option('scale')} {','.join(options.scale)}: expected two or more"
            " different labels"
        )
    steps = steps_of_scale(options.scale)
    numbers = own_numbers((*steps, *observed))
    by_number = dict(zip(numbers, steps.values(), strict=False))
    others = zip(observed, numbers[len(steps) :], strict=True)
    return {word: by_number[n] for word, n in others if n is not None and n in by_number} | steps
