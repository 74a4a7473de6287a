"""konsil status: what the database holds."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from konsil.cli.collecting import batch_line, counted, worker_lines
from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json


@click.command(short_help="Summarise the contents of the study's database.")
@on_folder
@with_json
def command(folder: Path, database: str) -> Printout:
    """Count the records of each kind, and the model calls by outcome.

    It lists the workers under way, and states whether the protocol has changed since the last
    import.
    """
    from konsil.api import open_folder
    from konsil.api.curation.duplicates import unsearched_lines
    from konsil.api.curation.preparing import of_items
    from konsil.api.curation.rewriting import waiting
    from konsil.api.folder.erasing import retention_line
    from konsil.store.calls.batches import Batches
    from konsil.store.calls.calls import Calls
    from konsil.store.calls.worker_states import workers
    from konsil.study import study_digest
    from konsil.study.sections.privacy import is_over

    opened = open_folder(folder, database=database)
    with opened.store() as store:
        counts = store.counts()
        noted = store.study_digest()
        calls = Calls(store).counts()
        batches = Batches(store).unfinished()
        under_way = workers(store)
        events = store.events()
        wordings = tuple(waiting(opened, store))
    sentences = [*of_items(events), *wordings, *unsearched_lines(opened)]
    is_changed = bool(noted) and noted != study_digest(opened.study)
    today = date.today()
    retention = (
        retention_line(opened.study, today) if is_over(opened.study.privacy, today) else None
    )
    record = {
        "title": opened.study.title,
        "records": counts,
        "calls": calls,
        "batches": batches,
        "workers": under_way,
        "sentences": [line.strip() for line in sentences],
        "is_protocol_changed": is_changed,
        "retention": retention,
    }
    lines = [opened.study.title]
    lines += [f"  {kind:10}{n:>12,}" for kind, n in counts.items()]
    lines += [f"  {line}" for line in sentences]
    lines += counted(calls)
    lines += map(batch_line, batches)
    lines += worker_lines(under_way)
    if is_changed:
        lines.append("  the protocol has changed since the last import")
    if retention is not None:
        lines.append(f"  {retention}")
    return Printout(record, lines)
