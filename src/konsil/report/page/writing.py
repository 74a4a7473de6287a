"""The report's files: all of them or none, and the same bytes for the same study."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from konsil.analysis import Results
from konsil.errors import KonsilError, option
from konsil.report.figures.drawing import Drawing, retained
from konsil.report.figures.formats import figure_formats
from konsil.report.files.data_files import data_files
from konsil.report.files.edited import ON_REQUEST, PRINT, edited_file, with_checksums
from konsil.report.files.further import FurtherFiles
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.section import Section
from konsil.report.material.study_records import StudyRecords
from konsil.report.material.tables import Numbers
from konsil.report.material.translate import translated_results
from konsil.report.page.page import render, render_preliminary
from konsil.study import Study

FILES = frozenset(
    {
        "index.html",
        "figures",
        "manuscript",
        "print-figures",
        "estimates.csv",
        "estimates.json",
        "coverage.csv",
        "labels.csv",
        "outcomes.csv",
        "orders.csv",
        "usage.csv",
        "bounds.csv",
        "derived.csv",
        "curves.csv",
        "case_scores.csv",
    }
)
"""Everything a report's folder holds; a folder with anything else is not replaced."""


def write(
    folder: Path,
    study: Study,
    results: Results,
    records: StudyRecords,
    *,
    extras: Sequence[Section] = (),
    digest: str = "",
    is_blinded: bool = False,
    further: FurtherFiles | None = None,
) -> Path:
    """Write the report into `folder`, replacing a report that is there; return the page's path.

    The folder is filled beside its final place and moved there when it is whole, so that nobody
    ever finds half a report. A folder that holds anything but a report is left alone with a
    KonsilError. `digest` is the protocol's where `study` is not the protocol as it stands, but in
    letters; `is_blinded` says so. `further` are files besides the page and its data. A manuscript
    or figures for print that are there and not asked for stay if nothing else has changed.
    """
    folder = Path(folder)
    _may_replace(folder)
    material = _material(study, results, records, digest, is_blinded=is_blinded)
    with figure_formats(further.formats if further is not None else None):
        page = render(material, extras)
    files: dict[str, bytes] = {
        "index.html": page.html.encode(),
        **data_files(study, results, records.usage, digest),
    }
    for figure in page.figures:
        files[f"figures/{figure.key}.svg"] = figure.svg
        files |= {f"{PRINT}/{figure.key}.{k}": data for k, data in figure.others.items()}
    if further is not None:
        files |= further.make(material, results)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _replace(folder, with_checksums(files, PRINT))
    return folder / "index.html"


def write_preliminary(
    folder: Path,
    study: Study,
    results: Results,
    records: StudyRecords,
    *,
    is_blinded: bool = False,
) -> Path:
    """Write the first page alone, with its estimates, as `write` does the report."""
    _may_replace(folder)
    page = render_preliminary(_material(study, results, records, "", is_blinded=is_blinded))
    estimates = data_files(study, results, records.usage, "")["estimates.csv"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    _replace(folder, {"index.html": page.html.encode(), "estimates.csv": estimates})
    return folder / "index.html"


def draw(
    study: Study,
    results: Results,
    records: StudyRecords,
    *,
    digest: str = "",
    is_blinded: bool = False,
) -> tuple[Drawing, ...]:
    """The report's figures in the order of its page, with their matplotlib figures."""
    with retained():
        material = _material(study, results, records, digest, is_blinded=is_blinded)
        return render(material, ()).figures


def _material(
    study: Study, results: Results, records: StudyRecords, digest: str, *, is_blinded: bool
) -> Material:
    spoken = language(study.language)
    numbers = Numbers(spoken)
    return Material(
        study=study,
        results=translated_results(results, numbers),
        language=spoken,
        numbers=numbers,
        digest=digest,
        is_blinded=is_blinded,
        **vars(records),
    )


def _may_replace(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        strange = sorted(entry.name for entry in folder.iterdir() if entry.name not in FILES)
        if strange:
            raise KonsilError(
                f"{folder}: contains {strange[0]!r}, which is not part of a report; expected a"
                " new or"
                " empty folder or an earlier report"
            )
        for name in ON_REQUEST:
            edited = edited_file(folder / name)
            if edited is not None:
                raise KonsilError(
                    f"{folder / name / edited}: was changed or added since konsil wrote it; move"
                    f" the folder {name!r} to another place, or name another folder with"
                    f" {option('output')}"
                )
    elif folder.exists() or folder.is_symlink():
        raise KonsilError(
            f"{folder}: is not a folder; expected a new or empty folder or an earlier report"
        )


def _replace(folder: Path, files: Mapping[str, bytes]) -> None:
    # Beside it, on the same file system: moving it is one step then, and no copy.
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        new, old = work / "new", work / "old"
        (new / "figures").mkdir(parents=True)
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        for name in _folders_still_valid(folder, files):
            shutil.copytree(folder / name, new / name)
        # Moved aside and not removed: a report is there until the new one is whole.
        if folder.exists():
            folder.replace(old)
        new.replace(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _folders_still_valid(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """The folders on request that are there, are not made anew, and fit the files that are.

    They fit where page and data are the same bytes as before.
    """
    present = [
        name
        for name in ON_REQUEST
        if (folder / name).is_dir() and not any(file.startswith(f"{name}/") for file in files)
    ]
    common = {n: data for n, data in files.items() if not n.startswith(tuple(ON_REQUEST))}
    if present and all(
        (folder / name).is_file() and (folder / name).read_bytes() == content
        for name, content in common.items()
    ):
        return present
    return []
