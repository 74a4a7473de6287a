"""A whole German report: nothing of our English is left in it, and everything that analyses say can
be told."""

from __future__ import annotations

import io
import re
import string
from dataclasses import replace
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from click.testing import CliRunner

from konsil.analysis import Analysis, Resampling, Results
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.api import open_folder
from konsil.cli.main import group
from konsil.errors.message import TranslatableMessage
from konsil.records import Answer, Attempt, Item
from konsil.simulate import Truth, draw
from konsil.simulate.truth import PanelTruth
from konsil.study import Study
from report_files import write

ALIKE = 9
"""Pieces of a sentence shorter than this occur in both languages by chance."""


def medqade(folder: Path) -> tuple[Study, Data, Results]:
    """The protocol at a twentieth of its size, simulated, with failed calls and confidences."""
    CliRunner().invoke(group, ["new", str(folder), "--protocol", "medqade"], catch_exceptions=False)
    study = open_folder(folder).study
    risk = Analysis(
        "Risiko", "risk_coverage", "correctness", "judges", against="physicians", prespecified=False
    )
    study = replace(
        study, simulated=True, resampling=Resampling(60), analyses=(*study.analyses, risk)
    )
    items = tuple(
        Item(
            f"i{n:03}",
            "Frage ____",
            "Antwort",
            sets=("core" if n < 10 else "split",),
            strata={"lexical_match": "yes" if n % 5 == 0 else "no"},
        )
        for n in range(46)
    )
    answers = tuple(
        Answer(f"{i.id}:{s.id}", i.id, s.id, "...") for i in items for s in study.systems
    )
    panels = {p: PanelTruth(0.9, abstention=0.05, abstention_slope=0.8) for p in study.panels()}
    drawn = draw(study, items, answers, Truth(panels=panels), 3)
    judges = [t for t in drawn.tasks if t.rater.startswith("judge")]
    failed = {t.id for t in judges[::23]}
    ratings = tuple(
        (
            replace(r, confidence=0.5 + (len(r.task) * 7 + n) % 50 / 100)
            if r.rater.startswith("judge")
            else r
        )
        for n, r in enumerate(drawn.ratings)
        if r.task not in failed
    )
    attempts = tuple(
        Attempt(f"a{t.id}", t.id, t.rater, "refused" if t.id in failed else "ok") for t in judges
    )
    data = Data(items, answers, study.raters, tuple(drawn.tasks), ratings, attempts)
    results = run(
        study.analyses,
        data,
        RunSettings(
            instruments=study.instruments,
            seed=study.seed,
            resampling=study.resampling,
            exclusions=study.exclusions,
            planned=True,
            systems=study.systems,
            derived=study.derived,
            flag_families=True,
        ),
    )
    return study, data, results


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Data, Results]:
    return medqade(tmp_path_factory.mktemp("german") / "study")


def written(folder: Path, study: Study, data: Data, results: Results) -> Path:
    return write(
        folder,
        study,
        results,
        items=data.items,
        answers=data.answers,
        raters=data.raters,
        ratings=data.ratings,
    )


@pytest.fixture(scope="module")
def page(whole: tuple[Study, Data, Results], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("german") / "report", *whole)


def texts(results: Results) -> list[str]:
    """Everything that the analyses say in words."""
    found = [*results.warnings, *results.methods]
    for row in results.rows:
        found += [*row.warnings, row.estimate.reason, row.estimate.method]
    found += [reason for row in results.coverage for reason in row.excluded]
    return [text for text in found if text]


@pytest.mark.slow
def test_everything_said_can_be_told_in_german(whole: tuple[Study, Data, Results]) -> None:
    found = texts(whole[2])
    assert len(set(found)) > 20
    assert sorted({t for t in found if not isinstance(t, TranslatableMessage)}) == []


def shown(html: str) -> str:
    """What a reader sees or hears: no style, no markup; the study's own words are German
    already."""
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def pieces(template: str) -> list[str]:
    """The words between the gaps of a template, where there are enough of them to tell a
    language."""
    if "%(" in template:
        parts = re.split(r"%\(\w+\)s", template)
    else:
        parts = [literal for literal, *_ in string.Formatter().parse(template)]
    return [p for p in (" ".join(part.split()) for part in parts) if len(p) >= ALIKE]


def catalogue() -> Catalog:
    return read_po(io.BytesIO(files("konsil.locale").joinpath("de.po").read_bytes()), locale="de")


@pytest.mark.slow
def test_no_english_of_ours_is_left(page: Path) -> None:
    text = shown(page.read_text("utf-8"))
    entries = [(m.id, m.string) for m in catalogue() if isinstance(m.id, str) and m.id]
    german = " ".join(" ".join(text for _, text in entries).split())
    templates = [
        message for message, _ in entries if not re.fullmatch(r"[a-z_]+\.[a-z_0-9.]+", message)
    ]
    english = {p for template in templates for p in pieces(template) if p not in german}
    assert len(english) > 200
    assert sorted(p for p in english if re.search(rf"(?<!\w){re.escape(p)}(?!\w)", text)) == []
    for words in (
        "Auf einen Blick",
        "Vollständigkeit der LLM-Judge-Bewertungen",
        "verweigert",
        "Worst-Case-Grenzen",
        "Bestehensgrenze",
    ):
        assert words in text
    figures = {re.sub("-.*", "", p.stem) for p in page.parent.glob("figures/*.svg")}
    assert figures == {
        "answer",
        "glance",
        "calls",
        "labels",
        "derived",
        "figure",
        "forest",
        "differences",
        "series",
        "ranking",
        "curves",
    }


@pytest.mark.slow
def test_every_number_of_the_figures_is_in_a_data_file(
    whole: tuple[Study, Data, Results], page: Path
) -> None:
    _, data, results = whole
    lines = {p.name: p.read_text("utf-8").splitlines() for p in page.parent.glob("*.csv")}
    assert len(lines["derived.csv"]) == 1 + len(data.items)
    assert len(lines["bounds.csv"]) == 1 + len(results.bounds)
    assert (
        sum(line.endswith(",true") for line in lines["outcomes.csv"])
        == len(lines["outcomes.csv"]) - 1
    )
    ensembles = sum("ensembles_pabak" in line for line in lines["estimates.csv"])
    assert ensembles == 256 + 1
    assert len({line.split(",")[1] for line in lines["curves.csv"][1:]}) == 9
