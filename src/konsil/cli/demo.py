"""konsil demo: a study from nothing to a report within one minute, or a few with a real model."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import click

from konsil.cli.printout import Printout, with_json
from konsil.cli.terminal import Note


@click.command(short_help="Create a small simulated study and write its report.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option(
    "--local",
    is_flag=True,
    help="Use a small local model to answer and judge; see 'konsil local install'.",
)
@with_json
def command(folder: Path | None, local: bool) -> Printout:
    """Create a small study of German and English clinical questions in a new FOLDER.

    The default is konsil-demo. Its panel and judges are simulated and labelled as such everywhere.
    Nothing is downloaded or opened.

    With --local, a small language model on this machine answers English questions and is one of the
    judges. This takes some minutes; after an interruption, run the same command again (default
    folder: konsil-demo-local).
    """
    if local:
        from konsil.api.rehearsal.local_demo import local_demo

        place = folder or Path("konsil-demo-local")
        page = local_demo(place, lambda line: click.echo(Note(line), err=True))
    else:
        from konsil.api.rehearsal.rehearsal import demo

        place = folder or _free()
        page = demo(place)
    return Printout({"study": place, "report": page}, [f"study:  {place}", f"report: {page}"])


def _free() -> Path:
    """The first of konsil-demo, konsil-demo-2, ... that is not there yet."""
    names = (Path("konsil-demo" if n == 1 else f"konsil-demo-{n}") for n in count(1))
    return next(p for p in names if not p.exists())
