"""Exports of tools: recognised by their content, with the ratings that they contain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.sources.exports import examples
from tests.sources.exports.examples import (
    EXPORTS,
    OTHERS,
    PLAIN,
    RATINGS,
    SURVEYS,
    lines,
    record,
    table,
    task,
    write,
)

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.exports.export import Export
from konsil.sources.exports.recognition import RECOGNISERS, read_export
from konsil.sources.files.table import read_table

TOOLS = {**EXPORTS, **SURVEYS, **OTHERS}


def exported(folder: Path, ending: str, content: str) -> Export:
    _, export = read_export([write(folder, ending, content)], FileSettings())
    assert export is not None
    return export


def of_json(folder: Path, rows: Sequence[Any]) -> Export:
    return exported(folder, ".json", json.dumps(rows))


def ratings(export: Export) -> dict[tuple[str, str], str]:
    """The ratings of one criterion; each is there once."""
    (label,) = export.labels
    rows = export.table.frame.select(*export.units, *export.raters, label).drop_nulls(label).rows()
    assert len({row[:2] for row in rows}) == len(rows)
    return {(str(unit), str(rater)): str(value) for unit, rater, value in rows}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_ratings_of_every_tool(name: str, tmp_path: Path) -> None:
    tool, ending, content = EXPORTS[name]
    export = exported(tmp_path, ending, content)
    assert (export.tool, export.layout, export.question) == (tool, "long", "")
    assert ratings(export) == RATINGS


@pytest.mark.parametrize("name", [*TOOLS, *PLAIN])
def test_every_file_is_of_one_tool_or_none(name: str, tmp_path: Path) -> None:
    """No recogniser reads what another one reads, nor a plain table with some of its words."""
    tool, ending, content = TOOLS.get(name, ("", ".csv", PLAIN.get(name, "")))
    _, export = read_export([write(tmp_path, ending, content)], FileSettings())
    assert (export.tool if export else "") == tool
    if name == "potato state":
        return
    whole = read_table(write(tmp_path, ending, content), as_is=True)
    claims = [read for read in RECOGNISERS if read(whole) is not None]
    assert len(claims) == bool(tool)


def test_names_of_files_mean_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv", PLAIN["wide"], "label_studio_export_redcap")
    assert read_export([path], FileSettings())[1] is None


# ---- Label Studio --------------------------------------------------------------------------------


def test_cancelled_annotations_predictions_and_drafts_are_no_ratings(tmp_path: Path) -> None:
    other = {"completed_by": 9, "result": [examples.choice("quality", "worst")]}
    tasks = [task(unit) for unit in examples.UNITS]
    tasks[0]["annotations"].append({**other, "was_cancelled": True})
    tasks[1]["predictions"] = [{"model_version": "m", "result": other["result"]}] * 2
    tasks[2]["drafts"] = [other]
    export = of_json(tmp_path, tasks)
    assert ratings(export) == RATINGS
    assert {kind: n for kind, n in export.left_out.items() if n} == {
        "prediction": 2,
        "draft": 1,
        "cancelled annotation": 1,
    }


def test_results_about_a_part_of_a_task_are_no_labels_of_the_task(tmp_path: Path) -> None:
    span = {"type": "labels", "from_name": "l", "value": {"start": 0, "end": 4, "labels": ["x"]}}
    region = {"type": "choices", "from_name": "quality", "value": {"x": 1, "choices": ["worst"]}}
    note = {"type": "textarea", "from_name": "note", "value": {"text": ["well"]}}
    rank = {"type": "ranker", "from_name": "rank", "value": {"ranker": ["a", "b"]}}
    tasks = [task(unit) for unit in examples.UNITS]
    for annotation in tasks[0]["annotations"]:
        annotation["result"] += [span, {**span, "value": {"labels": ["x"]}}, region, note, rank]
    export = of_json(tmp_path, tasks)
    assert ratings(export) == RATINGS
    assert export.left_out["marked part"] == 9
    assert export.left_out["text"] == export.left_out["result without a label"] == 3


def test_parts_alone_are_refused(tmp_path: Path) -> None:
    span = {"type": "labels", "from_name": "l", "value": {"start": 0, "end": 4, "labels": ["x"]}}
    annotations = [{"completed_by": n, "result": [span]} for n in (1, 2)]
    with pytest.raises(SourceError, match="marked parts"):
        of_json(tmp_path, [task("1", annotations=annotations)])


def test_the_criteria_of_a_task_are_columns(tmp_path: Path) -> None:
    stars = {"type": "rating", "from_name": "stars", "value": {"rating": 0}}
    pair = {"type": "pairwise", "from_name": "better", "value": {"selected": "left"}}
    annotations = [
        {"completed_by": n, "result": [examples.choice("quality", "good"), stars, pair]}
        for n in (1, 2)
    ]
    export = of_json(tmp_path, [task("1", annotations=annotations)])
    assert export.labels == ("quality", "stars", "better")
    assert export.table.frame.select(export.labels).rows() == [("good", "0", "A")] * 2


def test_several_choices_are_lists_and_not_beside_single_labels(tmp_path: Path) -> None:
    def of(*results: Any) -> Export:
        annotations = [{"completed_by": n, "result": list(results)} for n in (1, 2)]
        return of_json(tmp_path, [task("1", annotations=annotations)])

    aspects = {"type": "choices", "from_name": "aspects", "value": {"choices": ["a", "b"]}}
    assert of(aspects).labels == ("aspects",)
    assert of(aspects).table.frame.get_column("aspects").to_list() == ['["a", "b"]'] * 2
    assert of(aspects, examples.choice("quality", "good")).labels == ("quality",)


def test_annotations_of_a_task_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    annotations = [
        {"completed_by": 1, "created_at": when, "result": [examples.choice("quality", label)]}
        for when, label in (("2026-02-02", "second"), ("2026-01-01", "first"))
    ]
    export = of_json(tmp_path, [task("1", annotations=annotations)])
    assert export.table.frame.get_column("quality").to_list() == ["first", "second"]


def test_annotations_without_raters_are_refused(tmp_path: Path) -> None:
    annotations = [{"result": [examples.choice("quality", "good")]}]
    with pytest.raises(SourceError, match="completed_by"):
        of_json(tmp_path, [task("1", annotations=annotations)])


def test_annotations_of_a_study_are_imported(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="konsil import"):
        of_json(tmp_path, [task("1", data={"konsil_task": "t1"})])


def test_data_of_a_task_that_never_differ_are_no_labels(tmp_path: Path) -> None:
    rows = [{**row, "topic": f"t{row['id']}"} for row in examples.FLAT]
    export = exported(tmp_path, ".csv", table(rows))
    assert export.labels == ("quality",)
    assert "topic" in export.table.frame.columns
    same = [{**row, "quality": "good"} for row in examples.FLAT]
    assert read_export([write(tmp_path, ".csv", table(same))], FileSettings())[1] is None


def test_cells_of_label_studio_with_objects(tmp_path: Path) -> None:
    rows = [
        {**row, "quality": json.dumps([{"rating": n}]), "span": json.dumps([{"start": n}])}
        for n, row in enumerate(examples.FLAT)
    ]
    export = exported(tmp_path, ".csv", table(rows))
    assert ratings(export) == {key: str(n) for n, key in enumerate(RATINGS)}
    assert export.left_out["marked part"] == len(rows)
    choices = [{**row, "quality": json.dumps({"choices": ["a", "b"]})} for row in examples.FLAT]
    choices[0]["quality"] = "a"
    cells = exported(tmp_path, ".csv", table(choices)).table.frame.get_column("quality").to_list()
    assert cells[:2] == ['["a"]', '["a", "b"]']


# ---- the other annotation tools ------------------------------------------------------------------


def test_ignored_and_rejected_tasks_of_prodigy_are_no_ratings(tmp_path: Path) -> None:
    rows = [dict(row) for row in examples.each(examples.prodigy)]
    rows += [
        {**rows[0], "_session_id": "dora", "answer": answer} for answer in ("ignore", "reject")
    ]
    export = exported(tmp_path, ".jsonl", lines(rows))
    assert ratings(export) == RATINGS
    assert export.left_out["ignored task"] == export.left_out["rejected task"] == 1


def test_tasks_of_prodigy_with_one_label_are_accepted_or_rejected(tmp_path: Path) -> None:
    answers = {("1", "ann"): "accept", ("1", "ben"): "reject", ("2", "ann"): "accept"}
    rows = [
        {"label": "X", "_input_hash": 7, "_task_hash": unit, "_annotator_id": rater, "answer": a}
        for (unit, rater), a in answers.items()
    ]
    assert ratings(exported(tmp_path, ".jsonl", lines(rows))) == answers
    spans = [{**row, "_view_id": "ner_manual", "spans": []} for row in rows]
    with pytest.raises(SourceError, match="marked parts"):
        exported(tmp_path, ".jsonl", lines(spans))


def test_drafts_discarded_responses_and_rankings_of_argilla_are_no_ratings(tmp_path: Path) -> None:
    records = [record(unit) for unit in examples.UNITS]
    responses = records[0]["responses"]
    for status in ("draft", "discarded"):
        response = {"user_id": status, "value": "worst", "status": status}
        responses["quality"].append(response)
    responses["rank"] = [{"user_id": "ann", "value": [{"value": "a", "rank": 1}]}]
    export = of_json(tmp_path, records)
    assert ratings(export) == RATINGS
    assert export.left_out["draft response"] == export.left_out["discarded response"] == 1
    assert export.left_out["ranking or marked part"] == 1


def test_texts_of_argilla_are_no_labels(tmp_path: Path) -> None:
    records = [record(unit) for unit in examples.UNITS]
    for n, each in enumerate(records):
        texts = [f"I would say that answer {n} is well written because {rater}" for rater in "ab"]
        answers = [{"user_id": r, "value": t} for r, t in zip(("ann", "ben"), texts, strict=True)]
        each["responses"]["reason"] = answers
    export = of_json(tmp_path, records)
    assert ratings(export) == RATINGS
    assert export.left_out["column of texts"] == 1


def test_rejected_assignments_are_no_ratings(tmp_path: Path) -> None:
    rows = examples.each(examples.assignment)
    rows.append(examples.assignment("3", "cleo", "worst", AssignmentStatus="Rejected"))
    export = exported(tmp_path, ".csv", table(rows))
    assert ratings(export) == RATINGS
    assert export.left_out["rejected assignment"] == 1


def test_answers_of_a_form_in_one_cell(tmp_path: Path) -> None:
    def answers(label: str) -> str:
        boxes = {"good": label == "good", "bad": label == "bad"}
        return json.dumps([{"quality": boxes, "agree": {"on": True}, "stars": "3"}])

    rows = [
        {
            "HITId": unit,
            "AssignmentId": f"{unit}{rater}",
            "WorkerId": rater,
            "Answer.taskAnswers": answers(label),
        }
        for (unit, rater), label in RATINGS.items()
    ]
    export = exported(tmp_path, ".csv", table(rows))
    assert {*export.labels} == {"quality", "agree", "stars"}
    frame = export.table.frame
    assert frame.get_column("quality").to_list() == [*RATINGS.values()]
    assert {*frame.get_column("agree")} == {"true"}
    assert {*frame.get_column("stars")} == {"3"}


def test_labels_of_potato_are_names_or_values(tmp_path: Path) -> None:
    rows = [
        {
            "instance_id": "1",
            "user_id": rater,
            "label_annotations": {
                "likert": {f"scale_{n}": f"{n}"},
                "slider": {"slider": f"{10 * n}"},
                "index": {name: f"{n}"},
                "box": {"yes": "true", "no": "false"},
            },
        }
        for n, (rater, name) in enumerate((("ann", "low"), ("ben", "high")), start=3)
    ]
    frame = exported(tmp_path, ".jsonl", lines(rows)).table.frame
    assert frame.select("likert", "slider", "index", "box").rows() == [
        ("3", "30", "low", "yes"),
        ("4", "40", "high", "yes"),
    ]


def test_marked_parts_in_a_table_of_potato_are_no_labels(tmp_path: Path) -> None:
    rows = [{**row, "parts._spans": "[1]"} for row in examples.each(examples.potato_row)]
    export = exported(tmp_path, ".csv", table(rows).replace(":::", "."))
    assert ratings(export) == RATINGS


def test_the_state_of_one_user_of_potato(tmp_path: Path) -> None:
    export = exported(tmp_path, *OTHERS["potato state"][1:])
    assert ratings(export) == {key: v for key, v in RATINGS.items() if key[1] == "ann"}


def test_marked_parts_of_doccano_are_refused(tmp_path: Path) -> None:
    rows = [{"id": 1, "text": "a", "label": [[0, 1, "X"]]}]
    with pytest.raises(SourceError, match="marked parts"):
        exported(tmp_path, ".jsonl", lines(rows))
    spans = [{"id": 1, "text": "a", "annotations": [{"user": 1, "label": 2, "start_offset": 0}]}]
    with pytest.raises(SourceError, match="marked parts"):
        exported(tmp_path, ".jsonl", lines(spans))


def test_labels_called_like_a_column_of_the_tool_are_refused(tmp_path: Path) -> None:
    annotations = [{"completed_by": 1, "result": [examples.choice("id", "good")]}]
    with pytest.raises(SourceError, match="'id'"):
        of_json(tmp_path, [task("1", annotations=annotations)])


def test_data_sets_of_argilla_with_lists_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "any.parquet"
    pl.DataFrame([examples.flat_record(unit) for unit in examples.UNITS]).write_parquet(path)
    _, export = read_export([path], FileSettings())
    assert export is not None
    assert ratings(export) == RATINGS


def test_data_sets_of_argilla_1(tmp_path: Path) -> None:
    rows = [
        {
            "id": unit,
            "quality": [{"user_id": r, "value": v, "status": "submitted"} for r, v in given],
            "quality-suggestion": "bad",
        }
        for unit in examples.UNITS
        if (given := examples.of_unit(unit))
    ]
    assert ratings(of_json(tmp_path, rows)) == RATINGS


# ---- surveys -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rater", "questions"),
    [
        ("limesurvey", "token", ["Q1", "Q2", "Q3"]),
        ("qualtrics", "ResponseId", ["Q1_1", "Q2_1", "Q3_1"]),
        ("redcap", "record_id", ["q1", "q2", "q3"]),
    ],
)
def test_surveys_are_proposed_as_raters_in_rows(
    name: str, rater: str, questions: list[str], tmp_path: Path
) -> None:
    export = exported(tmp_path, *SURVEYS[name][1:])
    assert (export.layout, export.raters, export.unused) == ("raters-in-rows", (rater,), ())
    assert export.question
    assert export.table.frame.columns == [rater, *questions]
    assert export.table.frame.get_column(rater).to_list() == [*examples.RATERS]


def test_unfinished_answers_and_trials_are_left_out(tmp_path: Path) -> None:
    lime = [*examples.LIME, {**examples.LIME[0], "submitdate. Date submitted": ""}]
    qualtrics = [
        *examples.QUALTRICS,
        {**examples.QUALTRICS[0], "Finished": "False"},
        {**examples.QUALTRICS[0], "Status": "Survey Preview"},
    ]
    for content, n in ((table(lime), 1), (examples.three_headers(qualtrics), 2)):
        export = exported(tmp_path, ".csv", content)
        assert export.table.frame.height == 3
        assert export.left_out == {"unfinished or test answer": n}


def test_a_survey_without_names_of_respondents_has_their_numbers(tmp_path: Path) -> None:
    rows = [{**row, "token. T": ""} for row in examples.LIME]
    assert exported(tmp_path, ".csv", table(rows)).raters == ("id",)


def test_questions_with_the_most_common_labels_are_proposed(tmp_path: Path) -> None:
    rows = [
        {
            "record_id": n,
            "a___1": a,
            "Yes please": b,
            "Years": y,
            "b": a,
            "c": b,
            "notes_complete": 2,
        }
        for n, a, b, y in ((1, "yes", "good", 3), (2, "no", "bad", 4), (3, "no", "good", 3))
    ]
    rows = [{**row, "d": row["c"], "e1": row["Years"], "e2": 4} for row in rows]
    export = exported(tmp_path, ".csv", table(rows))
    assert export.unused == ("a___1", "Years", "b", "e1", "e2")


def test_a_number_among_words_does_not_make_columns_alike(tmp_path: Path) -> None:
    rows = [
        {**row, "kind": kind, "other": other}
        for row, kind, other in zip(examples.REDCAP, ("a", "b", "3"), ("x", "3", "y"), strict=True)
    ]
    assert exported(tmp_path, ".csv", table(rows)).unused == ("kind", "other")
    rows = [{**row, **{f"more {n}": row["kind"] for n in "abc"}} for row in rows]
    assert exported(tmp_path, ".csv", table(rows)).unused == ("q1", "q2", "q3", "other")


def test_numbers_before_words_are_labels_of_all_questions(tmp_path: Path) -> None:
    words = {"3": "3 : so so", "4": "4 : well", "5": "5 : fine", "2": "2 : poor"}
    rows = [
        {k: f"{words[v]} {k[:2]}" if k[0] == "Q" else v for k, v in row.items()}
        for row in examples.LIME
    ]
    rows = [{**row, "Q1[comment]. Why?": "so"} for row in rows]
    export = exported(tmp_path, ".csv", table(rows))
    assert export.unused == ()
    assert export.table.frame.columns == ["token", "Q1", "Q2", "Q3"]


def test_a_survey_with_one_question_has_no_ratings_to_propose(tmp_path: Path) -> None:
    rows = [{"record_id": n, "q1": n, "form_complete": 2} for n in (1, 2, 3)]
    export = exported(tmp_path, ".csv", table(rows))
    assert (export.layout, export.raters, export.unused) == (None, (), ())


def double_entries(**more: Any) -> list[dict[str, Any]]:
    """REDCap's double data entry: both persons entered record 11, and it was merged."""
    entered = {("11", "1"): "good", ("11", "2"): "bad", ("12", "1"): "good", ("12", "2"): "good"}
    rows = [
        {"record_id": f"{record}--{person}", "form_complete": "2", "quality": label, "site": "b"}
        for (record, person), label in entered.items()
    ]
    merged = {"record_id": "11", "form_complete": "2", "quality": "good", "site": "b"}
    return [row | more for row in (*rows, merged)]


