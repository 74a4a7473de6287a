"""The slim font's folder goes with the process, without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = "from konsil.report.figures import typeface; print(typeface._folder().name)"


@pytest.mark.slow
def test_the_folder_of_the_font_is_removed_at_the_end_without_a_warning() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", CODE], capture_output=True, text=True, check=True
    )
    assert "ResourceWarning" not in done.stderr
    assert done.stdout.strip()
    assert not Path(done.stdout.strip()).exists()
