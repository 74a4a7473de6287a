"""Names for anchors and files, made from whatever the study calls things."""

from __future__ import annotations

import hashlib
import re
import unicodedata


def anchor(kind: str, name: str) -> str:
    """A name fit for files and anchors; different names stay different.

    >>> anchor("forest", "alpha"), anchor("forest", "Übersicht / 1")
    ('forest-alpha', 'forest-ubersicht-1-b2f25a')
    """
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    slug = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:40]
    if slug == name:
        return f"{kind}-{slug}"
    return "-".join(
        part for part in (kind, slug, hashlib.sha256(name.encode()).hexdigest()[:6]) if part
    )
