"""What a rating page shows: texts, questions, values so far. No record's identifier is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from konsil.instrument import Field, PageNames, Screen
from konsil.instrument.definition.fields import REASON
from konsil.web.http.language import count_of
from konsil.web.http.richtext import plain, source_of
from konsil.web.rating.task_queue import Progress

Layout = Literal["panes", "pair", "beside", "survey"]
LONG_LABEL = 24
"""Letters of a label above which the options stand under one another."""
Html = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be chosen."""

    label: str
    """What it says; also its value."""
    key: str
    """The digit that chooses it; empty where there are more than nine."""
    abstain: bool
    """Whether it says 'I cannot tell'."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question with what was said to it so far."""

    name: str
    """The field's name."""
    kind: str
    """choice, number or text."""
    question: str
    """What is asked."""
    guidance: str
    """How to decide."""
    anchor: str
    """The place in the codebook panel."""
    options: tuple[Option, ...]
    """What can be chosen."""
    stacked: bool
    """Whether the options are too long to stand beside one another."""
    low: float | None
    """The least number."""
    high: float | None
    """The greatest number."""
    unit: str
    """What the number is given in; empty: nothing that is said."""
    reason: str
    """The name of the field for a reason; empty: none can be given."""
    always_reason: bool
    """Whether a reason can be given to every label, and not to an abstention only."""
    value: str
    """What was said so far."""
    note: str
    """The reason so far."""
    problem: bool
    """Whether it still needs an answer, after an attempt to go on."""
    conflict: bool
    """Whether another window says something else."""
    suggested: str = ""
    """After a practice: the label that is suggested."""
    explanation: str = ""
    """After a practice: the reason."""


@dataclass(frozen=True, slots=True)
class Group:
    """The questions about one subject."""

    subject: str
    """What they are about: answer, sentence, pair or whole."""
    number: int
    """The number of the answer or sentence, from 1; 0 for the others."""
    heading: str
    """'Answer A', 'Sentence 2 of 6', or nothing."""
    quote: str
    """The sentence's own words; empty where it is about no sentence."""
    questions: tuple[QuestionView, ...]
    """The questions."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One answer."""

    heading: str
    """'Answer A'."""
    html: str
    """The final response."""
    reasoning: str
    """What was thought aloud, as HTML; empty where the study does not show it."""
    sources: tuple[str, ...]
    """Its sources, where the arm shows them."""
    groups: tuple[Group, ...]
    """Questions that stand in the pane."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One criterion in the codebook panel."""

    anchor: str
    """Its place."""
    question: str
    """What is asked."""
    guidance: str
    """How to decide."""
    options: tuple[str, ...]
    """What can be said."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One rating page."""

    public: str
    """The random name of the task."""
    visit: str
    """The random name of this opening of it."""
    rev: int
    """The number of changes so far."""
    layout: Layout
    """Answers each with its questions; two, or one, with the questions beside; or questions
    alone."""
    language: str
    """The language of the study's texts."""
    question: str
    """The item's text."""
    question_word: str
    """What it is called: 'Question'."""
    reference: str
    """The reference, where it is shown."""
    reference_word: str
    """What it is called."""
    reasoning_word: str
    """What reasoning is called."""
    sources_word: str
    """What sources are called."""
    panes: tuple[Pane, ...]
    """The answers in the order shown."""
    groups: tuple[Group, ...]
    """Questions that stand outside the panes."""
    entries: tuple[Entry, ...]
    """The criteria, for the codebook panel."""
    codebook: str
    """The codebook as HTML; empty where there is none."""
    progress: Progress
    """How far the rater is."""
    submitted: bool
    """Whether it was handed in before."""
    closed: bool
    """Whether its batch is closed, so that nothing can be changed any more."""
    practice: bool
    """Whether it is for practice, so that nothing of it counts."""
    explained: bool
    """Whether it shows what a practice explains, and takes no more answers."""
    previous_page: str
    """The random name of the task handed in before this one; empty: none, or it cannot be
    changed."""
    note: str = ""
    """The rater's note to oneself."""
    asks_reason: bool = False
    """Whether a change of what was handed in needs a reason."""
    reason: str = ""
    """The reason so far."""
    lacks_reason: bool = False
    """Whether something was changed and the reason is missing, after an attempt to go on."""

    @property
    def everything(self) -> tuple[Group, ...]:
        """All groups of the page, in its order."""
        return (*(g for pane in self.panes for g in pane.groups), *self.groups)


@dataclass(frozen=True, slots=True)
class FormState:
    """What was said so far, and what is wrong with it."""

    values: Mapping[str, str]
    """Field -> value."""
    problems: frozenset[str] = frozenset()
    """Fields that still need an answer."""
    conflicts: frozenset[str] = frozenset()
    """Fields that another window changed meanwhile."""
    explained: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """After a practice: field -> the suggested label and why."""


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

    quotes = {
        piece.span + 1: plain(piece.text)
        for shown in screen.answers
        for piece in shown.pieces
        if piece.span is not None
    }

    def heading(subject: str, first: Field) -> str:
        if subject == "answer" and len(screen.answers) == 1:
            return ""
        of = f" {count_of(screen.instrument.language, sentences)}" if subject == "sentence" else ""
        return screen.subject(first) + of

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
