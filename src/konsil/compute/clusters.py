"""The choice of a runner by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from konsil.compute.cores import is_cores, n_cores
from konsil.compute.runners import PIECES, Cores, Runner, ThisProcess, Work
from konsil.errors import AnalysisError, installation, option

_CLUSTER = re.compile(r"local:(?P<n>[1-9][0-9]{0,3})|(?P<address>(tcp|tls)://[^\s/]+:[0-9]+)")


@contextmanager
def open_runner(
    cluster: str, n_parts: int, *, is_small: bool, work: Work = PIECES
) -> Iterator[Runner]:
    """The runner of `cluster`: local:N, tcp://HOST:PORT, cores:N, or '' for this machine's cores.

    `is_small`: whether processes would cost more than they save. `work`: what the parts are.
    """
    if cluster and not is_cores(cluster):
        with _of_dask(cluster, work) as runner:
            yield runner
        return
    n = min(n_cores(cluster), n_parts)
    yield ThisProcess() if is_small or n < 2 else Cores(n, work)


def check_cluster(cluster: str) -> None:
    """Refuse what names no cluster, and a cluster without Dask."""
    if not cluster or is_cores(cluster):
        return
    if not _CLUSTER.fullmatch(cluster):
        raise AnalysisError(
            f"{option('compute')} {cluster!r}: expected local:N with a number of workers,"
            " tcp://HOST:PORT with the address of a Dask scheduler, or cores:N with a number of"
            " this machine's cores"
        )
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise AnalysisError(
            f"{option('compute')}: Dask is not installed; install it with {installation('cluster')}"
        ) from None


def _of_dask(cluster: str, work: Work) -> AbstractContextManager[Runner]:
    check_cluster(cluster)
    from konsil.compute import dask_runner

    match = _CLUSTER.fullmatch(cluster)
    assert match is not None
    if match["n"]:
        return dask_runner.local(int(match["n"]), work)
    return dask_runner.remote(match["address"], work)
