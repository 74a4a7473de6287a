"""Preference statistics of a data set of comparisons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from konsil.analysis.roles.reading import TableFile
from konsil.analysis.standalone.preference_request import PreferenceRequest, check_request
from konsil.analysis.standalone.preference_table import HeadToHead, Roles, estimate_comparisons
from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.gathered_votes import GatheredVotes
from konsil.analysis.tabular.slices import PieceParts, gathered_parts
from konsil.analysis.tabular.votes_table import numbered_votes
from konsil.api.datasets.coding import coded_votes, some_rows
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
    slices = composed(request.slices)
    gathered: dict[str, GatheredVotes] = {}
    by_piece: list[PieceParts] = []
    with open_runner(cluster, len(pieces), is_small=n_bytes(pieces) <= SMALL) as runner:
        roles = Roles(request, options, some_rows(pieces, name))
        options = roles.options
        code = partial(coded_votes, options=replace(options, line=str), slices=slices)
        for coded, parts in runner.map(code, pieces):
            by_piece.append(parts)
            for group, votes in coded.items():
                gathered.setdefault(group, GatheredVotes()).add(votes)
    warnings: list[str] = []
    groups = gathered_parts(by_piece, slices, options.name, warnings)
    tables = {
        group: numbered_votes(
            gathered.pop(group),
            replace(options, name=f"{name}, {group}" if group else name),
        )
        for group in groups
    }
    with on_cores(cluster):
        return roles.stated_in(estimate_comparisons(roles.proved(tables), request, warnings))
