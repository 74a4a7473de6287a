"""What the scripts of docs/coverage.md share: their options, and how a part of the document is
written anew."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"


def write_part(part: str, begin: str, end: str) -> None:
    """Put a part, which has its two marks, in the place of the old one, or at the document's
    end."""
    document = DOCUMENT.read_text(encoding="utf-8")
    old_part = re.compile(f"{begin}.*{end}\n", re.S)
    new = (
        old_part.sub(lambda _: part, document)
        if old_part.search(document)
        else f"{document.rstrip()}\n\n{part}"
    )
    DOCUMENT.write_text(new, encoding="utf-8")


def report_part(description: str, report: Callable[[int], str], begin: str, end: str) -> int:
    """Print what `report` says of so many simulated studies, and write it into the document where
    that is wanted."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--studies", type=int, default=1000, help="simulated studies of each design"
    )
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT.name}")
    options = parser.parse_args()
    begun = time.process_time()
    text = report(options.studies)
    print(text)
    if options.write:
        write_part(text, begin, end)
    print(f"{time.process_time() - begun:.0f} CPU seconds", file=sys.stderr)
    return 0
