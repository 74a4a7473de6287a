"""Real-POCQi's protocol on tables of the paper's size: every number beside a plain computation from
the rows."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau

from konsil.analysis import Analysis, Resampling, Results
from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.cli.main import group
from konsil.prepare import Preparation, Theming
from pocqi_tables import AXES, CHOICES, JUDGES, SYSTEMS, Made, Row, read_inner_tables, tables, write

MADE = tables(healthbench=140)
Vote = tuple[str, str, int]
"""First system, second system, steps in favour of the first."""


def new(folder: Path, language: str) -> Folder:
    arguments = ["new", str(folder), "--protocol", "real-pocqi", "--language", language]
    assert CliRunner().invoke(group, arguments, catch_exceptions=False).exit_code == 0
    return open_folder(folder)


def test_both_languages_are_one_study(tmp_path: Path) -> None:
    english, german = (new(tmp_path / code, code).study for code in ("en", "de"))
    assert (english.systems, english.raters, english.plan) == (
        german.systems,
        german.raters,
        german.plan,
    )
    assert (english.exclusions, english.blinded) == (german.exclusions, True)
    for source, other in zip(english.sources, german.sources, strict=True):
        assert replace(source, labels={}) == replace(other, labels={})
        assert [*source.labels] == [*other.labels]
    assert english.prepare == german.prepare == Preparation(themes=Theming(10))
    assert [p.number for p in english.places] == [p.number for p in german.places]
    assert [_told(a) for a in english.analyses] == [_told(a) for a in german.analyses]
    assert [c.id for c in english.instruments[0].criteria] == [
        c.id for c in german.instruments[0].criteria
    ]
    for study in (english, german):
        for criterion in study.instruments[0].criteria:
            assert all(label in study.instruments[0].codebook for label in criterion.scale.labels)
    assert not set(re.findall(r"[A-Za-z]{4,}", german.instruments[0].criteria[0].question)) & {
        "Which",
        "answer",
    }


@pytest.mark.parametrize(
    ("language", "begin", "end"),
    [("en", "# DID blinding hold", "# Tables as"), ("de", "# HIELT die", "# Tabellen")],
)
def test_the_margin_and_the_guesses_of_systems_need_their_signs_removed_alone(
    tmp_path: Path, language: str, begin: str, end: str
) -> None:
    before = new(tmp_path / "study", language).study
    file = tmp_path / "study" / "study.toml"
    text = file.read_text("utf-8").replace("#margin", "margin")
    start, stop = text.index(begin), text.index(end)
    probe = re.sub(r"^#(?=\S)", "", text[start:stop], flags=re.MULTILINE)
    file.write_text(text[:start] + probe + text[stop:], "utf-8")
    study = open_folder(tmp_path / "study").study
    assert [i.id for i in study.instruments] == ["comparison", "probe"]
    assert study.plan[:2] == before.plan and study.plan[2].phase == "end"
    added = [a for a in study.analyses if a.criterion == "guess"]
    assert [a.statistic for a in added] == ["blinding_james", "blinding_bang"]
    assert set(added[0].collapse.values()) == {s.id for s in study.systems}
    assert [a.margin for a in study.analyses if a.margin is not None] == [0.1]
    assert len(study.analyses) == len(before.analyses) + 2


@pytest.mark.slow
def test_a_study_of_ones_own_is_simulated_rehearsed_and_reported(tmp_path: Path) -> None:
    folder = new(tmp_path / "own", "en").path
    protocol = folder / "study.toml"
    text = protocol.read_text()
    begin, end = text.index("[[sources]]"), text.index("# WHO rates WHAT")
    mine = (
        '[[sources]]\nfile = "questions.csv"\nrecords = "items"\nstrata = ["specialty", "source",'
        ' "theme"]\n\n'
    )
    text = text[:begin] + mine + text[end:]
    # Two specialties with two places for each exposure, so that people can sign up within seconds.
    lines = [
        n
        for n in text.splitlines()
        if "number =" not in n or "cardiology" in n or "dermatology" in n
    ]
    text = re.sub(r"number = \d", "number = 2", "\n".join(lines)).replace(
        "per_rater = 18", "per_rater = 6"
    )
    protocol.write_text(text + "\n[resampling]\ndraws = 100\n")
    rows = [
        f"q{n},Question {n}?,{('cardiology', 'dermatology')[n % 2]},real-pocqi,{'ab'[n % 2]}"
        for n in range(24)
    ]
    (folder / "questions.csv").write_text(
        "item,text,specialty,source,theme\n" + "\n".join(rows) + "\n"
    )
    (folder / "simulation.toml").write_text("[systems.system-1]\nstrength = 0.5\n")

    def konsil(*words: str) -> str:
        done = CliRunner().invoke(group, list(words), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    assert "simulated ratings" in konsil(
        "simulate", str(folder), "--to", str(tmp_path / "simulated"), "--seed", "3"
    )
    konsil("report", str(tmp_path / "simulated"))
    page = (tmp_path / "simulated" / "report" / "index.html").read_text()
    # Nobody is hidden where ratings are simulated.
    assert "system-1" in page
    assert "Blinded: systems carry codes" not in page
    assert "48 pages submitted" in konsil("rehearse", str(folder))


def _told(analysis: Analysis) -> tuple[object, ...]:
    names = (
        "statistic",
        "criterion",
        "criteria",
        "raters",
        "against",
        "mode",
        "where",
        "by",
        "arm",
        "consensus",
        "cluster",
        "test",
        "leave_out",
        "prespecified",
    )
    return tuple(str(getattr(analysis, name)) for name in names)


def test_the_primary_numbers_alone_are_tested(tmp_path: Path) -> None:
    study = new(tmp_path / "study", "en").study
    tested = [
        a
        for a in study.analyses
        if a.prespecified and a.test != "none" and a.statistic.startswith("win")
    ]
    assert [(a.criterion, a.arm, a.mode, a.cluster) for a in tested] == [
        (c, "text", "valid", "item")
        for c in ("accuracy", "clinical_utility", "source_quality", "verifiability", "completeness")
    ]
    paper = [a for a in study.analyses if a.mode == "paper"]
    assert sorted(a.statistic for a in paper) == ["choice_kappa"] * 5 + ["win_difference"] * 5
    assert not any(a.prespecified for a in paper)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every analysis of one criterion, by name, systems under their own names."""
    folder = tmp_path_factory.mktemp("pocqi") / "study"
    new(folder, "en")
    protocol = folder / "study.toml"
    read_inner_tables(folder)
    text = protocol.read_text().replace("blinded = true", "")
    head, *parts = text.split("[[analyses]]")
    kept = [p for p in parts if 'criterion = "source_quality"' in p or "rankings" in p]
    protocol.write_text("[[analyses]]".join([head, *kept]) + "\n[resampling]\ndraws = 100\n")
    write(MADE, folder / "tables")
    opened = open_folder(folder)
    opened.import_sources()
    assert opened.study.resampling == Resampling(100)
    return opened.results()


