"""konsil new --guided: answers on standard input make a study; a stop leaves nothing."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from small_studies import exit_code

_SPEC = importlib.util.spec_from_file_location(
    "setup_tables", Path(__file__).parents[1] / "web" / "design" / "conftest.py"
)
assert _SPEC is not None and _SPEC.loader is not None
TABLES = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(TABLES)

QUESTIONS = ["five", "", "", "-", "yesno", "", "", "", "pair3", "", "", "-", ""]
PANELS = ["", "", "4", "nurses", "", "2", ""]
PLAN = ["2", "all", "all", "none"]


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    """The paths of two oddly named tables, as they are answered."""
    (tmp_path / TABLES.CASES).write_bytes(TABLES.cases_csv())
    (tmp_path / TABLES.ANSWERS).write_bytes(TABLES.answers_xlsx())
    return [str(tmp_path / TABLES.CASES), "y", str(tmp_path / TABLES.ANSWERS), "", ""]


def guided(folder: Path, answers: list[str], *options: str):
    return CliRunner().invoke(
        group, ["new", str(folder), "--guided", *options], input="\n".join(answers) + "\n"
    )


@pytest.mark.slow
def test_piped_answers_make_a_study_that_checks(tmp_path: Path, tables: list[str]):
    study = tmp_path / "study"
    result = guided(study, ["Nausea", *tables, *QUESTIONS, *PANELS, *PLAN, "2", "y"])
    assert result.exit_code == 0, result.output
    assert "Fallnr.: number of the question (clear: Heading and content fit." in result.output
    assert "physicians on answers: 4 to 4 pages for each of 4; about" in result.output
    opened = open_folder(study).study
    assert opened.title == "Nausea"
    assert {n: len(r) for n, r in opened.panels().items()} == {"physicians": 4, "nurses": 2}
    assert [(a.panel, a.instrument, a.raters_per_item) for a in opened.plan] == [
        ("physicians", "answers", 2),
        ("physicians", "comparison", None),
        ("nurses", "answers", None),
    ]
    assert "agreement of physicians: How good is the answer overall" not in {
        a.name for a in opened.analyses
    }
    for verb in ("check", "import", "plan"):
        assert exit_code(verb, study) == 0


@pytest.mark.slow
def test_a_sheet_behind_a_cover_is_read_by_its_name(tmp_path: Path):
    book = openpyxl.load_workbook(io.BytesIO(TABLES.answers_xlsx()))
    book.active.title = "Outputs"
    book.create_sheet("Cover", 0).append(["Made by the ward"])
    place = tmp_path / "book.xlsx"
    book.save(place)
    answers = ["Nausea", str(place), "Cover", str(place), "Output", str(place), "", "y", ""]
    result = guided(tmp_path / "study", [*answers, *QUESTIONS, *PANELS, *PLAN, "", "y"])
    assert result.exit_code == 0, result.output
    assert "'Outputs'" in result.output.partition("24 rows")[0]
    assert {source.sheet for source in open_folder(tmp_path / "study").study.sources} == {"Outputs"}
    assert exit_code("import", tmp_path / "study") == 0


@pytest.mark.slow
def test_answers_that_end_early_leave_nothing(tmp_path: Path, tables: list[str]):
    before = sorted(p.name for p in tmp_path.iterdir())
    for answers in (["Nausea"], ["Nausea", *tables, *QUESTIONS], [""]):
        assert guided(tmp_path / "study", answers).exit_code != 0
        assert sorted(p.name for p in tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_no_at_the_end_leaves_nothing(tmp_path: Path, tables: list[str]):
    answers = ["Nausea", *tables, *QUESTIONS, *PANELS, *PLAN, "", "n"]
    assert guided(tmp_path / "study", answers).exit_code != 0
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_a_wrong_guess_is_corrected_column_by_column(tmp_path: Path, tables: list[str]):
    answers = ["Nausea", tables[0], "n", "", "", "unused", "", *tables[2:]]
    result = guided(
        tmp_path / "study", [*answers, *QUESTIONS, *PANELS, *PLAN, "", "y"], "--language", "de"
    )
    assert result.exit_code == 0, result.output
    assert "reference" not in (tmp_path / "study" / "study.toml").read_text("utf-8")
    assert open_folder(tmp_path / "study").study.language == "de"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--protocol", "medqade"), "--guided starts from your own tables"),
        (("--language", "fr"), "--language 'fr'"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path: Path, options, says):
    result = guided(tmp_path / "study", ["x"], *options)
    assert says in str(result.exception)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "own.txt").write_text("mine")
    assert "konsil design" in str(guided(tmp_path / "study", ["x"]).exception)


@pytest.mark.slow
def test_a_table_that_cannot_be_read_is_asked_for_again(tmp_path: Path, tables: list[str]):
    (tmp_path / "broken.csv").write_bytes(b"")
    answers = ["Nausea", str(tmp_path / "broken.csv"), str(tmp_path / "none.csv"), *tables]
    result = guided(tmp_path / "study", [*answers, *QUESTIONS, *PANELS, *PLAN, "", "y"])
    assert result.exit_code == 0
    assert "the file is empty" in result.output and "there is no such file" in result.output
