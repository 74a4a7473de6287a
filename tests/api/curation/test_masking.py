"""Cases of a folder: marks in and out, the residual disclosure, approval, versions as items, and what
waits for them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.curation.masking import mask_cases, pretended_versions, progress_lines, write_table
from konsil.api.curation.preparing import prepare
from konsil.api.curation.requests import ScreeningRequest
from konsil.api.folder.folder import Folder
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.errors import CollectError, ConflictError, PlanError, SourceError, StudyError
from konsil.prepare import in_study
from konsil.prepare.cases.marking import last_markings
from konsil.prepare.cases.masking import LEVELS
from konsil.progress import listening

STUDY = """
title = "Masked cases"
seed = 1
[prepare.mask]
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "right"
question = "Is it right?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "s"
model = "fake:right=1"
[[raters]]
id = "r1"
panel = "people"
[[sources]]
file = "cases.csv"
records = "items"
strata = ["age", "sex"]
[[plan]]
panel = "people"
instrument = "form"
"""
CASES = [
    ("item", "text", "reference", "aliases", "age", "sex"),
    (
        "c1",
        "A 34-year-old man had sarcoidosis: granulomas, nodes, fever. Sarcoidosis healed.",
        "sarcoidosis",
        "Boeck's disease",
        "34",
        "male",
    ),
    (
        "c2",
        "Eine 60-jährige Frau mit Gicht: Kristalle, roter Zeh, -2 Grad.",
        "Gicht",
        "",
        "60",
        "female",
    ),
]
MARKS = """case,kind,rank,text,occurrence,replacement
c1,diagnosis,,sarcoidosis,,
c1,diagnosis,,Sarcoidosis,1,
c1,cue,1,granulomas,,an unusual finding
c1,cue,2,nodes,,
c1,demographic,,34-year-old,,adult
c2,diagnosis,,Gicht,,
c2,cue,1,Kristalle,,
c2,cue,2,roter Zeh,,
c2,disease-specific,,-2 Grad,,
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    with (tmp_path / "cases.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(CASES)
    opened = open_folder(tmp_path)
    opened.import_sources()
    return opened


def marks(folder: Folder, text: str = MARKS) -> Path:
    path = folder.path / "marks.csv"
    path.write_text(text, "utf-8")
    return path


def test_from_marks_to_versions(folder: Folder) -> None:
    assert list(progress_lines(mask_cases(folder))) == [
        "2 cases: 0 marked, 0 approved, 0 with their versions as items"
    ]
    done = mask_cases(folder, marks(folder), by="p-1")
    assert (done.new, done.leftovers, done.refused) == (2, {"c1": (), "c2": ()}, {})
    steps: list[tuple[str, int, int]] = []
    with listening(lambda *step: steps.append(step)):
        done = mask_cases(folder, by="p-2", approve=True)
    assert ("cases approved", 2, 2) in steps
    assert list(progress_lines(done)) == [
        "2 cases: 2 marked, 2 approved, 2 with their versions as items"
    ]
    with folder.store() as store:
        items, events = store.items(), store.events()
    studied = {i.id: i for i in in_study(items, events)}
    assert list(studied) == [f"{c}:{level}" for c in ("c1", "c2") for level in sorted(LEVELS)]
    assert (
        studied["c1:3"].text == "A adult man had […]: an unusual finding, […], fever. […] healed."
    )
    assert dict(studied["c1:3"].strata) == {"age": "34", "sex": "male", "level": "3"}
    assert {
        case: (n, one.by, one.approved) for case, (n, one) in last_markings(events).items()
    } == {
        "c1": (2, "staff-2", True),
        "c2": (2, "staff-2", True),
    }
    again = mask_cases(folder, marks(folder), approve=True)
    assert (again.new, again.n_done) == (0, 2)
    with pytest.raises(PlanError, match="case 'c1': its versions are already items"):
        mask_cases(folder, marks(folder, MARKS.replace("c1,cue,2,nodes", "c1,cue,2,fever")))


def test_a_table_is_written_and_read_back(folder: Folder, tmp_path: Path) -> None:
    table = tmp_path / "all.csv"
    write_table(mask_cases(folder), table)
    assert table.read_text("utf-8").splitlines()[1:] == ["c1,,,,,,,", "c2,,,,,,,"]
    done = mask_cases(folder, table)
    assert (done.new, dict(done.markings)) == (0, {})
    mask_cases(folder, marks(folder))
    write_table(mask_cases(folder), table)
    assert "c2,disease-specific,,54,61,'-2 Grad,1," in table.read_text("utf-8")
    assert mask_cases(folder, table).new == 0


def test_the_diagnosis_that_is_left_over_keeps_a_case_from_approval(folder: Folder) -> None:
    half = MARKS.replace("c1,diagnosis,,Sarcoidosis,1,\n", "")
    mask_cases(folder, marks(folder, half), by="p-1")
    done = mask_cases(folder, by="p-2", approve=True)
    assert list(progress_lines(done)) == [
        "2 cases: 2 marked, 1 approved, 1 with their versions as items",
        "  c1: level 0 still has 'Sarcoidosis' at 61-72, the diagnosis 'sarcoidosis' (named)",
        "1 not approved: mark the residual disclosure, or give a reason with despite CASE REASON",
    ]
    with pytest.raises(PlanError, match="there is no case 'c9'"):
        mask_cases(folder, despite={"c9": "why not"})
    done = mask_cases(folder, by="p-2", despite={"c1": "it healed"})
    assert done.markings["c1"].despite == "it healed"
    assert done.n_done == 2


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("c3,diagnosis,,Gicht,,", "line 2: there is no case 'c3' to be masked; known: c1, c2"),
        (
            "c2,diagnose,,Gicht,,",
            "line 2: 'diagnose' is not a kind of mark; did you mean 'diagnosis'?",
        ),
        ("c2,diagnosis,,Gichtt,,", "line 2: 'Gichtt' does not occur in the narrative of 'c2'"),
        (
            "c1,diagnosis,,arcoidosis,,",
            "line 2: 'arcoidosis' occurs 2 times; state which one in occurrence",
        ),
        (
            "c1,diagnosis,,arcoidosis,3,",
            "line 2: 'arcoidosis' occurs 2 times; expected an occurrence from 1, got 3",
        ),
        ("c2,cue,first,Gicht,,", "line 2: rank is 'first'; expected a whole number"),
        ("c2,cue,,Gicht,,", "case 'c2': 25-30: a cue without a rank"),
        ("c2,cue,1,,,", "line 2: has neither the position nor the text of the mark"),
    ],
)
def test_a_broken_table_stores_nothing(folder: Folder, row: str, told: str) -> None:
    with pytest.raises(SourceError, match=r"marks\.csv: ") as error:
        mask_cases(folder, marks(folder, f"case,kind,rank,text,occurrence,replacement\n{row}\n"))
    assert told in str(error.value)
    with folder.store() as store:
        assert last_markings(store.events()) == {}


