"""The answer to a question: each claim from the evidence that it needs, and no stronger."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, Row
from konsil.analysis.estimation.targets import BY_SINGLE_RATINGS, ONLY_THESE
from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.analysis.model.terms import REST, Term
from konsil.analysis.model.verdicts import equivalence_sentence
from konsil.errors.message import TranslatableMessage
from konsil.report.answers.sentence_parts import Query, group_name
from konsil.report.answers.sentences import answer, further
from konsil.report.figures.units import Unit
from konsil.report.material.comparisons import comparisons, support
from konsil.report.material.language import language
from konsil.report.material.tables import Numbers
from konsil.report.material.translate import Sentence
from konsil.stats.engine.contract import Estimate

NAN = math.nan
SHARES = flat_analysis(
    "correct answers",
    "share",
    "correct",
    "physicians",
    of=("Correct",),
    consensus="majority",
    by=("system",),
    compare="system",
)
KAPPA = Analysis("kappa", "cohen_kappa", "correct", "physicians")


def row(
    value: float,
    low: float = NAN,
    high: float = NAN,
    group: Mapping[str, str] | None = None,
    versus: Mapping[str, str] | None = None,
    p: float = NAN,
    **more: object,
) -> Row:
    e = Estimate(value, low, high, p=p, n_clusters=60, reason=str(more.pop("reason", "")))
    given = {"p_adjusted": p, "kind": "difference" if versus else "estimate"} | more
    return Row("a", "s", "correct", "physicians", e, group or {}, versus=versus or {}, **given)  # type: ignore[arg-type]


def query(spec: Analysis, *rows: Row, quantity: str = "Quantity", code: str = "en") -> Query:
    return Query(spec, rows, quantity, Numbers(language(code)), 1000)


A, B, C = ({"system": f"system-{s}"} for s in "abc")
GROUPS = (row(0.847, 0.73, 0.92, A), row(0.763, 0.64, 0.85, B), row(0.583, 0.46, 0.70, C))


def test_the_largest_shown_difference_is_the_answer_in_per_cent() -> None:
    given = query(
        SHARES,
        *GROUPS,
        row(0.084, -0.006, 0.193, A, B, 0.19),
        row(0.264, 0.121, 0.400, A, C, 0.003),
        row(0.179, 0.062, 0.308, B, C, 0.020),
    )
    assert answer(given) == (
        "More answers of system-a (84.7%) than of system-c (58.3%) were rated “Correct” by the"
        " majorities of these raters (physicians): difference, 26.4 percentage points (95% CI, 12.1 to 40.0; adjusted p = 0.0030; 60 items)."
    )
    assert further(given) == (
        "2 of 3 comparisons showed a difference after adjustment: system-a \N{MINUS SIGN} system-c,"
        " system-b \N{MINUS SIGN} system-c."
    )
    assert further(replace(given, rows=given.rows[:-2])) == ""
    all_shown = replace(given, rows=(*GROUPS, *given.rows[-2:]))
    assert further(all_shown) == "2 of 2 comparisons showed a difference after adjustment."


def test_german_has_decimal_commas_and_its_own_words() -> None:
    given = query(SHARES, *GROUPS, row(0.264, 0.121, 0.400, A, C, 0.003), code="de")
    assert answer(given) == (
        "Von system-a (84,7\u202f%) wurden nach den Mehrheiten dieser Bewertenden (physicians) mehr"
        " Antworten mit „Correct“ bewertet als von system-c (58,3\u202f%); Differenz: 26,4 Prozentpunkte (95\u202f%-KI: 12,1 bis 40,0; adjustiertes p"
        " = 0,0030; 60 Items)."
    )


def test_a_difference_has_the_sign_and_the_order_of_its_row() -> None:
    turned = row(-0.264, -0.400, -0.121, C, A, 0.003)
    assert answer(query(SHARES, *GROUPS, turned)) == (
        "Fewer answers of system-c (58.3%) than of system-a (84.7%) were rated “Correct” by the"
        " majorities of these raters (physicians): difference, −26.4 percentage points (95% CI, −40.0 to −12.1; adjusted p = 0.0030;"
        " 60 items)."
    )
    other = replace(SHARES, statistic="mean")
    assert answer(query(other, *GROUPS, turned)).startswith(
        "Quantity, by the majorities of these raters (physicians): lower for system-c (0.58) than"
        " for system-a (0.85); difference, −0.26 (95% CI,"
    )


def test_rows_of_several_criteria_are_named_by_their_titles() -> None:
    groups = [{"criterion": "depth", **g} for g in (A, B)]
    difference = row(-0.4, -0.6, -0.2, *groups, 0.003)
    given = replace(
        query(Analysis("d", "mann_whitney", "depth", "experts"), difference),
        criteria={"depth": "Depth of reasons"},
    )
    assert (
        "Quantity, Depth of reasons, by these raters (experts): lower for system-a than for system-b"
        in answer(given)
    )


def test_known_failures_name_both_panels() -> None:
    """Human approval: judges' approval of what experts rated as failures."""
    spec = flat_analysis("har", "approval", "correct", "judges", against="experts")
    assert answer(query(spec, row(0.4, 0.3, 0.5, n_raters=4))).startswith(
        "Quantity, by these raters (judges and experts): 40.0%"
    )
    agreement = replace(KAPPA, raters="judges", against="experts")
    assert answer(query(agreement, row(0.4, 0.3, 0.5))).startswith("Quantity, judges: 0.40")


