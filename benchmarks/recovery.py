"""Do a study's intervals contain the simulated true values? Small simulated studies, planned and
analysed as real ones.

    python benchmarks/recovery.py                      print a table of docs/recovery.md
    python benchmarks/recovery.py --design clexeval    of another: medqade, clexeval or cqa-eval
    python benchmarks/recovery.py --write              and write it there
    python benchmarks/recovery.py --studies 50         fewer studies

The protocols are konsil's own with fewer raters and items (recovery_designs.py). In every study the
same raters meet new items: what an interval over resampled items speaks about. A true value is the
number that infinitely many such items give, found by twenty large batches with formulas of their
own (konsil.simulate.population)."""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np
from recovery_designs import DESIGNS
from simulated_study import analyse

from konsil.simulate import cases_of, draw, lengths_of, recovery, sets_of

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "recovery.md"
MARKS = "<!-- table: {} -->\n", "<!-- end of table -->\n"
PANEL_SEED = 11
"""Makes the raters; every study has the same."""


def results_of(study, truth, items, answers, seed):
    """One simulated study's estimates."""
    drawn = draw(study, items, answers, truth, seed, panel_seed=PANEL_SEED)
    return analyse(study, items, answers, study.raters, drawn, seed)


def name_of(row):
    """What tells a row from all others of its study."""
    return (
        row.analysis,
        row.kind,
        *sorted(row.group.items()),
        "minus",
        *sorted(row.versus.items()),
    )


def one(seed, design="medqade"):
    """Every estimate of one study: name -> value, low, high."""
    own = DESIGNS[design]
    results = results_of(own.study(), own.truth, *own.material(), seed)
    return {
        name_of(row): (row.estimate.value, row.estimate.low, row.estimate.high)
        for row in results.rows
        if row.kind != "companion"
    }


def truths(design="medqade"):
    """Name -> statistic, words, true value and its own error."""
    own = DESIGNS[design]
    study, (items, answers) = own.study(), own.material()
    results = results_of(study, own.truth, items, answers, 1)
    rows = {
        (r.analysis, str(r.group), str(r.versus)): r for r in results.rows if r.kind != "companion"
    }
    statistics = {a.name: a for a in study.analyses}
    found = {}
    sets, cases, lengths = sets_of(study, items), cases_of(items, own.truth), lengths_of(answers)
    for told in recovery(
        study, own.truth, results, seed=PANEL_SEED, sets=sets, cases=cases, lengths=lengths
    ):
        row = rows[told.analysis, str(told.group), str(told.versus)]
        found[name_of(row)] = (statistics[told.analysis].statistic, told, row.kind)
    return found


def measured(studies, workers, design="medqade"):
    """Every parameter with its truth and, over the studies, mean estimate, coverage, misses and
    undefined intervals."""
    known = truths(design)
    found = defaultdict(list)
    # Forked processes would inherit locks of Polars' threads.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for estimates in pool.map(one, range(1, studies + 1), repeat(design), chunksize=4):
            for name in known:
                found[name].append(estimates.get(name, (math.nan,) * 3))
    rows = []
    for name, (statistic, told, kind) in known.items():
        values = np.array(found[name])
        given = np.isfinite(values[:, 1])
        low, high = values[given, 1], values[given, 2]
        rows.append(
            {
                "parameter": str(told.parameter),
                "statistic": statistic,
                "analysis": told.analysis,
                "kind": kind,
                "truth": told.truth,
                "error": told.truth_error,
                "mean": float(np.nanmean(values[:, 0])),
                "sd": float(np.nanstd(values[:, 0])),
                "coverage": (
                    float(((low <= told.truth) & (told.truth <= high)).mean())
                    if given.any()
                    else math.nan
                ),
                "below": float((high < told.truth).mean()) if given.any() else math.nan,
                "above": float((low > told.truth).mean()) if given.any() else math.nan,
                "width": float((high - low).mean()) if given.any() else math.nan,
                "undefined": int((~given).sum()),
            }
        )
    return rows


def table(rows):
    """The rows as Markdown."""
    lines = [
        (
            "| parameter | true value | mean estimate | coverage | too low | too high | mean width"
            " | no interval |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r['parameter']} | {r['truth']:.3f} | {r['mean']:.3f} | {r['coverage']:.3f} |"
        f" {r['below']:.3f} | {r['above']:.3f} | {r['width']:.3f} | {r['undefined'] or ''} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def summary(rows, studies):
    """How many parameters are within 92-98 %, and by kind of statistic."""
    shares = np.array([r["coverage"] for r in rows])
    inside = int(((shares >= 0.92) & (shares <= 0.98)).sum())
    yield (
        f"{inside} of {len(rows)} coverages lie in 92-98 %; their mean is {np.nanmean(shares):.3f}."
    )
    yield f"Monte Carlo error of one coverage of .95: {math.sqrt(0.95 * 0.05 / studies):.3f}."
    for statistic in dict.fromkeys(r["statistic"] for r in rows):
        own = [
            r["coverage"]
            for r in rows
            if r["statistic"] == statistic and math.isfinite(r["coverage"])
        ]
        yield (
            f"{statistic}: {len(own)} parameters, coverage {min(own):.3f} to {max(own):.3f}, mean"
            f" {np.mean(own):.3f}"
        )


def main():
    """Measure, print, and with --write put the table into its document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--design", choices=DESIGNS, default="medqade")
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    began = time.perf_counter()
    rows = measured(arguments.studies, arguments.workers, arguments.design)
    print(table(rows))
    print("\n".join(summary(rows, arguments.studies)))
    print(f"{arguments.studies} studies in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    if arguments.write:
        start, end = MARKS[0].format(arguments.design), MARKS[1]
        before, _, rest = DOCUMENT.read_text("utf-8").partition(start)
        told = "\n".join(f"- {line}" for line in summary(rows, arguments.studies))
        after = rest.partition(end)[2]
        text = (
            f"{before}{start}\n{arguments.studies}"
            f" studies:\n\n{told}\n\n{table(rows)}\n{end}{after}"
        )
        DOCUMENT.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
