r"""Cloze deletions: {{c1::text::hint}}, read and shown as Anki does, with one difference.

Anki ends a deletion at the next `}}`, so that a formula such as \(\frac{a}{b^{2}}\) breaks its
card. Here braces that a formula has opened within a deletion are the formula's. Where a text cannot
be read so, Anki's rule stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DEEPEST = 8
"""Deletions may stand in one another to this depth; deeper ones are text."""
HIDDEN = "..."
"""What stands in the brackets of a question where a deletion has no hint."""

_TOKEN = re.compile(
    r"""
      \{\{c(?P<numbers>[0-9]{1,5}(?:,[0-9]{1,5})*)::
    | (?P<begin> \\\( | \\\[ | \[latex\] | \[\$\$?\] | <anki-mathjax\b[^<>]*> )
    | (?P<end>   \\\) | \\\] | \[/latex\] | \[/\$\$?\] | </anki-mathjax> )
    | (?P<escaped> \\[\\{}] )
    | (?P<close> \}\} )
    | (?P<brace> [{}] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Deletion:
    """One deletion: what is taken out of a text."""

    numbers: tuple[int, ...]
    """The cards on which it is taken out, usually one."""
    parts: tuple[Part, ...]
    """What was deleted: texts, and deletions within it."""
    hint: str | None = None
    """What the question shows in its place."""

    def text(self) -> str:
        """What was deleted, without any markup of deletions."""
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)


Part = str | Deletion
"""A stretch of a text: HTML, or a deletion."""


@dataclass(slots=True)
class _Open:
    """A deletion whose end is still ahead."""

    numbers: tuple[int, ...]
    markup: str
    parts: list[Part] = field(default_factory=list)
    braces: int = 0

    def append(self, part: Part) -> None:
        if isinstance(part, str) and self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += part
        elif part != "":
            self.parts.append(part)

    def closed(self) -> Deletion:
        """The first '::' of a text sets off the hint; of several the last counts."""
        hint, body = None, _Open((), "")
        for part in self.parts:
            if isinstance(part, str) and "::" in part:
                part, hint = part.split("::", 1)
            body.append(part)
        return Deletion(self.numbers, tuple(body.parts), hint)


def parse(html: str) -> tuple[Part, ...]:
    r"""A text as stretches and deletions; whatever is no complete deletion is text.

    >>> parse("Insulin sinkt {{c1::den Blutzucker::was?}}.")
    ('Insulin sinkt ', Deletion(numbers=(1,), parts=('den Blutzucker',), hint='was?'), '.')
    >>> parse(r"{{c1::\(a^{b_{c}}\)}}")[0].text()
    '\\(a^{b_{c}}\\)'
    """
    if "{{c" not in html:
        return (html,) if html else ()
    parts, unclosed = _parse(html, formulas=True)
    if unclosed:
        plain, plain_unclosed = _parse(html, formulas=False)
        if plain_unclosed < unclosed:
            return plain
    return parts


def _parse(html: str, *, formulas: bool) -> tuple[tuple[Part, ...], int]:
    """The parts, and how many deletions never end."""
    stack, at, is_formula = [_Open((), "")], 0, False
    while (token := _TOKEN.search(html, at)) is not None:
        current, end = stack[-1], token.end()
        current.append(html[at : token.start()])
        within = formulas and is_formula and len(stack) > 1
        if token["numbers"] and len(stack) <= DEEPEST:
            stack.append(_Open(tuple(int(n) for n in token["numbers"].split(",")), token[0]))
        elif token["close"] and within and current.braces:
            # One brace at a time: the second may end the deletion together with a third.
            current.braces -= 1
            current.append("}")
            end -= 1
        elif token["close"] and len(stack) > 1:
            stack.pop()
            stack[-1].append(current.closed())
        else:
            if token["begin"]:
                is_formula = True
            elif token["end"]:
                is_formula = False
                current.braces = 0
            elif token["brace"] and within:
                current.braces = max(0, current.braces + (1 if token[0] == "{" else -1))
            current.append(token[0])
        at = end
    stack[-1].append(html[at:])
    unclosed = len(stack) - 1
    while len(stack) > 1:
        lost = stack.pop()
        for part in (lost.markup, *lost.parts):
            stack[-1].append(part)
    return tuple(stack[0].parts), unclosed


def write(parts: Sequence[Part]) -> str:
    """The markup of parsed parts.

    `parse` reads it back equal where hints stand last in their deletions.

    >>> write(parse("a {{c1::b {{c2::c}}::d}}"))
    'a {{c1::b {{c2::c}}::d}}'
    """
    return "".join(part if isinstance(part, str) else _markup(part) for part in parts)


def _markup(deletion: Deletion) -> str:
    hint = "" if deletion.hint is None else f"::{deletion.hint}"
    return f"{{{{c{','.join(map(str, deletion.numbers))}::{write(deletion.parts)}{hint}}}}}"


def deletions(parts: Sequence[Part]) -> Iterator[Deletion]:
    """All deletions, those within others after the one they stand in."""
    for part in parts:
        if isinstance(part, Deletion):
            yield part
            yield from deletions(part.parts)


def numbers(parts: Sequence[Part]) -> tuple[int, ...]:
    """The numbers of the cards that a text makes, in their order; the number 0 makes none."""
    return tuple(sorted({n for deletion in deletions(parts) for n in deletion.numbers if n > 0}))


def question(parts: Sequence[Part], number: int) -> str:
    """The front of a card as HTML: its own deletions as [...] or [hint], the others shown.

    >>> question(parse("{{c1::A::letter}} and {{c2::B}}"), 1)
    '<span class="cloze">[letter]</span> and B'
    """
    return "".join(_visible_parts(parts, number, hide=True))


def answer(parts: Sequence[Part], number: int) -> str:
    """The back of a card as HTML: its own deletions marked, the others shown.

    >>> answer(parse("{{c1::A::letter}} and {{c2::B}}"), 1)
    '<span class="cloze">A</span> and B'
    """
    return "".join(_visible_parts(parts, number, hide=False))


def _visible_parts(parts: Sequence[Part], number: int, *, hide: bool) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif number not in part.numbers:
            yield from _visible_parts(part.parts, number, hide=hide)
        elif hide:
            yield f'<span class="cloze">[{HIDDEN if part.hint is None else part.hint}]</span>'
        else:
            yield '<span class="cloze">'
            yield from _visible_parts(part.parts, number, hide=hide)
            yield "</span>"


def expected(parts: Sequence[Part], number: int) -> str:
    """What a card asks for, as HTML: its deletions joined, or the one text that all have.

    >>> expected(parse("{{c1::A}} or {{c1::A}}"), 1), expected(parse("{{c1::A}} or {{c1::B}}"), 1)
    ('A', 'A, B')
    """
    texts = [deletion.text() for deletion in deletions(parts) if number in deletion.numbers]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)
