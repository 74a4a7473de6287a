"""The codebook as a PDF, typeset from Markdown: embedded font, title, bookmarks; A4."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from markupsafe import escape
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    HRFlowable,
    Indenter,
    KeepTogether,
    ListFlowable,
    ListItem,
    PageBreak,
    PageTemplate,
    Paragraph,
    Table,
    XPreformatted,
)

from konsil.instrument import Instrument
from konsil.report.codebook.codebook import Part, Question, parts, word
from konsil.report.material.language import language
from konsil.study import Study

FONT = "DejaVuSans"
MONO = "DejaVuSansMono"
RULE, INK, SOFT = HexColor("#c9d1d8"), HexColor("#16202a"), HexColor("#4c5a67")
FACES = {
    FONT: FONT,
    "bold": "DejaVuSans-Bold",
    "italic": "DejaVuSans-Oblique",
    "both": "DejaVuSans-BoldOblique",
}


MARGIN = 20 * mm


# The typesetter has no types.
class _Bookmark(Flowable):  # type: ignore[misc]
    """A place that the outline of the document leads to."""

    def __init__(self, key: str, title: str, level: int) -> None:
        super().__init__()
        self._key, self._title, self._level = key, title, level
        self.width = self.height = 0
        self.keepWithNext = 1

    def draw(self) -> None:
        self.canv.bookmarkHorizontal(self._key, 0, 30)
        self.canv.addOutlineEntry(self._title, self._key, self._level, closed=False)


def codebook_pdf(study: Study, instruments: Sequence[Instrument]) -> bytes:
    """Typeset the codebook of each instrument; the same study gives the same bytes."""
    fonts()
    written = io.BytesIO()
    title = f"{word(study)}: {study.title}"
    document = BaseDocTemplate(
        written,
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=title,
        author="",
        creator="konsil",
        lang=language(study.language).code,
        invariant=1,
    )
    frame = Frame(MARGIN, MARGIN, document.width, document.height, 0, 0, 0, 0)

    def foot(canvas: Any, _: object) -> None:  # noqa: ANN401 - the typesetter has no types
        canvas.setFont(FONT, 8)
        canvas.setFillColor(SOFT)
        canvas.drawString(MARGIN, 12 * mm, title if len(title) < 90 else f"{title[:88]} …")
        canvas.drawRightString(A4[0] - MARGIN, 12 * mm, str(canvas.getPageNumber()))

    document.addPageTemplates(PageTemplate(frames=[frame], onPage=foot))
    document.build(_story(study, parts(instruments), document.width))
    return written.getvalue()


def unprintable(study: Study, instruments: Sequence[Instrument]) -> tuple[str, ...]:
    """Signs of the codebooks that the PDF's font lacks, and shows as boxes."""
    printable = fonts()
    texts = [study.title]
    for part in parts(instruments):
        texts.append(part.source)
        for question in part.questions:
            texts += [question.text, question.guidance, *question.options]
    return tuple(
        sorted(
            {
                sign
                for text in texts
                for sign in text
                if sign.isprintable() and ord(sign) not in printable
            }
        )
    )


def _story(study: Study, codebooks: Sequence[Part], width: float) -> list[Flowable]:
    story: list[Flowable] = [
        Paragraph(marked_up(word(study).upper()), style("quiet")),
        Paragraph(marked_up(study.title), style("h1")),
        HRFlowable(width="100%", color=RULE, spaceBefore=4, spaceAfter=8),
    ]
    for n, part in enumerate(codebooks):
        if n:
            story.append(PageBreak())
        story.append(_Bookmark(part.anchor, part.name, 0))
        if len(codebooks) > 1:
            story.append(Paragraph(marked_up(part.name), style("h2")))
        story += markdown_flow(part.source, width)
        story += [
            _Bookmark(f"{part.anchor}-asked", part.questions_heading, 1),
            Paragraph(marked_up(part.questions_heading), style("h3")),
        ]
        for number, question in enumerate(part.questions, start=1):
            story.append(KeepTogether(_question(question, number, f"{part.anchor}-{number}")))
        story.append(Paragraph(marked_up(part.version), style("quiet")))
    return story


def _question(question: Question, number: int, key: str) -> list[Flowable]:
    flow: list[Flowable] = [
        _Bookmark(key, question.text, 2),
        Paragraph(f"{number}. {marked_up(question.text)}", style("question")),
    ]
    if question.guidance:
        flow.append(Paragraph(marked_up(question.guidance), style("text")))
    flow.append(
        Paragraph(
            "<br/>".join(f"☐ {marked_up(option)}" for option in question.options), style("text")
        )
    )
    return flow


