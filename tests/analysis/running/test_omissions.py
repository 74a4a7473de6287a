"""Ranges of an estimate without each rater, item or characteristic, against omissions by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Exclusions, Resampling, Results, Row
from konsil.analysis.model.catalogue.known import COLUMNS
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.running.sensitivity.omission_rules import OTHER_COLUMNS, OWN_COLUMNS
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.errors.message import translate
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.report.estimates.interval_methods import column_heading
from konsil.report.material.language import language

GRADE = Criterion("grade", "?", Scale(("1", "2", "3"), level="ordinal"))
BETTER = Criterion("better", "?", Scale(("A", "tie", "B"), level="ordinal"), scope="pair")
FORM = Instrument("form", (GRADE, BETTER))
SYSTEMS = ("a", "b", "c")
GRADES = {"r1": "1112", "r2": "2223", "r3": "3133"}
"""Each rater's grades of the four items."""
SITES = ("north", "north", "south", "south")
CHOICES = [
    # item, first system, second system, rater, label
    ("q0", "a", "b", "r1", "A"),
    ("q1", "a", "c", "r1", "B"),
    ("q2", "b", "c", "r1", "tie"),
    ("q0", "a", "c", "r2", "A"),
    ("q2", "a", "b", "r2", "B"),
    ("q3", "a", "b", "r2", "A"),
    ("q1", "b", "c", "r3", "A"),
    ("q3", "a", "c", "r3", "A"),
]


def data() -> Data:
    items = tuple(
        Item(f"q{n}", "?", strata={"site": site} if site else {}) for n, site in enumerate(SITES)
    )
    answers = tuple(Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS)
    grades = tuple(
        Rating(f"g-q{n}-{r}", r, "grade", f"q{n}", (f"q{n}:a",), label=label)
        for r, labels in GRADES.items()
        for n, label in enumerate(labels)
    )
    choices = tuple(
        Rating(f"p-{n}", r, "better", q, (f"{q}:{x}", f"{q}:{y}"), label=label)
        for n, (q, x, y, r, label) in enumerate(CHOICES)
    )
    raters = tuple(Rater(r, "experts") for r in GRADES)
    return Data(items, answers, raters, (), (*grades, *choices))


def results(
    analysis: Analysis,
    records: Data | None = None,
    *,
    strict: bool = True,
    is_blinded: bool = False,
) -> Results:
    return run(
        [analysis],
        records or data(),
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(50),
            exclusions=Exclusions(),
            systems=tuple(System(s) for s in SYSTEMS),
            strict=strict,
            is_blinded=is_blinded,
        ),
    )


def is_range(row: Row) -> bool:
    return getattr(row.estimate.method, "message_id", "") == "method.leave_out"


def ranges(found: Results) -> list[Row]:
    return [r for r in found.rows if is_range(r)]


def test_the_range_of_a_mean_is_that_of_omissions_by_hand() -> None:
    # Labels are their numbers, so grades sum to 5, 9 and 10 over four items each: 24 / 12 = 2.
    [row] = ranges(results(flat_analysis("m", "mean", "grade", leave_out=("rater",))))
    without = {"r1": (9 + 10) / 8, "r2": (5 + 10) / 8, "r3": (5 + 9) / 8}
    assert row.kind == "companion"
    assert row.estimate.value == 2
    assert (row.estimate.low, row.estimate.high) == (without["r3"], without["r1"])
    assert row.estimate.n_clusters == 3
    # It is no confidence interval: it has no level and tests nothing.
    assert math.isnan(row.estimate.level)
    assert math.isnan(row.estimate.p)
    assert row.warnings == (
        "With one rater omitted (3 omissions), the estimate changes most without r1, to 2.375.",
    )


