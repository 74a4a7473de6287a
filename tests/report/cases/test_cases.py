"""The report of a study of masked cases: curves, profiles, findings, strictness, one answer in
full."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis
from tests.clexeval_tables import (
    CRITERIA,
    LEVELS,
    NAMING,
    RIGHT,
    RUBRIC,
    SYSTEMS,
    answer,
    case,
    pair_of,
    published,
    rated,
    results,
)

from konsil.analysis import Analysis
from konsil.analysis.table.frame import Data
from konsil.records import Rater
from konsil.report.cases.case_view import marked
from konsil.study import Study
from report_files import write

PRECISION = CRITERIA[0]
ASKED = (
    flat_analysis("potential", "diagnostic_potential", PRECISION, "experts", levels=LEVELS),
    flat_analysis("violations", "monotonicity_violation", PRECISION, "experts", levels=LEVELS),
    flat_analysis("crossing", "crossover", PRECISION, "experts", levels=LEVELS),
    Analysis("fall", "accuracy", PRECISION, "experts", by=("level",)),
    Analysis(
        "reads well", "mean", "communication", "experts", by=("system", "level"), cluster="case"
    ),
    Analysis("rom", "mismatch", PRECISION, "experts", against="detector", by=("level",)),
    Analysis("har", "approval", PRECISION, "judges", against="experts", compare="rater"),
    Analysis("strict", "strictness", PRECISION, "judges", against="experts", prespecified=False),
    flat_analysis("apart", "mann_whitney", PRECISION, "experts", criteria=("communication",)),
    Analysis(
        "apart, naive", "mann_whitney", PRECISION, "experts", mode="paper", prespecified=False
    ),
    flat_analysis(
        "alike",
        "criteria_correlation",
        PRECISION,
        "experts",
        criteria=("communication", "completeness"),
    ),
    *(
        Analysis(f"mean {c}", "mean", c, "experts", by=("system",))
        for c in (PRECISION, "communication", "completeness")
    ),
)


def data() -> Data:
    """The published counts, two more criteria of the experts, and two judges who read without
    care."""
    made = published()
    items = tuple(
        replace(i, reference="Erdheim-Chester disease", aliases=("ECD",)) for i in made.items
    )
    answers = tuple(
        replace(
            a,
            text=f"Pneumonia <most> likely; {a.id}. Not ECD.",
            reasoning="Erdheim-Chester disease fits.",
        )
        for a in made.answers
    )
    more = []
    for system, right in RIGHT.items():
        for n in range(40):
            for level in range(5):
                about = answer(system, n, level)
                for criterion, labels in (
                    ("communication", ("0.75", "1")),
                    ("completeness", ("0.5", "0.75")),
                ):
                    more += [
                        rated(e, criterion, about, labels[(n + level) % 2]) for e in pair_of(n)
                    ]
                good = bool(right[n, level])
                more.append(rated("j1", PRECISION, about, "1" if good or n % 3 == 0 else "0.25"))
                more.append(
                    rated("j2", PRECISION, about, "1" if (n, level) == (39, 4) or good else "0.5")
                )
    raters = (
        *made.raters,
        Rater("j1", "judges", "llm", "north"),
        Rater("j2", "judges", "llm", "west"),
    )
    return Data(items, answers, raters, (), (*made.ratings, *more))


def told(folder: Path, language: str) -> Path:
    known = data()
    found = results(known, *ASKED, draws=200)
    study = Study(
        "Cases",
        1,
        language=language,
        instruments=(RUBRIC, NAMING),
        systems=SYSTEMS,
        raters=known.raters,
        analyses=ASKED,
    )
    write(
        folder,
        study,
        found,
        items=known.items,
        answers=known.answers,
        raters=known.raters,
        ratings=known.ratings,
    )
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return told(tmp_path_factory.mktemp("en") / "report", "en")


@pytest.mark.slow
def test_a_german_report_has_german_findings(tmp_path: Path) -> None:
    german = (told(tmp_path / "report", "de") / "index.html").read_text("utf-8")
    assert (
        '<p class="finding">Verborgenes Wissen nicht von Zufall zu unterscheiden: specialist war'
        in german
    )
    assert '<p class="finding">Rangumkehr nicht gezeigt' in german
    assert "Eine ganze Antwort" in german


@pytest.mark.slow
def test_findings_stand_with_their_analyses(page: Path) -> None:
    english = (page / "index.html").read_text("utf-8")
    assert (
        '<p class="finding">Hidden knowledge not distinguishable from chance: specialist was'
        " incorrect at narrative" in english
    )
    assert '<p class="finding">Hidden knowledge not shown: generalist' in english
    assert '<p class="finding">Rank reversal not shown: generalist leads at narrative' in english
    assert "its p value is too small" in english


@pytest.mark.slow
def test_every_figure_of_the_study_is_there(page: Path) -> None:
    figures = {path.stem for path in (page / "figures").glob("*.svg")}
    for begin in (
        "falls-levels",
        "profile-experts",
        "series-rom",
        "strictness-strict",
        "pairs-alike",
    ):
        assert any(name.startswith(begin) for name in figures), begin
    fall = (page / "figures" / "falls-levels.svg").read_text("utf-8")
    # Levels in the protocol's order, with the values for those who do not see the picture.
    assert "generalist, Accuracy: narrative 0.950, 0 0.650, 1 0.625, 2 0.300, 3 0.325" in fall


@pytest.mark.slow
def test_what_is_asked_is_told_in_words(page: Path) -> None:
    english = (page / "index.html").read_text("utf-8")
    for term, value in (
        ("Information levels", "narrative, 0, 1, 2, 3"),
        ("Correct from", "0.75"),
        ("Failure up to", "0.25 (by every expert)"),
        ("Approved from", "0.5"),
        ("Out of", "all cases"),
        ("Resampled", "cases"),
        ("Further criteria", "reasoning_names, answer_names"),
    ):
        assert f"<dt>{term}</dt><dd>{value}</dd>" in english, term
    assert "compared with the panel “experts”" in english


@pytest.mark.slow
def test_one_answer_is_shown_whole_with_all_its_scores(page: Path) -> None:
    english = (page / "index.html").read_text("utf-8")
    shown = english.split('<details class="part case"')[1].split("</details>")[0]
    assert f"{case(39)}:3, " in shown  # both judges give it full marks and the experts 0.25
    assert "<mark>Erdheim-Chester disease</mark> fits." in shown
    assert "Pneumonia &lt;most&gt; likely" in shown
    assert "Not <mark>ECD</mark>." in shown
    assert [name for name in ("e3", "e4", "j1", "j2") if f">{name}<" not in shown] == []
    assert ">e1<" not in shown  # did not rate it


@pytest.mark.slow
def test_thresholds_are_in_the_files(page: Path) -> None:
    lines = list(csv.DictReader(io.StringIO((page / "curves.csv").read_text("utf-8"))))
    mine = [line for line in lines if line["group.rater"] == "j2"]
    assert [line["threshold"] for line in mine] == ["0.5", "1.0", ""]
    assert [float(line["approved"]) for line in mine] == pytest.approx([1, 1 / 186, 0])
    assert [float(line["rejected"]) for line in mine] == [0, 0, 1]


def test_mentions_are_whole_words() -> None:
    assert (
        str(marked("ECDs and ecd & ECD-like", ["ECD"]))
        == "ECDs and <mark>ecd</mark> &amp; <mark>ECD</mark>-like"
    )
    assert str(marked("a<b", [])) == "a&lt;b"
