"""A tool's export as a table with a row for each annotation, and the roles of its columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import polars as pl

from konsil.errors import SourceError
from konsil.sources.files.cells import as_text
from konsil.sources.files.table import Table

Json = Mapping[str, Any]

LONGEST = 60
"""Letters of the longest label; longer cells are texts."""
_FEWEST = 8
"""Different words from which on cells can be texts that never recur."""


@dataclass(frozen=True)
class Export:
    """A table as a tool wrote it."""

    tool: str
    """The tool's name."""
    table: Table
    """One row for each annotation, or as the file has it."""
    layout: Literal["wide", "long", "raters-in-rows"] | None = None
    """How the ratings are laid out; None: not known."""
    units: tuple[str, ...] = ()
    """Columns of the units."""
    raters: tuple[str, ...] = ()
    """The column of the raters, or the raters' columns."""
    labels: tuple[str, ...] = ()
    """Columns of the labels."""
    unused: tuple[str, ...] = ()
    """Columns that are no ratings."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """What has no rating, in the singular -> how often it occurs."""
    question: str = ""
    """What only the user knows of the roles, in a sentence; empty where the tool states them."""

    is_of_one: bool = False
    """Whether the tool writes a file for each rater, and this is a single one."""

    @property
    def statement(self) -> str:
        """Whose export it is, and what of it is not read."""
        counts = ", ".join(f"{n:,} {kind}{'s'[: n != 1]}" for kind, n in self.left_out.items() if n)
        return f"{self.tool}'s export" + (f" without {counts}" if counts else "")


class Annotations:
    """Collects a row for each annotation: what is rated, by whom, and the label of each control."""

    def __init__(self, tool: str, table: Table, unit: str, rater: str) -> None:
        self._tool, self._table, self._unit, self._rater = tool, table, unit, rater
        self._rows: list[dict[str, str | None]] = []
        self._answers: list[Mapping[str, Sequence[object]]] = []
        self._lines: list[int] = []
        self.left_out: Counter[str] = Counter()

    def add(
        self,
        place: tuple[int, object, object],
        answers: Mapping[str, Sequence[object]],
        about: Mapping[str, object] | None = None,
    ) -> None:
        """Add an annotation.

        `place`: index of the table's row, unit and rater. `answers`: control -> the labels given.
        `about`: other facts about the unit, of which single values become columns.
        """
        row, unit, rater = place
        facts = {name: as_text(v) for name, v in (about or {}).items() if not _is_nested(v)}
        names = {self._unit: as_text(unit), self._rater: as_text(rater)}
        self._rows.append({**facts, **names})
        self._answers.append(answers)
        self._lines.append(self._table.line(row))

    def export(self) -> Export:
        """The annotations as a table, whose units, raters and labels are known."""
        where = self._table.name
        fixed = [self._unit, self._rater]
        names = dict.fromkeys(name for answers in self._answers for name in answers)
        if clash := names.keys() & {*fixed}:
            raise SourceError(
                f"{where}: the labels {min(clash)!r} have the name of another column of"
                f" {self._tool}'s export; rename them there"
            )
        cells_by_name = {name: self._cells(name) for name in names}
        controls = {name: cells for name, cells in cells_by_name.items() if any(cells)}
        texts = [name for name, cells in controls.items() if is_text(cells)]
        self.left_out["column of texts"] += len(texts)
        rated = [name for name in controls if name not in texts]
        if not rated:
            raise SourceError(
                f"{where}: {self._tool}'s export contains no label of a whole unit; marked parts,"
                " rankings and texts are not compared"
            )
        self._refuse_unknown_raters(where)
        facts = dict.fromkeys(name for row in self._rows for name in row)
        others = [name for name in facts if name not in {*fixed, *controls}]
        frame = pl.DataFrame(
            {
                **{name: [row.get(name) for row in self._rows] for name in (*fixed, *others)},
                **controls,
            },
            schema=dict.fromkeys((*fixed, *others, *controls), pl.String),
        )
        single = [name for name in rated if not self._has_several(name)]
        # Sets of labels are compared by themselves, not beside single labels.
        labels = tuple(single or rated)
        return Export(
            self._tool,
            replace(self._table, frame=frame, lines=tuple(self._lines)),
            "long",
            (self._unit,),
            (self._rater,),
            labels,
            left_out=self.left_out,
        )

    def _refuse_unknown_raters(self, where: str) -> None:
        if not any(row[self._rater] for row in self._rows):
            raise SourceError(
                f"{where}: {self._tool}'s export contains no annotation whose rater is known"
                f" ({self._rater}); export the annotations of all raters with their names"
            )

    def _has_several(self, name: str) -> bool:
        return any(len(answers.get(name, ())) > 1 for answers in self._answers)

    def _cells(self, name: str) -> list[str | None]:
        """The labels of a control; lists in JSON where an annotation has several."""
        cells = [[as_text(v) for v in answers.get(name, ())] for answers in self._answers]
        if self._has_several(name):
            return [json.dumps(labels, ensure_ascii=False) if labels else None for labels in cells]
        return [labels[0] if labels else None for labels in cells]


def _is_nested(value: object) -> bool:
    return value is None or isinstance(value, list | dict)


def is_text(cells: Sequence[str | None]) -> bool:
    """Whether cells are texts and no labels: words, or long texts, that hardly recur."""
    words = [cell for cell in cells if cell]
    distinct = {*words}
    if all(map(is_number, distinct)):
        return False
    has_long = any(len(word) > LONGEST and not word.startswith("[") for word in distinct)
    is_varied = len(distinct) >= _FEWEST and len(distinct) > 0.8 * len(words)
    return is_varied or (has_long and 2 * len(distinct) > len(words))


def is_number(word: str) -> bool:
    """Whether a label is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def rows_of(table: Table) -> Iterator[tuple[int, Json]]:
    """The rows as objects, with their indices; cells that are lists or objects are parsed."""
    for row, cells in enumerate(table.frame.iter_rows(named=True)):
        yield row, {name: _parsed(cell) for name, cell in cells.items() if cell is not None}


def _parsed(cell: str) -> object:
    """A cell's list or object; any other cell as it is."""
    if cell[:1] not in ("[", "{"):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def objects(value: object) -> list[Json]:
    """The objects of a list, or none."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []
