"""How many pixels of each answer a rater sees on a page as it comes, for 1-5 answers, 1-7 criteria
and five windows.

    python benchmarks/visible_text.py docs/visible-text.md

Needs Chromium and playwright; tests/web/test_visible_browser.py measures a sample of it in the same
way."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from playwright.sync_api import sync_playwright

from web.browsers import CHROMIUM, Still
from web.visible_text import ANSWERS, CRITERIA, SIZES, TWELVE_LINES, page_of, visible

HEAD = """# Visible text of each answer

The tables give the visible height in pixels of each answer's text when a rating page opens, without the parts behind
the question and the bottom bar; a line has 24 pixels. Criteria have five labels and an abstention; every answer is far
longer than the window. At least twelve lines (288 pixels) of every answer are visible; if these and the questions do
not fit in the window, the page scrolls. `benchmarks/visible_text.py` writes this page.
"""


def table(answers: int, chromium: Still) -> list[str]:
    """One table: windows by criteria, for so many answers beside one another."""
    rows = [f"\n## {answers} answer{'s' if answers > 1 else ''}\n"]
    rows.append(
        "| window | " + " | ".join(f"{n} criteri{'on' if n == 1 else 'a'}" for n in CRITERIA) + " |"
    )
    rows.append("|---|" + "---|" * len(CRITERIA))
    with tempfile.TemporaryDirectory() as folder, page_of(chromium, Path(folder), answers) as desk:
        for size in SIZES:
            seen = [min(one[0] for one in visible(desk, size, answers, n)) for n in CRITERIA]
            if min(seen) < TWELVE_LINES:
                raise SystemExit(
                    f"{size}, {answers} answers: {seen}: fewer than {TWELVE_LINES} pixels"
                )
            rows.append(f"| {size[0]}x{size[1]} | " + " | ".join(map(str, seen)) + " |")
    return rows


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, help="the page to write")
    output = parser.parse_args().output
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        rows = [row for n in ANSWERS for row in table(n, Still(browser))]
        browser.close()
    output.write_text(HEAD + "\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
