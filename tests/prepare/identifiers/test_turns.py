"""Follow-ups and texts that ask for no decision: how many the rules find, as the page and the
summary state it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from konsil.prepare.identifiers.suspects import RECALLS, Rule, suspects
from konsil.stats.shares.shares import wilson

ROOT = Path(__file__).parents[3]
TURNS: tuple[Rule, Rule] = ("follow-up", "no question for a decision")
CLEAN = "clean"


def texts(name: str, kind: str) -> list[str]:
    lines = (ROOT / "tests" / "prepare" / "turns" / name).read_text("utf-8").splitlines()
    pairs = [line.partition(": ") for line in lines if not line.startswith("#")]
    return [text for rule, _, text in pairs if rule == kind]


def suspected(some: list[str], *rules: Rule) -> int:
    return sum(any(any(suspects(text, rule)) for rule in rules) for text in some)


@pytest.mark.parametrize("rule", TURNS)
def test_the_recall_that_is_stated_is_that_of_another_hand(rule: Rule) -> None:
    made_up = texts("another.txt", rule)
    k, n, low, high = RECALLS[rule]
    assert (suspected(made_up, rule), len(made_up)) == (k, n)
    assert [round(float(limit), 3) for limit in wilson(k, n)] == [low, high]


def test_every_rule_has_a_recall() -> None:
    assert {*RECALLS} == {*get_args(Rule)}


def test_the_page_states_what_is_measured() -> None:
    page = (ROOT / "docs" / "identifiers.md").read_text("utf-8")
    fresh = [
        f"{suspected(texts('fresh.txt', rule), rule)}/{len(texts('fresh.txt', rule))}"
        for rule in TURNS
    ]
    clean = texts("fresh.txt", CLEAN)
    row = [*fresh, f"{suspected(clean, *TURNS)}/{len(clean)}"]
    assert f"| by the author of the rules, before these were written | {' | '.join(row)} |" in page
    another = " | ".join(f"{RECALLS[rule].k}/{RECALLS[rule].n}" for rule in TURNS)
    assert f"| by another hand | {another} | – |" in page
    assert sum(len(texts("fresh.txt", kind)) for kind in (*TURNS, CLEAN)) == 40


def test_questions_about_patients_are_left_alone() -> None:
    folder = ROOT / "tests" / "prepare" / "identifiers"
    lines = [
        line.removeprefix("h ").removeprefix("d ")
        for name in ("en", "de", "another_en", "another_de")
        for line in (folder / f"{name}.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    plain = [re.sub(r"\{\w+:([^{}]*)\}", r"\1", line) for line in lines]
    assert len(plain) == 400
    assert suspected(plain, *TURNS) == 0


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("or lower?", "follow-up"),
        ("But not in children?", "follow-up"),
        ("Why not?", "follow-up"),
        ("Is that safe in pregnancy?", "follow-up"),
        ("Are you sure?", "follow-up"),
        ("Erkläre mir das genauer", "follow-up"),
        ("Guten Morgen!", "no question for a decision"),
        ("123", "no question for a decision"),
        ("Wie werde ich einen Termin absagen?", "no question for a decision"),
        ("Can you draft a discharge summary", "no question for a decision"),
    ],
)
def test_each_kind_of_sign_is_seen(text: str, rule: Rule) -> None:
    assert list(suspects(text, rule))


@pytest.mark.parametrize(
    "text",
    [
        "Is it safe to combine apixaban with ibuprofen?",
        "Ist es sinnvoll, bei Fieber zu kühlen?",
        "Gilt das Blutdruckziel auch bei Dialyse?",
        (
            "And in a 72-year-old man with atrial fibrillation, eGFR 25 and a recent bleed: which"
            " anticoagulant?"
        ),
        "Apixaban?",
        "What is the full code status of a patient with an advance directive?",
        "Wetterfühligkeit bei Migräne: was hilft?",
        "Which codes of practice exist for antibiotic prophylaxis?",
    ],
)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    assert suspected([text], *TURNS) == 0
