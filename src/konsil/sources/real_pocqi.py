"""The public tables of Real-POCQi as records: questions, answers, users, assignments, ratings, judges' ratings.

A choice is read together with the two slots that were on the screen; which of the two systems it favours is decided by
their answers, never by the side they stood on.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.errors import nearest
from konsil.records import Answer, Item, Rater, Rating, Source, Task
from konsil.sources.pocqi_columns import EXPOSURE, UNTOLD, Strata, notes, strata, texts
from konsil.sources.pocqi_files import CHOICES, Row, Rows, Tables, arm_of, read_tables
from konsil.sources.problems import Problem, raise_if
from konsil.sources.tasks import utc

EXPERTS, JUDGES = "physicians", "judges"
"""The panels: the users of the tables, and the graders of machineRatings."""
JUDGING = "judging"
"""The phase of the judges' tasks."""
AXES = {"authoritativeness": "source_quality"}
"""The tables' word for an axis, where the paper has another."""


@dataclass(frozen=True)
class Pocqi:
    """Everything the tables hold."""

    items: tuple[Item, ...]
    """The questions, with strata."""
    answers: tuple[Answer, ...]
    """The systems' answers; their texts are not among the tables."""
    raters: tuple[Rater, ...]
    """The users, and the graders as judges."""
    tasks: tuple[Task, ...]
    """The assignments in the slots' order, rated or not, and the judges' own."""
    ratings: tuple[Rating, ...]
    """Their labels, still the tables' words; the first answer of each is A."""
    lines: tuple[int, ...]
    """The line of each rating in its table."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Answer -> its length."""
    counts: Mapping[str, object] = field(default_factory=dict)
    """What was read, kept and dropped."""
    notes: tuple[str, ...] = ()
    """What the tables do not tell, and which of their columns became strata or nothing."""


def read_real_pocqi(folder: Path, source: Source, instrument: str) -> Pocqi:
    """Read the folder of the public tables; `instrument` is the form that its comparisons were rated on.

    What does not fit together (an unknown choice, a rating of an assignment that is not there) is one SourceError.
    """
    tables = read_tables(folder, source)
    of_items = strata(tables.questions, ("id", *texts(source)), UNTOLD, source)
    of_raters = strata(tables.users, ("id", "subversion"), EXPOSURE, source)
    items = _items(tables, source, of_items)
    users = {row["id"]: row for row in tables.users}
    answers, by_place = _answers(tables, {i.id for i in items})
    lengths = _lengths(tables, {a.id for a in answers})
    tasks = _assignments(tables, {i.id for i in items}, users, by_place, instrument)
    rated, dropped = _rated(tables, source, tasks)
    systems = {a.system for a in answers}
    judged, machine, more = _judged(tables, source, tasks)
    asked = {t.rater for t in tasks.values()}  # who was never given a question is no rater
    raters = (
        *(Rater(u, EXPERTS, strata=of_raters.of(row)) for u, row in users.items() if u in asked),
        *(
            Rater(g, JUDGES, "llm", family=g if g in systems else "", strata={"system": g} if g in systems else {})
            for g in dict.fromkeys(t.rater for t in machine)
        ),
    )
    found = [*rated, *judged]
    dropped.update(more)
    counts: dict[str, object] = {
        "filter": "Real-POCQi", "of": "ratings", "as": "ratings", "read": len(found) + dropped.total(),
        "kept": len(found), "dropped": dict(dropped),
    }  # fmt: skip
    return Pocqi(
        items, answers, raters, (*tasks.values(), *machine), tuple(r for r, _ in found), tuple(n for _, n in found),
        lengths, counts, tuple(notes(tables, of_items, of_raters, source)),
    )  # fmt: skip


def _items(tables: Tables, source: Source, groups: Strata) -> tuple[Item, ...]:
    found = {}
    for row in tables.questions:
        text = next((row[name] for name in texts(source) if row.get(name)), "")
        found[row["id"]] = Item(row["id"], text, strata=groups.of(row))
    return tuple(found.values())


