"""Do the default intervals cover? Simulated studies with a known truth, analysed by konsil's own
engine.

    python benchmarks/coverage.py                     print the tables of docs/coverage.md
    python benchmarks/coverage.py --write             and write them there
    python benchmarks/coverage.py --studies 200       fewer simulated studies
    python benchmarks/coverage.py --only wins --write the part on win differences alone

Many studies of one design are put side by side, so that one call of the engine analyses a hundred
of them; every hundred has draws of its own."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from konsil.stats.agreement.alpha import krippendorff_alpha
from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.tables import coincidences, pair_tables
from konsil.stats.engine.weights import random_signs
from konsil.stats.inference import intervals, wald
from konsil.stats.inference.infer import infer
from konsil.stats.inference.permutation import flip_test

AT_ONCE = 100
DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"


@dataclass(frozen=True)
class Panel:
    """Two or more exchangeable raters who label `n_items` items with `n_slots` answers each yes or
    no.

    A slot's latent value is mean + item + slot + noise of each rater; `disagreement` is the
    standard deviation of what a rater adds to all answers of an item, so that disagreement clusters
    in items."""

    n_items: int
    n_slots: int
    mean: float
    disagreement: float
    n_raters: int = 2
    item: float = 0.7
    slot: float = 0.9
    noise: float = 0.6

    @property
    def truth(self) -> tuple[float, float]:
        """The population's chance-corrected agreement (kappa and alpha are the same here) and the
        share of yes."""
        shared = self.item**2 + self.slot**2
        variance = shared + self.disagreement**2 + self.noise**2
        at = self.mean / np.sqrt(variance)
        yes = stats.norm.cdf(at)
        both = stats.multivariate_normal(
            [0, 0], [[1, shared / variance], [shared / variance, 1]]
        ).cdf([at, at])
        chance = yes**2 + (1 - yes) ** 2
        return float((1 - 2 * yes + 2 * both - chance) / (1 - chance)), float(yes)

    def draw(self, generator):
        """One study's labels, (n_items * n_slots, n_raters)."""
        shape = (self.n_items, self.n_slots, self.n_raters)
        latent = self.mean + self.item * generator.standard_normal((self.n_items, 1, 1))
        latent = latent + self.slot * generator.standard_normal((self.n_items, self.n_slots, 1))
        latent = latent + self.disagreement * generator.standard_normal(
            (self.n_items, 1, self.n_raters)
        )
        latent = latent + self.noise * generator.standard_normal(shape)
        return (latent > 0).astype(np.int8).reshape(-1, self.n_raters)


KAPPA = (
    Panel(200, 1, 0.3, 0.0),
    Panel(200, 5, 0.3, 0.7),
    Panel(200, 5, 1.8, 0.7),
    Panel(200, 1, 1.8, 0.0),
    Panel(40, 5, 0.3, 0.7),
    Panel(40, 1, 0.3, 0.0),
)
ALPHA = (
    Panel(200, 1, 0.3, 0.0, n_raters=9),
    Panel(200, 5, 0.3, 0.7, n_raters=9),
    Panel(200, 5, 1.8, 0.7, n_raters=3),
    Panel(40, 5, 0.3, 0.7, n_raters=3),
)


def side_by_side(finalise, n_studies):
    """A finalise for the sums of many studies in one row: each study's first value."""

    def all_studies(totals):
        return finalise(totals.reshape(*totals.shape[:-1], n_studies, -1))[..., 0]

    return all_studies


def covers(low, high, truth):
    return (low <= truth) & (truth <= high)


