"""The interim analyses of a frozen plan, as the freeze stores them and as they are read again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.definition.protocol import Study

_NAMING = ("unblinded", "text")
"""Keys that can name people: the unblinded person, and what a study writes about a rule."""


@dataclass(frozen=True, slots=True)
class FrozenLooks:
    """The interim analyses of a frozen plan, without the unblinded person and texts of rules."""

    interim: Interim
    """Looks, numbers, spending and rules."""
    compared: str = ""
    """The column whose groups the analysis of comparative looks compares; empty: it has none."""


def looks_as_data(study: Study) -> dict[str, object]:
    """What a freeze stores of the interim analyses; empty without any.

    The digest of [interim] shows that it was changed; these numbers still show what applies then.
    They are one JSON text: among the keys of an event, a system that is called `alpha` would have
    its blinding code.
    """
    interim = study.interim
    if interim is None:
        return {}
    compared = next((a.compare for a in study.analyses if a.name == interim.analysis), "")
    stored: dict[str, object] = {
        **_without(interim, _NAMING),
        "looks": [dataclasses.asdict(look) for look in interim.looks],
        "rules": [_without(rule, _NAMING) for rule in interim.rules],
        "compared": compared or "",
    }
    return {"looks": json.dumps(stored, ensure_ascii=False, sort_keys=True)}


def looks_of_data(data: Mapping[str, object]) -> FrozenLooks | None:
    """The interim analyses of a freeze's data; None where it has a digest only, or none."""
    text = data.get("looks")
    if not isinstance(text, str):
        return None
    stored = json.loads(text)
    keys = _fields_of(Interim, stored)
    keys["looks"] = tuple(Look(**_fields_of(Look, look)) for look in stored["looks"])
    keys["rules"] = tuple(InterimRule(**_fields_of(InterimRule, rule)) for rule in stored["rules"])
    return FrozenLooks(Interim(**keys), str(stored["compared"]))


def _without(record: Interim | InterimRule, names: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(record).items() if key not in names}


def _fields_of(kind: type[Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The stored fields of a dataclass; a later version can have stored further ones."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {key: value for key, value in stored.items() if key in names}
