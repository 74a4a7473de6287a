"""Agreement with intervals, against peers, in one run: CPU seconds of one thread and their ratios.

    python benchmarks/agreement.py            everything
    python benchmarks/agreement.py --quick    the slowest peers on fewer draws

Every job starts from raw labels and ends with intervals. A peer that is too slow for all draws is
timed on fewer and scaled linearly; the table says on how many. Peers are checked to give the same
point estimates before they are timed. Peers resample items, as konsil does; their intervals are the
percentiles of their draws (and BCa where the job asks)."""

# ruff: noqa: E402, I001  the number of threads is set before NumPy is imported
from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy loads its linear algebra

import argparse
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import krippendorff
import numpy as np
from konsil.stats.inference import intervals
from konsil.stats.agreement.alpha import krippendorff_alpha
from konsil.stats.agreement.consensus import judge_and_ceiling, leave_one_out
from konsil.stats.engine.contract import Codes
from konsil.stats.inference.infer import concatenate, infer
from konsil.stats.agreement.kappa import cohen_kappa, pabak, percent_agreement
from sklearn.metrics import cohen_kappa_score

DRAWS = 1000


@dataclass(frozen=True)
class Peer:
    """Another way to the same numbers: `draw` gives the values of some clusters, once per
    resample."""

    name: str
    draw: Callable[[np.ndarray], np.ndarray]
    draws: int
    """How many draws are timed."""
    start: Callable[[], None] = lambda: None
    """What is computed once, before the draws; timed, not scaled."""


@dataclass(frozen=True)
class Job:
    """One line of the table."""

    name: str
    ours: Callable[[], np.ndarray]
    """Raw labels to intervals; returns the point estimates."""
    peers: tuple[Peer, ...]
    n_clusters: int
    jackknife: bool = False
    """Whether the job asks for BCa, so that a peer also computes every leave-one-item-out value."""


