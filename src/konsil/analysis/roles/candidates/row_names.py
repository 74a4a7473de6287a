"""Two columns that together name the rows: of units, or of raters and their rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, takewhile

from konsil.analysis.roles.candidates.counts import are_of_systems
from konsil.analysis.roles.candidates.families import word_behind
from konsil.analysis.roles.candidates.leftover import OF_A_RATING, OTHER_ROLES
from konsil.analysis.roles.columns import Column, Table
from konsil.analysis.roles.evidence import Draft, shortened
from konsil.analysis.roles.names import best_fit, fit, words
from konsil.analysis.roles.reading import TableReading
from konsil.analysis.roles.vocabulary import NAMED, NameRole
from konsil.errors import choice
from konsil.errors.message import TranslatableMessage, listed, message

_BESIDE_UNIT: tuple[NameRole, ...] = ("system", "repeat", "unit")
"""What a column that names the rows together with that of the units can be named for."""


def pair_of_unit(table: Table, rest: Sequence[Column]) -> tuple[str, str] | None:
    """Two columns, such as question and system, that together name each row.

    Not both are systems or rounds.
    """
    free = [
        c for c in rest if not c.is_long and not c.is_date and 1 < len(c.distinct) < table.n_rows
    ]
    fits = {
        (a.name, b.name): max(
            fit(a.name, "unit") + best_fit(b.name, _BESIDE_UNIT),
            fit(b.name, "unit") + best_fit(a.name, _BESIDE_UNIT),
        )
        for a, b in combinations(free[:10], 2)
        if table.is_key((a.name, b.name))
    }
    best = max(fits, key=lambda pair: fits[pair], default=None)
    return best if best and fits[best] >= 1.7 else None


def is_named_but_last(column: Column) -> bool:
    """Whether a column named for units has another value in each row, and none in the last."""
    n = len(column.cells) - 1
    is_open = len(column.distinct) == len(column.filled) == n > 1 and not column.cells[-1]
    return is_open and fit(column.name, "unit") >= 0.7


def rater_with_rounds(table: Table, rest: Sequence[Column]) -> tuple[str, str] | None:
    """A column of raters with several rows each, and the one that tells these rows apart."""
    raters = [c for c in rest if fit(c.name, "rater") >= 0.7 and c.is_full]
    pairs = (
        (rater.name, other.name)
        for rater in raters
        for other in rest
        if best_fit(other.name, ("system", "repeat", "group")) >= 0.7
        and other is not rater
        and not other.is_unique
        and table.is_key((rater.name, other.name))
    )
    return next(pairs, None)


def take_pair(draft: Draft, pair: tuple[str, str]) -> None:
    """Name the rows by two columns, such as question and system, or patient and round."""
    first, second = sorted(pair, key=lambda name: best_fit(name, ("system", "repeat")))
    draft.units = pair
    draft.system = second if fit(second, "system") else None
    draft.add(0.8, "two_columns_name_unit", ", ".join(pair))
    if draft.system is None and fit(second, "repeat"):
        draft.units, draft.repeat = (first,), second
        draft.add(-1, "rows_of_rounds", second)
    elif draft.system is None:
        add_rows_of(draft, first, points=-1.0)


def add_rows_of(draft: Draft, name: str, points: float = -3.0) -> None:
    """The column of units with several rows: these are no independent ones."""
    draft.add(points, "unit_has_rows", name)
    if fit(name, "unit") >= 0.7 and draft.shape in {"wide", "rater-by-criterion"}:
        draft.cluster = name


def add_repeated(draft: Draft, column: Column) -> None:
    """The column of units with several rows, or with two of a few units, which is asked."""
    add_rows_of(draft, column.name, points=-0.5 if column.is_nearly_unique else -3.0)
    if column.is_nearly_unique and draft.cluster == column.name:
        draft.roles[column.name] = "cluster"


def unclear_units(table: Table, reading: TableReading) -> Iterator[TranslatableMessage]:
    """What is asked of what names the rows: a unit with two of them, and systems beside counts."""
    cluster = table.by_name.get(reading.cluster or "")
    if cluster is not None and cluster.is_nearly_unique and not cluster.is_unique:
        (value, n), *_ = Counter(cluster.filled).most_common(1)
        yield message(
            "{value} is in {n:,} {n|row|rows} of {column}, and most other values are in one: if a"
            " unit is there twice, leave a row out of the table.",
            message_id="roles.unit_twice",
            value=repr(shortened(value)),
            n=n,
            column=shortened(cluster.name),
        )
    units = [table.by_name[name] for name in reading.units if name in table.by_name]
    if reading.shape == "counts" and any(map(are_of_systems, units)):
        yield message(
            "The rows are systems ({cells}): {columns} may count their answers, and agreement is"
            " only that of raters; {layout} states that each number is one of raters.",
            message_id="roles.counts_of_systems",
            cells=listed([repr(cell) for cell in units[0].distinct[:_MOST_SHOWN]]),
            columns=listed([shortened(name) for name in reading.rated]),
            layout=choice("layout", "counts"),
        )


_MOST_SHOWN = 4
"""Systems that a sentence names."""


def names_of_others(names: Sequence[str]) -> list[str]:
    """Names among those of raters with a further word, as for the confidence of one of them.

    >>> names_of_others(["dr_a", "dr_b", "dr_b_sure"])
    ['dr_b_sure']
    >>> names_of_others(["label (expert 1)", "label (expert 2)", "confidence (expert 2)"])
    ['confidence (expert 2)']
    """
    apart = [n for n in names if best_fit(n, OF_A_RATING) >= NAMED]
    apart = apart if len(apart) < len(names) else []
    return [name for name in names if name in apart or word_behind(name, names)]


def add_names_beside(draft: Draft, rest: Sequence[Column]) -> None:
    """Columns that are numbered like others beside them, and named for raters, may name these.

    In annotator_1, annotator_2 beside tone_1, tone_2 the latter are rated.
    """
    ours = [words(name) for name in draft.rated]
    n_common = len([*takewhile(lambda same: len({*same}) == 1, zip(*ours, strict=False))])
    ends = {parts[n_common:] for parts in ours}
    if () in ends or any(fit(name, "rater") < 1 for name in draft.rated):
        return
    ends_by_head: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for column in rest:
        parts = words(column.name)
        end = next((end for end in ends if parts[-len(end) :] == end != parts), None)
        if end and column.is_ratings and best_fit(column.name, OTHER_ROLES) < NAMED:
            ends_by_head.setdefault(parts[: -len(end)], set()).add(end)
    is_beside = any(numbered == ends for numbered in ends_by_head.values())
    draft.add(-6.0 * is_beside, "may_name_raters", ", ".join(draft.rated))
