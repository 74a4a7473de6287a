"""konsil simulate: a rehearsal from stated parameters."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Simulate a panel's ratings from stated parameters.")
@on_folder
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="File with the true parameters; default: FOLDER/simulation.toml.",
)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="Copy the study to this new folder and simulate there.",
)
@click.option("--seed", type=int, help="Seed, instead of the study's.")
@with_json
def command(
    folder: Path, database: str, truth: Path | None, target: Path | None, seed: int | None
) -> Printout:
    """Simulate the ratings of the panels and judges of the study in FOLDER, according to its plan.

    The study must have simulated = true, so that simulated and collected ratings are never mixed;
    --to simulates in a marked copy of any other study.
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
    place, n = target or opened.path, added.new.get("ratings", 0)
    return Printout(
        {"folder": place, "simulated_ratings": n}, [f"{place}: {n:,} simulated ratings"]
    )
