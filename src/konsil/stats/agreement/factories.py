"""From the codes at hand to a statistic: factories of one shape for the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from konsil.stats.agreement import alpha
from konsil.stats.agreement.alpha import Level
from konsil.stats.engine.contract import Codes, Statistic
from konsil.stats.engine.distances import Weights

Values = tuple[float, ...] | None


class Factory(Protocol):
    """Makes a statistic for codes.

    `weights` None means the statistic's own, `level` matters to alpha alone.
    """

    def __call__(
        self, codes: Codes, weights: Weights | None = None, *, level: Level = "nominal"
    ) -> Statistic:
        """Return the statistic with its tally and finalise."""
        ...


def of_pairs(make: Callable[[int, int, Weights, Values], Statistic]) -> Factory:
    """Wrap make(n_raters, n_labels, weights, values), unweighted unless weights are given."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        chosen_weights: Weights = "unweighted" if weights is None else weights
        return make(codes.labels.shape[1], codes.n_labels, chosen_weights, codes.values)

    return factory


def of_units(
    make: Callable[[int, Weights, Values], Statistic], default: Weights = "unweighted"
) -> Factory:
    """Wrap make(n_labels, weights, values), with the default's weights unless others are given."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        return make(codes.n_labels, default if weights is None else weights, codes.values)

    return factory


def unweighted(name: str, make: Callable[[Codes], Statistic]) -> Factory:
    """Wrap make(codes) of a statistic that takes no weights, or whose name says them."""

    def factory(
        codes: Codes,
        weights: Weights | None = None,
        *,
        level: Level = "nominal",  # noqa: ARG001
    ) -> Statistic:
        if weights is not None:
            raise ValueError(f"{name}: got weights; expected none for this statistic")
        return make(codes)

    return factory


def alpha_of_level(
    codes: Codes, weights: Weights | None = None, *, level: Level = "nominal"
) -> Statistic:
    """Krippendorff's alpha with the level's difference, or with given agreement weights."""
    if weights is not None:
        return alpha.krippendorff_alpha_weighted(codes.n_labels, weights, codes.values)
    return alpha.krippendorff_alpha(codes.n_labels, level, codes.values)
