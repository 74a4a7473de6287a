"""Tasks to Label Studio and back: neutral slots out, ratings of canonical answers in."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.api.folder.labelstudio import MARK, Finder, export_tasks, tasks_by_name
from konsil.api.running.planning import make_plan
from konsil.cli import main
from konsil.errors import SourceError, StudyError
from konsil.instrument import Instrument, fields
from konsil.instrument.screens.labelstudio import Control, controls
from konsil.instrument.screens.reply import ratings, read_form
from konsil.records import Answer, Citation, Item, Rating, Source, Span, Task
from konsil.sources.files.problems import raise_if
from konsil.sources.labelstudio.labelstudio import read_labelstudio
from konsil.store import Batch
from konsil.study.data.admit import admit
from konsil.study.data.incoming import Incoming, StoredRecords

PROTOCOL = """
title = "Round trip"
seed = 3

[[instruments]]
id = "form"
language = "de"
show_reference = true
show_reasoning = true
codebook = "Entscheiden Sie je Antwort."

[[instruments.criteria]]
id = "correct"
question = "Stimmt die Antwort (mehr als $5)?"
guidance = "Im Zweifel: nein."
reason = true
scale = { labels = ["falsch", "richtig", "kostet $2"], abstain = "weiß nicht" }

[[instruments.criteria]]
id = "stars"
question = "Wie gut?"
scale = { labels = ["1", "2", "3", "4", "5"], level = "ordinal" }

[[instruments.criteria]]
id = "difficulty"
question = "Wie schwer ist die Frage?"
scope = "item"
scale = { kind = "number", low = 0, high = 10, abstain = "unklar" }

[[instruments.criteria]]
id = "advice"
question = "Was fehlt?"
scope = "task"
scale = { kind = "text", abstain = "nichts" }

[[instruments]]
id = "pairs"
unit = "pair"

[[instruments.criteria]]
id = "better"
question = "Which is better?"
scope = "pair"
scale = { labels = ["A much better", "A better", "equal", "B better", "B much better"], level = "ordinal" }

[[instruments.criteria]]
id = "wins"
question = "If you had to choose?"
scope = "pair"
scale = { labels = ["A", "B"] }

[[instruments]]
id = "lines"
unit = "sentence"

[[instruments.criteria]]
id = "risk"
question = "Could this sentence do harm?"
scope = "sentence"
scale = { labels = ["no", "yes"] }

[[instruments]]
id = "ease"

[[instruments.criteria]]
id = "easy"
question = "Was it easy?"
scope = "rater"
scale = { labels = ["no", "yes"] }

[[systems]]
id = "CANARY-one"
family = "CANARY-family"
[[systems]]
id = "CANARY-two"
model = "fake:CANARY-model"

[[raters]]
id = "doc 1"
panel = "docs"
strata = { hospital = "CANARY-hospital" }
[[raters]]
id = "doc 2"
panel = "docs"
[[raters]]
id = "judge"
panel = "judges"
kind = "llm"

[[plan]]
panel = "docs"
instrument = "form"
[[plan]]
panel = "docs"
instrument = "pairs"
show = "pair"
[[plan]]
panel = "docs"
instrument = "lines"
show = "each"
spans = 2
[[plan]]
panel = "docs"
instrument = "ease"
[[plan]]
panel = "judges"
instrument = "form"
"""

ITEMS = (
    Item(
        "q1-CANARY",
        'What <is> "this" & $that?',
        "reference one",
        ("CANARY-alias",),
        strata={"s": "CANARY"},
    ),
    Item("q2-CANARY", "Was?", None, case="CANARY-case"),
)
ANSWERS = tuple(
    Answer(
        f"{item.id}:{system}",
        item.id,
        system,
        f"Satz eins. Satz zwei {n}. Satz drei.",
        f"Gedanke {n}",
        (Citation("Leitlinie", "https://example.org"),) if n else (),
        (Span(0, 10), Span(11, 23), Span(24, 34)),
    )
    for item in ITEMS
    for n, system in enumerate(("CANARY-one", "CANARY-two"))
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose plan is drawn."""
    path = tmp_path_factory.mktemp("study")
    (path / "study.toml").write_text(PROTOCOL, "utf-8")
    folder = open_folder(path)
    with folder.store(create=True) as store:
        store.add(Batch(items=ITEMS, answers=ANSWERS), source="test", at="2026-01-01T00:00:00Z")
    make_plan(folder)
    return path


