"""The texts of letters: konsil's own, or those of the study's folder with placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import StudyError, nearest
from konsil.letters.opened import read_text
from konsil.locale import catalogue_language, languages
from konsil.store.people.letters import LetterKind
from konsil.web.http import formatting
from konsil.web.site import letters

KINDS: tuple[LetterKind, ...] = ("invitation", "reminder")
PLACEHOLDERS = ("greeting", "link", "name", "tasks", "title", "until")
"""What a study's own text can contain in braces."""
_SUBJECT = "Subject:"
_GAP = re.compile(r"\{([^{}]*)\}")
_SENTENCE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a letter states about its recipient."""

    title: str
    name: str
    link: str
    until: str
    """Time until which the link works, ISO 8601."""
    n_tasks: int
    """Tasks that are not completed."""
    sender: str = ""
    """The name in mail.toml under which the letter ends; empty: none."""


@dataclass(frozen=True, slots=True)
class Template:
    """A study's own text."""

    place: Path
    """The file."""
    subject: str
    text: str

    @property
    def has_name(self) -> bool:
        """Whether it needs the recipient's name."""
        return "{name}" in self.subject + self.text

    def filled(self, contents: Contents, language: str) -> tuple[str, str]:
        """Subject and text."""
        values = {
            "greeting": letters.greeting(language, contents.name),
            "link": contents.link,
            "name": contents.name,
            "tasks": formatting.number(contents.n_tasks, language),
            "title": contents.title,
            "until": formatting.day(contents.until, language),
        }
        # One pass: a title with braces is a title.
        return tuple(  # type: ignore[return-value]
            _GAP.sub(lambda gap: values[gap[1]], text) for text in (self.subject, self.text)
        )


Templates = Mapping[tuple[LetterKind, str], Template]
"""A study's own texts by kind and language."""


def read_templates(folder: Path) -> Templates:
    """The texts of a folder, such as invitation.en.txt; all of them are checked."""
    if not folder.is_dir():
        return {}
    names = {
        f"{kind}.{language}.txt": (kind, language) for kind in KINDS for language in languages()
    }
    templates = {}
    for file in sorted(folder.iterdir()):
        if file.name.startswith("."):
            continue
        if file.name not in names:
            raise StudyError(f"{file}: no letter has this name; {nearest(file.name, names)}")
        templates[names[file.name]] = _template(file)
    return templates


def _template(file: Path) -> Template:
    head, _, text = read_text(file).replace("\r\n", "\n").partition("\n")
    subject = head.removeprefix(_SUBJECT).strip()
    if not head.startswith(_SUBJECT) or not subject:
        raise StudyError(f"{file}:1: expected the line '{_SUBJECT} ...', got {head[:80]!r}")
    for number, line in enumerate((subject, *text.split("\n")), 1):
        for name in _GAP.findall(line):
            if name not in PLACEHOLDERS:
                hint = nearest(name, PLACEHOLDERS)
                raise StudyError(f"{file}:{number}: there is no placeholder {{{name}}}; {hint}")
        if "{" in _GAP.sub("", line) or "}" in _GAP.sub("", line):
            raise StudyError(f"{file}:{number}: a brace without its counterpart, in {line[:80]!r}")
    if "{link}" in subject:
        raise StudyError(
            f"{file}:1: a subject is shown in lists of letters; {{link}} is for the text"
        )
    if text.count("{link}") != 1:
        raise StudyError(f"{file}: expected {{link}} once, got it {text.count('{link}')} times")
    return Template(file, subject, text.strip("\n") + "\n")


def letter_text(
    kind: LetterKind, language: str, contents: Contents, templates: Templates
) -> tuple[str, str]:
    """Subject and text of a letter in a language; a subject is one line."""
    spoken = catalogue_language(language) or "en"
    own_text = templates.get((kind, spoken))
    if own_text is not None:
        subject, text = own_text.filled(contents, spoken)
    else:
        c = contents
        common = (spoken, c.title, c.name, c.link, c.until)
        subject, text = (
            letters.reminder(*common, c.n_tasks) if kind == "reminder" else letters.letter(*common)
        )
        text += f"{c.sender}\n" if c.sender else ""
    return _SENTENCE.sub(" ", subject).strip(), text
