"""What commands that take any table share: how its file is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def of_a_table(function: F) -> F:
    """Add the options of a file with a table: missing, sheet, encoding and separator."""
    for option in (
        click.option(
            "--separator", default="", metavar="S", help="The field separator, where .csv has no comma, .tsv no tab."
        ),
        click.option("--encoding", default="utf-8", show_default=True, help="The encoding of a text file."),
        click.option("--sheet", default="", help="The sheet of a spreadsheet."),
        click.option(
            "--missing", metavar="W", multiple=True, help="A word that means not rated, besides the empty cell."
        ),
    ):
        function = option(function)
    return function
