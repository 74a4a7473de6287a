"""What the forms of the set-up say, as values of the model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import cast, get_args

from starlette.datastructures import FormData, UploadFile

from konsil.design.lines import Line
from konsil.design.models import JudgeModel
from konsil.design.outlook import Assumption
from konsil.design.people import Panel, PanelKind
from konsil.design.questions import About, Kind, Question
from konsil.design.tables.columns import Role
from konsil.design.tables.guessing import TableForm
from konsil.design.wording import wording
from konsil.records.source import FileSettings
from konsil.web.rating.text.numbers import read_number

MOST_RATERS = 500
MOST_STUDIES = 200
TAB = "tab"
"""The separator that no field of a form can have."""


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


@dataclass(frozen=True)
class TableEntry:
    """What the form says of one table."""

    name: str
    roles: tuple[Role, ...]
    """The roles of its columns, in their order."""
    form: TableForm | None
    """How it is laid out."""
    names: str | None
    """The pattern of its headings; None: it was not asked for."""
    fixed: Mapping[str, str]
    """The rater and the system of all rows."""
    settings: Mapping[str, str]
    """The settings with which its file is read, as they were typed."""

    def file_settings(self, former: FileSettings, settable: Collection[str]) -> FileSettings:
        """The settings that concern the file, the others as they were."""
        typed: dict[str, str | int | bool] = {
            name: value for name, value in self.settings.items() if name in settable
        }
        if "skip" in typed:
            typed["skip"] = _integer(self.settings["skip"], 0, 10_000) or 0
            typed["header"] = _integer(self.settings.get("header", ""), 1, 3) or 1
            typed["numbered"] = self.settings.get("numbered") == "on"
        if typed.get("separator") == TAB:
            typed["separator"] = "\t"
        return replace(former, **typed)  # type: ignore[arg-type]


def tables_in(form: FormData) -> list[TableEntry]:
    """The tables."""
    entries = []
    for row in _rows(form, "t"):
        roles: list[Role] = []
        while (role := text_of(form, f"{row}c{len(roles)}")) in get_args(Role):
            roles.append(cast("Role", role))
        layout = text_of(form, f"{row}-form")
        names = [setting.name for setting in fields(FileSettings)]
        entries.append(
            TableEntry(
                str(form[row]),
                tuple(roles),
                cast("TableForm", layout) if layout in get_args(TableForm) else None,
                text_of(form, f"{row}-names") if f"{row}-names" in form else None,
                {name: text_of(form, f"{row}-{name}") for name in ("rater", "system")},
                {n: text_of(form, f"{row}-{n}") for n in names if f"{row}-{n}" in form},
            )
        )
    return entries


def system_names_in(form: FormData) -> dict[str, str]:
    """The systems: name in the file -> identifier."""
    return {str(form[row]): text_of(form, f"{row}-name") for row in _rows(form, "s")}


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


def answering_in(form: FormData, used: Collection[str]) -> list[JudgeModel]:
    """The models that answer, without the one that is taken away and with one that is added."""
    action = text_of(form, "do")
    models = [
        replace(model, rater=text_of(form, f"m{n}-name") or model.rater)
        for n, model in enumerate(models_in(form))
        if action != f"drop {n}"
    ]
    if action == "add model":
        ids = {*used, *(model.rater for model in models)}
        models.append(JudgeModel(next(n for k in count(1) if (n := f"model-{k}") not in ids)))
    return models


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
