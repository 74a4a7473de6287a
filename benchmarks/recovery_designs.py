"""The designs of recovery.py: small studies made from konsil's own protocols, and what is simulated
in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from importlib.resources import files

from konsil.analysis import Analysis, Resampling
from konsil.analysis.model.options import CaseOptions, ShareOptions
from konsil.plan import Allocation
from konsil.records import Answer, Item, Span
from konsil.simulate import CriterionTruth, Departure, PanelTruth, SystemTruth, Truth
from konsil.study import Study, parse


@dataclasses.dataclass(frozen=True)
class Design:
    """A small study, its items and answers, and what is true in it."""

    study: Callable[[], Study]
    material: Callable[[], tuple[Sequence[Item], Sequence[Answer]]]
    truth: Truth


def protocol(name: str, file: str = "study.toml") -> Study:
    """One of konsil's own protocols."""
    folder = files("konsil.protocols") / name
    return parse(
        (folder / file).read_text("utf-8"), lambda other: (folder / other).read_text("utf-8")
    )


def small(whole: Study, draws: int, **changed: object) -> Study:
    """The protocol as a simulated study of few resamples that draws nothing and asks no model."""
    plain = dataclasses.replace(
        whole, simulated=True, prepare=None, judges=(), resampling=Resampling(draws=draws)
    )
    return dataclasses.replace(plain, **changed)


# ---------------------------------------------------------------- medqade

N_CORE, N_SPLIT = 60, 120
PHYSICIANS, JUDGES = 5, 6
PHYSICIAN = PanelTruth(
    accuracy=0.93, severity=0.2, abstention=0.05, abstention_slope=0.9, perception=0.6
)
MEDQADE = Truth(
    systems={
        f"system-{n}": SystemTruth(q) for n, q in enumerate((0.85, 0.78, 0.62, 0.7, 0.5), start=1)
    },
    panels={
        "physicians": PHYSICIAN,
        "tiebreaker": PHYSICIAN,
        "judges": PanelTruth(
            accuracy=0.88,
            severity=0.1,
            leniency=0.3,
            self_preference=0.4,
            abstention=0.03,
            abstention_slope=0.2,
        ),
    },
    raters={
        "judge-1": PanelTruth(accuracy=0.95, leniency=0.1, self_preference=0.2, abstention=0.02),
        "judge-5": PanelTruth(accuracy=0.75, leniency=0.7, self_preference=0.8, abstention=0.01),
    },
)
"""What is simulated: systems of unequal quality; physicians whose abstention rises with difficulty;
judges of unequal skill that are lenient, more so to their own family, and hardly more cautious
where it is hard."""


def medqade_study() -> Study:
    """The medqade protocol with five physicians and six judges, without its ensembles; one family
    of two systems."""
    whole = protocol("medqade", "study.en.toml")
    kept = {f"physician-{n}" for n in (*range(1, PHYSICIANS + 1), 10)} | {
        f"judge-{n}" for n in range(1, JUDGES + 1)
    }
    return small(
        whole,
        1_000,
        raters=tuple(r for r in whole.raters if r.id in kept),
        analyses=tuple(a for a in whole.analyses if not a.statistic.startswith("ensembles")),
    )


def medqade_material() -> tuple[list[Item], list[Answer]]:
    """Items in their two sets, one in five with a lexical match, and their answers."""
    items = [
        Item(
            f"i{n:04}",
            "?",
            sets=("core" if n < N_CORE else "split",),
            strata={"lexical_match": "no" if n % 5 else "yes"},
        )
        for n in range(N_CORE + N_SPLIT)
    ]
    return items, [Answer(f"{i.id}:{s}", i.id, s, "...") for i in items for s in MEDQADE.systems]


# ---------------------------------------------------------------- clexeval

