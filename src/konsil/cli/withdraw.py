"""konsil withdraw: a rater leaves."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import acting, on_folder


@click.command(short_help="Let a rater go, and give what is not rated to the others.")
@on_folder
@click.option("--rater", required=True, metavar="ID", help="Who leaves.")
@click.option("--reason", default="", help="Why, for the log; no names.")
@acting("lets the rater go")
@click.option(
    "--dry-run", is_flag=True, help="Only say what would become of the tasks; change nothing."
)
def command(folder: Path, database: str, rater: str, reason: str, by: str, dry_run: bool) -> None:
    """Let a rater of the study in FOLDER go.

    The rater's links end, what was rated stays, and what was not goes to the others of the panel,
    evenly. What nobody can take over lapses.
    """
    from konsil.api import open_folder
    from konsil.api.running.running import withdraw

    found = withdraw(
        open_folder(folder, database=database), rater, reason=reason, by=by, keep=not dry_run
    )
    taken = found.n_taken_over
    nothing = "; nothing changed" if dry_run else ""
    lapse = "wait in the free place" if found.frees else "lapse"
    click.echo(
        f"{rater}: {found.stay:,} screens stay, {sum(taken.values()):,} change hands,"
        f" {found.lapsed:,} {lapse}{nothing}"
    )
    for other, before in found.before.items():
        click.echo(f"  {other}: {before:,} to do before, {before + taken[other]:,} then")