def test_no_difference_shown_is_not_equality() -> None:
    given = query(SHARES, *GROUPS, row(0.084, -0.006, 0.193, A, B, 0.19), quantity="Correct")
    assert answer(given) == (
        "Correct, by the majorities of these raters (physicians): no difference was shown between"
        " system-a (84.7%) and system-b (76.3%); difference, 8.4 percentage points (95% CI, −0.6 to"
        " 19.3; adjusted p = 0.19; 60 items). With 80% power, by its standard error and before"
        " adjustment, the design could have shown a difference of 14.2 percentage points or more."
    )
    several = query(
        SHARES,
        *GROUPS,
        row(0.084, -0.006, 0.193, A, B, 0.19),
        row(0.179, -0.1, 0.308, B, C, 0.30),
    )
    assert (
        "no difference was shown in any of 2 comparisons; the largest difference is between"
        in answer(several)
    )
    assert further(several) == ""


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (row(0.2, 0.1, 0.3, A, C, 0.01), "shown"),
        # One step below and above the level; an interval that touches 0; a test without interval.
        (row(0.2, 0.1, 0.3, A, C, 0.05), "shown"),
        (row(0.2, 0.1, 0.3, A, C, 0.051), "not shown"),
        (row(0.2, 0.0, 0.3, A, C, 0.01), "not shown"),
        (row(-0.2, -0.3, -0.1, A, C, 0.01), "shown"),
        (row(0.2, group=A, versus=C, p=0.001), "not judged"),
        (row(0.2, 0.2, 0.2, A, C, 0.001), "not judged"),
        # Exploratory: the p value of one test alone supports nothing.
        (row(0.2, 0.1, 0.3, A, C, 0.001, p_adjusted=NAN), "described"),
    ],
)
def test_what_a_difference_supports(difference: Row, expected: str) -> None:
    assert support(difference, SHARES, 1000) == expected


SINGLE = TranslatableMessage("single ratings", {}, "two_way.single_ratings")


def of_these(by_single: Row | None = None) -> list[Row]:
    """A difference of majorities in a report about raters like these, as its row states it."""
    note = ONLY_THESE if by_single is None else BY_SINGLE_RATINGS
    scope = TranslatableMessage("about these raters", {}, note)
    headline = row(0.264, 0.121, 0.4, A, C, 0.003, warnings=(scope,), n_raters=9)
    return [headline, *([] if by_single is None else [by_single])]


def single_ratings(value: float, low: float, high: float, p: float) -> Row:
    found = row(value, low, high, A, C, p, kind="companion")
    return replace(found, estimate=replace(found.estimate, method=SINGLE, raters="like these"))


