"""The demo study is a whole and consistent study."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import konsil.demo
from konsil.simulate import check_truth, draw, read_truth
from konsil.sources.files.table import read_table
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items
from konsil.study import check, parse

FOLDER = Path(konsil.demo.__file__).parent


@pytest.fixture(scope="module")
def demo():
    study = parse(
        (FOLDER / "study.toml").read_text("utf-8"), lambda name: (FOLDER / name).read_text("utf-8")
    )
    items = read_items(read_table(FOLDER / "items.csv"), study.sources[0])
    answers = read_answers(read_table(FOLDER / "answers.csv"), study.sources[1])
    truth = read_truth((FOLDER / "simulation.toml").read_text("utf-8"))
    assert not items.problems and not answers.problems
    return study, items.records, answers.records, truth


def test_the_study_and_its_truth_are_accepted(demo):
    study, _, answers, truth = demo
    check(study)
    check_truth(truth, study, answers)
    assert study.simulated


def test_sixty_questions_half_in_german_with_three_answers_each(demo):
    study, items, answers, _ = demo
    assert Counter(i.strata["language"] for i in items) == {"de": 30, "en": 30}
    assert set(Counter((i.strata["language"], i.strata["specialty"]) for i in items).values()) == {
        6
    }
    assert all(i.text.endswith("?") and i.reference for i in items)
    assert len({i.text for i in items}) == 60
    systems = {s.id for s in study.systems}
    by_item = Counter(a.item for a in answers)
    assert set(by_item) == {i.id for i in items} and set(by_item.values()) == {3}
    assert {a.system for a in answers} == systems and all(a.text for a in answers)


def test_wrong_answers_are_wrong_and_as_many_as_the_qualities_say(demo):
    _, items, answers, truth = demo
    names = {i.id: {n.casefold() for n in (i.reference, *i.aliases)} for i in items}
    wrong = set(truth.wrong_answers)
    for answer in answers:
        if answer.id in wrong:
            assert answer.text.casefold() not in names[answer.item], answer
    for system, told in truth.systems.items():
        share = sum(a.id in wrong for a in answers if a.system == system) / 60
        assert told.quality == pytest.approx(1 - share)
    right = [a for a in answers if a.id not in wrong]
    literal = [a for a in right if a.text.casefold() in names[a.item]]
    assert len(literal) > 0.75 * len(right)


def test_the_same_text_is_right_or_wrong_but_not_both(demo):
    _, _, answers, truth = demo
    wrong = set(truth.wrong_answers)
    verdicts = {}
    for a in answers:
        verdicts.setdefault((a.item, a.text.casefold()), set()).add(a.id in wrong)
    assert all(len(v) == 1 for v in verdicts.values())


def test_its_panel_is_drawn_at_once(demo):
    study, items, answers, truth = demo
    simulated = draw(study, items, answers, truth, study.seed)
    assert len(simulated.tasks) == 5 * 68 + 3 * 60
    assert len(simulated.ratings) == 4 * len(simulated.tasks)
    wrong = set(truth.wrong_answers)
    told = [
        r
        for r in simulated.ratings
        if r.answers and r.answers[0] in wrong and r.rater.startswith("physician")
    ]
    assert sum(r.label == "Incorrect" for r in told) > 0.8 * len(told)
