"""The keys of commands' JSON as docs/howto-commands.md lists them."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "howto-commands.md"


def documented_keys() -> dict[str, set[str]]:
    """Command, with an option where its object differs -> the keys of the object."""
    rows = re.findall(r"^\| `([a-z][^`]*)` \| (`\w+`.*) \|$", DOCUMENT.read_text("utf-8"), re.M)
    return {command: set(re.findall(r"`(\w+)`", keys)) for command, keys in rows}
