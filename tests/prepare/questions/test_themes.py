"""Themes: found in a small set of two languages, edited by people, the same whatever the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from konsil.errors import PlanError
from konsil.prepare import (
    DROP,
    Preparation,
    Sample,
    Themed,
    Theming,
    in_study,
    last_themed,
    preparation_problems,
    prepared,
    request_digest,
    themes,
    theming_event,
)
from konsil.prepare.questions.asking import without_model
from konsil.prepare.questions.clusters import clusters, telling_words
from konsil.records import Item
from konsil.sources.language.embeddings import embedder

QUESTIONS = {
    "anticoagulation": (
        "Which apixaban dose in atrial fibrillation with GFR 25?",
        "Is rivaroxaban safe after a GI bleed?",
        "When to restart warfarin after intracranial haemorrhage?",
        "Bridging with heparin before surgery for a mechanical valve?",
        "Dabigatran or apixaban in an elderly patient with atrial fibrillation?",
        "Wie lange Antikoagulation nach Lungenembolie?",
        "Welche Dosis Apixaban bei Niereninsuffizienz?",
        "Wann Marcumar vor einer Operation pausieren?",
        "Heparin oder DOAK bei Tumorpatienten mit Thrombose?",
        "Reversal of apixaban in major bleeding?",
    ),
    "diabetes": (
        "Which drug after metformin in type 2 diabetes with heart failure?",
        "How to start basal insulin in type 2 diabetes?",
        "HbA1c target in an elderly diabetic patient?",
        "SGLT2 inhibitor and risk of ketoacidosis?",
        "Insulin dose adjustment during steroid treatment?",
        "Wie stelle ich bei Typ-2-Diabetes auf Insulin um?",
        "Welcher HbA1c-Zielwert bei alten Patienten?",
        "Metformin bei Niereninsuffizienz absetzen?",
        "Semaglutid bei Diabetes mit Retinopathie?",
        "Treatment of hypoglycaemia in a diabetic on sulfonylurea?",
    ),
    "infection": (
        "Antibiotic for community acquired pneumonia in penicillin allergy?",
        "Duration of antibiotics for uncomplicated urinary tract infection?",
        "Empirical antibiotic for febrile neutropenia?",
        "Treatment of MRSA bacteraemia?",
        "Which antibiotic for cellulitis in pregnancy?",
        "Welches Antibiotikum bei Pyelonephritis?",
        "Wie lange Antibiotika bei Erysipel?",
        "Therapie der Clostridioides-difficile-Infektion?",
        "Antibiotische Therapie bei Pneumonie und Penicillinallergie?",
        "Oral antibiotics for osteomyelitis?",
    ),
    "psychiatry": (
        "First line antidepressant in adolescents with depression?",
        "Switching from sertraline to venlafaxine, how?",
        "Lithium monitoring in bipolar disorder?",
        "Treatment of panic disorder without benzodiazepines?",
        "Antipsychotic with least weight gain in schizophrenia?",
        "Welches Antidepressivum bei Depression im Alter?",
        "Lithiumspiegel bei bipolarer Störung, wie oft?",
        "Behandlung der Schizophrenie bei Therapieresistenz?",
        "Angststörung: SSRI oder Psychotherapie?",
        "Tapering of antidepressants after remission of depression?",
    ),
    "skin": (
        "Itchy rash on both arms in a child, what is it?",
        "Treatment of moderate acne in a teenager?",
        "Topical steroid for eczema on the face?",
        "Changing mole on the back, biopsy or dermoscopy?",
        "Biologic for severe plaque psoriasis?",
        "Juckender Ausschlag am Arm, welche Diagnose?",
        "Behandlung der Akne bei Jugendlichen?",
        "Neurodermitis im Gesicht: welche Salbe?",
        "Psoriasis: wann ein Biologikum?",
        "Rosacea not responding to metronidazole cream?",
    ),
}
ITEMS = [
    Item(f"{group}-{n}", text) for group, texts in QUESTIONS.items() for n, text in enumerate(texts)
]


def _axes(texts: Sequence[str]) -> NDArray[np.float64]:
    """Vectors that say nothing but a text's first letter, and a little of its length."""
    made = np.array([[*np.eye(26)[ord(t[0]) - 97], len(t) / 500] for t in texts])
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def _lettered(n: int, letters: str = "abc") -> list[Item]:
    return [Item(f"q{k:03}", letters[k % len(letters)] + "x" * (k % 7)) for k in range(n)]


