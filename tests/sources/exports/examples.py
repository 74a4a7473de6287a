"""Small made-up exports of tools: the same ratings in the shape that each tool writes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

RATINGS = {
    ("1", "ann"): "good",
    ("1", "ben"): "good",
    ("1", "cleo"): "bad",
    ("2", "ann"): "bad",
    ("2", "ben"): "bad",
    ("2", "cleo"): "bad",
    ("3", "ann"): "good",
    ("3", "ben"): "bad",
    ("4", "ann"): "good",
    ("4", "ben"): "good",
    ("4", "cleo"): "good",
}
"""Unit and rater -> label; one rating is missing."""
UNITS = ("1", "2", "3", "4")
RATERS = ("ann", "ben", "cleo")
Row = Mapping[str, Any]


def of_unit(unit: str) -> list[tuple[str, str]]:
    """Rater and label of each rating of a unit."""
    return [(rater, label) for (name, rater), label in RATINGS.items() if name == unit]


def table(rows: Sequence[Row]) -> str:
    """A CSV."""
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def lines(rows: Sequence[Row]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def choice(control: str, label: str) -> dict[str, Any]:
    """A result of Label Studio."""
    value = {"choices": [label]}
    return {"type": "choices", "from_name": control, "to_name": "text", "value": value}


def task(unit: str, **more: Any) -> dict[str, Any]:
    """A task of Label Studio with its annotations."""
    annotations = [
        {
            "id": 10 * int(unit) + n,
            "completed_by": {"id": n, "email": rater},
            "was_cancelled": False,
            "result": [choice("quality", label)],
        }
        for n, (rater, label) in enumerate(of_unit(unit))
    ]
    data = {"text": f"Answer {unit}", "topic": "heart"}
    return {"id": int(unit), "data": data, "annotations": annotations, "predictions": []} | more


def flat(unit: str, rater: str, label: str) -> dict[str, Any]:
    """A row of Label Studio's JSON-MIN and CSV."""
    return {
        "annotation_id": f"{unit}{rater}",
        "annotator": rater,
        "id": unit,
        "lead_time": 3,
        "text": f"Answer {unit}",
        "quality": label,
    }


FLAT = [flat(unit, rater, label) for (unit, rater), label in RATINGS.items()]


def prodigy(unit: str, rater: str, label: str) -> dict[str, Any]:
    """An answer to a task with options."""
    return {
        "text": f"Answer {unit}",
        "options": [{"id": "good"}, {"id": "bad"}],
        "_input_hash": 100,
        "_task_hash": unit,
        "_session_id": rater,
        "_view_id": "choice",
        "accept": [label],
        "answer": "accept",
    }


def record(unit: str, **more: Any) -> dict[str, Any]:
    """A record of Argilla."""
    responses = [
        {"user_id": rater, "value": label, "status": "submitted"} for rater, label in of_unit(unit)
    ]
    return {
        "id": unit,
        "fields": {"text": f"Answer {unit}"},
        "metadata": {"topic": "heart"},
        "suggestions": {"quality": {"value": "bad", "agent": "model"}},
        "responses": {"quality": responses},
    } | more


def former_record(unit: str) -> dict[str, Any]:
    """A record of Argilla 1."""
    responses = [
        {"user_id": rater, "status": "submitted", "values": {"quality": {"value": label}}}
        for rater, label in of_unit(unit)
    ]
    return {"id": unit, "fields": {"text": f"Answer {unit}"}, "responses": responses}


def flat_record(unit: str) -> dict[str, Any]:
    """A row of a data set of Argilla."""
    return {
        "id": unit,
        "text": f"Answer {unit}",
        "quality.responses": [label for _, label in of_unit(unit)],
        "quality.responses.users": [rater for rater, _ in of_unit(unit)],
        "quality.responses.status": ["submitted" for _ in of_unit(unit)],
        "quality.suggestion": "bad",
    }


def assignment(unit: str, rater: str, label: str, **more: Any) -> dict[str, Any]:
    """A row of Mechanical Turk's results."""
    return {
        "HITId": unit,
        "AssignmentId": f"{unit}{rater}",
        "WorkerId": rater,
        "AssignmentStatus": "Approved",
        "WorkTimeInSeconds": 30,
        "Input.text": f"Answer {unit}",
        "Answer.quality.label": label,
    } | more


def boxed(unit: str, rater: str, label: str) -> dict[str, Any]:
    """A row of Mechanical Turk's results with a column for each button."""
    row = assignment(unit, rater, label)
    del row["Answer.quality.label"]
    names = ("good", "bad")
    return row | {f"Answer.quality.{name}": str(name == label).lower() for name in names}


def potato_instance(unit: str, rater: str, label: str) -> dict[str, Any]:
    """An annotated instance of Potato."""
    return {
        "instance_id": unit,
        "user_id": rater,
        "displayed_text": f"Answer {unit}",
        "label_annotations": {"quality": {label: "true"}},
        "span_annotations": {},
    }


def potato_state(rater: str) -> dict[str, Any]:
    """The state of one user of Potato."""
    return {
        "user_id": rater,
        "instance_id_to_label_to_value": {
            unit: [[{"schema": "quality", "name": label}, "true"]]
            for (unit, name), label in RATINGS.items()
            if name == rater
        },
        "instance_id_to_span_to_value": {},
    }


def potato_row(unit: str, rater: str, label: str) -> dict[str, Any]:
    """A row of Potato's table."""
    return {"instance_id": unit, "user_id": rater, f"quality:::{label}": "true"}


def doccano_text(unit: str) -> dict[str, Any]:
    """A text of doccano with the annotations of all users."""
    annotations = [{"user": rater, "label": label} for rater, label in of_unit(unit)]
    return {"id": unit, "text": f"Answer {unit}", "annotations": annotations, "meta": {}}


