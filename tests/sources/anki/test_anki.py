"""Anki's packages, old and new, bare collections and CrowdAnki's JSON: the same notes, and no trick
works."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records import Note
from konsil.sources.anki import Deck, package, protobuf, read_anki
from konsil.sources.anki.notetypes import clozed_fields, original_names

EXPECTED = (
    Note("g1", "Basic", False, {"Front": "Vorne", "Back": "Hinten"}, (), (), "Medizin"),
    Note(
        "g2",
        "Cloze",
        True,
        {"Text": "{{c1::A}} und {{c2::B}}", "Back Extra": ""},
        ("Text",),
        ("b",),
        "Medizin",
    ),
    Note(
        "g3",
        "Cloze",
        True,
        {"Text": "Insulin senkt {{c1::den Blutzucker::was?}}.", "Back Extra": "extra"},
        ("Text",),
        ("a", "inner::endo"),
        "Medizin::Endo",
    ),
)
MEDIA = ("bild.png", "tön.mp3")


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Deck]:
    def reader(data: bytes | dict[str, Any], name: str = "deck.apkg") -> Deck:
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return read_anki(file)

    return reader


FORMS: dict[str, Callable[[Any], Any]] = {
    "new": lambda a: a.package(),
    "legacy": lambda a: a.package(a.legacy()),
    "oldest": lambda a: a.package({"collection.anki2": a.old(), "media": b"{}"}),
    "without meta": lambda a: a.package({k: v for k, v in a.newest().items() if k != "meta"}),
    "without media": lambda a: a.package({k: v for k, v in a.legacy().items() if k != "media"}),
    "bare old": lambda a: a.old(),
    "bare new": lambda a: a.new(),
    "bare compressed": lambda a: zstandard.compress(a.new()),
    "with a write-ahead log": lambda a: a.old(wal=True),
    "CrowdAnki": lambda a: a.crowdanki(),
    "CrowdAnki with a mark": lambda a: (
        b"\xef\xbb\xbf" + json.dumps(a.crowdanki(), ensure_ascii=False).encode()
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_notes(form: str, anki: Any, read: Any):
    deck = read(FORMS[form](anki()))
    assert deck.notes == EXPECTED
    assert deck.media == (
        MEDIA if form in {"new", "legacy", "without meta"} or "Crowd" in form else ()
    )


def test_the_order_of_the_file_does_not_matter(anki: Any, read: Any):
    notes = anki().notes
    assert read(anki(notes=notes[::-1]).package()) == read(anki(notes=notes).package())


def test_a_note_that_is_there_twice_but_for_its_deck_is_there_once(anki: Any, read: Any):
    deck = anki().crowdanki()
    deck["children"][0]["notes"] += deck["notes"]
    assert read(deck).notes == EXPECTED


def test_the_stub_is_no_collection(anki: Any, read: Any):
    with pytest.raises(
        SourceError, match=r"deck\.apkg: the package contains no notes, only the notice"
    ):
        read(anki().package({"collection.anki2": anki().stub(), "media": b"{}"}))
    with pytest.raises(
        SourceError, match=r"refers to 'collection\.anki21b' for its notes, which is missing"
    ):
        read(anki().package(collection_anki21b=None))


def test_original_names():
    assert original_names(["Cloze-d0c86", "Basic"]) == {"Cloze-d0c86": "Cloze", "Basic": "Basic"}
    assert original_names(["A-00000", "A-11111"]) == {"A-00000": "A-00000", "A-11111": "A-11111"}
    assert original_names(["-00000"]) == {"-00000": "-00000"}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{cloze:Text}}", ("Text",)),
        ("{{ type:cloze: Text }}<br>{{Extra}}", ("Text",)),
        ("{{cloze-only:Extra}}{{#Text}}x{{/Text}}", ("Extra",)),
        ("{{cloze:Elsewhere}}", ()),
        ("{{Text}}", ()),
    ],
)
def test_fields_with_deletions(template: str, found: tuple[str, ...]):
    assert clozed_fields([template], ["Text", "Extra"]) == found


# What is broken -----------------------------------------------------------------------------------

Case = tuple[Callable[[Any], Any], str]
BROKEN: dict[str, Case] = {
    "empty": (lambda a: b"", "the file is empty"),
    "text": (lambda a: b"hello", "is not an Anki package"),
    "an empty archive": (lambda a: a.package({}), "the archive is not an Anki package"),
    "another archive": (
        lambda a: a.package({"word/document.xml": b"<x/>"}),
        "the archive is not an Anki package",
    ),
    "cut archive": (lambda a: a.package()[:-40], "the package is damaged"),
    "newer form": (
        lambda a: a.package(meta=bytes([8, 4])),
        "has format 4; this konsil reads formats up to 3",
    ),
    "bad meta": (
        lambda a: a.package(meta=b"\xff\xff"),
        "meta cannot be read: a number is incomplete",
    ),
    "no zstd": (
        lambda a: a.package(collection_anki21b=b"abcdefgh"),
        "the compressed collection is damaged",
    ),
    "cut zstd": (
        lambda a: a.package(collection_anki21b=a.newest()["collection.anki21b"][:-9]),
        "the compressed collection ends too early",
    ),
    "no database": (
        lambda a: a.package(collection_anki21b=zstandard.compress(b"x" * 5000)),
        "the collection is not an SQLite database",
    ),
    "empty database": (
        lambda a: a.package(collection_anki21b=zstandard.compress(b"")),
        "the collection is not an SQLite database",
    ),
    "cut database": (lambda a: a.old()[:6000], "not a readable Anki collection"),
    "another database": (
        lambda a: a.old("DROP TABLE notes"),
        "not an Anki collection: it has no table 'notes'",
    ),
    "a view for a table": (
        lambda a: a.old("DROP TABLE notes", "CREATE VIEW notes AS SELECT 1 AS id"),
        "it has no table 'notes'",
    ),
    "missing column": (
        lambda a: a.old("ALTER TABLE notes DROP COLUMN flds"),
        r"no such column: flds",
    ),
    "models no JSON": (
        lambda a: a.old("UPDATE col SET models = '{'"),
        "the collection's models cannot be read",
    ),
    "models a list": (
        lambda a: a.old("UPDATE col SET models = '[]'"),
        "the collection's models cannot be read",
    ),
    "models too deep": (
        lambda a: a.old(f"UPDATE col SET models = '{'[' * 100_000}'"),
        "the collection's models cannot be read",
    ),
    "a model without fields": (
        lambda a: a.old("""UPDATE col SET models = '{"11": {"name": "Cloze"}}'"""),
        "note type '11' of the collection cannot be read",
    ),
    "a deck without name": (
        lambda a: a.old("""UPDATE col SET decks = '{"1": 3}'"""),
        "deck '1' of the collection",
    ),
    "no row in col": (lambda a: a.old("DELETE FROM col"), "the collection's models cannot be read"),
    "unknown note type": (
        lambda a: a.new("UPDATE notes SET mid = 7"),
        "is of note type 7, which the collection does",
    ),
    "a field too many": (
        lambda a: a.new("UPDATE notes SET flds = flds || char(31) || 'x'"),
        "has 3 fields; its note type 'Cloze' has 2",
    ),
    "bytes for text": (
        lambda a: a.new("UPDATE notes SET flds = x'ff'"),
        "contains bytes where text is expected",
    ),
    "not UTF-8": (
        lambda a: a.new("UPDATE notes SET flds = CAST(x'ff41' AS TEXT)"),
        "not a readable Anki collection",
    ),
    "no guid": (lambda a: a.new("UPDATE notes SET guid = ''"), "a note has no identifier"),
    "a config of text": (
        lambda a: a.new("UPDATE notetypes SET config = 'x'"),
        "not stored as bytes",
    ),
    "a config of noise": (
        lambda a: a.new("UPDATE templates SET config = x'0aff'"),
        "note types cannot be read",
    ),
    "a template of noise": (
        lambda a: a.new("UPDATE templates SET config = x'0a01ff'"),
        "is not UTF-8 text",
    ),
    "media no JSON": (
        lambda a: a.package({**a.legacy(), "media": b"[1]"}),
        "list of media cannot be read",
    ),
    "media of noise": (
        lambda a: a.package(media=zstandard.compress(b"\x0a\x7f")),
        "list of media cannot be read",
    ),
    "CrowdAnki cut": (lambda a: json.dumps(a.crowdanki()).encode()[:-3], "is not valid JSON"),
    "CrowdAnki too deep": (lambda a: b'{"a":' * 100_000, "nested too deeply|not valid JSON"),
    "another JSON": (lambda a: {"notes": []}, "is not a CrowdAnki deck"),
    "notes no list": (
        lambda a: {**a.crowdanki(), "notes": {"a": 1}},
        "'notes' is not a list of tables",
    ),
    "children of text": (
        lambda a: {**a.crowdanki(), "children": ["x"]},
        "'children' is not a list of tables",
    ),
    "media a number": (
        lambda a: {**a.crowdanki(), "media_files": 3},
        "'media_files' is not a list",
    ),
    "models lost": (
        lambda a: {**a.crowdanki(), "note_models": []},
        "a note type that the file does not have",
    ),
    "a model of nothing": (
        lambda a: {**a.crowdanki(), "note_models": [{}]},
        "note type '' cannot be read",
    ),
    "a note of nothing": (
        lambda a: {**a.crowdanki(), "notes": [{}]},
        "lacks its guid, its fields or its tags",
    ),
    "a field of nothing": (
        lambda a: {
            **a.crowdanki(),
            "notes": [{"guid": "x", "note_model_uuid": "u11", "fields": [None, 1]}],
        },
        "something other than text",
    ),
    "half a character": (
        lambda a: json.dumps(a.crowdanki()).encode().replace(b"Vorne", rb"\ud800"),
        "unpaired surrogate",
    ),
    "Latin letters": (
        lambda a: (
            json.dumps(a.crowdanki(), ensure_ascii=False).replace("Vorne", "fünf").encode("latin-1")
        ),
        "is not utf-8",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_sentence(case: str, anki: Any, read: Any):
    make, sentence = BROKEN[case]
    with pytest.raises(SourceError, match=sentence) as caught:
        read(make(anki()))
    assert str(caught.value).startswith("deck.apkg: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../collection.anki2", "a/../../b", "C:evil", "..\\evil"]
)
def test_names_that_lead_out_are_refused(name: str, anki: Any, read: Any):
    with pytest.raises(SourceError, match="with a path outside the package; refused"):
        read(anki().package({**anki().newest(), name: b"x"}))


def test_two_parts_of_one_name_are_refused(anki: Any, read: Any):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            archive.writestr("collection.anki2", anki().old())
    with pytest.raises(SourceError, match=r"has 'collection\.anki2' more than once; refused"):
        read(out.getvalue())


def test_a_locked_archive_is_said(anki: Any, read: Any):
    data = bytearray(anki().package({"collection.anki2": anki().old()}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(SourceError, match="compressed or encrypted in a way that is not supported"):
        read(bytes(data))


def test_bombs_are_not_unpacked(anki: Any, read: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(package, "ALWAYS", 1 << 20)
    with pytest.raises(SourceError, match="bytes unpack to more than 1,048,576"):
        read(anki().package({"collection.anki2": bytes(5 << 20)}))
    bomb = zstandard.compress(bytes(50 << 20))
    with pytest.raises(SourceError, match="bytes unpack to more than"):
        read(anki().package(collection_anki21b=bomb))
    with pytest.raises(SourceError, match="bytes unpack to more than"):
        read(anki().package(media=bomb))
    with pytest.raises(SourceError, match="bytes unpack to more than"):
        read(bomb)


def test_a_name_that_is_no_text_is_damage(anki: Any, read: Any):
    with pytest.raises(SourceError, match="not a readable Anki collection"):
        read(anki().old().replace(b"CREATE TABLE notes (id", b"CREATE TABLE notes (\x80d"))


def test_a_database_runs_no_program(anki: Any, read: Any):
    """An endless view under the name of a table that is read only if it is there."""
    endless = (
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'x' AS name"
        " FROM n"
    )
    deck = read(anki().old(f"CREATE VIEW notetypes AS {endless}"))
    assert deck.notes == EXPECTED


@pytest.mark.slow
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(form=st.sampled_from(["new", "legacy", "bare old", "bare new"]), data=st.data())
def test_damage_is_never_more_than_a_source_error(
    form: str, data: st.DataObject, anki: Any, read: Any
):
    content = bytearray(FORMS[form](anki()))
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=20)):
        content[at] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.sampled_from([len(content), len(content), len(content) // 2]))]
    try:
        read(bytes(content))
    except SourceError as error:
        assert str(error).startswith("deck.apkg: ")


# Protocol buffers ---------------------------------------------------------------------------------


@given(st.binary(max_size=60))
@example(bytes([0x80] * 11))
@example(bytes([0x0B]))
def test_any_bytes_are_a_message_or_a_wire_error(raw: bytes):
    try:
        for number, value in protobuf.fields(raw):
            assert number > 0
            assert isinstance(value, (int, bytes))
    except protobuf.WireError:
        pass


def test_fields_of_fixed_size():
    raw = bytes([0x09, *range(8), 0x15, 1, 2, 3, 4, 0x18, 0xAC, 0x02])
    assert list(protobuf.fields(raw)) == [(1, bytes(range(8))), (2, bytes([1, 2, 3, 4])), (3, 300)]
    assert protobuf.number(raw, 3) == 300
    assert protobuf.number(raw, 9, 7) == 7
    assert protobuf.text(raw, 9) == ""


def test_the_real_deck_has_the_same_notes_in_every_file(data: Callable[[str], Path]):
    """858 notes, each file in 15-20 ms on a small machine."""
    folder = data("anki_eth_cs")
    old, new = read_anki(folder / "eth_cs_legacy.apkg"), read_anki(folder / "eth_cs_anki21b.apkg")
    crowd = read_anki(folder / "crowdanki_deck.json")
    assert len(old.notes) == 858
    assert old.notes == new.notes == crowd.notes
    assert {n.type for n in old.notes if n.is_cloze} == {"Cloze", "Cloze (overlapping)"}
    assert (len(old.media), len(new.media), len(crowd.media)) == (0, 0, 120)
