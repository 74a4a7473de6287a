"""What reading takes is bounded by the size of the file: small files that claim or become much are
one sentence."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

from konsil.api import Folder
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.errors import SourceError, StudyError
from konsil.sources.anki import read_anki
from konsil.sources.files import apart
from konsil.sources.files.jsontable import check_weight, weight
from konsil.sources.files.parquet import columns_apart, read_columns
from konsil.sources.files.problems import MOST
from konsil.sources.files.table import read_table
from konsil.study import check, parse


def refusal(path: Path) -> str:
    with pytest.raises(SourceError) as error:
        read_table(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_small_parquet_file_with_a_huge_cell_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "ALWAYS", 1 << 16)
    monkeypatch.setattr(apart, "RATIO", 2)
    from konsil.sources.files.parquet import read_parquet

    path = tmp_path / "t.parquet"
    # Older versions of Polars keep the whole cell once more, uncompressed, among the statistics.
    pl.DataFrame({"text": ["x" * 1_000_000]}).write_parquet(path, statistics=False)
    with pytest.raises(
        SourceError, match=r"bytes unpack to 1,000,0\d\d, more than the 65,536 allowed"
    ):
        read_parquet(path.read_bytes(), "t.parquet")


@pytest.mark.slow
def test_columns_that_konsil_wrote_come_back_as_they_are_typed(tmp_path: Path) -> None:
    """An export's empty text is not none, and a table without rows is none that is damaged."""
    frame = pl.DataFrame(
        {"text": ["", None, "a"], "seconds": [0.1, None, 2.0], "position": [1, 2, None]}
    )
    for name, one in {"some": frame, "none": frame.clear()}.items():
        one.write_parquet(tmp_path / f"{name}.parquet")
        assert columns_apart(tmp_path / f"{name}.parquet").equals(one)


