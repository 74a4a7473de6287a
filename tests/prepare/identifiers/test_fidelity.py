"""What a rewording must not change is told, and what says the same in other words is not."""

from __future__ import annotations

import pytest

from konsil.prepare.identifiers.fidelity import fidelity_warnings, numbers
from konsil.prepare.text.drug_names import drugs_in


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("apixaban 5 mg in AF", "apixaban 50 mg in AF", ["number"]),
        ("apixaban 2,5 mg", "apixaban 25 mg", ["number"]),
        ("vancomycin 15 mg/kg", "vancomycin 15 mg", ["number"]),
        ("K 5.6 for 2 days", "K 5.6 for 2 weeks", ["number"]),
        ("man of 72 with AF", "man with AF", ["number"]),
        ("no bleeding, aspirin?", "bleeding, aspirin?", ["negation"]),
        ("kein Fieber, Amoxicillin?", "Fieber, Amoxicillin?", ["negation"]),
        ("hydroxyzine or hydralazine?", "hydroxyzine?", ["drug"]),
        ("Prednison oder Prednisolon?", "Prednison?", ["drug"]),
        ("stop it?", "Should Mrs Miller stop it?", ["identifier"]),
        ("Which dose?", "Which dose?", ["unchanged"]),
    ],
)
def test_what_differs_is_told(before: str, after: str, kinds: list[str]) -> None:
    assert [warning.kind for warning in fidelity_warnings(before, after)] == kinds


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "pt w AF, apixaban 2,5mg bid?",
            "In a patient with AF, is apixaban 2.5 mg twice daily indicated?",
        ),
        ("heparin 5.000 IE", "Heparin 5,000 IU?"),
        ("72yo, metformin for two weeks", "72-year-old, metformin for 2 weeks"),
        ("no fever", "without fever"),
        ("Furosemid 40 mg", "Furosemide 40 mg?"),
        ("levothyroxine 50 mcg", "Levothyroxine 50 µg"),
        ("kein Fieber seit 3 Tagen", "Seit drei Tagen ohne Fieber"),
    ],
)
def test_the_same_in_other_words_is_not(before: str, after: str) -> None:
    assert fidelity_warnings(before, after) == ()


def test_numbers_have_one_writing() -> None:
    assert numbers("1.500 mg, 1,5 g; 0.50 ml/h; pH 7,40") == ["1500 mg", "1.5 g", "0.5 ml/h", "7.4"]


def test_words_that_look_like_drugs_are_none() -> None:
    assert drugs_in("in April the cholesterol protocol and a symptom, statin or not") == []
