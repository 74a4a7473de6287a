"""What the statistics are called, what they say in one sentence, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from konsil.report.material.case_words import CASE_WORDS
from konsil.report.material.language import ENGLISH, Language
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.designs.generalizability import BRENNAN
from konsil.stats.designs.subsets import PART_WHOLE
from konsil.stats.engine.ranks import SPEARMAN
from konsil.stats.judges.blinding import BANG, JAMES
from konsil.stats.judges.injections import INJECTION
from konsil.stats.judges.risk import RISK_COVERAGE
from konsil.stats.pairs.bradley_terry_davidson import BRADLEY_TERRY, DAVIDSON
from konsil.stats.pairs.paired_choice_agreement import CHOICE_KAPPA
from konsil.stats.pairs.rank_agreement import KENDALL
from konsil.stats.pairs.wins import DIFFERENCE, MARGIN, WIN_RATE


@dataclass(frozen=True)
class Entry:
    """One statistic in words."""

    title: str
    """Its name in a heading."""
    text: str
    """What it says, in one plain sentence."""
    source: str = ""
    """Where the formula comes from."""
    zero: bool = False
    """Whether 0 means chance or no association, so that a figure marks it."""
    among: bool = False
    """Whether it is about raters and one another, not about labels."""


_WILSON = "Wilson, J Am Stat Assoc 22:209, 1927"
_ENSEMBLES = (
    "Agreement of the majority vote of every odd number of judges with the panel's majority; the best of many is chosen"
    " on the data, and the out-of-bag value says what is left of it on other items."
)
_PREFERENCE = (
    "How much higher a judge scores {} answers than judges of other families do, beside the same for answers of"
    " other families and within what the experts scored alike, peer by peer, so that a merely lenient judge has 0."
)
PLAIN = {
    "share": Entry("Share", "How large a part of the labels are the ones counted, between 0 and 1.", _WILSON),
    "mean": Entry("Mean", "The mean of the labels' numbers."),
    "abstention": Entry(
        "Abstention rate",
        "The share of the ratings in which the rater said that they could not tell, between 0 and 1.",
        _WILSON,
    ),
    "abstention_slope": Entry(
        "Slope of abstention",
        "By how much the abstention rate rises with one step of difficulty; the gap compares it with a panel's.",
        zero=True,
    ),
    "ensembles_percent_agreement": Entry("Ensembles: percent agreement", _ENSEMBLES),
    "ensembles_cohen_kappa": Entry("Ensembles: Cohen's kappa", _ENSEMBLES, zero=True),
    "ensembles_pabak": Entry("Ensembles: PABAK", _ENSEMBLES, zero=True),
    "self_preference": Entry("Self preference", _PREFERENCE.format("its own"), zero=True),
    "family_preference": Entry("Family preference", _PREFERENCE.format("its siblings'"), zero=True),
    "risk_coverage": Entry(
        "Risk against coverage",
        "The area under the curve of disagreement with the panel's majority, from the judge's most confident label on;"
        " the more of it lies below the disagreement in any order, the better confidence tells where the judge errs.",
        RISK_COVERAGE,
    ),
    "blinding_james": Entry(
        "James' blinding index",
        "Whether raters could tell whose answers they saw: 1 if nobody can tell, 0.5 if guesses are right by chance, 0"
        " if all know.",
        JAMES,
    ),
    "blinding_bang": Entry(
        "Bang's blinding index",
        "Right minus wrong guesses among all who saw it, 'cannot tell' included: 0 is chance, 1 is that all know it;"
        " below 0 it is taken for another.",
        BANG,
        zero=True,
    ),
    "injection_shift": Entry(
        "Shift by injected instructions",
        "The proportion of answers to which a judge gives the demanded label when an instruction in the answer asks for"
        " it, minus that of the same answers without the instruction: 0 if instructions do not move the judge.",
        INJECTION,
        zero=True,
    ),
    **{name: Entry(*said) for name, said in CASE_WORDS.items()},
    "win_difference": Entry(
        "Win difference",
        "Wins minus losses of a system in comparisons with the others, from -1 to 1; every rival has the same weight.",
        DIFFERENCE,
        zero=True,
    ),
    "win_difference_strict": Entry(
        "Win difference, strict",
        "The win difference in which the outermost labels alone are wins and everything else is a tie.",
        DIFFERENCE,
        zero=True,
    ),
    "win_rate": Entry(
        "Win rate", "The share of two systems' comparisons that the first won; ties stay in the denominator.", WIN_RATE
    ),
    "win_rate_strict": Entry(
        "Win rate, strict", "The win rate in which the outermost labels alone are wins.", WIN_RATE
    ),
    "margin": Entry(
        "Margin in steps",
        "By how many steps of the scale a system leads the others on average; every rival has the same weight.",
        MARGIN,
        zero=True,
    ),
    "davidson": Entry(
        "Davidson worth",
        "The logarithm of a system's worth in Davidson's model with ties; over the systems they sum to zero.",
        DAVIDSON,
        zero=True,
    ),
    "bradley_terry": Entry(
        "Bradley-Terry worth",
        "The logarithm of a system's worth in Bradley and Terry's model, a tie half for each; they sum to zero.",
        BRADLEY_TERRY,
        zero=True,
    ),
    "choice_agreement": Entry(
        "Agreement of comparisons",
        "How often two raters of the same two answers differ by at most one step; to be read beside its chance level.",
    ),
    "choice_kappa": Entry(
        "Kappa of comparisons",
        "Quadratic kappa of those who compared the same two answers; the sides are balanced.",
        CHOICE_KAPPA,
        zero=True,
    ),
    "position_bias": Entry(
        "Position bias",
        "How much more often the answer shown first wins than loses; 0 if its place makes no difference.",
        zero=True,
    ),
    "rank_agreement": Entry(
        "Agreement of rankings",
        "Kendall's tau-b of the judges' ranking of the systems and the experts'.",
        KENDALL,
        zero=True,
    ),
    "seconds": Entry("Seconds", "The mean time that raters took for what they saw at once, all its screens together."),
    "median_seconds": Entry("Seconds, median", "The time that half of the raters' screens took at most."),
    "geometric_seconds": Entry(
        "Seconds, geometric mean", "The mean time on the scale of ratios, which few very long screens hardly move."
    ),
    "length_correlation": Entry(
        "Correlation with length",
        "How much higher longer answers are rated, as the rank correlation of an answer's mean rating and its words.",
        SPEARMAN,
        zero=True,
    ),
    "part_whole": Entry(
        "Part and whole",
        "How well some of an answer's sentences tell its rating by all of them; to be read beside what overlap alone"
        " gives, since the part is in the whole, and beside the sentences that are not in it.",
        PART_WHOLE,
    ),
    "part_variance": Entry(
        "Variance between raters",
        "How far raters of the same answer lie apart when they rate so many of its sentences, or the whole.",
    ),
    "reliability": Entry(
        "Reliability of the panel's mean",
        "How much of the differences between answers' mean ratings is of the answers, other raters and other sentences"
        " being left to chance.",
        BRENNAN,
    ),
    "rater_hours": Entry(
        "Rater hours for a reliability",
        "How many hours of all raters together 100 answers take until their mean ratings are as reliable as wanted.",
        BRENNAN,
    ),
    "budget_reliability": Entry(
        "Reliability for a budget",
        "The reliability that so many minutes of raters an answer buy: few sentences for more raters, or more sentences"
        " for fewer.",
        BRENNAN,
    ),
    "self_agreement": Entry(
        "Self-agreement", "The share of repeated ratings in which a rater gave the same label as the first time."
    ),
}
"""The statistics that are no agreement among raters."""


def entry(statistic: str, language: Language = ENGLISH) -> Entry:
    """What is known of a statistic, in the report's language; its own name where nothing is."""
    known = STATISTICS.get(statistic)
    if known is not None:
        found = Entry(known.title, known.description, known.source, zero=known.range[0] < 0, among=True)
    else:
        found = PLAIN.get(statistic, Entry(statistic.replace("_", " ").capitalize(), ""))
    title, text = language.statistic(statistic, found.title, found.text)
    return replace(found, title=title, text=text, source=language.gettext(found.source))


def title(statistic: str, language: Language) -> str:
    """The statistic's name in the report's language."""
    return entry(statistic, language).title
