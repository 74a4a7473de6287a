"""The German catalogue of the report's interface."""

from __future__ import annotations

MESSAGES: dict[str, str] = {}
