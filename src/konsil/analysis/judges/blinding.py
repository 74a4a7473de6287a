"""The blinding probe: raters' guesses of systems or arms against the actual ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from konsil.analysis.estimation.estimate import estimates
from konsil.analysis.estimation.measure import Column, Measure
from konsil.analysis.estimation.rows.result_rows import estimate_rows
from konsil.analysis.model.context import Context
from konsil.analysis.model.rows import Row
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.encoding import groups
from konsil.analysis.table.labels import Labels, labels_of
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message
from konsil.stats.judges.blinding import bang_index, blinding_sums, james_index

ABOUT_ANSWERS = ("answer", "sentence", "pair")
"""Scopes whose guess is about a system; any other is about the rater's arm."""


def blinding_rows(context: Context, frame: pl.DataFrame) -> Iterator[Row]:
    """James' index for each group, or Bang's for each group and treatment.

    A guess about an answer is held against its system, one about a pair against the system of the
    first answer (A), and one about a batch, a phase or the rater against the arm. Abstaining is
    "cannot tell".
    """
    is_system = context.criterion.scope in ABOUT_ANSWERS
    of_what = "system" if is_system else "arm"
    treatments = labels_of(replace(context.analysis, abstain="missing"), context.criterion)
    for keys, part in groups(frame, context.analysis.by):
        measure, codes = _measure(context, part, treatments, of_what)
        if context.analysis.statistic == "blinding_james":
            measures = [(keys, replace(measure, finalise=Column(james_index, 0)))]
        else:
            names = treatments.names
            measures = [
                ({**keys, of_what: names[n]}, replace(measure, finalise=Column(bang_index, n)))
                for n in sorted(codes)
            ]
        summaries = estimates(
            [group_measure for _, group_measure in measures],
            key=context.key,
            resampling=context.resampling,
            cluster=_word(context, part),
            reasons=[""] * len(measures),
        )
        for (group, group_measure), number in zip(measures, summaries, strict=True):
            yield from estimate_rows(context, group, number, group_measure)


def _measure(
    context: Context, frame: pl.DataFrame, treatments: Labels, of_what: str
) -> tuple[Measure, frozenset[int]]:
    """The group's guesses tallied by cluster, and which treatments were there."""
    places = treatments.codes()
    treatment = frame.get_column(of_what).fill_null("").str.split(" | ").list.first()
    strange = sorted(set(treatment) - set(places))
    if strange:
        unit = repr(strange[0]) if strange[0] else f"an empty value (some raters have no {of_what})"
        raise AnalysisError(
            f"{context.analysis.name}: a guess is compared with the {of_what}, but no label of"
            f" {context.criterion.id!r} corresponds to {unit}; state it with collapse ="
            f" {{ label = {of_what} }}" + (f"; {nearest(strange[0], places)}" if strange[0] else "")
        )
    valid_labels = places | {
        before: places[after]
        for before, after in context.analysis.collapse.items()
        if after in places
    }
    refuse_unknown_labels(frame, {*valid_labels, *context.analysis.collapse})
    guess = frame.get_column("label").replace_strict(
        valid_labels, default=len(places), return_dtype=pl.Int64
    )
    truth = treatment.replace_strict(places, return_dtype=pl.Int64).to_numpy()
    cluster = _cluster(context, frame)
    names = tuple(cluster.unique().sort().to_list())
    place = cluster.replace_strict(
        {name: n for n, name in enumerate(names)}, return_dtype=pl.Int64
    ).to_numpy()
    sums = blinding_sums(truth, guess.fill_null(len(places)).to_numpy(), place, len(places))
    measure = Measure(
        sums=sums,
        finalise=james_index,
        clusters=names,
        n_units=frame.select("item", "answers", "span").n_unique(),
        n_raters=frame.get_column("rater").n_unique(),
        n_ratings=frame.height,
        # Raters are few, and of few clusters a bootstrap's interval is too narrow: the linearised
        # one has its t.
        is_rare=_by_rater(context, frame),
    )
    return measure, frozenset(truth.tolist())


def _cluster(context: Context, frame: pl.DataFrame) -> pl.Series:
    return frame.get_column(
        "rater" if _by_rater(context, frame) else context.analysis.cluster
    ).fill_null("")


def _by_rater(context: Context, frame: pl.DataFrame) -> bool:
    # Without items there is nothing to resample but those who were asked.
    return context.analysis.cluster == "rater" or bool(frame.get_column("item").is_null().all())


def _word(context: Context, frame: pl.DataFrame) -> str:
    return message("rater") if _by_rater(context, frame) else context.cluster
