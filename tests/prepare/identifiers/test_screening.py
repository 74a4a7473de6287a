"""Questions that should not be rated: what rules find and leave alone, and that people's decisions
stand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import PlanError
from konsil.prepare import (
    KEEP,
    Preparation,
    Screening,
    draw,
    last_screened,
    preparation_problems,
    request_digest,
    screen,
    screening_event,
)
from konsil.prepare.identifiers.suspects import PATTERNS, suspects
from konsil.records import Event, Item

IDENTIFIED = [
    "My patient Mrs Smith has AF. Apixaban?",
    "Herr Müller, 63, hat Vorhofflimmern. Welche Dosis?",
    "Frau Dr. Meier-Schmidt fragt nach Metformin",
    "Pt DOB 03/04/1961 with CHF",
    "geboren am 3.4.1961, Z.n. TAVI",
    "born 1961-04-03, CKD 3",
    "seen on 3 March 2021, INR 4",
    "am 3. März 2021 operiert",
    "MRN 00123456: next step?",
    "Patientennummer: 4711001, welche Therapie?",
    "call me at +49 30 1234567 about warfarin",
    "write to jane.doe@example.org",
    "SSN 123-45-6789",
    "lives at 12 Baker Street, falls",
    "wohnt Lindenstraße 5, stürzt oft",
    "a 93-year-old woman with delirium",
    "92-jährige Patientin mit Sturz",
]
FOLLOWING = [
    "And what about children?",
    "Thanks! Is it safe in pregnancy?",
    "User: dose? Assistant: 5 mg. User: and in CKD?",
    "You said amoxicillin earlier, but she is allergic",
    "Same patient as above, now febrile",
    "Und wie ist es bei Kindern?",
]
NO_DECISION = [
    "Please translate this discharge summary into Spanish",
    "Write a letter to the insurance for prior authorisation",
    "Schreibe einen Arztbrief über die Patientin",
    "Which language model are you?",
    "ICD-10 codes for pneumonia?",
    "Give me five USMLE questions on sepsis",
]
SOUND = [
    "Apixaban dose in a 72-year-old with GFR 30 and weight 58 kg?",
    "Which antibiotic for CAP per the 2019 ATS/IDSA guideline?",
    "Parkinson disease: is Mr. Parkinson's sign specific? Levodopa 100/25 mg 1-1-1?",
    "Schwangere in SSW 32+4 mit Hypertonie 160/110: Labetalol oder Nifedipin?",
    "BP 120/80, HR 72, K 5.6 mmol/l, Na 128: what next?",
    "ESC 2021 vs 2024: when to start SGLT2 inhibitors in HFpEF?",
    "How about the role of aspirin in primary prevention of cardiovascular disease?",
    "Vitamin B12 1000 mcg: oral or i.m. after gastric bypass?",
    "Welche Therapie bei Morbus Crohn mit Fisteln nach 10-12 Wochen Infliximab?",
    "HbA1c 9.5-10.5 %, BMI 30-35: insulin first?",
    "Give 0.9 % saline 500 ml over 2-4 h?",
]


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        (IDENTIFIED, "identifier"),
        (FOLLOWING, "follow-up"),
        (NO_DECISION, "no question for a decision"),
    ],
)
def test_each_rule_finds_its_own(texts: list[str], rule: str) -> None:
    missed = [text for text in texts if not any(suspects(text, rule))]  # type: ignore[arg-type]
    assert missed == []


def test_sound_questions_are_left_alone() -> None:
    found = {(text, rule): list(suspects(text, rule)) for text in SOUND for rule in PATTERNS}
    assert {key: parts for key, parts in found.items() if parts} == {}


def items(*texts: str) -> list[Item]:
    return [Item(f"q{n}", text) for n, text in enumerate(texts)]


def test_what_people_decide_goes_before_the_rules() -> None:
    asked_for = items(IDENTIFIED[0], SOUND[0], SOUND[1])
    screened, findings = screen(
        Screening(undecided="kept"), asked_for, {"q0": KEEP, "q2": "duplicate", "gone": "x"}
    )
    assert screened.out == {"duplicate": ["q2"]}
    assert screened.decided == {"q0": KEEP, "q2": "duplicate"}
    assert findings["q0"].reason == "identifier"
    assert findings["q0"].evidence == "Mrs Smith"


def test_evidence_is_not_kept() -> None:
    screened, _ = screen(Screening(undecided="kept"), items(IDENTIFIED[0]), {})
    assert "Smith" not in str(screening_event(screened, 1, "2025-01-01T00:00:00Z"))


def test_languages_need_to_be_sure() -> None:
    sure = {
        "Qué dosis?": ("es", 0.99),
        "apixaban vs rivaroxaban": ("pt", 0.4),
        "Which dose?": ("en", 0.9),
    }
    screened, _ = screen(
        Screening(languages=("en",), undecided="kept"), items(*sure), {}, lambda text: sure[text]
    )
    assert screened.out == {"other language": ["q0"]}


@given(
    st.lists(st.sampled_from([*IDENTIFIED, *FOLLOWING, *SOUND]), min_size=1, max_size=12),
    st.randoms(),
)
def test_order_plays_no_part_and_nobody_is_lost(texts: list[str], rng: random.Random) -> None:
    ordered = items(*texts)
    mixed = list(ordered)
    rng.shuffle(mixed)
    one, other = (
        screen(Screening(undecided="kept"), ordered, {})[0],
        screen(Screening(undecided="kept"), mixed, {})[0],
    )
    assert one == other
    assert sum(map(len, one.out.values())) == sum(
        any(any(suspects(item.text, rule)) for rule in PATTERNS) for item in ordered
    )


def test_the_last_screening_counts() -> None:
    first, _ = screen(Screening(undecided="kept"), items(*SOUND), {})
    second, _ = screen(Screening(undecided="kept"), items(*SOUND), {"q1": "duplicate"})
    events = [
        screening_event(second, 2, "2025-01-02T00:00:00Z"),
        screening_event(first, 1, "2025-01-01T00:00:00Z"),
    ]
    events.append(Event("other", "consent", "r", "2025-01-03T00:00:00Z"))
    assert last_screened(events) == (2, second)
    assert last_screened([]) == (0, None)


def test_a_draw_is_from_what_is_left_and_counts_the_rest() -> None:
    spec, pool = (
        Preparation(screen=Screening(undecided="kept")),
        items(IDENTIFIED[0], FOLLOWING[0], *SOUND),
    )
    screened, _ = screen(spec.screen or Screening(undecided="kept"), pool, {})
    drawn = draw(spec, pool, (), seed=1, screened=screened)
    assert drawn.pool == len(pool)
    assert drawn.lost == {"identifier": 1, "follow-up": 1}
    assert drawn.size == len(SOUND)
    with pytest.raises(PlanError, match="not screened yet"):
        draw(spec, pool, (), seed=1)
    with pytest.raises(PlanError, match="have changed since"):
        draw(spec, [*pool, Item("late", "?")], (), seed=1, screened=screened)
    with pytest.raises(PlanError, match="have changed since"):
        draw(
            replace(spec, screen=Screening(languages=("en",), undecided="kept")),
            pool,
            (),
            seed=1,
            screened=screened,
        )
    everything, _ = screen(Screening(undecided="kept"), pool, {item.id: "none" for item in pool})
    with pytest.raises(PlanError, match="were excluded"):
        draw(spec, pool, (), seed=1, screened=everything)


def test_digests_of_draws_that_ask_for_no_screening_stay() -> None:
    assert request_digest(Preparation(lexical_match=True), 1) == "3c5dedfc1edf22cd"
    other, _ = screen(Screening(undecided="kept"), items(*SOUND), {"q1": "duplicate"})
    none, _ = screen(Screening(undecided="kept"), items(*SOUND), {})
    spec = Preparation(screen=Screening(undecided="kept"))
    assert request_digest(spec, 1, other) != request_digest(spec, 1, none)


def test_what_is_wrong_with_a_screening_is_told() -> None:
    assert list(
        preparation_problems(Preparation(screen=Screening(languages=("english",))), (), "prepare")
    ) == [
        "prepare.screen.languages: expected codes of two letters such as 'en' or 'de', got"
        " 'english'"
    ]
    (empty,) = preparation_problems(Preparation(screen=Screening(rules=())), (), "prepare")
    assert "is empty; expected rules" in empty
