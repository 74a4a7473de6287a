"""Backups of a whole study centre: all studies at once, and the way back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from konsil.api.folder.folder import DATABASE, open_folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.running.archiving import (
    Archived,
    Restored,
    archive_study,
    backup_name,
    remove_older,
    unpack_study,
)
from konsil.design.edits import edited
from konsil.errors import KonsilError, StoreError, option
from konsil.store.backups.backup import copy_to
from konsil.store.backups.centre_index import (
    CentreIndex,
    ListedArchive,
    NoIndexError,
    is_plain,
    read_index,
    unpack_log,
    write_index,
)
from konsil.store.backups.database_copy import DatabaseCopy
from konsil.store.engine.folders import copy_new
from konsil.store.engine.leftovers import DATABASE_ENDINGS, database_draft
from konsil.store.log.db import Store
from konsil.store.log.heads import head_of
from konsil.study.sections.decode import toml_data
from konsil.web.centre.settings import (
    FILE,
    LOG_FILE,
    CentreSettings,
    StudyPlace,
    is_servable,
    place_of_log,
    read_settings,
)

STUDY_IN_URL = "{study}"
"""What stands for the study in the URL of its database."""
LOG_IN_URL = "audit-log"
"""What replaces it in the URL of the centre's own audit log: no study can be served under it."""


@dataclass(frozen=True, slots=True)
class ArchivedCentre:
    """A backup of a centre that was written."""

    path: Path
    """The file that lists the backups of the studies."""
    index: CentreIndex
    """What is in it."""
    studies: Mapping[str, Archived]
    """The backups of its studies."""
    problems: Mapping[str, str]
    """Studies that could not be backed up, with the reason."""
    removed: tuple[Path, ...]
    """Older backups of the centre that were removed; those of studies are with these."""
    log_problem: str = ""
    """Why the centre's own audit log is not in the backup; empty: it is, or there is none."""


@dataclass(frozen=True, slots=True)
class RestoredCentre:
    """A backup of a centre that was restored, if only for trial."""

    index: CentreIndex
    """What is in it."""
    studies: Mapping[str, Restored]
    """What was restored of each study."""


@dataclass(frozen=True, slots=True)
class _CopiedLog:
    """A copy of the centre's own audit log for a backup."""

    file: Path | None = None
    """The copy; None where there is none."""
    head: str = ""
    """Its head."""
    problem: str = ""
    """Why there is none; empty: the centre has no log."""


def is_centre(place: Path) -> bool:
    """Whether a path is a folder of several studies, or a TOML file that lists them."""
    if place.is_file():
        return place.suffix == ".toml" and place.name != PROTOCOL
    if not place.is_dir() or (place / PROTOCOL).exists():
        return False
    return (place / FILE).is_file() or any(place.glob(f"*/{PROTOCOL}"))


def archive_centre(
    place: Path, place_of_archives: Path, *, keys: Sequence[str] = (), keep: int | None = None
) -> ArchivedCentre:
    """Write a backup of every study of a centre, and then a file that lists them.

    The file also contains the settings and the centre's own audit log. A study or a log that cannot
    be backed up is stated and stops nothing else. With `keep`, only that many of the newest backups
    of each study that was backed up remain, and that many lists, unless the log is missing.
    """
    if os.environ.get(DATABASE, ""):
        raise KonsilError(
            f"{DATABASE} is set, but each study of a centre has its own database; unset it, and"
            f" state the databases in {FILE}"
        )
    settings = read_settings(place, with_service=False)
    with _copied_log(settings) as log:
        return _archive_with_log(settings, log, place_of_archives, keys, keep)


@contextmanager
def _copied_log(settings: CentreSettings) -> Iterator[_CopiedLog]:
    """A copy of the centre's own audit log, of one moment, until the block ends.

    It is made before those of the studies: their logs then have all heads that it states.
    """
    where = place_of_log(settings)
    is_url = "://" in where
    if not is_url and not Path(where).exists():
        # A place that is stated may be on a disk that is missing now.
        problem = f"{where}: there is no such file" if settings.log else ""
        yield _CopiedLog(problem=problem)
        return
    with ExitStack() as stack:
        try:
            # The copy is plain text, and never where the archives are.
            beside = (
                Path(where).parent
                if not is_url and os.access(Path(where).parent, os.W_OK)
                else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="konsil-backup-")))
            )
            name = LOG_FILE if is_url else Path(where).name
            draft = stack.enter_context(database_draft(beside / name))
            with Store.open(where, create=False) as store:
                copied = copy_to(store, draft)
            problem = copied.problems[0] if copied.problems else ""
            log = _CopiedLog(problem=problem) if problem else _CopiedLog(draft, copied.head)
        except (KonsilError, OSError) as error:
            log = _CopiedLog(problem=str(error))
        yield log