@pytest.mark.slow
def test_an_exports_columns_are_bounded_and_a_librarys_panic_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    corpus = Path(__file__).resolve().parents[3] / "benchmarks" / "corpus" / "export"
    with zipfile.ZipFile(corpus / "parquet-that-panics.zip") as archive:
        archive.extractall(tmp_path)
    refused = []
    for file in sorted(tmp_path.glob("*.parquet")):
        try:
            columns_apart(file)
        except SourceError as error:
            refused.append(str(error))
    assert (
        len(refused) == 1 and "Parquet file is damaged: " in refused[0] and "\n" not in refused[0]
    )
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(apart, "ALWAYS", 1 << 16)
    monkeypatch.setattr(apart, "RATIO", 2)
    pl.DataFrame({"text": ["x" * 1_000_000]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        SourceError, match=r"bytes unpack to 1,000,0\d\d, more than the 65,536 allowed"
    ):
        read_columns((tmp_path / "t.parquet").read_bytes(), "t.parquet")


@pytest.mark.slow
def test_damaged_parquet_prints_nothing_but_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The library prints its panics itself, past everything that Python can catch."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": [f"x{n}" for n in range(200)]}).write_parquet(path)
    whole = path.read_bytes()
    for at in (10, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
        try:
            read_table(path)
        except SourceError as error:
            assert "t.parquet: " in str(error)
    assert capfd.readouterr() == ("", "")


CHILD = """
import sys
from konsil.sources.files.apart import limit
limit({memory}, {seconds})
{work}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's memory so")
def test_the_childs_memory_is_bounded() -> None:
    work = "x = [bytearray(1 << 20) for _ in range({})]"
    codes = [
        subprocess.run(
            [sys.executable, "-c", CHILD.format(memory=64 << 20, seconds=60, work=work.format(n))],
            stderr=subprocess.DEVNULL,
        ).returncode
        for n in (8, 200)
    ]
    assert codes == [0, 1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_childs_time_is_bounded() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CHILD.format(memory=1 << 30, seconds=1, work="while True: pass")]
    )
    assert -ended.returncode == signal.SIGXCPU


@pytest.mark.parametrize(
    ("child", "sentence"),
    [
        ("import os; os.kill(os.getpid(), 9)", "reading takes more than 30 seconds"),
        ("import os; os.abort()", "of memory, too many for its size, or the file is damaged"),
        ('print(\'{"sheet": ""}\')', "of memory, too many for its size, or the file is damaged"),
        ("print('nothing of ours')", "of memory, too many for its size, or the file is damaged"),
    ],
)
def test_a_child_that_dies_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: str, sentence: str
) -> None:
    monkeypatch.setattr(apart, "_CHILD", child)
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": ["a"]}).write_parquet(path)
    assert sentence in refusal(path)


def test_a_name_of_a_file_is_never_a_command(tmp_path: Path) -> None:
    path = tmp_path / "-c print(1); \x1b[2J 'a' .parquet"
    pl.DataFrame({"item": ["a", None]}).write_parquet(path)
    table = read_table(path)
    assert (table.frame["item"].to_list(), list(table.lines)) == (["a", None], [1, 2])


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_a_table_of_very_many_columns_is_refused(tmp_path: Path, name: str) -> None:
    names = [f"c{n}" for n in range(5_000)]
    texts = {
        "t.csv": ",".join(names) + "\n" + "," * 4_999 + "\n",
        "t.jsonl": "".join(
            json.dumps(dict.fromkeys(names[n : n + 100], 1)) + "\n" for n in range(0, 5_000, 100)
        ),
        "t.json": json.dumps([dict.fromkeys(names[n : n + 100], 1) for n in range(0, 5_000, 100)]),
    }
    (tmp_path / name).write_text(texts[name])
    assert "columns; expected 4,096 or fewer" in refusal(tmp_path / name)


def test_a_row_that_is_far_too_long_ends_the_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,"b"\n' + "," * 9_999 + "\n")
    assert "10,000 columns; expected 4,096 or fewer" in refusal(tmp_path / "t.csv")


def test_cells_with_nothing_in_them_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from konsil.sources.files import delimited

    monkeypatch.setattr(delimited, "CELLS", 1_000)
    (tmp_path / "t.csv").write_text("a,b,c,d\n" + ",,,\n" * 2_000)
    assert "the table has 8,008 cells in 8,008 bytes" in refusal(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b,c,d\n" + "one,two,three,four\n" * 2_000)
    assert read_table(tmp_path / "t.csv").frame.height == 2_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv"])
def test_a_file_of_nothing_but_faults_is_not_read_to_its_end(tmp_path: Path, name: str) -> None:
    n = MOST + 1_000
    texts = {
        "t.jsonl": "1\n" * n,
        "t.json": "[" + "1," * n + "1]",
        "t.csv": 'a,"b"\n' + "1,2,3\n" * n,
    }
    (tmp_path / name).write_text(texts[name])
    assert f" of {MOST:,} rows cannot be read" in refusal(tmp_path / name)


def test_a_line_of_many_megabytes_is_a_problem_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from konsil.sources.files import jsontable

    monkeypatch.setattr(jsontable, "_LONGEST", 100)
    (tmp_path / "t.jsonl").write_text(json.dumps({"a": "x" * 200}) + "\n")
    assert "line 1: has 210 bytes; expected 100 or fewer" in refusal(tmp_path / "t.jsonl")


def test_json_of_nothing_but_brackets_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from konsil.sources.files import jsontable

    monkeypatch.setattr(jsontable, "_LIGHT", 0)
    assert weight('{"a":[1,2]}') < weight("[" * 11)
    check_weight(json.dumps({"text": "Some words of a card, and more of them. " * 99}), "deck.json")
    with pytest.raises(SourceError, match="too many parts for its size"):
        check_weight("[" + "[]," * 9 + "[]]", "deck.json")


TOO_MUCH = """
from konsil.errors import SourceError
from konsil.sources.files import jsontable

usual = jsontable._LIGHT, jsontable.MEMORY, jsontable._TIMES
jsontable._LIGHT, jsontable.MEMORY, jsontable._TIMES = 0, 1 << 20, 0
try:
    list(jsontable.elements("[[" + "[]," * 2_000_000 + "[]]]", "t.json"))
except SourceError as error:
    print(error)
jsontable._LIGHT, jsontable.MEMORY, jsontable._TIMES = usual
print(len(list(jsontable.elements("[[],[]]", "t.json"))))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's memory so")
def test_one_element_that_takes_too_much_is_a_sentence() -> None:
    # In a process of its own: one that has run for long has memory to spare within its bounds.
    done = subprocess.run(
        [sys.executable, "-c", TOO_MUCH], capture_output=True, text=True, check=True
    )
    refused, after = done.stdout.splitlines()
    assert "line 1: has too many parts to be read" in refused
    assert after == "2"


HOSTILE = {
    "view": "ALTER TABLE notes RENAME TO hidden; CREATE VIEW notes AS SELECT * FROM hidden",
    "endless": (
        "ALTER TABLE notes RENAME TO hidden; CREATE VIEW notes AS WITH RECURSIVE n(x) AS (SELECT 1"
        " UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 'g' AS guid, 1 AS mid, '' AS tags, 'a' AS"
        " flds FROM n"
    ),
    "generated": (
        "DROP TABLE notes; CREATE TABLE notes (id, guid, mid, tags, flds AS (printf('%.*c',"
        " 9000000, 'x'))); INSERT INTO notes (id, guid, mid, tags) VALUES (1, 'g', 1, ''), (2, 'h',"
        " 1, ''), (3, 'i', 1, '')"
    ),
    "one huge": (
        "DROP TABLE notes; CREATE TABLE notes (id, guid, mid, tags, flds AS (printf('%.*c',"
        " 900000000, 'x'))); INSERT INTO notes (id, guid, mid, tags) VALUES (1, 'g', 1, '')"
    ),
    "cards": (
        "DROP TABLE cards; CREATE VIEW cards AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x"
        " + 1 FROM n) SELECT x AS nid, x AS did, 0 AS odid, 0 AS ord FROM n"
    ),
}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(text, id=name, marks=[pytest.mark.slow] if name == "one huge" else [])
        for name, text in HOSTILE.items()
    ],
)
def test_a_collection_whose_schema_is_a_program_is_refused(tmp_path: Path, schema: str) -> None:
    base = sqlite3.connect(tmp_path / "c.anki2")
    base.executescript(
        "CREATE TABLE col (models, decks); CREATE TABLE notes (id, guid, mid, tags, flds);"
        " CREATE TABLE cards (nid, did, odid, ord); INSERT INTO col VALUES"
        """ ('{"1": {"name": "B", "flds": [{"name": "F"}], "tmpls": [{"qfmt": "{{F}}"}]}}', '{"1": {"name": "D"}}');"""
        " INSERT INTO notes VALUES (1, 'g', 1, '', 'a')"
    )
    base.commit()
    assert len(read_anki(tmp_path / "c.anki2").notes) == 1
    base.executescript(schema)
    base.close()
    with zipfile.ZipFile(tmp_path / "d.apkg", "w") as archive:
        archive.write(tmp_path / "c.anki2", "collection.anki2")
    with pytest.raises(SourceError) as error:
        read_anki(tmp_path / "d.apkg")
    assert str(error.value).startswith("d.apkg: ")
    assert "\n" not in str(error.value)


