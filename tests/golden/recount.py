"""Numbers of a study recounted from its exported CSV, by pandas, SciPy and other packages; nothing
here is konsil's.

Statistics are written down a second time, as functions of sums over items, so that intervals can be
recounted too."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, special, stats
from scipy.optimize import brentq
from statsmodels.stats.proportion import proportion_confint

Statistic = Callable[[np.ndarray], np.ndarray]
"""Totals (..., m) -> values (...)."""


@dataclass(frozen=True)
class Number:
    """One number: sums over items, what is made of their totals, and what was used."""

    sums: np.ndarray
    """(n_items, m): one row an item that has any unit."""
    value_of: Statistic
    units: int
    raters: int
    ratings: int
    items: tuple[str, ...]
    """The items of the rows."""
    cells: pd.DataFrame | None = None
    """item, rater and the columns of sums, one row a rating, where the number is a ratio of sums of
    ratings."""

    @property
    def value(self) -> float:
        return float(self.value_of(self.sums.sum(axis=0)))

    @property
    def clusters(self) -> int:
        """Items that say something."""
        return int((self.sums != 0).any(axis=1).sum())


def minus(a: Number, b: Number) -> Number:
    """A difference on the items of both."""
    items = tuple(sorted({*a.items, *b.items}))
    k = a.sums.shape[1]
    sums = np.zeros((len(items), k + b.sums.shape[1]))
    for number, columns in ((a, slice(0, k)), (b, slice(k, None))):
        sums[[items.index(i) for i in number.items], columns] = number.sums
    return Number(
        sums,
        lambda t: a.value_of(t[..., :k]) - b.value_of(t[..., k:]),
        a.units,
        a.raters,
        a.ratings + b.ratings,
        items,
    )


class Records:
    """The exported records of a study as data frames."""

    def __init__(self, folder: Path) -> None:
        read = {
            n: pd.read_csv(folder / f"{n}.csv", keep_default_na=False)
            for n in ("ratings", "tasks", "items", "answers", "raters")
        }
        self.tasks, self.items, self.answers, self.raters = (
            read[n] for n in ("tasks", "items", "answers", "raters")
        )
        ratings = read["ratings"].rename(columns={"instrument": "digest"})
        ratings["answer"] = ratings["answers"].map(lambda text: " | ".join(json.loads(text)))
        known = self.tasks[["id", "instrument", "purpose", "repeat_of", "phase", "arm"]].rename(
            columns={"id": "task"}
        )
        ratings = ratings.merge(known, on="task", validate="many_to_one")
        ratings = ratings.merge(
            self.raters[["id", "panel", "kind"]].rename(columns={"id": "rater"}), on="rater"
        )
        whose = dict(zip(self.answers["id"], self.answers["system"], strict=True))
        ratings["system"] = ratings["answer"].map(
            lambda shown: " | ".join(whose[a] for a in shown.split(" | ")) if shown else ""
        )
        self.strata = {
            i: json.loads(s) for i, s in zip(self.items["id"], self.items["strata"], strict=True)
        }
        self.ratings = ratings

    def chosen(self, criterion: str, panel: str, **equal: str) -> pd.DataFrame:
        """First ratings of a panel on a criterion, where columns or strata of the item have these
        values."""
        rows = self.ratings
        rows = rows[
            (rows["criterion"] == criterion)
            & (rows["panel"] == panel)
            & (rows["purpose"] != "repeat")
        ]
        for column, value in equal.items():
            column_values = (
                rows[column]
                if column in rows
                else rows["item"].map(lambda i, c=column: self.strata[i].get(c))
            )
            rows = rows[column_values == value]
        return rows


def wide(chosen: pd.DataFrame, labels: list[str], raters: list[str] | None = None) -> pd.DataFrame:
    """Units by rater: the label's place in the order, -1 where there is none. Units: (item, answer,
    span)."""
    codes = chosen["label"].map({label: n for n, label in enumerate(labels)}).fillna(-1).astype(int)
    codes = codes.where(chosen["state"] == "rated", -1)
    table = chosen.assign(code=codes).pivot_table(
        index=["item", "answer", "span"],
        columns="rater",
        values="code",
        aggfunc="max",
        fill_value=-1,
    )
    return table.reindex(columns=raters or sorted(table.columns), fill_value=-1).astype(int)


def majority(codes: np.ndarray, k: int) -> np.ndarray:
    """The label of strictly more than half of those who gave one; -1 without."""
    n_labels = (codes >= 0).sum(axis=1)
    decided = np.full(len(codes), -1)
    for label in range(k):
        decided[2 * (codes == label).sum(axis=1) > n_labels] = label
    return decided


def by_item(table: pd.DataFrame, rows: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows of units summed within their items."""
    items = table.index.get_level_values("item")
    sums = pd.DataFrame(rows).groupby(np.asarray(items), sort=True).sum()
    return sums.to_numpy(dtype=float), tuple(sums.index)


