"""Build the documentation site from the repository, without a network.

    python docs/site/build.py FOLDER            write the site into FOLDER
    python docs/site/build.py FOLDER --sources  write only the pages that Sphinx reads

The pages of docs/ stay as they are: they are copied, their links to files at the top of the
repository become links of the site, and the reference is made from the code. Every warning of
Sphinx is an error, so that no link and no page is lost in silence."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOP = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md")
"""Documents at the top of the repository that are pages of the site."""
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?=\))")


def assemble(folder: Path) -> None:
    """Write everything that Sphinx reads into `folder`."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("site", "__pycache__"))
    for path in HERE.glob("*"):
        if path.suffix == ".md" or path.name == "conf.py":
            shutil.copy2(path, folder)
    shutil.copytree(HERE / "static", folder / "_static")
    for name in TOP:
        shutil.copy2(ROOT / name, folder / name.lower())
    for name in ("LICENSE", "CITATION.cff"):
        shutil.copy2(ROOT / name, folder / name)
    for name, text in reference.pages().items():
        (folder / name).write_text(text, "utf-8")
    for path in folder.glob("*.md"):
        path.write_text(_with_links_of_the_site(path.read_text("utf-8"), folder), "utf-8")


def _with_links_of_the_site(text: str, folder: Path) -> str:
    """The text with links of the repository as links of the site.

    A link to a file that is no page, such as a module, becomes its bare text: the site has no
    source code.
    """

    def target(match: re.Match[str]) -> str:
        path, anchor = match["target"], match["anchor"] or ""
        if not path or "://" in path or path.startswith("mailto:"):
            return match[0]
        path = path.removeprefix("../").removeprefix("docs/")
        if path in (*TOP, "README.md"):
            path = "index.md" if path == "README.md" else path.lower()
        return path + anchor

    text = LINK.sub(target, text)

    def bare(match: re.Match[str]) -> str:
        path = match["path"]
        is_page = "://" in path or path.startswith(("#", "mailto:")) or (folder / path).is_file()
        return match[0] if is_page else match["label"]

    return re.sub(r"(?<!!)\[(?P<label>[^\]\n]*)\]\((?P<path>[^)\s#]+)(#[^)\s]*)?\)", bare, text)


def build(folder: Path) -> int:
    """Build the site into `folder`; the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "sources"
        assemble(sources)
        trees = str(Path(place) / "trees")
        return sphinx(["-q", "-W", "--keep-going", "-d", trees, str(sources), str(folder)])


def main() -> int:
    """Read the command line; build, or write the sources."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sources", action="store_true")
    options = parser.parse_args()
    if options.sources:
        assemble(options.folder)
        return 0
    return build(options.folder)


if __name__ == "__main__":
    sys.exit(main())
