"""Which comparison a study's looks are about, by the frozen plan and by the protocol as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from konsil.records import Event
from konsil.study.data.freezing import frozen
from konsil.study.data.frozen_looks import FrozenLooks, looks_of_data
from konsil.study.definition.interim import Interim
from konsil.study.definition.protocol import Study
from konsil.study.interim.looks import is_amended, taken_looks


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """What comparative looks compare, or may have been planned to compare."""

    interim: Interim | None
    """The interim analyses: the protocol's, or the frozen ones where the protocol has no
    comparative look any more. None: not known, since an older version froze only their digest."""
    analyses: frozenset[str]
    """The analyses of comparative looks, by the protocol, by the frozen plan and by the log."""
    compared: frozenset[str]
    """The columns whose groups they compare."""


def frozen_looks(events: Sequence[Event]) -> FrozenLooks | None:
    """The interim analyses of the frozen plan; None without any, or where only a digest is."""
    freeze = frozen(events)
    return None if freeze is None else looks_of_data(freeze.data)


def planned_comparison(study: Study, events: Sequence[Event]) -> PlannedComparison | None:
    """The comparison of a study's comparative looks; None where none were planned.

    A frozen comparison stays one, whatever the protocol has now: without [interim], without its
    comparative looks, or with another analysis. Of a freeze with a digest only, a changed or
    missing [interim] is taken for one that had comparative looks, of any factor.
    """
    own = study.interim if study.interim is not None and study.interim.comparative else None
    planned = frozen_looks(events)
    if planned is not None and not planned.interim.comparative:
        planned = None
    is_unknown = _is_unknown(study, events)
    if own is None and planned is None and not is_unknown:
        return None
    interim = own or (None if planned is None else planned.interim)
    names = {look.analysis for look in taken_looks(events) if look.kind == "comparative"}
    if own is not None:
        names.add(own.analysis)
    if planned is not None:
        names.add(planned.interim.analysis)
    compared = {a.compare for a in study.analyses if a.compare and (is_unknown or a.name in names)}
    if planned is not None and planned.compared:
        compared.add(planned.compared)
    return PlannedComparison(interim, frozenset(names), frozenset(compared))


def _is_unknown(study: Study, events: Sequence[Event]) -> bool:
    """Whether [interim] was changed or removed, and the freeze states only its digest."""
    return is_amended(study, events) and frozen_looks(events) is None
