"""Mail servers for tests that accept, refuse and drop letters, and the settings of a study."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from konsil.store.people.people import Person

ANSWERS = '[[sources]]\nfile = "answers.csv"\nrecords = "answers"'
URL = "https://study.example.org"
ADA, BEN, EVA = (
    Person("r1", "Dr. Ada Quokka", "ada.quokka@clinic.example"),
    Person("r2", "", "ben@clinic.example"),
    Person("r3", "Eva Lösch", "eva@clinic.example", "de"),
)
CANARIES = ("Quokka", "quokka", "Lösch", "@clinic.example", "ben@", "eva@")
"""What no log, export or message has."""


@dataclass
class Post:
    """What a mail server does, and what it has accepted."""

    letters: list[tuple[str, EmailMessage]] = field(default_factory=list)
    """Recipient of the envelope and letter."""
    replies: dict[str, str] = field(default_factory=dict)
    """Recipient -> the refusal of it."""
    drop_after: int | None = None
    """Letters after which each connection is closed during the next one."""
    password: str = ""
    """The only password that is accepted; empty: none is needed."""
    port: int = 0
    n_connections: int = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        accepted = getattr(session, "accepted", 0)
        if accepted == 0:
            self.n_connections += 1
        if accepted == self.drop_after:
            server.transport.abort()
            return "250 OK"
        session.accepted = accepted + 1
        content = envelope.original_content or b""
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.letters += [(address, message) for address in envelope.rcpt_tos]
        return "250 OK"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        ok = isinstance(data, LoginPassword) and data.password.decode() == self.password
        return AuthResult(success=ok, handled=False)

    def texts(self) -> dict[str, str]:
        """Recipient -> the text of the last letter."""
        return {address: letter.get_content() for address, letter in self.letters}


class Day:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self) -> datetime:
        return self.time

    def pass_days(self, n: int) -> None:
        self.time += timedelta(days=n)


def write_mail(folder: Path, port: int, *lines: str, security: str = "none") -> None:
    """The study's mail.toml."""
    text = [
        "[mail]",
        f'url = "{URL}"',
        'host = "127.0.0.1"',
        f"port = {port}",
        f'security = "{security}"',
        'sender = "Study office <office@study.example.org>"',
        *lines,
    ]
    (folder / "mail.toml").write_text("\n".join(text) + "\n", "utf-8")


def own_certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate of this machine that no authority has signed, and a server's context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem, key_file = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key_file)
    return pem, context


# The example of RFC 3464, appendix E, with fields of ours.
REPORT = """\
From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>
To: <office@study.example.org>
Subject: Undeliverable
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="B"

--B

The following address had permanent fatal errors.

--B
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

Final-Recipient: {kind};{recipient}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 {recipient} unknown

--B
Content-Type: {part}

Message-ID: {message_id}
Subject: Invitation

--B--
"""


def report(message_id: str, recipient: str, **fields: str) -> str:
    usual = {
        "kind": "rfc822",
        "action": "failed",
        "status": "5.1.1",
        "part": "message/rfc822",
    }
    return REPORT.format(message_id=message_id, recipient=recipient, **(usual | fields))
