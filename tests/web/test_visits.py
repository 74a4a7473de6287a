"""What the pages know beside the records goes out with an export and into the report's table of
times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Results
from konsil.api.folder.folder import Folder
from konsil.records import Rater
from konsil.records.worked import Worked
from konsil.report.estimates.times import times
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.release.blinding import key, veiling
from konsil.store.release.export import export, read_export
from konsil.store.release.page_telemetry import worked
from konsil.store.tasks import screens
from konsil.store.tasks.drafts import Change
from konsil.store.tasks.screens import Visit

from .conftest import STUDIES

R1 = "canary-rater-1"


def form(label: str) -> dict[str, str]:
    return {**{f"correctness.a{n}": label for n in range(1, 6)}, "difficulty": "Mittel"}


def test_visits_and_revisions_go_out_explained(
    opened: Store, desk: Any, clock: Any, tmp_path: Path
) -> None:
    here = desk("medqade", 2)
    public = here.next_task(R1)
    sheet = here.open(R1, public)
    here.save(
        R1,
        public,
        [Change("one", "difficulty", "=Schwer", 0), Change("two", "correctness.a1", "Falsch", 0)],
        Visit(sheet.visit, 20.0, 15.5, 2.25),
    )
    clock.pass_(30)
    assert here.submit(
        R1, public, form("Richtig"), 99, Visit(sheet.visit, 30.0, 21.5, 2.25, "1 3")
    ).is_stored
    with reading(opened.engine) as connection:
        task = screens.public(connection, public).task
        [done] = worked(connection)
    assert done == Worked(task, R1, 21.5, 30.0, (True, False, True, False, False))
    seen = {}
    for form_ in ("csv", "jsonl", "parquet"):
        folder = export(opened, tmp_path / form_, form_)
        told = json.loads((folder / "export.json").read_text())
        assert set(told["columns"]) == {f"visits.{form_}", f"revisions.{form_}"}
        [visit] = rows_of(folder / f"visits.{form_}")
        # A random name may begin with a sign, which in CSV is made harmless as well.
        visit["id"] = visit["id"].removeprefix("'")
        assert visit == {
            "id": sheet.visit,
            "task": task,
            "rater": R1,
            "opened_at": "2025-03-01T12:00:00Z",
            "wall_seconds": 30.0,
            "active_seconds": 21.5,
            "first_input_seconds": 2.25,
            "ends_in_sight": "1 3",
        }
        assert set(told["columns"][f"visits.{form_}"]) == set(visit)
        revisions = rows_of(folder / f"revisions.{form_}")
        assert set(told["columns"][f"revisions.{form_}"]) == set(revisions[0])
        assert told["files"][f"revisions.{form_}"]["records"] == len(revisions) >= 7
        first = revisions[0]
        assert (first["field"], first["revision"]) == ("correctness.a1", 1)
        seen[form_] = [r["value"] for r in revisions]
        read_export(folder)
    # In CSV what a spreadsheet would take for a formula is made harmless.
    assert seen["jsonl"] == seen["parquet"] == [v.removeprefix("'") for v in seen["csv"]]
    analyst = export(
        opened, tmp_path / "veiled", "csv", veil=veiling(STUDIES["medqade"], key(opened))
    )
    assert not list(analyst.glob("revisions*"))


def test_what_any_opening_displayed_was_displayed_and_one_without_a_record_leaves_the_rest_unknown(
    opened: Store, desk: Any
) -> None:
    here = desk("medqade", 2)
    public = here.next_task(R1)
    sheet = here.open(R1, public)
    assert here.submit(
        R1, public, form("Richtig"), 99, Visit(sheet.visit, 30.0, 21.5, 2.25, "1 3")
    ).is_stored
    again = here.open(R1, public)
    here.save(R1, public, [], Visit(again.visit, 3.0, 2.0, None, "2"))
    with reading(opened.engine) as connection:
        assert worked(connection)[0].displayed == (True, True, True, False, False)
    here.open(R1, public)
    with reading(opened.engine) as connection:
        assert worked(connection)[0].displayed == (True, True, True, None, None)


STATED = {
    "en": (
        "2/5 (40%)",
        "ratings of answers displayed to their end only",
        "This applies to 2 of 5 ratings of answers by people",
    ),
    "de": (
        "2/5 (40\u202f%)",
        "nur bei bis zum Ende angezeigten Antworten",
        "Das gilt für 2 von 5 Bewertungen",
    ),
}


@pytest.mark.slow
def test_an_analysis_reads_what_the_pages_displayed(
    opened: Store, desk: Any, database: str
) -> None:
    here = desk("medqade", 2)
    public = here.next_task(R1)
    visit = replace(Visit(here.open(R1, public).visit), wall=30.0, active=21.5, ends="1 3")
    assert here.submit(R1, public, form("Richtig"), 99, visit).is_stored
    panel = next(rater.panel for rater in STUDIES["medqade"].raters if rater.id == R1)
    every = flat_analysis(
        "every", "share", "correctness", panel, of=("Richtig",), prespecified=False
    )
    shown = replace(every, name="shown", display="complete")
    folder = Folder(
        Path(database), replace(STUDIES["medqade"], analyses=(every, shown), derived=())
    )
    found = {row.analysis: row.n_units for row in folder.results().rows if row.kind == "estimate"}
    assert found == {"every": 5, "shown": 2}
    for code, texts in STATED.items():
        report = replace(folder, study=replace(folder.study, language=code)).report(
            output=folder.path / code
        )
        page = report.read_text()
        assert all(text in page for text in texts), [text for text in texts if text not in page]


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return (pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)).to_dicts()


@pytest.mark.parametrize(
    ("code", "words"), [("en", ("all", "all panels")), ("de", ("alle", "alle Panels"))]
)
def test_times_by_rater_and_all_together(code: str, words: tuple[str, str]) -> None:
    spoken, raters = language(code), (Rater("r1", "p"), Rater("r2", "p"), Rater("t", "q"))
    done = (
        Worked("1", "r1", 10, 20, (True, False)),
        Worked("2", "r1", 30, None, (True, None)),
        Worked("3", "r2", 20, 60, (None, None)),
        Worked("4", "t", None, 5),
    )

    def material(what: tuple[Worked, ...]) -> Material:
        return Material(
            study=STUDIES["medqade"],
            results=Results((), ()),
            items=(),
            answers=(),
            raters=raters,
            ratings=(),
            language=spoken,
            numbers=Numbers(spoken),
            times=what,
        )

    assert times(material(())) is None
    found = times(material(done))
    assert found is not None
    rows = [[str(c.text) for c in row] for row in found.rows]
    assert [row[:3] for row in rows] == [
        ["p", "r1", "2"],
        ["p", "r2", "1"],
        ["p", words[0], "3"],
        ["q", "t", "1"],
        [words[1], "", "4"],
    ]
    assert rows[2][3].startswith("20 [15") and rows[0][4].startswith("20") and rows[3][3] == "–"
    per_cent = "67%" if code == "en" else "67\u202f%"
    assert [row[5:] for row in rows] == [
        [f"2/3 ({per_cent})", "1"],
        ["–", "2"],
        [f"2/3 ({per_cent})", "3"],
        ["–", "0"],
        [f"2/3 ({per_cent})", "3"],
    ]
    many = tuple(Worked(f"{n}", f"r{n}", 1, 1) for n in range(70))
    who = tuple(Rater(w.rater, "p") for w in many)
    few = times(
        Material(
            study=STUDIES["medqade"],
            results=Results((), ()),
            items=(),
            answers=(),
            raters=who,
            ratings=(),
            language=spoken,
            numbers=Numbers(spoken),
            times=many,
        )
    )
    assert few is not None and len(few.rows) == 1