def votes(
    made: Made, keep: Callable[[Row, Row, Row], bool], axis: str = "authoritativeness"
) -> list[Vote]:
    """People's comparisons straight from the rows, by assignment, question and user."""
    questions, users, asked = (
        {r["id"]: r for r in made.tables[t]} for t in ("qa_questions", "users", "qa_assignments")
    )
    found = []
    for r in made.tables["ratings"]:
        task = asked[r["qa_assignment_id"]]
        timed = r["submission_time_seconds"] != "" and float(r["submission_time_seconds"]) >= 10
        if (
            r["axis"] == axis
            and timed
            and keep(task, questions[task["question_id"]], users[task["user_id"]])
        ):
            steps = 2 - CHOICES.index(r["choice"])
            found.append((task["slot_a_provider"], task["slot_b_provider"], steps))
    return found


def win_difference(of: Iterable[Vote], least: int = 1) -> dict[str, float]:
    by: dict[tuple[str, str], list[int]] = defaultdict(list)
    for a, b, steps in of:
        outcome = (steps >= least) - (steps <= -least)
        by[a, b].append(outcome)
        by[b, a].append(-outcome)
    means = {pair: sum(x) / len(x) for pair, x in by.items()}
    return {
        s: sum(v for (a, _), v in means.items() if a == s) / sum(a == s for a, _ in means)
        for s in {a for a, _ in means}
    }


def text_arm(_task: Row, question: Row, user: Row) -> bool:
    return user["subversion"] == "qa_text_only" and question["source"] == "real-pocqi"


def both_arms(_task: Row, question: Row, _user: Row) -> bool:
    return question["source"] == "real-pocqi"


def told(results: Results, name: str, **group: str) -> dict[str, float]:
    rows = [r for r in results.rows if r.analysis == name and r.kind == "estimate"]
    kept = [r for r in rows if group.items() <= r.group.items()]
    assert kept, (name, {r.analysis for r in results.rows})
    return {r.group["system"]: r.estimate.value for r in kept}


def same(got: dict[str, float], expected: dict[str, float]) -> None:
    assert got.keys() == expected.keys()
    assert max(abs(got[k] - expected[k]) for k in got) < 1e-12


@pytest.mark.parametrize(
    ("name", "keep", "least", "group"),
    [
        ("win difference, source quality", text_arm, 1, {}),
        ("as published: win difference, source quality", text_arm, 1, {}),
        ("win difference, source quality: raters as clusters", text_arm, 1, {}),
        ("win difference, source quality: much better alone", text_arm, 2, {}),
        (
            "win difference, source quality: with citations",
            lambda t, q, u: both_arms(t, q, u) and u["subversion"] == "qa_text_citations",
            1,
            {},
        ),
        (
            "win difference, source quality: HealthBench",
            lambda t, q, u: u["subversion"] == "qa_text_only" and q["source"] == "healthbench",
            1,
            {},
        ),
        (
            "win difference, source quality: users and others",
            lambda t, q, u: both_arms(t, q, u) and u["exposure"] == "user",
            1,
            {"exposure": "user"},
        ),
        (
            "win differences by theme, source quality",
            lambda t, q, u: text_arm(t, q, u) and q["theme"] == "prognosis",
            1,
            {"theme": "prognosis"},
        ),
    ],
)
@pytest.mark.slow
def test_win_differences(
    results: Results,
    name: str,
    keep: Callable[[Row, Row, Row], bool],
    least: int,
    group: dict[str, str],
) -> None:
    same(told(results, name, **group), win_difference(votes(MADE, keep), least))