@pytest.mark.parametrize(
    ("by_single", "expected"),
    [
        (single_ratings(0.2, 0.05, 0.35, 0.01), "shown"),
        (single_ratings(0.2, 0.05, 0.35, 0.051), "these only"),
        (single_ratings(0.2, -0.01, 0.41, 0.04), "these only"),
        # The single ratings show a difference in the other direction.
        (single_ratings(-0.2, -0.35, -0.05, 0.01), "these only"),
        (None, "these only"),
    ],
)
def test_majorities_show_a_difference_for_raters_like_these_only_with_single_ratings(
    by_single: Row | None, expected: str
) -> None:
    [compared] = comparisons(of_these(by_single), SHARES, 1000)
    assert compared.support == expected and compared.by_single_ratings is by_single


def test_a_difference_of_these_raters_is_not_called_shown() -> None:
    lead = (
        "More answers of system-a (84.7%) than of system-c (58.3%) were rated “Correct” by the"
        " majorities of these 9 raters (physicians): difference, 26.4 percentage points"
        " (95% CI, 12.1 to 40.0; adjusted p = 0.0030; 60 items)."
    )
    alone = query(SHARES, *GROUPS, *of_these())
    assert answer(alone) == (
        f"{lead} This is about these raters only; it is not estimable for raters like these."
    )
    weak = query(SHARES, *GROUPS, *of_these(single_ratings(0.2, -0.05, 0.45, 0.2)))
    assert answer(weak) == (
        f"{lead} This difference is about these raters only: for raters like these no difference"
        " was shown; by single ratings, 20.0 percentage points (95% CI, −5.0 to 45.0; adjusted p ="
        " 0.20; 60 items). With 80% power, by its standard error and before adjustment, the design"
        " could have shown a difference of 35.7 percentage points or more."
    )
    none = [row(0.264, -0.1, 0.5, A, C, 0.3), single_ratings(0.2, -0.05, 0.85, 0.2)]
    # The single ratings would have had to show it, too, and are known worse.
    assert "a difference of 64.3 percentage points or more" in answer(query(SHARES, *GROUPS, *none))
    strong = query(SHARES, *GROUPS, *of_these(single_ratings(0.2, 0.05, 0.35, 0.01)))
    assert answer(strong) == (
        f"{lead} For raters like these, by single ratings: 20.0 percentage points (95% CI, 5.0 to"
        " 35.0; adjusted p = 0.010; 60 items)."
    )
    several = replace(alone, rows=(*alone.rows, row(0.084, -0.006, 0.193, A, B, 0.19)))
    assert further(several) == (
        "1 of 2 comparisons has a difference after adjustment that is about these raters only:"
        " system-a \N{MINUS SIGN} system-c."
    )
    assert answer(replace(weak, numbers=Numbers(language("de")))) == (
        "Von system-a (84,7\u202f%) wurden nach den Mehrheiten dieser 9 Bewertenden (physicians)"
        " mehr Antworten mit „Correct“ bewertet als von system-c (58,3\u202f%); Differenz: 26,4"
        " Prozentpunkte (95\u202f%-KI: 12,1 bis 40,0; adjustiertes p = 0,0030; 60 Items). Diese"
        " Differenz gilt nur für diese Bewertenden: Für Bewertende wie diese wurde keine Differenz"
        " gezeigt; nach den einzelnen Bewertungen 20,0 Prozentpunkte (95\u202f%-KI: −5,0 bis 45,0;"
        " adjustiertes p = 0,20; 60 Items). Mit einer Power von 80\u202f% hätte das Design, nach"
        " seinem Standardfehler und vor der Adjustierung, Differenzen zeigen können, die mindestens"
        " 35,7 Prozentpunkte betragen."
    )


def test_resamples_without_a_value_support_nothing() -> None:
    difference = row(0.2, 0.1, 0.3, A, C, 0.001)
    weak = replace(difference, estimate=replace(difference.estimate, n_undefined=51))
    assert support(weak, SHARES, 1000) == "not judged"
    assert "no difference" not in answer(query(SHARES, *GROUPS, weak))


