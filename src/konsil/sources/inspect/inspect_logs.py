"""Inspect's logs (.eval and JSON) as tables of items, answers or ratings.

They are read with Inspect's own reader in a child process.

- A sample's id is the item's; what `columns` can name besides are the keys of its metadata.
  Metadata and scorers that are called like one of konsil's own fields have 'metadata.' or 'score.'
  before their name.
- The system is the one stated in `fixed`, else the model's name in the log.
- A sample that ended in an error, ran into a limit, was cut short, filtered, left empty, declared
  invalid or never run has no answer: it is missing and counted with its reason, and so are its
  scores.
- Every epoch is an answer of its own: 'item:system' the first, 'id:system:2' the second, with the
  sample's id.
- Ratings are the scorers' words, one column a scorer: `criteria` says which criterion a scorer
  speaks of.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from konsil.errors import SourceError, installation
from konsil.records import Answer, Citation, Source
from konsil.sources.files.delimited import check_cells, check_width
from konsil.sources.files.problems import Parsed
from konsil.sources.files.table import Table, check_readable
from konsil.sources.inspect.inspect_contents import LogContents, read_contents
from konsil.sources.inspect.inspect_samples import Row
from konsil.sources.tables import answers, items, ratings

# A log's own "sentence" keeps its name, which sources may map already.
_OURS = frozenset({*items.FIELDS, *answers.FIELDS, *ratings.FIELDS} - {"sentence"})


@dataclass(frozen=True)
class InspectLog:
    """A log's table and what it leaves out."""

    table: Table
    """One row a sample that was read."""
    citations: Mapping[int, tuple[Citation, ...]] = field(default_factory=dict)
    """A row's place -> the sources that its answer names."""
    counts: Mapping[str, object] = field(default_factory=dict)
    """The numbers of records read, included and excluded, and the origin of the log."""


def read_inspect_log(path: Path, source: Source, opened: LogContents | None = None) -> InspectLog:
    """Read a log as the table of the records that the source asks for.

    `opened` is the log where it is open already.
    """
    if source.sheet or source.separator:
        raise SourceError(
            f"{path.name}: sheet and separator do not apply to a log of Inspect; leave them out"
        )
    log = opened or open_log(path)
    if not log.samples:
        raise SourceError(
            f"{path.name}: the log has no samples (its run's status is {log.status!r})"
        )
    system = source.fixed.get("system", log.model)
    dropped: Counter[str] = Counter()
    if source.records != "items" and (never := log.planned - len(log.samples)) > 0:
        dropped["not run"] = never
    rows: list[Row] = []
    cited: dict[int, tuple[Citation, ...]] = {}
    item_ids: set[object] = set()
    for sample in log.samples:
        row = {"item": str(sample.id), **_prefixed(sample.metadata, "metadata.")}
        if source.records == "items":
            if sample.id not in item_ids:
                rows.append({**row, **sample.question})
            item_ids.add(sample.id)
            continue
        if sample.missing:
            dropped[sample.missing] += 1
            continue
        row["system"] = log.model
        if sample.epoch > 1:
            row["answer"] = f"{sample.id}:{system}:{sample.epoch}"
        if source.records == "answers":
            row |= sample.answered
            cited[len(rows) + 1] = sample.citations
        else:
            row |= _prefixed(sample.scores, "score.")
        rows.append(row)
    counts: dict[str, object] = {}
    if source.records != "items":
        counts = {
            "filter": "log of Inspect",
            "of": "samples",
            "as": source.records,
            "kept": len(rows),
            "dropped": dict(dropped),
            "read": len(rows) + dropped.total(),
            "task": log.task,
            "model": log.model,
            "run": log.run,
        }
    if not rows:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in sorted(dropped.items()))
        raise SourceError(f"{path.name}: no sample has an answer ({reasons})")
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_width(len(names), path.name)
    check_cells(len(names) * len(rows), log.size, path.name)
    frame = pl.DataFrame(
        {n: [row.get(n) for row in rows] for n in names}, schema=dict.fromkeys(names, pl.String)
    )
    return InspectLog(Table(frame, path, lines=range(1, len(rows) + 1), place="row"), cited, counts)


class InspectLogs:
    """Logs that are each opened once, however many sources read them."""

    def __init__(self) -> None:
        self._opened: dict[Path, LogContents] = {}

    def read(self, path: Path, source: Source) -> InspectLog:
        """The log's table of the records that the source asks for."""
        if path not in self._opened:
            self._opened[path] = open_log(path)
        return read_inspect_log(path, source, self._opened[path])


def with_citations(parsed: Parsed[Answer], log: InspectLog) -> tuple[Answer, ...]:
    """The answers with the sources that the log's replies name."""
    return tuple(
        dataclasses.replace(answer, citations=log.citations.get(line, ()))
        for answer, line in zip(parsed.records, parsed.lines, strict=True)
    )


def open_log(path: Path) -> LogContents:
    """A log's run and samples."""
    check_readable(path)
    if importlib.util.find_spec("inspect_ai") is None:
        raise SourceError(
            f"{path.name}: reading logs of Inspect needs an extra; install it with"
            f" {installation('inspect')}"
        )
    return read_contents(path)


def _prefixed(row: Row, prefix: str) -> Row:
    """Names that a field of ours has get a prefix, so that nothing is read for what it is not."""
    return {f"{prefix}{name}" if name in _OURS else name: value for name, value in row.items()}
