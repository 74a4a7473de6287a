"""The plan of a study's folder: drawn once, found again, refused where it cannot be met."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.running.planning import make_plan
from konsil.api.serving.opening import assign_tasks
from konsil.cli.main import group, main
from konsil.cli.plan import FEW
from konsil.errors import AddedTasksError, PlanError, StoreError, StudyError
from konsil.records import Answer, Event, Item, Rating, Task
from konsil.store import Batch
from konsil.study.interim.looks import LOOK_TAKEN

STUDY = """
title = "Split"
seed = 7
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"], level = "nominal", abstain = "cannot judge" }
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[raters]]
id = "p3"
panel = "people"
[[raters]]
id = "t"
panel = "tiebreaker"
[[sources]]
file = "items.csv"
records = "items"
[[plan]]
panel = "people"
instrument = "form"
raters_per_item = 2
[[plan]]
panel = "tiebreaker"
instrument = "form"
when = "disagreed"
purpose = "tiebreak"
"""


def run(*arguments: str) -> str:
    done = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "items.csv").write_text(
        "item,text\n" + "".join(f"i{n},Question {n}?\n" for n in range(12))
    )
    open_folder(tmp_path).import_sources()
    return tmp_path


def test_the_plan_is_drawn_once_and_found_again(folder: Path) -> None:
    looked = make_plan(open_folder(folder), save=False)
    with open_folder(folder).store() as store:
        assert store.counts()["tasks"] == 0
    first = make_plan(open_folder(folder))
    again = make_plan(open_folder(folder))
    assert (looked.new, first.new, again.new) == (24, 24, 0)
    assert looked.digest == first.digest == again.digest
    assert first.tasks == again.tasks
    assert set(first.balance.pairs.values()) == {4}
    with open_folder(folder).store() as store:
        assert set(store.tasks()) == set(first.tasks)


def test_a_plan_is_drawn_stored_and_described_without_an_object_for_each_task(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Task:
        raise AssertionError("a task was made")

    monkeypatch.setattr("konsil.store.log.record_writer._MANY", 1)
    monkeypatch.setattr("konsil.plan.model.task_columns.bulk_constructor", lambda _: refuse)
    monkeypatch.setattr("konsil.store.engine.read.records_of", refuse)
    planned = make_plan(open_folder(folder))
    assert planned.purposes() == {"main": 24}
    monkeypatch.undo()
    with open_folder(folder).store() as store:
        assert sorted(planned.tasks, key=lambda t: t.id) == [*store.tasks()]
        assert not store.verify_log()


def test_a_conflict_calls_for_a_tiebreak_and_leaves_the_digest(folder: Path) -> None:
    planned = make_plan(open_folder(folder))
    one, two = (t for t in planned.tasks if t.item == "i3")
    ratings = [
        Rating(one.id, one.rater, "correct", "i3", ("i3:a",), label="yes"),
        Rating(two.id, two.rater, "correct", "i3", ("i3:a",), label="no"),
    ]
    with open_folder(folder).store() as store:
        store.add(Batch(ratings=ratings), source="test", at="2026-01-01T00:00:00Z")
    after = make_plan(open_folder(folder))
    assert after.new == 1
    assert after.purposes() == {"main": 24, "tiebreak": 1}
    assert after.digest == planned.digest


def test_what_cannot_be_met_is_refused(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("raters_per_item = 2", "raters_per_item = 4"))
    with pytest.raises(PlanError, match=r"plan\[0\]"):
        make_plan(open_folder(folder))
    with open_folder(folder).store() as store:
        assert store.counts()["tasks"] == 0
    (folder / "study.toml").write_text(text.split("[[plan]]")[0])
    with pytest.raises(StudyError, match="expected one that assigns items to raters"):
        make_plan(open_folder(folder))


def test_items_come_first(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    with pytest.raises(StoreError, match="no such database; import something first"):
        make_plan(open_folder(tmp_path))
    open_folder(tmp_path).store(create=True).close()
    with pytest.raises(StudyError, match="no items yet"):
        make_plan(open_folder(tmp_path))


def test_models_answer_before_the_plan_is_drawn(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(
        text.replace('id = "a"\n', 'id = "a"\nmodel = "fake:a"\n', 1)
    )
    with pytest.raises(StudyError, match="system 'a' has no answers yet"):
        make_plan(open_folder(folder))


CALLED = STUDY.replace('id = "a"\n', 'id = "a"\nmodel = "fake:a,refused=0.3"\n', 1).replace(
    'id = "b"\n', 'id = "b"\nmodel = "fake:b,refused=0.3"\n', 1
)


@pytest.mark.slow
def test_what_was_refused_is_left_out_and_said(folder: Path) -> None:
    (folder / "study.toml").write_text(CALLED)
    run("answer", str(folder), "--limit", "10")
    with pytest.raises(
        StudyError, match="system 'b' has no answers yet; run 'konsil answer' first"
    ):
        make_plan(open_folder(folder))
    run("answer", str(folder), "--limit", "10")
    with pytest.raises(
        StudyError,
        match=r"plan\[0\]: system 'b' has not answered \d of 12 items yet; run 'konsil",
    ):
        make_plan(open_folder(folder))
    run("answer", str(folder))
    with open_folder(folder).store() as store:
        per_item = Counter(a.item for a in store.answers())
    none, one = 12 - len(per_item), sum(n == 1 for n in per_item.values())
    assert none, "the seed refuses something"
    said = run("plan", str(folder), "--dry-run")
    assert f"  plan[0]: {none} of 12 items ha" in said
    assert f"{one} have fewer than 2\n" in said
    with pytest.raises(
        PlanError, match=r"plan\[0\]: \d of 12 items ha.* fewer answers than a task needs"
    ):
        make_plan(open_folder(folder), strict=True)
    planned = make_plan(open_folder(folder))
    assert {t.item for t in planned.tasks} == set(per_item)
    assert all(len(t.answers) == per_item[t.item or ""] for t in planned.tasks)
    assert max(planned.balance.screens.values()) - min(planned.balance.screens.values()) <= 2


def test_a_plan_that_was_drawn_is_not_drawn_otherwise(folder: Path) -> None:
    make_plan(open_folder(folder))
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("raters_per_item = 2", "raters_per_item = 1"))
    with pytest.raises(
        PlanError, match=r"12 tasks of the stored plan .*do not follow from the current"
    ):
        make_plan(open_folder(folder))
    (folder / "study.toml").write_text(
        text + '[[plan]]\npanel = "people"\ninstrument = "form"\nphase = "more"\n'
    )
    assert make_plan(open_folder(folder)).new == 36


def test_the_plan_stands_on_the_items_that_were_drawn(tmp_path: Path) -> None:
    sets = (
        "[prepare]\nlexical_match = true\nsample = { size = 6 }\nsets = { core = 2, split = 4 }\n"
    )
    sources = '[[sources]]\nfile = "answers.csv"\nrecords = "answers"\n'
    halves = STUDY.replace(
        'instrument = "form"\nraters_per_item = 2', 'instrument = "form"\nitems = "core"'
    )
    (tmp_path / "study.toml").write_text(halves + sources + sets)
    (tmp_path / "items.csv").write_text(
        "item,text,reference\n" + "".join(f"i{n},What?,yes\n" for n in range(9))
    )
    answers = "".join(
        f"i{n},{system},{'yes' if n % 3 else 'no'}\n" for n in range(9) for system in "ab"
    )
    (tmp_path / "answers.csv").write_text("item,system,text\n" + answers)
    run("import", str(tmp_path))
    run("prepare", str(tmp_path))
    planned = make_plan(open_folder(tmp_path))
    assert Counter(t.rater for t in planned.tasks) == {"p1": 2, "p2": 2, "p3": 2}
    assert planned.missing == ()


def test_the_overlap_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    line = "raters_per_item = 1\noverlap = { share = 0.25 }"
    (folder / "study.toml").write_text(STUDY.replace("raters_per_item = 2", line))
    (folder / "items.csv").write_text("item,text\n" + "".join(f"i{n},?\n" for n in range(12)))
    run("import", str(folder))
    lines = run("plan", str(folder)).splitlines()
    says = (
        "share 3 of 12 comparisons (25.0%) among 2 raters, including overlap by chance;"
        " requested overlap: 25.0%"
    )
    assert f"  people {says}" in lines
    assert "    of each of people: 2" in lines


def crowded(folder: Path, n: int, strata: str) -> Path:
    """A study whose panel has n physicians, with four items that have a stratum."""
    raters = "".join(f'[[raters]]\nid = "p{k}"\npanel = "physicians"\n' for k in range(n))
    (folder / "study.toml").write_text(f"""title = "Many"
