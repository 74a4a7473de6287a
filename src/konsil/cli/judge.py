"""konsil judge: let models rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.api.calls import BatchCallRequest
from konsil.cli.collecting import callees, error_of, run_lines, run_record
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.errors import KonsilError

if TYPE_CHECKING:
    from konsil.collect.jobs.collection import Collected
    from konsil.collect.jobs.programs import Programmed


@click.command(short_help="Collect the LLM judges' ratings of their assigned tasks.")
@on_folder
@callees("judge")
@options_of(BatchCallRequest, "calls")
@with_json
def command(
    folder: Path, database: str, only: tuple[str, ...], calls: BatchCallRequest
) -> Printout:
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
    programmed: list[Programmed] = []
    collected: Collected | None = None
    refusal: KonsilError | None = None
    with opened.store() as store:
        if not calls.dry_run:
            note_study(store, study, now())
        programmed += run_programs(study, store, only=only, dry_run=calls.dry_run)
        if models or (not only and study.judges) or not programs:
            try:
                collected = judge(study, store, calls.options(models, dry_run=calls.dry_run))
            except KonsilError as error:
                refusal = error  # the ratings of programs are stored, and are printed
    lines = [_program_line(program) for program in programmed]
    if collected is None:
        return Printout({"programs": programmed, "ratings": None}, lines, refusal)
    return Printout(
        {"programs": programmed, "ratings": run_record(collected, calls.dry_run)},
        [*lines, *run_lines(collected, calls.dry_run)],
        error_of(collected),
    )


def _program_line(program: Programmed) -> str:
    skipped = f", {program.without:,} without a reference" if program.without else ""
    return (
        f"{program.rater}: {program.rated:,} tasks rated by the program,"
        f" {program.n_rated_before:,} before{skipped}"
    )
