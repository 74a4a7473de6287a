"""What the statistics are called, what they say in one sentence, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

from konsil.report.language import Language


@dataclass(frozen=True)
class Entry:
    """One statistic in words. `title` and `text` are keys of the catalogue, in English."""

    title: str
    """Its name in a heading."""
    text: str
    """What it says, in one plain sentence."""
    source: str = ""
    """Where the formula comes from."""
    zero: bool = False
    """Whether 0 means chance or no association, so that a figure marks it."""


_COHEN = "Cohen J. A coefficient of agreement for nominal scales. Educ Psychol Meas 1960; 20: 37-46."
_COHEN_W = "Cohen J. Weighted kappa. Psychol Bull 1968; 70: 213-220."
_SHROUT = (
    "Shrout PE, Fleiss JL. Intraclass correlations: uses in assessing rater reliability. Psychol Bull 1979; 86: "
    "420-428."
)
_GWET = (
    "Gwet KL. Computing inter-rater reliability and its variance in the presence of high agreement. Br J Math "
    "Stat Psychol 2008; 61: 29-48."
)
_WILSON = (
    "Wilson EB. Probable inference, the law of succession, and statistical inference. J Am Stat Assoc 1927; 22: "
    "209-212."
)

ENTRIES: dict[str, Entry] = {
    "percent_agreement": Entry(
        "Percent agreement",
        (
            "The share of units on which two raters chose the same label, averaged over pairs of raters; chance "
            "is not taken out."
        ),
    ),
    "within_one": Entry(
        "Agreement within one step",
        (
            "The share of units on which two raters' labels are at most one step of the scale apart; chance alone"
            " often gives a high value."
        ),
    ),
    "cohen_kappa": Entry(
        "Cohen's kappa",
        (
            "Agreement of two raters beyond what their own label frequencies would give by chance, averaged over "
            "pairs of raters; 0 is chance, 1 is perfect."
        ),
        _COHEN,
        zero=True,
    ),
    "cohen_kappa_linear": Entry(
        "Cohen's kappa, linear weights",
        ("Cohen's kappa in which a disagreement counts in proportion to its number of steps on the scale."),
        _COHEN_W,
        zero=True,
    ),
    "cohen_kappa_quadratic": Entry(
        "Cohen's kappa, quadratic weights",
        ("Cohen's kappa in which a disagreement counts with the square of its number of steps on the scale."),
        _COHEN_W,
        zero=True,
    ),
    "pabak": Entry(
        "PABAK",
        (
            "Kappa adjusted for prevalence and bias: percent agreement rescaled so that chance among equally "
            "frequent labels is 0."
        ),
        "Byrt T, Bishop J, Carlin JB. Bias, prevalence and kappa. J Clin Epidemiol 1993; 46: 423-429.",
        zero=True,
    ),
    "light_kappa": Entry(
        "Light's kappa",
        "The mean of Cohen's kappa over all pairs of raters.",
        ("Light RJ. Measures of response agreement for qualitative data. Psychol Bull 1971; 76: 365-377."),
        zero=True,
    ),
    "scott_pi": Entry(
        "Scott's pi",
        ("Agreement beyond chance where chance follows from the label frequencies of both raters together."),
        "Scott WA. Reliability of content analysis. Public Opin Q 1955; 19: 321-325.",
        zero=True,
    ),
    "fleiss_kappa": Entry(
        "Fleiss' kappa",
        (
            "Agreement beyond chance among several raters, chance following from the label frequencies of all "
            "raters together."
        ),
        ("Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull 1971; 76: 378-382."),
        zero=True,
    ),
    "conger_kappa": Entry(
        "Conger's kappa",
        ("Agreement beyond chance among several raters, chance following from each rater's own label frequencies."),
        ("Conger AJ. Integration and generalization of kappas for multiple raters. Psychol Bull 1980; 88: 322-328."),
        zero=True,
    ),
    "randolph_kappa": Entry(
        "Randolph's kappa",
        ("Agreement beyond chance among several raters where every declared label is equally likely by chance."),
        ("Randolph JJ. Free-marginal multirater kappa. Joensuu Learning and Instruction Symposium 2005."),
        zero=True,
    ),
    "krippendorff_alpha": Entry(
        "Krippendorff's alpha",
        (
            "One minus the ratio of observed to expected disagreement, for any number of raters and with missing "
            "ratings; 0 is chance, 1 is perfect."
        ),
        "Krippendorff K. Content analysis: an introduction to its methodology. 4th ed. Sage 2019.",
        zero=True,
    ),
    "gwet_ac1": Entry(
        "Gwet's AC1",
        "Agreement beyond chance with a chance term that stays small when one label is very frequent.",
        _GWET,
        zero=True,
    ),
    "gwet_ac2": Entry(
        "Gwet's AC2",
        "AC1 with weights for partial agreement on an ordered scale.",
        _GWET,
        zero=True,
    ),
    "icc1": Entry(
        "ICC(1,1)",
        ("The share of the variance of a single rating that lies between units; each unit has other raters."),
        _SHROUT,
        zero=True,
    ),
    "icc2": Entry(
        "ICC(2,1)",
        (
            "The share of the variance of a single rating that lies between units; raters are a random sample and"
            " their severity counts as error."
        ),
        _SHROUT,
        zero=True,
    ),
    "icc3": Entry(
        "ICC(3,1)",
        (
            "The share of the variance of a single rating that lies between units; raters are fixed and their "
            "severity does not count."
        ),
        _SHROUT,
        zero=True,
    ),
    "icc1k": Entry(
        "ICC(1,k)",
        "As ICC(1,1), for the mean of the raters of a unit.",
        _SHROUT,
        zero=True,
    ),
    "icc2k": Entry(
        "ICC(2,k)",
        "As ICC(2,1), for the mean of the raters of a unit.",
        _SHROUT,
        zero=True,
    ),
    "icc3k": Entry(
        "ICC(3,k)",
        "As ICC(3,1), for the mean of the raters of a unit.",
        _SHROUT,
        zero=True,
    ),
    "kendall_w": Entry(
        "Kendall's W",
        (
            "How far several raters put the units in the same order: 0 is no concordance, 1 is the same order "
            "throughout."
        ),
        "Kendall MG, Babington Smith B. The problem of m rankings. Ann Math Stat 1939; 10: 275-287.",
    ),
    "spearman": Entry(
        "Spearman's rank correlation",
        "How far two raters put the units in the same order, as the correlation of their ranks.",
        ("Spearman C. The proof and measurement of association between two things. Am J Psychol 1904; 15: 72-101."),
        zero=True,
    ),
    "kendall_tau_b": Entry(
        "Kendall's tau-b",
        "Concordant minus discordant pairs of units as a share of the pairs, corrected for ties.",
        "Kendall MG. The treatment of ties in ranking problems. Biometrika 1945; 33: 239-251.",
        zero=True,
    ),
    "share": Entry(
        "Share",
        "How large a part of the labels are the ones named, between 0 and 1.",
        _WILSON,
    ),
    "mean": Entry(
        "Mean",
        "The mean of the labels' numbers.",
    ),
    "abstention": Entry(
        "Abstention rate",
        "The share of the ratings in which the rater said that they could not tell, between 0 and 1.",
        _WILSON,
    ),
    "self_agreement": Entry(
        "Self-agreement",
        "The share of repeated ratings in which a rater chose the same label as the first time.",
    ),
}
"""Every statistic that an analysis can name."""


def entry(statistic: str) -> Entry:
    """What is known of a statistic; its own name where nothing is."""
    return ENTRIES.get(statistic, Entry(statistic.replace("_", " ").capitalize(), ""))


def title(statistic: str, language: Language) -> str:
    """The statistic's name in the report's language."""
    return language.gettext(entry(statistic).title)
