"""Identifiers: the figures that konsil prints and the page's are those that the questions give, and
no text stalls."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from konsil.prepare.identifiers.identifiers import RECALL, identifiers
from konsil.stats.shares.shares import wilson

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "identifiers_bench", ROOT / "benchmarks" / "identifiers.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_figure_that_is_printed_is_measured_on_questions_by_another_hand(
    bench: ModuleType,
) -> None:
    questions = list(bench.by_another_hand())
    assert (len(questions), sum(bool(one.identifiers) for one in questions)) == (200, 120)
    measured = bench.recall(questions)
    assert (measured.k, measured.n) == (RECALL.k, RECALL.n)
    low, high = wilson(RECALL.k, RECALL.n)
    assert (round(float(low), 3), round(float(high), 3)) == (RECALL.low, RECALL.high)


@pytest.mark.slow
def test_the_pages_tables_are_what_the_command_writes(bench: ModuleType) -> None:
    page = bench.PAGE.read_text("utf-8")
    assert (
        page.partition(bench.BEGIN)[2].partition(bench.END)[0].strip()
        == "\n".join(bench.tables()).strip()
    )


def test_half_of_two_hundred_questions_are_held_out(bench: ModuleType) -> None:
    everything = list(bench.questions())
    assert (len(everything), sum(one.held_out for one in everything)) == (200, 100)
    assert {(one.language, bool(one.identifiers)) for one in everything if one.held_out} == {
        (language, has) for language in ("en", "de") for has in (True, False)
    }


def test_nothing_is_missed_or_wrongly_suspected_in_the_other_half(bench: ModuleType) -> None:
    assert list(bench.missed()) == []


@pytest.mark.parametrize(
    "text",
    [
        "Mr. O'Brien's creatinine is 2.4",
        "SMITH, ROBERT 72M with AF",
        "Patientin Erika Mustermann, 43",
        "Insurance no. A123456789",
        "Fallnr. 4432871",
        "Dr. Patel asks",
        "Admitted 3/14 discharged 3/20",
        "Room 412 bed B",
    ],
)
def test_regular_identifiers_are_suspected(text: str) -> None:
    assert list(identifiers(text))


@pytest.mark.parametrize(
    "text",
    [
        "St. John's wort with apixaban",
        "patients older than 90 years",
        "aged over 95 years",
        "Patient Health Questionnaire of 12",
        "Benzathine penicillin 2400000 IU once",
        "PMID 31535829",
        "May 5 mg be given",
        "A traveller from Thailand",
        "98.6F and SpO2 97 %",
        "Charles Bonnet syndrome",
        "Frau mit Vorhofflimmern, Herr Anfang 50",
        "Mutter Brustkrebs, Vater Diabetiker",
    ],
)
def test_what_looks_like_an_identifier_is_left_alone(text: str) -> None:
    assert [text[start:end] for start, end in identifiers(text)] == []


@pytest.mark.parametrize(
    "part", ["\n", "1-", "Aa ", "Aa-", "A. ", "x@", "MRN 1", "Mr. von ", "case no 1A/"]
)
def test_a_hostile_text_is_read_through(part: str) -> None:
    list(identifiers(part * 3_000))
