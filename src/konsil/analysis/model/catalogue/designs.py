"""Whole answers beside their sentences: times, parts, and what the time of raters buys."""

from __future__ import annotations

from konsil.analysis.model.catalogue.design_needs import OF_AGREEMENT
from konsil.analysis.model.catalogue.entry import AT_MOST_1, NOT_NEGATIVE, SIGNED, Statistic
from konsil.analysis.model.catalogue.limits import (
    NO_LENGTH,
    ONLY_MEANS,
    Limits,
    Need,
    Refusal,
)
from konsil.analysis.model.catalogue.zeros import NO_ASSOCIATION
from konsil.stats.designs.generalizability import BRENNAN
from konsil.stats.designs.subsets import PART_WHOLE
from konsil.stats.engine.ranks import SPEARMAN

_DESIGNS = Limits(
    (
        ONLY_MEANS,
        NO_LENGTH,
        Refusal("against"),
        Refusal(
            "spans",
            reason="{statistic!r} uses single sentences; expected 'each', got {value!r}",
        ),
        Refusal("consensus"),
    )
)
_ITEMS_ALONE = Limits(
    (
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} does not support this option; expected 'item' or 'case'",
        ),
    )
)
_TIMED = _DESIGNS + Limits(
    (
        Refusal(
            "by",
            values=("answers", "span", "task", "item", "case"),
            reason=(
                "{value!r} identifies the timed task; expected a column such as 'instrument' or"
                " 'rater'"
            ),
        ),
    )
)
_MEDIAN = _TIMED + Limits(
    (
        Refusal(
            "cluster",
            values=("rater",),
            reason=(
                "{statistic!r} is not a mean over single tasks; with raters as clusters use"
                " 'geometric_seconds'"
            ),
        ),
    )
)
_LENGTH = _DESIGNS + _ITEMS_ALONE
_PARTS = (
    _DESIGNS
    + _ITEMS_ALONE
    + Limits(
        (
            Refusal(
                "by",
                values=("instrument", "design", "span"),
                reason=(
                    "{statistic!r} already has a row for whole answers and for each number of"
                    " sentences"
                ),
            ),
            Refusal(
                "compare",
                reason="{statistic!r} already reports the differences from whole answers",
            ),
        )
    )
)
_BUDGET = _PARTS + Limits(
    needs=(
        Need(
            "minutes",
            "is empty; expected minutes of rating time per answer, such as [2, 5, 10]",
        ),
    )
)

