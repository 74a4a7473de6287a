"""Requests of rehearsals and of power."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from konsil.records.request import Flag, Request, setting

NULL = Flag("Simulate without effects: equal systems, no preferences, no trends.")


@dataclass(frozen=True, kw_only=True)
class PowerRequest(Request):
    """Which studies are drawn, and how often."""

    studies: int = setting(200, Flag("Number of studies to simulate.", minimum=2))
    truth: Path | None = setting(
        None, Flag("File with the assumed parameters; default: FOLDER/simulation.toml.")
    )
    null: bool = setting(False, NULL)
    items: int | None = setting(
        None, Flag("Number of simulated items to use instead of the study's own.", minimum=1)
    )
    exploratory: bool = setting(False, Flag("Include analyses that are not prespecified."))
    seed: int | None = setting(None, Flag("Seed, instead of the study's."))
    resamples: int = setting(400, Flag("Number of bootstrap resamples per study.", minimum=40))
    """Enough for a p value at 0.05 and a width; the study itself takes its own number."""
    processes: int | None = setting(
        None, Flag("Number of parallel processes; default: one for each core.", minimum=1)
    )
    """None: one in Python, whose processes need a guard of the main module."""
    compute: str = setting(
        "",
        Flag("Where to compute: local:N or tcp://HOST:PORT (Dask), or cores:N.", metavar="WHERE"),
    )
    """Empty: what compute.toml states; without it `processes`."""


@dataclass(frozen=True, kw_only=True)
class RehearsalRequest(Request):
    """Where a study is rehearsed, and by whom."""

    target: Path | None = setting(
        None, Flag("The copy's folder; default: FOLDER-rehearsal.", name="to")
    )
    truth: Path | None = setting(
        None, Flag("Parameters of simulated raters; default: FOLDER/simulation.toml.")
    )
    null: bool = setting(False, NULL)
    seed: int | None = setting(None, Flag("Seed, instead of the study's."))
    pace: float = setting(0.0, Flag("1: raters pause as people do; 0: no pauses.", minimum=0))
    most: int | None = setting(None, Flag("Maximum number of pages per rater.", minimum=1))
    copy_database: str = setting(
        "",
        Flag("An empty database for the copy, to rehearse on PostgreSQL.", metavar="URL"),
    )
    windows: int = setting(
        0,
        Flag(
            "Number of raters who use a real Chromium browser.",
            name="browser",
            metavar="N",
            minimum=0,
            maximum=9,
        ),
    )
    items: int | None = setting(
        None,
        Flag("Number of simulated items, if none are collected yet.", metavar="N", minimum=1),
    )
    workers: int = setting(
        1, Flag("Number of server processes; PostgreSQL only.", minimum=1, is_shown=False)
    )
