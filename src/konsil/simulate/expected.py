"""The true values of analyses: large samples of new items from the model, plain formulas on their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from konsil.analysis import Analysis, Row
from konsil.analysis.coding import Labels, labels_of
from konsil.instrument import Criterion
from konsil.plan import generator
from konsil.plan.pairing import rotation
from konsil.records import Rater
from konsil.simulate import population
from konsil.simulate.panel import cut, labeller
from konsil.simulate.population import Array, Matrix
from konsil.simulate.truth import CriterionTruth, Truth
from konsil.simulate.world import World, large_world
from konsil.study import Study

BATCHES = 20
ITEMS = 3_000
"""New items of a batch."""


@dataclass
class Expected:
    """The true values of a study's analyses under a truth, batch by batch of new items."""

    study: Study
    truth: Truth
    seed: int | None
    _worlds: dict[int, World] = field(default_factory=dict)
    _matrices: dict[tuple[str, str, int], Matrix] = field(default_factory=dict)

    def values(self, analysis: Analysis, row: Row) -> Array | None:
        """The row's true value in each batch, or None where the model does not give it."""
        derived = {d.name for d in self.study.derived} & {*analysis.where, *analysis.by}
        if derived or analysis.weights not in {"", "unweighted"}:
            return None
        criterion = self._criterion(analysis)
        rule = None if criterion is None else self._rule(analysis, criterion, row)
        if rule is None:
            return None
        return np.array([rule(batch) for batch in range(BATCHES)], dtype=np.float64)

    def _criterion(self, analysis: Analysis) -> Criterion | None:
        wanted = analysis.where.get("instrument", ())
        found = [
            c
            for i in self.study.instruments
            if not wanted or i.id in wanted
            for c in i.criteria
            if c.id == analysis.criterion and c.scope in ("answer", "item") and c.scale.kind == "choice"
        ]
        return found[0] if found else None

    def _rule(self, analysis: Analysis, criterion: Criterion, row: Row) -> Callable[[int], float] | None:
        depends = analysis.consensus != "none" or analysis.against is not None
        if depends and not self._same_number(analysis):
            return None
        if analysis.against not in (None, "rest"):
            return self._against_panel(analysis, criterion, row)
        one = self._of_group(analysis, criterion, row.group)
        if one is None or row.kind != "difference":
            return one
        other = self._of_group(analysis, criterion, {**row.group, **row.versus})
        if other is None:
            return None
        minuend, subtrahend = one, other
        return lambda batch: minuend(batch) - subtrahend(batch)

    def _of_group(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
    ) -> Callable[[int], float] | None:
        labels = labels_of(analysis, criterion)
        k, values = len(labels.names), np.asarray(labels.values, dtype=np.float64)
        name = analysis.statistic
        steps = _steps(labels)

        def codes(batch: int) -> Matrix:
            return self._selected(analysis, criterion, analysis.raters, group, batch, labels)

        if name == "abstention":
            return lambda batch: self._abstained(analysis, criterion, group, batch)
        if name == "self_agreement":
            return lambda batch: self._self(analysis, criterion, group, batch, labels)
        if name in ("share", "mean"):
            successes = [labels.names.index(label) for label in analysis.of]
            return lambda batch: _proportion(name, codes(batch), analysis.consensus, k, values, successes)
        if analysis.against == "rest":
            if name not in population.PAIRWISE:
                return None
            return lambda batch: population.against_rest(name, codes(batch), k, steps)
        if name in population.PAIRWISE:
            return lambda batch: population.pairwise(name, codes(batch), k, steps)
        if name in population.PANEL:
            return lambda batch: population.of_panel(name, codes(batch), k, values, labels.level)
        return None

    def _against_panel(self, analysis: Analysis, criterion: Criterion, row: Row) -> Callable[[int], float] | None:
        name = analysis.statistic
        if analysis.mode != "valid" or name not in population.PAIRWISE:
            return None
        labels = labels_of(analysis, criterion)
        k, values = len(labels.names), _steps(labels)
        others = {c: v for c, v in row.group.items() if c != "rater"}

        def rule(batch: int) -> float:
            panel = self._selected(analysis, criterion, str(analysis.against), others, batch, labels)
            judges = self._selected(analysis, criterion, analysis.raters, row.group, batch, labels)
            both = [population.judge_and_ceiling(name, panel, judges[:, j], k, values) for j in range(judges.shape[1])]
            return float(np.mean([j - c if row.kind == "difference" else j for j, c in both]))

        return rule

    def _same_number(self, analysis: Analysis) -> bool:
        """Whether every item has equally many raters of the panel; otherwise its majority has no single law."""
        panel = analysis.raters if analysis.against in (None, "rest") else str(analysis.against)
        lines = [a for a in self.study.plan if a.panel == panel and a.when == "always"]
        own = [a for a in lines if analysis.items and a.items == analysis.items] or lines
        limited = any(a.per_rater is not None or a.match is not None for a in own)
        return not limited and len({a.raters_per_item for a in own}) <= 1

    def _selected(
        self,
        analysis: Analysis,
        criterion: Criterion,
        panel: str,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
    ) -> Matrix:
        """Codes after collapsing, of the group's systems and raters; strata of items play no part in the model."""
        raw = self._kept(analysis, criterion, panel, group, batch, "")
        return np.asarray(_recode(analysis, criterion, labels)[raw], dtype=np.int64)

    def _kept(
        self,
        analysis: Analysis,
        criterion: Criterion,
        panel: str,
        group: Mapping[str, str],
        batch: int,
        context: str,
    ) -> Matrix:
        wanted = {c: {v} for c, v in group.items()}
        for column, allowed in analysis.where.items():
            wanted[column] = wanted.get(column, set(allowed)) & set(allowed)
        raw, world = self._raw(criterion, panel, batch, context), self._world(batch)
        if criterion.scope == "answer" and "system" in wanted:
            systems = [n for n, s in enumerate(world.systems) if s in wanted["system"]]
            raw = raw[np.isin(world.answers.system_of, systems)]
        columns = [
            n
            for n, rater in enumerate(self.study.panels()[panel])
            if all(_attribute(rater, c) in (None, *v) for c, v in wanted.items())
        ]
        return raw[:, columns]

    def _abstained(self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int) -> float:
        kept = self._kept(analysis, criterion, analysis.raters, group, batch, "")
        return float((kept == _ABSTAINED).sum() / (kept != _MISSING).sum())

    def _self(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int, labels: Labels
    ) -> float:
        recode = _recode(analysis, criterion, labels)
        first, second = (
            recode[self._kept(analysis, criterion, analysis.raters, group, batch, c)] for c in ("", "again")
        )
        both = (first >= 0) & (second >= 0)
        return float((first == second)[both].mean())

    def _world(self, batch: int) -> World:
        if batch not in self._worlds:
            systems = [s.id for s in self.study.systems]
            families = {s.id: s.family for s in self.study.systems}
            own = int(generator(self.study.seed, "recovery", batch).integers(2**62))
            self._worlds[batch] = large_world(ITEMS, systems, families, self.truth, own)
        return self._worlds[batch]

    def _raw(self, criterion: Criterion, panel: str, batch: int, context: str) -> Matrix:
        """Numbers of the scale's labels for every unit and rater of a panel, (n_units, n_raters)."""
        key = (f"{criterion.id} {context}", panel, batch)
        if key not in self._matrices:
            self._matrices[key] = self._label(criterion, self.study.panels()[panel], batch, context)
        return self._matrices[key]

    def _label(self, criterion: Criterion, raters: Sequence[Rater], batch: int, context: str) -> Matrix:
        world = self._world(batch)
        told = self.truth.criteria.get(criterion.id, CriterionTruth())
        # The raters of the study, or new ones of the same model in every batch.
        seed = world.seed if self.seed is None else self.seed
        columns = []
        for rater in raters:
            one = labeller(world, rater, self.truth, seed)
            if criterion.scope == "answer":
                y, item_of = one.impression(world.answers, criterion, context), world.answers.item_of
            else:
                y, item_of = one.about_items(criterion, context), world.every_item()
            codes = cut(y, criterion, told, self.truth.label_width)
            columns.append(np.where(one.abstains(criterion, item_of, context), _ABSTAINED, codes))
        matrix = np.column_stack(columns).astype(np.int64)
        lines = [a for a in self.study.plan if a.panel == raters[0].panel and a.when == "always"]
        asked = {a.raters_per_item for a in lines}
        wanted = next(iter(asked)) if len(asked) == 1 else None
        if wanted is not None:
            seen = np.zeros((len(world.difficulty), len(raters)), dtype=np.bool_)
            for item, chosen in enumerate(rotation(len(world.difficulty), len(raters), wanted)):
                seen[item, list(chosen)] = True
            matrix[~seen[item_of]] = _MISSING
        return matrix


