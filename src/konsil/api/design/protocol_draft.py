"""The protocol of a study that is being set up: its text, what is wrong with it, what it lacks.

Everything happens in a folder beside; the study's own folder is written by `save` alone.
"""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

from konsil.api.editor_schema import LINE
from konsil.api.folder.folder import open_folder
from konsil.api.folder.opened import PROTOCOL, read_text
from konsil.api.running.checking import findings
from konsil.design.edits import Data, differences, edited
from konsil.design.stages import Need, needs_of
from konsil.design.wording import comments
from konsil.errors import KonsilError, Problem, StudyError
from konsil.errors.message import lines_of, replaced
from konsil.sources.files.patterns import expanded
from konsil.study import parse


class ProtocolDraft:
    """study.toml of one set-up in progress."""

    def __init__(self, folder: Path, staging: Path, *, language: str = "en", seed: int = 1) -> None:
        self.folder, self.staging = folder, staging
        self.added: dict[str, bytes] = {}
        protocol = folder / PROTOCOL
        self.is_new = not protocol.is_file()
        if self.is_new:
            base: Data = {"schema": 1, "title": "", "seed": seed, "language": language}
            self.original, self.text = "", edited(LINE, base)
        else:
            open_folder(folder)  # what is wrong in it is said before anything is changed
            self.original = self.text = read_text(protocol)
            self._copy_files()
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

    def problems(self) -> tuple[Problem, ...]:
        """What `konsil check` has against the draft."""
        try:
            problems = findings(open_folder(self.staging)).problems
        except StudyError as error:
            problems = error.problems or tuple(map(Problem, lines_of(error.sentence)))
        except KonsilError as error:
            problems = tuple(map(Problem, lines_of(error.sentence)))
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
            return tuple(needs_of(open_folder(self.staging).study))
        except KonsilError:  # it is among the problems
            return ()

    def _without_place(self, sentence: str) -> str:
        return replaced(sentence, f"{self.staging}/", "")
