"""One flat table of comparisons, a row for each comparison and axis, as the tables of Real-POCQi.

This is how such data are published most often. Its columns may have any names: `columns` of the
source says which is which, as it does for the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records import Source
from konsil.sources.files.table import read_table
from konsil.sources.pocqi.pocqi_files import Mapped, Row, Rows, Tables, plain, rows_of
from konsil.sources.pocqi.pocqi_rules import TEXTS

FLAT = {
    "user_id": ("rater", "rater_id", "user", "annotator", "physician"),
    "question_id": ("item", "item_id", "question_key"),
    "slot_a_provider": ("slot_a_vendor", "provider_a", "vendor_a", "system_a", "first"),
    "slot_b_provider": ("slot_b_vendor", "provider_b", "vendor_b", "system_b", "second"),
    "axis": ("criterion", "dimension"),
    "choice": ("label", "rating", "outcome"),
    "qa_assignment_id": ("assignment_id", "assignment", "comparison_id"),
    "submission_time_seconds": ("seconds",),
    "subversion": ("arm",),
}
"""Column -> other names under which it is read."""
NEEDED = ("question_id", "slot_a_provider", "slot_b_provider", "choice")
"""Columns that a flat table must have."""
OF_QUESTIONS = ("specialty", "external_key", "source", "theme", *TEXTS)
"""Columns that tell of the question, where they are there; others that are the same in all its rows
do, too."""
OF_USERS = ("subversion", "exposure", "user_specialty")
"""Columns that tell of the rater."""
TEXT_ARM = "qa_text_only"


def flat_tables(path: Path, source: Source) -> Tables:
    """Read a flat table; what it lacks is refused in one sentence with the columns that it has."""
    table = read_table(path, source.settings)
    mapping = Mapped(source.columns)
    columns = mapping.renamed("ratings", table.frame.columns)
    mapping.refuse_unused(path.name)
    used_columns = set(columns.values())
    by_name = {plain(c): c for c in reversed(table.frame.columns)}
    for name, others in FLAT.items():
        candidates = (name, *others) if name not in columns else ()
        column = next(
            (
                by_name[plain(c)]
                for c in candidates
                if by_name.get(plain(c), "") not in {"", *used_columns}
            ),
            "",
        )
        if column:
            columns[name] = column
            used_columns.add(column)
    for name in NEEDED:
        if name not in columns:
            raise SourceError(
                f'{path.name}: no column is the {name}; write columns = {{ {name} = "..." }} in'
                f" [[sources]]; {nearest(name, table.frame.columns)}"
            )
    rows = rows_of(table, path.name, columns)
    _fill(rows, source)
    return _tables(rows, source)


def _fill(rows: Rows, source: Source) -> None:
    """Give every row a rater, an arm, an axis and the name of its comparison.

    Values come from the columns or from `fixed`.
    """
    where = rows.name
    for row in rows:
        row["user_id"] = row.get("user_id") or source.fixed.get("user_id", "")
        row["subversion"] = row.get("subversion") or source.fixed.get("subversion", TEXT_ARM)
        row["axis"] = row.get("axis") or source.fixed.get("axis", "")
        row.setdefault("submission_time_seconds", "")
        if not row["axis"]:
            place = rows.problem(
                row, "axis", "there is no axis; state its column, or the only axis with fixed"
            )
            raise SourceError(f"{where}: {place}")
        parts = (
            row["user_id"],
            row["question_id"],
            row["slot_a_provider"],
            row["slot_b_provider"],
            row["subversion"],
        )
        # Without a name of its own a comparison is what one rater saw of one question: two answers
        # on two sides.
        row["qa_assignment_id"] = row.get("qa_assignment_id") or json.dumps(
            parts, ensure_ascii=False
        )


def _tables(rows: Rows, source: Source) -> Tables:
    assignments: dict[str, Row] = {}
    questions: dict[str, Row] = {}
    users: dict[str, Row] = {}
    known_columns = {*FLAT, "completed_at"}
    further = [c for c in rows.columns if c not in known_columns and c not in OF_USERS]
    of_questions = [
        c
        for c in further
        if c in OF_QUESTIONS or c in source.strata or _is_of(rows, "question_id", c)
    ]
    of_users = [c for c in (*OF_USERS, *further) if c in rows.columns and c not in of_questions]
    of_users = [c for c in of_users if c in OF_USERS or (rows.rows and _is_of(rows, "user_id", c))]
    problems = []
    for row in rows:
        name = row["qa_assignment_id"]
        assignment = _part(
            row, {"id": name}, ("user_id", "question_id", "slot_a_provider", "slot_b_provider")
        )
        assignment["completed_at"] = row.get("completed_at", "")
        first = assignments.setdefault(name, assignment)
        for column in ("user_id", "question_id", "slot_a_provider", "slot_b_provider"):
            if first[column] != assignment[column]:
                sentence = (
                    f"{assignment[column]!r} where line {first.line:,} of the same comparison has"
                    f" {first[column]!r}"
                )
                problems.append(str(rows.problem(row, column, sentence)))
        questions.setdefault(
            row["question_id"], _part(row, {"id": row["question_id"]}, of_questions)
        )
        if row["user_id"]:
            arm = {"id": row["user_id"], "subversion": row["subversion"]}
            user = users.setdefault(
                row["user_id"], _part(row, arm, [c for c in of_users if c != "subversion"])
            )
            if user["subversion"] != row["subversion"]:
                sentence = (
                    f"{row['user_id']!r} is in the arms {user['subversion']!r} and"
                    f" {row['subversion']!r}"
                )
                problems.append(
                    str(rows.problem(row, "subversion", f"{sentence}; expected one arm a rater"))
                )
    if problems:
        more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
        raise SourceError(f"{rows.name}: nothing was imported: {problems[0]}{more}", problems)
    absent = Rows(rows.name)
    return Tables(
        _as_rows(rows, questions.values(), ("id", *of_questions)),
        _as_rows(
            rows,
            assignments.values(),
            ("id", "user_id", "question_id", "slot_a_provider", "slot_b_provider"),
        ),
        _as_rows(
            rows, rows.rows, ("qa_assignment_id", "axis", "choice", "submission_time_seconds")
        ),
        _as_rows(rows, users.values(), ("id", *dict.fromkeys(("subversion", *of_users)))),
        absent,
        absent,
        absent,
        absent,
        absent,
        absent,
    )


def _part(row: Row, start: Mapping[str, str], columns: Iterable[str]) -> Row:
    part = Row({**start, **{c: row.get(c, "") for c in columns}})
    part.line = row.line
    return part


def _as_rows(rows: Rows, part: Iterable[Row], columns: Iterable[str]) -> Rows:
    return Rows(rows.name, tuple(part), rows.table, {c: rows.columns.get(c, c) for c in columns})


def _is_of(rows: Rows, key: str, column: str) -> bool:
    """Whether a column has one value for each value of the key."""
    value: dict[str, str] = {}
    return all(
        value.setdefault(row[key], row.get(column, "")) == row.get(column, "") for row in rows
    )
