"""A table of marks in the narratives of cases.

A mark is given by its offsets, or by its words and the number of their occurrence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import get_args

from konsil.errors import SourceError, in_short, nearest
from konsil.prepare.cases.masking import Mark, MarkKind
from konsil.records import Item
from konsil.sources.files.table import Table

COLUMNS = ("case", "kind", "rank", "start", "end", "text", "occurrence", "replacement")
"""The columns of a table of marks; start and end may be missing, or text and occurrence."""


def read_marks(
    table: Table, case_by_id: Mapping[str, Item], out: Collection[str] = ()
) -> dict[str, list[Mark]]:
    """Case -> its marks.

    A row without a kind says nothing; a SourceError lists every row that cannot be read.

    `text` alone is enough where it occurs once; `occurrence` says which time, from 1, or 'all'.
    Where offsets are given as well, the text has to be what stands there. Rows of the cases in
    `out` are passed over.
    """
    columns = table.frame.columns
    for needed in ("case", "kind"):
        if needed not in columns:
            raise SourceError(
                f"{table.name}: there is no column {needed!r}; {nearest(needed, columns)}"
            )
    for column in columns:
        near = nearest(column, COLUMNS)
        if column not in COLUMNS and near.startswith("did you mean"):
            raise SourceError(
                f"{table.name}: there is no column {column!r} in a table of marks; {near}"
            )
    marks_by_case: dict[str, list[Mark]] = {}
    problems: list[str] = []
    for n, row in enumerate(table.frame.iter_rows(named=True)):
        cells = {name: str(row.get(name) or "").strip() for name in COLUMNS}
        cells["text"] = str(row.get("text") or "")
        if not cells["kind"] or cells["case"] in out:
            continue
        try:
            marks_by_case.setdefault(cells["case"], []).extend(_marks(cells, case_by_id))
        except SourceError as error:
            problems.append(f"{table.place} {table.line(n)}: {error}")
    if problems:
        raise SourceError(
            f"{table.name}: {in_short(problems)}",
            [f"{table.name}: {problem}" for problem in problems],
        )
    return marks_by_case


def occurrence_of(narrative: str, mark: Mark) -> tuple[str, int]:
    """The words of a mark, and which time they occur, from 1.

    >>> occurrence_of("rash, then a rash", Mark(13, 17, "cue", 1))
    ('rash', 2)
    """
    text = narrative[mark.start : mark.end]
    return text, next(
        (n for n, (at, _) in enumerate(_occurrences(narrative, text), 1) if at == mark.start), 0
    )


def _marks(cells: Mapping[str, str], case_by_id: Mapping[str, Item]) -> list[Mark]:
    case, kind = cells["case"], cells["kind"]
    if case not in case_by_id:
        raise SourceError(f"there is no case {case!r} to be masked; {nearest(case, case_by_id)}")
    if kind not in get_args(MarkKind):
        raise SourceError(f"{kind!r} is not a kind of mark; {nearest(kind, get_args(MarkKind))}")
    rank = _count(cells, "rank") if cells["rank"] else 0
    narrative = case_by_id[case].text
    has_offsets = cells["start"] or cells["end"]
    places = [_offsets(cells, narrative)] if has_offsets else _quoted(cells, narrative)
    # `kind` was compared with the kinds above.
    return [
        Mark(start, end, kind, rank, cells["replacement"])  # type: ignore[arg-type]
        for start, end in places
    ]


def _offsets(cells: Mapping[str, str], narrative: str) -> tuple[int, int]:
    start, end = _count(cells, "start"), _count(cells, "end")
    excerpt, text = narrative[start:end], cells["text"]
    # An apostrophe in front may be the one that keeps a spreadsheet from calculating the text.
    if text and _with_single_spaces(excerpt) not in (
        _with_single_spaces(text),
        _with_single_spaces(text.removeprefix("'")),
    ):
        raise SourceError(f"{text!r} is not at {start}-{end}, where the narrative has {excerpt!r}")
    return start, end


def _quoted(cells: Mapping[str, str], narrative: str) -> list[tuple[int, int]]:
    text = cells["text"].strip()
    if not text:
        raise SourceError(
            "has neither the position nor the text of the mark; expected start and end, or text"
        )
    places = _occurrences(narrative, text) or _occurrences(narrative, text.removeprefix("'"))
    if not places:
        raise SourceError(f"{text!r} does not occur in the narrative of {cells['case']!r}")
    if cells["occurrence"].lower() == "all":
        return places
    if not cells["occurrence"]:
        if len(places) > 1:
            raise SourceError(
                f"{text!r} occurs {len(places)} times; state which one in occurrence, or 'all'"
            )
        return places
    n = _count(cells, "occurrence")
    if not 1 <= n <= len(places):
        raise SourceError(
            f"{text!r} occurs {len(places)} times; expected an occurrence from 1, got {n}"
        )
    return [places[n - 1]]


def _occurrences(narrative: str, text: str) -> list[tuple[int, int]]:
    spans, at = [], narrative.find(text) if text else -1
    while at >= 0:
        spans.append((at, at + len(text)))
        at = narrative.find(text, at + len(text))
    return spans


def _count(cells: Mapping[str, str], column: str) -> int:
    text = cells[column].removesuffix(".0")
    if not text.isdecimal():
        raise SourceError(f"{column} is {cells[column]!r}; expected a whole number from 0")
    return int(text)


def _with_single_spaces(text: str) -> str:
    return " ".join(text.split())
