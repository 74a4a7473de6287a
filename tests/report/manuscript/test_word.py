"""Word documents of blocks that a test states one by one."""

from __future__ import annotations

import io
import zipfile

import docx
from docx.enum.section import WD_ORIENT
from docx.oxml.ns import qn

from konsil.report.manuscript.blocks import (
    Block,
    Heading,
    Manuscript,
    NumberedTable,
    Paragraph,
    Words,
)
from konsil.report.manuscript.citations import cite
from konsil.report.manuscript.writers.latex import bbl, latex
from konsil.report.manuscript.writers.quarto import markdown
from konsil.report.manuscript.writers.shares import column_shares, is_wide, points
from konsil.report.manuscript.writers.word import word
from konsil.report.material.tables import Cell, table

WORDS = Words("Table", "Figure", "References", "continued")
SMALL = table("Small", ("who", "n"), [(Cell("a"), Cell("0.5 [0.4, 0.6]", ("few",), number=True))])
WIDE = table("Wide", ["long name of a column " * 2] * 6, [[Cell("a text " * 9)] * 6])


def made_of(*blocks: Block) -> Manuscript:
    return Manuscript("Title & <more>", "en", WORDS, blocks)


def test_tables_have_heads_notes_and_lines_that_do_not_break_numbers() -> None:
    text = f"Kappa{cite(['cohen1960', 'cohen1968'])} and again{cite(['cohen1968'])}."
    manuscript = made_of(Heading("Results", 1), Paragraph(text), NumberedTable(1, SMALL, "small"))
    file = docx.Document(io.BytesIO(word(manuscript)))
    paragraphs = [p.text for p in file.paragraphs]
    assert "Kappa [1, 2] and again [2]." in paragraphs
    assert "Table 1. Small" in paragraphs
    assert "a Few." in paragraphs
    assert [p.text.split(". ")[0] for p in file.paragraphs if "doi:" in p.text] == [
        "1.\tCohen J",
        "2.\tCohen J",
    ]
    [shown] = file.tables
    assert shown.rows[1].cells[1].text == "0.5\u00a0[0.4,\u00a00.6]a"
    assert shown.rows[0]._tr.trPr.find(qn("w:tblHeader")) is not None
    assert shown.rows[1]._tr.trPr.find(qn("w:tblHeader")) is None
    assert len(file.sections) == 1


def test_a_wide_table_is_on_a_page_on_its_side_and_only_it() -> None:
    manuscript = made_of(NumberedTable(1, WIDE, "wide"), Paragraph("After."))
    file = docx.Document(io.BytesIO(word(manuscript)))
    sides = [section.orientation for section in file.sections]
    assert sides == [WD_ORIENT.PORTRAIT, WD_ORIENT.LANDSCAPE, WD_ORIENT.PORTRAIT]
    assert file.sections[1].page_width == file.sections[0].page_height
    tex = latex(manuscript, "N. N.")
    assert tex.count(r"\begin{landscape}") == tex.count(r"\end{landscape}") == 1
    assert r"\begin{landscape}" not in latex(made_of(NumberedTable(1, SMALL, "small")), "N. N.")
    assert r"\title{Title \& \textless{}more\textgreater{}}" in tex


def test_a_notice_is_marked_in_every_format() -> None:
    manuscript = made_of(Paragraph("Simulated ratings.", is_notice=True))
    file = docx.Document(io.BytesIO(word(manuscript)))
    assert [p.style.name for p in file.paragraphs if p.text] == ["Title", "Intense Quote"]
    assert r"\begin{quote}\textbf{Simulated ratings.}\end{quote}" in latex(manuscript, "N. N.")
    assert "> **Simulated ratings.**" in markdown(manuscript)
    assert "bibliography{references}" not in latex(manuscript, "N. N."), "nothing is cited"


def test_letters_are_smaller_before_a_page_is_turned() -> None:
    shapes = []
    for n in (4, 5, 6):
        shown = table("x", [f"head{k}" for k in range(n)], [[Cell("m" * 20)] * n])
        assert abs(sum(column_shares(shown)) - 1) < 1e-12
        shapes.append((points(shown), is_wide(shown)))
    assert shapes == [(9, False), (8, False), (9, True)]


def test_a_document_has_no_picture_of_another_one() -> None:
    """python-docx's template brings a thumbnail of itself."""
    with zipfile.ZipFile(io.BytesIO(word(made_of(Heading("Results", 1))))) as archive:
        assert not [name for name in archive.namelist() if "thumbnail" in name]
        assert b"thumbnail" not in archive.read("_rels/.rels")


def test_latex_breaks_checksums_and_addresses_and_has_captions_as_wide_as_the_page() -> None:
    digest = "0123456789abcdef" * 4
    shown = table("Small", ("who", "what"), [(Cell("a"), Cell(f"SHA-256 {digest}"))])
    text = latex(made_of(Paragraph(f"Log{cite(['bell2002'])}."), NumberedTable(1, shown, "x")), "")
    assert digest not in text and digest[:8] + "\\allowbreak{}" + digest[8:16] in text
    start = text.index("\\begin{document}")
    assert "\\LTcapwidth" not in text[:start] and "\\LTcapwidth}{\\linewidth}" in text[start:]
    assert "https://\\allowbreak{}www150.s" in bbl(made_of(Paragraph(cite(["bell2002"]))))
