"""The metrics of a server: of one study or of several, in one process or in many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from starlette.types import ASGIApp

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.web.centre.settings import CentreSettings
from konsil.web.site.site import Options

Stores = Callable[[], Mapping[str, Store | None]]
"""The databases by the path of their study; None: the database cannot be opened."""


def measured(app: ASGIApp, options: Options) -> ASGIApp:
    """The application with its requests counted, if metrics are wanted."""
    if not options.metrics:
        return app
    from konsil.web.http.metrics import Measured

    return Measured(app)


@contextmanager
def metrics_of(options: Options, stores: Stores) -> Iterator[None]:
    """Metrics on an address of their own, if they are wanted."""
    if not options.metrics:
        yield
        return
    from konsil.web.http.metrics import exposed

    with exposed(options.metrics, stores):
        yield


def counted_together(options: Options) -> AbstractContextManager[None]:
    """Several processes count together, if metrics are wanted; to be entered before they start."""
    if not options.metrics:
        return nullcontext()
    from konsil.web.http.metrics import shared_counts

    return shared_counts()


def store_of_study(options: Options, store: Store) -> Stores:
    """The database of one study."""
    return lambda: {options.path.strip("/"): store}


class CentreStores:
    """The databases of a centre, opened for the metrics alone: workers have their own."""

    def __init__(self, settings: CentreSettings, path: str) -> None:
        self._settings, self._path = settings, path.strip("/")
        self._stores: dict[str, Store] = {}

    def __call__(self) -> Mapping[str, Store | None]:
        """The databases of the studies that are there now."""
        stores: dict[str, Store | None] = {}
        for place in self._settings.places():
            name = f"{self._path}/{place.slug}".strip("/")
            if name not in self._stores:
                try:
                    self._stores[name] = Store.open(place.database or place.folder, create=False)
                except KonsilError:
                    stores[name] = None
                    continue
            stores[name] = self._stores[name]
        return stores

    def close(self) -> None:
        """Close the databases."""
        for store in self._stores.values():
            store.close()
