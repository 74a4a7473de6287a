"""Label Studio's controls: the label, the note or the span that one result holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from konsil.sources.files.cells import as_text
from konsil.sources.tables.columns import JOIN

_Json = Mapping[str, Any]

KEYS = {
    "choices": "choices",
    "taxonomy": "taxonomy",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "textarea": "text",
    "labels": "labels",
}
"""Type of control -> where its results have the answer."""
_SIDES = {"left": "A", "right": "B"}


def label_of(result: _Json, labels: Mapping[str, str]) -> str | None:
    """The word that a result says.

    None where nothing was chosen, ValueError where it is not one label.

    Left and right of a pair are A and B, unless `labels` has words of its own for them.

    >>> label_of({"type": "pairwise", "value": {"selected": "left"}}, {})
    'A'
    """
    kind = str(result.get("type"))
    key = KEYS.get(kind)
    if key is None:
        raise ValueError(
            f"a control of type {kind!r} is not supported; leave it out by naming the controls"
            " that are"
            " in criteria"
        )
    value = result.get("value")
    choice = value.get(key) if isinstance(value, dict) else None
    if kind == "textarea":
        return note_of(result)
    if isinstance(choice, list):
        if len(choice) > 1:
            raise ValueError(
                f"{len(choice)} labels are chosen where a rating has one:"
                f" {', '.join(map(_path, choice))}"
            )
        choice = _path(choice[0]) if choice else None
    text = as_text(choice)
    if kind == "pairwise":
        if text is None or text == "none":
            return None
        return text if text in labels else _SIDES.get(text, text)
    return text


def note_of(result: _Json) -> str | None:
    """The text of a text area; None for any other control."""
    if result.get("type") != "textarea":
        return None
    value = result.get("value")
    text = value.get("text") if isinstance(value, dict) else None
    return "\n".join(map(str, text)) if isinstance(text, list) else as_text(text) or ""


def objects_of(result: _Json) -> tuple[str, ...]:
    """The objects that a control is about: one, or the two of a pair, the left one first."""
    target = result.get("to_name", "")
    parts = target if isinstance(target, list) else str(target).split(",")
    return tuple(str(part).strip() for part in parts)


def span_of(result: _Json) -> dict[str, str | None]:
    """The span of a result on a stretch of plain text; empty for a result on the whole object.

    Stretches of HTML and of sound are refused with a ValueError: their places are no offsets in the
    answer's text.
    """
    value = result.get("value")
    if not isinstance(value, dict) or "start" not in value:
        return {}
    start, end = value["start"], value.get("end")
    if type(start) is not int or type(end) is not int:
        raise ValueError(
            f"refers to characters {start!r} to {end!r}; only offsets in plain text are read"
        )
    return {"span_start": str(start), "span_end": str(end)}


def _path(choice: object) -> str:
    """A choice, or a nested choice from its topmost level down."""
    return JOIN.join(map(str, choice)) if isinstance(choice, list) else str(as_text(choice))
