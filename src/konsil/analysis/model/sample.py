"""One group's ratings as codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.contract import Codes
from konsil.stats.engine.renumbering import renumbered


@dataclass(frozen=True)
class Sample:
    """One group's ratings as codes."""

    codes: Codes
    """Units x raters."""
    raters: tuple[str, ...]
    """The columns' raters, sorted."""
    units: tuple[str, ...]
    """The rows' subjects, sorted."""
    clusters: tuple[str, ...]
    """The clusters' names, sorted; row c of a tally is clusters[c]."""

    @property
    def n_ratings(self) -> int:
        """How many labels there are."""
        return int((self.codes.labels >= 0).sum())

    @property
    def n_units(self) -> int:
        """Units with at least one label."""
        return int((self.codes.labels >= 0).any(axis=1).sum()) if self.codes.labels.size else 0

    @property
    def n_raters(self) -> int:
        """Raters with at least one label."""
        return int((self.codes.labels >= 0).any(axis=0).sum()) if self.codes.labels.size else 0

    def clusters_rated(self) -> list[frozenset[int]]:
        """The clusters in which each rater gave a label, by number."""
        rated = self.codes.labels >= 0
        return [
            frozenset(self.codes.clusters[rated[:, n]].tolist()) for n in range(len(self.raters))
        ]

    def with_labels_of(self, units: NDArray[np.bool_]) -> Sample:
        """The labels of some units alone: the others remain without one, and so count for nothing.

        Itself where no other unit has a label. `units`: (n_units,).
        """
        labels = self.codes.labels
        if not (labels[~units] >= 0).any():
            return self
        codes = replace(self.codes, labels=np.where(units[:, None], labels, -1))
        return replace(self, codes=codes)

    def part(self, rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]) -> Sample:
        """These units alone, with their clusters numbered anew."""
        used, clusters = renumbered(self.codes.clusters[rows])
        codes = replace(
            self.codes,
            labels=self.codes.labels[rows],
            clusters=clusters.astype(self.codes.clusters.dtype),
        )
        units = tuple(self.units[n] for n in rows)
        return Sample(codes, self.raters, units, tuple(self.clusters[c] for c in used))


def judges_and_panel(panel: Sample, judges: Sample) -> tuple[Codes, tuple[str, ...]]:
    """Columns of both on the panel's units and clusters: the panel's raters, then the judges.

    Units that only judges rated carry no information on agreement with the panel and are excluded.
    """
    row = {unit: n for n, unit in enumerate(panel.units)}
    both = np.full(
        (len(panel.units), judges.codes.labels.shape[1]), -1, dtype=panel.codes.labels.dtype
    )
    place = np.array([row.get(unit, -1) for unit in judges.units], dtype=np.int64)
    both[place[place >= 0]] = judges.codes.labels[place >= 0]
    labels = np.concatenate([panel.codes.labels, both], axis=1)
    return replace(panel.codes, labels=labels), judges.raters
