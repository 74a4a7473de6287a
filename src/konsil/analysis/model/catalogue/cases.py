"""Cases in several versions, with less and less of their information.

The module is long because it is one table: an entry for each statistic, read side by side.
"""

from __future__ import annotations

from konsil.analysis.model.catalogue.design_needs import TWO_SYSTEMS
from konsil.analysis.model.catalogue.entry import (
    NOT_NEGATIVE,
    SHARE,
    SIGNED,
    Criteria,
    Statistic,
)
from konsil.analysis.model.catalogue.limits import LIMITS, Limits, Need, Refusal
from konsil.analysis.model.catalogue.zeros import (
    NO_ASSOCIATION,
    NO_CHANGE,
    NO_DIFFERENCE,
    NO_REVERSAL,
)
from konsil.errors.message import message
from konsil.stats.cases.anova import RANGE, REPEATED
from konsil.stats.cases.degradation import CLEXEVAL
from konsil.stats.cases.effects import COHEN
from konsil.stats.engine.ranks import SPEARMAN
from konsil.stats.judges.strictness import STRICTNESS

_CASES = LIMITS + Limits(
    (
        Refusal(
            "cluster",
            values=("rater",),
            reason="{statistic!r} resamples cases; expected 'case'",
        ),
    )
)
_NO_PANEL = Limits((Refusal("against"),))
_LEVELS = (
    _CASES
    + _NO_PANEL
    + Limits(
        (
            Refusal(
                "by",
                values=("level",),
                reason="{statistic!r} uses all levels jointly and cannot be grouped by 'level'",
                is_whole=True,
            ),
        )
    )
)
_A_COMPARISON = Limits(
    (Refusal("compare", reason="{statistic!r} is already a comparison; leave compare out"),)
)
_NOT_BY_SYSTEM = Limits(
    (Refusal("by", values=("system",), reason="{statistic!r} already compares the systems"),)
)
_REVERSAL = _LEVELS + _A_COMPARISON + _NOT_BY_SYSTEM
_EFFECTS = _CASES + _NO_PANEL + _A_COMPARISON + _NOT_BY_SYSTEM
_EFFECT_ROWS = _EFFECTS + Limits(
    (
        Refusal(
            "by",
            allowed=("system",),
            reason=(
                "{statistic!r} has a row for every effect or comparison; other groups are not"
                " supported"
            ),
        ),
    )
)
_CORRELATION = (
    _CASES
    + _NO_PANEL
    + _A_COMPARISON
    + Limits(needs=(Need("criteria", "is empty; a correlation needs a second criterion"),))
)
_MISMATCH = _CASES + Limits(
    needs=(
        Need(
            "against",
            "a mismatch needs the panel that rates what the reasoning and the answer name;"
            " state the panel",
        ),
    )
)
_AUDIT = _CASES + Limits(
    needs=(
        Need("against", "{statistic!r} compares judges with a panel of experts; state the panel"),
    )
)
CASES = (
    Statistic(
        id="information_sensitivity",
        range=SIGNED,
        questions=("change", "level"),
        family="cases",
        group="degradation",
        title="Information scarcity sensitivity (ISS)",
        text=(
            "Decrease in the proportion of correct answers from full to least information; "
            "0.6 is 60 percentage points."
        ),
        definition=(
            "the decrease in the proportion of correctly answered cases from the first of "
            "`levels` to the last; an answer is correct if the panel's mean is at least "
            "`correct`. One row a system, cases are the clusters (CLExEval's ISS, as a "
            "proportion and not in points)"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        zero=NO_CHANGE,
        above_zero=message(
            "Above 0: fewer correct answers with less information; below 0: more.",
            message_id="above_zero.information_sensitivity",
        ),
        row_of="system",
        keys=frozenset({"levels", "correct"}),
        has_own_panel=True,
        limits=_LEVELS,
        unit="points",
    ),
    Statistic(
        id="monotonicity_violation",
        range=SHARE,
        questions=("change", "level"),
        family="cases",
        group="degradation",
        better="lower",
        title="Monotonicity violation rate (MVR)",
        text=(
            "Proportion of cases answered correctly with less information after an "
            "incorrect answer with more."
        ),
        definition=(
            "the proportion of cases with a correct answer at some level after an incorrect"
            " one with more information (MVR), out of all cases; with `denominator = "
            '"recovered"` out of those correct at the last level. Also reported: the '
            "proportion of cases *recovered* at each level, that is correct there after an "
            "incorrect answer with more information"
        ),
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct", "denominator"}),
        has_own_panel=True,
        limits=_LEVELS,
        unit="percent",
    ),
    Statistic(
        id="diagnostic_potential",
        range=SHARE,
        questions=("change", "level"),
        family="cases",
        group="degradation",
        title="Diagnostic potential (MDA)",
        text="Proportion of cases answered correctly at one information level or more.",
        definition="the proportion of cases answered correctly at one level or more (MDA)",
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
        has_own_panel=True,
        limits=_LEVELS,
        margin="rows",
        unit="percent",
    ),
    Statistic(
        id="label_dependence",
        range=SHARE,
        questions=("change", "level"),
        family="cases",
        group="degradation",
        title="Label dependence (LDF)",
        text=(
            "Proportion of cases in which removing only the name of the diagnosis changes a"
            " correct answer to an incorrect one or the reverse."
        ),
        definition=(
            "the proportion of cases in which the answers at the first two levels differ in"
            " correctness, such as the full text and that without the diagnosis' name (LDF)"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
        has_own_panel=True,
        limits=_LEVELS,
        unit="percent",
    ),
    Statistic(
        id="stability",
        range=NOT_NEGATIVE,
        questions=("change", "level"),
        family="cases",
        group="degradation",
        better="higher",
        title="Stability",
        text=(
            "Mean number of consecutive information levels, from full information on, that "
            "are answered correctly."
        ),
        definition=(
            "the mean number of consecutive levels, from the first on, that are answered "
            "correctly; CLExEval prints a stability without its definition, so this one is "
            "konsil's"
        ),
        undefined="every case lacks a level",
        source=CLEXEVAL,
        row_of="system",
        keys=frozenset({"levels", "correct"}),
        has_own_panel=True,
        limits=_LEVELS,
        unit="number",
    ),
    Statistic(
        id="reasoning_gap",
        questions=("change", "level"),
        family="cases",
        group="degradation",
        title="Reasoning gap",
        text="Decrease in the mean score from full to least information.",
        definition=(
            "the decrease in the mean score from the first level to the last, of the cases "
            "that have both"
        ),
        undefined="no case has both levels",
        source=CLEXEVAL,
        zero=NO_CHANGE,
        above_zero=message(
            "Above 0: lower scores with less information; below 0: higher.",
            message_id="above_zero.reasoning_gap",
        ),
        row_of="system",
        keys=frozenset({"levels"}),
        has_own_panel=True,
        limits=_LEVELS,
        unit="number",
    ),
    Statistic(
        id="accuracy",
        family="cases",
        group="outcomes",
        better="higher",
        title="Accuracy",
        text="Proportion of answers that are correct by the panel's mean score.",
        definition=(
            "the proportion of answers with a panel mean of at least `correct`. One row a "
            'system; with `by = ["level"]` one for each level'
        ),
        undefined="no answer has a score",
        source=CLEXEVAL,
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
        has_own_panel=True,
        limits=_CASES + _NO_PANEL,
        unit="percent",
    ),
    Statistic(
        id="illusion_gap",
        questions=("difference", "level"),
        family="cases",
        group="outcomes",
        title="Illusion gap",
        text=(
            "Mean score for communication minus mean score for correctness, over the "
            "answers: how much better answers read than they are."
        ),
        definition=(
            "the mean score of the criterion in `criteria`, such as communication, minus that of"
            " the analysis' own, such as diagnostic precision, answer by answer. One row a system"
        ),
        undefined="no answer has both scores",
        source=CLEXEVAL,
        zero=NO_DIFFERENCE,
        above_zero=message(
            "Above 0: answers read better than they are.",
            message_id="above_zero.illusion_gap",
        ),
        row_of="system",
        keys=frozenset({"criteria"}),
        has_own_panel=True,
        limits=_CASES + _NO_PANEL,
        criteria=Criteria(1, "the criterion for the readability of an answer"),
        unit="number",
    ),
    Statistic(
        id="mismatch",
        family="cases",
        group="outcomes",
        better="lower",
        title="Reasoning-to-output mismatch (ROM)",
        text=(
            "Proportion of incorrect answers whose reasoning names the diagnosis while the "
            "final answer does not."
        ),
        definition=(
            "the proportion of incorrect answers (a mean below `correct`) whose reasoning "
            "names the diagnosis, discarded or not, while the answer does not name it, or "
            "rules it out, according to the panel in `against` on the two `criteria`, by "
            "default `reasoning_names` and `answer_names` (ROM). Also reported: that "
            "panel's agreement with raters who labelled a sample by hand"
        ),
        undefined="no incorrect answer has both labels",
        source=CLEXEVAL,
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
        has_own_panel=True,
        limits=_MISMATCH,
        criteria=Criteria(
            2,
            (
                "the criterion for the diagnosis in the reasoning, then the one for the"
                " diagnosis in the answer"
            ),
            has_default=True,
        ),
        unit="percent",
    ),
    Statistic(
        id="hallucination",
        family="cases",
        group="outcomes",
        better="lower",
        title="Hallucination rate",
        text="Proportion of incorrect answers that name a specific incorrect disease.",
        definition=(
            "the proportion of incorrect answers that name a specific incorrect disease: "
            "the last label of the criterion in `criteria`, by the panel in `against` or "
            "the same one. CLExEval prints such a rate without its definition, so this one "
            "is konsil's"
        ),
        undefined="no incorrect answer has the label",
        range=SHARE,
        row_of="system",
        keys=frozenset({"correct", "criteria"}),
        has_own_panel=True,
        limits=_CASES,
        criteria=Criteria(1, "the criterion for naming an incorrect disease"),
        unit="percent",
    ),
    Statistic(
        id="approval",
        questions=("judge_against_people", "level"),
        family="cases",
        group="audit",
        better="lower",
        title="Hallucination approval rate (HAR)",
        text="Proportion of expert-rated failures to which a judge gives a passing score.",
        definition=(
            "the proportion of the failure set to which a judge gives `approve` or more "
            "(HAR). The failure set is every answer and criterion, of `criterion` and "
            "`criteria`, to which every rater of the panel in `against` who rated it gives "
            '`failure` or less; with `failure_by = "mean"`, as in the paper, those with a '
            "mean of `failure` or less, some of which single experts pass. One row a judge;"
            " `by` may name `criterion`, `level` and `system`"
        ),
        undefined="the judge has no valid rating of a failure",
        source=CLEXEVAL,
        range=SHARE,
        row_of="rater",
        keys=frozenset({"failure", "failure_by", "approve", "criteria"}),
        has_own_panel=True,
        limits=_AUDIT,
        bounds="audit",
        unit="percent",
    ),
    Statistic(
        id="strictness",
        range=SHARE,
        questions=("judge_against_people", "level"),
        family="cases",
        group="audit",
        title="Discrimination (AUC)",
        text=(
            "Probability that a judge scores an expert-rated success above an expert-rated "
            "failure, ties as one half: 1 is perfect discrimination, 0.5 is chance level."
        ),
        definition=(
            "the probability that a judge gives a success of the experts (a mean of at "
            "least `correct`) a higher score than a failure, ties as one half (area under "
            "the ROC curve); with the curve of false approvals against false rejections at "
            "every threshold"
        ),
        undefined="there are no failures or no successes",
        source=STRICTNESS,
        row_of="rater",
        keys=frozenset({"correct", "failure", "failure_by", "approve", "criteria"}),
        has_own_panel=True,
        limits=_AUDIT,
        unit="number",
    ),
    Statistic(
        id="crossover",
        design=(TWO_SYSTEMS,),
        questions=("change", "difference"),
        family="cases",
        group="crossover",
        title="Rank reversal",
        text=(
            "Extent to which the order of two systems reverses as information is masked; "
            "above 0, one system leads at one information level and the other at a later "
            "one."
        ),
        definition=(
            "for every two systems the extent to which their order reverses from one level "
            "to a later one: the largest of min(d_i, -d_j) and min(-d_i, d_j) over levels i"
            " before j, d the difference in the proportions answered correctly. Its CI is "
            "from simultaneous CIs of all levels, so that it lies above 0 only where the "
            "reversal is shown; the difference at each level is also reported"
        ),
        undefined="an information level has no case answered by both systems",
        zero=NO_REVERSAL,
        above_zero=message(
            "Above 0: the system that leads is not the same at all information levels.",
            message_id="above_zero.crossover",
        ),
        keys=frozenset({"levels", "correct"}),
        has_own_panel=True,
        limits=_REVERSAL,
        margin="rows",
        unit="points",
    ),
    Statistic(
        id="mann_whitney",
        design=(TWO_SYSTEMS,),
        questions=("difference",),
        family="cases",
        group="effects",
        title="Standardised mean difference",
        text=(
            "Difference of two systems in standard deviations (of paired differences, d_z, "
            "where systems answered the same cases)."
        ),
        definition=(
            "for every two systems, and each of `criterion` and `criteria`, the mean "
            "difference of their case means divided by its standard deviation (d_z), with CI"
            " and p value of one procedure; Wilcoxon's signed-rank test, and Cohen's d and "
            "the Mann-Whitney U of the unpaired case means, are also reported. In paper mode "
            "of all single scores (of a composite, those of its criteria together), treated "
            "as independent"
        ),
        undefined="the case means do not vary",
        source=COHEN,
        zero=NO_DIFFERENCE,
        keys=frozenset({"criteria"}),
        has_own_panel=True,
        limits=_EFFECTS,
        margin="rows",
        as_published="all scores count as independent",
        unit="number",
    ),
    Statistic(
        id="anova",
        questions=("difference",),
        family="cases",
        group="effects",
        title="Partial eta squared",
        text=(
            "Proportion of the variance within cases that is explained by system, "
            "information level or their interaction."
        ),
        definition=(
            "partial eta squared of system, level, their interaction, and the level within "
            "each system: repeated measures with Greenhouse-Geisser-corrected F tests; the "
            "CI inverts the F test (Smithson, Educ Psychol Meas 61:605, 2001), because a "
            "bootstrap of a number that is never below 0 never reaches 0. In paper mode a "
            "mixed analysis with systems as between-subject factor, as if they had answered"
            " different cases"
        ),
        undefined="fewer than two cases have every cell",
        source=REPEATED,
        keys=frozenset({"levels", "criteria"}),
        has_own_panel=True,
        limits=_EFFECT_ROWS,
        as_published=(
            "systems are a between-subject factor, as if they had answered different cases"
        ),
        unit="number",
    ),
    Statistic(
        id="tukey",
        design=(TWO_SYSTEMS,),
        questions=("difference",),
        family="cases",
        group="effects",
        title="Pairwise mean differences (Tukey)",
        text=(
            "Differences between all pairs of systems and information levels, adjusted "
            "together for multiple testing."
        ),
        definition=(
            "the difference of every two cells of system and level with Tukey's "
            "simultaneous CIs, paired by case; in paper mode as if the cells were "
            "independent"
        ),
        undefined="fewer than two cases have every cell",
        source=RANGE,
        zero=NO_DIFFERENCE,
        keys=frozenset({"levels", "criteria"}),
        has_own_panel=True,
        limits=_EFFECT_ROWS,
        margin="rows",
        as_published="the cells count as independent",
        unit="number",
    ),
    Statistic(
        id="criteria_correlation",
        range=SIGNED,
        family="cases",
        group="correlation",
        title="Correlation between criteria (Spearman)",
        text=(
            "Spearman's rank correlation of the panel's mean scores on two criteria, over "
            "the answers."
        ),
        definition=(
            "Spearman's rank correlation of the panel's mean scores on every two of "
            "`criterion` and `criteria`, over the answers"
        ),
        undefined="all scores of a criterion are the same",
        source=SPEARMAN,
        zero=NO_ASSOCIATION,
        keys=frozenset({"criteria"}),
        has_own_panel=True,
        limits=_CORRELATION,
        unit="number",
    ),
)
