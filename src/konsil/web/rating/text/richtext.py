"""Markdown that models wrote -> harmless HTML that looks the same whoever wrote it.

Sentences marked in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import escape

from konsil.instrument.screens.rendering import Piece

FORM = 3
"""The number of this way of rendering; raise it with every change of what comes out."""

TAGS = {
    "p",
    "br",
    "strong",
    "em",
    "s",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "hr",
    "h3",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
# Characters that no text has and that Markdown takes for letters: they show where a sentence begins
# and ends.
_END = "\U000fffff"
_FIRST = 0xF0000
_MOST = 0xFFF0
_SIGNS = re.compile("[\U000f0000-\U000fffff]")
_LEAD = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+|\|\s*)*[*_~`]*")
_TRAIL = re.compile(r"[*_~`]*(?:\s*\|)?\s*$")
_EMPHASIS = re.compile(r"\*\*|__|~~|`|(?<!\w)[*_]|[*_](?!\w)")
_LONGEST_HEADING = 100
_TAG = re.compile(r"(<[^>]*>)")
_MARKED = re.compile("([\U000f0000-\U000fffff])")


@cache
def renderer() -> str:
    """The name under which what this version renders is stored."""
    return f"konsil {FORM}, markdown-it-py {version('markdown-it-py')}, nh3 {version('nh3')}"


def html_of(source: str, *, breaks: bool = True) -> str:
    """Render Markdown with tables and strike-through, without raw HTML and images.

    All headings have one size.

    Line breaks stay line breaks, since laboratory values stand under one another; in a text of the
    study's own authors they may be where the editor's margin was, and `breaks=False` lets them
    flow.

    >>> html_of("Dose <5 mg/dL and p<0.05").strip()
    '<p>Dose &lt;5 mg/dL and p&lt;0.05</p>'
    >>> html_of("<script>alert(1)</script>").strip()
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'
    >>> "<br" in html_of(chr(10).join(["one", "two"]), breaks=False)
    False
    """
    cleaned = nh3.clean(
        _markdown(breaks).render(source),
        tags=TAGS,
        clean_content_tags=set(),
        # "*": attributes of every tag; left out, titles would be let through.
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        attribute_filter=_absolute,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return _with_marks(cleaned)


def _absolute(tag: str, name: str, value: str) -> str | None:
    """Say so twice: to Markdown's renderer and to the sanitiser."""
    return value if (tag, name) != ("a", "href") or _leads_somewhere(value) else None


def _leads_somewhere(url: str) -> bool:
    """Whether it is a whole address; part of one would lead to a page of ours."""
    return url.lower().startswith(("http://", "https://"))


def source_of(pieces: Sequence[Piece]) -> str:
    """One Markdown text of an answer's pieces.

    Special characters (signs) mark where a sentence to be rated begins and ends.

    The marker characters are set inside a list's dash or a bold sentence's stars, so that
    Markdown still reads those.
    """
    marked_pieces = []
    for piece in pieces:
        text = _SIGNS.sub("\N{REPLACEMENT CHARACTER}", piece.text)
        if piece.span is not None and piece.span < _MOST:
            lead = _match(_LEAD, text)
            trail = _TRAIL.search(text, lead)
            end = trail.start() if trail is not None else len(text)
            text = f"{text[:lead]}{chr(_FIRST + piece.span)}{text[lead:end]}{_END}{text[end:]}"
        marked_pieces.append(text)
    return "".join(marked_pieces)


def mark(number: int, *, is_current: bool = False) -> str:
    """The tag before a run of a sentence; it may state that this is the one to be rated.

    >>> mark(1), mark(1, is_current=True)
    ('<mark data-sentence="1">', '<mark data-sentence="1" aria-current="true">')
    """
    current = ' aria-current="true"' if is_current else ""
    return f'<mark data-sentence="{number}"{current}>'


def plain(text: str) -> str:
    """A sentence's words without what Markdown makes of them, for where they are quoted.

    >>> plain("- **Give it slowly.**")
    'Give it slowly.'
    """
    start, trail = _match(_LEAD, text), _TRAIL.search(text)
    return _EMPHASIS.sub(
        "", text[start : trail.start() if trail is not None else len(text)]
    ).strip()


def _match(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    # A sentence of nothing but marker characters is text.
    return match.end() if match is not None and match.end() < len(text) else 0


def _with_marks(html: str) -> str:
    """Put <mark> around every run of text between the marker characters, tag by tag.

    So the elements nest correctly, whatever tags lie between the markers.
    """
    if not _MARKED.search(html):
        return html
    html_parts: list[str] = []
    span: int | None = None
    for part in _TAG.split(html):
        if part.startswith("<"):
            html_parts.append(_SIGNS.sub("", part))
            continue
        for run in _MARKED.split(part):
            if run == _END:
                span = None
            elif len(run) == 1 and _MARKED.match(run):
                span = ord(run) - _FIRST
            elif span is not None and run.strip():
                html_parts.append(f"{mark(span + 1)}{run}</mark>")
            else:
                html_parts.append(run)
    return "".join(html_parts)


@cache
def _markdown(breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable(
        ["table", "strikethrough"]
    )
    # What is no link stays as it was written.
    parser.validateLink = _leads_somewhere  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.core.ruler.push("bold_heading", lambda state: _bold_headings(state.tokens))
    parser.core.ruler.push("one_heading", lambda state: _one_heading(state.tokens))
    return parser


def _image(
    _renderer: RendererHTML, tokens: Sequence[Token], n: int, _options: OptionsDict, _env: EnvType
) -> str:
    return f"[{escape(tokens[n].content)}]"


def _one_heading(tokens: Sequence[Token]) -> None:
    """How deep a system nests its headings would tell systems apart."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h3"


def _bold_headings(tokens: Sequence[Token]) -> None:
    """A paragraph of nothing but one bold run is what others write as a heading."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (
            opening.type != "paragraph_open"
            or opening.level
            or len(inline.content) > _LONGEST_HEADING
        ):
            continue
        kinds = [
            child.type
            for child in inline.children or ()
            if child.type != "text" or child.content.strip(" :")
        ]
        if kinds == ["strong_open", "text", "strong_close"]:
            opening.type, closing.type = "heading_open", "heading_close"
            text = next(
                child
                for child in inline.children or ()
                if child.type == "text" and child.content.strip(" :")
            )
            inline.children = [text]
