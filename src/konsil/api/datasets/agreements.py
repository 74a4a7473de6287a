"""Agreement statistics of a data set of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from konsil.analysis.roles.reading import TableFile, TableReading
from konsil.analysis.roles.recognition import Recognised, recognise
from konsil.analysis.standalone.agreement import Group, estimate_agreement, estimate_groups
from konsil.analysis.standalone.agreement_choices import check_request
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.gathered_ratings import GatheredRatings
from konsil.analysis.tabular.reshaping import long_options
from konsil.analysis.tabular.slices import PieceParts, gathered_parts
from konsil.api.datasets.coding import coded_ratings, some_rows, words
from konsil.api.datasets.sizes import SMALL
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.cores import is_cores, on_cores
from konsil.compute.runners import Runner, Work
from konsil.errors import AnalysisError, SourceError, option
from konsil.sources.files.datasets import Piece, n_bytes, name_of, pieces_of, place_in
from konsil.stats.engine.parts import Compute, in_this_process

STATISTICS = Work("statistic", "compute it without workers, in the process of the command")
"""Statistics of the whole table."""


def agreement_of_data_set(
    place: Path | str, request: AgreementRequest, cluster: str = ""
) -> Agreement:
    """Agreement in a folder of Parquet files, under a URL, or in a large Parquet file.

    `cluster`: local:N, tcp://HOST:PORT, cores:N, or '' for this machine's cores. Long tables are
    read and coded there, and here are codes alone. Of tables with another layout the workers
    make texts, and the whole table is here. Workers of a cluster also compute the statistics.
    """
    check_request(request)
    for name, is_given in (("recode", request.recode), ("repeat", request.repeat)):
        if is_given:
            raise AnalysisError(
                f"{name_of(place)}: {option(name)}: data sets are read by parts, without this"
                " option; expected a single file, or labels and ratings changed before"
            )
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
        if reading.shape == "long" and len(reading.units) == 1 and not reading.has_sets:
            result = _of_codes(pieces, request, reading, runner, _compute(runner, cluster), options)
            return replace(result, reading=recognised.statement(result.n_units))
        frame = pl.concat(runner.map(partial(words, name=name), pieces))
        return estimate_agreement(frame, request, file, _compute(runner, cluster))


def _recognised(
    pieces: Sequence[Piece], request: AgreementRequest, options: TableOptions
) -> Recognised:
    """The roles of the columns, by the first rows and the last piece's."""
    rows = some_rows(pieces, options.name)
    return recognise(rows, composed(request.stated_roles()), options.purpose("ratings"))


def _compute(runner: Runner, cluster: str) -> Compute:
    """The statistics are computed on workers that were asked for.

    Fresh processes of this machine would take longer to start.
    """
    if not cluster or is_cores(cluster):
        return in_this_process
    return runner.of(STATISTICS).map_with


def _of_codes(
    pieces: Sequence[Piece],
    request: AgreementRequest,
    reading: TableReading,
    runner: Runner,
    compute: Compute,
    options: TableOptions,
) -> Agreement:
    """The statistics of a long table."""
    options = long_options(options, reading)
    slices = composed(request.slices)
    if reading.criterion is not None and reading.criterion not in slices.where:
        slices = replace(slices, by=reading.criterion)
    gathered: dict[str, GatheredRatings] = {}
    by_piece: list[PieceParts] = []
    code = partial(coded_ratings, options=replace(options, line=str), slices=slices)
    for part in runner.map(code, pieces):
        coded, parts = part
        by_piece.append(parts)
        for group, ratings in coded.items():
            gathered.setdefault(group, GatheredRatings()).add(ratings)
    warnings: list[str] = []
    names = gathered_parts(by_piece, slices, options.name, warnings)
    groups = [Group(name, gathered[name].table) for name in names]
    return estimate_groups(groups, options, slices, request, warnings, compute)
