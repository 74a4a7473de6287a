"""Records that wait for admission, and those that are known and admitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from konsil.errors import SourceError, in_short, quoted
from konsil.errors.message import message
from konsil.errors.places import Place
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.records.bulk import differences


@dataclass(frozen=True)
class Incoming:
    """One file's records, with the line of each rating."""

    name: str
    """The file's name, for errors."""
    items: Sequence[Item] = ()
    """Items it has."""
    answers: Sequence[Answer] = ()
    """Answers it has."""
    tasks: Sequence[Task] = ()
    """Tasks its ratings name."""
    ratings: Sequence[Rating] = ()
    """Ratings, their labels still the file's words."""
    lines: Sequence[int] = ()
    """The line of each rating."""
    systems: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Answer -> its item and system, as the rows of ratings state them."""
    numbers: Sequence[int | None] = ()
    """The number of each rating's sentence, where the file has no offsets."""
    number_column: str = "sentence"
    """The column of these numbers."""
    place: Place = "line"
    """The unit of its lines: texts have lines, spreadsheets rows."""
    preparation: Mapping[str, object] = field(default_factory=dict)
    """What was read, kept and dropped where its items were filtered out of something larger."""
    raters: Sequence[Rater] = ()
    """Raters, where it has a whole study's records: they and the answers' systems need no entry in
    study.toml."""
    unknown_panel: str = ""
    """The panel of its raters, where it does not identify them; empty: it does."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Answer -> its length, where the texts are not at hand."""
    notes: tuple[str, ...] = ()
    """Notes on the file that need attention, one sentence each."""


@dataclass(frozen=True)
class StoredRecords:
    """The records that are stored already."""

    items: frozenset[str] = frozenset()
    """Items."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Answer -> its system."""
    bare: bool = False
    """Whether no item or answer held has a text: they were implied by ratings, and further ones are
    implied too."""


@dataclass(frozen=True)
class Admitted:
    """Records that the protocol admits."""

    items: tuple[Item, ...]
    """Items, those implied by ratings included."""
    answers: tuple[Answer, ...]
    """Answers, those implied by ratings included."""
    raters: tuple[Rater, ...]
    """The raters that gave ratings."""
    tasks: Sequence[Task]
    """Tasks, each with its instrument."""
    ratings: Sequence[Rating]
    """Ratings with their labels as the scale reads them."""


def contradictions(
    kind: Literal["item", "answer"],
    records: Sequence[Item | Answer],
    by_id: Mapping[str, Item | Answer],
) -> Iterator[str]:
    """Items or answers that an earlier source gives another content."""
    names = [entry.name for entry in fields(records[0])] if records else []
    for record, first, name in differences(records, "id", names, dict(by_id), getattr):
        here, earlier = getattr(record, name), getattr(first, name)
        if kind == "item":
            yield message(
                "item {id!r}: its {name} is {here} here and {earlier} in an earlier source",
                message_id="records.items_differ",
                id=record.id,
                name=name,
                here=quoted(here),
                earlier=quoted(earlier),
            )
        else:
            yield message(
                "answer {id!r}: its {name} is {here} here and {earlier} in an earlier source",
                message_id="records.answers_differ",
                id=record.id,
                name=name,
                here=quoted(here),
                earlier=quoted(earlier),
            )


def refuse(file: Incoming, problems: Sequence[str]) -> None:
    """A SourceError with the problems of a file; nothing if there are none."""
    if not problems:
        return
    sentence = message(
        "{name}: {n:,} {n|problem|problems}; nothing was imported: {problems}",
        message_id="records.refused",
        name=file.name,
        n=len(problems),
        problems=in_short(problems),
    )
    raise SourceError(sentence, problems)
