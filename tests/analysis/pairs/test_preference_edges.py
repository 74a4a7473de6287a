"""`konsil preference` where intervals end: one rater with most votes, ties alone, few votes, tests
that disagree."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

import konsil
from konsil.analysis.model.verdicts import p_words
from konsil.analysis.pairs.vote_sentences import ratio_limits, worth_limits
from konsil.cli.preference_tables import show
from konsil.errors import AnalysisError, SourceError
from konsil.stats.inference.cluster_variance import LEAST_RATERS, effective_number
from konsil.stats.inference.infer import FEW_CLUSTERS
from konsil.stats.pairs.preference import disagree, preferences
from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.vote_cautions import vote_cautions
from konsil.stats.pairs.votes import Votes, votes
from konsil.stats.pairs.wins import system_against_others


def table(rows: Sequence[tuple[str, str, str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["item", "rater", "first", "second", "winner"], orient="row")


def printed(frame: pl.DataFrame, capsys: pytest.CaptureFixture[str], **options: object) -> str:
    show(konsil.preference(frame, resamples=500, **options))  # type: ignore[arg-type]
    return re.sub(r"\s*\n", "\n", capsys.readouterr().out)


TIES = table([(f"q{n}", f"r{n % 3}", "a", "b", "tie") for n in range(12)])


def dominated(n: int = 100, mine: int = 92, seed: int = 5) -> pl.DataFrame:
    """One rater gives nearly all votes on three systems, four others the rest."""
    g = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        a, b = g.choice(3, 2, replace=False)
        winner = g.choice(["ABC"[a], "ABC"[b], "tie"])
        rows.append((f"q{i}", "busy" if i < mine else f"r{i % 4}", "ABC"[a], "ABC"[b], str(winner)))
    return table(rows)


def test_paper_mode_names_the_interval_by_item_and_the_two_way_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    g = np.random.default_rng(2)
    frame = table(
        [
            (
                f"q{n // 2}",
                f"r{n % 9}",
                "a",
                "b",
                str(g.choice(["a", "b", "tie"], p=[0.6, 0.3, 0.1])),
            )
            for n in range(90)
        ]
    )
    entry = konsil.preference(frame, resamples=500, mode="paper").win_difference[0]
    assert entry["method"].startswith("item-cluster bootstrap, percentile")
    assert entry["two_way"]["method"].startswith("two-way cluster-robust")
    text = printed(frame, capsys, mode="paper")
    head, line = next(
        pair
        for pair in zip(text.splitlines(), text.splitlines()[1:], strict=False)
        if pair[0].startswith("system")
    )
    assert head.index("by item") < head.index("two-way")
    assert "interval" not in head
    intervals = re.findall(r"\[([−0-9.]+), ([−0-9.]+)\]", line)
    as_numbers = [[float(end.replace("−", "-")) for end in pair] for pair in intervals]
    ends = [[entry["low"], entry["high"]], [entry["two_way"]["low"], entry["two_way"]["high"]]]
    np.testing.assert_allclose(as_numbers, ends, atol=5e-4)


def test_ties_alone_give_worths_without_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    model = konsil.preference(TIES, resamples=500).bradley_terry
    for worth in model["worths"]:
        assert (
            worth["low"]
            is worth["high"]
            is worth["ratio_low"]
            is worth["ratio_high"]
            is worth["se"]
            is None
        )
        assert "identical comparisons" in worth["reason"]
    text = printed(TIES, capsys)
    assert "[0.000, 0.000]" not in text
    assert "[1.000, 1.000]" not in text
    assert "Bradley-Terry, without CI: no CI from identical comparisons." in text


@pytest.mark.parametrize("outcomes", ["a" * 12, "-" * 12, "ab" * 6, "a" * 11 + "b"])
@pytest.mark.parametrize(("items", "raters"), [(12, 3), (1, 12), (12, 1), (1, 1), (2, 2)])
def test_no_interval_has_width_zero(outcomes: str, items: int, raters: int) -> None:
    rows = [
        (f"q{n % items}", f"r{n % raters}", "a", "b", {"-": "tie"}.get(label, label))
        for n, label in enumerate(outcomes)
    ]
    frame = table(rows)
    for mode in ("valid", "paper"):
        plain = konsil.preference(frame, resamples=200, mode=mode).to_dict()  # type: ignore[arg-type]
        for path, entry in _entries(plain):
            for low, high in (("low", "high"), ("ratio_low", "ratio_high")):
                if entry.get(low) is not None:
                    assert entry[high] - entry[low] > 1e-9, (path, entry)


def _entries(plain: object, path: str = "") -> list[tuple[str, dict[str, float]]]:
    if isinstance(plain, dict):
        return [(path, plain), *(e for k, v in plain.items() for e in _entries(v, f"{path}.{k}"))]
    return (
        [e for n, v in enumerate(plain) for e in _entries(v, f"{path}[{n}]")]
        if isinstance(plain, list)
        else []
    )


def test_one_rater_with_nearly_all_votes_has_no_interval_about_raters_like_these(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = dominated()
    result = konsil.preference(frame, resamples=500)
    for entry in result.win_difference:
        assert entry["low"] is entry["high"] is entry["p"] is entry["p_family"] is None
        assert entry["rater"]["low"] is None
        assert entry["item"]["low"] < entry["value"] < entry["item"]["high"]
        assert entry["p_flip"] is not None
        assert (
            f"{LEAST_RATERS:g} effective raters there is no CI for raters like these"
            in entry["reason"]
        )
    assert any(
        w.startswith("busy gave ") and "CIs apply to these raters only" in w
        for w in result.warnings
    )
    for model in (result.davidson, result.bradley_terry):
        assert "these raters" in model["method"]
        assert all(worth["low"] is not None for worth in model["worths"])
    text = printed(frame, capsys)
    assert "Item-clustered CIs: item-cluster bootstrap" in text
    assert "two-way Wald" not in text


def test_even_raters_have_the_interval_that_they_had() -> None:
    """Two who voted equally often count like two, which is enough; 62 and 38 % is too little."""
    statistic = system_against_others(2)

    def of_two(mine: int) -> Votes:
        g = np.random.default_rng(1)
        return votes(
            [0] * 100,
            [1] * 100,
            g.integers(-1, 2, 100),
            np.arange(100) % 50,
            np.arange(100) >= mine,
            n_systems=2,
        )

    for mine in (50, 60):
        assert effective_number(np.array([mine, 100 - mine])) >= LEAST_RATERS
        two = crossed(of_two(mine), statistic).two_way
        assert np.isfinite([two.low[0], two.p[0], two.df[0]]).all()
    uneven = crossed(of_two(70), statistic)
    assert np.isnan([uneven.two_way.low[0], uneven.two_way.p[0], uneven.rater.low[0]]).all()
    assert np.isfinite(uneven.question.low[0])
    one = preferences(of_two(70), [statistic], draws=200)[0]
    assert "raters-dominated" in {caution.code for caution in vote_cautions(one, 0)}


def test_groups_compared_where_one_rater_dominates_one_of_them() -> None:
    frame = pl.concat(
        [
            dominated().with_columns(arm=pl.lit("x")),
            dominated(100, 0, seed=6).with_columns(
                arm=pl.lit("y"), rater=pl.concat_str(pl.lit("s"), "rater")
            ),
        ]
    )
    found = konsil.preference(frame, resamples=200, compare="arm")
    assert found.comparison is not None
    for difference in found.comparison["differences"]:
        assert difference["low"] is difference["p"] is None
        assert difference["item"]["low"] is not None
        assert "effective raters" in difference["reason"]


def test_the_line_of_intervals_has_the_range_of_their_degrees_of_freedom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    g = np.random.default_rng(4)
    rows = []
    for n in range(150):
        a, b = g.choice(3, 2, replace=False, p=[0.5, 0.4, 0.1])
        rows.append(
            (
                f"q{n // 2}",
                f"r{n % 8}",
                "ABC"[a],
                "ABC"[b],
                str(g.choice(["ABC"[a], "ABC"[b], "tie"])),
            )
        )
    text = printed(table(rows), capsys)
    methods = {e["method"] for e in konsil.preference(table(rows), resamples=500).win_difference}
    degrees = sorted(float(re.findall(r"with ([0-9.]+) degrees", method)[0]) for method in methods)
    assert f"t with {degrees[0]:g} to {degrees[-1]:g} degrees of freedom." in text


def test_no_line_ends_in_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """One item: no interval, and nothing about the time that resamples take."""
    text = printed(
        table([("q", f"r{n}", "a", "b", "b" if n == 3 else "a") for n in range(15)]), capsys
    )
    assert "CIs: ." not in text
    assert "a, b: no CI from a single item" in text
    assert "The bootstrap was omitted" not in text


def test_a_single_rater_has_intervals_by_item_that_say_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a judge prefers is estimated over items; worths have intervals as win differences do."""
    g = np.random.default_rng(4)
    rows = [(f"q{n}", "judge", "a", "b", str(g.choice(["a", "b", "tie"]))) for n in range(60)]
    result = konsil.preference(table(rows), resamples=500)
    places = ["ab".index(w) if w in "ab" else 2 for *_, w in rows]
    steps = np.array([1, -1, 0])[places]
    # One vote an item: the textbook's standard error of a mean.
    se = steps.std(ddof=1) / np.sqrt(60)
    entry = result.win_difference[0]
    assert entry["value"] == pytest.approx(steps.mean())
    assert entry["se"] == pytest.approx(se)
    assert (entry["low"], entry["high"]) == (entry["item"]["low"], entry["item"]["high"])
    for of_system in (*result.win_difference, *result.win_rate):
        assert of_system["method"].endswith(", conditional on this rater")
        assert of_system["item"]["method"] == of_system["method"]
    assert result.position["se"] == pytest.approx(se)
    for model in (result.bradley_terry, result.davidson):
        assert all(worth["low"] < worth["log_worth"] < worth["high"] for worth in model["worths"])
        assert str(model["method"]).endswith(
            "t with 59 degrees of freedom, conditional on this rater"
        )
    # Bradley-Terry of two systems is the logit of the wins, ties half: half of it for each system.
    wins = ((steps + 1) / 2).mean()
    by_delta = se / 2 / (wins * (1 - wins)) / 2
    assert result.bradley_terry["worths"][0]["se"] == pytest.approx(by_delta, rel=1e-6)
    text = printed(table(rows), capsys)
    assert (
        "conditional on this rater" in " ".join(text.split())
        and "no CI" not in text
        and "1 raters" not in text
    )
    # The difference of two groups of items, by its textbook error.
    arms = np.array(["x", "y"])[np.arange(60) % 2]
    both = konsil.preference(
        table(rows).with_columns(arm=pl.Series(arms)), compare="arm", resamples=200
    )
    assert both.comparison is not None
    entry = both.comparison["differences"][0]
    errors = [steps[arms == arm].std(ddof=1) / np.sqrt(30) for arm in "xy"]
    assert entry["se"] == pytest.approx(np.hypot(*errors))
    assert (
        entry["low"] < entry["value"] < entry["high"]
        and "conditional on this rater" in entry["method"]
        and entry["item"]["method"] == entry["method"]
    )
    paper = konsil.preference(table(rows), resamples=500, mode="paper")
    assert str(paper.win_difference[0]["method"]).endswith("conditional on this rater")


