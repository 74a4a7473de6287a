"""What the commands on a study's folder share: the argument and the option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def on_folder(function: F) -> F:
    """The study's folder as the argument, and another database as an option."""
    argument = click.argument("folder", type=click.Path(path_type=Path), default=Path())
    option = click.option(
        "--database", default="", metavar="URL", help="A database instead of the folder's own (or KONSIL_DATABASE)."
    )
    return argument(option(function))
