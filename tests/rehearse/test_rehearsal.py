"""Whole studies through the pages of a real server."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.api.rehearsal.rehearsing import rehearse
from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.api.running.invitations import invite
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.errors import StudyError
from konsil.progress import listening
from konsil.records import Rating
from konsil.rehearse import Server, work
from konsil.rehearse.people import Person
from konsil.simulate import Truth, draw
from konsil.store.release.export import read_export

AT = "2025-03-01T12:00:00Z"
CORRECT = '{ labels = ["Incorrect", "Correct"], abstain = "Cannot judge" }'


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def says(rating: Rating) -> tuple[object, ...]:
    return (
        rating.task,
        rating.rater,
        rating.criterion,
        rating.answers,
        rating.span,
        rating.state,
        rating.label or "",
    )


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The demo's folder as one that is to be asked of people."""
    with as_file(files("konsil.demo")) as source:
        shutil.copytree(source, tmp_path / "demo")
    protocol = tmp_path / "demo" / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("simulated = true\n", ""), "utf-8")
    return tmp_path / "demo"


@pytest.mark.slow
def test_what_the_pages_collect_is_what_the_raters_said(demo: Path, tmp_path: Path) -> None:
    """Through slots, forms and canonical answers, every label arrives as it was drawn; the study is
    not touched."""
    folder = open_folder(demo)
    truth = truth_of(folder)
    before = {p.name: p.read_bytes() for p in demo.iterdir() if p.is_file()}
    steps: list[tuple[str, int, int]] = []
    with listening(lambda *step: steps.append(step)):
        done = rehearse(folder, RehearsalRequest(target=tmp_path / "copy", most=12), truth)
    assert done.outcome.times.faults == []
    assert [step for step in steps if step[0] == "pages"][-1] == ("pages", 60, 60)
    assert done.outcome.handed_in == {f"physician-{n}": 12 for n in range(1, 6)}
    with done.folder.store() as store:
        people = [r for r in store.ratings() if r.rater.startswith("physician")]
        drawn = draw(folder.study, store.items(), store.answers(), truth, folder.study.seed)
        seconds = {r.task: r.seconds for r in drawn.ratings}
        assert {r.seconds for r in people} == {seconds[r.task] for r in people}
        assert store.verify_log() == ()
    expected = {says(r) for r in drawn.ratings}
    assert len(people) == 12 * 5 * 4
    assert {says(r) for r in people} <= expected
    assert {p.name: p.read_bytes() for p in demo.iterdir() if p.is_file()} == before
    assert done.report is not None
    assert "Rehearsal: Demo" in done.report.read_text("utf-8")
    with pytest.raises(StudyError, match="exists and is not empty"):
        rehearse(folder, RehearsalRequest(target=tmp_path / "copy"), truth)


def test_without_a_plan_there_is_nothing_to_rehearse(demo: Path, tmp_path: Path) -> None:
    protocol = demo / "study.toml"
    protocol.write_text(
        protocol.read_text("utf-8").replace(
            "[[plan]]", "[[sources]]\nfile = 'x'\nrecords = 'items'\n#"
        ),
        "utf-8",
    )
    text = protocol.read_text("utf-8")
    protocol.write_text(
        text[: text.index("[[sources]]\nfile = 'x'")] + text[text.index("# Which numbers.") :],
        "utf-8",
    )
    with pytest.raises(StudyError, match=r"there is no \[\[plan\]\]"):
        rehearse(open_folder(demo), RehearsalRequest(target=tmp_path / "copy"), Truth())
    assert not (tmp_path / "copy").exists()


PROTOCOL = """schema = 1
title = "{title}"
seed = 11
language = "en"
[[instruments]]
id = "form"
criteria = [{{ id = "correct", question = "Is it correct?", scale = {scale} }}]
{systems}
{raters}
[[plan]]
panel = "physicians"
instrument = "form"
[[analyses]]
name = "agreement"
statistic = "percent_agreement"
criterion = "correct"
raters = "physicians"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
"""


@pytest.mark.slow
def test_two_who_always_choose_the_same_agree_wholly(tmp_path: Path) -> None:
    """Whatever slots the answers stand in: the agreement is 1 in the report's numbers and in the
    export."""
    folder = tmp_path / "study"
    folder.mkdir()
    systems = "\n".join(f'[[systems]]\nid = "s{n}"\nfamily = "f"' for n in range(4))
    raters = "\n".join(f'[[raters]]\nid = "p{n}"\npanel = "physicians"' for n in (1, 2))
    (folder / "study.toml").write_text(
        PROTOCOL.format(title="Two", scale=CORRECT, systems=systems, raters=raters), "utf-8"
    )
    lines = [f"i{k},Question {k},Reference {k}" for k in range(12)]
    (folder / "items.csv").write_text("item,text,reference\n" + "\n".join(lines), "utf-8")
    rows = [f"i{k},s{n},Text of s{n} on {k}" for k in range(12) for n in range(4)]
    (folder / "answers.csv").write_text("item,system,text\n" + "\n".join(rows), "utf-8")
    run("import", folder)
    run("plan", folder)
    opened = open_folder(folder)
    with opened.store() as store:
        orders = {(t.item, t.rater): t.answers for t in store.tasks()}
        texts = {a.id: a for a in store.answers()}
        assert any(orders[f"i{k}", "p1"] != orders[f"i{k}", "p2"] for k in range(12)), (
            "slots are random"
        )
        tasks = {t.id: t for t in store.tasks()}

        def say(public: str) -> tuple[dict[str, str], float]:
            """The same label for the same answer: it looks at the answer, and never at the slot."""
            from konsil.store.engine.engine import reading
            from konsil.store.tasks import screens

            with reading(store.engine) as connection:
                state = screens.public(connection, public)
            assert state is not None
            shown = [texts[a] for a in tasks[state.task].answers]
            return {
                f"~1.a{n}": "Correct" if (int(a.system[1:]) + int(a.item[1:])) % 3 else "Incorrect"
                for n, a in enumerate(shown, start=1)
            }, 5.0

        with Server(folder) as server:
            links = invite(opened, InvitationRequest(url=server.url, days=1))
            done = work([Person(link.recipient, link.url) for link in links], say)
    assert done.times.faults == []
    assert done.handed_in == {"p1": 12, "p2": 12}
    assert [r.estimate.value for r in opened.results().rows if r.kind == "estimate"] == [1.0]
    run("export", folder, tmp_path / "out")
    labels: dict[tuple[str, ...], set[str | None]] = {}
    for r in read_export(tmp_path / "out").ratings:
        labels.setdefault(r.answers, set()).add(r.label)
    assert len(labels) == 48
    assert all(len(said) == 1 for said in labels.values())
