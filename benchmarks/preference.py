"""Preferences with intervals: a study of the paper's size, and many votes against peers, in one
run, as ratios.

    python benchmarks/preference.py             all of it; peers that are not installed are left out
    python benchmarks/preference.py --quick     up to 100,000 votes

Every job runs in a process of its own, on one thread, from columns of numbers to the end; its CPU
seconds and its peak memory are told. The peers give what they have: evalica and choix fits without
intervals (choix without ties), scipy a maximum of the same likelihood, arena-rank a fit with a
sandwich interval of independent votes. Only konsil's intervals know of questions and raters."""

# ruff: noqa: E402  the number of threads is set before NumPy is imported
from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS"):
    os.environ.setdefault(
        _name, "--xla_cpu_multi_thread_eigen=false" if _name == "XLA_FLAGS" else "1"
    )

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

SYSTEMS = 100
LIMIT_SECONDS = 400
"""What takes longer is stopped and told as such."""


def paper_table(seed=1):
    """Comparisons of the size of Real-POCQi: five criteria, two arms, two sources, users,
    lengths."""
    g = np.random.default_rng(seed)
    n_questions, n, n_raters = 807, 1750, 149
    questions = np.r_[np.arange(n_questions), g.integers(0, n_questions, n - n_questions)]
    raters = g.integers(0, n_raters, n)
    first = g.choice(4, n, p=[1 / 3, 2 / 9, 2 / 9, 2 / 9])
    second = (first + g.integers(1, 4, n)) % 4
    lean = np.array([0.6, 0.1, 0.0, -0.5])
    gap = lean[first] - lean[second]
    outcomes = [np.clip(np.rint(gap + g.normal(0, 1.2, n)), -2, 2).astype(int) for _ in range(5)]
    return questions, raters, first, second, outcomes, g.integers(0, 3, n) - 1


def whole_paper(draws=10_000):
    """Primary and all sensitivity analyses of five criteria: intervals three ways, flips, max-T,
    Davidson."""
    from konsil.stats.pairs.bradley_terry_davidson import worths
    from konsil.stats.pairs.preference import Tally, surveys
    from konsil.stats.pairs.two_way_clusters import crossed
    from konsil.stats.pairs.votes import totals, votes
    from konsil.stats.pairs.wins import head_to_head, system_against_others
    from konsil.stats.pairs.worth_designs import design

    questions, raters, first, second, outcomes, longer = paper_table()
    citations, user, other_source = raters % 3 == 0, raters % 2 == 0, questions >= 620
    ours = ~other_source
    parts = {
        "primary": ~citations & ours,
        "citations": citations & ours,
        "other source": ~citations & other_source,
        "users": user & ours,
        "not users": ~user & ours,
    }
    sizes = {"n_questions": 807, "n_raters": 149}
    begun = time.process_time()
    asked = []
    for outcome in outcomes:

        def some(kept, steps, outcome=outcome):
            columns = (
                first,
                second,
                outcome if steps == 2 else np.sign(outcome),
                questions,
                raters,
            )
            return votes(*(c[kept] for c in columns), n_systems=4, steps=steps).among(**sizes)

        for name, kept in parts.items():
            steps = 2 if name == "primary" else 1
            statistics = [system_against_others(4, steps)]
            if name == "primary":  # strict wins, margins and both matrices too
                statistics += [
                    system_against_others(4, 2, threshold=2),
                    system_against_others(4, 2, "margin"),
                ]
                statistics += [head_to_head(4, 2), head_to_head(4, 2, threshold=2)]
            asked.append(Tally(some(kept, steps), statistics))
        asked.append(Tally(some(ours, 2), [head_to_head(4, 2), head_to_head(4, 2, threshold=2)]))
        kept = (longer != 0) & ours
        is_longer = longer[kept] > 0
        a, b = first[kept], second[kept]
        by_length = votes(
            np.where(is_longer, a, a + 4),
            np.where(is_longer, b + 4, b),
            np.sign(outcome[kept]),
            questions[kept],
            raters[kept],
            n_systems=8,
        ).among(**sizes)
        asked.append(Tally(by_length, [system_against_others(8)]))
        made = some(parts["primary"], 2)
        crossed(made, worths(totals(made), design(4, 2)))
    found = surveys(asked, draws=draws, key=7)
    seconds = time.process_time() - begun
    values = sum(len(one.intervals.value) for mine in found for one in mine)
    return seconds, f"{values} values, {draws:,} draws and flips"


