"""An answer as text for all raters: the one serialiser of page and prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from konsil.instrument.definition.fields import FormError
from konsil.instrument.screens.house_style import STYLED, alike, marks_of, without_marks
from konsil.instrument.screens.words import Words
from konsil.records import Answer, Span

TEXT_ARM = "text"
"""In this arm links, citation markers and sources are left out; in every other arm they are
shown."""

_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\s]*(?:\s+\"[^\"\n]*\")?\)")
_LINK = re.compile(
    r"\[([^\]\n]*)\]\((?:https?|mailto|ftp):[^)\s]*(?:\s+\"[^\"\n]*\")?\)", re.IGNORECASE
)
_AUTOLINK = re.compile(r" ?<https?://[^>\s]*>", re.IGNORECASE)
_ADDRESS = re.compile(
    r" ?(?:\(https?://[^\s<>)]*\)|\bhttps?://[^\s<>)\]]*[^\s<>)\].,;:!?])", re.IGNORECASE
)
_DEFINITION = re.compile(r"^\[\^?\d{1,3}\]:.*(?:\n|$)", re.MULTILINE)
_FOOTNOTE = re.compile(r" ?\[\^[\w-]{1,20}\]| ?【[^】\n]{1,40}】")
_MARKER = re.compile(r" ?\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\](?![(:])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of an answer's text."""

    text: str
    """The text as shown."""
    span: int | None = None
    """The number, from 0, of the sentence to be rated that this is; None for the text between."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer as everybody sees it. It does not say whose it is."""

    pieces: tuple[Piece, ...]
    """The whole final response."""
    reasoning: str = ""
    """What was thought aloud, where the instrument shows it."""
    sources: tuple[str, ...] = ()
    """Sources with title and address, where the arm shows them."""

    @property
    def text(self) -> str:
        """The whole final response."""
        return (
            self.pieces[0].text if len(self.pieces) == 1 else "".join(p.text for p in self.pieces)
        )


def show(
    answer: Answer, arm: str, words: Words, spans: tuple[Span, ...] = (), reasoning: bool = False
) -> Shown:
    """Render an answer for an arm, the sentences to be rated as pieces of their own.

    Nothing is ever shortened.
    """
    cut = arm == TEXT_ARM
    plain = STYLED.search(answer.text) is None
    if plain and not cut and not spans:  # by far the most answers: nothing to be rendered in them
        full_text = (Piece(answer.text),) if answer.text else ()
        thought = _thought(answer.reasoning, words) if reasoning else ""
        return Shown(full_text, thought, _sources(answer) if answer.citations else ())

    marks = marks_of(answer.text, len(answer.citations))

    def render(text: str) -> str:
        noted = _noted(text, words)
        return (
            without_marks(_without_links(noted, len(answer.citations)))
            if cut
            else alike(noted, marks)
        )

    pieces: list[Piece] = []
    end = 0
    for n, span in sorted(enumerate(spans), key=lambda pair: pair[1].start):
        if not end <= span.start < span.end <= len(answer.text):
            raise FormError(
                f"answer {answer.id!r}: the sentence {span.start}-{span.end} overlaps another or is"
                f" not within its text of {len(answer.text)} characters"
            )
        pieces += [
            Piece(render(answer.text[end : span.start])),
            Piece(render(answer.text[span.start : span.end]), n),
        ]
        end = span.end
    pieces.append(Piece(render(answer.text[end:])))
    sources = () if cut else (*_sources(answer), *marks.sources())
    filled_pieces = tuple(p for p in pieces if p.text or p.span is not None)
    return Shown(
        filled_pieces, _thought(answer.reasoning, words, cut=cut) if reasoning else "", sources
    )


def _noted(text: str, words: Words) -> str:
    return _IMAGE.sub(lambda m: words.image.format(m[1]), text)


def _thought(text: str, words: Words, *, cut: bool = False) -> str:
    """What was thought aloud; its marks of sources are its own."""
    noted = _noted(text, words)
    return without_marks(_without_links(noted, 0)) if cut else alike(noted, marks_of(noted, 0))


def _sources(answer: Answer) -> tuple[str, ...]:
    numbered = enumerate(answer.citations, start=1)
    return tuple(_source(n, c.title, c.url) for n, c in numbered) if answer.citations else ()


def _source(n: int, title: str, url: str) -> str:
    return " ".join(f"[{n}] {title} {url}".split())


def _without_links(text: str, n_citations: int) -> str:
    """The text arm: links keep their words, addresses and citation markers go.

    A bracketed number is a marker only where it can be one: [3] in an answer with three sources or
    footnotes.
    """
    n_sources = max(n_citations, len(_DEFINITION.findall(text)))
    text = _DEFINITION.sub("", text)
    text = _LINK.sub(r"\1", text)
    text = _ADDRESS.sub("", _AUTOLINK.sub("", text))
    text = _FOOTNOTE.sub("", text)

    def marker(match: re.Match[str]) -> str:
        return (
            "" if all(1 <= int(n) <= n_sources for n in re.findall(r"\d+", match[1])) else match[0]
        )

    return _MARKER.sub(marker, text)
