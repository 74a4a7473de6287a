"""konsil preference: any table of comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from konsil.cli.reading import of_a_table, sliced, values_of
from konsil.cli.terminal import Block


@click.command(short_help="Who is preferred in a table of comparisons.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--item", metavar="C", help="The column of the items; '-' where none is known.")
@click.option("--rater", metavar="C", help="The column of the raters; '-' where none is known.")
@click.option("--first", metavar="C", help="The column of the first of the two systems.")
@click.option("--second", metavar="C", help="The column of the second.")
@click.option(
    "--outcome",
    metavar="C",
    help="The column of the outcomes: a winner, a tie, or a label of --scale.",
)
@click.option(
    "--scale",
    metavar="a,b,c",
    help="All outcomes in order, from the first system's side to the second's.",
)
@click.option(
    "--won", metavar="C", help="Instead of --outcome: the column of how often the first system won."
)
@click.option("--lost", metavar="C", help="The column of how often the second system won.")
@click.option("--tied", metavar="C", help="The column of how often neither did.")
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
    help=(
        "What holds, or what many papers compute: item-cluster percentiles and flips of single"
        " comparisons."
    ),
)
@sliced
@of_a_table
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Draws and flips.",
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Confidence level, e.g. 0.95."
)
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
    won: str | None,
    lost: str | None,
    tied: str | None,
    strict: bool,
    ties: Literal["half", "dropped"],
    mode: Literal["valid", "paper"],
    where: tuple[str, ...],
    by: str | None,
    compare: str | None,
    missing: tuple[str, ...],
    sheet: str,
    encoding: str,
    separator: str,
    resamples: int,
    confidence: float,
    seed: int,
    as_json: bool,
) -> None:
    """Who is preferred in a table of comparisons, one row each, or counts of wins.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file. Win differences and win rates with
    intervals by item and rater, and worths by Davidson's and Bradley and Terry's models. What is
    undefined is empty, with its reason.
    """
    from konsil.analysis.standalone.preference_table import from_layout
    from konsil.analysis.tabular.slices import Slices
    from konsil.analysis.tabular.votes_layout import Layout
    from konsil.sources.files.table import read_table

    table = read_table(file, sheet=sheet, encoding=encoding, separator=separator, numbered=True)
    labels = tuple(v.strip() for v in scale.split(",")) if scale else ()
    columns = Layout(
        item=item,
        rater=rater,
        first=first,
        second=second,
        outcome=outcome,
        scale=labels,
        won=won,
        lost=lost,
        tied=tied,
        missing=("", *missing),
        line=table.line,
        name=table.name,
    )
    result = from_layout(
        table.frame,
        columns,
        slices=Slices(values_of(where, table.name), by, compare),
        strict=strict,
        ties=ties,
        mode=mode,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )
    if as_json:
        click.echo(Block(result.to_json()))
    else:
        from konsil.cli.preference_tables import show

        show(result)
