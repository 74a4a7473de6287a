"""The report's language: translated interface words and the decimal style that goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from gettext import NullTranslations

from konsil.analysis.model.catalogue.additions import additions
from konsil.locale import SOURCE, catalogue_language, is_draft, setting, translations
from konsil.stats.agreement.registry import STATISTICS


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
    catalogue: NullTranslations = field(default_factory=NullTranslations, repr=False, compare=False)
    """The catalogue of the language."""
    titles: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """English title of a statistic -> title in this language."""

    def gettext(self, message: str) -> str:
        """The text of a message id, or of an English text, in this language.

        What has no entry stays as it is.
        """
        # The entry of nothing is the catalogue's head.
        return self.titles.get(message) or self.catalogue.gettext(message) if message else ""

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        """The text for this number, by the language's plural rule."""
        return self.catalogue.ngettext(singular, plural, n)

    def statistic(self, name: str, title: str, text: str) -> tuple[str, str]:
        """Title and sentence of a statistic in this language; without entries those given."""
        ids = f"statistic.{name}", f"statistic.{name}.text"
        translated = tuple(self.catalogue.gettext(message) for message in ids)
        added = additions().get(name)
        title, text = (
            added.words.get(self.code, (title, text)) if added is not None else (title, text)
        )
        return (
            title if translated[0] == ids[0] else translated[0],
            text if translated[1] == ids[1] else translated[1],
        )


ENGLISH = Language(SOURCE, ".", ", ", "%")


@cache
def _language(code: str) -> Language:
    catalogue = translations(code)
    message_ids = {named.title: f"statistic.{name}" for name, named in STATISTICS.items()}
    titles = {
        title: text
        for title, message in message_ids.items()
        if (text := catalogue.gettext(message)) != message
    }
    return Language(
        code,
        setting(code, "decimal", ENGLISH.decimal),
        setting(code, "between", ENGLISH.between),
        setting(code, "percent", ENGLISH.per_cent),
        catalogue,
        titles,
    )


def language(code: str) -> Language:
    """The language of a study's code; English where there is no catalogue, or the draft of one.

    >>> language("de-CH").code, language("fr").code, language("xx").code
    ('de', 'en', 'en')
    """
    short = catalogue_language(code)
    return _language(short) if short and short != SOURCE and not is_draft(short) else ENGLISH
