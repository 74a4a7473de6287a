"""Reports of records that a test states one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from konsil import report
from konsil.analysis import Results
from konsil.report import Section, StudyRecords
from konsil.study import Study


def write(
    folder: Path,
    study: Study,
    results: Results,
    *,
    extras: Sequence[Section] = (),
    **records: Any,
) -> Path:
    """The path of a report's page; `records` are those of `StudyRecords`."""
    return report.write(folder, study, results, StudyRecords(**records), extras=extras)
