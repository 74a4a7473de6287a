"""A manuscript as blocks: headings, paragraphs, numbered tables and figures, references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from konsil.report.figures.drawing import Drawing
from konsil.report.manuscript.citations import cited
from konsil.report.material.tables import Table


@dataclass(frozen=True)
class Heading:
    """A heading."""

    text: str
    """Its words."""
    level: int
    """1 for a part such as Methods, 2 within it."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; citations are marked as `citations.cite` does."""

    text: str
    """Its words."""
    is_notice: bool = False
    """Whether it warns of the whole document, as that of simulated ratings does."""


@dataclass(frozen=True)
class NumberedTable:
    """A table with its number."""

    number: int
    """Its number, from 1 on."""
    table: Table
    """The same table as in the report, its caption longer."""
    key: str
    """Its name for references within the text."""
    name: str = ""
    """A few words on it for the sheet of a workbook."""


@dataclass(frozen=True)
class NumberedFigure:
    """A figure with its number."""

    number: int
    """Its number, from 1 on."""
    drawing: Drawing
    """The figure of the report; its caption is longer."""
    caption: str
    """The caption."""


Block = Heading | Paragraph | NumberedTable | NumberedFigure


@dataclass(frozen=True)
class Manuscript:
    """All that the files of a manuscript are made of, in the order of reading."""

    title: str
    """The study's title."""
    language: str
    """The code of its language."""
    words: Words
    """The few words that every format adds."""
    blocks: tuple[Block, ...]
    """The text, its tables and figures."""

    @property
    def figures(self) -> tuple[NumberedFigure, ...]:
        """The figures in the order of their numbers."""
        return tuple(block for block in self.blocks if isinstance(block, NumberedFigure))

    @property
    def tables(self) -> tuple[NumberedTable, ...]:
        """The tables in the order of their numbers."""
        return tuple(block for block in self.blocks if isinstance(block, NumberedTable))

    @property
    def references(self) -> tuple[str, ...]:
        """The keys of the references in the order of their first citation."""
        return cited(block.text for block in self.blocks if isinstance(block, Paragraph))


@dataclass(frozen=True)
class Words:
    """The words of a language that the formats add themselves."""

    table: str
    """Before a table's number."""
    figure: str
    """Before a figure's number."""
    references: str
    """The heading of the references."""
    continued: str
    """On the next page of a long table."""
    prefix: str = ""
    """Before the number of every table and figure, such as S in a supplement."""


class Numbering:
    """Numbers tables and figures in the order in which they come."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def next(self, kind: str) -> int:
        """The next number of a kind."""
        self._last[kind] = self.last(kind) + 1
        return self._last[kind]

    def last(self, kind: str) -> int:
        """The number given last of a kind; 0 before the first."""
        return self._last.get(kind, 0)

    def table(self, table: Table, key: str, name: str = "") -> NumberedTable:
        """The table with the next number."""
        return NumberedTable(self.next("table"), table, key, name)

    def figure(self, drawing: Drawing, caption: str = "") -> NumberedFigure:
        """The figure with the next number."""
        return NumberedFigure(self.next("figure"), drawing, caption or drawing.caption)


def numbers_of(keys: Sequence[str]) -> dict[str, int]:
    """Key of a reference -> its number in the text.

    >>> numbers_of(["wilson1927", "holm1979"])
    {'wilson1927': 1, 'holm1979': 2}
    """
    return {key: n for n, key in enumerate(keys, start=1)}
