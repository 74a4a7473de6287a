"""What a run shows while it goes on: done, rate, cost and time left.

Nothing where nobody watches.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from konsil.collect.running.budget import Budget
from konsil.collect.running.lanes import Progress
from konsil.progress import verbosity

EVERY = 0.5
"""Seconds between two looks."""


@asynccontextmanager
async def progress_shown(
    progress: Progress, budget: Budget, description: str
) -> AsyncIterator[None]:
    """Show the progress on standard error while the block runs, where that is a terminal."""
    if not sys.stderr.isatty() or verbosity() == "quiet":
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        row = bar.add_task(description, total=progress.total, told="")

        def look() -> None:
            speed = bar.tasks[0].speed or 0.0
            cost = f" · ${budget.spent:.2f}" if budget.spent else ""
            others = f" · {progress.elsewhere:,} by others" if progress.elsewhere else ""
            bar.update(
                row,
                completed=progress.ended + progress.elsewhere,
                told=f"{speed:,.1f}/s{cost}{others}",
            )

        async def watch() -> None:
            while True:
                look()
                await asyncio.sleep(EVERY)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            look()
