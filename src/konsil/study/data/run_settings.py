"""The settings with which a study's own analyses are run, in one place for all that run them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from konsil.analysis import Inference
from konsil.records import Event
from konsil.study.data.freezing import frozen_target
from konsil.study.definition.protocol import Study

if TYPE_CHECKING:
    from konsil.analysis.running.run_settings import RunSettings
    from konsil.analysis.table.frame import Data


def run_settings(study: Study) -> RunSettings:
    """What the protocol states for all its analyses."""
    # With Polars, which who only serves pages need not load before somebody looks.
    from konsil.analysis.running.run_settings import RunSettings

    return RunSettings(
        instruments=study.instruments,
        seed=study.seed,
        resampling=study.resampling,
        inference=study.inference,
        people=_people(study),
        exclusions=study.exclusions,
        planned=bool(study.plan),
        systems=study.systems,
        derived=study.derived,
        scores=study.scores,
        together=study.together,
        strict=False,
        characteristics=_characteristics(study),
    )


def _people(study: Study) -> dict[str, int]:
    """Panel -> its people by the protocol, with a place that people sign up for as one."""
    return {
        panel: sum(rater.kind == "human" for rater in raters)
        for panel, raters in study.panels().items()
    }


def target_of_plan(study: Study) -> Inference:
    """Whom intervals and tests are about by the protocol alone, before any rating."""
    from konsil.analysis.estimation.targets import planned_target

    panels = [analysis.raters for analysis in study.analyses]
    target = planned_target(study.inference.raters, panels, _people(study), study.together)
    return Inference(target.raters)


def _characteristics(study: Study) -> frozenset[str]:
    """The characteristics of raters that the protocol lists or asks for at sign-up."""
    questions = study.enrolment.profile if study.enrolment is not None else ()
    listed = (name for rater in study.everybody() for name in rater.strata)
    return frozenset([*listed, *(question.id for question in questions)])


def settings_of_results(
    study: Study, data: Data, events: Iterable[Event], *, is_blinded: bool
) -> RunSettings:
    """The same for results that somebody sees, of a report and of an interim look alike."""
    from konsil.prepare.cases.marking import cases
    from konsil.prepare.identifiers.duplicates import last_duplicates, same_texts

    # Where nobody has searched for duplicates, at least equal texts are not taken for independent
    # in silence.
    events = tuple(events)
    searched = last_duplicates(events)[1]
    groups = searched.groups if searched is not None else same_texts(cases(data.items))
    return replace(
        run_settings(study),
        frozen_target=frozen_target(events),
        flag_families=study.judges_of_same_family == "flag",
        is_blinded=is_blinded,
        duplicates=groups,
    )
