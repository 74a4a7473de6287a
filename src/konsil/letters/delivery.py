"""Handing letters to a mail server: SMTP, and what its refusals mean."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from types import TracebackType

from konsil.errors import KonsilError
from konsil.letters.settings import PORTS, MailSettings

TIMEOUT = 30.0
"""Seconds that the server has for each reply."""
_CLOSING = 421
_ENHANCED = re.compile(rb"\s*([245]\.\d{1,3}\.\d{1,3})(?:\s|$)")
_OF_ADDRESS = re.compile(r"5\.1\.(?![78]$)|5\.[24]\.")
"""Enhanced codes that concern the recipient: address, mailbox, route; 5.1.7 and 5.1.8: the sender
(RFC 3463)."""
_NO_MAILBOX = (550, 551, 552, 553)
"""Plain codes that concern the recipient (RFC 5321, 4.2.3)."""
_PERMANENT = 500


class MailServerError(KonsilError):
    """The mail server takes no letters: it is away, or refuses the account or the sender."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The server refused one letter; its text is not repeated, since it can contain the address."""

    code: str
    """The reply's code, with the enhanced one where the server states it."""
    is_permanent: bool
    """Whether it would be refused again."""
    is_address: bool
    """Whether the address is at fault."""


class MailServer:
    """A connection to the mail server, opened when it is needed, and anew where it was closed."""

    def __init__(self, mail: MailSettings, password: str, folder: Path) -> None:
        self._mail, self._password, self._folder = mail, password, folder
        self._session: smtplib.SMTP | None = None

    def __enter__(self) -> MailServer:
        """Open the connection, so that what is wrong with the server is known at once."""
        self._session = self._connected()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        if self._session is not None:
            with suppress(smtplib.SMTPException, OSError):
                self._session.quit()
            self._session = None

    def send(self, letter: EmailMessage, address: str) -> Refusal | None:
        """Hand over a letter; None where the server has accepted it.

        Where the server closes the connection meanwhile, once more through a new one.
        """
        with self._failures():
            for is_last in (False, True):
                if self._session is None:
                    self._session = self._connected()
                try:
                    return self._handed_over(self._session, letter, address)
                except smtplib.SMTPServerDisconnected:
                    self._session = None
                    if is_last:
                        raise
        return None

    def _handed_over(
        self, session: smtplib.SMTP, letter: EmailMessage, address: str
    ) -> Refusal | None:
        sender = self._mail.address.addr_spec
        try:
            session.send_message(letter, from_addr=sender, to_addrs=[address])
        except smtplib.SMTPRecipientsRefused as error:
            [(code, text)] = error.recipients.values()
            refusal, is_recipient = _refusal(code, text), True
        except smtplib.SMTPSenderRefused as error:
            _raise_if_closing(error.smtp_code)
            if error.smtp_code >= _PERMANENT:
                raise MailServerError(
                    f"{self._mail.server}: the mail server refuses the sender"
                    f" {sender} ({error.smtp_code})"
                ) from None
            refusal, is_recipient = _refusal(error.smtp_code, error.smtp_error), False
        except smtplib.SMTPDataError as error:
            refusal, is_recipient = _refusal(error.smtp_code, error.smtp_error), False
        else:
            return None
        _raise_if_closing(int(refusal.code[:3]))
        return refusal if is_recipient else Refusal(refusal.code, refusal.is_permanent, False)

    def _connected(self) -> smtplib.SMTP:
        with self._failures():
            return self._session_of(self._mail)
        raise AssertionError  # pragma: no cover

    def _session_of(self, mail: MailSettings) -> smtplib.SMTP:
        port = mail.port or PORTS[mail.security]
        # The server learns no name of this machine.
        name = mail.address.domain
        context = None if mail.security == "none" else self._context(mail)
        session: smtplib.SMTP = (
            smtplib.SMTP_SSL(mail.host, port, name, timeout=TIMEOUT, context=context)
            if mail.security == "tls"
            else smtplib.SMTP(mail.host, port, name, timeout=TIMEOUT)
        )
        try:
            if mail.security == "starttls":
                session.starttls(context=context)
            if mail.user:
                session.login(mail.user, self._password)
        except BaseException:
            session.close()
            raise
        return session

    def _context(self, mail: MailSettings) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(
                cafile=str(self._folder / mail.ca_file) if mail.ca_file else None
            )
        except (OSError, ssl.SSLError):
            raise MailServerError(
                f"mail.ca_file: cannot read certificates from {mail.ca_file!r}"
            ) from None

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Failures of the server as one sentence, without what the server wrote."""
        server = self._mail.server
        try:
            yield
        except smtplib.SMTPAuthenticationError as error:
            raise MailServerError(
                f"{server}: the mail server refuses the account {self._mail.user!r} or its password"
                f" ({error.smtp_code})"
            ) from None
        except smtplib.SMTPNotSupportedError:
            raise MailServerError(
                f"{server}: the mail server does not offer what mail.toml states (security ="
                f" {self._mail.security!r}{', user' if self._mail.user else ''})"
            ) from None
        except smtplib.SMTPServerDisconnected:
            raise MailServerError(f"{server}: the mail server closed the connection") from None
        except smtplib.SMTPResponseException as error:
            raise MailServerError(
                f"{server}: the mail server accepts no letters now ({error.smtp_code})"
            ) from None
        except ssl.SSLError as error:
            raise MailServerError(
                f"{server}: no encrypted connection ({error.reason or 'certificate'}); check"
                " security, port and ca_file"
            ) from None
        except smtplib.SMTPException:
            # Neither a reply nor a break: no mechanism for the password that both sides know.
            raise MailServerError(
                f"{server}: the mail server offers no way to sign in with a password"
            ) from None
        except OSError as error:
            cause = getattr(error, "strerror", None) or type(error).__name__
            raise MailServerError(f"{server}: the mail server does not answer ({cause})") from None


def _refusal(code: int, text: bytes | str) -> Refusal:
    content = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    match = _ENHANCED.match(content)
    enhanced = match[1].decode("ascii") if match else ""
    is_permanent = code >= _PERMANENT
    return Refusal(
        f"{code} {enhanced}".strip(),
        is_permanent,
        # A missing account, a policy or a wrong sender says nothing about the address.
        bool(_OF_ADDRESS.match(enhanced)) if enhanced else code in _NO_MAILBOX,
    )


def _raise_if_closing(code: int) -> None:
    if code == _CLOSING:
        raise smtplib.SMTPServerDisconnected