@pytest.mark.parametrize(
    ("statistic", "criterion"),
    [
        ("win_difference", "better"),
        ("davidson", "better"),
        ("percent_agreement", "grade"),
        ("krippendorff_alpha", "grade"),
        ("mean", "grade"),
    ],
)
@pytest.mark.parametrize("column", ["rater", "item", "site"])
def test_every_omission_is_the_analysis_of_the_other_ratings(
    statistic: str, criterion: str, column: str
) -> None:
    """Weights and pairs of raters are those of what remains: as if the rest were never given."""
    plain = flat_analysis("a", statistic, criterion)
    records = data()
    site = {f"q{n}": s for n, s in enumerate(SITES)}
    key = {
        "rater": lambda r: r.rater,
        "item": lambda r: r.item,
        "site": lambda r: site[str(r.item)],
    }[column]
    values: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for name in sorted({key(r) for r in records.ratings}):
        rest = replace(records, ratings=tuple(r for r in records.ratings if key(r) != name))
        for row in results(plain, rest, strict=False).rows:
            if row.kind == "estimate" and math.isfinite(row.estimate.value):
                values.setdefault(tuple(row.group.items()), []).append(row.estimate.value)
    found = ranges(results(replace(plain, leave_out=(column,))))
    assert found or statistic == "davidson"
    for row in found:
        by_hand = values.get(tuple(row.group.items()), [])
        if math.isfinite(row.estimate.low):
            assert row.estimate.low == pytest.approx(min(by_hand), abs=1e-9)
            assert row.estimate.high == pytest.approx(max(by_hand), abs=1e-9)
        else:
            assert row.estimate.reason


def test_ranges_of_strengths_are_of_the_same_systems() -> None:
    """Without r1, c never won, so that the strengths of a and b sum to zero by themselves."""
    outcomes = {
        "r1": ["ab A", "ab B", "ac B", "ac A", "bc A", "bc B"],
        "r2": ["ab A", "ab B", "ab A", "ac A", "bc A", "bc A"],
        "r3": ["ab B", "ab A", "ab A", "ac A", "ac A", "bc A"],
    }
    choices = tuple(
        Rating(
            f"{r}-{n}",
            r,
            "better",
            f"q{n % 4}",
            (f"q{n % 4}:{w[0]}", f"q{n % 4}:{w[1]}"),
            label=w[3],
        )
        for r, words in outcomes.items()
        for n, w in enumerate(words)
    )
    records = replace(data(), ratings=choices)
    found = ranges(
        results(flat_analysis("a", "bradley_terry", "better", leave_out=("rater",)), records)
    )
    assert {row.group["system"] for row in found} == set(SYSTEMS)
    for row in found:
        by_hand = []
        for name in ("r2", "r3"):
            rest = replace(records, ratings=tuple(r for r in choices if r.rater != name))
            rows = results(flat_analysis("a", "bradley_terry", "better"), rest, strict=False).rows
            by_hand += [
                r.estimate.value for r in rows if r.kind == "estimate" and r.group == row.group
            ]
        assert row.estimate.low == pytest.approx(min(by_hand), abs=1e-9)
        assert row.estimate.high == pytest.approx(max(by_hand), abs=1e-9)


def test_estimates_and_their_other_intervals_do_not_change() -> None:
    plain = flat_analysis("w", "win_difference", "better", compare="system")
    before = results(plain)
    after = results(replace(plain, leave_out=("rater", "site")))
    assert [repr(r) for r in after.rows if not is_range(r)] == [repr(r) for r in before.rows]
    # Each range follows the other intervals of its estimate, and differences have none.
    kinds = [(r.kind, r.group.get("system"), is_range(r)) for r in after.rows]
    for n, (kind, system, of_range) in enumerate(kinds):
        if of_range:
            assert kind == "companion"
            assert kinds[n - 1][1] == system
    assert sum(of_range for *_, of_range in kinds) == 2 * len(SYSTEMS)
    sentences = [s for s in after.methods if "omitted in turn" in s]
    # Without either site the estimates are the same, so that there is no range over sites.
    assert ["each rater" in sentence for sentence in sentences] == [True]


