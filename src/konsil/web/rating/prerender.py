"""Texts are rendered before they are requested.

This runs beside the requests, so that no visitor waits for Markdown.
"""

from __future__ import annotations

import threading
import time

from konsil.errors import KonsilError
from konsil.instrument.screens.screen import screen
from konsil.store import Store
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens
from konsil.store.tasks.upcoming import tasks, upcoming
from konsil.study import Study
from konsil.web.rating import rating_view
from konsil.web.rating.text import richtext

TOGETHER = 10
"""Tasks whose texts are stored in one transaction: a rater who saves meanwhile waits for no more
than these."""
REST = 9.0
"""Rests are so many times as long as the work before them, so that requests come first."""


def render_ahead(study: Study, store: Store, stop: threading.Event, *, rest: float = REST) -> int:
    """Render and store what people will be shown, everybody's first tasks first.

    Say how many tasks were made ready.

    What is stored already stays as it is. A task whose screen cannot be made is left to whoever
    opens it.
    """
    judges = {r.id for r in study.raters if r.kind != "human"}
    with reading(store.engine) as connection:
        ids = upcoming(connection, judges)
    ready = 0
    for start in range(0, len(ids), TOGETHER):
        if stop.is_set():
            break
        began = time.perf_counter()
        texts: dict[str, None] = {}
        with reading(store.engine) as connection:
            for task in tasks(connection, ids[start : start + TOGETHER]):
                instrument = study.instrument(task.instrument)
                if instrument is None:
                    continue
                item, answers = (
                    screens.item(connection, task.item),
                    screens.answers(connection, task.answers),
                )
                try:
                    rater_screen = screen(instrument, task, item, answers)
                except KonsilError:
                    continue
                texts.update(dict.fromkeys(rating_view.texts_of(rater_screen)))
                ready += 1
        if texts:
            rendered(store, richtext.renderer(), tuple(texts), richtext.html_of)
        stop.wait(rest * (time.perf_counter() - began))
    return ready
