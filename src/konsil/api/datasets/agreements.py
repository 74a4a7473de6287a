"""Agreement statistics of a data set of ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from konsil.analysis.roles.reading import Purpose, TableFile, TableReading
from konsil.analysis.roles.recognition import Recognised, proved, recognise
from konsil.analysis.standalone.agreement import estimate_agreement, estimate_recognised
from konsil.analysis.standalone.agreement_choices import check_request
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.api.datasets.coding import categories, some_rows, words
from konsil.api.datasets.sizes import SMALL
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.cores import is_cores, on_cores
from konsil.compute.runners import Runner, Work
from konsil.errors import SourceError
from konsil.sources.files.datasets import Piece, n_bytes, name_of, pieces_of, place_in
from konsil.stats.engine.parts import Compute, in_this_process

STATISTICS = Work("statistic", "compute it without workers, in the process of the command")
"""Statistics of the whole table."""


def agreement_of_data_set(
    place: Path | str, request: AgreementRequest, cluster: str = ""
) -> Agreement:
    """Agreement in a folder of Parquet files, under a URL, or in a large Parquet file.

    `cluster`: local:N, tcp://HOST:PORT, cores:N, or '' for this machine's cores. Long tables are
    read there and are here as categories. Of tables with another layout the workers make texts,
    and the whole table is here. Workers of a cluster also compute the statistics.
    """
    check_request(request)
    check_cluster(cluster)
    pieces, name = pieces_of(place), name_of(place)
    if not pieces:
        raise SourceError(
            f"{name}: has no rows; expected one row per unit (wide) or per rating (long)"
        )
    file = TableFile(line=partial(place_in, pieces), name=name)
    options = composed(request.table_options(file))
    is_small = n_bytes(pieces) <= SMALL
    with open_runner(cluster, len(pieces), is_small=is_small) as runner, on_cores(cluster):
        recognised = _recognised(pieces, request, options)
        reading = recognised.reading
        compute = _compute(runner, cluster)
        if reading.shape == "long" and len(reading.units) == 1 and not reading.has_sets:
            parts = runner.map(_cells(reading, request, name), pieces)
            frame = pl.concat(parts, rechunk=True)
            proved(frame, recognised, composed(request.stated_roles()), _purpose(options))
            return estimate_recognised(frame, recognised, request, options, compute)
        frame = pl.concat(runner.map(partial(words, name=name), pieces))
        return estimate_agreement(frame, request, file, compute)


def _recognised(
    pieces: Sequence[Piece], request: AgreementRequest, options: TableOptions
) -> Recognised:
    """The roles of the columns, by the first rows and the last piece's."""
    rows = some_rows(pieces, options.name)
    return recognise(rows, composed(request.stated_roles()), _purpose(options))


def _purpose(options: TableOptions) -> Purpose:
    return options.purpose("ratings", has_rule=bool(options.repeat))


def _cells(
    reading: TableReading, request: AgreementRequest, name: str
) -> Callable[[Piece], pl.DataFrame]:
    """What reads the columns of a long table that are used."""
    roles = (*reading.units, reading.rater, *reading.rated, reading.cluster, reading.criterion)
    names = composed((*(role for role in roles if role), *request.slices.columns))
    return partial(categories, columns=frozenset(names), lists=reading.rated, name=name)


def _compute(runner: Runner, cluster: str) -> Compute:
    """The statistics are computed on workers that were asked for.

    Fresh processes of this machine would take longer to start.
    """
    if not cluster or is_cores(cluster):
        return in_this_process
    return runner.of(STATISTICS).map_with
