"""A field whose own fields are stated among those of its record.

Several kinds of record have most fields in common, and some of their own. In Python the latter are
one typed part; in files and digests all fields of both stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

INLINE = "inline"
"""In the metadata of a dataclass' field: its `Inline`."""


@dataclass(frozen=True, slots=True)
class Inline:
    """Which part a record has, by what is stated of the record."""

    kind_of: Callable[[Mapping[str, object]], type | None]
    """The stated fields -> the type of the part; None where they do not say."""
    kinds: Callable[[], Iterable[type]]
    """Every type that the part can have."""
    refusal: Callable[[str, Mapping[str, object]], str]
    """A field of another type and the stated fields -> what is wrong, without the place."""
