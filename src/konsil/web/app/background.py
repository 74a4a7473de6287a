"""A study's pages served beside other work of this process, for this machine alone."""

from __future__ import annotations

import socket
import threading
import time

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.study import Study, study_digest
from konsil.web.app.serve import server_config
from konsil.web.http.listening import listening
from konsil.web.site.site import Options

HOST = "127.0.0.1"
START_SECONDS = 30.0
END_SECONDS = 10.0


def _free_place(port: int) -> socket.socket:
    """The port, or any free one where it is taken."""
    try:
        return listening(HOST, port)
    except KonsilError:
        return listening(HOST, 0)


class BackgroundServer:
    """The pages of a study in a thread, until closed; it closes the store, too."""

    def __init__(self, study: Study, store: Store, port: int) -> None:
        import uvicorn

        self._store, self._place = store, _free_place(port)
        self.url = f"http://{HOST}:{self._place.getsockname()[1]}"
        self._digest = study_digest(study)
        self._server = uvicorn.Server(server_config(study, store, Options(url=self.url)))
        self._thread = threading.Thread(
            target=self._server.run, args=([self._place],), name="konsil-rating-pages", daemon=True
        )
        self._thread.start()
        until = time.monotonic() + START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                self.close()
                raise KonsilError(f"{self.url}: the rating pages did not start")
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
