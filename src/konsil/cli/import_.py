"""konsil import: records into the study's database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from konsil.cli.folder import on_folder
from konsil.errors import SourceError, StudyError
from konsil.records import Source, SourceKind

if TYPE_CHECKING:
    from konsil.store import Added

_SETTING = re.compile(r"\b(?:columns|fixed|raters|criteria)(?:\.\w+)? = ")
_AS_OPTIONS = (
    "with --file such settings are options: --column FIELD=COLUMN, --fixed FIELD=VALUE, --rater"
    " COLUMN=RATER, --criterion COLUMN=CRITERION"
)

KINDS = ("items", "answers", "ratings", "labelstudio", "anki", "real-pocqi")


@click.command(short_help="Read items, answers and ratings into the study's database.")
@on_folder
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    help="A file instead of the protocol's [[sources]].",
)
@click.option(
    "--export",
    "export",
    type=click.Path(path_type=Path),
    help="A folder that 'konsil export' wrote.",
)
@click.option(
    "--kit",
    "kits",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The answers file of an offline kit.",
)
@click.option(
    "--records",
    type=click.Choice(KINDS),
    default="ratings",
    show_default=True,
    help="What its rows are.",
)
@click.option("--sheet", default="", help="The sheet of a spreadsheet.")
@click.option("--encoding", default="utf-8", show_default=True, help="The text's encoding.")
@click.option("--separator", default="", help="The field separator of a text table.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column is which field.",
)
@click.option(
    "--fixed",
    multiple=True,
    metavar="FIELD=VALUE",
    help="A field with the same value in every row.",
)
@click.option(
    "--rater", "raters", multiple=True, metavar="COLUMN=RATER", help="Wide: the column of a rater."
)
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    metavar="COLUMN=CRITERION",
    help="Wide: a criterion's column.",
)
@click.option(
    "--label", "labels", multiple=True, metavar="WORD=LABEL", help="The file's word for a label."
)
@click.option(
    "--missing",
    multiple=True,
    metavar="WORD",
    help="A word that means not rated, besides the empty cell.",
)
@click.option(
    "--stratum",
    "strata",
    multiple=True,
    metavar="COLUMN",
    help="Items: a column that becomes a stratum.",
)
@click.option(
    "--hashed",
    multiple=True,
    metavar="FIELD",
    help="A field whose identifier is a digest of its text.",
)
@click.option(
    "--media",
    type=click.Choice(("drop", "mark")),
    default="drop",
    show_default=True,
    help="Anki: images and sounds.",
)
@click.option(
    "--hints/--no-hints",
    default=True,
    show_default=True,
    help="Anki: a deletion's hint follows the gap.",
)
def command(
    folder: Path,
    database: str,
    file: Path | None,
    export: Path | None,
    kits: tuple[Path, ...],
    records: str,
    sheet: str,
    encoding: str,
    separator: str,
    columns: tuple[str, ...],
    fixed: tuple[str, ...],
    raters: tuple[str, ...],
    criteria: tuple[str, ...],
    labels: tuple[str, ...],
    missing: tuple[str, ...],
    strata: tuple[str, ...],
    hashed: tuple[str, ...],
    media: Literal["drop", "mark"],
    hints: bool,
) -> None:
    """Read the protocol's [[sources]], or one --file, into the database of the study in FOLDER.

    All or nothing: a bad row is told with its line, and nothing is written. The same file again
    changes nothing.
    """
    from konsil.api import open_folder

    opened = open_folder(folder, database=database)
    if export is not None:
        click.echo(_import_line(opened.import_export(export)))
        return
    if kits:
        from konsil.cli.kit import import_summary

        for kit in kits:
            for line in import_summary(opened, kit):
                click.echo(line)
        return
    sources: tuple[Source, ...] = ()
    if file is not None:
        mapped: dict[str, tuple[str, ...]] = {}
        for field, column in _pairs(columns, "--column"):
            mapped[field] = (*mapped.get(field, ()), column)
        source = Source(
            file=str(file.resolve()),
            records=cast(SourceKind, records),
            sheet=sheet,
            encoding=encoding,
            separator=separator,
            columns=mapped,
            fixed=dict(_pairs(fixed, "--fixed")),
            raters=dict(_pairs(raters, "--rater")),
            criteria=dict(_pairs(criteria, "--criterion")),
            labels=dict(_pairs(labels, "--label")),
            missing=("", *missing),
            strata=strata,
            hashed=hashed,
            media=media,
            hints=hints,
        )
        sources = (source,)
    try:
        added = opened.import_sources(sources)
    except SourceError as error:
        if file is None or not _SETTING.search(str(error)):
            raise
        raise SourceError(f"{error}; {_AS_OPTIONS}", error.problems) from None
    click.echo(_import_line(added))
    for note in added.notes:
        click.echo(f"note: {note}")
    for line in opened.preparations(
        {Path(source.file).name for source in sources or opened.study.sources}
    ):
        click.echo(line)


def _pairs(values: Sequence[str], flag: str) -> list[tuple[str, str]]:
    pairs = []
    for value in values:
        key, equals, right = value.partition("=")
        if not equals or not key:
            raise StudyError(f"{flag} {value!r}: expected two words with '=' between them")
        pairs.append((key, right))
    return pairs


def _import_line(added: Added) -> str:
    new = ", ".join(
        f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in added.new.items() if n
    )
    same = sum(added.unchanged.values())
    unchanged = (
        f"; {same:,} {'record was' if same == 1 else 'records were'} there already" if same else ""
    )
    return f"new: {new or 'nothing'}{unchanged}"
