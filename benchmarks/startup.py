"""How long a user waits before anything happens: `konsil --help` and `import konsil`, beside bare
Python.

    python benchmarks/startup.py

Prints the median of several runs, in seconds, and their ratio to starting Python alone.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 15


def median_seconds(command: list[str]) -> float:
    """The median wall time of a command; the first run warms the file cache and is not counted."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    """Measure and print."""
    konsil = str(Path(sys.executable).with_name("konsil"))
    bare = median_seconds([sys.executable, "-c", "pass"])
    rows = [
        ("python -c pass", bare, None),
        ("import konsil", median_seconds([sys.executable, "-c", "import konsil"]), 0.2),
        ("konsil --help", median_seconds([konsil, "--help"]), 0.3),
        ("konsil demo --help", median_seconds([konsil, "demo", "--help"]), 0.3),
        ("konsil agreement --help", median_seconds([konsil, "agreement", "--help"]), 0.3),
    ]
    print(f"{'':26}{'seconds':>9}{'x bare':>8}{'limit':>8}")
    for name, seconds, limit in rows:
        told = "" if limit is None else f"{limit:.1f}"
        print(f"{name:26}{seconds:9.3f}{seconds / bare:8.1f}{told:>8}")


if __name__ == "__main__":
    main()
