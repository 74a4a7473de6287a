"""konsil kit: a rater's batch as one file for a place without a network."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import acting, on_folder
from konsil.cli.printout import Printout, with_json

if TYPE_CHECKING:
    from konsil.api import Folder
    from konsil.web.kit.kit_answers import TakenIn


@click.command(short_help="Write a rater's batch as one file for sites without a network.")
@on_folder
@click.option(
    "--rater", default="", metavar="ID", help="Rater who receives the kit. [list existing kits]"
)
@click.option("--batch", metavar="NAME", help="Batch of the rater. [the next]")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Output file. [FOLDER/kit-RATER-NUMBER.html]"
)
@click.option("--language", default="", metavar="CODE", help="Language, de or en. [the study's]")
@acting("makes the kit")
@with_json
def command(
    folder: Path,
    database: str,
    rater: str,
    batch: str | None,
    output: Path | None,
    language: str,
    by: str,
) -> Printout:
    """Write a rater's unfinished tasks in a batch of the study in FOLDER as one HTML file.

    The file is the rating page without a server: it is equally blinded and works in any browser
    without a network. When finished, it saves a signed file of answers; import that file with
    `konsil import FOLDER --kit FILE`.
    """
    from konsil.api import open_folder
    from konsil.api.running.kits import kits_made, make_kit
    from konsil.api.running.planning import make_plan
    from konsil.errors import AddedTasksError, StudyError

    opened = open_folder(folder, database=database)
    if not rater:
        if batch is not None or output is not None or language or by:
            raise StudyError(
                "--rater: missing; state the rater of the kit, such as --rater physician-1"
            )
        return _list(kits_made(opened))
    # Tasks that cannot be added leave the stored ones, of which a kit is made.
    with suppress(AddedTasksError):
        make_plan(opened)
    kit, path = make_kit(opened, rater, batch=batch, output=output, language=language, by=by)
    size = len(kit.html.encode())
    return Printout(
        {"file": path, "rater": rater, "screens": kit.screens, "bytes": size},
        [f"{path}: {kit.screens:,} {_word(kit.screens)}, {size / 1000:,.0f} kB"],
    )


def _list(kits: Iterable[tuple[str, str, int, bool]]) -> Printout:
    """The kits that were made before."""
    rows, lines = [], []
    for rater, batch, screens, is_returned in kits:
        label = f" batch {batch}" if batch else ""
        state = "answers came back" if is_returned else "no answers yet"
        lines.append(f"{rater}{label}: {screens:,} {_word(screens)}, {state}")
        rows.append(
            {
                "rater": rater,
                "batch": batch or None,
                "screens": screens,
                "is_returned": is_returned,
            }
        )
    return Printout({"kits": rows}, lines)


def import_kit(opened: Folder, file: Path) -> tuple[dict[str, object], list[str]]:
    """Take in the answers file of a kit.

    The result as data, and as lines, screen by screen where something did not go in.
    """
    from konsil.api.running.kits import take_in_answers

    imported = take_in_answers(opened, file)
    record = {
        "file": file,
        "rater": imported.rater,
        "is_older": imported.again,
        "handed_in": imported.handed_in,
        "incomplete": imported.n_incomplete,
        "unchanged": imported.unchanged,
        "reassigned": imported.n_reassigned,
        "left_unchanged": list(imported.reason_by_screen.values()),
        "problems": imported.problems,
    }
    return record, _import_lines(imported, file)


def _import_lines(imported: TakenIn, file: Path) -> list[str]:
    if imported.again:
        return [f"{file}: was already imported, or is older than the last import; nothing changed"]
    counts = {
        "handed in": imported.handed_in,
        "not complete yet": imported.n_incomplete,
        "nothing new": imported.unchanged,
        "reassigned to another rater": imported.n_reassigned,
        "left unchanged": len(imported.reason_by_screen),
    }
    parts = ", ".join(f"{n:,} {state}" for state, n in counts.items() if n) or "no ratings"
    lines = [f"{imported.rater}: {parts}"]
    if imported.problems:
        lines.append(
            f"  {imported.problems:,} {'problem' if imported.problems == 1 else 'problems'}"
            f" reported"
        )
    lines += [
        f"  a task was left unchanged: {reason}" for reason in imported.reason_by_screen.values()
    ]
    return lines


def _word(screens: int) -> str:
    return "screen" if screens == 1 else "screens"
