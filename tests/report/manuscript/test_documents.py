"""Manuscripts of the example: the same numbers in every format, marked, escaped, reproducible."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from docx.oxml.ns import qn
from tests.report.conftest import HOSTILE, arguments
from tests.report.manuscript.documents import ALL, cells, files_of, material_of

from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.errors.message import message
from konsil.report.files.data_files import estimates_csv
from konsil.report.manuscript.blocks import Words
from konsil.report.manuscript.content import Sources, caption_facts, documents
from konsil.report.manuscript.request import ReportRequest
from konsil.report.manuscript.writers import latex, quarto
from konsil.report.manuscript.writers.packing import packed

NOTICE = {"en": "Simulated ratings.", "de": "Simulierte Bewertungen."}


@cache
def files(language: str = "en", simulated: bool = True) -> dict[str, bytes]:
    return files_of(arguments(language, simulated))


def whole(language: str = "en") -> Any:
    """The manuscript and its supplement."""
    from konsil.report.figures.formats import FigureFormats, figure_formats

    given: Any = arguments(language)
    with figure_formats(FigureFormats(("png",), dpi=72)):
        return documents(Sources(material_of(given), given["results"], ALL.checklist))


def document(language: str = "en", name: str = "supplement") -> Any:
    return docx.Document(io.BytesIO(files(language)[f"manuscript/{name}.docx"]))


def text_of(file: Any) -> str:
    return "\n".join(p.text for p in file.paragraphs)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_word_has_real_tables_with_captions_and_headings(language: str) -> None:
    file, (_main, made) = document(language), whole(language)
    assert len(file.tables) == len(made.tables) > 8
    for table, block in zip(file.tables, made.tables, strict=True):
        head = table.rows[0]._tr.trPr.find(qn("w:tblHeader"))
        assert head is not None, "the head is repeated on every page"
        shown = cells([[c.text for c in row.cells] for row in table.rows])
        assert shown[0] == [c.text for c in block.table.head]
        assert shown[1:] == cells(
            [
                [("" if c.same else c.text) + ",".join(c.marks) for c in row]
                for row in block.table.rows
            ]
        )
    captions = [p.text for p in file.paragraphs if p.style.name == "Caption"]
    word = {"en": "Table", "de": "Tabelle"}[language]
    numbered = [c for c in captions if c.startswith(f"{word} ")]
    assert [c.split(".")[0] for c in numbered] == [
        f"{word} S{n + 1}" for n in range(len(made.tables))
    ]
    headings = {p.style.name for p in file.paragraphs if p.style.name.startswith("Heading")}
    assert headings == {"Heading 1", "Heading 2"}
    assert NOTICE[language] in text_of(file)
    assert file.core_properties.language == language
    lang = file.styles.element.find(f".//{qn('w:lang')}").get(qn("w:val"))
    assert lang.startswith(language)


@pytest.mark.slow
def test_word_figures_have_alternative_texts() -> None:
    file = document(name="manuscript")
    pictures = file.element.findall(f".//{qn('wp:docPr')}")
    assert len(pictures) == len(whole()[0].figures) > 3
    assert all(len(p.get("descr")) > 20 for p in pictures)
    assert len(file.inline_shapes) == len(pictures)


def test_captions_name_the_method_in_the_language_of_the_document() -> None:
    given: Any = arguments()
    row = next(r for r in given["results"].rows if r.analysis == "agreement")
    wilson = message("Wilson interval", message_id="method.wilson")
    rows = [replace(row, estimate=replace(row.estimate, method=wilson))]
    english, german = (material_of(arguments(code)) for code in ("en", "de"))
    method = german.numbers.translated(wilson).rstrip(".")
    assert method != "Wilson interval" and caption_facts(german, rows).endswith(f"KI: {method}.")
    assert caption_facts(english, rows).endswith("95% CI: Wilson interval.")


@pytest.mark.slow
def test_tables_have_the_numbers_of_the_data_file() -> None:
    """Values in Word's tables against estimates.csv: rounding is the only difference."""
    given: Any = arguments()
    rows = list(
        csv.DictReader(io.StringIO(estimates_csv(given["study"], given["results"]).decode()))
    )
    tables = {
        t.table.caption.split("“")[1].split("”")[0]: n
        for n, t in enumerate(whole()[1].tables)
        if "Estimates of" in t.table.caption
    }
    file = document()
    seen = 0
    for name in ("agreement", "accuracy", "pairs"):
        shown = cells([[c.text for c in r.cells] for r in file.tables[tables[name]].rows])
        text = "\n".join(" ".join(line) for line in shown)
        of_file = [r for r in rows if r["analysis"] == name and r["kind"] == "estimate"]
        for row in of_file:
            assert (
                f"{float(row['value']):.3f} [{float(row['low']):.3f}, {float(row['high']):.3f}]"
                in text
            )
            seen += 1
    assert seen == 10


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_workbook_has_a_sheet_for_each_table_and_every_row_unrounded(language: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(files(language)["manuscript/tables.xlsx"]))
    main, beside = whole(language)
    tables = [*main.tables, *beside.tables]
    assert book.sheetnames[0] == "README" and book.sheetnames[-1] == "estimates"
    assert len(book.sheetnames) == len(tables) + 2
    given: Any = arguments(language)
    head, *rows = csv.reader(
        io.StringIO(estimates_csv(given["study"], given["results"]).decode(), newline="")
    )
    lines = [list(row) for row in book["estimates"].iter_rows(values_only=True)]
    assert lines[0][0] == NOTICE[language]
    assert lines[1] == head
    for line, row in zip(lines[2:], rows, strict=True):
        for shown, text in zip(line, row, strict=True):
            assert float(text) == shown if isinstance(shown, int | float) else (shown or "") == text
    value = head.index("value")
    assert isinstance(lines[2][value], float)
    for table, name in zip(tables, book.sheetnames[1:-1], strict=True):
        assert table.table.caption in str(book[name]["A1"].value)


