"""Run a study's analyses: for each its groups, their numbers, their differences; then the family's adjusted p."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

import polars as pl

from konsil.analysis.agreement.groups import each_against_rest, single
from konsil.analysis.agreement.judge_vs_panel import against_panel_rows
from konsil.analysis.agreement.panel_mean import average_groups
from konsil.analysis.cases.approval import trade_offs
from konsil.analysis.cases.case_rules import settled, threshold_problems
from konsil.analysis.cases.cases import case_rows
from konsil.analysis.cases.length import length_groups
from konsil.analysis.designs.durations import timed_groups
from konsil.analysis.designs.rater_cost import cost_rows
from konsil.analysis.designs.sentence_sampling import part_rows
from konsil.analysis.estimation.context import Context, Group
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.estimate import Told
from konsil.analysis.estimation.measure import Measure, clusters_used
from konsil.analysis.estimation.rater_samples import have_other_raters, of_other_raters
from konsil.analysis.estimation.result_rows import cannot_be_made, no_ratings, row, told_rows
from konsil.analysis.estimation.sensitivity import rater_contrast
from konsil.analysis.estimation.targets import answering, target_of, target_sentences, target_within
from konsil.analysis.judges.abstention_slope import caution_rows
from konsil.analysis.judges.blinding import blinding_rows
from konsil.analysis.judges.ensembles import MEASURES, ensemble_rows
from konsil.analysis.judges.injections import injection_rows
from konsil.analysis.judges.preference import preference_rows
from konsil.analysis.judges.risk import risk_curves, risk_rows
from konsil.analysis.model.catalogue import AUDIT, BLINDING, CASES, COMPLETE, COSTS, INJECTION, PARTS, RATER_PAIR, TIMED
from konsil.analysis.model.message import Said
from konsil.analysis.model.results import Results, Row
from konsil.analysis.model.spec import Analysis, AsPublished, Derived, Exclusions, Inference, Resampling
from konsil.analysis.pairs.max_t import with_max_t
from konsil.analysis.pairs.pairs import is_of_pairs, pair_statistics
from konsil.analysis.running.bounds import bounds_of
from konsil.analysis.running.duplicate_notes import Groups, with_duplicate_notes
from konsil.analysis.running.enough_draws import is_stated, limited, too_few, with_further_draws
from konsil.analysis.running.methods import methods
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.study_warnings import of_same_family, study_warnings
from konsil.analysis.table.coverage import coverage, label_counts, surplus
from konsil.analysis.table.derived import derived_values, with_derived
from konsil.analysis.table.encoding import groups, rater_pairs, select
from konsil.analysis.table.frame import Data, Long, long
from konsil.analysis.table.lineage import Lineage, lineage
from konsil.analysis.table.model_provenance import calling, imported, orders
from konsil.analysis.table.outcomes import missing, outcomes
from konsil.analysis.table.tiebreak import with_tiebreaks
from konsil.errors import AnalysisError, NotRatedError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.records import System
from konsil.stats.engine.weights import Remembered, stream_key
from konsil.stats.inference.multiplicity import holm

_BY_DEFAULT = Inference()
"""What holds where a protocol states no target of inference."""


def run(
    analyses: Sequence[Analysis],
    data: Data,
    *,
    instruments: Sequence[Instrument],
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
    inference: Inference = _BY_DEFAULT,
    planned: bool = False,
    systems: Sequence[System] = (),
    derived: Sequence[Derived] = (),
    flag_families: bool = False,
    together: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    strict: bool = True,
    duplicates: Groups = (),
) -> Results:
    """All estimates, the coverage of the ratings, warnings and the methods paragraph.

    `planned`: whether the tasks come from a plan, so that missing ratings can be counted. `flag_families`: whether to
    warn of judges of a judged system's family. `together`: names for several panels as one. `strict`: whether an
    analysis that the ratings cannot give raises; otherwise its row says why, and the others are made. `duplicates`:
    groups of items that ask the same and on which nobody has decided.
    """
    table = long(data, exclusions, instruments, together)
    impossible: dict[str, str] = {}
    for column in derived:
        try:
            table = with_derived(table, [column], instruments)
        except AnalysisError as error:
            if strict:
                raise
            impossible[column.name] = str(error)
    derived = [column for column in derived if column.name not in impossible]
    late = table
    if table.adjudicated.labels and any(a.adjudication == "after" for a in analyses):
        late = with_derived(long(data, exclusions, instruments, together, after=True), derived, instruments)

    def table_of(context: Context) -> Long:
        return late if context.analysis.adjudication == "after" else table

    families = lineage(systems, data.raters)
    analyses = [settled(analysis) for analysis in analyses]
    target = target_of(inference, table, analyses)
    compares = any(a.compare and a.compare != "system" for a in analyses)
    inference_sentences = target_sentences(target, compares=compares)
    rows: list[Row] = []
    contexts: list[Context] = []
    places: list[tuple[Context, int]] = []  # of each row: its analysis, and the how manieth row of it
    refused: list[str] = []
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn once.
    key = Remembered(stream_key(seed, "resamples"))
    for analysis in analyses:
        for problem in contradictions(analysis):
            raise AnalysisError(f"{analysis.name}: {problem}")
        also = tuple(_criterion(replace(analysis, criterion=name), instruments) for name in analysis.criteria)
        draws = AsPublished(resampling.draws, resampling.level) if analysis.mode == "paper" else resampling
        within = target_within(target, analysis, table)
        context = Context(analysis, _criterion(analysis, instruments), key, draws, also, within, target.is_stated)
        for problem in _threshold_problems(context):
            raise AnalysisError(f"{analysis.name}: {problem}")
        start = len(rows)
        try:
            for column_name in {*analysis.by, *analysis.where, analysis.compare, analysis.covariate} & {*impossible}:
                raise AnalysisError(f"{analysis.name}: {impossible[column_name]}")
            rows.extend(_rows_of_analysis(context, table_of(context), families))
        except AnalysisError as error:
            if strict:
                raise
            if not isinstance(error, NotRatedError):
                refused.append(str(error))
            rows.append(cannot_be_made(context, str(error)))
            places.append((context, 0))
            continue
        contexts.append(context)
        places += [(context, n) for n in range(len(rows) - start)]
    rows, doubts = _with_enough_draws(_adjusted(rows), places, table_of, families, resampling)
    rows = with_max_t(contexts, table_of, rows, families)
    rows = with_duplicate_notes(
        rows, analyses, lambda analysis: late if analysis.adjudication == "after" else table, duplicates
    )
    both = orders(data, instruments)
    gaps = missing(data, table, exclusions, instruments)
    accounts = coverage(data, table, instruments, exclusions, planned=planned)
    return Results(
        rows=tuple(rows),
        coverage=accounts,
        warnings=(
            *study_warnings(table, analyses),
            *surplus(accounts),
            *doubts,
            *(of_same_family(families) if flag_families else ()),
        ),
        methods=(
            *calling(data.callees, both),
            *imported(systems),
            *inference_sentences,
            *methods(analyses, rows, table, seed=seed, resampling=resampling, exclusions=exclusions),
        ),
        orders=both,
        label_counts=label_counts(table, instruments),
        outcomes=outcomes(data, table),
        curves=tuple(
            c for one in contexts if one.analysis.statistic == "risk_coverage" for c in risk_curves(one, table_of(one))
        ),
        trade_offs=tuple(
            t for c in contexts if c.analysis.statistic == "strictness" for t in trade_offs(c, table_of(c))
        ),
        derived=derived_values(table, derived),
        refused=tuple(refused),
        target=target.raters,
        inference=inference_sentences,
        bounds=tuple(b for c in contexts for b in bounds_of(c, table_of(c), gaps, rows, families)),
    )


def _rows_of_analysis(context: Context, table: Long, families: Lineage) -> list[Row]:
    if is_of_pairs(context):
        return list(pair_statistics(context, table, families, context.also))
    return list(_rows(context, table, families))


def _with_enough_draws(
    rows: list[Row],
    places: Sequence[tuple[Context, int]],
    table_of: Callable[[Context], Long],
    families: Lineage,
    resampling: Resampling,
) -> tuple[list[Row], tuple[Said, ...]]:
    """Further draws for p values that the number of draws keeps large; where it is stated, a warning instead."""
    few = limited(rows, resampling)
    if not few or is_stated(resampling):
        return rows, too_few(few, resampling)
    rows_by_analysis: dict[str, list[Row]] = {}

    def again(n: int, draws: int) -> Row:
        context, place = places[n]
        if context.analysis.name not in rows_by_analysis:
            more = replace(context, resampling=replace(resampling, draws=draws))
            rows_by_analysis[context.analysis.name] = _rows_of_analysis(more, table_of(context), families)
        return rows_by_analysis[context.analysis.name][place]

    return _adjusted(with_further_draws(rows, few, again)), ()


def _threshold_problems(context: Context) -> Iterator[str]:
    """What is wrong with an analysis' thresholds on its criteria; an audit has the same for all of them."""
    for criterion in (context.criterion, *(context.also if context.analysis.statistic in AUDIT else ())):
        yield from threshold_problems(context.analysis, criterion)


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
    if analysis.statistic in INJECTION:
        yield from injection_rows(context, table)
        return
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
        found = [
            single(context, keys, part, part_raters)
            for keys, part, part_raters in _with_raters(context, list(keyed), raters)
        ]
    for group in found:
        yield from told_rows(context, group.keys, group.told, group.measure)
    if analysis.compare:
        yield from _differences(context, found)


