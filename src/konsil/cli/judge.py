"""konsil judge: let models rate."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.cli.collecting import options, raise_where_stopped, run_lines
from konsil.cli.folder import on_folder


@click.command(short_help="Collect the LLM judges' ratings of their assigned tasks.")
@on_folder
@options("judge")
def command(
    folder: Path,
    database: str,
    only: tuple[str, ...],
    limit: int | None,
    budget: float | None,
    again: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Let the judges of the study in FOLDER rate their tasks, on the instrument that people see.

    Programs go first.

    A reply that cannot be read is asked for once more, then counted; it never becomes a label. Stop
    it whenever you like: the same command goes on where it was.
    """
    from konsil.api import open_folder
    from konsil.api.folder.noting import note_study
    from konsil.api.folder.opened import now
    from konsil.collect.jobs.collection import Options
    from konsil.collect.jobs.judges import judge
    from konsil.collect.jobs.programs import run_programs

    opened = open_folder(folder, database=database)
    study = opened.study
    programs = {p.rater for p in study.programs}
    models = tuple(name for name in only if name not in programs)
    with opened.store() as store:
        if not dry_run:
            note_study(store, study, now())
        for program in run_programs(study, store, only=only, dry_run=dry_run):
            skipped = f", {program.without:,} without a reference" if program.without else ""
            click.echo(
                f"{program.rater}: {program.rated:,} tasks rated by the program,"
                f" {program.n_rated_before:,} before{skipped}"
            )
        if models or (not only and study.judges) or not programs:
            collected = judge(study, store, Options(models, limit, budget, again, dry_run))
            for line in run_lines(collected, dry_run):
                click.echo(line)
            raise_where_stopped(collected)
