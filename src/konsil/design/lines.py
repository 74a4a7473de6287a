"""Who rates what: a line of the plan for each panel and form, and the work it makes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from konsil.design.edits import Data


@dataclass(frozen=True)
class Line:
    """A panel on a form."""

    panel: str
    instrument: str
    is_planned: bool = True
    """Whether the panel rates on the form at all."""
    per_item: int | None = None
    """How many raters see each item; None: the whole panel."""
    repeats: int = 0
    """How many of a rater's first items come again at the end."""
    batches: int | None = None
    """Screens of a batch; None: one batch."""


def lines_of(data: Data, *, is_new: bool = False) -> tuple[Line, ...]:
    """A line for every panel and form, planned or not; of a new study's lines all are planned."""
    panels = list(dict.fromkeys(r.get("panel", "") for r in data.get("raters", ())))
    panels += [p["panel"] for p in data.get("places", ()) if p["panel"] not in panels]
    main = {
        (line["panel"], line["instrument"]): line
        for line in reversed(data.get("plan", ()))
        if is_main(line)
    }
    lines = []
    for panel in panels:
        for instrument in (i["id"] for i in data.get("instruments", ())):
            line = main.get((panel, instrument))
            stored = line or {}
            lines.append(
                Line(
                    panel,
                    instrument,
                    line is not None or is_new,
                    stored.get("raters_per_item"),
                    stored.get("repeats", 0),
                    stored.get("batches"),
                )
            )
    return tuple(lines)


def is_main(line: Data) -> bool:
    """Whether a line of the plan assigns the main ratings; others stay as they are."""
    purpose, when = line.get("purpose", "main"), line.get("when", "always")
    return bool(purpose == "main" and when == "always")


def with_lines(data: Data, lines: Sequence[Line]) -> Data:
    """The study with this plan; keys that the form does not show stay."""
    study = copy.deepcopy(data)
    plan: list[Data] = study.get("plan", [])
    units = {i["id"]: i.get("unit", "answer") for i in study.get("instruments", ())}
    for line in lines:
        same = [
            entry
            for entry in plan
            if is_main(entry)
            and (entry["panel"], entry["instrument"]) == (line.panel, line.instrument)
        ]
        if not line.is_planned:
            plan = [entry for entry in plan if entry not in same]
            continue
        if not same:
            entry: Data = {"panel": line.panel, "instrument": line.instrument}
            if units.get(line.instrument) == "pair":
                entry["show"] = "pair"
            plan.append(entry)
            same = [entry]
        planned = same[0]
        for key, value, default in (
            ("raters_per_item", line.per_item, None),
            ("repeats", line.repeats, 0),
            ("batches", line.batches, None),
        ):
            if value == default:
                planned.pop(key, None)
            else:
                planned[key] = value
    study["plan"] = plan
    if not plan:
        del study["plan"]
    return study


WORDS_A_MINUTE = 180
"""Reading with care; people read easy prose at 240."""
SECONDS_A_QUESTION = 9
"""Deciding and choosing a label."""


def minutes_a_screen(words: float, questions: int) -> float:
    """Estimated minutes on a screen with so many words and questions.

    >>> round(minutes_a_screen(360, 4), 1)
    2.6
    """
    return words / WORDS_A_MINUTE + questions * SECONDS_A_QUESTION / 60
