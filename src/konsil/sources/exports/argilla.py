"""Argilla's records and data sets: the responses to each question of a record.

A response that is a draft or was discarded is no rating; suggestions are of models. Rankings and
marked parts have no label of the whole record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from konsil.sources.exports.export import Annotations, Export, Json, objects, rows_of
from konsil.sources.files.cells import as_text
from konsil.sources.files.table import Table

NAME = "Argilla"
_RESPONSES, _SUGGESTION = ".responses", "-suggestion"
_SUBMITTED = "submitted"


class _Response(NamedTuple):
    """One person's answer to one question."""

    question: str
    rater: object
    value: object
    status: object = _SUBMITTED


def read_records(table: Table) -> Export | None:
    """Records with their fields and responses."""
    if not {"fields", "responses"} <= {*table.frame.columns}:
        return None
    first = next(rows_of(table), None)
    if first is None or not isinstance(first[1].get("fields"), dict):
        return None
    return _export(table, _of_record)


def _of_record(record: Json) -> Iterator[_Response]:
    responses = record.get("responses")
    if isinstance(responses, dict):
        for question, answers in responses.items():
            yield from _of_question(question, answers)
    for response in objects(responses):
        values, status = response.get("values"), response.get("status") or _SUBMITTED
        for question, value in values.items() if isinstance(values, dict) else ():
            answer = value.get("value") if isinstance(value, dict) else value
            yield _Response(question, response.get("user_id"), answer, status)


def _of_question(question: str, answers: object) -> Iterator[_Response]:
    for response in objects(answers):
        status = response.get("status") or _SUBMITTED
        yield _Response(question, response.get("user_id"), response.get("value"), status)


def read_rows(table: Table) -> Export | None:
    """A data set with columns for the responses to each question."""
    names = {*table.frame.columns}
    if any(n.endswith(_RESPONSES) and f"{n}.users" in names for n in names):
        return _export(table, _of_columns)
    suggested = {n.removesuffix(_SUGGESTION) for n in names if n.endswith(_SUGGESTION)} & names
    if suggested and any(
        response.rater for _, row in rows_of(table) for response in _of_lists(row, suggested)
    ):
        return _export(table, lambda row: _of_lists(row, suggested))
    return None


def _of_columns(row: Json) -> Iterator[_Response]:
    for column, values in row.items():
        if not column.endswith(_RESPONSES) or not isinstance(values, list):
            continue
        question = column.removesuffix(_RESPONSES)
        users, statuses = row.get(f"{column}.users"), row.get(f"{column}.status")
        for n, value in enumerate(values):
            yield _Response(question, _at(users, n), value, _at(statuses, n) or _SUBMITTED)


def _at(values: object, n: int) -> object:
    return values[n] if isinstance(values, list) and n < len(values) else None


def _of_lists(row: Json, questions: Collection[str]) -> Iterator[_Response]:
    for question in row.keys() & questions:
        yield from _of_question(question, row[question])


def _export(table: Table, responses_of: Callable[[Json], Iterator[_Response]]) -> Export:
    annotations = Annotations(NAME, table, "id", "user_id")
    for row, record in rows_of(table):
        answers_by_rater: dict[str | None, dict[str, list[object]]] = {}
        for response in responses_of(record):
            labels = _labels(response.value)
            if response.status != _SUBMITTED:
                annotations.left_out[f"{response.status} response"] += 1
            elif labels is None:
                annotations.left_out["ranking or marked part"] += 1
            else:
                answers = answers_by_rater.setdefault(as_text(response.rater), {})
                answers[response.question] = labels
        about = record.get("metadata")
        for rater, answers in answers_by_rater.items():
            unit = record.get("id") or record.get("external_id") or row + 1
            annotations.add((row, unit, rater), answers, about if isinstance(about, dict) else {})
    return annotations.export()


def _labels(value: object) -> list[object] | None:
    """The labels of an answer; None where it ranks or marks something."""
    if not isinstance(value, list):
        return [value]
    return None if objects(value) else value
