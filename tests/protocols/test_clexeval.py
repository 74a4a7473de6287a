"""CLExEval's protocol: the same study in both languages, with the paper's counts, ready to
check."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.instrument.screens.parity import parity_of
from konsil.plan import History, assign
from konsil.prepare import draw, event_of, in_study, screen, screening_event
from konsil.prepare.cases.marking import versions
from konsil.prepare.cases.masking import LEVELS, Mark
from konsil.records import Answer, Item, Task
from konsil.study import Study, parse
from konsil.study.sections.calling import settings_of
from konsil.study.sections.section_split import parted

CRITERIA = (
    "diagnostic_precision",
    "differential_reasoning",
    "evidence_integration",
    "justification_depth",
    "completeness",
    "clinical_plausibility",
    "communication",
)
SOURCE = Path(__file__).resolve().parents[2] / "src" / "konsil" / "protocols" / "clexeval"


def new(folder: Path, *options: str) -> Study:
    done = CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "clexeval", *options], catch_exceptions=False
    )
    assert done.exit_code == 0
    return open_folder(folder).study


@pytest.mark.parametrize("language", ["de", "en"])
def test_seven_criteria_on_five_points_each_explained(tmp_path: Path, language: str) -> None:
    study = new(tmp_path / "study", "--language", language)
    rubric = study.instrument("rubric")
    assert rubric is not None
    assert rubric.language == study.language == language
    assert tuple(c.id for c in rubric.criteria) == CRITERIA
    for criterion in rubric.criteria:
        assert criterion.scale.labels == ("0", "0.25", "0.5", "0.75", "1")
        assert criterion.scale.numbers() == (0, 0.25, 0.5, 0.75, 1)
    # Once in general and once for each criterion, every step is explained.
    assert all(
        rubric.codebook.count(f"| {label} |") == 8 for label in rubric.criteria[0].scale.labels
    )
    assert (rubric.show_reference, rubric.show_reasoning) == (True, True)
    assert parity_of(rubric, n_answers=1).missing == ()


def test_both_languages_are_one_study(tmp_path: Path) -> None:
    english, german = (new(tmp_path / name, "--language", name) for name in ("en", "de"))
    for name in (
        "systems",
        "raters",
        "plan",
        "sources",
        "together",
        "programs",
        "calibration",
        "exclusions",
    ):
        assert getattr(english, name) == getattr(german, name), name
    assert [(s.id, s.of, s.combine) for s in english.scores] == [
        (s.id, s.of, s.combine) for s in german.scores
    ]
    assert [a.statistic for a in english.analyses] == [a.statistic for a in german.analyses]
    for one, other in zip(english.analyses, german.analyses, strict=True):
        for key in (
            "criterion",
            "criteria",
            "raters",
            "against",
            "by",
            "options",
            "mode",
            "prespecified",
            "cluster",
            "consensus",
        ):
            assert getattr(one, key) == getattr(other, key), (one.name, key)
    forms = [
        [[(c.id, c.scope, c.scale.level) for c in i.criteria] for i in s.instruments]
        for s in (english, german)
    ]
    assert forms[0] == forms[1]


def test_the_overall_score_has_the_papers_rows(tmp_path: Path) -> None:
    study = new(tmp_path / "study")
    [score] = study.scores
    assert (score.id, score.of, score.combine, score.missing) == (
        "overall",
        CRITERIA,
        "mean",
        "complete",
    )
    rows = {(a.statistic, a.raters, a.mode) for a in study.analyses if a.criterion == "overall"}
    assert rows >= {
        ("mean", "experts", "valid"),
        ("standard_deviation", "experts", "valid"),
        ("mann_whitney", "experts", "valid"),
        ("mann_whitney", "experts", "paper"),
        ("icc1", "experts", "valid"),
        ("reasoning_gap", "experts", "valid"),
        ("self_preference", "judges", "valid"),
        ("self_preference", "judges", "paper"),
        ("mean", "judges", "valid"),
    }


@cache
def planned() -> tuple[Study, tuple[Item, ...], tuple[Task, ...]]:
    study = parse(
        (SOURCE / "study.toml").read_text("utf-8"), lambda name: (SOURCE / name).read_text("utf-8")
    )
    assert study.prepare is not None
    assert study.prepare.screen is not None
    pool = [Item(f"c{n:02}", f"Gout {n}: crystals, toe.", "gout") for n in range(60)]
    kept = {
        item.id: "keep" if n < 50 else study.prepare.screen.criteria[0]
        for n, item in enumerate(pool)
    }
    screened = screen(study.prepare.screen, pool, kept)[0]
    drawn = draw(study.prepare, pool, (), seed=study.seed, screened=screened)
    events = (
        screening_event(screened, 1, "2026-01-01T00:00:00Z"),
        event_of(drawn, 1, "2026-01-02T00:00:00Z"),
    )
    made = [v for item in pool for v in versions(item, [Mark(0, 4, "diagnosis")])]
    items = in_study((*pool, *made), events)
    answers = [Answer(f"{i.id}:{s.id}", i.id, s.id, "...") for i in items for s in study.systems]
    tasks = assign(
        study.plan,
        items=(*pool, *made),
        answers=answers,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        history=History(events=events),
    )
    return study, items, tasks


@pytest.mark.slow
def test_the_plan_is_the_papers_to_the_score() -> None:
    study, items, tasks = planned()
    level = {i.id: i.strata["level"] for i in items}
    case = {i.id: i.case for i in items}
    assert (len(items), len(set(case.values()))) == (210, 42)
    experts = {r.id for r in study.raters if r.panel in study.together["experts"]}
    main = [t for t in tasks if t.rater in experts and t.purpose == "main"]
    assert 7 * len(main) == 5_600
    assert len({case[t.item or ""] for t in main}) == 40
    assert len({t.item for t in main}) == 200
    seen = Counter(t.answers for t in main)
    assert len(seen) == 400
    assert set(seen.values()) == {2}
    assert Counter(t.rater for t in main) == dict.fromkeys(experts, 200)
    # A pair has whole cases, and the other pair has the others.
    pairs = {r.id: r.panel for r in study.raters}
    of_pair = {
        p: {case[t.item or ""] for t in main if pairs[t.rater] == p} for p in ("pair-1", "pair-2")
    }
    assert {len(c) for c in of_pair.values()} == {20}
    assert not of_pair["pair-1"] & of_pair["pair-2"]
    for rater in experts:
        assert Counter(level[t.item or ""] for t in main if t.rater == rater) == dict.fromkeys(
            LEVELS, 40
        )
        assert {t.batch for t in main if t.rater == rater} != {""}


@pytest.mark.slow
def test_judges_and_the_program_see_all_that_counts_and_no_pilot() -> None:
    _, _, tasks = planned()
    pilot = [t for t in tasks if t.purpose == "pilot"]
    assert Counter(t.rater for t in pilot) == {f"expert-{n}": 20 for n in (1, 2, 3, 4)}
    others = Counter(
        t.rater for t in tasks if t.instrument != "rubric" or t.rater.startswith("judge")
    )
    assert others == {f"judge-{n}": 400 for n in (1, 2, 3, 4)} | {
        "name-finder": 400,
        "reader-1": 48,
        "reader-2": 48,
    }
    assert not {t.item for t in pilot} & {t.item for t in tasks if t.purpose == "main"}
    read = [t.answers for t in tasks if t.rater.startswith("reader")]
    assert len(set(read)) == 96


@pytest.mark.slow
def test_no_analysis_of_a_complete_study_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    new(folder)
    place = folder / "study.toml"
    text = (
        place.read_text("utf-8")
        .replace("size = 42", "size = 22")
        .replace("half-1 = 20, half-2 = 20", "half-1 = 10, half-2 = 10")
    )
    text += "".join(
        f'\n[[judges]]\nrater = "judge-{n}"\nmodel = "fake:judge"\n' for n in (1, 2, 3, 4)
    )
    for n in (1, 2):
        text = text.replace(
            f'#model = "hosted:MODEL-{n}"\n#[systems',
            f'model = "fake:right=0.5,seed={n}"\n#[systems',
        )
    place.write_text(f"{text}\n[resampling]\ndraws = 100\n", "utf-8")
    systems = "".join(f"[systems.system-{n}]\nquality = 0.5\nhidden = 0.4\n" for n in (1, 2))
    (folder / "simulation.toml").write_text(
        f'{systems}[criteria.names_wrong]\nbest = "no"\n', "utf-8"
    )
    rows = [f"c{n},Case {n}.,disease {n},,40,female,,,,\n" for n in range(22)]
    head = "item,text,reference,aliases,age,sex,specialty,findings,course,outcome\n"
    (folder / "cases.csv").write_text(head + "".join(rows), "utf-8")
    for command in (
        ["simulate", folder, "--to", tmp_path / "copy"],
        ["analyse", tmp_path / "copy"],
    ):
        done = CliRunner().invoke(group, [str(c) for c in command], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    with (tmp_path / "copy" / "estimates.csv").open(encoding="utf-8", newline="") as file:
        told = {row["analysis"] for row in csv.DictReader(file) if row["value"] not in {"", "nan"}}
    assert told == {a.name for a in open_folder(folder).study.analyses}


@pytest.mark.parametrize("language", ["de", "en"])
def test_systems_as_they_are_called(tmp_path: Path, language: str) -> None:
    """What is commented out is a protocol, too: its files are there, and its example has the
    sections it asks for."""
    new(tmp_path / "study", "--language", language)
    protocol = tmp_path / "study" / "study.toml"
    text = re.sub(r"(?m)^#(?![ :])", "", protocol.read_text("utf-8"))
    text = re.sub(r'(?ms)^\[\[sources\]\]\nfile = "outputs.csv".*?\n(?=\n)', "", text)
    protocol.write_text(text, "utf-8")
    study = open_folder(tmp_path / "study").study
    first, second = (settings_of(s.settings, "settings") for s in study.systems)
    assert first.template == second.template
    assert "{text}" in first.template
    assert (bool(first.system), bool(second.system)) == (True, False)
    assert (len(first.examples), len(second.examples)) == (1, 0)
    reasoning, final = parted(first.examples[0].answer, first.sections)
    assert reasoning
    assert final
    assert all(f"## {heading}" in first.template for heading in first.sections)
