"""What workers compute of a piece of a data set.

The module imports nothing that they do not need: each worker imports it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import polars as pl

from konsil.analysis.tabular.agreement_options import composed
from konsil.analysis.tabular.coded_votes import CodedVotes, code_votes
from konsil.analysis.tabular.dataframes import as_text
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


def categories(
    piece: Piece, *, columns: AbstractSet[str], lists: Sequence[str], name: str
) -> pl.DataFrame:
    """Some columns of a piece as categories: a number for each cell, and each word once."""
    # Refuses what is no table of words, also in columns that are not read.
    as_text(read_piece(replace(piece, n_rows=0)), name, lists=lists)
    frame = as_text(_columns(piece, columns), name, lists=lists)
    frame = frame.with_columns(pl.col(lists).str.strip_chars())
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


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
