"""A small study with results made by hand: what the analyses give, without running them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, CoverageRow, Results, Row
from konsil.analysis.model.terms import REST, Term
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.report import Recovered, Section
from konsil.report.figures import drawing
from konsil.stats.engine.contract import Estimate
from konsil.study import Study
from report_files import write

NAN = math.nan
HOSTILE = "<script>alert('x')</script><img src=\"https://example.org/x.png\"> & $x^2$ {{ 7*7 }}"
BCA = "item-cluster bootstrap, BCa, 10,000 resamples"
WALD = "cluster-robust Wald (item-clustered) on the atanh scale, t with {} degrees of freedom"
SYSTEMS = ("Large LLM", "small-llm", "physician")

CODEBOOK = """# Rating guide

Judge the **answer alone**, not its style. <script>alert('codebook')</script>

| Label | Meaning |
|-------|---------|
| correct | names the reference or a synonym |
| incorrect | anything else |

![a picture](https://example.org/tracker.png)

## Abstaining

1. Abstain when you *cannot tell*.
2. See [the guideline](https://example.org/guideline).
"""


def estimate(value: float, half: float = 0.06, **more: object) -> Estimate:
    given = {"se": half / 1.96, "n_clusters": 60, "n_ratings": 540, "method": BCA} | more
    return Estimate(value, value - half, value + half, **given)  # type: ignore[arg-type]


def study(language: str = "en", simulated: bool = True) -> Study:
    correct = Criterion(
        "correct",
        "Is the answer correct?",
        Scale(("correct", "incorrect"), abstain="cannot tell"),
        guidance="Compare it with the reference.",
    )
    helpful = Criterion(
        "helpful",
        "Would the answer help a colleague?",
        Scale(
            ("Disagree", "Partially disagree", "Neutral", "Partially agree", "Agree"),
            level="ordinal",
        ),
    )
    hours = Criterion(
        "hours",
        "How many hours of sleep did you get?",
        Scale(kind="number", low=0, high=24),
        "rater",
    )
    remark = Criterion("remark", "Anything else?", Scale(kind="text"), "batch")
    return Study(
        title="Agreement on cardiology answers",
        description="Sixty questions, three sources of answers, three physicians and two judges.",
        seed=7,
        language=language,
        licence="CC0-1.0",
        simulated=simulated,
        instruments=(
            Instrument(
                "answers",
                (correct, helpful),
                CODEBOOK,
                role="You are a cardiologist.",
                language="en",
            ),
            Instrument("survey", (hours, remark)),
        ),
        systems=(
            System("Large LLM", "alpha", "alpha-70b"),
            System("small-llm", "beta", "beta-8b"),
            System("physician", "human"),
        ),
        raters=raters(),
        analyses=(
            Analysis(
                "agreement",
                "krippendorff_alpha",
                "correct",
                "physicians",
                items="core",
                where={"item": ("x" * 99,)},
            ),
            Analysis(
                "by_system",
                "krippendorff_alpha",
                "helpful",
                "physicians",
                by=("system",),
                compare="system",
            ),
            flat_analysis(
                "accuracy",
                "share",
                "correct",
                "physicians",
                by=("specialty", "system"),
                of=("correct",),
            ),
            Analysis("pairs", "cohen_kappa", "correct", "physicians", by=("rater", "other")),
            Analysis(
                "judges",
                "percent_agreement",
                "correct",
                "judges",
                against="physicians",
                by=("rater",),
            ),
            Analysis(
                "as_in_paper",
                "fleiss_kappa",
                "correct",
                "physicians",
                mode="paper",
                prespecified=False,
            ),
            Analysis("nothing", "kendall_w", "helpful", "judges", prespecified=False),
        ),
    )


def raters() -> tuple[Rater, ...]:
    physicians = tuple(
        Rater(
            f"physician {n}",
            "physicians",
            strata={"specialty": "cardiology" if n < 3 else "surgery"},
        )
        for n in (1, 2, 10)
    )
    judges = tuple(Rater(f"judge {n}", "judges", "llm", family="alpha") for n in "AB")
    return physicians + judges


def items() -> tuple[Item, ...]:
    texts = {
        1: HOSTILE,
        3: "Donaudampfschifffahrt" * 20,
        2: "Which valve lies between the left atrium and the left ventricle?\nName it.",
    }
    return tuple(
        Item(
            f"item {n}",
            texts.get(n, f"Question number {n}?"),
            "mitral valve" if n == 2 else f"reference {n}",
            sets=("core",) if n <= 20 else ("split",),
            strata={"specialty": ("cardiology", "surgery")[n % 2], "number": str(n)},
        )
        for n in range(1, 61)
    )


def answers() -> tuple[Answer, ...]:
    return tuple(
        Answer(f"{item.id}/{system}", item.id, system, f"The answer of {system} to it. " * (1 + n))
        for item in items()
        for n, system in enumerate(SYSTEMS)
    )


def ratings() -> tuple[Rating, ...]:
    found = []
    for n, item in enumerate(items()):
        for r, rater in enumerate(raters()):
            seconds = None if rater.kind == "llm" else 20.0 + 7 * ((n + r) % 11)
            for system in SYSTEMS:
                subject = (f"{item.id}/{system}",)
                for criterion, label in (("correct", "correct"), ("helpful", "Neutral")):
                    task = f"{item.id}, {rater.id}"
                    found.append(
                        Rating(
                            task,
                            rater.id,
                            criterion,
                            item.id,
                            subject,
                            label=label,
                            seconds=seconds,
                        )
                    )
    return tuple(found)


def results() -> Results:
    def row(analysis: str, statistic: str, criterion: str, value: Estimate, **more: object) -> Row:
        given = {"raters": "physicians", "n_units": 180, "n_raters": 3} | more
        return Row(analysis, statistic, criterion, estimate=value, **given)  # type: ignore[arg-type]

    few = "There are fewer than 50 clusters; the interval may be too narrow."
    rows = [
        row("agreement", "krippendorff_alpha", "correct", estimate(0.6123), warnings=(few,)),
        row(
            "agreement",
            "krippendorff_alpha",
            "correct",
            estimate(0.6123, 0.07, method=WALD.format(59)),
            kind="companion",
        ),
    ]
    for n, system in enumerate(SYSTEMS):
        value = (0.412, 0.655, NAN)[n]
        reason = "all labels are the same" if math.isnan(value) else ""
        e = estimate(value, n_undefined=17 if n == 1 else 0, reason=reason)
        group = {"system": system}
        rows.append(
            row("by_system", "krippendorff_alpha", "helpful", e, group=group, warnings=(few,))
        )
        wald = replace(e, method=WALD.format(59 - n))
        rows.append(
            row("by_system", "krippendorff_alpha", "helpful", wald, group=group, kind="companion")
        )
    for one, other, value, p in (
        ("small-llm", "Large LLM", 0.243, 0.00009),
        ("physician", "Large LLM", -0.0004, 0.0996),
        ("physician", "small-llm", NAN, NAN),
    ):
        e = estimate(value, p=p, reason="undefined in one group" if math.isnan(value) else "")
        rows.append(
            row(
                "by_system",
                "krippendorff_alpha",
                "helpful",
                e,
                kind="difference",
                group={"system": one},
                versus={"system": other},
                p_adjusted=2 * p,
            )
        )
    for n, specialty in enumerate(("cardiology", "surgery")):
        for m, system in enumerate(SYSTEMS):
            e = estimate(0.5 + 0.13 * m + 0.02 * n, 0.05, method="Wilson interval")
            rows.append(
                row(
                    "accuracy",
                    "share",
                    "correct",
                    e,
                    group={"specialty": specialty, "system": system},
                )
            )
    names = [r.id for r in raters() if r.panel == "physicians"]
    for n, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        e = estimate(0.5 + 0.1 * n)
        rows.append(
            row("pairs", "cohen_kappa", "correct", e, group={"rater": names[a], "other": names[b]})
        )
    for name, value in (("judge A", 0.81), ("judge B", 0.86)):
        of = {
            "analysis": "judges",
            "statistic": "percent_agreement",
            "criterion": "correct",
            "raters": "judges",
        }
        rows.append(row(**of, value=estimate(value, 0.03), group={"rater": name}))
        rows.append(
            row(
                **of,
                value=estimate(value - 0.84, 0.04, p=0.0324),
                group={"rater": name},
                kind="difference",
                versus={"rater": REST},
                p_adjusted=0.0648,
            )
        )
        rows.append(
            row(
                **of,
                value=estimate(0.84, 0.03),
                group={"rater": Term("leave_one_out", "physicians")},
                kind="companion",
            )
        )
    rows.append(
        row(
            "as_in_paper",
            "fleiss_kappa",
            "correct",
            estimate(0.58, method="naive standard error"),
            prespecified=False,
            n_undefined_pairs=2,
        )
    )
    return Results(
        rows=tuple(rows),
        coverage=tuple(
            CoverageRow(
                panel,
                criterion,
                system,
                180,
                170 - n,
                n,
                3 if panel == "judges" else 0,
                4,
                {Term("faster_than", 10): 6 if panel == "physicians" else 0},
            )
            for panel in ("physicians", "judges")
            for criterion in ("correct", "helpful")
            for n, system in enumerate(SYSTEMS)
        ),
        warnings=(
            "Prevalence of 'correct' is outside 0.1 to 0.9; read alpha beside percent agreement.",
        ),
        methods=(
            "Intervals are item-cluster BCa bootstrap intervals.",
            "Tests were adjusted by Holm's method.",
        ),
        label_counts={
            **{
                (panel, "correct", system, label): 20 + 9 * n + 5 * m + 40 * (label == "correct")
                for panel in ("physicians", "judges")
                for n, system in enumerate(SYSTEMS)
                for m, label in enumerate(("correct", "incorrect", "cannot tell"))
            },
            **{
                (panel, "helpful", system, label): 5 + 7 * ((n + m) % 5)
                for panel in ("physicians", "judges")
                for n, system in enumerate(SYSTEMS)
                for m, label in enumerate(
                    ("Disagree", "Partially disagree", "Neutral", "Partially agree", "Agree")
                )
            },
            ("physicians", "hours", "", "7"): 3,
        },
    )


def extras() -> tuple[Section, ...]:
    found = Section(
        "Recovery",
        ("The panel was drawn from known parameters.",),
        recovered=(
            Recovered("physicians: accuracy of physician 1", 0.9, estimate(0.88), "physicians"),
            Recovered("accuracy of physician 2", 0.85, estimate(0.83), "physicians"),
            Recovered("accuracy of judge A", 0.7, estimate(0.79), "judges"),
        ),
    )
    return (
        found,
        Section(
            "Costs",
            header=("Judge", "Calls", "Proportion"),
            rows=(("A", 12345, 0.5), ("B", 90, NAN)),
        ),
    )


def arguments(language: str = "en", simulated: bool = True) -> dict[str, object]:
    return {
        "study": study(language, simulated),
        "results": results(),
        "items": items(),
        "answers": answers(),
        "raters": raters(),
        "ratings": ratings(),
        "extras": extras(),
    }


def without_figures(language: str = "en", simulated: bool = True) -> dict[str, object]:
    """The same study with one estimate: most of what a report does, in little time."""
    whole = results()
    few = replace(whole, rows=whole.rows[:2], label_counts={})
    return arguments(language, simulated) | {"results": few, "extras": ()}


def write_example(folder: Path, language: str = "en", simulated: bool = True) -> Path:
    return write(folder, **arguments(language, simulated))  # type: ignore[arg-type]


def quick_fonts() -> None:
    """Embed fonts as outlines, which takes a tenth of the time of TrueType subsets."""
    drawing.STYLE["pdf.fonttype"] = 3


@pytest.fixture(scope="session", autouse=True)
def _quick_fonts() -> Iterator[None]:
    usual = drawing.STYLE["pdf.fonttype"]
    quick_fonts()
    yield
    drawing.STYLE["pdf.fonttype"] = usual


@pytest.fixture(scope="session")
def thin() -> Callable[..., dict[str, object]]:
    """The arguments of `write` for a report without figures."""
    return without_figures


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The English report's folder."""
    return write_example(tmp_path_factory.mktemp("report") / "english").parent


@pytest.fixture(scope="session")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The German report's folder."""
    return write_example(tmp_path_factory.mktemp("report") / "german", "de").parent


@pytest.fixture(scope="session")
def material() -> Callable[[], dict[str, object]]:
    """The arguments of `write` for the example, to be changed at will."""
    return arguments
