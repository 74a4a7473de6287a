"""Readings in which a row is a comparison of two systems with a preference on a scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from konsil.analysis.roles.candidates.compared.preference_scales import (
    order_of_truth,
    scale_of_labels,
)
from konsil.analysis.roles.candidates.compared.shown_order import (
    RATER,
    are_related,
    names_of_sides,
    pairs_of_orders,
)
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import fit, kinds
from konsil.analysis.roles.outcomes import sense_of
from konsil.analysis.roles.reading import StatedRoles
from konsil.analysis.roles.vocabulary import OUTCOMES, PREFERENCES

POINTS = 5.0
"""Points for a column that is named for outcomes, and for the names of the row's systems in it."""

RELATED = -10.0
"""Points against one of several outcomes alone whose names belong together."""


def add_related_left_out(draft: Draft, outcomes: Sequence[Column]) -> None:
    """Add what speaks against leaving out the outcomes of another order or rater."""
    for column in outcomes:
        if column.name != draft.outcome and are_related(draft.outcome or "", column.name):
            draft.add(RELATED, "left_out_alike", column.name)


def on_scale(
    table: Table,
    stated: StatedRoles,
    sides: tuple[Column, Column],
    outcomes: Sequence[Column],
) -> Iterator[Draft]:
    """Readings with a preference on a scale, in a column that has no other `outcomes`."""
    of_sides = names_of_sides([*table.by_name])
    free = [c for c in table.columns if c not in (*sides, *outcomes) and c.is_ratings]
    # A score of each of the two systems is no preference.
    free = [c for c in free if c.name not in of_sides or c.name in stated.columns]
    yield from _of_raters(stated, sides, free)
    yield from _in_both_orders(stated, sides, free)
    for column in free:
        has_degrees = not outcomes and bool(scale_of_labels(column.distinct))
        is_exact = column.name.strip().casefold() in OUTCOMES
        is_of_side = not outcomes and bool(order_of_truth(column.name, column.distinct))
        is_named = is_exact or has_degrees or is_of_side
        is_named = is_named or (not outcomes and sense_of(column.name) > 0)
        is_outcome = is_named or (fit(column.name, "label") == 1 and not outcomes)
        if column.name != stated.outcome and not (is_outcome and not stated.outcome):
            continue
        draft = Draft("pairs-on-scale", sides=(sides[0].name, sides[1].name), outcome=column.name)
        draft.ends = stated.ends or known_ends(column, sides) if not stated.scale else None
        draft.add(16, "preferences", column.name)
        add_related_left_out(draft, [] if stated.outcome else free)
        is_unclear = column.is_number and not draft.ends
        draft.add(
            POINTS * (1 + is_named - is_unclear), "sides", f"{sides[0].name}, {sides[1].name}"
        )
        is_declared = stated.scale and column.folded <= {w.casefold() for w in stated.scale}
        draft.add(5.0 * bool(is_declared), "preferences", column.name)
        draft.numbers = ("scale", column.name)
        yield draft


def _of_raters(
    stated: StatedRoles, sides: tuple[Column, Column], free: Sequence[Column]
) -> Iterator[Draft]:
    """The reading with preferences on a scale in a column of each rater."""
    names = tuple(column.name for column in free if kinds(column.name)["rater"] >= RATER)
    rated = stated.raters if len(stated.raters) > 1 else names
    columns = [column for column in free if column.name in rated]
    if len(rated) < 2 or len(columns) < len(rated) or stated.outcome:
        return
    draft = Draft("pairs-on-scale", rated=rated, sides=(sides[0].name, sides[1].name))
    draft.ends = None if stated.scale else stated.ends
    has_degrees = all(scale_of_labels(column.distinct) for column in columns)
    draft.add(16 + 2 * POINTS * has_degrees, "preferences", ", ".join(rated))
    draft.numbers = ("scale", *rated)
    yield draft


def _in_both_orders(
    stated: StatedRoles, sides: tuple[Column, Column], free: Sequence[Column]
) -> Iterator[Draft]:
    """Readings with preferences on a scale in each of the two orders."""
    names = [column.name for column in free]
    pairs: Iterable[tuple[str, str]] = () if stated.outcome else pairs_of_orders(names)
    if stated.outcome in names and stated.second_outcome in {*names} - {stated.outcome}:
        pairs = [(stated.outcome, stated.second_outcome)]
    for first, second in pairs:
        draft = Draft("pairs-on-scale", sides=(sides[0].name, sides[1].name), outcome=first)
        draft.second_outcome = second
        draft.add(16, "preferences", f"{first}, {second}")
        draft.add(2 * POINTS, "orders", f"{first}, {second}")
        draft.numbers = ("scale", first, second)
        yield draft


def known_ends(column: Column, sides: tuple[Column, Column]) -> tuple[float, float] | None:
    """The numbers of a full preference for the first and for the second of systems 1 and 2."""
    are_numbered = all(c.name.endswith(n) for c, n in zip(sides, "12", strict=True))
    is_preference = column.is_number and column.name.casefold() in PREFERENCES
    if are_numbered and is_preference and 1 <= column.range[0] <= column.range[1] <= 2:
        return 1.0, 2.0
    return None
