"""Agreement of many ratings by the number of different values: CPU seconds and memory.

    python benchmarks/measured_values.py                  100,000 ratings, 2 to 100,000 values
    python benchmarks/measured_values.py --ratings 600    a small table of 600 different values

Every run is a process of its own: `konsil agreement` with its default statistics and intervals, and
alpha alone in both packages. The package krippendorff makes a table of values by values for every
unit, so that it is run up to 120 million cells, which take a gigabyte or two; the last columns are
its seconds and memory as multiples of konsil's."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MOST_OF_PEER = 120_000_000
VALUES = (2, 10, 20, 50, 100, 600, 1_000, 10_000, 100_000)

PEER = """
import sys, krippendorff, polars as pl
table = pl.read_csv(sys.argv[1]).drop("unit").to_numpy().astype(float)
krippendorff.alpha(reliability_data=table.T, level_of_measurement="interval")
"""


def write(path: Path, n_ratings: int, n_raters: int, n_values: int) -> None:
    """A table of correlated measurements, cut at quantiles to some number of values."""
    rng = np.random.default_rng(n_values)
    n_units = n_ratings // n_raters
    x = rng.normal(50, 15, (n_units, 1)) + rng.normal(0, 5, (n_units, n_raters))
    if n_values < x.size:
        cuts = np.quantile(x, np.linspace(0, 1, n_values + 1)[1:-1])
        cells = np.digitize(x, cuts).astype(str)
    else:
        cells = np.char.mod("%.9f", x)
    lines = ["unit," + ",".join(f"r{n}" for n in range(n_raters))]
    lines += [f"u{n}," + ",".join(row) for n, row in enumerate(cells)]
    path.write_text("\n".join(lines) + "\n")


def cost(*command: str) -> tuple[float, float]:
    """CPU seconds and peak MB of a process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=int, default=100_000)
    parser.add_argument("--raters", type=int, nargs="+", default=[2, 6])
    options = parser.parse_args()
    konsil = str(Path(sys.executable).parent / "konsil")
    print("| raters | values | all, CPU s | MB | alpha, CPU s | MB | peer, x CPU | x MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        for n_raters in options.raters:
            for n_values in (v for v in VALUES if v <= options.ratings):
                write(path, options.ratings, n_raters, n_values)
                raters = [word for n in range(n_raters) for word in ("--rater", f"r{n}")]
                flags = ("agreement", str(path), "--unit", "unit", *raters, "--level", "interval")
                seconds, size = cost(konsil, *flags)
                alone, alone_size = cost(konsil, *flags, "--statistic", "krippendorff_alpha")
                peer = ""
                if n_values**2 * options.ratings // n_raters <= MOST_OF_PEER:
                    peer_seconds, peer_size = cost(sys.executable, "-c", PEER, str(path))
                    peer = f"{peer_seconds / alone:.1f} | {peer_size / alone_size:.1f}"
                print(
                    f"| {n_raters} | {n_values:,} | {seconds:.1f} | {size:.0f} | {alone:.1f} |"
                    f" {alone_size:.0f} | {peer or ' | '} |",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
