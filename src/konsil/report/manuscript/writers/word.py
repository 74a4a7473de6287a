"""The manuscript as a Word document: real tables, styles, captions, alternative texts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from docx import Document
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor

from konsil.locale import setting
from konsil.report.manuscript.blocks import (
    Heading,
    Manuscript,
    NumberedFigure,
    NumberedTable,
    Paragraph,
    Words,
    numbers_of,
)
from konsil.report.manuscript.citations import entries, in_words, parts
from konsil.report.manuscript.writers.packing import packed
from konsil.report.manuscript.writers.shares import column_shares, is_wide, points
from konsil.report.material.tables import Table

_TEXT_WIDTH, _LANDSCAPE_WIDTH = 16.0, 24.7
"""Centimetres between the margins of an upright page, and of one on its side."""
_FONT = "Calibri"


def word(manuscript: Manuscript) -> bytes:
    """The .docx file."""
    document = Document()
    _remove_thumbnail(document)
    _set_styles(document, manuscript)
    numbers = numbers_of(manuscript.references)
    document.add_heading(manuscript.title, 0)
    for block in manuscript.blocks:
        if isinstance(block, Heading):
            document.add_heading(block.text, block.level)
        elif isinstance(block, Paragraph):
            _add_paragraph(document, block, numbers)
        elif isinstance(block, NumberedTable):
            _add_table(document, block, manuscript)
        else:
            _add_figure(document, block, manuscript)
    if numbers:
        document.add_heading(manuscript.words.references, 1)
        for key, number in numbers.items():
            paragraph = document.add_paragraph(f"{number}.\t{in_words(entries()[key])}")
            paragraph.paragraph_format.left_indent = Cm(0.8)
            paragraph.paragraph_format.first_line_indent = Cm(-0.8)
            paragraph.paragraph_format.tab_stops.add_tab_stop(Cm(0.8))
    out = io.BytesIO()
    document.save(out)
    return packed(out.getvalue())


def _remove_thumbnail(document: Any) -> None:  # noqa: ANN401 - docx has no types
    """Leave out the picture of python-docx's own template, which is no picture of this document."""
    relations = document.part.package.rels
    for key in [key for key, one in relations.items() if one.reltype.endswith("/thumbnail")]:
        relations.pop(key)


def _set_styles(document: Any, manuscript: Manuscript) -> None:  # noqa: ANN401 - docx has no types
    properties = document.core_properties
    properties.title, properties.author = manuscript.title, ""
    properties.comments, properties.language = "", manuscript.language
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21.0), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    section.top_margin = section.bottom_margin = Cm(2.5)
    styles = document.styles
    code = setting(manuscript.language, "word", "en-GB")
    defaults = styles.element.find(qn("w:docDefaults"))
    properties_of_runs = defaults.find(qn("w:rPrDefault")).find(qn("w:rPr"))
    language = properties_of_runs.find(qn("w:lang"))
    if language is None:
        language = OxmlElement("w:lang")
        properties_of_runs.append(language)
    language.set(qn("w:val"), code)
    normal = styles["Normal"]
    normal.font.name, normal.font.size = _FONT, Pt(11)
    normal.paragraph_format.space_after = Pt(6)
    for name, size in (("Title", 20), ("Heading 1", 15), ("Heading 2", 12)):
        style = styles[name]
        style.font.name, style.font.size = _FONT, Pt(size)
        style.font.color.rgb = RGBColor(0x1B, 0x1F, 0x24)
        fonts = style.element.rPr.rFonts
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
    caption = styles["Caption"]
    caption.font.size, caption.font.bold = Pt(10), False
    caption.font.color.rgb = RGBColor(0x1B, 0x1F, 0x24)
    caption.paragraph_format.space_before = Pt(8)


def _add_paragraph(document: Any, block: Paragraph, numbers: dict[str, int]) -> None:  # noqa: ANN401
    paragraph = document.add_paragraph(style="Intense Quote" if block.is_notice else None)
    for text, keys in parts(block.text):
        paragraph.add_run(text)
        if keys:
            paragraph.add_run(f" [{', '.join(str(numbers[key]) for key in keys)}]")


def _add_caption(document: Any, words: Words, number: int, text: str, *, above: bool) -> None:  # noqa: ANN401
    """A caption in Word's own style, its number a field, so that lists of tables can be made."""
    caption = document.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = above
    caption.add_run(f"{words.table if above else words.figure} {words.prefix}").bold = True
    # The field's name is English in every language of Word's.
    name = "Table" if above else "Figure"
    for kind_of_mark, content in (
        ("begin", ""),
        ("", f" SEQ {name} \\* ARABIC "),
        ("separate", ""),
        ("text", str(number)),
        ("end", ""),
    ):
        run = caption.add_run(content if kind_of_mark == "text" else "")
        run.bold = True
        if kind_of_mark == "text":
            continue
        if kind_of_mark:
            mark = OxmlElement("w:fldChar")
            mark.set(qn("w:fldCharType"), kind_of_mark)
        else:
            mark = OxmlElement("w:instrText")
            mark.set(qn("xml:space"), "preserve")
            mark.text = content
        run._r.append(mark)
    caption.add_run(". ").bold = True
    caption.add_run(text)


