"""The folder of published data, which tests read where it is."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(
    os.environ.get("KONSIL_TEST_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data"))
)
