"""Agreement statistics of a data set of ratings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from konsil.analysis.standalone.agreement import estimate_agreement
from konsil.analysis.standalone.agreement_choices import check_request
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.agreement_result import Agreement
from konsil.analysis.tabular.ratings_table import as_text
from konsil.api.datasets.sizes import SMALL
from konsil.compute.clusters import check_cluster, open_runner
from konsil.errors import SourceError
from konsil.sources.files.datasets import Piece, n_bytes, pieces_of, place_in, read_piece


def agreement_of_data_set(path: Path, request: AgreementRequest, cluster: str = "") -> Agreement:
    """Agreement in a folder of Parquet files, or in a large Parquet file.

    `cluster`: local:N, tcp://HOST:PORT, or '' for this machine's cores. The pieces are read and
    made texts there; all ratings are then coded here.
    """
    check_request(request)
    check_cluster(cluster)
    pieces = pieces_of(path)
    if not pieces:
        raise SourceError(
            f"{path.name}: has no rows; expected one row per unit (wide) or per rating (long)"
        )
    lists = () if request.label is None else (request.label,)
    words = partial(_words, name=path.name, lists=lists)
    with open_runner(cluster, len(pieces), is_small=n_bytes(pieces) <= SMALL) as runner:
        frame = pl.concat(runner.map(words, pieces))
    options = replace(request.table_options(), line=partial(place_in, pieces), name=path.name)
    return estimate_agreement(frame, request, options)


def _words(piece: Piece, *, name: str, lists: tuple[str, ...]) -> pl.DataFrame:
    """The cells of a piece as texts; runs on a worker."""
    return as_text(read_piece(piece), name, lists=lists)
