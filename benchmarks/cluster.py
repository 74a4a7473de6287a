"""Preference statistics of very many comparisons in Parquet files, on Dask workers of this machine.

    python benchmarks/cluster.py                10^7 comparisons in 16 files, and their equality
    python benchmarks/cluster.py --votes 1e8    10^8 in 64 files

The data are made file by file in a temporary folder, which is removed at the end: six systems, a
tenth as many raters as items, one item for every hundred comparisons. Each run is a process of its
own; CPU seconds are those of the command and of all its workers, memory is the largest process's.
With at most 10^7 comparisons one process computes the same, and all printed numbers must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

SYSTEMS = 6
RESAMPLES = 200
COMPARED = 10_000_000
"""Up to so many comparisons one process computes them as well."""

_RUN = """
import resource, sys
from pathlib import Path
from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.api.datasets.preferences import preference_of_data_set

if __name__ == "__main__":
    folder, workers, resamples, out = sys.argv[1:]
    request = PreferenceRequest(resamples=int(resamples))
    if workers == "here":
        import konsil.api.datasets.preferences as module
        from konsil.compute.runners import ThisProcess
        from contextlib import nullcontext
        module.open_runner = lambda *_, **__: nullcontext(ThisProcess())
        workers = ""
    result = preference_of_data_set(Path(folder), request, workers)
    Path(out).write_text(result.to_json())
    own, workers = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(own.ru_utime + own.ru_stime, own.ru_maxrss, workers.ru_utime + workers.ru_stime,
          workers.ru_maxrss)
"""


def write_part(path: Path, n: int, n_items: int, n_raters: int, seed: int) -> None:
    """One file of comparisons; a quarter of them are ties."""
    g = np.random.default_rng(seed)
    first = g.integers(0, SYSTEMS, n, dtype=np.int8)
    second = (first + g.integers(1, SYSTEMS, n, dtype=np.int8)) % SYSTEMS
    worth = np.linspace(-0.6, 0.6, SYSTEMS)
    lean = worth[first] - worth[second] + g.logistic(0, 0.7, n)
    names = pl.Series([f"system {k}" for k in range(SYSTEMS)])
    outcome = np.where(np.abs(lean) < 0.3, 2, np.where(lean > 0, 0, 1))
    pl.DataFrame(
        {
            "item": g.integers(0, n_items, n),
            "rater": g.integers(0, n_raters, n),
            "system_a": names.gather(first.astype(np.uint32)),
            "system_b": names.gather(second.astype(np.uint32)),
            "winner": pl.Series(["left", "right", "tie"]).gather(outcome.astype(np.uint32)),
        }
    ).write_parquet(path)


def run(folder: Path, workers: str, out: Path) -> list[float]:
    """CPU seconds and bytes of the command, and of its workers together and at most."""
    begun = time.time()
    script = out.with_suffix(".py")
    script.write_text(_RUN)
    done = subprocess.run(
        [sys.executable, str(script), str(folder), workers, str(RESAMPLES), str(out)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    own, memory, theirs, largest = map(float, done.stdout.split()[-4:])
    print(
        f"{workers:8} {own:7.1f} CPU s and {memory / 1e6:.2f} GB here, {theirs:7.1f} CPU s and"
        f" at most {largest / 1e6:.2f} GB in workers, {time.time() - begun:.0f} s",
        flush=True,
    )
    return [own, theirs]


def main() -> None:
    """Make the data, run, and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--votes", type=float, default=1e7)
    arguments.add_argument("--workers", default="local:1,local:2")
    chosen = arguments.parse_args()
    n = int(chosen.votes)
    n_files = 64 if n > COMPARED else 16
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "votes")
        folder.mkdir()
        for part in range(n_files):
            path = folder / f"part-{part:02}.parquet"
            write_part(path, n // n_files, max(n // 100, 10), max(n // 1000, 10), part)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{n:,} comparisons in {n_files} files of {size / 1e6:,.0f} MB together", flush=True)
        results, seconds = [], []
        names = chosen.workers.split(",")
        for workers in [*(["here"] if n <= COMPARED else []), *names]:
            out = Path(name, f"{workers.replace(':', '-')}.json")
            seconds.append(sum(run(folder, workers, out)))
            results.append(json.loads(out.read_text()))
        print("all results equal:", all(result == results[0] for result in results))
        if len(names) == 2:
            print(f"CPU seconds of {names[0]} / {names[1]}: {seconds[-2] / seconds[-1]:.2f}")
        for row in results[0]["win_difference"]:
            print(f"{row['system']}: {row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]")


if __name__ == "__main__":
    main()