def result(control: Control, value: str) -> dict[str, Any]:
    """One result as Label Studio writes it."""
    kind = control.tag.lower()
    said: dict[str, Any] = {
        "Choices": lambda: {"choices": [value]},
        "Rating": lambda: {"rating": int(value)},
        "Number": lambda: {"number": float(value)},
        "TextArea": lambda: {"text": [value]},
        "Pairwise": lambda: {"selected": {v: k for k, v in control.words.items()}[value]},
    }[control.tag]()
    return {
        "id": "r",
        "type": kind,
        "from_name": control.name,
        "to_name": "a1",
        "origin": "manual",
        "value": said,
    }


def results(instrument: Instrument, task: Task, values: dict[str, str]) -> Iterator[dict[str, Any]]:
    """What a rater who fills in these values leaves in Label Studio."""
    for control in controls(instrument, task):
        abstain = control.field.criterion.scale.abstain
        if control.part == "reason":
            if values.get(control.field.reason):
                yield result(control, values[control.field.reason])
            continue
        value = values[control.field.name]
        apart = control.tag != "Choices" or control.part == "abstain"
        if not value or (control.part == "abstain") != (apart and value == abstain):
            continue
        yield result(control, value)


def annotated(
    task: str, found: Sequence[dict[str, Any]], by: object = 7, **more: Any
) -> dict[str, Any]:
    annotation = {
        "id": 1,
        "completed_by": by,
        "result": list(found),
        "lead_time": 12.5,
        "was_cancelled": False,
        "created_at": "2026-01-02T08:00:00Z",
        **more,
    }
    return {"id": 5, "data": {"konsil_task": task, "a1": "..."}, "annotations": [annotation]}


@cache
def book(path: Path) -> tuple[Finder, tuple[Task, ...], dict[str, Instrument]]:
    folder = open_folder(path)
    with folder.store() as store:
        tasks = store.batch().tasks
    people = tuple(t for t in tasks if t.rater != "judge")
    return Finder(folder), people, {i.id: i for i in folder.study.instruments}


def value_of(draw: Callable[[Any], Any], instrument: Instrument, task: Task) -> dict[str, str]:
    texts = st.text('abc äß$\n<&"', min_size=0, max_size=12).map(str.strip)
    values = {}
    for field in fields(instrument, task):
        scale = field.criterion.scale
        free: st.SearchStrategy[str] = (
            st.sampled_from(field.options) if field.options else st.nothing()
        )
        if scale.kind == "number":
            free = free | st.integers(0, 20).map(lambda n: str(n / 2).removesuffix(".0"))
        elif scale.kind == "text":
            free = free | texts
        values[field.name] = draw(free)
        if field.reason:
            values[field.reason] = draw(texts)
    return values


def stored_records() -> StoredRecords:
    return StoredRecords(frozenset(i.id for i in ITEMS), {a.id: a.system for a in ANSWERS})


def read(study: Path, path: Path, **mapping: Any) -> tuple[Rating, ...]:
    finder, _, _ = book(study)
    parsed = read_labelstudio(path, Source(path.name, "labelstudio", **mapping), finder)
    raise_if(parsed.problems, path.name, parsed.rows)
    file = Incoming(
        path.name, tasks=parsed.tasks, ratings=parsed.records, lines=parsed.lines, place="task"
    )
    return admit(open_folder(study).study, [file], stored_records()).ratings


def plain(found: Sequence[Rating]) -> list[Rating]:
    """Ratings without what only one of the two ways has, in an order of their own."""
    bare = (replace(r, seconds=None, at="") for r in found)
    return sorted(bare, key=lambda r: (r.task, r.criterion, r.answers, str(r.span)))


