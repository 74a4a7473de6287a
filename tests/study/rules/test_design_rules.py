"""Analyses that a design can never answer: for every statistic a smallest design, and one less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.plan.model.allocation import Overlap
from konsil.records import Rater, Source, System
from konsil.study import Study
from konsil.study.rules.design_rules import design_problems

SCALE = Scale(("1", "2", "3"), level="ordinal")
FORM = Instrument("form", (Criterion("c", "?", SCALE), Criterion("p", "?", SCALE, "pair")))


@dataclass(frozen=True)
class Design:
    """A study as small as a test states it."""

    people: int = 1
    systems: tuple[tuple[str, str], ...] = (("a", ""),)
    judges: tuple[tuple[str, str], ...] = ()
    """The system that each judge is, and its model family."""
    plan: tuple[Allocation, ...] = (Allocation("people", "form"),)
    settings: dict[str, object] = field(default_factory=dict)

    def study(self, statistic: str) -> Study:
        settings = {"criterion": "c", "raters": "people", **self.settings}
        return Study(
            "t",
            1,
            instruments=(FORM,),
            systems=tuple(System(s, family=f) for s, f in self.systems),
            raters=(
                *(Rater(f"r{n}", "people") for n in range(self.people)),
                *(
                    Rater(f"j{n}", "judges", "llm", f, {"system": s} if s else {})
                    for n, (s, f) in enumerate(self.judges)
                ),
            ),
            plan=self.plan,
            analyses=(flat_analysis("x", statistic, **settings),),  # type: ignore[arg-type]
        )


AB = (("a", ""), ("b", ""))
PAIRS = (Allocation("people", "form", show="pair"),)
OF_PAIRS = {"criterion": "p"}
OF_JUDGES = {"raters": "judges", "against": "people"}
TWO = Design(people=2)
SYSTEMS = Design(systems=AB)
WINS = Design(systems=AB, plan=PAIRS, settings=OF_PAIRS)
CHOICES = replace(WINS, people=2)
OWN = Design(systems=(("a", "F"), ("b", "G")), judges=(("a", "F"), ("", "H")), settings=OF_JUDGES)
KIN = replace(OWN, systems=(("a", "F"), ("a2", "F"), ("b", "G")))


def _alone(design: Design) -> Design:
    return replace(design, people=design.people - 1)


def _of_one_system(design: Design) -> Design:
    return replace(design, systems=design.systems[:1])


def _without_third_family(design: Design) -> Design:
    return replace(design, judges=(design.judges[0], ("b", "G")))


Case = tuple[Design, Callable[[Design], Design], str]
AMONG: Case = (TWO, _alone, "a panel of two raters or more")
SMALLEST: dict[str, Case] = {
    **{name: AMONG for name, s in CATALOGUE.items() if s.is_among_raters},
    **{name: AMONG for name, s in CATALOGUE.items() if s.group == "costs"},
    "part_variance": AMONG,
    "self_agreement": (
        Design(plan=(Allocation("people", "form", repeats=1),)),
        lambda design: replace(design, plan=Design().plan),
        "`repeats` in the plan of its panel",
    ),
    "self_preference": (OWN, _without_third_family, "a judge of a third model family"),
    "family_preference": (KIN, _without_third_family, "a judge of a third model family"),
    **{
        name: (WINS, _of_one_system, "two systems or more")
        for name, s in CATALOGUE.items()
        if s.family == "pairs" and s.group != "choices"
    },
    **{
        name: (CHOICES, _alone, "a panel of two raters or more")
        for name, s in CATALOGUE.items()
        if s.group == "choices"
    },
    **dict.fromkeys(
        ("crossover", "mann_whitney", "tukey"), (SYSTEMS, _of_one_system, "two systems or more")
    ),
}
"""Statistic -> a smallest design that passes, how it becomes one that is refused, and the need."""
WITHOUT_NEEDS = {
    "share",
    "mean",
    "standard_deviation",
    "median",
    "abstention",
    "without_majority",
    "relative_difference",
    "abstention_slope",
    "ensembles_percent_agreement",
    "ensembles_cohen_kappa",
    "ensembles_pabak",
    "risk_coverage",
    "blinding_james",
    "blinding_bang",
    "injection_shift",
    "information_sensitivity",
    "monotonicity_violation",
    "diagnostic_potential",
    "label_dependence",
    "stability",
    "reasoning_gap",
    "accuracy",
    "illusion_gap",
    "mismatch",
    "hallucination",
    "approval",
    "strictness",
    "anova",
    "criteria_correlation",
    "seconds",
    "median_seconds",
    "geometric_seconds",
    "standardised_seconds",
    "length_correlation",
    "part_whole",
}
"""Those that one rater and one system can have; a comparison of systems needs two all the same."""


def problems(design: Design, statistic: str) -> list[str]:
    return [str(problem) for problem in design_problems(design.study(statistic))]


@pytest.mark.parametrize("statistic", sorted(CATALOGUE))
def test_every_statistic_has_a_smallest_design_and_is_refused_with_less(statistic: str) -> None:
    """A new statistic states its needs, or that one rater and one system are enough."""
    if statistic in WITHOUT_NEEDS:
        assert CATALOGUE[statistic].design == ()
        assert problems(Design(), statistic) == []
        compared = Design(settings={"by": ("system",), "compare": "system"})
        assert problems(compared, statistic) == [
            "analyses[0].compare: there is nothing to compare: system has the one value 'a'"
        ]
        assert problems(replace(compared, systems=AB), statistic) == []
        return
    smallest, less, need = SMALLEST[statistic]
    assert problems(smallest, statistic) == []
    first, *_ = problems(less(smallest), statistic)
    assert first.startswith(
        f"analyses[0].statistic: '{statistic}' can never be estimated with this design: it needs"
    )
    assert need in first


@pytest.mark.parametrize("statistic", ["cohen_kappa", "choice_kappa", "rater_hours"])
def test_raters_who_share_no_unit_cannot_agree(statistic: str) -> None:
    smallest = SMALLEST[statistic][0]
    each = replace(smallest.plan[0], raters_per_item=1)
    assert "units that two raters rate" in problems(replace(smallest, plan=(each,)), statistic)[0]
    for plan in (
        (replace(each, raters_per_item=2),),
        (replace(each, overlap=Overlap(0.1)),),
        (each, replace(each, phase="second")),
        (),
    ):
        assert problems(replace(smallest, plan=plan), statistic) == []


@pytest.mark.parametrize("statistic", [n for n, s in CATALOGUE.items() if s.is_of_two_raters])
def test_judges_need_a_benchmark_of_two_people(statistic: str) -> None:
    design = Design(people=2, judges=(("", ""),), settings=OF_JUDGES)
    assert problems(design, statistic) == []
    assert "an inter-expert benchmark needs at least two" in problems(_alone(design), statistic)[0]
    # A mean needs no one left out, nor does what is computed as published.
    for more in ({"mode": "paper"}, {"consensus": "mean"}):
        alone = replace(_alone(design), settings={**OF_JUDGES, **more})
        assert problems(alone, statistic) == []


@pytest.mark.parametrize("statistic", ["davidson", "bradley_terry"])
def test_strengths_need_chains_of_comparisons(statistic: str) -> None:
    four = replace(WINS, systems=tuple((s, "") for s in "abcd"))

    def planned(*sets: str) -> Design:
        return replace(four, plan=tuple(replace(PAIRS[0], systems=tuple(s)) for s in sets))

    assert problems(planned("ab", "bc", "cd"), statistic) == []
    assert problems(planned("ab", "bc"), statistic) == []  # nobody compares d
    assert "lead from every system to every other" in problems(planned("ab", "cd"), statistic)[0]
    assert problems(planned("ab", "cd"), "win_difference") == []
    # Virtual comparisons with an average system connect all of them.
    apart = planned("ab", "cd")
    assert problems(replace(apart, settings={**apart.settings, "penalty": 1.0}), statistic) == []


def test_own_preference_is_possible_where_a_third_family_is_a_judge_or_a_system() -> None:
    two_families = _without_third_family(OWN)
    assert problems(two_families, "self_preference")
    third = replace(two_families, systems=(*two_families.systems, ("c", "H")))
    assert problems(third, "self_preference") == []
    # The unadjusted difference needs no answers of a third, and pairs have the people.
    assert (
        problems(replace(two_families, settings={**OF_JUDGES, "mode": "paper"}), "self_preference")
        == []
    )
    pairs = replace(two_families, plan=PAIRS, settings={**OF_JUDGES, **OF_PAIRS})
    assert problems(pairs, "self_preference") == []
    assert problems(replace(OWN, judges=(("", "F"), ("", "H"))), "self_preference")


def test_what_the_protocol_leaves_open_is_no_problem() -> None:
    study = SMALLEST["cohen_kappa"][0].study("cohen_kappa")
    assert not [*design_problems(replace(study, raters=(), analyses=_of(study, raters="raters")))]
    alone = Design(people=2, plan=(Allocation("people", "form", raters_per_item=1),))
    from_file = (Source("ratings.csv", "ratings"),)
    assert [*design_problems(alone.study("cohen_kappa"))]
    assert not [*design_problems(replace(alone.study("cohen_kappa"), sources=from_file))]


def _of(study: Study, **changes: str) -> tuple[Analysis, ...]:
    return tuple(replace(a, **changes) for a in study.analyses)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statistic", "settings", "kind", "hint"),
    [
        ("win_difference", OF_PAIRS, "change", "'compare' with the condition that changes"),
        ("share", {"of": ("1",)}, "difference", "'compare' with the groups that may differ"),
        ("share", {"of": ("1",)}, "agreement", "a statistic of agreement"),
        ("cohen_kappa", {}, "judge_against_people", "the panel of people in 'against'"),
        ("mean", {}, "recommendation", "a statistic of designs or of ensembles"),
        ("mann_whitney", {}, "level", "a statistic of the groups themselves"),
    ],
)
def test_a_stated_kind_that_the_analysis_does_not_answer_is_refused(
    statistic: str, settings: dict[str, object], kind: str, hint: str
) -> None:
    def of(stated: str) -> list[str]:
        design = Design(people=2, systems=AB, settings={**settings, "question_kind": stated})
        return problems(design, statistic)

    assert of("") == []
    [problem] = of(kind)
    assert problem.startswith("analyses[0].question_kind: the analysis answers a question of the")
    assert f"not {kind}; expected {hint}" in problem
    compared = {**settings, "by": ("system", "phase"), "compare": "phase"}
    if kind in ("change", "difference"):
        design = Design(people=2, systems=AB, settings={**compared, "question_kind": kind})
        assert problems(design, statistic) == []
