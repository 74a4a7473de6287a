"""Batch results of Amazon Mechanical Turk: an assignment of a worker in each row.

A rejected assignment is no rating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from konsil.sources.exports.export import Annotations, Export, Json, objects, rows_of
from konsil.sources.files.table import Table

NAME = "Mechanical Turk"
_ROW = {"HITId", "AssignmentId", "WorkerId"}
_ANSWER, _INPUT, _ALL = "Answer.", "Input.", "taskAnswers"
_QUESTION = "A form's questions can be remarks: is each of these a rating of the unit?"
_CHECKED = {"true": True, "false": False}


def read_assignments(table: Table) -> Export | None:
    """The answers of all assignments, with a criterion for each question of the form."""
    names = table.frame.columns
    if not {*names} >= _ROW or not any(name.startswith(_ANSWER) for name in names):
        return None
    annotations = Annotations(NAME, table, "HITId", "WorkerId")
    for row, cells in rows_of(table):
        if str(cells.get("AssignmentStatus")).casefold() == "rejected":
            annotations.left_out["rejected assignment"] += 1
            continue
        inputs = {name: cell for name, cell in cells.items() if name.startswith(_INPUT)}
        place = (row, cells.get("HITId"), cells.get("WorkerId"))
        annotations.add(place, dict(_answers(cells)), inputs)
    export = annotations.export()
    # A form's questions can be ratings, remarks or checks of the worker.
    return replace(export, question=_QUESTION) if len(export.labels) > 1 else export


def _answers(cells: Json) -> Iterator[tuple[str, list[object]]]:
    """Question -> its answers; the boxes of a question, checked or not, are its labels."""
    boxes: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for question, answer in _questions(cells):
        above, _, box = question.rpartition(".")
        checked = answer if isinstance(answer, bool) else _CHECKED.get(str(answer))
        if above and checked is not None:
            boxes[above][box] = checked
        else:
            yield question.removesuffix(".label"), [answer]
    for question, checked_by_box in boxes.items():
        chosen: list[object] = [box for box, checked in checked_by_box.items() if checked]
        yield question, chosen if len(checked_by_box) > 1 else [*checked_by_box.values()]


def _questions(cells: Json) -> Iterator[tuple[str, object]]:
    """The answers by 'question' or 'question.box', from a column each or from JSON in one."""
    for name, cell in cells.items():
        question = name.removeprefix(_ANSWER)
        if question == _ALL:
            for form in objects(cell):
                for part, answer in form.items():
                    within = answer if isinstance(answer, dict) else {"": answer}
                    for box, value in within.items():
                        yield f"{part}.{box}".removesuffix("."), value
        elif question != name:
            yield question, cell
