"""The fuzzer's corpus: small inputs of every reader, valid ones and every one that once showed a
fault.

`corpus/READER/NAME` is one input, called by what is in it or by what it showed; one that ends in
`.gz` is packed. The fuzzer makes a share of its inputs from them, and `tests/test_fuzz.py` reads
them all. Everything in them is made up."""

from __future__ import annotations

import functools
import gzip
import json
import random
import re
from pathlib import Path

from fuzz_inputs import BYTES, WORDS, as_json, broken, nested, repacked

CORPUS = Path(__file__).resolve().with_name("corpus")


def folder_of(reader: str) -> Path:
    """The folder of a reader's inputs."""
    return CORPUS / re.sub(r"[ .]+", "-", reader)


@functools.cache
def seeds(reader: str) -> tuple[tuple[str, bytes], ...]:
    """Name and bytes of each of a reader's inputs, in the order of their names."""
    return tuple((path.name, _content(path)) for path in sorted(folder_of(reader).glob("*")))


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def keep(folder: Path, reader: str, name: str, data: bytes) -> Path:
    """Write an input that showed a fault, packed where that makes it smaller."""
    packed = gzip.compress(data, mtime=0)
    place = folder / folder_of(reader).name
    place.mkdir(parents=True, exist_ok=True)
    path = place / (f"{name}.gz" if len(packed) < len(data) // 2 else name)
    path.write_bytes(packed if path.suffix == ".gz" else data)
    return path


def mutated(rng: random.Random, data: bytes) -> bytes:
    """An input like this one: changed as an archive, as JSON or as lines, where it is one of them,
    and in its bytes."""
    if data[:2] == b"PK":
        try:
            return repacked(rng, data)
        except Exception:  # noqa: BLE001 - an archive that is damaged already cannot be taken apart
            return _scratched(rng, data)
    if len(data) < 50_000:
        try:
            return broken(rng, as_json(rng, nested(rng, json.loads(data))))
        except (ValueError, RecursionError):
            pass
    if b"\0" not in data[:1_000]:
        return broken(rng, _relined(rng, data))
    return _scratched(rng, data)


def _relined(rng: random.Random, data: bytes) -> bytes:
    """Lines left out, doubled, exchanged; cells between separators replaced."""
    lines = data.split(b"\n")
    for _ in range(rng.randrange(1, 4)):
        n, m = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(5)
        if kind == 0:
            lines.insert(n, lines[m])
        elif kind == 1 and len(lines) > 1:
            del lines[n]
        elif kind == 2:
            lines[n], lines[m] = lines[m], lines[n]
        else:
            cells = re.split(rb"([,;=\t])", lines[n])
            word = rng.choice(WORDS).encode("utf-8", "surrogatepass")
            cells[rng.randrange(len(cells))] = rng.choice((word, rng.choice(BYTES)))
            lines[n] = b"".join(cells)
    return b"\n".join(lines)


def _scratched(rng: random.Random, data: bytes) -> bytes:
    """Some bytes replaced; now and then the end is missing."""
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(data) + 1)
        piece = rng.choice((*BYTES, rng.randbytes(rng.choice((1, 4, 30)))))
        data = data[:at] + piece + data[at + len(piece) :]
    return data if rng.random() < 0.9 else data[: rng.randrange(len(data) + 1)]
