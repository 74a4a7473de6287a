"""Every error of reading a file that the set-up can meet, on a German page."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from html import unescape

import polars as pl
import pytest

from konsil.errors.message import Listed, TranslatableMessage
from konsil.locale import translations
from konsil.sources.files import apart, labelled, spreadsheet
from konsil.web.design import rendering

from .odd_tables import workbook
from .test_data_step import through

TABLE = b"Fall;Wer;Urteil\n1;A;ja\n2;B;nein\n"
UTF16 = "\ufeff".encode("utf-16-le") + "Fall,Größe\n1,2\n".encode("utf-16-le")
WESTERN = "Fall,Größe\n1,2\n3,4\n".encode("cp1252")
ROWS = [[k, "ja" if k % 2 else "nein"] for k in range(4)]
OLE = bytes.fromhex("d0cf11e0a1b11ae1") + b"old"


def zipped(**parts: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return data.getvalue()


def parquet(**columns: list[object]) -> bytes:
    data = io.BytesIO()
    pl.DataFrame(columns).write_parquet(data)
    return data.getvalue()


def one_sheet(*rows: list[object], merged: tuple[str, ...] = ()) -> bytes:
    return workbook({"Blatt": rows}, {"Blatt": merged})


TEXTS: Mapping[str, tuple[str, bytes, str]] = {
    "empty": ("x.csv", b"", "x.csv: Die Datei ist leer"),
    "no row": ("x.csv", b"a,b\n", "x.csv: Es gibt eine Kopfzeile, aber keine Zeile darunter"),
    "open quotation": ("x.csv", b'a,b\n"1,2\n', "x.csv: Zeile 2: ein Anführungszeichen öffnet"),
    "after quotation": ("x.csv", b'a,b\n"1"x,2\n', "x.csv: Zeile 2: nach einem schließenden"),
    "a short row": (
        "x.csv",
        b"a,b,c\n1,2,3\n1,2\n",
        "x.csv: 1 von 2 Zeilen nicht lesbar; nichts wurde übernommen: Zeile 3:"
        " 2 Felder, die Kopfzeile hat 3",
    ),
    "several like it": (
        "x.csv",
        b"a,b,c\n1,2,3\n1,2\n1,2\n1\n1\n1\n1\n1\n",
        "x.csv: 7 von 8 Zeilen nicht lesbar; nichts wurde übernommen: Zeile 3:"
        " 2 Felder, die Kopfzeile hat 3 (und 1 weitere dieser Art); Zeile 5: 1 Feld",
    ),
    "too wide": (
        "x.csv",
        b",".join(b"c%d" % n for n in range(5000)) + b"\n" + b",".join([b"1"] * 5000),
        "x.csv: Die Tabelle hat 5.000 Spalten; erwartet werden höchstens 4.096",
    ),
    "too many cells": (
        "x.csv",
        b",".join(b"c%d" % n for n in range(4000)) + b"\n" * 5000,
        "x.csv: Die Tabelle hat 20.004.000 Zellen in 27.889 Bytes; eine Tabelle dieser Größe kann",
    ),
    "zero byte": ("x.csv", b"a,b\n\x001,2\n", "x.csv: Zeile 2 enthält ein Nullbyte"),
    "no known encoding": (
        "x.csv",
        b"a,b\n\xa2\x90\xc1\x9e\xfe\xf3,2\n",
        "x.csv: Zeile 2: Das Byte 0xa2 gehört nicht zu utf-8; auch keine andere übliche Kodierung",
    ),
    "an archive": ("x.csv", zipped(a=b"1"), "x.csv: Der Endung nach ist die Datei ein Text, sie"),
    "gzip": ("x.csv", b"\x1f\x8b12", "sie ist aber mit gzip komprimiert"),
    "parquet as text": ("x.csv", b"PAR1", "sie ist aber eine Parquet-Datei"),
    "pdf": ("x.csv", b"%PDF-1.4", "sie ist aber ein PDF"),
    "xls as text": ("x.csv", OLE, "sie ist aber eine alte .xls-Arbeitsmappe"),
    "old xls": (
        "x.xls",
        OLE,
        "x.xls: Dateien mit der Endung .xls werden nicht gelesen; öffnen Sie die Datei in einer",
    ),
    "numbers": ("x.numbers", b"1", "exportieren Sie die Tabelle aus Numbers"),
    "r": ("x.rds", b"1", "lesen Sie die Datei in R"),
    "ranks": ("x.soc", b"1", "schreiben Sie eine .csv-Datei mit einer Zeile für jede bewertende"),
    "word": ("x.docx", b"1", "kopieren Sie die Tabelle in eine Tabellenkalkulation"),
    "extension": ("x.exe", b"1", "x.exe: Die Dateiendung „.exe“ wird nicht unterstützt"),
    "no list": ("x.json", b'"a"', "x.json: Erwartet wird eine JSON-Liste"),
    "list sign": ("x.json", b'[{"a": 1} {"a": 2}]', "x.json: Zeile 1: In der Liste wird „,“"),
    "after the list": ("x.json", b'[{"a": 1}] b', "x.json: Nach dem Ende der Liste steht noch"),
    "no rows": ("x.json", b"[]", "x.json: Die Datei hat keine Zeilen"),
    "no object": ("x.jsonl", b'{"a": 1}\n[2]\n', "Zeile 2: erwartet wird ein Objekt; in der Datei"),
    "key twice": ("x.jsonl", b'{"a": 1, "a": 2}\n', "der Schlüssel „a“ kommt zweimal vor"),
    "half": ("x.jsonl", b'{"a": "\\ud800"}\n', "ungültiges Unicode: ein halbes Zeichen"),
    "deep": ("x.json", b"[" + b'{"a":' * 3000 + b"1", "kein lesbares JSON: zu tief verschachtelt"),
    "value": ("x.jsonl", b'{"a": }\n', "kein JSON: ein Wert wird erwartet (Zeichen 7)"),
    "name": ("x.jsonl", b"{1: 2}\n", "ein Name in doppelten Anführungszeichen wird erwartet"),
    "colon": ("x.jsonl", b'{"a" 2}\n', "kein JSON: ein Doppelpunkt wird erwartet"),
    "comma": ("x.jsonl", b'{"a": 2 "b"}\n', "kein JSON: ein Komma wird erwartet"),
    "string": ("x.jsonl", b'{"a": "b}\n', "kein JSON: ein Text wird nicht beendet"),
    "control": ("x.jsonl", b'{"a": "b\tc"}\n', "kein JSON: ungültiges Steuerzeichen"),
    "escape": ("x.jsonl", b'{"a": "b\\c"}\n', "kein JSON: ungültige Escape-Folge (Zeichen"),
    "code": ("x.jsonl", b'{"a": "\\uZZZZ"}\n', "kein JSON: ungültige Escape-Folge \\u (Zeichen"),
    "extra": ("x.jsonl", b'{"a": 1} 2\n', "kein JSON: überzählige Daten"),
}
"""Files that cannot be read, whose text a process of its own need not read."""

OTHERS: Mapping[str, tuple[str, bytes, str]] = {
    "no spreadsheet": ("x.xlsx", b"a,b\n1,2\n", "x.xlsx: Das ist keine .xlsx-Arbeitsmappe"),
    "locked": ("x.xlsx", OLE, "x.xlsx: Die Arbeitsmappe ist durch ein Passwort geschützt"),
    "zip": ("x.xlsx", b"PK\x03\x04 broken", "(ihr Zip-Verzeichnis kann nicht gelesen werden)"),
    "damaged": ("x.xlsx", zipped(a=b"1"), "x.xlsx: Die Arbeitsmappe ist beschädigt (KeyError"),
    "empty sheet": ("x.xlsx", one_sheet(), "x.xlsx: Blatt „Blatt“ ist leer"),
    "header alone": ("x.xlsx", one_sheet(["a", "b"]), "hat eine Kopfzeile, aber keine Zeile"),
    "wide sheet": (
        "x.xlsx",
        one_sheet(["a", "b"], [1] * 5000),
        "Zeile 2 reicht bis zur Spalte 5.000; eine Tabelle kann 4.096 Spalten",
    ),
    "formula": ("x.xlsx", one_sheet(["a", "b"], [1, "=1+1"]), "Zelle B2 ist eine Formel ohne"),
    "merged": (
        "x.xlsx",
        one_sheet(["a", "b"], *ROWS, merged=("A2:A3",)),
        "Blatt „Blatt“: Die Zellen A2:A3 sind verbunden",
    ),
    "no parquet": ("x.parquet", b"a,b\n", "x.parquet: Das ist keine Parquet-Datei"),
    "damaged parquet": ("x.parquet", b"PAR1 broken", "Die Parquet-Datei ist beschädigt"),
    "empty parquet": ("x.parquet", parquet(a=[], b=[]), "hat Spalten, aber keine Zeile"),
    "binary": ("x.parquet", parquet(a=[b"1"], b=[b"2"]), "Spalte „a“ enthält Binärdaten"),
    "damaged sav": ("x.sav", b"$FL2 broken", "x.sav: Die Datei ist beschädigt: "),
}
"""Files that a process of its own reads."""

Settings = Mapping[str, str]
STATED: Mapping[str, tuple[str, bytes, Settings, str]] = {
    "no encoding": ("x.csv", TABLE, {"encoding": "utf8x"}, "Die Kodierung „utf8x“ gibt es nicht"),
    "unlike any": ("x.csv", TABLE, {"encoding": "zzzzzz"}, "bekannt: ascii, cp1250"),
    "better": (
        "x.csv",
        WESTERN,
        {"encoding": "utf-8"},
        "x.csv: Zeile 1: Das Byte 0xf6 gehört nicht zu utf-8; die Datei scheint cp1252 zu sein"
        " („Größe“): Stellen Sie „Kodierung“: cp1252 ein",
    ),
    "mark": (
        "x.csv",
        UTF16,
        {"encoding": "utf-8"},
        "beginnt aber mit der Bytereihenfolge-Marke von utf-16; stellen Sie „Kodierung“: utf-16",
    ),
    "bytes": (
        "x.csv",
        b"a,b\n1,2\n",
        {"encoding": "punycode"},
        "Die Bytes gehören nicht zu punycode",
    ),
    "halves": (
        "x.csv",
        b"a,b\n\\ud800,2\n",
        {"encoding": "raw_unicode_escape"},
        "x.csv: Zeile 2: ungültiges Unicode (ein halbes Zeichen)",
    ),
    "separator": (
        "x.csv",
        TABLE,
        {"separator": "|"},
        "x.csv: Die Kopfzeile ist eine einzige Spalte 'Fall;Wer;Urteil'; das Trennzeichen scheint"
        " ein anderes zu sein (Semikolon): Stellen Sie „Trennzeichen“: ; ein",
    ),
    "a comma": ("x.csv", b"a,b\n1,2\n", {"separator": "tab"}, "(Komma): Stellen Sie"),
    "a bar": ("x.csv", b"a|b\n1|2\n", {"separator": ";"}, "(senkrechter Strich): Stellen Sie"),
    "a tab": (
        "x.tsv",
        b"a\tb\n1\t2\n",
        {"separator": "|"},
        "Stellen Sie „Trennzeichen“: Tabulator",
    ),
    "two signs": ("x.csv", TABLE, {"separator": "xx"}, "Das Trennzeichen muss ein einzelnes"),
    "equal names": (
        "x.csv",
        b"a,b,a\n1,2,3\n4,5,6\n",
        {"numbered": ""},
        "x.csv: Die Spalten 1 und 3 heißen beide „a“",
    ),
    "no name": (
        "x.csv",
        b"a,,c\n1,2,3\n4,5,6\n",
        {"numbered": ""},
        "x.csv: Spalte 2 hat Werte, aber keinen Namen in der Kopfzeile",
    ),
    "lines": (
        "x.jsonl",
        b'{"a": "1", "b": {"c": "2"}}\n' * 3,
        {"path": "b"},
        "x.jsonl: Pfad „b“: Jede Zeile ist ein Datensatz; erwartet wird „.“",
    ),
    "path": (
        "x.json",
        json.dumps({"data": [{"a": "1", "b": "2"}] * 3}).encode(),
        {"path": "date"},
        "x.json: Pfad „date“: Dort ist keine Liste von Objekten; meinten Sie „data“?",
    ),
}
"""Settings that do not fit a file that can be read."""

SHEETS = workbook({"Anna": [["a", "b"], *ROWS], "Ben": [["a", "c"], *ROWS]}, {})
STATED_OF_SHEETS: Mapping[str, tuple[str, bytes, Settings, str]] = {
    "sheet": (
        "x.xlsx",
        SHEETS,
        {"sheet": "Annas"},
        "x.xlsx: Das Blatt „Annas“ gibt es nicht; meinten Sie „Anna“? (Blätter: 'Anna', 'Ben')",
    ),
    "none near": ("x.xlsx", SHEETS, {"sheet": "Zusammen"}, "gibt es nicht; bekannt: Anna, Ben"),
    "merged names": (
        "x.xlsx",
        one_sheet(["a", ""], *ROWS, merged=("A1:B1",)),
        {"header": "1", "skip": "0"},
        "Die Zellen A1:B1 der Kopfzeile sind verbunden",
    ),
    "columns": (
        "x.xlsx",
        SHEETS,
        {"sheet": "*"},
        "x.xlsx: „Ben“ hat keine Spalte „b“, die „Anna“ hat; Blätter werden als eine Tabelle",
    ),
    "column of sheets": (
        "x.xlsx",
        workbook({n: [["a", "sheet"], *ROWS] for n in ("Anna", "Ben")}, {}),
        {"sheet": "*"},
        "„Anna“ hat eine Spalte „sheet“; so heißt die Spalte mit den Namen der Blätter",
    ),
}

UNMET = {
    "file.absent": "chosen files are there",
    "file.absent_near": "chosen files are there",
    "file.folder": "chosen files are files",
    "file.no_folder": "chosen files are in the set-up's own folder",
    "file.not_opened": "chosen files are in the set-up's own folder",
    "file.no_name": "rows with separators alone are no names",
    "file.idle_setting": "the page has only settings that concern the file",
    "file.files": "a table of the set-up is one file",
    "file.other_sheets": "of several sheets the set-up reads each",
    "file.long_line": "takes a file of sixteen megabytes",
    "file.json_parts": "takes a file of megabytes",
    "file.sheet_too_long": "takes a sheet of a million rows",
    "file.some": "takes 25 sheets",
    "nearest.some": "takes 25 names",
    "nearest.not_searched": "of raters and systems of records, not of names in a file",
    "nearest.none": "there always is a sheet or an encoding",
    "file.more_cells": "takes a hundred million cells",
    "file.parquet_cells": "takes a hundred million cells",
    "file.parquet_size": "takes a file that unpacks to a gigabyte",
    "file.memory": "ends the process before it is raised, or not at all",
    "file.parquet_memory": "likewise",
    "file.spreadsheet_memory": "likewise",
    "file.no_sheet": "every spreadsheet program writes a sheet with cells",
}


def alerts_in(page: str) -> list[str]:
    """The sentences of a page, each of them in the page's language."""
    alerts = re.findall(r'role="alert"><span lang="(\w+)">(.*?)</span>', page)
    assert {language for language, _ in alerts} <= {"de"}, alerts
    return [unescape(text) for _, text in alerts]