def _archive_with_log(
    settings: CentreSettings,
    log: _CopiedLog,
    place_of_archives: Path,
    keys: Sequence[str],
    keep: int | None,
) -> ArchivedCentre:
    place = settings.place
    root = place if place.is_dir() else place.parent
    archived: dict[str, Archived] = {}
    problems: dict[str, str] = {}
    for study in settings.places():
        try:
            archived[study.slug] = _archive(study, place_of_archives, keys)
        except (KonsilError, OSError) as error:
            problems[study.slug] = str(error)
    if not archived:
        reasons = "".join(f"; {slug}: {reason}" for slug, reason in problems.items())
        raise StoreError(f"{place}: no study was backed up{reasons}")
    index = CentreIndex(
        now(),
        tuple(
            ListedArchive(slug, backup.path.name, backup.manifest.head)
            for slug, backup in archived.items()
        ),
        tuple(problems),
        _settings_text(settings),
        log.head,
    )
    # Two centres may have folders of one name.
    mark = sha256(str(place.absolute()).encode()).hexdigest()[:8]
    name = f"{root.absolute().name}-centre-{mark}"
    path = place_of_archives / backup_name(name, index.made_at, is_encrypted=bool(keys))
    write_index(path, index, keys=keys, log=log.file)
    removed: tuple[Path, ...] = ()
    # Only now: whoever is killed before has all former backups.
    if keep is not None:
        # Older lists may be the last ones with a log.
        removed = () if log.problem else remove_older(place_of_archives, name, keep)
        for backup in archived.values():
            removed += remove_older(place_of_archives, backup.series, keep)
    return ArchivedCentre(path, index, archived, problems, removed, log.problem)


def _archive(place: StudyPlace, place_of_archives: Path, keys: Sequence[str]) -> Archived:
    # The list would be refused as a whole when it is read.
    for name in (place.slug, place.folder.absolute().name):
        if not is_plain(name):
            raise StoreError(
                f"{place.folder}: {name!r} cannot be listed in a backup of a centre; rename the"
                " folder, or back up this study by itself"
            )
    opened = open_folder(place.folder, database=place.database)
    return archive_study(opened, place_of_archives, keys=keys)


def _settings_text(settings: CentreSettings) -> str | None:
    file = settings.place / FILE if settings.place.is_dir() else settings.place
    return file.read_text("utf-8") if file.is_file() else None


def read_centre(path: Path, *, secret: str = "") -> CentreIndex | None:
    """What the backup of a centre contains; None if the file is that of a single study."""
    try:
        return read_index(path, secret=secret)
    except NoIndexError:
        return None


def restore_centre(
    path: Path, folder: Path, index: CentreIndex, *, secret: str = "", database: str = ""
) -> RestoredCentre:
    """Restore all studies of a centre to subfolders of a new folder.

    `database` is the URL of empty databases, with {study} in place of the study; without it, the
    records are in the folders. The centre's own audit log is in the new folder; if it was in a
    database with a URL and `database` is stated, it is in that of `audit-log`. What fails leaves
    nothing, and the databases empty.
    """
    if database and STUDY_IN_URL not in database:
        raise StoreError(
            f"{option('database')}: expected {STUDY_IN_URL} in the URL, in place of which each"
            f" study is named, such as postgresql://user@host/{STUDY_IN_URL}"
        )
    for listed in index.archives:
        # A name such as 'x?host=elsewhere' would be another server.
        if database and not is_servable(listed.study):
            raise StoreError(
                f"{option('database')}: {listed.study!r} cannot be a part of the URL; restore this"
                " study by itself, or the centre without databases"
            )
    urls = {
        listed.study: database.replace(STUDY_IN_URL, listed.study) if database else ""
        for listed in index.archives
    }
    log_url = database.replace(STUDY_IN_URL, LOG_IN_URL) if _has_log_in_url(index) else ""
    restored: dict[str, Restored] = {}

    def fill(draft: Path) -> None:
        for listed in index.archives:
            copy = copies.get(listed.study)
            restored[listed.study] = _unpack(path, draft, listed, secret, copy)
        if index.log_head:
            _unpack_log(path, draft / LOG_FILE, index.log_head, secret, copies.get(LOG_IN_URL))
        text = settings_of_restored(index, urls, log_url)
        if text is not None:
            (draft / FILE).write_text(text, "utf-8")

    targets = urls | ({LOG_IN_URL: log_url} if log_url else {})
    with _undone({name: url for name, url in targets.items() if url}) as copies:
        copy_new(folder, fill)
    return RestoredCentre(index, restored)


