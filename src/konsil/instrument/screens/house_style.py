"""Removal of systems' house styles.

Marks of sources, bullets and emoji get one form in the answers of all systems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_RAISED = str.maketrans("0123456789+-−", _SUPERSCRIPTS + "⁺⁻⁻")
# A mark stands behind a word or a sentence; behind a unit, a digit or a bracket a superscript is a
# power or a charge.
_BEHIND = r"(?:(?<=[^\W\d_]{4})|(?<=[.,;:!?”\"’*]))"
_SEVERAL = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"

_NOTE = re.compile(r"^\[\^(\d{1,3})\]: *", re.MULTILINE)
_NUMBERED = re.compile(r" ?(?:\[\^(\d{1,3})\]|【(\d{1,3})(?::\d{1,3})?(?:†[^】\n]{0,60})?】)")
_TAGGED = re.compile(rf"{_BEHIND} ?<sup>\s?\[?({_SEVERAL})\]?\s?</sup>", re.IGNORECASE)
_POWER = re.compile(r"<sup>([\d+−-]{1,6})</sup>", re.IGNORECASE)
_CARET = re.compile(rf"{_BEHIND}\^\[?({_SEVERAL})\]?\^?(?![\w\]]|\.\d)")
_RAISED_MARK = re.compile(
    rf"{_BEHIND}([{_SUPERSCRIPTS}]{{1,3}}(?:[,;–⁻-][{_SUPERSCRIPTS}]{{1,3}})*)"
    rf"(?![⁺⁻\w/{_SUPERSCRIPTS}])"
)
_ATTACHED = re.compile(rf"{_BEHIND}\[(\d{{1,3}})\](?![(:])")
_BRACKETED = re.compile(
    r"(?<!CI)(?<!KI)(?<!CI )(?<!KI ) ?\[(\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*)\](?![(:])"
)
_RUN = re.compile(r" ?((?:\[\d{1,3}\] ?)+\[\d{1,3}\])")
_MOST_IN_A_RANGE = 10

_NAME = r"[A-ZÄÖÜ][^\W\d_]*(?:['’-][^\W\d_]+)?"
_AND = r"(?:,? (?:and|und|&) |, | )"
_CITE = rf"{_NAME}(?:{_AND}{_NAME}){{0,4}}(?: et al\.?| u\. ?a\.)?,? (?:19|20)\d\d[a-z]?"
_AUTHOR_YEAR = re.compile(
    rf" ?[(\[](?:see |vgl\. |siehe )?({_CITE}(?:; ?{_CITE}){{0,9}})[)\]](?![(:])"
)
# As a list it would be three times as long.
_NO_AUTHORS = frozenset(
    """january february march april may june july august september october november december januar
    februar märz mai juni juli oktober dezember jan feb mar apr jun jul aug sep sept oct okt nov dec
    dez spring summer autumn winter stand version update updated since seit until bis from ab phase
    year jahr status as of in am im um ca before after vor nach aged born geboren published
    """.split()  # noqa: SIM905
)
"""Words before a year that are no authors."""

_BULLET = re.compile(r"^([ \t]*)(?:[•‣◦▪▫●○■□–—·][ \t]+)(?=\S)", re.MULTILINE)
# Female, male, stars and boxes say something; all else between these is a picture.
_PICTURES = (
    "\U0001f000-\U0001faff\u2600-\u2604\u2607-\u260f\u2611-\u263f\u2641\u2643-\u26a4"
    "\u26a6-\u2712\u2715"
    "\u271a-\u27bf\u2b1b\u2b1c\u2b50\u2b55\u231a\u231b\u23e9-\u23fa"
)
_JOINERS = "\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff"
_EMOJI = re.compile(rf"[{_PICTURES}][{_JOINERS}{_PICTURES}]*[ \t]?|[\ufe0e\ufe0f]")
_EMOJI_BULLET = re.compile(
    rf"^([ \t]*)(?:[-*+][ \t]+)?[{_PICTURES}][{_JOINERS}{_PICTURES}]*[ \t]+(?=[^\s#])", re.MULTILINE
)
_KEYCAP = re.compile("([0-9])\ufe0f?\u20e3[ \t]?")
_SIGNS = (
    (re.compile("[\u2705\u2714\u2611]\ufe0f?"), "\u2713"),
    (re.compile("[\u274c\u2716\u274e]\ufe0f?"), "\u2717"),
    (re.compile("[\u2794\u2798-\u27af\u27b1-\u27be]\ufe0f?"), "\u2192"),
    (re.compile("\u2b06\ufe0f?"), "\u2191"),
    (re.compile("\u2b07\ufe0f?"), "\u2193"),
    (re.compile("\u2b05\ufe0f?"), "\u2190"),
)
"""Symbols with a meaning stay: a tick, a cross, an arrow."""

STYLED = re.compile(
    rf"!\[|\[\^|【|\^\[?\d|<sup|[{_SUPERSCRIPTS}]|\[\d|[(\[][^()\[\]\n]{{2,120}}(?:19|20)\d\d"
    rf"|[{_PICTURES}\ufe0f\u20e3\u2b05-\u2b07]|^[ \t]*[•‣◦▪▫●○■□–—·][ \t]",
    re.IGNORECASE | re.MULTILINE,
)
"""Whether a text can have anything that is a matter of house style; by far the most have not."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of an answer's sources."""

    n_sources: int = 0
    """Numbers up to here can be marks: so many sources are listed."""
    authors: Mapping[str, int] = field(default_factory=dict)
    """Sources that the text names by author and year -> their number."""

    def sources(self) -> tuple[str, ...]:
        """A line for each source that the text names."""
        return tuple(f"[{n}] {name}" for name, n in self.authors.items())


