"""Endpoints: downloading what was collected, noted in the audit log, and checking that log."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from konsil.store.engine.engine import reading
from konsil.store.engine.folders import sha256
from konsil.store.log import audit
from konsil.store.release.blinding import key, veiling
from konsil.web.office.office import office
from konsil.web.site.guard import form_of, visitor_of
from konsil.web.site.site import site_of

if TYPE_CHECKING:
    from konsil.store.release.export import Format


def _formats() -> tuple[Format, ...]:
    # Imported where something is downloaded: it needs Polars, which no other page does, and the
    # server starts sooner.
    from konsil.store.release.export import Format

    formats: tuple[Format, ...] = get_args(Format)
    return formats


def download(request: Request) -> Response:
    """What can be downloaded, and as what."""
    return office(request, "office_download.html", {"formats": _formats(), "fault": False})


def fetch(request: Request) -> Response:
    """Everything collected, as one archive: to an owner as it is, to a blind analyst behind a veil.

    Texts that a spreadsheet would take for formulas are made harmless, as in every CSV file of
    ours.
    """
    from konsil.store.release.export import export

    site, visitor = site_of(request), visitor_of(request)
    file_format = next((f for f in _formats() if f == form_of(request).get("format")), None)
    if file_format is None:
        return office(request, "office_download.html", {"formats": _formats(), "fault": True}, 422)
    veil = None if visitor.role == "owner" else veiling(site.study, key(site.store))
    work = Path(tempfile.mkdtemp(prefix="konsil-download-"))
    try:
        site.store.cover_log(site.now())
        folder = export(site.store, work / "records", file_format, veil=veil)
        packed = work / "records.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.iterdir()):
                archive.write(path, f"records/{path.name}")
        log_entry = {
            "who": visitor.who,
            "role": visitor.role,
            "format": file_format,
            "sha256": sha256(packed),
        }
        site.store.audit("download", log_entry, site.now())
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    name = f"records-{site.now()[:10]}-{visitor.role}.zip"
    cleanup = BackgroundTask(shutil.rmtree, work, ignore_errors=True)
    return FileResponse(packed, media_type="application/zip", filename=name, background=cleanup)


def log(request: Request) -> Response:
    """How long the audit log is, and its last digest."""
    return _log(request, None)


def check_log(request: Request) -> Response:
    """Check the audit log and the records that it covers."""
    return _log(request, site_of(request).store.verify_log())


def _log(request: Request, problems: tuple[str, ...] | None) -> Response:
    with reading(site_of(request).store.engine) as connection:
        entries, last = audit.head(connection)
    erased, _ = site_of(request).store.erased()
    context = {"entries": entries, "last": last, "problems": problems, "erased": erased}
    return office(request, "office_log.html", context)
