"""Length of a report: screens and words of the page with its appendix closed and opened, tables,
and tables that are wider than their place.

    python benchmarks/appendix.py FOLDER/report/index.html [...]

A screen is 1280 x 900 pixels. It needs Playwright and Chromium."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 1280, 900
LENGTH = """() => [
  document.documentElement.scrollHeight, document.body.innerText.split(/\\s+/).length]"""
OPEN = "() => document.querySelectorAll('details').forEach(part => { part.open = true; })"
TABLES = """() => {
  const tables = [...document.querySelectorAll("table")];
  const isWide = t => t.parentElement.scrollWidth > t.parentElement.clientWidth + 2;
  return [tables.length, tables.filter(t => t.tBodies[0].rows.length === 1).length,
    tables.filter(isWide).length];
}"""


def measure(page: Any, file: Path) -> list[str]:
    """The cells of one report."""
    page.goto(file.resolve().as_uri())
    closed, words = page.evaluate(LENGTH)
    page.evaluate(OPEN)
    opened, all_words = page.evaluate(LENGTH)
    n_tables, n_of_one_row, n_wide = page.evaluate(TABLES)
    return [
        file.parent.parent.name,
        f"{closed / HEIGHT:.1f} ({words:,} words)",
        f"{opened / HEIGHT:.0f} ({all_words:,} words)",
        *(str(n) for n in (n_tables, n_of_one_row, n_wide)),
    ]


def main() -> None:
    from playwright.sync_api import sync_playwright

    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    print("| report | screens, closed | screens, opened | tables | of one row | too wide |")
    print("|---|---:|---:|---:|---:|---:|")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name in sys.argv[1:]:
            print(f"| {' | '.join(measure(page, Path(name)))} |")
        browser.close()


if __name__ == "__main__":
    main()
