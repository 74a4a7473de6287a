"""Which studies a centre has: the subfolders of a folder, or a list in a TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import KonsilError, nearest
from konsil.study.sections.decode import toml_data
from konsil.web.centre.accounts import SignInService, check_keys, read_service

FILE = "centre.toml"
"""The file of a folder of studies; it is optional."""
LOG_FILE = "centre.db"
"""The name of the centre's own audit log in a folder of studies."""
PROTOCOL = "study.toml"
"""The file by which a study's folder is recognised."""
RESERVED = frozenset({"audit-log", "health", "language", "leave", "sign-in", "signed-in", "static"})
"""First parts of paths that the centre's own pages have."""
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")
_KEYS = ("title", "log", "studies", "sign_in", "people")
_STUDY_KEYS = ("path", "folder", "database")


@dataclass(frozen=True, slots=True)
class StudyPlace:
    """One study of a centre."""

    slug: str
    """The part of the address after the centre's own."""
    folder: Path
    """The study's folder."""
    database: str = ""
    """URL of its database; empty: the folder's own SQLite file."""


@dataclass(frozen=True, slots=True)
class CentreSettings:
    """What is served, and under which title."""

    place: Path
    """The folder of studies, or the file that lists them."""
    title: str = ""
    """The title of the page that lists the studies; empty: the default one."""
    listed: tuple[StudyPlace, ...] = ()
    """The studies of the list; empty: all subfolders that are studies."""
    service: SignInService | None = None
    """The service through which people sign in; None: by links alone."""
    log: str = ""
    """File or URL of the centre's own audit log; empty: beside what names the studies."""

    def places(self) -> tuple[StudyPlace, ...]:
        """The studies as they are now, by slug; a folder is read again each time."""
        if self.listed:
            return self.listed
        root = self.place if self.place.is_dir() else self.place.parent
        folders = (p for p in root.iterdir() if (p / PROTOCOL).is_file())
        return tuple(
            StudyPlace(folder.name, folder)
            for folder in sorted(folders)
            if not folder.name.startswith(".")
        )


def is_servable(slug: str) -> bool:
    """Whether a study can have this part of the address.

    >>> is_servable("trial-1"), is_servable("health"), is_servable("Trial 1")
    (True, False, False)
    """
    return _SLUG.fullmatch(slug) is not None and slug not in RESERVED


def place_of_log(settings: CentreSettings) -> str:
    """Where the log of a centre is: beside the file or in the folder that names the studies."""
    if "://" in settings.log:
        return settings.log
    place = settings.place
    root = place if place.is_dir() else place.parent
    default = LOG_FILE if place.is_dir() else f"{place.stem}.db"
    return str(root / (settings.log or default))


def read_settings(place: Path, *, with_service: bool = True) -> CentreSettings:
    """The settings of a folder of studies, or of a TOML file that lists them.

    Without the service through which people sign in, its secret need not be there.
    """
    if place.is_dir():
        file = place / FILE
        return _parsed(place, file, with_service) if file.is_file() else CentreSettings(place)
    if place.is_file():
        return _parsed(place, place, with_service)
    hint = similar_folder(place) or "; expected a folder of studies"
    raise KonsilError(f"{place}: there is no such folder or file{hint}")


def similar_folder(place: Path) -> str:
    """The end of a sentence about a folder that is not there: the one of nearly this name."""
    if not place.parent.is_dir():
        return f"; there is no folder {str(place.parent)!r} either"
    names = [
        path.name
        for path in place.parent.iterdir()
        if (path.is_dir() or path.suffix == ".toml") and not path.name.startswith(".")
    ]
    hint = nearest(place.name, names, listed=()) if names else ""
    return f"; {hint}" if place.name and "?" in hint else ""


def _parsed(place: Path, file: Path, with_service: bool) -> CentreSettings:
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise KonsilError(f"{file}: is not UTF-8 text; save it as UTF-8") from None
    data = toml_data(text, str(file))
    check_keys(data, _KEYS, str(file))
    title, log, studies = data.get("title", ""), data.get("log", ""), data.get("studies", [])
    for key, text in (("title", title), ("log", log)):
        if not isinstance(text, str):
            raise KonsilError(f"{file}: {key}: expected a text, got {text!r}")
    if not isinstance(studies, list) or not all(isinstance(s, dict) for s in studies):
        raise KonsilError(f"{file}: studies: expected tables [[studies]]")
    listed = tuple(
        _study(study, file.parent, f"{file}: studies {n}") for n, study in enumerate(studies, 1)
    )
    slugs = [study.slug for study in listed]
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise KonsilError(f"{file}: studies: the path {slug!r} occurs more than once")
    if not with_service:
        return CentreSettings(place, title, listed, log=log)
    service = read_service(data.get("sign_in"), data.get("people", []), file)
    return CentreSettings(place, title, listed, service, log)


def _study(study: Mapping[str, object], root: Path, where: str) -> StudyPlace:
    check_keys(study, _STUDY_KEYS, where)
    texts = {key: study.get(key, "") for key in _STUDY_KEYS}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise KonsilError(f"{where}.{key}: expected a text, got {value!r}")
    folder = str(texts["folder"])
    if not folder:
        raise KonsilError(f"{where}: folder is missing; expected the folder of a study")
    slug = str(texts["path"]) or Path(folder).name
    if not is_servable(slug):
        raise KonsilError(
            f"{where}.path: expected letters, digits, '.', '-' or '_' and none of"
            f" {', '.join(sorted(RESERVED))}, got {slug!r}"
        )
    return StudyPlace(slug, root / folder, str(texts["database"]))
