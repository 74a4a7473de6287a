"""Backups of a whole study centre: all studies at once, and the way back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

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
from konsil.store.backups.centre_index import (
    CentreIndex,
    ListedArchive,
    NoIndexError,
    read_index,
    write_index,
)
from konsil.store.backups.database_copy import DatabaseCopy
from konsil.store.engine.folders import copy_new
from konsil.study.sections.toml_files import toml_data
from konsil.web.centre.settings import FILE, CentreSettings, StudyPlace, read_settings

STUDY_IN_URL = "{study}"
"""What stands for the study in the URL of its database."""


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


@dataclass(frozen=True, slots=True)
class RestoredCentre:
    """A backup of a centre that was restored, if only for trial."""

    index: CentreIndex
    """What is in it."""
    studies: Mapping[str, Restored]
    """What was restored of each study."""


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

    A study that cannot be backed up is stated and stops no other one. With `keep`, only that many
    of the newest backups of each study that was backed up remain, and that many lists.
    """
    if os.environ.get(DATABASE, ""):
        raise KonsilError(
            f"{DATABASE} is set, but each study of a centre has its own database; unset it, and"
            f" state the databases in {FILE}"
        )
    settings = read_settings(place, with_service=False)
    root = settings.place if settings.place.is_dir() else settings.place.parent
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
    )
    # Two centres may have folders of one name.
    mark = sha256(str(settings.place.absolute()).encode()).hexdigest()[:8]
    name = f"{root.absolute().name}-centre-{mark}"
    path = place_of_archives / backup_name(name, index.made_at, is_encrypted=bool(keys))
    write_index(path, index, keys=keys)
    removed: tuple[Path, ...] = ()
    # Only now: whoever is killed before has all former backups.
    if keep is not None:
        removed = remove_older(place_of_archives, name, keep)
        for backup in archived.values():
            removed += remove_older(place_of_archives, backup.series, keep)
    return ArchivedCentre(path, index, archived, problems, removed)


def _archive(place: StudyPlace, place_of_archives: Path, keys: Sequence[str]) -> Archived:
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
    records are in the folders. What fails leaves nothing, and the databases empty.
    """
    if database and STUDY_IN_URL not in database:
        raise StoreError(
            f"{option('database')}: expected {STUDY_IN_URL} in the URL, in place of which each"
            f" study is named, such as postgresql://user@host/{STUDY_IN_URL}"
        )
    urls = {
        listed.study: database.replace(STUDY_IN_URL, listed.study) if database else ""
        for listed in index.archives
    }
    restored: dict[str, Restored] = {}

    def fill(draft: Path) -> None:
        for listed in index.archives:
            copy = copies.get(listed.study)
            restored[listed.study] = _unpack(path, draft, listed, secret, copy)
        text = settings_of_restored(index, urls)
        if text is not None:
            (draft / FILE).write_text(text, "utf-8")

    with _undone({study: url for study, url in urls.items() if url}) as copies:
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


def settings_of_restored(index: CentreIndex, urls: Mapping[str, str]) -> str | None:
    """The centre.toml of the restored folder: the former one with the new folders and databases.

    None where the subfolders alone state what is served, as before.
    """
    text = index.settings or ""
    data = toml_data(text, f"{FILE} of the backup")
    if not data.get("studies") and not any(urls.values()):
        return index.settings
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
    return RestoredCentre(index, restored)
