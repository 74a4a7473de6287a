"""Run a study's analyses: for each its groups, their numbers, their differences; then the family's adjusted p."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

from konsil.analysis.against import against_panel_rows
from konsil.analysis.approval import trade_offs
from konsil.analysis.averages import average_groups
from konsil.analysis.blinding import blinding_rows
from konsil.analysis.bounds import bounds_of
from konsil.analysis.called import calling, imported, orders
from konsil.analysis.case_rules import settled
from konsil.analysis.cases import case_rows
from konsil.analysis.catalogue import BLINDING, CASES, COSTS, PARTS, RATER_PAIR, TIMED
from konsil.analysis.caution import caution_rows
from konsil.analysis.coding import groups, rater_pairs, select
from konsil.analysis.contrast import contrast
from konsil.analysis.costs import cost_rows
from konsil.analysis.coverage import coverage, label_counts
from konsil.analysis.derived import derived_values, with_derived
from konsil.analysis.ensembles import MEASURES, ensemble_rows
from konsil.analysis.estimate import Told
from konsil.analysis.frame import Data, Long, long
from konsil.analysis.kinds import Context, Group, each_against_rest, single
from konsil.analysis.length import length_groups
from konsil.analysis.max_t import with_max_t
from konsil.analysis.methods import methods
from konsil.analysis.outcomes import missing, outcomes
from konsil.analysis.pairs import is_of_pairs, pair_statistics
from konsil.analysis.parts import part_rows
from konsil.analysis.preference import Lineage, lineage, preference_rows
from konsil.analysis.results import Results, Row
from konsil.analysis.risk import risk_curves, risk_rows
from konsil.analysis.rows import cannot_be_made, no_ratings, row, told_rows
from konsil.analysis.rules import contradictions
from konsil.analysis.sensitivity import rater_contrast
from konsil.analysis.spec import Analysis, Derived, Exclusions, Resampling
from konsil.analysis.study_warnings import of_same_family, study_warnings
from konsil.analysis.tiebreak import with_tiebreaks
from konsil.analysis.timed import timed_groups
from konsil.errors import AnalysisError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.records import System
from konsil.stats.multiplicity import holm
from konsil.stats.weights import Remembered, stream_key


def run(
    analyses: Sequence[Analysis],
    data: Data,
    *,
    instruments: Sequence[Instrument],
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
    planned: bool = False,
    systems: Sequence[System] = (),
    derived: Sequence[Derived] = (),
    flag_families: bool = False,
    together: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    strict: bool = True,
) -> Results:
    """All estimates, the coverage of the ratings, warnings and the methods paragraph.

    `planned`: whether the tasks come from a plan, so that missing ratings can be counted. `flag_families`: whether to
    warn of judges of a judged system's family. `together`: names for several panels as one. `strict`: whether an
    analysis that the ratings cannot give raises; otherwise its row says why, and the others are made.
    """
    table = with_derived(long(data, exclusions, together), derived, instruments)
    families = lineage(systems, data.raters)
    analyses = [settled(analysis) for analysis in analyses]
    rows: list[Row] = []
    contexts: list[Context] = []
    refused: list[str] = []
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn once.
    key = Remembered(stream_key(seed, "resamples"))
    for analysis in analyses:
        for problem in contradictions(analysis):
            raise AnalysisError(f"{analysis.name}: {problem}")
        also = tuple(_criterion(replace(analysis, criterion=name), instruments) for name in analysis.criteria)
        context = Context(analysis, _criterion(analysis, instruments), key, resampling, also)
        try:
            if is_of_pairs(context):
                rows.extend(list(pair_statistics(context, table, families, also)))
            else:
                rows.extend(list(_rows(context, table, families)))
        except AnalysisError as error:
            if strict:
                raise
            refused.append(str(error))
            rows.append(cannot_be_made(context, str(error)))
            continue
        contexts.append(context)
    rows = with_max_t(contexts, table, _adjusted(rows))
    both = orders(data, instruments)
    gaps = missing(data, table, exclusions, instruments)
    return Results(
        rows=tuple(rows),
        coverage=coverage(data, table, instruments, exclusions, planned=planned),
        warnings=(*study_warnings(table, analyses), *(of_same_family(families) if flag_families else ())),
        methods=(
            *calling(data.callees, both),
            *imported(systems),
            *methods(analyses, rows, table, seed=seed, resampling=resampling, exclusions=exclusions),
        ),
        orders=both,
        label_counts=label_counts(table, instruments),
        outcomes=outcomes(data, table),
        curves=tuple(
            c for one in contexts if one.analysis.statistic == "risk_coverage" for c in risk_curves(one, table)
        ),
        trade_offs=tuple(t for c in contexts if c.analysis.statistic == "strictness" for t in trade_offs(c, table)),
        derived=derived_values(table, derived),
        refused=tuple(refused),
        bounds=tuple(b for c in contexts for b in bounds_of(c, table, gaps, rows, families)),
    )


def _criterion(analysis: Analysis, instruments: Sequence[Instrument]) -> Criterion:
    """The criterion an analysis names; where two instruments have one of that name, `where` says whose."""
    wanted = analysis.where.get("instrument", ())
    found = [c for i in instruments if not wanted or i.id in wanted for c in i.criteria if c.id == analysis.criterion]
    if not found:
        known = [c.id for i in instruments for c in i.criteria]
        raise AnalysisError(
            f"{analysis.name}: there is no criterion {analysis.criterion!r}; {nearest(analysis.criterion, known)}"
        )
    if any(c.scale != found[0].scale for c in found):
        raise AnalysisError(
            f"{analysis.name}: {len(found)} instruments ask {analysis.criterion!r} on different scales;"
            " select one with where = { instrument = [...] }"
        )
    return found[0]


def _rows(context: Context, table: Long, families: Lineage) -> Iterator[Row]:
    analysis = context.analysis
    frame = select(table, analysis, analysis.raters)
    if frame.height == 0:
        yield no_ratings(context)
        return
    if analysis.tiebreak:
        frame = with_tiebreaks(frame, select(table, analysis, analysis.tiebreak), analysis.collapse)
    if analysis.statistic in CASES:
        yield from case_rows(context, table, _differences)
        return
    if analysis.statistic == "abstention_slope":
        yield from caution_rows(context, table, frame)
        return
    if analysis.statistic in MEASURES:
        yield from ensemble_rows(context, table, frame)
        return
    if analysis.statistic in {"self_preference", "family_preference"}:
        yield from preference_rows(context, table, frame, families)
        return
    if analysis.statistic in BLINDING:
        yield from blinding_rows(context, frame)
        return
    if analysis.statistic == "risk_coverage":
        yield from risk_rows(context, table, frame)
        return
    if analysis.statistic in {*PARTS, *COSTS}:
        yield from part_rows(context, frame) if analysis.statistic in PARTS else cost_rows(context, table, frame)
        return
    if analysis.against not in {None, "rest"} and analysis.consensus == "none":
        yield from against_panel_rows(context, table, frame)
        return
    raters = tuple(frame.get_column("rater").unique().sort().to_list())
    keyed = groups(frame, [column for column in analysis.by if column != RATER_PAIR])
    if analysis.against == "rest" and "rater" in analysis.by:
        keyed = groups(frame, [column for column in analysis.by if column != "rater"])
        found = [one for keys, part in keyed for one in each_against_rest(context, keys, part, raters)]
    elif analysis.statistic in TIMED:
        found = timed_groups(context, table, frame)
    elif analysis.statistic == "length_correlation":
        found = length_groups(context, table, frame)
    elif analysis.against not in {None, "rest"}:
        found = average_groups(context, table, frame)
    elif RATER_PAIR in analysis.by:
        found = [single(context, keys, part, two) for keys, part, two in rater_pairs(keyed, raters)]
    else:
        found = [single(context, keys, part, raters) for keys, part in keyed]
    for group in found:
        yield from told_rows(context, group.keys, group.told, group.measure)
    if analysis.compare:
        yield from _differences(context, found)


def _differences(context: Context, found: Sequence[Group]) -> Iterator[Row]:
    """Paired differences between the groups of `compare`, within equal values of the other columns."""
    compare = "raters" if context.analysis.compare == RATER_PAIR else context.analysis.compare
    others: dict[tuple[str, ...], list[Group]] = {}
    for group in found:
        rest = tuple(v for k, v in group.keys.items() if k != compare)
        others.setdefault(rest, []).append(group)
    for members in others.values():
        for a, b in combinations(members, 2):
            told = contrast(
                a.measure,
                b.measure,
                key=context.key,
                resampling=context.resampling,
                cluster=context.cluster,
                test=context.analysis.test,
            )
            if context.analysis.cluster == "rater" and math.isfinite(told.headline.value):
                headline = rater_contrast(told.headline, a.measure, b.measure, a.left_out, b.left_out)
                told = replace(told, headline=headline, companions=(told.headline, *told.companions))
            yield row(context, a.keys, told, a.measure, kind="difference", versus=b.keys)
            for companion in told.companions:
                yield row(context, a.keys, Told(companion), a.measure, kind="companion", versus=b.keys)


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    """Holm's adjustment over the prespecified family: every prespecified number with a p value.

    Tukey's p values are adjusted for their own family already.
    """
    tested = (n for n, r in enumerate(rows) if r.kind != "companion" and math.isfinite(r.estimate.p))
    family = [n for n in tested if rows[n].prespecified and rows[n].statistic != "tukey"]
    out = list(rows)
    if family:
        for n, p in zip(family, holm([rows[i].estimate.p for i in family]), strict=True):
            out[n] = replace(rows[n], p_adjusted=float(p))
    return out
