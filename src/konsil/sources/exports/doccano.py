"""doccano's exports: the labels of a text, of one annotator a file, or of several users a row.

Relations and marked parts of texts have no label of the whole text.
"""

from __future__ import annotations

from dataclasses import replace

from konsil.errors import SourceError
from konsil.sources.exports.export import Annotations, Export, objects, rows_of
from konsil.sources.exports.several import FILE
from konsil.sources.files.cells import as_text
from konsil.sources.files.table import Table

NAME = "doccano"
_TEXTS, _LABELS = {"text", "data", "filename"}, ("label", "labels")
_OF_DOCCANO = {*_TEXTS, *_LABELS, "id", "Comments", "meta", "annotation_approver"}


def read_users(table: Table) -> Export | None:
    """Texts with the annotations of all users."""
    if not {"text", "annotations"} <= {*table.frame.columns}:
        return None
    first = next(rows_of(table), None)
    first_annotations = [] if first is None else objects(first[1].get("annotations"))
    if not first_annotations or not {"user", "label"} <= first_annotations[0].keys():
        return None
    annotations = Annotations(NAME, table, "id", "user")
    for row, text in rows_of(table):
        labels: dict[str | None, list[object]] = {}
        for annotation in objects(text.get("annotations")):
            if "start_offset" in annotation:
                annotations.left_out["marked part"] += 1
            else:
                labels.setdefault(as_text(annotation.get("user")), []).append(
                    annotation.get("label")
                )
        for user, of_user in labels.items():
            about = text.get("meta")
            unit = text.get("id") or row + 1
            annotations.add(
                (row, unit, user), {"label": of_user}, about if isinstance(about, dict) else {}
            )
    return annotations.export()


def read_annotator(table: Table) -> Export | None:
    """Texts with lists of labels; whose they are, the file does not say."""
    columns = {*table.frame.columns}
    label = next((name for name in _LABELS if name in columns), None)
    if label is None or not columns & _TEXTS or columns - _OF_DOCCANO - {table.stacked_by}:
        return None
    cells = [row.get(label) for _, row in rows_of(table)]
    lists = [cell for cell in cells if isinstance(cell, list)]
    if len(lists) < len(cells):
        return None
    if any(isinstance(part, list | dict) for labels in lists for part in labels):
        raise SourceError(
            f"{table.name}: doccano's export contains marked parts of texts, which are not compared"
        )
    if table.stacked_by == FILE and "id" in columns:
        annotations = Annotations(NAME, table, "id", FILE)
        for row, text in rows_of(table):
            annotations.add((row, text.get("id"), text[FILE]), {label: text.get(label) or []})
        return replace(annotations.export(), question="Is each file that of one annotator?")
    return Export(
        NAME,
        table,
        question="doccano writes a file for each annotator, without the name: compare the files of"
        " several annotators.",
        is_of_one=True,
    )