@pytest.mark.slow
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_is_rated_comes_back_as_the_same_ratings(study: Path, data: st.DataObject) -> None:
    _, tasks, instruments = book(study)
    chosen = data.draw(st.lists(st.sampled_from(tasks), min_size=1, unique_by=lambda t: t.id))
    rows, expected = [], list[Rating]()
    for task in chosen:
        instrument = instruments[task.instrument]
        values = value_of(data.draw, instrument, task)
        reading = read_form(fields(instrument, task), values)
        expected += ratings(reading, instrument, task)
        rows.append(
            annotated(
                task.id, list(results(instrument, task, values)), by=data.draw(st.sampled_from(BY))
            )
        )
    path = study / "export.json"
    path.write_text(json.dumps(rows), "utf-8")
    if not expected:
        return
    found = read(study, path)
    assert plain(found) == plain(expected)
    assert {(r.seconds, r.at) for r in found} == {(12.5, "2026-01-02T08:00:00Z")}


def test_one_sentence_at_a_time_goes_out_and_comes_back(tmp_path: Path) -> None:
    more = """
[[instruments.criteria]]
id = "sure"
question = "How sure are you?"
scope = "task"
scale = { labels = ["not", "very"] }
"""
    ease = '[[instruments]]\nid = "ease"'
    text = PROTOCOL.replace('unit = "sentence"', 'unit = "sentence"\npresent = "sentence"')
    path = tmp_path / "study"
    path.mkdir()
    (path / "study.toml").write_text(text.replace(ease, f"{more}\n{ease}"), "utf-8")
    folder = open_folder(path)
    with folder.store(create=True) as store:
        store.add(Batch(items=ITEMS, answers=ANSWERS), source="test", at="2026-01-01T00:00:00Z")
    make_plan(folder)
    projects = {p.folder: p for p in export_tasks(folder, tmp_path / "out") if p.rater == "doc 1"}
    names = ("lines-1-answers", "lines-1-answers-1-sentences")
    assert [projects[name].tasks for name in names] == [4, 8]
    alone = (tmp_path / "out" / names[1] / "labeling.xml").read_text("utf-8")
    assert 'value="Marked sentence"' in alone
    assert "sure" not in alone
    rows = json.loads((tmp_path / "out" / projects[names[1]].file).read_text("utf-8"))
    assert all(row["data"]["s1"] in row["data"]["a1"] for row in rows)
    tasks = {t.id: t for t in book(path)[1] if t.instrument == "lines" and t.rater == "doc 1"}
    back = [
        annotated(t.id, said(path, t, risk_s1="yes") if t.spans else said(path, t, sure="very"))
        for t in tasks.values()
    ]
    file = path / "export.json"
    file.write_text(json.dumps(back), "utf-8")
    assert sorted((r.task, r.criterion, str(r.span), r.label) for r in read(path, file)) == sorted(
        (t.id, "risk", str(t.spans[0]), "yes") if t.spans else (t.id, "sure", "None", "very")
        for t in tasks.values()
    )


BY: list[object] = [7, {"id": 7, "email": "anna@example.org", "first_name": "Anna"}]


def some(study: Path, instrument: str) -> Task:
    return next(t for t in book(study)[1] if t.instrument == instrument)


def said(study: Path, task: Task, **values: str) -> list[dict[str, Any]]:
    instrument = book(study)[2][task.instrument]
    asked = {f.name: values.get(f.name.replace(".", "_"), "") for f in fields(instrument, task)}
    return list(results(instrument, task, asked))


def test_two_raters_who_prefer_the_same_answer_agree_on_whichever_side_they_saw_it(
    study: Path, tmp_path: Path
) -> None:
    pairs = [t for t in book(study)[1] if t.instrument == "pairs"]
    assert {t.answers[0].endswith("one") for t in pairs} == {True, False}
    rows = [
        annotated(
            t.id,
            said(
                study,
                t,
                better="A better" if t.answers[0].endswith("one") else "B better",
                wins="A" if t.answers[0].endswith("one") else "B",
            ),
        )
        for t in pairs
    ]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(rows), "utf-8")
    found = read(study, path)
    assert {(r.criterion, r.label) for r in found} == {("better", "A better"), ("wins", "A")}
    assert all(r.answers[0].endswith("one") for r in found)