seed = 1
[[instruments]]
id = "form"
criteria = [{{ id = "ok", question = "?", scope = "item", scale = {{ labels = ["no", "yes"] }} }}]
[[systems]]
id = "a"
{raters}[[raters]]
id = "judge"
kind = "llm"
panel = "judges"
[[sources]]
file = "items.csv"
records = "items"
strata = ["finding"]
[[plan]]
panel = "physicians"
instrument = "form"
""")
    values = strata.split("|")
    rows = "".join(f'q{k},Why {k}?,"{values[k % len(values)]}"\n' for k in range(4))
    (folder / "items.csv").write_text(f"item,text,finding\n{rows}")
    open_folder(folder).import_sources()
    return folder


def lines_of_plan(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    capsys.readouterr()
    main(["plan", str(folder), "--dry-run", *options])
    return capsys.readouterr().out.splitlines()


def test_a_large_panel_has_one_line_of_loads_unless_each_rater_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = crowded(tmp_path, FEW + 1, "rash|cough")
    told = lines_of_plan(folder, capsys)
    assert f"  each of the {FEW + 1} raters of physicians: 4 tasks, 4 items" in told
    assert not any(line.startswith("  p0: ") for line in told)
    each = lines_of_plan(folder, capsys, "--raters")
    assert sum(line.endswith(": 4 tasks, 4 items") for line in each) == FEW + 1


def test_a_small_panel_is_listed_by_rater(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = lines_of_plan(crowded(tmp_path, FEW, "rash|cough"), capsys)
    assert sum(line.endswith(": 4 tasks, 4 items") for line in told) == FEW
    assert any(
        line.startswith("  items of each of physicians by finding: cough 2, rash 2")
        for line in told
    )


@pytest.mark.parametrize("strata", ["rash, fever|cough", f"{'a very long finding ' * 3}|cough"])
def test_free_text_is_no_stratum_that_a_plan_is_held_against(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], strata: str
) -> None:
    assert "by finding" not in "\n".join(lines_of_plan(crowded(tmp_path, 2, strata), capsys))


@pytest.mark.parametrize(
    ("added", "shown"), [("", False), ('[[judges]]\nrater = "judge"\nmodel = "fake:m"\n', True)]
)
def test_check_prints_the_prompt_only_of_judges_that_are_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], added: str, shown: bool
) -> None:
    protocol = crowded(tmp_path, 2, "rash|cough") / "study.toml"
    protocol.write_text(protocol.read_text().partition("[[plan]]")[0] + added)
    capsys.readouterr()
    main(["check", str(tmp_path)])
    assert ("LLM judges read the same texts as people" in capsys.readouterr().out) is shown


def test_a_plan_is_not_enlarged_after_a_comparative_look(folder: Path) -> None:
    """Nothing is stored then, and the study is served with the tasks that it has."""
    make_plan(open_folder(folder))
    data = {"look": "comparative", "is_planned": True, "tasks": 24}
    look = Event("l", LOOK_TAKEN, "1", "2026-01-02T00:00:00Z", data)
    answers = [Answer(f"new:{system}", "new", system) for system in ("a", "b")]
    further = Batch(items=(Item("new", "A further question?"),), answers=answers)
    with open_folder(folder).store() as store:
        store.add(Batch(events=(look,)), source="test", at=look.at)
        assert make_plan(open_folder(folder)).new == 0
        store.add(further, source="test", at=look.at)
    for save in (True, False):
        with pytest.raises(AddedTasksError, match="2 tasks would be added to 24 after the compar"):
            make_plan(open_folder(folder), save=save)
    with pytest.raises(SystemExit, match="2"):
        main(["plan", str(folder)])
    with open_folder(folder).store() as store:
        assert store.counts()["tasks"] == 24
    assert assign_tasks(open_folder(folder)).startswith("24 tasks assigned before (")
    run("kit", str(folder), "--rater", "p1", "--output", str(folder / "kit.html"))