def _ratio(totals: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return totals[..., 0] / totals[..., 1]


def share_of(table: pd.DataFrame, hits: np.ndarray, raters: int | None = None) -> Number:
    """Share of hits among the labels; `hits` says of every code in the table whether it is one."""
    codes = table.to_numpy()
    is_rated = codes >= 0
    good = is_rated & hits
    sums, items = by_item(table, np.column_stack([good.sum(axis=1), is_rated.sum(axis=1)]))
    unit, rater = np.nonzero(is_rated)
    cells = None
    if table.shape[1] > 1:
        unit_items = np.asarray(table.index.get_level_values("item"))[unit]
        cells = pd.DataFrame(
            {"item": unit_items, "rater": rater, "a": good[is_rated].astype(float), "b": 1.0}
        )
    n_raters = int(is_rated.any(axis=0).sum()) if raters is None else raters
    return Number(
        sums, _ratio, int(is_rated.any(axis=1).sum()), n_raters, int(is_rated.sum()), items, cells
    )


def pair_tables(first: np.ndarray, second: np.ndarray, k: int) -> np.ndarray:
    """(units, columns) twice -> (units, columns * k * k): each unit's place in the table of every
    two columns."""
    units, columns = first.shape
    out = np.zeros((units, columns, k * k))
    both = (first >= 0) & (second >= 0)
    unit, column = np.nonzero(both)
    out[unit, column, (first * k + second)[both]] = 1
    return out.reshape(units, -1)


def of_tables(k: int, statistic: str) -> Callable[[np.ndarray], np.ndarray]:
    """(..., tables, k, k) -> (...): the statistic of each table, and the mean of those that are
    defined."""
    places = np.arange(k)
    equal = np.eye(k, dtype=bool)
    near = np.abs(places[:, None] - places) <= 1

    def value(totals: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            tables = totals.reshape(*totals.shape[:-1], -1, k, k)
            n = tables.sum(axis=(-1, -2))
            observed = (tables * (near if statistic == "within_one" else equal)).sum(
                axis=(-1, -2)
            ) / n
            if statistic in {"percent_agreement", "within_one"}:
                each = observed
            elif statistic == "pabak":
                each = (k * observed - 1) / (k - 1)
            else:
                by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / n**2
                each = (observed - by_chance) / (1 - by_chance)
        counted = np.isfinite(each)
        total = np.where(counted, each, 0).sum(axis=-1)
        return np.where(counted.any(axis=-1), total / np.maximum(counted.sum(axis=-1), 1), np.nan)

    return value


def among(table: pd.DataFrame, k: int, statistic: str) -> Number:
    """A statistic of two raters, averaged over the pairs of raters."""
    codes = table.to_numpy()
    a, b = zip(*itertools.combinations(range(codes.shape[1]), 2), strict=True)
    sums, items = by_item(table, pair_tables(codes[:, list(a)], codes[:, list(b)], k))
    is_rated = codes >= 0
    return Number(
        sums,
        of_tables(k, statistic),
        int(is_rated.any(axis=1).sum()),
        codes.shape[1],
        int(is_rated.sum()),
        items,
    )


def gwet_ac1(table: pd.DataFrame, k: int) -> Number:
    """Gwet's AC1 with missing labels: agreement over units with two labels, chance over all with
    one."""
    codes = table.to_numpy()
    counts = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1)
    n = counts.sum(axis=1)
    pairs = np.where(n > 1, (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1), 0.0)
    shares = counts / np.maximum(n, 1)[:, None]
    sums, items = by_item(table, np.column_stack([pairs, n > 1, shares, n > 0]))

    def value(t: np.ndarray) -> np.ndarray:
        frequency = t[..., 2 : 2 + k] / t[..., 2 + k :]
        chance = (frequency * (1 - frequency)).sum(axis=-1) / (k - 1)
        return (t[..., 0] / t[..., 1] - chance) / (1 - chance)

    is_rated = codes >= 0
    return Number(
        sums, value, int(is_rated.any(axis=1).sum()), codes.shape[1], int(is_rated.sum()), items
    )


def ordinal_alpha(table: pd.DataFrame, k: int) -> Number:
    """Krippendorff's alpha with his ordinal difference, from coincidences."""
    codes = table.to_numpy()
    counts = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1).astype(float)
    m = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)
    coincidences = np.where(m[:, None, None] > 1, pairs / np.maximum(m - 1, 1)[:, None, None], 0.0)
    sums, items = by_item(table, coincidences.reshape(len(codes), -1))

    def value(t: np.ndarray) -> np.ndarray:
        o = t.reshape(*t.shape[:-1], k, k)
        margin = o.sum(axis=-1)
        upto = np.cumsum(margin, axis=-1) - margin / 2
        d = (upto[..., :, None] - upto[..., None, :]) ** 2
        total = margin.sum(axis=-1)
        expected = (margin[..., :, None] * margin[..., None, :] * d).sum(axis=(-1, -2)) / (
            total - 1
        )
        return 1 - (o * d).sum(axis=(-1, -2)) / expected

    # A label without a second one beside it is in no pair.
    is_rated = (codes >= 0) & (m > 1)[:, None]
    return Number(
        sums, value, int(is_rated.any(axis=1).sum()), codes.shape[1], int(is_rated.sum()), items
    )