def test_offsets_and_columns(folder: Folder) -> None:
    given = marks(folder, "case,kind,start,end,text\nc2,diagnosis,25,30,Gicht\n")
    assert mask_cases(folder, given).markings["c2"].marks[0].start == 25
    with pytest.raises(
        SourceError, match="'Gicht' is not at 24-29, where the narrative has ' Gich'"
    ):
        mask_cases(folder, marks(folder, "case,kind,start,end,text\nc2,diagnosis,24,29,Gicht\n"))
    with pytest.raises(
        SourceError, match="no column 'replacment' in a table of marks; did you mean 'replacement'"
    ):
        mask_cases(folder, marks(folder, "case,kind,text,replacment\nc2,diagnosis,Gicht,x\n"))


def test_answers_and_plans_wait_for_versions(folder: Folder) -> None:
    from konsil.collect.jobs.systems import answer

    with (
        folder.store() as store,
        pytest.raises(CollectError, match=r"2 cases have no versions yet \(c1, c2\)"),
    ):
        answer(folder.study, store)
    with pytest.raises(PlanError, match="2 cases have no versions yet"):
        make_plan(folder)
    mask_cases(folder, marks(folder), by="p-1")
    mask_cases(folder, by="p-2", approve=True)
    with folder.store() as store:
        assert answer(folder.study, store).n_records == 10
    assert {t.item for t in make_plan(folder).tasks} == {
        f"{c}:{level}" for c in ("c1", "c2") for level in LEVELS
    }


