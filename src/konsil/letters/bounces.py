"""Delivery failures from a mailbox: reports of RFC 3464, matched with letters that were sent."""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

from konsil.errors import KonsilError
from konsil.letters.mail_addresses import folded
from konsil.letters.opened import Opened
from konsil.records.digits import stamp
from konsil.store.people.letters import addresses, note_bounces, note_policy_refusals
from konsil.store.people.staff import decider

LARGEST = 1 << 18
"""Bytes of a message that is read; a report with the letter that it returns has a few thousand."""
_ID = re.compile(r"<([0-9a-f]{32})@[^<>\s]+>")
_STATUS = re.compile(r"5\.\d{1,3}\.\d{1,3}")
_OF_POLICY = "5.7."
"""Status codes of security and policy (RFC 3463), such as those of spam filters: they concern the
letter or its sender, and say nothing about the address."""
_RECIPIENTS = ("Final-Recipient", "Original-Recipient")


@dataclass(frozen=True, slots=True)
class Bounced:
    """What a mailbox contains."""

    raters: tuple[str, ...]
    """Whose address is now marked as failing."""
    refused: Mapping[str, str]
    """Rater -> the status code of a policy by which a letter was refused; the address stays."""
    n_messages: int
    """Messages in the mailbox."""
    n_reports: int
    """Reports of permanent failures among them."""
    n_matched: int
    """Reports about letters of this study to the address that is stored."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """One permanent failure."""

    letter_ids: frozenset[str]
    recipients: frozenset[str]
    status: str


def read_bounces(folder: Opened, place: Path, *, by: str = "") -> Bounced:
    """Mark the addresses of raters to whom letters could not be delivered; the mailbox stays.

    A letter that a policy refused marks no address, unless another report states that the address
    fails.
    """
    failures, n_messages = [], 0
    for content in _messages(place):
        n_messages += 1
        # Anybody can write to the mailbox: a message nested without end is no report.
        with suppress(RecursionError):
            failures += _failures(_parsed(content))
    with folder.store() as store:
        rater_by_letter = addresses(store)
        matched = {
            letter_id: failure.status
            # Whatever their order, a report about the address replaces one of a policy.
            for failure in sorted(failures, key=lambda f: not f.status.startswith(_OF_POLICY))
            for letter_id in failure.letter_ids & rater_by_letter.keys()
            # An address that was corrected since is not the one that failed.
            if folded(rater_by_letter[letter_id][1]) in failure.recipients
        }
        of_policy = {i: code for i, code in matched.items() if code.startswith(_OF_POLICY)}
        of_address = {i: code for i, code in matched.items() if i not in of_policy}
        at, by = stamp(datetime.now(UTC)), decider(store, by)
        raters = note_bounces(store, of_address, at=at, by=by)
        refused = note_policy_refusals(store, of_policy, at=at, by=by)
    return Bounced(raters, refused, n_messages, len(failures), len(matched))


def _messages(place: Path) -> Iterator[bytes]:
    """The messages of an mbox file or a Maildir folder."""
    if place.is_dir():
        if not (place / "cur").is_dir() or not (place / "new").is_dir():
            raise KonsilError(f"{place}: is no Maildir; expected the subfolders cur and new")
        for name in ("cur", "new"):
            for file in sorted((place / name).iterdir()):
                if file.is_file() and file.stat().st_size <= LARGEST:
                    yield file.read_bytes()
        return
    if not place.is_file():
        raise KonsilError(f"{place}: there is no such file; expected an mbox file or a Maildir")
    with place.open("rb") as stream:
        start = stream.read(5)
    if start not in (b"From ", b""):
        raise KonsilError(f"{place}: is no mbox file; expected 'From ' at its beginning")
    box = mailbox.mbox(place, create=False)
    try:
        for key in box.iterkeys():
            content = box.get_bytes(key)
            if len(content) <= LARGEST:
                yield content
    finally:
        box.close()


def _parsed(content: bytes) -> Message:
    from email import message_from_bytes, policy

    # The oldest policy parses headers as they are; others fail at some that are malformed.
    return message_from_bytes(content, policy=policy.compat32)


def _failures(message: Message) -> list[_Failure]:
    """The permanent failures that a message reports; none where it cannot be taken apart."""
    try:
        return _reported(message)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # Python's parser accepts any message, and fails at some when parts are asked for.
        return []


def _reported(message: Message) -> list[_Failure]:
    if message.get_content_type() != "multipart/report" or not message.is_multipart():
        return []
    statuses: list[Message] = []
    letter_ids: set[str] = set()
    for part in message.walk():
        kind = part.get_content_type()
        content = part.get_payload()
        if kind == "message/delivery-status" and isinstance(content, list):
            statuses += [block for block in content if isinstance(block, Message)]
        elif kind in ("message/rfc822", "message/rfc822-headers"):
            inner = content[0] if isinstance(content, list) and content else None
            letter_ids |= (
                _ids(str(inner.get("Message-ID", ""))) if isinstance(inner, Message) else set()
            )
        elif kind == "text/rfc822-headers":
            headers = _parsed(part.get_payload(decode=True) or b"")  # type: ignore[arg-type]
            letter_ids |= _ids(str(headers.get("Message-ID", "")))
    return [
        _Failure(frozenset(letter_ids), recipients, status)
        for block in statuses
        if str(block.get("Action", "")).strip().casefold() == "failed"
        for status in _STATUS.findall(str(block.get("Status", "")))[:1]
        for recipients in [frozenset(_recipients(block))]
    ]


def _ids(text: str) -> set[str]:
    return set(_ID.findall(text))


def _recipients(block: Message) -> Iterator[str]:
    """The addresses of a report, without the type before them, such as rfc822."""
    for name in _RECIPIENTS:
        for text in block.get_all(name, []):
            kind, _, address = str(text).partition(";")
            if kind.strip().casefold() == "rfc822":
                yield folded(address.strip().strip("<>"))
