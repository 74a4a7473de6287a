"""Further columns of Real-POCQi's public tables: which become strata, which do not, and what the tables do not tell.

The schema is public in part only. What is not known of it is read with care and told: nobody should learn from a figure
that a column was missing, nor find addresses in a table of raters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from konsil.records import Source
from konsil.sources.pocqi_files import NEEDED, Row, Rows, Tables

TEXTS = ("text", "question", "question_text")
"""What the column of the questions' texts may be called; the first that says something counts."""
UNTOLD = {"source": "real-pocqi", "theme": "untagged"}
"""Strata that every item has: these where the tables do not tell."""
EXPOSURE = {"exposure": "unknown"}
"""The same for raters."""
_READ_TOO = {"qa_assignments": {"completed_at"}, "machineRatings": {"variant", "subversion"}}
_FEWEST, _OWN = 10, 0.9
"""A column with so many entries, of which this share differs, tells rows apart and groups nothing."""


@dataclass(frozen=True)
class Strata:
    """The strata of one table's rows."""

    names: Mapping[str, str]
    """Column -> stratum, of those that are kept."""
    untold: Mapping[str, str]
    """Strata that every row has, with what it says where the table does not."""
    alone: tuple[str, ...] = ()
    """Columns left out, because nearly every row has an entry of its own there."""

    def of(self, row: Row) -> dict[str, str]:
        """A row's strata."""
        return dict(self.untold) | {name: row[c] for c, name in self.names.items() if row.get(c)}


def texts(source: Source) -> tuple[str, ...]:
    """The columns that may hold a question's text."""
    return tuple(source.columns.get("text") or TEXTS)


def strata(rows: Rows, own: Collection[str], untold: Mapping[str, str], source: Source) -> Strata:
    """The columns that the source names, else all that group; renamed where `columns` says so."""
    renamed = {columns[0]: name for name, columns in source.columns.items() if columns and name != "text"}
    meant = {"specialty", *untold, *renamed, *source.strata}
    names, alone = {}, []
    for column in _columns(rows):
        if column in own or (source.strata and column not in source.strata):
            continue
        said = [row[column] for row in rows if row[column]]
        if column not in meant and len(said) >= _FEWEST and len(set(said)) >= _OWN * len(said):
            alone.append(column)
        else:
            names[column] = renamed.get(column, column)
    return Strata(names, untold, tuple(alone))


def notes(tables: Tables, of_items: Strata, of_raters: Strata, source: Source) -> Iterator[str]:
    """What is worth a look: one sentence each."""
    for rows, found in ((tables.questions, of_items), (tables.users, of_raters)):
        for name, said in found.untold.items():
            if name not in found.names.values():
                yield (
                    f"{rows.name}: there is no column {name!r}, so that all say {said!r}; where it has another name,"
                    f' write columns = {{ {name} = "..." }} in the study\'s [[sources]]'
                )
        further = [n for n in found.names.values() if n not in found.untold and n != "specialty"]
        if further:
            yield f"{rows.name}: further columns are strata: {', '.join(further)}"
        if found.alone:
            yield (
                f"{rows.name}: no strata, since nearly every row has its own entry: {', '.join(found.alone)};"
                " to keep some, name all that are wanted under strata"
            )
    if not any(row.get(name) for row in tables.questions for name in texts(source)):
        yield f"{tables.questions.name}: no question has a text; expected one in a column {' or '.join(texts(source))}"
    for name, rows in tables.by_name().items():
        unread = [c for c in _columns(rows) if c not in {*NEEDED[name], *_READ_TOO.get(name, ())}]
        if unread and rows not in (tables.questions, tables.users):
            yield f"{rows.name}: not read: {', '.join(unread)}"
        if name == "machineRatings" and rows.rows and not {"variant", "subversion"} & {*_columns(rows)}:
            yield f"{rows.name}: there is no column 'variant' or 'subversion', so that judges count for the text arm"
        if rows.table is None:
            lacks = "analyses of lengths have" if name == "answer_lengths" else "judges have"
            yield f"there is no table {name}, so that {lacks} nothing to go by"


def _columns(rows: Rows) -> tuple[str, ...]:
    return tuple(rows.table.frame.columns) if rows.table is not None else ()
