"""How sentences were presented is part of what the manuscript says of the criteria."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.analysis import Results
from konsil.instrument import Criterion, Instrument, Scale
from konsil.report.manuscript.methods import criteria_text
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.study import Study

FINE = Instrument(
    "fine", (Criterion("right", "Right?", Scale(("no", "yes")), "sentence"),), unit="sentence"
)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "en",
            "On the form fine, each page and each judge's call presented the whole answer with one"
            " marked sentence.",
        ),
        (
            "de",
            "Im Bewertungsbogen fine zeigte jede Seite und jeder Aufruf eines LLM-Judge die ganze"
            " Antwort mit einem markierten Satz.",
        ),
    ],
)
def test_one_sentence_at_a_time_is_reported(code: str, sentence: str) -> None:
    spoken = language(code)
    texts = []
    for form in (FINE, replace(FINE, present="sentence")):
        study = Study("t", 1, instruments=(form,))
        material = Material(study, Results((), ()), (), (), (), (), spoken, Numbers(spoken))
        texts.append(criteria_text(material))
    assert texts[1] == f"{texts[0]} {sentence}"
