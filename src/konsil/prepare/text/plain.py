r"""HTML of flash cards as plain text: line breaks, entities, indices, formulas.

Its language stays as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping

MEDIA: Mapping[str, str] = {"image": "[image]", "sound": "[sound]", "video": "[video]"}
"""What stands in a text for a medium."""

# No possessive quantifier after a group: before Python 3.11.4, re matches those wrongly. Each
# piece of a group begins differently, so that nothing is tried twice.
_TAG = re.compile(r"""<(/?)([A-Za-z][A-Za-z0-9:-]*+)((?:"[^"]*"|'[^']*'|[^<>"'])*)>""")
_SOUND = re.compile(r"\[sound:[^\[\]<>]*+\]")
_SPEECH = re.compile(r"\[/?anki:[^\[\]<>]*+\]")
_SPACE = re.compile(r"\s+")
_BLANKS = re.compile(r"[^\S\n]+")
_MARKS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff]")
"""Characters that show nothing: controls, soft hyphens, places where a line may break."""
_INNER = re.compile(r"<(sub|sup)\b[^<>]*+>([^<>]*+)</\1\s*+>", re.IGNORECASE)
_FORMULA = re.compile(
    r"\[\$\$\]((?:(?!\[/?\$\$\]).)*)\[/\$\$\]"
    r"|\[\$\]((?:(?!\[/?\$\]).)*)\[/\$\]"
    r"|<anki-mathjax\b([^<>]*+)>((?:(?!</?anki-mathjax).)*)</anki-mathjax>",
    re.DOTALL,
)

_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    }
)
_PICTURES = {
    "img": "image",
    "svg": "image",
    "canvas": "image",
    "object": "image",
    "embed": "image",
    "iframe": "image",
    "audio": "sound",
    "video": "video",
}
_SILENT = ("script", "style", "head", "title", "template")

_PLAIN = "0123456789+-−=()"
_RAISED = str.maketrans(_PLAIN + "ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans(_PLAIN + "aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


def plain(text: str, *, media: Mapping[str, str] = MEDIA, indices: bool = True) -> str:
    r"""A text without its HTML.

    Lines break where a browser breaks them and list entries begin with '- '; other white space is
    one blank. Indices become the raised and lowered characters of Unicode or, where there are none,
    follow a ^ or _; without `indices` they stand on the line. Formulas keep their LaTeX, between \(
    \) and \[ \]. A medium becomes its word in `media`.

    >>> plain("10<sup>3</sup>&nbsp;H<sub>2</sub>O<br>f&uuml;r <b>alle</b>")
    '10³ H₂O\nfür alle'
    """
    if "<" not in text and "&" not in text and "[" not in text:
        return tidy(text.replace("\n", " "))
    text = _without_silent(text)
    if "[" in text:
        text = _SPEECH.sub("", _SOUND.sub(f" {media['sound']} ", text))
    text = _FORMULA.sub(_latex, text)
    text = _INNER.sub(_index if indices else r"\2", text)
    pieces, at, ordinary = [], 0, True
    for tag in _TAG.finditer(text):
        pieces.append(_piece(text[at : tag.start()], ordinary))
        at = tag.end()
        name = tag[2].lower()
        if name == "pre":
            ordinary = bool(tag[1])
        pieces.append(_mark(name, bool(tag[1]), media))
    pieces.append(_piece(text[at:], ordinary))
    return tidy("".join(pieces))


def has_media(text: str) -> bool:
    """Whether a text shows or plays something: an image, a sound, a video, a mask over an image.

    >>> has_media("<img src='a.png'>"), has_media("[sound:a.mp3]"), has_media("a &lt;img&gt;")
    (True, True, False)
    """
    if _SOUND.search(text) or "image-occlusion:" in text:
        return True
    return "<" in text and any(tag[2].lower() in _PICTURES for tag in _TAG.finditer(text))


def tidy(text: str) -> str:
    """The text with single blanks, without blanks at ends of lines, and without empty lines.

    Invisible characters are left out, too.
    """
    lines = (_BLANKS.sub(" ", line).strip() for line in _MARKS.sub("", text).splitlines())
    return "\n".join(line for line in lines if line and line != "-")


def _piece(text: str, ordinary: bool) -> str:
    # Line breaks of the source are blanks, but those of entities and of <pre> are meant.
    return html.unescape(_SPACE.sub(" ", text) if ordinary else text)


def _mark(name: str, is_end: bool, media: Mapping[str, str]) -> str:
    if name in _PICTURES:
        return "" if is_end else f" {media[_PICTURES[name]]} "
    if name == "li":
        return "\n" if is_end else "\n- "
    if name in ("td", "th"):
        return " "
    return "\n" if name in _BLOCKS or name == "br" else ""


def _index(match: re.Match[str]) -> str:
    is_raised = match[1].lower() == "sup"
    inside = html.unescape(match[2]).strip()
    table = _RAISED if is_raised else _LOWERED
    if all(ord(c) in table for c in inside):
        return inside.translate(table)
    escaped = html.escape(inside, quote=False)
    return f"{'^' if is_raised else '_'}{escaped if inside.isalnum() else f'({escaped})'}"


def _latex(match: re.Match[str]) -> str:
    block, inline, options, formula = match.groups()
    if block is not None:
        return rf"\[{block}\]"
    if inline is not None:
        return rf"\({inline}\)"
    return rf"\[{formula}\]" if "block" in options else rf"\({formula}\)"


def _without_silent(text: str) -> str:
    """Take out comments, scripts and style sheets; what has no end stays."""
    if "<!--" in text:
        text = _cut(text, "<!--", "-->", lambda _: True)
    lowered = text.lower()
    for name in _SILENT:
        if f"<{name}" in lowered:
            text = _cut(
                text, f"<{name}", f"</{name}>", lambda after: not (after.isalnum() or after == "-")
            )
    return text


def _cut(text: str, start: str, end: str, is_match: Callable[[str], bool]) -> str:
    # Searched from place to place and not by an expression, which would take long on many starts
    # without an end.
    lowered, pieces, at = text.lower(), [], 0
    if len(lowered) != len(text):
        lowered = text
    while (begin := lowered.find(start, at)) >= 0:
        after = begin + len(start)
        if not is_match(lowered[after : after + 1]):
            pieces.append(text[at:after])
            at = after
            continue
        stop = lowered.find(end, after)
        if stop < 0:
            break
        pieces.append(text[at:begin])
        at = stop + len(end)
    return "".join([*pieces, text[at:]])
