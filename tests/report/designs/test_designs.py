"""Which design for which criterion: the rule, the tables and the figures, from rows that are made
up for it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from gettext import NullTranslations

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Results, Row
from konsil.analysis.estimation.targets import ONLY_THESE
from konsil.analysis.model.terms import BEST_CHANCE, OTHER_SENTENCES, OVERLAP_ALONE, WHOLE_ANSWER
from konsil.analysis.model.verdicts import DesignEvidence, Recommendation, recommendations
from konsil.errors.message import TranslatableMessage, message
from konsil.instrument import Criterion, Instrument, Scale
from konsil.report.designs.designs import Designs, designs
from konsil.report.material.language import Language, language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers, Table
from konsil.report.material.translate import translated_results
from konsil.stats.engine.contract import Estimate
from konsil.study import Study

CRITERIA = ("correctness", "relevance", "risks", "tone")


def kappa(name: str, criterion: str, **more: object) -> Analysis:
    return flat_analysis(
        name,
        "randolph_kappa",
        criterion,
        "experts",
        by=("instrument",),
        compare="instrument",
        **more,  # type: ignore[arg-type]
    )


ANALYSES = (
    *(kappa(f"agreement: {c}, points", c, margin=0.05 if c == "tone" else None) for c in CRITERIA),
    *(kappa(f"agreement: {c}, answers", c, spans="all") for c in CRITERIA),
    Analysis("parts", "part_whole", "correctness", "experts"),
    Analysis("hours", "rater_hours", "correctness", "experts"),
    flat_analysis("budget", "budget_reliability", "correctness", "experts", minutes=(5.0,)),
)
FORMS = tuple(
    Instrument(name, tuple(Criterion(c, "?", Scale(("no", "yes")), scope=scope) for c in CRITERIA))  # type: ignore[arg-type]
    for name, scope in (("coarse", "answer"), ("fine", "sentence"))
)
GAPS: Mapping[str, tuple[float, float, float]] = {
    "agreement: correctness, points": (-0.2, -0.3, -0.1),
    "agreement: correctness, answers": (-0.1, -0.2, -0.01),
    "agreement: relevance, points": (0.2, 0.1, 0.3),
    "agreement: relevance, answers": (-0.2, -0.3, -0.1),
    "agreement: risks, points": (0.1, -0.1, 0.3),
    "agreement: risks, answers": (0.1, 0.02, 0.2),
    "agreement: tone, points": (0.01, -0.02, 0.04),
    "agreement: tone, answers": (0.0, -0.03, 0.03),
}


def row(
    a: Analysis, value: float, low: float, high: float, group: Mapping[str, str], **more: object
) -> Row:
    p = more.pop("p", math.nan)
    return Row(
        a.name, a.statistic, a.criterion, a.raters, Estimate(value, low, high, p=p), group, **more
    )  # type: ignore[arg-type]


def made() -> Results:
    rows = []
    for a in ANALYSES[:8]:
        gap = GAPS[a.name]
        rows += [
            row(a, 0.5, 0.4, 0.6, {"instrument": "coarse"}),
            row(a, 0.5 - gap[0], 0.3, 0.9, {"instrument": "fine"}),
        ]
        coarse, fine = {"instrument": "coarse"}, {"instrument": "fine"}
        rows.append(row(a, *gap, coarse, kind="difference", versus=fine, p=0.004, p_adjusted=0.03))
    parts, hours, budget = ANALYSES[8:]
    for n in (1, 2, 3):
        size = {"sentences": str(n)}
        rows.append(row(parts, 0.6 + n / 10, 0.5, 0.9, size))
        alone, other = OVERLAP_ALONE, OTHER_SENTENCES
        rows.append(row(parts, 0.5, 0.4, 0.6, {**size, "version": alone}, kind="companion"))
        rows.append(row(parts, 0.4, 0.3, 0.5, {**size, "version": other}, kind="companion"))
    whole = WHOLE_ANSWER
    for name, value in ((whole, 9.0), ("1", math.nan), ("2", 5.0), ("3", 6.0)):
        rows.append(
            row(
                hours, value, value - 1, math.inf if name == "3" else value + 1, {"sentences": name}
            )
        )
        reached = {"minutes": "5", "sentences": name}
        best = {"9.0": 0.7, "nan": 0.4, "5.0": 0.79, "6.0": 0.8}[str(value)]
        rows.append(row(budget, best, best - 0.1, best + 0.1, reached))
        chance = {**reached, "version": BEST_CHANCE}
        rows.append(
            row(budget, 0.6 if name == "3" else 0.1, math.nan, math.nan, chance, kind="companion")
        )
    rows.append(
        row(
            hours,
            -4.0,
            -6.0,
            -2.0,
            {"sentences": "2"},
            kind="difference",
            versus={"sentences": whole},
            p=0.002,
        )
    )
    return Results(tuple(rows), ())


def section(
    code: str = "en",
    spoken: Language | None = None,
    results: Results | None = None,
    analyses: Sequence[Analysis] = ANALYSES,
) -> Designs:
    spoken = spoken or language(code)
    numbers = Numbers(spoken)
    study = Study("t", 1, instruments=FORMS, analyses=tuple(analyses), language=code)
    found = designs(
        Material(
            study=study,
            results=translated_results(results or made(), numbers),
            items=(),
            answers=(),
            raters=(),
            ratings=(),
            language=spoken,
            numbers=numbers,
        )
    )
    assert found is not None
    return found


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in table.rows]


@pytest.mark.slow
def test_a_design_is_recommended_by_hours_and_single_ratings_together():
    advice = texts(section().tables[0])
    first = {line[0]: line[1:3] for line in advice if line[1]}
    assert first == {
        "correctness": ["fine", "0.030"],
        "relevance": ["no recommendation: hours are not compared", "–"],
        "risks": ["no recommendation: hours are not compared", "–"],
        "tone": ["no recommendation: hours are not compared", "–"],
    }
    assert [line[3:5] for line in advice[:3]] == [
        ["agreement: correctness, points", "coarse − fine"],
        ["agreement: correctness, answers †", "coarse − fine"],
        ["hours", "2 sentences − whole answer"],
    ]
    assert [line[6] for line in advice[:3]] == ["0.030", "0.030", "–"]
    notes = " ".join(note.text for note in section().tables[0].notes)
    assert "its agreement differs by construction and was not used" in notes
    assert "fewer hours alone recommend nothing" in notes


def recommended(results: Results, code: str = "en") -> tuple[str, str]:
    """The recommendation for correctness, and the table's notes."""
    advice = section(code, results=results).tables[0]
    return texts(advice)[0][1], " ".join(note.text for note in advice.notes)


