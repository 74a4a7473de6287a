"""One target of inference per report: which interval comes first, why, and that nothing else
changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.analyses import flat_analysis, restated
from tests.analysis.pairs.test_pairs import ASKED, DATA, FORM

from konsil.analysis import Analysis, Inference, Results, Row
from konsil.analysis.estimation.estimate import EstimateSummary
from konsil.analysis.estimation.measure import Cells, Measure, pair, quotient
from konsil.analysis.estimation.raters import rater_samples
from konsil.analysis.estimation.raters.rater_notes import dominant_rater
from konsil.analysis.estimation.targets import ABOUT_THESE, LEAST_PEOPLE, answering
from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import StudyError
from konsil.errors.message import TranslatableMessage
from konsil.instrument import Criterion, Instrument, Scale, digest_of
from konsil.records import Item, Rater, Rating, Task
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.cluster_variance import effective_number
from konsil.study import parse
from konsil.study.data.freezing import plan_of_analyses
from konsil.study.definition.protocol import Study

LIKE_THESE, THESE = Inference("like these"), Inference("these")
INSTRUMENT = Instrument(
    "form", (Criterion("good", "?", Scale(("no", "yes"), level="ordinal"), "item"),), unit="item"
)
SHARE = flat_analysis("share", "share", "good", "experts", of=("yes",))
KAPPA = Analysis("kappa", "cohen_kappa", "good", "experts")
OF_JUDGES = replace(SHARE, name="judges", raters="judges")


@cache
def ratings(experts: int, busy: int = 1, judges: int = 3, others: int = 0) -> Data:
    """Items that three panels label; the first expert labels `busy` times as many as each of the
    other experts."""
    generator = np.random.default_rng(11)
    items = [Item(f"i{n:02}", "?") for n in range(36)]
    raters = [Rater(f"e{n}", "experts") for n in range(experts)]
    raters += [Rater(f"j{n}", "judges", "llm", "family") for n in range(judges)]
    raters += [Rater(f"o{n}", "others") for n in range(others)]
    severity = dict(zip([r.id for r in raters], generator.normal(0, 0.7, len(raters)), strict=True))
    tasks, records = [], []
    for n, item in enumerate(items):
        difficulty = generator.normal()
        for r in raters:
            label = "yes" if difficulty + severity[r.id] + generator.normal(0, 0.6) > 0 else "no"
            if r.panel == "experts" and r.id != "e0" and n % busy:
                continue
            tasks.append(Task(f"{r.id}-{item.id}", "p", r.id, "form", item.id, ()))
            records.append(
                Rating(f"{r.id}-{item.id}", r.id, "good", item.id, (), None, "rated", label)
            )
    return Data(items=items, raters=raters, tasks=tasks, ratings=records)


def results(
    inference: Inference, experts: int = 6, busy: int = 1, others: int = 0, *asked: Analysis
) -> Results:
    """The analyses of these ratings with few draws."""
    return run(
        asked or (SHARE, KAPPA, OF_JUDGES),
        ratings(experts, busy, others=others),
        RunSettings(
            instruments=[INSTRUMENT],
            seed=1,
            resampling=Resampling(300),
            exclusions=Exclusions(),
            inference=inference,
        ),
    )


def first(of_target: Results, analysis: str, kind: str = "estimate") -> Row:
    """The headline of an analysis."""
    return next(r for r in of_target.rows if r.analysis == analysis and r.kind == kind)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 9))
def test_the_effective_number_is_at_most_that_of_raters_and_theirs_where_all_are_alike(
    counts: list[int], n: int
) -> None:
    effective = effective_number(np.array(counts))
    assert 1 - 1e-9 <= effective <= len(counts) + 1e-9
    assert effective == pytest.approx(effective_number(n * np.array(counts)))
    assert (effective > len(counts) - 1e-9) == (len(set(counts)) == 1)
    assert effective_number(np.full(n, counts[0])) == pytest.approx(n)
    assert math.isnan(effective_number(np.zeros(2, dtype=np.int64)))


@pytest.mark.parametrize(
    "statistic",
    ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "percent_agreement"],
)
def test_a_rater_with_much_of_the_ratings_is_named_beside_agreement(statistic: str) -> None:
    agreement = replace(KAPPA, name="panel", statistic=statistic)
    busy, even = (first(results(LIKE_THESE, 6, n, 0, agreement), "panel") for n in (4, 1))
    assert "two-way" in busy.estimate.method
    [note] = [w for w in busy.warnings if "of the ratings" in w]
    # 36 of 81 ratings by one rater, 9 by each of the five others.
    assert note == "e0 gave 44% of the ratings; the effective number of raters is 3.9 (of 6)."
    assert isinstance(note, TranslatableMessage) and note.message_id == "two_way.dominant_ratings"
    assert not [w for w in even.warnings if "of the ratings" in w]


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["percent_agreement", "krippendorff_alpha", "gwet_ac1"])
def test_agreement_with_one_rater_who_gave_nearly_all_is_about_these_raters(statistic: str) -> None:
    found = results(LIKE_THESE, 6, 18, 0, replace(KAPPA, name="panel", statistic=statistic))
    row = first(found, "panel")
    assert row.estimate.raters == "these" and "two-way" not in " ".join(
        r.estimate.method for r in found.rows
    )
    [note] = [w for w in row.warnings if "of the ratings" in w]
    assert isinstance(note, TranslatableMessage) and note.message_id == "two_way.dominated_ratings"
    assert note.startswith("e0 gave 78% of the ratings; the effective number of raters is 1.6")


def test_of_units_that_every_rater_labelled_nobody_gave_more() -> None:
    icc = replace(KAPPA, name="panel", statistic="icc2")
    assert not [
        w
        for w in first(results(LIKE_THESE, 6, 2, 0, icc), "panel").warnings
        if "of the ratings" in w
    ]


@pytest.mark.parametrize("name", ["share", "kappa"])
def test_the_targets_interval_is_the_first_and_nothing_else_changes(name: str) -> None:
    like, these = results(LIKE_THESE), results(THESE)
    assert (like.target, these.target) == ("like these", "these")
    a, b = first(like, name).estimate, first(these, name).estimate
    assert "two-way" in a.method and "two-way" not in b.method
    assert (a.raters, b.raters) == ("like these", "these")
    assert a.value == b.value and a.low < b.low < a.value < min(a.high, b.high)
    ends = [
        sorted((r.estimate.low, r.estimate.high, r.estimate.method) for r in of_target.rows)
        for of_target in (like, these)
    ]
    assert ends[0] == ends[1]
    # What is told of raters is about the interval that comes first.
    warnings = [" ".join(first(of_target, name).warnings) for of_target in (like, these)]
    assert "the primary CI applies to these raters only" not in warnings[0]
    assert "the primary CI applies to these raters only" in warnings[1]
    assert "use the two-way CI" not in warnings[0]
    # The posterior of a kappa of sparse labels is as wide as its two-way interval here.
    assert ("widens the CI by" in warnings[0]) == (name == "share")
    assert ("use the two-way CI" in warnings[1]) == (name == "share")


def test_of_judges_no_other_raters_are_in_question() -> None:
    rows = [first(results(target), "judges") for target in (LIKE_THESE, THESE)]
    assert len({(r.estimate.low, r.estimate.high, r.estimate.method) for r in rows}) == 1
    assert rows[0].estimate.raters == "these"


def test_two_raters_are_nobody_elses_sample() -> None:
    row = first(results(LIKE_THESE, 2), "share")
    assert row.estimate.raters == "these" and any(
        "two-way" in r.estimate.method for r in results(LIKE_THESE, 2).rows
    )


@pytest.mark.parametrize(
    ("experts", "busy", "target"),
    [(4, 1, "these"), (5, 1, "like these"), (9, 6, "like these")],
)
def test_without_a_target_the_number_of_people_decides(
    experts: int, busy: int, target: str
) -> None:
    undeclared = results(Inference(), experts, busy)
    assert (experts >= LEAST_PEOPLE) == (target == "like these")
    assert undeclared.target == target
    words = f"the smallest has {experts} people who were to rate (panel: experts)"
    assert words in undeclared.inference[0]
    assert first(undeclared, "share").estimate.raters == target
    assert set(undeclared.inference) <= set(undeclared.methods)


def test_the_smallest_panel_decides_and_one_person_is_no_panel() -> None:
    second = replace(SHARE, name="others", raters="others")
    assert results(Inference(), 6, 1, 2, SHARE, second).target == "these"
    assert (
        "the smallest has 2 people who were to rate (panel: others)"
        in results(Inference(), 6, 1, 2, SHARE, second).inference[0]
    )
    assert results(Inference(), 6, 1, 1, SHARE, second).target == "like these"
    assert results(Inference(), 6, 1, 2, SHARE).target == "like these"
    nobody = results(Inference(), 6, 1, 0, OF_JUDGES)
    assert (
        nobody.target == "these"
        and "no analysis uses ratings by several people" in nobody.inference[0]
    )


def test_who_answered_never_changes_the_target_and_rows_state_what_it_rests_on() -> None:
    """Ratings of two of five raters are removed one by one; then all others, too."""
    data = ratings(5, judges=0)
    settings = RunSettings(
        instruments=[INSTRUMENT], seed=1, resampling=Resampling(20), exclusions=Exclusions()
    )
    few = [r for r in data.ratings if r.rater in {"e0", "e1"}]
    orders = [*(few[:n] for n in range(0, len(few) + 1, 6)), data.ratings]
    notes = []
    for gone in orders:
        removed = {(r.task, r.criterion) for r in gone}
        left = [r for r in data.ratings if (r.task, r.criterion) not in removed]
        of_rest = run([SHARE], replace(data, ratings=left), replace(settings, strict=False))
        assert of_rest.target == "like these"
        assert "has 5 people who were to rate" in of_rest.inference[0]
        rows = [r for r in of_rest.rows if r.kind == "estimate"]
        notes.append(any("hardly carry" in w for r in rows for w in r.warnings))
    # Only while five raters count like five; without any rating there is nothing to note.
    assert notes[0] is False and notes[-1] is False
    assert notes[len(notes) - 2] is True


def test_the_target_of_a_frozen_plan_stays_and_one_that_is_stated_comes_first() -> None:
    settings = RunSettings(
        instruments=[INSTRUMENT], seed=1, resampling=Resampling(20), exclusions=Exclusions()
    )
    for frozen, stated, expected in (
        ("these", None, "these"),
        (None, None, "like these"),
        ("these", "like these", "like these"),
    ):
        given = replace(settings, frozen_target=Inference(frozen), inference=Inference(stated))
        of_plan = run([SHARE], ratings(6), given)
        assert of_plan.target == expected
        is_of_freeze = stated is None and frozen is not None
        assert ("as in the frozen plan" in of_plan.inference[0]) == is_of_freeze


@pytest.mark.parametrize("change", [{"mode": "paper"}, {"cluster": "rater"}])
def test_what_an_analysis_decides_itself_stays(change: dict[str, str]) -> None:
    asked = restated(SHARE, **change)  # type: ignore[arg-type]
    a, b = (
        first(results(target, 6, 1, 0, asked), "share").estimate for target in (LIKE_THESE, THESE)
    )
    assert (a.low, a.high, a.method) == (b.low, b.high, b.method) and a.high > a.low


@pytest.mark.slow
def test_comparisons_of_people_follow_the_target() -> None:
    def rows(inference: Inference, statistic: str) -> list[Row]:
        asked = replace(ASKED, statistic=statistic)
        return list(
            run(
                [asked],
                DATA,
                RunSettings(
                    instruments=[FORM],
                    seed=3,
                    resampling=Resampling(200),
                    exclusions=Exclusions(),
                    inference=inference,
                ),
            ).rows
        )

    for statistic in ("win_difference", "davidson"):
        like, these = rows(LIKE_THESE, statistic), rows(THESE, statistic)
        a, b = like[0].estimate, these[0].estimate
        assert (a.raters, b.raters) == ("like these", "these")
        assert "two-way" in a.method and b.method.startswith("cluster-robust Wald (item-clustered)")
        assert a.value == b.value and any(
            r.estimate.method == a.method and r.kind == "companion" for r in these
        )
        # Interval and p are one test: no flips in the first row.
        assert math.isnan(b.p) or (b.p < 0.05) == (not b.low <= 0 <= b.high)
    differences = [
        next(r for r in rows_of_difference(target) if r.kind == "difference").estimate
        for target in (LIKE_THESE, THESE)
    ]
    assert [d.raters for d in differences] == ["like these", "these"] and differences[
        0
    ].value == differences[1].value


def rows_of_difference(inference: Inference) -> tuple[Row, ...]:
    """Rows of systems compared with one another."""
    asked = replace(ASKED, compare="system")
    return run(
        [asked],
        DATA,
        RunSettings(
            instruments=[FORM],
            seed=3,
            resampling=Resampling(200),
            exclusions=Exclusions(),
            inference=inference,
        ),
    ).rows


def test_a_number_without_the_targets_interval_has_none_but_as_an_exception() -> None:
    plain = EstimateSummary(Estimate(0.5, 0.4, 0.6, p=0.01, method="of items"))
    assert answering(plain, "like these", 9, is_exempt=True) is plain
    assert answering(plain, "like these", 2) is plain
    refused = answering(plain, "like these", 9)
    assert (refused.headline.value, refused.headline.raters) == (0.5, "like these")
    assert np.isnan([refused.headline.low, refused.headline.high, refused.headline.p]).all()
    assert refused.headline.reason == "no CI and no p value: not estimable for raters like these"
    assert refused.headline.method == "" and refused.companions == (plain.headline,)
    half = EstimateSummary(Estimate(0.5, 0.4, 0.6), (Estimate(0.5, raters="like these"),))
    assert math.isnan(answering(half, "like these", 9).headline.low)
    # Why even these raters have no interval is the better reason.
    few = EstimateSummary(Estimate(0.5, p=0.2, reason="too few clusters"))
    assert answering(few, "like these", 9).headline.reason == "too few clusters"
    two = EstimateSummary(Estimate(0.5, 0.4, 0.6), (Estimate(0.5, 0.1, 0.9, raters="like these"),))
    assert answering(two, None, 9) is two and answering(two, "like these", 2) is two
    swapped = answering(two, "like these", 3)
    assert swapped.headline == two.companions[0] and swapped.companions == (two.headline,)
    assert answering(swapped, "these", 3).headline == two.headline


def test_the_documents_name_every_statistic_without_an_interval_for_raters_like_these() -> None:
    text = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text("utf-8")
    sentence = text[text.index("The exceptions, which always") :].split("\n\n")[0]
    assert {*re.findall(r"`(\w+)`", sentence)} == ABOUT_THESE
    assert {*ABOUT_THESE} <= {*CATALOGUE}


HALVES = ("first", "second")


def halved(data: Data) -> Data:
    """The same ratings, of items in two halves that share all raters."""
    items = [replace(i, strata={"half": HALVES[n % 2]}) for n, i in enumerate(data.items)]
    return replace(data, items=items)


def between_halves(
    statistic: str, inference: Inference, data: Data
) -> tuple[Row, list[Row], Results]:
    """The difference of agreement of the two halves, its companions, and all results."""
    asked = Analysis("h", statistic, "good", "experts", by=("half",), compare="half")
    settings = RunSettings(
        instruments=[INSTRUMENT],
        seed=1,
        resampling=Resampling(200),
        exclusions=Exclusions(),
        inference=inference,
    )
    of_halves = run([asked], halved(data), settings)
    at = next(n for n, r in enumerate(of_halves.rows) if r.kind == "difference")
    return of_halves.rows[at], list(of_halves.rows[at + 1 :]), of_halves


@pytest.mark.parametrize("statistic", ["percent_agreement", "krippendorff_alpha", "icc2"])
def test_differences_of_agreement_of_the_same_raters_follow_the_target(statistic: str) -> None:
    like, beside_like, _ = between_halves(statistic, LIKE_THESE, ratings(6))
    these, beside_these, _ = between_halves(statistic, THESE, ratings(6))
    assert (like.estimate.raters, these.estimate.raters) == ("like these", "these")
    assert "two-way" in like.estimate.method and "two-way" not in these.estimate.method
    assert like.estimate.value == these.estimate.value
    assert like.estimate.high - like.estimate.low > these.estimate.high - these.estimate.low
    assert (like.estimate.p < 0.05) == (not like.estimate.low <= 0 <= like.estimate.high)
    # What stands first for one target stands beside for the other.
    assert these.estimate in [r.estimate for r in beside_like]
    assert like.estimate in [r.estimate for r in beside_these]


@pytest.mark.parametrize(
    ("statistic", "factor"), [("percent_agreement", 5 / 4), ("fleiss_kappa", 1)]
)
def test_the_two_way_variance_is_that_of_leaving_out_raters_and_items(
    statistic: str, factor: float
) -> None:
    data = ratings(6)
    row, _, _ = between_halves(statistic, LIKE_THESE, data)
    label_of = {(r.rater, r.item): float(r.label == "yes") for r in data.ratings}
    y = np.array([[label_of[f"e{n}", i.id] for n in range(6)] for i in data.items])

    def value(table: np.ndarray, weights: np.ndarray) -> float:
        ones, n = table.sum(axis=1), table.shape[1]
        of_pairs = (ones * (ones - 1) + (n - ones) * (n - ones - 1)) / (n * (n - 1))
        agreed = np.average(of_pairs, weights=weights)
        yes = np.average(ones / n, weights=weights)
        corrected = (agreed - yes**2 - (1 - yes) ** 2) / (2 * yes * (1 - yes))
        return float(agreed if statistic == "percent_agreement" else corrected)

    def influences(table: np.ndarray) -> np.ndarray:
        steps, ones = 1e-5 * np.eye(len(table)), np.ones(len(table))
        return np.array([(value(table, ones + s) - value(table, ones - s)) / 2e-5 for s in steps])

    def of(table: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = table[0::2], table[1::2]
        difference = value(a, np.ones(18)) - value(b, np.ones(18))
        return difference, np.concatenate([influences(a), -influences(b)])

    at, psi = of(y)
    each = [of(np.delete(y, n, axis=1)) for n in range(6)]
    left, psis = np.array([d for d, _ in each]), np.array([p for _, p in each])
    by_item = 36 / 35 * (psi**2).sum()
    by_rater = factor * 5 / 6 * ((left - left.mean()) ** 2).sum()
    both = 5 / 6 * ((psis - psis.mean(axis=0)) ** 2).sum()
    variance = max(by_item + by_rater - both, by_item, by_rater)
    df = max(variance**2 / (by_item**2 / 35 + by_rater**2 / 5), 5)
    assert row.estimate.value == pytest.approx(at)
    assert row.estimate.se == pytest.approx(np.sqrt(variance), rel=1e-6)
    half = stats.t.ppf(0.975, df) * np.sqrt(variance)
    assert (row.estimate.low, row.estimate.high) == pytest.approx((at - half, at + half))


def relabelled(data: Data, rule: Callable[[Rating, int], str]) -> Data:
    """The ratings with other labels, by rater and number of the item."""
    return replace(data, ratings=[replace(r, label=rule(r, int(r.item[1:]))) for r in data.ratings])


def test_a_difference_that_is_undefined_without_a_rater_is_not_estimable_for_others() -> None:
    # Without e0 all labels of the first half are alike, and kappa is undefined.
    data = relabelled(
        ratings(4),
        lambda r, n: (
            ("no" if r.rater == "e0" and n % 3 == 0 else "yes") if n % 2 == 0 else str(r.label)
        ),
    )
    row, beside, all_rows = between_halves("fleiss_kappa", LIKE_THESE, data)
    assert math.isfinite(row.estimate.value) and row.estimate.raters == "like these"
    assert np.isnan([row.estimate.low, row.estimate.high, row.estimate.p]).all()
    assert "not estimable for raters like these" in row.estimate.reason
    (of_these,) = beside
    assert of_these.estimate.raters == "these" and of_these.kind == "companion"
    assert math.isfinite(of_these.estimate.low) and math.isfinite(of_these.estimate.p)
    # So is the number of the first half itself, but not that of the second.
    single = {r.group["half"]: r.estimate for r in all_rows.rows if r.kind == "estimate"}
    assert math.isnan(single["first"].low) and math.isfinite(single["second"].low)
    assert "not estimable for raters like these" in single["first"].reason


def test_where_leaving_out_raters_would_take_too_long_every_row_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rater_samples, "MOST_RATERS", 5)
    row, _, of_halves = between_halves("krippendorff_alpha", LIKE_THESE, ratings(6))
    for primary in (row, *(r for r in of_halves.rows if r.kind == "estimate")):
        assert primary.estimate.raters == "these" and math.isfinite(primary.estimate.low)
        assert any("raters were not left out one at a time" in w for w in primary.warnings)


def test_a_difference_with_one_rater_who_gave_nearly_all_says_so() -> None:
    row, _, _ = between_halves("percent_agreement", LIKE_THESE, ratings(3, 9))
    assert row.estimate.raters == "these"
    assert any("the CI applies to these raters only" in w for w in row.warnings)


def protocol(lines: str) -> str:
    return f'title = "t"\nseed = 1\n{lines}'


def read(name: str) -> str:
    raise FileNotFoundError(name)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            '[inference]\nraters = "like thees"',
            "inference.raters: 'like thees' is not one of 'these', 'like these'",
        ),
        ('[inference]\nrater = "these"', "inference.rater: unknown key; did you mean 'raters'"),
        ("[inference]\nraters = 5", "inference.raters: 5 is not one of"),
    ],
)
def test_another_target_is_refused_with_the_nearest_name(lines: str, problem: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse(protocol(lines), read)
    assert problem in str(refused.value)


def test_the_target_is_part_of_the_digest_and_of_a_frozen_plan_only_where_it_is_stated() -> None:
    silent, empty = (parse(protocol(lines), read) for lines in ("", "[inference]"))
    stated = parse(protocol('[inference]\nraters = "these"'), read)
    assert stated.inference == THESE
    assert digest_of(silent) == digest_of(empty) != digest_of(stated)
    assert plan_of_analyses(silent) == plan_of_analyses(empty)
    assert plan_of_analyses(silent)["rules"] != plan_of_analyses(stated)["rules"]
    # A plan that was frozen before there was the key is as it was.
    study = Study("t", 1)
    old = (study.seed, study.exclusions, study.resampling, study.derived, ())
    assert plan_of_analyses(study)["rules"] == digest_of(dict(enumerate(old)))


def test_every_sentence_of_the_target_has_an_id() -> None:
    for of_target in (
        results(LIKE_THESE),
        results(THESE),
        results(Inference(), 4),
        results(Inference()),
    ):
        for sentence in of_target.inference:
            assert isinstance(sentence, TranslatableMessage) and sentence.message_id.startswith(
                "target."
            )


@pytest.mark.parametrize("statistic", ["share", "mean"])
def test_a_rater_with_most_of_the_ratings_is_named_beside_shares_and_means(statistic: str) -> None:
    asked = restated(SHARE, statistic=statistic, of=("yes",) if statistic == "share" else ())
    warnings = first(results(LIKE_THESE, 9, 6, 0, asked), "share").warnings
    # 36 of 36 + 8 * 6 ratings.
    effective = effective_number(np.array([36, *[6] * 8]))
    assert (
        f"e0 gave 43% of the ratings; the effective number of raters is {effective:.1f} (of 9)."
        in warnings
    )
    assert not any(
        "of the ratings" in w for w in first(results(LIKE_THESE, 9, 1, 0, asked), "share").warnings
    )
    # One of two raters has at most twice an even share, and is named only where the other gave next
    # to nothing.
    assert not any(
        "of the ratings" in w for w in first(results(LIKE_THESE, 2, 1, 0, asked), "share").warnings
    )


@pytest.mark.parametrize("statistic", ["share", "mean"])
def test_a_rater_with_nearly_all_ratings_leaves_no_interval_about_raters_like_these(
    statistic: str,
) -> None:
    asked = restated(SHARE, statistic=statistic, of=("yes",) if statistic == "share" else ())
    of_two = results(LIKE_THESE, 2, 6, 0, asked)  # 36 and 6 ratings
    summary = first(of_two, "share")
    assert summary.estimate.raters == "these"
    assert math.isfinite(summary.estimate.low)
    [note] = [w for w in summary.warnings if "of the ratings" in w]
    assert note.startswith(
        "e0 gave 86% of the ratings; the effective number of raters is 1.3 (of 2). With fewer"
    )
    assert not any("two-way" in row.estimate.method for row in of_two.rows)


def test_of_two_groups_the_one_with_the_busiest_rater_is_told() -> None:
    rows = np.ones((30, 2))
    even, busy = (
        Measure(
            np.ones((1, 2)),
            quotient,
            ("c",),
            1,
            5,
            30,
            cell=Cells(rows, np.zeros(30, np.int64), who, names=NAMES),
        )
        for who in (np.arange(30) % 5, np.array([0] * 22 + [1, 2, 3, 4] * 2))
    )
    assert dominant_rater(even) == [] and dominant_rater(pair(even, even)) == []
    for both in (pair(even, busy), pair(busy, even), busy):
        (note,) = dominant_rater(both)
        assert note.startswith("a gave 73% of the ratings; the effective number of raters is 1.8")
    assert dominant_rater(replace(even, cell=None)) == []


NAMES = ("a", "b", "c", "d", "e")


def compared(
    inference: Inference, statistic: str, others: int, experts: int = 6
) -> tuple[Row, list[Row], Results]:
    """The difference of the panels, what stands beside it, and all results."""
    counted = {"of": ("yes",)} if statistic == "share" else {}
    asked = flat_analysis(
        "panels", statistic, "good", "both", by=("panel",), compare="panel", **counted
    )
    of_both = run(
        [asked, replace(SHARE, name="few", raters="others")],
        ratings(experts, others=others),
        RunSettings(
            instruments=[INSTRUMENT],
            seed=1,
            resampling=Resampling(300),
            exclusions=Exclusions(),
            inference=inference,
            together={"both": ("experts", "others")},
        ),
    )
    at = next(n for n, r in enumerate(of_both.rows) if r.kind == "difference")
    beside = [r for r in of_both.rows[at + 1 :] if r.kind == "companion" and r.analysis == "panels"]
    return of_both.rows[at], beside, of_both


@pytest.mark.slow
@pytest.mark.parametrize(
    "statistic", ["cohen_kappa", "krippendorff_alpha", "percent_agreement", "icc2", "share", "mean"]
)
def test_panels_are_compared_by_raters_but_where_the_protocol_states_these(statistic: str) -> None:
    like, beside, of_target = compared(LIKE_THESE, statistic, 5)
    these, two_way, alone = compared(THESE, statistic, 5)
    assert [r.estimate.high for r in two_way] == [like.estimate.high]
    assert not any("have different raters" in w for w in these.warnings)
    assert like.estimate.raters == "like these" and "two-way" in like.estimate.method
    assert these.estimate.raters == "these" and beside[0].estimate.raters == "these"
    assert like.estimate.value == these.estimate.value
    assert like.estimate.high - like.estimate.low > these.estimate.high - these.estimate.low
    assert (like.estimate.p < 0.05) == (not like.estimate.low <= 0 <= like.estimate.high)
    assert beside[0].estimate.p == these.estimate.p != like.estimate.p
    assert any("have different raters" in w for w in like.warnings)
    # Two panels of three are too few for the default target, and are compared by raters all the
    # same.
    few, _, default = compared(Inference(), statistic, 3, 3)
    assert (
        default.target == "these"
        and few.estimate.raters == "like these"
        and few.estimate.low < few.estimate.high
    )
    sentences = [
        any("without common raters" in s for s in f.inference) for f in (of_target, default, alone)
    ]
    assert sentences == [True, True, False]


def test_panels_that_are_raters_together_are_named_with_their_members() -> None:
    asked = replace(SHARE, raters="both", by=("panel",), compare="panel")
    of_both = run(
        [asked],
        ratings(3, others=3),
        RunSettings(
            instruments=[INSTRUMENT],
            seed=1,
            resampling=Resampling(100),
            exclusions=Exclusions(),
            together={"both": ("experts", "others")},
        ),
    )
    assert (
        "has 6 people who were to rate (panel: both (experts and others together))"
        in of_both.inference[0]
    )


def test_a_difference_has_the_units_of_both_groups() -> None:
    difference, _, of_both = compared(Inference(), "share", 3)
    first_group, second = (
        r for r in of_both.rows if r.analysis == "panels" and r.kind == "estimate"
    )
    assert (
        (difference.n_units, difference.n_units_versus)
        == (first_group.n_units, second.n_units)
        == (36, 36)
    )


@pytest.mark.slow
def test_a_panel_of_too_few_says_so_instead_of_a_number() -> None:
    difference, beside, _ = compared(LIKE_THESE, "cohen_kappa", 2)
    assert math.isfinite(difference.estimate.value) and math.isnan(difference.estimate.p)
    assert math.isnan(difference.estimate.low) and math.isnan(difference.p_adjusted)
    assert difference.estimate.reason.startswith(
        "no CI: variation between raters is not estimable from 2 raters"
    )
    assert [r.estimate.raters for r in beside] == ["these"] and math.isfinite(
        beside[0].estimate.low
    )
    assert any("does not show a difference between the panels" in w for w in difference.warnings)
    alone, _, _ = compared(LIKE_THESE, "share", 1)
    assert math.isnan(alone.estimate.low) and "not estimable from 1 rater" in alone.estimate.reason
    named = replace(SHARE, by=("rater",), compare="rater")
    rows = [r for r in results(LIKE_THESE, 3, 1, 0, named).rows if r.kind == "difference"]
    assert rows and all(
        math.isfinite(r.estimate.low) and r.estimate.raters == "these" for r in rows
    )


def test_what_is_linear_in_percent_agreement_has_its_two_way_limits() -> None:
    asked = [
        Analysis(s, s, "good", "experts") for s in ("percent_agreement", "pabak", "randolph_kappa")
    ]
    share, *others = (first(results(LIKE_THESE, 6, 1, 0, *asked), a.name).estimate for a in asked)
    assert "two-way" in share.method and "on the logit scale of the proportion" in share.method
    assert 0 <= share.low < share.value < share.high <= 1
    for other in others:
        assert (other.low, other.high) == pytest.approx((2 * share.low - 1, 2 * share.high - 1))
