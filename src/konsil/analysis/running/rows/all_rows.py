"""The rows of all analyses of a run, with what is known only once all of them are there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.estimation.rows.result_rows import cannot_be_made
from konsil.analysis.model.context import Context
from konsil.analysis.model.interval_methods import features_of, leads
from konsil.analysis.model.interval_registry import Feature
from konsil.analysis.model.rows import Row
from konsil.analysis.model.spec import Resampling
from konsil.analysis.pairs.max_t import with_max_t
from konsil.analysis.running.rows.parts import (
    FurtherDraws,
    RunData,
    analysis_outcome,
    estimates_of_omissions,
    omission_parts,
    rows_of_further_draws,
)
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.running.sensitivity.omissions import Group, with_omissions
from konsil.errors import NotRatedError
from konsil.errors.message import TranslatableMessage, message
from konsil.progress import advance
from konsil.stats.engine.parts import Compute
from konsil.stats.inference.multiplicity import holm

ALPHA = 0.05
"""The adjusted p that the draws should be able to reach."""

_REACHED = 5
"""How many draws as far out as the data may be among the further ones at this p."""


_STAGE = "analyses"
"""The stage of a run's progress."""


@dataclass(frozen=True)
class AllRows:
    """The rows of a run, and what became of its analyses."""

    rows: list[Row]
    """Of all analyses, in their order."""
    contexts: list[Context]
    """The analyses that could be estimated."""
    refused: list[str]
    """Why others could not, beside those whose subject nobody rated."""
    doubts: tuple[TranslatableMessage, ...]
    """Warnings of p values that the number of draws keeps large."""


def all_rows(data: RunData, settings: RunSettings, compute: Compute) -> AllRows:
    """The rows of every analysis, adjusted within the family of the prespecified ones."""
    rows: list[Row] = []
    estimated: list[int] = []
    # Of each row: its analysis, and its place among the rows of that analysis.
    places: list[tuple[int, int]] = []
    refused: list[str] = []
    n = len(data.contexts)
    advance(_STAGE, 0, n)
    for place, outcome in enumerate(compute(analysis_outcome, data, range(n))):
        if outcome.refusal is None:
            rows += outcome.rows
            estimated.append(place)
            places += [(place, number) for number in range(len(outcome.rows))]
        else:
            if settings.strict:
                raise outcome.refusal
            # No ratings yet is the usual state of a running study, and no fault of the protocol to
            # report.
            if not isinstance(outcome.refusal, NotRatedError):
                refused.append(outcome.refusal.sentence)
            rows.append(cannot_be_made(data.contexts[place], outcome.refusal.args[0]))
            places.append((place, 0))
        advance(_STAGE, place + 1, n)
    if settings.only is not None:
        return AllRows(rows, [data.contexts[place] for place in estimated], refused, ())
    # Holm first: whether an analysis needs more draws is a question of its adjusted p value.
    rows, doubts = _with_enough_draws(_adjusted(rows), places, data, settings, compute)
    contexts = [data.contexts[place] for place in estimated]
    rows = with_max_t(
        contexts, lambda context: data.tables.of(context.analysis), rows, data.families
    )
    without = _omissions(data, estimated, compute)
    rows = with_omissions(
        contexts,
        lambda context: data.tables.of(context.analysis),
        rows,
        lambda context, column: without.get((context.analysis.name, column), {}),
    )
    return AllRows(rows, contexts, refused, doubts)


def _omissions(
    data: RunData, places: Sequence[int], compute: Compute
) -> dict[tuple[str, str], dict[str, Mapping[Group, float]]]:
    """The estimates without each value of the columns of `leave_out`.

    By analysis and column, and then by omitted value.
    """
    parts = omission_parts(data, places)
    without: dict[tuple[str, str], dict[str, Mapping[Group, float]]] = {}
    estimates = compute(estimates_of_omissions, data, parts) if parts else ()
    for part, by_value in zip(parts, estimates, strict=True):
        name = data.contexts[part.place].analysis.name
        without.setdefault((name, part.column), {}).update(by_value)
    return without


