"""The documents of `konsil compare`: written completely, file by file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from konsil.analysis.running.comparing.compare_result import GroupComparison
from konsil.errors import KonsilError
from konsil.report.manuscript.comparison import comparison_files
from konsil.report.manuscript.request import Form


def write_documents(
    comparison: GroupComparison, title: str, forms: Sequence[Form], folder: Path
) -> list[Path]:
    """Write a comparison's documents and figures into a folder; return their paths."""
    files = comparison_files(comparison, title, forms)
    paths = []
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Beside it first: whoever reads the file meanwhile finds the old one or the new one.
            draft = path.with_name(f".{path.name}.new")
            draft.write_bytes(content)
            paths.append(draft.replace(path))
    except OSError as error:
        raise KonsilError(f"--output {str(folder)!r}: cannot be written ({error})") from None
    return paths
