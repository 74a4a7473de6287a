"""Extensions by blinded looks where ratings are clustered, and where there are several of them.

    python benchmarks/coverage_extension_clustered.py                 print the tables
    python benchmarks/coverage_extension_clustered.py --write         and write docs/coverage.md
    python benchmarks/coverage_extension_clustered.py --studies 2000  another number of studies

Looks at 1/2, or at 1/4, 1/2 and 3/4 of the units that are planned at that time, each of which can
extend the sample. Agreement: two raters label the units of items, such as several answers, yes or
no; kappa with the cluster-robust Wald interval (items, atanh scale, t). Comparison: two systems
answer each item, and each answer is rated by two of eight raters; difference of means, clustered
in items."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part
from scipy import stats

from konsil.study.definition.interim import InterimRule, extended_to

BEGIN, END = "<!-- clustered extension: begin -->", "<!-- clustered extension: end -->"
ONCE, THRICE = (0.5,), (0.25, 0.5, 0.75)
MOST = 4
"""The sample is extended to this multiple at most."""
RATERS, PER_ANSWER = 8, 2
CHUNK = 500


Needed = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Items with ratings and items in all, of every study -> items that are needed."""


@dataclass(frozen=True)
class Units:
    """A design of agreement."""

    kappa: float
    yes: float
    items: int
    units: int
    icc: float
    """The correlation of the kind of label (both yes, one, none) of two units of an item."""
    width: float
    """The half-width that is wanted."""


