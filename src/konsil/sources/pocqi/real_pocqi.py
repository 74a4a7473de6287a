"""The public tables of Real-POCQi as records.

The records are questions, answers, users, assignments, ratings and judges' ratings.

A choice is read together with the two slots that were on the screen; which of the two systems it
favours is decided by their answers, never by the side they stood on.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records import Answer, Item, Rater, Rating, Source, Task
from konsil.sources.files.problems import Problem, raise_if
from konsil.sources.pocqi.pocqi_columns import Strata, notes, strata, texts
from konsil.sources.pocqi.pocqi_files import CHOICES, Row, Rows, Tables, arm_of, read_tables
from konsil.sources.pocqi.pocqi_flat import flat_tables
from konsil.sources.pocqi.pocqi_rules import Tally, excluded, exposures, ineligible, origins, themes
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
    """The numbers of records read, included and excluded."""
    notes: tuple[str, ...] = ()
    """What the tables do not tell, and which of their columns became strata or nothing."""


def read_real_pocqi(path: Path, source: Source, instrument: str) -> Pocqi:
    """Read the folder of the public tables, or one flat table.

    `instrument` is the form of its comparisons.

    What the authors leave out is left out and counted, reason by reason. What cannot be read (an
    unknown choice, a second answer of a system) is one SourceError.
    """
    tables = flat_tables(path, source) if path.is_file() else read_tables(path, source)
    of_items = strata(
        tables.questions,
        ("id", "external_key", *texts(source)),
        {"source": origins(tables, source), "theme": themes(tables)},
        source,
    )
    of_raters = strata(tables.users, ("id", "subversion"), {"exposure": exposures(tables)}, source)
    items = _items(tables, source, of_items)
    users = {row["id"]: row for row in tables.users}
    out = ineligible(tables)
    answers, by_place = _answers(tables, {i.id for i in items})
    lengths = _lengths(tables, {a.id for a in answers})
    compared, tasks = _assignments(
        tables, {i.id: i for i in items}, users, out, by_place, instrument
    )
    skipped = {row["id"] for row in tables.assignments if row["id"] not in tasks}
    rated, of_ratings = _rated(tables, source, tasks, skipped)
    systems = {a.system for a in answers}
    judged, machine, of_verdicts = _judged(tables, source, tasks, skipped)
    assigned = {t.rater for t in tasks.values()}  # who was never given a question is no rater
    raters = (
        *(Rater(u, EXPERTS, strata=of_raters.of(row)) for u, row in users.items() if u in assigned),
        *(
            Rater(
                g,
                JUDGES,
                "llm",
                family=g if g in systems else "",
                strata={"system": g} if g in systems else {},
            )
            for g in dict.fromkeys(t.rater for t in machine)
        ),
    )
    ratings = [*rated, *judged]
    people = Tally(len(users), len(assigned), Counter(out[u] for u in users if u in out))
    if idle := len(users) - people.stored - people.left_out.total():
        people.left_out["no comparison that enters"] = idle
    dropped = of_ratings.left_out + of_verdicts.left_out
    counts: dict[str, object] = {
        "filter": "Real-POCQi",
        "of": "ratings",
        "as": "ratings",
        "read": len(ratings) + dropped.total(),
        "kept": len(ratings),
        "dropped": dict(dropped),
        "tables": {
            "questions": Tally(len(items), len(items)).data(),
            "users": people.data(),
            "comparisons": compared.data(),
            "comparisons rated": {"kept": len({r.task for r, _ in rated})},
            "ratings of users": of_ratings.data(),
            "verdicts of judges": of_verdicts.data(),
        },
    }
    return Pocqi(
        items,
        answers,
        raters,
        (*tasks.values(), *machine),
        tuple(r for r, _ in ratings),
        tuple(n for _, n in ratings),
        lengths,
        counts,
        tuple(notes(tables, of_items, of_raters, source)),
    )


def _items(tables: Tables, source: Source, groups: Strata) -> tuple[Item, ...]:
    item_by_id = {}
    for row in tables.questions:
        text = next((row[name] for name in texts(source) if row.get(name)), "")
        item_by_id[row["id"]] = Item(row["id"], text, strata=groups.of(row))
    return tuple(item_by_id.values())


def _answers(
    tables: Tables, items: set[str]
) -> tuple[tuple[Answer, ...], dict[tuple[str, str], str]]:
    if tables.answers.table is None:
        return _implied_answers(tables, items)
    problems, answers, by_place = [], [], {}
    for row in tables.answers:
        place = (row["question_id"], row["provider_key"])
        if row["question_id"] not in items:
            problems.append(
                tables.answers.problem(
                    row, "question_id", _orphan("question", row["question_id"], items)
                )
            )
        elif place in by_place:
            sentence = (
                f"a second answer of {place[1]!r} to question {place[0]!r}; expected one of each"
                " system"
            )
            problems.append(tables.answers.problem(row, "provider_key", sentence))
        else:
            by_place[place] = row["id"]
            answers.append(Answer(row["id"], *place))
    raise_if(problems, tables.answers.name, len(tables.answers.rows))
    return tuple(answers), by_place


def _implied_answers(
    tables: Tables, items: set[str]
) -> tuple[tuple[Answer, ...], dict[tuple[str, str], str]]:
    """One answer of each system that a slot names, where no table lists the answers."""
    by_place = {
        (row["question_id"], row[slot]): f"{row['question_id']}:{row[slot]}"
        for row in tables.assignments
        for slot in ("slot_a_provider", "slot_b_provider")
        if row["question_id"] in items and row[slot]
    }
    return tuple(Answer(name, *place) for place, name in by_place.items()), by_place


def _lengths(tables: Tables, answers: set[str]) -> dict[str, int]:
    problems, length_by_answer = [], {}
    for row in tables.lengths:
        if row["answer_id"] not in answers:
            problems.append(
                tables.lengths.problem(
                    row, "answer_id", _orphan("answer", row["answer_id"], answers)
                )
            )
        elif (
            row["answer_len"].casefold() not in NO_NUMBER
        ):  # an answer without a text has no length
            length = _whole_number(row["answer_len"])
            if length is None:
                sentence = (
                    f"{row['answer_len']!r} is no length; expected a whole number, or nothing"
                )
                problems.append(tables.lengths.problem(row, "answer_len", sentence))
            else:
                length_by_answer[row["answer_id"]] = length
    raise_if(problems, tables.lengths.name, len(tables.lengths.rows))
    return length_by_answer


def _whole_number(text: str) -> int | None:
    """A number of characters, also as 1940.0 or 1.94e3; None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if 0 <= number < float("inf") and number == int(number) else None


