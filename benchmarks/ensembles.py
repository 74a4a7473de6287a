"""Every odd ensemble of nine judges against the experts' majority, bootstrapped over items, against
peers in one run.

    python benchmarks/ensembles.py            256 ensembles x 1,000 resamples of 200 items
    python benchmarks/ensembles.py --quick    the peers on fewer resamples

CPU seconds of one thread. Every way starts from the same raw labels, votes once and gives the same
256 kappas before it is timed. The loop in NumPy is what one writes by hand, without konsil's linear
algebra: the votes once, then for every resample and ensemble one contingency table. scikit-learn
has no missing labels, so it gets each ensemble's own slots."""

# ruff: noqa: E402, I001  the number of threads is set before NumPy is imported
from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy loads its linear algebra

import argparse
import sys
from itertools import combinations

import numpy as np
from agreement import DRAWS, Job, Peer, kappa_of, panel, print_table, table_of, time_job
from konsil.stats.agreement.consensus import majority
from konsil.stats.engine.contract import Codes
from konsil.stats.judges.ensembles import ensembles
from konsil.stats.inference.infer import infer
from sklearn.metrics import cohen_kappa_score


def votes_of(judges):
    """Each odd ensemble's majority (n, 256), -1 where there is none: as one writes it, ensemble by
    ensemble."""
    found = []
    for size in range(1, judges.shape[-1] + 1, 2):
        for members in combinations(range(judges.shape[-1]), size):
            theirs = judges[:, members]
            yes, no = (theirs == 1).sum(axis=1), (theirs == 0).sum(axis=1)
            found.append(np.where(yes > no, 1, np.where(no > yes, 0, -1)).astype(np.int8))
    return np.column_stack(found)


def ensembles_job(quick=False):
    """The job and its peers; the labels are those of nine physicians and nine judges."""
    cube = panel()
    n_items, n_answers, _ = cube.shape
    clusters = np.repeat(np.arange(n_items), n_answers)
    kept = {}

    def ours():
        flat = cube.reshape(-1, 18)
        statistic = ensembles(9, "cohen_kappa", common=False)
        codes = Codes(np.column_stack([majority(flat[:, :9]), flat[:, 9:]]), clusters, 2)
        return infer(
            statistic.tally(codes), statistic.finalise, draws=DRAWS, key=1, method="percentile"
        ).value

    def vote():
        flat = cube.reshape(-1, 18)
        kept["consensus"] = majority(flat[:, :9]).reshape(n_items, n_answers)
        kept["votes"] = votes_of(flat[:, 9:]).reshape(n_items, n_answers, -1)

    def drawn(items):
        consensus = kept["consensus"][items].ravel()
        return np.ascontiguousarray(kept["votes"][items].reshape(len(consensus), -1).T), consensus

    def numpy_loop(items):
        votes, consensus = drawn(items)
        return np.array([kappa_of(table_of(vote, consensus)) for vote in votes])

    def scikit_learn(items):
        votes, consensus = drawn(items)
        slots = [(vote >= 0) & (consensus >= 0) for vote in votes]
        return np.array(
            [cohen_kappa_score(v[s], consensus[s]) for v, s in zip(votes, slots, strict=True)]
        )

    return Job(
        "256 odd ensembles of nine judges, kappa",
        ours,
        (
            Peer("NumPy loop, votes once", numpy_loop, 20 if quick else 200, vote),
            Peer(
                "scikit-learn cohen_kappa_score, votes once", scikit_learn, 2 if quick else 10, vote
            ),
        ),
        n_items,
    )


def main():
    """Time everything and print the table with the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="time the peers on fewer resamples")
    print_table(time_job(ensembles_job(parser.parse_args().quick)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
