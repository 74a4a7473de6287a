"""--quiet and --verbose: on the group and after each command."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import click

from konsil.cli.terminal import Block
from konsil.errors import KonsilError
from konsil.progress import Verbosity, own_verbosity, set_verbosity, verbosity

_HELP = {
    "quiet": "Print only results and errors: no notes, no progress.",
    "verbose": "Also print the seconds of each stage and, after an error, where it arose.",
}


def verbosity_options() -> list[click.Option]:
    """New options for one command."""
    return [_option(level) for level in get_args(Verbosity) if level in _HELP]


def _option(level: Verbosity) -> click.Option:
    def choose(context: click.Context, _option: click.Parameter, is_chosen: bool) -> None:
        if not is_chosen:
            return
        if verbosity() not in ("normal", level):
            context.fail("--quiet and --verbose contradict each other; expected one of them")
        set_verbosity(level)

    return click.Option(
        [f"--{level}"], is_flag=True, expose_value=False, callback=choose, help=_HELP[level]
    )


@contextmanager
def timed(command: str) -> Iterator[None]:
    """Print the seconds of the block, and the traceback of an error, where everything is shown."""
    start = time.monotonic()
    with own_verbosity():
        try:
            yield
        except (KonsilError, OSError):
            if verbosity() == "verbose":
                click.echo(Block(traceback.format_exc().rstrip()), err=True)
            raise
        finally:
            if verbosity() == "verbose":
                click.echo(f"{command}: {time.monotonic() - start:.1f} s in all", err=True)
