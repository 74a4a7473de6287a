"""A study whose raters get letters, and its mail server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller

from konsil.api.folder.folder import Folder, open_folder
from konsil.api.running.invitations import invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.store.people.people import note_person
from mail_servers import ADA, ANSWERS, BEN, EVA, URL, Day, Post, write_mail
from ports import free_port
from small_studies import ITEMS, form, import_items, plan, raters, study_text, systems


@pytest.fixture
def serve() -> Iterator[Callable[..., Post]]:
    """Starts a mail server; the settings of aiosmtpd's are passed on."""
    with ExitStack() as stack:

        def start(post: Post | None = None, **settings: object) -> Post:
            chosen = post or Post()
            chosen.port = free_port()
            if chosen.password:
                settings |= {"authenticator": chosen.authenticate, "auth_required": True}
            controller = Controller(
                chosen, "127.0.0.1", chosen.port, **{"server_hostname": "localhost"} | settings
            )
            controller.start()
            stack.callback(controller.stop)
            return chosen

        yield start


@pytest.fixture
def post(serve: Callable[..., Post]) -> Post:
    return serve()


@pytest.fixture
def day() -> Day:
    return Day()


@pytest.fixture(scope="module")
def invited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three invited raters with addresses, two tasks each."""
    place = tmp_path_factory.mktemp("invited") / "study"
    place.mkdir()
    invited_study(place)
    return place


def invited_study(place: Path) -> None:
    """Write and plan the study in this folder, and invite its raters."""
    text = study_text(
        "Right or wrong?",
        ITEMS,
        ANSWERS,
        form(),
        systems("a"),
        raters("r1") + '\nstrata = { site = "Kiel" }',
        raters("r2", "r3"),
        plan(),
        seed=1,
        licence="CC-BY-4.0",
    )
    (place / "answers.csv").write_text("item,system,text\nq1,a,So.\nq2,a,Thus.\n", "utf-8")
    opened = import_items(place, text, [["item", "text"], ["q1", "Why?"], ["q2", "How?"]])
    make_plan(opened)
    write_mail(place, 1)
    invite(opened, InvitationRequest(url=URL))
    with opened.store() as store:
        for person in (ADA, BEN, EVA):
            note_person(store, person)


@pytest.fixture
def folder(tmp_path: Path, invited: Path, post: Post) -> Folder:
    """A copy of it, with the mail server."""
    place = tmp_path / "study"
    shutil.copytree(invited, place)
    write_mail(
        place, post.port, 'reply_to = "desk@study.example.org"', "remind_after_days = [3, 7]"
    )
    return open_folder(place)
