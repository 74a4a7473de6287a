"""MedQADE's protocol: the same study in both languages, with the paper's counts, ready to check."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.analysis import Analysis
from konsil.analysis.model.options import ShareOptions
from konsil.api import open_folder
from konsil.cli.main import group
from konsil.instrument.screens.parity import parity_of
from konsil.plan import History, assign
from konsil.records import Answer, Item, Rating
from konsil.study import Study

LABELS = {
    "de": (("Falsch", "Richtig"), "Keine Angabe", ("Einfach", "Mittel", "Schwer")),
    "en": (("Incorrect", "Correct"), "Abstain", ("Easy", "Medium", "Hard")),
}


def new(folder: Path, *options: str) -> Study:
    done = CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "medqade", *options], catch_exceptions=False
    )
    assert done.exit_code == 0
    return open_folder(folder).study


@pytest.fixture
def german(tmp_path: Path) -> Study:
    return new(tmp_path / "de")


@pytest.mark.parametrize("language", ["de", "en"])
def test_labels_and_codebook(tmp_path: Path, language: str):
    study = new(tmp_path / "study", "--language", language)
    [instrument] = study.instruments
    correctness, difficulty = instrument.criteria
    scale = correctness.scale
    assert (scale.labels, scale.abstain, difficulty.scale.labels) == LABELS[language]
    assert (study.language, instrument.language, instrument.show_reference) == (
        language,
        language,
        True,
    )
    for label in (*scale.options(), *difficulty.scale.labels):
        assert label in instrument.codebook
    assert sorted(p.name for p in (tmp_path / "study").iterdir()) == [
        f"codebook.{language}.md",
        "simulation.toml",
        "study.schema.json",
        "study.toml",
    ]


def test_german_is_its_own_language_and_others_are_refused(tmp_path: Path, german: Study):
    assert german.language == "de"
    done = CliRunner().invoke(
        group, ["new", str(tmp_path / "fr"), "--protocol", "medqade", "--language", "fr"]
    )
    assert done.exit_code != 0
    assert "'medqade' is not available in it; known: de, en" in str(done.exception)
    assert not (tmp_path / "fr").exists()


def test_both_languages_are_one_study(tmp_path: Path, german: Study):
    english = new(tmp_path / "en", "--language", "en")
    assert german.systems == english.systems
    assert german.raters == english.raters
    assert german.plan == english.plan
    assert german.sources == english.sources
    assert german.prepare == english.prepare
    assert [_told(a) for a in german.analyses] == [_told(a) for a in english.analyses]
    bins = [
        [(b.low, b.high, b.closed) for d in s.derived for b in d.bins] for s in (german, english)
    ]
    assert bins[0] == bins[1]
    groups = [[*d.groups.values()] for s in (german, english) for d in s.derived if d.groups]
    assert groups[0] == groups[1]


def _told(analysis: Analysis) -> tuple[object, ...]:
    names = (
        "statistic",
        "criterion",
        "raters",
        "against",
        "items",
        "by",
        "compare",
        "consensus",
        "margin",
    )
    options = analysis.options
    of_shares = (
        (options.pass_line, options.tiebreak, options.reference)
        if isinstance(options, ShareOptions)
        else ()
    )
    return (*(getattr(analysis, name) for name in names), *of_shares)


@pytest.mark.parametrize("language", ["de", "en"])
def test_each_number_of_the_paper_is_in_a_table_or_figure(tmp_path: Path, language: str):
    study = new(tmp_path / "study", "--language", language)
    by_name = {a.name: a for a in study.analyses}
    laid = {
        (a.statistic, a.raters, a.items, a.against, a.by)
        for layout in (*study.tables, *study.figures)
        for a in (by_name[name] for name in layout.analyses)
    }
    experts, judges = ("physicians", "core", "rest"), ("judges", "", "physicians")
    assert {
        ("cohen_kappa", *experts, ("rater",)),
        ("cohen_kappa", *experts, ()),
        ("abstention", "judges", "", None, ("rater",)),
        ("abstention", "physicians", "", None, ()),
        ("self_preference", *judges, ()),
        ("family_preference", *judges, ("system",)),
        ("relative_difference", "physicians", "", None, ("lexical_match", "system")),
        *(("without_majority", "physicians", tier, None, ()) for tier in ("", "core", "split")),
    } <= laid


def test_both_languages_lay_out_the_same(tmp_path: Path, german: Study):
    english = new(tmp_path / "en", "--language", "en")
    places = [[a.name for a in study.analyses] for study in (german, english)]
    for of_german, of_english in (
        (german.tables, english.tables),
        (german.figures, english.figures),
    ):
        layouts = [
            [
                (
                    layout.id,
                    layout.rows,
                    tuple(names.index(name) for name in layout.analyses),
                )
                for layout in of
            ]
            for names, of in zip(places, (of_german, of_english), strict=True)
        ]
        assert layouts[0] == layouts[1]


def test_the_panels_are_the_papers(german: Study):
    assert {name: len(raters) for name, raters in german.panels().items()} == {
        "physicians": 9,
        "tiebreaker": 1,
        "judges": 9,
    }
    assert len({s.family for s in german.systems}) == 4
    own = {r.strata["system"]: r.family for r in german.raters if "system" in r.strata}
    assert own == {s.id: s.family for s in german.systems}


def test_the_plan_has_the_papers_proportions(german: Study):
    """A tenth of the paper's size: 20 core items by all nine, 360 by two each, every pair of raters
    sharing ten."""
    items = [Item(f"i{n:03}", "?", sets=("core",) if n < 20 else ("split",)) for n in range(380)]
    answers = [Answer(f"{i.id}:{s.id}", i.id, s.id, "...") for i in items for s in german.systems]
    ratings = [
        Rating("t", rater, "correctness", "i100", ("i100:system-1",), label=label)
        for rater, label in (("physician-1", "Richtig"), ("physician-2", "Falsch"))
    ]
    tasks = assign(
        german.plan,
        items=items,
        answers=answers,
        raters=german.raters,
        instruments=german.instruments,
        seed=german.seed,
        history=History(ratings=ratings),
    )
    loads = Counter(t.rater for t in tasks)
    panel = [r.id for r in german.panels()["physicians"]]
    assert {loads[r] for r in panel} == {100}
    assert {loads[r.id] for r in german.panels()["judges"]} == {380}
    assert loads["physician-10"] == 21
    assert [t.item for t in tasks if t.purpose == "tiebreak"] == ["i100"]
    seen: dict[str, set[str]] = {}
    for task in tasks:
        if task.rater in panel and task.item is not None and task.item >= "i020":
            seen.setdefault(task.item, set()).add(task.rater)
    pairs = Counter(
        pair for raters in seen.values() for pair in itertools.combinations(sorted(raters), 2)
    )
    assert len(pairs) == 36
    assert set(pairs.values()) == {10}
    assert {len(t.answers) for t in tasks} == {5}


def test_judges_read_what_physicians_read(german: Study):
    [instrument] = german.instruments
    found = parity_of(instrument, n_answers=5)
    assert found.role == (instrument.role,)
    assert found.missing == ()
    assert not any("Referenz" in line for line in found.reply)
    assert sum('"correctness.a' in line for line in found.reply) == 5


def test_check_shows_the_difference(tmp_path: Path):
    new(tmp_path / "study", "--language", "en")
    said = (
        CliRunner().invoke(group, ["check", str(tmp_path / "study")], catch_exceptions=False).output
    )
    assert (
        "medqade: LLM judges read the same texts as people and, in addition\n  role:  You are a"
        " physician" in said
    )
    assert '  reply: - "correctness.a1" (Answer A): "Incorrect" | "Correct" | "Abstain"\n' in said
    assert "only people read" not in said


def test_a_study_without_judges_compares_nothing(tmp_path: Path):
    CliRunner().invoke(group, ["new", str(tmp_path / "study")], catch_exceptions=False)
    said = (
        CliRunner().invoke(group, ["check", str(tmp_path / "study")], catch_exceptions=False).output
    )
    assert "judges read" not in said


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_places_of_models_become_a_study_that_calls_them(tmp_path: Path, language: str):
    """Lines that begin with '#' and no space are placeholders; with the sign taken away they are
    TOML, and whole."""
    before = new(tmp_path / "study", "--language", language)
    assert not before.endpoints
    file = tmp_path / "study" / "study.toml"
    file.write_text(
        re.sub(r"^#(?=[^\s:])", "", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8"
    )
    study = open_folder(tmp_path / "study").study
    assert [e.id for e in study.endpoints] == ["hosted"]
    assert [s.model for s in study.systems] == [f"hosted:MODEL-{n}" for n in range(1, 6)]
    assert [j.rater for j in study.judges] == ["judge-1"]
    # The paper's: students at 0.2, judges at 0.
    assert {s.settings["temperature"] for s in study.systems} == {0.2}
    assert {j.settings.temperature for j in study.judges} == {0}
    assert study.plan == before.plan


@pytest.mark.long
@pytest.mark.slow
def test_a_twentieth_of_the_study_from_the_deck_to_the_report_by_commands_alone():
    """The benchmark of the full size, run small: it checks the plan's counts, and ends with 0 where
    they hold."""
    script = Path(__file__).parents[2] / "benchmarks" / "medqade.py"
    done = subprocess.run(
        [sys.executable, str(script), "--small"], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (
        "9 physicians x 50 items; 10 core items by all nine; 36 pairs x 5 split items; 9 judges"
        " x 190" in done.stdout
    )
    assert done.stderr.count("no calls to make") == 2
    assert "audit log verified: chain and records intact" in done.stderr
    held = re.search(r"Of all (\d+) CIs whose true value is known, (\d+) contain it", done.stdout)
    assert held is not None
    assert int(held[2]) > 0.85 * int(held[1]) > 50