@pytest.mark.slow
def test_two_languages_are_grouped_by_what_is_asked() -> None:
    embed = embedder()
    found = themes(Theming(smallest=5), ITEMS, embed)
    of = found.of()
    groups = [item.id.split("-")[0] for item in ITEMS]
    assert adjusted_rand_score(groups, [of[item.id] for item in ITEMS]) > 0.5
    assert len(of) == len(ITEMS)
    assert any("insulin" in name for name in found.tags)
    assert any("antibioti" in name for name in found.tags)
    assert not {"the", "welche"} & {word for name in found.tags for word in name.split(", ")}


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_items_plays_no_part(random: object) -> None:
    items = _lettered(30)
    before = themes(Theming(5), items, _axes)
    random.shuffle(items)  # type: ignore[attr-defined]
    assert themes(Theming(5), items, _axes) == before


def test_people_rename_merge_drop_and_move() -> None:
    items = _lettered(40, "abcd")
    first = themes(Theming(5), items, _axes)
    by_letter = {item.text[0]: first.of()[item.id] for item in items}
    assert len(set(by_letter.values())) == 4
    decided = {by_letter["a"]: "Drugs", by_letter["b"]: "Drugs", by_letter["c"]: DROP}
    second = themes(Theming(5), items, _axes, first, decided, {"q003": "Other"})
    assert set(second.tags) == {"Drugs", by_letter["d"], "Other"}
    assert (
        sum(map(len, second.tags.values())) == 40
    )  # every question has one theme, those of a dropped one as well
    assert second.tags["Other"] == ["q003"]
    assert second.found == first.found  # what was found stays, so that decisions can be taken back
    third = themes(Theming(5), items, _axes, second, {by_letter["a"]: by_letter["a"]})
    assert by_letter["a"] in third.tags
    assert third.moved == {"q003": "Other"}
    with pytest.raises(PlanError, match="all themes are excluded"):
        themes(Theming(5), items, _axes, first, dict.fromkeys(first.found, DROP))


def test_later_questions_get_the_nearest_theme() -> None:
    items = _lettered(30)
    first = themes(Theming(5), items, _axes)
    more = [*items, Item("late", "bxx")]
    later = themes(Theming(5), more, _axes, first)
    assert later.found == first.found
    assert later.of()["late"] == first.of()["q001"]
    fewer = themes(Theming(5), items[3:], _axes, first)
    assert set(fewer.of()) == {item.id for item in items[3:]}


def test_no_themes_among_few_or_alike() -> None:
    for items in (_lettered(3), _lettered(9), [Item(f"q{n}", "same") for n in range(40)]):
        with pytest.raises(PlanError, match=r"prepare\.themes: no themes of 5 or more questions"):
            themes(Theming(5), items, _axes)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_rows_have_no_groups(n: int) -> None:
    assert clusters(np.eye(5)[:n], 3) == []


def test_words_that_all_groups_share_tell_nothing() -> None:
    groups = {
        "a": ["Dosis Insulin", "Dosis insulin Pumpe"],
        "b": ["Dosis Heparin", "Dosis Heparin nachts"],
    }
    assert telling_words(groups, 1) == {"a": ("insulin",), "b": ("heparin",)}
    assert telling_words({"a": ["1 2", ""]}) == {"a": ()}


def test_the_event_is_read_back_and_gives_the_stratum() -> None:
    items = _lettered(30)
    found = themes(Theming(5), items, _axes)
    event = theming_event(found, 1, "2026-01-01T00:00:00Z")
    later = theming_event(Themed(tags={"All": [i.id for i in items]}), 2, "2026-01-02T00:00:00Z")
    assert last_themed([event]) == (1, found)
    assert last_themed([later, event])[0] == 2
    assert last_themed([]) == (0, None)
    for read in (in_study, prepared):
        assert {i.id: i.strata["theme"] for i in read(items, [event])} == found.of()
        assert {i.strata["theme"] for i in read(items, iter([later, event]))} == {"All"}
        assert read(items, []) == tuple(items)


def test_what_is_asked_and_what_is_wrong() -> None:
    assert request_digest(Preparation(sample=Sample(3)), 1) == request_digest(
        Preparation(sample=Sample(3), themes=Theming()), 1
    )
    assert not Preparation(themes=Theming()).draws
    assert list(preparation_problems(Preparation(themes=Theming()), (), "p")) == []
    [small] = preparation_problems(Preparation(themes=Theming(1)), (), "p")
    assert small == "p.themes.smallest: expected 2 or more questions, got 1"
    [by] = preparation_problems(
        Preparation(themes=Theming(), sample=Sample(9, by="theme")), (), "p"
    )
    assert "themes are detected among the selected items" in by
    assert without_model(asdict(Theming())) == {"smallest": 10}
