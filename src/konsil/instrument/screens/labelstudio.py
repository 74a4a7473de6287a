"""A screen for Label Studio: its labelling configuration and its task data.

Each control corresponds to one field.
"""

from __future__ import annotations

# Only written, never parsed.
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from itertools import groupby
from typing import Literal

from konsil.instrument.definition.fields import Field, FormError
from konsil.instrument.definition.fields import fields as fields_of
from konsil.instrument.definition.form import Instrument, Scale
from konsil.instrument.definition.mirror import mirrored
from konsil.instrument.screens.screen import Screen
from konsil.instrument.screens.words import words
from konsil.records import Task

Part = Literal["label", "abstain", "reason"]

_STARS = tuple(str(n) for n in range(1, 11))


@dataclass(frozen=True, slots=True)
class Control:
    """One control tag of the configuration."""

    name: str
    """Its name, by which results name it."""
    tag: str
    """Choices, Rating, Number, Pairwise or TextArea."""
    field: Field
    """The question it asks."""
    part: Part = "label"
    """What it takes: the label; that the rater abstains, where the label's own control has no room
    for it; a reason."""
    words: Mapping[str, str] = field_of(default_factory=dict)
    """Label Studio's word -> the label, where it has words of its own: left and right."""


def controls(instrument: Instrument, task: Task) -> tuple[Control, ...]:
    """Every control of a task's screen, in the order of its fields.

    The names are those of the configuration.

    >>> from konsil.instrument import Criterion, Scale
    >>> form = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes")), reason=True),))
    >>> [(c.name, c.tag) for c in controls(form, Task("t", "t", "r", "form", "i", ("x", "y")))]
    [('correct-a1', 'Choices'), ('correct-a1-reason', 'TextArea'), ('correct-a2', 'Choices'), \
('correct-a2-reason', 'TextArea')]
    """
    task_controls = [c for f in fields_of(instrument, task) for c in _controls(f)]
    names = [c.name for c in task_controls]
    for name in names:
        if names.count(name) > 1:
            raise FormError(
                f"instrument {instrument.id!r}: two questions would be called {name!r}; rename one"
            )
    return tuple(task_controls)


def _controls(field: Field) -> Iterator[Control]:
    name, scale = field.name.replace(".", "-"), field.criterion.scale
    if scale.kind == "choice":
        if _two_sides(field):
            yield Control(
                name, "Pairwise", field, words={"left": scale.labels[0], "right": scale.labels[1]}
            )
        else:
            yield Control(name, "Rating" if _are_stars(scale) else "Choices", field)
    else:
        yield Control(name, "Number" if scale.kind == "number" else "TextArea", field)
        if scale.abstain is not None:
            yield Control(f"{name}-abstain", "Choices", field, "abstain")
    if field.reason:
        yield Control(f"{name}-reason", "TextArea", field, "reason")


def _are_stars(scale: Scale) -> bool:
    """Whether the labels are just 1, 2, 3, ..., so that stars lose no word of them."""
    n = len(scale.labels)
    return (
        scale.level != "nominal"
        and scale.abstain is None
        and 1 < n <= 10
        and scale.labels == _STARS[:n]
    )


def _two_sides(field: Field) -> bool:
    """Whether a comparison only says which of the two is better."""
    scale = field.criterion.scale
    plain = len(field.answers) == 2 and len(scale.labels) == 2 and scale.abstain is None
    return plain and mirrored(field.criterion, scale.labels[0]) == scale.labels[1]


def data(screen: Screen) -> dict[str, str]:
    """The texts of a screen by their names in the configuration.

    The names are question, about, reference, a1, a2, s1, and so on.
    """
    text_by_name = (
        {"question": screen.question} if screen.question else {"about": screen.words.criteria}
    )
    if screen.instrument.show_reference:
        text_by_name["reference"] = screen.reference or "–"
    for n, shown in enumerate(screen.answers, start=1):
        parts = [shown.text]
        if shown.reasoning:
            parts = [screen.words.reasoning, shown.reasoning, screen.words.final, shown.text]
        if shown.sources:
            parts += [screen.words.sources, "\n".join(shown.sources)]
        text_by_name[f"a{n}"] = "\n\n".join(parts)
        for piece in shown.pieces:
            if piece.span is not None:
                text_by_name[f"s{piece.span + 1}"] = piece.text
    return text_by_name


