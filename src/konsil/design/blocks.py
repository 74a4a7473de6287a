"""A TOML file as a tree of its tables' own texts, so that an edit touches only what it changes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(r"(?:#:.*\n)*")
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*(\]\]?)\s*(?:#.*)?")


@dataclass
class Block:
    """One table as it is written, with the tables in it."""

    path: tuple[str, ...]
    """The names of its header; empty for the head of the file."""
    lead: str
    """Blank lines and comments before its header."""
    text: str
    """The header and the keys below it."""
    children: list[Block] = field(default_factory=list)
    """The tables in it, in the order of the file."""
    tail: str = ""
    """Of the file's head alone: what follows the last table."""

    @property
    def name(self) -> str:
        """The last name of its header."""
        return self.path[-1] if self.path else ""

    def written(self) -> str:
        """The text of the table and of all in it."""
        return "".join(
            (self.lead, self.text, *(child.written() for child in self.children), self.tail)
        )

    def below(self) -> Iterator[Block]:
        """The table and every table in it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.below()


def blocks_of(text: str) -> Block:
    r"""The file's tree; written again it is the same text, byte for byte.

    >>> tree = blocks_of("a = 1\n\n# who\n[[raters]]\nid = 'x'\n\n[resampling]\ndraws = 9\n")
    >>> [(child.path, child.lead) for child in tree.children]
    [(('raters',), '\n# who\n'), (('resampling',), '\n')]
    """
    pieces = list(_pieces(text))
    root = Block((), lead="", text="")
    root.text, lead = _parted(pieces[0])
    if not root.text:
        # An editor's directive stays the file's first line, also before keys that are new.
        directives = _DIRECTIVE.match(lead)
        end = directives.end() if directives is not None else 0
        root.text, lead = lead[:end], lead[end:]
    stack = [root]
    for piece in pieces[1:]:
        path = _header(piece.splitlines()[0]) or ()
        content, following = _parted(piece)
        block = Block(path, lead, content)
        while len(stack) > 1 and not (
            len(path) > len(stack[-1].path) and path[: len(stack[-1].path)] == stack[-1].path
        ):
            stack.pop()
        stack[-1].children.append(block)
        stack.append(block)
        lead = following
    root.tail = lead
    return root


def _pieces(text: str) -> Iterator[str]:
    """The text before the first header, then each header with what follows it."""
    piece = ""
    for line in text.splitlines(keepends=True):
        # A line in a text or list of several lines may look like a header: then what is before it
        # is no TOML yet.
        if _header(line) is not None and _is_complete(piece):
            yield piece
            piece = ""
        piece += line
    yield piece


def _is_complete(piece: str) -> bool:
    try:
        tomllib.loads(piece)
    except ValueError:
        return False
    return True


def _header(line: str) -> tuple[str, ...] | None:
    """The names of a header; None for any other line."""
    match = _HEADER.fullmatch(line.rstrip("\r\n"))
    if match is None or len(match[1]) != len(match[3]):
        return None
    try:
        nested: object = tomllib.loads(f"[{match[2]}]")
    except ValueError:
        return None
    names: list[str] = []
    while isinstance(nested, dict) and nested:
        [(name, nested)] = nested.items()
        names.append(name)
    return tuple(names)


def _parted(piece: str) -> tuple[str, str]:
    """A table's own lines, and the blank lines and comments that belong to what follows.

    Comments right below the keys, without a blank line between, are the table's own.
    """
    lines = piece.splitlines(keepends=True)
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    # The last line of a text of several lines may look like a comment.
    while end < len(lines) and not _is_complete("".join(lines[:end])):
        end += 1
    if not end:
        return "", piece
    blank = next((n for n in range(end, len(lines)) if not lines[n].strip()), None)
    # A comment that stands directly above the next header speaks of that.
    if blank is None:
        blank = end if _is_complete_comment(lines[end:]) else len(lines)
    return "".join(lines[:blank]), "".join(lines[blank:])


def _is_complete_comment(lines: list[str]) -> bool:
    """Whether these are sentences for people, and no keys that are commented out."""
    return all(not re.match(r"\s*#\s*(?:[\w.-]+\s*=|\[)", line) for line in lines)