def like_these(*statistics: str) -> Results:
    """The rows in a report about raters like these, whom those of some statistics are about."""
    rows = [
        replace(r, estimate=replace(r.estimate, raters="like these"))
        if r.statistic in statistics
        else r
        for r in made().rows
    ]
    return Results(tuple(rows), (), target="like these")


def test_a_recommendation_by_hours_of_these_raters_names_them():
    """Hours to a reliability have no interval for raters like these."""
    design, notes = recommended(made())
    assert (design, "not estimable" in notes) == ("fine", False)
    design, notes = recommended(like_these("randolph_kappa"))
    assert design == "fine (these raters only)"
    assert "for whom the recommendation is not estimable" in notes
    design, notes = recommended(like_these("randolph_kappa", "rater_hours"))
    assert (design, "These raters only" in notes) == ("fine", False)
    assert recommended(like_these(), "de")[0] == "fine (nur diese Bewertenden)"


def test_agreement_that_is_not_estimable_for_raters_like_these_recommends_nothing():
    found = like_these("randolph_kappa")
    rows = [
        replace(r, estimate=Estimate(r.estimate.value, p=math.nan, raters="like these"))
        if (r.analysis, r.kind) == (ANALYSES[0].name, "difference")
        else r
        for r in found.rows
    ]
    design, _ = recommended(replace(found, rows=tuple(rows)))
    assert design == "no recommendation: not estimable for raters like these"


