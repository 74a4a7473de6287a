"""From a sheet to the first rating, and from ratings to a Table 2, on German pages alone."""

from __future__ import annotations

import ast
import re
import time
from functools import cache
from html import unescape
from pathlib import Path
from string import Formatter

import pytest

import konsil
from konsil.locale import translations

from .conftest import ANSWERS, CASES, answers_xlsx, cases_csv, fields_of, rated_csv

ROOT = Path(konsil.__file__).parent
STEPS = ("data", "questions", "people", "plan", "analyses", "save", "conduct")


@cache
def english_fragments() -> frozenset[str]:
    """Parts of four words or more of every English text that the German catalogue has."""
    texts = {str(text) for text in translations("de")._catalog if isinstance(text, str)}
    for path in ROOT.rglob("*.py"):
        code = path.read_text("utf-8")
        for node in ast.walk(ast.parse(code)) if "message(" in code else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                texts |= {str(a.value) for a in node.args[:1] if isinstance(a, ast.Constant)}
    literals = {
        " ".join(literal.split())
        for text in texts
        if "%(" not in text
        for literal, *_ in Formatter().parse(text)
    }
    return frozenset(literal for literal in literals if literal.count(" ") >= 3)


def in_english(page: str) -> list[str]:
    """What a page marks as English, and what of it is a text of the catalogue in English."""
    body = page.partition('<div class="sheet">')[2]
    alerts = "".join(re.findall(r'role="alert">.*?</p>', page))
    marked = re.findall(r'<(?:span|li)[^>]* lang="en"[^>]*>(.*?)</', alerts + body, re.DOTALL)
    bare = re.sub(r"<pre.*?</pre>", " ", alerts + body, flags=re.DOTALL)
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).split())
    return marked + sorted(part for part in english_fragments() if part in words)


def test_english_on_a_page_is_recognised() -> None:
    sentence = "a choice needs at least two labels, got ['yes']"
    for page in (f'<div class="sheet"><li>{sentence}</li>', f'<p role="alert">{sentence}</p>'):
        assert in_english(page)
    assert in_english('<div class="sheet"><li><span lang="en">A fault</span></li>') == ["A fault"]
    assert in_english('<div class="sheet"><p>Nichts wurde importiert: Zeile 2</p>') == []


def through(here, step: str, do: str = "next", **changed) -> str:
    return here.post(step, do, **{**fields_of(here.client.get(f"/{step}").text), **changed}).text


def ended(here, action: str) -> str:
    """The page after an action has ended."""
    here.post("conduct", action)
    job, until = here.workshop.conduct.job, time.monotonic() + 60
    while job.is_running and time.monotonic() < until:
        time.sleep(0.05)
    assert not job.is_running
    return here.client.get("/conduct").text


def stays_german(pages: dict[str, str], sentences: dict[str, str]) -> None:
    """Each page has its sentence, where it is to have one, and none of them has English."""
    assert {place: english for place, page in pages.items() if (english := in_english(page))} == {}
    missing = {
        place: sentence for place, sentence in sentences.items() if sentence not in pages[place]
    }
    assert missing == {}


def texts_of(here) -> dict[str, str]:
    return {step: unescape(here.client.get(f"/{step}").text) for step in STEPS}


def checked(here, step: str, **changed) -> str:
    """What the check says after a change, which is then taken back."""
    before = fields_of(here.client.get(f"/{step}").text)
    through(here, step, "stay", **changed)
    page = unescape(here.client.get("/save").text)
    here.post(step, "stay", **before)
    return page


def rated(setup):
    """Ratings that exist, read on German pages."""
    here = setup(language="de")
    here.post("data", "read", files=[("file", ("ratings.csv", rated_csv(), ""))], title="Zwei")
    through(here, "data")
    return here


@pytest.mark.slow
def test_what_the_check_of_ratings_finds_is_told_in_german(setup) -> None:
    """Kills: an error of the check that is made without a message id."""
    here = rated(setup)
    pages = {
        "one": checked(here, "questions", **{"q0-labels": "yes"}),
        "twice": checked(here, "questions", **{"q0-labels": "yes\nyes"}),
        "other": checked(here, "questions", **{"q0-labels": "yes\nnope"}),
        "abstention": checked(here, "questions", **{"q0-abstain": "yes"}),
        "raters": checked(here, "people", **{"p0-number": "2"}),
    }
    stays_german(
        pages,
        {
            "one": "Kriterium „correct“, scale.labels: Eine Auswahl braucht mindestens zwei Labels",
            "twice": "Das Label „yes“ kommt zweimal vor",
            "other": "12 Probleme; nichts wurde importiert: Zeile 2: „no“ ist kein Label",
            "abstention": "„yes“ ist eines der Labels; eine Enthaltung ist kein Wert",
            "raters": "Die bewertende Person „rater-2“ gibt es nicht; meinten Sie „rater-1“?",
        },
    )


