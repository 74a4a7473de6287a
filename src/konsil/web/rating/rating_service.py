"""Rating service without HTTP: next task, autosave, submit, postpone, report a problem.

One transaction each.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence

from konsil.instrument import fields
from konsil.instrument.screens.reply import values
from konsil.instrument.screens.screen import screen
from konsil.records import Event, Task
from konsil.store import Connection, Store
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import noting, reading, writing
from konsil.store.log import study_events, write
from konsil.store.log.covering import cover_task
from konsil.store.tasks import adjudications, batches, drafts, screens
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE, Change, SaveResult
from konsil.store.tasks.progress import UNCOUNTED
from konsil.store.tasks.screens import Queued, State, Visit
from konsil.study import Study
from konsil.study.sections.practice import explained
from konsil.web.rating import form, rating_view, task_queue
from konsil.web.rating.consensus.ties import Ties
from konsil.web.rating.receipts import Saved, Submitted
from konsil.web.rating.sheet import FormState, Sheet
from konsil.web.rating.submitted_changes import Changes, changes_of, store_form_changes
from konsil.web.rating.text import richtext
from konsil.web.rating.window import Window
from konsil.web.rating.work import Work


class Desk:
    """The rating desk of one study.

    A task that is not the rater's own does not exist for them: None.
    """

    def __init__(self, study: Study, store: Store, now: Callable[[], str]) -> None:
        self._study, self._store, self._now = study, store, now
        self.ties = Ties(study, store)
        self._work = Work()

    def next_task(self, rater: str) -> str | None:
        """The public name of a rater's next task, half-filled ones included.

        None when all are done.
        """
        with reading(self._store.engine) as connection:
            head = task_queue.first_open_task(
                self._work.line(connection, rater), study_events.closed_batches(connection), rater
            )
            state = screens.screen_state(connection, head.task) if head is not None else None
        if head is None or state is not None:
            return state.public if state is not None else None
        with writing(self._store.engine) as connection:
            return screens.named(connection, head.task, rater, self._now()).public

    def line(self, rater: str) -> tuple[Queued, ...]:
        """All tasks of a rater in the order of work."""
        with reading(self._store.engine) as connection:
            return tuple(self._work.line(connection, rater))

    def open(self, rater: str, public: str, *, looks: bool = True) -> Sheet | None:
        """The page of a task with its present values.

        Without `looks` no visitor views the page now, and no time is counted.
        """
        with reading(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public)
            if state_and_task is None:
                return None
            state, task = state_and_task
            instrument = self._study.instrument_of(task)
            item, answers = (
                screens.item(connection, task.item),
                screens.answers(connection, task.answers),
            )
            rater_screen = screen(instrument, task, item, answers)
            form_values = self._form_values(connection, task)
            asks_why = self._asks_why(task) and bool(screens.ratings_of_task(connection, task.id))
            progress = task_queue.progress(self._work.line(connection, rater), task.id)
            closed = self._is_closed(connection, task)
            previous_page = screens.submitted_before(connection, state)
            suggested = self._explained(connection, task) if state.submitted_at is not None else {}
        visit = Visit(secrets.token_urlsafe(12))
        if looks:
            with noting(self._store.engine) as connection:
                screens.visit(connection, state, visit, self._now())
        html = rendered(
            self._store, richtext.renderer(), rating_view.texts_of(rater_screen), richtext.html_of
        )
        groups = rating_view.groups_of(rater_screen, FormState(form_values, explained=suggested))
        panes = rating_view.panes_of(rater_screen, html, groups)
        inside = {id(g) for pane in panes for g in pane.groups}
        return Sheet(
            public=public,
            visit=visit.id,
            rev=state.rev,
            layout=rating_view.layout_of(rater_screen),
            language=instrument.language,
            question=rater_screen.question,
            question_word=rater_screen.words.question,
            reference=rater_screen.reference,
            reference_word=rater_screen.words.reference,
            reasoning_word=rater_screen.words.reasoning,
            sources_word=rater_screen.words.sources,
            panes=panes,
            groups=tuple(g for g in groups if id(g) not in inside),
            entries=rating_view.entries_of(rater_screen),
            codebook=html[-1] if instrument.codebook.strip() else "",
            progress=progress,
            submitted=state.submitted_at is not None,
            closed=closed or bool(suggested),
            previous_page=previous_page,
            practice=task.purpose == "practice",
            explained=bool(suggested),
            note=form_values.get(NOTE, ""),
            asks_reason=asks_why,
            reason=form_values.get(REASON_FOR_CHANGE, ""),
        )

    def is_tie_break(self, rater: str, public: str) -> bool:
        """Whether a task of a rater came about by a disagreement."""
        with reading(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public)
        return state_and_task is not None and state_and_task[1].purpose in UNCOUNTED

    def looked(self, rater: str, public: str, visit: str, at: str) -> None:
        """Note that a page was opened at this time, where `open` was told not to."""
        with noting(self._store.engine) as connection:
            # Locked: the page's first save may come at the same moment and would note the same
            # opening.
            state_and_task = self._task_of_rater(connection, rater, public, lock=True)
            if state_and_task is not None:
                screens.visit(connection, state_and_task[0], Visit(visit), at)

    def save(
        self, rater: str, public: str, changes: Sequence[Change], visit: Visit | None = None
    ) -> Saved | None:
        """Keep changes of fields as they are made; the same changes again are harmless."""
        at = self._now()
        with writing(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public, lock=True)
            if state_and_task is None:
                return None
            state, task = state_and_task
            if visit is not None:
                screens.visit(connection, state, visit, at)
            if self._is_closed(connection, task):
                return Saved(state.rev, at, closed=True)
            form_fields = fields(self._study.instrument_of(task), task)
            refused = {c.field: reason for c in changes if (reason := form.unfit(form_fields, c))}
            saved = drafts.append_changes(
                connection, state, [c for c in changes if c.field not in refused], at
            )
        return Saved(saved.rev, at, _says(saved), refused)

    def submit(
        self,
        rater: str,
        public: str,
        sent: Mapping[str, str],
        window: Window | int,
        visit: Visit | None = None,
    ) -> Submitted | None:
        """Hand a task in: all values of its form, so that a failed autosave costs nothing.

        What can be rated is stored as ratings; handed in again, they are revised. A form that is
        not complete is kept as a draft. Where another window changed a field that this `window`
        (or: its number of changes) does not know of, nothing is handed in.
        """
        self.ties.ready()
        at = self._now()
        with writing(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public, lock=True)
            if state_and_task is None:
                return None
            state, task = state_and_task
            if visit is not None:
                screens.visit(connection, state, visit, at)
            if self._is_closed(connection, task):
                return Submitted(False, closed=True)
            instrument = self._study.instrument_of(task)
            form_fields = fields(instrument, task)
            form_values = form.tidied(form_fields, sent)
            saved = store_form_changes(
                connection,
                state,
                form_fields,
                form_values | form.accompanying_fields(sent),
                window,
                at,
            )
            if saved.conflicts:
                return Submitted(False, conflicts=_says(saved), rev=saved.rev)
            read = form.read(form_fields, form_values)
            if not read.readable:
                return Submitted(False, problems=form.problems(form_fields, form_values, read))
            before, state = state.submitted_at, dataclasses.replace(state, rev=saved.rev)
            changes = changes_of(connection, instrument, task, state, read, at)
            reason = form.clean(sent.get(REASON_FOR_CHANGE, "")).strip()
            if changes.revises and self._asks_why(task) and not reason:
                return Submitted(
                    False,
                    problems={REASON_FOR_CHANGE: "a change needs a reason; give it on the page"},
                )
            self._rate(connection, task, state, changes, reason, at)
            due = self.ties.due(connection, task)
            self.ties.arise(connection, due, at)
            explains = before is None and bool(self._explained(connection, task))
            # What comes next gets its name here, so that going on waits for the disk once and not
            # twice.
            head = task_queue.first_open_task(self._work.line(connection, rater))
            if head is not None:
                screens.named(connection, head.task, rater, at)
        return Submitted(True, tiebreaks=len(due), explains=explains)

    def put_off(
        self, rater: str, public: str, sent: Mapping[str, str], window: Window | int
    ) -> bool:
        """Put a task at the end of its batch, as often as one likes; what its form says is kept."""
        at = self._now()
        with writing(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public, lock=True)
            if state_and_task is None:
                return False
            state, task = state_and_task
            if not self._is_closed(connection, task):
                form_fields = fields(self._study.instrument_of(task), task)
                store_form_changes(
                    connection,
                    state,
                    form_fields,
                    form.tidied(form_fields, sent) | form.accompanying_fields(sent),
                    window,
                    at,
                )
            screens.put_off(connection, state)
        return True

    def report(self, rater: str, public: str, text: str, report_id: str) -> bool:
        """Report a problem with a task; neither an abstention nor a skip.

        The same report again changes nothing.
        """
        at = self._now()
        with writing(self._store.engine) as connection:
            state_and_task = self._task_of_rater(connection, rater, public)
            if state_and_task is None:
                return False
            name = f"problem {report_id}"
            reports = study_events.of_kind(connection, study_events.PROBLEM, state_and_task[1].id)
            if text.strip() and all(e.id != name for e in reports):
                data = {"rater": rater, "text": form.clean(text)}
                study_events.append_event(
                    connection, Event(name, study_events.PROBLEM, state_and_task[1].id, at, data)
                )
        return True

    def close_batch(self, phase: str, batch: str, rater: str = "") -> bool:
        """Close a batch, for one rater or for everybody: its ratings stand.

        Closing again changes nothing.
        """
        return batches.close(self._store, phase, batch, rater, at=self._now())

    def _task_of_rater(
        self, connection: Connection, rater: str, public: str, *, lock: bool = False
    ) -> tuple[State, Task] | None:
        state = screens.public(connection, public, lock=lock)
        task = self._work.task(connection, state.task) if state is not None else None
        # The task's own word, not the screen's: a slot may have changed hands since it was shown.
        if state is None or task is None or task.rater != rater:
            return None
        return state, task

    def _is_closed(self, connection: Connection, task: Task) -> bool:
        """Whether the ratings of a task stand: its batch is closed, or others were shown them."""
        if study_events.is_closed(connection, task):
            return True
        return self._study.adjudication is not None and adjudications.is_open(connection, task.id)

    def _explained(self, connection: Connection, task: Task) -> dict[str, tuple[str, str]]:
        """What a practice explains once it is handed in: field -> the suggested label and why."""
        if task.purpose != "practice" or not self._study.explanations:
            return {}
        systems = {a.id: a.system for a in screens.answers(connection, task.answers).values()}
        return explained(
            self._study.explanations, task, systems, fields(self._study.instrument_of(task), task)
        )

    def _form_values(self, connection: Connection, task: Task) -> dict[str, str]:
        """What the form says: what was typed last, else what was rated elsewhere."""
        form_fields = fields(self._study.instrument_of(task), task)
        rated_values = values(form_fields, task, screens.ratings_of_task(connection, task.id))
        return rated_values | {
            name: draft.value for name, draft in drafts.values(connection, task.id).items()
        }

    def _asks_why(self, task: Task) -> bool:
        """Whether changing a rating of this task needs a reason."""
        return self._study.reasons_for_changes and task.purpose != "practice"

    def _rate(
        self,
        connection: Connection,
        task: Task,
        state: State,
        changes: Changes,
        reason: str,
        at: str,
    ) -> None:
        if changes.ratings:
            write.revise(
                connection,
                changes.ratings,
                at=at,
                event_id=f"submission {state.public} {state.rev}",
                kind_of_event="submission",
                reason=reason if changes.revises and self._asks_why(task) else "",
            )
        screens.change(connection, state, {"submitted_at": at, "seconds": changes.seconds})
        if reason:
            # The next change has a reason of its own.
            blank = Change(secrets.token_hex(16), REASON_FOR_CHANGE, "", state.rev)
            drafts.append_changes(connection, state, [blank], at)
        cover_task(connection, task.id, at)


def _says(saved: SaveResult) -> dict[str, str]:
    return {name: conflict.value for name, conflict in saved.conflicts.items()}
