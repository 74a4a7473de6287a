"""What is asked of cells: labels, and names of raters and systems under two spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from konsil.analysis.roles.label_codes import alike
from konsil.analysis.roles.questions.labels import label_arguments, unclear_labels
from konsil.analysis.roles.reading import StatedRoles, TableReading
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, message


def unclear_cells(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, separator: str = ""
) -> Iterator[TranslatableMessage]:
    """What is asked of labels, and of names that may be those of one rater or system."""
    yield from unclear_labels(frame, reading, stated, separator)
    recodings = name_recodings(frame, reading, stated)
    if recodings:
        yield message(
            "Names differ only in case or spaces ({spellings}): state which are the same with"
            " {recode}, or recode a name as itself if it is another one.",
            message_id="roles.may_be_names",
            spellings=", ".join(recodings),
            recode=option("recode", example="{...}"),
        )


def cell_arguments(
    frame: pl.DataFrame,
    reading: TableReading,
    stated: StatedRoles,
    separator: str = "",
    headings: Sequence[str] = (),
) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state what labels and names are.

    `headings`: cells of rows above that explain the columns, which are no ratings.
    """
    options = dict(label_arguments(frame, reading, stated, separator))
    if headings:
        options = {"missing": (*headings, *options.pop("missing", ())), **options}
    names = name_recodings(frame, reading, stated)
    if names:
        options["recode"] = (*options.get("recode", ()), *names)
    return [*options.items()]


def name_recodings(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> tuple[str, ...]:
    """Each name as the first one that differs from it in its spelling alone: 'ann=Ann'.

    None of those that are recoded, also as themselves.
    """
    pairs: dict[str, None] = {}
    for column in _named(frame, reading):
        for first, *others in alike(sorted({*_stripped(frame[column]).values()})):
            if not {first, *others} & {*stated.recoded}:
                pairs.update(dict.fromkeys(f"{other}={first}" for other in others))
    return tuple(pairs)


def renamed(
    frame: pl.DataFrame, reading: TableReading, recode: Mapping[str, str]
) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table with names as they are recoded, without blanks at their ends.

    With the recoding of all that is no name.
    """
    names = _named(frame, reading)
    units = [n for n in (*reading.units, reading.cluster) if n in frame.columns and n not in names]
    used: set[str] = set()
    for column in (*names, *units):
        stripped = _stripped(frame[column])
        recoded = {*stripped.values()} & {*recode} if column in names else set[str]()
        used |= recoded
        other = {
            cell: recode[name] if name in recoded else name
            for cell, name in stripped.items()
            if name in recoded or name != cell
        }
        if other:
            frame = frame.with_columns(pl.col(column).cast(pl.String).replace(other))
    return frame, {old: new for old, new in recode.items() if old not in used}


def _named(frame: pl.DataFrame, reading: TableReading) -> tuple[str, ...]:
    """The columns with names of raters, systems, groups or criteria."""
    columns = (reading.rater, reading.system, reading.group, reading.criterion)
    return tuple(dict.fromkeys(name for name in columns if name in frame.columns))


def _stripped(cells: pl.Series) -> dict[str, str]:
    """Cell -> the name in it."""
    return {cell: cell.strip() for cell in map(str, cells.drop_nulls().unique())}