def test_a_penalty_gives_a_system_that_never_lost_a_strength(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [(f"q{n}", f"r{n % 5}", "a", rival, "a") for n in range(20) for rival in "bc"]
    rows += [(f"q{n}", f"r{n % 5}", "b", "c", "bc"[n % 3 == 0]) for n in range(20)]
    alone = konsil.preference(table(rows), resamples=200)
    assert [w["place"] for w in alone.bradley_terry["worths"]] == [
        "above",
        "estimated",
        "estimated",
    ]
    assert "penalty" not in alone.bradley_terry
    result = konsil.preference(table(rows), resamples=200, penalty=1)
    for model in (result.bradley_terry, result.davidson):
        assert model["penalty"] == 1
        a, b, c = (w["log_worth"] for w in model["worths"])
        assert a > b > c
        assert a + b + c == pytest.approx(0)
        assert all(w["low"] < w["log_worth"] < w["high"] for w in model["worths"])
        assert all(w["method"].startswith("penalised fit (") for w in model["worths"])
    assert "never lost" in result.bradley_terry["without_penalty"]
    assert "no ties" in result.davidson["without_penalty"]
    text = " ".join(printed(table(rows), capsys, penalty=1).split())
    assert "Bradley-Terry, penalised: not estimable without the penalty: some systems never" in text
    assert "penalised fit (1 virtual comparison of each system with an average system)" in text
    for refused in (-1, 0.01, 1000, np.nan):
        with pytest.raises(AnalysisError, match="penalty: expected 0, or from"):
            konsil.preference(table(rows), penalty=refused)


def test_strengths_by_one_judge_have_the_sandwich_over_items() -> None:
    """Newton's method for a logistic regression, and its sandwich with items as clusters."""
    g, systems, quality = np.random.default_rng(12), "abc", np.array([0.7, 0.0, -0.4])
    rows, x, y, item = [], [], [], []
    for n in range(50):
        lean = quality + g.normal(0, 0.7, 3)
        for first, second in ((0, 1), (0, 2), (1, 2)):
            gap = lean[first] - lean[second] + g.logistic()
            winner = "tie" if abs(gap) < 0.4 else systems[first if gap > 0 else second]
            rows.append((f"q{n}", "judge", systems[first], systems[second], winner))
            x.append(np.eye(3)[first] - np.eye(3)[second])
            y.append({"tie": 0.5, systems[first]: 1.0}.get(winner, 0.0))
            item.append(n)
    # The first system is the reference of the two coefficients.
    design, outcome = np.array(x)[:, 1:], np.array(y)
    beta = np.zeros(2)
    for _ in range(50):
        share = 1 / (1 + np.exp(-design @ beta))
        information = (design * (share * (1 - share))[:, None]).T @ design
        beta += np.linalg.solve(information, design.T @ (outcome - share))
    scores = np.zeros((50, 2))
    np.add.at(scores, item, design * (outcome - share)[:, None])
    bread = np.linalg.inv(information)
    covariance = bread @ (scores.T @ scores * 50 / 49) @ bread
    centre = (np.eye(3) - 1 / 3)[:, 1:]
    expected = centre @ beta
    errors = np.sqrt(np.diag(centre @ covariance @ centre.T))

    model = konsil.preference(table(rows), resamples=100).bradley_terry
    worths = model["worths"]
    assert [w["log_worth"] for w in worths] == pytest.approx(expected, abs=1e-9)
    assert [w["se"] for w in worths] == pytest.approx(errors, rel=1e-7)
    half = stats.t.ppf(0.975, 49) * errors
    assert [w["low"] for w in worths] == pytest.approx(expected - half, rel=1e-7)
    assert [w["high"] for w in worths] == pytest.approx(expected + half, rel=1e-7)
    # The ratio to the best has the interval of the coefficient itself.
    errors_of_gap = np.sqrt(np.diag(covariance))
    half = stats.t.ppf(0.975, 49) * errors_of_gap
    assert [w["ratio_low"] for w in worths[1:]] == pytest.approx(np.exp(beta - half), rel=1e-7)
    assert model["method"] == (
        "cluster-robust Wald (item-clustered), t with 49 degrees of freedom, conditional on this"
        " rater"
    )


def test_each_reason_for_no_interval_is_its_own() -> None:
    outcomes = ["a", "b", "tie", "a", "a", "b"]

    def reason(items: int, raters: int, results: Sequence[str] = outcomes) -> str:
        rows = [
            (f"q{n % items}", f"r{n % raters}", "a", "b", result)
            for n, result in enumerate(results)
        ]
        model = konsil.preference(table(rows), resamples=100).bradley_terry
        reasons = {w["reason"] for w in model["worths"]}
        assert len(reasons) == 1
        return str(reasons.pop())

    assert reason(1, 1) == "no CI from a single item"
    assert reason(1, 3) == "no CI from a single item"
    assert reason(6, 1, ["tie"] * 6) == "no CI from identical comparisons"
    assert reason(6, 3, ["tie"] * 6) == "no CI from identical comparisons"
    assert reason(6, 1) == reason(6, 3) == ""


def test_a_difference_without_an_interval_has_its_own_reason() -> None:
    rows = [(f"q{n}", "judge", "a", "b", "a") for n in range(8)]
    arms = pl.Series(["x", "y"] * 4)
    both = konsil.preference(table(rows).with_columns(arm=arms), compare="arm", resamples=100)
    assert both.comparison is not None
    assert both.comparison["differences"][0]["reason"] == "no CI from identical comparisons"
    lone = table([("q", "judge", "a", "b", w) for w in ("a", "b")])
    both = konsil.preference(
        lone.with_columns(arm=pl.Series(["x", "y"])), compare="arm", resamples=100
    )
    assert both.comparison is not None
    assert both.comparison["differences"][0]["reason"] == "no CI from a single item"


def test_worths_that_do_not_exist_have_the_models_reason() -> None:
    frame = table([(f"q{n}", f"r{n % 3}", "a", "b", "a") for n in range(12)])
    model = konsil.preference(frame, resamples=200).bradley_terry
    assert "never lost" in model["reason"]
    assert all(
        worth["reason"] == worth["ratio_reason"] == model["reason"] for worth in model["worths"]
    )


def test_p_is_never_zero() -> None:
    assert (p_words(0.25), p_words(2e-4)) == ("p = 0.250", "p < 0.001")
    frame = table([(f"q{n}", f"r{n % 3}", "a", "b", "a") for n in range(12)])
    [note] = [
        w for w in konsil.preference(frame, resamples=500).warnings if "for these raters only" in w
    ]
    assert note.startswith("p = 0.250 for raters like these and p < 0.001 for these raters only")


def test_limits_of_ratios_that_say_nothing_are_left_out() -> None:
    assert ratio_limits(0.0, 2.1e13)[:2] != (0.0, 2.1e13)
    assert np.isnan(ratio_limits(0.0, 2.1e13)[:2]).all()
    assert "1,000,000" in ratio_limits(0.0, 2.1e13)[2]
    assert ratio_limits(0.0005, 0.2) == (0.0005, 0.2, "")
    assert ratio_limits(0.01, 99.0) == (0.01, 99.0, "")
    assert np.isnan(worth_limits(-15.0, 15.0)[:2]).all()
    assert worth_limits(-3.0, 3.0) == (-3.0, 3.0, "")
    rows = [("q1", "r1", "a", "b", "a"), ("q2", "r2", "a", "b", "a"), ("q3", "r3", "a", "b", "b")]
    rows += [
        ("q4", "r4", "b", "c", "tie"),
        ("q5", "r5", "a", "c", "a"),
        ("q6", "r6", "c", "a", "c"),
    ]
    for model in (konsil.preference(table(rows), resamples=200).bradley_terry,):
        for worth in model["worths"]:
            assert (
                worth["ratio_high"] is None
                or worth["ratio_low"] < worth["ratio_high"] <= 1e6 * worth["ratio_low"]
            )


def contradicting() -> pl.DataFrame:
    """Seven items, six of which one system won: the bootstrap leaves out zero, exact flips do not
    reject it."""
    outcomes = ["a", "a", "a", "a", "tie", "tie", "tie"]
    return table([(f"q{n}", f"r{n}", "a", "b", label) for n, label in enumerate(outcomes)])


def test_no_interval_by_item_contradicts_the_flips_beside_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert disagree(-0.814, -0.107, 0.062, 0.95)
    frame = contradicting()
    paper = konsil.preference(frame, resamples=500, mode="paper")
    entry = paper.win_difference[0]
    assert entry["low"] > 0
    assert entry["p_flip"] > 0.05
    [note] = [w for w in paper.warnings if "different procedures" in w]
    assert "a (p = 0.125)" in note
    contradiction = "The item bootstrap and the permutation test lead to different conclusions"
    # Few items have no bootstrap interval that could contradict the test.
    for least, is_bootstrap in ((FEW_CLUSTERS, False), (0, True)):
        for module in ("standalone.ranking_summary", "pairs.pair_estimates"):
            monkeypatch.setattr(f"konsil.analysis.{module}.FEW_CLUSTERS", least)
        result = konsil.preference(frame, resamples=500)
        for entry in result.win_difference:
            item = entry["item"]
            assert item["low"] is None or item["low"] <= 0 <= item["high"]
        assert any(contradiction in w for w in result.warnings) == is_bootstrap
    assert "None" not in printed(frame, capsys)


def undefeated(seed: int = 2, n: int = 90) -> pl.DataFrame:
    """Three systems: amber wins all comparisons, birch and cedar win and lose."""
    g = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        a, b = (("amber", "birch"), ("amber", "cedar"), ("birch", "cedar"))[i % 3]
        winner = a if a == "amber" or g.random() < 0.65 else b
        rows.append((f"i{i}", f"r{i % 4}", a, b, winner))
    return table(rows)


def test_strengths_of_the_others_are_those_of_the_others_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = undefeated()
    alone = frame.filter((pl.col("first") == "birch") & (pl.col("second") == "cedar"))
    model = konsil.preference(frame, resamples=200).bradley_terry
    amber, birch, cedar = model["worths"]
    wins = (alone["winner"] == "birch").sum()
    odds = np.log(wins / (alone.height - wins))
    assert birch["log_worth"] - cedar["log_worth"] == pytest.approx(odds, abs=1e-9)
    of_two = konsil.preference(alone, resamples=200).bradley_terry["worths"]
    assert [birch, cedar] == of_two
    assert (amber["place"], birch["place"], model["best"]) == ("above", "estimated", "birch")
    assert amber["log_worth"] is amber["ratio_to_best"] is amber["low"] is None
    assert "never lost" in amber["reason"]
    assert model["reason"] == ""
    assert np.shape(model["covariance"]) == (3, 3)
    assert model["covariance"][0] == [None] * 3
    text = printed(frame, capsys)
    assert "ratio to birch" in text
    assert "amber: above the systems with an estimate" in " ".join(text.split())
    assert konsil.preference(frame, resamples=200).to_polars()["bradley_terry"][0] is None


def test_a_system_that_never_won_is_below_the_others() -> None:
    frame = undefeated().with_columns(
        winner=pl.when(pl.col("winner") == "amber")
        .then(pl.when(pl.col("first") == "amber").then("second").otherwise("first"))
        .otherwise("winner")
    )
    model = konsil.preference(frame, resamples=200).bradley_terry
    assert [w["place"] for w in model["worths"]] == ["below", "estimated", "estimated"]
    assert "never won" in model["worths"][0]["reason"]


def test_a_column_of_outcomes_is_none_of_raters() -> None:
    """Otherwise each outcome would be a rater of its own."""
    scale = ["A is better", "equal", "B is better"]
    rows = [(f"q{n}", "a", "b", scale[n % 3]) for n in range(15)]
    frame = pl.DataFrame(rows, schema=["item", "first", "second", "label"], orient="row")
    roles = {"first": "first", "second": "second", "scale": scale, "resamples": 200}
    with pytest.raises(SourceError, match="this column has the outcomes; state the column of the"):
        konsil.preference(frame, rater="label", **roles)
    assert konsil.preference(frame, rater="-", **roles).win_difference[0]["value"] == 0
