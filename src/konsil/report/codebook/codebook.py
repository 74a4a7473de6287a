"""The codebook as a page of its own, to read or to print.

Its words are those of the rating page and of the judge's prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from markdown_it import MarkdownIt
from markupsafe import Markup

from konsil.instrument import Instrument, digest
from konsil.instrument.screens.screen import expected
from konsil.instrument.screens.words import words
from konsil.locale.templates import environment
from konsil.report.material.language import language
from konsil.report.material.slugs import anchor
from konsil.study import Study


@dataclass(frozen=True)
class Question:
    """One criterion."""

    text: str
    """What is asked."""
    guidance: str
    """How to decide."""
    options: tuple[str, ...]
    """What may be said."""


@dataclass(frozen=True)
class Part:
    """One instrument."""

    name: str
    """Its name."""
    anchor: str
    """Its place on the page."""
    language: str
    """The language of its texts."""
    source: str
    """The codebook's Markdown."""
    html: Markup
    """The same as HTML."""
    questions_heading: str
    """The heading of the questions."""
    questions: tuple[Question, ...]
    """The questions, in the order asked."""
    version: str
    """Which version of the instrument this is, as every rating names it."""


def parts(instruments: Sequence[Instrument]) -> tuple[Part, ...]:
    """What is printed of each instrument, each in its own language."""
    return tuple(_part(instrument) for instrument in instruments)


def _part(instrument: Instrument) -> Part:
    phrases, _ = words(instrument.language), language(instrument.language).gettext
    return Part(
        name=instrument.id,
        anchor=anchor("instrument", instrument.id),
        language=instrument.language,
        source=instrument.codebook.strip(),
        html=markdown(instrument) if instrument.codebook.strip() else Markup(),
        questions_heading=phrases.criteria,
        questions=tuple(
            Question(c.question, c.guidance, expected(c.scale, phrases))
            for c in instrument.criteria
        ),
        version=_("Checksum of this form: %(digest)s") % {"digest": digest(instrument)},
    )


def word(study: Study) -> str:
    """'Codebook' in the study's language."""
    return language(study.language).gettext("Codebook")


def codebook_page(study: Study, instruments: Sequence[Instrument]) -> str:
    """One self-contained HTML page with the codebook of each instrument.

    The same study gives the same bytes.
    """
    style = files("konsil.report").joinpath("templates", "codebook.css").read_text("utf-8")
    spoken = language(study.language)
    templates = environment("konsil.report", spoken.gettext, spoken.ngettext)
    return templates.get_template("codebook.html.j2").render(
        lang=spoken.code,
        word=word(study),
        title=study.title,
        style=Markup(style),  # noqa: S704 - a file of ours
        parts=parts(instruments),
    )


def markdown(instrument: Instrument) -> Markup:
    """The codebook as HTML: no raw HTML, no images, headings below those of the page."""
    parser = (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["image", "html_block", "html_inline"])
    )
    tokens = parser.parse(instrument.codebook)
    levels = [int(t.tag[1]) for t in tokens if t.type == "heading_open"]
    shallowest = min(levels, default=1)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) - shallowest + 5)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - html is off in the parser
