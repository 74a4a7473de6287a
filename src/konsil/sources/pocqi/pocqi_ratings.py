"""The ratings of Real-POCQi's users and judges, and how many are left out and why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping

from konsil.errors import nearest
from konsil.records import Rating, Source, Task
from konsil.sources.files.problems import Problem, raise_if
from konsil.sources.pocqi.pocqi_files import CHOICES, Row, Rows, Tables, arm_of
from konsil.sources.pocqi.pocqi_rules import Tally
from konsil.sources.tables.tasks import utc

EXPERTS, JUDGES = "physicians", "judges"
"""The panels: the users of the tables, and the graders of machineRatings."""
JUDGING = "judging"
"""The phase of the judges' tasks."""
LEFT_OUT = "of a comparison that does not enter"
NO_ASSIGNMENT = "of an assignment in no table"
NO_CRITERION = "on an axis that criteria leaves out"
"""Why a rating is left out."""
NO_NUMBER = {"", "na", "nan", "null"}
"""The entries of a table that mean that there is no number."""
AXES = {"authoritativeness": "source_quality"}
"""The tables' word for an axis, where the paper has another."""


def user_ratings(
    tables: Tables, source: Source, tasks: Mapping[str, Task], skipped: Collection[str]
) -> tuple[list[tuple[Rating, int]], Tally]:
    """The ratings of the comparisons that enter, each with its line; how many do not and why."""
    problems: list[Problem] = []
    ratings: list[tuple[Rating, int]] = []
    tally = Tally(len(tables.ratings.rows))
    dropped = tally.left_out
    chosen: dict[tuple[str, str], str] = {}
    times = {row["id"]: row.get("completed_at", "") for row in tables.assignments}
    for row in tables.ratings:
        name, axis, choice = row["qa_assignment_id"], row["axis"], row["choice"]
        if not name or not choice:
            dropped["of no assignment" if not name else "no choice"] += 1
        elif name not in tasks:
            dropped[LEFT_OUT if name in skipped else NO_ASSIGNMENT] += 1
        elif source.criteria.get(axis) == "":
            dropped[NO_CRITERION] += 1
        elif not is_choice(choice, source):
            problems.append(tables.ratings.problem(row, "choice", _unknown_choice(choice, source)))
        elif chosen.setdefault((name, axis), choice) != choice:
            sentence = (
                f"{choice!r} after {chosen[name, axis]!r} for the same assignment and axis;"
                " expected one choice"
            )
            problems.append(tables.ratings.problem(row, "choice", sentence))
        else:
            seconds = _seconds(tables.ratings, row, problems)
            ratings.append(
                (_rating(tasks[name], name, axis, choice, source, seconds, times[name]), row.line)
            )
    raise_if(problems, tables.ratings.name, len(tables.ratings.rows))
    # The same choice twice is one rating: that of the first line.
    once = {(r.task, r.criterion): (r, line) for r, line in reversed(ratings)}
    dropped["told twice"] += len(ratings) - len(once)
    tally.left_out, tally.stored = +dropped, len(once)
    return list(reversed(once.values())), tally


def _seconds(rows: Rows, row: Row, problems: list[Problem]) -> float | None:
    text = row.get("submission_time_seconds", "")
    if text.casefold() in NO_NUMBER:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        sentence = f"{text!r} is not a time; expected seconds, or an empty cell"
        problems.append(rows.problem(row, "submission_time_seconds", sentence))
    return seconds


def _rating(
    task: Task,
    name: str,
    axis: str,
    choice: str,
    source: Source,
    seconds: float | None = None,
    at: str = "",
) -> Rating:
    criterion = source.criteria.get(axis) or AXES.get(axis, axis)
    label = source.labels.get(choice, choice)
    try:
        when = utc(at.replace(" ", "T", 1)) if at else ""
    except ValueError:
        when = ""
    return Rating(
        name, task.rater, criterion, task.item, task.answers, label=label, seconds=seconds, at=when
    )


def judge_ratings(
    tables: Tables, source: Source, tasks: Mapping[str, Task], skipped: Collection[str]
) -> tuple[list[tuple[Rating, int]], tuple[Task, ...], Tally]:
    """The judges' choices, on assignments of the arm that they were shown."""
    problems: list[Problem] = []
    ratings: list[tuple[Rating, int]] = []
    tally = Tally()
    dropped = tally.left_out
    task_by_id: dict[str, Task] = {}
    for row in tables.machine:
        name, grader = row["assignmentId"], row["grader"]
        choices = dict(_choices(tables.machine, row, source, problems))
        tally.read += len(choices)
        if name not in tasks:
            dropped[LEFT_OUT if name in skipped else NO_ASSIGNMENT] += len(choices)
            continue
        task = tasks[name]
        shown = {arm_of(row[c]) for c in ("variant", "subversion") if row.get(c)} or {"text"}
        if shown != {task.arm}:
            dropped["of another arm than the assignment's"] += len(choices)
            continue
        # Tells nobody which model.
        task_id = f"{name}:{hashlib.blake2b(grader.encode(), digest_size=4).hexdigest()}"
        if task_id in task_by_id:
            sentence = f"{grader!r} graded assignment {name!r} before; expected once"
            problems.append(tables.machine.problem(row, "grader", sentence))
        task_by_id[task_id] = Task(
            task_id,
            task_id,
            grader,
            task.instrument,
            task.item,
            task.answers,
            arm=task.arm,
            phase=JUDGING,
        )
        for axis, choice in choices.items():
            if source.criteria.get(axis) == "":
                dropped[NO_CRITERION] += 1
            elif choice:
                ratings.append(
                    (_rating(task_by_id[task_id], task_id, axis, choice, source), row.line)
                )
            else:
                dropped["no choice"] += 1
    raise_if(problems, tables.machine.name, len(tables.machine.rows))
    tally.left_out, tally.stored = +dropped, len(ratings)
    return ratings, tuple(task_by_id.values()), tally


def _choices(
    rows: Rows, row: Row, source: Source, problems: list[Problem]
) -> Iterator[tuple[str, str]]:
    try:
        choices = json.loads(row["choices"] or "{}")
    except ValueError:
        choices = ""
    if choices is None:
        return  # a call that failed
    if not isinstance(choices, dict):
        problems.append(
            rows.problem(
                row, "choices", f"{row['choices'][:40]!r} is not an object of axes and choices"
            )
        )
        return
    for axis, choice in choices.items():
        if choice is not None and not is_choice(str(choice), source):
            problems.append(
                rows.problem(row, f"choices.{axis}", _unknown_choice(str(choice), source))
            )
        yield axis, "" if choice is None else str(choice)


def is_choice(word: str, source: Source) -> bool:
    """Whether a table's word is one of the five choices, or one that `labels` translates."""
    return word in source.labels or word in CHOICES


def _unknown_choice(choice: str, source: Source) -> str:
    return (
        f"{choice!r} is not a choice; {nearest(choice, {*CHOICES, *source.labels})}; other"
        " words are mapped with"
        f' labels = {{ "{choice}" = "..." }}'
    )