def marks_of(text: str, n_citations: int) -> Marks:
    """Find the sources of a whole answer; those by author and year are numbered behind all others.

    >>> marks_of("It helps (Smith et al., 2020) since (March 2020).", 2).authors
    {'Smith et al., 2020': 3}
    """
    n_sources = max(n_citations, len(_NOTE.findall(text)))
    written = [int(n) for numbers in _NUMBERED.findall(text) for n in numbers if n]
    last = max([n_sources, *written])
    authors: dict[str, int] = {}
    for match in _AUTHOR_YEAR.finditer(text):
        for name in _cited(match):
            authors.setdefault(name, last + len(authors) + 1)
    return Marks(n_sources, authors)


def _cited(match: re.Match[str]) -> list[str]:
    """The sources in a bracket; none where it holds a date."""
    names = [name.strip() for name in match[1].split(";")]
    words = {word.strip(",.&").casefold() for name in names for word in name.split()}
    return [] if words & _NO_AUTHORS else names


def alike(text: str, marks: Marks) -> str:
    """An answer's text, or a part of it, in the common style.

    Every mark of a source becomes [3], bullets become dashes, and emoji are removed.

    >>> alike("Insulin helps.¹ It is safe【2†source】 and cheap^3.", Marks())
    'Insulin helps. [1] It is safe [2] and cheap [3].'
    >>> alike("10⁹/L, 5 kg/m², Ca²⁺ and 10^9", Marks())
    '10⁹/L, 5 kg/m², Ca²⁺ and 10^9'
    """
    text = _without_pictures(text)
    text = _NOTE.sub(r"[\1] ", text)
    text = _NUMBERED.sub(lambda m: f" [{m[1] or m[2]}]", text)
    text = _POWER.sub(lambda m: m[1].translate(_RAISED), _TAGGED.sub(lambda m: _listed(m[1]), text))
    text = _CARET.sub(lambda m: _listed(m[1]), text)
    text = _RAISED_MARK.sub(lambda m: _listed(m[1].translate(_DIGITS)), text)
    text = _AUTHOR_YEAR.sub(lambda m: _numbered(m, marks), text)
    text = _ATTACHED.sub(r" [\1]", _BRACKETED.sub(lambda m: _bracketed(m, marks.n_sources), text))
    return _RUN.sub(lambda m: " " + m[1].replace(" ", ""), text)


def without_marks(text: str) -> str:
    """A text without bullets, emoji and marks of sources other than bracketed numbers."""
    text = _without_pictures(text)
    text = _POWER.sub(lambda m: m[1].translate(_RAISED), _TAGGED.sub("", text))
    text = _RAISED_MARK.sub("", _CARET.sub("", text))
    return _AUTHOR_YEAR.sub(lambda m: "" if _cited(m) else m[0], text)


def _without_pictures(text: str) -> str:
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    text = _EMOJI_BULLET.sub(r"\1- ", _BULLET.sub(r"\1- ", text))
    return _EMOJI.sub("", _KEYCAP.sub(r"\1. ", text))


def _listed(numbers: str) -> str:
    """Numbers and ranges as marks: '1, 3-5' as ' [1][3][4][5]'."""
    return " " + "".join(f"[{n}]" for n in _expanded(numbers))


def _expanded(numbers: str) -> list[int]:
    expanded: list[int] = []
    for part in re.split(r"\s?[,;]\s?", numbers):
        first, *rest = (int(n) for n in re.split(r"\s?[–⁻-]\s?", part))
        last = rest[-1] if rest else first
        expanded += (
            range(first, last + 1) if first <= last < first + _MOST_IN_A_RANGE else [first, *rest]
        )
    return expanded


def _bracketed(match: re.Match[str], n_sources: int) -> str:
    """A bracket of several numbers as a mark each, where all of them can be marks.

    Any other stays what it is.
    """
    numbers = _expanded(match[1])
    if len(numbers) == 1 or not all(1 <= n <= n_sources for n in numbers):
        return match[0]
    return " " + "".join(f"[{n}]" for n in numbers)


def _numbered(match: re.Match[str], marks: Marks) -> str:
    names = _cited(match)
    if not names or any(name not in marks.authors for name in names):
        return match[0]
    return " " + "".join(f"[{marks.authors[name]}]" for name in names)