def test_a_cancelled_annotation_is_missing_and_so_is_what_was_left_empty(
    study: Path, tmp_path: Path
) -> None:
    task, other = [t for t in book(study)[1] if t.instrument == "form"][:2]
    path = tmp_path / "half.json"
    half = annotated(task.id, said(study, task, correct_a1="richtig", difficulty="unklar"))
    skipped = annotated(other.id, said(study, other, correct_a1="falsch"), was_cancelled=True)
    path.write_text(json.dumps([half, skipped]), "utf-8")
    found = read(study, path)
    assert [(r.criterion, r.answers, r.state, r.label) for r in found] == [
        ("correct", task.answers[:1], "rated", "richtig"),
        ("difficulty", (), "abstained", None),
    ]
    assert read_labelstudio(path, Source("half.json", "labelstudio"), book(study)[0]).cancelled == 1


def fault(study: Path, tmp_path: Path, *rows: dict[str, Any], **mapping: Any) -> str:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(rows), "utf-8")
    with pytest.raises(SourceError) as caught:
        read(study, path, **mapping)
    return str(caught.value)


def test_what_cannot_be_of_the_plan_is_told(study: Path, tmp_path: Path) -> None:
    task = some(study, "form")
    good = said(study, task, correct_a1="richtig")
    assert "konsil_task: the study has no task 't-other'" in fault(
        study, tmp_path, annotated("t-other", good)
    )
    strange = [{**good[0], "from_name": "correct-a9"}]
    assert "the task has no control 'correct-a9'; did you mean 'correct-a" in fault(
        study, tmp_path, annotated(task.id, strange)
    )
    both = [*said(study, task, difficulty="3"), *said(study, task, difficulty="unklar")]
    assert "'difficulty' has both a label and an abstention" in fault(
        study, tmp_path, annotated(task.id, both)
    )
    wrong = [{**good[0], "value": {"choices": ["rihctig"]}}]
    assert (
        "task 5: 'rihctig' is not a label of criterion 'correct'; did you mean 'richtig'?"
        in fault(study, tmp_path, annotated(task.id, wrong))
    )
    assert "was annotated by 7 and by 8" in fault(
        study, tmp_path, annotated(task.id, good), annotated(task.id, good, by=8)
    )
    other = {"doc 1": "doc 2", "doc 2": "doc 1"}[task.rater]
    assert f"task {task.id!r} is {task.rater!r}'s, but {other!r} annotated it" in fault(
        study, tmp_path, annotated(task.id, good, by=8), raters={"8": other}
    )


