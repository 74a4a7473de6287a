"""Zip archives, which Word and Excel files are, with the same bytes every time."""

from __future__ import annotations

import io
import re
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry: the earliest that a zip archive can state."""
STATED = "1980-01-01T00:00:00Z"
"""The same where a document states when it was made."""
_TIMES = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:)")


def packed(archive: bytes) -> bytes:
    """The archive with fixed times, its entries in the order of their names.

    The list of content types comes first, as readers of such files expect.
    """
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        names = sorted(source.namelist(), key=lambda name: (name != "[Content_Types].xml", name))
        for name in names:
            content = source.read(name)
            if name == "docProps/core.xml":
                content = _TIMES.sub(rb"\g<1>" + STATED.encode() + rb"\g<3>", content)
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            entry.create_system = 3
            target.writestr(entry, content, compresslevel=6)
    return out.getvalue()