def _assignments(
    tables: Tables,
    items: Mapping[str, Item],
    users: Mapping[str, Row],
    out: Mapping[str, str],
    by_place: Mapping[tuple[str, str], str],
    instrument: str,
) -> tuple[Tally, dict[str, Task]]:
    """The comparisons that enter, and how many do not and why."""
    problems: list[Problem] = []
    task_by_id: dict[str, Task] = {}
    rows, n_assigned = tables.assignments, Counter[str]()
    tally = Tally(len(rows.rows))
    for row in rows:
        user, item = row["user_id"], row["question_id"]
        slots = [row["slot_a_provider"], row["slot_b_provider"]]
        reason = excluded(row, users, items, out)
        if reason:
            tally.left_out[reason] += 1
            continue
        unknown = [s for s in slots if (item, s) not in by_place]
        if unknown:
            item_systems = {system for of, system in by_place if of == item}
            column = f"slot_{'ab'[slots.index(unknown[0])]}_provider"
            sentence = (
                f"there is no answer of {unknown[0]!r} to question {item!r};"
                f" {nearest(unknown[0], item_systems)}"
            )
            problems.append(rows.problem(row, column, sentence))
        elif slots[0] == slots[1]:
            problems.append(
                rows.problem(
                    row, "slot_b_provider", f"{slots[0]!r} stands in both slots; expected two"
                )
            )
        else:
            shown = tuple(by_place[item, s] for s in slots)
            arm = arm_of(users[user]["subversion"])
            task_by_id[row["id"]] = Task(
                row["id"],
                row["id"],
                user,
                instrument,
                item,
                shown,
                arm=arm,
                position=n_assigned[user],
            )
            n_assigned[user] += 1
    raise_if(problems, rows.name, len(rows.rows))
    tally.stored = len(task_by_id)
    if rows.rows and not task_by_id:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in tally.left_out.most_common())
        raise SourceError(f"{rows.name}: no comparison enters: {reasons}; nothing was imported")
    return tally, task_by_id


def _rated(
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
        sentence = f"{text!r} is no time; expected seconds, or nothing"
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


def _judged(
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
        task_id = (  # tells nobody which model
            f"{name}:{hashlib.blake2b(grader.encode(), digest_size=4).hexdigest()}"
        )
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
                row, "choices", f"{row['choices'][:40]!r} is no object of axes and choices"
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


def _orphan(record_kind: str, name: str, ids: Iterable[str]) -> str:
    sorted_ids: Sequence[str] = sorted(ids)
    return f"there is no {record_kind} {name!r}; " + (
        nearest(name, sorted_ids) if len(sorted_ids) < 5_000 else "it is in no other table"
    )


def _unknown_choice(choice: str, source: Source) -> str:
    return (
        f"{choice!r} is no choice; {nearest(choice, {*CHOICES, *source.labels})}; other words are"
        " translated by"
        f' labels = {{ "{choice}" = "..." }}'
    )
