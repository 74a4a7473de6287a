"""A structure-aware fuzzer of everything that reads files: valid ones are made, changed in
structure, and read.

    python benchmarks/fuzz.py --seconds 60
    python benchmarks/fuzz.py --each 2000 --markdown

Each input is made from a seed and a number, so that `--reader csv --seed 1 --first 1234 --each 1`
makes one of them again; a quarter is made from the inputs of `corpus/`, which `--corpus` reads as
they are. An input is read, or refused by a KonsilError; anything else is a fault, as is a reader
that takes too much time or memory: then the exit code is 1, and `--keep FOLDER` writes each such
input."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import random
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from konsil.api import Folder, open_folder
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.errors import KonsilError, SourceError
from konsil.records import Source
from konsil.records.source import FileSettings
from konsil.sources.anki import read_anki
from konsil.sources.files.parquet import check_parquet, read_parquet
from konsil.sources.files.spreadsheet import check_spreadsheet, read_spreadsheet
from konsil.sources.files.table import Table, read_table
from konsil.sources.inspect import inspect_contents
from konsil.sources.inspect.inspect_logs import read_inspect_log
from konsil.sources.labelstudio.labelstudio import read_labelstudio
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items
from konsil.sources.tables.ratings import read_ratings
from konsil.study import parse

sys.path.append(str(Path(__file__).resolve().parent))
import fuzz_corpus
import fuzz_exports
import fuzz_folders
import fuzz_inputs
import fuzz_letters
import fuzz_web


def read_a_table(path: Path) -> None:
    """Read a table as ratings, items and answers, whichever it may be."""
    read_records(read_table(path), path)


def read_parquet_here(path: Path) -> None:
    """Read a Parquet file in this process: starting the child takes longer than most inputs."""
    check_parquet(path, path.name)
    frame, lines = read_parquet(path.read_bytes(), path.name)
    read_records(Table(frame, path, lines=lines, place="row"), path)


def read_spreadsheet_here(path: Path) -> None:
    """Read a spreadsheet in this process, likewise."""
    check_spreadsheet(path, path.name)
    sheet = read_spreadsheet(path, FileSettings(), path.name, as_is=True)
    read_records(Table(sheet.frame, path, sheet.name, sheet.lines, "row"), path)


def read_in_child(path: Path) -> None:
    """Read each as konsil does, in a child process, under the ending that its first bytes ask
    for. The library that reads files of SPSS and Stata ends the process at some damaged ones."""
    start = path.read_bytes()[:4]
    endings = {b"PAR1": ".parquet", b"$FL2": ".sav", b"$FL3": ".zsav", b"<sta": ".dta"}
    place = path.with_suffix(endings.get(start, path.suffix))
    place.write_bytes(path.read_bytes())
    read_a_table(place)


def read_records(table: Table, path: Path) -> None:
    """Read a table as what it may be; a KonsilError where it is none of these."""
    refusals = 0
    for kind, read in (("ratings", read_ratings), ("items", read_items), ("answers", read_answers)):
        try:
            read(table, Source(path.name, kind))  # type: ignore[operator, arg-type]
        except KonsilError:
            refusals += 1
    if refusals == 3:
        raise KonsilError("of no kind")


def read_a_log(path: Path) -> None:
    """Read a log of Inspect in this process: a child needs seconds to load Inspect."""

    def read_here(_: str, log: Path, __: str, where: str, ___: int, receive: Any, ____: str) -> Any:
        out = io.BytesIO()
        inspect_contents.write_contents(log, where, out)
        out.seek(0)
        contents = receive(json.loads(out.readline()), out)
        if contents is None:
            raise SourceError(f"{where}: what was read is not whole")
        return contents

    with unittest.mock.patch.object(inspect_contents, "run_child", read_here):
        for kind in ("answers", "items", "ratings"):
            read_inspect_log(path, Source(path.name, kind))  # type: ignore[arg-type]


def read_a_study(path: Path) -> None:
    """Read and check a protocol beside an empty codebook."""
    (path.parent / "codebook.en.md").touch()
    open_folder(path.parent)


@dataclasses.dataclass(frozen=True)
class Reader:
    """What makes inputs and what reads them."""

    make: Callable[[random.Random], bytes]
    file: str
    read: Callable[[Path], object]
    numbered: bool = False
    """Whether reading depends on the input's number: the study it is sent to has those before
    it."""


FOLDER = Folder(Path(), parse(fuzz_inputs.STARTER, lambda _: "", "study.toml"))

READERS = {
    "csv": Reader(fuzz_inputs.make_csv, "t.csv", read_a_table),
    "jsonl": Reader(fuzz_inputs.make_jsonl, "t.jsonl", read_a_table),
    "json": Reader(fuzz_inputs.make_json, "t.json", read_a_table),
    "parquet": Reader(fuzz_inputs.make_parquet, "t.parquet", read_parquet_here),
    "xlsx": Reader(fuzz_inputs.make_xlsx, "t.xlsx", read_spreadsheet_here),
    "labelstudio": Reader(
        fuzz_inputs.make_labelstudio,
        "e.json",
        lambda p: read_labelstudio(p, Source("e.json", "labelstudio")),
    ),
    "crowdanki": Reader(fuzz_inputs.make_crowdanki, "deck.json", read_anki),
    "apkg": Reader(fuzz_inputs.make_apkg, "deck.apkg", read_anki),
    "child": Reader(
        lambda rng: rng.choice(
            (fuzz_inputs.make_parquet, fuzz_inputs.make_xlsx, fuzz_inputs.make_labelled)
        )(rng),
        "t.xlsx",
        read_in_child,
    ),
    "inspect": Reader(fuzz_inputs.make_inspect, "log.eval", read_a_log),
    "inspect json": Reader(fuzz_inputs.make_inspect_json, "log.json", read_a_log),
    **{
        name: Reader(make, "t.json", read, numbered=True)
        for name, (make, read) in fuzz_web.READ.items()
    },  # type: ignore[arg-type]
    "study.toml": Reader(fuzz_inputs.make_study, "study.toml", read_a_study),
    **{
        name: Reader(make, file, read)
        for name, (make, file, read) in (
            fuzz_exports.READ | fuzz_folders.READ | fuzz_letters.READ
        ).items()
    },
    "simulation.toml": Reader(
        fuzz_inputs.make_truth, "simulation.toml", lambda p: truth_of(FOLDER, p)
    ),
}


@dataclasses.dataclass
class Tally:
    """What became of one reader's inputs."""

    inputs: int = 0
    read: int = 0
    sentences: int = 0
    tracebacks: list[str] = dataclasses.field(default_factory=list)
    slowest: float = 0.0
    slowest_input: int = 0


