"""The lines that a child process writes of an Inspect log, and the records made of them.

Only the child loads Inspect.

The first line has the run, each further one a sample in the order of the data set, epoch by epoch;
the last is END.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from konsil.errors import SourceError
from konsil.records import Citation
from konsil.sources.files.apart import (
    LARGEST,
    MEMORY,
    Header,
    bounded,
    parse_line,
    run_child,
    unpacked_limit,
)
from konsil.sources.files.cells import as_text
from konsil.sources.inspect import inspect_samples

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

END = b"{}\n"
SPARE = 16 << 20
"""Bytes that the texts taken from a log may have beyond those of the log when unpacked."""
_MESSAGE = 200
_ADVICE = "save the samples that are needed as a CSV table"


@dataclass(frozen=True, slots=True)
class SampleContents:
    """One sample: what it asked, what was answered, what the scorers gave."""

    id: int | str
    epoch: int
    missing: str
    """Why it has no answer; '' where it has one."""
    metadata: inspect_samples.Row
    question: inspect_samples.Row
    answered: inspect_samples.Row
    citations: tuple[Citation, ...]
    scores: inspect_samples.Row


@dataclass(frozen=True, slots=True)
class LogContents:
    """A log: whose run it is, and its samples."""

    task: str
    model: str
    run: str
    status: str
    planned: int
    """Samples that the run was to ask, every epoch counted."""
    size: int
    """Bytes that the log says it has when unpacked."""
    samples: tuple[SampleContents, ...]


def read_contents(path: Path) -> LogContents:
    """A log as a child process reads it, within the limits of memory and time.

    Every fault is one SourceError.
    """
    where = path.name
    unpacked = _check_size(path, where)

    def receive(header: Header, stream: IO[bytes]) -> LogContents | None:
        samples, remaining = [], unpacked + SPARE
        while (line := stream.readline(remaining + 1)) != END:
            remaining -= len(line)
            if remaining < 0:
                raise SourceError(
                    f"{where}: the log's texts have more than {unpacked + SPARE:,} bytes; {_ADVICE}"
                )
            fields = parse_line(line)
            if fields is None:
                return None
            samples.append(_sample(fields))
        return LogContents(
            **header,  # type: ignore[arg-type]
            size=unpacked,
            samples=tuple(samples),
        )

    return run_child("inspect", path, "", where, unpacked, receive, _ADVICE)


def write_contents(path: Path, where: str, out: IO[bytes]) -> None:
    """Read a log with Inspect and write its lines; for the child."""
    from inspect_ai.log import read_eval_log

    try:
        for line in _lines(read_eval_log(str(path), resolve_attachments=True)):
            out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    except MemoryError:
        raise SourceError(
            f"{where}: reading the log takes more memory than it may; {_ADVICE}"
        ) from None
    except UnicodeEncodeError:
        raise SourceError(
            f"{where}: cannot be read as a log of Inspect: invalid Unicode (unpaired surrogate)"
        ) from None
    # The libraries below raise exceptions of various kinds for a damaged archive.
    except Exception as error:  # noqa: BLE001
        reason = (str(error).splitlines() or [""])[0][:_MESSAGE] or type(error).__name__
        raise SourceError(f"{where}: cannot be read as a log of Inspect: {reason}") from None
    out.write(END)


def _check_size(path: Path, where: str) -> int:
    """The bytes that the log says it unpacks to; more than it may have are refused."""
    packed = path.stat().st_size
    is_archive = path.suffix.lower() == ".eval"
    limit = unpacked_limit(packed) if is_archive else LARGEST
    try:
        size = _archive_size(path, packed) if is_archive else packed
    except MemoryError:
        raise SourceError(
            f"{where}: reading the log takes more memory than it may; {_ADVICE}"
        ) from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise SourceError(
            f"{where}: cannot be read as a log of Inspect: {str(error)[:_MESSAGE]}"
        ) from None
    if size > limit:
        raise SourceError(
            f"{where}: unpacked the log has {size / 2**20:,.0f} MiB, more than the {limit >> 20:,}"
            f" allowed; {_ADVICE}"
        )
    return size


def _archive_size(path: Path, packed: int) -> int:
    # The list of an archive's parts takes many times its bytes.
    with bounded(MEMORY + packed), zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def _lines(log: EvalLog) -> Iterator[Mapping[str, object]]:
    planned = len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)
    yield {
        "task": log.eval.task,
        "model": log.eval.model,
        "run": log.eval.run_id,
        "status": log.status,
        "planned": planned,
    }
    for sample in _ordered(log):
        missing = inspect_samples.missing(sample)
        yield {
            "id": sample.id,
            "epoch": sample.epoch,
            "missing": missing,
            "metadata": _metadata(sample),
            "question": inspect_samples.item_row(sample),
            "answered": {} if missing else inspect_samples.answered(sample),
            "citations": (
                [] if missing else [(c.title, c.url) for c in inspect_samples.citations(sample)]
            ),
            "scores": {} if missing else inspect_samples.scores(sample),
        }


def _ordered(log: EvalLog) -> list[EvalSample]:
    """The samples in the order of the data set, epoch by epoch; a log has them as they ended."""
    place = {name: n for n, name in enumerate(log.eval.dataset.sample_ids or ())}
    samples = log.samples or []
    return sorted(
        samples,
        key=lambda s: (
            place.get(s.id, len(place)),
            str(s.id) if s.id not in place else "",
            s.epoch,
        ),
    )


def _metadata(sample: EvalSample) -> inspect_samples.Row:
    metadata: Mapping[str, Any] = sample.metadata or {}
    return {str(name): as_text(value) for name, value in metadata.items()}


def _sample(fields: Mapping[str, Any]) -> SampleContents:
    citations = tuple(Citation(*pair) for pair in fields["citations"])
    return SampleContents(**{**fields, "citations": citations})
