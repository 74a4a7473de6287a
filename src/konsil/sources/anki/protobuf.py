"""The part of protocol buffers that Anki's packages need.

A message is read as the numbers and the values of its fields.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_LONGEST_VARINT = 10


class WireError(ValueError):
    """The bytes are no protocol buffer message."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Each field of a message as (number, value): an integer, or else the value's bytes.

    >>> list(fields(bytes([8, 3, 18, 2, 104, 105])))
    [(1, 3), (2, b'hi')]
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise WireError("a field has the number 0")
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_EIGHT, _FOUR):
            size = 8 if kind == _EIGHT else 4
        else:
            raise WireError(f"a field has the unknown wire type {kind}")
        if at + size > len(message):
            raise WireError("a field is longer than its message")
        yield number, message[at : at + size]
        at += size


def number(message: bytes, field: int, default: int = 0) -> int:
    """A field that is a whole number; the last one counts."""
    last_value = default
    for at, value in fields(message):
        if at == field and isinstance(value, int):
            last_value = value
    return last_value


def text(message: bytes, field: int) -> str:
    """A field that is a text, empty where it is absent; the last one counts."""
    last_bytes = b""
    for at, value in fields(message):
        if at == field and isinstance(value, bytes):
            last_bytes = value
    try:
        return last_bytes.decode()
    except UnicodeDecodeError:
        raise WireError(f"field {field} is not UTF-8 text") from None


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n, byte in enumerate(message[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * n)
        if byte < 0x80:
            return value, at + n + 1
    raise WireError("a number is incomplete")
