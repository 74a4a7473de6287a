"""The tables of a release: the records without what points at a person.

A plan is a function of protocol, seed and items, so that whoever has these draws it again:
positions, batches, the order of answers and which tasks are repeated would tell which rater a
pseudonym is. People's tasks come without them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from konsil.instrument import canonical
from konsil.prepare import last_screened, prepared
from konsil.prepare.cases.marking import versions_of
from konsil.prepare.questions.rewriting import decisions
from konsil.records import Rater, Rating, System, Task
from konsil.store.engine.cells import dumps
from konsil.store.engine.frames import frames
from konsil.store.engine.rows import KINDS, KindName
from konsil.store.log.db import View
from konsil.store.log.erasures import erased_wholly
from konsil.store.release.pseudonyms import Pseudonyms, coarsened, mentions
from konsil.study import Study
from konsil.study.sections.enrolment import excluded_by_withdrawal, with_profiles

SYSTEMS = {"id": pl.String, "family": pl.String, "model": pl.String, "settings": pl.String}
REWRITTEN = {"item": pl.String, "verdict": pl.String, "before": pl.String}
RATERS = {
    "rater": pl.String,
    "panel": pl.String,
    "kind": pl.String,
    "family": pl.String,
    "strata": pl.String,
}
TASKS = {
    "task": pl.String,
    "rater": pl.String,
    "instrument": pl.String,
    "item": pl.String,
    "answers": pl.String,
    "spans": pl.String,
    "arm": pl.String,
    "phase": pl.String,
    "batch": pl.String,
    "position": pl.Int64,
    "purpose": pl.String,
    "repeat_of": pl.String,
}
RATINGS = {
    "task": pl.String,
    "rater": pl.String,
    "criterion": pl.String,
    "item": pl.String,
    "answer": pl.String,
    "answer_b": pl.String,
    "span_start": pl.Int64,
    "span_end": pl.Int64,
    "state": pl.String,
    "label": pl.String,
    "confidence": pl.Float64,
    "seconds": pl.Float64,
    "instrument": pl.String,
    "note": pl.String,
}
_MAYBE_PEOPLE = frozenset({"human", "unknown"})
"""The kinds of raters whose texts may be those of persons."""
_Row = dict[str, Any]


class Tables:
    """One release in the making: the same pseudonyms and the same counts through all tables."""

    def __init__(
        self,
        study: Study,
        view: View,
        names: Pseudonyms,
        *,
        k: int,
        texts: bool,
        order: bool,
        unlink: bool,
    ) -> None:
        self.withheld: Counter[str] = Counter()
        """What was left out -> how often."""
        self.recognisable: int = 0
        """Raters whose set of tasks fewer than k raters of the panel share."""
        self.small_panels: dict[str, int] = {}
        """Panel of fewer than k people -> how many they are."""
        self._study, self._view, self._names, self._k, self._texts = study, view, names, k, texts
        self._order, self._unlink = order, unlink
        stored: tuple[Rater, ...] = tuple(view.each("raters"))
        # As in every analysis the protocol is the word on panels and strata.
        self._events = events = tuple(view.each("events"))
        self._wordings = decisions(events)
        declared = with_profiles((*stored, *study.raters), study.enrolment, events)
        self._raters: dict[str, Rater] = {r.id: r for r in declared}
        # What stays out of every analysis because consent was withdrawn is not given to others
        # either; of whom all was erased, the plan would be all there is to give.
        self._withdrawn = excluded_by_withdrawal(study.enrolment, events) | erased_wholly(events)
        self._people: set[str] = {r.id for r in (*stored, *study.raters) if r.kind in _MAYBE_PEOPLE}
        # Who is not known to be a machine, or is called a person anywhere, is taken for a person.
        self._machines = set(self._raters) - self._people
        # A reply that is not known to be a label or a number is taken for a free text.
        criteria = [c for i in study.instruments for c in i.criteria]
        self._criteria = {c.id: c for c in criteria}
        self._closed = {c.id for c in criteria} - {c.id for c in criteria if c.scale.kind == "text"}
        self._safe: dict[str, str] = {}
        self._out = self._screened_out()

    def _screened_out(self) -> frozenset[str]:
        """Items of which nothing is disclosed.

        They were screened out, as was what their versions are made of.
        """
        screened = last_screened(self._events)[1]
        out = set(screened.reasons()) if screened is not None else set()
        versions = versions_of(self._view.each("items"))
        return frozenset(out.union(v.id for item in out for v in versions.get(item, ())))

    def frames(self) -> dict[str, pl.DataFrame]:
        """Make every table; rows are sorted by pseudonym, so that no order tells who is who."""
        tasks: list[Task] = list(self._view.each("tasks"))
        self._people |= {t.rater for t in tasks if t.rater} - self._machines
        repeats = {
            t.id
            for t in tasks
            if self._is_secret(t.rater) and (t.repeat_of or t.purpose == "repeat")
        }
        ratings = [r for r in self._view.each("ratings") if self._released(r, repeats)]
        tasks = [t for t in tasks if self._is_given(t.item, t.rater) and t.id not in repeats]
        columns = RATINGS if self._texts else {c: t for c, t in RATINGS.items() if c != "note"}
        names = {self._rater(r.rater, r.item): r.rater for r in ratings}
        names |= {self._rater(t.rater, t.item): t.rater for t in tasks}
        rows = [self._task(t) for t in tasks]
        self.recognisable = 0 if self._unlink else self._count_recognisable(rows)
        rewritten = {"rewritten": self._rewritten()} if self._wordings else {}
        return {
            "items": self._items(),
            **rewritten,
            "answers": self._answers(),
            "systems": _frame([_system(s) for s in self._study.systems], SYSTEMS, ("id",)),
            "raters": _frame(self._rater_rows(names), RATERS, ("rater",)),
            "tasks": _frame(rows, TASKS, ("task",)),
            "ratings": _frame(
                [self._rating(r) for r in ratings],
                columns,
                ("task", "criterion", "answer", "answer_b", "span_start"),
            ),
        }

    def _is_given(self, item: str | None, rater: str = "") -> bool:
        """Whether anything about this item by this rater is given away."""
        return item not in self._out and rater not in self._withdrawn

    def _is_secret(self, rater: str) -> bool:
        """Whether the order of this rater's tasks is withheld.

        The plan, drawn again, has the same for one rater.
        """
        return not self._order and rater not in self._machines

    def _count_recognisable(self, tasks: Iterable[_Row]) -> int:
        """Count the people who can be recognised by their tasks.

        Fewer than k people of their panel have the same tasks, apart from their order.
        """
        tasks_by_rater: dict[str, Counter[tuple[Any, ...]]] = defaultdict(Counter)
        people = {self._rater(r): r for r in self._people}
        for row in tasks:
            if row["rater"] in people:
                tasks_by_rater[row["rater"]][
                    tuple(row[c] for c in TASKS if c not in ("task", "rater"))
                ] += 1
        panels = {
            name: getattr(self._raters.get(rater), "panel", "") for name, rater in people.items()
        }
        alike = Counter(
            (panels[name], frozenset(tasks.items())) for name, tasks in tasks_by_rater.items()
        )
        return sum(n for n in alike.values() if n < self._k)

    def _items(self) -> pl.DataFrame:
        """All items in the words that were accepted.

        Those that were drawn with their sets and their lexical match.

        Those that were screened out are not there: their text, and all that hangs on them, may name
        somebody.
        """
        items = prepared(self._view.each("items"), self._events)
        if n_out := sum(item.id in self._out for item in items):
            self.withheld["items excluded by screening, with all related records"] = n_out
        return _records("items", (i for i in items if i.id not in self._out))

    def _answers(self) -> pl.DataFrame:
        return _records(
            "answers", (a for a in self._view.each("answers") if a.item not in self._out)
        )

    def _rewritten(self) -> pl.DataFrame:
        """Rewritten questions and the decisions on them."""
        if not self._texts:
            self.withheld["original questions"] += len(self._wordings)
        before = (
            {i.id: i.text for i in self._view.each("items") if i.id in self._wordings}
            if self._texts
            else {}
        )
        columns = (
            REWRITTEN if self._texts else {c: t for c, t in REWRITTEN.items() if c != "before"}
        )
        rows = [
            {"item": item, "verdict": rewriting.verdict, "before": before.get(item, "")}
            for item, rewriting in self._wordings.items()
            if item not in self._out
        ]
        return _frame(rows, columns, ("item",))

    def _rater(self, identifier: str, item: str | None = None) -> str:
        if not identifier or identifier in self._machines:
            return identifier
        return self._names.name(
            "rater", f"{identifier}\0{item}" if self._unlink and item is not None else identifier
        )

    def _released(self, rating: Rating, repeats: Collection[str]) -> bool:
        if rating.rater in self._withdrawn:
            self.withheld["ratings after a withdrawn consent"] += 1
            return False
        if rating.item in self._out:
            return False
        if rating.task in repeats:
            self.withheld["ratings of repeated tasks"] += 1
            return False
        shown, _ = self._turned(rating)
        # A label that cannot be turned would show which answer came first.
        if self._is_secret(rating.rater) and list(shown) != sorted(shown):
            self.withheld[
                "comparisons with a label that cannot be reversed with the order of the answers"
            ] += 1
            return False
        self.withheld["times of day"] += bool(rating.at)
        if self._texts:
            return True
        self.withheld["notes"] += bool(rating.note)
        closed = rating.criterion in self._closed
        self.withheld["free-text replies"] += not closed
        return closed

    def _turned(self, rating: Rating) -> tuple[tuple[str, ...], str | None]:
        """A rating's answers and label.

        Comparisons are in the order of the answers' ids where the order is secret.
        """
        if not self._is_secret(rating.rater) or rating.criterion not in self._criteria:
            return rating.answers, rating.label
        return canonical(self._criteria[rating.criterion], rating.answers, rating.label)

    def _rating(self, rating: Rating) -> _Row:
        shown, label = self._turned(rating)
        answers = (*shown, None, None)
        return {
            "task": self._names.name("task", rating.task),
            "rater": self._rater(rating.rater, rating.item),
            "criterion": rating.criterion,
            "item": rating.item,
            "answer": answers[0],
            "answer_b": answers[1],
            "span_start": rating.span.start if rating.span else None,
            "span_end": rating.span.end if rating.span else None,
            "state": rating.state,
            "label": label,
            "confidence": rating.confidence,
            "seconds": rating.seconds,
            "instrument": rating.instrument,
            "note": rating.note,
        }

    def _task(self, task: Task) -> _Row:
        secret = self._is_secret(task.rater)
        # The plan can be computed again: order and batch would tell whose row this is.
        if secret:
            task = replace(task, answers=tuple(sorted(task.answers)), batch="", repeat_of=None)
        row = dict(zip(KINDS["tasks"].names, KINDS["tasks"].row(task), strict=True))
        return {
            **{name: row.get(name) for name in TASKS},
            "task": self._names.name("task", task.id),
            "rater": self._rater(task.rater, task.item),
            "position": None if secret else task.position,
            "repeat_of": (
                None if task.repeat_of is None else self._names.name("task", task.repeat_of)
            ),
            **{name: self._impersonal(name, row[name]) for name in ("arm", "phase", "batch")},
        }

    def _impersonal(self, column: str, text: str) -> str:
        """Replace the name of a batch (arm, phase) that names a person: 'Dr-Weber-2'."""
        if text not in self._safe:
            self._safe[text] = (
                self._names.name(column, text) if mentions(text, self._people) else text
            )
        return self._safe[text]

    def _rater_rows(self, names: Mapping[str, str]) -> list[_Row]:
        """One row a pseudonym of `names`, pseudonym -> rater."""
        shown = {r: self._raters[r] for r in names.values() if r in self._raters}
        people = [r for r in shown.values() if r.id in self._people]
        strata: Mapping[str, Mapping[str, str]] = coarsened(people, self._k)
        for rater in people:
            for column, value in strata[rater.id].items():
                if value != (rater.strata.get(column) or ""):
                    self.withheld[f"values of {column!r} of raters (panel {rater.panel!r})"] += 1
        known_people = (r.panel for r in people if r.kind != "unknown")
        for panel, n in sorted(Counter(known_people).items()):
            if n < self._k:
                self.small_panels[panel] = n
        rows: list[_Row] = []
        for name, rater in ((name, shown[r]) for name, r in names.items() if r in shown):
            human = rater.id in self._people
            rows.append(
                {
                    "rater": name,
                    "panel": rater.panel,
                    "kind": rater.kind,
                    "family": "" if human else rater.family,
                    "strata": dumps(dict(strata[rater.id] if human else rater.strata)),
                }
            )
        return rows


def _records(name: KindName, records: Iterable[Any]) -> pl.DataFrame:
    return pl.concat(list(frames(KINDS[name], iter(records))))


def _system(system: System) -> _Row:
    settings = dumps(dict(system.settings))
    return {"id": system.id, "family": system.family, "model": system.model, "settings": settings}


def _frame(rows: Iterable[_Row], schema: Mapping[str, Any], order: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(_columns(list(rows), schema), schema=dict(schema)).sort(
        order, nulls_last=False
    )


def _columns(rows: list[_Row], schema: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in schema}
