"""The methods paragraph, sentence by sentence, from what was run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from konsil.analysis.case_methods import case_methods
from konsil.analysis.catalogue import PREFERENCE, WINS, WORTHS
from konsil.analysis.design_methods import design_methods
from konsil.analysis.design_rules import averaged
from konsil.analysis.few import FEW_HITS
from konsil.analysis.frame import Long, reasons
from konsil.analysis.results import Row
from konsil.analysis.said import listed, say
from konsil.analysis.spec import Analysis, Exclusions, Resampling
from konsil.stats.juries import JURY_LINE
from konsil.stats.names import STATISTICS


def methods(
    analyses: Sequence[Analysis],
    rows: Sequence[Row],
    table: Long,
    *,
    seed: int,
    resampling: Resampling,
    exclusions: Exclusions,
) -> tuple[str, ...]:
    """Sentences that a methods section can take over; nothing is said that was not done."""
    found = [_material(table), *_excluded(table, exclusions), *_abstentions(analyses, table)]
    found += _statistics(analyses)
    found += _comparisons(analyses)
    found += case_methods(analyses)
    found += design_methods(analyses)
    found += _consensus(_of_labels(analyses, table))
    found += _intervals(analyses, rows, seed, resampling)
    found += _tests(analyses, rows)
    found += _family(rows)
    return tuple(s for s in found if s)


def _material(table: Long) -> str:
    panels = table.frame.group_by("panel").agg(pl.col("rater").n_unique().alias("n"), pl.len().alias("ratings"))
    parts = [
        say("{n} ({panel}; {ratings:,} ratings)", n=n, panel=panel, ratings=ratings)
        for panel, n, ratings in panels.sort("panel").iter_rows()
    ]
    if not parts:
        return say("No ratings were available.")
    items = table.frame.get_column("item").n_unique()
    return say("Raters were {raters}, on {items:,} items.", raters=listed(parts), items=items)


def _excluded(table: Long, exclusions: Exclusions) -> list[str]:
    if not table.excluded.height:
        rule = exclusions.min_seconds
        if rule <= 0:
            return []
        return [say("No rating was faster than the protocol's {seconds:g} seconds.", seconds=rule)]
    told = {str(one): one for one in reasons(exclusions)}
    counts = table.excluded.group_by("reason").len().sort("reason")
    parts = [say("{n:,} ratings ({reason})", n=n, reason=told[reason]) for reason, n in counts.iter_rows()]
    return [say("Excluded: {what}.", what=listed(parts))]


def _abstentions(analyses: Sequence[Analysis], table: Long) -> list[str]:
    n = table.frame.filter(pl.col("state") == "abstained").height
    if not n:
        return []
    found: list[str] = [
        say("The {n:,} abstentions are not labels: statistics use the labels given (pairwise deletion).", n=n)
    ]
    named = [a.name for a in analyses if a.abstain == "label"]
    if named:
        found.append(say("In {analyses} an abstention counts as a label of its own.", analyses=listed(named)))
    return found


def _statistics(analyses: Sequence[Analysis]) -> list[str]:
    names = sorted({a.statistic for a in analyses if a.statistic in STATISTICS})
    if not names:
        return []
    entries = [STATISTICS[n] for n in names]
    parts = [say("{statistic} ({source})", statistic=say(e.title), source=say(e.source)) for e in entries]
    found: list[str] = [
        say(
            "Agreement was measured by {statistics}; statistics of two raters are averaged over rater pairs.",
            statistics=listed(parts, "; "),
        )
    ]
    if any(a.statistic == "krippendorff_alpha" and not a.weights for a in analyses):
        found.append(
            say(
                "Krippendorff's alpha has his own difference of the scale's level of measurement; for ordinal scales"
                " that is the distance of mid-ranks, not Gwet's ordinal weights."
            )
        )
    weights = sorted({a.weights or "quadratic" for a in analyses if a.statistic == "gwet_ac2"})
    if weights:
        found.append(say("The weights of Gwet's AC2 are {weights}.", weights=listed([say(w) for w in weights])))
    if "within_one" in names:
        found.append(
            say(
                "Beside agreement within one step stands its chance level, that of two labels drawn from all labels"
                " given."
            )
        )
    return found


def _comparisons(analyses: Sequence[Analysis]) -> list[str]:
    wins = [a for a in analyses if a.statistic in {*WINS, *WORTHS}]
    found: list[str] = []
    if any(a.statistic in WINS and not a.statistic.startswith("win_rate") for a in wins):
        found.append(
            say(
                "Win differences give every rival the same weight, however often it was met; the weights are computed"
                " again in every resample, and ties stay in the denominators."
            )
        )
    if any(a.mode == "valid" for a in wins):
        found.append(
            say(
                "Intervals of people's comparisons are two-way linearised Wald intervals (items and raters); beside"
                " them stand the bootstrap of items, whose p value is from flipping the sides of all comparisons of an"
                " item by a fair coin, and the interval by raters."
            )
        )
    if any(a.mode == "paper" for a in wins):
        found.append(
            say(
                "In paper mode comparisons have percentile intervals by item and flips of single comparisons, which"
                " reject too often where comparisons share items or raters."
            )
        )
    if any(a.consensus == "mean" for a in analyses if a.statistic in PREFERENCE):
        found.append(
            say("A jury's outcome is the mean of its judges' steps, a win beyond {line:g} steps.", line=JURY_LINE)
        )
    return found


def _of_labels(analyses: Sequence[Analysis], table: Long) -> list[Analysis]:
    """Those that are not of comparisons: between two answers there is no majority that a judge is held against."""
    pairs = table.frame.filter(pl.col("system").str.contains(" | ", literal=True)).get_column("criterion").unique()
    return [a for a in analyses if a.statistic not in PREFERENCE and a.criterion not in {*pairs.to_list()}]


def _consensus(analyses: Sequence[Analysis]) -> list[str]:
    found: list[str] = []
    if any((a.against is not None and not averaged(a)) or a.consensus == "majority" for a in analyses):
        found.append(
            say("A majority is strictly more than half of the raters who did not abstain; otherwise it is undefined.")
        )
    breakers = sorted({a.tiebreak for a in analyses if a.tiebreak})
    if breakers:
        found.append(
            say(
                "Where the panel's labels contradicted one another and none had a majority, those of {panels} joined"
                " them in the majority, and nowhere else.",
                panels=listed([repr(name) for name in breakers]),
            )
        )
    if any(a.against == "rest" for a in analyses):
        found.append(say("Leave-one-out agreement compares each rater with the majority of the others."))
    judged = [a for a in analyses if a.against not in {None, "rest"} and not averaged(a)]
    if any(a.mode == "valid" for a in judged):
        found.append(
            say(
                "Judges were scored on the same leave-one-out majorities and slots as the held-out rater, so that a"
                " judge exchangeable with the panel differs by zero on average."
            )
        )
    if any(a.mode == "paper" for a in judged):
        found.append(
            say("In paper mode judges were scored on the majority of the whole panel, which biases the difference.")
        )
    return found


def _intervals(analyses: Sequence[Analysis], rows: Sequence[Row], seed: int, resampling: Resampling) -> list[str]:
    clusters = sorted({"item" if a.cluster == "rater" else a.cluster for a in analyses})
    if not rows or not clusters:
        return []
    found: list[str] = []
    if any("bootstrap" in r.estimate.method for r in rows):
        found.append(
            say(
                "Intervals are {level:g} % BCa bootstrap intervals over {draws:,} resamples of clusters ({clusters}),"
                " seeded by the study's seed {seed}, the same resamples in all analyses of the same clusters; a"
                " linearised cluster interval stands beside each.",
                level=resampling.level * 100,
                draws=resampling.draws,
                clusters=listed([say(c) for c in clusters]),
                seed=seed,
            )
        )
    if any("two-way" in r.estimate.method for r in rows):
        found.append(
            say("Where single ratings are averaged, a two-way interval (items and raters) stands beside them.")
        )
    if any(a.cluster == "rater" for a in analyses):
        found.append(
            say(
                "With raters as clusters the interval is linearised for sums of single ratings and a delete-one-rater"
                " jackknife otherwise."
            )
        )
    if any(r.estimate.method in {"Wilson", "Clopper-Pearson"} for r in rows):
        found.append(say("Shares without clustering have Wilson intervals, Clopper-Pearson at 0 and 1."))
    if any(r.estimate.method.startswith(("Wilson at", "Clopper-Pearson, each")) for r in rows):
        found.append(
            say(
                "Shares whose rarer outcome fewer than {few} clusters hold have Wilson intervals at the sample size"
                " that the clusters are worth.",
                few=FEW_HITS,
            )
        )
    return found


def _tests(analyses: Sequence[Analysis], rows: Sequence[Row]) -> list[str]:
    differences = [r for r in rows if r.kind == "difference"]
    if not differences:
        return []
    found: list[str] = [say("Differences are paired on the same resamples.")]
    tests = {a.name: a.test for a in analyses}
    tested = [r for r in differences if math.isfinite(r.estimate.p)]
    by_t = [r for r in tested if "rater-cluster" in r.estimate.method or "jackknife" in r.estimate.method]
    flipped = [r for r in tested if tests.get(r.analysis) == "flip" and r not in by_t]
    if len(tested) > len(by_t) + len(flipped):
        found.append(say("Two-sided p values of differences invert the bootstrap interval."))
    if flipped:
        names = list(dict.fromkeys(r.analysis for r in flipped))
        found.append(
            say(
                "In {analyses} the p value is from swapping the two groups in whole clusters by fair coins.",
                analyses=listed(names),
            )
        )
    if by_t:
        found.append(say("Where raters are the clusters, p values are from the t distribution."))
    if any(math.isfinite(r.p_adjusted) for r in differences):
        found.append(say("Holm's adjustment is over all prespecified differences."))
    return found


def _family(rows: Sequence[Row]) -> list[str]:
    """How the prespecified win differences are adjusted for one another."""
    members = [r for r in rows if math.isfinite(r.p_max_t)]
    if not members:
        return []
    return [
        say(
            "The {n} prespecified tests of win differences are adjusted for one another in two ways: Holm's adjustment"
            " of the headline's p values, over all prespecified tests; and max-T of the flips, in which all comparisons"
            " of an item change sides by one coin, the same on every criterion, so that their dependence counts.",
            n=len(members),
        )
    ]
