"""konsil: evaluations of clinical language models by panels of experts and by LLM judges.

Four doors for notebooks: `konsil.agreement(frame)` for any table of ratings,
`konsil.compare(frame)` for the ratings of several systems or groups, `konsil.preference(frame)` for
any table of comparisons, `konsil.open(folder)` for a study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from konsil.version import __version__

if TYPE_CHECKING:
    from konsil.analysis.running.comparing.compare import compare
    from konsil.analysis.standalone.agreement import agreement
    from konsil.analysis.standalone.preference_table import preference
    from konsil.api import (
        open_folder as open,  # noqa: A004
    )

__all__ = ["__version__", "agreement", "compare", "open", "preference"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the doors when they are used, so that `import konsil` costs nothing."""
    if name == "agreement":
        from konsil.analysis.standalone.agreement import agreement

        return agreement
    if name == "compare":
        from konsil.analysis.running.comparing.compare import compare

        return compare
    if name == "preference":
        from konsil.analysis.standalone.preference_table import preference

        return preference
    if name == "open":
        from konsil.api import open_folder

        return open_folder
    raise AttributeError(f"module 'konsil' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The doors, for completion in a notebook, without loading them."""
    return sorted(__all__)
