"""The pages' language.

It is the language that a visitor's browser requests; counts are in the language of a study's texts.
"""

from __future__ import annotations

from konsil.locale import SOURCE, catalogue_language, translations


def count_of(language: str, total: int) -> str:
    """'of 6' in the language of a study's texts, which need not be that of the page.

    >>> count_of("de", 6), count_of("xx", 6)
    ('von 6', 'of 6')
    """
    _ = translations(catalogue_language(language) or SOURCE).gettext
    return _("of %(total)s") % {"total": total}


def preferred(accepted: str) -> str:
    """The first language of an Accept-Language header that there is, by its weights.

    Nothing where there is none.

    >>> preferred("xx, en;q=0.7, de-DE;q=0.9"), preferred("xx"), preferred("en;q=what, de")
    ('de', '', 'de')
    """
    weighted_names: list[tuple[float, str]] = []
    for part in accepted.split(","):
        name, _, weight = part.partition(";q=")
        try:
            weighted_names.append((-float(weight or 1), catalogue_language(name)))
        except ValueError:
            continue
    return next(
        (
            name
            for weight, name in sorted(weighted_names, key=lambda pair: pair[0])
            if name and weight
        ),
        "",
    )
