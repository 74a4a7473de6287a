"""Rewordings as events: the last decision stands, both wordings stay, and marks cover what differs
and nothing else."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from konsil.locale import complete_languages
from konsil.prepare import Preparation, in_study, prepared
from konsil.prepare.draw.draw import request_digest
from konsil.prepare.questions.asking import Asking, asking_problems, without_model
from konsil.prepare.questions.prompts import PROMPTS, language_of, prompt_of, screening_reasons
from konsil.prepare.questions.rewriting import (
    Accepted,
    Rewriting,
    decided_event,
    decisions,
    differences,
    proposals,
    proposed_event,
    undecided,
    with_rewriting,
)
from konsil.records import Item

AT = "2025-03-01T12:00:00Z"
ITEMS = (Item("a", "pls dose??"), Item("b", "Which dose?"), Item("c", "stop it"))


def test_the_last_decision_stands_whatever_the_order() -> None:
    first = decided_event(ITEMS[0], Accepted("accept", "The dose?", "Kim", 1), AT)
    second = decided_event(ITEMS[0], Accepted("edit", "Which dose, please?", "Lou", 2), AT)
    events = [second, first, decided_event(ITEMS[2], Accepted("keep", "stop it", "Kim"), AT)]
    for _ in range(5):
        random.Random(1).shuffle(events)
        assert [i.text for i in with_rewriting(ITEMS, events)] == [
            "Which dose, please?",
            "Which dose?",
            "stop it",
        ]
    assert [i.text for i in prepared(ITEMS, events)] == [i.text for i in in_study(ITEMS, events)]
    again = with_rewriting(with_rewriting(ITEMS, events), events)
    assert again == with_rewriting(ITEMS, events)
    assert second.data["before"] == "pls dose??"
    assert decisions(events)["a"].by == "Lou"


def test_what_is_unchanged_needs_no_decision() -> None:
    events = [
        proposed_event("a", "The dose?", "w1", 1, AT),
        proposed_event("b", "Which dose?", "w2", 1, AT),
        proposed_event("a", "Which dose?", "w3", 2, AT),
    ]
    assert undecided(ITEMS, events) == ("a", "c")
    assert proposals(events)["a"].text == "Which dose?"
    assert undecided(
        ITEMS, [*events, decided_event(ITEMS[2], Accepted("keep", "stop it", "x"), AT)]
    ) == ("a",)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_make_the_whole(before: str, after: str) -> None:
    old, new = differences(before, after)
    assert "".join(p.text for p in old) == before
    assert "".join(p.text for p in new) == after
    assert [p.text for p in old if not p.changed] == [
        p.text for p in new if not p.changed
    ] or before != after
    assert (before == after) == (not any(p.changed for p in (*old, *new)))


def test_a_rewriting_changes_no_draw_and_no_older_digest() -> None:
    plain = Preparation(sets={"core": 1})
    assert request_digest(plain, 1) == request_digest(
        Preparation(sets={"core": 1}, rewrite=Rewriting(model="fake:")), 1
    )
    bare = {"model": "", "language": "", "prompts": {}, "settings": {}}
    assert without_model({"rules": 1, **bare}) == {"rules": 1}
    assert without_model({"rules": 1, **bare, "model": "fake:"})["model"] == "fake:"


def test_both_languages_have_every_prompt_and_fill_it() -> None:
    asking = Asking(model="fake:")
    texts = {code: {prompt_of(asking, s, code) for s in PROMPTS} for code in complete_languages()}
    assert {code: len(prompts) for code, prompts in texts.items()} == {"en": 6, "de": 6}
    assert not texts["en"] & texts["de"]
    for language in texts:
        reasons = screening_reasons(("identifier", "follow-up"), ("en", "de"), language)
        text = prompt_of(Asking(model="fake:"), "screen", language, reasons=reasons)
        assert "{" not in text
        assert '"other language"' in text
        assert "en, de" in text
    own = Asking(model="fake:", prompts={"rewrite": "In plain words."})
    assert prompt_of(own, "rewrite", "en") == "In plain words."


def test_prompts_are_in_a_language_with_every_text() -> None:
    """A draft of a language has no prompts: it is refused where it is named."""
    assert [
        list(asking_problems(Asking(model="fake:", language=code), ("rewrite",), "rewrite"))
        for code in ("", "en", "de", "fr")
    ] == [[], [], [], ["rewrite.language: there is no 'fr'; known: de, en"]]
    assert [language_of(Asking(model="fake:"), code) for code in ("de", "fr", "xx")] == [
        "de",
        "en",
        "en",
    ]