def test_omissions_without_an_estimate_are_named() -> None:
    """Without one of two raters there is no agreement."""
    records = data()
    alone = replace(records, ratings=tuple(r for r in records.ratings if r.rater != "r3"))
    [row] = ranges(
        results(flat_analysis("k", "percent_agreement", "grade", leave_out=("rater",)), alone)
    )
    assert math.isnan(row.estimate.low)
    assert row.estimate.reason == "fewer than two omissions have an estimate"
    assert row.warnings == ("With one rater omitted, not estimable without r1 and r2.",)


def test_a_range_without_width_is_no_range() -> None:
    records = data()
    same = replace(
        records,
        ratings=tuple(
            replace(r, label="2") if r.criterion == "grade" else r for r in records.ratings
        ),
    )
    [row] = ranges(results(flat_analysis("m", "mean", "grade", leave_out=("item",)), same))
    assert math.isnan(row.estimate.low)
    assert row.estimate.reason == "no omission changes the estimate"


def test_the_methods_name_analyses_with_a_range_alone() -> None:
    """Both raters gave the same grades, so that no omission of one changes the mean."""
    analysis = flat_analysis("m", "mean", "grade", leave_out=("rater", "item"))
    found = results(analysis, votes({"a": "1121", "b": "1121"}))
    [sentence] = (s for s in found.methods if "omitted in turn" in s)
    assert sentence.startswith("In m, each item was omitted in turn")


def test_a_column_that_ratings_do_not_have_refuses_the_analysis_alone() -> None:
    analysis = flat_analysis("m", "mean", "grade", leave_out=("sight",))
    with pytest.raises(AnalysisError, match="ratings have no column 'sight'"):
        results(analysis)
    assert "sight" in results(analysis, strict=False).refused[0]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"leave_out": ("system",)}, "leave_out[0]: 'system' cannot be omitted"),
        ({"leave_out": ("rater", "rater")}, "leave_out[1]: 'rater' occurs twice"),
        ({"leave_out": ("rater",), "by": ("rater",)}, "leave_out[0]: 'rater' is one of `by`"),
    ],
)
def test_contradictions(settings: dict[str, tuple[str, ...]], problem: str) -> None:
    [found] = contradictions(flat_analysis("m", "mean", "grade", **settings))
    assert found.startswith(problem)


def test_the_columns_of_ratings_are_known_without_the_table() -> None:
    assert {*OWN_COLUMNS, *OTHER_COLUMNS} == {*COLUMNS}


def judged(vendors: Sequence[str], kind: Literal["human", "llm"] = "llm") -> Data:
    """The same ratings by judges of these vendors."""
    raters = tuple(
        Rater(r, "experts", kind, strata={"vendor": vendor})
        for r, vendor in zip(GRADES, vendors, strict=True)
    )
    return replace(data(), raters=raters)


@pytest.mark.parametrize("where", [{}, {"rater": ("r1",)}])
@pytest.mark.parametrize("column", ["vendor", "rater_system"])
def test_characteristics_of_judges_are_withheld_while_the_study_is_blinded(
    where: dict[str, tuple[str, ...]], column: str
) -> None:
    """With one judge of a vendor, its range would be that of the judge's code."""
    plain = flat_analysis("m", "mean", "grade", where=where)
    records = judged(("north ltd", "south ltd", "south ltd"))
    found = results(replace(plain, leave_out=(column,)), records, is_blinded=True)
    [row] = ranges(found)
    assert row.estimate.reason == "withheld while the study is blinded"
    assert math.isnan(row.estimate.low) and math.isnan(row.estimate.high)
    assert (row.warnings, row.estimate.n_clusters) == ((), 0)
    assert not found.refused
    assert not [s for s in found.methods if "omitted in turn" in s]
    assert " ltd" not in repr((found.rows, found.warnings, found.methods))
    assert ranges(results(replace(plain, leave_out=("rater",)), records, is_blinded=True))


