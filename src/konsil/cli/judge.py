"""konsil judge: let models rate."""

from __future__ import annotations

from pathlib import Path

import click

from konsil.api.calls import CallRequest
from konsil.cli.collecting import callees, raise_where_stopped, run_lines
from konsil.cli.folder import on_folder
from konsil.cli.request_options import options_of


@click.command(short_help="Collect the LLM judges' ratings of their assigned tasks.")
@on_folder
@callees("judge")
@options_of(CallRequest, "calls")
def command(folder: Path, database: str, only: tuple[str, ...], calls: CallRequest) -> None:
    """Collect the LLM judges' ratings of their tasks, with the instrument that people use.

    Rule-based programs rate first.

    An invalid reply is requested once more, then counted; it never becomes a label. The command can
    be stopped at any time: run it again to continue.
    """
    from konsil.api import open_folder
    from konsil.api.folder.noting import note_study
    from konsil.api.folder.opened import now
    from konsil.collect.jobs.judges import judge
    from konsil.collect.jobs.programs import run_programs

    opened = open_folder(folder, database=database)
    study = opened.study
    programs = {p.rater for p in study.programs}
    models = tuple(name for name in only if name not in programs)
    with opened.store() as store:
        if not calls.dry_run:
            note_study(store, study, now())
        for program in run_programs(study, store, only=only, dry_run=calls.dry_run):
            skipped = f", {program.without:,} without a reference" if program.without else ""
            click.echo(
                f"{program.rater}: {program.rated:,} tasks rated by the program,"
                f" {program.n_rated_before:,} before{skipped}"
            )
        if models or (not only and study.judges) or not programs:
            collected = judge(study, store, calls.options(models, dry_run=calls.dry_run))
            for line in run_lines(collected, calls.dry_run):
                click.echo(line)
            raise_where_stopped(collected)