def test_equivalence_is_the_verdict_of_the_analysis_alone() -> None:
    spec = replace(SHARES, margin=0.1)
    difference = row(0.01, -0.05, 0.06, A, B, 0.7)
    verdict = equivalence_sentence(difference.estimate, 0.1, 1000)
    with_verdict = replace(difference, warnings=(Sentence("In any words.", verdict.message_id),))
    assert support(replace(difference, warnings=(str(verdict),)), spec, 1000) == "not shown"
    assert support(difference, spec, 1000) == "not shown"
    assert support(with_verdict, spec, 1000) == "equivalent"
    assert support(with_verdict, SHARES, 1000) == "not shown"
    equivalent = query(spec, *GROUPS, with_verdict)
    sentence = answer(equivalent)
    assert "are equivalent within ±10.0 percentage points" in sentence
    assert "adjusted p" not in sentence, "which is that of no difference"
    assert further(equivalent) == ""
    both = replace(equivalent, rows=(*equivalent.rows, row(0.264, 0.121, 0.400, A, C, 0.003)))
    assert further(both) == (
        "1 of 2 comparisons showed a difference after adjustment: system-a \N{MINUS SIGN} system-c."
        " 1 of 2 comparisons showed equivalence: system-a \N{MINUS SIGN} system-b."
    )


def test_exploratory_differences_are_described() -> None:
    given = query(SHARES, *GROUPS, row(0.264, 0.121, 0.4, A, C, 0.003, p_adjusted=NAN))
    assert answer(given) == (
        "Quantity, by the majorities of these raters (physicians): system-a (84.7%) against"
        " system-c (58.3%); difference, 26.4 percentage points (95% CI, 12.1 to 40.0; 60 items), without a test that is adjusted for multiple testing."
    )


def test_what_cannot_be_judged_says_why() -> None:
    given = query(SHARES, *GROUPS, row(0.264, group=A, versus=C, p=0.5, reason="too few items."))
    assert answer(given).endswith("no conclusion about the difference: too few items.")


def test_a_single_coefficient() -> None:
    given = query(KAPPA, row(0.5678, 0.43, 0.684), quantity="Cohen's kappa")
    assert answer(given) == "Cohen's kappa, physicians: 0.57 (95% CI, 0.43 to 0.68; 60 items)."
    assert "no CI" in answer(query(KAPPA, row(0.5678)))


def test_two_groups_and_ranges_without_a_test() -> None:
    spec = replace(KAPPA, by=("system",))
    rows = [row(v, v - 0.1, v + 0.1, g) for v, g in ((0.5, A), (0.7, B), (0.6, C))]
    assert answer(query(spec, *rows[:2])) == (
        "Quantity: 0.70 for system-b (95% CI, 0.60 to 0.80; 60 items) and 0.50 for system-a"
        " (95% CI, 0.40 to 0.60; 60 items); the difference was not tested."
    )
    assert answer(query(spec, *rows)) == (
        "Quantity: from 0.50 for system-a (95% CI, 0.40 to 0.60; 60 items) to 0.70 for system-b"
        " (95% CI, 0.60 to 0.80; 60 items); differences between systems were not tested."
    )


def test_a_stated_kind_decides_between_the_estimates_and_their_difference() -> None:
    """Of compared groups: a question on a level has the estimates, the line beneath the rest."""
    spec = restated(KAPPA, statistic="mean", by=("system",), compare="system")
    rows = [row(v, v - 0.1, v + 0.1, g) for v, g in ((0.5, A), (0.7, B), (0.6, C))]
    gaps = [row(0.2, 0.1, 0.3, B, A, p=0.01), row(0.1, 0.0, 0.2, C, A, p=0.2)]
    of_difference = query(spec, *rows[:2], gaps[0])
    assert answer(of_difference).startswith("Quantity: higher for system-b (0.70) than for")
    of_level = query(replace(spec, question_kind="level"), *rows[:2], gaps[0])
    assert answer(of_level) == (
        "Quantity: 0.70 for system-b (95% CI, 0.60 to 0.80; 60 items) and 0.50 for system-a"
        " (95% CI, 0.40 to 0.60; 60 items)."
    )
    assert further(of_level) == answer(of_difference)
    several = query(replace(spec, question_kind="level"), *rows, *gaps)
    assert answer(several).endswith("0.70 for system-b (95% CI, 0.60 to 0.80; 60 items).")
    assert answer(several).startswith("Quantity: from 0.50 for system-a")
    assert further(several).endswith(
        "1 of 2 comparisons showed a difference after adjustment: system-b − system-a."
    )


