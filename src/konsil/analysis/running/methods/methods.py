"""The methods paragraph, sentence by sentence, from what was run."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as Set

import polars as pl

from konsil.analysis.agreement.consensus_methods import consensus_methods
from konsil.analysis.estimation.rows.inference_methods import (
    difference_methods,
    family_methods,
    interval_methods,
)
from konsil.analysis.model.catalogue.known import PREFERENCE
from konsil.analysis.model.composite.score_sentences import score_sentences
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Analysis, Exclusions, Resampling
from konsil.analysis.model.terms import words_of
from konsil.analysis.running.families import FAMILIES
from konsil.analysis.running.methods.number_methods import number_sentences
from konsil.analysis.running.sensitivity.omissions import omission_sentences
from konsil.analysis.table.adjudicated import adjudication_sentences
from konsil.analysis.table.frame import RatingTable, reasons
from konsil.analysis.table.screens import display_sentences
from konsil.errors.message import listed, message
from konsil.instrument import Instrument


def methods(
    analyses: Sequence[Analysis],
    rows: Sequence[Row],
    table: RatingTable,
    *,
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
    instruments: Sequence[Instrument] = (),
) -> tuple[str, ...]:
    """Sentences for a methods section, on what was done only."""
    sentences = [_material(table), *presentation(table.frame, instruments)]
    sentences += [*_excluded(table, exclusions), *_abstentions(analyses, table)]
    sentences += adjudication_sentences(
        table.adjudicated, [a.name for a in analyses if a.adjudication == "after"]
    )
    composites = table.composites.values()
    sentences += score_sentences(analyses, composites)
    criteria = [criterion for form in instruments for criterion in form.criteria]
    sentences += number_sentences(analyses, criteria, [c.score for c in composites])
    sentences += display_sentences(analyses, table.frame, table.displays)
    sentences += statistical_methods(
        analyses, rows, _criteria_of_pairs(table), seed=seed, resampling=resampling
    )
    return tuple(s for s in sentences if s)


def statistical_methods(
    analyses: Sequence[Analysis],
    rows: Sequence[Row],
    criteria_of_pairs: Set[str],
    *,
    seed: int,
    resampling: Resampling,
) -> tuple[str, ...]:
    """Sentences on statistics, intervals and tests: those of some analyses and of these rows."""
    sentences: list[str] = []
    for family in FAMILIES.values():
        sentences += family.methods(analyses, rows)
    # Between two answers there is no majority that a judge is compared with.
    of_labels = [
        a
        for a in analyses
        if a.statistic not in PREFERENCE and a.criterion not in criteria_of_pairs
    ]
    sentences += consensus_methods(of_labels, rows)
    sentences += interval_methods(analyses, rows, seed, resampling)
    sentences += difference_methods(rows)
    sentences += family_methods(rows)
    sentences += omission_sentences(analyses, rows)
    return tuple(s for s in sentences if s)


def _material(table: RatingTable) -> str:
    panels = table.frame.group_by("panel").agg(
        pl.col("rater").n_unique().alias("n"), pl.len().alias("ratings")
    )
    parts = [
        message(
            "{n} {panel} ({ratings:,} {ratings|rating|ratings})",
            message_id="methods.raters_part",
            n=n,
            panel=panel,
            ratings=ratings,
        )
        for panel, n, ratings in panels.sort("panel").iter_rows()
    ]
    if not parts:
        return message("No ratings were available.")
    items = table.frame.filter(pl.col("item").fill_null("") != "").get_column("item").n_unique()
    return message(
        "{items:,} {items|item was|items were} rated by {raters}.",
        message_id="methods.raters",
        raters=listed(parts),
        items=items,
    )


def presentation(frame: pl.DataFrame, instruments: Sequence[Instrument]) -> list[str]:
    """One sentence on the rated forms whose sentences are presented one at a time."""
    rated = set(frame.get_column("instrument").unique())
    names = [i.id for i in instruments if i.present == "sentence" and i.id in rated]
    if not names:
        return []
    return [
        message(
            "Each page and each judge's call of {forms} presented the whole answer with one marked"
            " sentence.",
            message_id="methods.present_sentence",
            forms=listed(names),
        )
    ]


def _excluded(table: RatingTable, exclusions: Exclusions) -> list[str]:
    if not table.excluded.height:
        rule = exclusions.min_seconds
        if rule <= 0:
            return []
        return [
            message("No rating was faster than the protocol's {seconds:g} seconds.", seconds=rule)
        ]
    reason_by_text = {str(reason): reason for reason in reasons(exclusions)}
    counts = table.excluded.group_by("reason").len().sort("reason")
    parts = [
        message("{n:,} {n|rating|ratings} ({reason})", n=n, reason=words_of(reason_by_text[reason]))
        for reason, n in counts.iter_rows()
    ]
    return [message("Excluded: {what}.", what=listed(parts))]


def _abstentions(analyses: Sequence[Analysis], table: RatingTable) -> list[str]:
    n = table.frame.filter(pl.col("state") == "abstained").height
    if not n:
        return []
    sentences: list[str] = [
        message(
            "{n:,} {n|abstention was|abstentions were} treated as missing, except in"
            " analyses of abstention; statistics use all available ratings (pairwise"
            " deletion).",
            message_id="methods.abstentions",
            n=n,
        )
    ]
    named = [a.name for a in analyses if a.abstain == "label"]
    if named:
        sentences.append(
            message(
                "In {analyses}, abstentions were counted as a separate category.",
                analyses=listed(named),
            )
        )
    return sentences


def _criteria_of_pairs(table: RatingTable) -> frozenset[str]:
    """The criteria of comparisons of two answers."""
    of_pairs = table.frame.filter(pl.col("system").str.contains(" | ", literal=True))
    return frozenset(of_pairs.get_column("criterion").unique().to_list())