def agreement_coverage(panel, coefficient="kappa", studies=2000, draws=1000, seed=1):
    """Coverage and mean width of BCa, percentile and linearised atanh intervals, clusters = items,
    and their bias."""
    generator = np.random.default_rng(seed)
    truth, _ = panel.truth
    clusters = np.repeat(np.arange(panel.n_items), panel.n_slots)
    statistic = cohen_kappa(2, 2) if coefficient == "kappa" else krippendorff_alpha(2)
    tally = pair_tables if coefficient == "kappa" else coincidences
    found = {"bca": [], "percentile": [], "atanh": []}
    widths = {name: [] for name in found}
    values, undefined = [], 0
    for batch in range(-(-studies // AT_ONCE)):
        sums = np.hstack([tally(Codes(panel.draw(generator), clusters, 2)) for _ in range(AT_ONCE)])
        finalise = side_by_side(statistic.finalise, AT_ONCE)
        result = infer(
            sums, finalise, draws=draws, key=batch, method="bca", scale="atanh", keep_draws=True
        )
        bounds = {
            "bca": (result.low, result.high),
            "percentile": intervals.percentile(result.ordered),
            "atanh": (result.wald_low, result.wald_high),
        }
        for name, (low, high) in bounds.items():
            found[name].append(covers(low, high, truth))
            widths[name].append(high - low)
        values.append(result.value)
        undefined += int(np.isnan(result.value).sum())
    out = {name: float(np.concatenate(found[name]).mean()) for name in found}
    out |= {f"{name} width": float(np.nanmean(np.concatenate(widths[name]))) for name in widths}
    return out | {"bias": float(np.nanmean(np.concatenate(values)) - truth), "undefined": undefined}


@dataclass(frozen=True)
class Comparisons:
    """Pairwise comparisons of four equal systems: raters see a question and two answers, and may
    call a tie.

    `question` and `rater` are standard deviations of question x system and rater x system effects.
    """

    name: str
    question: float
    rater: float
    design: str
    one_pair: bool = False

    def plan(self, generator):
        """Each comparison's question and rater."""
        if self.design == "sparse":
            n_questions, n_raters, n = 620, 149, 1156
            question = np.r_[
                np.arange(n_questions), generator.integers(0, n_questions, n - n_questions)
            ]
            rater = generator.permutation(
                np.r_[np.arange(n_raters), generator.integers(0, n_raters, n - n_raters)]
            )
        elif self.design == "dense":
            question = np.repeat(np.arange(100), 10)
            rater = (np.tile(np.arange(10), 100) + 10 * np.repeat(np.arange(100), 10)) % 50
        else:
            question = np.repeat(np.arange(300), 3)
            rater = np.concatenate([generator.permutation(9)[:3] for _ in range(300)])
        return question.astype(np.int64), rater.astype(np.int64)

    def draw(self, generator, question, rater):
        """One study: (n_comparisons, 6), the first system's comparisons with each rival, then its
        wins minus losses."""
        n = len(question)
        n_questions, n_raters = question.max() + 1, rater.max() + 1
        if self.one_pair:
            pair = generator.permuted(np.tile(np.arange(4), (n_questions, 1)), axis=1)[question, :2]
        else:
            pair = generator.permuted(np.tile(np.arange(4), (n, 1)), axis=1)[:, :2]
        by_question = self.question * generator.standard_normal((n_questions, 4))
        by_rater = self.rater * generator.standard_normal((n_raters, 4))
        a, b = pair.T
        gap = (
            by_question[question, a]
            - by_question[question, b]
            + by_rater[rater, a]
            - by_rater[rater, b]
        )
        gap += generator.standard_normal(n)
        tie = 0.45 * np.sqrt(2 * self.question**2 + 2 * self.rater**2 + 1)
        outcome = np.where(gap > tie, 1, np.where(gap < -tie, -1, 0))
        rows = np.zeros((n, 6))
        for own, rival, sign in ((a, b, 1), (b, a, -1)):
            ours = np.flatnonzero(own == 0)
            rows[ours, rival[ours] - 1] = 1
            rows[ours, rival[ours] + 2] = sign * outcome[ours]
        return rows


WINS = (
    Comparisons("620 questions, 1,156 comparisons, 149 raters, no effects", 0.0, 0.0, "sparse"),
    Comparisons("the same, question effects", 0.6, 0.0, "sparse"),
    Comparisons("the same, question and rater effects", 0.6, 0.4, "sparse"),
    Comparisons(
        "the same, question effects, one pair a question", 0.6, 0.0, "sparse", one_pair=True
    ),
    Comparisons("100 questions x 10 of 50 raters, question effects", 0.6, 0.0, "dense"),
    Comparisons("the same, question and rater effects", 0.6, 0.4, "dense"),
    Comparisons("the same, rater effects", 0.0, 0.4, "dense"),
    Comparisons(
        "300 questions x 3 of 9 raters, question and rater effects", 0.6, 0.4, "few raters"
    ),
)


def mean_win_difference(totals):
    """The first system's win difference, its three rivals weighing the same."""
    return (totals[..., 3:] / totals[..., :3]).mean(axis=-1, keepdims=True)


def swapped_p(sums, swapped, finalise, *, draws, key):
    """Two-sided p values of exchanging the systems in all comparisons of a question at once."""
    value = np.abs(finalise(sums.sum(axis=0)[None])[0]) * (1 - 1e-12) - 1e-12
    signs = random_signs(key, len(sums), 0, draws, np.float64)
    null = np.abs(finalise((sums + swapped).sum(axis=0) / 2 + signs @ ((swapped - sums) / 2)))
    return ((null >= value).sum(axis=0) + 1) / (draws + 1)


def win_coverage(comparisons, studies=1000, draws=1000, seed=3):
    """Coverage of the two-way interval and of those by question and by rater; type-I errors of the
    flip tests.

    "percentile" and "comparison flip" are what papers compute: percentiles over questions, single
    comparisons flipped."""
    generator = np.random.default_rng(seed)
    question, rater = comparisons.plan(generator)
    member = np.zeros((question.max() + 1, len(question)), dtype=np.float32)
    member[question, np.arange(len(question))] = 1
    finalise = side_by_side(mean_win_difference, AT_ONCE)
    sides = np.tile(np.r_[1, 1, 1, -1, -1, -1], AT_ONCE)
    found = {
        name: []
        for name in (
            "bca",
            "percentile",
            "rater",
            "two-way",
            "flip",
            "comparison flip",
            "two-way p",
        )
    }
    widths = {name: [] for name in ("bca", "percentile", "rater", "two-way")}
    for batch in range(-(-studies // AT_ONCE)):
        rows = np.hstack([comparisons.draw(generator, question, rater) for _ in range(AT_ONCE)])
        sums = np.asarray(member @ rows.astype(np.float32), dtype=np.float64)
        one_way = infer(sums, finalise, draws=draws, key=batch, keep_draws=True)
        influence = wald.linearised(rows, finalise)
        two_way = wald.two_way(influence, question, rater, one_way.value)
        by_rater = wald.one_way(
            np.stack([np.bincount(rater, column) for column in influence.T], axis=1), one_way.value
        )
        bounds = {
            "bca": (one_way.low, one_way.high),
            "percentile": intervals.percentile(one_way.ordered),
            "rater": (by_rater.low, by_rater.high),
            "two-way": (two_way.low, two_way.high),
        }
        for name, (low, high) in bounds.items():
            found[name].append(covers(low, high, 0))
            widths[name].append(high - low)
        t = np.abs(one_way.value / two_way.se)
        found["two-way p"].append(2 * stats.t.sf(t, two_way.df) <= 0.05)
        found["flip"].append(
            swapped_p(sums, sums * sides, finalise, draws=draws, key=batch) <= 0.05
        )
        # The numbers of comparisons do not change under flips, so each comparison adds a fixed term
        # to the value.
        totals = rows.reshape(len(rows), AT_ONCE, 6).sum(axis=0)
        terms = (rows.reshape(len(rows), AT_ONCE, 6)[..., 3:] / totals[:, :3]).mean(axis=-1)
        found["comparison flip"].append(
            flip_test(terms, draws=draws, key=batch, exact=False).p <= 0.05
        )
    out = {name: float(np.concatenate(found[name]).mean()) for name in found}
    return out | {f"{name} width": float(np.concatenate(widths[name]).mean()) for name in widths}


def agreement_table(studies, draws):
    yield (
        "| coefficient | items x answers | raters | proportion of yes | true value | bias | BCa"
        " | width | Wald (Taylor), atanh | width | percentile |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for coefficient, panels in (("kappa", KAPPA), ("alpha", ALPHA)):
        for panel in panels:
            truth, yes = panel.truth
            r = agreement_coverage(panel, coefficient, studies, draws)
            yield (
                f"| {coefficient} | {panel.n_items} x {panel.n_slots} | {panel.n_raters} |"
                f" {yes:.2f} | {truth:.3f} | {r['bias']:+.3f} | {r['bca']:.3f} |"
                f" {r['bca width']:.3f} | {r['atanh']:.3f} | {r['atanh width']:.3f} |"
                f" {r['percentile']:.3f} |"
            )


def win_table(studies, draws):
    yield (
        "| design | two-way Wald | width | question BCa | width | rater Wald | *paper:* question"
        " percentiles | two-way p <= .05 | question flips p <= .05 | *paper:* comparison flips p"
        " <= .05 |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for design in WINS:
        r = win_coverage(design, studies, draws)
        yield (
            f"| {design.name} | {r['two-way']:.3f} | {r['two-way width']:.3f} | {r['bca']:.3f} |"
            f" {r['bca width']:.3f} | {r['rater']:.3f} | {r['percentile']:.3f} |"
            f" {r['two-way p']:.3f} | {r['flip']:.3f} | {r['comparison flip']:.3f} |"
        )


def report(studies, draws):
    """The document's text."""
    agreement = "\n".join(agreement_table(2 * studies, draws))
    error_one, error_two = (np.sqrt(0.95 * 0.05 / n) for n in (2 * studies, studies))
    return f"""# Coverage of the confidence intervals

A 95% interval should contain the truth in 95 of 100 studies. These tables are simulated studies whose truth is known,
analysed by the engine of this package. They are made by

    python benchmarks/coverage.py --write

with {draws:,} draws a study. The Monte Carlo error of a coverage of .95 is {error_one:.3f} for agreement and
{error_two:.3f} for win differences.

## Agreement

{2 * studies:,} studies of each design. Two to nine exchangeable raters label answers yes or no. Answers of one item
share an item effect, and in the designs with five answers a rater's disagreement clusters in items. Clusters are items.
"BCa" is the printed interval where labels are not sparse: in all designs but those of 40 items and that of one answer
an item and 92 % of yes, where the posterior of the rating patterns is (see the next table). "Linearised, atanh" stands
beside it and needs no resampling.

{agreement}

With 200 items both intervals keep their level. With 40 items, or where nearly all answers are a yes, they can differ.

{sparse_part()}{win_report(studies, draws)}"""


def sparse_part():
    """The document's part on sparse labels as it is, which `coverage_edges.py` writes."""
    rest = DOCUMENT.read_text(encoding="utf-8").partition(SPARSE)[1:]
    return "".join(rest).partition(PART)[0]


def win_report(studies, draws):
    """The document's part on win differences."""
    wins = "\n".join(win_table(studies, draws))
    return f"""{PART}

{studies:,} studies of each design, four equal systems, so the true win difference is 0. Comparisons share questions
and raters. The two-way interval is the headline of `win_difference`; beside it stand the bootstrap of questions and
the interval by raters. The last three columns are type-I errors: of the two-way interval's p, of flipping all
comparisons of a question at once, and of flipping each by itself. Columns marked *paper* are what many papers compute
and `mode = "paper"` gives.

{wins}

Where raters have tastes of their own, intervals and tests by question alone are too sure of themselves, and the two-way
interval holds; with nine raters it is wide, because nine raters are few. Flipping single comparisons also fails where
raters of one question see the same pair and agree.
"""


PART = "## Win differences"
NEXT = "## Differences"
SPARSE = "## Rare labels, near full agreement, few items"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--studies",
        type=int,
        default=2000,
        help="simulated studies of a win design; twice for agreement",
    )
    parser.add_argument("--draws", type=int, default=1000, help="resamples of each study")
    parser.add_argument("--only", choices=["wins"], help="the part on win differences alone")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT.name}")
    options = parser.parse_args()
    begun = time.process_time()
    document = DOCUMENT.read_text(encoding="utf-8")
    if options.only:
        text = document.partition(PART)[0] + win_report(options.studies, options.draws)
    else:
        text = report(options.studies, options.draws)
    # What follows is written by the other benchmarks.
    text += "".join(document.partition(f"\n{NEXT}")[1:])
    print(text)
    if options.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    print(f"{time.process_time() - begun:.0f} CPU seconds", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
