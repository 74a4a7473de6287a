"""The facade: a study's folder as one object, for the command line and for notebooks. It may import everything."""

from konsil.api.folder import Folder, open_folder

__all__ = ["Folder", "open_folder"]
