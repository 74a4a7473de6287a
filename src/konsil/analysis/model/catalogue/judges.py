"""Statistics of judges: abstention, ensembles, preference, confidence, blinding."""

from __future__ import annotations

from konsil.analysis.model.catalogue.entry import SHARE, SIGNED, Statistic
from konsil.stats.judges.blinding import BANG, JAMES
from konsil.stats.judges.injections import INJECTION
from konsil.stats.judges.risk import RISK_COVERAGE

JUDGES = (
    Statistic(
        id="abstention_slope",
        family="judges",
        group="caution",
        title="Slope of abstention",
        text=(
            "By how much the abstention rate rises with one step of difficulty; the gap compares it"
            " with a panel's."
        ),
        definition=(
            "by how much the abstention rate rises with one step of the `covariate`, a derived"
            " column such as difficulty; with `against` the paired gap to that panel"
        ),
        undefined="the covariate does not vary",
        marks_zero=True,
        keys=frozenset({"covariate"}),
    ),
    Statistic(
        id="ensembles_percent_agreement",
        family="judges",
        group="ensembles",
        title="Ensembles: percent agreement",
        text=(
            "Agreement of the majority vote of every odd number of judges with the panel's"
            " majority; the best of many is chosen on the data, and the out-of-bag value says what"
            " is left of it on other items."
        ),
        definition=(
            "percent agreement of every odd-sized ensemble of judges, by majority vote, with the"
            " majority of the panel in `against`; with the out-of-bag value of the best"
        ),
        undefined="an ensemble has no majority anywhere",
        range=SHARE,
        keys=frozenset({"coverage", "ensemble_units"}),
    ),
    Statistic(
        id="ensembles_cohen_kappa",
        family="judges",
        group="ensembles",
        title="Ensembles: Cohen's kappa",
        text=(
            "Agreement of the majority vote of every odd number of judges with the panel's"
            " majority; the best of many is chosen on the data, and the out-of-bag value says what"
            " is left of it on other items."
        ),
        definition="Cohen's kappa of the same ensembles as in `ensembles_percent_agreement`",
        undefined="an ensemble has no majority anywhere, or all labels are the same",
        range=SIGNED,
        marks_zero=True,
        keys=frozenset({"coverage", "ensemble_units"}),
    ),
    Statistic(
        id="ensembles_pabak",
        family="judges",
        group="ensembles",
        title="Ensembles: PABAK",
        text=(
            "Agreement of the majority vote of every odd number of judges with the panel's"
            " majority; the best of many is chosen on the data, and the out-of-bag value says what"
            " is left of it on other items."
        ),
        definition="PABAK of the same ensembles as in `ensembles_percent_agreement`",
        undefined="an ensemble has no majority anywhere",
        range=SIGNED,
        marks_zero=True,
        keys=frozenset({"coverage", "ensemble_units"}),
    ),
    Statistic(
        id="self_preference",
        family="judges",
        group="own",
        title="Self preference",
        text=(
            "How much higher a judge scores its own answers than judges of other families do,"
            " beside the same for answers of other families and within what the experts scored"
            " alike, peer by peer, so that a merely lenient judge has 0."
        ),
        definition=(
            "a judge's advantage for its own answers over each judge of another family, beside its"
            " advantage for the answers of other families, peer by peer and within the experts'"
            " mean score (to the nearest half step of the scale; the majority where labels have no"
            " order). A peer never counts on what it, or a model of its family, wrote, nor without"
            " answers of both kinds. The row says how many own answers are used; one without a"
            " comparable answer of another family is excluded. In paper mode the plain advantage,"
            " which leniency alone gives too"
        ),
        undefined=(
            "the judge has no answers of its own, nobody is of another family, or no own answer is"
            " comparable"
        ),
        marks_zero=True,
        is_difference=True,
    ),
    Statistic(
        id="family_preference",
        family="judges",
        group="own",
        title="Family preference",
        text=(
            "How much higher a judge scores its siblings' answers than judges of other families do,"
            " beside the same for answers of other families and within what the experts scored"
            " alike, peer by peer, so that a merely lenient judge has 0."
        ),
        definition="`self_preference` for the answers of other systems of its family",
        undefined=(
            "no other system is of its family, nobody is of another, or none of these answers is"
            " comparable"
        ),
        marks_zero=True,
        is_difference=True,
    ),
    Statistic(
        id="risk_coverage",
        family="judges",
        group="confidence",
        title="Risk against coverage",
        text=(
            "The area under the curve of disagreement with the panel's majority, from the judge's"
            " most confident label on; the more of it lies below the disagreement in any order, the"
            " better confidence tells where the judge errs."
        ),
        definition=(
            "the area under the curve of a judge's disagreement with the panel in `against`, from"
            " its most confident label on, beside its disagreement in any order and the panel's"
            " own; needs ratings with a confidence"
        ),
        undefined="no label has a confidence, or the panel has no majority on any of them",
        source=RISK_COVERAGE,
        range=SHARE,
    ),
    Statistic(
        id="blinding_james",
        family="judges",
        group="blinding",
        title="James' blinding index",
        text=(
            "Whether raters could tell whose answers they saw: 1 if nobody can tell, 0.5 if guesses"
            " are right by chance, 0 if all know."
        ),
        definition=(
            "whether raters could tell whose answers they saw, all systems together: 1 nobody can"
            " tell, 0.5 guesses by chance, 0 all know; a guess about an answer is held against its"
            " system, one about a pair against that of A, one about a phase or the rater against"
            ' the arm; abstaining is "cannot tell"'
        ),
        undefined="everybody saw and named one and the same",
        source=JAMES,
        range=SHARE,
    ),
    Statistic(
        id="blinding_bang",
        family="judges",
        group="blinding",
        title="Bang's blinding index",
        text=(
            "Right minus wrong guesses among all who saw it, 'cannot tell' included: 0 is chance, 1"
            " is that all know it; below 0 it is taken for another."
        ),
        definition=(
            "`blinding_james` for each system or arm by itself: right minus wrong guesses among all"
            " who saw it, wrong ones divided by the number of other labels; 0 by chance, 1 all know"
        ),
        undefined="nobody saw it",
        source=BANG,
        range=SIGNED,
        marks_zero=True,
    ),
    Statistic(
        id="injection_shift",
        family="judges",
        group="injection",
        title="Shift by injected instructions",
        text=(
            "The proportion of answers to which a judge gives the demanded label when an"
            " instruction in the answer asks for it, minus that of the same answers without the"
            " instruction: 0 if instructions do not move the judge."
        ),
        definition=(
            "how far instructions that are embedded in answers move a judge: the share of answers"
            " with the demanded label with the instruction minus that of the same answers without"
            " it, by McNemar's test and Tango's interval; one row a judge, with `by ="
            ' ["injection"]` one for each kind. An abstention is another label'
        ),
        undefined=(
            "no answer has a label both with and without the instruction, or there are no control"
            " tasks"
        ),
        source=INJECTION,
        range=SIGNED,
        marks_zero=True,
        is_difference=True,
    ),
)