def _add_table(document: Any, block: NumberedTable, manuscript: Manuscript) -> None:  # noqa: ANN401
    shown = block.table
    turned = is_wide(shown)
    if turned:
        _turn(document, is_landscape=True)
    _add_caption(document, manuscript.words, block.number, shown.caption, above=True)
    table = document.add_table(rows=1, cols=len(shown.head))
    table.autofit = False
    width = _LANDSCAPE_WIDTH if turned else _TEXT_WIDTH
    widths = [width * share for share in column_shares(shown)]
    for column, centimetres in zip(table.columns, widths, strict=True):
        column.width = Cm(centimetres)
    _fill(table.rows[0], [cell.text for cell in shown.head], shown, widths, is_head=True)
    for row in shown.rows:
        texts = ["" if cell.same else cell.text for cell in row]
        _fill(table.add_row(), texts, shown, widths, marks=[cell.marks for cell in row])
    _rules(table)
    for note in shown.notes:
        paragraph = document.add_paragraph()
        paragraph.paragraph_format.space_after = Pt(0)
        if note.mark:
            mark = paragraph.add_run(note.mark)
            mark.font.superscript, mark.font.size = True, Pt(9)
        paragraph.add_run(f"{' ' if note.mark else ''}{note.text}").font.size = Pt(9)
    document.add_paragraph()
    if turned:
        _turn(document, is_landscape=False)


def _fill(
    row: Any,  # noqa: ANN401
    texts: Sequence[str],
    shown: Table,
    widths: Sequence[float],
    *,
    marks: Sequence[Sequence[str]] = (),
    is_head: bool = False,
) -> None:
    if is_head:
        properties = row._tr.get_or_add_trPr()
        header = OxmlElement("w:tblHeader")
        header.set(qn("w:val"), "true")
        properties.append(header)
    size = Pt(points(shown))
    unbroken = OxmlElement("w:cantSplit")
    row._tr.get_or_add_trPr().append(unbroken)
    for n, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
        cell.width = Cm(widths[n])
        paragraph = cell.paragraphs[0]
        paragraph.paragraph_format.space_after = Pt(1)
        if shown.head[n].number:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        is_number = shown.head[n].number and not is_head
        run = paragraph.add_run(text.replace(" ", "\u00a0") if is_number else text)
        run.font.size, run.bold = size, is_head
        if marks and marks[n]:
            mark = paragraph.add_run(",".join(marks[n]))
            mark.font.superscript, mark.font.size = True, size


def _rules(table: Any) -> None:  # noqa: ANN401
    """Lines above and below the table and under its head, none between columns."""
    borders = OxmlElement("w:tblBorders")
    for side in ("top", "bottom"):
        borders.append(_line(side, "8"))
    table._tbl.tblPr.append(borders)
    for cell in table.rows[0].cells:
        of_cell = OxmlElement("w:tcBorders")
        of_cell.append(_line("bottom", "6"))
        cell._tc.get_or_add_tcPr().append(of_cell)


def _line(side: str, size: str) -> Any:  # noqa: ANN401
    line = OxmlElement(f"w:{side}")
    for name, value in (("val", "single"), ("sz", size), ("space", "0"), ("color", "1B1F24")):
        line.set(qn(f"w:{name}"), value)
    return line


def _turn(document: Any, *, is_landscape: bool) -> None:  # noqa: ANN401
    section = document.add_section()
    sides = Cm(29.7), Cm(21.0)
    section.orientation = WD_ORIENT.LANDSCAPE if is_landscape else WD_ORIENT.PORTRAIT
    section.page_width, section.page_height = sides if is_landscape else sides[::-1]


def _add_figure(document: Any, block: NumberedFigure, manuscript: Manuscript) -> None:  # noqa: ANN401
    drawing = block.drawing
    paragraph = document.add_paragraph()
    paragraph.paragraph_format.keep_with_next = True
    picture = paragraph.add_run().add_picture(
        io.BytesIO(drawing.others["png"]), width=Cm(_TEXT_WIDTH)
    )
    properties = picture._inline.docPr
    properties.set("descr", f"{drawing.title}. {drawing.description}")
    properties.set("name", drawing.key)
    _add_caption(document, manuscript.words, block.number, block.caption, above=False)
