"""Large samples of a study: batches of new items with the labels of its raters.

The raters see the items that the study's plan assigns to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from konsil.analysis import Analysis
from konsil.instrument import Criterion
from konsil.plan import generator
from konsil.plan.draw.pairing import rotation
from konsil.records import Item, Rater
from konsil.simulate.panel import cut, labeller
from konsil.simulate.population import Array, Matrix
from konsil.simulate.true_values.selection import (
    Bools,
    attribute,
    in_bin,
    selected_values,
    visible_lines,
)
from konsil.simulate.truth import CriterionTruth, Truth
from konsil.simulate.world import Units, World, large_world
from konsil.study import Study

BATCHES = 20
ITEMS = 3_000
"""New items of a batch; a third of them where their answers' sentences are rated."""
ABSTAINED, MISSING = -1, -2
"""What stands in a matrix of raw labels where there is none."""

Cases = tuple[tuple[Item, ...], ...]
Lengths = Mapping[str, Sequence[int]]


@dataclass
class Batches:
    """The labels of a study's raters on batches of new items, made when they are asked for."""

    study: Study
    truth: Truth
    seed: int | None
    """What made the raters; None: new raters of the same model in every batch."""
    sets: Mapping[str, int] = field(default_factory=dict)
    """Set -> its items in the study; a batch has sets in the same proportions. Empty: nothing is
    known of sets."""
    cases: Cases = ()
    """The study's cases and their versions; a batch has cases like these. Empty: items differ by
    their sets alone."""
    lengths: Lengths = field(default_factory=dict)
    """System -> how many sentences each of its answers has. Empty: each has as many as are rated of
    one."""
    _worlds: dict[int, World] = field(default_factory=dict)
    _labels: dict[tuple[str, str, str, str, int], Matrix] = field(default_factory=dict)
    _sampled: dict[int, Bools] = field(default_factory=dict)
    _visible: dict[str, Bools] = field(default_factory=dict)
    _chosen: dict[tuple[str, frozenset[tuple[str, frozenset[str]]]], Bools] = field(
        default_factory=dict
    )

    def world(self, batch: int) -> World:
        """The items of a batch and their answers."""
        if batch not in self._worlds:
            systems = [s.id for s in self.study.systems]
            families = {s.id: s.family for s in self.study.systems}
            batch_seed = int(generator(self.study.seed, "recovery", batch).integers(2**62))
            versions = [[item.strata for item in case] for case in self.cases] or [[{}]]
            n = self.n_items
            lengths = self.lengths or dict.fromkeys(systems, (self.n_sentences,))
            self._worlds[batch] = large_world(
                n, systems, families, self.truth, batch_seed, lengths, versions
            )
        return self._worlds[batch]

    @property
    def n_items(self) -> int:
        """The items of a batch."""
        n_versions, max_items = (
            sum(map(len, self.cases)),
            ITEMS // (3 if self.n_sentences or self.lengths else 1),
        )
        return max(1, max_items // n_versions) * n_versions if n_versions else max_items

    @property
    def n_sentences(self) -> int:
        """How many sentences of an answer are rated at most; 0: no number is stated."""
        return max((a.spans or 0 for a in self.study.plan), default=0)

    @cached_property
    def strata(self) -> Mapping[str, NDArray[np.str_]]:
        """Column -> its value for every item of a batch, the same in every batch.

        Empty where it has none.
        """
        version_strata = [item.strata for case in self.cases for item in case]
        again = self.n_items // max(1, len(version_strata))
        return {
            c: np.tile([values.get(c, "") for values in version_strata], again)
            for c in dict.fromkeys(c for s in version_strata for c in s)
        }

    @cached_property
    def set_of(self) -> NDArray[np.str_]:
        """The set of every item of a batch, the same in every batch; empty where none is known."""
        if self.cases:
            item_sets = [
                next((s for s in item.sets if s in self.sets), "")
                for case in self.cases
                for item in case
            ]
            return np.tile(np.asarray(item_sets), self.n_items // len(item_sets))
        names = list(self.sets) or [""]
        ends = np.cumsum([self.sets.get(n, 1) for n in names]) / sum(
            self.sets.get(n, 1) for n in names
        )
        return np.asarray(names)[
            np.searchsorted(ends, (np.arange(self.n_items) + 0.5) / self.n_items)
        ]

    def item_of(self, criterion: Criterion, batch: int) -> NDArray[np.int64]:
        """The item of every unit that a criterion is asked about."""
        units = self._units(criterion, batch)
        return self.world(batch).every_item() if units is None else units.item_of

    def _units(self, criterion: Criterion, batch: int) -> Units | None:
        world = self.world(batch)
        return {"answer": world.answers, "sentence": world.sentences}.get(criterion.scope)

    def all_labels(self, criterion: Criterion, panel: str, batch: int, context: str = "") -> Matrix:
        """Label numbers for every unit and rater of a panel, (n_units, n_raters).

        They are numbers of the scale's labels, whoever sees the units.
        """
        key = (self.instrument_of(criterion), criterion.id, panel, context, batch)
        if key not in self._labels:
            self._labels[key] = self._label(criterion, self.study.members(panel), batch, context)
        return self._labels[key]

    def labels(self, criterion: Criterion, panel: str, batch: int, context: str = "") -> Matrix:
        """The same, missing where the plan gives the rater no task on the item."""
        return self._in_sight(criterion, panel, batch, context, slice(None))

    def _in_sight(
        self, criterion: Criterion, panel: str, batch: int, context: str, units: Bools | slice
    ) -> Matrix:
        labels = self.all_labels(criterion, panel, batch, context)[units]
        visible = self.visible_items(panel)[self.item_of(criterion, batch)[units]]
        return np.where(visible, labels, MISSING)

    def instrument_of(self, criterion: Criterion) -> str:
        """The instrument that asks a criterion; of two that ask alike, each has its own."""
        return next(
            (i.id for i in self.study.instruments if any(c is criterion for c in i.criteria)), ""
        )

    def _label(
        self, criterion: Criterion, raters: Sequence[Rater], batch: int, context: str
    ) -> Matrix:
        world = self.world(batch)
        criterion_truth = self.truth.criteria.get(criterion.id, CriterionTruth())
        seed = world.seed if self.seed is None else self.seed
        instrument = self.instrument_of(criterion)
        columns = []
        for rater in raters:
            rater_labeller = labeller(world, rater, self.truth, seed).under(instrument)
            units = self._units(criterion, batch)
            y = (
                rater_labeller.about_items(criterion, context)
                if units is None
                else rater_labeller.impression(units, criterion, context)
            )
            codes = cut(y, criterion, criterion_truth, self.truth.label_width)
            silent = rater_labeller.abstains(criterion, self.item_of(criterion, batch), context)
            columns.append(np.where(silent, ABSTAINED, codes))
        return np.column_stack(columns).astype(np.int64)

    def visible_items(self, panel: str) -> Bools:
        """Which rater of a panel sees which item of a batch, (n_items, n_raters)."""
        if panel not in self._visible:
            self._visible[panel] = self._sights(panel)
        return self._visible[panel]

    def _sights(self, panel: str) -> Bools:
        if panel in self.study.together:
            return np.hstack([self.visible_items(part) for part in self.study.together[panel]])
        n = len(self.study.members(panel))
        lines = list(visible_lines(self.study, panel))
        if not self.sets:
            # Nothing is known of sets: one line's number of raters where all lines have the same.
            lines = [("", lines[0][1])] if len({n_raters for _, n_raters in lines}) == 1 else []
        named = {*self.sets, ""}
        visible = np.zeros((self.n_items, n), dtype=np.bool_)
        for name, n_raters in lines:
            if name in named:
                places = np.flatnonzero(self.set_of == name) if name else np.arange(self.n_items)
                if n_raters is None:
                    visible[places] = True
                    continue
                for place, raters in zip(places, rotation(len(places), n, n_raters), strict=True):
                    visible[place, list(raters)] = True
        return visible if lines else np.ones((self.n_items, n), dtype=np.bool_)

    def ties(self, panel: str) -> Bools:
        """The items on which a panel breaks ties, (n_items,)."""
        lines = [a for a in self.study.plan if a.panel == panel and a.when == "disagreed"]
        every = any(not a.items for a in lines)
        return np.asarray(np.isin(self.set_of, [a.items for a in lines]) | every, dtype=np.bool_)

    def retained_labels(
        self,
        analysis: Analysis,
        criterion: Criterion,
        panel: str,
        group: Mapping[str, str],
        batch: int,
        context: str,
    ) -> Matrix:
        """Raw labels of the group's systems, raters and items.

        Without cases, items' strata are ignored.
        """
        units, columns = (
            self.units(analysis, criterion, group, batch),
            self.columns(analysis, panel, group),
        )
        return self._in_sight(criterion, panel, batch, context, units)[:, columns]

    def columns(self, analysis: Analysis, panel: str, group: Mapping[str, str]) -> list[int]:
        """The places of the group's raters in their panel."""
        values_by_column = selected_values(analysis, group)
        return [
            n
            for n, rater in enumerate(self.study.members(panel))
            if all(attribute(rater, c) in (None, *v) for c, v in values_by_column.items())
        ]

    def units(
        self, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int
    ) -> Bools:
        """Which units are in the analysis' set and in the group, (n_units,)."""
        values_by_column, world = selected_values(analysis, group), self.world(batch)
        items = self._items(analysis.items if self.sets else "", values_by_column)
        for derived in self.study.derived:
            if derived.name in values_by_column:
                values = self.derived(derived.name, batch)
                items = items & np.any(
                    [
                        in_bin(values, b)
                        for b in derived.bins
                        if b.label in values_by_column[derived.name]
                    ],
                    axis=0,
                )
        units = items[self.item_of(criterion, batch)]
        rated = self._units(criterion, batch)
        if rated is not None and "system" in values_by_column:
            is_selected = np.array(
                [system in values_by_column["system"] for system in world.systems], dtype=np.bool_
            )
            units = units & is_selected[rated.system_of]
        if criterion.scope == "sentence":
            units = units & self.sampled(batch)
        return np.asarray(units, dtype=np.bool_)

    def _items(self, of_set: str, values_by_column: Mapping[str, set[str]]) -> Bools:
        """Which items are in a set and have the selected strata, (n_items,).

        They are the same in every batch.
        """
        strata = {
            column: frozenset(values)
            for column, values in values_by_column.items()
            if column in self.strata
        }
        key = of_set, frozenset(strata.items())
        if key not in self._chosen:
            items = self.set_of == of_set if of_set else np.ones(self.n_items, dtype=np.bool_)
            for column, values in strata.items():
                items = items & np.isin(self.strata[column], list(values))
            self._chosen[key] = np.asarray(items, dtype=np.bool_)
        return self._chosen[key]

    def sampled(self, batch: int) -> Bools:
        """Which sentences of a batch are rated, (n_sentences,).

        Up to `n_sentences` of each answer are rated, the same ones by all raters; 0: all of them.
        """
        if batch not in self._sampled:
            self._sampled[batch] = self._sample(self.world(batch))
        return self._sampled[batch]

    def _sample(self, world: World) -> Bools:
        if not self.n_sentences:
            return np.ones(len(world.owner), dtype=np.bool_)
        chance = generator(world.seed, "recovery", "sampled").random(len(world.owner))
        place = np.empty(len(chance), dtype=np.int64)
        # Answers keep their places in this order, so that a sentence's rank in its answer is its
        # distance to the first.
        place[np.lexsort((chance, world.owner))] = np.arange(len(chance))
        return np.asarray(
            place - world.first_sentence[world.owner] < self.n_sentences, dtype=np.bool_
        )

    def derived(self, name: str, batch: int) -> Array:
        """A derived column: the mean number that its panel gave each item, (n_items,).

        It is nan where no rater gave a number.
        """
        [definition] = [d for d in self.study.derived if d.name == name]
        [criterion] = [
            c for i in self.study.instruments for c in i.criteria if c.id == definition.criterion
        ][:1]
        raw = self.labels(criterion, definition.raters, batch)
        numbers = np.append(np.asarray(criterion.scale.numbers(), dtype=np.float64), [0.0, 0.0])[
            raw
        ]
        rated, item_of = raw >= 0, self.item_of(criterion, batch)
        total = np.bincount(item_of, np.where(rated, numbers, 0.0).sum(axis=1), self.n_items)
        count = np.bincount(item_of, rated.sum(axis=1), self.n_items)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
