"""Durable calls a second against an instant server on this machine, beside peers in the same run.

    python benchmarks/calls.py [--calls 20000] [--concurrency 64]

One server process answers every request at once; each client has a process of its own, one after
another, on the same machine and moments apart. konsil writes every call to SQLite with synchronous
= FULL before it counts, and makes an answer of it; the peers keep nothing unless said otherwise.
Peers that are not installed are left out. Ratios are over konsil's. Calls a second depend on what
else the machine does; CPU ms a call less so. "MB more" is what a client adds to a bare
interpreter's memory, imports included.

The last lines are konsil's re-runs, where everything is done already and nothing may be called: of
systems' answers, and of the judges of MedQADE's protocol, each with five answers on a screen."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

PROMPT = (
    "Which vitamin is missing in disease number {}? Reply with one short term and nothing else."
)
SYSTEM = "You are sitting an examination in medicine."


def memory() -> float:
    """The most memory this process ever had, in megabytes; getrusage would count its parent's as
    well."""
    status = Path("/proc/self/status").read_text()
    return (
        next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
        / 1024
    )


def nothing(_url: str, _n: int, _concurrency: int) -> dict[str, float]:
    """An interpreter with what this file imports, and nothing else."""
    return {"peak": memory()}


def konsil(url: str, n: int, concurrency: int) -> dict[str, float]:
    from konsil.study import parse

    study = parse(
        f"""
        title = "Benchmark"
        seed = 1
        [[endpoints]]
        id = "instant"
        url = "{url}/v1"
        concurrency = {concurrency}
        [[systems]]
        id = "s"
        model = "instant:m"
        settings = {{ temperature = 0.2, max_tokens = 32, seed = 1, system = "{SYSTEM}" }}
        """,
        lambda _: "",
    )
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: what the import needs is not what the calls need.
        subprocess.run(
            [sys.executable, str(Path(__file__)), "--fill", folder, "--calls", str(n)], check=True
        )
        return called(study, folder, n)


def fill(folder: str, n: int) -> None:
    from konsil.records import Item
    from konsil.store import Batch, Store

    with Store.open(folder) as store:
        items = [Item(f"i{k}", PROMPT.format(k)) for k in range(n)]
        store.add(Batch(items=items), source="items", at="2025-03-01T12:00:00Z")


def called(study: object, folder: str, n: int) -> dict[str, float]:
    from konsil.collect.jobs.collection import Options
    from konsil.collect.jobs.systems import answer
    from konsil.store import Store

    with Store.open(folder) as store:
        began, cpu = time.perf_counter(), time.process_time()
        done = answer(study, store, Options())
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        assert done.progress.outcomes == {"ok": n}, done.progress
        assert done.n_records == n
        peak = memory()
        again = repeated(n, lambda: answer(study, store, Options()))
    return {"calls": n / seconds, "cpu_ms": 1000 * cpu / n, "peak": peak, **again}


def repeated(n: int, run: object) -> dict[str, float]:
    """A run of n works that are all done: works a second, and a second of processor time."""
    began, cpu = time.perf_counter(), time.process_time()
    done = run()  # type: ignore[operator]
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    assert (done.progress.total, sum(t.n_completed for t in done.todos)) == (0, n)
    return {"rerun": n / seconds, "rerun_cpu": n / cpu}


def judges(_url: str, n: int, _concurrency: int) -> dict[str, float]:
    """The re-run of MedQADE's judges; their first run is in the process, with the fake provider."""
    from konsil.api.folder.folder import open_folder
    from konsil.api.running.planning import make_plan
    from konsil.collect.jobs.judges import judge
    from konsil.records import Answer, Item
    from konsil.store import Batch

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = files("konsil.protocols") / "medqade"
        for name in ("study.toml", "codebook.de.md"):
            (folder / name).write_text((source / name).read_text("utf-8"), "utf-8")
        text = re.sub(r"\n\[prepare\]\n(?:.+\n)+", "\n", (folder / "study.toml").read_text("utf-8"))
        for k in range(1, 5):
            text += (
                f'\n[[judges]]\nrater = "judge-{k}"\nmodel = "fake:j{k}"\nsettings = {{ temperature'
                " = 0 }\n"
            )
        (folder / "study.toml").write_text(text, "utf-8")
        items = [
            Item(f"i{k:06}", PROMPT.format(k), f"Vitamin {k}", sets=("split",))
            for k in range(max(45, n // 4))
        ]
        items[0] = Item("i000000", PROMPT.format(0), "Vitamin 0", sets=("core",))
        systems = [f"system-{k}" for k in range(1, 6)]
        answers = [
            Answer(f"{i.id}:{s}", i.id, s, f"{s} says vitamin {i.id}")
            for i in items
            for s in systems
        ]
        opened = open_folder(folder)
        with opened.store(create=True) as store:
            store.add(
                Batch(items=items, answers=answers), source="items", at="2025-03-01T12:00:00Z"
            )
        make_plan(opened)
        with opened.store() as store:
            first = judge(opened.study, store)
            return repeated(first.progress.ended, lambda: judge(opened.study, store))


async def pooled(n: int, concurrency: int, one: object) -> None:
    numbers = iter(range(n))

    async def work() -> None:
        for k in numbers:
            await one(k)  # type: ignore[operator]

    await asyncio.gather(*(work() for _ in range(concurrency)))


def timed(n: int, run: object) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    run()  # type: ignore[operator]
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"calls": n / seconds, "cpu_ms": 1000 * cpu / n, "peak": memory()}


def openai(url: str, n: int, concurrency: int) -> dict[str, float]:
    from openai import AsyncOpenAI

    async def run() -> None:
        client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)

        async def one(k: int) -> None:
            messages = [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": PROMPT.format(k)},
            ]
            await client.chat.completions.create(
                model="m", messages=messages, temperature=0.2, max_tokens=32, seed=1
            )

        await pooled(n, concurrency, one)

    return timed(n, lambda: asyncio.run(run()))


