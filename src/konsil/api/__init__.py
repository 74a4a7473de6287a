"""The facade: a study's folder as one object, for the command line and for notebooks.

It may import everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konsil.api.folder.folder import Folder, open_folder

__all__ = ["Folder", "open_folder"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the folder when it is used: commands that only copy files need none of it."""
    if name in __all__:
        from konsil.api.folder import folder

        return getattr(folder, name)
    raise AttributeError(f"module 'konsil.api' has no attribute {name!r}")
