"""Letters with a personal link, to be copied into a mail or sent as one."""

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


def greeting(language: str, name: str) -> str:
    """How a letter begins.

    >>> greeting("de", "Dr. May"), greeting("en", "")
    ('Guten Tag Dr. May,', 'Dear colleague,')
    """
    _ = translations(language).gettext
    return _("Dear %(name)s,") % {"name": name} if name else _("Dear colleague,")


def reminder(
    language: str, title: str, name: str, url: str, until: str, n_tasks: int
) -> tuple[str, str]:
    """Subject and text of a reminder, which has the link of the invitation.

    >>> link, until = "https://x.org/come/s", "2025-06-01T12:00:00Z"
    >>> subject, text = reminder("en", "Trial", "Dr. May", link, until, 1)
    >>> subject, text.splitlines()[2]
    ('Reminder: study “Trial”', 'in the study “Trial”, 1 task is waiting for you.')
    """
    catalogue = translations(language)
    _ = catalogue.gettext
    subject = _("Reminder: study “%(title)s”") % {"title": title}
    waiting = catalogue.ngettext(
        "in the study “%(title)s”, %(num)s task is waiting for you.",
        "in the study “%(title)s”, %(num)s tasks are waiting for you.",
        n_tasks,
    ) % {"title": title, "num": formatting.number(n_tasks, language)}
    lines = (
        greeting(language, name),
        "",
        waiting,
        "",
        _("Your personal link leads, on any device, to where you were:"),
        "",
        url,
        "",
        _(
            "You can stop at any time: everything is saved as you go. Please do not pass the link"
            " on; whoever opens it rates in your name."
        ),
        "",
        _("The link works until %(day)s. If you no longer want to take part, reply to this letter.")
        % {"day": formatting.day(until, language)},
        "",
        _("Kind regards"),
        "",
    )
    return subject, "\n".join(lines)


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
        greeting(language, name),
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
