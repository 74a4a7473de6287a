"""From an analysis as the protocol states it to what all its groups share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from konsil.analysis.cases.case_rules import threshold_problems
from konsil.analysis.estimation.targets import LEAST_EFFECTIVE, Target
from konsil.analysis.model.catalogue.known import AUDIT, CASES
from konsil.analysis.model.composite.analysis_rules import scored_problems
from konsil.analysis.model.composite.definition import with_scores
from konsil.analysis.model.context import Context
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis, AsPublished, Inference
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.stats.engine.contract import RatersTarget
from konsil.stats.engine.streams import stream_key
from konsil.stats.engine.weights import Remembered
from konsil.stats.inference.cluster_variance import effective_number


def contexts_of(
    analyses: Sequence[Analysis], table: RatingTable, target: Target, settings: RunSettings
) -> Iterator[Context]:
    """Each analysis with its criteria, resamples and target; an AnalysisError where it is wrong."""
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn
    # once.
    key = Remembered(stream_key(settings.seed, "resamples"))
    resampling = settings.resampling
    instruments = with_scores(settings.instruments, settings.scores)
    score_ids = {score.id for score in settings.scores}
    for analysis in analyses:
        for problem in (*contradictions(analysis), *scored_problems(analysis, score_ids)):
            raise AnalysisError(f"{analysis.name}: {problem}")
        further = tuple(_criterion(analysis, name, instruments) for name in analysis.criteria)
        draws = (
            AsPublished(resampling.draws, resampling.level)
            if analysis.mode == "paper"
            else resampling
        )
        within = target_within(target, analysis, table)
        has_known_raters = not table.has_unknown_raters(analysis.raters)
        if not has_known_raters:
            # The general sentence on the target says that estimates without each are not possible.
            columns = tuple(column for column in analysis.leave_out if column != "rater")
            analysis = replace(analysis, leave_out=columns)
        criterion = _criterion(analysis, analysis.criterion, instruments)
        context = Context(
            analysis,
            criterion,
            key,
            draws,
            further,
            within,
            target.is_stated,
            has_known_raters,
            settings.characteristics,
            settings.is_blinded,
        )
        for problem in _threshold_problems(context) if analysis.statistic in CASES else ():
            raise AnalysisError(f"{analysis.name}: {problem}")
        yield context


def _threshold_problems(context: Context) -> Iterator[str]:
    """What is wrong with an analysis' thresholds on its criteria.

    An audit has the same for all of them.
    """
    for criterion in (
        context.criterion,
        *(context.also if context.analysis.statistic in AUDIT else ()),
    ):
        yield from threshold_problems(context.analysis, criterion)


def _criterion(
    analysis: Analysis, name: CriterionRef, instruments: Sequence[Instrument]
) -> Criterion:
    """The criterion that an analysis names.

    Where two instruments have a criterion of that name, `where` selects the instrument.
    """
    # Several instruments may have the criterion; with one scale their ratings are analysed
    # together.
    instrument_ids = analysis.where.get("instrument", ())
    criteria = [
        c
        for i in instruments
        if not instrument_ids or i.id in instrument_ids
        for c in i.criteria
        if c.id == name
    ]
    if not criteria:
        criterion_ids = [c.id for i in instruments for c in i.criteria]
        raise AnalysisError(
            f"{analysis.name}: there is no criterion {name!r}; {nearest(name, criterion_ids)}"
        )
    if any(c.scale != criteria[0].scale for c in criteria):
        raise AnalysisError(
            f"{analysis.name}: {len(criteria)} instruments have {name!r} on different scales;"
            f" select one with where = {{ instrument = [...] }}"
        )
    return criteria[0]


def target_of(stated: Inference, table: RatingTable, analyses: Sequence[Analysis]) -> Target:
    """The protocol's target; else that of the panel with the fewest effective raters.

    Only panels of people count. For each criterion and panel that an analysis names, the raters
    with usable ratings are counted. A panel of one person is no sample of raters and decides
    nothing.
    """
    panels = dict.fromkeys((a.criterion, a.raters) for a in analyses)
    sizes = []
    for criterion, panel in panels:
        people = (
            table.part(criterion, panel).select("rater", "kind").filter(pl.col("kind") == "human")
        )
        counts = people.group_by("rater").len().get_column("len").to_numpy().astype(np.int64)
        if len(counts) > 1:
            sizes.append((effective_number(counts), len(counts), panel))
    effective, n_raters, panel = min(sizes, default=(math.nan, 0, ""))
    raters = stated.raters or ("like these" if effective >= LEAST_EFFECTIVE else "these")
    members = table.together.get(panel, ())
    unknown = tuple(dict.fromkeys(name for _, name in panels if table.has_unknown_raters(name)))
    return Target(raters, stated.raters is not None, panel, members, n_raters, effective, unknown)


def target_within(target: Target, analysis: Analysis, table: RatingTable) -> RatersTarget | None:
    """The target as far as it decides which interval of an analysis comes first.

    None where the analysis decides that.

    It does by `mode = "paper"`, `cluster = "rater"` and `test = "flip"`; and of models no other
    raters are in question.
    """
    if analysis.mode == "paper" or analysis.cluster == "rater" or analysis.test == "flip":
        return None
    kinds = table.part(analysis.criterion, analysis.raters).get_column("kind")
    return target.raters if (kinds == "human").any() else None
