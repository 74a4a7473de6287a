"""konsil agreement: any table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from konsil.cli.reading import of_a_table, own_weights_of, sliced, values_of
from konsil.cli.terminal import Block

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Layout = Literal["wide", "long", "counts", "lists"]


@click.command(short_help="Agreement statistics of a table of ratings.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--wide",
    "layout",
    flag_value="wide",
    help="One row a unit, one column a rater; empty is not rated.",
)
@click.option(
    "--long",
    "layout",
    flag_value="long",
    help="One row a rating, with columns for unit, rater and label.",
)
@click.option(
    "--counts",
    "layout",
    flag_value="counts",
    help="One row a unit, one column a label: how many gave it.",
)
@click.option("--unit", metavar="C", help="The column of the units.")
@click.option(
    "--rater",
    metavar="C",
    multiple=True,
    help="The raters' column; wide: a rater's own, repeatable.",
)
@click.option(
    "--label", metavar="C", help="The column of the labels (long), or of lists of labels."
)
@click.option(
    "--split", metavar="S", default="", help="The sign between labels where --label holds several."
)
@click.option("--cluster", metavar="C", help="The column whose values are resampled together.")
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    default="nominal",
    show_default=True,
    help="The level of measurement.",
)
@click.option(
    "--labels", metavar="a,b,c", help="All labels of the scale, in order; default: those observed."
)
@click.option("--abstain", metavar="L", help="The label that is an abstention and not a value.")
@click.option(
    "--statistic",
    metavar="NAME",
    multiple=True,
    help="A statistic by name, repeatable; default: the usual.",
)
@click.option(
    "--weights",
    metavar="W",
    default="",
    help="Weights of partial agreement: linear, ..., or a .csv of your own.",
)
@click.option(
    "--pair-weights",
    type=click.Choice(["alike", "units"]),
    default="alike",
    show_default=True,
    help="Weight of a pair of raters: equal, or the units it shares.",
)
@click.option("--pairs", is_flag=True, help="Print the agreement of each pair of raters, too.")
@sliced
@of_a_table
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="Bootstrap draws.",
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Confidence level, e.g. 0.95."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(
    file: Path,
    layout: Layout | None,
    unit: str | None,
    rater: tuple[str, ...],
    label: str | None,
    split: str,
    cluster: str | None,
    level: Level,
    labels: str | None,
    abstain: str | None,
    statistic: tuple[str, ...],
    weights: str,
    pair_weights: Literal["alike", "units"],
    pairs: bool,
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
    """Agreement statistics of a table of ratings, with cluster-respecting intervals.

    The table is a CSV, TSV, JSONL, Parquet or XLSX file. Undefined statistics are empty, with their
    reason; nothing undefined is printed as 0 or 1.
    """
    from konsil.analysis.model.spec import Resampling
    from konsil.analysis.standalone.agreement import agreement_by_request
    from konsil.analysis.standalone.agreement_request import Request
    from konsil.analysis.tabular.agreement_options import TableOptions
    from konsil.analysis.tabular.slices import Slices
    from konsil.sources.files.table import read_table

    # A column without a name is ignored where the columns that are read are named; in other wide
    # tables it is refused.
    is_named = layout == "long" or label is not None or bool(rater)
    table = read_table(file, sheet=sheet, encoding=encoding, separator=separator, numbered=is_named)
    scale = tuple(v.strip() for v in labels.split(",")) if labels else ()
    words = ("", *missing)
    options = TableOptions(
        layout,
        unit,
        rater,
        label,
        cluster,
        level,
        scale,
        abstain,
        words,
        table.line,
        table.name,
        split=split,
    )
    slices = Slices(values_of(where, table.name), by, compare)
    chosen = own_weights_of(Path(weights)) if weights.lower().endswith(".csv") else weights
    request = Request(
        statistic, chosen, pair_weights, pairs, slices, Resampling(resamples, confidence), seed
    )
    result = agreement_by_request(table.frame, options, request)
    if as_json:
        click.echo(Block(result.to_json()))
    else:
        from konsil.cli.agreement_tables import show

        show(result)
