"""The sample of a study's folder: drawn by a command, seen by every step after it, never drawn anew
under a plan."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.curation.preparing import prepare
from konsil.api.rehearsal.rehearsal import simulate, truth_of
from konsil.api.running.planning import make_plan
from konsil.errors import PlanError, StudyError
from konsil.records import Answer, Event
from konsil.store import Batch
from small_studies import (
    ITEMS,
    form,
    import_items,
    plan,
    raters,
    share_correct,
    study_text,
    systems,
)

STUDY = study_text(
    "Sampled",
    form(abstain="cannot judge"),
    systems("a", "b"),
    raters("p1", "p2", "p3"),
    ITEMS,
    """[prepare]
lexical_match = true
sample = { size = 50, by = "lexical_match", shares = { no = 0.8, yes = 0.2 } }
sets = { core = 10, split = 40 }""",
    plan(items="core", phase="main"),
    plan(items="split", raters_per_item=2, phase="main"),
    share_correct(name="by match", by=["lexical_match"]),
    """[[analyses]]
name = "in the core"
statistic = "percent_agreement"
criterion = "correct"
raters = "people"
items = "core"
[resampling]
draws = 100""",
    seed=3,
    language="de",
    licence="CC0-1.0",
)
AT = "2026-01-01T00:00:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two hundred items; system b has the reference in every fourth."""
    rows = [(f"i{n:03}", f"Question {n}?", f"answer {n}") for n in range(200)]
    return import_items(tmp_path, STUDY, [("item", "text", "reference"), *rows]).path


def answered(folder: Path, systems: str = "ab") -> Path:
    answers = [
        Answer(
            f"i{n:03}:{s}",
            f"i{n:03}",
            s,
            f"answer {n}" if s == "b" and n % 4 == 0 else "something else",
        )
        for n in range(200)
        for s in systems
    ]
    with open_folder(folder).store() as store:
        store.add(Batch(answers=answers), source="test", at=AT)
    return folder


def events(folder: Path) -> list[Event]:
    with open_folder(folder).store() as store:
        return [e for e in store.events() if e.kind == "sampling"]


def change(folder: Path, old: str, new: str) -> None:
    text = (folder / "study.toml").read_text()
    assert old in text
    (folder / "study.toml").write_text(text.replace(old, new))


def test_drawn_once_and_found_again(folder: Path):
    answered(folder)
    looked = prepare(open_folder(folder), save=False)
    assert (looked.new, events(folder)) == (True, [])
    first, again = prepare(open_folder(folder)), prepare(open_folder(folder))
    assert (first.new, again.new) == (True, False)
    assert looked.drawn == first.drawn == again.drawn
    assert len(events(folder)) == 1
    with open_folder(folder).store() as store:
        assert store.verify_log() == ()
        assert all(item.sets == () and item.strata == {} for item in store.items())


def test_it_waits_for_the_answers_and_the_plan_waits_for_it(folder: Path):
    with pytest.raises(PlanError, match=r"study.toml: prepare.lexical_match: .* 'a' answered 0"):
        prepare(open_folder(folder))
    answered(folder, "a")
    with pytest.raises(
        PlanError, match=r"200 of 200 items .* \(system 'b' answered 0\); run 'konsil answer'"
    ):
        prepare(open_folder(folder))
    with pytest.raises(
        PlanError, match="the items are not selected yet; run 'konsil prepare' first"
    ):
        make_plan(open_folder(folder))
    change(folder, "[prepare]\nlexical_match = true", "[unused]")
    with pytest.raises(StudyError, match="unused"):
        open_folder(folder)


@pytest.mark.slow
def test_it_can_be_drawn_anew_until_a_plan_is(folder: Path):
    answered(folder)
    first = prepare(open_folder(folder))
    change(folder, "seed = 3", "seed = 4")
    with pytest.raises(
        PlanError, match="requests other items than were selected; run 'konsil prepare' again"
    ):
        make_plan(open_folder(folder))
    second = prepare(open_folder(folder))
    assert second.new
    assert second.drawn != first.drawn
    assert [e.data["number"] for e in events(folder)] == [1, 2]
    planned = make_plan(open_folder(folder))
    assert len(planned.tasks) == 3 * 10 + 2 * 40
    chosen = {i for parts in second.drawn.drawn.values() for ids in parts.values() for i in ids}
    assert {t.item for t in planned.tasks} == chosen
    assert prepare(open_folder(folder)) == type(second)(second.drawn, new=False)
    change(folder, "seed = 4", "seed = 5")
    for late in (prepare, make_plan):
        with pytest.raises(
            PlanError,
            match=r"the assignment plan already exists for the items of another \[prepare\] or seed",
        ):
            late(open_folder(folder))
    assert len(events(folder)) == 2


