"""Requests of rehearsals and of power."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from konsil.records.request import Flag, setting


@dataclass(frozen=True, kw_only=True)
class PowerRequest:
    """Which studies are drawn, and how often."""

    studies: int = setting(200, Flag("Studies to draw.", minimum=2))
    truth: Path | None = setting(None, Flag("What is assumed; default: FOLDER/simulation.toml."))
    items: int | None = setting(
        None, Flag("Number of simulated items to use instead of the study's own.", minimum=1)
    )
    exploratory: bool = setting(False, Flag("Analyses that are not prespecified, too."))
    seed: int | None = setting(None, Flag("Another seed than the study's."))
    resamples: int = setting(400, Flag("Resamples of each study.", minimum=40))
    """Enough for a p value at 0.05 and a width; the study itself takes its own number."""
    processes: int = setting(1, Flag("Processes that draw.", minimum=1))


@dataclass(frozen=True, kw_only=True)
class RehearsalRequest:
    """Where a study is rehearsed, and by whom."""

    target: Path | None = setting(
        None, Flag("The copy's folder; default: FOLDER-rehearsal.", name="to")
    )
    truth: Path | None = setting(
        None, Flag("How they rate; default: FOLDER/simulation.toml, if any.")
    )
    seed: int | None = setting(None, Flag("Another seed than the study's."))
    pace: float = setting(0.0, Flag("1: they take their time; 0: they take none.", minimum=0))
    most: int | None = setting(None, Flag("So many pages each at the utmost.", minimum=1))
    copy_database: str = setting(
        "",
        Flag("An empty database for the copy, to rehearse on PostgreSQL.", metavar="URL"),
    )
    windows: int = setting(
        0,
        Flag(
            "So many of them in a real Chromium.", name="browser", metavar="N", minimum=0, maximum=9
        ),
    )
    items: int | None = setting(
        None,
        Flag("Pretend so many items, where none are collected yet.", metavar="N", minimum=1),
    )
    workers: int = setting(
        1, Flag("Processes of the server; with PostgreSQL only.", minimum=1, is_shown=False)
    )
