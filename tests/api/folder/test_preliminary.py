"""The preliminary page: the numbers of the whole report, none adjusted, marked as preliminary."""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path

import pytest

from konsil.errors import KonsilError, StudyError
from konsil.report.manuscript.request import ReportRequest
from small_studies import form, import_ratings, raters, share_correct, study_text, systems

ROWS = [
    ("rater", "item", "system", "criterion", "label"),
    *(
        (f"r{r}", f"i{n:02}", system, "correct", "no" if n % (4 if system == "a" else 2) else "yes")
        for r, n, system in itertools.product((1, 2, 3), range(30), "ab")
    ),
]
SOURCE = """[[sources]]
file = "r.csv"
records = "ratings"
"""


def study(folder: Path, *parts: str) -> None:
    asked = share_correct(
        name="Asked", by=["system"], compare="system", question="Which is better?"
    )
    text = study_text(
        "Two systems",
        form(),
        systems("a", "b"),
        raters("r1", "r2", "r3"),
        SOURCE,
        asked,
        share_correct(name="Other"),
        *parts,
        seed=1,
    )
    (folder / "study.toml").write_text(text, "utf-8")


def numbers(report: Path) -> dict[tuple[str, ...], tuple[str, ...]]:
    rows = csv.DictReader((report / "estimates.csv").read_text("utf-8").splitlines())
    keys = ("analysis", "kind", "group.system", "versus.system", "method")
    return {
        tuple(r.get(k, "") for k in keys): tuple(r[k] for k in ("value", "low", "high", "p"))
        for r in rows
    }


@pytest.mark.slow
def test_a_preliminary_page_has_the_questions_unadjusted(tmp_path: Path) -> None:
    study(tmp_path)
    opened = import_ratings(tmp_path, ROWS)
    page, results = opened.write_report(request=ReportRequest(quick=True))
    assert page == tmp_path / "preliminary" / "index.html"
    whole = opened.report().parent
    few, every = numbers(page.parent), numbers(whole)
    assert {key[0] for key in few} == {"Asked"}
    assert {key[0] for key in every} == {"Asked", "Other"}
    assert few.items() <= every.items()
    assert all(row.p_adjusted != row.p_adjusted for row in results.rows)
    text = page.read_text("utf-8")
    assert "<strong>Preliminary.</strong>" in text
    assert "The audit log was not verified" in text
    assert "Which is better?" in text
    assert "<script" not in text
    assert "Preliminary." not in (whole / "index.html").read_text("utf-8")
    assert set(re.findall(r'<a [^>]*href="#([^"]*)"', text)) <= {"answers"}


@pytest.mark.slow
def test_a_preliminary_page_is_no_further_look(tmp_path: Path) -> None:
    study(
        tmp_path, '[interim]\npanel = "people"\nratings = 300\n[[interim.looks]]\nfraction = 0.5\n'
    )
    opened = import_ratings(tmp_path, ROWS)
    with pytest.raises(StudyError, match="would be a further look; expected a report without"):
        opened.write_report(request=ReportRequest(quick=True))


def test_a_preliminary_page_has_no_further_files() -> None:
    with pytest.raises(KonsilError, match="a preliminary page has no further files"):
        ReportRequest(quick=True, to=("docx",))