@cache
def fonts() -> frozenset[int]:
    """Make the font known to the typesetter; the code points for which it has a glyph."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name in (*FACES.values(), MONO):
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    pdfmetrics.registerFontFamily(FONT, FONT, FACES["bold"], FACES["italic"], FACES["both"])
    return frozenset(pdfmetrics.getFont(FONT).face.charToGlyph)


@cache
def style(name: str) -> ParagraphStyle:
    """A style by its name.

    Text, lead (stays with what follows), item, quiet, question, cell, h1 to h4.
    """
    fonts()
    base = ParagraphStyle(
        "text", fontName=FONT, fontSize=9.5, leading=13.5, textColor=INK, spaceAfter=5
    )
    sizes = {"h1": 18.0, "h2": 14.0, "h3": 11.5, "h4": 10.0}
    if name in sizes:
        size = sizes[name]
        return ParagraphStyle(
            name,
            base,
            fontName=FACES["bold"],
            fontSize=size,
            leading=size * 1.3,
            spaceBefore=size * 0.8,
            keepWithNext=1,
        )
    if name == "quiet":
        return ParagraphStyle(name, base, fontSize=8, leading=11, textColor=SOFT)
    if name == "question":
        return ParagraphStyle(
            name, base, fontName=FACES["bold"], spaceBefore=6, spaceAfter=2, keepWithNext=1
        )
    if name == "lead":
        return ParagraphStyle(name, base, keepWithNext=1)
    if name == "item":
        return ParagraphStyle(name, base, spaceAfter=1)
    if name == "cell":
        return ParagraphStyle(name, base, fontSize=8.5, leading=11.5, spaceAfter=0)
    return base


def marked_up(text: str) -> str:
    """Plain text for a paragraph, its line breaks kept."""
    return str(escape(text)).replace("\n", "<br/>")


def markdown_flow(source: str, width: float) -> list[Flowable]:
    """A Markdown text as what flows down a page of this width.

    Headings begin below those of the document.
    """
    parser = (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["image", "html_block", "html_inline"])
    )
    tokens = parser.parse(source)
    shallowest = min((int(t.tag[1]) for t in tokens if t.type == "heading_open"), default=1)
    return list(_blocks(SyntaxTreeNode(tokens).children, width, 3 - shallowest))


def _blocks(
    nodes: Sequence[SyntaxTreeNode], width: float, deeper: int, plain: str = "text"
) -> Iterator[Flowable]:
    for node, following in zip(nodes, [*nodes[1:], None], strict=False):
        if node.type == "heading":
            yield Paragraph(_inline(node), style(f"h{min(4, int(node.tag[1]) + deeper)}"))
        elif node.type == "paragraph":
            # What introduces a table or a list is not left alone at the foot of a page.
            leads = following is not None and following.type in (
                "table",
                "bullet_list",
                "ordered_list",
            )
            yield Paragraph(_inline(node), style("lead" if leads else plain))
        elif node.type in ("bullet_list", "ordered_list"):
            yield _list(node, width, deeper)
        elif node.type == "blockquote":
            yield Indenter(left=6 * mm)
            yield from _blocks(node.children, width - 6 * mm, deeper)
            yield Indenter(left=-6 * mm)
        elif node.type in ("fence", "code_block"):
            code = ParagraphStyle("code", style("cell"), fontName=MONO, spaceAfter=5)
            yield XPreformatted(str(escape(node.content.rstrip("\n"))), code)
        elif node.type == "hr":
            yield HRFlowable(width="100%", color=RULE, spaceBefore=4, spaceAfter=6)
        elif node.type == "table":
            yield _table(node, width)


def _list(node: SyntaxTreeNode, width: float, deeper: int) -> ListFlowable:
    ordered = node.type == "ordered_list"
    items = [
        ListItem(list(_blocks(item.children, width - 6 * mm, deeper, "item")))
        for item in node.children
    ]
    return ListFlowable(
        items,
        bulletType="1" if ordered else "bullet",
        start=int(node.attrs.get("start", 1)) if ordered else "•",
        leftIndent=6 * mm,
        bulletFontName=FONT,
        bulletFontSize=9.5,
        spaceAfter=5,
    )


def _table(node: SyntaxTreeNode, width: float) -> Table:
    rows = [
        [
            Paragraph(
                f"<b>{_inline(cell)}</b>" if part.type == "thead" else _inline(cell), style("cell")
            )
            for cell in row.children
        ]
        for part in node.children
        for row in part.children
    ]
    # Columns in proportion to their longest text, none so narrow that words break.
    weights = [
        min(60, max(8, *(len(cell.text) for cell in column))) for column in zip(*rows, strict=True)
    ]
    shares = [width * weight / sum(weights) for weight in weights]
    lines = [("GRID", (0, 0), (-1, -1), 0.5, RULE), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    return Table(
        rows,
        colWidths=shares,
        style=lines,
        repeatRows=1,
        hAlign="LEFT",
        spaceBefore=3,
        spaceAfter=8,
    )


def _inline(node: SyntaxTreeNode) -> str:
    tokens: list[Token] = [
        t for child in node.children if child.type == "inline" for t in child.to_tokens()
    ]
    return "".join(_sign(t) for inline in tokens for t in inline.children or ())


_TAGS = {
    "strong_open": "<b>",
    "strong_close": "</b>",
    "em_open": "<i>",
    "em_close": "</i>",
    "link_close": "</a>",
}


def _sign(token: Token) -> str:
    if token.type == "code_inline":
        return f'<font face="{MONO}">{escape(token.content)}</font>'
    if token.type == "link_open":
        return f'<a href="{escape(str(token.attrs.get("href", "")))}" color="#0b5c8a">'
    if token.type == "hardbreak":
        return "<br/>"
    if token.type == "softbreak":
        return " "
    return _TAGS.get(token.type, str(escape(token.content)))
