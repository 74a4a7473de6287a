"""The tables of ratings that a run reads: as first given, and after adjudication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.analysis.model.composite.definition_rules import score_problems
from konsil.analysis.model.composite.score_rows import composites_of
from konsil.analysis.model.spec import Analysis, Derived
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.derived import with_derived
from konsil.analysis.table.frame import Data, RatingTable, rating_table
from konsil.errors import AnalysisError


@dataclass(frozen=True)
class RatingTables:
    """The ratings of a run with the derived columns."""

    first: RatingTable
    """With the labels given before raters who differed looked at them once more."""
    adjudicated: RatingTable
    """With those given after it, where an analysis asks for them."""
    derived: Sequence[Derived]
    """The derived columns that could be computed."""
    impossible: Mapping[str, str]
    """The others, with the reason."""

    def of(self, analysis: Analysis) -> RatingTable:
        """The table that an analysis reads."""
        return self.adjudicated if analysis.adjudication == "after" else self.first


def rating_tables(analyses: Sequence[Analysis], data: Data, settings: RunSettings) -> RatingTables:
    """The tables; a derived column that cannot be computed raises if the settings are strict."""
    instruments = settings.instruments
    for score in settings.scores:
        for problem in score_problems(score, instruments):
            raise AnalysisError(f"score {score.id!r}: {problem}")
    composites = composites_of(settings.scores, instruments)
    table = rating_table(data, settings.exclusions, instruments, settings.together)
    table = replace(table, composites=composites)
    impossible: dict[str, str] = {}
    # One at a time, so that a column that cannot be derived stops only the analyses that read it.
    for column in settings.derived:
        try:
            table = with_derived(table, [column], instruments)
        except AnalysisError as error:
            if settings.strict:
                raise
            impossible[column.name] = error.sentence
    derived = [column for column in settings.derived if column.name not in impossible]
    # The second table costs as much as the first: it is built only where it differs.
    late = table
    if table.adjudicated.labels and any(a.adjudication == "after" for a in analyses):
        late = rating_table(data, settings.exclusions, instruments, settings.together, after=True)
        late = replace(with_derived(late, derived, instruments), composites=composites)
    return RatingTables(table, late, derived, impossible)
