"""Studies as they are served: opened, with their tasks assigned where that is possible."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import urlsplit

from konsil.api.curation.preparing import is_being_prepared
from konsil.api.folder.folder import DATABASE, Folder, open_folder
from konsil.api.running.checking import unanswered_note
from konsil.api.running.planning import make_plan
from konsil.errors import AddedTasksError, KonsilError, PlanError, nearest, option
from konsil.store.people.centre_log import open_log
from konsil.study import Study
from konsil.web.centre.accounts import ALL
from konsil.web.centre.settings import (
    PROTOCOL,
    CentreSettings,
    StudyPlace,
    is_servable,
    place_of_log,
    similar_folder,
)
from konsil.web.site.site import Options


def assign_tasks(opened: Folder) -> str:
    """Assign the tasks of a study if this was not done; what can be done on its pages, in words.

    While items are still being screened, marked or rewritten on the pages, there are no tasks.
    Tasks that cannot be added after an interim look leave the stored ones to be rated.
    """
    try:
        return f"{len(make_plan(opened).tasks):,} tasks"
    except AddedTasksError as error:
        with opened.store() as store:
            return f"{store.counts()['tasks']:,} tasks assigned before ({error})"
    except PlanError as error:
        if not is_being_prepared(opened):
            raise
        # People choose, mark and reword on these very pages what is to be rated later.
        return f"nothing to rate yet, pages for study staff only ({error})"


def check_one_database() -> None:
    """Refuse several studies where the environment names one database for all of them."""
    if os.environ.get(DATABASE, ""):
        raise KonsilError(
            f"{option('studies')}: {DATABASE} is set and would give all studies one database; unset"
            " it, and state each study's database in centre.toml"
        )


def open_study(place: StudyPlace) -> tuple[Study, str]:
    """One study of a centre and its database: the URL, or the study's folder."""
    if os.environ.get(DATABASE, "") and not place.database:
        raise KonsilError(
            f"{place.folder}: {DATABASE} is set, which would give all studies one database; state"
            " each study's database in centre.toml"
        )
    opened = open_folder(place.folder, database=place.database)
    assign_tasks(opened)
    return opened.study, opened.database or str(opened.path)


def readable_studies(settings: CentreSettings) -> dict[str, Study]:
    """The studies whose protocol can be read and whose name can be part of an address, by slug."""
    studies = {}
    for place in settings.places():
        if is_servable(place.slug):
            # What is wrong with a study is in the log as soon as it is opened.
            with suppress(KonsilError, OSError):
                studies[place.slug] = open_folder(place.folder, database=place.database).study
    return studies


def unanswered_notes(settings: CentreSettings) -> Iterator[str]:
    """The studies in which raters would see empty boxes, a sentence each."""
    for place in settings.places():
        # What is wrong with a study is in the log as soon as it is opened.
        with suppress(KonsilError, OSError):
            opened = open_folder(place.folder, database=place.database)
            if (note := unanswered_note(opened)) is not None:
                yield f"{place.slug}: {note}"


def people_notes(settings: CentreSettings, studies: Mapping[str, Study]) -> Iterator[str]:
    """What is wrong with entries of [[people]], a sentence each: no such study, no such rater."""
    service = settings.service
    slugs = [place.slug for place in settings.places()]
    for n, invited in enumerate(() if service is None else service.people, 1):
        where = f"centre.toml: people {n}"
        if invited.study == ALL:
            continue
        if invited.study not in slugs:
            yield f"{where}: there is no study {invited.study!r}; {nearest(invited.study, slugs)}"
        elif invited.role == "rater" and (study := studies.get(invited.study)) is not None:
            raters = [r.id for r in study.everybody() if r.kind == "human"]
            if invited.person not in raters:
                yield (
                    f"{where}: {invited.study!r} has no rater {invited.person!r};"
                    f" {nearest(invited.person, raters)}"
                )


def check_passkeys(options: Options) -> None:
    """Refuse passkeys where the packages or an address that browsers accept are missing."""
    if not options.passkeys:
        return
    if find_spec("webauthn") is None:
        raise KonsilError(
            f"{option('passkeys')}: needs packages that are not installed; run pip install"
            " 'konsil[passkeys]'"
        )
    host = urlsplit(options.url).hostname or ""
    if host != "localhost" and (not options.secure or is_address(host)):
        raise KonsilError(
            f"{option('passkeys')}: browsers accept passkeys over TLS and with a host name; state"
            f" {option('url')} https://NAME, or http://localhost:PORT for a trial"
        )


def is_address(host: str) -> bool:
    """Whether a host is a number and not a name.

    >>> is_address("127.0.0.1"), is_address("study.example.org")
    (True, False)
    """
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def check_centre(settings: CentreSettings, workers: int) -> None:
    """Refuse what cannot be served at all: no study, or several processes on SQLite."""
    if settings.service is not None and find_spec("authlib") is None:
        raise KonsilError(
            f"{settings.place}: sign_in needs packages that are not installed; run pip install"
            " 'konsil[sso]'"
        )
    places = settings.places()
    if not places:
        is_study = settings.place.is_dir() and (settings.place / PROTOCOL).is_file()
        hint = f"; it is a study itself: omit {option('studies')}" if is_study else ""
        raise KonsilError(f"{settings.place}: contains no folder with a study.toml{hint}")
    if workers > 1:
        for place in places:
            if not place.database.startswith("postgres"):
                raise KonsilError(
                    f"{option('workers', workers)}: several processes need PostgreSQL; state the"
                    f" database of {place.slug!r} in centre.toml, or use one process, as SQLite"
                    " requires"
                )
    for place in settings.listed:
        if not place.folder.is_dir():
            hint = similar_folder(place.folder)
            raise KonsilError(
                f"{settings.place}: studies: {place.folder}: there is no such folder{hint}"
            )
    # Made here: worker processes that begin at once would all make it.
    open_log(place_of_log(settings)).close()
