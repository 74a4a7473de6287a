"""konsil erase: a rater's personal data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import on_named_folder
from konsil.cli.printout import Printout, asks_json, with_json

if TYPE_CHECKING:
    from konsil.store.privacy.erasing import Erased

OUT_OF_REACH = (
    "not erased: backups, copies before an update (konsil-schema*.db), exports, releases, reports"
    " and kits made before, source files, and what study.toml states of the rater; delete or change"
    " these by hand"
)


@click.command(short_help="Erase a rater: ratings, texts, drafts, profile, name and address.")
@on_named_folder
@click.argument("rater")
@click.option(
    "--by", required=True, metavar="ID", help="Pseudonym of the person who erases, for the log."
)
@click.option("--reason", required=True, help="Reason, for the log; no names.")
@click.option("--yes", is_flag=True, help="Erase without asking for confirmation.")
@with_json
def command(folder: Path, database: str, rater: str, by: str, reason: str, yes: bool) -> Printout:
    """Permanently erase the data of RATER, a rater's identifier, from the study in FOLDER.

    The plan under the identifier and the times of sign-in and submission in the audit log remain.
    Ratings are erased if study.toml requires it: ratings_after_erasure under [privacy].
    """
    from konsil.api import open_folder
    from konsil.api.folder import erasing
    from konsil.cli.terminal import show
    from konsil.errors import StudyError

    opened = open_folder(folder, database=database)
    preview = erasing.preview(opened, rater)
    if preview.at:
        erasing.erase(opened, rater, by=by, reason=reason)
        return Printout(
            {**_record(preview), "at": preview.at[:10], "by": preview.by, "is_new": False},
            [
                f"{show(rater)} was erased on {preview.at[:10]} by {show(preview.by)}; nothing is"
                " left to erase"
            ],
        )
    if asks_json() and not yes:
        raise StudyError("--json: --yes is missing; nobody can be asked for confirmation")
    if not asks_json():
        _announce(preview, rater)
    if not yes:
        typed = _typed("Type the identifier to erase permanently")
        if typed != rater:
            raise StudyError(
                f"erase: {typed!r} is not the identifier {rater!r}; nothing was erased"
            )
    erased = erasing.erase(opened, rater, by=by, reason=reason)
    if not erased.is_clean:
        click.echo(
            "note: another program uses the database; remnants in its files are overwritten when"
            " you run this command again after it ended",
            err=True,
        )
    return Printout(
        {
            **_record(erased),
            "is_clean": erased.is_clean,
            "at": erased.at[:10],
            "by": by,
            "is_new": True,
        },
        [
            f"{show(rater)}: erased on {erased.at[:10]}; run 'konsil analyse' and 'konsil report'"
            " to update the estimates"
        ],
    )


def _record(erased: Erased) -> dict[str, object]:
    """What is erased, in numbers."""
    return {
        "rater": erased.rater,
        "records": erased.records,
        "ratings_erased": erased.ratings,
        "ratings_retained": erased.n_retained,
        "tasks_moved": erased.moved,
    }


def _announce(preview: Erased, rater: str) -> None:
    """Print what will be erased, what happens to the ratings, and what is out of reach.

    This is printed before anything happens.
    """
    from konsil.cli.terminal import show

    counts = ", ".join(f"{n:,} in {name}" for name, n in preview.records.items()) or "no records"
    click.echo(f"{show(rater)}: to be erased: {counts}")
    if preview.n_retained:
        click.echo(
            f"ratings: {_erased(preview.ratings)} (free texts);"
            f" {_ratings(preview.n_retained)} stay under the"
            ' identifier, without notes and times (ratings_after_erasure = "keep")'
        )
    else:
        click.echo(
            f"ratings: {_erased(preview.ratings)}, with all earlier values; analyses state how many"
        )
    if preview.moved:
        click.echo(
            f"plan: {preview.moved:,} open {'task is' if preview.moved == 1 else 'tasks are'}"
            " reassigned or cancelled"
        )
    if preview.anchored is not None:
        click.echo(
            "audit log: has unsalted hashes of an older version and is re-anchored; only the"
            f" head of the old chain is kept: {preview.anchored.before}"
        )
    click.echo(OUT_OF_REACH)


def _typed(question: str) -> str:
    """What is typed; nothing where there is nobody to type."""
    try:
        return str(click.prompt(question, default="", show_default=False))
    except click.Abort:
        return ""


def _ratings(n: int) -> str:
    return "1 rating" if n == 1 else f"{n:,} ratings"


def _erased(n: int) -> str:
    return f"{_ratings(n)} {'is' if n == 1 else 'are'} erased"
