"""The codebook of a study's folder as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL
from konsil.errors import KonsilError, StudyError, nearest, option

NAME = "codebook.html"


def write_codebook(
    folder: Folder, *, html: Path | None = None, pdf: Path | None = None, chosen: Sequence[str] = ()
) -> tuple[str, ...]:
    """Write the page, and the PDF where one is named.

    One line each, and one on characters that the PDF cannot show.
    """
    from konsil.report.codebook.codebook import codebook_page

    by_id = {i.id: i for i in folder.study.instruments}
    for name in chosen:
        if name not in by_id:
            raise StudyError(
                f"{option('instrument')}: there is no instrument {name!r}; {nearest(name, by_id)}"
            )
    instruments = [by_id[name] for name in dict.fromkeys(chosen)] or list(by_id.values())
    if not instruments:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there are no [[instruments]], so there is no codebook"
        )
    page = html or folder.path / NAME
    _write(page, codebook_page(folder.study, instruments).encode())
    lines = [str(page)]
    if pdf is not None:
        from konsil.report.codebook.codebook_pdf import codebook_pdf, unprintable

        _write(pdf, codebook_pdf(folder.study, instruments))
        lines.append(str(pdf))
        lacking = unprintable(folder.study, instruments)
        if lacking:
            lines.append(
                f"the PDF's font has no glyph for {' '.join(lacking)}; the page shows them: {page}"
            )
    return tuple(lines)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise KonsilError(f"{path}: cannot be written: {error.strerror or error}") from None
