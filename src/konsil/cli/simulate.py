"""konsil simulate: a rehearsal from stated parameters."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Simulate a panel's ratings from stated parameters.")
@on_folder
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="The true parameters; default: FOLDER/simulation.toml.",
)
@click.option(
    "--to", "target", type=click.Path(path_type=Path), help="Simulate into a new copy of the study."
)
@click.option("--seed", type=int, help="Another seed than the study's.")
def command(
    folder: Path, database: str, truth: Path | None, target: Path | None, seed: int | None
) -> None:
    """Draw the ratings of the panels and judges of the study in FOLDER, as its plan assigns them.

    The study must say simulated = true, so that simulated ratings never mix with collected ones;
    --to makes a marked copy of a study that does not.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import simulate, simulate_copy, truth_of

    opened = open_folder(folder, database=database)
    parameters = truth_of(opened, truth)
    added = (
        simulate(opened, parameters, seed)
        if target is None
        else simulate_copy(opened, parameters, target, seed)
    )
    click.echo(f"{target or opened.path}: {added.new.get('ratings', 0):,} simulated ratings")
