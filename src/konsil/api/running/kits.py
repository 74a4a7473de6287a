"""Offline kits of a study's folder: making them, and taking in their answers."""

from __future__ import annotations

import re
from pathlib import Path

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL
from konsil.errors import KonsilError, StudyError, nearest, option
from konsil.locale import catalogue_language, languages
from konsil.records.numerals import natural
from konsil.store.engine.engine import reading
from konsil.store.engine.private import write_private
from konsil.store.people.staff import decider
from konsil.store.release import kits
from konsil.store.tasks import progress
from konsil.web.kit.kit import Kit, make
from konsil.web.kit.kit_answers import LONGEST, TakenIn, take_in
from konsil.web.site.site import Site


def make_kit(
    folder: Folder,
    rater: str,
    *,
    batch: str | None = None,
    output: Path | None = None,
    language: str = "",
    by: str = "",
) -> tuple[Kit, Path]:
    """Write the kit of a rater's batch, by default of the next that is not done.

    Give it and its path.

    `by`: who makes it, for the log.
    """
    chosen = catalogue_language(language or folder.study.language) or "en"
    if language and not catalogue_language(language):
        raise StudyError(
            f"{option('language')}: there is no {language!r}; {nearest(language, languages())}"
        )
    with folder.store() as store:
        with reading(store.engine) as connection:
            raters = sorted({c.rater for c in progress.counts(connection) if c.rater}, key=natural)
        if rater not in raters:
            raise StudyError(
                f"{folder.path / PROTOCOL}: there is no rater {rater!r} with tasks;"
                f" {nearest(rater, raters)}"
            )
        site = Site(folder.study, store)
        blocks = list(
            dict.fromkeys(
                (row.phase, row.batch)
                for row in site.desk.line(rater)
                if not row.is_completed or batch
            )
        )
        order = list(dict.fromkeys((row.phase, row.batch) for row in site.desk.line(rater)))
        matching = [b for b in blocks if batch is None or batch in (b[1], f"{b[0]} {b[1]}".strip())]
        if not blocks:
            raise StudyError(f"{folder.path}: rater {rater!r} has no unfinished tasks")
        if not matching:
            names = [name for _, name in blocks]
            raise StudyError(
                f"{folder.path}: rater {rater!r} has no batch {batch!r};"
                f" {nearest(batch or '', names)}"
            )
        kit = make(site, rater, *matching[0], chosen, by=decider(store, by))
    # The name says nothing of the plan: that of a phase would tell the rater that answers come once
    # more.
    number = f"-{order.index(matching[0]) + 1}" if len(order) > 1 else ""
    path = output or folder.path / f"kit-{_safe_file_name(rater)}{number}.html"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, kit.html.encode())
    except OSError as error:
        raise KonsilError(f"{path}: cannot be written: {error.strerror or error}") from None
    return kit, path


def take_in_answers(folder: Folder, file: Path) -> TakenIn:
    """Take in the answers file of a kit, as the pages would have."""
    try:
        # A pipe is never read to its end; what is not there fails below, with its reason.
        if file.exists() and not (file.is_file() and file.stat().st_size <= 4 * LONGEST):
            raise KonsilError(
                f"{file}: expected the answers file of an offline kit; the file has another format"
            )
        text = file.read_text("utf-8")
    except OSError as error:
        raise KonsilError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise KonsilError(
            f"{file}: expected the answers file of an offline kit; the file has another format"
        ) from None
    with folder.store() as store:
        return take_in(Site(folder.study, store), text, str(file))


def kits_made(folder: Folder) -> tuple[tuple[str, str, int, bool], ...]:
    """Every kit: its rater, its batch, how many screens it has, whether answers came back."""
    with folder.store() as store, reading(store.engine) as connection:
        return tuple(
            (
                str(e.data["rater"]),
                str(e.data["batch"]),
                len(kits.screens_of(e)),
                bool(kits.answered(connection, e.subject)),
            )
            for e in kits.kit_events(connection)
        )


def _safe_file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "x"
