"""Statistics of judges: abstention, ensembles, preference, confidence, blinding."""

from __future__ import annotations

from konsil.analysis.model.catalogue.design_needs import NEUTRAL_JUDGE, NEUTRAL_OF_FAMILY
from konsil.analysis.model.catalogue.entry import SHARE, SIGNED, Statistic
from konsil.analysis.model.catalogue.limits import LIMITS, Limits, Need, Refusal
from konsil.analysis.model.catalogue.zeros import CHANCE, NO_ASSOCIATION, NO_EFFECT, NO_PREFERENCE
from konsil.errors.message import message
from konsil.stats.judges.blinding import BANG, JAMES
from konsil.stats.judges.injections import INJECTION
from konsil.stats.judges.risk import RISK_COVERAGE

_COMMON = Limits((Refusal("cluster", values=("rater",)), Refusal("compare"))) + LIMITS
_EACH_JUDGE = Limits(
    (
        Refusal(
            "by",
            reason=(
                "{statistic!r} has a row for every judge or ensemble; other groups are not"
                " supported"
            ),
            is_whole=True,
        ),
    )
)
_SLOPE = _COMMON + Limits(
    needs=(Need("covariate", "is empty; a slope needs the name of a [[derived]] column"),)
)
_ENSEMBLES = (
    _COMMON
    + _EACH_JUDGE
    + Limits(
        needs=(Need("against", "ensembles of judges are compared with a panel; state the panel"),)
    )
)
_RISK = (
    _COMMON
    + _EACH_JUDGE
    + Limits(needs=(Need("against", "risk is disagreement with a panel; state the panel"),))
)
_WITHIN_EXPERTS = Limits(
    needs=(
        Need(
            "against",
            "preference is adjusted within the label of a panel of experts; state the"
            " panel, or use mode = 'paper'",
            modes=("valid",),
        ),
    )
)
_PREFERENCE = _COMMON + _EACH_JUDGE + _WITHIN_EXPERTS
_FAMILY_PREFERENCE = (
    _COMMON
    + Limits(
        (
            Refusal(
                "by",
                allowed=("system",),
                reason=(
                    "{statistic!r} has a row for every judge, with 'system' for each other system"
                    " of its family; got {value!r}"
                ),
            ),
        )
    )
    + _WITHIN_EXPERTS
)
_BLINDING = LIMITS + Limits(
    (
        Refusal("compare"),
        Refusal(
            "by",
            values=("system", "arm"),
            reason=(
                "guesses are compared with the {value}; 'blinding_bang' already has a row for each"
            ),
        ),
    )
)
_INJECTION = LIMITS + Limits(
    (
        *(Refusal(key) for key in ("against", "where", "compare", "arm", "collapse", "labels")),
        Refusal(
            "by",
            allowed=("rater", "injection"),
            reason=(
                "{statistic!r} has a row for each judge, with 'injection' for each kind; got"
                " {value!r}"
            ),
        ),
        Refusal(
            "cluster",
            values=("rater",),
            reason="each judge has a row of its own; expected 'item' or 'case', got 'rater'",
        ),
        Refusal(
            "test",
            values=("flip",),
            reason=(
                "{statistic!r} is tested by the test that its interval inverts; expected"
                " 'interval' or 'none'"
            ),
        ),
    )
)
_PUBLISHED_PREFERENCE = "the unadjusted difference, which leniency alone also produces"

