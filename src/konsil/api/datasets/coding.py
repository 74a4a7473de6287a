"""What workers compute of a piece of a data set.

The module imports nothing that they do not need: each worker imports it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import polars as pl

from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.coded_votes import comparable
from konsil.analysis.tabular.dataframes import as_categories, as_text
from konsil.analysis.tabular.slices import Slices
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.sources.files.datasets import Piece, read_piece


def comparisons(piece: Piece, *, options: VotesOptions, slices: Slices) -> pl.DataFrame:
    """The columns of a piece by which comparisons are read or may differ, as categories."""
    return comparable(read_piece(piece), options, slices)


def categories(
    piece: Piece, *, columns: AbstractSet[str], lists: Sequence[str], name: str
) -> pl.DataFrame:
    """Some columns of a piece as categories: a number for each cell, and each word once."""
    # Refuses what is no table of words, also in columns that are not read.
    as_text(read_piece(replace(piece, n_rows=0)), name, lists=lists)
    return as_categories(_columns(piece, columns), name, lists=lists, stripped=lists)


def _columns(piece: Piece, names: AbstractSet[str]) -> pl.DataFrame:
    """Some columns of a piece, under their composed names."""
    columns = tuple(name for name in piece.columns if composed(name) in names)
    frame = read_piece(replace(piece, columns=columns))
    return frame.rename({name: composed(name) for name in columns})


_ROWS = 2_000
"""Rows of a piece by which the roles of the columns are recognised."""
_LAST = 20
"""Rows at the end of a data set, which can be totals."""


def some_rows(pieces: Sequence[Piece], name: str) -> pl.DataFrame:
    """The first rows of the first and of the last piece and the last rows, as texts."""
    ends = dict.fromkeys((pieces[0], pieces[-1]))
    some = [replace(piece, n_rows=min(piece.n_rows, _ROWS)) for piece in ends]
    last = pieces[-1]
    n_more = min(last.n_rows - some[-1].n_rows, _LAST, _ROWS)
    if n_more:
        start = last.n_rows - n_more
        place, number = last.start + start, last.number + start
        some.append(replace(last, start=place, number=number, n_rows=n_more))
    return pl.concat(words(piece, name=name) for piece in some)


def words(piece: Piece, *, name: str) -> pl.DataFrame:
    """The cells of a piece as texts."""
    frame = read_piece(piece)
    return as_text(frame, name, lists=frame.columns)
