"""The texts of a release: readme, licence, codebooks, data dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from konsil.instrument import Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System, Task
from konsil.store.engine.fields import meanings
from konsil.store.release.metadata import licence_of, note, page_of_licence
from konsil.study import Study, study_digest
from konsil.version import __version__

if TYPE_CHECKING:
    from konsil.store.release.released import Released

_RECORDS: Mapping[str, type] = {
    "items": Item,
    "answers": Answer,
    "systems": System,
    "raters": Rater,
    "tasks": Task,
    "ratings": Rating,
}
# Columns that a release has and the records have not, or that mean something else here.
_OWN: Mapping[tuple[str, str], str] = {
    (
        "raters",
        "rater",
    ): "Identifier of the rater: a keyed pseudonym for people, the name for judges and programs.",
    (
        "raters",
        "strata",
    ): (
        "Characteristics for matching and grouping, as a JSON object; '(suppressed)' where fewer"
        " raters than the release requires share a value."
    ),
    (
        "rewritten",
        "item",
    ): "Identifier of the item, as in items, where the text is the version displayed in the study.",
    (
        "rewritten",
        "verdict",
    ): (
        "Source of the displayed text: accept (rewritten by a model), edit (edited by a"
        " person) or keep (original question)."
    ),
    ("rewritten", "before"): "The original question.",
    ("tasks", "task"): "Identifier of the task: a keyed pseudonym.",
    (
        "tasks",
        "rater",
    ): "Identifier of the rater: a keyed pseudonym for people; empty if no rater has the task.",
    (
        "tasks",
        "position",
    ): (
        "Position of the task in the rater's order, from 0; empty for people unless the order"
        " was released."
    ),
    (
        "tasks",
        "batch",
    ): "Batch of the task; empty for people unless the order was released.",
    (
        "tasks",
        "repeat_of",
    ): (
        "Identifier of the task that this task repeats, for intra-rater agreement; empty for"
        " people unless the order was released."
    ),
    ("ratings", "task"): "Identifier of the task, as in tasks.",
    ("ratings", "rater"): "Identifier of the rater, as in raters.",
    (
        "ratings",
        "answer",
    ): (
        "Identifier of the rated answer; in a comparison, the first answer (A); empty for"
        " questions on the item alone."
    ),
    ("ratings", "answer_b"): "Identifier of the second answer (B) in a comparison.",
    (
        "ratings",
        "span_start",
    ): "Offset of the first character of the rated sentence in the text of the answer.",
    ("ratings", "span_end"): "Offset after the last character of the rated sentence.",
}
_JSON = frozenset(
    {"aliases", "sets", "strata", "citations", "sentences", "settings", "answers", "spans"}
)
_NUMBERS = {"position": "whole number", "span_start": "whole number", "span_end": "whole number"}


def dictionary(columns: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Data dictionary: table, name, type and meaning of every column."""
    rows = [
        {
            "table": table,
            "column": column,
            "type": _type(column),
            "meaning": _meaning(table, column),
        }
        for table, names in columns.items()
        for column in names
    ]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("table", "column", "type", "meaning"), pl.String)
    )


def _meaning(table: str, column: str) -> str:
    return _OWN.get((table, column)) or meanings(_RECORDS[table])[column]


def _type(column: str) -> str:
    if column in ("confidence", "seconds"):
        return "number"
    return _NUMBERS.get(column, "JSON" if column in _JSON else "text")


def licence(study: Study) -> str:
    """Name the licence so that people and programs find it."""
    name = licence_of(study)
    text = (
        f"SPDX-License-Identifier: {name}\n\n{study.title}\n\nThese data are published under"
        f" {name}.\n"
    )
    page = page_of_licence(name)
    return text + (f"Full text: {page}\n" if page else "")


def codebook(instrument: Instrument) -> str:
    """Write an instrument as a text to read: its questions, its labels, its codebook."""
    lines = [f"# {instrument.id}", ""]
    if instrument.role:
        lines += [instrument.role, ""]
    for criterion in instrument.criteria:
        lines += [f"## {criterion.id}", "", criterion.question, "", _scale(criterion.scale), ""]
        if criterion.guidance:
            lines += [criterion.guidance, ""]
    if instrument.codebook:
        lines += ["# Codebook", "", instrument.codebook.rstrip(), ""]
    return "\n".join(lines)