@pytest.mark.parametrize(
    ("note", "low", "sign"),
    [("", 0.1, ">"), (ONLY_THESE, 0.1, "(>)"), ("", -0.1, "≥"), (ONLY_THESE, -0.1, "≥")],
)
def test_an_order_of_these_raters_is_marked_as_theirs(note: str, low: float, sign: str):
    spec = flat_analysis(
        "ranks",
        "share",
        "correctness",
        "experts",
        of=("yes",),
        consensus="majority",
        by=("instrument", "system"),
        compare="system",
    )
    group = [{"instrument": "fine", "system": s} for s in "ab"]
    difference = row(
        spec, 0.3, low, 0.5, group[0], kind="difference", versus=group[1], p=0.01, p_adjusted=0.02
    )
    scope = (TranslatableMessage("of these raters", {}, note),) if note else ()
    rows = (
        *made().rows,
        row(spec, 0.7, 0.6, 0.8, group[0]),
        row(spec, 0.4, 0.3, 0.5, group[1]),
        replace(difference, warnings=scope),
    )
    ranking = section(
        results=Results(rows, (), target="like these"), analyses=(*ANALYSES, spec)
    ).tables[1]
    assert texts(ranking)[0][3] == f"a {sign} b"
    assert ("(>): the two differ in the judgement" in str(ranking.notes)) == (sign == "(>)")


SPLIT, AGREES = {"instrument": "coarse"}, ANALYSES[0]


def gap(
    value: float, p: float, *, half: float = 0.1, n_undefined: int = 0, p_adjusted: float = math.nan
) -> Row:
    e = Estimate(value, value - half, value + half, p=p, n_undefined=n_undefined)
    return Row(
        "x",
        "randolph_kappa",
        "correctness",
        "experts",
        e,
        SPLIT,
        "difference",
        p_adjusted=p_adjusted,
    )


def decide(*evidence: DesignEvidence) -> list[Recommendation]:
    return recommendations(evidence, draws=1000, level=0.95)


def test_no_part_of_the_decision_recommends_alone():
    """Agreement is coarse minus fine, hours are sentences minus whole answers; fine rates the
    sentences."""
    fewer, more = gap(-4.0, 0.001), gap(4.0, 0.001)
    for_fine, for_coarse, level = gap(-0.3, 0.002), gap(0.3, 0.002), gap(-0.02, 0.6)

    def recommendation(agreement: Row, hours: Row | None, **other: bool) -> Recommendation:
        return decide(DesignEvidence((agreement,), hours, "second", **other))[0]

    assert recommendation(for_fine, fewer) == Recommendation("second", 0.002, "")
    assert recommendation(for_coarse, more) == Recommendation("first", 0.002, "")
    assert (
        recommendation(level, fewer).design == ""
    )  # hours alone: the mean of more ratings is steadier whatever is rated
    assert recommendation(for_fine, gap(-4.0, 0.3)).design == ""
    assert recommendation(for_coarse, fewer) == Recommendation("", 1.0, "not shown")
    assert recommendation(for_fine, None).reason == "no hours"
    assert recommendation(for_fine, fewer, is_lopsided=True).reason == "lopsided"
    assert recommendation(gap(-0.3, 0.002, half=0.0), fewer).reason == "not shown"  # no width
    assert recommendation(for_fine, gap(-4.0, 0.001, n_undefined=100)).design == ""
    assert (
        decide(DesignEvidence((), fewer, "second"))[0].reason == "no hours"
    )  # derived forms alone decide nothing


