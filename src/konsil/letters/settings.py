"""How letters are sent: [mail] of mail.toml, which is no part of the frozen protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from email.headerregistry import Address
from email.utils import parseaddr
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from konsil.errors import StudyError, nearest
from konsil.letters.mail_addresses import in_header, mailbox_problem
from konsil.letters.opened import Opened, read_text
from konsil.study.sections.decode import decode, toml_data

FILE = "mail.toml"
"""The file of a study's folder; without it, no letter is sent."""
PROTOCOL = "study.toml"
"""The file by which a folder is a study."""
SECURITY = ("starttls", "tls", "none")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PORTS = {"starttls": 587, "tls": 465, "none": 25}
LAST_PORT = 65_535
TEMPLATES = "letters"
"""The usual folder of a study's own texts, which need not exist."""


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The mail server, and who the letters are from."""

    url: str
    """The public address of the study's pages, without which there is no link."""
    host: str
    """The mail server."""
    sender: str
    """From whom letters are: an address, or a name with an address."""
    port: int = 0
    """0: the usual one."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is encrypted; none: only to this machine."""
    ca_file: str = ""
    """Certificates of the authority that the server's is checked with; empty: the system's."""
    reply_to: str = ""
    """Where replies go; empty: to the sender."""
    user: str = ""
    """The account at the mail server; empty: none is needed."""
    password_variable: str = ""
    """The environment variable with the account's password."""
    password_file: str = ""
    """The file with the account's password."""
    remind_after_days: tuple[int, ...] = ()
    """Days after the invitation on which a reminder is due; empty: none is."""
    templates: str = TEMPLATES
    """The folder with the study's own texts."""

    @property
    def address(self) -> Address:
        """The sender."""
        return _mailbox(self.sender)

    @property
    def reply_address(self) -> Address | None:
        """Where replies go; None: to the sender."""
        return _mailbox(self.reply_to) if self.reply_to else None

    @property
    def server(self) -> str:
        """The server in a sentence."""
        return f"{self.host}:{self.port or PORTS[self.security]}"


def _mailbox(text: str) -> Address:
    name, address = parseaddr(text)
    return Address(in_header(name), addr_spec=address)


@dataclass(frozen=True, slots=True)
class MailFile:
    """What mail.toml contains."""

    mail: MailSettings


def read_mail(folder: Opened) -> MailSettings:
    """The settings of a study's mail.toml; a StudyError in a sentence where they cannot be."""
    if folder.study.simulated:
        raise StudyError(
            f"{folder.path}: the study is simulated; nothing is sent to people in a simulation or a"
            " rehearsal"
        )
    file = folder.path / FILE
    if not file.is_file():
        raise StudyError(f"{file}: there is no such file; it has the table [mail] to send letters")
    mail = decode(MailFile, toml_data(read_text(file), str(file)), str(file)).mail
    problem = _problem(mail)
    problem = problem or _other_study(mail.url, folder.path.resolve())
    if problem:
        raise StudyError(f"{file}: mail.{problem}")
    return mail


def _other_study(url: str, folder: Path) -> str:
    """The problem that links lead to another study; nothing where they do not.

    The pages of several studies are under the names of their folders, and mail.toml is copied.
    """
    name = PurePosixPath(urlsplit(url).path).name
    is_other = name not in ("", folder.name) and (folder.parent / name / PROTOCOL).is_file()
    return f"url: {url!r} leads to the study {name!r} beside this one" if is_other else ""


def address_of_pages(folder: Opened) -> str:
    """The public address that mail.toml states; empty where there is no such file."""
    is_sent = (folder.path / FILE).is_file() and not folder.study.simulated
    return read_mail(folder).url if is_sent else ""


def _problem(mail: MailSettings) -> str:
    """The first problem of the settings, with the key it is about; nothing where there is none."""
    if not _is_address_of_pages(mail.url):
        return f"url: expected an address with https:// and without ? and #, got {mail.url!r}"
    if not mail.host.strip() or not mail.host.isprintable():
        return f"host: expected the name of the mail server, got {mail.host!r}"
    if not 0 <= mail.port <= LAST_PORT:
        return f"port: expected 1 to {LAST_PORT:,}, got {mail.port}"
    if mail.security not in SECURITY:
        return f"security: there is no {mail.security!r}; {nearest(mail.security, SECURITY)}"
    if mail.security == "none" and mail.host not in LOOPBACK:
        return "security: 'none' is accepted only to this machine (localhost); use 'starttls'"
    for key, value in (("sender", mail.sender), ("reply_to", mail.reply_to)):
        problem = mailbox_problem(value) if value or key == "sender" else ""
        if problem:
            return f"{key}: {problem}, such as 'Study office <office@example.org>', got {value!r}"
    if mail.password_variable and mail.password_file:
        return "password_file: password_variable is stated too; expected one of them"
    if bool(mail.user) != bool(mail.password_variable or mail.password_file):
        return "user: expected user with password_variable or password_file, or none of them"
    days = mail.remind_after_days
    if any(day < 1 for day in days) or list(days) != sorted(set(days)):
        return f"remind_after_days: expected increasing days from 1 on, got {list(days)}"
    return ""


def _is_address_of_pages(url: str) -> bool:
    """Whether links begin with it: a host and perhaps a path, in which no blank breaks a link."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    schemes = ("https", "http") if parts.hostname in LOOPBACK else ("https",)
    is_plain = url.isprintable() and not any(c.isspace() or c in '?#@"<>' for c in url)
    return parts.scheme in schemes and bool(parts.hostname) and is_plain


def password(mail: MailSettings, folder: Path, environment: Mapping[str, str] = os.environ) -> str:
    """The account's password, from where the settings name it; empty where there is no account."""
    if mail.password_file:
        place = folder / mail.password_file
        try:
            secret = place.read_text("utf-8-sig").strip()
        except (OSError, UnicodeDecodeError):
            raise StudyError(f"{folder / FILE}: mail.password_file: cannot read {place}") from None
    else:
        secret = environment.get(mail.password_variable, "").strip()
    source = mail.password_file or mail.password_variable
    # The protocol's usual mechanisms have no agreed encoding, and the library takes ASCII alone.
    if not (mail.user + secret).isascii():
        raise StudyError(
            f"{folder / FILE}: mail: an account has characters other than those of ASCII; expected"
            f" none in user and in {source}"
        )
    if mail.user and not secret:
        raise StudyError(f"{folder / FILE}: mail: the password is empty; expected it in {source}")
    return secret
