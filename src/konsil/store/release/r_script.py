"""A script that reads an export or a release into R, with labels as factors in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from konsil.instrument import Instrument

NAME = "load.R"
"""The script's file."""
_READERS = {
    "csv": 'read.csv(path, na.strings = "", check.names = FALSE, encoding = "UTF-8")',
    "jsonl": "jsonlite::stream_in(file(path), verbose = FALSE)",
    "parquet": "as.data.frame(arrow::read_parquet(path))",
}
_HEAD = """\
# Reads the tables of this folder into R. In this folder: source("load.R", encoding = "UTF-8").
# From elsewhere set the folder first: folder <- "path/to/it"
# Afterwards each table is a data frame of its own name; `ratings_by_criterion` holds the ratings of
# each criterion, with `label` as a factor whose levels are the labels of the form, in their order.
if (!exists("folder")) folder <- "."
read_table <- function(path) {reader}
"""
_TAIL = """\
ratings_by_criterion <- lapply(split(ratings, ratings$criterion), function(rows) {
  scale <- scales[[rows$criterion[1]]]
  if (is.null(scale)) {
    rows$label <- type.convert(as.character(rows$label), as.is = TRUE)
  } else {
    rows$label <- factor(rows$label, levels = scale$labels, ordered = scale$ordered)
  }
  rows
})
"""


def r_script(instruments: Sequence[Instrument], tables: Iterable[str], format_: str) -> str:
    """The script's text. `tables`: names of files without ending; `format_`: their ending.

    A criterion of several forms has all their labels; its factor is ordered where each form's scale
    is ordinal and has the same labels. Numbers and free texts are no factors.
    """
    lines = [_HEAD.replace("{reader}", _READERS[format_])]
    lines += [
        f'{name} <- read_table(file.path(folder, "{name}.{format_}"))' for name in sorted(tables)
    ]
    lines += ["", "scales <- list()"]
    for name, (labels, is_ordered) in _scales(instruments).items():
        vector = ", ".join(_text(label) for label in labels)
        ordered = "TRUE" if is_ordered else "FALSE"
        lines.append(f"scales[[{_text(name)}]] <- list(labels = c({vector}), ordered = {ordered})")
    return "\n".join([*lines, _TAIL])


def _scales(instruments: Sequence[Instrument]) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Criterion -> its labels in order, and whether they are ordered."""
    scales: dict[str, tuple[tuple[str, ...], bool]] = {}
    for instrument in instruments:
        for criterion in instrument.criteria:
            labels = criterion.scale.labels
            if not labels:
                continue
            is_ordered = criterion.scale.level != "nominal"
            before, was_ordered = scales.get(criterion.id, (labels, is_ordered))
            scales[criterion.id] = (
                tuple(dict.fromkeys((*before, *labels))),
                is_ordered and was_ordered and before == labels,
            )
    return scales


def _text(text: str) -> str:
    """A text as R writes it; JSON has the same quotation marks and escapes."""
    return json.dumps(text, ensure_ascii=False)
