"""Who answered: the table of systems."""

from __future__ import annotations

from dataclasses import replace

from tests.report.conftest import arguments

from konsil.analysis import Results
from konsil.records import Answer, Item, System
from konsil.report.material.language import ENGLISH
from konsil.report.material.overview import Material, _systems
from konsil.report.material.tables import Numbers
from konsil.report.page.page import _samples


def systems(*answering: str) -> list[str]:
    """Systems of the table, where the protocol names s1 and s2 and these answered."""
    given = arguments()
    study = replace(given["study"], systems=(System("s1", model="fake:"), System("s2")))  # type: ignore[type-var]
    answers = tuple(Answer(f"i:{s}", "i", s, "Yes.") for s in answering)
    table = _systems(
        Material(
            study=study,
            results=Results((), ()),
            items=(),
            answers=answers,
            raters=(),
            ratings=(),
            language=ENGLISH,
            numbers=Numbers(ENGLISH),
        )
    )  # type: ignore[arg-type]
    return [row[0].text for row in table.rows]


def test_systems_of_the_protocol_stay_where_one_of_them_answered() -> None:
    assert systems("s1") == ["s1", "s2"]
    assert systems("clinicdesk", "s2") == ["s1", "s2", "clinicdesk"]
    assert systems() == ["s1", "s2"], "nobody answered yet"


def test_tables_with_systems_of_their_own_have_no_examples_beside_them() -> None:
    assert systems("northwind", "clinicdesk") == ["clinicdesk", "northwind"]


def test_numbers_of_answers_that_only_ratings_show_are_withheld_with_the_other_counts() -> None:
    """Two answers of s1 and one of s2 would show of whom a rating is missing."""
    study = arguments()["study"]
    withheld = Results((), (), is_withheld=True)
    named = [Answer(f"{item}:{s}", item, s) for item, s in (("i", "s1"), ("j", "s1"), ("i", "s2"))]
    items = tuple(Item(n, "") for n in ("i", "j"))
    for texts, numbers, n_shown in ((("", "", ""), {"–"}, 0), (("Yes.",) * 3, {"2", "1"}, 3)):
        answers = tuple(replace(a, text=text) for a, text in zip(named, texts, strict=True))
        material = Material(
            study=study,  # type: ignore[arg-type]
            results=withheld,
            items=items,
            answers=answers,
            raters=(),
            ratings=(),
            language=ENGLISH,
            numbers=Numbers(ENGLISH),
        )
        assert {row[3].text for row in _systems(material).rows} == numbers
        assert sum(len(shown) for _, shown in _samples(material)) == n_shown
