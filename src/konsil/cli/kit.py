"""konsil kit: a rater's batch as one file for a place without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import acting, on_folder

if TYPE_CHECKING:
    from konsil.api import Folder


@click.command(short_help="Write a rater's batch as one file for sites without a network.")
@on_folder
@click.option(
    "--rater", default="", metavar="ID", help="Whose tasks. [only list the kits that were made]"
)
@click.option("--batch", metavar="NAME", help="Which batch. [the rater's next]")
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file. [FOLDER/kit-RATER-NUMBER.html]"
)
@click.option("--language", default="", metavar="CODE", help="de or en. [the study's]")
@acting("makes it")
def command(
    folder: Path,
    database: str,
    rater: str,
    batch: str | None,
    output: Path | None,
    language: str,
    by: str,
) -> None:
    """Write what a rater has still to do in a batch of the study in FOLDER as one HTML file.

    It is the rating page without a server: blinded in the same way, opened in any browser, with no
    network. In the end it gives a signed file of answers, which `konsil import FOLDER --kit FILE`
    takes in.
    """
    from konsil.api import open_folder
    from konsil.api.running.kits import kits_made, make_kit
    from konsil.api.running.planning import make_plan
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    if not rater:
        if batch is not None or output is not None or language or by:
            raise StudyError("--rater: name whose tasks, such as --rater physician-1")
        for rater_id, name, screens, is_returned in kits_made(opened):
            label = f" batch {name}" if name else ""
            click.echo(
                f"{rater_id}{label}: {screens:,} {_word(screens)},"
                f" {'answers came back' if is_returned else 'no answers yet'}"
            )
        return
    make_plan(opened)
    kit, path = make_kit(opened, rater, batch=batch, output=output, language=language, by=by)
    click.echo(
        f"{path}: {kit.screens:,} {_word(kit.screens)}, {len(kit.html.encode()) / 1000:,.0f} kB"
    )


def import_summary(opened: Folder, file: Path) -> list[str]:
    """Take in the answers file of a kit.

    Say what became of it, screen by screen where something did not go in.
    """
    from konsil.api.running.kits import take_in_answers

    imported = take_in_answers(opened, file)
    if imported.again:
        return [f"{file}: was taken in before, or is older than what was; nothing changed"]
    counts = {
        "handed in": imported.handed_in,
        "not complete yet": imported.n_incomplete,
        "nothing new": imported.unchanged,
        "with somebody else by now": imported.n_reassigned,
        "left as they are": len(imported.reason_by_screen),
    }
    parts = ", ".join(f"{n:,} {state}" for state, n in counts.items() if n) or "nothing in it"
    lines = [f"{imported.rater}: {parts}"]
    if imported.problems:
        lines.append(
            f"  {imported.problems:,} {'problem' if imported.problems == 1 else 'problems'}"
            f" reported"
        )
    lines += [
        f"  a screen was left as it is: {reason}" for reason in imported.reason_by_screen.values()
    ]
    return lines


def _word(screens: int) -> str:
    return "screen" if screens == 1 else "screens"
