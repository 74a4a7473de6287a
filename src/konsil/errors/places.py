"""Places in the user's files, and their contents, as sentences name them."""

from __future__ import annotations

from typing import Literal

from konsil.errors.message import message

Place = Literal["line", "row", "task"]
"""Text files have lines, spreadsheets and Parquet files have rows, Label Studio's exports have
tasks."""


def place_word(place: Place, n: int) -> str:
    """A place of a file in a sentence.

    >>> place_word("row", 1200)
    'row 1,200'
    """
    match place:
        case "line":
            return message("line {n:,}", message_id="problems.line", n=n)
        case "row":
            return message("row {n:,}", message_id="problems.row", n=n)
        case "task":
            return message("task {n}", message_id="problems.task", n=n)


def problem_at(place: Place, n: int, sentence: str, column: str = "") -> str:
    """A problem with its place in a file.

    >>> problem_at("line", 5, "'soon' is not a number", "seconds")
    "line 5: seconds: 'soon' is not a number"
    """
    return message(
        "{place}: {column}{sentence}",
        message_id="problems.problem",
        place=place_word(place, n),
        column=f"{column}: " if column else "",
        sentence=sentence,
    )


def label_word(label: object) -> str:
    """A label as a sentence quotes it; None is an abstention.

    >>> label_word("yes"), label_word(None)
    ("'yes'", 'an abstention')
    """
    if label is None:
        return message("an abstention", message_id="cells.abstention")
    return message("{label!r}", message_id="cells.label", label=str(label))
