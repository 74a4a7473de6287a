"""Letters with a personal link, to be copied into a mail."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.locale import translations
from konsil.records.roles import Role
from konsil.web.http import formatting


@dataclass(frozen=True, slots=True)
class Letter:
    """A link with the text around it, in every language of the pages."""

    recipient: str
    """Whom it is for."""
    url: str
    """The personal link, shown this once."""
    email: str
    """The address, where it is known."""
    texts: tuple[tuple[str, str, str], ...]
    """Language, subject and text; the study's language first."""


def letter(
    language: str, title: str, name: str, url: str, until: str, role: Role = "rater"
) -> tuple[str, str]:
    """Subject and text of an invitation, to be copied into a mail.

    >>> link, until = "https://x.org/come/s", "2025-06-01T12:00:00Z"
    >>> subject, text = letter("en", "Trial", "Dr. May", link, until)
    >>> subject, text.splitlines()[0], "https://x.org/come/s" in text.splitlines()
    ('Invitation to the study “Trial”', 'Dear Dr. May,', True)
    """
    _ = translations(language).gettext
    subject = _("Invitation to the study “%(title)s”") % {"title": title}
    if role == "rater":
        purpose = _("you are invited to rate answers in the study “%(title)s”.") % {"title": title}
        usage = _(
            "This is your personal link. It needs no account and leads, on any device, to where you"
            " were:"
        )
        rest = _(
            "You can stop at any time: everything is saved as you go. Please do not pass the link"
            " on; whoever opens it rates in your name."
        )
    elif role == "curator":
        purpose = _(
            "you are invited to go through the cases of the study “%(title)s” before they are"
            " rated."
        ) % {"title": title}
        usage = _(
            "This is your personal link. It needs no account and leads, on any device, to where you"
            " were:"
        )
        rest = _("Please do not pass the link on; whoever opens it acts in your name.")
    else:
        purpose = _("you are invited to help run the study “%(title)s”.") % {"title": title}
        usage = _("This is your personal link. It works once:")
        rest = _("Please do not pass the link on; whoever opens it acts in your name.")
    lines = (
        _("Dear %(name)s,") % {"name": name} if name else _("Dear colleague,"),
        "",
        purpose,
        "",
        usage,
        "",
        url,
        "",
        rest,
        "",
        _("The link works until %(day)s. Should it be lost, you get a new one.")
        % {"day": formatting.day(until, language)},
        "",
        _("Kind regards"),
        "",
    )
    return subject, "\n".join(lines)
