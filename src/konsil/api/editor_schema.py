"""The JSON schema beside study.toml, from which editors complete and check the file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

SCHEMA = "study.schema.json"
"""The schema's name in the package and in a study's folder."""
LINE = f"#:schema ./{SCHEMA}\n"
"""The first line of study.toml that names it: the directive of Taplo, which editors' extensions for
TOML (such as Even Better TOML) and language servers read."""


def with_schema_line(text: str) -> str:
    r"""The protocol with the line that names its schema first; a text that has it is unchanged.

    >>> with_schema_line("title = 'A'\n").splitlines()
    ['#:schema ./study.schema.json', "title = 'A'"]
    """
    return text if text.startswith("#:schema ") else LINE + text


def write_schema(folder: Path) -> None:
    """Write the schema of this version into a study's folder."""
    content = files("konsil.study").joinpath(SCHEMA).read_bytes()
    (folder / SCHEMA).write_bytes(content)
