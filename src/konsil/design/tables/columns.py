"""Columns of a user's table, and what they can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Role = Literal[
    "unused",
    "item",
    "text",
    "reference",
    "stratum",
    "system",
    "answer",
    "answer_of",
    "rater",
    "criterion",
    "label",
    "label_of_criterion",
    "label_of_rater",
    "label_of_both",
    "label_of_item",
    "count",
    "row_label",
    "system_a",
    "system_b",
    "seconds",
    "note",
    "repeat",
    "own",
]
"""What a column holds. `answer_of`: the answers of the system that the column is named for;
`label_of_both`: the ratings by a rater on a criterion, and `label_of_item`: those of an item, both
named in the heading; `count`: how often the label in the heading was chosen, in a cross table
beside a `row_label` of the other rater; `own`: a further field of konsil's, under its own name."""
REPEATABLE: frozenset[Role] = frozenset(
    (
        *("unused", "own", "stratum", "answer_of", "label_of_criterion", "label_of_rater"),
        *("label_of_both", "label_of_item", "count"),
    )
)
"""Roles that several columns of a table can have."""

OWN_OF: Mapping[str, frozenset[str]] = {
    "items": frozenset({"aliases", "case", "sets"}),
    "answers": frozenset({"reasoning", "citations"}),
    "ratings": frozenset(
        {"state", "confidence", "at", "arm", "phase", "batch", "purpose", "repeat", "task"}
        | {"instrument", "digest", "answer_a", "answer_b", "span_start", "span_end", "sentence"}
    ),
}
OWN = frozenset(name for names in OWN_OF.values() for name in names)
"""Fields of konsil's without a role: read from the columns of these very names; those of each
kind of records are in `OWN_OF`."""


@dataclass(frozen=True)
class Column:
    """One column: its name and its cells, None where a cell is empty."""

    name: str
    values: Sequence[str | None]

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """The cells that are not empty."""
        return tuple(value for value in self.values if value is not None and value.strip())

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Its different values, in the order of the file."""
        return tuple(dict.fromkeys(self.filled))
