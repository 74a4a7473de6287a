"""Who rates: panels of people and of models, with pseudonyms as identifiers."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from konsil.design.edits import Data
from konsil.design.wording import identifier
from konsil.errors import StudyError
from konsil.errors.message import message

PanelKind = Literal["human", "llm", "program"]


@dataclass(frozen=True)
class Panel:
    """Raters that are exchangeable in an analysis."""

    name: str
    """What it is called in study.toml."""
    number: int
    """How many raters it has."""
    kind: PanelKind = "human"
    former: str = ""
    """Its name in the file; empty: it is new."""
    ids: tuple[str, ...] = ()
    """Identifiers that are known, such as those of a column of ratings."""


def panels_of(data: Data) -> tuple[Panel, ...]:
    """The panels of a study, in the order of their first raters."""
    raters = data.get("raters", ())
    return tuple(
        Panel(
            name,
            sum(r.get("panel") == name for r in raters),
            next(r.get("kind", "human") for r in raters if r.get("panel") == name),
            name,
            tuple(r["id"] for r in raters if r.get("panel") == name),
        )
        for name in dict.fromkeys(str(r.get("panel", "")) for r in raters)
    )


def with_panels(data: Data, panels: Sequence[Panel]) -> Data:
    """The study with these panels; raters that stay keep everything that is said of them.

    A panel's new name is also written where the plan and the analyses name it.
    """
    twice = [p.name for n, p in enumerate(panels) if p.name in {q.name for q in panels[:n]}]
    if twice:
        raise StudyError(
            message(
                "raters: two panels are called {name!r}; give each a name of its own",
                message_id="setup.panel_twice",
                name=twice[0],
            )
        )
    study = copy.deepcopy(data)
    raters: list[Data] = [dict(r) for r in study.get("raters", ())]
    used_ids = {r["id"] for r in raters}
    former = set(used_ids)
    for panel in panels:
        members = [r for r in raters if panel.former and r["panel"] == panel.former]
        raters = [r for r in raters if r not in members[panel.number :]]
        members = members[: panel.number]
        for rater in members:
            if panel.kind != rater.get("kind", "human"):
                rater["kind"] = panel.kind
        at = raters.index(members[-1]) + 1 if members else len(raters)
        raters[at:at] = _new(panel, panel.number - len(members), used_ids)
    raters = _renamed(study, raters, panels, former)
    removed = former - {r["id"] for r in raters}
    if "judges" in study and removed:
        study["judges"] = [j for j in study["judges"] if j.get("rater") not in removed]
    study["raters"] = raters
    if not raters:
        del study["raters"]
    names = {panel.name for panel in panels} | {p["panel"] for p in study.get("places", ())}
    if "plan" in study:
        study["plan"] = [line for line in study["plan"] if line.get("panel") in names]
    for key in ("plan", "judges"):
        if key in study and not study[key]:
            del study[key]
    return study


def without_raters(data: Data, ids: Collection[str]) -> Data:
    """The study without these raters; what the plan assigns to a panel that is empty then goes."""
    raters = [rater for rater in data.get("raters", ()) if rater["id"] not in ids]
    study = {**data, "raters": raters}
    return with_panels(study, panels_of(study))


def _new(panel: Panel, number: int, used_ids: set[str]) -> list[Data]:
    """Further raters of a panel, under the identifiers that are known or numbered ones."""
    stem = identifier(panel.name, fallback="rater")
    stem = stem[:-1] if stem.endswith("s") else stem
    free_ids = [name for name in panel.ids if name not in used_ids]
    kind = {} if panel.kind == "human" else {"kind": panel.kind}
    new = []
    for n in range(number):
        name = free_ids[n] if n < len(free_ids) else _free(stem, used_ids)
        used_ids.add(name)
        new.append({"id": name, "panel": panel.name, **kind})
    return new


def _free(stem: str, used_ids: set[str]) -> str:
    n = 1
    while f"{stem}-{n}" in used_ids:
        n += 1
    return f"{stem}-{n}"


def _renamed(
    study: Data, raters: Sequence[Data], panels: Sequence[Panel], former: Collection[str]
) -> list[Data]:
    """The raters of panels that stay, those who were there before under the panels' new names."""
    names = {panel.former: panel.name for panel in panels if panel.former}
    for old, new in names.items():
        if old != new:
            _rename(study, old, new)
    listed = []
    for rater in raters:
        if rater["id"] not in former:
            listed.append(rater)
        elif rater["panel"] in names:
            listed.append({**rater, "panel": names[rater["panel"]]})
    return listed


def _rename(study: Data, before: str, after: str) -> None:
    for line in study.get("plan", ()):
        if line.get("panel") == before:
            line["panel"] = after
    for analysis in study.get("analyses", ()):
        for key in ("raters", "against"):
            if analysis.get(key) == before:
                analysis[key] = after
    for name, members in study.get("together", {}).items():
        study["together"][name] = [after if m == before else m for m in members]
