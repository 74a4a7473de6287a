"""The documentation site builds from the repository without a network, and loses no page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("furo", reason="the documentation's tools are not installed")

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "docs" / "site" / "build.py"


def test_every_page_of_the_documents_is_in_the_navigation():
    index = (BUILD.parent / "index.md").read_text("utf-8")
    listed = {
        name
        for block in re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
        for name in block.split()
        if not name.startswith(":")
    }
    made = {"reference-keys", "reference-commands", "reference-statistics", "reference-python"}
    top = {"architecture", "changelog", "contributing", "glossary"}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} | made | top <= listed


@pytest.mark.slow
def test_the_site_builds_and_its_links_lead_somewhere(tmp_path: Path):
    """Sphinx takes each warning, such as a link to a page that is not there, for an error."""
    built = subprocess.run(
        [sys.executable, str(BUILD), str(tmp_path / "site")], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr[-4000:]
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "site").glob("*.html")}
    assert {"index.html", "search.html", "reference-keys.html", "de-bewerten.html"} <= pages.keys()
    assert "resampling" in pages["reference-keys.html"]
    assert "--abstain" in pages["reference-commands.html"]
    assert "krippendorff_alpha" in pages["reference-statistics.html"]
    missing = {
        f"{name}: {target}"
        for name, text in pages.items()
        for target in re.findall(r'(?:href|src)="([^"#?:]+)["#?]', text)
        if not (tmp_path / "site" / target).exists()
    }
    assert not missing
    fetched = [
        f"{name}: {address}"
        for name, text in pages.items()
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', text)
    ]
    assert not fetched


@pytest.mark.slow
def test_a_link_to_no_page_ends_the_build(tmp_path: Path):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(ROOT), str(copy)], check=True)
    faq = copy / "docs" / "faq.md"
    faq.write_text(faq.read_text("utf-8") + "\n[nowhere](faq.md#no-such-heading)\n", "utf-8")
    built = subprocess.run(
        [sys.executable, str(copy / "docs" / "site" / "build.py"), str(tmp_path / "site")],
        capture_output=True,
        text=True,
    )
    assert built.returncode != 0
    assert "no-such-heading" in built.stderr
