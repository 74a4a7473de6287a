"""A draft becomes the study's folder: whole or not at all, the former file kept beside."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from konsil.api.design.draft import Draft
from konsil.api.editor_schema import SCHEMA, write_schema
from konsil.api.folder.opened import PROTOCOL, read_text
from konsil.errors import StudyError
from konsil.errors.message import message
from konsil.store.engine.folders import copy_new


def save(draft: Draft) -> tuple[str, ...]:
    """Write the draft into its folder; the names of the files that are new or changed.

    A folder that is not there is made whole. In one that is there, tables come first and study.toml
    last; its former text is kept beside it, under the time.
    """
    folder = draft.folder
    if not folder.exists():
        copy_new(folder, lambda place: _fill(draft, place))
        written = [PROTOCOL, SCHEMA, *draft.added]
    else:
        written = _update(draft, folder)
    draft.is_new, draft.original = False, draft.text
    draft.added.clear()
    return tuple(written)


def _fill(draft: Draft, place: Path) -> None:
    for name, content in draft.added.items():
        (place / name).write_bytes(content)
    write_schema(place)
    (place / PROTOCOL).write_bytes(draft.text.encode())


def _update(draft: Draft, folder: Path) -> list[str]:
    protocol = folder / PROTOCOL
    current = read_text(protocol) if protocol.is_file() else ""
    if current != draft.original:
        raise StudyError(
            message(
                "{protocol}: was changed by another program since it was opened here;"
                " nothing was written: start 'konsil design' again",
                message_id="setup.changed_meanwhile",
                protocol=str(protocol),
            )
        )
    written = []
    for name, content in draft.added.items():
        place = folder / name
        if place.exists() and place.read_bytes() != content:
            raise StudyError(
                message(
                    "{place}: appeared since the set-up began; nothing was overwritten: rename it",
                    message_id="setup.appeared",
                    place=str(place),
                )
            )
        _replace(place, content)
        written.append(name)
    if not (folder / SCHEMA).exists():
        write_schema(folder)
        written.append(SCHEMA)
    if draft.text != draft.original:
        if protocol.is_file():
            written.append(_copy_former(protocol).name)
        _replace(protocol, draft.text.encode())
        written.append(PROTOCOL)
    return written


def _copy_former(protocol: Path) -> Path:
    """A copy of the former file under the time, beside it."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    copy = protocol.with_name(f"{protocol.name}.{stamp}")
    n = 1
    while copy.exists():
        n += 1
        copy = protocol.with_name(f"{protocol.name}.{stamp}-{n}")
    _replace(copy, protocol.read_bytes())
    copy.chmod(protocol.stat().st_mode & 0o777)
    return copy


def _replace(place: Path, content: bytes) -> None:
    """Write a file whole or not at all; it keeps its mode, a new one has that of the umask."""
    mode = place.stat().st_mode & 0o777 if place.exists() else None
    number, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".new", dir=place.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is None:
            # A probe has the mode that the umask gives; a temporary file is its owner's alone.
            probe = place.with_name(f"{Path(name).name}.mode")
            probe.touch()
            mode = probe.stat().st_mode & 0o777
            probe.unlink()
        Path(name).chmod(mode)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
