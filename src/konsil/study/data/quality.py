"""Blinded data quality of a running study: the pooled numbers of its panel, by criterion."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from konsil.analysis.model.spec import Resampling
from konsil.analysis.running.run_settings import RunSettings
from konsil.study.data.interim import periods_of
from konsil.study.definition.protocol import Study

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality
    from konsil.analysis.table.frame import Data


def run_settings(study: Study) -> RunSettings:
    """The settings of the study's own analyses."""
    return RunSettings(
        instruments=study.instruments,
        seed=study.seed,
        resampling=study.resampling,
        inference=study.inference,
        exclusions=study.exclusions,
        planned=bool(study.plan),
        systems=study.systems,
        derived=study.derived,
        scores=study.scores,
        together=study.together,
        strict=False,
    )


def qualities(
    study: Study, data: Data, panel: str, *, draws: int | None = None
) -> tuple[CriterionQuality, ...]:
    """Agreement, abstentions and drift of a panel by criterion, over all systems.

    Of every criterion of the forms that the panel is asked by the plan. `data` are records as
    analyses see them while the study is blinded: comparisons of two answers are then in the order
    of the blinding codes. `draws`: resamples of the intervals; None: the protocol's.
    """
    # With Polars, which who only serves pages need not load before somebody looks.
    from konsil.analysis.running.interim.pooled import pooled_quality

    panels = set(study.together.get(panel, (panel,)))
    forms = {a.instrument for a in study.plan if a.panel in panels}
    criteria = {
        c.id: c for i in study.instruments if not study.plan or i.id in forms for c in i.criteria
    }
    settings = run_settings(study)
    if draws is not None:
        settings = replace(settings, resampling=Resampling(draws, study.resampling.level))
    return pooled_quality(data, settings, panel, tuple(criteria.values()), periods_of(data))
