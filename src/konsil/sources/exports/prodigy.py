"""Prodigy's annotations: one answer of one annotator to one task in each row.

A task with options is rated by the accepted options, any other one by accept or reject. Ignored
tasks are skipped; marked parts of texts have no label of the whole task.
"""

from __future__ import annotations

from konsil.sources.exports.export import Annotations, Export, rows_of
from konsil.sources.files.table import Table

NAME = "Prodigy"
_ANSWERS = {"accept", "reject", "ignore"}


def read_answers(table: Table) -> Export | None:
    """The annotations of a data set."""
    columns = {*table.frame.columns}
    if not {"_input_hash", "_task_hash", "answer"} <= columns:
        return None
    if not {*table.frame.get_column("answer").drop_nulls()} <= _ANSWERS:
        return None
    rater = "_annotator_id" if "_annotator_id" in columns else "_session_id"
    annotations = Annotations(NAME, table, "_task_hash", rater)
    for row, task in rows_of(table):
        answer = task.get("answer")
        if answer not in _ANSWERS - {"ignore"}:
            annotations.left_out["ignored task"] += 1
            continue
        answers: dict[str, list[object]] = {}
        if isinstance(task.get("accept"), list) or "options" in task:
            if answer == "accept":
                answers["accept"] = list(task.get("accept") or ())
            else:
                annotations.left_out["rejected task"] += 1
        elif "label" in task and "manual" not in str(task.get("_view_id")):
            answers["answer"] = [answer]
        else:
            annotations.left_out["marked text"] += 1
        annotations.add(
            (row, task.get("_task_hash"), task.get(rater)),
            answers,
            {name: task.get(name) for name in ("text", "label")},
        )
    return annotations.export()