def _with_raters(
    context: Context, keyed: Sequence[tuple[dict[str, str], pl.DataFrame]], raters: tuple[str, ...]
) -> Iterator[tuple[dict[str, str], pl.DataFrame, tuple[str, ...]]]:
    """The groups with the raters whose labels they need: of panels apart only the own ones, where units are complete.

    ICC and Kendall's W use the units that every rater labelled; nobody labels a unit of another panel.
    """
    raters_by_part = [tuple(part.get_column("rater").unique().sort().to_list()) for _, part in keyed]
    are_apart = sum(map(len, raters_by_part)) == len(set().union(*raters_by_part))
    needs_all = context.analysis.statistic in COMPLETE
    for (keys, part), part_raters in zip(keyed, raters_by_part, strict=True):
        yield keys, part, part_raters if needs_all and are_apart and len(keyed) > 1 else raters


def _differences(context: Context, found: Sequence[Group]) -> Iterator[Row]:
    """Differences between the groups of `compare`, within equal values of the other columns."""
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
            told = _of_target(context, told, a.measure, b.measure)
            paired = not clusters_used(a.measure).isdisjoint(clusters_used(b.measure))
            yield row(
                context,
                a.keys,
                told,
                a.measure,
                kind="difference",
                versus=b.keys,
                is_paired=paired,
                subtracted=b.measure,
            )
            for companion in told.companions:
                yield row(context, a.keys, Told(companion), a.measure, kind="companion", versus=b.keys)


def _of_target(context: Context, summary: Told, a: Measure, b: Measure) -> Told:
    """A difference with the target's interval first; groups without a common rater are compared by raters.

    But where the protocol states these raters as the target; and where the analysis compares raters by name.
    """
    is_for_these = context.target == "these" and context.is_target_stated
    if have_other_raters(a, b):
        are_panels = context.target is not None and context.analysis.compare not in {"rater", RATER_PAIR}
        by_raters = of_other_raters(summary, a, b, context.cluster, are_panels=are_panels and not is_for_these)
        if not is_for_these:
            return by_raters
        two = [by_raters.headline] if by_raters is not summary else []
        return replace(summary, companions=(*two, *(c for c in summary.companions if c.raters == "these")))
    return answering(summary, context.target, min(a.n_raters, b.n_raters))


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
