"""Further columns of Real-POCQi's public tables.

Listed are the columns that become strata, those that do not, and the columns that the tables lack.

A missing column should not first be noticed in a figure, and a table of raters should contain no
addresses. A value that no table has is not made up: an analysis that needs it is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from konsil.records import Source
from konsil.sources.pocqi.pocqi_files import NEEDED, Row, Rows, Tables
from konsil.sources.pocqi.pocqi_rules import personal

TEXTS = ("text", "question", "question_text")
"""What the column of the questions' texts may be called; the first that says something counts."""
READ_TOO = {
    "qa_assignments": {"completed_at"},
    "machineRatings": {
        "variant",
        "subversion",
        "error",
        "ts",
        "questionExternalKey",
        "slotAProvider",
        "slotBProvider",
    },
    "answer_lengths": {"question_id", "vendor", "provider_key"},
}
"""Table -> columns that are read where they are there, or repeat what another table has."""
LACKS = {
    "qa_answers": "every system of a slot is assumed to have answered",
    "answer_lengths": "analyses of length are not possible",
    "machineRatings": "LLM judges have no ratings",
}
"""Table -> what its absence means."""
_FEWEST, _OWN = 10, 0.9
"""A column with so many entries, of which this share differs, tells rows apart and groups
nothing."""


@dataclass(frozen=True)
class Strata:
    """The strata of one table's rows."""

    names: Mapping[str, str]
    """Column -> stratum, of those that are kept."""
    by_rule: Mapping[str, Mapping[str, str]]
    """Stratum -> row's id -> value, of those that a rule gives; empty mapping: nothing tells."""
    alone: tuple[str, ...] = ()
    """Columns left out, because nearly every row has an entry of its own there."""

    def of(self, row: Row) -> dict[str, str]:
        """A row's strata."""
        ruled = {
            name: values[row["id"]]
            for name, values in self.by_rule.items()
            if values.get(row["id"])
        }
        return {name: row[c] for c, name in self.names.items() if row.get(c)} | ruled


def texts(source: Source) -> tuple[str, ...]:
    """The columns that may hold a question's text."""
    return tuple(source.columns.get("text") or TEXTS)


def strata(
    rows: Rows, excluded: Collection[str], by_rule: Mapping[str, Mapping[str, str]], source: Source
) -> Strata:
    """The columns that the source names, else all that group.

    Those that a rule gives are its own.
    """
    meant = {"specialty", *source.strata}
    names, alone = {}, []
    for column in rows.columns:
        if column in excluded or column in by_rule or column in personal(rows):
            continue
        if source.strata and column not in source.strata:
            continue
        values = [row[column] for row in rows if row[column]]
        if (
            column not in meant
            and len(values) >= _FEWEST
            and len(set(values)) >= _OWN * len(values)
        ):
            alone.append(column)
        else:
            names[column] = column
    return Strata(names, by_rule, tuple(alone))


def notes(tables: Tables, of_items: Strata, of_raters: Strata, source: Source) -> Iterator[str]:
    """Notes on the tables that need attention: one sentence each."""
    for rows, groups in ((tables.questions, of_items), (tables.users, of_raters)):
        for name, values in groups.by_rule.items():
            if not values:
                yield (
                    f"{rows.name}: there is no column {name!r}, so analyses by {name} are not"
                    " possible; if it has another name, write"
                    f' columns = {{ {name} = "..." }} in the study\'s [[sources]]'
                    + (
                        ', or fixed = { source = "..." } where all questions are of one source'
                        * (name == "source")
                    )
                )
        further = [n for n in groups.names.values() if n != "specialty"]
        if further:
            yield f"{rows.name}: further columns are characteristics: {', '.join(further)}"
        if groups.alone:
            yield (
                f"{rows.name}: not used as characteristics because nearly every row has a"
                f" different value: {', '.join(groups.alone)}; to use any of them, list all"
                " characteristics under strata"
            )
    if not any(row.get(name) for row in tables.questions for name in texts(source)):
        yield (
            f"{tables.questions.name}: no question has a text; expected one in a column"
            f" {' or '.join(texts(source))}"
        )
    for name, rows in tables.by_name().items():
        unread = [c for c in rows.columns if c not in {*NEEDED[name], *READ_TOO.get(name, ())}]
        if unread and rows not in (
            tables.questions,
            tables.users,
            tables.recruitment,
            tables.themes,
        ):
            yield f"{rows.name}: not read: {', '.join(unread)}"
        if (
            name == "machineRatings"
            and rows.rows
            and not {"variant", "subversion"} & {*rows.columns}
        ):
            yield (
                f"{rows.name}: there is no column 'variant' or 'subversion', so LLM judges are"
                " assigned to the text arm"
            )
        if rows.table is None and name in LACKS:
            yield f"there is no table {name}, so {LACKS[name]}"
