"""The statistics an analysis can name. Only names here: the formulas are in stats and load when they are used."""

from __future__ import annotations

AGREEMENT = (
    "percent_agreement",
    "multirater_percent_agreement",
    "within_one",
    "unanimity",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "light_kappa",
    "scott_pi",
    "fleiss_kappa",
    "conger_kappa",
    "randolph_kappa",
    "brennan_prediger",
    "krippendorff_alpha",
    "gwet_ac1",
    "gwet_ac2_linear",
    "gwet_ac2",
    "icc1",
    "icc2",
    "icc3",
    "icc1k",
    "icc2k",
    "icc3k",
    "icc1_incomplete",
    "kendall_w",
)
"""Agreement among the raters of a panel; their names are those of stats.names."""

COMPLETE = ("icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k", "kendall_w")
"""Those that use only the units that every rater labelled."""

PAIRED = ("spearman", "kendall_tau_b")
"""Association of two raters' labels, averaged over rater pairs."""

OTHER = ("share", "mean", "abstention", "self_agreement")
"""Shares of labels, means of values, abstentions, and agreement of raters with themselves on repeats."""

JUDGING = (
    "abstention_slope",
    "ensembles_percent_agreement",
    "ensembles_cohen_kappa",
    "ensembles_pabak",
    "self_preference",
    "family_preference",
    "risk_coverage",
)
"""What is asked of judges beside a panel: caution, ensembles by majority vote, preference for their own, confidence."""

BLINDING = ("blinding_james", "blinding_bang")
"""Whether raters could tell whose answers they saw: guesses held against the truth."""

INJECTION = ("injection_shift",)
"""How far instructions that are embedded in answers move judges; one row a judge, or one for each kind."""

WINS = ("win_difference", "win_difference_strict", "win_rate", "win_rate_strict", "margin")
"""Who wins comparisons of two answers, and by how much."""

WORTHS = ("davidson", "bradley_terry")
"""Worths of systems by models of paired comparisons."""

PREFERENCE = (*WINS, *WORTHS, "choice_agreement", "choice_kappa", "position_bias", "rank_agreement")
"""The statistics of criteria about a pair of answers."""

LENGTH = "length"
"""In `by` of WINS: whether the system's answer was the longer or the shorter of the two."""

ORDERED = (
    "within_one",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "gwet_ac2_linear",
    "gwet_ac2",
    "icc1",
    "icc2",
    "icc3",
    "icc1k",
    "icc2k",
    "icc3k",
    "icc1_incomplete",
    "kendall_w",
    "spearman",
    "kendall_tau_b",
)
"""The statistics that need labels in an order."""

WEIGHTED = (
    "percent_agreement",
    "multirater_percent_agreement",
    "cohen_kappa",
    "scott_pi",
    "fleiss_kappa",
    "conger_kappa",
    "brennan_prediger",
    "krippendorff_alpha",
    "gwet_ac2",
)
"""The statistics that take weights by name."""

WEIGHTS = ("unweighted", "linear", "quadratic", "ordinal", "radical", "ratio")
"""Weights of partial agreement by name."""

ONE_TABLE = (
    "percent_agreement",
    "within_one",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "pabak",
    "scott_pi",
    "gwet_ac1",
)
"""The statistics of one table of two raters, which can therefore be asked of a rater and a consensus."""

DEGRADATION = (
    "information_sensitivity",
    "monotonicity_violation",
    "diagnostic_potential",
    "label_dependence",
    "stability",
    "reasoning_gap",
)
"""What becomes of a system as cases are told with less and less; one row a system, cases are the clusters."""

ONE_A_SYSTEM = (*DEGRADATION, "accuracy", "illusion_gap", "mismatch", "hallucination")
"""Statistics of cases with a row for each system, whatever `by` says."""

RIGHT_OR_WRONG = tuple(s for s in (*ONE_A_SYSTEM, "crossover") if s not in {"reasoning_gap", "illusion_gap"})
"""Statistics of cases for which an answer is right from the threshold `correct` on."""

AUDIT = ("approval", "strictness")
"""What judges approve of what experts call a failure; one row a judge."""

EFFECTS = ("mann_whitney", "anova", "tukey")
"""Systems compared on the means of their cases; one row an effect or a comparison."""

COMPARISONS = ("crossover", *EFFECTS, "criteria_correlation")
"""Statistics of cases that are comparisons themselves, and no number of a group."""

CASES = (*ONE_A_SYSTEM, *AUDIT, *COMPARISONS)
"""Every statistic of cases in several versions: its clusters are the cases."""

TIMED = ("seconds", "median_seconds", "geometric_seconds")
"""How long people took for what a screen shows."""

PARTS = ("part_whole", "part_variance")
"""What a part of an answer's sentences tells; one row for each number of sentences."""

COSTS = ("reliability", "rater_hours", "budget_reliability")
"""What the time of raters buys, for whole answers and for each number of sentences."""

DESIGNS = (*TIMED, "length_correlation", *PARTS, *COSTS)
"""What is asked where whole answers are rated beside their sentences."""

RATER_PAIR = "rater_pair"
"""In `by`: a group of every two raters, told as raters = 'A and B'."""


def known_statistics() -> tuple[str, ...]:
    """Every statistic that an analysis can ask for."""
    return AGREEMENT + PAIRED + OTHER + JUDGING + BLINDING + INJECTION + PREFERENCE + CASES + DESIGNS
