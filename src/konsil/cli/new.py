"""konsil new: a folder to start from."""

from __future__ import annotations

import re
import shutil
import tomllib
from importlib.resources import as_file, files
from pathlib import Path

import click

from konsil.api.editor_schema import with_schema_line, write_schema
from konsil.cli.printout import Printout, asks_json, with_json
from konsil.errors import StudyError, nearest
from konsil.locale import SOURCE, complete_languages
from konsil.store.engine.folders import copy_new

PROTOCOL = "study.toml"
_OF_A_LANGUAGE = re.compile(r"(.+)\.([a-z]{2})(\.\w+)")
"""study.en.toml, codebook.de.md: files of one language."""


@click.command(short_help="Create a folder with a study.toml to start from.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--protocol", default="starter", show_default=True, help="Protocol to start from.")
@click.option(
    "--language", default="", metavar="de|en", help="Language of the protocol, if it has several."
)
@click.option("--guided", is_flag=True, help="Set up the study by questions about your own tables.")
@with_json
def command(folder: Path, protocol: str, language: str, guided: bool) -> Printout:
    """Create FOLDER with a protocol, a codebook and small example files.

    An existing folder is never changed. With --guided, questions with defaults lead to a study of
    your own tables; nothing is written before the last question.
    """
    if guided:
        if asks_json():
            raise StudyError("--json: --guided asks questions; leave out one of the two")
        _guide(folder, protocol, language)
        return Printout({"folder": folder})
    names = sorted(
        p.name for p in files("konsil.protocols").iterdir() if p.joinpath(PROTOCOL).is_file()
    )
    if protocol not in names:
        raise StudyError(
            f"--protocol {protocol!r}: there is no such protocol; {nearest(protocol, names)}"
        )
    with as_file(files("konsil.protocols").joinpath(protocol)) as source:
        protocols = _languages(source)
        if language and language not in protocols:
            raise StudyError(
                f"--language {language!r}: {protocol!r} is not available in it;"
                f" {nearest(language, protocols)}"
            )
        # The protocol's own language is that of its study.toml, the first one.
        chosen = language or next(iter(protocols))
        copy_new(folder, lambda draft: _copy(source, draft, chosen, protocols[chosen]))
    return Printout(
        {"folder": folder, "protocol": protocol, "language": chosen},
        [f"{folder}: created from {protocol!r}; next: konsil check {folder}"],
    )


def _guide(folder: Path, protocol: str, language: str) -> None:
    from konsil.cli.guided import guided

    if protocol != "starter":
        raise StudyError(
            f"--protocol {protocol!r}: --guided starts from your own tables;"
            " leave out one of the two"
        )
    if language not in ("", *complete_languages()):
        raise StudyError(f"--language {language!r}: {nearest(language, complete_languages())}")
    guided(folder, language or SOURCE)


def _languages(source: Path) -> dict[str, Path]:
    """Language -> its protocol: study.toml in its own, study.de.toml and the like in others."""
    language = tomllib.loads((source / PROTOCOL).read_text("utf-8")).get("language", "en")
    others = {
        m[2]: p
        for p in sorted(source.glob("study.*.toml"))
        if (m := _OF_A_LANGUAGE.fullmatch(p.name))
    }
    return {language: source / PROTOCOL, **others}


def _copy(source: Path, draft: Path, language: str, protocol: Path) -> None:
    text = with_schema_line(protocol.read_text("utf-8"))
    (draft / PROTOCOL).write_bytes(text.encode())
    write_schema(draft)
    for file in sorted(source.rglob("*")):
        of = _OF_A_LANGUAGE.fullmatch(file.name)
        # A file in this language replaces the one of the same name that states no language.
        another = of is not None and (
            of[2] != language or file.with_name(f"{of[1]}{of[3]}").is_file()
        )
        if file.is_file() and file.suffix != ".pyc" and file.name != PROTOCOL and not another:
            translated = file.with_name(f"{file.stem}.{language}{file.suffix}")
            target = draft / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(translated if translated.is_file() else file, target)