JUDGES = (
    Statistic(
        id="abstention_slope",
        questions=("change",),
        family="judges",
        group="caution",
        title="Slope of abstention on difficulty",
        text=(
            "Change in the abstention rate for each step of difficulty; with a comparison "
            "panel, the difference in slopes."
        ),
        definition=(
            "the change in the abstention rate for each step of the `covariate`, a derived "
            "column such as difficulty; with `against` the paired difference in slopes to "
            "that panel"
        ),
        undefined="the covariate does not vary",
        zero=NO_ASSOCIATION,
        above_zero=message(
            "Above 0: abstentions increase with the covariate; with a comparison panel, more than"
            " there.",
            message_id="above_zero.abstention_slope",
        ),
        keys=frozenset({"covariate"}),
        limits=_SLOPE,
        has_own_panel=True,
        margin="panel",
        bounds="slope",
        unit="points",
    ),
    Statistic(
        id="ensembles_percent_agreement",
        questions=("judge_against_people", "agreement", "recommendation"),
        family="judges",
        group="ensembles",
        better="higher",
        title="Ensembles: percent agreement",
        text=(
            "Agreement of the majority vote of every odd-sized ensemble of judges with the "
            "panel's majority. The best ensemble is selected on the same data; its out-of-"
            "bag estimate corrects for this."
        ),
        definition=(
            "percent agreement of every odd-sized ensemble of judges, by majority vote, "
            "with the majority of the panel in `against`; with the out-of-bag estimate of "
            "the best"
        ),
        undefined="an ensemble never has a majority",
        range=SHARE,
        keys=frozenset({"coverage", "ensemble_units"}),
        limits=_ENSEMBLES,
        has_own_panel=True,
        n_labels=2,
        needs_majority=True,
        unit="percent",
    ),
    Statistic(
        id="ensembles_cohen_kappa",
        questions=("judge_against_people", "agreement", "recommendation"),
        family="judges",
        group="ensembles",
        better="higher",
        title="Ensembles: Cohen's kappa",
        text=(
            "Agreement of the majority vote of every odd-sized ensemble of judges with the "
            "panel's majority. The best ensemble is selected on the same data; its out-of-"
            "bag estimate corrects for this."
        ),
        definition="Cohen's kappa of the same ensembles as in `ensembles_percent_agreement`",
        undefined="an ensemble never has a majority, or all ratings are in one category",
        range=SIGNED,
        zero=CHANCE,
        keys=frozenset({"coverage", "ensemble_units"}),
        limits=_ENSEMBLES,
        has_own_panel=True,
        n_labels=2,
        needs_majority=True,
        unit="number",
    ),
    Statistic(
        id="ensembles_pabak",
        questions=("judge_against_people", "agreement", "recommendation"),
        family="judges",
        group="ensembles",
        better="higher",
        title="Ensembles: PABAK",
        text=(
            "Agreement of the majority vote of every odd-sized ensemble of judges with the "
            "panel's majority. The best ensemble is selected on the same data; its out-of-"
            "bag estimate corrects for this."
        ),
        definition="PABAK of the same ensembles as in `ensembles_percent_agreement`",
        undefined="an ensemble never has a majority",
        range=SIGNED,
        zero=CHANCE,
        keys=frozenset({"coverage", "ensemble_units"}),
        limits=_ENSEMBLES,
        has_own_panel=True,
        n_labels=2,
        needs_majority=True,
        unit="number",
    ),
    Statistic(
        id="self_preference",
        design=(NEUTRAL_JUDGE,),
        family="judges",
        group="own",
        title="Self-preference bias",
        text=(
            "How much higher a judge scores answers of its own model than judges of other "
            "model families do, minus the same difference for answers of other families, "
            "among answers with equal expert scores; 0 for a judge that is only lenient."
        ),
        definition=(
            "a judge's difference from each judge of another model family (peer) on answers"
            " of its own model, minus its difference from that peer on answers of other "
            "families, within the experts' mean score (to the nearest half step of the "
            "scale; the majority where labels have no order). A peer is excluded for "
            "answers of its own model family and without answers of both kinds. The row "
            "states how many of the judge's own answers are used; those without a "
            "comparable answer of another family are excluded. In paper mode the unadjusted"
            " difference, which leniency alone also produces"
        ),
        undefined=(
            "the judge has no answers of its own model, there is no judge of another "
            "family, or no answer of its own model is comparable"
        ),
        zero=NO_PREFERENCE,
        above_zero=message(
            "Above 0: the judge scores answers of its own model higher, relative to the other"
            " judges.",
            message_id="above_zero.self_preference",
        ),
        is_difference=True,
        is_of_numbers=True,
        label_numbers="always",
        limits=_PREFERENCE,
        has_own_panel=True,
        as_published=_PUBLISHED_PREFERENCE,
        bounds="preference",
        unit="number",
    ),
    Statistic(
        id="family_preference",
        design=(NEUTRAL_OF_FAMILY,),
        family="judges",
        group="own",
        title="Model-family preference bias",
        text=(
            "How much higher a judge scores answers of other systems of its model family "
            "than judges of other families do, minus the same difference for answers of "
            "other families, among answers with equal expert scores; 0 for a judge that is "
            "only lenient."
        ),
        definition=(
            "`self_preference` for the answers of other systems of the judge's model family; with "
            '`by = ["system"]` for each of these systems, that is, by pair of judge and system. '
            "Pairs of different families have no row: their answers are the comparison"
        ),
        undefined=(
            "no other system is of the judge's family, there is no judge of another family,"
            " or none of these answers is comparable"
        ),
        zero=NO_PREFERENCE,
        above_zero=message(
            "Above 0: the judge scores answers of its family higher, relative to the other judges.",
            message_id="above_zero.family_preference",
        ),
        is_difference=True,
        is_of_numbers=True,
        label_numbers="always",
        limits=_FAMILY_PREFERENCE,
        has_own_panel=True,
        as_published=_PUBLISHED_PREFERENCE,
        bounds="preference",
        unit="number",
    ),
    Statistic(
        id="risk_coverage",
        questions=("judge_against_people", "level"),
        family="judges",
        group="confidence",
        better="lower",
        title="Area under the risk–coverage curve (AURC)",
        text=(
            "Disagreement with the panel majority, averaged over all proportions of ratings"
            " retained, most confident first. The further it lies below the disagreement "
            "over all ratings, the better the judge's confidence identifies its errors."
        ),
        definition=(
            "the area under the curve of a judge's disagreement with the panel in `against`"
            " by proportion of ratings retained, most confident first; also reported are "
            "its disagreement over all ratings and that of the panel's own raters. Needs "
            "ratings with a confidence"
        ),
        undefined="no rating has a confidence, or the panel has no majority on any of them",
        source=RISK_COVERAGE,
        range=SHARE,
        limits=_RISK,
        has_own_panel=True,
        columns=("confidence",),
        margin="panel",
        needs_majority=True,
        unit="number",
    ),
    Statistic(
        id="blinding_james",
        family="judges",
        group="blinding",
        title="James' blinding index",
        text=(
            "Success of blinding over all systems: 1 if no rater can name the system, 0.5 "
            "if guesses are correct by chance, 0 if all guesses are correct."
        ),
        definition=(
            "success of blinding over all systems: 1 if no rater can name the system, 0.5 "
            "if guesses are correct by chance, 0 if all are correct. A guess about an "
            "answer is compared with its system, one about a pair with the system of A, one"
            ' about a phase or the rater with the arm; an abstention is "cannot tell"'
        ),
        undefined="all raters saw and named the same single system",
        source=JAMES,
        range=SHARE,
        limits=_BLINDING,
        columns=("arm",),
        unit="number",
    ),
    Statistic(
        id="blinding_bang",
        family="judges",
        group="blinding",
        title="Bang's blinding index",
        text=(
            "Proportion of correct minus incorrect guesses among all raters of a system, "
            "including “cannot tell”: 0 is chance level, 1 that all guesses are correct; "
            "below 0, raters take it for another system."
        ),
        definition=(
            "`blinding_james` for each system or arm: the proportion of correct minus "
            "incorrect guesses among all who saw it, incorrect ones divided by the number "
            "of other categories; 0 is chance level, 1 that all guesses are correct"
        ),
        undefined="no rater saw it",
        source=BANG,
        range=SIGNED,
        zero=CHANCE,
        limits=_BLINDING,
        columns=("arm",),
        unit="number",
    ),
    Statistic(
        id="injection_shift",
        questions=("change", "difference"),
        family="judges",
        group="injection",
        title="Effect of injected instructions",
        text=(
            "Proportion of answers that receive the label demanded by an instruction in the"
            " answer, minus that proportion of the same answers without the instruction; 0 "
            "if instructions do not influence the judge."
        ),
        definition=(
            "effect on a judge of instructions that are embedded in answers: the proportion"
            " of answers with the demanded label with the instruction minus that proportion"
            " of the same answers without it, by McNemar's test and Tango's interval; one "
            'row a judge, with `by = ["injection"]` one for each kind. An abstention counts'
            " as another label"
        ),
        undefined=(
            "no answer has a label both with and without the instruction, or there are no control"
            " tasks"
        ),
        source=INJECTION,
        range=SIGNED,
        zero=NO_EFFECT,
        above_zero=message(
            "Above 0: embedded instructions move the judge to the label that they demand.",
            message_id="above_zero.injection_shift",
        ),
        is_difference=True,
        limits=_INJECTION,
        has_own_panel=True,
        bounds="none",
        is_of_ratings=False,
        unit="points",
    ),
)
