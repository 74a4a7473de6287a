"""The files of Real-POCQi's public tables: their names, columns and rows.

A column may have any of several names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records import Source
from konsil.records.source import FileSettings
from konsil.sources.files.problems import Problem
from konsil.sources.files.table import Table, read_table

CHOICES = ("strongly_a", "slightly_a", "tie", "slightly_b", "strongly_b")
"""The choices, from A's side to B's."""
ENDINGS = (".csv", ".parquet", ".jsonl", ".tsv")
"""What the tables may be, tried in this order."""
NEEDED = {
    "qa_questions": ("id", "specialty"),
    "qa_assignments": ("id", "user_id", "question_id", "slot_a_provider", "slot_b_provider"),
    "ratings": ("qa_assignment_id", "axis", "choice", "submission_time_seconds"),
    "users": ("id", "subversion"),
    "qa_answers": ("id", "question_id", "provider_key"),
    "answer_lengths": ("answer_id", "answer_len"),
    "machineRatings": ("assignmentId", "grader", "choices"),
    "prior_users": ("id",),
    "recruitment_combined": ("email", "status"),
    "tagged_questions": ("id", "primary_question_type"),
}
"""Table -> the columns that it must have."""
OPTIONAL = (
    "qa_answers",
    "answer_lengths",
    "machineRatings",
    "prior_users",
    "recruitment_combined",
    "tagged_questions",
)
"""Tables without which the others can be read."""
BLINDED = "blinded_"
"""How the names of the authors' blinded tables begin: their systems are letters."""
ALIASES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "qa_questions": {"id": ("question_id",)},
    "qa_assignments": {
        "id": ("qa_assignment_id", "assignment_id"),
        "slot_a_provider": ("slot_a_vendor", "provider_a", "vendor_a", "system_a"),
        "slot_b_provider": ("slot_b_vendor", "provider_b", "vendor_b", "system_b"),
    },
    "ratings": {"qa_assignment_id": ("assignment_id",), "submission_time_seconds": ("seconds",)},
    "users": {"id": ("user_id",)},
    "qa_answers": {"id": ("answer_id",), "provider_key": ("provider", "vendor", "system")},
    "answer_lengths": {"answer_id": ("id",), "answer_len": ("answer_length", "length")},
    "machineRatings": {"assignmentId": ("qa_assignment_id",)},
    "prior_users": {"id": ("user_id",)},
    "recruitment_combined": {"status": ("oe_status",)},
    "tagged_questions": {"id": ("question_id",)},
}
"""Table -> column -> other names under which it is read; capitals, spaces and underscores make no
difference."""


class Row(dict[str, str]):
    """A row: column -> text, empty where there is none."""

    line = 0
    """Its line in the file."""


@dataclass(frozen=True)
class Rows:
    """One table's rows."""

    name: str
    """The file's name."""
    rows: Sequence[Row] = ()
    """In the file's order."""
    table: Table | None = None
    """The table; None where there is none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column as it is read -> its name in the file."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def problem(self, row: Row, column: str, sentence: str) -> Problem:
        """A problem of a row, with its place; the column has its name in the file."""
        name, dot, rest = column.partition(".")
        place = self.table.place if self.table is not None else "line"
        return Problem(row.line, self.columns.get(name, name) + dot + rest, sentence, place)


@dataclass(frozen=True)
class Tables:
    """All tables of a folder, in the order of `NEEDED`."""

    questions: Rows
    """qa_questions."""
    assignments: Rows
    """qa_assignments."""
    ratings: Rows
    """ratings."""
    users: Rows
    """users."""
    answers: Rows
    """qa_answers; none where the file is absent: then every slot implies an answer."""
    lengths: Rows
    """answer_lengths; none where the file is absent."""
    machine: Rows
    """machineRatings; likewise."""
    prior: Rows
    """prior_users; likewise."""
    recruitment: Rows
    """recruitment_combined; likewise."""
    themes: Rows
    """tagged_questions; likewise."""

    def by_name(self) -> dict[str, Rows]:
        """The tables by what they are called in the schema."""
        tables = (
            self.questions,
            self.assignments,
            self.ratings,
            self.users,
            self.answers,
            self.lengths,
            self.machine,
            self.prior,
            self.recruitment,
            self.themes,
        )
        return dict(zip(NEEDED, tables, strict=True))


def read_tables(folder: Path, source: Source) -> Tables:
    """Read the tables of a folder.

    One that is missing, or lacks a column or an identifier, is one SourceError.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder.name}: is not a folder; 'real-pocqi' reads a folder with the tables"
            f" {', '.join(NEEDED)}, or one flat table"
        )
    # Names and letters of systems must not be mixed: one set of tables is read, the other fills in
    # what has no systems.
    blinded = (
        _file(folder, "qa_assignments") is None
        and _file(folder, BLINDED + "qa_assignments") is not None
    )
    mapping = Mapped(source.columns)
    tables = Tables(
        *(_rows(folder, name, mapping, source.encoding, blinded=blinded) for name in NEEDED)
    )
    mapping.refuse_unused(folder.name)
    return tables


