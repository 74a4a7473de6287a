"""The preregistration text of a study's folder: made with the freeze, or before it as a preview."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.folder.blinded import freeze, hides
from konsil.api.folder.opened import OpenedStudy
from konsil.api.running.power_files import power_calculation, power_lines, shown_power
from konsil.errors import KonsilError, option
from konsil.records import Answer, Event, Item, Rater
from konsil.store import Store
from konsil.store.release.blinding import key as veil_key
from konsil.study import Study, study_digest
from konsil.study.data.blinding import letters
from konsil.study.data.freezing import frozen, plan_of_analyses

if TYPE_CHECKING:
    from konsil.report.manuscript.preregistration.form import Registered
    from konsil.report.manuscript.preregistration.power import PowerLine

SUFFIXES = (".md", ".docx")
"""The formats of the text, by the end of the file's name."""


def freeze_and_preregister(
    folder: OpenedStudy, by: str, note: str, files: Sequence[Path], power: Path | None = None
) -> Event:
    """Freeze the analysis plan and write its preregistration text to these files.

    What stands in the way of a file is said before anything is frozen. A power calculation is
    stored with the freeze, with the checksum of its file; while the study is blinded, without its
    lines by system, judge or family.
    """
    may_write(files)
    lines = power_lines(power, folder.study) if power is not None else ()
    shown, withheld = shown_power(folder, lines)
    calculation = power_calculation(power, shown, withheld) if power is not None else None
    event = freeze(folder, by, note, calculation)
    try:
        write_preregistration(folder, files, lines)
    except OSError as error:
        raise KonsilError(
            f"{error.filename}: {error.strerror}; the analysis plan was frozen at {event.at}, but"
            f" its text was not written: write it with {option('preview')}"
        ) from None
    return event


def write_preregistration(
    folder: OpenedStudy, files: Sequence[Path], power: Sequence[PowerLine] = ()
) -> None:
    """Write the text to new files that end in .md or .docx; nothing is frozen.

    The text states whether the plan is frozen. While the study is blinded, systems have blinding
    codes in it, and of the power by system, judge or family there is a summary only.
    """
    from konsil.report.manuscript.preregistration.form import preregistration_file

    may_write(files)
    registered = _registered(folder, power)
    contents = [preregistration_file(registered, file.suffix) for file in files]
    for file, content in zip(files, contents, strict=True):
        draft = file.with_name(f".{file.name}.new")
        try:
            draft.write_bytes(content)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)


def may_write(files: Sequence[Path]) -> None:
    """Refuse names of other formats, folders that are not there, and files that are."""
    for file in files:
        if file.suffix not in SUFFIXES:
            raise KonsilError(
                f"{option('preregistration')}: {str(file)!r} ends in {file.suffix!r}; expected a"
                f" file that ends in {' or '.join(SUFFIXES)}"
            )
        if not file.parent.is_dir():
            raise KonsilError(f"{option('preregistration')}: there is no folder {file.parent}")
        if file.exists():
            raise KonsilError(
                f"{option('preregistration')}: {file} exists already and may have been edited;"
                " expected the name of a new file"
            )


def _registered(folder: OpenedStudy, power: Sequence[PowerLine]) -> Registered:
    from konsil.analysis import Results
    from konsil.report.manuscript.preregistration.form import Registered
    from konsil.report.material.language import language
    from konsil.report.material.overview import Material
    from konsil.report.material.tables import Numbers

    study, items, raters, events, n_ratings, is_blinded = _stored(folder)
    freeze_event = frozen(events)
    spoken = language(study.language)
    material = Material(
        study=study,
        results=Results((), ()),
        items=items,
        answers=(),
        raters=raters,
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
        events=events,
        digest=study_digest(folder.study),
        is_blinded=is_blinded,
    )
    plan = str(plan_of_analyses(folder.study)["plan"])
    if freeze_event is not None:
        n_ratings = int(str(freeze_event.data.get("ratings", n_ratings)))
    return Registered(material, n_ratings, plan, *shown_power(folder, power))


Stored = tuple[Study, tuple[Item, ...], tuple[Rater, ...], tuple[Event, ...], int, bool]
"""The protocol as it may be shown, items, raters and events, the number of ratings, and whether
systems are blinded."""


def _stored(folder: OpenedStudy) -> Stored:
    if not folder.has_store() and not folder.study.blinded:
        return folder.study, (), folder.study.raters, (), 0, False
    # The blinding codes follow from a secret of the database.
    with folder.store(create=True) as store:
        events, raters = store.events(), store.raters()
        is_blinded = hides(folder, store)
        study = _shown(folder.study, store, raters) if is_blinded else folder.study
        n_ratings = store.counts()["ratings"]
        return study, store.items(), study.raters, events, n_ratings, is_blinded


def _shown(study: Study, store: Store, raters: Sequence[Rater]) -> Study:
    answers: tuple[Answer, ...] = store.answers()
    return letters(study, raters, answers, veil_key(store)).study(study)
