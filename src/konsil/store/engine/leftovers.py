"""Files that killed runs leave beside their target.

The next run removes them once the process that made them has ended.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from konsil.store.engine.private import create_private

_LEFT = r"\.{name}\.(?P<process>\d{{1,10}})\.([a-z0-9_]+\.partial|db(-wal|-shm|-journal)?)"
"""A folder that is being filled, or a copy of a database: nothing else has such a name."""
DATABASE_ENDINGS = ("", "-wal", "-shm", "-journal")
"""A database of SQLite, and the files that SQLite puts beside it."""


def draft_prefix(target: Path) -> str:
    """How the name of a draft begins: it carries the number of the process that writes it."""
    return f".{target.name}.{os.getpid()}."


@contextmanager
def database_draft(target: Path) -> Iterator[Path]:
    """A private, empty file beside the target for a copy of a database.

    What is left of it afterwards is removed, with the files that SQLite puts beside a database.
    """
    draft = target.with_name(f"{draft_prefix(target)}db")
    try:
        clear_leftovers(target)
        create_private(draft)
        yield draft
    finally:
        for ending in DATABASE_ENDINGS:
            draft.with_name(draft.name + ending).unlink(missing_ok=True)


def clear_leftovers(target: Path) -> None:
    """Remove drafts of this target whose processes have ended."""
    _clear(target.parent, re.escape(target.name))


def clear_series(folder: Path, names: str) -> None:
    """Remove drafts whose processes have ended, of all targets with names of this pattern."""
    _clear(folder, names)


def _clear(folder: Path, names: str) -> None:
    pattern = re.compile(_LEFT.format(name=names))
    for path in folder.glob(".*"):
        match = pattern.fullmatch(path.name)
        # A draft of a running process may be in use, even if the number is another's by now.
        if match is None or path.is_symlink() or _is_running(int(match["process"])):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # a signal would end it there; what is left stays
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
