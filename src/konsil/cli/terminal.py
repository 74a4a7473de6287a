"""The one way of foreign text to the terminal: no control characters, one line, cut.

Titles, names of columns and messages of libraries come out of files. `guard_terminal` lets nothing
through that moves the cursor, whichever command prints it; `show` also makes one line of a text and
cuts it.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from konsil.progress import verbosity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST = 2_000
_print = click.echo


def escape(text: str) -> str:
    r"""Replace every control character but line ends and tabs by what it is called.

    >>> escape("a\x1b[2Jb\n")
    'a\\x1b[2Jb\n'
    """
    return _CONTROL.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    sign = match[0]
    if sign in "\n\t":
        return sign
    # The second form is JSON's, too, which leaves characters beyond ASCII to us and writes
    # those before the space itself.
    return f"\\x{ord(sign):02x}" if sign < " " else f"\\u{ord(sign):04x}"


class Note(str):
    """A line beside the result: what to do next, or what is worth a look; not shown if quiet."""

    __slots__ = ()


class Block(str):
    """Text of several lines of konsil's own, whose foreign parts have no line ends any more."""

    __slots__ = ()


def guard_terminal() -> None:
    """Pass all that commands print through `escape`: one line a message, but for a `Block`.

    A title with a line end in it would otherwise print a line that looks like one of konsil's.

    konsil's own lines have no control characters.
    """

    # The annotations are click's own types.
    @functools.wraps(_print)
    def echo(message: Any = None, *args: Any, **options: Any) -> None:  # noqa: ANN401
        if isinstance(message, Note) and verbosity() == "quiet":
            return
        if isinstance(message, str):
            message = escape(message) if isinstance(message, Block) else _one_line(message)
        _print(message, *args, **options)

    vars(click)["echo"] = echo


def table_console(**options: Any) -> Console:  # noqa: ANN401 - rich's own options
    """A console of rich on which every text passes through `escape`, those of cells included.

    Nothing in brackets is a style and nothing between colons a picture: names of systems and labels
    are printed as they are.
    """
    from rich.console import Console
    from rich.text import Text

    class Guarded(Console):
        """Rich turns every plain text into its own form here, and nowhere else."""

        def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401
            return super().render_str(escape(text), **{**options, "markup": False, "emoji": False})

    return Guarded(highlight=False, **options)


def result_console(reading: str) -> Console:
    """A console for the tables of a result, which begin with how its table was read."""
    console = table_console(width=None if sys.stdout.isatty() else 120)
    if reading:
        console.print(f"Read as: {reading}")
    return console


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a reader must know of a result."""
    for note in notes:
        console.print(f"Note: {note}", style="yellow")


def grid_of(head: str, *columns: str) -> Table:
    """A table without lines; after the first column those of numbers begin with >."""
    from rich.table import Table

    grid = Table(head, box=None, pad_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(name.removeprefix(">"), justify="right" if name[:1] == ">" else "left")
    return grid


def progress_console() -> Console:
    """A console on standard error, for a bar with words of konsil's own."""
    from rich.console import Console

    return Console(stderr=True)


def is_terminal() -> bool:
    """Whether somebody reads standard output as it comes."""
    from rich.console import Console

    return Console().is_terminal


def show(text: object, *, longest: int = _LONGEST) -> str:
    r"""Escape text that came out of a file before it is shown.

    What moves the cursor, changes colours or breaks lines is escaped, not sent.

    >>> show("a\x1b[31mb\nc")
    'a\\x1b[31mb c'
    >>> show("x" * 9, longest=5)
    'xxxx… (9 characters)'
    """
    line = _one_line(str(text))
    return line if len(line) <= longest else f"{line[: longest - 1]}… ({len(line):,} characters)"


def _one_line(text: str) -> str:
    return escape(re.sub(r"[\t\n\v\f\r\x85\u2028\u2029]+", " ", text))
