"""Instruments, tasks and replies of every unit, for the tests of what is made of them."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

from hypothesis import strategies as st

from konsil.instrument import Criterion, Field, Instrument, Scale
from konsil.instrument.screens.screen import Screen, screen
from konsil.records import Answer, Citation, Item, Span, Task

SCALES = (
    Scale(("Falsch", "Richtig"), abstain="Keine Angabe"),
    Scale(("A much better", "A better", "equal", "B better", "B much better"), level="ordinal"),
    Scale(("0", "0.25", "0.5", "0.75", "1"), level="ordinal", abstain="?"),
    Scale(kind="number", level="ratio", low=0, high=24, abstain="weiß nicht"),
    Scale(kind="number", level="interval"),
    Scale(kind="text"),
)
SCOPES = {
    "answer": ("answer", "item", "task"),
    "sentence": ("sentence", "item", "task"),
    "pair": ("pair", "item", "task"),
    "survey": ("batch",),
}
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('{}[]<>"\\/,:` \n')),
    min_size=1,
    max_size=80,
)


@dataclass(frozen=True)
class Case:
    instrument: Instrument
    task: Task
    screen: Screen


@st.composite
def cases(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> Case:
    """A screen of any unit, in either language, with any texts."""
    unit = draw(st.sampled_from(sorted(SCOPES)))
    criteria = tuple(
        Criterion(
            f"c{n}",
            draw(st.sampled_from(["Richtig?", "Is it true?", "Answer A"])),
            draw(st.sampled_from(SCALES)),
            draw(st.sampled_from(SCOPES[unit])),
            draw(st.sampled_from(["", "Look twice."])),
            draw(st.booleans()),
        )
        for n in range(draw(st.integers(1, 4)))
    )
    instrument = Instrument(
        "form",
        criteria,
        "# Codebook\n\nHow to decide.",
        draw(st.sampled_from(["", "You are a physician."])),
        draw(st.booleans()),
        draw(st.booleans()),
        "answer" if unit == "survey" else unit,
        draw(st.sampled_from(["de", "en"])),
    )
    n = {"pair": 2, "sentence": 1, "survey": 0}.get(unit) or (
        0 if unit == "survey" else draw(st.integers(1, 6))
    )
    ids = draw(st.permutations([f"x{i}" for i in range(n)]))
    made = {}
    spans: tuple[Span, ...] = ()
    for one in ids:
        text = draw(texts)
        made[one] = Answer(
            one,
            "i",
            f"system-{one}",
            text,
            draw(texts),
            (Citation(draw(texts), "https://e.org/1"),),
        )
        if unit == "sentence":
            cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
            spans = tuple(Span(a, b) for a, b in itertools.pairwise(cuts))
    item = None if unit == "survey" else Item("i", draw(texts), draw(texts))
    arm = draw(st.sampled_from(["", "text", "citations"]))
    task = Task(
        draw(st.text("abcdef0123456789", min_size=8, max_size=8)),
        "s",
        "r",
        "form",
        item and "i",
        tuple(ids),
        spans,
        arm,
    )
    return Case(instrument, task, screen(instrument, task, item, made))


def replies(field: Field) -> st.SearchStrategy[object]:
    """Everything a judge may say to a field, as JSON values."""
    scale = field.criterion.scale
    if scale.kind == "text":
        return TEXTS
    options: st.SearchStrategy[object] = (
        st.sampled_from(field.options) if field.options else st.nothing()
    )
    if scale.kind == "number":
        low, high = scale.low, scale.high
        return st.one_of(
            options, st.integers(0, 24), st.floats(low, high, allow_nan=False, allow_infinity=False)
        )
    return options


@st.composite
def whole_replies(draw: st.DrawFn, case: Case) -> dict[str, object]:
    """A reply that answers every field of the screen."""
    said: dict[str, object] = {}
    for field in case.screen.fields:
        said[field.name] = draw(replies(field))
        if field.reason:
            said[field.reason] = draw(st.one_of(st.just(""), TEXTS))
    return said


def as_json(said: object) -> str:
    return json.dumps(said, ensure_ascii=False)
