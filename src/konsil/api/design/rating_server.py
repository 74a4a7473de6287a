"""The rating pages and the study dashboard, served for this machine beside the set-up."""

from __future__ import annotations

import threading
import time

from konsil.api.folder.folder import Folder
from konsil.api.running.requests import HOST, PORT
from konsil.api.serving.opening import assign_tasks
from konsil.errors import KonsilError
from konsil.study import Study, study_digest
from konsil.web.app.serve import server_config
from konsil.web.http.listening import listening
from konsil.web.site.site import Options

START_SECONDS = 30.0
END_SECONDS = 10.0


class RatingServer:
    """A study's pages in a thread of this process, until closed.

    The port is that of `konsil serve`, so that links still work when the study is served again;
    any free one where that is taken.
    """

    def __init__(self, opened: Folder) -> None:
        import uvicorn

        assign_tasks(opened)
        try:
            place = listening(HOST, PORT)
        except KonsilError:
            place = listening(HOST, 0)
        self.url = f"http://{HOST}:{place.getsockname()[1]}"
        self._digest = study_digest(opened.study)
        self._store, self._place = opened.store(), place
        self._server = uvicorn.Server(
            server_config(opened.study, self._store, Options(url=self.url))
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([place],), name="konsil-rating-pages", daemon=True
        )
        self._thread.start()
        until = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                self.close()
                raise KonsilError(f"{opened.path}: the rating pages did not start at {self.url}")
            time.sleep(0.02)

    def serves(self, study: Study) -> bool:
        """Whether it serves the study as it is now."""
        return self._thread.is_alive() and self._digest == study_digest(study)

    def close(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        self._thread.join(END_SECONDS)
        self._store.close()
        self._place.close()
