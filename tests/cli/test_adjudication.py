"""The adjudication from the command line: what waits, opening it, closing the round, what the
report then states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import konsil
from konsil.instrument import fields
from konsil.instrument.screens.reply import ratings, read_form
from konsil.records import Task
from konsil.study.definition.adjudication import CLOSED
from konsil.web.rating.consensus.adjudication import Adjudicating
from small_studies import ITEMS, form, plan, raters, share_correct, study_text, systems

Call = Callable[..., tuple[int, str, str]]
AT = "2025-03-01T12:00:00Z"
PROTOCOL = study_text(
    "A study",
    form(question="Correct?"),
    systems("a"),
    raters("p1", "p2", panel="panel"),
    plan("panel"),
    ITEMS,
    '[[sources]]\nfile = "answers.csv"\nrecords = "answers"',
    share_correct("panel", "right"),
    seed=1,
)
RULES = """
[adjudication]
panel = "panel"
"""


@pytest.fixture
def study(call: Call, tmp_path: Path) -> Path:
    """Two physicians rated three questions and differ on the first two."""
    (tmp_path / "study.toml").write_text(PROTOCOL + RULES, "utf-8")
    (tmp_path / "items.csv").write_text("item,text\nq1,Why?\nq2,How?\nq3,When?\n", "utf-8")
    (tmp_path / "answers.csv").write_text(
        "item,system,text\nq1,a,So.\nq2,a,Thus.\nq3,a,Now.\n", "utf-8"
    )
    for command in ("import", "plan"):
        assert call(command, tmp_path)[0] == 0
    opened = konsil.open(tmp_path)
    form = opened.study.instruments[0]
    with opened.store() as store:
        for task in store.tasks():
            label = "no" if task.rater == "p1" or task.item == "q3" else "yes"
            form_of = {f.name: label for f in fields(form, task)}
            found = ratings(read_form(fields(form, task), form_of), form, task, at=AT)
            store.revise(found, at=AT, event_id=f"rated {task.id}")
    return tmp_path


def decide(folder: Path, rater: str) -> None:
    """The rater decides on the first of the list, as the page does."""
    opened = konsil.open(folder)
    with opened.store() as store:
        here = Adjudicating(opened.study, store, lambda: AT)
        about = here.rows(rater)[0].about
        assert here.decide(rater, about, {"label": "yes", "reason": "Agreed."}) == ""


def reviews(folder: Path) -> list[Task]:
    with konsil.open(folder).store() as store:
        return [task for task in store.tasks() if task.purpose == "adjudication"]


def test_a_round_from_its_opening_to_its_end(call: Call, study: Path) -> None:
    assert call("adjudication", study) == (0, "disagreements not opened yet: 2\n", "")
    assert call("adjudication", study, "--open", "--by", "lead") == (
        0,
        "opened: 2 disagreements\n",
        "",
    )
    decide(study, "p1")
    code, out, _ = call("adjudication", study)
    first, *items, last = out.splitlines()
    assert code == 0
    assert first.startswith("round 1: 1 of 4 tasks decided, open since 20")
    assert sorted(line.partition(": ")[0] for line in items) == ["  q1", "  q2"]
    assert sum(": 1 of 2 tasks decided (correct" in line for line in items) == 1
    assert last == "disagreements not opened yet: 0"
    closed = "round 1: now closed; 1 of 4 tasks decided, 6 ratings collected before\n"
    assert call("adjudication", study, "--close", "--by", "lead") == (0, closed, "")
    code, out, _ = call("adjudication", study)
    assert len(out.splitlines()) == 2
    assert ", closed at 20" in out and " by staff-1" in out
    code, _, told = call("adjudication", study, "--close", "--by", "lead")
    assert code == 2
    assert "no round of the adjudication is open, so there is nothing to close" in told
    assert call("verify-log", study)[0] == 0
    code, out, _ = call("log", study, "--kind", CLOSED)
    assert (code, len(out.splitlines())) == (0, 1)


@pytest.mark.slow
def test_the_report_states_when_a_round_was_closed_in_both_languages(
    call: Call, study: Path
) -> None:
    call("adjudication", study, "--open", "--by", "lead")
    decide(study, "p1")
    call("adjudication", study, "--close", "--by", "lead")
    for language, words in (
        ("en", "after 6 ratings had been collected; 1 of its 4 tasks had a decision."),
        (
            "de",
            (
                "nachdem 6 Bewertungen erhoben worden waren; zu 1 von 4 Aufgaben lag eine"
                " Entscheidung vor."
            ),
        ),
    ):
        (study / "study.toml").write_text(f'language = "{language}"\n' + PROTOCOL + RULES, "utf-8")
        assert call("report", study)[0] == 0
        page = " ".join((study / "report" / "index.html").read_text("utf-8").split())
        assert words in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--open"], "--open: --by is missing; expected the pseudonym of the person who decided"),
        (["--close"], "--close: --by is missing; expected the pseudonym of the person who decided"),
        (["--open", "--close", "--by", "x"], "--open and --close: expected one of them"),
        (["--by", "x"], "--by: is for --open and --close; without them nothing is written"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(
    arguments: list[str], says: str, call: Call, study: Path
) -> None:
    code, _, told = call("adjudication", study, *arguments)
    assert (code, says in told, len(told.splitlines())) == (2, True, 1)
    assert not reviews(study)


def test_a_study_without_one_is_told(call: Call, study: Path) -> None:
    (study / "study.toml").write_text(PROTOCOL, "utf-8")
    code, _, told = call("adjudication", study)
    assert code == 2
    assert (
        "study.toml: has no [adjudication]; expected one, by which raters who disagree rate again"
        in told
    )
