"""A new folder, filled beside its final place: whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from konsil.errors import StudyError


def copy_new(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make `folder` by filling a draft beside it; refuse one that has something in it.

    The folder will hold names, ratings and a key, so only its owner may enter it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder}: exists and is not empty; choose a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".konsil-", dir=folder.parent))
    try:
        fill(draft)
        if folder.exists():
            folder.rmdir()
        os.rename(draft, folder)  # noqa: PTH104 - one atomic step
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