def test_records_of_redcap_that_two_persons_entered(tmp_path: Path) -> None:
    rows = [row | {"note": f"seen {n}" * 12} for n, row in enumerate(double_entries(empty=""))]
    export = exported(tmp_path, ".csv", table(rows))
    assert (export.layout, export.question, export.labels) == ("long", "", ("quality", "site"))
    assert ratings(replace(export, labels=("quality",))) == {
        ("11", "1"): "good",
        ("11", "2"): "bad",
        ("12", "1"): "good",
        ("12", "2"): "good",
    }
    assert export.left_out["merged record"] == 1
    assert "note" not in export.labels
    assert [export.table.line(row) for row in range(4)] == [2, 3, 4, 5]


def test_events_of_entered_records_are_units_of_their_own(tmp_path: Path) -> None:
    rows = [*double_entries(redcap_event_name="visit_1"), *double_entries(redcap_event_name="v_2")]
    export = exported(tmp_path, ".csv", table(rows))
    assert export.units == ("record_id", "redcap_event_name")
    assert export.table.frame.height == 8


def test_records_of_one_person_each_are_those_of_respondents(tmp_path: Path) -> None:
    rows = [row for row in double_entries() if row["record_id"].endswith("--1")]
    assert exported(tmp_path, ".csv", table(rows)).raters in {(), ("record_id",)}
