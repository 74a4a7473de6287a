"""A new folder, filled beside its final place: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from konsil.errors import StudyError
from konsil.store.engine.leftovers import clear_leftovers, draft_prefix


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