def against_rest(table: pd.DataFrame, k: int) -> Number:
    """Kappa of each rater with the majority of the others, averaged over the raters."""
    codes = table.to_numpy()
    rest = np.column_stack(
        [majority(np.delete(codes, r, axis=1), k) for r in range(codes.shape[1])]
    )
    sums, items = by_item(table, pair_tables(codes, rest, k))
    # Units on which no rater meets a majority of the others are in no table.
    meets = ((codes >= 0) & (rest >= 0)).any(axis=1)
    is_rated = (codes >= 0) & meets[:, None]
    value = of_tables(k, "cohen_kappa")
    return Number(
        sums, value, int(is_rated.any(axis=1).sum()), codes.shape[1], int(is_rated.sum()), items
    )


def judge_and_ceiling(
    panel: pd.DataFrame, judge: pd.Series, k: int
) -> tuple[Number, Number, Number]:
    """A judge on the slots of each rater who is left out, these raters themselves, and the
    difference."""
    codes = panel.to_numpy()
    judge_codes = judge.reindex(panel.index, fill_value=-1).to_numpy()
    rest = np.column_stack(
        [majority(np.delete(codes, r, axis=1), k) for r in range(codes.shape[1])]
    )
    both = (judge_codes[:, None] >= 0) & (codes >= 0)
    n = codes.shape[1] * k * k
    rows = np.hstack(
        [
            pair_tables(np.where(both, judge_codes[:, None], -1), rest, k),
            pair_tables(np.where(both, codes, -1), rest, k),
        ]
    )
    sums, items = by_item(panel, rows)
    kappa = of_tables(k, "cohen_kappa")
    judged = (judge_codes >= 0) & ((codes >= 0) & (rest >= 0)).any(axis=1)
    n_units, of_panel = int(judged.sum()), int((codes[judged] >= 0).sum())
    # The panel's labels decide what the majority is, so that they enter as the judge's do.
    common = (n_units, codes.shape[1] + 1, n_units + of_panel, items)
    ceiling = (n_units, codes.shape[1], of_panel, items)
    return (
        Number(sums, lambda t: kappa(t[..., :n]), *common),
        Number(sums, lambda t: kappa(t[..., n:]), *ceiling),
        Number(sums, lambda t: kappa(t[..., :n]) - kappa(t[..., n:]), *common),
    )


