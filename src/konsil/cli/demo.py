"""konsil demo: a study from nothing to a report within a minute."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import click


@click.command(short_help="Make a small simulated study in a new folder and write its report.")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
def command(folder: Path | None) -> None:
    """Make a small study of German and English clinical questions in a new FOLDER (default: konsil-demo).

    Its panel and judges are simulated and labelled so everywhere. Nothing is asked, opened or fetched.
    """
    from konsil.api.rehearsal import demo

    place = folder or _free()
    page = demo(place)
    click.echo(f"study:  {place}")
    click.echo(f"report: {page}")


def _free() -> Path:
    """The first of konsil-demo, konsil-demo-2, ... that is not there yet."""
    names = (Path("konsil-demo" if n == 1 else f"konsil-demo-{n}") for n in count(1))
    return next(p for p in names if not p.exists())
