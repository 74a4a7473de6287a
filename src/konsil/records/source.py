"""How a file of the world is to be read: which column is which field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SourceKind = Literal["items", "answers", "ratings", "labelstudio", "anki", "real-pocqi"]


@dataclass(frozen=True, slots=True)
class Source:
    """One file and the meaning of its columns; the same file may be several sources."""

    file: str
    """Path relative to the study's folder."""
    records: SourceKind
    """What its rows are."""
    sheet: str = ""
    """The sheet of a spreadsheet; empty: the only one, or the first."""
    encoding: str = "utf-8"
    """The text's encoding."""
    separator: str = ""
    """The field separator of a text table; empty: comma in .csv, tab in .tsv."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field of the record -> the column or columns it is made of. Several columns are joined with '
    / '.

    A field that is not named here is read from the column of its own name, where there is one.
    """
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Field of the record -> the same value for every row."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """Wide ratings: column -> rater. One row is then one subject rated by several raters."""
    criteria: Mapping[str, str] = field(default_factory=dict)
    """Wide ratings: column -> criterion. One row is then one screen."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The file's word -> the scale's label; other words are taken as they are."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated. An abstention is a label of the scale and not a missing value."""
    strata: tuple[str, ...] = ()
    """Items: columns that become strata."""
    hashed: tuple[str, ...] = ()
    """Fields whose value is a long text and whose identifier is a short digest of it (item,
    answer)."""
    media: Literal["drop", "mark"] = "drop"
    """Anki: notes whose text has an image or a sound are dropped, or its place is marked in the
    text."""
    hints: bool = True
    """Anki: whether a deletion's hint follows the gap in parentheses."""
