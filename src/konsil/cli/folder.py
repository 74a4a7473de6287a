"""What the commands on a study's folder share: the argument and the option."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from konsil.errors import KonsilError, StudyError


@contextmanager
def another_place() -> Iterator[None]:
    """Where nothing may be written, name the option that names another place."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise KonsilError(
            f"{error.filename}: {error.strerror}; choose a writable folder with --output"
        ) from None


F = TypeVar("F", bound=Callable[..., Any])


_DATABASE = click.option(
    "--database",
    default="",
    metavar="URL",
    help="Database instead of the folder's own (or KONSIL_DATABASE).",
)


class StudyFolder(click.Path):
    """A study's folder, for which the path to its study.toml may stand."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """The folder."""
        from konsil.api.folder.opened import folder_of

        return folder_of(Path(os.fsdecode(super().convert(value, param, ctx))))


def on_folder(function: F) -> F:
    """The study's folder as the argument, and another database as an option.

    The default is the current folder.
    """
    return click.argument("folder", type=StudyFolder(), default=Path())(_DATABASE(function))


def on_named_folder(function: F) -> F:
    """The same where the folder must be named, because another argument follows it."""
    return click.argument("folder", type=StudyFolder())(_DATABASE(function))


def on_workers(function: F) -> F:
    """Where analyses are computed, as an option."""
    return click.option(
        "--compute",
        default="",
        metavar="WHERE",
        help="Where to compute: local:N or tcp://HOST:PORT (Dask), or cores:N.",
    )(function)


def deciding(function: F) -> F:
    """Who decides, as an option."""
    return click.option(
        "--by", default="", metavar="WHO", help="Pseudonym of the person who decided, for the log."
    )(function)


def acting(verb: str) -> Callable[[F], F]:
    """Who acts, as an option; `verb`: what they do."""
    return click.option(
        "--by", default="", metavar="WHO", help=f"Pseudonym of the person who {verb}, for the log."
    )


def decider(by: str, option: str) -> str:
    """Who decided, stripped; a StudyError where decisions are given and nobody is named."""
    if not by.strip():
        raise StudyError(
            f"{option}: --by is missing; expected the pseudonym of the person who decided, such as"
            " --by p-1"
        )
    return by.strip()
