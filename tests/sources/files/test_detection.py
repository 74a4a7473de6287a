"""Files that nobody has described: how they are cut into cells, and what is said of it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files.cells import detected_decimal, with_decimal_point
from konsil.sources.files.table import Table, read_table


def text_table(folder: Path, text: str, ending: str = ".csv", encoding: str = "utf-8") -> Path:
    path = folder / f"t{ending}"
    path.write_bytes(text.encode(encoding))
    return path


def changed(table: Table) -> dict[str, Any]:
    """The settings that were detected."""
    usual = FileSettings()
    return {
        e.name: getattr(table.settings, e.name)
        for e in fields(FileSettings)
        if getattr(table.settings, e.name) != getattr(usual, e.name)
    }


GERMAN = "Fall-Nr.;Dr. Groß;Dr. Jäger\n1;4,4;5,0\n2;1,6;2,4\n"


def test_a_table_of_a_german_spreadsheet_is_read_at_once(tmp_path: Path) -> None:
    table = read_table(text_table(tmp_path, GERMAN, encoding="cp1252"), as_is=True)
    assert table.frame.columns == ["Fall-Nr.", "Dr. Groß", "Dr. Jäger"]
    assert table.frame.rows() == [("1", "4.4", "5.0"), ("2", "1.6", "2.4")]
    assert changed(table) == {"encoding": "cp1252", "separator": ";", "decimal": ","}
    again = read_table(table.path, table.settings)
    assert again.frame.equals(table.frame)


def test_a_described_table_is_read_as_described(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not utf-8; the file looks like cp1252"):
        read_table(text_table(tmp_path, GERMAN, encoding="cp1252"))
    with pytest.raises(SourceError, match="the separator looks like a semicolon"):
        read_table(text_table(tmp_path, GERMAN))
    table = read_table(text_table(tmp_path, GERMAN), FileSettings(separator=";"))
    assert table.frame.get_column("Dr. Groß").to_list() == ["4,4", "1,6"]


@pytest.mark.parametrize(
    ("cells", "decimal"),
    [
        (["4,4", "5"], ","),
        (["1,234", "2,345"], ""),
        (["1,234", "2,34"], ","),
        (["1.234,5", "3"], ","),
        (["4.4", "5"], ""),
        (["4,4", "a"], ""),
        (["4,4", "4.5"], ""),
        (["a,b", "c"], ""),
        (["1.234", "3"], ""),
        ([None, "\u22120,5"], ","),
        ([None, None], ""),
    ],
)
def test_decimal_signs(cells: list[str | None], decimal: str) -> None:
    assert detected_decimal(pl.DataFrame({"a": cells}, schema={"a": pl.String})) == decimal


def test_one_column_settles_the_decimal_sign_of_all(tmp_path: Path) -> None:
    text = "a;b\n1,234;4,4\n2,345;4,5\n"
    table = read_table(text_table(tmp_path, text), as_is=True)
    assert table.settings.decimal == ","
    assert table.frame.rows() == [("1.234", "4.4"), ("2.345", "4.5")]
    unclear = read_table(text_table(tmp_path, "a;b\n1,234;4\n2,345;5\n"), as_is=True)
    assert unclear.settings.decimal == ""
    assert unclear.frame.rows() == [("1,234", "4"), ("2,345", "5")]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(1, 6))
def test_a_decimal_comma_is_a_decimal_point(numbers: list[int], places: int) -> None:
    points = [f"{n / 10**places:.{places}f}" for n in numbers]
    commas = pl.DataFrame({"a": [text.replace(".", ",") for text in points]})
    assert with_decimal_point(commas, ",").get_column("a").to_list() == points
    # Three places can be thousands, which a decimal point leaves out.
    assert places == 3 or with_decimal_point(commas, ".").equals(commas)


TITLED = "Ratings of the ward,,\nAccuracy,,\ncase,ann,ben\n1,yes,no\n2,no,no\n"


def test_a_title_above_the_names(tmp_path: Path) -> None:
    table = read_table(text_table(tmp_path, TITLED), as_is=True)
    assert (table.frame.columns, table.frame.height) == (["case", "ann", "ben"], 2)
    assert changed(table) == {"skip": 2}
    assert [table.line(row) for row in (0, 1)] == [4, 5]
    assert read_table(table.path, FileSettings(skip=2)).frame.equals(table.frame)


TWO_ROWS = ",,Accuracy,,Safety,\nid,case,ann,ben,ann,ben\n1,x,3,3,1,2\n2,y,1,3,1,1\n"


def test_two_rows_of_names(tmp_path: Path) -> None:
    table = read_table(text_table(tmp_path, TWO_ROWS), as_is=True)
    names = ["Accuracy: ann", "Accuracy: ben", "Safety: ann", "Safety: ben"]
    assert table.frame.columns == ["id", "case", *names]
    assert changed(table) == {"header": 2}
    with pytest.raises(SourceError, match="column 2 has values but no name"):
        read_table(table.path)


def test_two_rows_of_names_with_one_that_stands_in_both(tmp_path: Path) -> None:
    text = "case,Dr. Ann,,Dr. Ben,\n,safe,right,safe,right\nx,a,b,a,a\ny,b,b,a,b\n"
    table = read_table(text_table(tmp_path, text), as_is=True)
    names = ["Dr. Ann: safe", "Dr. Ann: right", "Dr. Ben: safe", "Dr. Ben: right"]
    assert (table.frame.columns, table.frame.height) == (["case", *names], 2)
    assert changed(table) == {"header": 2}
    # A rating without a case is not a row of names.
    table = read_table(text_table(tmp_path, "case,ann,ben\n,a,b\nx,a,b\ny,b,b\n"), as_is=True)
    assert (table.frame.columns, table.frame.height) == (["case", "ann", "ben"], 3)


@pytest.mark.parametrize("question", ["Is it safe?", "Is this answer safe? " * 20_000])
def test_an_export_of_qualtrics_has_its_names_in_the_first_of_three_rows(
    question: str, tmp_path: Path
) -> None:
    """However long its questions are."""
    ids = ",".join(f'"{{""ImportId"":""QID{n}""}}"' for n in range(3))
    text = f"ResponseId,Q1,Q2\nResponse ID,{question},Is it right?\n{ids}\nR1,4,5\nR2,3,3\n"
    table = read_table(text_table(tmp_path, text), as_is=True)
    assert (table.frame.columns, table.frame.height) == (["ResponseId", "Q1", "Q2"], 2)
    assert changed(table) == {"header": 3}


def test_names_over_merged_cells_of_a_spreadsheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in ([None, "Accuracy", None], ["case", "ann", "ben"], [1, 3, 4], [2, 2, 4]):
        sheet.append(row)
    sheet.merge_cells("B1:C1")
    book.create_sheet("Notes").append(["a", "b"])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", as_is=True)
    assert table.frame.columns == ["case", "Accuracy: ann", "Accuracy: ben"]
    assert (changed(table), table.sheets) == ({"header": 2}, ("Sheet", "Notes"))
    with pytest.raises(SourceError, match="the header cells B1:C1 are merged"):
        read_table(tmp_path / "t.xlsx")
    sheet.merge_cells("B3:B4")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(SourceError, match="the header cells B3:B4 are merged"):
        read_table(tmp_path / "t.xlsx", as_is=True)


def test_equal_names_are_numbered_so_that_none_is_meant_by_the_name_alone(tmp_path: Path) -> None:
    path = text_table(tmp_path, "id,Score,Score,\n1,a,b,c\n2,a,a,d\n")
    table = read_table(path, as_is=True)
    assert table.frame.columns == ["id", "Score (1)", "Score (2)", "column 4"]
    assert changed(table) == {"numbered": True}
    with pytest.raises(SourceError, match="are both called 'Score'"):
        read_table(path)


def test_rows_that_all_leave_the_last_cells_away_are_whole(tmp_path: Path) -> None:
    path = text_table(tmp_path, "id,a,b,Approve,Reject\n1,x,y\n2,x,x\n")
    assert read_table(path).frame.columns == ["id", "a", "b", "Approve", "Reject"]
    for cut_off in ("id,a,b\n1,x,y\n2,x\n", "id,a,b\n1,x\n2,x,y\n", "id,a,b\n1,x\n"):
        with pytest.raises(SourceError, match="2 fields where the header has 3"):
            read_table(text_table(tmp_path, cut_off))


def test_comments(tmp_path: Path) -> None:
    path = text_table(tmp_path, "# ward 3\ncase,ann,ben\n1,a,b\n# second day\n2,b,b\n")
    table = read_table(path, as_is=True)
    assert (table.frame.height, changed(table)) == (2, {"comment": "#"})
    assert [table.line(row) for row in (0, 1)] == [3, 5]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(tmp_path: Path, separator: str) -> None:
    text = separator.join(["case", "ann, md", "ben"]) + "\n"
    rows = "".join(f"{n}{separator}yes{separator}no\n" for n in range(3))
    path = text_table(tmp_path, text.replace("ann, md", "ann") + rows)
    assert read_table(path, as_is=True).frame.columns == ["case", "ann", "ben"]


def test_a_usual_table_has_usual_settings(tmp_path: Path) -> None:
    path = text_table(tmp_path, 'case,ann,text\n1,yes,"a; b; c"\n2,no,"d; e; f"\n')
    assert changed(read_table(path, as_is=True)) == {}
    # A single column of texts has commas in them.
    lone = text_table(tmp_path, "text\nyes; no; no\nno; no; yes\n")
    assert read_table(lone, as_is=True).frame.columns == ["text"]


LONG = "w1,101,1\nw2,101,2\nw1,102,2\nw2,102,1\n"


def test_a_first_row_of_values_is_no_row_of_names(tmp_path: Path) -> None:
    """Every cell of the first row is another cell of its column: the table has no names."""
    table = read_table(text_table(tmp_path, LONG), as_is=True)
    assert changed(table) == {"header": 0} and table.frame.height == 4
    assert read_table(text_table(tmp_path, LONG)).frame.columns == ["w1", "101", "1"]
    # Equal cells are numbered as names.
    twice = read_table(text_table(tmp_path, "c1,1,1\nc1,1,2\nc2,2,1\n"), as_is=True)
    assert twice.settings.header == 0 and twice.frame.height == 3
    # Names that are repeated above other rows are names, and one name may be a value.
    for text in ("a,b\n1,2\na,b\n3,4\n", "rater,yes\nx,yes\ny,no\n"):
        assert read_table(text_table(tmp_path, text), as_is=True).settings.header == 1
    book = openpyxl.Workbook()
    for line in LONG.split():
        book.active.append(line.split(","))
    book.save(tmp_path / "t.xlsx")
    assert changed(read_table(tmp_path / "t.xlsx", as_is=True)) == {"header": 0}
