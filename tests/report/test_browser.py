"""The page in a real browser: nothing sticks out on a desk or on a phone, nothing is asked of the
network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)
WIDTHS = (320, 390, 1280)
# Said by a copy of the page within a frame of the phone's width; the page itself holds no script.
MEASURE = """<script>
addEventListener("load", () => {
  const own = e => e.closest(".scroll") || e.closest(".codebook table, .codebook pre");
  const far = e => e.getBoundingClientRect().right > innerWidth + 1;
  const out = [...document.querySelectorAll("body *")].filter(e => far(e) && !own(e));
  parent.postMessage({inner: innerWidth, whole: document.documentElement.scrollWidth,
    out: out.slice(0, 5).map(e => e.tagName + "." + e.className),
    loaded: performance.getEntriesByType("resource").map(e => e.name)}, "*");
});
</script>"""
COLLECT = """<!doctype html><title>waiting</title>{frames}<script>
const said = [];
addEventListener("message", m => {{
  said.push(m.data);
  if (said.length == {n}) document.title = JSON.stringify(said);
}});
for (const f of document.querySelectorAll("iframe")) f.src = "page.html";
</script>"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


def chromium(folder: Path, *arguments: str) -> str:
    profile = folder / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    done = subprocess.run(
        [str(CHROMIUM), *QUIET, f"--user-data-dir={profile}", *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout


@pytest.mark.parametrize("language", ["english", "german"])
def test_nothing_sticks_out(language: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    page = (request.getfixturevalue(language) / "index.html").read_text("utf-8")
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (tmp_path / "page.html").write_text(open_page.replace("</body>", MEASURE + "</body>"), "utf-8")
    frames = "".join(
        f'<iframe width="{width}" height="844" style="border:0"></iframe>' for width in WIDTHS
    )
    (tmp_path / "all.html").write_text(COLLECT.format(frames=frames, n=len(WIDTHS)), "utf-8")
    shown = chromium(
        tmp_path, "--virtual-time-budget=10000", "--dump-dom", f"file://{tmp_path}/all.html"
    )
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title is not None
    said = {
        one["inner"]: one for one in json.loads(title[1].replace("&gt;", ">").replace("&amp;", "&"))
    }
    assert sorted(said) == list(WIDTHS)
    for width, one in said.items():
        assert one["out"] == [], width
        assert one["whole"] <= width
        assert one["loaded"] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_screenshots(width: int, height: int, english: Path, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    page = f"file://{english}/index.html"
    chromium(tmp_path, f"--screenshot={picture}", f"--window-size={width},{height}", page)
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") == width
    assert len(content) > 20_000  # an empty page is smaller


def test_print(english: Path, tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    chromium(
        tmp_path,
        f"--print-to-pdf={paper}",
        "--no-pdf-header-footer",
        f"file://{english}/index.html",
    )
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert 5 <= pages <= 16
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", content)
    assert box is not None
    assert [float(side) for side in box.groups()] == pytest.approx([595.3, 841.9], abs=1)  # A4