def test_undefined_is_stated_as_such() -> None:
    nothing = row(NAN, reason="all labels are identical.")
    assert answer(query(KAPPA, nothing)) == ("Quantity: not estimable (all labels are identical).")
    assert answer(query(KAPPA)) == "Quantity: not estimable (there are no ratings)."
    assert comparisons([row(NAN, group=A, versus=B)], SHARES, 1000) == []


def test_a_judge_is_compared_with_the_benchmark_of_its_row() -> None:
    spec = replace(KAPPA, raters="judges", against="physicians", by=("rater",))
    judge = {"rater": "judge-1"}
    given = query(
        spec,
        row(0.45, 0.3, 0.6, judge),
        row(-0.39, -0.62, -0.16, judge, {"rater": REST}, 0.019),
        row(0.84, 0.7, 0.9, {"rater": Term("leave_one_out", "physicians")}, kind="companion"),
    )
    assert (
        "lower for judge-1 (0.45) than for leave_one_out:physicians (0.84); difference, −0.39"
        in answer(given)
    )


def test_win_differences_name_all_above_and_all_below_zero() -> None:
    spec = Analysis("wins", "win_difference", "correct", "physicians")
    above, below = row(0.33, 0.2, 0.45, A, p=0.0005), row(-0.4, -0.6, -0.2, B, p=0.0005)
    level = row(0.05, -0.1, 0.2, C, p=0.4)
    assert answer(query(spec, above, below, level)) == (
        "Quantity: above 0 for system-a, below 0 for system-b; farthest from 0 for system-b,"
        " −40.0 percentage points (95% CI, −60.0 to −20.0; adjusted p < 0.001; 60 items)."
    )
    assert answer(query(spec, above, level)).startswith("Quantity: above 0 for system-a; farthest")
    assert answer(query(spec, below, level)).startswith("Quantity: below 0 for system-b; farthest")
    none = answer(query(spec, level))
    assert "no difference from 0 was shown for system-c, 5.0 percentage points" in none
    several = answer(query(spec, level, replace(level, group=A)))
    assert "no difference from 0 was shown for any of 2 systems; farthest" in several
    by_arm = [replace(level, group={**g, "arm": a}) for g in (A, B) for a in ("text", "sources")]
    assert "for any of 4 groups;" in answer(query(spec, *by_arm))


def test_a_conclusion_of_the_analysis_itself_is_the_answer() -> None:
    spec = Analysis("crossover", "crossover", "correct", "physicians")
    said = row(0.1, -0.1, 0.2, A, finding="Crossover: a is ahead at full and b at masked.")
    assert answer(query(spec, said, said)) == "Crossover: a is ahead at full and b at masked."
    scope = TranslatableMessage("about these raters", {}, ONLY_THESE)
    assert answer(query(spec, replace(said, warnings=(scope,)))).endswith(
        "This is about these raters only; it is not estimable for raters like these."
    )


@pytest.mark.parametrize(
    ("change", "unit"),
    [
        ({"cluster": "rater"}, "60 raters"),
        ({"cluster": "case"}, "60 cases"),
        ({}, "60 items"),
    ],
)
def test_what_is_counted_is_what_was_resampled(change: dict[str, str], unit: str) -> None:
    assert f"; {unit})." in answer(query(replace(KAPPA, **change), row(0.5, 0.4, 0.6)))


@pytest.mark.parametrize("statistic", sorted(CATALOGUE))
def test_every_statistic_gives_a_sentence(statistic: str) -> None:
    spec = Analysis("any", statistic, "correct", "physicians")
    several = query(spec, row(0.5, 0.4, 0.6, A, p=0.01), row(0.2, 0.1, 0.3, B, p=0.01))
    for given in (several, query(spec, row(0.5, 0.4, 0.6)), query(spec, row(NAN, reason="none"))):
        sentence = answer(given)
        assert re.match(
            r"Quantity(, physicians|, by [^:]*\(physicians\))?: ", sentence
        ) and sentence.endswith(".")
        assert "nan" not in sentence and "{" not in sentence


