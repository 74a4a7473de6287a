"""From an analysis as the protocol states it to what all its groups share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis.cases.case_rules import threshold_problems
from konsil.analysis.estimation.context import Context
from konsil.analysis.estimation.targets import Target, target_within
from konsil.analysis.model.catalogue.known import AUDIT
from konsil.analysis.model.options import CriterionRef
from konsil.analysis.model.spec import Analysis, AsPublished
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import RatingTable
from konsil.errors import AnalysisError, nearest
from konsil.instrument import Criterion, Instrument
from konsil.stats.engine.weights import Remembered, stream_key


def contexts_of(
    analyses: Sequence[Analysis], table: RatingTable, target: Target, settings: RunSettings
) -> Iterator[Context]:
    """Each analysis with its criteria, resamples and target; an AnalysisError where it is wrong."""
    # One key for all: analyses of the same clusters are made on the same resamples, which are drawn
    # once.
    key = Remembered(stream_key(settings.seed, "resamples"))
    resampling, instruments = settings.resampling, settings.instruments
    for analysis in analyses:
        for problem in contradictions(analysis):
            raise AnalysisError(f"{analysis.name}: {problem}")
        further = tuple(_criterion(analysis, name, instruments) for name in analysis.criteria)
        draws = (
            AsPublished(resampling.draws, resampling.level)
            if analysis.mode == "paper"
            else resampling
        )
        within = target_within(target, analysis, table)
        criterion = _criterion(analysis, analysis.criterion, instruments)
        context = Context(analysis, criterion, key, draws, further, within, target.is_stated)
        for problem in _threshold_problems(context):
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
            f"{analysis.name}: {len(criteria)} instruments ask {name!r} on different"
            " scales; select one with where = { instrument = [...] }"
        )
    return criteria[0]