@pytest.mark.slow
@pytest.mark.parametrize(("strict", "least"), [("", 1), ("strict ", 2)])
@pytest.mark.parametrize(("where", "keep"), [("text alone", text_arm), ("both arms", both_arms)])
def test_win_rates(
    results: Results, strict: str, least: int, where: str, keep: Callable[[Row, Row, Row], bool]
) -> None:
    name = f"{strict}win rates, source quality: {where}"
    got = {
        (r.group["system"], r.group["rival"]): r.estimate.value
        for r in results.rows
        if r.analysis == name and r.kind == "estimate"
    }
    assert len(got) == 12
    of = votes(MADE, keep)
    for one, other in itertools.permutations(SYSTEMS, 2):
        met = [s for a, b, s in of if (a, b) == (one, other)] + [
            -s for a, b, s in of if (a, b) == (other, one)
        ]
        assert got[one, other] == pytest.approx(sum(s >= least for s in met) / len(met), abs=1e-12)


@pytest.mark.slow
def test_longer_and_shorter_answers(results: Results) -> None:
    length = {r["answer_id"]: r["answer_len"] for r in MADE.tables["answer_lengths"]}
    answer = {
        (r["question_id"], r["provider_key"]): length[r["id"]] for r in MADE.tables["qa_answers"]
    }
    for word, sign in (("longer", 1), ("shorter", -1)):
        got = told(
            results, "win difference, source quality: longer and shorter answers", length=word
        )
        for system, value in got.items():
            rivals: dict[str, list[int]] = defaultdict(list)

            def collect(
                task: Row, question: Row, user: Row, me: str = system, side: int = sign
            ) -> bool:
                a, b = task["slot_a_provider"], task["slot_b_provider"]
                gap = answer[question["id"], a] - answer[question["id"], b]
                return (
                    both_arms(task, question, user)
                    and me in (a, b)
                    and (gap if a == me else -gap) * side > 0
                )

            for a, b, steps in votes(MADE, collect):
                rivals[b if a == system else a].append(
                    (steps > 0) - (steps < 0) if a == system else (steps < 0) - (steps > 0)
                )
            assert value == pytest.approx(
                sum(sum(x) / len(x) for x in rivals.values()) / len(rivals), abs=1e-12
            )


def judged(axis: str, judge: str) -> list[tuple[str, Vote]]:
    """(assignment, vote) of one judge on the study's own questions."""
    asked = {r["id"]: r for r in MADE.tables["qa_assignments"]}
    own = {r["id"] for r in MADE.tables["qa_questions"] if r["source"] == "real-pocqi"}
    return [
        (
            r["assignmentId"],
            (t["slot_a_provider"], t["slot_b_provider"], 2 - CHOICES.index(r["choices"][axis])),
        )
        for r in MADE.tables["machineRatings"]
        if r["grader"] == judge and (t := asked[r["assignmentId"]])["question_id"] in own
    ]


def jury_of(axis: str) -> list[Vote]:
    by: dict[str, list[Vote]] = defaultdict(list)
    for judge in JUDGES:
        for task, vote in judged(axis, judge):
            by[task].append(vote)
    means = [(v[0][0], v[0][1], sum(s for *_, s in v) / len(v)) for v in by.values()]
    return [(a, b, (m > 0.5) - (m < -0.5)) for a, b, m in means]


def test_judges_and_their_jury(results: Results) -> None:
    for judge in JUDGES:
        got = told(results, "win differences by judge, source quality", rater=judge)
        same(got, win_difference(v for _, v in judged("authoritativeness", judge)))
    same(
        told(results, "win differences by the jury, source quality"),
        win_difference(jury_of("authoritativeness")),
    )


def test_rankings_of_judges_and_physicians(results: Results) -> None:
    rows = [
        r
        for r in results.rows
        if r.analysis == "rankings of judges and physicians" and r.kind == "estimate"
    ]
    for judge in JUDGES:
        got = {r.group["criterion"]: r.estimate.value for r in rows if r.group["rater"] == judge}
        taus = []
        for axis in AXES:
            experts = win_difference(votes(MADE, text_arm, axis))
            theirs = win_difference(v for _, v in judged(axis, judge))
            taus.append(
                float(
                    kendalltau(
                        [experts[s] for s in SYSTEMS], [theirs[s] for s in SYSTEMS]
                    ).statistic
                )
            )
            assert got["source_quality" if axis == "authoritativeness" else axis] == pytest.approx(
                taus[-1]
            )
        assert got["mean_over_criteria"] == pytest.approx(sum(taus) / 5)
