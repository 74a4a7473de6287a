"""A study that is being set up: the protocol's text, the user's tables, and what follows of them.

Everything happens in a folder beside; the study's own folder is written by `save` alone.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from konsil.api.design.brought import Brought, named_in
from konsil.api.design.rating_forms import (
    rater_values,
    rating_questions,
    rating_raters,
    with_rating_forms,
)
from konsil.api.design.user_tables import check_name, read_user_table
from konsil.api.editor_schema import LINE
from konsil.api.folder.folder import open_folder
from konsil.api.folder.opened import PROTOCOL, read_text
from konsil.api.running.checking import findings
from konsil.design.columns import Role
from konsil.design.edits import Data, differences, edited
from konsil.design.guessing import Hints, guesses, proposal_of
from konsil.design.sources import Chosen, faults, missing_roles, sources_of
from konsil.design.stages import Need, needs_of
from konsil.design.tables import Loaded
from konsil.design.wording import comments
from konsil.errors import KonsilError, Problem, SourceError, StudyError
from konsil.sources.files.patterns import expanded
from konsil.study import parse

MOST_BYTES = 64 << 20
"""The largest table that is taken by the pages."""


class Draft:
    """One set-up in progress."""

    def __init__(self, folder: Path, staging: Path, *, language: str = "en", seed: int = 1) -> None:
        self.folder, self.staging = folder, staging
        self.tables: dict[str, Loaded] = {}
        self.added: dict[str, bytes] = {}
        self._pseudonyms: dict[str, str] = {}
        self._brought = Brought()
        protocol = folder / PROTOCOL
        self.is_new = not protocol.is_file()
        if self.is_new:
            base: Data = {"schema": 1, "title": "", "seed": seed, "language": language}
            self.original, self.text = "", edited(LINE, base)
        else:
            open_folder(folder)  # what is wrong in it is said before anything is changed
            self.original = self.text = read_text(protocol)
            self._copy_files()
        self._original_data: Data = tomllib.loads(self.original)
        raters = (str(rater["id"]) for rater in self._original_data.get("raters", ()))
        self._pseudonyms.update((rater, rater) for rater in raters)
        self._write()

    def _copy_files(self) -> None:
        """The files that the protocol names, so that everything can be tried beside."""
        names: set[str] = set()

        def read(name: str) -> str:
            names.add(name)
            return read_text(self.folder / name)

        study = parse(self.text, read, str(self.folder / PROTOCOL))
        names |= {source.file for source in expanded(self.folder, study.sources)}
        for name in sorted(names):
            place, target = self.folder / name, self.staging / name
            if not target.resolve().is_relative_to(self.staging.resolve()):
                continue  # what lies elsewhere is no part of the study's folder
            target.parent.mkdir(parents=True, exist_ok=True)
            if place.is_file():
                shutil.copyfile(place, target)
            elif place.is_dir():
                shutil.copytree(place, target, dirs_exist_ok=True)

    def _write(self) -> None:
        (self.staging / PROTOCOL).write_bytes(self.text.encode())

    @property
    def data(self) -> Data:
        """The protocol as data."""
        return tomllib.loads(self.text)

    @property
    def language(self) -> str:
        """The language of the study's texts."""
        return str(self.data.get("language", "en"))

    def change(self, data: Data) -> None:
        """Take the protocol's new data; lists without entries are left out."""
        self.text = edited(self.text, data, comments(str(data.get("language", "en"))))
        self._write()

    def is_changed(self) -> bool:
        """Whether there is something to save."""
        return self.text != self.original or bool(self.added)

    def differences(self) -> tuple[str, ...]:
        """The change of study.toml, line by line."""
        return differences(self.original, self.text)

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

    def add_table(self, name: str, content: bytes, sheet: str = "") -> Loaded:
        """Take a table of the user's; a file of the folder that differs keeps its name."""
        name = check_name(name)
        if len(content) > MOST_BYTES:
            raise SourceError(
                f"{name}: has {len(content):,} bytes; expected {MOST_BYTES:,} or fewer"
            )
        existing = self.folder / name
        is_there = existing.is_file()
        if is_there and existing.read_bytes() != content:
            raise SourceError(
                f"{name}: the study's folder has another file of this name; rename the new one"
            )
        # A table that cannot be read leaves the one that was there.
        former = (self.staging / name).read_bytes() if (self.staging / name).is_file() else None
        (self.staging / name).write_bytes(content)
        try:
            table = read_user_table(self.staging / name, sheet)
        except KonsilError:
            if former is None:
                (self.staging / name).unlink()
            else:
                (self.staging / name).write_bytes(former)
            raise
        if not is_there:
            self.added[name] = content
        hints = self._hints(name)
        proposal = proposal_of(table.columns, hints)
        guessed = guesses(table.columns, hints, proposal)
        roles = {guess.column: guess.role for guess in guessed}
        pattern = proposal.reading.names if proposal.reading else ""
        self.tables[name] = Loaded(table, guessed, roles, pattern, self._pseudonyms)
        return self.tables[name]

    def take_loose(self, name: str, sheet: str = "") -> Loaded:
        """Take a table that lies in the study's folder."""
        name = check_name(name)
        if name not in self.loose_files():
            raise SourceError(f"{name}: there is no such table in the study's folder")
        return self.add_table(name, (self.folder / name).read_bytes(), sheet)

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

    def use_table(self, name: str, roles: Mapping[str, Role]) -> None:
        """Read a table with these roles: sources, systems, and what its ratings imply."""
        loaded = self.tables[name]
        column_names = {column.name for column in loaded.table.columns}
        loaded.roles = {c: r for c, r in roles.items() if c in column_names}
        loaded.is_used = False
        chosen = self._chosen(loaded)
        if faults(chosen) or missing_roles(chosen):
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
        raters, values = rating_raters(loaded), rater_values(loaded)
        return Chosen(table.name, loaded.roles, table.settings, criteria or {}, raters, values)

    def _hints(self, but: str) -> Hints:
        data = self.data
        systems = {str(system["id"]) for system in data.get("systems", ())}
        systems |= set(self._systems_of(but_not=but))
        criteria = {
            str(word)
            for instrument in data.get("instruments", ())
            for criterion in instrument.get("criteria", ())
            for word in (criterion["id"], criterion.get("question", ""))
        }
        return Hints(systems, criteria)

    def _systems_of(self, *, but_not: str = "") -> dict[str, None]:
        """The systems that the used tables name, in their order."""
        names: dict[str, None] = {}
        for name, loaded in self.tables.items():
            if name == but_not or not loaded.is_used:
                continue
            for column in loaded.table.columns:
                role = loaded.roles.get(column.name)
                if role == "answer_of":
                    names[column.name] = None
                elif role in ("system", "system_a", "system_b"):
                    names.update(dict.fromkeys(value.strip() for value in column.distinct))
        return names

    def _with_systems(self, data: Data) -> None:
        # What the protocol states stays, in its order: tables only add to it.
        stated_systems = list(self._original_data.get("systems", ()))
        listed = {system["id"] for system in stated_systems}
        new = [{"id": name} for name in self._systems_of() if name not in listed]
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

    def problems(self) -> tuple[Problem, ...]:
        """What `konsil check` has against the draft."""
        try:
            problems = findings(open_folder(self.staging)).problems
        except StudyError as error:
            problems = error.problems or tuple(map(Problem, str(error).split("\n")))
        except KonsilError as error:
            problems = tuple(map(Problem, str(error).split("\n")))
        return tuple(
            replace(
                problem,
                file=self._without_place(problem.file),
                sentence=self._without_place(problem.sentence),
            )
            for problem in problems
        )

    def needs(self) -> tuple[Need, ...]:
        """What the draft lacks before it can be saved; its problems are apart."""
        if not self.data.get("title"):
            return ("title",)
        try:
            return needs_of(open_folder(self.staging).study)
        except KonsilError:  # it is among the problems
            return ()

    def _without_place(self, sentence: str) -> str:
        return sentence.replace(f"{self.staging}/", "")


def _without_empty(data: Data) -> Data:
    return {key: value for key, value in data.items() if value != []}
