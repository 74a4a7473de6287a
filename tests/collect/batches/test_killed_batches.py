"""A run by batches that is killed at every step: the next one finds what was sent, and sends the
rest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from batch_vendors import OpenAIVendor, serving

from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal"),
]

RUN = """
import os, signal, sys
from konsil.collect.batches import results
from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.systems import answer
from konsil.store import Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls
from konsil.study import parse

# Where tests run in the background of a shell script, it ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, point = sys.argv[1:]
results.CHUNK = 10


def killed(kind, name, nth):
    original, count = getattr(kind, name), [0]

    def method(*arguments, **values):
        count[0] += 1
        value = original(*arguments, **values)
        if count[0] == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    setattr(kind, name, method)


match point:
    case "intended":
        killed(Batches, "insert", 1)
    case "id stored":
        killed(Batches, "update", 1)
    case "some replies stored":
        killed(Calls, "add", 2)
    case "all replies stored":
        killed(Calls, "add", 2)
with open(f"{folder}/study.toml") as file:
    study = parse(file.read(), str)
with Store.open(folder) as store:
    batch = BatchOptions(pace=Pace(0.0, 0.0, 0.0, 0.0))
    done = answer(study, store, Options(batch=batch))
    print(done.progress.ended, done.progress.stopped)
"""
POINTS = (
    ("intended", ""),
    ("", "POST /v1/files"),
    ("", "POST /v1/batches"),
    ("id stored", ""),
    ("", "GET /v1/files/"),
    ("some replies stored", ""),
    ("all replies stored", ""),
)
"""Where the process kills itself, or the request after which the vendor kills it before it
answers."""
N = 35


def fill(store: Store, folder: Path, url: str) -> None:
    items = [Item(f"i{n}", f"Question {n}?", "insulin") for n in range(N)]
    store.add(Batch(items=items), source="items", at="2025-03-01T12:00:00Z")
    (folder / "study.toml").write_text(
        f'title = "t"\nseed = 1\n[[endpoints]]\nid = "h"\nurl = "{url}/v1"\n'
        '[[systems]]\nid = "s"\nmodel = "h:m"\n'
    )


def run(folder: Path, point: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, str(folder), point]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_nothing_is_sent_twice_and_nothing_is_lost(tmp_path: Path) -> None:
    vendor = OpenAIVendor()
    running: list[subprocess.Popen[str]] = []
    step = ""

    def kill(done: str) -> None:
        if step and done.startswith(step):
            os.kill(running[-1].pid, signal.SIGKILL)

    with Store.open(tmp_path) as store, serving(vendor) as url:
        fill(store, tmp_path, url)
        vendor.after = kill
        for point, step in POINTS:
            process = run(tmp_path, point)
            running.append(process)
            assert process.wait(60) == -signal.SIGKILL, (point, step)
            process.communicate()
        step = ""
        last, _ = run(tmp_path, "").communicate(timeout=60)
        # All replies were stored before the last kill; records are made of them, and none is asked.
        assert last == "0 \n"
        assert len(store.answers()) == N
        assert [(c.outcome, c.attempt) for c in Calls(store).each()] == [("ok", 1)] * N
        assert set(vendor.asked.values()) == {1}
        assert (len(vendor.files), len(vendor.batches)) == (1, 1)
        assert Batches(store).unfinished() == ()
        assert store.verify_log() == ()


def test_ctrl_c_leaves_batches_under_way(tmp_path: Path) -> None:
    vendor = OpenAIVendor(looks=1000)
    running: list[subprocess.Popen[str]] = []

    def interrupt(done: str) -> None:
        if running and vendor.batches and done.startswith("GET /v1/batches/"):
            running.pop().send_signal(signal.SIGINT)

    vendor.after = interrupt
    with Store.open(tmp_path) as store, serving(vendor) as url:
        fill(store, tmp_path, url)
        process = run(tmp_path, "")
        running.append(process)
        printed, _ = process.communicate(timeout=60)
        assert (printed, process.returncode) == ("0 by Ctrl-C\n", 0)
        [record] = Batches(store).unfinished()
        assert (record.state, record.requests) == ("under way", N)
