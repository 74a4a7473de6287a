"""A saved study conducted from the pages of the set-up: one action at a time, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.design.stages import collected, stages
from konsil.api.design.table_two import FOLDER as TABLE_TWO
from konsil.api.design.table_two import write_table_two
from konsil.api.folder.folder import Folder, open_folder
from konsil.api.running.checking import findings
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import PORT, InvitationRequest
from konsil.design.stages import Collected, Stage
from konsil.errors import KonsilError
from konsil.errors.message import message, placed
from konsil.web.design.conduct import Action, Download, PersonalLink, RunningAction

if TYPE_CHECKING:
    from konsil.collect.jobs.collection import Collected as CallsMade
    from konsil.collect.jobs.collection import Options
    from konsil.store import Store
    from konsil.study import Study
    from konsil.web.app.background import BackgroundServer

LEAD = "lead"
"""The pseudonym of the person at the set-up, for the log."""
PROMPT_SECONDS = 1.5
"""How long a page waits for an action to end before it shows that it is under way."""
_FILES: Mapping[Download, str] = {
    "report": "report/index.html",
    "word": "report/manuscript/manuscript.docx",
    "table": f"{TABLE_TWO}/manuscript.docx",
}


class StudyConduct:
    """The stages of the study in a folder, from its import to its report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job: RunningAction | None = None
        self.links: tuple[PersonalLink, ...] = ()
        self.dashboard = ""
        self.rehearsal: Path | None = None
        self._server: BackgroundServer | None = None
        self._actions: Mapping[Action, Callable[[Folder], Iterator[str]]] = {
            "import": _import,
            "replace": _replace,
            "answer": _answer,
            "plan": _plan,
            "rehearse": self._rehearse,
            "judge": _judge,
            "invite": self._invite,
            "office": self._open_dashboard,
            "report": _report,
            "table": write_table_two,
        }

    def collected(self) -> Collected:
        """How much was collected until now."""
        return collected(open_folder(self.folder))

    def stages(self) -> tuple[Stage, ...]:
        """The study's stages, each with what it lacks."""
        opened = open_folder(self.folder)
        return stages(opened, findings(opened))

    def start(self, action: Action) -> None:
        """Begin an action; it ends in the background."""
        if self.job is not None and self.job.is_running:
            raise KonsilError(
                message(
                    "{folder}: another action is under way; wait until it has ended",
                    message_id="setup.action_under_way",
                    folder=str(self.folder),
                )
            )
        self.job = job = RunningAction(action)
        thread = threading.Thread(target=self._run, args=(job,), name="konsil-action", daemon=True)
        thread.start()
        thread.join(PROMPT_SECONDS)

    def _run(self, job: RunningAction) -> None:
        try:
            job.notes = tuple(self._actions[job.action](open_folder(self.folder)))
        except KonsilError as error:
            job.faults = (error.sentence,)
        except OSError as error:
            job.faults = (f"{self.folder}: {error.strerror or error}",)
        finally:
            job.is_running = False

    def download(self, name: Download) -> Path | None:
        """A file to hand out; None where it is not there."""
        if name == "rehearsal":
            return self.rehearsal
        path = self.folder / _FILES[name]
        return path if path.is_file() else None

    def close(self) -> None:
        """Stop the rating pages."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _rehearse(self, opened: Folder) -> Iterator[str]:
        from konsil.api.rehearsal.rehearsing import rehearse
        from konsil.api.rehearsal.requests import RehearsalRequest

        place, n = opened.path.absolute(), 1
        target = place.with_name(f"{place.name}-rehearsal")
        while target.exists():
            n += 1
            target = place.with_name(f"{place.name}-rehearsal-{n}")
        rehearsed = rehearse(opened, RehearsalRequest(target=target))
        self.rehearsal = rehearsed.report
        yield from rehearsed.outcome.times.faults[:10]

    def _serve(self, opened: Folder) -> str:
        """The address of the rating pages, which are served from now on."""
        from konsil.api.serving.opening import assign_tasks
        from konsil.web.app.background import BackgroundServer

        if self._server is not None and not self._server.serves(opened.study):
            self.close()
        if self._server is None:
            assign_tasks(opened)
            # The port of `konsil serve`: links still work when the study is served again.
            self._server = BackgroundServer(opened.study, opened.store(), PORT)
        return self._server.url

    def _invite(self, opened: Folder) -> Iterator[str]:
        from konsil.api.running.invitations import invite

        request = InvitationRequest(url=self._serve(opened), by=LEAD)
        links = invite(opened, request)
        self.links = tuple(PersonalLink(link.recipient, link.url) for link in links)
        return iter(())

    def _open_dashboard(self, opened: Folder) -> Iterator[str]:
        from konsil.api.running.invitations import invite

        request = InvitationRequest(who=(LEAD,), role="owner", url=self._serve(opened))
        [link] = invite(opened, request)
        self.dashboard = link.url
        return iter(())


def _import(opened: Folder) -> Iterator[str]:
    yield from opened.import_sources().notes


def _replace(opened: Folder) -> Iterator[str]:
    yield from opened.import_sources(replace_all=True).notes


def _plan(opened: Folder) -> Iterator[str]:
    make_plan(opened)
    return iter(())


def _answer(opened: Folder) -> Iterator[str]:
    from konsil.collect.jobs.systems import answer

    return _called(opened, answer)


def _judge(opened: Folder) -> Iterator[str]:
    from konsil.collect.jobs.judges import judge

    return _called(opened, judge)


def _called(
    opened: Folder, collect: Callable[[Study, Store, Options | None], CallsMade]
) -> Iterator[str]:
    """Call all models that are still to be called, and what of it did not succeed."""
    from konsil.api.calls import CallLimits
    from konsil.api.folder.noting import note_study
    from konsil.api.folder.opened import now

    with opened.store() as store:
        note_study(store, opened.study, now())
        progress = collect(opened.study, store, CallLimits().options()).progress
    if progress.stopped:
        yield progress.stopped
    for endpoint, error in sorted(progress.gave_up.items()):
        yield message(
            "{endpoint}: retries exhausted; last error: {error}",
            message_id="calls.gave_up",
            endpoint=endpoint,
            error=error,
        )


def _report(opened: Folder) -> Iterator[str]:
    from konsil.api.rehearsal.rehearsal import write_report
    from konsil.report.manuscript.request import ReportRequest

    opened.import_if_empty()
    _, results = write_report(opened, None, ReportRequest(to=("docx",)))
    yield from results.refused
    yield from (
        placed(name, reason)
        for name, reason in results.reasons_without_result.items()
        if not any(sentence.startswith(f"{name}: ") for sentence in results.refused)
    )
