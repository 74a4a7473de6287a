"""Label Studio's exports: JSON, JSON-MIN and CSV.

In JSON a row is a task with its annotations; in the others it is an annotation. Cancelled
annotations were skipped; predictions are of models and drafts are not submitted, and neither is a
rating. Choices about a region, marked parts, rankings and texts have no label of the whole task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from konsil.errors import SourceError
from konsil.sources.exports.export import Annotations, Export, Json, objects, rows_of
from konsil.sources.files.table import Table
from konsil.sources.labelstudio.controls import KEYS, label_of
from konsil.sources.labelstudio.labelstudio_slots import TASK_KEY

NAME = "Label Studio"
_ROW = ("annotation_id", "annotator", "id")
_TIMES = {"created_at", "updated_at", "lead_time"}
_OF_A_REGION = {"start", "end", "x", "y", "points", "rle", "sequence", "ranges", "startOffset"}


def read_tasks(table: Table) -> Export | None:
    """The export as JSON: tasks with annotations."""
    if not {"id", "data", "annotations"} <= {*table.frame.columns}:
        return None
    first = next(rows_of(table), None)
    if first is None or not isinstance(first[1].get("data"), dict):
        return None
    annotations = Annotations(NAME, table, "id", "completed_by")
    for row, task in rows_of(table):
        data = task.get("data")
        if not isinstance(data, dict):
            return None
        if TASK_KEY in data:
            raise SourceError(
                f"{table.name}: these are annotations of a study's tasks; read them with konsil"
                " import"
            )
        for kind in ("prediction", "draft"):
            annotations.left_out[kind] += len(objects(task.get(f"{kind}s")))
        for annotation in sorted(
            objects(task.get("annotations")), key=lambda a: str(a.get("created_at") or "")
        ):
            if annotation.get("was_cancelled"):
                annotations.left_out["cancelled annotation"] += 1
                continue
            answers = _answers(annotation, annotations)
            place = (row, task.get("id"), _rater(annotation.get("completed_by")))
            annotations.add(place, answers, data)
    return annotations.export()


def _rater(account: object) -> object:
    if isinstance(account, dict):
        return account.get("email") or account.get("id")
    return account


def _answers(annotation: Json, annotations: Annotations) -> dict[str, list[object]]:
    """Control -> labels of the whole task."""
    answers: dict[str, list[object]] = {}
    for result in objects(annotation.get("result")):
        kind, value = result.get("type"), result.get("value")
        if kind not in KEYS or not isinstance(value, dict):
            annotations.left_out["result without a label"] += 1
        elif _OF_A_REGION & value.keys() or kind == "labels":
            annotations.left_out["marked part"] += 1
        elif kind == "textarea":
            annotations.left_out["text"] += 1
        else:
            answers.setdefault(str(result.get("from_name")), []).extend(_labels(result))
    return answers


def _labels(result: Json) -> Iterator[object]:
    """Each label of a result by itself."""
    key = KEYS[str(result["type"])]
    chosen = result["value"].get(key)
    for choice in chosen if isinstance(chosen, list) else [chosen]:
        label = label_of({**result, "value": {key: [choice]}}, {}) if choice is not None else None
        if label is not None:
            yield label


def read_annotations(table: Table) -> Export | None:
    """The export as JSON-MIN or CSV: annotations with the data of their tasks.

    What differs between annotations of one task are its labels.
    """
    if not {*_ROW} <= {*table.frame.columns}:
        return None
    others = [n for n in table.frame.columns if n not in {*_ROW, *_TIMES}]
    differing = _differing(table, others)
    if not differing:
        return None
    annotations = Annotations(NAME, table, "id", "annotator")
    for row, cells in rows_of(table):
        answers = {n: _of_cell(cells[n], annotations) for n in differing if n in cells}
        about = {n: v for n, v in cells.items() if n in others and n not in differing}
        annotations.add((row, cells.get("id"), cells.get("annotator")), answers, about)
    return annotations.export()


def _differing(table: Table, names: Sequence[str]) -> list[str]:
    """The columns in which annotations of one task differ."""
    counts = table.frame.group_by("id").agg(pl.col(names).n_unique())
    return [n for n in names if (counts.get_column(n) > 1).any()]


def _of_cell(cell: object, annotations: Annotations) -> list[object]:
    """The labels in a cell."""
    if isinstance(cell, Mapping):
        chosen = cell.get("choices") or cell.get("taxonomy")
        return list(chosen) if isinstance(chosen, list) else []
    if not isinstance(cell, list):
        return [cell]
    ratings = [part["rating"] for part in objects(cell) if "rating" in part]
    if not ratings and objects(cell):
        annotations.left_out["marked part"] += len(cell)
    return ratings or [part for part in cell if not isinstance(part, dict)]
