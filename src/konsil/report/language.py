"""The report's language: translated interface words and the decimal style that goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    """English text -> text of this language; what is absent stays English."""
    statistics: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    """Name of a statistic -> its title and one plain sentence."""

    def gettext(self, message: str) -> str:
        """The text in this language."""
        return self.messages.get(message, message)

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        """The text for one or for many; both languages here have the same two forms."""
        return self.gettext(singular if n == 1 else plural)


_TITLES = {named.title: STATISTICS[name][0] for name, named in NAMED.items()}

ENGLISH = Language("en", ".", ", ", "%")
DEUTSCH = Language("de", ",", "; ", "\u202f%", {**_TITLES, **SOURCES, **SAID, **MESSAGES}, STATISTICS)


def language(code: str) -> Language:
    """The language of a study's code; English where there is no catalogue.

    >>> language("de-CH").code, language("fr").code
    ('de', 'en')
    """
    return DEUTSCH if code.casefold().split("-")[0].split("_")[0] == "de" else ENGLISH