def refusal(here, name: str, content: bytes, settings: Settings) -> str:
    """What the page says of a file, or of settings that do not fit it."""
    page = here.post("data", "read", files=[("file", (name, content, ""))], title="T").text
    if settings:
        assert alerts_in(page) == []
        typed = {f"t0-{key}": value for key, value in settings.items()}
        page = through(here, **typed).text
    return "\n".join(alerts_in(page))


def cases(*groups: Mapping[str, tuple]) -> Iterator[tuple[str, bytes, Settings, str]]:
    for name, content, *settings, sentence in (case for of in groups for case in of.values()):
        yield name, content, (settings or [{}])[0], sentence


@pytest.mark.parametrize("case", [*cases(TEXTS, STATED)], ids=[*TEXTS, *STATED])
def test_what_is_wrong_with_a_text_is_told_in_german(setup, case):
    name, content, settings, sentence = case
    assert sentence in refusal(setup(language="de"), name, content, settings)


def ids_in(text: object) -> Iterator[str]:
    """The sentences of a catalogue that a text is made of."""
    if isinstance(text, TranslatableMessage):
        yield text.message_id
        for value in text.values.values():
            yield from ids_in(value)
    elif isinstance(text, Listed):
        for part in text.parts:
            yield from ids_in(part)


LIMITS: Mapping[str, tuple[object, str, object, bytes, str]] = {
    "memory": (apart, "MEMORY", 1 << 20, one_sheet(["a", "b"], *ROWS), "MB Speicher, zu viel für"),
    "time": (apart, "SECONDS", 0, one_sheet(["a", "b"], *ROWS), "Das Lesen dauert länger als 0"),
    "size": (spreadsheet, "LARGEST", 1 << 10, one_sheet(["a", "b"], *ROWS), "mehr als die erlaub"),
}