FROM_CORPUS = 0.25
"""The share of inputs that are made from the corpus."""
MOST_SECONDS = 60.0
"""Processor time that reading one input may take; children that konsil starts have limits of their
own."""
MOST_MEGABYTES = 1_500
"""What the whole process may have had: 300 MB and ten times the largest input that is unpacked, and
the libraries."""


def input_of(name: str, number: int, seed: int = 1) -> bytes:
    """The input of this number."""
    reader, rng = READERS[name], random.Random(f"{seed} {name} {number}")
    corpus = fuzz_corpus.seeds(name)
    if corpus and not reader.numbered and rng.random() < FROM_CORPUS:
        return fuzz_corpus.mutated(rng, rng.choice(corpus)[1])
    return reader.make(rng)


def fuzz(
    name: str,
    numbers: Iterator[int],
    until: float = float("inf"),
    seed: int = 1,
    keep: Path | None = None,
) -> Tally:
    """Read the inputs of these numbers, until a time of the clock `time.monotonic`."""
    inputs = (
        (f"{seed}-{number}", number, lambda n=number: input_of(name, n, seed)) for number in numbers
    )  # type: ignore[misc]
    return read_all(name, inputs, until, keep)


def replay(name: str) -> Tally:
    """Read a reader's part of the corpus as it is."""
    corpus = fuzz_corpus.seeds(name)
    return read_all(
        name, ((title, 0, lambda d=data: d) for title, data in corpus), float("inf"), None
    )  # type: ignore[misc]