LEVELS = ("narrative", "0", "1", "2", "3")
N_CASES = 40
"""As many as the paper has."""
CLEXEVAL = Truth(
    systems={
        "system-1": SystemTruth(
            0.75,
            quality_by={"level": dict(zip(LEVELS, (0.92, 0.8, 0.65, 0.5, 0.32), strict=True))},
            hidden=0.5,
        ),
        "system-2": SystemTruth(
            0.6,
            quality_by={"level": dict(zip(LEVELS, (0.75, 0.7, 0.62, 0.55, 0.45), strict=True))},
            hidden=0.2,
        ),
    },
    panels={
        "pair-1": PanelTruth(accuracy=0.96, severity=0.1, shared=0.2),
        "pair-2": PanelTruth(accuracy=0.96, severity=0.1, shared=0.2),
        "judges": PanelTruth(accuracy=0.9, leniency=0.2, shared=0.0),
        "detector": PanelTruth(accuracy=0.98, shared=0.0, item_rater=0.0),
    },
    raters={"judge-1": PanelTruth(accuracy=0.95, shared=0.0, approves=0.5)},
    criteria={
        "communication": CriterionTruth(right=0.1, shift=0.9),
        "reasoning_names": CriterionTruth(about="reasoning"),
    },
)
"""What is simulated: one system's accuracy falls by 60 points over the levels and its reasoning knows
the diagnosis in half of its failures; the other falls by 30. Both read well throughout. judge-1
lets half of the wrong answers pass."""


def clexeval_material() -> tuple[list[Item], list[Answer]]:
    """Cases in five versions, a half for each pair of experts, and the answers of two systems."""
    items = [
        Item(
            f"c{c:02}:{v}",
            "?",
            "d",
            case=f"c{c:02}",
            sets=(f"half-{1 + c % 2}",),
            strata={"level": v},
        )
        for c in range(N_CASES)
        for v in LEVELS
    ]
    return items, [Answer(f"{i.id}:{s}", i.id, s, "...") for i in items for s in CLEXEVAL.systems]


KEPT = ("diagnostic_precision", "communication")
"""Two of the seven criteria: the one that falls and the one that does not."""


def clexeval_study() -> Study:
    """The clexeval protocol with two of its criteria and two of its judges: pairs of experts,
    judges, a detector."""
    whole = protocol("clexeval")
    rated = (*KEPT, "reasoning_names", "answer_names")
    instruments = (
        dataclasses.replace(i, criteria=tuple(c for c in i.criteria if c.id in rated))
        for i in whole.instruments
    )
    return small(
        whole,
        1_000,
        instruments=tuple(i for i in instruments if i.criteria),
        raters=tuple(
            r for r in whole.raters if r.panel != "readers" and r.id not in ("judge-3", "judge-4")
        ),
        programs=(),
        # Its parts are not rated here.
        scores=(),
        tables=(),
        calibration=None,
        plan=tuple(_main(a) for a in whole.plan if a.purpose == "main" and a.panel != "readers"),
        analyses=clexeval_analyses(),
    )


def clexeval_analyses() -> tuple[Analysis, ...]:
    """What the paper asks of the levels, of failures and of judges."""
    precision, communication = KEPT
    levels = (
        "information_sensitivity",
        "monotonicity_violation",
        "diagnostic_potential",
        "label_dependence",
        "stability",
        "reasoning_gap",
    )
    return (
        *(
            Analysis(
                name.replace("_", " "),
                name,
                precision,
                "experts",
                options=CaseOptions(levels=LEVELS),
            )
            for name in levels
        ),
        Analysis(
            "monotonicity violation of the recovered",
            "monotonicity_violation",
            precision,
            "experts",
            options=CaseOptions(levels=LEVELS, denominator="recovered"),
        ),
        Analysis("accuracy by level", "accuracy", precision, "experts", by=("level",)),
        Analysis(
            "marks by level", "mean", precision, "experts", by=("system", "level"), cluster="case"
        ),
        Analysis(
            "communication by information level",
            "mean",
            communication,
            "experts",
            by=("system", "level"),
            cluster="case",
        ),
        Analysis(
            "illusion gap",
            "illusion_gap",
            precision,
            "experts",
            options=CaseOptions(criteria=(communication,)),
        ),
        Analysis(
            "reasoning names what the answer does not",
            "mismatch",
            precision,
            "experts",
            against="detector",
        ),
        Analysis(
            "approval of failures",
            "approval",
            precision,
            "judges",
            against="experts",
            options=CaseOptions(failure_by="mean"),
        ),
    )


# ---------------------------------------------------------------- cqa-eval

