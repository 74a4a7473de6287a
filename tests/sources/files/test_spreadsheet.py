"""XLSX: what is read, and what would read as missing ratings is refused."""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files import spreadsheet
from konsil.sources.files.table import read_table


def book(path: Path, rows: list[list[object]], title: str = "Ratings") -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.active.title = title
    for row in rows:
        made.active.append(row)
    made.save(path)
    return made


def message(path: Path, sheet: str = "") -> str:
    with pytest.raises(SourceError) as caught:
        read_table(path, FileSettings(sheet=sheet))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_values(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    rows = [
        ["item", "rater", "label", "on"],
        [1, 3.0, "yes", datetime.datetime(2024, 5, 1)],
        [],
        ["2", 2.5, True, datetime.datetime(2024, 5, 1, 8, 30)],
        [None, "", None, None],
    ]
    book(path, rows)
    table = read_table(path)
    assert table.frame.rows() == [
        ("1", "3", "yes", "2024-05-01"),
        ("2", "2.5", "true", "2024-05-01T08:30:00"),
    ]
    assert [table.line(0), table.line(1)] == [2, 4]
    assert (table.name, table.place) == ("t.xlsx[Ratings]", "row")


cells = st.text(
    st.characters(min_codepoint=32, codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")),
    max_size=8,
)


@pytest.mark.slow
@given(
    rows=st.lists(
        st.lists(cells.filter(lambda c: not c.startswith("=")), min_size=3, max_size=3), min_size=1
    )
)
@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_round_trip(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "t.xlsx"
    kept = [row for row in rows if any(row)]
    book(path, [["a", "b", "c"], *rows])
    if not kept:
        assert message(path) == "t.xlsx: sheet 'Ratings' has a header but no row below it"
        return
    table = read_table(path)
    filled = {c: [row[i] for row in kept] for i, c in enumerate("abc")}
    assert table.frame.to_dict(as_series=False) == {
        c: [v or None for v in vs] for c, vs in filled.items()
    }


@pytest.mark.slow
def test_sheets(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    made = book(path, [["a"], [1]], "Accuracy")
    other = made.create_sheet("Clarity")
    other.append(["a"])
    other.append([2])
    made.create_sheet("Nothing")
    made.save(path)
    assert read_table(path).frame.rows() == [("1",)]
    assert read_table(path, FileSettings(sheet="Clarity")).frame.rows() == [("2",)]
    assert (
        message(path, "Clartiy") == "t.xlsx: there is no sheet 'Clartiy'; did you mean 'Clarity'?"
        " (sheets: 'Accuracy', 'Clarity', 'Nothing')"
    )
    assert message(path, "Nothing") == "t.xlsx: sheet 'Nothing' is empty"


def test_the_names_of_sheets_are_read_without_the_cells(tmp_path: Path) -> None:
    """Kills: names with a sign that XML writes otherwise."""
    path = tmp_path / "b.xlsx"
    made = book(path, [["a"], [1]], "R & D")
    made.create_sheet('"x" <y>')
    made.save(path)
    assert spreadsheet.sheets_of(path) == ("R & D", '"x" <y>')
    path.write_bytes(path.read_bytes()[:200])
    assert spreadsheet.sheets_of(path) == ()


@pytest.mark.slow
def test_merged_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    made = book(path, [["item", "reviewers", None], ["", "r1", "r2"], [1, 4, 5]])
    made.active.merge_cells("B1:C1")
    made.save(path)
    assert (
        message(path)
        == "t.xlsx: sheet 'Ratings': the header cells B1:C1 are merged; unmerge them and write the"
        " value into each"
    )
    made = book(path, [["item", "label"], [1, 4], [2, None]])
    made.active.merge_cells("B2:B3")
    made.save(path)
    assert "the cells B2:B3 are merged" in message(path)


@pytest.mark.slow
def test_formula_without_a_result(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book(path, [["item", "label"], [1, "=1+1"]])
    assert message(path).startswith(
        "t.xlsx: sheet 'Ratings': cell B2 is a formula without a stored result"
    )


@pytest.mark.slow
def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100))
    assert "protected by a password or is an old .xls" in message(path)
    path.write_bytes(b"item,label\n1,2\n")
    assert message(path) == "t.xlsx: this is not an .xlsx spreadsheet"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    assert "the spreadsheet is damaged" in message(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("hello.txt", "not a spreadsheet")
    assert "the spreadsheet is damaged" in message(path)
    book(path, [["a"], [1]])
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        broken = bytearray(whole)
        broken[cut : cut + 8] = bytes(8)
        path.write_bytes(bytes(broken))
        try:
            read_table(path)
        except SourceError as error:
            assert str(error).startswith("t.xlsx: ")


def test_zip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    book(path, [["a"], [1]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/media/zeros.bin", bytes(1 << 22))
    monkeypatch.setattr(spreadsheet, "LARGEST", 1 << 21)
    assert "unpacked the spreadsheet has 4 MiB, more than the 2 allowed" in message(path)


@pytest.mark.slow
def test_gaps_within_rows_and_headers(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book(path, [["item", None, "label"], [1, None, 4], [2, None, 5, "stray"]])
    assert message(path) == "t.xlsx: column 4 has values but no name in the header"
    book(path, [["item", None, "label"], [1, None, 4], [2]])
    assert read_table(path).frame.rows() == [("1", "4"), ("2", None)]


@pytest.mark.slow
def test_what_the_library_warns_of_is_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A workbook without a default style, of which the library warns, is read in silence."""
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["item", "label"])
    book.active.append(["q1", "yes"])
    book.save(tmp_path / "whole.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "bare.xlsx", "w") as bare,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            if name == "xl/styles.xml":
                content = re.sub(rb"<cellStyles.*?</cellStyles>", b"", content)
            bare.writestr(name, content)
    with pytest.warns(UserWarning, match="no default style"):
        openpyxl.load_workbook(tmp_path / "bare.xlsx")
    assert read_table(tmp_path / "bare.xlsx").frame.rows() == [("q1", "yes")]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_several_sheets_are_named_with_a_slash(tmp_path: Path) -> None:
    """Names and patterns; where some sheets have other columns, those with the same are named."""
    path = tmp_path / "t.xlsx"
    made = book(path, [["text"], ["x"]], "Text")
    for name, score in (("Ann", 1), ("Ben", 2), ("Cem", 3)):
        sheet = made.create_sheet(name)
        sheet.append(["case", "score"])
        sheet.append(["c1", score])
    made.save(path)
    some = read_table(path, FileSettings(sheet="Cem/Ann"))
    assert some.frame.rows() == [("Ann", "c1", "1"), ("Cem", "c1", "3")]
    assert some.frame.columns == ["sheet", "case", "score"] and some.stacked_by == "sheet"
    assert read_table(path, FileSettings(sheet="A*/Ben")).frame["sheet"].to_list() == ["Ann", "Ben"]
    assert message(path, "*") == (
        "t.xlsx: 'Ann' has no column 'text', which 'Text' has; sheets are read as one table if they"
        " have the same columns; the sheet 'Ann/Ben/Cem' means those that have"
    )
    assert "there is no sheet 'Dan'" in message(path, "Ann/Dan")


def test_a_line_break_in_a_name_is_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book(path, [["case", "Accuracy\n(0-4)", "two  blanks"], ["c1", 3, 4]])
    assert read_table(path).frame.columns == ["case", "Accuracy (0-4)", "two  blanks"]


@pytest.mark.slow
def test_hidden_rows_and_columns_are_read_and_named(tmp_path: Path) -> None:
    """A filter hides rows, and nobody sees whether they were meant."""
    path = tmp_path / "t.xlsx"
    made = book(path, [["case", "ann", "ben", "cem"], *([f"c{n}", 1, 2, 3] for n in range(9))])
    assert read_table(path).hidden == ()
    sheet = made.active
    for row in (3, 5, 40):
        sheet.row_dimensions[row].hidden = True
    made.save(path)
    assert read_table(path).hidden == ("2 hidden rows are included",)
    sheet.row_dimensions[5].hidden = False
    sheet.column_dimensions["C"].hidden = True
    sheet.column_dimensions.group("C", "D", hidden=True)
    sheet.column_dimensions.group("F", "H", hidden=True)
    made.save(path)
    table = read_table(path)
    assert table.hidden == (
        "1 hidden row is included",
        "the hidden column C is included",
        "the hidden column D is included",
    )
    assert table.frame.shape == (9, 4)
