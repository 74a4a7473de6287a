"""Names that a protocol uses and that must exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from konsil.errors import nearest
from konsil.study.definition.protocol import LONE_PANEL, Study


def unknown_name_problems(
    where: str, record_kind: str, name: str, valid_names: Iterable[str]
) -> Iterator[str]:
    """A problem where the name is none of the valid ones, with the nearest."""
    names = list(valid_names)
    if name not in names:
        yield f"{where}: there is no {record_kind} {name!r}; {nearest(name, names)}"


def panel_names(study: Study) -> list[str]:
    """The valid names of an analysis' raters: the panels and the names of several."""
    return [*(study.panels() or {LONE_PANEL: ()}), *study.together]
