"""The tables on what the calls of models took."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from konsil.records import Usage
from konsil.report.material import language as languages
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.report.models.usage import FAILURES, usage
from konsil.store.calls.usages import NO_REPLY, OVERLOADED, RATE_LIMIT, REFUSED, SERVER
from konsil.study.data.blinding import letters
from report_files import write

USAGE = (
    Usage(
        "answer",
        "beta",
        12_000,
        12_345,
        12_000,
        1.234,
        9.876,
        12_000,
        3_000_000,
        44_000,
        0,
        4.5,
        0.001,
        0,
        3,
        {"truncated": 3, "rate limit": 345},
    ),
    Usage("judge", "silent", 5, 5, 5, 0.5, 0.75, unpriced=5),
)


def rows(material: Material) -> list[dict[str, str]]:
    section = usage(material)
    assert section is not None
    [taken, *_] = section.tables
    head = [cell.text for cell in taken.head]
    return [dict(zip(head, (cell.text for cell in row), strict=True)) for row in taken.rows]


def made(thin: Callable[..., dict[str, Any]], language: str = "en", **more: Any) -> Material:
    given = thin(language)
    spoken = languages.language(language)
    names = ("study", "results", "items", "answers", "raters", "ratings")
    return Material(
        **{n: given[n] for n in names},
        language=spoken,
        numbers=Numbers(spoken),
        usage=USAGE,
        **more,
    )


def test_every_number_and_blank_where_nothing_is_reported(
    thin: Callable[..., dict[str, Any]],
) -> None:
    first, second = rows(made(thin))
    assert first == {
        "Kind": "System",
        "Name": "beta",
        "Requests": "12\u202f000",
        "Calls": "12\u202f345",
        "Median latency (s)": "1.23",
        "90th percentile (s)": "9.88",
        "Tokens in": "3\u202f000\u202f000",
        "Tokens out": "44\u202f000",
        "From cache": "0",
        "Cost (US dollars)": "4.50",
        "Estimated cost (US dollars)": "< 0.01",
    }
    assert second["Kind"] == "LLM judge"
    assert [second[c] for c in ("Tokens in", "Tokens out", "From cache", "Cost (US dollars)")] == [
        ""
    ] * 4
    section = usage(made(thin))
    assert section is not None
    notes = " ".join(note.text for note in section.tables[0].notes)
    assert "5 of 5 replies have no reported tokens." in notes
    assert "No price is known for 5 replies." in notes
    assert section.sentence.endswith("348 calls gave no usable reply.")


def test_failures_are_columns_and_who_had_none_is_no_row(
    thin: Callable[..., dict[str, Any]],
) -> None:
    section = usage(made(thin))
    assert section is not None
    failed = section.tables[1]
    assert [cell.text for cell in failed.head] == [
        "Kind",
        "Name",
        "Calls",
        "Rate limit",
        "Truncated",
    ]
    assert [[cell.text for cell in row] for row in failed.rows] == [
        ["System", "beta", "12\u202f345", "345", "3"]
    ]


def test_no_model_was_called(thin: Callable[..., dict[str, Any]]) -> None:
    given = thin()
    names = ("study", "results", "items", "answers", "raters", "ratings")
    assert (
        usage(
            Material(
                **{n: given[n] for n in names},
                language=languages.ENGLISH,
                numbers=Numbers(languages.ENGLISH),
            )
        )
        is None
    )


def test_every_failure_has_a_column() -> None:
    assert {RATE_LIMIT, OVERLOADED, SERVER, REFUSED, NO_REPLY} <= FAILURES.keys()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_and_the_file(
    thin: Callable[..., dict[str, Any]], language: str, tmp_path: Path
) -> None:
    page = write(tmp_path / "report", **thin(language), usage=USAGE)
    html = page.read_text("utf-8")
    text = " ".join(re.sub("<[^>]*>", " ", html).split())
    title = {"en": "Latency, tokens and costs", "de": "Antwortzeit, Tokens und Kosten"}[language]
    assert title in text
    assert html.count('<h2 id="usage">') == 1
    assert ("Median latency" in text) == (language == "en")
    lines = list(csv.DictReader((page.parent / "usage.csv").read_text("utf-8").splitlines()))
    assert [(r["who"], r["median"], r["tokens_in"], r["failures.truncated"]) for r in lines] == [
        ("beta", "1.234", "3000000", "3"),
        ("silent", "0.5", "", "0"),
    ]


def test_a_blinded_report_has_letters_and_no_prices(thin: Callable[..., dict[str, Any]]) -> None:
    given = thin()
    study, raters = given["study"], given["raters"]
    by = {
        "answer": [s.id for s in study.systems],
        "judge": [r.id for r in raters if r.kind == "llm"],
    }
    raw = tuple(
        Usage(kind, who, 1, 1, 1, 2.0, 3.0, cost=1.0) for kind, names in by.items() for who in names
    )  # type: ignore[arg-type]
    names = letters(study, raters, given["answers"], b"key")
    shown = names.usage(raw)
    assert [one.who for one in shown] == ["K", "L", "M", "judge 1", "judge 2"]
    assert {one.cost for one in shown} == {None}
    assert {one.median for one in shown} == {2.0}
    heads = rows(made(thin, is_blinded=True))[0].keys()
    assert not [head for head in heads if "ost (" in head]
    assert "withheld" in " ".join(
        n.text for t in (usage(made(thin, is_blinded=True)),) if t for n in t.tables[0].notes
    )


def test_letters_do_not_tell_which_models_are_played(thin: Callable[..., dict[str, Any]]) -> None:
    given = thin()
    study = given["study"]
    raw = [Usage("answer", s.id, 1, 1, 1, 2.0, 3.0) for s in study.systems[1:]]
    raw.append(Usage("answer", study.systems[0].id, 1, 1, 1, None, None, is_played=True))
    shown = letters(study, given["raters"], given["answers"], b"key").usage(raw)
    assert len({(one.median, one.slow, one.is_played, one.cost) for one in shown}) == 1
