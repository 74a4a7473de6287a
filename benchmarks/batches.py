"""20,000 judgements by a batch interface, killed with -9 and expired: is anything asked twice, or
lost?

    python benchmarks/batches.py
    python benchmarks/batches.py --tasks 2000

The vendor is a server of our own (`tests/collect/batch_vendors.py`) that follows OpenAI's documents
and answers at once. Each run of `konsil judge --batch` is a process of its own: the first is killed
by the vendor when it has created the batch and before it says so, the second after half of the
replies are stored; of the first batch the vendor lets three in ten requests expire, which the last
run asks anew."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from konsil.records import Answer, Item, Rater, Task
from konsil.store import Batch, Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "collect")]

AT = "2025-03-01T12:00:00Z"
STUDY = """
title = "Batches"
seed = 1
[[endpoints]]
id = "h"
url = "{url}/v1"
[[systems]]
id = "a"
[[instruments]]
id = "form"
codebook = "{codebook}"
[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = {{ labels = ["no", "yes"], abstain = "cannot tell" }}
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j"
model = "h:m"
settings = {{ temperature = 0, max_tokens = 200 }}
"""
_LINE = "| {} | {:.1f} | {:,.0f} | {:.1f} | {} |"


def fill(store: Store, n: int) -> None:
    """Store so many items, answers and tasks of the judge."""
    text = "The patient is treated with metformin, as the guideline recommends. "
    store.add(
        Batch(
            items=[Item(f"i{k}", f"Question {k}: which drug is first line?") for k in range(n)],
            answers=[Answer(f"a{k}", f"i{k}", "a", f"{k}. {text * 12}") for k in range(n)],
            raters=[Rater("j", "judges", "llm")],
            tasks=[
                Task(f"t{k}", f"s{k}", "j", "form", f"i{k}", (f"a{k}",), position=k)
                for k in range(n)
            ],
        ),
        source="benchmark",
        at=AT,
    )


def judge(folder: Path, kill_after: int) -> None:
    """What each process does; after so many transactions of replies it kills itself."""
    from konsil.collect.batches.batch_lanes import BatchOptions, Pace
    from konsil.collect.jobs.collection import Options
    from konsil.collect.jobs.judges import judge as judge_tasks
    from konsil.study import parse

    if kill_after:
        add, count = Calls.add, [0]

        def killed(self: Calls, calls: Any) -> None:
            add(self, calls)
            count[0] += 1
            if count[0] == kill_after:
                os.kill(os.getpid(), signal.SIGKILL)

        Calls.add = killed  # type: ignore[method-assign]
    study = parse((folder / "study.toml").read_text(), str)
    with Store.open(folder) as store:
        pace = Pace(0.2, 0.2, 0.0, 0.0)
        judge_tasks(study, store, Options(batch=BatchOptions(pace=pace)))


def measured(action: Callable[[], None], note: Callable[[int], None]) -> tuple[float, float, float]:
    """Run an action in a process; gives its CPU seconds, its most memory in MB, and the time."""
    started = time.perf_counter()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, __file__, *_arguments(action)],
        os.environ,
    )
    note(pid)
    _, _, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, seconds


def _arguments(action: Callable[[], None]) -> list[str]:
    folder, kill_after = action.args  # type: ignore[attr-defined]
    return ["--folder", str(folder), "--kill-after", str(kill_after)]


def main() -> None:
    """Measure, and check that nothing was asked twice and nothing lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--kill-after", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.folder is not None:
        judge(chosen.folder, chosen.kill_after)
        return
    run(chosen.tasks)


def run(n: int) -> None:
    """All runs over so many tasks."""
    from functools import partial

    from batch_vendors import OpenAIVendor, chat, serving

    from konsil.collect.batches.results import CHUNK

    pids: list[int] = []
    vendor = OpenAIVendor()
    is_first = True

    def fate(body: dict[str, Any]) -> Any:
        number = int(json.dumps(body["messages"]).partition("Question ")[2].partition(":")[0])
        if is_first and number % 10 < 3:
            return "expired"
        form = body["response_format"]["json_schema"]["schema"]["properties"]
        values = {name: "yes" if "enum" in value else "" for name, value in form.items()}
        return 200, chat(json.dumps(values))

    def kill(step: str) -> None:
        if len(pids) == 1 and step == "POST /v1/batches":
            os.kill(pids[0], signal.SIGKILL)

    vendor.fate, vendor.after = fate, kill
    rows = []
    with tempfile.TemporaryDirectory() as name, serving(vendor) as url:
        folder = Path(name)
        (folder / "study.toml").write_text(STUDY.format(url=url, codebook="Be fair. " * 100))
        with Store.open(folder) as store:
            fill(store, n)
        half = n // CHUNK // 2
        for label, kill_after in (
            ("killed as the vendor had created the batch", 0),
            ("resumed; killed with half of the results stored", half),
            ("resumed to the end; three in ten expired", 0),
            ("asked the expired requests anew", 0),
        ):
            is_first = len(vendor.batches) == 0 or label != "asked the expired requests anew"
            cost = measured(partial(judge, folder, kill_after), pids.append)
            with Store.open(folder) as store:
                rows.append((label, *cost, len({c.work for c in Calls(store).each() if c.ended})))
        with Store.open(folder) as store:
            answered = [c for c in Calls(store).each() if c.ended]
            rated = {r.task for r in store.batch().ratings}
            unfinished = Batches(store).unfinished()
        replies = sum(
            1 for batch in vendor.batches.values() for row in batch.results if "yes" in row
        )
    print("| run | CPU s | MB | s | replies stored |\n|---|---|---|---|---|")
    for row in rows:
        print(_LINE.format(row[0], row[1], row[2], row[3], f"{row[4]:,}"))
    print(
        f"{len(vendor.batches)} batches, {sum(vendor.asked.values()):,} requests sent,"
        f" {replies:,} replies billed, {len(answered):,} stored, {len(rated):,} tasks rated"
    )
    expired = sum(number % 10 < 3 for number in range(n))
    assert len(vendor.batches) == 2, "a batch was sent twice"
    assert sum(vendor.asked.values()) == n + expired, "a request was sent twice"
    assert replies == len(answered) == len(rated) == n, "a reply was lost, or billed twice"
    assert unfinished == ()


if __name__ == "__main__":
    main()
