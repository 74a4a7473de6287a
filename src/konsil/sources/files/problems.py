"""Problems of a file, row by row, and the one sentence that reports them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from konsil.errors import SourceError, in_short
from konsil.errors.message import message
from konsil.errors.places import Place, problem_at

MOST = 100_000
"""Rows that cannot be read after which a file is not read on."""

R = TypeVar("R")

_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?ref="([A-Z]+\d+:[A-Z]+\d+)"')
_UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+\d+)"[^>]{0,200}><f[^>]{0,200}>[^<]{0,9000}</f>(?:<v\s*/>|<v></v>)?</c>'
)
_HIDDEN = re.compile(rb'<(?:\w+:)?(row|col)(?=\s[^>]{0,300}?\bhidden="(?:1|true)")(\s[^>]{0,300})>')
_PLACE = re.compile(rb'\b(r|min|max)="(\d+)"')
_MOST_COLUMNS = 4_096


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a row from being read."""

    line: int
    """Where it is, as an editor or a spreadsheet counts."""
    column: str
    """The column or field it is about; empty: the whole row."""
    sentence: str
    """The value that was read and the value expected, without the place."""
    place: Place = "line"
    """Text files have lines, spreadsheets and Parquet files have rows, Label Studio's exports have
    tasks."""

    def __str__(self) -> str:
        """The whole sentence, with its place.

        >>> str(Problem(5, "seconds", "'soon' is not a number"))
        "line 5: seconds: 'soon' is not a number"
        """
        return problem_at(self.place, self.line, self.sentence, self.column)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[R]):
    """Records read from a table; there are none while there are problems."""

    records: tuple[R, ...]
    """In the order of their first rows."""
    lines: tuple[int, ...]
    """The line of each record, parallel to `records`."""
    problems: tuple[Problem, ...] = ()
    """The problems, in the order of the file."""
    place: Place = "line"
    """The unit that `lines` count."""
    rows: int = 0
    """How many rows (of a table) or tasks (of Label Studio) the file has, for `raise_if`."""


def raise_if(problems: Iterable[Problem], name: str, rows: int) -> None:
    """Raise one SourceError for all problems of a file with so many rows.

    Say nothing when there are none.
    """
    sorted_problems = sorted(problems, key=lambda p: p.line)
    if not sorted_problems:
        return
    sentences = [str(p) for p in sorted_problems]
    bad = len({p.line for p in sorted_problems})
    sentence = message(
        "{name}: {count} cannot be read; nothing was imported: {problems}",
        message_id="problems.of_file",
        name=name,
        count=_counted(bad, rows, is_task=sorted_problems[0].place == "task"),
        problems=in_short(sentences),
    )
    raise SourceError(sentence, sentences)


def _counted(bad: int, rows: int, *, is_task: bool) -> str:
    """How many rows or tasks; who does not know how many there are says 0."""
    if rows < bad and is_task:
        return message("{n:,} {n|task|tasks}", message_id="problems.tasks", n=bad)
    if rows < bad:
        return message("{n:,} {n|row|rows}", message_id="problems.rows", n=bad)
    if is_task:
        return message(
            "{n:,} of {total:,} {total|task|tasks}",
            message_id="problems.of_tasks",
            n=bad,
            total=rows,
        )
    return message(
        "{n:,} of {total:,} {total|row|rows}", message_id="problems.of_rows", n=bad, total=rows
    )


@dataclass(frozen=True)
class LookOfCells:
    """Merged cells and formulas without a result: they would be read as empty, as not rated.

    The read-only sheet reports neither, and the full one takes fifty times the memory.
    """

    where: str
    sheet: str
    formula: str
    """The first formula without a stored result; empty: there is none."""
    merged: tuple[str, ...]
    """The ranges of merged cells."""
    hidden: tuple[tuple[int, ...], tuple[int, ...]]
    """The numbers of hidden rows and columns."""

    @classmethod
    # openpyxl has no types.
    def of(cls, path: Path, page: Any, where: str) -> LookOfCells:  # noqa: ANN401
        """What a sheet has of them."""
        with zipfile.ZipFile(path) as packed, packed.open(page._worksheet_path) as xml:
            return cls(where, page.title, *_faults(xml))

    def hidden_words(self, rows: Sequence[int], width: int) -> tuple[str, ...]:
        """The hidden rows and columns that are read nevertheless."""
        from openpyxl.utils import get_column_letter

        n = len({*rows} & {*self.hidden[0]})
        words = [f"{n:,} hidden {'row is' if n == 1 else 'rows are'} included"] if n else []
        letters = [get_column_letter(c) for c in self.hidden[1] if c <= width]
        return (*words, *(f"the hidden column {letter} is included" for letter in letters))

    def refuse(self, above: int) -> None:
        """Refuse a sheet that has any; merged cells in rows up to `above` are no ratings.

        Names that stand over several columns are merged cells in the upper rows of names.
        """
        if self.formula:
            raise SourceError(
                message(
                    "{where}: sheet {sheet!r}: cell {formula} is a formula without a stored result;"
                    " open the file in a spreadsheet program and save it, or write the value",
                    message_id="file.formula",
                    where=self.where,
                    sheet=self.sheet,
                    formula=self.formula,
                )
            )
        for ref in self.merged:
            first, last = (int(re.sub(r"\D", "", cell)) for cell in ref.split(":"))
            if last > above:
                raise SourceError(self._merged(ref, is_header=first == above + 1))

    def _merged(self, ref: str, *, is_header: bool) -> str:
        if is_header:
            return message(
                "{where}: sheet {sheet!r}: the header cells {ref} are merged; unmerge them and"
                " write the value into each",
                message_id="file.merged_header",
                where=self.where,
                sheet=self.sheet,
                ref=ref,
            )
        return message(
            "{where}: sheet {sheet!r}: the cells {ref} are merged; unmerge them and write the value"
            " into each",
            message_id="file.merged",
            where=self.where,
            sheet=self.sheet,
            ref=ref,
        )


def _faults(
    xml: IO[bytes],
) -> tuple[str, tuple[str, ...], tuple[tuple[int, ...], tuple[int, ...]]]:
    """The first formula without a result, the ranges of merged cells, hidden rows and columns."""
    tail, formula, merged = b"", "", dict[str, None]()
    hidden = dict[int, None](), dict[int, None]()
    while piece := xml.read(1 << 20):
        window = tail + piece
        if not formula and (match := _UNCOMPUTED.search(window)):
            formula = match.group(1).decode()
        merged |= dict.fromkeys(m.group(1).decode() for m in _MERGED.finditer(window))
        for kind, tag in _HIDDEN.findall(window):
            hidden[kind == b"col"].update(dict.fromkeys(_numbers(tag)))
        tail = window[-(1 << 14) :]
    return formula, tuple(merged), (tuple(hidden[0]), tuple(hidden[1]))


def _numbers(tag: bytes) -> Iterable[int]:
    """The number of the row, or those of the columns, that a tag is about."""
    places = {name: int(number) for name, number in _PLACE.findall(tag)}
    if b"r" in places:
        return [places[b"r"]]
    first = places.get(b"min", 1)
    return range(first, min(places.get(b"max", first), first + _MOST_COLUMNS) + 1)
