"""Preference statistics of a data set of comparisons."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from konsil.analysis.standalone.preference_request import PreferenceRequest, check_request
from konsil.analysis.standalone.preference_table import HeadToHead, estimate_comparisons
from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.gathered_votes import GatheredVotes
from konsil.analysis.tabular.slices import PieceParts, gathered_parts
from konsil.analysis.tabular.votes_table import numbered_votes
from konsil.api.datasets.coding import coded_votes
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
    layout = composed(request.layout())
    layout = replace(layout, name=name, line=partial(place_in, pieces))
    if not pieces:
        raise SourceError(f"{layout.name}: has no rows; expected one row per comparison")
    slices = composed(request.slices)
    code = partial(coded_votes, layout=replace(layout, line=str), slices=slices)
    gathered: dict[str, GatheredVotes] = {}
    by_piece: list[PieceParts] = []
    with open_runner(cluster, len(pieces), is_small=n_bytes(pieces) <= SMALL) as runner:
        for coded, parts in runner.map(code, pieces):
            by_piece.append(parts)
            for group, votes in coded.items():
                gathered.setdefault(group, GatheredVotes()).add(votes)
    warnings: list[str] = []
    groups = gathered_parts(by_piece, slices, layout.name, warnings)
    tables = {
        group: numbered_votes(
            gathered.pop(group),
            replace(layout, name=f"{layout.name}, {group}" if group else layout.name),
        )
        for group in groups
    }
    with on_cores(cluster):
        return estimate_comparisons(tables, request, warnings)