def test_characteristics_of_people_and_items_are_omitted_while_the_study_is_blinded() -> None:
    analysis = flat_analysis("m", "mean", "grade", leave_out=("vendor",))
    people = judged(("x", "y", "y"), "human")
    [row] = ranges(results(analysis, people, is_blinded=True))
    assert (row.estimate.low, row.estimate.high) == (5 / 4, 19 / 8)
    [row] = ranges(results(replace(analysis, leave_out=("site",)), judged("xyz"), is_blinded=True))
    assert math.isfinite(row.estimate.low)
    [row] = ranges(results(analysis, judged("xyz")))
    assert math.isfinite(row.estimate.low)


def test_characteristics_of_raters_are_omitted_from_the_own_panel_alone() -> None:
    """The experts of the reference come from the same sites as the judges, and stay."""
    reference = (Rater("e1", "reference", strata={"home": "x"}),)
    raters = tuple(
        Rater(r, "experts", strata={"home": home}) for r, home in zip(GRADES, "xyy", strict=True)
    )
    plain = data()
    correct = tuple(
        Rating(f"e-q{n}", "e1", "grade", f"q{n}", (f"q{n}:a",), label=label)
        for n, label in enumerate("2122")
    )
    records = replace(plain, raters=(*raters, *reference), ratings=(*plain.ratings, *correct))
    analysis = flat_analysis(
        "k",
        "percent_agreement",
        "grade",
        against="reference",
        consensus="mean",
        leave_out=("home",),
    )
    # The judges' mean labels are 2, 1, 2, 3, those of the expert 2, 1, 2, 2. Without x, r2 and r3
    # have a mean label on the last item alone, 3; without y, r1 has 1, 1, 1, 2.
    [row] = ranges(results(analysis, records))
    assert row.estimate.value == pytest.approx(3 / 4)
    assert (row.estimate.low, row.estimate.high) == (pytest.approx(0), pytest.approx(2 / 4))


def test_the_words_of_ranges_in_both_languages() -> None:
    found = results(flat_analysis("m", "mean", "grade", leave_out=("rater", "item", "site")))
    german = language("de").gettext
    methods = [row.estimate.method for row in ranges(found)]
    assert [column_heading(method) for method in methods] == [
        "leave-one-out range (rater)",
        "leave-one-out range (item)",
        "leave-one-out range (value of “site”)",
    ]
    assert [column_heading(method).translated(german, format) for method in methods] == [
        "Bereich bei Auslassen je einer bewertenden Person",
        "Bereich bei Auslassen je eines Items",
        "Bereich bei Auslassen je eines Werts von „site“",
    ]
    assert [translate(row.warnings[0], german, format) for row in ranges(found)] == [
        "Jeweils eine bewertende Person ausgelassen (3 Durchgänge): Der Schätzwert ändert sich am"
        " stärksten ohne r1, auf 2.375.",
        "Jeweils ein Item ausgelassen (4 Durchgänge): Der Schätzwert ändert sich am stärksten ohne"
        " q1 und q3, jeweils um 0.222.",
        "Jeweils ein Wert von „site“ ausgelassen (2 Durchgänge): Der Schätzwert ändert sich am"
        " stärksten ohne north und south, jeweils um 0.333.",
    ]
    assert any("each value of “site” was omitted in turn" in s for s in found.methods)


def votes(labels: Mapping[str, str]) -> Data:
    """Grades of item q0, q1, ... by each rater; a space is none."""
    names = [f"q{n}" for n in range(len(next(iter(labels.values()))))]
    return Data(
        tuple(Item(q, "?") for q in names),
        tuple(Answer(f"{q}:a", q, "a") for q in names),
        tuple(Rater(r, "experts", strata={"home": r[0]}) for r in labels),
        (),
        tuple(
            Rating(f"{q}-{r}", r, "grade", q, (f"{q}:a",), label=label)
            for r, given in labels.items()
            for q, label in zip(names, given, strict=True)
            if label != " "
        ),
    )


FEWER = (
    "With one rater fewer, majorities rest on another number of raters; the range need not contain"
    " the estimate."
)


