"""Build the documentation site from the repository, without a network.

    python docs/site/build.py FOLDER            write the site into FOLDER/VERSION
    python docs/site/build.py FOLDER --sources  write only the pages that Sphinx reads

FOLDER keeps the sites of earlier versions. versions.json lists them, index.html leads to the
newest, and the sidebar of every page links to the same page of each version.

The pages of docs/ stay as they are: they are copied, their links to files at the top of the
repository become links of the site, and the reference is made from the code. Every warning of
Sphinx is an error, so that no link and no page is lost in silence."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import reference
from packaging.version import InvalidVersion, Version

from konsil.version import __version__

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOP = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "GLOSSARY.md")
"""Documents at the top of the repository that are pages of the site."""
OUT_OF_THE_SEARCH = ("architecture", "changelog", "contributing", "code-figures", "mutants")
"""Pages for developers, whose many words would stand before the pages that users look for."""
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?=\))")


def assemble(folder: Path) -> None:
    """Write everything that Sphinx reads into `folder`."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("site", "__pycache__"))
    for path in HERE.glob("*"):
        if path.suffix == ".md" or path.name == "conf.py":
            shutil.copy2(path, folder)
    shutil.copytree(HERE / "static", folder / "_static")
    shutil.copytree(HERE / "templates", folder / "_templates")
    for name in TOP:
        shutil.copy2(ROOT / name, folder / name.lower())
    for name in ("LICENSE", "CITATION.cff"):
        shutil.copy2(ROOT / name, folder / name)
    for name, text in reference.pages().items():
        (folder / name).write_text(text, "utf-8")
    for path in folder.glob("*.md"):
        path.write_text(_with_links_of_the_site(path.read_text("utf-8"), folder), "utf-8")


def prepare_search(folder: Path) -> None:
    """Write what users search for into the pages, as entries of the index."""
    keywords = tomllib.loads((HERE / "keywords.toml").read_text("utf-8"))
    for path in folder.glob("*.md"):
        text = path.read_text("utf-8")
        if path.stem in OUT_OF_THE_SEARCH:
            text = f"---\nnosearch: true\n---\n\n{text}"
        heading, _, rest = text.partition("\n")
        entries = (f"\n```{{index}} ! {words}\n```\n" for words in keywords.get(path.stem, ()))
        path.write_text("".join([heading, "\n", *entries, rest]), "utf-8")


def write_markdown(sources: Path, folder: Path) -> None:
    """Write the pages as Markdown beside the HTML, and llms.txt, the list of them, for assistants.

    Its form is that of https://llmstxt.org.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = (sources / "index.md").read_text("utf-8")
    about = index.split("\n\n")[1]
    lines = ["# konsil", "", f"> {' '.join(about.split())}"]
    for caption, names in re.findall(
        r"```\{toctree\}\n:caption: (.*?)\n:hidden:\n(.*?)```", index, re.DOTALL
    ):
        lines += ["", f"## {caption}", ""]
        for name in names.split():
            text = (sources / f"{name}.md").read_text("utf-8")
            shutil.copy2(sources / f"{name}.md", folder / f"{name}.md")
            lines.append(f"- [{_title(text)}]({name}.md): {_first_sentence(text)}")
    (folder / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _title(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("# "))[2:]


def _first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, without links."""
    _, _, body = text.partition(f"# {_title(text)}")
    first = next((p for p in body.strip().split("\n\n") if p[:1].isalpha() or p[:1] in "`*"), "")
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split()))
    return re.split(r"(?<=[.:]) ", words, maxsplit=1)[0].rstrip(":")


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


def render(folder: Path) -> int:
    """Build the pages into `folder`; the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "sources"
        assemble(sources)
        trees = str(Path(place) / "trees")
        write_markdown(sources, folder)
        prepare_search(sources)
        return sphinx(["-q", "-W", "--keep-going", "-d", trees, str(sources), str(folder)])


def build(folder: Path, version: str = __version__, pages: Callable[[Path], int] = render) -> int:
    """Build the site of one version into `folder`, and list all versions there.

    A site of the same version is replaced only if the new one is complete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        new = Path(place) / version
        code = pages(new)
        if code:
            return code
        shutil.rmtree(folder / version, ignore_errors=True)
        new.rename(folder / version)
    list_versions(folder)
    return 0


def versions_in(folder: Path) -> list[str]:
    """The versions with a site in `folder`, the newest first."""
    versions = []
    for path in folder.iterdir():
        try:
            number = Version(path.name)
        except InvalidVersion:
            continue
        if (path / "index.html").is_file():
            versions.append((number, path.name))
    return [name for _, name in sorted(versions, reverse=True)]


def list_versions(folder: Path) -> None:
    """Write versions.json and index.html, and the list of versions into every page."""
    versions = versions_in(folder)
    listed = [{"version": name, "url": f"{name}/index.html"} for name in versions]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    first = f"{versions[0]}/index.html"
    (folder / "index.html").write_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>konsil</title>'
        f'<meta http-equiv="refresh" content="0; url={first}"></head>'
        f'<body><a href="{first}">konsil {versions[0]}</a></body></html>\n',
        "utf-8",
    )
    for version in versions:
        for page in (folder / version).rglob("*.html"):
            text = page.read_text("utf-8")
            items = _version_items(folder, version, page, versions)
            filled = LIST.sub(lambda match, items=items: match[1] + items + match[2], text)
            if filled != text:
                page.write_text(filled, "utf-8")


LIST = re.compile(r"(<!-- versions -->).*?(<!-- end of versions -->)", re.DOTALL)
"""Where templates/versions.html has its list."""


def _version_items(folder: Path, version: str, page: Path, versions: Sequence[str]) -> str:
    """The list as HTML: this version without a link, others with one to the same page there."""
    items = []
    for name in versions:
        if name == version:
            items.append(f'<li aria-current="true">{name}</li>')
            continue
        target = folder / name / page.relative_to(folder / version)
        if not target.is_file():
            target = folder / name / "index.html"
        href = Path(os.path.relpath(target, page.parent)).as_posix()
        items.append(f'<li><a href="{href}">{name}</a></li>')
    return "".join(items)


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