def test_a_protocol_with_billions_of_places_is_refused_at_once() -> None:
    study = parse(
        'title = "a"\nseed = 1\n[[places]]\npanel = "p"\nnumber = 2000000000\n', lambda _: ""
    )
    with pytest.raises(
        StudyError, match=r"places\[0\]\.number: expected 100,000 or fewer, got 2,000,000,000"
    ):
        check(study)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_a_codebook_is_no_wait_without_end(tmp_path: Path) -> None:
    from konsil.api import open_folder

    os.mkfifo(tmp_path / "c.md")
    (tmp_path / "study.toml").write_text(
        'title = "a"\nseed = 1\n[[instruments]]\nid = "i"\ncodebook ='
        ' "c.md"\n[[instruments.criteria]]\nid = "c"\nquestion = "?"\nscale = { labels = ["a",'
        ' "b"] }\n'
    )
    with pytest.raises(StudyError, match=r"the file 'c\.md' cannot be read \(is not a file\)"):
        open_folder(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"x = " + b"[" * 100_000, "nested too deeply"), (b"\xff = 1", "is not UTF-8 text")],
)
def test_the_parameters_of_a_simulation_that_are_none(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "simulation.toml").write_bytes(content)
    folder = Folder(tmp_path, parse('title = "a"\nseed = 1\n', lambda _: ""))
    with pytest.raises(StudyError, match=sentence):
        truth_of(folder)


def test_many_rows_of_few_keys_each_are_counted_as_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """700 kB of objects, each with another of 4,000 keys, once took 7.5 GB."""
    from konsil.sources.files import delimited

    monkeypatch.setattr(delimited, "CELLS", 1_000)
    rows = [{f"c{n % 100}": 1} for n in range(200)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.json").write_text(json.dumps(rows))
    for name in ("t.jsonl", "t.json"):
        assert "a table of this size may have" in refusal(tmp_path / name)