def each(row: Callable[[str, str, str], Row]) -> list[Row]:
    """A row for each rating."""
    return [row(unit, rater, label) for (unit, rater), label in RATINGS.items()]


EXPORTS: Mapping[str, tuple[str, str, str]] = {
    "label studio": ("Label Studio", ".json", json.dumps([task(u) for u in UNITS])),
    "label studio min": ("Label Studio", ".json", json.dumps(FLAT)),
    "label studio csv": ("Label Studio", ".csv", table(FLAT)),
    "doccano users": ("doccano", ".jsonl", lines([doccano_text(u) for u in UNITS])),
    "potato": ("Potato", ".jsonl", lines(each(potato_instance))),
    "potato csv": ("Potato", ".csv", table(each(potato_row))),
    "potato dots": ("Potato", ".csv", table(each(potato_row)).replace(":::", ".")),
    "prodigy": ("Prodigy", ".jsonl", lines(each(prodigy))),
    "argilla": ("Argilla", ".json", json.dumps([record(u) for u in UNITS])),
    "argilla 1": ("Argilla", ".json", json.dumps([former_record(u) for u in UNITS])),
    "argilla rows": ("Argilla", ".json", json.dumps([flat_record(u) for u in UNITS])),
    "mturk": ("Mechanical Turk", ".csv", table(each(assignment))),
    "mturk boxes": ("Mechanical Turk", ".csv", table(each(boxed))),
}
"""Exports with all ratings: the tool, the ending and the content of the file."""

_ANSWERS = [
    {"ann": "4", "ben": "5", "cleo": "3"},
    {"ann": "2", "ben": "2", "cleo": "3"},
    {"ann": "5", "ben": "5", "cleo": "4"},
]
"""Question -> respondent -> answer."""


def responses(before: Callable[[int, str], Row], heading: Callable[[int], str]) -> list[Row]:
    """A row for each respondent, with the columns that a tool adds before the questions."""
    return [
        {**before(n, rater), **{heading(q): answers[rater] for q, answers in enumerate(_ANSWERS)}}
        for n, rater in enumerate(RATERS, start=1)
    ]


LIME = responses(
    lambda n, rater: {
        "id. Response ID": n,
        "submitdate. Date submitted": "2026",
        "token. T": rater,
    },
    lambda q: f"Q{q + 1}. How good is answer {q + 1}?",
)
QUALTRICS = responses(
    lambda n, rater: {"StartDate": "2026", "Finished": "True", "ResponseId": rater},
    lambda q: f"Q{q + 1}_1",
)
REDCAP = responses(
    lambda n, rater: {"record_id": rater, "a_timestamp": "2026", "survey_complete": "2"},
    lambda q: f"q{q + 1}",
)


def three_headers(rows: Sequence[Row]) -> str:
    """A CSV as Qualtrics writes it: names, questions and identifiers, and then the responses."""
    head, *body = table(rows).splitlines()
    names = head.split(",")
    marks = ",".join('"{""ImportId"":""' + name + '""}"' for name in names)
    return "\n".join([head, ",".join(f"Text of {n}" for n in names), marks, *body]) + "\n"


SURVEYS: Mapping[str, tuple[str, str, str]] = {
    "limesurvey": ("LimeSurvey", ".csv", table(LIME)),
    "qualtrics": ("Qualtrics", ".csv", three_headers(QUALTRICS)),
    "redcap": ("REDCap", ".csv", table(REDCAP)),
}
"""Surveys, of which has to be asked what the raters are."""

OTHERS: Mapping[str, tuple[str, str, str]] = {
    "potato state": ("Potato", ".json", json.dumps(potato_state("ann"))),
    "doccano": (
        "doccano",
        ".jsonl",
        lines([{"id": int(u), "text": f"Answer {u}", "label": ["good"]} for u in UNITS]),
    ),
}
"""Exports of one annotator."""

PLAIN: Mapping[str, str] = {
    "wide": "id,ann,ben\n1,good,bad\n2,bad,bad\n3,good,good\n4,bad,good\n",
    "long": "id,annotator,label\n1,ann,good\n1,ben,good\n2,ann,bad\n2,ben,good\n",
    "lists": 'id,text,label,source\n1,a,"[""x""]",s\n2,b,"[""y""]",s\n',
    "instances": "instance_id,model,v1.0\n1,gpt,good\n2,gpt,bad\n",
    "answers": "id,user,answer\n1,ann,accept\n1,ben,reject\n",
    "record": "record_id,ann,ben\n1,good,bad\n2,bad,bad\n",
    "fields": "fields,responses\n3,4\n5,6\n",
    "survey": "id,token,submitted\n1,good,bad\n2,bad,bad\n",
    "hits": "HITId,WorkerId,label\n1,ann,good\n1,ben,good\n",
    "suggestion": "id,b,b-suggestion\n1,good,bad\n2,bad,bad\n",
    "versions": "id,user,v1.0\n1,ann,good\n1,ben,bad\n",
    "versions of instances": "instance_id,user_id,topic,v1.0\n1,ann,a,good\n1,ben,a,bad\n",
    "scans": "record_id,ann,ben,scan_timestamp\n1,good,bad,2026\n2,bad,bad,2026\n",
    "mentions": "text,data,annotations\na,b,c\n",
}
"""Tables of no tool, with some of the tools' words."""


def write(folder: Path, ending: str, content: str, name: str = "any file") -> Path:
    """Write a file whose name says nothing."""
    path = folder / f"{name}{ending}"
    path.write_text(content, encoding="utf-8")
    return path