def read_all(
    name: str,
    inputs: Iterator[tuple[str, int, Callable[[], bytes]]],
    until: float,
    keep: Path | None,
) -> Tally:
    """Read inputs (title, number, what makes it), until a time; those that show a fault are written
    to `keep`."""
    reader, tally = READERS[name], Tally()
    with (
        contextlib.closing(fuzz_web),
        contextlib.closing(fuzz_folders),
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / reader.file
        for title, number, make in inputs:
            if time.monotonic() > until:
                break
            data, faults = make(), len(tally.tracebacks)
            path.write_bytes(data)
            start, work = time.monotonic(), time.process_time()
            try:
                reader.read(path, number) if reader.numbered else reader.read(path)  # type: ignore[call-arg]
                tally.read += 1
            except KonsilError as error:
                tally.sentences += 1
                if len(str(error)) > 200_000:
                    tally.tracebacks.append(
                        f"{name} {title}: a sentence of {len(str(error)):,} characters"
                    )
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                tally.tracebacks.append(
                    f"{name} {title}: {type(error).__name__}: {str(error)[:200]}"
                )
            tally.inputs += 1
            seconds = time.monotonic() - start
            if time.process_time() - work > MOST_SECONDS:
                tally.tracebacks.append(
                    f"{name} {title}: {time.process_time() - work:.0f} s of processor time"
                )
            if keep is not None and len(tally.tracebacks) > faults:
                fuzz_corpus.keep(keep, name, title, data)
            if seconds > tally.slowest:
                tally.slowest, tally.slowest_input = seconds, number
    return tally


def peak_megabytes() -> float:
    """The most memory that this process or one of its children had, in MB; nan where the system
    does not say."""
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1 if sys.platform == "darwin" else 1024
    return (
        max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        * unit
        / 1e6
    )


def main() -> None:
    """Fuzz the readers named, or all, and print what became of the inputs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", action="append", choices=list(READERS), help="default: all")
    parser.add_argument("--seconds", type=float, help="for all readers together")
    parser.add_argument("--each", type=int, default=10**9, help="inputs of each reader")
    parser.add_argument("--first", type=int, default=0, help="the first input's number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--corpus", action="store_true", help="read the corpus as it is, nothing else"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="write the inputs that show a fault"
    )
    parser.add_argument("--markdown", action="store_true", help="a table for the documents")
    given = parser.parse_args()
    names = given.reader or list(READERS)
    if given.seconds is None and given.each == 10**9:
        given.seconds = 60.0
    print(f"seed {given.seed}", file=sys.stderr)
    faults: list[str] = []
    lines = [("reader", "inputs", "read", "sentences", "tracebacks", "slowest", "peak")]
    for name in names:
        share = given.seconds / len(names) if given.seconds else float("inf")
        numbers = iter(range(given.first, given.first + given.each))
        found = (
            replay(name)
            if given.corpus
            else fuzz(name, numbers, time.monotonic() + share, given.seed, given.keep)
        )
        faults += found.tracebacks
        slowest = f"{found.slowest:.2f} s (input {found.slowest_input})"
        counts = (found.inputs, found.read, found.sentences, len(found.tracebacks))
        lines.append((name, *(f"{c:,}" for c in counts), slowest, f"{peak_megabytes():.0f} MB"))
        print(*lines[-1], sep="  ", flush=True, file=sys.stderr)
    if given.markdown:
        print("| " + " | ".join(lines[0]) + " |\n|---" + "|---:" * (len(lines[0]) - 1) + "|")
        print("\n".join("| " + " | ".join(line) + " |" for line in lines[1:]))
    if peak_megabytes() > MOST_MEGABYTES:
        faults.append(f"{peak_megabytes():,.0f} MB of memory, more than {MOST_MEGABYTES:,}")
    print("\n".join(faults), file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
