"""The codebook as a PDF: real text in an embedded font, a language, a title, bookmarks; A4."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    HRFlowable,
    KeepTogether,
    PageBreak,
    PageTemplate,
    Paragraph,
)

from konsil.instrument import Instrument
from konsil.report.codebook.codebook import Part, Question, parts, word
from konsil.report.codebook.typeset import FONT, RULE, SOFT, fonts, markdown_flow, marked_up, style
from konsil.report.material.language import language
from konsil.study import Study

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
