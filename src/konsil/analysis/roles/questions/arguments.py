"""The options of a command, and the call in Python, that state a reading of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import polars as pl

from konsil.analysis.roles.names import pattern_regex
from konsil.analysis.roles.reading import (
    COMPARISONS,
    RATED_ONCE,
    Purpose,
    StatedRoles,
    TableReading,
)
from konsil.analysis.roles.vocabulary import weights_of
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.request import Request


def arguments(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state a reading completely, each with its values.

    `layout` has the name of a layout, `labels` the columns that are labels, `unused` the columns
    that have no role; `-` stands for items or raters that are unknown.
    """
    if reading.shape in COMPARISONS:
        return _comparison_arguments(reading)
    options = [*_shape_arguments(reading), *_group_arguments(reading)]
    options.append(("split", (reading.separator,)))
    singles = {
        "rater": reading.rater,
        "criterion": reading.criterion,
        "system": reading.system if reading.system not in (*reading.units, reading.group) else None,
        "repeat": reading.repeat,
        "weight": reading.weight,
        "cluster": reading.cluster,
    }
    options += [(role, (name,)) for role, name in singles.items() if name is not None]
    options += [("unit", reading.units)] if reading.units else []
    unused = tuple(reading.unused) if reading.shape == "raters-in-rows" else _to_state(reading)
    options += [("unused", unused)] if unused else []
    return sorted((o for o in options if o[1] != ("",)), key=lambda item: _ORDER.index(item[0]))


def _to_state(reading: TableReading) -> tuple[str, ...]:
    """Columns that are not used although they could be: weights, and names that fit the pattern."""
    is_named = reading.shape == "rater-by-criterion" and bool(reading.names)
    regex = pattern_regex(reading.names if is_named else "")
    return tuple(
        name for name in reading.unused if reading.roles[name] == "weight" or regex.fullmatch(name)
    )


def _shape_arguments(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state how a table is laid out."""
    match reading.shape:
        case "wide":
            return [("rater", reading.rated)]
        case "counts":
            return [("layout", ("counts",)), *_labels_or_unused(reading)]
        case "cross-table":
            return [("layout", ("cross-table",))]
        case "rater-by-criterion":
            return [("names", (reading.names,))]
        case "raters-in-rows":
            return [("layout", ("raters-in-rows",))]
        case "lists":
            return [("label", reading.rated)]
        case "long" | "long-criteria" | "repeats" | "rows-to-combine":
            return [("layout", ("long",)), ("label", reading.rated)]
        case "systems":
            return [("system", reading.rated)]
        case _:
            return [("label", reading.rated)]


def _labels_or_unused(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """The columns that are labels; where commas are in them, all that are not are left out."""
    if not any("," in name for name in reading.rated):
        return [("labels", reading.rated)]
    used = ("unit", "rating")
    unused = tuple(name for name, role in reading.roles.items() if role not in used)
    return [("unused", unused)] if unused else []


def _group_arguments(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state which groups are compared, and that units or raters are unknown."""
    if reading.group is None and reading.shape != "systems":
        return []
    options: list[tuple[str, tuple[str, ...]]] = []
    options += [] if reading.group is None else [("by", (reading.group,))]
    return [*options, *unknown_roles(reading)]


def unknown_roles(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state that raters or units are unknown, where each unit is rated once."""
    roles = ["rater"] if reading.shape == "one-rating" else []
    roles += ["unit"] if reading.shape in RATED_ONCE and not reading.units else []
    return [(role, ("-",)) for role in roles]


def combination(frame: pl.DataFrame, reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    """How rows that are an error each become the score of a unit by a rater: summed weights."""
    if reading.shape != "rows-to-combine" or len(reading.rated) != 1:
        return []
    weights = weights_of(frame.get_column(reading.rated[0]).drop_nulls().unique().sort())
    recode = tuple(f"{label}={weight}" for label, weight in weights.items())
    return [("recode", recode), ("repeat", ("sum",)), ("level", ("interval",))] if recode else []


def choice_of_rounds(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles, purpose: Purpose
) -> list[tuple[str, tuple[str, ...]]]:
    """Each round by itself; the first one where groups are compared."""
    column = reading.repeat
    if column is None or purpose.has_rule or column not in frame.columns:
        return []
    if purpose.task == "ratings" and not stated.groups:
        return [("by", (column,))]
    return [("where", (f"{column}={frame[column].drop_nulls().item(0)}",))]


def how_to_state(purpose: Purpose) -> TranslatableMessage:
    """By which options the columns are stated, where no reading of them is likely."""
    names = {
        "ratings": ("rater", "unit", "rater", "label"),
        "groups": ("system", "by", "unit", "label"),
        "comparisons": ("item", "rater", "first", "second", "outcome"),
    }.get(purpose.task, ())
    flags = [option(purpose.flags.get(name, name)) for name in names]
    if purpose.task == "comparisons":
        return message(
            "State what each column is with {options}.",
            message_id="roles.state_columns",
            options=listed(flags, end="{some} and {last}"),
        )
    return message(
        "State the columns of ratings with {columns}, or, where each row is a rating, what each"
        " column is with {options}.",
        message_id="roles.state_ratings",
        columns=flags[0],
        options=listed(flags[1:], end="{some} and {last}"),
    )


_ORDER = (
    *("layout", "by", "unit", "item", "system", "rater", "criterion", "label", "labels", "names"),
    *("split", "repeat", "weight", "cluster", "first", "second", "outcome", "won", "lost", "tied"),
    "unused",
)
"""The order of options in a command."""


def call_of(
    function: str, request: Request, arguments: Sequence[tuple[str, tuple[str, ...]]]
) -> str:
    """A call in Python that states a reading, with what the request has stated already.

    Empty where nothing is proposed, or only a file has such an option.
    """
    if not arguments or "decimal" in dict(arguments):
        return ""
    entries = fields(cast(Any, request))
    stated = {
        entry.name: getattr(request, entry.name)
        for entry in entries
        if getattr(request, entry.name) != entry.default
    }
    proposed = {
        name: dict(value.split("=", 1) for value in values)
        if name in {"recode", "where"}
        else list(values)
        if len(values) > 1 or name == "unused"
        else values[0]
        for name, values in arguments
        if not stated.get(name) and name != "comment"
    }
    keywords = ", ".join(f"{name}={value!r}" for name, value in {**stated, **proposed}.items())
    left_out = dict(arguments).get("comment", ())
    frame = f"frame[:-{len(left_out)}]" if left_out else "frame"
    return f"konsil.{function}({frame}, {keywords})"


def _comparison_arguments(reading: TableReading) -> list[tuple[str, tuple[str, ...]]]:
    first, second = reading.sides or ("", "")
    options = [("item", reading.units or ("-",))]
    options += [("rater", reading.rated or (reading.rater or "-",))]
    options += [("first", (first,)), ("second", (second,))]
    outcomes = [name for name in (reading.outcome, reading.second_outcome) if name is not None]
    options += [("outcome", tuple(outcomes))] if outcomes else []
    options += [("ends", tuple(f"{end:g}" for end in reading.ends))] if reading.ends else []
    options += [("by", (reading.criterion,))] if reading.criterion else []
    options += [("swapped", (reading.swapped,))] if reading.swapped else []
    weights = tuple(name for name in reading.unused if reading.roles[name] == "weight")
    unused = (*((reading.order,) if reading.order else ()), *weights)
    options += [("unused", unused)] if unused else []
    return [*options, *((role, (name,)) for role, name in reading.wins.items())]