N_FIRST, N_THEN = 12, 10
"""Questions of a group that come first as whole answers, and first as sentences."""
GROUP = PanelTruth(accuracy=0.8, severity=0.1, shared=0.25, seconds=40)
CQA_EVAL = Truth(
    systems={
        "physician": SystemTruth(0.85),
        "system-1": SystemTruth(0.75),
        "system-2": SystemTruth(0.55),
    },
    panels={"group-1": GROUP, "group-2": GROUP},
    exceptions=(
        Departure(instrument="fine", criterion="correctness", accuracy=0.95, shared=0.6),
        Departure(instrument="fine", criterion="relevance", shift=-0.8),
        Departure(instrument="fine", criterion="communicates_risks", accuracy=0.7, shift=-1.2),
        Departure(instrument="fine", seconds=150.0),
    ),
    sentence_shared=0.4,
)
"""What is simulated: sentence by sentence, raters agree much more on correctness and less on risks;
systems of unequal quality; sentences that look like their answer."""
STATEMENTS = ("correctness", "relevance", "communicates_risks")


def cqa_eval_material() -> tuple[list[Item], list[Answer]]:
    """Questions in the four parts of the crossover; three answers of six sentences each."""
    sizes = {
        f"group-{g}-{d}-first": n
        for g in (1, 2)
        for d, n in (("coarse", N_FIRST), ("fine", N_THEN))
    }
    names = [name for name, n in sizes.items() for _ in range(n)]
    items = [Item(f"q{n:03}", "?", sets=(name,)) for n, name in enumerate(names)]
    spans = tuple(Span(10 * k, 10 * k + 9) for k in range(6))
    return items, [
        Answer(f"{i.id}:{s}", i.id, s, "...", sentences=spans)
        for i in items
        for s in CQA_EVAL.systems
    ]


def cqa_eval_study() -> Study:
    """The cqa-eval protocol without pilots, repeats, judges and questionnaires."""
    whole = protocol("cqa-eval")
    return small(
        whole,
        1_000,
        raters=tuple(r for r in whole.raters if r.kind == "human"),
        instruments=tuple(i for i in whole.instruments if i.id in ("coarse", "fine")),
        enrolment=None,
        calibration=None,
        plan=tuple(
            _main(a)
            for a in whole.plan
            if a.purpose == "main" and a.instrument in ("coarse", "fine") and a.panel != "judges"
        ),
        analyses=cqa_eval_analyses(),
    )


def _main(line: Allocation) -> Allocation:
    return dataclasses.replace(line, batches=None)


THREE = {
    "Disagree": "Disagree",
    "Partially disagree": "Disagree",
    "Neutral": "Neutral",
    "Partially agree": "Agree",
}
"""Agree and partially agree are one, and so are disagree and partially disagree."""


def cqa_eval_analyses() -> tuple[Analysis, ...]:
    """Agreement in each design and its difference; what the systems' answers are worth in each."""
    found = []
    for name in STATEMENTS:
        found.append(
            Analysis(
                f"kappa by design: {name}",
                "randolph_kappa",
                name,
                "physicians",
                by=("design",),
                compare="design",
                collapse=THREE,
                labels=("Disagree", "Neutral", "Agree"),
            )
        )
        rule = "all" if name == "correctness" else "any"
        two = {**THREE, "Neutral": "Agree" if rule == "all" else "Disagree"}
        for design in ("coarse", "fine"):
            found.append(
                Analysis(
                    f"{design}: {name}",
                    "share",
                    name,
                    "physicians",
                    options=ShareOptions(of=("Agree",)),
                    by=("system",),
                    compare="system",
                    where={"design": (design,)},
                    collapse=two,
                    labels=("Disagree", "Agree"),
                    spans=rule,
                )
            )
        found.append(
            Analysis(
                f"binary kappa, fine: {name}",
                "randolph_kappa",
                name,
                "physicians",
                collapse=two,
                where={"design": ("fine",)},
                labels=("Disagree", "Agree"),
                spans=rule,
            )
        )
    return tuple(found)


DESIGNS = {
    "medqade": Design(medqade_study, medqade_material, MEDQADE),
    "clexeval": Design(clexeval_study, clexeval_material, CLEXEVAL),
    "cqa-eval": Design(cqa_eval_study, cqa_eval_material, CQA_EVAL),
}
