"""Takes the pictures of the documents from the real report: python docs/images/take.py (needs Chromium)."""

import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECTION = '<section aria-labelledby="prespecified">'


def picture(page: Path, name: str) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("no Chromium on this machine")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--window-size=1280,900", f"--screenshot={HERE / name}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own command
    print(HERE / name)


with tempfile.TemporaryDirectory() as folder:
    study = Path(folder) / "konsil-demo"
    subprocess.run(["konsil", "demo", str(study)], check=True, capture_output=True, timeout=120)  # noqa: S603, S607
    page = study / "report" / "index.html"
    picture(page, "report.png")
    # A picture begins at the top of a page: for an analysis, leave out what stands before it.
    text = page.read_text("utf-8")
    head, _, rest = text.partition("<main>")
    analysis = page.with_name("analysis.html")
    analysis.write_text(head.partition("<body>")[0] + "<body><main>" + SECTION + rest.partition(SECTION)[2], "utf-8")
    picture(analysis, "analysis.png")