FILES = {
    "column": (b"Model", b"Modell", "columns.system: Die Spalte „Model“ gibt es nicht; meinten"),
    "label": (b"yes", b"jaja", "Zeile 3: „jaja“ ist kein Label des Kriteriums „correct“"),
    "rater": (b"anna", b"otto", "Zeile 2: Die bewertende Person „otto“ gibt es nicht; bekannt"),
    "system": (b"Gamma9", b"Delta", "Das System „Delta“ gibt es nicht; bekannt: Alpha, Gamma9"),
    "item": (b"\n2,Alpha", b"\n,Alpha", "Zeile 8: Nr: ist leer"),
    "twice": (
        b"Correct\n1,Alpha,anna,no",
        b"Correct\n1,Alpha,anna,no\n1,Alpha,anna,yes",
        "„rater-1“ bewertet „1:Alpha“ auf „correct“ hier als „yes“ und in Zeile 2 als „no“",
    ),
    "cells": (b"1,Alpha,anna,no\n", b"1,Alpha\n", "Zeile 2: 2 Felder, die Kopfzeile hat 4"),
}
"""What is replaced in the first place of a saved table, by what, and what the import says."""


@pytest.mark.slow
def test_ratings_come_to_a_table_2_and_what_fails_on_the_way_is_told_in_german(setup) -> None:
    """Kills: an error of import that is made without a message id, and notes marked as English."""
    here = rated(setup)
    names = re.findall(r'name="analysis" value="([^"]+)"', here.client.get("/analyses").text)
    here.post("analyses", "next", analysis=[unescape(name) for name in names])
    pages = texts_of(here) | {"saved": here.post("save", "save").text}
    table = here.folder / "ratings.csv"
    try:
        for name, (former, new, _) in FILES.items():
            assert former in rated_csv(), name
            table.write_bytes(rated_csv().replace(former, new, 1))
            pages[name] = unescape(ended(here, "import"))
        table.write_bytes(rated_csv())
        for action in ("import", "report", "table"):
            pages[action] = unescape(ended(here, action))
            assert here.workshop.conduct.job.faults == ()
        pages["late"] = unescape(ended(here, "replace"))
    finally:
        here.workshop.conduct.close()
    said = {name: sentence for name, (*_, sentence) in FILES.items()}
    stays_german(pages, {**said, "late": "ersetzt werden können nur Importe"})


PLANS = {
    "many": ({"l0-per_item": "9"}, "9 Bewertende je Item verlangt, aber das Panel hat 3"),
    "repeats": ({"l0-repeats": "50"}, "zu wenige, um 50 zu wiederholen"),
}
TRIALS = {
    "key": ({"m0-key_env": "NO_SUCH_KEY"}, "Die Umgebungsvariable NO_SUCH_KEY enthält keinen"),
    "server": ({}, "judge-1"),
}


@pytest.mark.slow
def test_a_sheet_comes_to_its_first_rating_and_what_fails_on_the_way_is_told_in_german(
    setup,
) -> None:
    """Kills: an error of a plan or of a call that is made without a message id."""
    here = setup(language="de")
    files = [("file", (CASES, cases_csv(), "")), ("file", (ANSWERS, answers_xlsx(), ""))]
    pages = {"read": here.post("data", "read", files=files, title="T").text}
    pages["needs"] = here.client.get("/save").text
    through(here, "data")
    through(here, "questions", "add five")
    through(here, "questions")
    through(here, "people", "add human")
    through(here, "plan")
    for name, (changed, _) in PLANS.items():
        through(here, "plan", "stay", **changed)
        pages[name] = unescape(here.client.get("/plan").text)
        through(here, "plan", "stay", **{"l0-per_item": "2", "l0-repeats": "0"})
    through(here, "people", "add llm")
    place = {"m0-url": "http://127.0.0.1:9/v1", "m0-model": "m"}
    for name, (changed, _) in TRIALS.items():
        pages[name] = unescape(through(here, "people", "try 0", **{**place, **changed}))
    through(here, "people", **place)
    pages |= {step: unescape(page) for step, page in texts_of(here).items()}
    pages["saved"] = here.post("save", "save").text
    try:
        for action in ("judge", "report", "import", "plan", "invite", "office", "replace"):
            pages[action] = unescape(ended(here, action))
    finally:
        here.workshop.conduct.close()
    said = {name: sentence for name, (_, sentence) in {**PLANS, **TRIALS}.items()}
    stays_german(pages, said)
    assert here.workshop.conduct.links
