"""The scheme of a study of comparisons: what is drawn, in what order, and no name beside its
weight."""

from __future__ import annotations

import re

import pytest

from konsil.analysis import Results
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.models.prompt_appendix import judges_prompt, systems_prompts
from konsil.report.people.design_diagram import schemes
from konsil.study import Study

SCALE = Scale(("A is better", "Equal", "B is better"), level="ordinal")
FORM = Instrument(
    "pairs",
    (
        Criterion("accuracy", "Better?", SCALE, "pair", title="Accuracy"),
        Criterion("use", "Useful?", SCALE, "pair"),
    ),
    codebook="Compare <b>both</b>.",
    role="You are a physician.",
    unit="pair",
)
SYSTEMS = ("zebra", "yak", "wolf")
PLAN = (
    Allocation(
        "experts",
        instrument="pairs",
        show="pair",
        weights={"zebra": 3.0},
        match="specialty",
        per_rater=4,
        arms={"text": 2, "citations": 1},
        phase="main",
    ),
    Allocation(
        "judges", instrument="pairs", show="pair", like="main", arms={"text": 1}, phase="again"
    ),
)


def material(code: str = "en", **more: object) -> Material:
    told = {"system": "Answer shortly."}
    systems = tuple(System(s, model="m:x" if s != "yak" else None, settings=told) for s in SYSTEMS)
    study = Study("t", 1, systems=systems, instruments=(FORM,), plan=PLAN, language=code, **more)  # type: ignore[arg-type]
    items = tuple(Item(f"i{n}", "?", strata={"specialty": f"s{n % 2}"}) for n in range(6))
    answers = tuple(Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS)
    raters = (Rater("e1", "experts"), Rater("e2", "experts"), Rater("j", "judges", "llm"))
    ratings = tuple(
        Rating(f"t {r} {n}", r, c, f"i{n}", (f"i{n}:yak", f"i{n}:zebra"), None, "rated", "Equal")
        for n in range(4)
        for r in ("e1", "j")
        for c in ("accuracy", "use")
    )
    return Material(
        study=study,
        results=Results((), ()),
        items=items,
        answers=answers,
        raters=raters,
        ratings=ratings,
        language=language(code),
        numbers=Numbers(language(code)),
    )


def words(svg: bytes) -> str:
    return re.sub(r"<[^>]+>", " ", svg.decode())


def test_every_step_of_the_draw_is_told_once() -> None:
    [drawn] = schemes(material())
    said = words(drawn.svg)
    for told in (
        "4 items rated",
        "2 values of specialty",
        "1 rater of experts",
        "at most 4 items each",
        "Arm text",
        "planned: 2/3 of the raters",
        "two of 3 systems",
        "3 : 1 : 1",
        "2 criteria",
        "Accuracy, use",
        "4 comparisons",
        "judges: each of 1",
    ):
        assert said.count(told) >= 1, told
    assert not [s for s in SYSTEMS if s in said], "a name beside the weights would tell who it is"


def test_in_german_nothing_is_english() -> None:
    [drawn] = schemes(material("de"))
    said = words(drawn.svg)
    assert "Vergleiche" in said
    assert not [
        w
        for w in ("items rated", "comparisons", "drawn", "raters", "weights", "criteria")
        if w in said
    ]


def test_without_pairs_there_is_no_scheme() -> None:
    made = material()
    object.__setattr__(made.study, "plan", ())
    assert [*schemes(made)] == []


def test_what_models_were_sent_is_told_word_for_word() -> None:
    made = material()
    sent = judges_prompt(made, FORM)
    for text in (FORM.role, FORM.codebook, "Better?", "- A is better", '"accuracy"'):
        assert text in sent
    assert systems_prompts(made) == [("zebra, wolf", "Answer shortly.")]


@pytest.mark.parametrize("panel", ["experts", "none"])
def test_no_prompt_where_no_judge_rates(panel: str) -> None:
    made = material()
    object.__setattr__(made.study, "plan", (Allocation(panel, instrument="pairs"),))
    assert judges_prompt(made, FORM) == ""
