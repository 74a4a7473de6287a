"""What simulated raters say to the pages they are shown."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Mapping, Sequence

from konsil.errors import KonsilError
from konsil.instrument import PageNames, fields
from konsil.instrument.screens.reply import values
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.simulate import Truth, people
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens
from konsil.study import Study
from konsil.study.sections.enrolment import Question, names_of


class Replies:
    """The panel behind the browsers.

    It knows which task a page's random name stands for; the browsers do not.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        items: Sequence[Item],
        answers: Sequence[Answer],
        truth: Truth,
        seed: int,
    ) -> None:
        self._study, self._store = study, store
        self._desk = people(study, items, answers, truth, seed)
        self._lock = threading.Lock()
        self._ratings: dict[str, list[Rating]] = {}
        self._know(store.tasks())

    def to(self, public: str) -> tuple[Mapping[str, str], float]:
        """The page's fields with what is said in them, and the seconds that it takes."""
        with reading(self._store.engine) as connection:
            state = screens.public(connection, public)
            task = screens.task(connection, state.task) if state is not None else None
        if task is None:
            raise KonsilError(f"{public}: no task has this name")
        with self._lock:
            if task.id not in self._ratings:
                self._know([task])
            task_ratings = self._ratings.get(task.id, [])
        instrument = self._study.instrument_of(task)
        form_fields = fields(instrument, task)
        form_values = values(form_fields, task, task_ratings)
        names = PageNames(self._study.instruments)
        return {names.neutral(f.name): form_values.get(f.name, "") for f in form_fields}, next(
            (r.seconds for r in task_ratings if r.seconds), 10.0
        )

    def _know(self, tasks: Iterable[Task]) -> None:
        """Draw the replies to these tasks.

        Questionnaires are drawn in their order of work, so all at once.
        """
        places = {r.id for r in self._study.everybody()}
        slots = [t if t.rater in places else dataclasses.replace(t, rater=t.slot) for t in tasks]
        for task in slots:
            self._ratings.setdefault(task.id, [])
        for rating in self._desk.rate(sorted(slots, key=lambda t: (t.rater, t.position, t.id))):
            self._ratings[rating.task].append(rating)


def about(study: Study, place: Rater | None) -> dict[str, str]:
    """Replies by which a person is eligible and fits this place, where there is a place.

    By the questions' names on their pages.
    """
    enrolment = study.enrolment
    if enrolment is None:
        return {}
    replies = {q.id: q.admits[0] if q.admits else _any(q) for q in enrolment.eligibility}
    replies |= {q.id: _any(q) for q in enrolment.profile}
    replies |= dict(place.strata if place is not None else {})
    return names_of(enrolment).neutrals(replies)


def _any(question: Question) -> str:
    scale = question.scale
    if scale.kind == "choice":
        return scale.labels[0]
    return f"{scale.low if scale.low is not None else 0:g}" if scale.kind == "number" else ""
