"""What catalogues of data ask of a released study: who made it, who publishes it, under what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_RESOLVER = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Creator:
    """One of those who made the data."""

    name: str
    """The name as a citation has it, such as "Weber, Anna", or an organisation's name."""
    orcid: str = ""
    """The person's ORCID iD, such as 0000-0002-1825-0097."""
    affiliation: str = ""
    """The institution, as the publication states it."""
    kind: Literal["person", "organisation"] = "person"
    """Whether this is a person or an organisation, such as a study group."""


@dataclass(frozen=True, slots=True)
class Publication:
    """What a release states about itself in datacite.json and croissant.json.

    It is no part of the protocol's checksum: a DOI is known only when the data are there.
    """

    title: str = ""
    """The title of the released data; left out: the study's title."""
    creators: tuple[Creator, ...] = ()
    """Who made the data, in the order of the citation."""
    publisher: str = ""
    """The repository or institution that publishes the data."""
    year: int | None = None
    """The year of publication; left out: not known."""
    doi: str = ""
    """The data's DOI, without https://doi.org/, such as 10.5281/zenodo.1234567."""
    licence: str = ""
    """The licence of the data, an SPDX identifier; left out: the study's `licence`."""
    description: str = ""
    """What the data are, in a paragraph; left out: the study's description."""
    keywords: tuple[str, ...] = ()
    """Words by which the data are found."""


def publication_problems(publication: Publication, study_licence: str, where: str) -> Iterator[str]:
    """Problems of the publication's facts, one sentence each."""
    for n, creator in enumerate(publication.creators):
        if not creator.name.strip():
            yield f"{where}.creators[{n}].name: is empty; expected a name such as 'Weber, Anna'"
        if creator.orcid:
            yield from _orcid_problems(creator.orcid, f"{where}.creators[{n}].orcid")
            if creator.kind == "organisation":
                yield f"{where}.creators[{n}].orcid: an organisation has no ORCID iD"
    if publication.year is not None and not 1900 <= publication.year <= 2999:
        yield f"{where}.year: expected a year of four digits, got {publication.year}"
    if publication.doi and not _DOI.fullmatch(publication.doi):
        plain = _RESOLVER.sub("", publication.doi)
        expected = repr(plain) if _DOI.fullmatch(plain) else "one such as 10.5281/zenodo.1234567"
        yield f"{where}.doi: {publication.doi[:80]!r} is not a DOI; expected {expected}"
    if publication.licence and study_licence and publication.licence != study_licence:
        yield (
            f"{where}.licence: {publication.licence!r} differs from the study's licence"
            f" {study_licence!r}; state one of them"
        )


def _orcid_problems(orcid: str, where: str) -> Iterator[str]:
    if not _ORCID.fullmatch(orcid):
        yield (
            f"{where}: {orcid[:80]!r} is not an ORCID iD; expected 16 characters such as"
            " 0000-0002-1825-0097"
        )
    elif orcid[-1] != checksum(orcid[:-1]):
        yield f"{where}: {orcid!r} is not an ORCID iD: its last character is not its checksum"


def checksum(digits: str) -> str:
    """The last character of an ORCID iD, by ISO 7064 (MOD 11-2); hyphens do not count.

    >>> checksum("0000-0002-1825-009"), checksum("0000-0002-1694-233")
    ('7', 'X')
    """
    total = 0
    for digit in digits.replace("-", ""):
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return "X" if rest == 10 else str(rest)
