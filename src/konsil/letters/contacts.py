"""Lists of contacts: a table of raters with names and addresses, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import SourceError, in_short, nearest
from konsil.letters.mail_addresses import LONGEST, folded, is_address
from konsil.letters.opened import Opened
from konsil.locale import catalogue_language, languages
from konsil.records import Rater
from konsil.records.source import FileSettings
from konsil.sources.files.table import Table, read_table
from konsil.store.engine.engine import writing
from konsil.store.log.erasures import erased_raters
from konsil.store.people.people import Person, people, write_person
from konsil.store.tasks import withdrawal

COLUMNS = ("rater", "name", "email", "language")
"""What a list can have beside the raters' characteristics."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SEMICOLON = ";"


@dataclass(frozen=True, slots=True)
class Contacts:
    """A list that was imported."""

    raters: tuple[str, ...]
    """Whose contact it has, in its order."""
    n_new: int
    """How many had none before."""
    n_changed: int
    """How many had another one."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What a list is compared with."""

    raters: Mapping[str, Rater]
    """The human raters."""
    values: Mapping[str, frozenset[str]]
    """Characteristic (and 'panel') -> its values."""
    stored: Mapping[str, Person]
    out: frozenset[str]
    """Who has withdrawn, or was erased."""


def import_contacts(folder: Opened, file: Path) -> Contacts:
    """Store the contacts of a list, or nothing: a SourceError names all that is wrong."""
    table = _table(file)
    with folder.store() as store, writing(store.engine) as connection:
        raters = {
            r.id: r
            for r in withdrawal.people_of(connection, folder.study).values()
            if r.kind == "human"
        }
        context = _Context(
            raters,
            _values(raters.values()),
            people(store),
            withdrawal.withdrawn_raters(connection) | erased_raters(connection).keys(),
        )
        _check_columns(table, context)
        rows = [
            {key: (value or "").strip() for key, value in row.items()}
            for row in table.frame.to_dicts()
        ]
        rows = _with_raters(rows, context)
        problems = [*_problems(table, rows, context)]
        if problems:
            raise SourceError(f"{table.name}: nothing is stored: {in_short(problems)}", problems)
        contacts = [_person(row) for row in rows]
        before = [context.stored.get(person.rater) for person in contacts]
        for person in contacts:
            write_person(connection, person)
    n_new = sum(person is None for person in before)
    n_changed = sum(
        old is not None and (old.name, old.email) != (person.name, person.email)
        for old, person in zip(before, contacts, strict=True)
    )
    return Contacts(tuple(person.rater for person in contacts), n_new, n_changed)


def _person(row: Mapping[str, str]) -> Person:
    language = catalogue_language(row.get("language", ""))
    return Person(row["rater"], row.get("name", ""), row["email"], language)


def _table(file: Path) -> Table:
    if not file.is_file():
        raise SourceError(f"{file}: there is no such file")
    if file.suffix.lower() in (".csv", ".txt"):
        content = file.read_bytes()
        try:
            head = content.decode("utf-8-sig").partition("\n")[0]
        except UnicodeDecodeError:
            raise SourceError(
                f"{file.name}: is not UTF-8 text (from Excel: save it as 'CSV UTF-8')"
            ) from None
        separator = _SEMICOLON if head.count(_SEMICOLON) > head.count(",") else ""
        return read_table(file, FileSettings(separator=separator))
    return read_table(file)


def _values(raters: Iterable[Rater]) -> Mapping[str, frozenset[str]]:
    values: dict[str, set[str]] = {}
    for rater in raters:
        for key, value in {"panel": rater.panel, **rater.strata}.items():
            values.setdefault(key, set()).add(value)
    return {key: frozenset(each) for key, each in values.items()}


def _check_columns(table: Table, context: _Context) -> None:
    columns = [*COLUMNS, *context.values]
    for name in table.frame.columns:
        if name not in columns:
            raise SourceError(
                f"{table.name}: there is no column {name!r}; {nearest(name, columns)}"
            )
    if "email" not in table.frame.columns:
        raise SourceError(f"{table.name}: the column 'email' is missing")


def _with_raters(rows: Sequence[Mapping[str, str]], context: _Context) -> list[dict[str, str]]:
    """The rows with a rater each, as far as there is one.

    A person without a rater is the one with the same address, or the next rater of the protocol
    that has no contact and the stated characteristics.
    """
    rater_by_address = {folded(p.email): r for r, p in context.stored.items() if p.email}
    free = dict(context.raters)
    for rater in (*rater_by_address.values(), *context.out, *(r.get("rater", "") for r in rows)):
        free.pop(rater, None)
    assigned = []
    for row in rows:
        rater = row.get("rater", "") or rater_by_address.get(folded(row["email"]), "")
        if not rater:
            rater = next((r.id for r in free.values() if _fits(row, r, context)), "")
            free.pop(rater, None)
        assigned.append({**row, "rater": rater})
    return assigned


def _fits(row: Mapping[str, str], rater: Rater, context: _Context) -> bool:
    return all(row.get(c, "") in ("", _value(rater, c)) for c in context.values)


def _value(rater: Rater, column: str) -> str:
    return rater.panel if column == "panel" else rater.strata.get(column, "")


def _problems(table: Table, rows: Sequence[Mapping[str, str]], context: _Context) -> Iterator[str]:
    """Everything wrong with a list, a sentence each; addresses and names are not repeated."""
    places = [f"{table.place} {table.line(n)}" for n in range(len(rows))]
    for place, row in zip(places, rows, strict=True):
        for problem in _row_problems(row, context):
            yield f"{place}: {problem}"
    for column, key in (("rater", str), ("email", folded)):
        first: dict[str, str] = {}
        for place, row in zip(places, rows, strict=True):
            value = key(row[column])
            if value and value in first:
                yield f"{place}: the same {column} as in {first[value]}"
            first.setdefault(value, place)
    listed = {row["rater"] for row in rows}
    used = {folded(p.email) for r, p in context.stored.items() if r not in listed and p.email}
    for place, row in zip(places, rows, strict=True):
        if folded(row["email"]) in used:
            yield f"{place}: the address is another rater's already"


def _row_problems(row: Mapping[str, str], context: _Context) -> Iterator[str]:
    name = row["rater"]
    rater = context.raters.get(name)
    if not name:
        yield "no rater of these characteristics is without a contact"
    elif rater is None:
        yield f"there is no rater {name!r}; {nearest(name, context.raters)}"
    elif name in context.out:
        yield f"rater {name!r} does not take part any more"
    if not is_address(row["email"]):
        yield (
            "the e-mail address is missing" if not row["email"] else "the e-mail address is invalid"
        )
    full_name = row.get("name", "")
    if len(full_name) > LONGEST or not full_name.isprintable():
        yield f"the name has control characters or more than {LONGEST} characters"
    for column, value in row.items():
        if value.startswith(_FORMULA):
            yield f"{column} begins with {value[0]!r}, which spreadsheets take for a formula"
    language = row.get("language", "")
    if language and not catalogue_language(language):
        yield f"there is no language {language!r}; {nearest(language, languages())}"
    for column, values in context.values.items():
        value = row.get(column, "")
        if value and value not in values:
            yield f"there is no {column} {value!r}; {nearest(value, values)}"
        elif value and rater is not None and value != _value(rater, column):
            yield f"rater {name!r} has another {column} in the study than {value!r}"
