"""Inputs for what reads files about letters: mailboxes with delivery failures, and mail.toml."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from fuzz_inputs import WORDS, broken, changed_toml

from konsil.api import Folder
from konsil.letters import bounces
from konsil.letters.settings import read_mail
from konsil.study import parse

STUDY = parse('title = "Letters"\nseed = 3\nlicence = "CC0-1.0"\n', lambda _: "", "study.toml")
LETTER = "0123456789abcdef" * 2
FAILURE = f"""From MAILER-DAEMON Mon Mar  2 10:00:00 2026
From: Mail system <mailer-daemon@mail.example.org>
To: office@example.org
Subject: Undelivered letter
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain; charset=utf-8

The letter could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mail.example.org

Final-Recipient: rfc822; ada@clinic.example
Action: failed
Status: 5.1.1

--b
Content-Type: message/rfc822

Message-ID: <{LETTER}@example.org>
To: ada@clinic.example
Subject: =?utf-8?b?R3LDvMOfZQ==?=

Dear Ada

--b--

From ada@clinic.example Mon Mar  2 11:00:00 2026
From: ada@clinic.example
Subject: Out of office

Back on Monday.
"""
MAIL = """[mail]
url = "https://study.example.org"
host = "mail.example.org"
port = 587
security = "starttls"
sender = "Study office <office@example.org>"
reply_to = "help@example.org"
user = "office"
password_variable = "MAIL_PASSWORD"
remind_after_days = [3, 7]
templates = "letters"
"""


def make_mailbox(rng: random.Random) -> bytes:
    """A mailbox with lines left out, doubled, exchanged, in one another and of other words."""
    lines = FAILURE.splitlines()
    for _ in range(rng.randrange(5)):
        n = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0 and len(lines) > 1:
            del lines[n]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[n])
        elif kind == 2:
            name, colon, _ = lines[n].partition(":")
            lines[n] = f"{name}{colon} {rng.choice(WORDS)}"
        elif kind == 3:
            lines[n] = (lines[n] * rng.choice((2, 5_000)))[:200_000]
        elif kind == 4:
            lines[n:n] = ["--b", "Content-Type: message/rfc822", ""] * rng.choice((1, 200))
        else:
            lines[n:n] = lines
    return broken(rng, "\n".join(lines).encode("utf-8", "replace"))


def read_mailbox(path: Path) -> None:
    """Read the failures of a mailbox."""
    for message in bounces._messages(path):
        bounces._failures(message)


def read_mail_toml(path: Path) -> None:
    """Read how letters are sent."""
    read_mail(Folder(path.parent, STUDY))


READ: dict[str, tuple[Callable[[random.Random], bytes], str, Callable[[Path], None]]] = {
    "mailbox": (make_mailbox, "mailbox", read_mailbox),
    "mail.toml": (lambda rng: changed_toml(rng, MAIL), "mail.toml", read_mail_toml),
}
