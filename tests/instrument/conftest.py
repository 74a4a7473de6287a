"""The screens of this folder's tests are importable: the tests are run in importlib mode."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
