"""The files of a report besides its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from konsil.report.files.further import FurtherFiles
    from konsil.report.manuscript.request import ReportRequest


def files_beside_page(request: ReportRequest | None) -> FurtherFiles | None:
    """The files besides the page and its data; None where none are asked for."""
    if request is None or not (request.to or request.figures or request.checklist):
        return None
    # Who only reads the page need not wait for what writes manuscripts.
    from konsil.report.manuscript.files import further_files

    return further_files(request)
