"""Names that a protocol uses and that must exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konsil.analysis.model.catalogue.known import NAME_COLUMNS, SINGLE_NAME_COLUMNS
from konsil.errors import nearest
from konsil.errors.message import placed
from konsil.errors.unknown_names import unknown_name
from konsil.study.definition.protocol import Study


def unknown_name_problems(
    where: str, kind: str, name: str, valid_names: Iterable[str]
) -> Iterator[str]:
    """A problem where the name is none of the valid ones, with the nearest."""
    names = list(valid_names)
    if name not in names:
        yield placed(where, unknown_name(kind, name, nearest(name, names)))


def declared_values(study: Study, column: str) -> list[str]:
    """The values that a column of groups can have by the protocol; empty where it does not say.

    A study that declares no systems or raters has those of its files, which are not known here.
    """
    kind = NAME_COLUMNS[column] if column in SINGLE_NAME_COLUMNS else ""
    if kind == "system":
        return [s.id for s in study.systems]
    return [r.id for r in study.everybody()] if kind == "rater" and study.raters else []


def panel_names(study: Study) -> list[str]:
    """The valid names of an analysis' raters: the panels and the names of several."""
    return study.panel_names()