def repeated(records: Records, criterion: str, panel: str) -> Number:
    """How often the repeat of a screen got the label of the first time; one row a repeat that has
    both."""
    rated = records.ratings
    rated = rated[
        (rated["criterion"] == criterion) & (rated["panel"] == panel) & (rated["state"] == "rated")
    ]
    key = ["rater", "item", "answer", "span"]
    again = (
        rated[rated["purpose"] == "repeat"]
        .drop(columns="task")
        .rename(columns={"repeat_of": "task"})
    )
    both = again.merge(
        rated[rated["purpose"] != "repeat"], on=["task", *key], suffixes=("_again", "")
    )
    both["same"] = (both["label"] == both["label_again"]).astype(int)
    table = both.pivot_table(
        index=["item", "answer", "span"], columns="rater", values="same", fill_value=-1
    )
    return share_of(table.astype(int), table.to_numpy() == 1)


# Intervals ----------------------------------------------------------------------------------------


def influence(number: Number) -> np.ndarray:
    """What each item adds to the number, (n_items,), by small changes of its weight."""
    total, eps = number.sums.sum(axis=0), 1e-5
    up, down = (
        number.value_of(total + eps * number.sums),
        number.value_of(total - eps * number.sums),
    )
    return (up - down) / (2 * eps)


def standard_error(number: Number) -> float:
    """The linearised standard error over the items."""
    used = number.clusters
    return float(np.sqrt(used / (used - 1) * (influence(number) ** 2).sum()))


def wald(number: Number, df: float, scale: str) -> tuple[float, float]:
    """value +- t se, on the scale of atanh(value) or of logit(value) where that is asked for."""
    value, se, t = number.value, standard_error(number), stats.t.ppf(0.975, df)
    if scale == "atanh":
        reach = t * se / (1 - value**2)
        return float(np.tanh(np.arctanh(value) - reach)), float(np.tanh(np.arctanh(value) + reach))
    return value - t * se, value + t * se


def two_way(number: Number, df: float, on_logit: bool) -> tuple[float, float]:
    """Items and raters as sources of chance: V = V_items + V_raters - V_ratings, never less than
    either."""
    assert number.cells is not None
    total = number.sums.sum(axis=0)
    eps = 1e-6
    rows = number.cells[["a", "b"]].to_numpy()
    each = (number.value_of(total + eps * rows) - number.value_of(total - eps * rows)) / (2 * eps)
    influences = number.cells.assign(u=each)

    def variance(by: list[str]) -> float:
        sums = influences.groupby(by)["u"].sum()
        return float((sums**2).sum() * len(sums) / (len(sums) - 1))

    items, raters, both = variance(["item"]), variance(["rater"]), float((each**2).sum())
    both *= len(each) / (len(each) - 1)
    reach = stats.t.ppf(0.975, df) * np.sqrt(max(items, raters, items + raters - both))
    if on_logit:
        at, reach = special.logit(number.value), reach / (number.value * (1 - number.value))
        return float(special.expit(at - reach)), float(special.expit(at + reach))
    return number.value - reach, number.value + reach


def effective(number: Number) -> tuple[float, float]:
    """Wilson at the number of labels that the clusters are worth, with the t quantile for z."""
    if number.sums.shape[1] == 2:
        sizes = number.sums[:, 1]
        total, p = sizes.sum(), number.value
    else:  # agreement of the pairs of raters on an item's one unit
        sizes, total, p = np.ones(number.clusters), float(number.ratings), number.value
    n = min(p * (1 - p) / standard_error(number) ** 2, total)
    # Satterthwaite's degrees of freedom, from the covariance of the deviations of clusters of
    # unequal sizes.
    covariance = np.diag(sizes) - np.outer(sizes, sizes) / sizes.sum()
    t = stats.t.ppf(0.975, np.trace(covariance) ** 2 / np.trace(covariance @ covariance))
    centre, reach = (
        (p + t * t / (2 * n)) / (1 + t * t / n),
        t / (1 + t * t / n) * np.sqrt(p * (1 - p) / n + t * t / (4 * n * n)),
    )
    return float(centre - reach), float(centre + reach)