def configuration(screen: Screen) -> str:
    """The labelling configuration of all screens of this shape.

    It is an XML document with Label Studio's documented tags.
    """
    wording, names = screen.words, data(screen)
    view = ET.Element("View")
    ET.SubElement(view, "Style").text = ".htx-text { white-space: pre-wrap; }"
    if "question" in names:
        _object(view, "question", wording.question)
    else:
        _object(view, "about", "")
    if "reference" in names:
        _object(view, "reference", wording.reference)
    first = next(iter(names))
    by_subject = groupby(sorted(screen.fields, key=_subject), key=_subject)
    blocks = {subject: [c for f in fields for c in _controls(f)] for subject, fields in by_subject}
    row = ET.SubElement(view, "View", style="display: flex; flex-wrap: wrap; gap: 1.5em")
    for n, heading in enumerate(screen.headings):
        column = ET.SubElement(row, "View", style="flex: 1 1 20em")
        _object(column, f"a{n + 1}", heading)
        _ask(column, blocks.get((0, n), []), f"a{n + 1}", screen)
    for subject, block in sorted(blocks.items()):
        kind, n = subject
        if kind == 1:
            _object(view, f"s{n + 1}", screen.subject(block[0].field))
            _ask(view, block, f"s{n + 1}", screen)
        elif kind == 2:
            _ask(view, block, first, screen)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _subject(field: Field) -> tuple[int, int]:
    """The subject of a field: its answer, its sentence, or the complete screen."""
    if field.span is not None:
        return (1, field.span)
    return (0, field.answers[0]) if len(field.answers) == 1 else (2, 0)


def _object(parent: ET.Element, name: str, heading: str) -> None:
    if heading:
        ET.SubElement(parent, "Header", value=_without_variables(heading), size="4")
    ET.SubElement(
        parent, "Text", name=name, value=f"${name}", valueType="text", selectionEnabled="false"
    )


def _ask(parent: ET.Element, block: list[Control], object_name: str, screen: Screen) -> None:
    for control in block:
        criterion, scale = control.field.criterion, control.field.criterion.scale
        if control.part == "label":
            ET.SubElement(parent, "Header", value=_without_variables(criterion.question), size="5")
            if criterion.guidance:
                ET.SubElement(
                    parent, "Header", value=_without_variables(criterion.guidance), size="6"
                )
        tag = ET.SubElement(parent, control.tag, name=control.name, toName=object_name)
        if control.part == "reason":
            tag.attrib |= {
                "rows": "2",
                "editable": "true",
                "maxSubmissions": "1",
                "placeholder": words(screen.instrument.language).reason,
            }
            continue
        if control.tag == "Choices":
            options = scale.options() if control.part == "label" else (scale.abstain or "",)
            tag.attrib |= {"choice": "single", "showInline": "true"}
            for option in options:
                choice = ET.SubElement(tag, "Choice", value=_without_variables(option))
                if _without_variables(option) != option:
                    choice.set("alias", option)
        elif control.tag == "Rating":
            tag.attrib |= {"maxRating": str(len(scale.labels))}
        elif control.tag == "Pairwise":
            tag.set("toName", "a1,a2")
        elif control.tag == "Number":
            bounds = {"min": scale.low, "max": scale.high}
            tag.attrib |= {
                name: f"{bound:g}" for name, bound in bounds.items() if bound is not None
            }
            tag.set("step", "0.1")
        else:
            tag.attrib |= {"rows": "3", "editable": "true", "maxSubmissions": "1"}
        if (
            control.part == "label"
            and control.tag != "Pairwise"
            and not (scale.kind != "choice" and scale.abstain)
        ):
            tag.set("required", "true")


def _without_variables(text: str) -> str:
    """A text that Label Studio does not take for a variable.

    Label Studio replaces every $name with a text of the task.
    """
    return " ".join(text.replace("$", "\N{FULLWIDTH DOLLAR SIGN}").split())
