"""How the address of a model begins that runs on this machine."""

from __future__ import annotations

LOCAL_SCHEME = "local://"
"""Addresses of models that this process starts itself."""