def arm_of(subversion: str) -> str:
    """The arm that the tables call a subversion or a variant; empty: it is outside the experiment.

    >>> arm_of("qa_text_only"), arm_of("text_with_citations"), arm_of("qa_full_render")
    ('text', 'citations', '')
    """
    if "cit" in subversion.casefold():
        return "citations"
    return "text" if "text" in subversion.casefold() else ""


class Mapped:
    """The `columns` of the source: field -> column.

    A field is written alone or with its table (`qa_questions.id`).
    """

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        # The text of a question may be looked for in several columns, and is chosen where questions
        # are read.
        self.columns = {name: of[0] for name, of in columns.items() if of and name != "text"}
        self.used: set[str] = set()
        self.column_names: set[str] = set()

    def renamed(self, table: str, columns: Sequence[str]) -> dict[str, str]:
        """The columns of one table: field -> column.

        A column is named by the source, or else has the field's own name or one of its aliases.
        """
        self.column_names.update(columns)
        by_field: dict[str, str] = {}
        for name, column in self.columns.items():
            of, dot, field_name = name.rpartition(".")
            if column in columns and (not dot or of == table):
                by_field[field_name] = column
                self.used.add(name)
        by_name = {plain(column): column for column in reversed(columns)}
        used_columns = set(by_field.values())
        for name in NEEDED.get(table, ()):
            if name in by_field:
                continue
            for candidate in (name, *ALIASES.get(table, {}).get(name, ())):
                column = candidate if candidate in columns else by_name.get(plain(candidate), "")
                if column and column not in used_columns:
                    by_field[name] = column
                    used_columns.add(column)
                    break
        return by_field

    def refuse_unused(self, where: str) -> None:
        """Refuse a column that no table has."""
        for name, column in self.columns.items():
            if name not in self.used:
                hint = nearest(column, self.column_names)
                raise SourceError(
                    f"{where}: columns: {name} = {column!r}: no table has this column; {hint}"
                )


def rows_of(table: Table, name: str, columns: Mapping[str, str]) -> Rows:
    """A table's rows under the schema's names; columns that are not renamed keep theirs."""
    renamed = {column: field_name for field_name, column in columns.items()}
    # Of a field's own name and the column that is named for it, the latter is meant.
    left_out = {c for c in table.frame.columns if c not in renamed and c in columns}
    rows = []
    for n, cells in enumerate(table.frame.iter_rows(named=True)):
        row = Row(
            {renamed.get(c, c): (v or "").strip() for c, v in cells.items() if c not in left_out}
        )
        row.line = table.line(n)
        rows.append(row)
    names = {renamed.get(c, c): c for c in table.frame.columns if c not in left_out}
    return Rows(name, rows, table, names)


def _file(folder: Path, name: str) -> Path | None:
    return next((p for ending in ENDINGS if (p := folder / f"{name}{ending}").is_file()), None)


def plain(column: str) -> str:
    """A column's name without capitals, spaces and underscores, by which names are compared."""
    return "".join(c for c in column.casefold() if c.isalnum())


def _rows(folder: Path, name: str, mapping: Mapped, encoding: str, *, blinded: bool) -> Rows:
    names = [BLINDED + name, name] if blinded else [name, BLINDED + name]
    if name in {"qa_assignments", "qa_answers"}:
        names = names[:1]
    path = next((p for file_name in names if (p := _file(folder, file_name)) is not None), None)
    if path is None and name == "answer_lengths" and blinded:
        # The authors' blinded answers have their lengths beside them.
        path = _file(folder, BLINDED + "qa_answers")
    if path is None:
        if name in OPTIONAL:
            return Rows(name)
        file_names = [p.name for p in folder.iterdir() if p.is_file()]
        expected_name = f"{name}.csv"
        hint = nearest(expected_name, file_names) if file_names else "the folder is empty"
        raise SourceError(f"{folder.name}: there is no table {expected_name} (or .parquet); {hint}")
    table = read_table(path, FileSettings(encoding=encoding))
    columns = mapping.renamed(name, table.frame.columns)
    if (
        name == "answer_lengths"
        and path.stem.endswith("qa_answers")
        and "answer_len" not in columns
    ):
        return Rows(name)
    for column in NEEDED[name]:
        if column not in columns:
            raise SourceError(
                f"{path.name}: there is no column {column!r};"
                f" {nearest(column, table.frame.columns)} If it has another"
                f' name, write columns = {{ "{name}.{column}" = "..." }} in [[sources]]'
            )
    rows = rows_of(table, path.name, columns)
    ids: set[str] = set()
    for row in rows if "id" in NEEDED[name] else ():
        if row["id"] in ids or not row["id"]:
            problem = f"the id {row['id']!r} occurs twice" if row["id"] else "the id is empty"
            raise SourceError(
                f"{path.name}: {table.place} {row.line:,}: {problem}; expected an id for each row"
            )
        ids.add(row["id"])
    return rows
