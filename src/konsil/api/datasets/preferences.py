"""Preference statistics of a data set of comparisons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from konsil.analysis.roles.reading import TableFile
from konsil.analysis.standalone.preference_request import PreferenceRequest, check_request
from konsil.analysis.standalone.preference_table import HeadToHead, Roles, estimate_recognised
from konsil.analysis.tabular.agreement_options import composed
from konsil.api.datasets.coding import comparisons, some_rows
from konsil.api.datasets.sizes import SMALL
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.cores import on_cores
from konsil.errors import SourceError
from konsil.sources.files.datasets import n_bytes, name_of, pieces_of, place_in


def preference_of_data_set(
    place: Path | str, request: PreferenceRequest, cluster: str = ""
) -> HeadToHead:
    """Preference in a folder of Parquet files, under a URL, or in a large Parquet file.

    `cluster`: local:N, tcp://HOST:PORT, cores:N, or '' for this machine's cores.
    """
    check_request(request)
    check_cluster(cluster)
    pieces, name = pieces_of(place), name_of(place)
    if not pieces:
        raise SourceError(f"{name}: has no rows; expected one row per comparison")
    file = TableFile(line=partial(place_in, pieces), name=name)
    options = composed(request.table_options(file))
    with open_runner(cluster, len(pieces), is_small=n_bytes(pieces) <= SMALL) as runner:
        roles = Roles(request, options, some_rows(pieces, name))
        read = partial(
            comparisons, options=replace(roles.options, line=str), slices=composed(request.slices)
        )
        parts = list(runner.map(read, pieces))
    with on_cores(cluster):
        return estimate_recognised(_together(parts), roles, request)


def _together(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all parts, which are taken from the list, so that they are here once.

    A column has few values only if it has few in each part.
    """
    names = [name for name in parts[0].columns if all(name in part.columns for part in parts)]
    columns = []
    for name in names:
        columns.append(pl.concat([part.get_column(name) for part in parts], rechunk=True))
        parts[:] = [part.drop(name) for part in parts]
    return pl.DataFrame(columns)
