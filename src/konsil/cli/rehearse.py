"""konsil rehearse: the whole study by simulated raters, through its pages."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.folder import on_folder


@click.command(short_help="Run the study on a copy with simulated raters and write its report.")
@on_folder
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="The copy's folder; default: FOLDER-rehearsal.",
)
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    help="How they rate; default: FOLDER/simulation.toml, if any.",
)
@click.option("--seed", type=int, help="Another seed than the study's.")
@click.option(
    "--pace",
    default=0.0,
    type=click.FloatRange(0),
    help="1: they take their time; 0: they take none.",
)
@click.option("--most", type=click.IntRange(1), help="So many pages each at the utmost.")
@click.option(
    "--copy-database",
    default="",
    metavar="URL",
    help="An empty database for the copy, to rehearse on PostgreSQL.",
)
@click.option(
    "--browser",
    "windows",
    default=0,
    type=click.IntRange(0, 9),
    metavar="N",
    help="So many of them in a real Chromium.",
)
@click.option(
    "--items",
    type=click.IntRange(1),
    metavar="N",
    help="Pretend so many items, where none are collected yet.",
)
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1),
    help="Processes of the server; with PostgreSQL only.",
)
def command(
    folder: Path,
    database: str,
    target: Path | None,
    truth: Path | None,
    seed: int | None,
    pace: float,
    most: int | None,
    copy_database: str,
    workers: int,
    windows: int,
    items: int | None,
) -> None:
    """Rehearse the study in FOLDER before anybody is invited, in a new folder beside it.

    A copy without ratings is served on this machine. One simulated rater for each person of the
    plan comes in by an invitation and rates through the pages, tie-breaks included. What judges say
    is drawn: no model is asked. The report of the copy says everywhere that its ratings are
    simulated. The study itself is only read. With --browser some of them sit at a real browser and
    use its keyboard alone.
    """
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import TRUTH, truth_of
    from konsil.api.rehearsal.rehearsing import rehearse, time_lines
    from konsil.simulate import Truth

    opened = open_folder(folder, database=database)
    has_truth = truth is not None or (folder / TRUTH).is_file()
    place = target or folder.absolute().with_name(f"{folder.absolute().name}-rehearsal")
    rehearsed = rehearse(
        opened,
        truth_of(opened, truth) if has_truth else Truth(),
        place,
        seed=seed,
        think=lambda seconds: pace * seconds,
        max_pages=most,
        database=copy_database,
        workers=workers,
        windows=windows,
        items=items,
        say=lambda line: click.echo(line, err=True),
    )
    for line in time_lines(rehearsed):
        click.echo(line)
    pages, faults = sum(rehearsed.outcome.handed_in.values()), rehearsed.outcome.times.faults
    click.echo(
        f"{pages:,} of {rehearsed.planned:,} pages in {rehearsed.outcome.seconds:.1f} s;"
        f" {len(faults)} faults"
    )
    for fault in faults[:10]:
        click.echo(f"  {fault}")
    if rehearsed.report is not None:
        click.echo(f"report: {rehearsed.report}")
    if faults:
        raise SystemExit(1)