def test_a_range_of_majorities_need_not_contain_the_estimate_and_has_a_note() -> None:
    """Of three raters each majority is one of two against one; of two there are ties."""
    records = votes({"a": "1121", "b": "1221", "c": "1112"})
    share = flat_analysis("s", "share", "grade", of=("1",), consensus="majority")
    [row] = ranges(results(replace(share, leave_out=("rater",)), records))
    # All: 1, 1, 2, 1; without a: 1, tie, tie, tie; without b: 1, 1, tie, tie; without c: 1, tie, 2, 1.
    assert row.estimate.value == 3 / 4
    assert (row.estimate.low, row.estimate.high) == (pytest.approx(2 / 3), 1)
    assert row.warnings[-1] == FEWER
    [row] = ranges(results(replace(share, leave_out=("home",)), records))
    assert row.warnings[-1].startswith("With fewer raters, majorities rest on another number")
    for analysis in (
        replace(share, leave_out=("item",)),
        replace(share, consensus="none", leave_out=("rater",)),
    ):
        [row] = ranges(results(analysis, records))
        assert "majorities" not in " ".join(row.warnings)


def test_units_without_a_majority_take_no_omissions_of_raters() -> None:
    analysis = flat_analysis("u", "without_majority", "grade", leave_out=("rater",))
    [problem] = contradictions(analysis)
    assert problem.startswith("leave_out[0]: 'rater' cannot be omitted from 'without_majority'")
    records = votes({"a": "1121", "b": "1221"})
    with pytest.raises(AnalysisError, match=r"leave_out\[0\]: 'home' cannot be omitted"):
        results(replace(analysis, leave_out=("home",)), records)
    assert ranges(results(replace(analysis, leave_out=("item",)), records))


def test_of_values_that_change_the_estimate_equally_all_are_named_or_counted() -> None:
    analysis = flat_analysis("m", "mean", "grade", leave_out=("rater",))
    [row] = ranges(results(analysis, votes({"a": "11", "b": "33", "c": "22"})))
    assert row.warnings == (
        "With one rater omitted (3 omissions), the estimate changes most without a and b, each by"
        " 0.500.",
    )
    [row] = ranges(results(analysis, votes({**{f"r{n}": "13"[n % 2] * 2 for n in range(8)}})))
    assert row.warnings == (
        "With one rater omitted (8 omissions), the estimate changes most, and equally, without 8 of"
        " them, each by 0.143.",
    )


def test_one_omission_with_an_estimate_and_equal_ones_make_no_range() -> None:
    agreement = flat_analysis("k", "percent_agreement", "grade", leave_out=("rater",))
    # Agreement is estimable without b alone, since a and b have no unit in common with others.
    [row] = ranges(results(agreement, votes({"a": "12 ", "b": "  1", "c": "12 "})))
    assert row.estimate.reason == "fewer than two omissions have an estimate"
    assert math.isnan(row.estimate.low) and math.isnan(row.estimate.high)
    assert row.warnings == ("With one rater omitted, not estimable without a and c.",)
    # Majorities: 1, 1, 1, 2; without any rater one of the first three is left, and the last.
    share = flat_analysis(
        "s", "share", "grade", of=("1",), consensus="majority", leave_out=("rater",)
    )
    [row] = ranges(results(share, votes({"a": "1122", "b": "1212", "c": "2112"})))
    assert row.estimate.value == 3 / 4
    assert row.estimate.reason == "all omissions change the estimate equally"
    assert row.warnings == (
        "With one rater omitted (3 omissions), the estimate changes most without a, b and c, each"
        " by 0.250.",
    )
    assert math.isnan(row.estimate.low)


def test_statistics_of_cases_take_no_omissions() -> None:
    analysis = flat_analysis("c", "stability", "grade", leave_out=("rater",), levels=("x", "y"))
    assert any(p.startswith("leave_out: belongs to agreement") for p in contradictions(analysis))
