"""A study that is being set up: the user's tables, and what follows of them for its protocol."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from konsil.api.design.brought import Brought, named_in
from konsil.api.design.protocol_draft import ProtocolDraft
from konsil.api.design.rating_forms import (
    fields_of_winners,
    rating_questions,
    rating_raters,
    with_rating_forms,
)
from konsil.api.design.table_command import command_of
from konsil.api.design.user_tables import check_name, read_by, read_user_table
from konsil.design.edits import Data
from konsil.design.tables.columns import Role
from konsil.design.tables.guessing import (
    Hints,
    TableForm,
    form_of,
    guesses,
    proposal_of,
    repeated_roles,
)
from konsil.design.tables.loaded import Loaded, Names, UserTable
from konsil.design.tables.naming import (
    pseudonym,
    renamed_values,
    roles_by_pattern,
    systems_in_headings,
    systems_of,
)
from konsil.design.tables.sources import Chosen, fixable_roles, missing_roles, sources_of
from konsil.errors import KonsilError, SourceError
from konsil.errors.message import message
from konsil.records.source import FileSettings

MOST_BYTES = 64 << 20
"""The largest table that is taken by the pages."""


class Draft(ProtocolDraft):
    """One set-up in progress."""

    def __init__(self, folder: Path, staging: Path, *, language: str = "en", seed: int = 1) -> None:
        super().__init__(folder, staging, language=language, seed=seed)
        self.tables: dict[str, Loaded] = {}
        self._names = Names()
        self._brought = Brought()
        self._original_data: Data = tomllib.loads(self.original)
        raters = (str(rater["id"]) for rater in self._original_data.get("raters", ()))
        self._names.raters.update((rater, rater) for rater in raters)

    def loose_files(self) -> tuple[str, ...]:
        """Tables that lie in the study's folder and that the study does not read."""
        if not self.folder.is_dir():
            return ()
        named = {str(source.get("file")) for source in self.data.get("sources", ())}
        names = []
        for path in sorted(self.folder.iterdir()):
            try:
                is_table = path.is_file() and check_name(path.name) == path.name
            except SourceError:
                continue
            if is_table and path.suffix != ".json" and path.name not in {*named, *self.tables}:
                names.append(path.name)
        return tuple(names)

    def add_table(self, name: str, content: bytes) -> Loaded:
        """Take a table of the user's; one of a name that another has gets a name of its own.

        A file of the folder that differs keeps its name.
        """
        chosen_as = check_name(name)
        name = self._own_name(chosen_as, content)
        if len(content) > MOST_BYTES:
            raise SourceError(
                message(
                    "{name}: has {size:,} bytes; expected {most:,} or fewer",
                    message_id="setup.too_large",
                    name=name,
                    size=len(content),
                    most=MOST_BYTES,
                )
            )
        existing = self.folder / name
        is_there = existing.is_file()
        if is_there and existing.read_bytes() != content:
            raise SourceError(
                message(
                    "{name}: the study's folder has another file of this name; rename the new one",
                    message_id="setup.other_file",
                    name=name,
                )
            )
        if name in self.tables:
            return self.tables[name]
        (self.staging / name).write_bytes(content)
        try:
            table = read_user_table(self.staging / name)
        except KonsilError:
            if not is_there:
                (self.staging / name).unlink()
            raise
        if not is_there:
            self.added[name] = content
        loaded = self._propose(table)
        loaded.chosen_as = chosen_as
        return loaded

    def _own_name(self, name: str, content: bytes) -> str:
        """The name of a file beside the others; that of the same file where it is there already.

        Folders of some systems do not tell small letters from large ones.
        """
        others = {other.casefold(): other for other in self.added}
        plain = Path(name)

        def is_own(candidate: str) -> bool:
            other = others.get(candidate.casefold())
            return other is None or self.added[other] == content

        numbered = (f"{plain.stem} ({n}){plain.suffix}" for n in count(2))
        name_of_copy = next(filter(is_own, chain([name], numbered)))
        return others.get(name_of_copy.casefold(), name_of_copy)

    def read_again(self, name: str, settings: FileSettings) -> None:
        """Read a table's file by other settings; what it gave the study goes."""
        former = self.tables[name].table.settings
        self._propose(read_by(self.staging / name, settings, former))

    def set_form(self, name: str, form: TableForm) -> None:
        """Propose the roles of a table's columns in another form; what it gave the study goes."""
        self._propose(self.tables[name].table, form)

    def set_names(self, name: str, pattern: str) -> None:
        """Read the headings by a pattern; what the table gave the study goes."""
        loaded = self.tables[name]
        roles = roles_by_pattern(loaded.roles, pattern)
        self._leave_out(name)
        loaded.roles, loaded.names, loaded.is_used = roles, pattern, False
        loaded.form = "long" if "{rater}" not in pattern and pattern else "wide"

    def command_of(self, name: str) -> str:
        """The command that computes the agreement in a table that no study can hold."""
        return command_of(self.tables[name])

    def _propose(self, table: UserTable, form: TableForm | None = None) -> Loaded:
        chosen_as = table.name
        if table.name in self.tables:
            chosen_as = self.tables.pop(table.name).chosen_as
            self._leave_out(table.name)
        hints = self._hints(table.name)
        proposal = proposal_of(table.columns, hints, form, table.tool_roles)
        proposal = replace(proposal, is_certain=proposal.is_certain and not table.is_unconfirmed)
        guessed = guesses(table.columns, hints, proposal)
        roles = {guess.column: guess.role for guess in guessed}
        loaded = Loaded(
            table,
            guessed,
            roles,
            new_names=self._names,
            form=form_of(proposal.reading),
            chosen_as=chosen_as,
            reading=proposal.reading,
        )
        if proposal.reading is not None:
            loaded.names = proposal.reading.names
        # A file without a column of raters or systems is often named for one.
        needed = set(fixable_roles(roles)) & {*missing_roles(self._chosen(loaded))}
        loaded.fixed = dict.fromkeys(needed, Path(table.name).stem)
        self.tables[table.name] = loaded
        return loaded

    def take_loose(self, name: str) -> Loaded:
        """Take a table that lies in the study's folder."""
        name = check_name(name)
        if name not in self.loose_files():
            raise SourceError(
                message(
                    "{name}: there is no such table in the study's folder",
                    message_id="setup.no_table",
                    name=name,
                )
            )
        return self.add_table(name, (self.folder / name).read_bytes())

    def remove_table(self, name: str) -> None:
        """Leave a table out again; the study no longer reads the file."""
        self.tables.pop(name, None)
        if self.added.pop(name, None) is not None:
            (self.staging / name).unlink(missing_ok=True)
        self._leave_out(name)

    def _leave_out(self, name: str) -> None:
        """The study without what a table gave it."""
        data = self.data
        data["sources"] = [s for s in data.get("sources", ()) if s.get("file") != name]
        self._with_systems(data)
        self._with_timing(data)
        self.change(_without_empty(self._brought.without_stale(name, data, None)))

    def rename_systems(self, new_names: Mapping[str, str]) -> None:
        """Call systems of the tables otherwise: name in the file -> identifier."""
        names = self._names.systems
        changed = {n: new for n, new in new_names.items() if new and new != names.get(n, n)}
        if not changed:
            return
        former = dict(names)
        names.update(changed)
        for loaded in self.tables.values():
            used = Counter(systems_of(loaded).values() if loaded.is_used else ())
            twice = next((system for system, n in used.items() if n > 1), None)
            if twice is not None:
                names.clear()
                names.update(former)
                raise SourceError(
                    message(
                        "{name}: two systems would be called {twice!r}; expected a name for each",
                        message_id="setup.system_twice",
                        name=loaded.table.name,
                        twice=twice,
                    )
                )
        for name, loaded in self.tables.items():
            if loaded.is_used:
                self.use_table(name, loaded.roles, loaded.fixed)

    def use_table(
        self, name: str, roles: Mapping[str, Role], fixed: Mapping[str, str] | None = None
    ) -> None:
        """Read a table with these roles: sources, systems, and what its ratings imply.

        `fixed`: the rater or the system of all rows, where no column names one.
        """
        loaded = self.tables[name]
        column_names = {column.name for column in loaded.table.columns}
        loaded.roles = {c: r for c, r in roles.items() if c in column_names}
        able = fixable_roles(loaded.roles)
        words = loaded.fixed if fixed is None else fixed
        loaded.fixed = {field: word for field, word in words.items() if field in able and word}
        loaded.is_used = False
        chosen = self._chosen(loaded)
        if repeated_roles(chosen.roles) or missing_roles(chosen):
            if self._brought.is_of(name):
                self._leave_out(name)
            return
        data = self.data
        criteria = rating_questions(loaded, data)
        chosen = self._chosen(loaded, criteria)
        others = [s for s in data.get("sources", ()) if s.get("file") != name]
        data["sources"] = others + sources_of(chosen)
        loaded.is_used = True
        self._with_systems(data)
        alone = with_rating_forms(loaded, criteria, {"language": self.language})
        before = self._brought.without_stale(name, data, named_in(alone))
        data = with_rating_forms(loaded, criteria, before)
        self._brought.note(name, before, data)
        self._with_timing(data)
        self.change(_without_empty(data))

    def chosen(self, name: str) -> Chosen:
        """A table with its roles."""
        return self._chosen(self.tables[name])

    def _chosen(self, loaded: Loaded, criteria: Mapping[str, str] | None = None) -> Chosen:
        table = loaded.table
        fixed = {
            field: pseudonym(word, loaded.new_names)
            if field == "rater"
            else loaded.new_names.systems.get(word, word)
            for field, word in loaded.fixed.items()
        }
        fixed |= fields_of_winners(loaded, self.data)
        return Chosen(
            table.name,
            loaded.roles,
            table.settings,
            criteria or {},
            rating_raters(loaded),
            systems_in_headings(loaded),
            renamed_values(loaded),
            fixed,
            table.tool,
        )

    def _hints(self, but: str) -> Hints:
        data = self.data
        systems = {str(system["id"]) for system in data.get("systems", ())}
        systems |= {word for pair in self.systems(but_not=but).items() for word in pair}
        criteria = {
            str(word)
            for instrument in data.get("instruments", ())
            for criterion in instrument.get("criteria", ())
            for word in (criterion["id"], criterion.get("question", ""))
        }
        return Hints(systems, criteria)

    def systems(self, *, but_not: str = "") -> dict[str, str]:
        """The systems that the used tables name, in their order: name in the file -> identifier."""
        names: dict[str, str] = {}
        for name, loaded in self.tables.items():
            if name != but_not and loaded.is_used:
                names |= systems_of(loaded)
        return names

    def _with_systems(self, data: Data) -> None:
        # What the protocol states stays, in its order: tables only add to it.
        stated_systems = list(self._original_data.get("systems", ()))
        listed = {system["id"] for system in stated_systems}
        named = dict.fromkeys(self.systems().values())
        answering = [s for s in data.get("systems", ()) if s.get("model")]
        named = dict.fromkeys([*named, *(str(system["id"]) for system in answering)])
        entry_by_id = {system["id"]: system for system in answering}
        new = [entry_by_id.get(name, {"id": name}) for name in named if name not in listed]
        data["systems"] = stated_systems + new

    def _with_timing(self, data: Data) -> None:
        """Analyses of ratings that exist are not specified before them.

        Of a study that is there, its file is the word on that.
        """
        if not self.is_new:
            return
        data.pop("retrospective", None)
        if any(source.get("records") == "ratings" for source in data["sources"]):
            data["retrospective"] = True


def _without_empty(data: Data) -> Data:
    return {key: value for key, value in data.items() if value != []}