def pydantic_ai(url: str, n: int, concurrency: int) -> dict[str, float]:
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def run() -> None:
        model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))
        settings = {"temperature": 0.2, "max_tokens": 32, "seed": 1}

        async def one(k: int) -> None:
            asked = ModelRequest.user_text_prompt(PROMPT.format(k), instructions=SYSTEM)
            await model_request(model, [asked], model_settings=settings)  # type: ignore[arg-type]

        await pooled(n, concurrency, one)

    return timed(n, lambda: asyncio.run(run()))


def inspect_ai(url: str, n: int, concurrency: int) -> dict[str, float]:
    """A whole evaluation: it keeps a log of every sample, as konsil keeps every call."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.solver import generate, system_message

    with tempfile.TemporaryDirectory() as folder:
        model = get_model("openai-api/local/m", base_url=f"{url}/v1", api_key="none")
        task = Task(
            dataset=[Sample(input=PROMPT.format(k)) for k in range(n)],
            solver=[system_message(SYSTEM), generate()],
            config=GenerateConfig(
                temperature=0.2, max_tokens=32, seed=1, max_connections=concurrency
            ),
        )

        def run() -> None:
            [log] = evaluate(
                task, model=model, log_dir=folder, display="none", max_samples=concurrency
            )
            assert log.status == "success", log.error

        return timed(n, run)


CLIENTS = {"konsil": konsil, "openai": openai, "pydantic_ai": pydantic_ai, "inspect_ai": inspect_ai}
PARTS = {**CLIENTS, "judges": judges, "nothing": nothing}
SHARE = {"konsil": 1.0, "openai": 0.2, "pydantic_ai": 0.2, "inspect_ai": 0.1}
"""Share of the calls that each client makes: slower ones need fewer for a steady rate."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--client", choices=PARTS)
    parser.add_argument("--url", default="")
    parser.add_argument("--fill", default="", help="Only make a store with items in this folder.")
    given = parser.parse_args()
    if given.fill:
        fill(given.fill, given.calls)
        return
    if given.client:
        print(json.dumps(PARTS[given.client](given.url, given.calls, given.concurrency)))
        return
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    from fake_server import running

    print(f"{'client':14}{'calls/s':>10}{'ratio':>8}{'CPU ms/call':>13}{'ratio':>8}{'MB more':>9}")
    first: dict[str, float] = {}
    bare = measured("nothing", "", 0, 0)
    if isinstance(bare, str):
        raise SystemExit(bare)
    floor = bare["peak"]
    with running(instant=True) as url:
        for name in CLIENTS:
            if find_spec(name) is None:
                print(f"{name:14}not installed")
                continue
            n = max(200, int(given.calls * SHARE[name]))
            found = measured(name, url, n, given.concurrency)
            if isinstance(found, str):
                print(f"{name:14}failed: {found}")
                continue
            first = first or found
            print(
                f"{name:14}{found['calls']:10,.0f}{found['calls'] / first['calls']:8.2f}{found['cpu_ms']:13.2f}"
                f"{found['cpu_ms'] / first['cpu_ms']:8.1f}{found['peak'] - floor:9.0f}"
            )
    for name, found in (
        ("answers", first),
        ("judgements", measured("judges", "", given.calls, given.concurrency)),
    ):
        if isinstance(found, str):
            print(f"re-run of {name} failed: {found}")
        else:
            print(
                f"re-run of {name:11}{found['rerun']:10,.0f} a second, {found['rerun_cpu']:,.0f} a"
                " second of CPU time"
            )


def measured(name: str, url: str, n: int, concurrency: int) -> dict[str, float] | str:
    """One part in a process of its own; a text where it failed."""
    command = [
        sys.executable,
        str(Path(__file__)),
        "--client",
        name,
        "--url",
        url,
        "--calls",
        str(n),
        "--concurrency",
        str(concurrency),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return " ".join(done.stderr.strip().splitlines()[-1:])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


if __name__ == "__main__":
    main()