def test_no_file_says_whose_an_answer_is(study: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    projects = export_tasks(open_folder(study), made)
    assert {p.rater for p in projects} == {"doc 1", "doc 2"}
    files = [p for p in made.rglob("*") if p.is_file()]
    assert len(files) > 8
    for file in files:
        assert "CANARY" not in file.relative_to(made).as_posix()
        assert "CANARY" not in file.read_text("utf-8"), file
    # Whoever knows the protocol can compute the tasks' own identifiers from the names of systems.
    with open_folder(study).store() as store:
        own = {task.id for task in store.tasks()}
    written = "".join(file.read_text("utf-8") for file in files)
    assert own and not [name for name in own if name in written]
    # Every answer stands on either side, so that a side tells nothing.
    firsts = {
        row["data"]["a1"]
        for p in projects
        for row in json.loads((made / p.file).read_text("utf-8"))
        if "a2" in row["data"]
    }
    assert len(firsts) > 2


DOCUMENTED = {
    "View": {"style"},
    "Style": set(),
    "Header": {"value", "size"},
    "Text": {"name", "value", "valueType", "selectionEnabled"},
    "Choices": {"name", "toName", "choice", "showInline", "required"},
    "Choice": {"value", "alias"},
    "Rating": {"name", "toName", "maxRating", "required"},
    "Number": {"name", "toName", "min", "max", "step", "required"},
    "TextArea": {"name", "toName", "rows", "editable", "maxSubmissions", "placeholder", "required"},
    "Pairwise": {"name", "toName"},
}
"""Label Studio's tags and their parameters, as its reference lists them, as far as konsil uses
them."""


def test_the_configuration_is_of_documented_tags_and_fits_its_tasks(
    study: Path, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    projects = export_tasks(open_folder(study), made)
    with open_folder(study).store() as store:
        by_name = tasks_by_name(store)
    used = set()
    for project in projects:
        root = ET.fromstring((made / project.folder / "labeling.xml").read_text("utf-8"))
        elements = list(root.iter())
        used |= {e.tag for e in elements}
        for element in elements:
            assert set(element.attrib) <= DOCUMENTED[element.tag], element.tag
        objects = {e.attrib["name"]: e.attrib["value"] for e in elements if e.tag == "Text"}
        named = [e for e in elements if "toName" in e.attrib]
        assert len({e.attrib["name"] for e in named} | set(objects)) == len(named) + len(objects)
        for control in named:
            assert set(control.attrib["toName"].split(",")) <= set(objects)
        for row in json.loads((made / project.file).read_text("utf-8")):
            assert {v.removeprefix("$") for v in objects.values()} == set(row["data"]) - {
                "konsil_task"
            }
            _, tasks, instruments = book(study)
            task = by_name[row["data"]["konsil_task"]]
            assert task in tasks
            assert task.rater == project.rater
            assert {c.name for c in controls(instruments[task.instrument], task)} == {
                e.attrib["name"] for e in named
            }
        # A $ would be taken for a variable of the task.
        assert not [
            e for e in elements if e.tag in ("Header", "Choice") and "$" in e.attrib["value"]
        ]
    assert used == set(DOCUMENTED)


def test_the_language_is_the_instruments(study: Path, tmp_path: Path) -> None:
    export_tasks(open_folder(study), tmp_path / "made")
    german = (tmp_path / "made" / "form-2-answers" / "labeling.xml").read_text("utf-8")
    english = (tmp_path / "made" / "pairs-2-answers" / "labeling.xml").read_text("utf-8")
    assert 'value="Antwort A"' in german and 'value="Frage"' in german and "Begründung" in german
    assert 'value="Answer A"' in english and 'value="Question"' in english


def test_by_commands_there_and_back(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    folder = open_folder(tmp_path)
    with folder.store(create=True) as store:
        store.add(Batch(items=ITEMS, answers=ANSWERS), source="test", at="2026-01-01T00:00:00Z")
    with pytest.raises(
        StudyError,
        match="nothing to export: no rater has a task; run 'konsil plan' to assign tasks",
    ):
        export_tasks(folder, tmp_path / "made")
    make_plan(folder)
    made = tmp_path / "made"
    main(["export", str(tmp_path), str(made), "--to", "label-studio"])
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"doc 1: 1 tasks: {made}/ease/doc-1.json"
    assert json.loads((made / MARK).read_text("utf-8"))["projects"][0] == {
        "rater": "doc 1",
        "tasks": 1,
        "file": "ease/doc-1.json",
    }
    tasks = [t for t in book(study)[1] if t.instrument == "form" and t.rater == "doc 1"]
    export = tmp_path / "project-1.json"
    done = annotated(tasks[0].id, said(study, tasks[0], correct_a1="richtig", stars_a2="4"))
    skipped = annotated(tasks[1].id, [], was_cancelled=True)
    export.write_text(json.dumps([done, skipped]), "utf-8")
    asked = ["import", str(tmp_path), "--records", "labelstudio", "--file", str(export)]
    main(asked)
    assert capsys.readouterr().out.splitlines() == [
        "new: 2 ratings, 1 event; 1 record was already stored",
        "project-1.json: 2 annotations, 1 included as tasks, 1 excluded (cancelled 1)",
    ]
    main(asked)
    assert capsys.readouterr().out.startswith("new: nothing")
    # What is rated is not exported again.
    left = export_tasks(folder, made, overwrite=True)
    assert sum(p.tasks for p in left) == len(book(study)[1]) - 1
