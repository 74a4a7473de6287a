"""The tables that `konsil preference` prints for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from konsil.analysis.model.interval_methods import has, name_of
from konsil.analysis.standalone.ranking_summary import without_estimate
from konsil.cli.terminal import grid_of, print_notes, result_console
from konsil.report.material.language import ENGLISH
from konsil.report.material.tables import Numbers

if TYPE_CHECKING:
    from konsil.analysis.standalone.preference_table import HeadToHead


def show(result: HeadToHead) -> None:
    """Print a result, or each group's and their differences."""
    console = result_console(result.reading)
    for name, group in result.groups.items():
        console.print(f"{result.by} = {name}", style="bold")
        _print_result(console, group)
    if not result.groups:
        _print_result(console, result)
        return
    if result.comparison is not None:
        _comparison(console, result.comparison)
    print_notes(console, result.warnings)


def _cells(
    entry: Mapping[str, Any], low: str = "low", high: str = "high", value: str = "value"
) -> list[str]:
    numbers = Numbers(ENGLISH)
    if entry[value] is None:
        return ["undefined", ""]
    return [
        numbers.plain(entry[value]),
        "" if entry[low] is None else numbers.interval(entry[low], entry[high]),
    ]


def _p(entry: Mapping[str, Any], key: str = "p") -> str:
    return "" if entry.get(key) is None else Numbers(ENGLISH).p(entry[key])


def _interval(entry: Mapping[str, Any]) -> str:
    return _cells({"value": 0, **entry})[1]


def _comparison(console: Console, comparison: dict[str, Any]) -> None:
    first, second = comparison["groups"]
    grid = grid_of(f"{first} minus {second}", ">difference", "interval", "by item", ">p", "note")
    differences = comparison["differences"]
    if comparison["target"]:
        console.print(f"Target of the differences: {comparison['target']}.")
    for entry in differences:
        by_item = _interval(entry["item"])
        grid.add_row(entry["system"], *_cells(entry), by_item, _p(entry), entry["reason"])
    console.print(grid)
    methods = _methods([entry["method"] for entry in differences if entry["low"] is not None])
    console.print(f"CIs of the differences: {methods}." if methods else "No CI for any difference.")


def _print_worths(console: Console, model: Mapping[str, Any], title: str) -> None:
    if model["reason"]:
        console.print(f"{title}: not estimable: {model['reason']}")
        return
    apart = without_estimate(model)
    ratio_to = model["best"] if apart else "best"
    grid = grid_of(title, ">log worth", "interval", f">ratio to {ratio_to}", "interval")
    for entry in model["worths"]:
        if entry["log_worth"] is None:
            grid.add_row(entry["system"], entry["place"], "", entry["place"], "")
            continue
        ratio = _cells(entry, "ratio_low", "ratio_high", "ratio_to_best")
        grid.add_row(entry["system"], *_cells(entry, value="log_worth"), *ratio)
    console.print(grid)
    if model.get("without_penalty"):
        console.print(f"{title}: not estimable without the penalty: {model['without_penalty']}.")
    for sentence in apart:
        console.print(f"{title}, {sentence}.")
    for reason in _reasons([w for w in model["worths"] if w["log_worth"] is not None]):
        console.print(f"{title}, without CI: {reason}.")
    methods = [entry["method"] for entry in model["worths"]]
    if any(has(model["method"], f) for f in ("about_these", "penalised")) and any(methods):
        console.print(f"{title}, CIs: {_methods(methods)}.")


