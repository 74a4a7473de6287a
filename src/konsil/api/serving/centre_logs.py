"""The audit logs of a study centre and of its studies, verified and compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from konsil.errors import KonsilError
from konsil.store import Store
from konsil.store.log.heads import anchor_notes, check_head
from konsil.store.people.centre_log import adoptions, open_log, repeated_adoptions
from konsil.web.centre.settings import FILE, LOG_FILE, PROTOCOL, place_of_log, read_settings


def log_of_centre(place: Path) -> Store | None:
    """The audit log of the centre in this folder or file; None where it is no centre.

    A folder with a study.toml is a study, also if its subfolders are studies.
    """
    is_file = place.is_file() and place.suffix == ".toml" and place.name != PROTOCOL
    is_folder = place.is_dir() and not (place / PROTOCOL).exists()
    if not is_file and not (is_folder and any((place / n).exists() for n in (FILE, LOG_FILE))):
        return None
    # The secret of a sign-in service need not be there.
    settings = read_settings(place, with_service=False)
    return open_log(place_of_log(settings), create=False)


@dataclass(frozen=True, slots=True)
class ComparedLogs:
    """The logs of a centre's studies, compared with their heads at adoption."""

    studies: tuple[str, ...]
    """Studies whose logs are intact and continue those heads."""
    problems: tuple[str, ...]
    """What is wrong with the log of a study, a sentence each."""
    notes: tuple[str, ...]
    """What was not compared, or with a later head only, a sentence each."""


def compare_logs(place: Path, log: Store) -> ComparedLogs:
    """Verify the log of each study of a centre, and compare it with its head at adoption.

    A chain that was written anew is whole; that it is another one, only a head that was noted
    elsewhere reveals.
    """
    heads, later = adoptions(log), repeated_adoptions(log)
    places = read_settings(place, with_service=False).places()
    intact, problems = [], []
    notes = [
        f"{slug}: was served with another database until {at[:10]}; compared with the head of that"
        " day"
        for slug, at in later.items()
    ]
    for study in places:
        if study.slug not in heads:
            notes.append(f"{study.slug}: not compared, because this centre has not served it yet")
            continue
        try:
            with Store.open(study.database or study.folder, create=False) as store:
                head = heads[study.slug]
                wrong = [*store.verify_log(), *check_head(store, head)]
                # Whoever writes a log anew can also write that it was anchored anew.
                notes += [f"{study.slug}: {note}" for note in anchor_notes(store, head)]
        except (KonsilError, OSError) as error:
            wrong = [str(error)]
        problems += [f"{study.slug}: {problem}" for problem in wrong]
        intact += [] if wrong else [study.slug]
    gone = heads.keys() - {study.slug for study in places}
    notes += [
        f"{slug}: not compared, because it is no longer in the centre" for slug in sorted(gone)
    ]
    return ComparedLogs(tuple(intact), tuple(problems), tuple(notes))
