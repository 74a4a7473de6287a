"""How the scripts that simulate whole studies analyse one of them."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.analysis.model.results import Results
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.records import Answer, Item, Rater
from konsil.simulate import Simulated
from konsil.study import Study


def analyse(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    raters: Sequence[Rater],
    drawn: Simulated,
    seed: int,
    *,
    strict: bool = True,
) -> Results:
    """All analyses of the study, of ratings that were drawn."""
    return run(
        study.analyses,
        Data(items, answers, raters, drawn.tasks, drawn.ratings),
        RunSettings(
            instruments=study.instruments,
            seed=seed,
            resampling=study.resampling,
            exclusions=study.exclusions,
            planned=True,
            systems=study.systems,
            derived=study.derived,
            scores=study.scores,
            flag_families=True,
            together=study.together,
            strict=strict,
        ),
    )
