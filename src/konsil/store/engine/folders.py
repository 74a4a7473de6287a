"""A folder that appears complete or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from konsil.errors import StoreError, StudyError
from konsil.store.engine.leftovers import clear_leftovers, draft_prefix
from konsil.store.engine.private import make_private, usual_mode


@contextmanager
def whole_folder(
    folder: Path, *, mark: str, overwrite: bool, private: bool = False
) -> Iterator[Path]:
    """Give a temporary folder beside `folder` that takes its place when the block ends well.

    Otherwise it is removed.

    An existing folder that is not empty is refused, or replaced with `overwrite` where it holds the
    file `mark`: only what konsil wrote is ever deleted. With `private` only the owner may read the
    result.
    """
    target = folder.absolute()
    _check(target, mark, overwrite)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        draft = Path(
            tempfile.mkdtemp(prefix=draft_prefix(target), suffix=".partial", dir=target.parent)
        )
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror or error}") from None
    try:
        yield draft
        # On the disk before the folder gets its name.
        for path in sorted(p for p in draft.rglob("*") if p.is_file()):
            _flush(path)
        if private:
            make_private(draft)
        else:
            # A temporary folder is its owner's alone; what is published is not.
            draft.chmod(usual_mode(draft))
        # Again, because the work took time and somebody else may have written there.
        _check(target, mark, overwrite)
        _replace(draft, target)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _check(target: Path, mark: str, overwrite: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise StoreError(f"{target}: is a file; expected a folder to write to")
    if any(target.iterdir()):
        if not overwrite:
            raise StoreError(f"{target}: is not empty; choose a new folder, or request overwriting")
        if not (target / mark).is_file():
            raise StoreError(
                f"{target}: contains files that konsil did not write (there is no {mark});"
                " nothing is"
                " overwritten"
            )


def _replace(draft: Path, target: Path) -> None:
    if not target.exists():
        draft.rename(target)
        return
    # Moved aside and not deleted: it comes back if the new folder cannot take its place.
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
    target.rename(old / target.name)
    try:
        draft.rename(target)
    except OSError:
        (old / target.name).rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def copy_new(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make `folder` by filling a draft beside it; refuse one that has something in it.

    The folder will hold names, ratings and a key, so only its owner may enter it. A run that is
    killed leaves its draft, whose name has the number of the process; the next run for the same
    folder removes it. What stands in `folder` itself is never removed.
    """
    _refuse_filled(folder)
    target = folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(target)
    draft = Path(
        tempfile.mkdtemp(prefix=draft_prefix(target), suffix=".partial", dir=target.parent)
    )
    try:
        fill(draft)
        _refuse_filled(folder)  # another run may have ended first
        if folder.exists():
            folder.rmdir()
        os.rename(draft, folder)  # noqa: PTH104 - one atomic step
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        # Sentences name the place that was asked for, and not the draft, which is gone.
        error.args = tuple(
            a.replace(str(draft), str(folder)) if isinstance(a, str) else a for a in error.args
        )
        raise


def _refuse_filled(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder}: exists and is not empty; choose a new folder")


def sha256(path: Path) -> str:
    """Digest a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
