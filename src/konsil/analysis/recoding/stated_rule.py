"""Several ratings of the same by one rater in a file of a study: what its source states counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from konsil.analysis.recoding.rewritten import chosen_repeats, combined_repeats
from konsil.errors import AnalysisError, SourceError, options_as
from konsil.instrument import Instrument
from konsil.records.source import Repeat


def combination(
    rule: Repeat, table: str, instruments: Sequence[Instrument], notes: list[str]
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What makes one rating of several, as the option `repeat` of tables without a study does.

    Abstentions count where a rater gave no label. `notes` gets how many ratings are not used.
    """
    abstain = {c.id: c.scale.abstain for i in instruments for c in i.criteria}

    def combine(rows: pl.DataFrame) -> pl.DataFrame:
        word = pl.col("criterion").replace_strict(abstain, default=None, return_dtype=pl.String)
        is_label = pl.col("label").is_not_null() & pl.col("label").ne_missing(word)
        rated, abstained = rows.filter(is_label), rows.filter(~is_label)
        with options_as("keys"):
            if rule == "first" or rule == "last":
                rated = chosen_repeats(rated, rule, notes)
            else:
                try:
                    rated = combined_repeats(rated, rule, table, "labels")
                except AnalysisError as error:
                    raise SourceError(str(error)) from None
        rest = abstained.join(rated, on="unit", how="anti")
        rest = rest.unique("unit", keep="first", maintain_order=True)
        return pl.concat([rated, rest]).sort("row")

    return combine
