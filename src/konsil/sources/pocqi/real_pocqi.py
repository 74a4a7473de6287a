"""The public tables of Real-POCQi as records.

The records are questions, answers, users, assignments, ratings and judges' ratings.

A choice is read together with the two slots that were on the screen; which of the two systems it
favours is decided by their answers, never by the side they stood on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records import Answer, Item, Rater, Rating, Source, Task
from konsil.sources.files.problems import Problem, raise_if
from konsil.sources.pocqi.pocqi_files import Row, Tables, arm_of, read_tables
from konsil.sources.pocqi.pocqi_flat import flat_tables
from konsil.sources.pocqi.pocqi_ratings import (
    EXPERTS,
    JUDGES,
    NO_NUMBER,
    judge_ratings,
    user_ratings,
)
from konsil.sources.pocqi.pocqi_rules import (
    Strata,
    Tally,
    excluded,
    exposures,
    ineligible,
    notes,
    origins,
    strata,
    texts,
    themes,
)


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
    rated, of_ratings = user_ratings(tables, source, tasks, skipped)
    systems = {a.system for a in answers}
    judged, machine, of_verdicts = judge_ratings(tables, source, tasks, skipped)
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
        elif row["answer_len"].casefold() not in NO_NUMBER:
            # An answer without a text has no length.
            length = _whole_number(row["answer_len"])
            if length is None:
                sentence = (
                    f"{row['answer_len']!r} is not a length; expected a whole number, or an"
                    " empty cell"
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
                rows.problem(row, "slot_b_provider", f"{slots[0]!r} is in both slots; expected two")
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
        raise SourceError(
            f"{rows.name}: no comparison is included: {reasons}; nothing was imported"
        )
    return tally, task_by_id


def _orphan(record_kind: str, name: str, ids: Iterable[str]) -> str:
    sorted_ids: Sequence[str] = sorted(ids)
    return f"there is no {record_kind} {name!r}; " + (
        nearest(name, sorted_ids) if len(sorted_ids) < 5_000 else "it is in no other table"
    )
