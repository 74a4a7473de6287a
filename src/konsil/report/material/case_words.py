"""What the statistics of cases in several versions are called and say: title, one sentence, source, marks zero."""

from __future__ import annotations

from konsil.stats.cases.anova import RANGE, REPEATED
from konsil.stats.cases.degradation import CLEXEVAL
from konsil.stats.cases.effects import COHEN
from konsil.stats.engine.ranks import SPEARMAN
from konsil.stats.judges.strictness import STRICTNESS

Words = tuple[str, str, str, bool]

CASE_WORDS: dict[str, Words] = {
    "information_sensitivity": (
        "Information scarcity sensitivity (ISS)",
        "By how much the share of right answers falls from the whole case to the least of it; 0.6 is 60 points.",
        CLEXEVAL,
        True,
    ),
    "monotonicity_violation": (
        "Monotonicity violation rate (MVR)",
        "The share of cases answered rightly with less information after a wrong answer with more of it.",
        CLEXEVAL,
        False,
    ),
    "diagnostic_potential": (
        "Diagnostic potential (MDA)",
        "The share of cases answered rightly at some level at least.",
        CLEXEVAL,
        False,
    ),
    "label_dependence": (
        "Label dependence (LDF)",
        "The share of cases for which removing the diagnosis' name alone turns right into wrong or wrong into right.",
        CLEXEVAL,
        False,
    ),
    "stability": (
        "Stability",
        "How many levels in a row, from the whole case on, are answered rightly, on average.",
        CLEXEVAL,
        False,
    ),
    "reasoning_gap": (
        "Reasoning gap",
        "By how much the mean score falls from the whole case to the least of it.",
        CLEXEVAL,
        True,
    ),
    "accuracy": (
        "Accuracy",
        "The share of answers that the panel's mean score calls right.",
        CLEXEVAL,
        False,
    ),
    "illusion_gap": (
        "Illusion gap",
        "How much better the answers read than they are true, on average over the answers.",
        CLEXEVAL,
        True,
    ),
    "crossover": (
        "Crossover",
        "How far the order of two systems reverses as cases are told with less; above 0 one is ahead at some"
        " level and the other at a later one.",
        "",
        True,
    ),
    "mismatch": (
        "Reasoning-to-output mismatch (ROM)",
        "The share of failed answers whose reasoning names the diagnosis while the final answer does not.",
        CLEXEVAL,
        False,
    ),
    "hallucination": (
        "Hallucination rate",
        "The share of failed answers that name a specific disease that is wrong.",
        "",
        False,
    ),
    "approval": (
        "Approval of failures (HAR)",
        "The share of the experts' failures that a judge gives a passing score.",
        CLEXEVAL,
        False,
    ),
    "strictness": (
        "Separation of failures and successes",
        "How often a judge puts a success above a failure, whatever its threshold: 1 separates all, 0.5 is chance.",
        STRICTNESS,
        False,
    ),
    "mann_whitney": (
        "Cohen's d",
        "How far two systems are apart, in standard deviations; the p value is that of a rank test.",
        COHEN,
        True,
    ),
    "anova": (
        "Partial eta squared",
        "Which part of the variation within cases goes back to the system, the level or both.",
        REPEATED,
        False,
    ),
    "tukey": (
        "Tukey's test",
        "All differences of systems and levels, held against chance together.",
        RANGE,
        True,
    ),
    "criteria_correlation": (
        "Correlation of criteria",
        "How alike two criteria order the answers, as Spearman's rho of the panel's means.",
        SPEARMAN,
        True,
    ),
}
"""Name -> title, one plain sentence, where the formula comes from, whether 0 means no difference."""
