"""Cases in several versions, with less and less of their information."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SHARE, Statistic
from konsil.stats.cases.anova import RANGE, REPEATED
from konsil.stats.cases.degradation import CLEXEVAL
from konsil.stats.cases.effects import COHEN
from konsil.stats.engine.ranks import SPEARMAN
from konsil.stats.judges.strictness import STRICTNESS

CASES = (
    Statistic(
        id="information_sensitivity",
        family="cases",
        group="degradation",
        title="Information scarcity sensitivity (ISS)",
        text=(
            "By how much the share of right answers falls from the whole case to the least of it;"
            " 0.6 is 60 points."
        ),
        definition=(
            "by how much the share of cases answered rightly falls from the first of `levels` to"
            " the last; right is a mean of the panel's labels of at least `correct`. One row a"
            " system, cases are the clusters (CLExEval's ISS, in shares and not in points)"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        marks_zero=True,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
    ),
    Statistic(
        id="monotonicity_violation",
        family="cases",
        group="degradation",
        title="Monotonicity violation rate (MVR)",
        text=(
            "The share of cases answered rightly with less information after a wrong answer with"
            " more of it."
        ),
        definition=(
            "the share of cases with some level right after a fuller one was wrong (MVR), out of"
            ' all cases; with `denominator = "recovered"` out of those right at the last level;'
            " beside it the share of cases *recovered* at each level: right there after a fuller"
            " one was wrong"
        ),
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct", "denominator"}),
    ),
    Statistic(
        id="diagnostic_potential",
        family="cases",
        group="degradation",
        title="Diagnostic potential (MDA)",
        text="The share of cases answered rightly at some level at least.",
        definition="the share of cases right at some level (MDA)",
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
    ),
    Statistic(
        id="label_dependence",
        family="cases",
        group="degradation",
        title="Label dependence (LDF)",
        text=(
            "The share of cases for which removing the diagnosis' name alone turns right into wrong"
            " or wrong into right."
        ),
        definition=(
            "the share of cases for which the first two levels differ, such as the whole text and"
            " that without the diagnosis' name (LDF)"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
    ),
    Statistic(
        id="stability",
        family="cases",
        group="degradation",
        title="Stability",
        text="How many levels in a row, from the whole case on, are answered rightly, on average.",
        definition=(
            "how many levels in a row, from the first on, are right, averaged over cases; CLExEval"
            " prints a stability without its definition, so this is ours"
        ),
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
    ),
    Statistic(
        id="reasoning_gap",
        family="cases",
        group="degradation",
        title="Reasoning gap",
        text="By how much the mean score falls from the whole case to the least of it.",
        definition=(
            "by how much the mean score falls from the first level to the last, of the cases that"
            " have both"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        marks_zero=True,
        row_of="system",
        keys=frozenset({"levels"}),
    ),
    Statistic(
        id="accuracy",
        family="cases",
        group="outcomes",
        title="Accuracy",
        text="The share of answers that the panel's mean score calls right.",
        definition=(
            "the share of answers to which the panel gives `correct` or more on average. One row a"
            ' system; with `by = ["level"]` the curve of its fall'
        ),
        undefined="no answer has a score",
        source=CLEXEVAL,
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
    ),
    Statistic(
        id="illusion_gap",
        family="cases",
        group="outcomes",
        title="Illusion gap",
        text="How much better the answers read than they are true, on average over the answers.",
        definition=(
            "the mean score of the criterion in `criteria`, such as communication, minus that of"
            " the analysis' own, such as diagnostic precision, answer by answer. One row a system"
        ),
        undefined="no answer has both scores",
        source=CLEXEVAL,
        marks_zero=True,
        row_of="system",
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="mismatch",
        family="cases",
        group="outcomes",
        title="Reasoning-to-output mismatch (ROM)",
        text=(
            "The share of failed answers whose reasoning names the diagnosis while the final answer"
            " does not."
        ),
        definition=(
            "the share of failed answers (a mean below `correct`) whose reasoning names the"
            " diagnosis, discarded or not, while the answer does not name it, or rules it out, as"
            " the panel in `against` says of the two `criteria`, by default `reasoning_names` and"
            " `answer_names` (ROM); beside it how often that panel agrees with people who labelled"
            " some by hand"
        ),
        undefined="no failed answer has both labels",
        source=CLEXEVAL,
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
    ),
    Statistic(
        id="hallucination",
        family="cases",
        group="outcomes",
        title="Hallucination rate",
        text="The share of failed answers that name a specific disease that is wrong.",
        definition=(
            "the share of failed answers that name a specific wrong disease: the last label of the"
            " criterion in `criteria`, by the panel in `against` or the same one. CLExEval prints"
            " such a rate without its definition, so this is ours"
        ),
        undefined="no failed answer has the label",
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
    ),
    Statistic(
        id="approval",
        family="cases",
        group="audit",
        title="Approval of failures (HAR)",
        text="The share of the experts' failures that a judge gives a passing score.",
        definition=(
            "the share of the failure set that a judge gives `approve` or more (HAR). The failure"
            " set is every answer and criterion, of `criterion` and `criteria`, to which every"
            " rater of the panel in `against` who rated it gives `failure` or less; with"
            ' `failure_by = "mean"`, as in the paper, those with a mean of `failure` or less, some'
            " of which single experts pass. One row a judge; `by` may name `criterion`, `level` and"
            " `system`"
        ),
        undefined="the judge has no readable judgement of a failure",
        source=CLEXEVAL,
        range=SHARE,
        row_of="rater",
        keys=frozenset({"failure", "failure_by", "approve", "criteria"}),
    ),
    Statistic(
        id="strictness",
        family="cases",
        group="audit",
        title="Separation of failures and successes",
        text=(
            "How often a judge puts a success above a failure, whatever its threshold: 1 separates"
            " all, 0.5 is chance."
        ),
        definition=(
            "how often a judge gives a success of the experts (a mean of at least `correct`) more"
            " than a failure, ties one half; with the curve of false approvals against false"
            " rejections at every threshold"
        ),
        undefined="there are no failures or no successes",
        source=STRICTNESS,
        row_of="rater",
        keys=frozenset({"correct", "failure", "failure_by", "approve", "criteria"}),
    ),
    Statistic(
        id="crossover",
        family="cases",
        group="crossover",
        title="Crossover",
        text=(
            "How far the order of two systems reverses as cases are told with less; above 0 one is"
            " ahead at some level and the other at a later one."
        ),
        definition=(
            "for every two systems by how much their order reverses from one level to a later one:"
            " the largest of min(d_i, -d_j) and min(-d_i, d_j) over levels i before j, d the"
            " difference of the shares answered rightly. Its interval comes from those of all"
            " levels at once, so that it lies above 0 only where the reversal is shown; below it"
            " the difference at each level"
        ),
        undefined="an information level has no case answered by both systems",
        marks_zero=True,
        keys=frozenset({"levels", "correct"}),
    ),
    Statistic(
        id="mann_whitney",
        family="cases",
        group="effects",
        title="Cohen's d",
        text=(
            "How far two systems are apart, in standard deviations; the p value is that of a rank"
            " test."
        ),
        definition=(
            "for every two systems, and each of `criterion` and `criteria`, the mean difference of"
            " their case means over its standard deviation, tested by Wilcoxon's signed ranks;"
            " beside it Cohen's d and Mann and Whitney's U of the case means unpaired. In paper"
            " mode of all scores, as if they were independent"
        ),
        undefined="the case means do not vary",
        source=COHEN,
        marks_zero=True,
        keys=frozenset({"criteria"}),
    ),
    Statistic(
        id="anova",
        family="cases",
        group="effects",
        title="Partial eta squared",
        text="Which part of the variation within cases goes back to the system, the level or both.",
        definition=(
            "partial eta squared of system, level, both, and the level within each system: repeated"
            " measures with F tests corrected by Greenhouse and Geisser; the interval inverts the F"
            " test (Smithson, Educ Psychol Meas 61:605, 2001), because a bootstrap of a number that"
            " is never below 0 never reaches 0. In paper mode a mixed analysis with systems"
            " between, as if they had been given other cases"
        ),
        undefined="fewer than two cases have every cell",
        source=REPEATED,
        keys=frozenset({"levels", "criteria"}),
    ),
    Statistic(
        id="tukey",
        family="cases",
        group="effects",
        title="Tukey's test",
        text="All differences of systems and levels, held against chance together.",
        definition=(
            "the difference of every two cells of system and level with Tukey's simultaneous"
            " intervals, paired by case; in paper mode as if the cells were independent"
        ),
        undefined="fewer than two cases have every cell",
        source=RANGE,
        marks_zero=True,
        keys=frozenset({"levels", "criteria"}),
    ),
    Statistic(
        id="criteria_correlation",
        family="cases",
        group="correlation",
        title="Correlation of criteria",
        text="How alike two criteria order the answers, as Spearman's rho of the panel's means.",
        definition=(
            "Spearman's rho of the panel's mean scores on every two of `criterion` and `criteria`,"
            " over the answers"
        ),
        undefined="a criterion has one score throughout",
        source=SPEARMAN,
        marks_zero=True,
        keys=frozenset({"criteria"}),
    ),
)