def kappa(ns: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Fleiss' kappa of two raters and the ends of its interval.

    `ns`: items; `sums`: units by kind (both yes, one, none); `squares`: sums over items of the
    products of their numbers of units by kind.
    """
    n = sums.sum(axis=-1)
    shares = sums / n[:, None]
    yes = shares[:, 0] + shares[:, 1] / 2
    expected = yes**2 + (1 - yes) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (1 - shares[:, 1] - expected) / (1 - expected)
        # d kappa = (d observed - (1 - kappa) d expected) / (1 - expected), by kind of unit.
        slope = (1 - value)[:, None] * (4 * yes - 2)[:, None]
        part = (np.array([1.0, 0.0, 1.0]) - slope * [1, 0.5, 0]) / (1 - expected)[:, None]
        part = part - (shares * part).sum(axis=-1, keepdims=True)
        variance = np.einsum("si,sij,sj->s", part, squares, part) / n**2 * ns / (ns - 1)
        reach = stats.t.ppf(0.975, ns - 1) * np.sqrt(variance) / (1 - value**2)
        return value, np.tanh(np.arctanh(value) - reach), np.tanh(np.arctanh(value) + reach)


def sizes_after(looks: tuple[float, ...], planned: int, needed_at: Needed) -> np.ndarray:
    """The items of each study after its looks."""
    present = np.asarray(planned)
    for look in looks:
        present = np.maximum(present, needed_at(np.ceil(look * present).astype(int), present))
    return np.minimum(present, MOST * planned)


def agreement(design: Units, studies: int, looks: tuple[float, ...]) -> tuple[float, ...]:
    """Coverage, undefined intervals left out; mean items; proportion with the wanted width."""
    rng = np.random.default_rng(7)
    mixed = 2 * design.yes * (1 - design.yes) * (1 - design.kappa)
    shares = np.array([design.yes - mixed / 2, mixed, 1 - design.yes - mixed / 2])
    rule = InterimRule(
        "agreement",
        "x",
        "extend",
        end="half_width",
        above=design.width,
        maximum=MOST * design.items,
    )
    out = []
    for start in range(0, studies, CHUNK):
        size = (min(CHUNK, studies - start), MOST * design.items)
        gamma = rng.standard_gamma(shares * (1 / design.icc - 1), size=(*size, 3))
        counts = rng.multinomial(design.units, gamma / gamma.sum(axis=-1, keepdims=True))
        sums = counts.cumsum(axis=1)
        squares = (counts[..., :, None] * counts[..., None, :]).cumsum(axis=1)
        study = np.arange(size[0])

        def at(n: np.ndarray) -> tuple[np.ndarray, ...]:
            last = np.broadcast_to(n, study.shape) - 1  # noqa: B023
            return kappa(last + 1, sums[study, last], squares[study, last])  # noqa: B023

        def needed(rated: np.ndarray, present: np.ndarray) -> np.ndarray:
            _, low, high = at(rated)
            expected = (high - low) / 2 * np.sqrt(rated / present)
            present = np.broadcast_to(present, expected.shape)
            wanted = [
                extended_to(rule, float(w), int(n)) or 0
                for w, n in zip(expected, present, strict=True)
            ]
            return np.minimum(wanted, MOST * design.items)

        final = np.broadcast_to(sizes_after(looks, design.items, needed), study.shape)
        value, low, high = at(final)
        out.append([value, low, high, final])
    value, low, high, final = np.concatenate(out, axis=1)
    is_defined = np.isfinite(low)
    covers = (low <= design.kappa) & (design.kappa <= high)
    return (
        float(covers[is_defined].mean()),
        float(final.mean()),
        float(((high - low) / 2 <= design.width * 1.1).mean()),
    )


def comparison(
    items: int, effect: float, by_rater: float, studies: int, looks: tuple[float, ...]
) -> tuple[float, float]:
    """Rejections of equality, and mean items.

    Ratings have variance 1.3**2 without the raters: of the item 0.3, of item and system 0.2, the
    rest of the rating. `by_rater` is the standard deviation of the difference between the systems
    over raters.
    """
    rng = np.random.default_rng(8)
    rule = InterimRule("standard_deviation", "x", "extend", above=1.0, maximum=MOST * items)
    most, rejected, sizes = MOST * items, [], []
    for _ in range(studies):
        own = rng.normal(size=(RATERS, 2)) * by_rater / math.sqrt(2)
        raters = np.stack(
            [(np.arange(most) * PER_ANSWER + k) % RATERS for k in range(PER_ANSWER)], 1
        )
        scores = 1.3 * (
            rng.normal(size=(most, 1, 1)) * math.sqrt(0.3)
            + rng.normal(size=(most, 1, 2)) * math.sqrt(0.2)
            + rng.normal(size=(most, PER_ANSWER, 2)) * math.sqrt(0.5)
        )
        scores += own[raters] + [effect, 0.0]

        def needed(rated: np.ndarray, _present: np.ndarray) -> np.ndarray:
            spread = float(scores[: int(rated)].std(ddof=1))  # noqa: B023
            # Of the planned items, also once there are more.
            return np.minimum(extended_to(rule, spread, items) or 0, most)

        n = int(sizes_after(looks, items, needed))
        differences = scores[:n].mean(axis=1) @ [1, -1]
        z = differences.mean() / (differences.std(ddof=1) / math.sqrt(n))
        rejected.append(abs(z) > stats.t.ppf(0.975, n - 1))
        sizes.append(n)
    return float(np.mean(rejected)), float(np.mean(sizes))


DESIGNS = (
    Units(0.7, 0.5, 100, 1, 0.001, 0.12),
    Units(0.9, 0.5, 100, 1, 0.001, 0.08),
    Units(0.4, 0.5, 25, 4, 0.3, 0.2),
    Units(0.7, 0.5, 25, 4, 0.3, 0.15),
    Units(0.7, 0.5, 100, 4, 0.3, 0.07),
    Units(0.6, 0.8, 100, 4, 0.3, 0.09),
)


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "### Several extensions, and clustered ratings",
        "",
        "Looks at half, or at 1/4, 1/2 and 3/4 of the tasks that are planned at that time, each of"
        f" which can extend the sample to {MOST} times its size at most; {studies:,} studies of each"
        " design. Kappa of two raters, with the cluster-robust Wald CI (items, atanh scale, t);"
        " several units of an item, such as answers of several systems, have intraclass correlation"
        " 0.3. “Reached”: the last half-width is at most a tenth above what is wanted.",
        "",
        "| kappa | yes | items | units of an item | half-width | coverage: fixed | one look |"
        " three looks | items, mean: one look | three looks | reached: fixed | one look |"
        " three looks |",
        "|" + "---|" * 13,
    ]
    for d in DESIGNS:
        fixed, once, thrice = (agreement(d, studies, looks) for looks in ((), ONCE, THRICE))
        lines.append(
            f"| {d.kappa:g} | {d.yes:g} | {d.items} | {d.units} | {d.width:g} | {fixed[0]:.3f} |"
            f" {once[0]:.3f} | {thrice[0]:.3f} | {once[1]:.0f} | {thrice[1]:.0f} |"
            f" {fixed[2]:.3f} | {once[2]:.3f} | {thrice[2]:.3f} |"
        )
    lines += [
        "",
        f"Difference of two systems on the same items, each answer rated by {PER_ANSWER} of {RATERS}"
        " raters; the rule is the pooled standard deviation (1.3 instead of the planned 1)."
        " “Raters”: the standard deviation over raters of the difference between the systems. The"
        " test, clustered in items, is of these raters alone; the line with 0.3 shows how often it"
        " rejects equality of the systems for all raters, of whom these are a sample.",
        "",
        "| items | difference | raters | rejected: fixed | one look | three looks |"
        " items, mean: one look | three looks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for items, effect, by_rater in ((32, 0.0, 0.0), (32, 0.5, 0.0), (12, 0.0, 0.0), (32, 0.0, 0.3)):
        fixed, once, thrice = (
            comparison(items, effect, by_rater, studies, looks) for looks in ((), ONCE, THRICE)
        )
        lines.append(
            f"| {items} | {effect:g} | {by_rater:g} | {fixed[0]:.3f} | {once[0]:.3f} |"
            f" {thrice[0]:.3f} | {once[1]:.0f} | {thrice[1]:.0f} |"
        )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
