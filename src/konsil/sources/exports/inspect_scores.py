"""Inspect's logs: the scores of a model's answers, with a column for each scorer.

A sample without an answer has no score.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from konsil.records import Source
from konsil.sources.exports.export import Export
from konsil.sources.inspect.inspect_logs import open_log, read_inspect_log

NAME = "Inspect"
_EXPLANATION = ".explanation"


def read_log(path: Path) -> Export:
    """The scores in a log; that scorers are raters of one criterion is asked."""
    contents = open_log(path)
    table = read_inspect_log(path, Source(file=path.name, records="ratings"), contents).table
    names = dict.fromkeys(name for sample in contents.samples for name in sample.scores)
    columns = (name if name in table.frame.columns else f"score.{name}" for name in names)
    scorers = tuple(n for n in columns if n in table.frame.columns and not n.endswith(_EXPLANATION))
    has_several = len(scorers) > 1
    return Export(
        NAME,
        replace(table, frame=table.frame.select(pl.exclude(r"^.*\.explanation$"))),
        "wide" if has_several else None,
        ("item",) if has_several else (),
        scorers if has_several else (),
        left_out={"sample without an answer": len(contents.samples) - table.frame.height},
        question="Each scorer has a column: do they judge the same, as raters?",
    )