def _answers(tables: Tables, items: set[str]) -> tuple[tuple[Answer, ...], dict[tuple[str, str], str]]:
    problems, found, by_place = [], [], {}
    for row in tables.answers:
        place = (row["question_id"], row["provider_key"])
        if row["question_id"] not in items:
            problems.append(tables.answers.problem(row, "question_id", _orphan("question", row["question_id"], items)))
        elif place in by_place:
            said = f"a second answer of {place[1]!r} to question {place[0]!r}; expected one of each system"
            problems.append(tables.answers.problem(row, "provider_key", said))
        else:
            by_place[place] = row["id"]
            found.append(Answer(row["id"], *place))
    raise_if(problems, tables.answers.name, len(tables.answers.rows))
    return tuple(found), by_place


def _lengths(tables: Tables, answers: set[str]) -> dict[str, int]:
    problems, found = [], {}
    for row in tables.lengths:
        if row["answer_id"] not in answers:
            problems.append(tables.lengths.problem(row, "answer_id", _orphan("answer", row["answer_id"], answers)))
        elif not row["answer_len"].isdigit():
            said = f"{row['answer_len']!r} is no length; expected a whole number"
            problems.append(tables.lengths.problem(row, "answer_len", said))
        else:
            found[row["answer_id"]] = int(row["answer_len"])
    raise_if(problems, tables.lengths.name, len(tables.lengths.rows))
    return found


def _assignments(
    tables: Tables,
    items: set[str],
    users: Mapping[str, Row],
    by_place: Mapping[tuple[str, str], str],
    instrument: str,
) -> dict[str, Task]:
    problems: list[Problem] = []
    found: dict[str, Task] = {}
    rows, given = tables.assignments, Counter[str]()
    for row in rows:
        user, item = row["user_id"], row["question_id"]
        slots = [row["slot_a_provider"], row["slot_b_provider"]]
        unknown = [s for s in slots if (item, s) not in by_place]
        if user not in users:
            problems.append(rows.problem(row, "user_id", _orphan("user", user, users)))
        elif item not in items:
            problems.append(rows.problem(row, "question_id", _orphan("question", item, items)))
        elif unknown:
            known = {system for of, system in by_place if of == item}
            column = f"slot_{'ab'[slots.index(unknown[0])]}_provider"
            said = f"there is no answer of {unknown[0]!r} to question {item!r}; {nearest(unknown[0], known)}"
            problems.append(rows.problem(row, column, said))
        elif slots[0] == slots[1]:
            problems.append(rows.problem(row, "slot_b_provider", f"{slots[0]!r} stands in both slots; expected two"))
        else:
            shown = tuple(by_place[item, s] for s in slots)
            arm = arm_of(users[user].get("subversion", ""))
            one = Task(row["id"], row["id"], user, instrument, item, shown, arm=arm, position=given[user])
            found[row["id"]] = one
            given[user] += 1
    raise_if(problems, rows.name, len(rows.rows))
    return found


def _rated(tables: Tables, source: Source, tasks: Mapping[str, Task]) -> tuple[list[tuple[Rating, int]], Counter[str]]:
    problems: list[Problem] = []
    found: list[tuple[Rating, int]] = []
    dropped: Counter[str] = Counter()
    said: dict[tuple[str, str], str] = {}
    times = {row["id"]: row.get("completed_at", "") for row in tables.assignments}
    for row in tables.ratings:
        name, axis, choice = row["qa_assignment_id"], row["axis"], row["choice"]
        if not name or not choice:
            dropped["of no assignment" if not name else "no choice"] += 1
            continue
        if name not in tasks:
            problems.append(tables.ratings.problem(row, "qa_assignment_id", _orphan("assignment", name, tasks)))
        elif choice not in CHOICES:
            problems.append(tables.ratings.problem(row, "choice", _unknown_choice(choice)))
        elif said.setdefault((name, axis), choice) != choice:
            what = f"{choice!r} after {said[name, axis]!r} for the same assignment and axis; expected one choice"
            problems.append(tables.ratings.problem(row, "choice", what))
        else:
            seconds = _seconds(tables.ratings, row, problems)
            found.append((_rating(tasks[name], name, axis, choice, source, seconds, times[name]), row.line))
    raise_if(problems, tables.ratings.name, len(tables.ratings.rows))
    once = {(r.task, r.criterion): (r, line) for r, line in reversed(found)}
    dropped["told twice"] += len(found) - len(once)
    return list(reversed(once.values())), +dropped


