"""The texts of a release: readme, licence, codebooks, data dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from konsil.instrument import Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System, Task
from konsil.store.engine.fields import meanings
from konsil.store.release.metadata import licence_of, note
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
    ): "The rater: a keyed pseudonym for people, the own name for judges and programs.",
    (
        "raters",
        "strata",
    ): (
        "Columns for matching and grouping, as a JSON object; '(suppressed)' where few share a"
        " value."
    ),
    (
        "rewritten",
        "item",
    ): "The item's id, as in items, where its text is the one that the study showed.",
    (
        "rewritten",
        "verdict",
    ): "Whose words these are: accept: a model's; edit: a person's; keep: as it was asked.",
    ("rewritten", "before"): "The question as it was asked.",
    ("tasks", "task"): "The task: a keyed pseudonym.",
    (
        "tasks",
        "rater",
    ): "The rater: a keyed pseudonym for people; empty where nobody took the task.",
    (
        "tasks",
        "position",
    ): (
        "The place of a task in its rater's order, from 0; empty for people unless released on"
        " request."
    ),
    (
        "tasks",
        "batch",
    ): "The batch it was handed out in; empty for people unless released on request.",
    (
        "tasks",
        "repeat_of",
    ): "The task that this one repeats, for self-agreement; empty for people unless on request.",
    ("ratings", "task"): "The task, as in tasks.",
    ("ratings", "rater"): "The rater, as in raters.",
    (
        "ratings",
        "answer",
    ): (
        "The answer that was rated; of a pair, the first (A); empty for questions on the item"
        " alone."
    ),
    ("ratings", "answer_b"): "Of a pair, the second answer (B).",
    (
        "ratings",
        "span_start",
    ): "Of a rated sentence, its first character's offset in the answer's text.",
    ("ratings", "span_end"): "Of a rated sentence, one past its last character's offset.",
}
_JSON = frozenset(
    {"aliases", "sets", "strata", "citations", "sentences", "settings", "answers", "spans"}
)
_NUMBERS = {"position": "whole number", "span_start": "whole number", "span_end": "whole number"}


def dictionary(columns: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Say of every column of every table what it holds, in the words of the records themselves."""
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
    # An expression of several licences has no page of its own.
    return text + (f"Its text: https://spdx.org/licenses/{name}.html\n" if " " not in name else "")


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
        return "A free text."
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
    return f"One of these labels, {scale.level}:\n\n" + "\n".join(lines)


def small_panels(released: Released, k: int) -> str:
    """Name the panels in which nobody can be one of k; empty where there are none."""
    if not released.small_panels:
        return ""
    named = ", ".join(f"{panel} ({n})" for panel, n in released.small_panels.items())
    return f" Panels of fewer than {k} raters, whose strata are all suppressed: {named}."


def ordered(order: bool) -> str:
    """State whether the order of people's tasks is there."""
    if order:
        return (
            "The order of people's tasks and answers and repeated tasks are included; they are in"
            " the plan too, so that the raters' identifiers can be found with study.toml, the items"
            " and the answers."
        )
    return (
        "People's tasks are without position, batch and repeated tasks, and their answers are in"
        " the order of identifiers, comparisons turned accordingly: the plan, which can be drawn"
        " again from the protocol, has them too."
    )


def linked(released: Released, k: int, unlink: bool) -> str:
    """State how far the sets of tasks tell raters apart."""
    if unlink:
        return (
            "A person has another pseudonym on each item, so that no two items can be linked by"
            " their rater."
        )
    if not released.recognisable:
        return (
            f"Every rater shares the set of rated tasks with at least {k - 1} others of the panel."
        )
    return (
        f"{recognisable(released.recognisable, k)}: with a study.toml that names raters, the plan"
        " can be drawn again and tells who they are."
    )


def recognisable(raters: int, k: int) -> str:
    """How many raters have a set of tasks of their own, as the beginning of a sentence.

    >>> recognisable(1, 3)
    '1 rater has a set of tasks that fewer than 3 raters of the panel share'
    """
    subject = "1 rater has" if raters == 1 else f"{raters:,} raters have"
    return f"{subject} a set of tasks that fewer than {k} raters of the panel share"


def readme(
    study: Study, released: Released, *, k: int, texts: bool, order: bool, unlink: bool
) -> str:
    """Tell what the folder holds, what it leaves out and how to check it."""
    tables = "\n".join(
        f"| {name}.csv, {name}.parquet | {rows} |" for name, rows in released.records.items()
    )
    omissions = (
        "\n".join(f"- {content}: {n}" for content, n in sorted(released.withheld.items()) if n)
        or "- nothing"
    )
    simulated = (
        "\n**The ratings in this folder are simulated. No person gave them.**\n"
        if study.simulated
        else ""
    )
    played = (
        "\n**konsil played some of the models for a trial: no model stands behind their answers and"
        " ratings.**\n"
        if released.is_played
        else ""
    )
    notes = (
        "Notes and free-text replies are included as the raters wrote them; read them before you"
        " publish."
        if texts
        else "Notes and free-text replies are not included: they may say who wrote them."
    )
    lacking = note(released.missing)
    described = f"{lacking}." if lacking else "No required fact is missing."
    return f"""# {study.title}
{simulated}{played}
{study.description}

| files | rows |
|---|---|
{tables}

CSV and Parquet hold the same. `data_dictionary.csv` says what every column means, \
`instruments.json` and `codebooks/`
hold the questions, labels and codebooks that the raters saw. In CSV an empty cell is "none"; a \
text that a spreadsheet
would take for a formula has an apostrophe in front, which is not part of it.

## The raters

People are named by pseudonyms made with a secret key (HMAC-SHA256) that is not in this folder; \
rows are sorted by
pseudonym, so that their order says nothing. Tasks are named in the same way. Judges and programs \
keep their names.
Raters' strata (such as specialty and years) are "(suppressed)" until at least {k} raters of the \
panel share every
combination that is left.{small_panels(released, k)} Names, e-mail addresses and times of day are \
not here.
{notes}
{ordered(order)} {linked(released, k, unlink)}

Left out:

{omissions}

## Checking

`sha256sum -c SHA256SUMS` in this folder finds every changed file. The protocol's digest is
`{study_digest(study)}`. Written by konsil {__version__}.

## Licence

{licence_of(study)}; see LICENCE.txt.

## For catalogues of data

`datacite.json` has the metadata by DataCite 4.5, `croissant.json` by Croissant 1.0, \
with every file and column.
{described}
"""
