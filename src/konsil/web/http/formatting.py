"""Days, times and numbers in the language of the page."""

from __future__ import annotations

from datetime import date, datetime

from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal

from konsil.locale import catalogue_language, setting


def day(when: str | date | None, language: str) -> str:
    """A day in words; a dash where there is none.

    >>> day("2025-03-01T12:00:00Z", "en"), day(None, "de")
    ('1 Mar 2025', '–')
    """
    if when is None:
        return "–"
    moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    return str(format_date(moment, _day(language), locale=language))


def moment(when: str | None, language: str) -> str:
    """A day and the time of day, in UTC.

    >>> moment("2025-03-01T12:00:00Z", "de")
    '1. März 2025, 12:00 UTC'
    """
    if when is None:
        return "–"
    pattern = f"{_day(language)}, HH:mm"
    return f"{format_datetime(datetime.fromisoformat(when), pattern, locale=language)} UTC"


def _day(language: str) -> str:
    """Babel's pattern of a date."""
    return setting(catalogue_language(language), "day", "d MMM y")


def number(value: float | None, language: str, digits: int = 0) -> str:
    """A number with the separators of the language; a dash where there is none.

    >>> number(12345.67, "de", 1), number(None, "en")
    ('12.345,7', '–')
    """
    if value is None:
        return "–"
    return str(
        format_decimal(
            round(value, digits),
            locale=language,
            format=None if not digits else f"#,##0.{'0' * digits}",
        )
    )