@contextmanager
def _undone(urls: Mapping[str, str]) -> Iterator[Mapping[str, DatabaseCopy]]:
    """Copies in these databases, all of which are removed after an error."""
    copies = {study: DatabaseCopy(url) for study, url in urls.items()}
    try:
        yield copies
    except BaseException as error:
        for copy in copies.values():
            copy.undo(error)
        raise


def _unpack(
    path: Path, folder: Path, listed: ListedArchive, secret: str, copy: DatabaseCopy | None
) -> Restored:
    archive = path.parent / listed.file
    restored = unpack_study(archive, folder / listed.study, secret=secret, copy=copy)
    if restored.manifest.head != listed.head:
        raise StoreError(
            f"{archive}: its head is {restored.manifest.head}, in the backup of the centre"
            f" {listed.head}"
        )
    return restored


def _unpack_log(
    path: Path, target: Path, head: str, secret: str, copy: DatabaseCopy | None
) -> None:
    """Restore the centre's own audit log to the new file `target`, or to a copy in its place."""
    unpack_log(path, target, secret=secret)

    def verify(log: Store) -> None:
        if problems := log.verify_log():
            raise StoreError(f"{path}: the centre's own audit log: {problems[0]}")
        if (restored := head_of(log)) != head:
            raise StoreError(
                f"{path}: the head of the centre's own audit log is {restored}, in the list {head}"
            )

    with Store.open(target, create=False) as log:
        verify(log)
        if copy is not None:
            copy.fill(log, verify)
    if copy is not None:
        for ending in DATABASE_ENDINGS:
            target.with_name(target.name + ending).unlink(missing_ok=True)


def _settings_of(index: CentreIndex) -> dict[str, Any]:
    return toml_data(index.settings or "", f"{FILE} of the backup")


def _has_log_in_url(index: CentreIndex) -> bool:
    return bool(index.log_head) and "://" in str(_settings_of(index).get("log", ""))


def settings_of_restored(
    index: CentreIndex, urls: Mapping[str, str], log_url: str = ""
) -> str | None:
    """The centre.toml of the restored folder: the former one with the new folders and databases.

    It states no other place of the audit log than `log_url`: a restored centre writes to the log of
    no other one. None where the subfolders alone state what is served, as before.
    """
    text, former = index.settings or "", _settings_of(index)
    data = {key: value for key, value in former.items() if key != "log"}
    data |= {"log": log_url} if log_url else {}
    if not data.get("studies") and not any(urls.values()):
        return index.settings if data == former else edited(text, data)
    studies = [
        {"folder": study} | ({"database": url} if url else {}) for study, url in urls.items()
    ]
    return edited(text, {**data, "studies": studies})


def check_centre_archive(path: Path, index: CentreIndex, *, secret: str = "") -> RestoredCentre:
    """Restore each study of a centre for trial, in a folder that is removed before the next one."""
    restored = {}
    for listed in index.archives:
        with tempfile.TemporaryDirectory(prefix="konsil-restore-") as place_of_trial:
            restored[listed.study] = _unpack(path, Path(place_of_trial), listed, secret, None)
    if index.log_head:
        with tempfile.TemporaryDirectory(prefix="konsil-restore-") as place_of_trial:
            _unpack_log(path, Path(place_of_trial) / LOG_FILE, index.log_head, secret, None)
    return RestoredCentre(index, restored)
