"""A comparison of pairs with places that people sign up for: rated on the pages, and the same rated
in Label Studio."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.api.folder.test_labelstudio import annotated, results

from konsil.api import open_folder
from konsil.api.folder.labelstudio import export_tasks, tasks_by_name
from konsil.api.rehearsal.rehearsing import rehearse
from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.instrument import fields
from konsil.instrument.screens.reply import values
from konsil.records import Answer, Citation, Item, Rater, Rating
from konsil.simulate import PanelTruth, SystemTruth, Truth
from konsil.store import Batch
from konsil.store.engine.engine import writing
from konsil.store.tasks import open_slots
from konsil.study.sections.enrolment import PROFILE

AXES = ("utility", "completeness", "safety", "clarity", "sources")
SYSTEMS = ("north", "south", "east")
SPECIALTIES = ("cardiology", "surgery")
SCALE = (
    '{ labels = ["A much better", "A better", "equal", "B better", "B much better"], level ='
    ' "ordinal" }'
)
PROTOCOL = f"""
title = "Pairs of answers"
seed = 11
places = [
  {{ panel = "physicians", number = 3, strata = {{ specialty = "cardiology" }} }},
  {{ panel = "physicians", number = 3, strata = {{ specialty = "surgery" }} }},
]

[[instruments]]
id = "axes"
unit = "pair"
codebook = "Compare the two answers, one question at a time."
{
    "".join(
        f'''
[[instruments.criteria]]
id = "{axis}"
question = "Which answer is better: {axis}?"
scope = "pair"
scale = {SCALE}
'''
        for axis in AXES
    )
}
{"".join(f'[[systems]]{chr(10)}id = "{s}"{chr(10)}family = "{s}"{chr(10)}' for s in SYSTEMS)}
[enrolment]
[[enrolment.profile]]
id = "specialty"
question = "Your specialty?"
scale = {{ labels = ["cardiology", "surgery"] }}

[[plan]]
panel = "physicians"
instrument = "axes"
show = "pair"
match = "specialty"
per_rater = 5
arms = {{ text = 2, citations = 1 }}
weights = {{ north = 0.5 }}

[resampling]
draws = 500
{
    "".join(
        f'''
[[analyses]]
name = "{axis}, equal"
statistic = "share"
criterion = "{axis}"
raters = "physicians"
of = ["equal"]
by = ["{by}"]
'''
        for axis, by in zip(AXES, ("arm", "system", "specialty", "rater", "arm"), strict=True)
    )
}
"""
PANEL = PanelTruth(accuracy=0.8, severity=0.2)
TRUTH = Truth(
    systems={s: SystemTruth(q) for s, q in zip(SYSTEMS, (0.8, 0.5, 0.3), strict=True)},
    panels={"physicians": PANEL},
)
ITEMS = tuple(
    Item(f"q{n}", f"Question {n}?", strata={"specialty": SPECIALTIES[n % 2]}) for n in range(24)
)
ANSWERS = tuple(
    Answer(
        f"{i.id}-{s}",
        i.id,
        s,
        f"**{s[0]}** says so [1].",
        citations=(Citation("Guideline", "https://x.org/1"),),
    )
    for i in ITEMS
    for s in SYSTEMS
)


def plain(found: tuple[Rating, ...]) -> list[Rating]:
    """Ratings without what only one of the two ways knows: times, and the digest that only a page
    can vouch for."""
    bare = (replace(r, seconds=None, at="", instrument="") for r in found)
    return sorted(bare, key=lambda r: (r.task, r.criterion))


@pytest.mark.slow
def test_pages_and_label_studio_end_in_the_same_table_and_report(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.toml").write_text(PROTOCOL, "utf-8")
    with open_folder(study).store(create=True) as store:
        store.add(Batch(items=ITEMS, answers=ANSWERS), source="test", at="2026-01-01T00:00:00Z")
    done = rehearse(open_folder(study), RehearsalRequest(target=tmp_path / "pages"), TRUTH)
    assert done.outcome.times.faults == []
    assert sorted(done.outcome.handed_in.values()) == [5] * 6
    with done.folder.store() as store:
        ours = store.batch()
    specialty = {i.id: i.strata["specialty"] for i in ITEMS}
    place = {str(e.data["slot"]): e.subject for e in ours.events if e.kind == "sign-up"}
    assert len(set(place.values())) == 6
    arms = {t.rater: t.arm for t in ours.tasks}
    assert sorted(Counter(arms.values()).values()) == [
        2,
        4,
    ], "two thirds see the text, whatever becomes of the others"
    mine = {r.id: r.strata["specialty"] for r in ours.raters}
    assert all(specialty[r.item or ""] == mine[r.rater] for r in ours.ratings)
    assert len(ours.ratings) == 6 * 5 * len(AXES)

    # The same people in the same places of a copy, who rate in Label Studio.
    copy = tmp_path / "label-studio"
    copy.mkdir()
    (copy / "study.toml").write_bytes((tmp_path / "pages" / "study.toml").read_bytes())
    folder = open_folder(copy)
    with folder.store(create=True) as store:
        store.add(
            Batch(items=ours.items, answers=ours.answers), source="test", at="2026-01-01T00:00:00Z"
        )
        make_plan(folder)
        profiles = [e for e in ours.events if e.kind == PROFILE]
        store.add(Batch(events=profiles), source="test", at="2026-01-01T00:00:00Z")
        for slot, who in place.items():
            with writing(store.engine) as connection:
                rater = next(r for r in ours.raters if r.id == who)
                assert open_slots.take(
                    connection,
                    Rater(who, rater.panel, strata=rater.strata),
                    slot,
                    "2026-01-02T00:00:00Z",
                )
    projects = export_tasks(folder, tmp_path / "tasks")
    assert {p.rater for p in projects} == set(place.values())
    with folder.store() as store:
        named, rows = tasks_by_name(store), []
    form = folder.study.instruments[0]
    for project in projects:
        for row in json.loads((tmp_path / "tasks" / project.file).read_text("utf-8")):
            task = named[row["data"]["konsil_task"]]
            assert task.rater == project.rater
            said = values(fields(form, task), task, [r for r in ours.ratings if r.task == task.id])
            rows.append(annotated(task.id, list(results(form, task, said))))
    (tmp_path / "export.json").write_text(json.dumps(rows), "utf-8")
    arguments = [
        "import",
        str(copy),
        "--records",
        "labelstudio",
        "--file",
        str(tmp_path / "export.json"),
    ]
    told = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert told.exit_code == 0, told.output
    with folder.store() as store:
        theirs = store.batch()
        assert store.verify_log() == ()
    assert set(theirs.tasks) == set(ours.tasks)
    assert plain(theirs.ratings) == plain(ours.ratings)
    first, second = done.folder.results(), folder.results()
    assert len(first.rows) > 15
    # As text, for an undefined value is not equal to itself.
    assert list(map(repr, first.rows)) == list(map(repr, second.rows))
    assert first.coverage == second.coverage
    reports = [f.report().parent / "estimates.csv" for f in (done.folder, folder)]
    assert reports[0].read_bytes() == reports[1].read_bytes()
