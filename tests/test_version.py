"""One version everywhere: the package, the citation, the changelog, the classifiers."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import konsil

ROOT = Path(__file__).resolve().parents[1]
_HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?$", flags=re.MULTILINE)


def changelog() -> list[tuple[str, str]]:
    """The versions of the changelog and their days, from the top."""
    return _HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))


def citation(key: str) -> str:
    """A simple value of the citation file."""
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    [value] = re.findall(rf"^{key}: \"?([^\"\n]+)\"?$", text, flags=re.MULTILINE)
    return value


def test_the_citation_is_of_this_version():
    assert citation("version") == konsil.__version__
    assert citation("cff-version") == "1.2.0"
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    for key in ("message", "title", "authors", "license"):
        assert re.search(rf"^{key}:", text, flags=re.MULTILINE)


def test_the_changelog_has_a_place_for_new_entries_above_this_version():
    (first, no_day), (second, day), *earlier = changelog()
    assert (first, no_day) == ("Unreleased", "")
    assert second == konsil.__version__
    assert date.fromisoformat(day) == date.fromisoformat(citation("date-released"))
    days = [day, *(then for _, then in earlier)]
    assert days == sorted(days, reverse=True)


def test_the_classifier_says_how_mature_this_version_is():
    major, minor = map(int, konsil.__version__.split(".")[:2])
    expected = "5 - Production/Stable" if major else "4 - Beta" if minor >= 9 else "3 - Alpha"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    statuses = [c for c in project["classifiers"] if c.startswith("Development Status")]
    assert statuses == [f"Development Status :: {expected}"]
