"""After the pilot, without HTTP: waiting raters, distant labels and the written reasons.

Distant labels are labels of one question that lie far apart.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence

from konsil.instrument import fields
from konsil.instrument.screens.reply import values
from konsil.instrument.screens.screen import screen
from konsil.plan.model.places import panel_of_slot
from konsil.records import Event, Rating, Task
from konsil.store import Connection, Store
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.log.erasures import erased_raters
from konsil.store.tasks import pilot, screens
from konsil.study import Study
from konsil.study.sections.calibration import REASON, Calibration, Difference, differences
from konsil.study.sections.enrolment import (
    CONSENT,
    ELIGIBILITY,
    excluded_by_withdrawal,
    not_taking_part,
)
from konsil.web.rating import form, rating_view
from konsil.web.rating.consensus.distant_labels import Apart, Distant, Look, Stage
from konsil.web.rating.text import richtext


class Pilot:
    """The calibration of one study."""

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self._asks: Calibration | None = study.calibration
        self._through: set[str] = set()
        self._lock = threading.Lock()

    def is_in_the_way(self, rater: str) -> bool:
        """Whether a rater who has done the pilot must wait or write before going on."""
        if self._asks is None or rater in self._through:
            return False
        with reading(self._store.engine) as connection:
            stage = self._stage(connection, self._asks, rater)
        if stage is None:
            return False
        if stage.waiting or stage.open:
            return True
        if not stage.more:
            with self._lock:
                # Nobody comes back from here: what is asked of each follows from ratings that are
                # all there.
                self._through.add(rater)
        return False

    def stage(self, rater: str) -> Stage | None:
        """How far a rater is.

        None while there are pilot tasks to do, or where there is no calibration.

        Pilots in several phases are one pilot each: after every one of them come waiting and
        reasons.
        """
        if self._asks is None:
            return None
        with reading(self._store.engine) as connection:
            return self._stage(connection, self._asks, rater)

    def _stage(self, connection: Connection, asks: Calibration, rater: str) -> Stage | None:
        rater_tasks = pilot.tasks_of(connection, rater)
        if not rater_tasks:
            return Stage(0, ())
        everybody, rated = self._shared_tasks(connection, rater_tasks)
        completed_tasks = _completed(rater_tasks, rated)
        if not completed_tasks:
            return None
        phases, more = {t.phase for t in completed_tasks}, len(completed_tasks) < len(rater_tasks)
        late = {
            t.rater
            for t in everybody
            if t.phase in phases and t.id not in rated and _panel(t) == _panel(rater_tasks[0])
        }
        if late and asks.wait:
            return Stage(len(late), (), more=more)
        written = self._written(connection, rater)
        apart = [
            d
            for t in completed_tasks
            for d in self._differences(asks, t, everybody, rated)
            if _name(d) not in written
        ]
        return Stage(0, tuple(apart), len(written), more)

    def _shared_tasks(
        self, connection: Connection, rater_tasks: Sequence[Task]
    ) -> tuple[tuple[Task, ...], dict[str, list[Rating]]]:
        """The pilot tasks of all who take part, with their ratings.

        Who withdrew consent is not waited for; what was rated before stays, where the protocol lets
        it stay. Neither is anybody whose data were erased.
        """
        tasks = pilot.pilot_tasks(connection, rater_tasks)
        rated = pilot.ratings_of(connection, tasks)
        erased = erased_raters(connection)
        tasks = tuple(t for t in tasks if t.id in rated or t.rater not in erased)
        if self._study.enrolment is not None:
            events = [
                e for kind in (CONSENT, ELIGIBILITY) for e in study_events.of_kind(connection, kind)
            ]
            out, excluded = (
                not_taking_part(events),
                excluded_by_withdrawal(self._study.enrolment, events),
            )
            rater_task_ids = {t.id for t in rater_tasks}
            tasks = tuple(
                t
                for t in tasks
                if t.id in rater_task_ids
                or (t.rater not in excluded and (t.id in rated or t.rater not in out))
            )
        return tasks, rated

    def _differences(
        self,
        asks: Calibration,
        task: Task,
        everybody: Sequence[Task],
        rated: Mapping[str, Sequence[Rating]],
    ) -> tuple[Difference, ...]:
        others = [
            rated[t.id]
            for t in everybody
            if t.id in rated
            and t.rater != task.rater
            and (t.item, t.instrument) == (task.item, task.instrument)
            and _panel(t) == _panel(task)
        ]
        return differences(asks, self._study.instrument_of(task), task, rated[task.id], others)

    def differences(self, rater: str) -> tuple[Apart, ...]:
        """Every difference of a rater as a page shows it, those already written about included."""
        if self._asks is None:
            return ()
        with reading(self._store.engine) as connection:
            rater_tasks = pilot.tasks_of(connection, rater)
            everybody, rated = self._shared_tasks(connection, rater_tasks)
            apart = [
                (t, d)
                for t in _completed(rater_tasks, rated)
                for d in self._differences(self._asks, t, everybody, rated)
            ]
            raw_differences = self._read(connection, rater, apart)
        return self._difference(raw_differences, everybody, rated)

    def look(self, rater: str) -> Look | None:
        """What a rater's page shows.

        None while there are pilot tasks to do, or where there is no calibration.

        While there are reasons to write, only the next difference is made: with a hundred of them,
        making all of them at each step took longer than everything else.
        """
        if self._asks is None:
            return None
        with reading(self._store.engine) as connection:
            stage = self._stage(connection, self._asks, rater)
            raw_differences = None
            if stage is not None and stage.open:
                rater_tasks = pilot.tasks_of(connection, rater)
                task = next(t for t in rater_tasks if t.id == stage.open[0].task)
                raw_differences = self._read(connection, rater, [(task, stage.open[0])])
        if stage is None:
            return None
        total = stage.written + len(stage.open)
        if raw_differences is not None:
            return Look(0, self._difference(raw_differences, (), {}), stage.written + 1, total)
        shown = () if stage.waiting else self.differences(rater)
        return Look(stage.waiting, shown, len(shown) + 1, len(shown))

    def _read(
        self, connection: Connection, rater: str, apart: Sequence[tuple[Task, Difference]]
    ) -> Distant:
        """What is needed to show these differences."""
        texts = [e for e in study_events.of_kind(connection, REASON) if e.subject != rater]
        material = {
            t.id: (screens.item(connection, t.item), screens.answers(connection, t.answers))
            for t in {task.id: task for task, _ in apart}.values()
        }
        return Distant(
            tuple((task, d, *material[task.id]) for task, d in apart),
            self._written(connection, rater),
            texts,
        )

    def _difference(
        self,
        raw_differences: Distant,
        everybody: Sequence[Task],
        rated: Mapping[str, Sequence[Rating]],
    ) -> tuple[Apart, ...]:
        items = {t.id: (t.item, t.instrument) for t in everybody}
        shown: list[Apart] = []
        for task, d, item, answers in raw_differences.apart:
            instrument = self._study.instrument_of(task)
            rater_screen = screen(instrument, task, item, answers)
            html = rendered(
                self._store,
                richtext.renderer(),
                rating_view.texts_of(rater_screen),
                richtext.html_of,
            )
            panes = rating_view.panes_of(rater_screen, html, ())
            shown_panes = tuple(panes[n] for n in d.field.answers) if d.field.answers else panes
            form_fields = fields(instrument, task)
            reasons = tuple(
                # The label as it reads on this rater's screen, on whichever side the other saw the
                # answers.
                (
                    values(form_fields, task, rated.get(str(e.data["task"]), ())).get(
                        d.field.name, ""
                    ),
                    str(e.data["text"]),
                )
                for e in raw_differences.texts
                if items.get(str(e.data.get("task", ""))) == (task.item, task.instrument)
                and e.data.get("subject") == _subject(task, d)
            )
            alone = len(rater_screen.answers) == 1 and d.field.span is None
            shown.append(
                Apart(
                    _name(d),
                    rater_screen.question,
                    instrument.language,
                    shown_panes,
                    "" if alone else rater_screen.subject(d.field),
                    d.field.criterion.question,
                    d.label,
                    d.others,
                    reasons,
                    raw_differences.written.get(_name(d), ""),
                )
            )
        return tuple(shown)

    def write(self, rater: str, about: str, text: str) -> bool:
        """Keep the reason for one difference; say whether there is something to be read in it.

        Written is written.
        """
        reason, at = form.clean(text).strip(), self._now()
        if not reason or self._asks is None:
            return False
        # What is apart is found beforehand: others write meanwhile.
        with reading(self._store.engine) as connection:
            stage = self._stage(connection, self._asks, rater)
            difference = (
                next((d for d in stage.open if _name(d) == about), None)
                if stage is not None
                else None
            )
            task = screens.task(connection, difference.task) if difference is not None else None
        if difference is None or task is None:
            # Written about already, in another window.
            return True
        data = {
            "task": difference.task,
            "field": difference.field.name,
            "subject": _subject(task, difference),
            "label": difference.label,
            "others": list(difference.others),
            "text": reason,
        }
        with writing(self._store.engine) as connection:
            if _name(difference) in self._written(connection, rater):
                return True
            study_events.append_event(
                connection, Event(f"{REASON} {_name(difference)}", REASON, rater, at, data)
            )
        return True

    def _written(self, connection: Connection, rater: str) -> dict[str, str]:
        events = study_events.of_subject(connection, rater, (REASON,))
        return {e.id.removeprefix(f"{REASON} "): str(e.data.get("text", "")) for e in events}


def _completed(rater_tasks: Sequence[Task], rated: Mapping[str, object]) -> list[Task]:
    """A rater's pilot tasks, up to the end of the last phase before which all are rated."""
    open_phase = next((task.phase for task in rater_tasks if task.id not in rated), None)
    phases = list(dict.fromkeys(task.phase for task in rater_tasks))
    ended = phases if open_phase is None else phases[: phases.index(open_phase)]
    return [task for task in rater_tasks if task.phase in ended]


def _panel(task: Task) -> str:
    return panel_of_slot(task.slot)


def _name(difference: Difference) -> str:
    return hashlib.sha256(f"{difference.task} {difference.field.name}".encode()).hexdigest()[:20]


def _subject(task: Task, difference: Difference) -> str:
    """The subject of a question, the same for all raters in whatever order they saw the answers."""
    field = difference.field
    span = "" if field.span is None else f" {task.spans[field.span].start}"
    return (
        f"{field.criterion.id}{span} {' '.join(sorted(task.answers[n] for n in field.answers))}"
    ).strip()
