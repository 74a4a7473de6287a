"""The true values of analyses: plain formulas on the labels of large samples of new items.

The items are simulated from the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from konsil.analysis import Analysis, Row
from konsil.analysis.model.options import JudgeOptions, ShareOptions
from konsil.analysis.table.labels import Labels, labels_of
from konsil.instrument import Criterion
from konsil.simulate import population
from konsil.simulate.population import Array, Matrix
from konsil.simulate.true_values.batches import ABSTAINED, BATCHES, MISSING, Batches, Cases, Lengths
from konsil.simulate.true_values.expected_cases import CASES, Rule, case_rule
from konsil.simulate.true_values.expected_scores import row_rule
from konsil.simulate.true_values.selection import (
    code_table,
    is_modelled,
    proportion,
    steps_of,
    systems_of_family,
)
from konsil.simulate.truth import Truth
from konsil.study import Study

_SCOPES = ("answer", "item", "sentence")
PREFERENCES = ("self_preference", "family_preference")


@dataclass
class Expected:
    """The true values of a study's analyses under a truth, batch by batch of new items."""

    study: Study
    truth: Truth
    seed: int | None
    sets: Mapping[str, int] = field(default_factory=dict)
    """Set -> its items in the study."""
    cases: Cases = ()
    """The study's cases, where its items are versions of some."""
    lengths: Lengths = field(default_factory=dict)
    """System -> the numbers of sentences of its answers; empty: as many as are rated."""

    def __post_init__(self) -> None:
        self.batches = Batches(
            self.study, self.truth, self.seed, self.sets, self.cases, self.lengths
        )

    def values(self, analysis: Analysis, row: Row) -> Array | None:
        """The row's true value in each batch, or None where the model does not give it."""
        if not is_modelled(self.study, self.truth, analysis, self.sets):
            return None
        score = next((s for s in self.study.scores if s.id == analysis.criterion), None)
        if score is not None:
            rule = row_rule(self, analysis, score, row)
        else:
            criterion = self.criterion(analysis, row.group)
            rule = None if criterion is None else self._rule(analysis, criterion, row)
        if rule is None:
            return None
        return np.array([rule(batch) for batch in range(BATCHES)], dtype=np.float64)

    def criterion(
        self, analysis: Analysis, group: Mapping[str, str], name: str = ""
    ) -> Criterion | None:
        """The analysis' criterion, or another, in the group's design.

        None where two designs ask it differently.
        """
        instrument_ids = {i.id for i in self.study.instruments}
        for column in ("instrument", "design"):
            instrument_ids &= set(analysis.where.get(column, instrument_ids)) & {
                group.get(column, w) for w in instrument_ids
            }
        criteria = [
            c
            for i in self.study.instruments
            if i.id in instrument_ids
            for c in i.criteria
            if c.id == (name or analysis.criterion)
            and c.scope in _SCOPES
            and c.scale.kind == "choice"
        ]
        return criteria[0] if criteria and len({c.scope for c in criteria}) == 1 else None

    def _rule(self, analysis: Analysis, criterion: Criterion, row: Row) -> Rule | None:
        if analysis.statistic == "abstention_slope":
            return self._caution(analysis, criterion, row)
        if analysis.statistic in PREFERENCES:
            return (
                self._preference(analysis, criterion, row.group) if "rater" in row.group else None
            )
        depends = analysis.consensus != "none" or analysis.against is not None
        about_cases = analysis.statistic in CASES
        if depends and not about_cases and not self.sets and not self._same_number(analysis):
            return None
        if analysis.against not in (None, "rest") and not about_cases:
            return self._against_panel(analysis, criterion, row)
        group_rule = self._of_group(analysis, criterion, row.group)
        if group_rule is not None and analysis.statistic == "relative_difference":
            return self._relative(analysis, criterion, row, group_rule)
        if group_rule is None or row.kind != "difference":
            return group_rule
        group = {**row.group, **row.versus}
        against = self.criterion(analysis, group)
        other = None if against is None else self._of_group(analysis, against, group)
        if other is None:
            return None
        minuend, subtrahend = group_rule, other
        return lambda batch: minuend(batch) - subtrahend(batch)

    def _relative(
        self, analysis: Analysis, criterion: Criterion, row: Row, group_rule: Rule
    ) -> Rule | None:
        """A group's proportion divided by its reference's, minus 1."""
        divisor = self._of_group(
            analysis,
            criterion,
            {**row.group, **analysis.options_as(ShareOptions).reference},
        )
        return None if divisor is None else lambda batch: group_rule(batch) / divisor(batch) - 1

    def _of_group(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
    ) -> Rule | None:
        if analysis.statistic in CASES:
            return case_rule(self, analysis, criterion, group)
        labels = labels_of(analysis, criterion)
        name = analysis.statistic
        if analysis.spans == "mean":
            return None
        if name == "abstention":
            return lambda batch: self._abstained(analysis, criterion, group, batch)
        if name == "self_agreement":
            return lambda batch: self._self(analysis, criterion, group, batch, labels)
        return self._of_labels(analysis, criterion, group, labels)

    def _of_labels(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], labels: Labels
    ) -> Rule | None:
        name, steps = analysis.statistic, steps_of(labels)
        k, values = len(labels.names), np.asarray(labels.values, dtype=np.float64)

        def codes(batch: int) -> Matrix:
            return self.selected(analysis, criterion, analysis.raters, group, batch, labels)

        if name in ("share", "relative_difference", "mean"):
            options = analysis.options_as(ShareOptions)
            successes = [labels.names.index(label) for label in options.of]

            def with_ties(batch: int) -> Matrix:
                panel_codes = codes(batch)
                return (
                    self._with_ties(analysis, criterion, group, batch, labels, panel_codes)
                    if options.tiebreak
                    else panel_codes
                )

            return lambda batch: proportion(
                "mean" if name == "mean" else "share",
                with_ties(batch),
                analysis.consensus,
                k,
                values,
                successes,
            )
        if analysis.against == "rest":
            if name not in population.PAIRWISE:
                return None
            panel_group = {c: v for c, v in group.items() if c != "rater"}
            if panel_group != group:
                return lambda batch: self._one_against_rest(
                    analysis, criterion, group["rater"], panel_group, batch, labels
                )
            return lambda batch: population.against_rest(name, codes(batch), k, steps)
        if name in population.PAIRWISE:
            return lambda batch: population.pairwise(name, codes(batch), k, steps)
        if name in population.PANEL:
            return lambda batch: population.of_panel(name, codes(batch), k, values, labels.level)
        return None

    def _one_against_rest(
        self,
        analysis: Analysis,
        criterion: Criterion,
        rater: str,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
    ) -> float:
        """One rater against the majority of the others."""
        codes = self.selected(analysis, criterion, analysis.raters, group, batch, labels)
        names = [r.id for r in self.study.members(analysis.raters)]
        places = [names[n] for n in self.batches.columns(analysis, analysis.raters, group)]
        k = len(labels.names)
        return population.against_rest(
            analysis.statistic, codes, k, steps_of(labels), only=places.index(rater)
        )

    def _against_panel(self, analysis: Analysis, criterion: Criterion, row: Row) -> Rule | None:
        name = analysis.statistic
        if (
            analysis.mode != "valid"
            or analysis.consensus != "none"
            or name not in population.PAIRWISE
        ):
            return None
        labels = labels_of(analysis, criterion)
        k, values = len(labels.names), steps_of(labels)
        others = {c: v for c, v in row.group.items() if c != "rater"}

        def rule(batch: int) -> float:
            panel = self.selected(analysis, criterion, str(analysis.against), others, batch, labels)
            judges = self.selected(analysis, criterion, analysis.raters, row.group, batch, labels)
            both = [
                population.judge_and_ceiling(name, panel, judges[:, j], k, values)
                for j in range(judges.shape[1])
            ]
            return float(np.mean([j - c if row.kind == "difference" else j for j, c in both]))

        return rule

    def _caution(self, analysis: Analysis, criterion: Criterion, row: Row) -> Rule:
        """The slope of abstention on a derived number, or its distance from the other panel's."""

        def slope(batch: int, panel: str, group: Mapping[str, str]) -> float:
            raw = self.batches.retained_labels(analysis, criterion, panel, group, batch, "")
            units = self.batches.units(analysis, criterion, group, batch)
            covariate = analysis.options_as(JudgeOptions).covariate
            x = self.batches.derived(covariate, batch)[self.batches.item_of(criterion, batch)][
                units
            ]
            usable = (raw != MISSING) & np.isfinite(x)[:, None]
            return population.slope(
                np.broadcast_to(x[:, None], raw.shape)[usable], (raw == ABSTAINED)[usable]
            )

        if row.kind != "difference":
            return lambda batch: slope(batch, analysis.raters, row.group)
        rest = {c: v for c, v in row.group.items() if c != "rater"}
        other = str(analysis.against)
        return lambda batch: slope(batch, analysis.raters, row.group) - slope(batch, other, rest)

    def _preference(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
    ) -> Rule | None:
        """A judge's advantage on own or siblings' answers, against answers of other families."""
        raters = self.study.members(analysis.raters)
        me = next(r for r in raters if r.id == group["rater"])
        families = {s.id: s.family for s in self.study.systems}

        itself = {me.strata.get("system", "")}
        own_systems = (
            itself
            if analysis.statistic == "self_preference"
            else systems_of_family(me, families) - itself
        )
        if "system" in group:
            own_systems = own_systems & {group["system"]}
        peers = [n for n, r in enumerate(raters) if r.family != me.family]
        labels = labels_of(analysis, criterion)
        values = np.asarray(labels.values, dtype=np.float64)
        in_order = len(labels.names) == 2 or criterion.scale.level != "nominal"

        def rule(batch: int) -> float:
            codes = self.selected(analysis, criterion, analysis.raters, {}, batch, labels)
            panel = self.selected(analysis, criterion, str(analysis.against), {}, batch, labels)
            world = self.batches.world(batch)
            units = self.batches.units(analysis, criterion, {}, batch)
            systems = np.asarray(world.systems)[world.answers.system_of][units]
            scores = np.where(codes >= 0, values[np.maximum(codes, 0)], np.nan)
            for n, rater in enumerate(raters):
                if rater.family != me.family:
                    scores[np.isin(systems, list(systems_of_family(rater, families))), n] = np.nan
            stratum = None
            if analysis.mode == "valid":
                stratum = (
                    population.mean_strata(panel, values)
                    if in_order
                    else population.majority(panel, len(values))
                )
            is_own, others = (
                np.isin(systems, list(own_systems)),
                ~np.isin(systems, list(systems_of_family(me, families))),
            )
            return population.preference(
                scores[:, raters.index(me)], scores[:, peers], is_own, others, stratum
            )

        return rule if own_systems - {""} and peers else None

    def _same_number(self, analysis: Analysis) -> bool:
        """Whether every item has equally many raters of the panel.

        Otherwise its majority has no single law.
        """
        panel = analysis.raters if analysis.against in (None, "rest") else str(analysis.against)
        lines = [a for a in self.study.plan if a.panel == panel and a.when == "always"]
        set_lines = [a for a in lines if analysis.items and a.items == analysis.items] or lines
        limited = any(a.per_rater is not None or a.match is not None for a in set_lines)
        return not limited and len({a.raters_per_item for a in set_lines}) <= 1

    def selected(
        self,
        analysis: Analysis,
        criterion: Criterion,
        panel: str,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
    ) -> Matrix:
        """Codes after collapsing, of the group's systems, raters and items."""
        raw = self.batches.retained_labels(analysis, criterion, panel, group, batch, "")
        codes = np.asarray(code_table(analysis, criterion, labels)[raw], dtype=np.int64)
        if criterion.scope != "sentence" or analysis.spans not in {"all", "any"}:
            return codes
        units = self.batches.units(analysis, criterion, group, batch)
        return population.of_answers(codes, self.batches.world(batch).owner[units], analysis.spans)

    def _with_ties(
        self,
        analysis: Analysis,
        criterion: Criterion,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
        codes: Matrix,
    ) -> Matrix:
        """The panel's codes with the tie-breakers' where the panel conflicts without a majority."""
        units = self.batches.units(analysis, criterion, group, batch)
        tiebreak = analysis.options_as(ShareOptions).tiebreak
        raw = self.batches.all_labels(criterion, tiebreak, batch)[units]
        broken = np.asarray(code_table(analysis, criterion, labels)[raw], dtype=np.int64)
        tie_broken = self.batches.ties(tiebreak)[self.batches.item_of(criterion, batch)][units]
        torn = tie_broken & population.conflicting(codes, len(labels.names))
        return np.hstack([codes, np.where(torn[:, None], broken, -1)])

    def _abstained(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int
    ) -> float:
        raw = self.batches.retained_labels(analysis, criterion, analysis.raters, group, batch, "")
        n = int((raw != MISSING).sum())
        return float((raw == ABSTAINED).sum() / n) if n else float("nan")

    def _self(
        self,
        analysis: Analysis,
        criterion: Criterion,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
    ) -> float:
        recode = code_table(analysis, criterion, labels)
        first, second = (
            recode[
                self.batches.retained_labels(analysis, criterion, analysis.raters, group, batch, c)
            ]
            for c in ("", "again")
        )
        if criterion.scope == "sentence" and analysis.spans in {"all", "any"}:
            owner = self.batches.world(batch).owner[
                self.batches.units(analysis, criterion, group, batch)
            ]
            first, second = (
                population.of_answers(codes, owner, analysis.spans) for codes in (first, second)
            )
        both = (first >= 0) & (second >= 0)
        return float((first == second)[both].mean())
