"""Tables of every kind read as text, and every unreadable file said in one sentence."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import re
from dataclasses import fields
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files import delimited
from konsil.sources.files.table import read_table

SAFE = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def message(path: Path, **options: str) -> str:
    with pytest.raises(SourceError) as caught:
        read_table(path, FileSettings(**options))
    text = str(caught.value)
    assert "\n" not in text
    return text


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- what is read ---------------------------------------------------------------------------------

cell = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cs",)), max_size=12
)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(cell, min_size=width, max_size=width).filter(
            lambda row: any(c.strip() for c in row)
        ),
        min_size=1,
        max_size=8,
    )
)


def expected(rows: list[list[str]]) -> list[tuple[str | None, ...]]:
    return [tuple(c if c else None for c in row) for row in rows]


@given(rows=tables, separator=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]))
@SAFE
def test_delimited_round_trip(
    tmp_path: Path, rows: list[list[str]], separator: str, end: str
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    names = [f"name {i}" for i in range(len(rows[0]))]
    writer.writerows([names, *rows])
    table = read_table(write(tmp_path, "t.csv", text.getvalue()), FileSettings(separator=separator))
    assert table.frame.columns == names
    assert table.frame.rows() == expected(rows)
    content = text.getvalue()
    starts = [table.line(i) for i in range(len(rows))]
    breaks = [1]
    for row in [names, *rows]:
        one = io.StringIO(newline="")
        csv.writer(one, delimiter=separator, lineterminator=end).writerow(row)
        breaks.append(breaks[-1] + one.getvalue().count("\n"))
    assert starts == breaks[1:-1]
    assert content.count("\n") == breaks[-1] - 1


@pytest.mark.slow
@given(rows=tables)
@SAFE
def test_other_formats_round_trip(tmp_path: Path, rows: list[list[str]]) -> None:
    names = [f"name {i}" for i in range(len(rows[0]))]
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    lines = "\n".join(json.dumps(o, ensure_ascii=False) for o in objects)
    pl.DataFrame(objects, schema=dict.fromkeys(names, pl.String)).write_parquet(
        tmp_path / "t.parquet"
    )
    write(tmp_path, "t.jsonl", lines)
    write(tmp_path, "t.json", json.dumps(objects, indent=1))
    for name in ("t.parquet", "t.jsonl", "t.json"):
        table = read_table(tmp_path / name)
        assert table.frame.rows() == expected(rows)
        assert set(table.frame.dtypes) == {pl.String}


def test_numbers_become_the_text_a_person_would_write(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "int": [1, None],
            "float": [3.0, 0.1],
            "small": pl.Series([0.1, 2.0], dtype=pl.Float32),
            "bool": [True, False],
            "day": [datetime.date(2024, 5, 1), None],
            "at": [datetime.datetime(2024, 5, 1, 8, 30), None],
            "list": [["a", "b"], None],
            "word": pl.Series(["x", None], dtype=pl.Categorical),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").frame.rows() == [
        ("1", "3", "0.1", "true", "2024-05-01", "2024-05-01T08:30:00", '["a", "b"]', "x"),
        (None, "0.1", "2", "false", None, None, None, None),
    ]
    path = write(
        tmp_path,
        "t.jsonl",
        '{"a": 3.0, "b": 1, "c": true}\n\n{"a": 0.1, "b": null, "d": {"x": 1}}\n',
    )
    table = read_table(path)
    assert table.frame.rows(named=True) == [
        {"a": "3", "b": "1", "c": "true", "d": None},
        {"a": "0.1", "b": None, "c": None, "d": '{"x": 1}'},
    ]
    assert [table.line(i) for i in range(2)] == [1, 3]


def test_lines_with_quoted_breaks_blank_lines_and_old_line_ends(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.csv", 'item,text\n1,"two\nlines"\n\n2,one\n'))
    assert table.frame.rows() == [("1", "two\nlines"), ("2", "one")]
    assert [table.line(0), table.line(1)] == [2, 5]
    table = read_table(write(tmp_path, "mac.csv", "a,b\r1,2\r3,4\r"))
    assert table.frame.rows() == [("1", "2"), ("3", "4")]
    table = read_table(write(tmp_path, "win.csv", "a,b\r\n1,2\r\n3,\r\n"))
    assert table.frame.rows() == [("1", "2"), ("3", None)]
    assert table.line(1) == 3


def test_names_are_trimmed_and_empty_columns_dropped(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.csv", ",item , rater,\n0,1,a,\n1,2,b,\n"))
    assert table.frame.columns == ["column 1", "item", "rater"]


def test_byte_order_marks_are_silent(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "t.csv", b"\xef\xbb\xbfitem,b\n1,2\n")).frame.columns == [
        "item",
        "b",
    ]
    path = write(tmp_path, "u.csv", "item,b\nä,2\n".encode("utf-16"))
    assert read_table(path, FileSettings(encoding="utf-16")).frame.rows() == [("ä", "2")]


def test_declared_encodings(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'item,b\n"Schädel",2\n'.encode("cp1252"))
    assert read_table(path, FileSettings(encoding="cp1252")).frame.rows() == [("Schädel", "2")]


def test_json_list_lines(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.json", '[\n {"a": 1},\n\n {"a":\n 2}]\n'))
    assert [table.line(0), table.line(1)] == [2, 4]


def test_an_object_of_like_objects_is_a_table(tmp_path: Path) -> None:
    """Its keys are a first column; objects with the numbers of rows as keys are columns."""
    by_key = {"12": {"ann": 1, "ben": 2}, "13": {"ann": 2, "ben": 2, "note": "x"}}
    table = read_table(write(tmp_path, "t.json", json.dumps(by_key)))
    assert table.frame.columns == ["key", "ann", "ben", "note"]
    assert table.frame.rows() == [("12", "1", "2", None), ("13", "2", "2", "x")]
    assert (table.place, table.line(1)) == ("row", 2)
    columns = {"case": {"0": "a", "1": "b"}, "ann": {"0": 1, "1": 2}}
    table = read_table(write(tmp_path, "u.json", json.dumps(columns)))
    assert table.frame.rows(named=True) == [{"case": "a", "ann": "1"}, {"case": "b", "ann": "2"}]
    nested = {"1": {"by": {"ann": "x", "ben": "y"}}, "2": {"by": {"ann": "y", "ben": "y"}}}
    table = read_table(write(tmp_path, "v.json", json.dumps(nested)), FileSettings(path="."))
    assert table.frame.columns == ["key", "by: ann", "by: ben"]


def test_an_object_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for value in ({"12": {"ann": 1}}, {"a": {"x": 1}, "b": {"y": 1}}, {"a": {"x": 1}, "b": 2}):
        with pytest.raises(SourceError, match="expected a JSON list"):
            read_table(write(tmp_path, "t.json", json.dumps(value)))
    with pytest.raises(SourceError, match="its records have a key 'key'"):
        read_table(write(tmp_path, "t.json", '{"1": {"key": "a"}, "2": {"key": "b"}}'))


# --- what is not ----------------------------------------------------------------------------------


def test_missing_files(tmp_path: Path) -> None:
    write(tmp_path, "ratings.csv", "a\n1\n")
    assert (
        message(tmp_path / "rating.csv")
        == "rating.csv: there is no such file; did you mean 'ratings.csv'?"
    )
    assert message(tmp_path) == f"{tmp_path.name}: is a folder; expected a file"
    assert re.fullmatch(
        r"r\.csv: there is no folder '.*nowhere'", message(tmp_path / "nowhere" / "r.csv")
    )


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.json", "t.parquet", "t.xlsx"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    assert message(write(tmp_path, name, "")) == f"{name}: the file is empty"


def test_nothing_but_blanks_or_a_header(tmp_path: Path) -> None:
    assert message(write(tmp_path, "t.csv", "\n \n")) == "t.csv: the file is empty"
    assert message(write(tmp_path, "t.csv", "\ufeff".encode())) == "t.csv: the file is empty"
    assert (
        message(write(tmp_path, "t.csv", "a,b\n")) == "t.csv: there is a header but no row below it"
    )
    assert (
        message(write(tmp_path, "t.csv", "a,b")) == "t.csv: there is a header but no row below it"
    )
    assert message(write(tmp_path, "t.json", "[]")) == "t.json: the file has no rows"
    pl.DataFrame({"a": pl.Series([], dtype=pl.String)}).write_parquet(tmp_path / "t.parquet")
    assert message(tmp_path / "t.parquet") == "t.parquet: the file has columns but no row"


def test_wrong_encodings(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "item,text\n1,Kopf\n2,Schädel und Übelkeit\n".encode("cp1252"))
    assert (
        message(path)
        == "t.csv: line 3: byte 0xe4 is not utf-8; the file looks like cp1252 ('Schädel'): set"
        ' encoding = "cp1252"'
    )
    path = write(tmp_path, "t.csv", "item,text\n1,Übelkeit\n".encode("mac-roman"))
    assert 'set encoding = "mac-roman"' in message(path)
    path = write(tmp_path, "t.csv", "a,b\n1,ü\n".encode("utf-16"))
    assert 'begins with the byte order mark of utf-16; set encoding = "utf-16"' in message(path)
    path = write(tmp_path, "t.csv", b"\xef\xbb\xbfa,b\n1,2\n")
    assert 'begins with the byte order mark of utf-8; set encoding = "utf-8"' in message(
        path, encoding="cp1252"
    )
    path = write(tmp_path, "t.csv", "a,b\n1,ü\n")
    assert "looks like utf-8" in message(path, encoding="ascii")
    assert (
        message(path, encoding="utf8x")
        == "t.csv: there is no encoding 'utf8x'; did you mean 'utf-8'?"
    )
    assert "there is no encoding 'rot13'" in message(path, encoding="rot13")


def test_other_kinds_of_files(tmp_path: Path) -> None:
    assert (
        message(write(tmp_path, "t.csv", b"a,b\n\0\0,1\n"))
        == "t.csv: line 2 contains a zero byte; this is not a text table"
    )
    assert "the file is compressed by gzip" in message(
        write(tmp_path, "t.csv", gzip.compress(b"a\n1\n"))
    )
    assert "the file is a spreadsheet or a zip archive" in message(
        write(tmp_path, "t.csv", b"PK\x03\x04...")
    )
    assert (
        message(write(tmp_path, "t.xls", b"x"))
        == "t.xls: .xls files are not read; open the file in a spreadsheet program and save it as"
        " .xlsx"
    )
    for ending in ("rda", "toc", "ods"):
        sentence = message(write(tmp_path, f"t.{ending}", b"x"))
        assert sentence.startswith(f"t.{ending}: .{ending} files are not read; ")
        assert ".csv" in sentence or ".xlsx" in sentence
    assert "unsupported file extension '.abc'; expected one of .csv" in message(
        write(tmp_path, "t.abc", b"x")
    )
    assert message(write(tmp_path, "t.parquet", b"PARX")) == "t.parquet: this is not a Parquet file"
    assert "the Parquet file is damaged" in message(
        write(tmp_path, "t.parquet", b"PAR1 nothing PAR1")
    )
    assert "has no effect on .csv files; expected one of .xlsx" in message(
        write(tmp_path, "t.csv", "a\n1\n"), sheet="One"
    )


SETTINGS = {
    "sheet": "One",
    "encoding": "cp1252",
    "separator": ";",
    "decimal": ",",
    "skip": 1,
    "header": 2,
    "numbered": True,
    "comment": "#",
    "path": ".",
}
_OF_JSON = {"encoding", "path"}
TAKEN = {".csv": {*SETTINGS} - {"sheet", "path"}, ".jsonl": _OF_JSON, ".json": _OF_JSON}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json", ".parquet", ".xlsx"])
def test_a_setting_without_meaning_for_a_kind_of_file_is_refused(
    tmp_path: Path, setting: str, ending: str
) -> None:
    """Kills: a setting that is accepted and read by nothing."""
    assert {*SETTINGS} == {entry.name for entry in fields(FileSettings)}
    frame = pl.DataFrame({"a": ["x", "1,5", "y"], "b": ["#p", "q", "r"], "c": ["1", "2", "3"]})
    path = tmp_path / f"t{ending}"
    match ending:
        case ".csv":
            frame.write_csv(path)
        case ".jsonl":
            frame.write_ndjson(path)
        case ".json":
            path.write_text(json.dumps(frame.to_dicts()))
        case ".parquet":
            frame.write_parquet(path)
        case _:
            book = openpyxl.Workbook()
            for row in (frame.columns, *frame.rows()):
                book.worksheets[0].append(row)
            book.save(path)
    taken = TAKEN.get(
        ending, set() if ending == ".parquet" else {*SETTINGS} - {"encoding", "separator", "path"}
    )
    settings = FileSettings(**{setting: SETTINGS[setting]})
    try:
        read_table(path, settings)
        sentence = ""
    except SourceError as error:
        sentence = str(error)
    assert (f"has no effect on {ending} files" in sentence) == (setting not in taken), sentence


@given(
    data=st.binary(min_size=1, max_size=200),
    name=st.sampled_from(["t.csv", "t.jsonl", "t.json", "t.parquet"]),
)
@SAFE
def test_garbage_is_read_or_refused(tmp_path: Path, data: bytes, name: str) -> None:
    path = write(tmp_path, name, data)
    try:
        table = read_table(path)
    except SourceError as error:
        assert str(error).startswith(name)
    else:
        assert table.frame.height == len(table.lines)


def test_ragged_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3\n")
    assert (
        message(path)
        == "t.csv: 2 of 4 rows cannot be read; nothing was imported: line 3: 2 fields where the"
        " header has 3; line 4: 4 fields where the header has 3"
    )
    path = write(tmp_path, "t.csv", 'a,b\n"x\ny",2\n1\n')
    assert "line 4: 1 field where the header has 2" in message(path)


def test_many_problems_are_cut_in_the_message_and_kept_in_the_error(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b\n1,2\n" + "1\n" * 1500)
    with pytest.raises(SourceError) as caught:
        read_table(path)
    assert "1,500 of 1,501 rows cannot be read" in str(caught.value)
    assert str(caught.value).endswith("(and 1,499 more like it)")
    assert len(caught.value.problems) == 1500
    assert caught.value.problems[-1].startswith("line 1,502: ")


def test_quotation_marks(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'a,b\n1,2\n2,"open\n3,4\n')
    assert message(path) == "t.csv: line 3: a quotation mark opens a field and is never closed"
    path = write(tmp_path, "t.csv", 'a,b\n1,"x"y\n')
    assert "line 2: text follows a closing quotation mark" in message(path)
    assert read_table(write(tmp_path, "t.csv", 'a,b\n1,6" tube\n')).frame.rows() == [
        ("1", '6" tube')
    ]


def test_headers(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b,a\n1,2,3\n")
    assert message(path).startswith(
        "t.csv: columns 1 and 3 are both called 'a'; the first row must be a header"
    )
    assert (
        message(write(tmp_path, "t.csv", "a,,c\n1,2,3\n"))
        == "t.csv: column 2 has values but no name in the header"
    )
    path = write(tmp_path, "t.csv", "item;rater;label\n1;a;yes\n")
    assert (
        message(path)
        == "t.csv: the header is a single column 'item;rater;label'; the separator looks like a"
        ' semicolon: set separator = ";"'
    )
    assert 'set separator = "\\t"' in message(write(tmp_path, "t.csv", "item\trater\n1\ta\n"))
    assert message(path, separator=";;") == "t.csv: the separator must be one character, got ';;'"


def test_json_faults(tmp_path: Path) -> None:
    path = write(tmp_path, "t.jsonl", '{"a": 1}\n{"a": }\n[1]\n{"a": 1, "a": 2}\n')
    assert (
        message(path)
        == "t.jsonl: 3 of 4 rows cannot be read; nothing was imported: line 2: not JSON: expecting"
        " value (character 7); line 3: expected an object, got [1]; line 4: the key 'a' occurs"
        " twice"
    )
    assert "expected a JSON list" in message(write(tmp_path, "t.json", '{"a": 1}'))
    assert "t.json: line 2: not JSON" in message(write(tmp_path, "t.json", '[{"a": 1},\n{"a" 1}]'))
    assert "line 1: expected ',' or ']'" in message(
        write(tmp_path, "t.json", '[{"a": 1} {"a": 1}]')
    )
    assert "there is text after the list's end" in message(write(tmp_path, "t.json", "[{}] x"))
    assert "nested too deeply" in message(write(tmp_path, "t.json", "[" * 100_000))


def test_unreadable_file(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert message(path) == "t.csv: cannot be opened: Permission denied"


@pytest.mark.parametrize("quoted", ["no", '"no"'])
def test_the_mark_of_a_file_that_was_joined_to_another_is_no_text(
    tmp_path: Path, quoted: str
) -> None:
    rows = f"\ufeffitem,label\n\ufeffx,yes\n\ufeffy,{quoted}\nz\ufeff,no\n"
    assert read_table(write(tmp_path, "t.csv", rows.encode())).frame.rows() == [
        ("x", "yes"),
        ("y", "no"),
        ("z\ufeff", "no"),
    ]


@pytest.mark.parametrize("rows", ["1\n1,2,3\n", "1,2,3\n1\n", "1,2\n1\n1,2,3\n"])
def test_ragged_rows_that_make_up_for_one_another_are_not_read_the_fast_way(rows: str) -> None:
    assert delimited._read_unquoted(f"a,b\n{rows}".encode(), ",", 2) is None


plain = st.text(
    st.characters(codec="utf-8", exclude_characters='\0\r\n",', exclude_categories=("Cs",)),
    max_size=6,
)


@given(
    rows=st.lists(st.lists(plain, min_size=1, max_size=3), min_size=2, max_size=6),
    end=st.sampled_from("\n "),
)
@SAFE
def test_the_fast_and_the_careful_way_agree(rows: list[list[str]], end: str) -> None:
    data = ("\n".join(",".join(row) for row in rows) + end.strip(" ")).encode()
    fast = delimited._read_unquoted(data, ",", len(rows[0]))
    if fast is None:
        return
    careful = list(delimited._records(data, ",", "t.csv"))[1:]
    assert fast.rows() == [tuple(c or None for c in row) for _, row in careful]
    assert [line for line, _ in careful] == list(range(2, fast.height + 2))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_rows_without_a_cell_are_no_rows(end: str, quote: str, tmp_path: Path) -> None:
    """Kills: rows of separators alone as units, and lines of later rows that are wrong."""
    lines = ["case,ann,ben", f"{quote}c1{quote},1,2", ",,", ", ,", "c2,2,3", ",,"]
    file = tmp_path / "t.csv"
    for last in (end, ""):
        file.write_text(end.join(lines) + last, newline="")
        table = read_table(file)
        assert table.frame.rows() == [("c1", "1", "2"), ("c2", "2", "3")]
        assert [table.line(row) for row in range(2)] == [2, 5]
    file.write_text(end.join(["case,ann,ben", "c1,1,2", ","]), newline="")
    assert read_table(file).frame.height == 1