def test_the_decision_is_adjusted_over_the_criteria():
    parts = [DesignEvidence((gap(-0.3, p),), gap(-4.0, 0.001), "second") for p in (0.02, 0.03, 0.6)]
    assert decide(parts[0])[0].design == "second"
    decisions = decide(*parts)
    assert [r.design for r in decisions] == ["", "", ""]
    assert [round(r.p, 6) for r in decisions] == [0.06, 0.06, 0.6]


def test_no_decision_is_stronger_than_the_adjusted_p_value_on_its_line():
    """The criteria are one family, the declared analyses another; a recommendation needs both."""
    close, fewer = gap(-0.3, 0.002, p_adjusted=0.052), gap(-4.0, 0.001)
    assert decide(DesignEvidence((close,), fewer, "second")) == [
        Recommendation("", 0.052, "not shown")
    ]
    clear = gap(-0.3, 0.002, p_adjusted=0.04)
    assert decide(DesignEvidence((clear,), fewer, "second")) == [Recommendation("second", 0.04, "")]
    slow = gap(-4.0, 0.001, p_adjusted=0.2)
    assert decide(DesignEvidence((clear,), slow, "second")) == [
        Recommendation("", 0.2, "not shown")
    ]


def test_the_fewest_hours_and_the_sentences_that_are_enough():
    _advice, hours, budget = section().tables
    (line,) = texts(hours)
    assert line == [
        "correctness",
        "0.8",
        "2 sentences",
        "5.000 [4.000, 6.000]",
        "9.000 [8.000, 10.000]",
        "0.0020",
    ]
    (line,) = texts(budget)
    assert line == [
        "correctness",
        "5",
        "3 sentences",
        "0.800 [0.700, 0.900]",
        "0.60",
        "2",
        "0.700 [0.600, 0.800]",
    ]


def test_without_hours_the_table_says_why_in_each_rows_words():
    """Without ratings nothing is known of reliability, which is another thing than that nobody
    reaches it."""
    spoken = language("en")
    hours, budget = ANALYSES[9:]
    agreement = row(ANALYSES[0], math.nan, math.nan, math.nan, {"instrument": "coarse"})
    for why in ("no ratings selected", "no number of raters reaches a reliability of 0.8"):
        nothing = Estimate(math.nan, reason=message(why))
        rows = [
            Row(
                a.name,
                a.statistic,
                a.criterion,
                a.raters,
                nothing,
                {"minutes": "5", "sentences": "1"},
            )
            for a in (hours, budget)
        ]
        study = Study("t", 1, instruments=FORMS, analyses=ANALYSES)
        found = designs(
            Material(
                study=study,
                results=Results((agreement, *rows), ()),
                items=(),
                answers=(),
                raters=(),
                ratings=(),
                language=spoken,
                numbers=Numbers(spoken),
            )
        )
        assert found is not None
        assert [texts(table)[0][2] for table in found.tables] == [why, why]


@pytest.mark.slow
def test_figures_have_the_designs_side_by_side_and_curves_by_sentences():
    english, german = section(), section("de")
    assert [f.key for f in english.figures[1:]] == [f.key for f in german.figures[1:]]
    keys = [f.key.rsplit("-", 1)[0] for f in english.figures]
    assert keys == [
        "designs-agreement-by-design",
        "parts-part-whole",
        "costs-rater-hours",
        "costs-budget-reliability",
    ]
    assert "coarse − fine" in english.figures[0].inline
    # What all rows begin with is said once.
    assert "correctness, points" in english.figures[0].inline
    assert ">agreement: correctness" not in english.figures[0].inline
    for figure, word in zip(
        english.figures[1:3], ("expected from overlap alone", "whole answer"), strict=True
    ):
        assert word in figure.inline
    for figure, word in zip(
        german.figures[1:3], ("allein aus der Überlappung erwartet", "ganze Antwort"), strict=True
    ):
        assert word in figure.inline
    assert {line[1] for line in texts(german.tables[0])} >= {
        "fine",
        "keine Empfehlung: Stunden werden nicht verglichen",
    }