DESIGNS = (
    Statistic(
        id="seconds",
        range=NOT_NEGATIVE,
        family="designs",
        group="timed",
        title="Mean rating time (s)",
        text="Mean time that raters took for an answer, over all of its pages.",
        definition=(
            "the mean seconds that raters took for an answer, over the pages of all its "
            "sentences; the criterion determines whose pages, `clock` which seconds"
        ),
        undefined="no page has a time",
        keys=frozenset({"clock"}),
        has_own_panel=True,
        limits=_TIMED,
        columns=("seconds",),
        unit="seconds",
    ),
    Statistic(
        id="median_seconds",
        range=NOT_NEGATIVE,
        family="designs",
        group="timed",
        title="Median rating time (s)",
        text="Median time that raters took for an answer.",
        definition="the median of the seconds that `seconds` averages",
        undefined="no page has a time",
        keys=frozenset({"clock"}),
        has_own_panel=True,
        limits=_MEDIAN,
        columns=("seconds",),
        unit="seconds",
    ),
    Statistic(
        id="geometric_seconds",
        range=NOT_NEGATIVE,
        family="designs",
        group="timed",
        title="Geometric mean rating time (s)",
        text=(
            "Geometric mean of the time that raters took for an answer; single very long "
            "times have little influence."
        ),
        definition=(
            "the geometric mean of the seconds that `seconds` averages; single very long "
            "times have little influence"
        ),
        undefined="no page has a time",
        keys=frozenset({"clock"}),
        has_own_panel=True,
        limits=_TIMED,
        columns=("seconds",),
        unit="seconds",
    ),
    Statistic(
        id="standardised_seconds",
        family="designs",
        group="timed",
        title="Mean rating time (SD)",
        text=(
            "Mean time that raters took for an answer, in standard deviations within groups; "
            "differences are Cohen's d."
        ),
        definition=(
            "the mean of `seconds` divided by its standard deviation within the groups of `by`, "
            "pooled over them, so that a difference is Cohen's d of the single times; the "
            "interval takes this standard deviation as known"
        ),
        undefined="no page has a time",
        keys=frozenset({"clock"}),
        has_own_panel=True,
        limits=_TIMED,
        columns=("seconds",),
        unit="number",
    ),
    Statistic(
        id="length_correlation",
        family="designs",
        group="length",
        title="Correlation with answer length",
        text=("Spearman's rank correlation of an answer's mean rating with its number of words."),
        definition=(
            "Spearman's rank correlation of an answer's mean rating, over its raters and "
            "sentences, with its number of words"
        ),
        undefined="all answers have the same rating or length",
        source=SPEARMAN,
        range=SIGNED,
        zero=NO_ASSOCIATION,
        has_own_panel=True,
        limits=_LENGTH,
        label_numbers="always",
        unit="number",
    ),
    Statistic(
        id="part_whole",
        range=SIGNED,
        questions=("recommendation", "level"),
        family="designs",
        group="parts",
        better="higher",
        title="Part–whole correlation",
        text=(
            "Correlation of the mean rating of some of an answer's sentences with that of "
            "all its sentences; compare it with the correlation expected from the overlap "
            "alone and with the correlation with the remaining sentences."
        ),
        definition=(
            "Spearman's rank correlation of the mean over n of an answer's sentences with "
            "the mean over all, averaged over all subsets; one row for each number. Also "
            "reported: the correlation expected from the overlap alone (sentences permuted "
            "among the answers) and the correlation with the remaining sentences"
        ),
        undefined=(
            "all answers have the same mean; for the remaining sentences also if there are none"
        ),
        source=PART_WHOLE,
        has_own_panel=True,
        limits=_PARTS,
        margin="rows",
        label_numbers="always",
        unit="number",
    ),
    Statistic(
        id="part_variance",
        range=NOT_NEGATIVE,
        design=OF_AGREEMENT,
        questions=("recommendation", "level"),
        family="designs",
        group="parts",
        better="lower",
        title="Between-rater variance",
        text=(
            "Variance between raters of the same answer, when they rate a given number of "
            "its sentences or the whole answer."
        ),
        definition=(
            "the variance between the raters' means over n sentences of an answer, averaged"
            " over the subsets and answers, also for whole answers, with the paired "
            "differences from them"
        ),
        undefined="no answer has two raters who rated all its sentences",
        has_own_panel=True,
        limits=_PARTS,
        margin="rows",
        label_numbers="always",
        unit="number",
    ),
    Statistic(
        id="reliability",
        range=AT_MOST_1,
        design=OF_AGREEMENT,
        questions=("level", "agreement", "recommendation"),
        family="designs",
        group="costs",
        better="higher",
        title="Reliability of the panel mean",
        text=(
            "Proportion of the variance in mean ratings that is due to differences between "
            "answers, generalising to other raters and other sentences."
        ),
        definition=(
            "the squared correlation of the panel mean over n sentences with the answer's "
            "true mean, by variance components of answers, sentences and raters (Brennan "
            "2001; for whole answers the Spearman-Brown formula of ICC(1,1)), with the "
            "differences from whole answers"
        ),
        undefined="fewer than two answers, or none rated twice",
        source=BRENNAN,
        keys=frozenset({"clock"}),
        has_own_panel=True,
        limits=_PARTS,
        columns=("seconds",),
        margin="rows",
        label_numbers="always",
        unit="number",
    ),
    Statistic(
        id="rater_hours",
        range=NOT_NEGATIVE,
        design=OF_AGREEMENT,
        questions=("recommendation", "level"),
        family="designs",
        group="costs",
        better="lower",
        title="Rater-hours for a target reliability",
        text=(
            "Total rating time in hours, over all raters, that 100 answers need for a "
            "target reliability of their mean ratings."
        ),
        definition=(
            "the total rating time in hours that 100 answers need to reach the reliability "
            "`target`, as whole answers or by n sentences; the time for some of the "
            "sentences is taken as their proportion of the time for all"
        ),
        undefined="no number of raters reaches it, or no page has a time",
        source=BRENNAN,
        keys=frozenset({"clock", "target"}),
        has_own_panel=True,
        limits=_PARTS,
        columns=("seconds",),
        margin="rows",
        label_numbers="always",
        unit="hours",
    ),
    Statistic(
        id="budget_reliability",
        range=AT_MOST_1,
        design=OF_AGREEMENT,
        questions=("recommendation", "level"),
        family="designs",
        group="costs",
        title="Reliability at a given rating time",
        text=(
            "Reliability of the mean ratings that a given total rating time for each answer"
            " allows: few sentences and more raters, or more sentences and fewer raters."
        ),
        definition=(
            "the reliability that each of `minutes` of total rating time for an answer "
            "allows, as whole answers or by n sentences, with the proportion of the joint "
            "resamples in which it ranks first; the number of raters of an answer need not "
            "be whole"
        ),
        undefined="the minutes do not suffice for one rater",
        source=BRENNAN,
        keys=frozenset({"clock", "minutes"}),
        has_own_panel=True,
        limits=_BUDGET,
        columns=("seconds",),
        label_numbers="always",
        unit="number",
    ),
)