def _print_result(console: Console, result: HeadToHead) -> None:
    raters = f"{result.n_raters or 0:,} {'rater' if result.n_raters == 1 else 'raters'}"
    raters = "raters unknown" if result.n_raters is None else raters
    console.print(
        f"{len(result.systems)} systems, {result.n_comparisons:,} comparisons, {result.n_items:,}"
        f" items, {raters}"
    )
    is_paper = result.mode == "paper"
    heads = ("by item", "two-way") if is_paper else ("interval", "by item")
    tests = {"p": ">p, flips"} if is_paper else {"p": ">p", "p_flip": ">p, these raters"}
    grid = grid_of("system", ">win difference", *heads, *tests.values(), ">comparisons")
    for entry in result.win_difference:
        alternative = _interval(entry["two_way" if is_paper else "item"])
        p = [_p(entry, key) for key in tests]
        grid.add_row(
            entry["system"], *_cells(entry), alternative, *p, f"{entry['n_comparisons']:,}"
        )
    console.print(grid)
    _matrix(console, result)
    _print_preferences(console, result.mean_preference)
    for model, title in ((result.davidson, "Davidson"), (result.bradley_terry, "Bradley-Terry")):
        _print_worths(console, model, f"{title}, penalised" if "penalty" in model else title)
    if result.position:
        bias = [c for c in _cells(result.position) if c]
        column = result.position["column"]
        place = "shown first, which is a bias" if column == "-" else f"in {column}"
        is_shown = "" if column == "-" else "; a bias where they were shown first"
        console.print(
            f"First column: wins minus losses {' '.join(bias)} of the systems {place}{is_shown}."
        )
    methods = _methods([entry["method"] for entry in result.win_difference])
    by_item = _methods(
        [entry["item"]["method"] for entry in result.win_difference if "item" in entry]
    )
    if methods:
        console.print(f"CIs: {methods}.")
    elif by_item:
        console.print(f"Item-clustered CIs: {by_item}.")
    for reason in dict.fromkeys(
        entry["reason"] for entry in result.win_difference if entry["reason"]
    ):
        names = ", ".join(
            entry["system"] for entry in result.win_difference if entry["reason"] == reason
        )
        console.print(f"{names}: {reason}.")
    print_notes(console, result.warnings)


def _print_preferences(console: Console, entries: Sequence[Mapping[str, Any]]) -> None:
    """The mean preferences of outcomes that are numbers."""
    if not entries:
        return
    grid = grid_of("mean preference for", "against", ">share", "interval")
    for entry in entries:
        grid.add_row(entry["system"], entry["rival"], *_cells(entry))
    console.print(grid)
    methods = _methods([entry["method"] for entry in entries])
    if methods:
        console.print(f"CIs of the mean preferences: {methods}.")


def _methods(methods: Sequence[str]) -> str:
    """The methods of several intervals.

    Those that differ in one number alone together, with its range.
    """
    together: dict[str, list[str]] = {}
    for method in methods:
        if method:
            numbers = _NUMBER.findall(method)
            together.setdefault(_NUMBER.sub("{}", method), []).append(
                numbers[-1] if numbers else ""
            )
    out = []
    for method in dict.fromkeys(filter(None, methods)):
        alike = together.pop(_NUMBER.sub("{}", method), [])
        ends = sorted({*alike}, key=lambda text: float(text or 0))
        if len(ends) > 1:
            before, _, after = method.rpartition(_NUMBER.findall(method)[-1])
            out.append(f"{before}{ends[0]} to {ends[-1]}{after}")
        elif alike:
            out.append(method)
    return "; ".join(out)


_NUMBER = re.compile(r"[0-9][0-9.]*(?:e[+-]?[0-9]+)?")


def _reasons(worths: Sequence[dict[str, Any]]) -> list[str]:
    """Why worths or their ratios have no interval, each reason once."""
    reasons = [
        entry[key]
        for entry in worths
        for key in ("reason", "ratio_reason")
        if name_of(entry.get(key) or "") != "worths.reference"
    ]
    return [*dict.fromkeys(filter(None, reasons))]


def _matrix(console: Console, result: HeadToHead) -> None:
    """Win rates, row against column."""
    if not result.win_rate or len(result.systems) > 12:
        return
    value = {(entry["system"], entry["rival"]): entry["value"] for entry in result.win_rate}
    plain = Numbers(ENGLISH).plain
    grid = grid_of("win rate against", *(f">{name}" for name in result.systems))
    for row in result.systems:
        rates = [value.get((row, column)) for column in result.systems]
        grid.add_row(row, *("" if v is None else plain(v) for v in rates))
    console.print(grid)