def _scale(scale: Scale) -> str:
    if scale.kind == "text":
        return "Free text."
    if scale.kind == "number":
        low = "" if scale.low is None else f" from {scale.low:g}"
        high = "" if scale.high is None else f" to {scale.high:g}"
        return f"A number{low}{high}."
    lines = [
        f"- {label} (value {value:g})"
        for label, value in zip(scale.labels, scale.numbers(), strict=True)
    ]
    if scale.abstain is not None:
        lines.append(f"- {scale.abstain} (abstention, no value)")
    return f"One of these labels (level of measurement: {scale.level}):\n\n" + "\n".join(lines)


def small_panels(released: Released, k: int) -> str:
    """Sentence on the panels with fewer than k raters; empty where there are none."""
    if not released.small_panels:
        return ""
    named = ", ".join(f"{panel} ({n})" for panel, n in released.small_panels.items())
    return (
        f" Panels with fewer than {k} raters, for which all characteristics are suppressed:"
        f" {named}."
    )


def ordered(order: bool) -> str:
    """State whether the order of people's tasks is there."""
    if order:
        return (
            "The order of tasks and answers and the repeated tasks of people are included. The"
            " assignment plan contains them too, so that raters can be identified with"
            " study.toml, the items and the answers."
        )
    return (
        "For people, position, batch and repeated tasks are excluded, and answers are in the"
        " order of their identifiers, with comparisons reversed accordingly, because the"
        " assignment plan, which can be regenerated from the protocol, contains them."
    )


def linked(released: Released, k: int, unlink: bool) -> str:
    """Sentence on whether raters can be identified by their sets of tasks."""
    if unlink:
        return (
            "Each person has a different pseudonym on each item, so that ratings of different"
            " items cannot be linked."
        )
    if not released.recognisable:
        return (
            f"Each rater has the same set of rated tasks as at least {k - 1} other raters of the"
            " panel."
        )
    return (
        f"{recognisable(released.recognisable, k)}: with a study.toml that contains the raters'"
        " names, the regenerated assignment plan would identify them."
    )


def recognisable(raters: int, k: int) -> str:
    """How many raters have a set of tasks of their own, as the beginning of a sentence.

    >>> recognisable(1, 3)
    '1 rater has a set of tasks shared by fewer than 3 raters of the panel'
    """
    subject = "1 rater has" if raters == 1 else f"{raters:,} raters have"
    return f"{subject} a set of tasks shared by fewer than {k} raters of the panel"


def readme(
    study: Study, released: Released, *, k: int, texts: bool, order: bool, unlink: bool
) -> str:
    """The text of README.md: contents, exclusions and verification of the folder."""
    tables = "\n".join(
        f"| {name}.csv, {name}.parquet | {rows} |" for name, rows in released.records.items()
    )
    omissions = (
        "\n".join(f"- {content}: {n}" for content, n in sorted(released.withheld.items()) if n)
        or "- nothing"
    )
    simulated = (
        "\n**The ratings in this folder are simulated; no person rated.**\n"
        if study.simulated
        else ""
    )
    played = (
        "\n**Some answers and ratings come from konsil's scripted test endpoint, not from a"
        " language model.**\n"
        if released.is_played
        else ""
    )
    notes = (
        "Notes and free-text replies are included unchanged; check them for personal data before"
        " publication."
        if texts
        else "Notes and free-text replies are excluded because they may identify their authors."
    )
    lacking = note(released.missing)
    described = f"{lacking}." if lacking else "No required fact is missing."
    return f"""# {study.title}
{simulated}{played}
{study.description}

| files | rows |
|---|---|
{tables}

CSV and Parquet files contain the same data. `data_dictionary.csv` defines every column; \
`instruments.json` and `codebooks/`
contain the questions, labels and codebooks that the raters used. In CSV files, an empty cell \
means "none", and a text that a
spreadsheet would interpret as a formula has an additional apostrophe in front.

## The raters

People have pseudonyms computed with a secret key (HMAC-SHA256) that is not in this folder; rows \
are sorted by
pseudonym, so that their order discloses nothing. Tasks have pseudonyms of the same kind. Judges \
and programs have their names.
Characteristics of raters (such as specialty and years) are "(suppressed)" unless at least {k} \
raters of the panel share
every remaining combination.{small_panels(released, k)} Names, e-mail addresses and times of day \
are excluded.
{notes}
{ordered(order)} {linked(released, k, unlink)}

Excluded:

{omissions}

## Checking

`sha256sum -c SHA256SUMS` in this folder detects every changed file. The checksum (SHA-256) of the \
protocol is
`{study_digest(study)}`. Written by konsil {__version__}.

## Licence

{licence_of(study)}; see LICENCE.txt.

## For catalogues of data

`datacite.json` has the metadata by DataCite 4.5, `croissant.json` by Croissant 1.0, \
with every file and column.
{described}
"""
