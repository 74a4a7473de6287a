"""Whether an analysis' criterion suits its statistic, by the forms alone, before any rating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.spec import Analysis
from konsil.analysis.table.pair_labels import steps_of_criterion
from konsil.errors import AnalysisError
from konsil.errors.message import message, placed
from konsil.instrument import Criterion, Instrument


def form_problems(analysis: Analysis, instruments: Sequence[Instrument]) -> Iterator[str]:
    """Each problem as 'key: what is wrong', for the caller to put the place before it.

    >>> from konsil.instrument import Scale
    >>> quality = Criterion("quality", "How good?", Scale(("bad", "good")))
    >>> analysis = Analysis("a", "win_rate", "quality", "experts")
    >>> list(form_problems(analysis, [Instrument("form", (quality,))]))
    ["statistic: 'win_rate' needs comparisons; criterion 'quality' is not a choice about a pair of answers"]
    """  # noqa: E501
    chosen = analysis.where.get("instrument", ())
    same = [
        c
        for i in instruments
        if not chosen or i.id in chosen
        for c in i.criteria
        if c.id == analysis.criterion
    ]
    if any(c.scale != same[0].scale for c in same):
        yield (
            f"criterion: {len(same)} instruments have {analysis.criterion!r} on different scales;"
            f" select one with where = {{ instrument = [...] }}"
        )
        return
    for criterion in same[:1]:
        yield from _problems_on(analysis, criterion)


def _problems_on(analysis: Analysis, criterion: Criterion) -> Iterator[str]:
    entry = statistic_of(analysis.statistic)
    if entry.scopes:
        if criterion.scope not in entry.scopes or criterion.scale.kind != "choice":
            fact = message(
                "{statistic!r} needs comparisons; criterion {criterion!r} is not a choice about a"
                " pair of answers",
                message_id="refused.needs_pairs",
                statistic=analysis.statistic,
                criterion=criterion.id,
            )
            yield placed("statistic", fact)
            return
        try:
            steps_of_criterion(criterion, "criterion")
        except AnalysisError as error:
            yield error.sentence
    if entry.n_labels and criterion.scale.kind == "choice":
        collapsed = {analysis.collapse.get(label, label) for label in criterion.scale.labels}
        n = len(analysis.labels) or len(collapsed)
        if n != entry.n_labels:
            fact = message(
                "{statistic!r} needs {n_labels} labels, got {n}; recode them with collapse",
                message_id="refused.n_labels",
                statistic=analysis.statistic,
                n_labels=entry.n_labels,
                n=n,
            )
            yield placed("statistic", fact)
