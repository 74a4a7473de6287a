"""Makes simulated_studies.py importable: under importlib mode a test's folder is not on the
path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
