"""A server that is replaced, or killed, while raters work: its socket stays, nobody is refused."""

from __future__ import annotations

import random
import signal
import socket
import time
from pathlib import Path

import pytest

from konsil.api.running.archiving import archive_study, check_archive
from konsil.api.running.invitations import PATH, invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.rehearse import work
from konsil.rehearse.people import Person
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens
from managed_service import Service
from small_studies import ITEMS, form, import_items, plan, raters, study_text, systems


@pytest.mark.slow
def test_raters_work_while_the_server_is_replaced_and_killed_and_backed_up(tmp_path: Path) -> None:
    folder, backups = tmp_path / "ward", tmp_path / "backups"
    folder.mkdir()
    backups.mkdir()
    protocol = study_text(
        "Replaced",
        form(),
        systems("a", "b"),
        raters("p1", "p2", "p3"),
        plan(),
        ITEMS,
        '[[sources]]\nfile = "answers.csv"\nrecords = "answers"',
        seed=1,
    )
    answers = [f"i{n},{s},Answer {n} of {s}" for n in range(40) for s in "ab"]
    (folder / "answers.csv").write_text("\n".join(["item,system,text", *answers]))
    opened = import_items(
        folder, protocol, [("item", "text"), *((f"i{n}", f"Question {n}?") for n in range(40))]
    )
    n_tasks = len(make_plan(opened).tasks)
    rng = random.Random(1)

    def say(_public: str) -> tuple[dict[str, str], float]:
        return {f"~1.a{n}": rng.choice(["no", "yes"]) for n in (1, 2)}, 1.0

    links = [link.url for link in invite(opened, InvitationRequest(url="", days=1))]
    with Service(str(folder)) as served:
        served.start()
        people = [
            Person(f"p{n}", served.url + PATH + link.partition(PATH)[2])
            for n, link in enumerate(links, 1)
        ]
        replaced: list[int] = []

        def watch(n_pages: int) -> None:
            """Another process after every twentieth page."""
            if n_pages >= 20 * (len(replaced) + 1) and len(replaced) < 4:
                served.replace(signal.SIGKILL if len(replaced) % 2 else signal.SIGTERM)
                replaced.append(n_pages)

        outcome = work(people, say, lambda _: rng.expovariate(20), patience=60, watch=watch)
        archived = archive_study(opened, backups)
    assert outcome.times.faults == []
    assert sum(outcome.handed_in.values()) == n_tasks == 120
    assert len(replaced) == 4
    assert replaced[-1] < n_tasks
    with opened.store() as store, reading(store.engine) as connection:
        assert store.verify_log() == ()
        for public, values in outcome.submitted.items():
            state = screens.public(connection, public)
            assert len(screens.ratings_of_task(connection, state.task)) == len(values)
    assert check_archive(archived.path).rows["ratings"] == 240


@pytest.mark.slow
def test_a_connection_that_comes_between_two_servers_waits(tmp_path: Path) -> None:
    protocol = study_text("Waits", form(), systems("a"), raters("p1"), plan(), ITEMS, seed=1)
    import_items(tmp_path, protocol, [("item", "text"), ("i", "?")])
    with Service(str(tmp_path)) as served:
        served.start()
        served.wait()
        host, port = served.socket.getsockname()
        served.end(signal.SIGTERM)
        with socket.create_connection((host, port), timeout=60) as waiting:
            waiting.sendall(b"GET /ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            time.sleep(0.2)
            served.start()
            assert waiting.recv(1000).startswith(b"HTTP/1.1 200 OK")