def bca(number: Number, draws: int = 10_000, seed: int = 5) -> tuple[float, float]:
    """The bias-corrected and accelerated interval over resampled items, with draws of its own."""
    generator = np.random.default_rng(seed)
    sums = number.sums[(number.sums != 0).any(axis=1)]
    n = len(sums)
    weights = generator.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    drawn = number.value_of(weights @ sums)
    drawn = drawn[np.isfinite(drawn)]
    at = number.value
    below = (drawn < at - 1e-12).mean() + (np.abs(drawn - at) <= 1e-12).mean() / 2
    z0 = stats.norm.ppf(below)
    left = number.value_of(sums.sum(axis=0) - sums)
    d = left.mean() - left
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    ends = []
    for z in stats.norm.ppf([0.025, 0.975]):
        level = stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        ends.append(float(np.quantile(drawn, level)))
    return ends[0], ends[1]


def interval(number: Number, method: str) -> tuple[float, float, float] | None:
    """(low, high, tolerance) by the method that a row names; None where no recount of the method is
    written."""
    df = (
        float(match[1])
        if (match := re.search(r"t with ([\d.]+) degrees", method))
        else float("nan")
    )
    se = standard_error(number)
    if method.startswith("difference of independent proportions, score interval"):
        p, at = partial(score_p, *number.sums.sum(axis=0)), number.value
        return brentq(lambda d: p(d) - 0.05, -1, at), brentq(lambda d: p(d) - 0.05, at, 1), 1e-5
    if method in {"Wilson", "Clopper-Pearson"}:
        hits, n = number.sums.sum(axis=0)
        low, high = proportion_confint(hits, n, method="wilson" if method == "Wilson" else "beta")
        return low, high, 1e-9
    if method.startswith("Wilson with the effective sample size") and method.endswith("clusters)"):
        return *effective(number), 1e-7
    if (
        method.startswith("two-way cluster-robust Wald")
        and number.cells is not None
        and "," in method
    ):
        # The degrees of freedom are printed to three digits.
        return *two_way(number, df, "logit" in method), 5e-4 * se + 0.02 * se
    if method.startswith("cluster-robust Wald (item-clustered) on the atanh scale"):
        return *wald(number, df, "atanh"), 1e-6
    if method.startswith("cluster-robust Wald (item-clustered), t"):
        return *wald(number, df, ""), 1e-6
    if "item-cluster bootstrap, BCa" in method:
        # Two independent bootstraps: each limit is known to a few hundredths of the standard error,
        # and to a step of the values that resamples can take.
        return *bca(number), 0.3 * se
    return None


def score_p(a: float, n: float, b: float, m: float, d: float) -> float:
    """Miettinen and Nurminen's test of p1 - p2 = d; the restricted likelihood is maximised
    numerically."""

    def surprise(second: float) -> float:
        first, second = np.clip([second + d, second], 1e-12, 1 - 1e-12)
        return -float(
            special.xlogy(a, first)
            + special.xlogy(n - a, 1 - first)
            + special.xlogy(b, second)
            + special.xlogy(m - b, 1 - second)
        )

    ends = (max(0.0, -d), min(1.0, 1 - d))
    q = optimize.minimize_scalar(
        surprise, bounds=ends, method="bounded", options={"xatol": 1e-12}
    ).x
    variance = ((q + d) * (1 - q - d) / n + q * (1 - q) / m) * (n + m) / (n + m - 1)
    return float(2 * stats.norm.sf(abs(a / n - b / m - d) / np.sqrt(max(variance, 1e-300))))


def p_value(number: Number, method: str) -> float | None:
    """The p value of the test that a row names; None where no recount of it is written."""
    if method.startswith("difference of independent proportions, score interval"):
        return score_p(*number.sums.sum(axis=0), 0.0)
    return None


def holm(p: Mapping[object, float]) -> dict[object, float]:
    """Holm's adjusted p values, by hand."""
    adjusted, above = {}, 0.0
    for n, (key, single) in enumerate(sorted(p.items(), key=lambda pair: pair[1])):
        above = max(above, min(1.0, (len(p) - n) * single))
        adjusted[key] = above
    return adjusted
