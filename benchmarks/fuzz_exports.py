"""Exports of annotation and survey tools for the fuzzer, as JSON: a tree of each tool."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from fuzz_inputs import ANNOTATED, as_json, broken, nested

from konsil.records.source import FileSettings
from konsil.sources.exports.recognition import read_export

_STATE = [[{"schema": "c", "name": "yes"}, "true"], [{"schema": "s", "name": "scale_3"}, "3"]]
_RESPONSES = [{"user_id": "ann", "value": "yes", "status": "submitted"}]
TREES: tuple[Any, ...] = (
    ANNOTATED,
    [{"annotation_id": n, "annotator": n, "id": 1, "c": c} for n, c in enumerate(("yes", "no"))],
    [{"id": 1, "text": "t", "annotations": [{"user": n, "label": n} for n in (1, 2)]}],
    [{"id": n, "text": "t", "label": ["yes"]} for n in (1, 2)],
    [
        {"instance_id": "i", "user_id": user, "label_annotations": {"c": {"yes": "true"}}}
        for user in ("ann", "ben")
    ],
    [{"instance_id": "i", "user_id": user, "c:::yes": "true"} for user in ("ann", "ben")],
    {"user_id": "ann", "instance_id_to_label_to_value": {"i": _STATE}},
    [
        {
            "_input_hash": 1,
            "_task_hash": 2,
            "_session_id": user,
            "options": [{"id": "yes"}],
            "accept": ["yes"],
            "answer": "accept",
        }
        for user in ("ann", "ben")
    ],
    [{"id": "r", "fields": {"text": "t"}, "responses": {"c": _RESPONSES}}],
    [{"id": "r", "fields": {}, "responses": [{"user_id": "a", "values": {"c": {"value": 1}}}]}],
    [{"id": "r", "c.responses": ["yes"], "c.responses.users": ["ann"]}],
    [{"id": "r", "c": _RESPONSES, "c-suggestion": "yes"}],
    [
        {"HITId": "h", "AssignmentId": w, "WorkerId": w, "Answer.c.yes": "true", "Answer.c.no": "x"}
        for w in ("ann", "ben")
    ],
    [
        {"HITId": "h", "AssignmentId": "a", "WorkerId": "w", "Answer.taskAnswers": '[{"c": 1}]'},
    ],
    [{"id": 1, "submitdate": "2026", "token": "ann", "Q1. How?": "1 : bad", "Q2. Why?": "2 : ok"}],
    [{"ResponseId": "R", "StartDate": "d", "Finished": "True", "Q1": "1", "Q2": "2"}],
    [{"record_id": "1", "form_complete": "2", "q___1": "1", "q___2": "0"}],
)


def make_export(rng: random.Random) -> bytes:
    """An export of a tool, of which parts are changed."""
    return broken(rng, as_json(rng, nested(rng, rng.choice(TREES), 4)))


def read_any(path: Path) -> None:
    """Read a file as the export of a tool, or as another table."""
    read_export([path], FileSettings())


READ = {"exports": (make_export, "e.json", read_any)}