def test_a_plan_on_all_items_is_not_taken_back(folder: Path):
    answered(folder)
    part = STUDY[STUDY.index("[prepare]") : STUDY.index("[[plan]]")]
    lines = STUDY[STUDY.index("[[plan]]") : STUDY.index("[[analyses]]")]
    change(folder, part + lines, '[[plan]]\npanel = "people"\ninstrument = "form"\n')
    make_plan(open_folder(folder))
    (folder / "study.toml").write_text(STUDY)
    with pytest.raises(PlanError, match="the assignment plan already exists for all items"):
        prepare(open_folder(folder))


def test_without_prepare_there_is_nothing_to_draw(folder: Path):
    change(folder, STUDY[STUDY.index("[prepare]") : STUDY.index("[[plan]]")], "")
    with pytest.raises(
        StudyError, match=r"there is no \[prepare\]; expected one that states which items are rated"
    ):
        prepare(open_folder(folder))


@pytest.mark.slow
def test_every_step_after_it_sees_the_sample(folder: Path):
    answered(folder)
    prepare(open_folder(folder))
    change(folder, 'title = "Sampled"', 'title = "Sampled"\nsimulated = true')
    (folder / "simulation.toml").write_text("")
    opened = open_folder(folder)
    simulate(opened, truth_of(opened))
    data = opened.data()
    assert (len(data.items), len(data.answers)) == (50, 100)
    assert Counter(i.strata["lexical_match"] for i in data.items) == {"no": 40, "yes": 10}
    results = opened.run(data)
    assert [r.group for r in results.rows if r.analysis == "by match" and r.kind == "estimate"] == [
        {"lexical_match": "no"},
        {"lexical_match": "yes"},
    ]
    [core] = [r for r in results.rows if r.analysis == "in the core" and r.kind == "estimate"]
    assert core.n_units == 20
    page = opened.report().read_text("utf-8")
    for text in (
        "Fluss der Items durch die Studie.",
        "Items beantwortet von",
        "Wörtliche Übereinstimmung",
        "Ausgewählte Items",
    ):
        assert text in page
    assert make_plan(opened).new == 0


def test_the_sample_is_in_exports_which_read_back_equal(folder: Path, tmp_path: Path):
    answered(folder)
    prepare(open_folder(folder))
    opened = open_folder(folder)
    out = opened.export(tmp_path / "out", "csv")
    with (out / "sample.csv").open(newline="", encoding="utf-8") as file:
        sample = list(csv.DictReader(file))
    assert Counter(row["sets"] for row in sample) == {
        '["sample","core"]': 10,
        '["sample","split"]': 40,
    }
    other = tmp_path / "other"
    other.mkdir()
    (other / "study.toml").write_text(STUDY)
    copy = open_folder(other)
    copy.import_export(out)
    with opened.store() as ours, copy.store() as theirs:
        assert ours.items() == theirs.items()
        assert ours.events() == theirs.events()
    assert prepare(copy).new is False
    released = opened.release(tmp_path / "released")
    with (released.folder / "items.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert sum('"core"' in row["sets"] for row in rows) == 10
    assert sum(json.loads(row["strata"]).get("lexical_match") == "yes" for row in rows) == 10


def test_a_rehearsal_pretends_the_answers_that_the_draw_needs(folder: Path):
    change(folder, 'title = "Sampled"', 'title = "Sampled"\nsimulated = true')
    (folder / "simulation.toml").write_text("")
    opened = open_folder(folder)
    simulate(opened, truth_of(opened))
    data = opened.data()
    assert Counter(i.strata["lexical_match"] for i in data.items) == {"no": 40, "yes": 10}
    assert Counter(i.sets[1] for i in data.items) == {"core": 10, "split": 40}
    assert simulate(opened, truth_of(opened)).total_new() == 0
