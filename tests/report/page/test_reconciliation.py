"""The reconciliation of imported tables in the report: every number of the event, in both
languages."""

from __future__ import annotations

import pytest

from konsil.analysis import Results
from konsil.api.folder.sources.reply_ratings import REASONS as REPLY_REASONS
from konsil.records import Event
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.page.extras import KINDS, REASONS, reconciliation
from konsil.sources.pocqi import pocqi_ratings, pocqi_rules
from konsil.study import Study

DATA = {
    "read": 12,
    "kept": 9,
    "dropped": {},
    "of": "ratings",
    "tables": {
        "verdicts of judges": {"read": 0, "kept": 0, "left out": {}},
        "users": {"read": 4, "kept": 3, "left out": {"user with a test address": 1}},
        "comparisons": {
            "read": 12_000,
            "kept": 11_990,
            "left out": {"no user": 2, "user with a test address": 8},
        },
        "comparisons rated": {"kept": 11_000},
    },
}


def material(lang: str, data: dict[str, object]) -> Material:
    spoken = language(lang)
    event = Event("reading-1", "reading", "tables", "2026-01-01T00:00:00Z", data)
    return Material(
        study=Study("T", 1),
        results=Results((), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
        events=(event,),
    )


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        (
            "en",
            [
                ("Raters", "", "4", "3", ""),
                ("Raters", "rater with a test address", "", "", "1"),
                ("Comparisons assigned", "", "12\u202f000", "11\u202f990", ""),
                ("Comparisons assigned", "rater with a test address", "", "", "8"),
                ("Comparisons assigned", "no rater recorded", "", "", "2"),
                ("Comparisons with a rating", "", "", "11\u202f000", ""),
            ],
        ),
        ("de", [("Bewertende", "", "4", "3", "")]),
    ],
)
def test_every_count_has_its_row(lang: str, expected: list[tuple[str, ...]]) -> None:
    table = reconciliation(material(lang, DATA))
    assert table is not None
    rows = [tuple(cell.text for cell in row) for row in table.rows]
    assert rows[: len(expected)] == expected
    assert lang == "de" or len(rows) == len(expected)


def test_no_tables_no_reconciliation() -> None:
    assert reconciliation(material("en", {"read": 3, "kept": 3, "dropped": {}})) is None


def test_every_reason_of_the_import_has_its_words() -> None:
    of_rules = {
        getattr(pocqi_rules, n)
        for n in ("PILOT", "OUTSIDE", "TEST", "NO_USER", "UNKNOWN_USER", "UNKNOWN_QUESTION")
    }
    of_ratings = {getattr(pocqi_ratings, n) for n in ("LEFT_OUT", "NO_ASSIGNMENT", "NO_CRITERION")}
    assert of_rules | of_ratings <= REASONS.keys()
    assert REASONS.keys() >= set(REPLY_REASONS)
    assert len(KINDS) == 8
