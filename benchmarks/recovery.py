"""Do a study's intervals hold what was planted? Small simulated MedQADE studies, planned and analysed as real ones.

    python benchmarks/recovery.py                     print the table of docs/recovery.md
    python benchmarks/recovery.py --write             and write it there
    python benchmarks/recovery.py --studies 50        fewer studies

The protocol is konsil's own medqade with fewer raters. In every study the same raters meet new items: what an interval
over resampled items speaks about. A true value is the number that infinitely many such items give, found by twenty
large batches with formulas of their own (konsil.simulate.population).
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import multiprocessing
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np

from konsil.analysis import Resampling
from konsil.analysis.frame import Data
from konsil.analysis.run import run
from konsil.records import Answer, Item
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw, recovery, sets_of
from konsil.study import parse

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "recovery.md"
MARK = "<!-- table -->\n"
N_CORE, N_SPLIT, DRAWS = 60, 120, 1_000
PANEL_SEED = 11
"""Makes the raters; every study has the same."""
PHYSICIANS, JUDGES = 5, 6

PHYSICIAN = PanelTruth(accuracy=0.93, severity=0.2, abstention=0.05, abstention_slope=0.9, perception=0.6)
TRUTH = Truth(
    systems={f"system-{n}": SystemTruth(q) for n, q in enumerate((0.85, 0.78, 0.62, 0.7, 0.5), start=1)},
    panels={
        "physicians": PHYSICIAN,
        "tiebreaker": PHYSICIAN,
        "judges": PanelTruth(
            accuracy=0.88, severity=0.1, leniency=0.3, self_preference=0.4, abstention=0.03, abstention_slope=0.2
        ),
    },
    raters={
        "judge-1": PanelTruth(accuracy=0.95, leniency=0.1, self_preference=0.2, abstention=0.02),
        "judge-5": PanelTruth(accuracy=0.75, leniency=0.7, self_preference=0.8, abstention=0.01),
    },
)
"""What is planted: systems of unequal quality; physicians whose abstention rises with difficulty; judges of unequal
skill that are lenient, more so to their own family, and hardly more cautious where it is hard."""


def small_study():
    """The medqade protocol with five physicians and six judges, without its ensembles; one family of two systems."""
    folder = files("konsil.protocols") / "medqade"
    whole = parse((folder / "study.en.toml").read_text("utf-8"), lambda name: (folder / name).read_text("utf-8"))
    kept = {f"physician-{n}" for n in (*range(1, PHYSICIANS + 1), 10)} | {f"judge-{n}" for n in range(1, JUDGES + 1)}
    return dataclasses.replace(
        whole,
        simulated=True,
        prepare=None,
        raters=tuple(r for r in whole.raters if r.id in kept),
        judges=(),
        analyses=tuple(a for a in whole.analyses if not a.statistic.startswith("ensembles")),
        resampling=Resampling(draws=DRAWS),
    )


def material(n_core=N_CORE, n_split=N_SPLIT):
    """Items in their two sets, one in five with a lexical match, and their answers."""
    items = [
        Item(
            f"i{n:04}",
            "?",
            sets=("core" if n < n_core else "split",),
            strata={"lexical_match": "no" if n % 5 else "yes"},
        )
        for n in range(n_core + n_split)
    ]
    return items, [Answer(f"{i.id}:{s}", i.id, s, "...") for i in items for s in TRUTH.systems]


def results_of(study, items, answers, seed):
    """One simulated study's estimates."""
    drawn = draw(study, items, answers, TRUTH, seed, panel_seed=PANEL_SEED)
    return run(
        study.analyses,
        Data(items, answers, study.raters, drawn.tasks, drawn.ratings),
        instruments=study.instruments,
        seed=seed,
        resampling=study.resampling,
        exclusions=study.exclusions,
        planned=True,
        systems=study.systems,
        derived=study.derived,
        flag_families=True,
    )


def name_of(row):
    """What tells a row from all others of its study."""
    return (row.analysis, row.kind, *sorted(row.group.items()), "minus", *sorted(row.versus.items()))


def one(seed):
    """Every estimate of one study: name -> value, low, high."""
    results = results_of(small_study(), *material(), seed)
    return {
        name_of(row): (row.estimate.value, row.estimate.low, row.estimate.high)
        for row in results.rows
        if row.kind != "companion"
    }


def truths():
    """Name -> statistic, words, true value and its own error."""
    study, (items, answers) = small_study(), material()
    results = results_of(study, items, answers, 1)
    rows = {(r.analysis, str(r.group), str(r.versus)): r for r in results.rows if r.kind != "companion"}
    statistics = {a.name: a for a in study.analyses}
    found = {}
    for told in recovery(study, TRUTH, results, seed=PANEL_SEED, sets=sets_of(study, items)):
        row = rows[told.analysis, str(told.group), str(told.versus)]
        found[name_of(row)] = (statistics[told.analysis].statistic, told, row.kind)
    return found


def measured(studies, workers):
    """Every parameter with its truth and, over the studies, mean estimate, coverage, misses and undefined intervals."""
    known = truths()
    found = defaultdict(list)
    # Forked processes would inherit locks of Polars' threads.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for estimates in pool.map(one, range(1, studies + 1), chunksize=4):
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
                "coverage": float(((low <= told.truth) & (told.truth <= high)).mean()) if given.any() else math.nan,
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
        "| parameter | true value | mean estimate | coverage | too low | too high | mean width | no interval |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r['parameter']} | {r['truth']:.3f} | {r['mean']:.3f} | {r['coverage']:.3f} | {r['below']:.3f} |"
        f" {r['above']:.3f} | {r['width']:.3f} | {r['undefined'] or ''} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def summary(rows, studies):
    """How many parameters are within 92-98 %, and by kind of statistic."""
    shares = np.array([r["coverage"] for r in rows])
    inside = int(((shares >= 0.92) & (shares <= 0.98)).sum())
    yield f"{inside} of {len(rows)} coverages lie in 92-98 %; their mean is {np.nanmean(shares):.3f}."
    yield f"Monte Carlo error of one coverage of .95: {math.sqrt(0.95 * 0.05 / studies):.3f}."
    for statistic in dict.fromkeys(r["statistic"] for r in rows):
        own = [r["coverage"] for r in rows if r["statistic"] == statistic and math.isfinite(r["coverage"])]
        yield f"{statistic}: {len(own)} parameters, coverage {min(own):.3f} to {max(own):.3f}, mean {np.mean(own):.3f}"


def main():
    """Measure, print, and with --write put the table into its document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    began = time.perf_counter()
    rows = measured(arguments.studies, arguments.workers)
    print(table(rows))
    print("\n".join(summary(rows, arguments.studies)))
    print(f"{arguments.studies} studies in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    if arguments.write:
        before = DOCUMENT.read_text("utf-8").split(MARK)[0]
        told = "\n".join(f"- {line}" for line in summary(rows, arguments.studies))
        DOCUMENT.write_text(f"{before}{MARK}\n{arguments.studies} studies:\n\n{told}\n\n{table(rows)}", "utf-8")


if __name__ == "__main__":
    main()
