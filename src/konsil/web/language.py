"""The pages' words: English in the templates, other languages from gettext catalogues; a study's own texts stay."""

from __future__ import annotations

import io
from functools import cache
from importlib.resources import files

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

LANGUAGES = ("de", "en")
"""The languages of the pages."""
SOURCE = "en"
"""The language in which the templates are written."""


@cache
def translations(language: str) -> NullTranslations:
    """The catalogue of a language; the one of the templates is empty."""
    if language == SOURCE:
        return NullTranslations()
    text = files("konsil.web").joinpath("locale", f"{language}.po").read_bytes()
    # Compiled here and not in a build step: what is installed is what can be read.
    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(text), locale=language))
    compiled.seek(0)
    return Translations(compiled)


def count_of(language: str, total: int) -> str:
    """'of 6' in the language of a study's texts, which need not be that of the page.

    >>> count_of("de", 6), count_of("fr", 6)
    ('von 6', 'of 6')
    """
    _ = translations(known(language) or SOURCE).ugettext
    return _("of %(total)s") % {"total": total}


def known(language: str) -> str:
    """The language of a code that there is a catalogue of, or nothing.

    >>> known("de-AT"), known("fr")
    ('de', '')
    """
    short = language.strip().casefold().replace("_", "-").partition("-")[0]
    return short if short in LANGUAGES else ""


def preferred(accepted: str) -> str:
    """The first language of an Accept-Language header that there is, by its weights; nothing where there is none.

    >>> preferred("fr, en;q=0.7, de-DE;q=0.9"), preferred("fr"), preferred("en;q=what, de")
    ('de', '', 'de')
    """
    found: list[tuple[float, str]] = []
    for part in accepted.split(","):
        name, _, weight = part.partition(";q=")
        try:
            found.append((-float(weight or 1), known(name)))
        except ValueError:
            continue
    return next((name for weight, name in sorted(found, key=lambda pair: pair[0]) if name and weight), "")