def test_units_are_of_known_statistics_and_proportions_only() -> None:
    # Each statistic has one unit: of a new one it has to be decided.
    assert [s for s, entry in CATALOGUE.items() if not entry.unit] == []
    percents = [entry for entry in CATALOGUE.values() if entry.unit == "percent"]
    assert len(percents) == 20
    assert {entry.id for entry in percents if entry.is_difference} == {"relative_difference"}
    assert all(
        entry.range in ((0.0, 1.0), (-math.inf, math.inf))
        for entry in percents
        if not entry.is_difference
    )
    points = [entry for entry in CATALOGUE.values() if entry.unit == "points"]
    assert {entry.id for entry in points if not entry.is_difference} == {
        "information_sensitivity",
        "abstention_slope",
        "crossover",
    }
    assert Unit("rater_hours", Numbers()).value(12.34) == "12.3 h"
    assert Unit("information_sensitivity", Numbers()).value(0.4) == "40.0 percentage points"
    assert Unit("seconds", Numbers()).value(43.21) == "43.2 s"
    assert Unit("win_difference", Numbers()).value(-0.5) == "−50.0 percentage points"
    assert Unit("share", Numbers()).value(NAN) == "undefined"


ROOT = Path(__file__).parents[3]
PARTS = {
    "no_ratings",
    "interval",
    "no_interval",
    "adjusted_p",
    "raters",
    "cases",
    "items",
    "units_in",
    "these_n_raters",
    "these_raters",
    "by_majorities",
    "by_means",
    "by_raters",
    "systems",
    "all_raters",
    "the_criteria",
    "arms",
    "groups",
    "n_systems",
    "n_raters",
    "n_criteria",
    "n_groups",
    "groups_on_criteria",
    "all_criteria",
}
"""Parts of sentences, and the line beneath them."""


def test_the_rules_of_answers_are_listed_with_their_conditions() -> None:
    """Fails where a sentence is added without its rule, or a rule names none."""
    places = [ROOT / f"src/konsil/report/answers/{n}.py" for n in ("sentences", "sentence_parts")]
    ids = {
        keyword.value.value.removeprefix("answer.")
        for place in places
        for node in ast.walk(ast.parse(place.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "message_id" and isinstance(keyword.value, ast.Constant)
    }
    text = (ROOT / "docs" / "verdicts.md").read_text("utf-8")
    section = text.partition("## Answers on the first page")[2].partition("\n## ")[0]
    listed = [line.split(" | ")[0].strip("| ") for line in section.splitlines() if "| …" in line]
    listed += [
        line.split(" | ")[0].strip("| ") for line in section.splitlines() if "| More" in line
    ]
    assert sorted(listed) == sorted(
        ids - PARTS - {"of_comparisons", "of_equivalent", "of_these_only"}
    )


def test_the_strongest_statement_is_the_answer_whatever_its_size() -> None:
    """Kills the mutants that order the statements otherwise or take the largest difference."""
    small, large = row(0.05, 0.01, 0.09, A, B, p=0.01), row(0.3, -0.1, 0.7, A, C, p=0.2)
    assert "higher for system-a than for system-b" in answer(
        query(replace(SHARES, statistic="mean"), small, large)
    )


def test_an_ensemble_is_named_by_its_judges_alone() -> None:
    group = {"ensemble": "judge-1 + judge-6", "size": "2"}
    spec = Analysis("e", "ensembles_cohen_kappa", "correct", "judges")
    assert group_name(query(spec), group) == "judge-1 + judge-6"
    assert group_name(query(spec), {"size": "3"}) == "3"


def test_the_estimate_behind_a_conclusion_follows_it_where_there_is_one() -> None:
    spec = Analysis("reversal", "crossover", "correct", "physicians")
    given = row(0.1, -0.125, 0.35, A, finding="Rank reversal not shown.")
    assert answer(query(spec, given)) == (
        "Rank reversal not shown. Quantity, by these raters (physicians): 10.0 percentage points"
        " (95% CI, −12.5 to 35.0; 60 cases)."
    )
    assert answer(query(spec, given, given)) == "Rank reversal not shown."


def test_rated_units_are_counted_beside_clusters_where_they_differ() -> None:
    given = replace(row(0.5, 0.4, 0.6), n_units=178)
    assert answer(query(KAPPA, given)).endswith("(95% CI, 0.40 to 0.60; n = 178 in 60 items).")
    of_cases = Analysis("iss", "information_sensitivity", "correct", "physicians")
    alike = replace(given, statistic="information_sensitivity")
    assert answer(query(of_cases, alike)).endswith("; 60 cases).")
