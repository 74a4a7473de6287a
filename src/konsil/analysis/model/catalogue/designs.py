"""Whole answers beside their sentences: times, parts, and what the time of raters buys."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SIGNED, Statistic
from konsil.stats.designs.generalizability import BRENNAN
from konsil.stats.designs.subsets import PART_WHOLE
from konsil.stats.engine.ranks import SPEARMAN

DESIGNS = (
    Statistic(
        id="seconds",
        family="designs",
        group="timed",
        title="Seconds",
        text="The mean time that raters took for what they saw at once, all its screens together.",
        definition=(
            "the mean seconds that raters took for an answer, those of all its sentences' screens"
            " together; the criterion says whose screens, `clock` which seconds"
        ),
        undefined="no screen has a time",
        keys=frozenset({"clock"}),
    ),
    Statistic(
        id="median_seconds",
        family="designs",
        group="timed",
        title="Seconds, median",
        text="The time that half of the raters' screens took at most.",
        definition="the median of the seconds that `seconds` averages",
        undefined="no screen has a time",
        keys=frozenset({"clock"}),
    ),
    Statistic(
        id="geometric_seconds",
        family="designs",
        group="timed",
        title="Seconds, geometric mean",
        text="The mean time on the scale of ratios, which few very long screens hardly move.",
        definition=(
            "the geometric mean of the seconds that `seconds` averages, which few very long screens"
            " hardly move"
        ),
        undefined="no screen has a time",
        keys=frozenset({"clock"}),
    ),
    Statistic(
        id="length_correlation",
        family="designs",
        group="length",
        title="Correlation with length",
        text=(
            "How much higher longer answers are rated, as the rank correlation of an answer's mean"
            " rating and its words."
        ),
        definition=(
            "Spearman's correlation of an answer's mean number over its raters and sentences with"
            " its number of words"
        ),
        undefined="all answers have the same rating or length",
        source=SPEARMAN,
        range=SIGNED,
        marks_zero=True,
    ),
    Statistic(
        id="part_whole",
        family="designs",
        group="parts",
        title="Part and whole",
        text=(
            "How well some of an answer's sentences tell its rating by all of them; to be read"
            " beside what overlap alone gives, since the part is in the whole, and beside the"
            " sentences that are not in it."
        ),
        definition=(
            "Spearman's correlation of the mean over so many of an answer's sentences with the mean"
            " over all, every subset of them counted alike; one row for each number. Beside it what"
            " overlap alone gives (sentences dealt to the answers anew) and the correlation with"
            " the sentences that are not in the part"
        ),
        undefined="all answers have the same mean; against the others also if nothing is left",
        source=PART_WHOLE,
    ),
    Statistic(
        id="part_variance",
        family="designs",
        group="parts",
        title="Variance between raters",
        text=(
            "How far raters of the same answer lie apart when they rate so many of its sentences,"
            " or the whole."
        ),
        definition=(
            "the variance between the raters' means over so many sentences of an answer, averaged"
            " over the subsets and answers, for whole answers too, with the paired differences to"
            " them"
        ),
        undefined="no answer has two raters who rated all its sentences",
    ),
    Statistic(
        id="reliability",
        family="designs",
        group="costs",
        title="Reliability of the panel's mean",
        text=(
            "How much of the differences between answers' mean ratings is of the answers, other"
            " raters and other sentences being left to chance."
        ),
        definition=(
            "the squared correlation of the panel's mean over so many sentences with the answer's"
            " true mean, by variance components of answers, sentences and raters (Brennan 2001; for"
            " whole answers Spearman and Brown's formula of ICC(1,1)), with the differences to"
            " whole answers"
        ),
        undefined="fewer than two answers, or none rated twice",
        source=BRENNAN,
        keys=frozenset({"clock"}),
    ),
    Statistic(
        id="rater_hours",
        family="designs",
        group="costs",
        title="Rater hours for a reliability",
        text=(
            "How many hours of all raters together 100 answers take until their mean ratings are as"
            " reliable as wanted."
        ),
        definition=(
            "the hours of all raters together that 100 answers take to reach the reliability"
            " `target`, whole or by so many sentences; a part of the sentences is taken to need its"
            " share of the time of all"
        ),
        undefined="no number of raters reaches it, or no screen has a time",
        source=BRENNAN,
        keys=frozenset({"clock", "target"}),
    ),
    Statistic(
        id="budget_reliability",
        family="designs",
        group="costs",
        title="Reliability for a budget",
        text=(
            "The reliability that so many minutes of raters an answer buy: few sentences for more"
            " raters, or more sentences for fewer."
        ),
        definition=(
            "the reliability that each of `minutes` of raters an answer buys, whole or by so many"
            " sentences, with the share of the joint resamples in which it is the best; the raters"
            " of an answer need be no whole number"
        ),
        undefined="the minutes do not pay one rater",
        source=BRENNAN,
        keys=frozenset({"clock", "minutes"}),
    ),
)
