"""konsil agreement: any table of ratings."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from konsil.cli.reading import of_a_table

if TYPE_CHECKING:
    from konsil.analysis.agreement import Agreement

Level = Literal["nominal", "ordinal", "interval", "ratio"]


@click.command(short_help="Agreement statistics of a table of ratings.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--wide", "layout", flag_value="wide", help="One row a unit, one column a rater; empty is not rated.")
@click.option("--long", "layout", flag_value="long", help="One row a rating, with columns for unit, rater and label.")
@click.option("--unit", metavar="C", help="The column of the units.")
@click.option("--rater", metavar="C", multiple=True, help="The raters' column; wide: a rater's own, repeatable.")
@click.option("--label", metavar="C", help="The column of the labels (long).")
@click.option("--cluster", metavar="C", help="The column whose values are resampled together.")
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    default="nominal",
    show_default=True,
    help="The level of measurement.",
)
@click.option("--labels", metavar="a,b,c", help="All labels of the scale, in order; default: those observed.")
@click.option("--abstain", metavar="L", help="The label that is an abstention and not a value.")
@of_a_table
@click.option("--resamples", type=click.IntRange(min=100), default=10_000, show_default=True, help="Bootstrap draws.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    file: Path,
    layout: Literal["wide", "long"] | None,
    unit: str | None,
    rater: tuple[str, ...],
    label: str | None,
    cluster: str | None,
    level: Level,
    labels: str | None,
    abstain: str | None,
    missing: tuple[str, ...],
    sheet: str,
    encoding: str,
    separator: str,
    resamples: int,
    confidence: float,
    seed: int,
    as_json: bool,
) -> None:
    """Agreement statistics of a table of ratings (CSV, TSV, JSONL, Parquet, XLSX), with cluster-respecting intervals.

    Undefined statistics are empty, with their reason; nothing undefined is printed as 0 or 1.
    """
    from konsil.analysis.agreement import from_asked
    from konsil.analysis.asked import Asked
    from konsil.sources.table import read_table

    table = read_table(file, sheet=sheet, encoding=encoding, separator=separator)
    scale = tuple(v.strip() for v in labels.split(",")) if labels else ()
    words = ("", *missing)
    asked = Asked(layout, unit, rater, label, cluster, level, scale, abstain, words, table.line, table.name)
    result = from_asked(table.frame, asked, resamples=resamples, seed=seed, confidence=confidence)
    click.echo(result.to_json()) if as_json else _show(result)
    if result.constant is not None:
        click.echo(
            f"konsil: {table.name}: every rating is {result.constant!r}, so agreement beyond chance is undefined;"
            " declare the scale with --labels",
            err=True,
        )
        sys.exit(2)


def _show(result: Agreement) -> None:
    from rich.console import Console
    from rich.table import Table

    from konsil.analysis.agreement import describe
    from konsil.report.language import ENGLISH
    from konsil.report.tables import Numbers

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    n = result.n_abstained
    abstained = f", {n:,} abstention{'s'[: n != 1]}" if n else ""
    console.print(f"{result.n_units:,} units, {result.n_raters:,} raters, {result.n_ratings:,} ratings{abstained}")
    numbers = Numbers(ENGLISH)
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (
        ("statistic", "left"),
        ("value", "right"),
        ("interval", "left"),
        ("SE", "right"),
        ("note", "left"),
    ):
        grid.add_column(name, justify=side)  # type: ignore[arg-type]
    for one in result.statistics:
        e = one.estimate
        defined = math.isfinite(e.value)
        grid.add_row(
            describe(one.name),
            numbers.plain(e.value) if defined else "undefined",
            numbers.interval(e.low, e.high) if math.isfinite(e.low) else "",
            numbers.plain(e.se) if math.isfinite(e.se) else "",
            e.reason,
        )
    console.print(grid)
    made: dict[str, list[str]] = {}
    for one in result.statistics:
        if one.estimate.method:
            made.setdefault(one.estimate.method, []).append(describe(one.name))
    usual = max(made, key=lambda method: len(made[method]), default="")
    for method in sorted(made, key=lambda method: method != usual):
        of = "" if method == usual else f" of {', '.join(made[method])}"
        console.print(f"Intervals{of}: {method}.")
    for warning in result.warnings:
        console.print(f"Note: {warning}", style="yellow")
