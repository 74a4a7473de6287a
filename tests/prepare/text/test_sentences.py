"""Sentences of German and English answers, against texts cut by hand."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.prepare import sentences

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "sentences.py"
spec = importlib.util.spec_from_file_location("benchmark_sentences", SCRIPT)
assert spec is not None
assert spec.loader is not None
benchmark = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = benchmark
spec.loader.exec_module(benchmark)


def cut(text: str) -> list[str]:
    return [text[s.start : s.end] for s in sentences(text)]


@pytest.mark.parametrize("language", ["de", "en"])
def test_there_are_two_hundred_sentences_and_more(language: str):
    assert sum(len(t.spoken) for t in benchmark.read(language)) >= 200


@pytest.mark.parametrize("texts", benchmark.SETS)
@pytest.mark.parametrize("language", ["de", "en"])
def test_boundaries_are_those_of_a_reader(language: str, texts: str):
    hits, extra, missed = benchmark.score(benchmark.ours, language, texts)
    assert benchmark.f1(hits, extra, missed) >= 0.97, (extra, missed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Herz frei, bds. Unterschenkelödeme. Lunge frei.",
            ["Herz frei, bds. Unterschenkelödeme.", "Lunge frei."],
        ),
        (
            "Herz o. B. bds. Unterschenkelödeme. Ende.",
            ["Herz o. B. bds. Unterschenkelödeme.", "Ende."],
        ),
        ("Leichte bds. Ödeme. Ende.", ["Leichte bds. Ödeme.", "Ende."]),
        ("Pulse tastbar bds. Lunge frei.", ["Pulse tastbar bds.", "Lunge frei."]),
        ("Z. n. STEMI 2017 m. PCI der RCA. Ende.", ["Z. n. STEMI 2017 m. PCI der RCA.", "Ende."]),
        ("STEMI 03/2017 m. PCI. Ende.", ["STEMI 03/2017 m. PCI.", "Ende."]),
        (
            "Siehe Leitlinie Vers. 3.0 der DGK. Ende.",
            ["Siehe Leitlinie Vers. 3.0 der DGK.", "Ende."],
        ),
        ("Aufnahme am 14. 3. 2024 wegen Fieber.", ["Aufnahme am 14. 3. 2024 wegen Fieber."]),
        ("Der 14.3. 2024 war ein Freitag.", ["Der 14.3. 2024 war ein Freitag."]),
        ("Sie nahm 14. 30 Patienten kamen.", ["Sie nahm 14.", "30 Patienten kamen."]),
        ("Ibuprofen 400 b. Bed. bis zu 3x. Ende.", ["Ibuprofen 400 b. Bed. bis zu 3x.", "Ende."]),
        ("Schnitt a. d. Hand. Ende.", ["Schnitt a. d. Hand.", "Ende."]),
        ("Chefarzt a. D. Ende gut.", ["Chefarzt a. D.", "Ende gut."]),
        (
            "In 2 Wo. Spiegelkontrolle beim Arzt. Ende.",
            ["In 2 Wo. Spiegelkontrolle beim Arzt.", "Ende."],
        ),
        ("Bitte 2 Std. Abstand. Ende.", ["Bitte 2 Std. Abstand.", "Ende."]),
        (
            "Kontrolle in 2 Wo. Lassen Sie Blut abnehmen.",
            ["Kontrolle in 2 Wo.", "Lassen Sie Blut abnehmen."],
        ),
        ("A 54 y.o. M with pain. No fever.", ["A 54 y.o. M with pain.", "No fever."]),
        ("She is 54 y.o. Her pain is new.", ["She is 54 y.o.", "Her pain is new."]),
        ("Trop. I was elevated. Repeat.", ["Trop. I was elevated.", "Repeat."]),
        ("Max. 4 doses/24 h. Prof. Lee agrees.", ["Max. 4 doses/24 h.", "Prof. Lee agrees."]),
        (
            "Given 40 mg with good resp. Will repeat.",
            ["Given 40 mg with good resp.", "Will repeat."],
        ),
        ("Vater resp. Mutter kommen.", ["Vater resp. Mutter kommen."]),
    ],
)
def test_clinical_abbreviations_and_dates_end_a_sentence_only_where_one_ends(
    text: str, expected: list[str]
):
    assert cut(text) == expected


@pytest.mark.parametrize("language", ["de", "en"])
def test_spans_hold_the_words_and_no_marks_of_lists(language: str):
    for one in benchmark.read(language):
        assert cut(one.text) == list(one.spoken)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\n ", []),
        ("---\n***\n12.5", []),
        ("Nein.", ["Nein."]),
        ("Yes", ["Yes"]),
        ("Really?! Yes… no.", ["Really?!", "Yes… no."]),
        ("# Title\n\nText.", ["Text."]),
        ("**Title**\nText.", ["Text."]),
        ("**Do not stop it.**\nText.", ["**Do not stop it.**", "Text."]),
        ("Do: 1. Call 112. 2. Wait.", ["Do:", "Call 112.", "Wait."]),
        ("Score: 1. We recommend rest.", ["Score: 1.", "We recommend rest."]),
        ("It is hepatitis B. Wash hands.", ["It is hepatitis B.", "Wash hands."]),
        ("By J. Doe. See p. 3.", ["By J. Doe.", "See p. 3."]),
        ("Am 3. Mai kam er. Er ging.", ["Am 3. Mai kam er.", "Er ging."]),
        (
            "Effects (nausea etc.) Rarely matter (see A. B.). End.",
            ["Effects (nausea etc.) Rarely matter (see A. B.).", "End."],
        ),
        ("(A note. Of two.) Then.", ["(A note. Of two.)", "Then."]),
        ("one\r\ntwo. Three.\r\n\r\nfour", ["one\r\ntwo.", "Three.", "four"]),
        ("> quoted. Twice.", ["quoted.", "Twice."]),
        ("| a | b |\n|---|---|\n| c d | e f. |", ["c d | e f."]),
    ],
)
def test_what_is_a_sentence(text: str, expected: list[str]):
    assert cut(text) == expected


@given(st.text(alphabet="ab.B1 \n-#*|!?()[]:…äÄ", max_size=60))
@settings(max_examples=400, deadline=None)
def test_spans_lie_in_the_text_in_order_and_leave_no_word_out(text: str):
    found = sentences(text)
    end = 0
    for span in found:
        assert end <= span.start < span.end <= len(text)
        piece = text[span.start : span.end]
        assert piece == piece.strip()
        assert any(c.isalpha() for c in piece)
        end = span.end


@given(
    st.lists(
        st.sampled_from(["Take it p.o.", "Call us!", "Ist das so?", "Dr. Lee kam.", "Es half."]),
        min_size=1,
    )
)
def test_plain_sentences_come_back_whole(parts: list[str]):
    plain = [p for p in parts if not p.endswith("p.o.")]
    assert cut(" ".join(plain)) == plain
    assert cut("\n".join(f"- {p}" for p in parts)) == parts


@pytest.mark.parametrize("piece", ["(", ".", "a: 1. ", "**", "| ", "A. ", "[1]", "- "])
def test_hostile_repetitions_come_to_an_end(piece: str):
    began = time.process_time()
    sentences(piece * (20_000 // len(piece)))
    assert time.process_time() - began < 20, (
        "a tenth of a second is usual; what is quadratic takes minutes"
    )