@pytest.mark.slow
def test_every_error_of_a_file_is_met_and_told_in_german(setup, monkeypatch):
    """Kills: an error of reading that is English on German pages, and one that nobody tried."""
    met, others = set[str](), list[str]()
    told: Callable = rendering.lines_in

    def lines_in(language: str, sentences: list[str]) -> list[tuple[str, str]]:
        met.update(i for sentence in sentences for i in ids_in(sentence))
        return told(language, sentences)

    monkeypatch.setattr(rendering, "lines_in", lines_in)
    for case in cases(TEXTS, STATED, OTHERS, STATED_OF_SHEETS):
        name, content, settings, sentence = case
        said = refusal(setup(language="de"), name, content, settings)
        others += [f"{sentence} <- {said}"] if sentence not in said else []
    assert others == []
    for of, limit, value, content, sentence in LIMITS.values():
        with monkeypatch.context() as within:
            within.setattr(of, limit, value)
            within.setattr(apart, "TIMES", 0)
            assert sentence in refusal(setup(language="de"), "x.xlsx", content, {})
    for name in ("x.sav", "x.dta"):
        with monkeypatch.context() as within:
            within.setattr(labelled.importlib.util, "find_spec", lambda _: None)
            said = refusal(setup(language="de"), name, b"1", {})
            assert "brauchen die Bibliothek pyreadstat" in said and "speichern Sie sie in S" in said
    families = ("file.", "nearest.")
    known = {id_ for id_ in translations("de")._catalog if str(id_).startswith(families)}
    assert sorted(known - met - {*UNMET}) == []
    assert sorted(met & {*UNMET}) == []
