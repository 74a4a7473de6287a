"""Bytes to UTF-8, strictly.

A wrong encoding is an error that names the encoding that fits; no encoding is guessed silently.
"""

from __future__ import annotations

import codecs

from konsil.errors import SourceError, key, nearest
from konsil.errors.message import message

_COMMON = (
    "utf-8",
    "utf-16",
    "cp1252",
    "latin-1",
    "cp1250",
    "mac-roman",
    "cp850",
    "iso8859-15",
    "ascii",
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CANDIDATES = ("cp1252", "mac-roman", "cp850", "cp1250")
# What texts in Western languages are written with beyond ASCII; the right encoding yields mostly
# these.
_LIKELY = frozenset("äöüÄÖÜßéèêëàâáíìîïóòôúùûñçåøæœÉÈÀÇÑÅØÆ–—‘’“”„«»°µ²³±≥≤€§…·•×\u00a0")


def to_utf8(data: bytes, encoding: str, where: str) -> bytes:
    """The same text as UTF-8 without a byte order mark; `where` names the file in errors."""
    codec = _lookup(encoding, where)
    mark = next((name for bom, name in _MARKS if data.startswith(bom)), None)
    if mark is not None and not codec.startswith(mark):
        raise SourceError(
            message(
                "{where}: the encoding is set to {encoding}, but the file begins with"
                " the byte order mark of {mark}; set {setting}",
                message_id="file.byte_order_mark",
                where=where,
                encoding=encoding,
                mark=mark,
                setting=key("encoding", mark),
            )
        )
    if not codec.startswith(("utf-16", "utf-32")) and b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise SourceError(
            message(
                "{where}: line {line:,} contains a zero byte; this is not a text table",
                message_id="file.zero_byte",
                where=where,
                line=line,
            )
        )
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise SourceError(_undecodable(data, encoding, where, error)) from None
    except (UnicodeError, ValueError):  # codecs such as punycode do not say where they failed
        raise SourceError(
            message(
                "{where}: the bytes are not {encoding}; set the encoding the file was saved in",
                message_id="file.not_encoding",
                where=where,
                encoding=encoding,
            )
        ) from None
    text = text.removeprefix("\ufeff")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise SourceError(
            message(
                "{where}: line {line:,}: invalid Unicode (unpaired surrogate); save the"
                " file as UTF-8",
                message_id="file.surrogate",
                where=where,
                line=line,
            )
        ) from None


def _lookup(encoding: str, where: str) -> str:
    try:
        codec = codecs.lookup(encoding)
        "".encode(codec.name)  # Python also lists codecs that are no text encodings.
    except (LookupError, ValueError):
        raise SourceError(
            message(
                "{where}: there is no encoding {encoding!r}; {hint}",
                message_id="file.no_encoding",
                where=where,
                encoding=encoding,
                hint=nearest(encoding, _COMMON),
            )
        ) from None
    return codec.name


def _undecodable(data: bytes, encoding: str, where: str, error: UnicodeDecodeError) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    byte, better = data[error.start : error.start + 1].hex(), looks_like(data)
    if better is None:
        return message(
            "{where}: line {line:,}: byte 0x{byte} is not {encoding}; no other common encoding fits"
            " either, so this may not be a text table",
            message_id="file.no_known_encoding",
            where=where,
            line=line,
            byte=byte,
            encoding=encoding,
        )
    return message(
        "{where}: line {line:,}: byte 0x{byte} is not {encoding}; the file looks like {better}"
        " ({word!r}): set {setting}",
        message_id="file.better_encoding",
        where=where,
        line=line,
        byte=byte,
        encoding=encoding,
        better=better,
        word=_word(data, error.start, better),
        setting=key("encoding", better),
    )


def looks_like(data: bytes) -> str | None:
    """The encoding under which most of the bytes beyond ASCII are letters and signs in use.

    None if none fits.

    >>> text = "Schädel, Fraktur; Übelkeit"
    >>> looks_like(text.encode("cp1252")), looks_like("Schädel".encode("mac-roman"))
    ('cp1252', 'mac-roman')
    """
    if mark := next((name for bom, name in _MARKS if data.startswith(bom)), None):
        return mark
    best, best_share = None, 0.5
    beyond = bytes(b for b in data[:4_000_000] if b > 127)
    for encoding in ("utf-8", *_CANDIDATES):
        try:
            text = data.decode("utf-8") if encoding == "utf-8" else beyond.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8":
            return encoding
        share = sum(c in _LIKELY for c in text) / len(text)
        if share > best_share:
            best, best_share = encoding, share
    return best


def _word(data: bytes, at: int, encoding: str) -> str:
    """The word around a byte, as the better encoding reads it."""
    stops = b' \t\r\n,;"|'
    start, end = at, at + 1
    while start > 0 and at - start < 20 and data[start - 1] not in stops:
        start -= 1
    while end < len(data) and end - at < 20 and data[end] not in stops:
        end += 1
    return data[start:end].decode(encoding, errors="replace")
