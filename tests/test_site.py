"""The documentation site builds from the repository without a network, and loses no page."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import konsil
from web.browsers import chromium, in_the_browser  # noqa: F401  a fixture

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
    site = tmp_path / "site" / konsil.__version__
    pages = {path.name: path.read_text("utf-8") for path in site.glob("*.html")}
    assert {"index.html", "search.html", "reference-keys.html", "de-bewerten.html"} <= pages.keys()
    assert "resampling" in pages["reference-keys.html"]
    assert "--abstain" in pages["reference-commands.html"]
    assert "krippendorff_alpha" in pages["reference-statistics.html"]
    missing = {
        f"{name}: {target}"
        for name, text in pages.items()
        for target in re.findall(r'(?:href|src)="([^"#?:]+)["#?]', text)
        if not (site / target).exists()
    }
    assert not missing
    fetched = [
        f"{name}: {address}"
        for name, text in pages.items()
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', text)
    ]
    assert not fetched
    listed = [name for name, text in pages.items() if 'aria-current="true"' in text]
    assert len(listed) >= len(list((ROOT / "docs").glob("*.md")))


SEARCHES = {
    "excel": {"start-ratings", "howto-agreement", "howto-manuscript"},
    "upload spreadsheet": {"start-ratings", "howto-design"},
    "install windows": {"howto-commands"},
    "cohen kappa": {"howto-agreement", "statistics"},
    "weighted kappa": {"howto-agreement", "statistics"},
    "ICC": {"howto-agreement", "statistics", "glossary"},
    "confidence interval": {"statistics", "glossary"},
    "p value": {"statistics", "verdicts"},
    "sample size": {"simulation", "howto-study"},
    "missing data": {"howto-agreement", "statistics", "faq"},
    "bootstrap": {"statistics", "glossary"},
    "word export": {"howto-manuscript"},
    "latex": {"howto-manuscript"},
    "openai api key": {"howto-models"},
    "ollama": {"howto-local"},
    "llm as a judge": {"howto-models", "start-engineers"},
    "GDPR": {"privacy"},
    "consent": {"howto-pages", "privacy"},
    "invite raters": {"howto-pages"},
    "krippendorff pandas": {"start-statisticians", "howto-python", "howto-agreement"},
    "power analysis": {"simulation", "howto-study"},
    "github actions": {"howto-ci"},
    "docker": {"howto-deploy"},
    "inter-rater reliability": {"howto-agreement", "statistics"},
    "resume interrupted run": {"howto-models"},
}
"""What users search for -> the pages that answer it."""


@in_the_browser
def test_a_search_finds_a_right_page_among_the_first_two(tmp_path: Path, chromium: Any):
    subprocess.run([sys.executable, str(BUILD), str(tmp_path)], check=True, capture_output=True)
    site = tmp_path / konsil.__version__
    handler = functools.partial(Quiet, directory=str(site))
    missed = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = chromium.new_page()
        for words, right in SEARCHES.items():
            query = urllib.parse.quote(words)
            page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q={query}")
            summary = page.locator("#search-results .search-summary")
            summary.filter(has_text=SEARCHED).wait_for()
            links = page.eval_on_selector_all(
                "#search-results li > a", "links => links.slice(0, 2).map(a => a.pathname)"
            )
            first = {Path(link).stem for link in links}
            if not first & right:
                missed[words] = first
        page.close()
        server.shutdown()
    assert not missed


SEARCHED = re.compile(r"finished|did not match|\bfound\b", re.IGNORECASE)
"""The line above the results once all are listed."""


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_assistants_get_every_page_as_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = builder(monkeypatch)
    sources, site = tmp_path / "sources", tmp_path / "site"
    script.assemble(sources)
    script.write_markdown(sources, site)
    listed = re.findall(
        r"^- \[(.+?)\]\((.+?\.md)\): (.+)$", (site / "llms.txt").read_text("utf-8"), re.MULTILINE
    )
    pages = {name for _title, name, _sentence in listed}
    assert {path.name for path in sources.glob("*.md")} - {"index.md"} == pages
    assert pages == {path.name for path in site.glob("*.md")}
    assert len((site / "llms.txt").read_text("utf-8").splitlines()) > len(pages)


def builder(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BUILD.parent))
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_of(*names: str):
    """Pages as Sphinx would write them, with the real template of the list."""
    template = (BUILD.parent / "templates" / "versions.html").read_text("utf-8")

    def write(folder: Path) -> int:
        for name in names:
            page = folder / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"<h1>{name}</h1>{template}", "utf-8")
        return 0

    return write


def links(page: Path) -> list[str]:
    """The list of versions of a page: links, and the version itself without one."""
    return re.findall(r'<li(?: aria-current="true")?>(.*?)</li>', page.read_text("utf-8"))


def test_each_version_has_a_folder_and_every_page_lists_all_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    build = builder(monkeypatch).build
    site = tmp_path / "site"
    assert build(site, "0.9.0", pages_of("index.html", "faq.html", "gone.html")) == 0
    assert links(site / "0.9.0" / "faq.html") == ["0.9.0"]
    assert build(site, "0.10.0", pages_of("index.html", "faq.html", "deep/page.html")) == 0
    assert build(site, "1.0.0rc1", pages_of("index.html", "faq.html")) == 0
    assert json.loads((site / "versions.json").read_text("utf-8")) == [
        {"version": name, "url": f"{name}/index.html"} for name in ("1.0.0rc1", "0.10.0", "0.9.0")
    ]
    assert "url=1.0.0rc1/index.html" in (site / "index.html").read_text("utf-8")
    assert links(site / "0.9.0" / "faq.html") == [
        '<a href="../1.0.0rc1/faq.html">1.0.0rc1</a>',
        '<a href="../0.10.0/faq.html">0.10.0</a>',
        "0.9.0",
    ]
    # A page that another version does not have leads to that version's start.
    assert links(site / "0.9.0" / "gone.html")[1] == '<a href="../0.10.0/index.html">0.10.0</a>'
    assert links(site / "0.10.0" / "deep" / "page.html") == [
        '<a href="../../1.0.0rc1/index.html">1.0.0rc1</a>',
        "0.10.0",
        '<a href="../../0.9.0/index.html">0.9.0</a>',
    ]


def test_a_version_is_replaced_only_by_a_complete_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    build = builder(monkeypatch).build
    site = tmp_path / "site"
    assert build(site, "0.9.0", pages_of("index.html", "old.html")) == 0
    assert build(site, "0.9.0", lambda folder: 1) == 1
    assert (site / "0.9.0" / "old.html").exists()
    assert build(site, "0.9.0", pages_of("index.html")) == 0
    assert not (site / "0.9.0" / "old.html").exists()
    assert {path.name for path in site.iterdir()} == {"0.9.0", "index.html", "versions.json"}


@pytest.mark.slow
def test_a_link_to_no_page_ends_the_build(tmp_path: Path):
    copy = tmp_path / "copy"
    # Without what is beside the repository's own files: an environment has a gigabyte.
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    faq = copy / "docs" / "faq.md"
    faq.write_text(faq.read_text("utf-8") + "\n[nowhere](faq.md#no-such-heading)\n", "utf-8")
    built = subprocess.run(
        [sys.executable, str(copy / "docs" / "site" / "build.py"), str(tmp_path / "site")],
        capture_output=True,
        text=True,
    )
    assert built.returncode != 0
    assert "no-such-heading" in built.stderr