def panel(n_items=200, n_answers=5, n_raters=18, seed=1):
    """Binary labels of nine physicians and nine judges, five answers an item, five per cent
    abstentions."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(n_items, n_answers, 1)) + 0.5 * generator.normal(
        size=(n_items, 1, 1)
    )
    labels = (truth + 0.9 * generator.normal(size=(n_items, n_answers, n_raters)) > 0).astype(
        np.int8
    )
    labels[generator.random(labels.shape) < 0.05] = -1
    return labels


def table_of(a, b):
    both = (a >= 0) & (b >= 0)
    return np.bincount(2 * a[both] + b[both], minlength=4)


def kappa_of(table):
    n00, n01, n10, n11 = table.tolist()
    chance = (n11 + n10) * (n10 + n00) + (n11 + n01) * (n01 + n00)
    return 2 * (n11 * n00 - n10 * n01) / chance if chance else np.nan


def pairs_job(quick):
    cube = panel()[:, :, :9]
    n_items, n_answers, _ = cube.shape
    clusters = np.repeat(np.arange(n_items), n_answers)
    pairs = list(combinations(range(9), 2))

    def ours():
        codes = Codes(cube.reshape(-1, 9), clusters, 2)
        statistics = [make(9, 2, per_pair=True) for make in (percent_agreement, cohen_kappa, pabak)]
        sums = statistics[0].tally(codes)
        both, finalise = concatenate([(sums, statistic.finalise) for statistic in statistics])
        result = infer(both, finalise, draws=DRAWS, key=1, method="bca", keep_draws=True)
        intervals.percentile(result.ordered)
        return result.value

    def numpy_loop(items):
        labels = cube[items].reshape(-1, 9)
        out = np.empty((3, len(pairs)))
        for i, (a, b) in enumerate(pairs):
            table = table_of(labels[:, a], labels[:, b])
            agreement = (table[0] + table[3]) / table.sum()
            out[:, i] = agreement, kappa_of(table), 2 * agreement - 1
        return out.ravel()

    def scikit_learn(items):
        labels = cube[items].reshape(-1, 9)
        out = np.empty((3, len(pairs)))
        for i, (a, b) in enumerate(pairs):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            x, y = labels[both, a], labels[both, b]
            agreement = np.mean(x == y)
            out[:, i] = agreement, cohen_kappa_score(x, y), 2 * agreement - 1
        return out.ravel()

    return Job(
        "PA, kappa, PABAK of 36 pairs x 200 items x 5 answers, percentile and BCa",
        ours,
        (
            Peer("NumPy loop over draws and pairs", numpy_loop, 60 if quick else DRAWS),
            Peer("scikit-learn cohen_kappa_score", scikit_learn, 4 if quick else 20),
        ),
        n_items,
        jackknife=True,
    )


def ceiling_job(quick):
    cube = panel()
    n_items, n_answers, n_raters = cube.shape
    clusters = np.repeat(np.arange(n_items), n_answers)
    kept = {}

    def ours():
        codes = Codes(cube.reshape(-1, n_raters), clusters, 2)
        ceiling, difference = (
            judge_and_ceiling(9, 9, 2, "cohen_kappa", part) for part in ("ceiling", "difference")
        )
        sums = ceiling.tally(codes)
        both, finalise = concatenate([(sums, ceiling.finalise), (sums, difference.finalise)])
        return infer(both, finalise, draws=DRAWS, key=1, method="percentile").value

    def values(labels, rest):
        judge, ceiling = np.empty((9, 9)), np.empty((9, 9))
        for j in range(9):
            for r in range(9):
                slots = labels[:, 9 + j] >= 0
                ceiling[j, r] = kappa_of(table_of(np.where(slots, labels[:, r], -1), rest[:, r]))
                slots = labels[:, r] >= 0
                judge[j, r] = kappa_of(table_of(np.where(slots, labels[:, 9 + j], -1), rest[:, r]))
        return np.concatenate([ceiling.mean(axis=1), judge.mean(axis=1) - ceiling.mean(axis=1)])

    def straightforward(items):
        labels = cube[items].reshape(-1, n_raters)
        rest = np.empty((len(labels), 9), dtype=np.int8)
        for r in range(9):
            others = np.delete(labels[:, :9], r, axis=1)
            yes, no = (others == 1).sum(axis=1), (others == 0).sum(axis=1)
            rest[:, r] = np.where(yes > no, 1, np.where(no > yes, 0, -1))
        return values(labels, rest)

    def majorities_once():
        rest = leave_one_out(cube.reshape(-1, n_raters)[:, :9])
        kept["rest"] = rest.reshape(n_items, n_answers, 9).astype(np.int8)

    def loop(items):
        return values(cube[items].reshape(-1, n_raters), kept["rest"][items].reshape(-1, 9))

    return Job(
        "leave-one-out kappa and nine paired judge differences",
        ours,
        (
            Peer("straightforward NumPy loop", straightforward, 20 if quick else 100),
            Peer("the same, majorities computed once", loop, 20 if quick else 200, majorities_once),
        ),
        n_items,
    )


def alpha_job(quick):
    cube = panel()[:, :, :9]
    n_items, n_answers, _ = cube.shape
    clusters = np.repeat(np.arange(n_items), n_answers)
    kept = {}

    def ours():
        statistic = krippendorff_alpha(2)
        sums = statistic.tally(Codes(cube.reshape(-1, 9), clusters, 2))
        return infer(sums, statistic.finalise, draws=DRAWS, key=1, method="percentile").value

    def count():
        kept["counts"] = np.stack([(cube == label).sum(axis=2) for label in range(2)], axis=-1)

    def package(items):
        counts = kept["counts"][items].reshape(-1, 2)
        return np.array([krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")])

    return Job(
        "alpha, 9 raters x 200 items x 5 answers",
        ours,
        (
            Peer(
                "krippendorff, value counts once, loop over draws",
                package,
                100 if quick else DRAWS,
                count,
            ),
        ),
        n_items,
    )


def large_alpha_job(quick):
    generator = np.random.default_rng(2)
    n_units = 200_000
    truth = generator.integers(0, 5, (n_units, 1))
    labels = np.where(
        generator.random((n_units, 5)) < 0.7, truth, generator.integers(0, 5, (n_units, 5))
    )
    labels = labels.astype(np.int8)
    kept = {}

    def ours():
        statistic = krippendorff_alpha(5, "ordinal")
        sums = statistic.tally(Codes(labels, np.arange(n_units), 5))
        return infer(sums, statistic.finalise, draws=DRAWS, key=1, method="percentile").value

    def count():
        kept["counts"] = np.stack([(labels == label).sum(axis=1) for label in range(5)], axis=-1)

    def package(units):
        counts = kept["counts"][units]
        value = krippendorff.alpha(
            value_counts=counts, value_domain=list(range(5)), level_of_measurement="ordinal"
        )
        return np.array([value])

    return Job(
        "ordinal alpha of 10^6 ratings, 200,000 units x 5 raters",
        ours,
        (
            Peer(
                "krippendorff, value counts once, loop over draws",
                package,
                5 if quick else 20,
                count,
            ),
        ),
        n_units,
    )


def best_of(work, times):
    best = np.inf
    for _ in range(times):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def peak_megabytes(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def time_peer(job, peer):
    """CPU seconds for all draws (and all leave-one-out values where asked), from `peer.draws` of
    them."""
    generator = np.random.default_rng(3)
    begun = time.process_time()
    peer.start()
    once = time.process_time() - begun
    begun = time.process_time()
    draws = np.stack(
        [
            peer.draw(generator.integers(0, job.n_clusters, job.n_clusters))
            for _ in range(peer.draws)
        ]
    )
    np.nanquantile(draws, [0.025, 0.975], axis=0)
    each = (time.process_time() - begun) / peer.draws
    evaluations = DRAWS + (job.n_clusters if job.jackknife else 0)
    return once + each * evaluations


def time_job(job):
    """Check that the peers agree, then time: rows of (job, our seconds, peak in MB, peer, its
    seconds, its draws)."""
    warnings.simplefilter("ignore")
    values = job.ours()
    everything = np.arange(job.n_clusters)
    for peer in job.peers:
        peer.start()
        np.testing.assert_allclose(
            peer.draw(everything), values, atol=1e-10, err_msg=f"{job.name}: {peer.name}"
        )
    seconds, peak = best_of(job.ours, 9), peak_megabytes(job.ours)
    return [
        (job.name, seconds, peak, peer.name, time_peer(job, peer), peer.draws) for peer in job.peers
    ]


def run(quick=False):
    """Run every job; returns the rows of `time_job`."""
    jobs = (pairs_job, ceiling_job, alpha_job, large_alpha_job)
    return [row for make in jobs for row in time_job(make(quick))]


def print_table(rows):
    """Print one line for each peer, with the ratio, and the smallest ratio below."""
    print(
        f"CPU seconds of one thread for {DRAWS:,} draws with intervals, from raw labels; peak is"
        " konsil's own, in MB\n"
    )
    print("| job | konsil | peak MB | peer | peer's seconds | timed on | ratio |")
    print("|---|---:|---:|---|---:|---:|---:|")
    for job, ours, peak, peer, seconds, draws in rows:
        timed = "all draws" if draws == DRAWS else f"{draws} draws, scaled"
        print(
            f"| {job} | {ours:.4f} | {peak:.1f} | {peer} | {seconds:.2f} | {timed} |"
            f" {seconds / ours:.0f} |"
        )
    slowest = min(seconds / ours for _, ours, _, _, seconds, _ in rows)
    print(f"\nthe smallest ratio is {slowest:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="time peers on fewer draws")
    print_table(run(parser.parse_args().quick))
    return 0


if __name__ == "__main__":
    sys.exit(main())
