"""Request for an export: for whom, in which files, and what a release has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from konsil.records.request import Flag, Request, setting


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """What `konsil export` writes; `Folder.release` takes the same for a release."""

    format: Literal["csv", "jsonl", "parquet"] = setting("csv", Flag("Files."))
    release: bool = setting(
        False, Flag("For publication: pseudonymous raters, dictionary, licence, checksums.")
    )
    notes: bool = setting(False, Flag("With --release: include the raters' notes and free texts."))
    k: int = setting(
        3, Flag("With --release: minimum number of raters per published combination.", minimum=1)
    )
    order: bool = setting(
        False, Flag("With --release: include positions, batches and repeated tasks.")
    )
    unlink: bool = setting(
        False, Flag("With --release: give raters another pseudonym on each item.")
    )
    linked: bool = setting(
        False, Flag("With --release: one pseudonym per rater, even if tasks identify them.")
    )
    to: Literal["files", "label-studio"] = setting("files", Flag("For whom."))
    overwrite: bool = setting(False, Flag("Replace an earlier export."))