@pytest.mark.slow
def test_a_workbook_calculates_nothing_that_a_study_calls_something(tmp_path: Path) -> None:
    given: Any = arguments()
    study = replace(given["study"], title="=1+1")
    request = ReportRequest(to=("xlsx",))
    thin = given | {
        "study": study,
        "results": replace(given["results"], rows=given["results"].rows[:2]),
    }
    book = openpyxl.load_workbook(io.BytesIO(files_of(thin, request)["manuscript/tables.xlsx"]))
    assert book["README"]["A1"].value == "'=1+1"
    assert "f" not in {c.data_type for sheet in book for row in sheet for c in row}


@pytest.mark.slow
def test_sources_are_citations_and_references_are_those_cited() -> None:
    found = files()
    both: set[str] = set()
    for name, made in zip(("manuscript", "supplement"), whole(), strict=True):
        text = found[f"manuscript/{name}.qmd"].decode()
        for source in {s.source for s in CATALOGUE.values() if len(s.source) > 12}:
            assert source not in text
        keys = set(re.findall(r"@([a-z]+\d{4}|konsil)\b", text))
        assert keys == set(made.references)
        both |= keys
        tex = found[f"manuscript/{name}.tex"].decode()
        assert {k for c in re.findall(r"\\cite\{([^}]*)\}", tex) for k in c.split(",")} == keys
        items = re.findall(r"\\bibitem\{(\w+)\}", found[f"manuscript/{name}.bbl"].decode())
        assert items == list(made.references), "the list has the order of the text"
    assert {e["id"] for e in json.loads(found["manuscript/references.json"])} == both
    bib = found["manuscript/references.bib"].decode()
    assert set(re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE)) == both
    assert "krippendorff2011" in both and "kottner2011" in both and "bradley1952" not in both


