"""The server: a study's pages on a port of this machine."""

from __future__ import annotations

from konsil.store import Store
from konsil.study import Study
from konsil.web.app import create_app
from konsil.web.site import Options


def serve(study: Study, store: Store, options: Options, *, host: str, port: int) -> None:
    """Serve the pages until stopped."""
    import uvicorn

    # No access log and no headers of a proxy: addresses of people are written nowhere.
    uvicorn.run(
        create_app(study, store, options),
        host=host,
        port=port,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_level="warning",
    )