_ABSTAINED = -1
_MISSING = -2


def _recode(analysis: Analysis, criterion: Criterion, labels: Labels) -> Matrix:
    """From the scale's label numbers to the analysis' codes; the last two places are missing and abstained."""
    numbers = labels.codes()
    abstained = numbers.get(labels.abstain, -1) if labels.abstain is not None else -1
    codes = [numbers.get(analysis.collapse.get(label, label), -1) for label in criterion.scale.labels]
    return np.array([*codes, -1, abstained], dtype=np.int64)


def _attribute(rater: Rater, column: str) -> str | None:
    """A column's value for a rater; None for columns that are not about raters."""
    own = {"rater": rater.id, "family": rater.family, "kind": rater.kind, "panel": rater.panel}
    return own.get(column, rater.strata.get(column))


def _steps(labels: Labels) -> Array:
    """Labels of an ordinal scale are steps apart, whatever their numbers; so weighted kappa takes them."""
    if labels.level in {"nominal", "ordinal"}:
        return np.arange(len(labels.names), dtype=np.float64)
    return np.asarray(labels.values, dtype=np.float64)


def _proportion(name: str, codes: Matrix, consensus: str, k: int, values: Array, successes: Sequence[int]) -> float:
    if consensus == "majority":
        codes = population.majority(codes, k)[:, None]
    given = codes >= 0
    numbers = np.isin(codes, successes).astype(np.float64) if name == "share" else values[np.maximum(codes, 0)]
    if consensus == "mean":
        some = given.any(axis=1)
        return float((np.where(given, numbers, 0.0).sum(axis=1)[some] / given.sum(axis=1)[some]).mean())
    return float(numbers[given].mean())
