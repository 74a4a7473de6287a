"""A manuscript against its own numbers: each announced method has a number, each number its method.

Both are read from the Word document; the methods of the numbers come from estimates.csv beside it.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pytest

from konsil.api import open_folder
from konsil.report.material.tables import Numbers

Row = Mapping[str, str]
_NUMBER = re.compile(r"\d[\d\u202f ,.]*\d|\d")
pytestmark = pytest.mark.slow


@cache
def _written(name: str, source: Path, folder: Path) -> Path:
    shutil.copytree(source, folder / name)
    page = open_folder(folder / name).report(to=["docx"], checklist=["grras"])
    return page.parent


@pytest.fixture(params=["demo", "clexeval"])
def report(
    request: pytest.FixtureRequest, reported: Callable[[str], Any], tmp_path_factory: Any
) -> Path:
    base = tmp_path_factory.getbasetemp() / "printed_methods"
    return _written(request.param, reported(request.param).folder, base)


def kind(method: str) -> str:
    """A method without its numbers, which differ from row to row."""
    return re.sub(r"#[–-]#", "#", _NUMBER.sub("#", method)).rstrip(".")


def paragraphs(report: Path, name: str = "manuscript") -> list[str]:
    document = docx.Document(str(report / "manuscript" / f"{name}.docx"))
    return [p.text for p in document.paragraphs if p.text]


def tables(report: Path) -> str:
    document = docx.Document(str(report / "manuscript" / "manuscript.docx"))
    cells = [c.text for t in document.tables for row in t.rows for c in row.cells]
    return "\n".join(cells).replace("\u00a0", " ").replace("\u2212", "-")


def methods(report: Path) -> list[str]:
    """The paragraphs of the methods."""
    texts = paragraphs(report)
    return texts[texts.index("Methods") + 1 : texts.index("Results")]


def announced(report: Path) -> dict[str, str]:
    """Each announced method of an interval or test, without numbers -> its statistics."""
    [text] = [t for t in methods(report) if t.startswith("CIs (95%) and tests")]
    parts = text.partition(": ")[2].rstrip(".").split("; ")
    found = {}
    for part in parts:
        depth = 0
        for place in reversed(range(len(part))):
            depth += {")": 1, "(": -1}.get(part[place], 0)
            if depth == 0 and part[place] == "(":
                break
        method, statistics = part[:place].strip(), part[place + 1 : -1]
        assert (method, statistics) != ("", ""), part
        found[kind(re.sub(r" \[[\d, ]+\]$", "", method))] = statistics
    return found


def rows(report: Path) -> list[Row]:
    with (report / "estimates.csv").open() as file:
        return [r for r in csv.DictReader(file) if (r["low"] or r["p"]) and r["method"]]


def is_printed(row: Row, text: str) -> bool:
    """Whether the interval of a row is in the tables, in per cent or as it is; else its p value."""
    if not row["low"]:
        return f"\n{Numbers().p(float(row['p']))}\n" in text
    low, high = float(row["low"]), float(row["high"])
    limits = [
        (f"{factor * low:.{digits}f}", f"{factor * high:.{digits}f}")
        for factor, digits in ((100, 1), (1, 2))
    ]
    return any(
        f"{a}{between}{b}" in text
        for a, b in [(x.replace("-0.0", "0.0") if float(x) == 0 else x, y) for x, y in limits]
        for between in (" to ", ", ")
    )


def test_each_announced_method_has_a_number(report: Path) -> None:
    text = tables(report)
    printed = {kind(r["method"]) for r in rows(report) if is_printed(r, text)}
    # A number without an interval, and one of a figure alone, have their method in a caption.
    captions = " ".join(t for t in paragraphs(report) if t.startswith("Figure "))
    for method in announced(report):
        assert method in printed or method in kind(captions), method


def test_each_number_has_its_method_in_the_methods(report: Path) -> None:
    notes = [t.removeprefix("CI: ") for t in paragraphs(report) if t.startswith("CI: ")]
    captions = [
        m for t in paragraphs(report) for m in re.findall(r"95% CI: (.*)\.$", t) if "Figure" in t
    ]
    assert len(notes) > 3
    for method in (*notes, *captions):
        assert kind(method) in announced(report), method


def test_no_interval_is_announced_that_is_only_in_the_supplement(report: Path) -> None:
    texts = paragraphs(report)
    for words in ("lso reported", "two-way CI to generalise", "in brackets behind"):
        assert not [t for t in texts if words in t]
    # A number of all systems together is a number of its own.
    companions, others = set[str](), set[str]()
    for r in rows(report):
        is_beside = r["kind"] == "companion" and r.get("group.system") != "all_systems"
        (companions if is_beside else others).add(kind(r["method"]))
    assert companions - others, "the study has methods that only alternative intervals have"
    assert sorted((companions - others) & announced(report).keys()) == []
    beside = " ".join(paragraphs(report, "supplement"))
    assert "Also reported: " in beside


def test_references_stand_at_their_methods(report: Path) -> None:
    citations = [c for t in methods(report) for c in re.findall(r"\[(\d[\d, ]*)\]", t)]
    assert citations
    assert max(len(c.split(",")) for c in citations) <= 3


def test_methods_say_nothing_twice(report: Path) -> None:
    sentences = [
        s.strip() for t in methods(report) for s in re.split(r"(?<=[.])\s", t) if len(s) > 25
    ]
    assert len(sentences) > 15
    assert [s for s in set(sentences) if sentences.count(s) > 1] == []


def test_methods_state_priors_and_the_handling_of_missing_ratings(report: Path) -> None:
    text = " ".join(methods(report))
    assert any(m.startswith("posterior") for m in announced(report))
    assert re.search(r"patterns \(\w+ clusters\), a prior for each limit", text)
    assert "the prior of the lower limit is one more cluster" in text
    assert "Missing ratings were not imputed." in text


def test_checksums_are_in_the_supplement(report: Path) -> None:
    digest = re.compile(r"\b[0-9a-f]{64}\b")
    assert not any(digest.search(t) for t in paragraphs(report))
    assert sum(len(digest.findall(t)) for t in paragraphs(report, "supplement")) >= 2
