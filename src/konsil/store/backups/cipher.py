"""Encryption in the format of age, as streams: nothing plain is written to the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from konsil.errors import StoreError, installation, option

if TYPE_CHECKING:
    from pyrage import x25519

CHUNK = 1 << 20
"""Bytes that are read at once."""


@contextmanager
def encrypting(file: IO[bytes], recipients: Sequence[Any]) -> Iterator[IO[bytes]]:
    """A stream that encrypts to `file`, or the file itself where there are no recipients."""
    if not recipients:
        yield file
        return
    import pyrage

    with _through_pipe(lambda reader: pyrage.encrypt_io(reader, file, recipients)) as writer:
        yield writer


@contextmanager
def _through_pipe(work: Callable[[IO[bytes]], None]) -> Iterator[IO[bytes]]:
    """A stream for writing whose other end `work` reads in a thread."""
    errors: list[BaseException] = []
    read_end, write_end = os.pipe()

    def run() -> None:
        with os.fdopen(read_end, "rb") as reader:
            try:
                work(reader)
            except BaseException as error:  # noqa: BLE001  raised again where the stream is closed
                errors.append(error)

    thread = threading.Thread(target=run, name="konsil-cipher")
    thread.start()
    try:
        with os.fdopen(write_end, "wb", buffering=CHUNK) as writer:
            yield writer
    except BrokenPipeError:
        if not errors:
            raise
    finally:
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def decrypting(file: IO[bytes], archive: Path, secret: str) -> Iterator[IO[bytes]]:
    """A stream of the archive's content, decrypted where it is encrypted."""
    head = file.read(len(_AGE))
    file.seek(0)
    if head != _AGE:
        yield file
        return
    if not secret:
        raise StoreError(
            f"{archive}: is encrypted; state the file with the secret key with {option('key')}"
        )
    pyrage = _cipher()
    try:
        identity = pyrage.x25519.Identity.from_str(secret.strip())
    except pyrage.IdentityError:
        raise StoreError(
            f"{option('key')}: expected a secret key that begins with AGE-SECRET-KEY-1"
        ) from None
    errors: list[BaseException] = []
    read_end, write_end = os.pipe()

    def run() -> None:
        # Around the stream's end, too: it writes what is left in its buffer.
        try:
            with os.fdopen(write_end, "wb", buffering=CHUNK) as writer:
                pyrage.decrypt_io(file, writer, [identity])
        except BrokenPipeError:
            pass  # the reader has its own reason to stop
        except BaseException as error:  # noqa: BLE001  raised again by the reader
            errors.append(error)

    thread = threading.Thread(target=run, name="konsil-cipher")
    thread.start()
    is_refused = False
    try:
        with os.fdopen(read_end, "rb") as reader:
            yield reader
    except StoreError:
        # What is refused is not read to its end, which the cipher reports as an error of its own.
        is_refused = True
        raise
    finally:
        thread.join()
        if errors and not is_refused:
            raise StoreError(
                f"{archive}: cannot be decrypted with this key, or is damaged"
            ) from None


_AGE = b"age-encryption.org/v1\n"


def _cipher() -> Any:  # noqa: ANN401  a module that may be absent
    try:
        import pyrage
    except ImportError:
        raise StoreError(
            "encrypted backups need a package that is not installed; install it with"
            f" {installation('backup')}"
        ) from None
    return pyrage


def recipients_of(keys: Sequence[str]) -> list[x25519.Recipient]:
    """Public keys as the cipher takes them; a StoreError where one is none."""
    if not keys:
        return []
    pyrage = _cipher()
    recipients = []
    for key in keys:
        try:
            recipients.append(pyrage.x25519.Recipient.from_str(key))
        except pyrage.RecipientError:
            raise StoreError(
                f"{option('encrypt_to')}: expected a public key that begins with age1,"
                f" got {key[:12]!r}"
            ) from None
    return recipients


def new_key() -> tuple[str, str]:
    """A new pair of keys of age: the public key, and the secret key."""
    identity = _cipher().x25519.Identity.generate()
    return str(identity.to_public()), str(identity)
