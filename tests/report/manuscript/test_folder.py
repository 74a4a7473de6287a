"""The manuscript's folder: in the report's, whole or not at all, and never over what authors changed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.report.conftest import without_figures
from tests.report.manuscript.documents import files_of

from konsil import report
from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.report import StudyRecords
from konsil.report.manuscript.files import further_files
from konsil.report.manuscript.request import ReportRequest


def write(folder: Path, request: ReportRequest | None, **changes: Any) -> Path:
    given: Any = {**without_figures(), **changes}
    kinds = ("items", "answers", "raters", "ratings")
    further = None if request is None else further_files(request)
    records = StudyRecords(**{kind: given[kind] for kind in kinds})
    return report.write(folder, given["study"], given["results"], records, further=further)


@pytest.mark.slow
def test_changed_and_added_files_are_never_replaced(tmp_path: Path) -> None:
    folder, request = tmp_path / "report", ReportRequest(to=("latex", "markdown"))
    write(folder, request)
    first = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    for name in ("manuscript.aux", "manuscript.pdf", "manuscript.bbl"):
        (folder / "manuscript" / name).write_text("made by LaTeX")
    write(folder, request)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == first
    changed = folder / "manuscript" / "manuscript.qmd"
    changed.write_text("our own words")
    for again in (request, None):
        with pytest.raises(KonsilError, match=r"manuscript\.qmd: was changed or added since"):
            write(folder, again)
        assert changed.read_text() == "our own words"
    changed.write_bytes(first[changed])
    (folder / "manuscript" / "letter.docx").write_text("to the editor")
    with pytest.raises(KonsilError, match=r"letter\.docx: was changed or added"):
        write(folder, None)
    (folder / "manuscript" / "letter.docx").unlink()
    write(folder, request)


@pytest.mark.slow
def test_folders_on_request_stay_while_the_report_is_the_same_and_go_with_other_results(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "report"
    write(folder, ReportRequest(to=("markdown",), figures=("svg",)))
    first = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert {p.parent.name for p in first if p.name == "SHA256SUMS"} == {
        "manuscript",
        "print-figures",
    }
    write(folder, None)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == first
    write(folder, ReportRequest(figures=("svg",)))
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == first
    given: Any = without_figures()
    rows = given["results"].rows
    write(folder, None, results=replace(given["results"], rows=rows[:-1]))
    assert not (folder / "manuscript").exists(), "its numbers would not be those of the page"
    assert not (folder / "print-figures").exists()


def test_a_figure_changed_by_hand_is_never_replaced_or_removed(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write(folder, ReportRequest(figures=("svg",)))
    figure = next((folder / "print-figures").glob("*.svg"))
    figure.write_text("retouched")
    for again in (None, ReportRequest(figures=("svg",))):
        with pytest.raises(KonsilError, match=rf"{figure.name}: was changed or added since"):
            write(folder, again)
        assert figure.read_text() == "retouched"


@pytest.mark.slow
def test_the_command_says_that_an_outdated_manuscript_was_removed(tmp_path: Path) -> None:
    folder = tmp_path / "study"

    def konsil(*words: str) -> str:
        return CliRunner().invoke(group, [*words], catch_exceptions=False).output

    konsil("new", str(folder))
    konsil("report", str(folder), "--to", "markdown")
    assert "note: the folder" not in konsil("report", str(folder))
    assert (folder / "report" / "manuscript" / "manuscript.qmd").is_file()
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("title = ", "title = 'Other' #", 1))
    words = "note: the folder manuscript of the earlier report was removed"
    shown = konsil("report", str(folder))
    assert words in shown and "; --to makes it again" in shown
    assert not (folder / "report" / "manuscript").exists()
    assert "note: the folder" not in konsil("report", str(folder))


def test_the_page_and_the_data_are_the_same_with_a_manuscript(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", None).parent
    more = write(tmp_path / "more", ReportRequest(to=("markdown",))).parent
    same = {p.relative_to(plain) for p in plain.rglob("*") if p.is_file()}
    assert all((plain / name).read_bytes() == (more / name).read_bytes() for name in same)
    extra = {p.relative_to(more).parts[0] for p in more.rglob("*") if p.is_file()}
    assert extra == {name.parts[0] for name in same} | {"manuscript"}


def test_a_manuscript_that_cannot_be_written_leaves_the_report_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "report"
    page = write(folder, None)
    before = page.read_bytes()

    def fail(*_: object) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr("konsil.report.manuscript.files.markdown", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write(folder, ReportRequest(to=("markdown",)))
    assert page.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--checklist grras", "--checklist: a checklist is a part of the manuscript"),
        ("--figures gif", "--figures: 'gif' is not a format of figures"),
        ("--to docx --width x", "--width: 'x' is not a width"),
    ],
)
def test_options_that_make_no_sense_stop_before_the_analyses(
    tmp_path: Path, options: str, words: str
) -> None:
    folder = str(tmp_path / "study")
    CliRunner().invoke(group, ["new", folder], catch_exceptions=False)
    done = CliRunner().invoke(group, ["report", folder, *options.split()])
    assert done.exit_code != 0
    assert words in str(done.exception)
    assert not (tmp_path / "study" / "report").exists()


def test_unknown_formats_are_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["report", str(tmp_path), "--to", "pages"])
    assert done.exit_code == 2
    assert re.search(r"'pages' is not one of 'docx', 'latex', 'markdown', 'xlsx'", done.output)


@pytest.mark.slow
def test_a_blinded_manuscript_says_so() -> None:
    words = "The systems are blinded"
    request = ReportRequest(to=("markdown",))
    for is_blinded in (True, False):
        files = files_of(without_figures(), request, is_blinded=is_blinded)
        assert (words in files["manuscript/manuscript.qmd"].decode()) == is_blinded
