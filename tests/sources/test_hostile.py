"""Files made to do harm: small ones that claim to be huge, names that lead elsewhere, texts that
are programs."""

from __future__ import annotations

import copy
import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import read_table
from konsil.sources.labelstudio.labelstudio import read_labelstudio

ENTITIES = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
LAUGHS = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + ENTITIES + b"]>"
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'


def spreadsheet(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """A spreadsheet whose sheet is changed as bytes."""
    book = openpyxl.Workbook()
    book.active.append(["item", "label"])
    book.active.append(["1", "a"])
    whole = io.BytesIO()
    book.save(whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            data = source.read(name)
            out.writestr(name, change(data) if name.endswith("sheet1.xml") else data)
    return path


def with_rows(rows: bytes) -> Callable[[bytes], bytes]:
    return lambda data: (
        data[: data.index(b"<sheetData>")] + b"<sheetData>" + rows + b"</sheetData></worksheet>"
    )


WIDE = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 3_000))
FAR = (
    b'<row r="1"><c r="A1"><v>1</v></c></row><row r="999999999"><c'
    b' r="A999999999"><v>1</v></c></row>'
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: LAUGHS + d.replace(b"<t>item</t>", b"<t>&j;</t>"), "the spreadsheet is damaged"),
        (lambda d: OUTSIDE + d.replace(b"<t>a</t>", b"<t>&e;</t>"), "the spreadsheet is damaged"),
        (with_rows(WIDE), "row 1 reaches to column 16,384"),
        (with_rows(FAR), "has rows beyond 1,048,576"),
        (with_rows(b'<row r="1"><c r="A1"><v>1</v></c>' * 5_000), "the spreadsheet is damaged"),
    ],
    ids=["laughs", "outside", "wide", "far", "nested"],
)
def test_small_spreadsheets_that_claim_much_are_refused_at_once(
    change: Callable[[bytes], bytes], sentence: str, tmp_path: Path
) -> None:
    path = spreadsheet(tmp_path / "t.xlsx", change)
    assert path.stat().st_size < 100_000
    start = time.process_time()
    with pytest.raises(SourceError, match=sentence):
        read_table(path)
    assert time.process_time() - start < 10


@pytest.mark.slow
def test_parts_with_names_that_lead_elsewhere_are_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = spreadsheet(tmp_path / "in" / "t.xlsx", bytes)
    with zipfile.ZipFile(path, "a") as packed:
        for name in ("../evil.txt", "/tmp/konsil-evil.txt", "..\\evil.txt"):
            packed.writestr(name, "evil")
    assert read_table(path).frame.shape == (1, 2)
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["t.xlsx"]
    assert not Path("/tmp/konsil-evil.txt").exists()


TASK: dict[str, Any] = {
    "id": 1,
    "data": {"item": "q1", "system": "s1"},
    "annotations": [
        {
            "id": 1,
            "completed_by": {"id": 7, "email": "canary@example.org"},
            "was_cancelled": False,
            "lead_time": 2.5,
            "created_at": "2024-05-01T08:30:00.123456Z",
            "result": [
                {
                    "id": "x",
                    "type": "choices",
                    "from_name": "c",
                    "to_name": "a",
                    "value": {"choices": ["yes"]},
                },
                {
                    "id": "y",
                    "type": "rating",
                    "from_name": "r",
                    "to_name": "a",
                    "value": {"rating": 4},
                },
                {
                    "id": "z",
                    "type": "textarea",
                    "from_name": "t",
                    "to_name": "a",
                    "value": {"text": ["well"]},
                },
                {
                    "id": "p",
                    "type": "pairwise",
                    "from_name": "p",
                    "to_name": "a,b",
                    "value": {"selected": "left"},
                },
                {
                    "id": "l",
                    "type": "labels",
                    "from_name": "l",
                    "to_name": "a",
                    "value": {"start": 0, "end": 4, "labels": ["x"]},
                },
            ],
        }
    ],
}
STRANGE = st.sampled_from(
    [
        None,
        True,
        -1,
        10**400,
        1.5,
        "",
        "\0",
        "x" * 70_000,
        "\ud800",
        "../../etc/passwd",
        [],
        [[]],
        {},
        {"a": []},
    ]
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    return [path, *(one for key, value in inside for one in places(value, (*path, key)))]


def label_studio(folder: Path, content: str) -> object:
    path = folder / "export.json"
    path.write_text(content, "utf-8", "surrogatepass")
    return read_labelstudio(path, Source("export.json", "labelstudio"))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    changes=st.lists(st.tuples(st.sampled_from(places(TASK)[1:]), STRANGE), min_size=1, max_size=3)
)
def test_a_label_studio_export_of_anything_is_read_or_refused(
    changes: list[Any], tmp_path: Path
) -> None:
    task = copy.deepcopy(TASK)
    for (*way, last), value in changes:
        node: Any = task
        try:
            for step in way:
                node = node[step]
            node[last] = copy.deepcopy(value)  # the same twice would lie in itself
        except (TypeError, KeyError, IndexError):
            continue
    try:
        label_studio(tmp_path, json.dumps([task]))
    except SourceError as error:
        assert str(error).startswith("export.json: ")


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '[{"data":' + '{"a":' * 100_000,
        "[" + "9" * 100_000 + "]",
        '[{"id": NaN}]',
        "[]",
        "[1]",
    ],
)
def test_label_studio_exports_that_are_none(content: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^export\.json: "):
        label_studio(tmp_path, content)


def test_no_e_mail_comes_in(tmp_path: Path) -> None:
    parsed = label_studio(tmp_path, json.dumps([TASK]))
    assert "canary" not in repr(parsed)


@pytest.mark.parametrize(
    ("name", "content"), [("t.jsonl", '{{"item": "{}"}}\n'), ("t.json", '[{{"item": "{}"}}]')]
)
def test_half_a_character_is_said(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content.format("a\\ud83d\\ude00b"), "utf-8")
    assert read_table(tmp_path / name).frame["item"].to_list() == ["a😀b"]
    (tmp_path / name).write_text(content.format("a\\ud83d"), "utf-8")
    with pytest.raises(SourceError, match="unpaired surrogate"):
        read_table(tmp_path / name)
