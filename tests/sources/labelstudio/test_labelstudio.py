"""Label Studio's export, in files written here in its documented format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from konsil.errors import SourceError
from konsil.records import Source, Span
from konsil.sources.files.problems import raise_if
from konsil.sources.labelstudio.labelstudio import read_labelstudio
from konsil.sources.tables.ratings import ParsedRatings

Json = dict[str, Any]


def result(kind: str, name: str, to: str, **value: Any) -> Json:
    return {
        "id": "x1",
        "type": kind,
        "from_name": name,
        "to_name": to,
        "origin": "manual",
        "value": value,
    }


def annotation(
    number: int, by: object, *results: Json, cancelled: bool = False, lead: float = 12.5
) -> Json:
    return {
        "id": number,
        "completed_by": by,
        "result": list(results),
        "was_cancelled": cancelled,
        "ground_truth": False,
        "created_at": "2024-05-01T08:30:00.123456Z",
        "lead_time": lead,
        "task": 1,
    }


def task(number: int, data: Json, *annotations: Json) -> Json:
    return {
        "id": number,
        "data": data,
        "annotations": list(annotations),
        "predictions": [],
        "project": 83,
    }


def read(folder: Path, *tasks: Json, **mapping: Any) -> ParsedRatings:
    path = folder / "export.json"
    path.write_text(json.dumps(list(tasks), indent=1))
    return read_labelstudio(path, Source("export.json", "labelstudio", **mapping))


def fault(folder: Path, *tasks: Json, **mapping: Any) -> str:
    with pytest.raises(SourceError) as caught:
        read(folder, *tasks, **mapping)
    return str(caught.value)


def test_choices_rating_number_and_notes(tmp_path: Path) -> None:
    data = {"item": "q7", "system": "gpt", "question": "What?"}
    parsed = read(
        tmp_path,
        task(
            3,
            data,
            annotation(
                1001,
                7,
                result("choices", "correct", "response", choices=["yes"]),
                result("rating", "stars", "response", rating=4),
                result("number", "minutes", "response", number=2.5),
                result("textarea", "why", "response", text=["two", "lines"]),
            ),
            annotation(
                1002,
                {"id": 9, "email": "anna@example.org"},
                result("choices", "correct", "response", choices=["no"]),
            ),
        ),
    )
    assert [(r.rater, r.criterion, r.label, r.note) for r in parsed.records] == [
        ("ls-7", "correct", "yes", "two\nlines"),
        ("ls-7", "stars", "4", "two\nlines"),
        ("ls-7", "minutes", "2.5", "two\nlines"),
        ("ls-9", "correct", "no", ""),
    ]
    assert {(r.item, r.answers, r.seconds, r.at) for r in parsed.records} == {
        ("q7", ("q7:gpt",), 12.5, "2024-05-01T08:30:00.123456Z")
    }
    assert [t.id for t in parsed.tasks] == ["ls-1001", "ls-1002"]
    assert tuple(parsed.lines) == (3, 3, 3, 3)
    assert "anna" not in repr(parsed)


def test_cancelled_is_missing(tmp_path: Path) -> None:
    chosen = result("choices", "correct", "a", choices=["yes"])
    parsed = read(tmp_path, task(1, {}, annotation(1, 7, cancelled=True), annotation(2, 8, chosen)))
    assert [(r.rater, r.item, r.state) for r in parsed.records] == [("ls-8", "1", "rated")]
    assert parsed.cancelled == 1


def test_pairs(tmp_path: Path) -> None:
    data = {"q": 5, "one": "gpt", "two": "claude"}
    mapping: Json = {"columns": {"item": ("q",), "system_a": ("one",), "system_b": ("two",)}}
    words = ("left", "right", "tie", "none", None)
    tasks = [
        task(
            i,
            {**data, "q": i},
            annotation(i, 7, result("pairwise", "better", "txt-1,txt-2", selected=word)),
        )
        for i, word in enumerate(words)
    ]
    parsed = read(tmp_path, *tasks, **mapping)
    assert [(r.answers, r.label) for r in parsed.records] == [
        (("0:gpt", "0:claude"), "A"),
        (("1:gpt", "1:claude"), "B"),
        (("2:gpt", "2:claude"), "tie"),
    ]
    parsed = read(tmp_path, *tasks, **mapping, labels={"left": "first", "right": "second"})
    assert [r.label for r in parsed.records] == ["first", "second", "tie"]


def test_several_answers_on_one_screen(tmp_path: Path) -> None:
    data = {"item": 1, "left_system": "gpt", "right_system": "claude"}
    parsed = read(
        tmp_path,
        task(
            1,
            data,
            annotation(
                5,
                7,
                result("choices", "correct_1", "left", choices=["yes"]),
                result("choices", "correct_2", "right", choices=["no"]),
                result("textarea", "note_2", "right", text=["too short"]),
                result("pairwise", "better", "left,right", selected="left"),
                result("choices", "difficulty", "question", choices=["hard"]),
                result("choices", "unused", "question", choices=["x", "y"]),
            ),
        ),
        columns={"system@left": ("left_system",), "system@right": ("right_system",)},
        criteria={
            "correct_1": "correct",
            "correct_2": "correct",
            "better": "better",
            "difficulty": "difficulty",
        },
    )
    assert [(r.criterion, r.answers, r.label, r.note) for r in parsed.records] == [
        ("correct", ("1:gpt",), "yes", ""),
        ("correct", ("1:claude",), "no", "too short"),
        ("better", ("1:gpt", "1:claude"), "A", ""),
        ("difficulty", (), "hard", ""),
    ]
    assert [t.answers for t in parsed.tasks] == [("1:gpt", "1:claude")]


def test_spans_and_texts(tmp_path: Path) -> None:
    parsed = read(
        tmp_path,
        task(
            1,
            {"item": 1, "answer": "a1"},
            annotation(
                5,
                7,
                result("labels", "error", "text", start=3, end=9, text="wrong!", labels=["dose"]),
                result("textarea", "advice", "text", text="see a doctor"),
            ),
        ),
        criteria={"error": "error", "advice": "advice"},
    )
    assert [(r.span, r.label) for r in parsed.records] == [
        (Span(3, 9), "dose"),
        (None, "see a doctor"),
    ]
    assert parsed.tasks[0].spans == (Span(3, 9),)


def test_raters(tmp_path: Path) -> None:
    chosen = result("choices", "correct", "a", choices=["yes"])
    tasks = task(4, {}, annotation(1, 7, chosen))
    assert (
        read(tmp_path, tasks, raters={"7": "cardiologist 1"}).records[0].rater == "cardiologist 1"
    )
    assert [str(p) for p in read(tmp_path, tasks, raters={"8": "r"}).problems] == [
        "task 4: completed_by: rater 7 is not in raters; known: 8"
    ]
    mailed = task(4, {}, annotation(1, {"email": "anna@example.org"}, chosen))
    problems = read(tmp_path, mailed).problems
    assert [str(p) for p in problems] == [
        "task 4: completed_by: has no rater id; map the rater in raters, or export with ids"
    ]
    assert read(tmp_path, mailed, raters={"anna@example.org": "r1"}).records[0].rater == "r1"


def test_problems(tmp_path: Path) -> None:
    def problem(*results: Json, data: Json | None = None, **mapping: Any) -> list[str]:
        parsed = read(tmp_path, task(1042, data or {}, annotation(1, 7, *results)), **mapping)
        assert not parsed.records
        return [str(p) for p in parsed.problems]

    assert problem(result("choices", "c", "a", choices=["x", "y"])) == [
        "task 1042: c: 2 labels are chosen where a rating has one: x, y"
    ]
    assert problem(result("rectanglelabels", "box", "a", x=1)) == [
        "task 1042: box: a control of type 'rectanglelabels' is not supported;"
        " leave it out by naming the controls that are in criteria"
    ]
    assert problem(
        result("choices", "c", "a", choices=["x"], start="/p[1]/text()[1]", end="/p[1]/text()[1]")
    ) == [
        "task 1042: c: refers to characters '/p[1]/text()[1]' to '/p[1]/text()[1]';"
        " only offsets in plain text are read"
    ]
    bad = task(8, {}, annotation(1, 7, result("choices", "c", "a", choices=["x", "y"])))
    parsed = read(tmp_path, bad, task(9, {}))
    with pytest.raises(
        SourceError,
        match=r"export\.json: 1 of 2 tasks cannot be read; nothing was imported: task 8: c: 2",
    ):
        raise_if(parsed.problems, "export.json", parsed.rows)
    with pytest.raises(SourceError, match=r"export\.json: 1 task cannot be read"):
        raise_if(parsed.problems, "export.json", 0)
    chosen = result("choices", "c", "a", choices=["x"])
    assert problem(chosen, data={"question": 1}, columns={"item": ("questoin",)}) == [
        "task 1042: data: has no key 'questoin'; did you mean 'question'?"
    ]
    twice = task(
        1,
        {},
        annotation(1, 7, chosen),
        annotation(2, 7, result("choices", "c", "a", choices=["y"])),
    )
    (said,) = read(tmp_path, twice).problems
    assert str(said).startswith(
        "task 1: label: rater 'ls-7' rates '1' on 'c' as 'y' here and as 'x'"
    )


def test_files_of_another_kind(tmp_path: Path) -> None:
    assert "export as JSON, not as JSON-MIN or CSV" in fault(
        tmp_path, {"id": 1, "choice": "x", "annotator": 1}
    )
    assert fault(tmp_path, task(1, {})) == "export.json: no annotation contains a rating"
    assert "Label Studio's exports have no field 'itme'; did you mean 'item'?" in fault(
        tmp_path, task(1, {}), columns={"itme": ("q",)}
    )
    assert "fixed: Label Studio's exports have no field 'sentence'" in fault(
        tmp_path, task(1, {}), fixed={"sentence": "1"}
    )
    with pytest.raises(SourceError, match="there is no such file"):
        read_labelstudio(tmp_path / "none.json", Source("none.json", "labelstudio"))
    old = {
        "id": 1,
        "data": {},
        "completions": [annotation(1, 7, result("choices", "c", "a", choices=["x"]))],
    }
    assert len(read(tmp_path, old).records) == 1
