"""The report's language: translated interface words and the decimal style that goes with them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

from konsil.report.analysis_de import SAID
from konsil.report.messages_de import MESSAGES
from konsil.report.methods_de import SOURCES
from konsil.report.statistics_de import STATISTICS
from konsil.stats.names import STATISTICS as NAMED


@dataclass(frozen=True)
class Language:
    """One language of the interface. The words of the study itself are shown as they are."""

    code: str
    """The code of the page's `lang` attribute."""
    decimal: str
    """The decimal mark."""
    between: str
    """What stands between the two ends of an interval."""
    per_cent: str
    """What stands after a number per cent."""
    messages: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Message id, or for older texts the English one -> text of this language; what is absent stays English."""
    statistics: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    """Name of a statistic -> its title and one plain sentence."""

    def gettext(self, message: str) -> str:
        """The text in this language."""
        return self.messages.get(message, message)

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        """The text for one or for many; both languages here have the same two forms."""
        return self.gettext(singular if n == 1 else plural)


def catalogue(code: str) -> dict[str, str]:
    """Message id -> text of this language, from the files of `catalogue/<code>`, one file a family of ids.

    `[interval]` / `exact = "..."` in a file is the text of the id `interval.exact`.
    """
    texts: dict[str, str] = {}
    for path in sorted((resources.files("konsil.report") / "catalogue" / code).iterdir(), key=lambda p: p.name):
        for family, messages in tomllib.loads(path.read_text("utf-8")).items():
            texts |= {f"{family}.{name}": text for name, text in messages.items()}
    return texts


_TITLES = {named.title: STATISTICS[name][0] for name, named in NAMED.items()}

ENGLISH = Language("en", ".", ", ", "%")
_DEUTSCH = {**_TITLES, **SOURCES, **SAID, **MESSAGES, **catalogue("de")}
DEUTSCH = Language("de", ",", "; ", "\u202f%", _DEUTSCH, STATISTICS)


def language(code: str) -> Language:
    """The language of a study's code; English where there is no catalogue.

    >>> language("de-CH").code, language("fr").code
    ('de', 'en')
    """
    return DEUTSCH if code.casefold().split("-")[0].split("_")[0] == "de" else ENGLISH
