"""konsil preference: any table of comparisons."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from konsil.cli.reading import of_a_table

if TYPE_CHECKING:
    from konsil.analysis.head_to_head import HeadToHead


@click.command(short_help="Who is preferred in a table of comparisons.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--item", metavar="C", help="The column of the items; '-' where none is known.")
@click.option("--rater", metavar="C", help="The column of the raters; '-' where none is known.")
@click.option("--first", metavar="C", help="The column of the first of the two systems.")
@click.option("--second", metavar="C", help="The column of the second.")
@click.option("--outcome", metavar="C", help="The column of the outcomes: a winner, a tie, or a label of --scale.")
@click.option("--scale", metavar="a,b,c", help="All outcomes in order, from the first system's side to the second's.")
@click.option("--strict", is_flag=True, help="Only the scale's outermost labels are wins.")
@click.option(
    "--ties",
    type=click.Choice(["half", "dropped"]),
    default="half",
    show_default=True,
    help="What a tie counts in Bradley and Terry's model.",
)
@click.option(
    "--mode",
    type=click.Choice(["valid", "paper"]),
    default="valid",
    show_default=True,
    help="What holds, or what many papers compute: item-cluster percentiles and flips of single comparisons.",
)
@of_a_table
@click.option("--resamples", type=click.IntRange(min=100), default=10_000, show_default=True, help="Draws and flips.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of draws and flips.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(
    file: Path,
    item: str | None,
    rater: str | None,
    first: str | None,
    second: str | None,
    outcome: str | None,
    scale: str | None,
    strict: bool,
    ties: Literal["half", "dropped"],
    mode: Literal["valid", "paper"],
    missing: tuple[str, ...],
    sheet: str,
    encoding: str,
    separator: str,
    resamples: int,
    confidence: float,
    seed: int,
    as_json: bool,
) -> None:
    """Who is preferred in a table of comparisons (CSV, TSV, JSONL, Parquet, XLSX), one row a comparison.

    Win differences and win rates with intervals by item and rater, and worths by Davidson's and Bradley and Terry's
    models. What is undefined is empty, with its reason.
    """
    from konsil.analysis.comparisons import Layout
    from konsil.analysis.head_to_head import from_layout
    from konsil.sources.table import read_table

    table = read_table(file, sheet=sheet, encoding=encoding, separator=separator)
    labels = tuple(v.strip() for v in scale.split(",")) if scale else ()
    asked = Layout(item, rater, first, second, outcome, labels, ("", *missing), table.line, table.name)
    result = from_layout(
        table.frame,
        asked,
        strict=strict,
        ties=ties,
        mode=mode,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )
    click.echo(result.to_json()) if as_json else _show(result)


def _show(result: HeadToHead) -> None:
    from rich.console import Console
    from rich.table import Table

    from konsil.report.language import ENGLISH
    from konsil.report.tables import Numbers

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    numbers = Numbers(ENGLISH)

    def cells(one: dict[str, Any], low: str = "low", high: str = "high", value: str = "value") -> list[str]:
        if one[value] is None:
            return ["undefined", ""]
        return [numbers.plain(one[value]), "" if one[low] is None else numbers.interval(one[low], one[high])]

    raters = "raters not known" if result.n_raters is None else f"{result.n_raters:,} raters"
    console.print(
        f"{len(result.systems)} systems, {result.n_comparisons:,} comparisons, {result.n_items:,} items, {raters}"
    )
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (("system", "left"), ("win difference", "right"), ("interval", "left"), ("by item", "left")):
        grid.add_column(name, justify=side)  # type: ignore[arg-type]
    for name in ("p", "p, flips", "comparisons"):
        grid.add_column(name, justify="right")
    for one in result.win_difference:
        beside = one["item"] if "item" in one else one["two_way"]
        interval = "" if beside["low"] is None else numbers.interval(beside["low"], beside["high"])
        p = ["" if one.get(k) is None else numbers.p(one[k]) for k in ("p", "p_flip")]
        grid.add_row(one["system"], *cells(one), interval, *p, f"{one['n_comparisons']:,}")
    console.print(grid)
    _matrix(console, result, numbers.plain)
    for model, title in ((result.davidson, "Davidson"), (result.bradley_terry, "Bradley-Terry")):
        worths = Table(box=None, pad_edge=False, header_style="bold")
        for name, side in ((title, "left"), ("log worth", "right"), ("interval", "left"), ("ratio to best", "right")):
            worths.add_column(name, justify=side)  # type: ignore[arg-type]
        worths.add_column("interval", justify="left")
        for one in model["worths"]:
            ratio = cells(one, "ratio_low", "ratio_high", "ratio_to_best")
            worths.add_row(one["system"], *cells(one, value="log_worth"), *ratio)
        console.print(worths if not model["reason"] else f"{title}: undefined: {model['reason']}")
    bias = [c for c in cells(result.position) if c]
    console.print(f"First column: wins minus losses {' '.join(bias)}; a bias where it was the one shown first.")
    console.print(f"Intervals: {result.win_difference[0]['method']}.")
    for warning in result.warnings:
        console.print(f"Note: {warning}", style="yellow")


def _matrix(console: Any, result: HeadToHead, plain: Any) -> None:  # noqa: ANN401 - rich is imported late
    """Win rates, row against column."""
    from rich.table import Table

    if not result.win_rate or len(result.systems) > 12:
        return
    value = {(one["system"], one["rival"]): one["value"] for one in result.win_rate}
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("win rate against")
    for name in result.systems:
        grid.add_column(name, justify="right")
    for row in result.systems:
        found = [value.get((row, column)) for column in result.systems]
        grid.add_row(row, *("" if v is None else plain(v) for v in found))
    console.print(grid)