def _seconds(rows: Rows, row: Row, problems: list[Problem]) -> float | None:
    given = row.get("submission_time_seconds", "")
    if not given or given.casefold() in {"na", "nan", "null"}:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        said = f"{given!r} is no time; expected seconds, or nothing"
        problems.append(rows.problem(row, "submission_time_seconds", said))
    return seconds


def _rating(
    task: Task, name: str, axis: str, choice: str, source: Source, seconds: float | None = None, at: str = ""
) -> Rating:
    criterion = source.criteria.get(axis) or AXES.get(axis, axis)
    label = source.labels.get(choice, choice)
    try:
        when = utc(at.replace(" ", "T", 1)) if at else ""
    except ValueError:
        when = ""
    return Rating(name, task.rater, criterion, task.item, task.answers, label=label, seconds=seconds, at=when)


def _judged(
    tables: Tables, source: Source, tasks: Mapping[str, Task]
) -> tuple[list[tuple[Rating, int]], tuple[Task, ...], Counter[str]]:
    """What the judges chose, on assignments of the arm that they were shown."""
    problems: list[Problem] = []
    found: list[tuple[Rating, int]] = []
    dropped: Counter[str] = Counter()
    made: dict[str, Task] = {}
    for row in tables.machine:
        name, grader = row["assignmentId"], row["grader"]
        if name not in tasks:
            problems.append(tables.machine.problem(row, "assignmentId", _orphan("assignment", name, tasks)))
            continue
        task = tasks[name]
        choices = dict(_choices(tables.machine, row, problems))
        if arm_of(row.get("variant", "") or row.get("subversion", "") or "text") != task.arm:
            dropped["of another arm than the assignment's"] += len(choices)
            continue
        own = f"{name}:{hashlib.blake2b(grader.encode(), digest_size=4).hexdigest()}"  # tells nobody which model
        if own in made:
            said = f"{grader!r} graded assignment {name!r} before; expected once"
            problems.append(tables.machine.problem(row, "grader", said))
        made[own] = Task(own, own, grader, task.instrument, task.item, task.answers, arm=task.arm, phase=JUDGING)
        for axis, choice in choices.items():
            if choice:
                one = _rating(made[own], own, axis, choice, source)
                found.append((one, row.line))
            else:
                dropped["no choice"] += 1
    raise_if(problems, tables.machine.name, len(tables.machine.rows))
    return found, tuple(made.values()), +dropped


def _choices(rows: Rows, row: Row, problems: list[Problem]) -> Iterator[tuple[str, str]]:
    try:
        given = json.loads(row["choices"] or "{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        problems.append(rows.problem(row, "choices", f"{row['choices'][:40]!r} is no object of axes and choices"))
        return
    for axis, choice in given.items():
        if choice is not None and choice not in CHOICES:
            problems.append(rows.problem(row, f"choices.{axis}", _unknown_choice(str(choice))))
        yield axis, choice or ""


def _orphan(what: str, name: str, known: Iterable[str]) -> str:
    many: Sequence[str] = sorted(known)
    return f"there is no {what} {name!r}; " + (nearest(name, many) if len(many) < 5_000 else "it is in no other table")


def _unknown_choice(choice: str) -> str:
    return f"{choice!r} is no choice; {nearest(choice, CHOICES)}"
