"""Small studies for the tests: the protocol's text of parts, folders with items or ratings, and the
command line's exit code."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from konsil.api import Folder, open_folder
from konsil.cli.main import main
from tables_of_csv import write_rows

ITEMS = '[[sources]]\nfile = "items.csv"\nrecords = "items"'
"""The source that most studies have."""


def study_text(title: str, *parts: str, **settings: object) -> str:
    """A protocol: its title and settings, then its parts in their order."""
    return "\n".join(["", *_lines({"title": title, **settings}), *parts, ""])


def form(
    labels: Sequence[str] = ("no", "yes"), *, abstain: str = "", question: str = "Is it correct?"
) -> str:
    """The form `form`, which asks of an answer whether it is correct."""
    scale = f"labels = {json.dumps(labels)}" + (f', abstain = "{abstain}"' if abstain else "")
    return "\n".join(
        [
            *_lines({"id": "form"}, "[[instruments]]"),
            *_lines({"id": "correct", "question": question}, "[[instruments.criteria]]"),
            f"scale = {{ {scale} }}",
        ]
    )


def systems(*ids: str, **settings: object) -> str:
    """Systems that are alike but for their ids."""
    return "\n".join("\n".join(_lines({"id": i, **settings}, "[[systems]]")) for i in ids)


def raters(*ids: str, panel: str = "people", **settings: object) -> str:
    """The raters of a panel."""
    rows = [{"id": i, "panel": panel, **settings} for i in ids]
    return "\n".join("\n".join(_lines(row, "[[raters]]")) for row in rows)


def plan(panel: str = "people", **settings: object) -> str:
    """An allocation of the form `form` to a panel."""
    return "\n".join(_lines({"panel": panel, "instrument": "form", **settings}, "[[plan]]"))


def share_correct(panel: str = "people", name: str = "Correct", **settings: object) -> str:
    """The analysis of how many answers a panel finds correct."""
    keys = {"name": name, "statistic": "share", "of": ["yes"], "criterion": "correct"}
    return "\n".join(_lines({**keys, "raters": panel, **settings}, "[[analyses]]"))


def _lines(keys: dict[str, object], head: str = "") -> list[str]:
    """Keys as lines of TOML, which writes these values as JSON does."""
    return [*([head] if head else []), *(f"{k} = {json.dumps(v)}" for k, v in keys.items())]


def import_items(folder: Path, protocol: str, rows: Iterable[Sequence[str]]) -> Folder:
    """Write the protocol and the table items.csv, its header first, and import it."""
    (folder / "study.toml").write_text(protocol, "utf-8")
    write_rows(folder / "items.csv", list(rows))
    study = open_folder(folder)
    study.import_sources()
    return study


def import_ratings(folder: Path, rows: Iterable[Sequence[str]]) -> Folder:
    """Write the table r.csv, its header first, and import what study.toml names."""
    with (folder / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    study = open_folder(folder)
    study.import_sources()
    return study


def exit_code(*arguments: object) -> int:
    """What konsil's command line exits with."""
    try:
        main([str(a) for a in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0
