"""Logs of Inspect that are damaged, or that claim or become much, are one sentence, and reading
them is bounded."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.sources.inspect_files import header, sample, write_eval_log, write_json_log

from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files import apart
from konsil.sources.inspect import inspect_contents
from konsil.sources.inspect.inspect_logs import read_inspect_log

NESTED = "[" * 200_000 + "]" * 200_000


def refusal(path: Path) -> str:
    with pytest.raises(SourceError) as error:
        read_inspect_log(path, Source(path.name, "answers"))
    assert "\n" not in str(error.value)
    return str(error.value)


def deep(text: str) -> str:
    return text.replace('"specialty": "endo"', f'"specialty": {NESTED}')


def deep_member(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header()))
        archive.writestr("samples/q1_epoch_1.json", deep(json.dumps(sample("q1"))))


def understated_member(path: Path) -> None:
    """A part of 200 MB of which the archive says that it has 500 bytes: ten times that and 300 MB
    are not enough."""
    write_eval_log(path, [sample("q1", metadata={"x": "y" * 200_000_000})])
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("samples/q1_epoch_1.json").file_size
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", size), struct.pack("<L", 500)))


def deep_json(path: Path) -> None:
    write_json_log(path, [sample("q1")])
    path.write_text(deep(path.read_text("utf-8")), "utf-8")


def of_brackets(path: Path) -> None:
    write_json_log(path, [sample("q1", metadata={"x": [{}] * 10_000_000})])


def repeated_attachment(path: Path) -> None:
    """A text of a megabyte that every turn of the question refers to."""
    turn = {"role": "user", "content": f"attachment://{'a' * 32}"}
    write_eval_log(
        path, [sample("q1", attachments={"a" * 32: "z" * 1_000_000}, input=[turn] * 400)]
    )


def half_a_character(path: Path) -> None:
    write_eval_log(path, [sample("q1", input="\ud800")])


def with_empty_header(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "ALWAYS", 1 << 20)
    monkeypatch.setattr(apart, "RATIO", 2)
    monkeypatch.setattr(apart, "_CHILD", "raise SystemExit(1)")
    path = write_eval_log(tmp_path / "bomb.eval", [sample("q1", metadata={"x": "y" * 8_000_000})])
    assert (
        "bomb.eval: unpacked the log has 8 MiB, more than the 1 allowed; save the samples"
        in refusal(path)
    )
    monkeypatch.setattr(inspect_contents, "LARGEST", 300)
    path = write_json_log(tmp_path / "run.json", [sample("q1")])
    assert "run.json: unpacked the log has 0 MiB, more than the 0 allowed" in refusal(path)


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_log_that_was_cut_off_is_one_sentence(tmp_path: Path, share: float) -> None:
    whole = write_eval_log(tmp_path / "run.eval", [sample(f"q{n}") for n in range(20)])
    whole.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
    assert "run.eval: cannot be read as a log of Inspect: File is not a zip file" in refusal(whole)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ('{"error": "run.json: has no end"}', "run.json: has no end"),
        (
            '{"task": "t"}',
            "or the file is damaged; save the samples that are needed as a CSV table",
        ),
        ('{"task": "t"}\n{"error": "run.json: ends badly"}', "run.json: ends badly"),
        ('{"task": "t"}\n' + "x" * 200, "the log's texts have more than 100 bytes"),
    ],
)
def test_what_the_child_writes_is_bounded_and_must_be_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, sentence: str
) -> None:
    path = write_json_log(tmp_path / "run.json", [])
    monkeypatch.setattr(inspect_contents, "SPARE", 100 - path.stat().st_size)
    monkeypatch.setattr(apart, "_CHILD", f"print({lines!r})")
    assert sentence in refusal(path)


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux counts a process's memory so, and has /proc"
)
@pytest.mark.parametrize("wait", ["signal.pause()", "print('{}', flush=True); signal.pause()"])
def test_a_child_that_waits_for_ever_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: str
) -> None:
    """As the library does that reads JSON, where memory ends while it reports that memory ended."""
    monkeypatch.setattr(apart, "TICK", 0.01)
    monkeypatch.setattr(apart, "_CHILD", f"import signal; {wait}")
    path = write_json_log(tmp_path / "run.json", [])
    assert "of memory, too many for its size, or the file is damaged" in refusal(path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only here /proc says which processes run")
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed while its child reads: nothing goes on reading for nobody."""
    command = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLOW!r}], stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    end = time.monotonic() + 30
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        return "Z (zombie)" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


SLOW = """
import time
from konsil.sources import child
def wait(*_): time.sleep(60)
child._write_parquet = wait
import sys
sys.argv = ["x", "parquet", "/nowhere", "", "nowhere", "1", "1"]
child.main()
"""

READ_AND_MEASURE = """
import resource, sys
from pathlib import Path
from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.inspect.inspect_logs import read_inspect_log
path = Path(sys.argv[1])
try:
    read_inspect_log(path, Source(path.name, "answers"))
except SourceError as error:
    print(error)
own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a process's memory so")
@pytest.mark.parametrize(
    ("spoil", "name", "sentence"),
    [
        (deep_member, "run.eval", "cannot be read as a log of Inspect: maximum recursion depth"),
        (understated_member, "run.eval", "too many for its size|more memory than it may"),
        (deep_json, "run.json", "cannot be read as a log of Inspect: recursion limit"),
        (of_brackets, "run.json", "too many for its size|more memory than it may"),
        (repeated_attachment, "run.eval", "texts have more than|more memory than it may"),
        (half_a_character, "run.eval", r"invalid Unicode \(unpaired surrogate\)"),
        (with_empty_header, "run.eval", "cannot be read as a log of Inspect"),
    ],
)
def test_a_hostile_log_is_one_sentence_and_bounded_memory(
    tmp_path: Path, spoil: Callable[[Path], Any], name: str, sentence: str
) -> None:
    path = tmp_path / name
    spoil(path)
    size = path.stat().st_size
    if name.endswith(".eval"):
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    # In a process of its own: one that was started counts the peak of the one that started it,
    # before it was replaced.
    ended = subprocess.run(
        [sys.executable, "-c", READ_AND_MEASURE, path], capture_output=True, text=True, check=False
    )
    assert ended.stderr == ""
    refused, peak = ended.stdout.splitlines()
    assert re.search(sentence, refused)
    assert int(peak) << 10 < (300 << 20) + 10 * size


@pytest.mark.slow
def test_metadata_of_very_many_names_is_refused(tmp_path: Path) -> None:
    samples = [sample(f"q{n}", metadata={f"x{n}_{k}": 1 for k in range(100)}) for n in range(50)]
    assert "columns; expected 4,096 or fewer" in refusal(
        write_eval_log(tmp_path / "run.eval", samples)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "name"), [(write_eval_log, "run.eval"), (write_json_log, "run.json")]
)
def test_a_log_within_the_limits_is_read(
    tmp_path: Path, write: Callable[..., Path], name: str
) -> None:
    path = write(tmp_path / name, [sample("q2"), sample("q1")])
    frame = read_inspect_log(path, Source(name, "answers")).table.frame
    assert sorted(frame.select("item", "text").rows()) == [
        ("q1", "Metformin."),
        ("q2", "Metformin."),
    ]
