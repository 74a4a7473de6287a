"""Files that only their owner reads: what holds names, keys or unpublished ratings.

On Windows a file inherits the rights of its folder, and the modes below change nothing.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

FILE = 0o600
"""The mode of a private file."""
FOLDER = 0o700
"""The mode of a private folder."""


def create_private(path: Path) -> bool:
    """Create an empty private file; return whether it was missing.

    An existing file keeps its mode.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE))
    except FileExistsError:
        return False
    return True


def create_whole(path: Path, content: bytes) -> bool:
    """Create a private file with its content; return whether it was missing.

    Of several processes one creates it, and no other reads a part of it.
    """
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        try:
            os.link(name, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if not create_private(path):
                return False
            path.write_bytes(content)
        return True
    finally:
        Path(name).unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """Write a private file in place of any other one of its name, whole or not at all."""
    if path.exists() and not path.is_file():  # a terminal or a pipe keeps its own rights
        path.write_bytes(content)
        return
    # A temporary file is private from its first byte; a mode that is set afterwards would come too
    # late.
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def make_private(folder: Path) -> None:
    """Close a folder and all in it to everybody but the owner."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(FOLDER if path.is_dir() else FILE)


def usual_mode(folder: Path) -> int:
    """The mode of a new folder in this one, by the umask.

    The umask itself cannot be read without changing it for all threads.
    """
    probe = Path(tempfile.mkdtemp(dir=folder))
    try:
        inner = probe / "probe"
        inner.mkdir()
        return stat.S_IMODE(inner.stat().st_mode)
    finally:
        shutil.rmtree(probe, ignore_errors=True)


def restrict(path: Path) -> None:
    """Close a file to everybody but the owner, where this process may."""
    with suppress(OSError):
        path.chmod(FILE)


def mode_like(path: Path) -> int:
    """The mode for a file beside `path`: the same users read and write both."""
    try:
        return path.stat().st_mode & 0o666
    except OSError:
        return FILE
