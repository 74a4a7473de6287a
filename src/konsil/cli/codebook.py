"""konsil codebook: what raters and judges are told, to read or to print."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Note


@click.command(short_help="Write the codebook as a printable page and as a PDF.")
@on_folder
@click.option("--html", type=click.Path(path_type=Path), help="Output page. [FOLDER/codebook.html]")
@click.option("--pdf", type=click.Path(path_type=Path), help="Also write this PDF file.")
@click.option(
    "--instrument",
    "chosen",
    multiple=True,
    metavar="ID",
    help="Only this instrument; repeatable. [all]",
)
@with_json
def command(
    folder: Path, database: str, html: Path | None, pdf: Path | None, chosen: tuple[str, ...]
) -> Printout:
    """Write the codebook of the study in FOLDER: guidance, questions and scale points.

    The wording is that of the rating pages. The page is self-contained and prints on A4; the PDF
    has real text and bookmarks, but no tags for screen readers, unlike the page.
    """
    from konsil.api import open_folder
    from konsil.api.running.codebooks import write_codebook

    opened = open_folder(folder, database=database)
    written = write_codebook(opened, html=html, pdf=pdf, chosen=chosen)
    files = written[: 1 if pdf is None else 2]
    return Printout({"files": files}, [*files, *map(Note, written[len(files) :])])
