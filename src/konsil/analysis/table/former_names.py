"""Ratings that have the former name of a label or of a criterion: what they are called today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from konsil.analysis.table.columns import Columns, task_columns
from konsil.analysis.table.conformity import rating_columns
from konsil.analysis.table.frame import Data
from konsil.errors.message import TranslatableMessage, message
from konsil.instrument import Instrument
from konsil.records import Rating


@dataclass(frozen=True)
class Renamed:
    """Ratings that have the former name of a label or criterion."""

    kind: Literal["criterion", "label"]
    """What was renamed."""
    criterion: str
    """The criterion's identifier today."""
    former: str
    """The former name."""
    name: str
    """Today's name."""
    n_ratings: int
    """How many ratings have the former name."""


def with_todays_names(
    data: Data, instruments: Sequence[Instrument]
) -> tuple[Data, tuple[Renamed, ...]]:
    """The data with former labels and identifiers of criteria replaced by the current names.

    Also the number of ratings with each former name.
    """
    criteria = [(i, c) for i in instruments for c in i.criteria if c.renamed or c.formerly]
    if not criteria:
        return data, ()
    frame = rating_columns(data.ratings)
    tasks = task_columns(data.tasks, ("id", "instrument")).rename(
        {"id": "task", "instrument": "asked by"}
    )
    frame = frame.join(tasks, on="task", how="left", maintain_order="left")
    label, criterion = pl.col("label"), pl.col("criterion")
    renamed: list[Renamed] = []
    for instrument, current in criteria:
        # A rating whose task is not there may be of every instrument.
        of_form = pl.col("asked by").fill_null(instrument.id) == instrument.id
        of_criterion = of_form & pl.col("criterion").is_in([current.id, *current.formerly])
        criterion = pl.when(of_criterion).then(pl.lit(current.id)).otherwise(criterion)
        if current.renamed:
            today = pl.col("label").replace(dict(current.renamed))
            label = pl.when(of_criterion).then(today).otherwise(label)
        former = frame.filter(of_criterion)
        names: tuple[tuple[Literal["criterion", "label"], Mapping[str, str]], ...] = (
            ("criterion", dict.fromkeys(current.formerly, current.id)),
            ("label", current.renamed),
        )
        for column, pairs in names:
            n = dict(former.group_by(column).len().iter_rows())
            renamed += [
                Renamed(column, current.id, old, new, n[old])
                for old, new in pairs.items()
                if n.get(old)
            ]
    changed = frame.select(criterion.alias("criterion"), label.alias("label"))
    return replace(data, ratings=_with(data.ratings, changed)), tuple(renamed)


def _with(ratings: Sequence[Rating], names: pl.DataFrame) -> Sequence[Rating]:
    if isinstance(ratings, Columns):
        return ratings.with_frame(ratings.frame.with_columns(names["criterion"], names["label"]))
    pairs = zip(ratings, names.iter_rows(), strict=True)
    return tuple(replace(r, criterion=criterion, label=label) for r, (criterion, label) in pairs)


def renaming_sentences(renamed: Sequence[Renamed]) -> tuple[TranslatableMessage, ...]:
    """Methods sentences on ratings with former names."""
    return tuple(
        (
            message(
                "In {n:,} {n|rating|ratings} the criterion {criterion} was still called {former}.",
                message_id="forms.criterion_renamed",
                n=change.n_ratings,
                criterion=change.criterion,
                former=change.former,
            )
            if change.kind == "criterion"
            else message(
                "In {n:,} {n|rating|ratings} on {criterion} the label was still called {former}; it"
                " is {label} today.",
                message_id="forms.label_renamed",
                n=change.n_ratings,
                criterion=change.criterion,
                former=change.former,
                label=change.name,
            )
        )
        for change in renamed
    )