@pytest.mark.slow
def test_exploratory_analyses_are_in_the_supplement_alone() -> None:
    text = files()["manuscript/supplement.qmd"].decode()
    exploratory = text.partition("# Exploratory analyses")[2].partition("# Methods")[0]
    declared = text.partition("# Declared analyses")[2].partition("# Exploratory")[0]
    assert "as\\_in\\_paper" in exploratory and "as\\_in\\_paper" not in declared
    assert "by\\_system" in declared and "by\\_system" not in exploratory
    assert "As in paper" not in files()["manuscript/manuscript.qmd"].decode()


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes() -> None:
    again = files_of(arguments())
    assert again == files()


def test_archives_have_no_times_and_one_order() -> None:
    made = []
    for names in (("b", "a", "[Content_Types].xml"), ("a", "[Content_Types].xml", "b")):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name in names:
                archive.writestr(name, name)
        made.append(packed(out.getvalue()))
    assert made[0] == made[1]
    with zipfile.ZipFile(io.BytesIO(made[0])) as archive:
        assert archive.namelist() == ["[Content_Types].xml", "a", "b"]
        assert {i.date_time for i in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.slow
def test_a_study_that_is_not_simulated_has_no_notice() -> None:
    assert b"Simulated" not in files(simulated=False)["manuscript/manuscript.qmd"]
    assert b"Simulated" not in files(simulated=False)["manuscript/manuscript.tex"]


def written(folder: Path, language: str) -> Path:
    """The manuscript's folder with its files."""
    for name, content in files(language).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder / "manuscript"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", ["manuscript", "supplement"])
def test_latex_compiles(tmp_path: Path, name: str, language: str) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    folder = written(tmp_path, language)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-1500:]
    assert (folder / f"{name}.pdf").stat().st_size > 20_000
    log = (folder / f"{name}.log").read_text("latin-1")
    assert "undefined" not in log
    too_wide = [float(n) for n in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert [n for n in too_wide if n > 25] == []


ALPHABET = "äöüßÄÖÜéèñçłŁøåœšžőů αβγδεκλμπρστφχψωΔΣΩ ≥≤≠≈±×÷∞→−–—„“”‚‘’«»…•·€°µ½²³ \u202f\u00a0\u2009 {}\\$&#%_^~<>|\"'` 𝒜 中 ✓ ő [a] --"


def test_every_character_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    words = Words("Tabelle", "Abbildung", "Literatur", "Fortsetzung")
    preamble = latex.preamble("de", ALPHABET, HOSTILE, words)
    (tmp_path / "t.tex").write_text(preamble + latex.escaped(ALPHABET) + "\n\\end{document}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-1500:]


def test_latex_escapes_are_ascii_but_for_letters_that_it_types() -> None:
    assert (
        latex.escaped("5 % & ü ≥ α")
        == '5 \\% \\& {\\"{u}} \\ensuremath{\\geq} \\ensuremath{\\alpha}'
    )
    assert latex.escaped("中") == "[U+4E2D]"
    assert latex.escaped("²") == "2"
    assert latex.escaped("ï") == '{\\"{\\i}}'


def test_markdown_escapes_what_would_be_a_table_a_link_or_a_citation() -> None:
    assert quarto.escaped("a|b [c](d) @e *f*") == r"a\|b \[c\](d) \@e \*f\*"
    assert quarto.escaped("1. no list") == r"1\. no list"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_word_opens_in_libreoffice(tmp_path: Path, language: str) -> None:
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    folder = written(tmp_path, language)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [office, profile, "--headless", "--convert-to", "pdf", "manuscript.docx"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert (folder / "manuscript.pdf").stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_pandoc_reads_all_tables_and_citations_of_the_markdown(
    tmp_path: Path, language: str
) -> None:
    program = shutil.which("pandoc")
    if program is None:
        pytest.skip("Pandoc is not installed")
    pandoc = [program, "-f", "markdown", "--citeproc", "manuscript.qmd", "-t", "json"]
    done = subprocess.run(pandoc, cwd=written(tmp_path, language), check=True, capture_output=True)
    assert done.stderr == b""
    blocks = [b["t"] for b in json.loads(done.stdout)["blocks"]]
    assert blocks.count("Table") == len(whole(language)[0].tables)
