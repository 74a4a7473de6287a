"""Sizes of data sets."""

from __future__ import annotations

SMALL = 32 << 20
"""Bytes of files up to which they are read in this process: others cost more than they save."""
