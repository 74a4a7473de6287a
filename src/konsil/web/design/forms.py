"""What the forms of the set-up say, as values of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast, get_args

from starlette.datastructures import FormData, UploadFile

from konsil.design.columns import Role
from konsil.design.lines import Line
from konsil.design.models import JudgeModel
from konsil.design.outlook import Assumption
from konsil.design.people import Panel, PanelKind
from konsil.design.questions import About, Kind, Question
from konsil.design.wording import wording
from konsil.web.rating.text.numbers import read_number

MOST_RATERS = 500
MOST_STUDIES = 200


def text_of(form: FormData, name: str) -> str:
    """The text of a field, without white space around it and with plain line ends."""
    value = form.get(name, "")
    return "" if isinstance(value, UploadFile) else value.replace("\r\n", "\n").strip()


def uploads(form: FormData) -> Iterator[tuple[str, bytes]]:
    """The files that were chosen."""
    for value in form.getlist("file"):
        if isinstance(value, UploadFile) and value.filename:
            yield value.filename, value.file.read()


def _rows(form: FormData, letter: str) -> Iterator[str]:
    n = 0
    while f"{letter}{n}" in form:
        yield f"{letter}{n}"
        n += 1


def roles_of(form: FormData) -> dict[str, dict[int, Role]]:
    """Table -> number of a column, from 0 -> its role."""
    roles: dict[str, dict[int, Role]] = {}
    for row in _rows(form, "t"):
        table: dict[int, Role] = {}
        while (role := text_of(form, f"{row}c{len(table)}")) in get_args(Role):
            table[len(table)] = cast("Role", role)
        roles[str(form[row])] = table
    return roles


def questions_in(form: FormData, language: str) -> list[Question]:
    """The questions, without the one that is taken away and with the one that is added."""
    action = text_of(form, "do")
    questions = []
    for n, row in enumerate(_rows(form, "q")):
        kind = text_of(form, f"{row}-kind")
        labels = tuple(
            line.strip() for line in text_of(form, f"{row}-labels").split("\n") if line.strip()
        )
        question = Question(
            question=text_of(form, f"{row}-question"),
            kind=cast("Kind", kind) if kind in get_args(Kind) else "other",
            labels=labels,
            abstain=text_of(form, f"{row}-abstain"),
            guidance=text_of(form, f"{row}-guidance"),
            about=cast("About", text_of(form, f"{row}-about") or "answer"),
            id=str(form[row]),
            instrument=str(form.get(f"{row}-instrument", "")),
        )
        # Labels that were shown belong to the former scale.
        if kind != text_of(form, f"{row}-former"):
            question = replace(question, labels=())
        if action != f"remove {n}":
            questions.append(question)
    kind = action.removeprefix("add ")
    words = wording(language)
    if action.startswith("add ") and f"ask_{kind}" in words:
        questions.append(Question(words[f"ask_{kind}"], cast("Kind", kind)))
    return questions


def panels_in(form: FormData, language: str) -> list[Panel]:
    """The panels, without the one that is taken away and with the one that is added."""
    action = text_of(form, "do")
    panels = []
    for n, row in enumerate(_rows(form, "p")):
        kind = text_of(form, f"{row}-kind")
        panel = Panel(
            text_of(form, f"{row}-name") or str(form[row]) or "raters",
            _integer(text_of(form, f"{row}-number"), 1, MOST_RATERS) or 1,
            cast("PanelKind", kind) if kind in get_args(PanelKind) else "human",
            str(form[row]),
        )
        if action != f"remove {n}":
            panels.append(panel)
    words = wording(language)
    if action in ("add human", "add llm"):
        kind = action.removeprefix("add ")
        name = words["judges" if kind == "llm" else "physicians"]
        used_names = {panel.name for panel in panels}
        n = 1
        while (unique := name if n == 1 else f"{name}-{n}") in used_names:
            n += 1
        panels.append(Panel(unique, 3, cast("PanelKind", kind)))
    return panels


def models_in(form: FormData) -> list[JudgeModel]:
    """The judges' models."""
    return [
        JudgeModel(
            str(form[row]),
            text_of(form, f"{row}-url").rstrip("/"),
            text_of(form, f"{row}-model"),
            text_of(form, f"{row}-key_env"),
            is_own=f"{row}-url" not in form,
        )
        for row in _rows(form, "m")
    ]


def lines_in(form: FormData) -> list[Line]:
    """The lines of the plan."""
    return [
        Line(
            str(form[row]),
            str(form.get(f"{row}-instrument", "")),
            f"{row}-planned" in form,
            _integer(text_of(form, f"{row}-per_item"), 1, MOST_RATERS),
            _integer(text_of(form, f"{row}-repeats"), 0, 10_000) or 0,
            _integer(text_of(form, f"{row}-batches"), 1, 100_000),
        )
        for row in _rows(form, "l")
    ]


def assumption_in(form: FormData, former: Assumption) -> Assumption:
    """What the power is estimated for."""

    def share(name: str, default: float) -> float:
        percent = _parse_number(text_of(form, name))
        return min(max(percent / 100, 0.01), 0.99) if percent is not None else default

    return Assumption(
        share("best", former.best),
        share("others", former.others),
        max(share("accuracy", former.accuracy), 0.5),
        _integer(text_of(form, "studies"), 10, MOST_STUDIES) or former.studies,
    )


def pay_in(form: FormData) -> float:
    """What an hour of a rater costs."""
    return min(max(_parse_number(text_of(form, "pay")) or 0.0, 0.0), 1e6)


def _integer(text: str, minimum: int, maximum: int) -> int | None:
    return min(max(int(text), minimum), maximum) if text.isdecimal() and len(text) < 9 else None


def _parse_number(text: str) -> float | None:
    number = read_number(text).number
    return float(number) if number else None
