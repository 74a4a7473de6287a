"""What workers compute of a piece of a data set.

The module imports nothing that they do not need: each worker imports it anew.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

import polars as pl

from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.coded_ratings import CodedRatings, code_ratings
from konsil.analysis.tabular.coded_votes import CodedVotes, code_votes
from konsil.analysis.tabular.dataframes import as_text
from konsil.analysis.tabular.slices import PieceParts, Slices, piece_parts
from konsil.analysis.tabular.table_layout import is_long, long_columns
from konsil.analysis.tabular.votes_layout import Layout
from konsil.sources.files.datasets import Piece, read_piece


def coded_votes(
    piece: Piece, *, layout: Layout, slices: Slices
) -> tuple[dict[str, CodedVotes], PieceParts]:
    """The comparisons of a piece as codes, by group."""
    frame = read_piece(piece)
    layout = replace(layout, line=piece.place)
    if slices.columns:
        frame = as_text(frame, layout.name)
    parts = piece_parts(frame, piece.number, slices, layout.name)
    return {
        part.name: code_votes(part.frame, replace(layout, rows=part.rows)) for part in parts.parts
    }, parts.without_rows()


def coded_ratings(
    piece: Piece, *, options: TableOptions, slices: Slices
) -> tuple[dict[str, CodedRatings], PieceParts] | None:
    """The ratings of a piece as codes, by group, or None.

    None where the labels of a group are lists: whether the table is long depends on all of them.
    """
    lists = () if options.label is None else (options.label,)
    # Refuses what is no table of words, also in columns that are not read.
    names = as_text(read_piece(replace(piece, n_rows=0)), options.name, lists=lists)
    is_guessed = options.layout is None and options.label in names.columns
    if is_guessed:
        labels = as_text(_columns(piece, {*lists, *slices.columns}), options.name, lists=lists)
        parts = piece_parts(labels, piece.number, slices, options.name)
        if any(not is_long(part.frame, options) for part in parts.parts):
            return None
    used = {*long_columns(names, options).values(), *slices.columns}
    frame = _columns(piece, used)
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


def words(piece: Piece, *, name: str, lists: tuple[str, ...]) -> pl.DataFrame:
    """The cells of a piece as texts."""
    return as_text(read_piece(piece), name, lists=lists)