def test_a_study_of_one_design_has_no_such_section():
    spoken = language("en")
    study = Study("t", 1, analyses=(Analysis("a", "percent_agreement", "c", "experts"),))
    rows = (row(study.analyses[0], 0.5, 0.4, 0.6, {}),)
    assert (
        designs(
            Material(
                study=study,
                results=Results(rows, ()),
                items=(),
                answers=(),
                raters=(),
                ratings=(),
                language=spoken,
                numbers=Numbers(spoken),
            )
        )
        is None
    )


def test_systems_stand_in_their_order_under_each_design():
    spoken = language("en")
    share = flat_analysis(
        "systems",
        "share",
        "correctness",
        "experts",
        of=("yes",),
        by=("instrument", "system"),
        compare="system",
    )
    rows = []
    for design, values in (("coarse", (0.9, 0.7, 0.8)), ("fine", (0.6, 0.9, 0.7))):
        for system, value in zip("abc", values, strict=True):
            rows.append(
                row(
                    share, value, value - 0.1, value + 0.1, {"instrument": design, "system": system}
                )
            )
        for one, other, gap in (("a", "b", 0.2), ("a", "c", 0.1), ("b", "c", -0.1)):
            low, high, p = (
                (0.01, 0.3, 0.02)
                if (design, one, other) == ("coarse", "a", "c")
                else (0.001, 0.3, 0.09)
            )
            group, versus = (
                {"instrument": design, "system": one},
                {"instrument": design, "system": other},
            )
            rows.append(
                row(share, gap, low, high, group, kind="difference", versus=versus, p_adjusted=p)
            )
    study = Study("t", 1, analyses=(share, kappa("k", "correctness")))
    rows.append(row(study.analyses[1], 0.1, 0.0, 0.2, {"instrument": "coarse"}))
    found = designs(
        Material(
            study=study,
            results=Results(tuple(rows), ()),
            items=(),
            answers=(),
            raters=(),
            ratings=(),
            language=spoken,
            numbers=Numbers(spoken),
        )
    )
    assert found is not None
    (ranking,) = found.tables
    assert [line[2:] for line in texts(ranking)] == [["coarse", "a > c ≥ b"], ["fine", "b ≥ c ≥ a"]]


class OtherWords(NullTranslations):
    """A catalogue in which every word is another one; gaps stay."""

    def gettext(self, message: str) -> str:
        return re.sub(r"%\(\w+\)s|\{[^{}]*\}|[^\W\d_]+", _other, message)


def _other(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "%{" else f"zz{len(match[0]) * 'z'}"


def shapes(svg: bytes) -> list[str]:
    """The names of the clipped drawings of a figure's axes: bands, lines and their markers."""
    return re.findall(r"<(?:g|path|use)[^>]*clip-path", svg.decode())


@pytest.mark.slow
def test_other_words_change_no_number_no_curve_and_no_recommendation() -> None:
    plain = section()
    other = section(spoken=Language("en", ".", ", ", "%", OtherWords()))
    number = re.compile(r"\d+(?:\.\d+)?")
    for before, after in zip(plain.tables, other.tables, strict=True):
        numbers = [[number.findall(text) for text in line] for line in texts(before)]
        assert [[number.findall(text) for text in line] for line in texts(after)] == numbers
        assert [cell.text for cell in after.head] != [cell.text for cell in before.head]
    advice = [[line[1] for line in texts(s.tables[0])] for s in (plain, other)]
    assert [name == "fine" for name in advice[0]] == [name == "fine" for name in advice[1]]
    for first, second in zip(plain.figures, other.figures, strict=True):
        assert len(shapes(first.svg)) == len(shapes(second.svg)) > 4
        drawn = number.findall(first.description)
        assert number.findall(second.description) == drawn
