"""Shapes that the first step recognises beside rows of ratings: counts, cross tables, patterns of
headings."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape

import pytest

from small_studies import exit_code

from .test_data_step import chosen, items_of, through

COUNTS = "\n".join(
    ["Patient;ja, sofort;später;nein", *(f"P{k};{k % 3};{2 - k % 3};1" for k in range(1, 13))]
)
CROSSED = "Dr. Adler,mild,severe\nmild,20,1\nsevere,4,13\n"


def command_in(page: str) -> str:
    [command] = re.findall(r'<pre class="command"><code>(.*?)</code></pre>', page)
    return unescape(command)


def numbers_of(command: str, capsys) -> dict[str, float]:
    """What a command computes: statistic -> value."""
    assert exit_code(*shlex.split(command)[1:], "--json") == 0
    rows = json.loads(capsys.readouterr().out)["statistics"]
    return {row["name"]: row["value"] for row in rows}


@pytest.mark.parametrize(
    ("name", "content", "command", "asked"),
    [
        (
            "zahlen.csv",
            COUNTS,
            "konsil agreement zahlen.csv --separator ';' --counts --unit Patient",
            [
                "Did 1 rater choose “ja, sofort” for “P1”?",
                "Did 1 rater choose “später” for “P1”?",
                "Did 1 rater choose “nein” for “P1”?",
            ],
        ),
        (
            "summen.csv",
            "Adler,mild,severe,Gesamt\nmild,20,1,21\nsevere,4,13,17\nGesamt,24,14,38\n",
            "konsil agreement summen.csv --cross-table",
            [
                "Did the rater of the rows choose “mild”, and the other “mild”, in 20 cases?",
                "Did the rater of the rows choose “mild”, and the other “severe”, in 1 case?",
            ],
        ),
        (
            "cross table.csv",
            CROSSED,
            "konsil agreement 'cross table.csv' --cross-table",
            [
                "Did the rater of the rows choose “mild”, and the other “mild”, in 20 cases?",
                "Did the rater of the rows choose “mild”, and the other “severe”, in 1 case?",
            ],
        ),
    ],
)
def test_counts_and_cross_tables_are_asked_back_with_the_command_that_computes_them(
    setup, name, content, command, asked
):
    """Kills: a table without raters in a study; a command without the settings of its file."""
    here = chosen(setup, name, content.encode())
    page = here.client.get("/data").text
    assert command_in(page) == command
    assert items_of(page) == asked
    page = through(here, "next").text
    assert not here.workshop.tables[name].is_used and "sources" not in here.workshop.data
    assert "A study cannot hold these ratings" in page
    assert "cannot be used without one" not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "statistic", "value"),
    [
        ("zahlen.csv", COUNTS, "multirater_percent_agreement", 2 / 9),
        ("cross table.csv", CROSSED, "percent_agreement", 33 / 38),
    ],
)
def test_the_command_on_the_page_gives_the_agreement(
    setup, tmp_path, monkeypatch, capsys, name, content, statistic, value
):
    """Kills: advice that ends in an error, or in the number of other columns."""
    here = chosen(setup, name, content.encode())
    command = command_in(here.client.get("/data").text)
    (tmp_path / name).write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert numbers_of(command, capsys)[statistic] == pytest.approx(value)


def test_counts_are_chosen_where_they_are_not_recognised(setup):
    """Kills: shapes that the page recognises and nobody can choose."""
    rows = [f"P{k},{k % 4},{(k * 3) % 5},{k % 2}" for k in range(1, 9)]
    here = chosen(setup, "few.csv", "\n".join(["Patient,mild,severe,Ward", *rows]).encode())
    assert 'class="command"' not in here.client.get("/data").text
    through(here, **{"t0-form": "counts"})
    roles = {"t0c0": "item", "t0c1": "count", "t0c2": "count", "t0c3": "unused"}
    page = through(here, **roles).text
    command = "konsil agreement few.csv --counts --unit Patient --labels mild,severe"
    assert command_in(page) == command
    assert items_of(page)[0] == "Did 1 rater choose “mild” for “P1”?"


def rated_by_pattern(headings: list[str]) -> bytes:
    rows = [
        ",".join(["yes" if (k * n) % 3 else "no" for n in range(1, len(headings) + 1)])
        for k in range(1, 13)
    ]
    return "\n".join(
        [",".join(["Case", *headings]), *(f"c{k},{row}" for k, row in enumerate(rows, 1))]
    ).encode()


def test_the_pattern_of_headings_is_shown_changed_and_read_back(setup):
    """Kills: a pattern that the page keeps to itself; one that changes the words of the page
    alone."""
    here = chosen(setup, "p.csv", rated_by_pattern([f"R{r}_Q{q}" for r in (1, 2) for q in (1, 2)]))
    page = here.client.get("/data").text
    assert 'name="t0-names" value="{rater}_{criterion}"' in page
    assert items_of(page)[1] == "Did R1 rate it “yes”? (Q1)"
    through(here, **{"t0-names": "R{rater}_Q{criterion}"})
    page = through(here).text
    assert items_of(page)[1] == "Did 1 rate it “yes”? (1)"
    assert [r["id"] for r in here.workshop.data["raters"]] == ["1", "2"]
    assert [s["raters"] for s in here.workshop.data["sources"]] == [
        {f"R1_Q{q}": "1", f"R2_Q{q}": "2"} for q in (1, 2)
    ]
    through(here, **{"t0-names": ""})
    page = through(here).text
    assert items_of(page)[1:3] == ["Did R1_Q1 rate it “yes”?", "Did R1_Q2 rate it “yes”?"]
    assert len(here.workshop.data["raters"]) == 4
    through(here, **{"t0-names": "R{rater}_Q1"})
    assert items_of(here.client.get("/data").text)[1:] == [
        "Did 1 rate it “yes”?",
        "Did 2 rate it “no”?",
    ]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("R{rater}", "„R{rater}“: Keine Spalte heißt so; die Spalten sind 'Case', 'A_x', 'B_x'"),
        ("{rater}_{unit}", "„{rater}_{unit}“: Erwartet wird {rater} oder {criterion} oder beides"),
        ("A_x", "„A_x“: Erwartet wird {rater}"),
    ],
)
def test_a_pattern_that_does_not_fit_is_a_sentence_and_changes_nothing(setup, pattern, sentence):
    here = setup(language="de")
    file = ("file", ("p.csv", rated_by_pattern(["A_x", "B_x"]), "text/csv"))
    here.post("data", "read", files=[file], title="T")
    through(here)
    before, text = here.workshop.tables["p.csv"], here.workshop.text
    page = through(here, "next", **{"t0-names": pattern}).text
    [alert] = re.findall(r'role="alert"><span lang="de">(.*?)</span>', page)
    assert unescape(alert).startswith(sentence)
    assert here.workshop.tables["p.csv"] is before and here.workshop.text == text
