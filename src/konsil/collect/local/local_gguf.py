"""What a file of weights says of itself: the head of a GGUF file, read without loading anything."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from konsil.errors import CollectError

MAGIC = b"GGUF"
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING, _ARRAY = 8, 9
_MOST_KEYS = 100_000
_DEEPEST = 8
"""Lists within lists; no model's head has more than one."""
_LONGEST = 64 * 1024 * 1024
"""Bytes of one string; what claims more is damaged."""

Value = str | int | float | bool


def read_head(path: Path, name: str = "") -> Mapping[str, Value]:
    """Read the entries of a GGUF file's head: name, licence, architecture, length of context.

    Lists are left out.

    Raises a CollectError where the file is something else, or ends before its last tensor; `name`
    is what the user calls the file.
    """
    name = name or path.name
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise CollectError(
                f"{name}: is not a GGUF file; expected weights in llama.cpp's format (.gguf)"
            )
        try:
            version, n_tensors, n_keys = struct.unpack("<IQQ", file.read(20))
            if not 2 <= version < 256:
                raise CollectError(
                    f"{name}: is a GGUF file of version {version}; expected 2 or later"
                )
            entries = _entries(file, n_keys)
            is_complete = _last_tensor(file, n_tensors) < size
        # A head that cannot be read as it says is that of a damaged file, whatever the error.
        except (struct.error, ValueError, OverflowError, OSError):
            is_complete = False
    if not is_complete:
        raise CollectError(f"{name}: is damaged or incomplete; copy it again")
    return entries


def _entries(file: BinaryIO, n_keys: int) -> dict[str, Value]:
    # Numbers of a damaged file may be anything: they are bounded before memory is taken.
    if n_keys > _MOST_KEYS:
        raise ValueError(n_keys)
    entries = {}
    for _ in range(n_keys):
        key = _text(file)
        value = _value(file, _read_integer(file, "I"))
        if value is not None:
            entries[key] = value
    return entries


def _last_tensor(file: BinaryIO, n_tensors: int) -> int:
    """Where the last tensor begins in the file, at least."""
    last = 0
    for _ in range(n_tensors):
        _text(file)
        n_dimensions = _read_integer(file, "I")
        file.seek(8 * n_dimensions + 4, 1)
        last = max(last, _read_integer(file, "Q"))
    return file.tell() + last


def _value(file: BinaryIO, kind: int) -> Value | None:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        _skip(file)
        return None
    if kind not in _NUMBERS:
        raise ValueError(kind)
    number: Value = _read_integer(file, _NUMBERS[kind])
    return number


def _skip(file: BinaryIO, depth: int = 1) -> None:
    """Pass over a list: of numbers in one step, of texts one by one."""
    # A damaged file could nest arrays until the stack ends.
    if depth > _DEEPEST:
        raise ValueError(depth)
    kind, n = _read_integer(file, "I"), _read_integer(file, "Q")
    if kind in _NUMBERS:
        file.seek(n * struct.calcsize("<" + _NUMBERS[kind]), 1)
        return
    for _ in range(n):
        if kind == _STRING:
            file.seek(_length(file), 1)
        elif kind == _ARRAY:
            _skip(file, depth + 1)
        else:
            raise ValueError(kind)


def _read_integer(file: BinaryIO, form: str) -> int:
    number: int = struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]
    return number


def _length(file: BinaryIO) -> int:
    n = _read_integer(file, "Q")
    if n > _LONGEST:
        raise ValueError(n)
    return n


def _text(file: BinaryIO) -> str:
    n = _length(file)
    data = file.read(n)
    if len(data) < n:
        raise ValueError(n)
    return data.decode("utf-8", errors="replace")
