"""Texts of pages and reports: English in the code, other languages from catalogues.

The gettext catalogues are in this folder. A language is one file, `CODE.po`. A text without an
entry stays English. A study's own texts are never translated.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from functools import cache
from gettext import NullTranslations
from importlib.resources import files

SOURCE = "en"
"""The language that the code is written in."""


@cache
def languages() -> tuple[str, ...]:
    """The codes of all languages, sorted.

    >>> languages()
    ('de', 'en', 'fr')
    """
    catalogues = (
        file.name.removesuffix(".po")
        for file in files(__name__).iterdir()
        if file.name.endswith(".po")
    )
    return tuple(sorted({SOURCE, *catalogues}))


def catalogue_language(code: str) -> str:
    """The language of a code that there is a catalogue of, or nothing.

    >>> catalogue_language("de-AT"), catalogue_language("EN"), catalogue_language("xx")
    ('de', 'en', '')
    """
    short = code.strip().casefold().replace("_", "-").partition("-")[0]
    return short if short in languages() else ""


@cache
def is_draft(language: str) -> bool:
    """Whether a language's catalogue states in its head that it is a draft.

    Pages show a draft, reports do not.

    >>> is_draft("de"), is_draft("fr")
    (False, True)
    """
    # Babel keeps the lines of a head that it knows, and this is none of them.
    return '\n"X-Konsil-Status: draft\\n"\n' in files(__name__).joinpath(
        f"{language}.po"
    ).read_text("utf-8")


@cache
def complete_languages() -> tuple[str, ...]:
    """The languages that have every text, English first: those of reports, prompts, new studies.

    >>> complete_languages()
    ('en', 'de')
    """
    return (SOURCE, *(code for code in languages() if code != SOURCE and not is_draft(code)))


@cache
def setting(language: str, name: str, default: str = "") -> str:
    """A convention of a language from its catalogue's head: `X-Konsil-NAME: 'value'`.

    `decimal`, `between` (what stands between two limits), `percent`, `day` (Babel's pattern of a
    date), `word` and `latex` (the language's names in these formats).

    >>> setting("de", "decimal", "."), setting("en", "decimal", ".")
    (',', '.')
    """
    if language == SOURCE or language not in languages():
        return default
    text = files(__name__).joinpath(f"{language}.po").read_text("utf-8")
    line = re.search(rf'^"X-Konsil-{name.capitalize()}: \'(.*)\'\\n"$', text, re.MULTILINE)
    return line[1] if line else default


def entries(language: str, group: str, names: Iterable[str]) -> dict[str, str]:
    """A language's own texts of a group of entries `GROUP.NAME`, by name; of those it has.

    >>> entries("de-AT", "form", ["now", "answer"])["answer"], entries("xx", "form", ["answer"])
    ('Antwort {}', {})
    """
    catalogue = translations(catalogue_language(language) or SOURCE)
    texts = {name: catalogue.gettext(f"{group}.{name}") for name in names}
    return {name: text for name, text in texts.items() if text != f"{group}.{name}"}


@cache
def translations(language: str) -> NullTranslations:
    """The catalogue of a language; that of the source is empty."""
    if language == SOURCE:
        return NullTranslations()
    # Babel is imported where it is needed: most commands speak English.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po
    from babel.support import Translations

    text = files(__name__).joinpath(f"{language}.po").read_bytes()
    # Compiled here and not in a build step: what is installed is what can be read.
    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(text), locale=language))
    compiled.seek(0)
    return Translations(compiled)
