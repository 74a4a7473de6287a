"""What is made ready before anybody asks, and what is remembered between two pages, say what asking
anew would say."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from konsil.store import Store
from konsil.store.engine import page_schema, schema
from konsil.store.engine.engine import reading
from konsil.study import Study
from konsil.web.app.app import create_app
from konsil.web.rating.prerender import render_ahead
from konsil.web.rating.rating_service import Desk
from konsil.web.rating.text import richtext
from konsil.web.rating.work import Work
from konsil.web.site.pages import environment

MakeDesk = Callable[..., Desk]
R1, R2 = "canary-rater-1", "canary-rater-2"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}


def kept(store: Store) -> dict[str, str]:
    r = page_schema.renderings.c
    with reading(store.engine) as connection:
        return {row.source: row.html for row in connection.execute(sa.select(r.source, r.html))}


@pytest.mark.parametrize("name", ["medqade", "clexeval", "pairs", "sentences"])
def test_nothing_is_left_to_render_when_somebody_comes(
    name: str,
    opened: Store,
    desk: MakeDesk,
    studies: dict[str, Study],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = desk(name)
    assert render_ahead(studies[name], opened, threading.Event(), rest=0.0) > 0
    ready = kept(opened)

    def late(source: str) -> str:
        raise AssertionError(f"rendered while somebody waits: {source[:40]!r}")

    monkeypatch.setattr(richtext, "html_of", late)
    public = here.next_task(R1)
    assert public is not None
    page = here.open(R1, public)
    assert page is not None
    assert page.panes[0].html in ready.values()
    assert kept(opened) == ready


def test_ahead_stops_when_it_is_told_and_changes_nothing_twice(
    opened: Store, desk: MakeDesk, studies: dict[str, Study]
) -> None:
    desk()
    stopped = threading.Event()
    stopped.set()
    assert render_ahead(studies["medqade"], opened, stopped) == 0
    assert kept(opened) == {}
    render_ahead(studies["medqade"], opened, threading.Event(), rest=0.0)
    before = kept(opened)
    render_ahead(studies["medqade"], opened, threading.Event(), rest=0.0)
    assert kept(opened) == before != {}


@pytest.mark.slow
def test_a_server_makes_ready_and_ends_in_order(
    opened: Store, desk: MakeDesk, studies: dict[str, Study]
) -> None:
    desk()
    environment.cache_clear()
    with TestClient(create_app(studies["medqade"], opened)) as client:
        assert client.get("/").status_code == 200
    assert not any(one.name == "konsil-ahead" for one in threading.enumerate())


@pytest.mark.parametrize("seed", range(3))
def test_what_is_remembered_of_a_rater_is_what_the_database_says(
    seed: int, opened: Store, desk: MakeDesk
) -> None:
    here, rng, work = desk(n_items=12), random.Random(seed), Work()
    shown: dict[str, list[str]] = {R1: [], R2: []}
    for _ in range(25):
        rater = rng.choice([R1, R2])
        public = here.next_task(rater)
        deed = rng.choice(["open", "submit", "submit", "later", "again"])
        if public is not None:
            shown[rater].append(public)
            if deed == "submit":
                assert here.submit(rater, public, ALL_RIGHT, 0) is not None
            elif deed == "later":
                assert here.put_off(rater, public, {}, 0)
        if deed == "again" and shown[rater]:
            here.submit(rater, rng.choice(shown[rater]), ALL_RIGHT, 99)
        for one in (R1, R2):
            with reading(opened.engine) as connection:
                assert list(work.line(connection, one)) == list(Work().line(connection, one))


def test_a_task_that_was_written_again_is_read_again(opened: Store, desk: MakeDesk) -> None:
    desk()
    work, tasks = Work(), opened.tasks()
    with reading(opened.engine) as connection:
        mine = next(t for t in tasks if t.rater == R1)
        assert work.task(connection, mine.id) == mine
        assert work.task(connection, mine.id) is work.task(connection, mine.id)
        assert work.task(connection, "nothing") is None
    with opened.engine.begin() as connection:
        connection.execute(
            sa.update(schema.tasks).where(schema.tasks.c.id == mine.id).values(rater=R2, entry=99)
        )
    with reading(opened.engine) as connection:
        again = work.task(connection, mine.id)
    assert again is not None
    assert again.rater == R2