def many_votes(n, seed=1):
    """Votes on a hundred systems, a quarter of them ties; ten on a question, fifty by a rater."""
    g = np.random.default_rng(seed)
    first = g.integers(0, SYSTEMS, n, dtype=np.int32)
    second = (first + g.integers(1, SYSTEMS, n, dtype=np.int32)) % SYSTEMS
    lean = np.linspace(-1, 1, SYSTEMS)
    gap = lean[first] - lean[second] + g.logistic(0, 1, n)
    outcome = (gap > 0.5).astype(np.int8) - (gap < -0.5)
    questions, raters = g.integers(0, max(n // 10, 2), n), g.integers(0, max(n // 50, 2), n)
    return first, second, outcome, questions, raters


def konsil_fit(n, model):
    from konsil.stats.pairs.bradley_terry_davidson import fit
    from konsil.stats.pairs.votes import totals, votes
    from konsil.stats.pairs.worth_designs import design

    columns = many_votes(n)
    begun = time.process_time()
    fit(totals(votes(*columns, n_systems=SYSTEMS)), design(SYSTEMS, 1, model))
    return time.process_time() - begun, "exact maximum"


def konsil_job(n, model, draws):
    from konsil.stats.engine.resample import bootstrap
    from konsil.stats.pairs.bradley_terry_davidson import worths
    from konsil.stats.pairs.two_way_clusters import crossed
    from konsil.stats.pairs.votes import cell_rows, totals, votes
    from konsil.stats.pairs.worth_designs import design

    columns = many_votes(n)
    begun = time.process_time()
    made = votes(*columns, n_systems=SYSTEMS)
    statistic = worths(totals(made), design(SYSTEMS, 1, model))
    if draws:
        sums = cell_rows(made, made.questions, made.n_questions)
        spread = bootstrap(sums, statistic.finalise, draws=draws, key=1).std(axis=0)
        return time.process_time() - begun, f"standard errors {spread.mean():.4f}"
    found = crossed(made, statistic)
    return time.process_time() - begun, f"standard errors {np.nanmean(found.two_way.se):.4f}"


def evalica_job(n, method):
    import evalica

    first, second, outcome, *_ = many_votes(n)
    begun = time.process_time()
    words = {1: evalica.Winner.X, -1: evalica.Winner.Y, 0: evalica.Winner.Draw}
    winners = [words[y] for y in outcome.tolist()]
    found = getattr(evalica, method)(first.tolist(), second.tolist(), winners, limit=10_000)
    return time.process_time() - begun, f"{found.iterations} iterations"


def choix_job(n):
    import choix

    first, second, outcome, *_ = many_votes(n)
    begun = time.process_time()
    won = np.zeros((SYSTEMS, SYSTEMS))
    np.add.at(won, (first[outcome > 0], second[outcome > 0]), 1)
    np.add.at(won, (second[outcome < 0], first[outcome < 0]), 1)
    choix.ilsr_pairwise_dense(won)
    return time.process_time() - begun, "ties dropped"


def scipy_job(n):
    from scipy import optimize

    first, second, outcome, *_ = many_votes(n)
    begun = time.process_time()
    share = (outcome + 1) / 2

    def loss(x):
        gap = x[first] - x[second]
        p = 1 / (1 + np.exp(-gap))
        residual = p - share
        gradient = np.bincount(first, residual, SYSTEMS) - np.bincount(second, residual, SYSTEMS)
        return float((np.logaddexp(0, gap) - share * gap).sum()), gradient

    found = optimize.minimize(loss, np.zeros(SYSTEMS), jac=True, method="L-BFGS-B")
    return time.process_time() - begun, f"{found.nit} iterations over all votes"


def arena_job(n):
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    first, second, outcome, *_ = many_votes(n)
    words = np.array(["model_b", "tie", "model_a"])
    frame = pd.DataFrame({"model_a": first, "model_b": second, "winner": words[outcome + 1]})
    begun = time.process_time()
    data = PairDataset.from_pandas(frame)
    BradleyTerry(n_competitors=SYSTEMS).compute_ratings_and_cis(data, significance_level=0.05)
    return time.process_time() - begun, "sandwich interval, votes independent"


JOBS = {
    "konsil: Bradley-Terry, no interval": lambda n: konsil_fit(n, "bradley_terry"),
    "konsil: Davidson, no interval": lambda n: konsil_fit(n, "davidson"),
    "konsil: Bradley-Terry, two-way intervals": lambda n: konsil_job(n, "bradley_terry", 0),
    "konsil: Davidson, two-way intervals": lambda n: konsil_job(n, "davidson", 0),
    "konsil: Davidson, question-cluster refits": lambda n: konsil_job(
        n, "davidson", 1000 if n <= 10**6 else 100
    ),
    "evalica: Bradley-Terry, no interval": lambda n: evalica_job(n, "bradley_terry"),
    "evalica: Newman, no interval": lambda n: evalica_job(n, "newman"),
    "choix: Bradley-Terry, no ties, no interval": choix_job,
    "scipy: Bradley-Terry, no interval": scipy_job,
    "arena-rank: Bradley-Terry, interval": arena_job,
}
PAPER = "paper"


def run_job(name, n):
    """One job in a process of its own: CPU seconds, peak megabytes, remark; or why there are
    none."""
    command = [sys.executable, __file__, "--job", name, "--votes", str(n)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None, None, f"stopped after {LIMIT_SECONDS} seconds"
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["failed"]
        return None, None, "not installed" if "ModuleNotFoundError" in last[0] else last[0][:80]
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 100,000 votes")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--votes", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        seconds, remark = (
            whole_paper() if options.job == PAPER else JOBS[options.job](options.votes)
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([seconds, peak, remark]))
        return 0
    seconds, peak, remark = run_job(PAPER, 0)
    print(f"A study of the paper's size: {seconds:.2f} CPU seconds, {peak:.0f} MB; {remark}\n")
    print(f"| votes on {SYSTEMS} systems | job | CPU seconds | times konsil's first | peak MB | |")
    print("|---:|---|---:|---:|---:|---|")
    for n in (10**5,) if options.quick else (10**5, 10**6, 10**7):
        first = None
        for name in JOBS:
            seconds, peak, remark = run_job(name, n)
            if seconds is None:
                print(f"| {n:,} | {name} | | | | {remark} |", flush=True)
                continue
            first = seconds if first is None else first
            print(
                f"| {n:,} | {name} | {seconds:.2f} | {seconds / first:.2f} | {peak:.0f} |"
                f" {remark} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