def test_a_rehearsal_pretends_the_versions_that_are_missing(folder: Folder) -> None:
    with folder.store() as store:
        items, events = store.items(), store.events()
    made = pretended_versions(folder, items, events)
    assert [i.id for i in made[:2]] == ["c1:narrative", "c1:0"]
    assert len({i.text for i in made}) == 2


def test_two_people_at_one_case_do_not_overwrite_one_another(folder: Folder) -> None:
    from konsil.api.folder.opened import now
    from konsil.prepare.cases.marking import marking, marking_event
    from konsil.store import Batch

    mask_cases(folder, marks(folder), by="p-1")
    with folder.store() as store:
        case = store.items()[0]
        event = marking_event(marking(case, (), "p-2"), 1, now())
        with pytest.raises(ConflictError):
            store.add(Batch(events=[event]), source="mask", at=now())


def test_the_command(folder: Folder, tmp_path: Path) -> None:
    run = CliRunner().invoke
    table = tmp_path / "all.csv"
    path = str(folder.path)
    done = run(
        group, ["mask", path, "--marks", str(marks(folder)), "--table", str(table), "--dry-run"]
    )
    assert isinstance(done.exception, StudyError)
    assert "--marks: --by is missing" in str(done.exception)
    marking_ = ["mask", path, "--marks", str(marks(folder)), "--by", "p-1"]
    done = run(group, [*marking_, "--table", str(table), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == "nothing stored"
    assert table.read_text("utf-8").count("\n") == 10
    done = run(group, ["mask", path, "--marks", str(table), "--approve", "--by", "p-1"])
    assert done.output.startswith("2 cases: 2 marked, 0 approved")
    assert (
        "case 'c2': 'staff-1' (p-1) marked it; expected another person to approve the marks"
        in done.output
    )
    done = run(group, ["mask", path, "--approve", "--by", "p-2"])
    assert done.output == "2 cases: 2 marked, 2 approved, 2 with their versions as items\n"


def test_a_study_that_does_not_ask_for_masks(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('title = "t"\nseed = 1\n', "utf-8")
    with pytest.raises(StudyError, match=r"there is no \[prepare.mask\]"):
        mask_cases(open_folder(tmp_path))


def test_marks_in_cases_that_are_not_drawn_are_passed_over(folder: Folder) -> None:
    protocol = folder.path / "study.toml"
    protocol.write_text(
        STUDY.replace("[prepare.mask]", "[prepare]\nsample = { size = 1 }\n[prepare.mask]"), "utf-8"
    )
    again = open_folder(folder.path)
    prepare(again)
    mask_cases(again, marks(again), by="p-1")
    done = mask_cases(again, by="p-2", approve=True)
    assert (len(done.items), done.n_done) == (1, 1)
    assert len(studied_items(again)) == 5


def studied_items(folder: Folder) -> set[str]:
    with folder.store() as store:
        return {i.id for i in in_study(store.items(), store.events())}


def test_a_rehearsal_takes_over_what_was_screened_drawn_and_masked(
    folder: Folder, tmp_path: Path
) -> None:
    from konsil.api.curation.screening import screen_items
    from konsil.api.rehearsal.rehearsing import prepared_copy
    from konsil.simulate import Truth

    protocol = folder.path / "study.toml"
    asked = (
        "[prepare]\nsample = { size = 1 }\n[prepare.screen]\nrules = []\ncriteria ="
        ' ["rare"]\nundecided = "left out"\n'
    )
    protocol.write_text(STUDY.replace("[prepare.mask]", f"{asked}[prepare.mask]"), "utf-8")
    again = open_folder(folder.path)
    decisions = folder.path / "decisions.csv"
    decisions.write_text("item,decision\nc1,keep\nc2,rare\n", "utf-8")
    screen_items(again, ScreeningRequest(decisions=decisions))
    prepare(again)
    mask_cases(again, marks(again), by="p-1")
    mask_cases(again, by="p-2", approve=True)
    copy = prepared_copy(again, Truth(), tmp_path / "copy")
    assert studied_items(copy) == studied_items(again) == {f"c1:{level}" for level in LEVELS}
