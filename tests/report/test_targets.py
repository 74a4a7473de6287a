"""Whom the numbers are about, at the report's top, in its tables and in its files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from konsil.analysis import Results
from konsil.analysis.estimation.targets import Target, target_sentences
from report_files import write

ENOUGH = Target("like these", panel="physicians", n_raters=6)


def written(folder: Path, arguments: dict[str, Any], targets: list[str]) -> Path:
    """A report whose first rows' intervals have these targets."""
    results: Results = arguments["results"]
    rows = [
        replace(row, estimate=replace(row.estimate, raters=whom))
        for row, whom in zip(results.rows, targets, strict=False)
    ]
    results = replace(
        results, rows=tuple(rows), target="like these", inference=target_sentences(ENOUGH)
    )
    write(folder, **(arguments | {"results": results}))
    return folder


@pytest.mark.parametrize(
    ("language", "first"),
    [
        (
            "en",
            (
                "Target of inference: raters like these. The protocol does not specify a target. Of"
                " all panels of several people in its analyses, the smallest has"
            ),
        ),
        (
            "de",
            (
                "Ziel der Inferenz: Bewertende wie diese. Das Studienprotokoll legt kein Ziel fest. Von allen"
                " Panels aus mehreren Menschen in seinen Analysen hat das kleinste"
            ),
        ),
    ],
)
def test_the_target_stands_before_every_number_and_in_the_files(
    language: str, first: str, thin: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    folder = written(tmp_path / "report", thin(language), ["like these", "these"])
    page = (folder / "index.html").read_text(encoding="utf-8")
    shown = page[page.index('<p class="target">') :]
    assert shown.startswith(f'<p class="target">{first}')
    assert page.index('<p class="target">') < page.index('id="contents"')
    data = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
    assert data["target"] == "raters like these" and data["inference"][0].startswith(
        "Target of inference: raters"
    )
    assert [row["target"] for row in data["rows"]] == ["raters like these", "these raters"]
    with (folder / "estimates.csv").open(encoding="utf-8", newline="") as file:
        assert [row["target"] for row in csv.DictReader(file)] == [
            "raters like these",
            "these raters",
        ]


def test_differences_have_the_units_of_both_groups(
    thin: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """Clusters are of both groups, so that more of them than units of the first group are no
    mistake."""
    arguments = thin("en")
    results: Results = arguments["results"]
    row = replace(
        results.rows[0], kind="difference", group={"system": "large"}, versus={"system": "small"}
    )
    row = replace(row, n_units=30, n_units_versus=29, estimate=replace(row.estimate, n_clusters=59))
    arguments["results"] = replace(results, rows=(row,))
    page = (
        written(tmp_path / "report", arguments, ["these"]).joinpath("index.html").read_text("utf-8")
    )
    assert re.search(r">30 / 29<.{0,80}>59<", page, re.DOTALL)
    assert "Units: of the first group / of the second; clusters: of both groups together." in page
    with (tmp_path / "report" / "estimates.csv").open(encoding="utf-8", newline="") as file:
        (line,) = csv.DictReader(file)
    assert (line["n_units"], line["n_units_versus"], line["n_clusters"]) == ("30", "29", "59")


@pytest.mark.slow
def test_tables_mark_whom_the_first_intervals_are_about(
    thin: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    def notes(targets: list[str]) -> list[str]:
        arguments = thin("en")
        row = next(r for r in arguments["results"].rows if r.kind == "estimate")
        rows = tuple(replace(row, group={"system": name}) for name in ("large", "small"))
        arguments["results"] = replace(arguments["results"], rows=rows)
        page = (
            written(tmp_path / "-".join(targets), arguments, targets)
            .joinpath("index.html")
            .read_text("utf-8")
        )
        return re.findall(
            r"The primary CIs apply to [^.<]*|This CI applies to these raters only", page
        )

    assert notes(["these", "these"]) == ["The primary CIs apply to these raters"]
    assert notes(["like these", "like these"]) == ["The primary CIs apply to raters like these"]
    assert sorted(notes(["like these", "these"])) == [
        "The primary CIs apply to raters like these, unless a footnote states otherwise",
        "This CI applies to these raters only",
    ]