def _with_enough_draws(
    rows: list[Row],
    places: Sequence[tuple[int, int]],
    data: RunData,
    settings: RunSettings,
    compute: Compute,
) -> tuple[list[Row], tuple[TranslatableMessage, ...]]:
    """Further draws for p values that the number of draws keeps large, or a warning.

    A warning where the number of draws is stated.
    """
    resampling = settings.resampling
    draws_by_row = limited(rows, resampling)
    if not draws_by_row or is_stated(resampling):
        return rows, too_few(draws_by_row, resampling)
    # Once for all rows of an analysis, so that they still share their resamples.
    more = replace(resampling, draws=max(draws_by_row.values()))
    again = [
        FurtherDraws(place, more) for place in dict.fromkeys(places[n][0] for n in draws_by_row)
    ]
    computed = compute(rows_of_further_draws, data, again)
    rows_by_place = {part.place: its for part, its in zip(again, computed, strict=True)}

    def further(n: int) -> Row:
        place, number = places[n]
        return rows_by_place[place][number]

    return _adjusted(with_further_draws(rows, draws_by_row, further)), ()


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    """Holm's adjustment over the prespecified family: every prespecified number with a p value.

    Tukey's p values are adjusted for their own family already.
    """
    tested = (
        n for n, r in enumerate(rows) if r.kind != "companion" and math.isfinite(r.estimate.p)
    )
    family = [n for n in tested if rows[n].prespecified and rows[n].statistic != "tukey"]
    out = list(rows)
    single = _by_single_ratings(rows)
    if family:
        for n, p in zip(family, holm([rows[i].estimate.p for i in family]), strict=True):
            out[n] = replace(rows[n], p_adjusted=float(p))
    if any(n in single for n in family):
        # The same family, in which single ratings stand for the majorities made of them.
        p_values = [rows[single.get(n, n)].estimate.p for n in family]
        for n, p in zip(family, holm(p_values), strict=True):
            if n in single:
                out[single[n]] = replace(rows[single[n]], p_adjusted=float(p))
    return out


def _by_single_ratings(rows: Sequence[Row]) -> dict[int, int]:
    """The row of a comparison of majorities, and the row of the single ratings behind it."""
    of_comparison: dict[int, int] = {}
    first = 0
    for n, row in enumerate(rows):
        if row.kind != "companion":
            first = n
        elif leads(row.estimate.method, "single_ratings") and math.isfinite(row.estimate.p):
            of_comparison[first] = n
    return of_comparison


def limited(rows: Sequence[Row], resampling: Resampling) -> dict[int, int]:
    """Rows whose p is as small as the draws allow and whose adjusted p is above .05 for that alone.

    Their numbers, and how many draws would be enough.
    """
    draws_by_row = {}
    for n, row in enumerate(rows):
        p, method = row.estimate.p, row.estimate.method
        features = features_of(method)
        by_draws = features & {"permutation", "resamples"} and "all_permutations" not in features
        if (
            not by_draws
            or row.kind == "companion"
            or not math.isfinite(p)
            or not row.p_adjusted > ALPHA
        ):
            continue
        tests = row.p_adjusted / p
        at_floor = (
            p * (resampling.draws + 1) < 2.5
        )  # a p value that inverts an interval has both tails
        if at_floor and tests / (resampling.draws + 1) > ALPHA:
            draws_by_row[n] = math.ceil(_REACHED * tests / ALPHA)
    return draws_by_row


def with_further_draws(
    rows: Sequence[Row], draws_by_row: dict[int, int], again: Callable[[int], Row]
) -> list[Row]:
    """The rows with the p values of more draws of the same streams; no other number changes.

    `draws_by_row`: rows and the draws that they need; `again`: the row of that number with the most
    of these draws.
    """
    out = list(rows)
    for n in draws_by_row:
        more = again(n)
        if math.isfinite(more.estimate.p) and _sampled(more.estimate.method) == _sampled(
            rows[n].estimate.method
        ):
            out[n] = replace(
                rows[n],
                estimate=replace(rows[n].estimate, p=min(more.estimate.p, rows[n].estimate.p)),
            )
    return out


def _sampled(method: str) -> frozenset[Feature]:
    """A method's features, be its permutations drawn or all there are."""
    return features_of(method) - {"all_permutations"}


def too_few(
    draws_by_row: dict[int, int], resampling: Resampling
) -> tuple[TranslatableMessage, ...]:
    """The warning that a stated number of draws is too small for the adjustment."""
    if not draws_by_row:
        return ()
    return (
        message(
            (
                "{draws:,} resamples are too few for the Holm adjustment: {n:,} {n|test|tests}"
                " with the smallest possible p value {n|has|have} an adjusted p value above"
                " 0.05. At least {needed:,} resamples are needed."
            ),
            message_id="difference.few_draws",
            draws=resampling.draws,
            n=len(draws_by_row),
            needed=max(draws_by_row.values()),
        ),
    )


def is_stated(resampling: Resampling) -> bool:
    """Whether the protocol states a number of draws."""
    return resampling.draws != Resampling().draws
