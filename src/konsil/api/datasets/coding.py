"""What workers compute of a piece of a data set.

The module imports nothing that they do not need: each worker imports it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import polars as pl

from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.coded_votes import CodedVotes, code_votes
from konsil.analysis.tabular.dataframes import as_text
from konsil.analysis.tabular.gathered_ratings import CodedRatings, code_ratings
from konsil.analysis.tabular.ratings_table import long_columns
from konsil.analysis.tabular.slices import PieceParts, Slices, piece_parts
from konsil.analysis.tabular.votes_options import VotesOptions
from konsil.sources.files.datasets import Piece, read_piece


def coded_votes(
    piece: Piece, *, options: VotesOptions, slices: Slices
) -> tuple[dict[str, CodedVotes], PieceParts]:
    """The comparisons of a piece as codes, by group."""
    frame = read_piece(piece)
    options = replace(options, line=piece.place)
    if slices.columns:
        frame = as_text(frame, options.name, frame.columns)
    parts = piece_parts(frame, piece.number, slices, options.name)
    return {
        part.name: code_votes(part.frame, replace(options, rows=part.rows)) for part in parts.parts
    }, parts.without_rows()


def coded_ratings(
    piece: Piece, *, options: TableOptions, slices: Slices
) -> tuple[dict[str, CodedRatings], PieceParts]:
    """The ratings of a piece of a long table as codes, by group."""
    lists = () if options.label is None else (options.label,)
    # Refuses what is no table of words, also in columns that are not read.
    as_text(read_piece(replace(piece, n_rows=0)), options.name, lists=lists)
    frame = _columns(piece, {*long_columns(options).values(), *slices.columns})
    if slices.columns or any(kind.is_nested() for kind in frame.dtypes):
        frame = as_text(frame, options.name, lists=lists)
    parts = piece_parts(frame, piece.number, slices, options.name)
    options = replace(options, line=piece.place)
    return {
        part.name: code_ratings(part.frame, replace(options, rows=part.rows))
        for part in parts.parts
    }, parts.without_rows()


def _columns(piece: Piece, names: AbstractSet[str]) -> pl.DataFrame:
    """Some columns of a piece, under their composed names."""
    columns = tuple(name for name in piece.columns if composed(name) in names)
    frame = read_piece(replace(piece, columns=columns))
    return frame.rename({name: composed(name) for name in columns})


_ROWS = 2_000
"""Rows of a piece by which the roles of the columns are recognised."""


def some_rows(pieces: Sequence[Piece], name: str) -> pl.DataFrame:
    """The first rows of the first and of the last piece, as texts."""
    some = [replace(piece, n_rows=min(piece.n_rows, _ROWS)) for piece in {pieces[0], pieces[-1]}]
    return pl.concat(words(piece, name=name) for piece in some)


def words(piece: Piece, *, name: str) -> pl.DataFrame:
    """The cells of a piece as texts."""
    frame = read_piece(piece)
    return as_text(frame, name, lists=frame.columns)
