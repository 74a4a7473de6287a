"""The tables that `konsil agreement` prints for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from rich.console import Console

from konsil.analysis.agreement.agreement_statistics import title_of
from konsil.analysis.model.frames import whom
from konsil.analysis.model.interval_methods import leads
from konsil.cli.terminal import grid_of, print_notes, result_console
from konsil.report.material.language import ENGLISH
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import RatersTarget

if TYPE_CHECKING:
    from konsil.analysis.standalone.agreement_result import Agreement, Comparison, NamedEstimate
    from konsil.stats.engine.contract import Estimate

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def show(result: Agreement) -> None:
    """Print a result: its counts, its statistics with all their CIs, the methods and the notes."""
    _print_result(result_console(result.reading), result)


def _print_result(console: Console, result: Agreement) -> None:
    if result.statistics or not result.groups:
        _print_statistics(console, result)
    for name, group in result.groups.items():
        console.print(f"{result.by} = {name}", style="bold")
        _print_result(console, group)
    if result.comparison is not None:
        _comparison(console, result.comparison)
    if result.groups and not result.statistics:
        print_notes(console, result.warnings)


def _print_statistics(console: Console, result: Agreement) -> None:
    console.print(_counts(result))
    shown = [c for c in result.companions if not leads(c.estimate.method, "closed_form")]
    _estimates(console, result.statistics, shown)
    if result.n_raters is not None and any(
        math.isfinite(s.estimate.low) for s in result.statistics
    ):
        console.print("The CIs account for the sampling of units, not of raters.")
    _pairs(console, result)
    print_notes(console, result.warnings)


def _counts(result: Agreement) -> str:
    n = result.n_abstained
    abstained = f", {_count(n, 'abstention')}" if n else ""
    raters = "raters unknown" if result.n_raters is None else _count(result.n_raters, "rater")
    shared = result.overlap()
    overlap = ""
    if shared is not None and shared["n_pairs"] > 1:
        low, high = shared["smallest"], shared["largest"]
        span = f"{low:,}" if low == high else f"{low:,} to {high:,} (median {shared['median']:,g})"
        overlap = f"; pairs of raters share {span} unit{'s'[: high != 1]}"
    return (
        f"{_count(result.n_units, 'unit')}, {raters},"
        f" {_count(result.n_ratings, 'rating')}{abstained}{overlap}"
    )


def _count(n: int, noun: str) -> str:
    """A number with its noun."""
    return f"{n:,} {noun}{'s'[: n != 1]}"


def _estimates(
    console: Console, statistics: Sequence[NamedEstimate], companions: Sequence[NamedEstimate]
) -> None:
    numbers = Numbers(ENGLISH)
    grid = grid_of("statistic", ">value", "interval", ">SE")
    same = [(c, s.estimate) for c in companions for s in statistics if c.name == s.name]
    alternatives = [
        c for c, of in same if c.estimate.value == of.value and math.isfinite(c.estimate.low)
    ]
    chance = {c.name: c.estimate for c, of in same if c.estimate.value != of.value}
    kinds = list(dict.fromkeys(_kind(c.estimate.method) for c in alternatives))
    mark = dict(zip(kinds, _LETTERS, strict=False)) if len(kinds) > 1 else {}
    if alternatives:
        grid.add_column(f"other interval{'s'[: len(kinds) != 1]}")
    grid.add_column("note")
    for statistic in statistics:
        e = statistic.estimate
        intervals = [c.estimate for c in alternatives if c.name == statistic.name]
        others = [
            f"{mark.get(_kind(c.method), '')} {_interval(c, numbers)}".strip() for c in intervals
        ]
        note = e.reason
        if statistic.name in chance:
            note = f"{note} chance level {numbers.plain(chance[statistic.name].value)}".strip()
        grid.add_row(
            title_of(statistic.name),
            numbers.plain(e.value) if math.isfinite(e.value) else "undefined",
            _interval(e, numbers),
            numbers.plain(e.se) if math.isfinite(e.se) else "",
            *(["\n".join(others)] if alternatives else []),
            note,
        )
    console.print(grid)
    _methods(console, statistics)
    for kind in kinds:
        letter = f" {mark[kind]}" if mark else ""
        console.print(f"Other interval{letter}: {kind}.")


def _interval(e: Estimate, numbers: Numbers) -> str:
    return numbers.interval(e.low, e.high) if math.isfinite(e.low) else ""


def _kind(method: str) -> str:
    """A method without its degrees of freedom, which can differ from row to row."""
    return method.partition(", t with")[0]


def _methods(
    console: Console, statistics: Sequence[NamedEstimate], intervals: str = "Intervals"
) -> None:
    by_method: dict[str, list[str]] = {}
    for statistic in statistics:
        if statistic.estimate.method and math.isfinite(statistic.estimate.low):
            by_method.setdefault(statistic.estimate.method, []).append(title_of(statistic.name))
    usual = max(by_method, key=lambda method: len(by_method[method]), default="")
    for method in sorted(by_method, key=lambda method: method != usual):
        of = "" if method == usual else f" of {', '.join(by_method[method])}"
        console.print(f"{intervals}{of}: {method}.")


def _pairs(console: Console, result: Agreement) -> None:
    if not result.pairs:
        return
    numbers = Numbers(ENGLISH)
    names = list(dict.fromkeys(s.name for pair in result.pairs for s in pair.statistics))
    shown = [name for name in _SHOWN if name in names] or names[:3]
    grid = grid_of("raters", ">units", *map(title_of, shown))
    for pair in result.pairs:
        of = {s.name: s.estimate for s in pair.statistics}
        cells = []
        for name in shown:
            e = of.get(name)
            defined = e is not None and math.isfinite(e.value)
            cells.append(
                f"{numbers.plain(e.value)} {_interval(e, numbers)}"
                if e is not None and defined
                else "undefined"
            )
        grid.add_row(" and ".join(pair.raters), f"{pair.n_units:,}", *cells)
    console.print(grid)
    if len(shown) < len(names):
        console.print("The other statistics of each pair are in the output of --json.")


_SHOWN = ("percent_agreement", "cohen_kappa", "cohen_kappa_quadratic", "gwet_ac1")
"""What is printed of each pair of raters where it was computed."""


def _comparison(console: Console, comparison: Comparison) -> None:
    numbers = Numbers(ENGLISH)
    first, second = comparison.groups
    # Of several other intervals the first is shown.
    finite = [c for c in comparison.companions if math.isfinite(c.estimate.low)]
    others = {c.name: c.estimate for c in reversed(finite)}
    grid = grid_of(f"{first} minus {second}", ">difference", "interval", ">p")
    if others:
        grid.add_column("other interval")
    grid.add_column("note")
    for difference in comparison.differences:
        e = difference.estimate
        defined = math.isfinite(e.value)
        other = others.get(difference.name)
        grid.add_row(
            title_of(difference.name),
            numbers.plain(e.value) if defined else "undefined",
            _interval(e, numbers),
            numbers.p(e.p) if math.isfinite(e.p) else "",
            *([] if not others else ["" if other is None else _interval(other, numbers)]),
            e.reason or _scope(comparison, e),
        )
    if comparison.target_sentence:
        console.print(comparison.target_sentence)
    console.print(grid)
    _methods(console, comparison.differences)
    for raters in get_args(RatersTarget):
        of_raters = [c for c in comparison.companions if c.estimate.raters == raters]
        _methods(console, of_raters, f"Other intervals ({whom(raters)})")


def _scope(comparison: Comparison, e: Estimate) -> str:
    """Whom a difference is about, where that is not the target of the others."""
    is_other = comparison.target not in (None, e.raters) and math.isfinite(e.low)
    return f"about {whom(e.raters)}" if is_other else ""
