"""What can be known of a study's analyses once its items are there: whether they ask for columns that nobody has."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.catalogue import LENGTH, RATER_PAIR
from konsil.analysis.frame import COLUMNS
from konsil.analysis.injections import KIND
from konsil.api.folder import PROTOCOL, Folder
from konsil.errors import StoreError, nearest
from konsil.prepare import in_study, last_drawn
from konsil.records import Event, Item


def column_problems(folder: Folder) -> Iterator[str]:
    """Every column that an analysis names and no rating will have, one sentence each.

    Nothing is said where columns may still come: without items, before a draw that sorts them, and where people who
    sign up bring columns of their own.
    """
    study = folder.study
    items, events = _held(folder)
    drawn = study.prepare is None or last_drawn(events)[1] is not None
    if not items or not drawn or study.places:
        return
    of_items = {column for item in in_study(items, events) for column in item.strata}
    of_raters = {column for rater in study.everybody() for column in rater.strata}
    known = {*COLUMNS, *of_items, *of_raters, *(f"rater_{column}" for column in of_raters)}
    known |= {d.name for d in study.derived}
    for n, analysis in enumerate(study.analyses):
        asked = {f"by[{k}]": column for k, column in enumerate(analysis.by) if column not in {RATER_PAIR, LENGTH, KIND}}
        asked |= {f"where.{column}": column for column in analysis.where}
        for key, column in asked.items():
            if column not in known:
                where = f"{folder.path / PROTOCOL}: analyses[{n}].{key}"
                yield f"{where}: ratings will have no column {column!r}; {nearest(column, sorted(known))}"


def _held(folder: Folder) -> tuple[tuple[Item, ...], tuple[Event, ...]]:
    try:
        with folder.store() as store:
            return tuple(store.items()), tuple(store.events())
    except StoreError:  # there is no database yet
        return (), ()
