"""What a rating page shows: texts, questions, values so far. No record's identifier is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.instrument import Field, PageNames
from konsil.instrument.definition.fields import REASON
from konsil.instrument.screens.screen import Screen
from konsil.web.rating.sheet import (
    Entry,
    FormState,
    Group,
    Layout,
    Option,
    Pane,
    QuestionView,
    Sheet,
)
from konsil.web.rating.text.language import count_of
from konsil.web.rating.text.richtext import mark, plain, source_of

LONG_LABEL = 24
"""Letters of a label above which the options stand under one another."""


def reason_name(field: Field) -> str:
    """The name of the field's reason: where one is asked for, and for every abstention; else empty.

    A reason for abstaining is always welcome; judges are asked for one only where the instrument
    asks everybody.
    """
    if field.reason:
        return field.reason
    return f"{field.name}.{REASON}" if field.criterion.scale.abstain is not None else ""


def texts_of(screen: Screen) -> tuple[str, ...]:
    """Every Markdown text of a screen, in a fixed order: answers, reasonings, the codebook."""
    answers = [source_of(shown.pieces) for shown in screen.answers]
    return (*answers, *(shown.reasoning for shown in screen.answers), screen.instrument.codebook)


def groups_of(screen: Screen, form_state: FormState) -> tuple[Group, ...]:
    """The questions by subject, in the order of the answers or sentences."""
    fields_by_subject: dict[tuple[str, int], list[Field]] = {}
    for form_field in screen.fields:
        fields_by_subject.setdefault(_subject(form_field), []).append(form_field)
    anchors = {c.id: f"c{n}" for n, c in enumerate(screen.criteria, start=1)}
    sentences = sum(subject == "sentence" for subject, _ in fields_by_subject)
    # A sentence that is alone on its page needs no number: it is the marked one.
    is_numbered = screen.instrument.present == "answer"
    count = f" {count_of(screen.instrument.language, sentences)}" if is_numbered else ""

    quotes = {
        piece.span + 1: plain(piece.text)
        for shown in screen.answers
        for piece in shown.pieces
        if piece.span is not None
    }

    def heading(subject: str, first: Field) -> str:
        if subject == "answer" and len(screen.answers) == 1:
            return ""
        return screen.subject(first) + (count if subject == "sentence" else "")

    return tuple(
        Group(
            subject,
            number,
            heading(subject, fields[0]),
            quotes.get(number, "") if subject == "sentence" else "",
            tuple(_question(f, anchors[f.criterion.id], form_state) for f in fields),
        )
        for (subject, number), fields in fields_by_subject.items()
    )


def panes_of(screen: Screen, html: Sequence[str], groups: Sequence[Group]) -> tuple[Pane, ...]:
    """The answers; where there are several, each with its own questions."""
    n = len(screen.answers)
    if screen.instrument.present == "sentence":
        html = [text.replace(mark(1), mark(1, is_current=True)) for text in html]
    groups_by_answer = {g.number: g for g in groups if g.subject == "answer"} if n > 1 else {}
    return tuple(
        Pane(
            heading=screen.headings[k] if n > 1 else screen.words.answer.format("").strip(),
            html=html[k],
            reasoning=html[n + k] if shown.reasoning else "",
            sources=shown.sources,
            groups=(groups_by_answer[k + 1],) if k + 1 in groups_by_answer else (),
        )
        for k, shown in enumerate(screen.answers)
    )


def entries_of(screen: Screen) -> tuple[Entry, ...]:
    """The criteria for the codebook panel."""
    return tuple(
        Entry(f"c{n}", c.question, c.guidance, c.scale.options())
        for n, c in enumerate(screen.criteria, start=1)
    )


def layout_of(screen: Screen) -> Layout:
    """How the page is laid out."""
    if not screen.answers and not screen.question:
        return "survey"
    if len(screen.answers) < 2:
        return "beside"
    # Two answers whose questions are all about both leave room for the questions in a column of
    # their own.
    return (
        "pair"
        if len(screen.answers) == 2 and all(len(f.answers) != 1 for f in screen.fields)
        else "panes"
    )


def _subject(field: Field) -> tuple[str, int]:
    if field.span is not None:
        return ("sentence", field.span + 1)
    if len(field.answers) == 1:
        return ("answer", field.answers[0] + 1)
    return ("pair" if field.answers else "whole", 0)


def _question(field: Field, anchor: str, form_state: FormState) -> QuestionView:
    criterion, scale = field.criterion, field.criterion.scale
    reason = reason_name(field)
    suggested, explanation = form_state.explained.get(field.name, ("", ""))
    digits = len(scale.labels) <= 9 and scale.kind == "choice"
    options = tuple(
        Option(
            label,
            "0" if label == scale.abstain else str(n) if digits else "",
            label == scale.abstain,
        )
        for n, label in enumerate(scale.options(), start=1)
    )
    return QuestionView(
        name=field.name,
        kind=scale.kind,
        question=criterion.question,
        guidance=criterion.guidance,
        anchor=anchor,
        options=options,
        stacked=any(len(label) > LONG_LABEL for label in scale.options()),
        low=scale.low,
        high=scale.high,
        unit=scale.unit,
        reason=reason,
        always_reason=bool(field.reason),
        value=form_state.values.get(field.name, ""),
        note=form_state.values.get(reason, "") if reason else "",
        problem=field.name in form_state.problems,
        conflict=field.name in form_state.conflicts,
        suggested=suggested,
        explanation=explanation,
    )


def groups_with_page_names(groups: Sequence[Group], names: PageNames) -> tuple[Group, ...]:
    """The questions with their fields as they are called on the page."""

    def with_page_name(question: QuestionView) -> QuestionView:
        return replace(
            question, name=names.neutral(question.name), reason=names.neutral(question.reason)
        )

    return tuple(
        replace(group, questions=tuple(map(with_page_name, group.questions))) for group in groups
    )


def with_page_names(sheet: Sheet, names: PageNames) -> Sheet:
    """The page with its fields as they are called there."""
    panes = tuple(replace(p, groups=groups_with_page_names(p.groups, names)) for p in sheet.panes)
    return replace(sheet, panes=panes, groups=groups_with_page_names(sheet.groups, names))
