"""The tables of a release: the records without what points at a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from konsil.prepare import last_screened, prepared
from konsil.prepare.rewriting import decisions
from konsil.records import Rater, Rating, System, Task
from konsil.store.db import View
from konsil.store.frames import frames
from konsil.store.pseudonyms import Pseudonyms, coarsened, mentions
from konsil.store.rows import KINDS, KindName, dumps
from konsil.study import Study
from konsil.study.enrolment import excluded_by_withdrawal, with_profiles

SYSTEMS = {"id": pl.String, "family": pl.String, "model": pl.String, "settings": pl.String}
REWRITTEN = {"item": pl.String, "verdict": pl.String, "before": pl.String}
RATERS = {"rater": pl.String, "panel": pl.String, "kind": pl.String, "family": pl.String, "strata": pl.String}
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
_Row = dict[str, Any]


class Tables:
    """One release in the making: the same pseudonyms and the same counts through all tables."""

    def __init__(self, study: Study, view: View, names: Pseudonyms, *, k: int, texts: bool) -> None:
        self.withheld: Counter[str] = Counter()
        """What was left out -> how often."""
        self._study, self._view, self._names, self._k, self._texts = study, view, names, k, texts
        stored: tuple[Rater, ...] = tuple(view.each("raters"))
        # As in every analysis the protocol is the word on panels and strata.
        self._events = events = tuple(view.each("events"))
        self._wordings = decisions(events)
        declared = with_profiles((*stored, *study.raters), study.enrolment, events)
        self._raters: dict[str, Rater] = {r.id: r for r in declared}
        # What stays out of every analysis because consent was withdrawn is not given to others either.
        self._withdrawn = excluded_by_withdrawal(study.enrolment, events)
        self._people: set[str] = {r.id for r in (*stored, *study.raters) if r.kind == "human"}
        # Who is not known to be a machine, or is called a person anywhere, is taken for a person.
        self._machines = set(self._raters) - self._people
        # A reply that is not known to be a label or a number is taken for a free text.
        criteria = [c for i in study.instruments for c in i.criteria]
        self._closed = {c.id for c in criteria} - {c.id for c in criteria if c.scale.kind == "text"}
        self._safe: dict[str, str] = {}

    def frames(self) -> dict[str, pl.DataFrame]:
        """Make every table; rows are sorted by pseudonym, so that no order tells who is who."""
        ratings = [self._rating(r) for r in self._view.each("ratings") if self._released(r)]
        tasks: list[Task] = list(self._view.each("tasks"))
        self._people |= {t.rater for t in tasks if t.rater} - self._machines
        columns = RATINGS if self._texts else {c: t for c, t in RATINGS.items() if c != "note"}
        rated = {r["rater"] for r in ratings} | {self._rater(t.rater) for t in tasks}
        rewritten = {"rewritten": self._rewritten()} if self._wordings else {}
        return {
            "items": self._items(),
            **rewritten,
            "answers": self._plain("answers"),
            "systems": _frame([_system(s) for s in self._study.systems], SYSTEMS, ("id",)),
            "raters": _frame(self._rater_rows(rated), RATERS, ("rater",)),
            "tasks": _frame([self._task(t) for t in tasks], TASKS, ("task",)),
            "ratings": _frame(ratings, columns, ("task", "criterion", "answer", "answer_b", "span_start")),
        }

    def _items(self) -> pl.DataFrame:
        """All items in the words that were accepted; those that were drawn with their sets and their lexical match.

        Those that were screened out are without their texts, which may name somebody.
        """
        items = prepared(self._view.each("items"), self._events)
        screened = last_screened(self._events)[1]
        out = screened.reasons() if screened is not None else {}
        if silent := sum(item.id in out for item in items):
            self.withheld["texts of items that were screened out"] = silent
        shown = (replace(i, text="", reference=None, aliases=()) if i.id in out else i for i in items)
        return pl.concat(list(frames(KINDS["items"], shown)))

    def _rewritten(self) -> pl.DataFrame:
        """What became of questions that a model or a person put in other words."""
        if not self._texts:
            self.withheld["questions as they were asked"] += len(self._wordings)
        before = {i.id: i.text for i in self._view.each("items") if i.id in self._wordings} if self._texts else {}
        columns = REWRITTEN if self._texts else {c: t for c, t in REWRITTEN.items() if c != "before"}
        rows = [
            {"item": item, "verdict": one.verdict, "before": before.get(item, "")}
            for item, one in self._wordings.items()
        ]
        return _frame(rows, columns, ("item",))

    def _plain(self, name: KindName) -> pl.DataFrame:
        return pl.concat(list(frames(KINDS[name], self._view.each(name))))

    def _rater(self, identifier: str) -> str:
        known = not identifier or identifier in self._machines
        return identifier if known else self._names.name("rater", identifier)

    def _released(self, rating: Rating) -> bool:
        if rating.rater in self._withdrawn:
            self.withheld["ratings after a withdrawn consent"] += 1
            return False
        self.withheld["times of day"] += bool(rating.at)
        if self._texts:
            return True
        self.withheld["notes"] += bool(rating.note)
        closed = rating.criterion in self._closed
        self.withheld["free-text replies"] += not closed
        return closed

    def _rating(self, rating: Rating) -> _Row:
        answers = (*rating.answers, None, None)
        return {
            "task": self._names.name("task", rating.task),
            "rater": self._rater(rating.rater),
            "criterion": rating.criterion,
            "item": rating.item,
            "answer": answers[0],
            "answer_b": answers[1],
            "span_start": rating.span.start if rating.span else None,
            "span_end": rating.span.end if rating.span else None,
            "state": rating.state,
            "label": rating.label,
            "confidence": rating.confidence,
            "seconds": rating.seconds,
            "instrument": rating.instrument,
            "note": rating.note,
        }

    def _task(self, task: Task) -> _Row:
        row = dict(zip(KINDS["tasks"].names, KINDS["tasks"].row(task), strict=True))
        return {
            **{name: row.get(name) for name in TASKS},
            "task": self._names.name("task", task.id),
            "rater": self._rater(task.rater),
            "repeat_of": None if task.repeat_of is None else self._names.name("task", task.repeat_of),
            **{name: self._impersonal(name, row[name]) for name in ("arm", "phase", "batch")},
        }

    def _impersonal(self, column: str, text: str) -> str:
        """Replace the name of a batch (arm, phase) that names a person: 'Dr-Weber-2'."""
        if text not in self._safe:
            self._safe[text] = self._names.name(column, text) if mentions(text, self._people) else text
        return self._safe[text]

    def _rater_rows(self, rated: Iterable[str]) -> list[_Row]:
        pseudonyms = set(rated)
        shown = [r for r in self._raters.values() if self._rater(r.id) in pseudonyms]
        people = [r for r in shown if r.id in self._people]
        strata: Mapping[str, Mapping[str, str]] = coarsened(people, self._k)
        rows: list[_Row] = []
        for rater in shown:
            human = rater.id in self._people
            own = strata[rater.id] if human else rater.strata
            self.withheld["strata of raters"] += sum(own[c] != rater.strata.get(c, "") for c in own) if human else 0
            rows.append(
                {
                    "rater": self._rater(rater.id),
                    "panel": rater.panel,
                    "kind": rater.kind,
                    "family": "" if human else rater.family,
                    "strata": dumps(dict(own)),
                }
            )
        return rows


def _system(system: System) -> _Row:
    settings = dumps(dict(system.settings))
    return {"id": system.id, "family": system.family, "model": system.model, "settings": settings}


def _frame(rows: Iterable[_Row], schema: Mapping[str, Any], order: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(_columns(list(rows), schema), schema=dict(schema)).sort(order, nulls_last=False)


def _columns(rows: list[_Row], schema: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in schema}
