"""Who answered: the table of systems."""

from __future__ import annotations

from dataclasses import replace

from tests.report.conftest import arguments

from konsil.analysis import Results
from konsil.records import Answer, System
from konsil.report.material.language import ENGLISH
from konsil.report.material.overview import Material, _systems
from konsil.report.material.tables import Numbers


def systems(*answering: str) -> list[str]:
    """Systems of the table, where the protocol names s1 and s2 and these answered."""
    given = arguments()
    study = replace(given["study"], systems=(System("s1", model="fake:"), System("s2")))  # type: ignore[type-var]
    answers = tuple(Answer(f"i:{s}", "i", s, "Yes.") for s in answering)
    table = _systems(
        Material(study, Results((), ()), (), answers, (), (), ENGLISH, Numbers(ENGLISH))
    )  # type: ignore[arg-type]
    return [row[0].text for row in table.rows]


def test_systems_of_the_protocol_stay_where_one_of_them_answered() -> None:
    assert systems("s1") == ["s1", "s2"]
    assert systems("clinicdesk", "s2") == ["s1", "s2", "clinicdesk"]
    assert systems() == ["s1", "s2"], "nobody answered yet"


def test_tables_with_systems_of_their_own_have_no_examples_beside_them() -> None:
    assert systems("northwind", "clinicdesk") == ["clinicdesk", "northwind"]
