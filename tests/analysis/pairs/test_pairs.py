"""Comparisons of a study from ratings to rows: wins, worths, juries, rankings, own systems, lengths
and positions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats
from tests.analyses import restated

from konsil.analysis import Analysis, Row, contradictions
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.pairs.vote_methods import comparison_methods
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.instrument.definition.mirror import mirrored
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.stats.pairs.rank_agreement import preference_correlation, preference_tables

SYSTEMS = ("east", "north", "south", "west")
LEAN = {"east": 0.8, "north": 0.1, "south": 0.0, "west": -0.6}
LABELS = ("A much better", "A somewhat better", "About equal", "B somewhat better", "B much better")
SCALE = Scale(LABELS, level="ordinal")
CRITERIA = tuple(
    Criterion(name, "Which is better?", SCALE, "pair") for name in ("accuracy", "utility")
)
FORM = Instrument("pairs", CRITERIA, unit="pair")
ASKED = Analysis("wins", "win_difference", "accuracy", "experts")
JUDGES = {"judge east": "east", "judge west": "west", "judge none": ""}


def study(seed: int = 1, n_raters: int = 40) -> Data:
    """Forty experts compare two of four answers to nine items each; three judges compare the same,
    one likes itself."""
    rng = random.Random(seed)
    items = tuple(
        Item(f"i{n:03}", "?", strata={"theme": "drugs" if n % 3 else "signs"}) for n in range(120)
    )
    answers = tuple(
        Answer(
            f"{i.id} {s}", i.id, s, text="x" * rng.choice((10, 20, 30) if s != "east" else (20, 30))
        )
        for i in items
        for s in SYSTEMS
    )
    experts = tuple(
        Rater(f"r{n:02}", "experts", strata={"user": "yes" if n % 2 else "no"})
        for n in range(n_raters)
    )
    judges = tuple(
        Rater(
            name, "judges", kind="llm", family=own or "none", strata={"system": own} if own else {}
        )
        for name, own in JUDGES.items()
    )
    tasks, ratings = [], []
    for rater in experts:
        for item in rng.sample(items, 9):
            first, second = rng.sample(SYSTEMS, 2)
            shown = (f"{item.id} {first}", f"{item.id} {second}")
            for who in (rater, *judges):
                name = f"t {rater.id} {item.id} {who.id}"
                arm = "text" if rater.id < "r25" else "citations"
                tasks.append(Task(name, "p", who.id, "pairs", item.id, shown, arm=arm))
                for criterion in CRITERIA:
                    lean = LEAN[first] - LEAN[second]
                    lean += 2.0 * ((JUDGES.get(who.id) == first) - (JUDGES.get(who.id) == second))
                    step = max(-2, min(2, round(lean + rng.gauss(0, 1))))
                    label = LABELS[2 - step]
                    ordered = tuple(sorted(shown))
                    label = label if ordered == shown else str(mirrored(criterion, label))
                    ratings.append(
                        Rating(name, who.id, criterion.id, item.id, ordered, None, "rated", label)
                    )
    return Data(items, answers, (*experts, *judges), tuple(tasks), tuple(ratings))


DATA = study()


def rows_of(
    asked: Analysis, kind: str = "estimate", data: Data = DATA, draws: int = 500
) -> list[Row]:
    found = run(
        [asked],
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(draws),
            exclusions=Exclusions(),
        ),
    )
    return [r for r in found.rows if r.kind == kind]


def outcomes(
    keep: Callable[[Rating], bool] = lambda r: r.rater.startswith("r"), criterion: str = "accuracy"
):
    """System, rival, steps in favour of the system: every comparison from both sides."""
    for r in DATA.ratings:
        if r.criterion == criterion and keep(r):
            a, b = (answer.split(" ")[1] for answer in r.answers)
            step = 2 - LABELS.index(str(r.label))
            yield a, b, step, r
            yield b, a, -step, r


def against_rest(found, score: Callable[[int], float]) -> dict[str, float]:
    means: dict[tuple[str, str], list[float]] = {}
    for a, b, step, _ in found:
        means.setdefault((a, b), []).append(score(step))
    return {
        s: (
            math.fsum(math.fsum(v) / len(v) for (a, _), v in means.items() if a == s)
            / sum(a == s for a, _ in means)
        )
        for s in SYSTEMS
        if any(a == s for a, _ in means)
    }


SCORES: dict[str, Callable[[int], float]] = {
    "win_difference": lambda y: int(y > 0) - int(y < 0),
    "win_difference_strict": lambda y: int(y > 1) - int(y < -1),
    "margin": float,
}


@pytest.mark.parametrize("statistic", SCORES)
def test_every_system_against_the_rest(statistic: str) -> None:
    expected = against_rest(outcomes(), SCORES[statistic])
    rows = rows_of(replace(ASKED, statistic=statistic))
    assert [r.group["system"] for r in rows] == list(SYSTEMS)
    for r in rows:
        assert abs(r.estimate.value - expected[r.group["system"]]) < 1e-12
        assert r.estimate.low < r.estimate.value < r.estimate.high
        assert r.estimate.method.startswith("two-way cluster-robust Wald (item and rater)")
        assert r.n_raters == 40
        assert r.p_adjusted >= r.estimate.p
    beside = rows_of(replace(ASKED, statistic=statistic), "companion")
    assert [b.estimate.method.split(",")[0] for b in beside[:2]] == [
        "item-cluster bootstrap",
        "cluster-robust Wald (rater-clustered)",
    ]
    assert all(0 < b.estimate.p <= b.p_adjusted <= 1 for b in beside[::2])


def test_strict_is_the_collapsed_scale() -> None:
    merged = {LABELS[1]: LABELS[2], LABELS[3]: LABELS[2]}
    rows = rows_of(replace(ASKED, collapse=merged))
    strict = rows_of(replace(ASKED, statistic="win_difference_strict"))
    assert [r.estimate.value for r in rows] == [r.estimate.value for r in strict]
    with pytest.raises(AnalysisError, match="is not one of the labels"):
        rows_of(
            replace(ASKED, collapse={LABELS[1]: "level"}, labels=(LABELS[0], LABELS[2], LABELS[4]))
        )


@pytest.mark.parametrize(("statistic", "line"), [("win_rate", 1), ("win_rate_strict", 2)])
def test_win_rates_of_every_two(statistic: str, line: int) -> None:
    rows = rows_of(replace(ASKED, statistic=statistic))
    assert len(rows) == 12
    for r in rows:
        a, b = r.group["system"], r.group["rival"]
        met = [step for one, other, step, _ in outcomes() if (one, other) == (a, b)]
        assert abs(r.estimate.value - sum(s >= line for s in met) / len(met)) < 1e-12
        assert math.isnan(r.estimate.p)
        assert r.estimate.n_ratings == len(met)


def test_groups_by_rater_strata_and_arms() -> None:
    by_user = rows_of(replace(ASKED, by=("user",)))
    assert [r.group["user"] for r in by_user] == ["no"] * 4 + ["yes"] * 4
    users = against_rest(
        outcomes(lambda r: r.rater.startswith("r") and int(r.rater[1:]) % 2 == 1),
        SCORES["win_difference"],
    )
    assert all(abs(r.estimate.value - users[r.group["system"]]) < 1e-12 for r in by_user[4:])
    arm = against_rest(
        outcomes(lambda r: r.rater.startswith("r") and r.rater < "r25"), SCORES["win_difference"]
    )
    rows = rows_of(replace(ASKED, arm="text"))
    assert all(abs(r.estimate.value - arm[r.group["system"]]) < 1e-12 for r in rows)


def test_longer_and_shorter_answers() -> None:
    length = {a.id: len(a.text) for a in DATA.answers}
    rows = rows_of(replace(ASKED, by=("length",)))
    for word, sign in (("longer", 1), ("shorter", -1)):
        side = [
            (a, b, step, r)
            for a, b, step, r in outcomes()
            if sign * (length[f"{r.item} {a}"] - length[f"{r.item} {b}"]) > 0
        ]
        expected = against_rest(side, SCORES["win_difference"])
        found = {r.group["system"]: r.estimate.value for r in rows if r.group["length"] == word}
        assert found.keys() == expected.keys()
        assert all(abs(found[s] - expected[s]) < 1e-12 for s in found)


@pytest.mark.parametrize(("statistic", "line"), [("win_rate", 1), ("win_rate_strict", 2)])
def test_win_rates_of_the_longer_and_the_shorter_answer(statistic: str, line: int) -> None:
    length = {a.id: len(a.text) for a in DATA.answers}
    rows = rows_of(replace(ASKED, statistic=statistic, by=("length",)))
    found = {(r.group["system"], r.group["rival"], r.group["length"]): r.estimate for r in rows}
    assert len(found) == len(rows) > 18  # one system is never the shorter one of some pairs
    for (a, b, word), estimate in found.items():
        sign = 1 if word == "longer" else -1
        met = [
            step
            for one, other, step, r in outcomes()
            if (one, other) == (a, b)
            and sign * (length[f"{r.item} {a}"] - length[f"{r.item} {b}"]) > 0
        ]
        assert abs(estimate.value - sum(s >= line for s in met) / len(met)) < 1e-12
        assert estimate.n_ratings == len(met)


def test_worths_with_ratios_beside_them() -> None:
    for statistic in ("davidson", "bradley_terry"):
        rows = rows_of(replace(ASKED, statistic=statistic))
        assert abs(math.fsum(r.estimate.value for r in rows)) < 1e-9
        assert max(rows, key=lambda r: r.estimate.value).group["system"] == "east"
        beside = rows_of(replace(ASKED, statistic=statistic), "companion")
        ratios = {r.group["system"]: r.estimate for r in beside if "version" in r.group}
        assert ratios["east"].value == 1
        worst = rows[-1].estimate.value - rows[0].estimate.value
        assert abs(math.log(ratios["west"].value) - worst) < 1e-9
        assert ratios["west"].low < ratios["west"].value < ratios["west"].high < 1


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["davidson", "bradley_terry"])
def test_worths_have_the_bootstrap_of_items_beside_them(statistic: str) -> None:
    """Each draw of items fitted again by a maximum of the same likelihood that is found in another
    way."""
    rows = rows_of(replace(ASKED, statistic=statistic))
    beside = [
        r
        for r in rows_of(replace(ASKED, statistic=statistic), "companion")
        if "version" not in r.group
    ]
    boots = {r.group["system"]: r.estimate for r in beside if "bootstrap" in r.estimate.method}
    model = {
        r.group["system"]: r.estimate for r in beside if "Fisher information" in r.estimate.method
    }
    assert boots.keys() == model.keys() == set(SYSTEMS)
    assert all(
        e.method.startswith("item-cluster bootstrap, BCa, 500 resamples") for e in boots.values()
    )
    items = sorted({r.item for r in DATA.ratings})
    cells = np.zeros((len(items), 4, 4, 3))
    for a, b, step, r in outcomes():
        if a < b:
            cells[items.index(r.item), SYSTEMS.index(a), SYSTEMS.index(b), np.sign(step) + 1] += 1
    rng = np.random.default_rng(3)
    draws = np.array(
        [
            by_maximum(np.tensordot(w, cells, 1), statistic)
            for w in rng.multinomial(len(items), np.full(len(items), 1 / len(items)), 60)
        ]
    )
    for n, s in enumerate(SYSTEMS):
        ours, spread = boots[s], draws[:, n].std(ddof=1)
        assert abs(rows[n].estimate.value - by_maximum(cells.sum(0), statistic)[n]) < 1e-4
        # 60 draws of ours and 500 of theirs: the widths differ by chance by some 10 %.
        assert (ours.high - ours.low) / (2 * 1.96 * spread) == pytest.approx(1, abs=0.35)


def by_maximum(counts: np.ndarray, statistic: str) -> np.ndarray:
    """Log worths by a general optimiser on the likelihood as it is written."""
    loss, tie, win = counts[..., 0], counts[..., 1], counts[..., 2]

    def minus(x: np.ndarray) -> float:
        worth, d = np.exp(x[:4]), np.exp(x[4]) if statistic == "davidson" else 0.0
        a, b = worth[:, None], worth[None, :]
        whole = np.log(a + b + d * np.sqrt(a * b))
        found = (win * (np.log(a) - whole) + loss * (np.log(b) - whole)).sum()
        if statistic == "davidson":
            found += (tie * (x[4] + (np.log(a) + np.log(b)) / 2 - whole)).sum()
        else:
            found += (tie / 2 * (np.log(a) + np.log(b) - 2 * whole)).sum()
        return float(-found + 1e-9 * x[:4].sum() ** 2)

    x = optimize.minimize(minus, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x[:4]
    return np.asarray(x - x.mean())


def test_judges_one_by_one_and_as_a_jury() -> None:
    by_judge = rows_of(replace(ASKED, raters="judges", by=("rater",)))
    assert len(by_judge) == 12
    assert all(r.estimate.method.startswith("item-cluster bootstrap") for r in by_judge)
    own = next(r for r in by_judge if r.group == {"rater": "judge west", "system": "west"})
    assert own.estimate.value > 0.3
    jury = rows_of(replace(ASKED, raters="judges", consensus="mean"))
    votes: dict[tuple[str, ...], list[int]] = {}
    for a, b, step, r in outcomes(lambda r: r.rater.startswith("judge")):
        votes.setdefault((r.task.rsplit(" judge", 1)[0], a, b), []).append(step)
    one_each = [
        (a, b, int(np.mean(v) > 0.5) - int(np.mean(v) < -0.5), None)
        for (_, a, b), v in votes.items()
    ]
    expected = against_rest(one_each, SCORES["win_difference"])
    # Items that a judge compared twice with the same two answers are told apart by the order of the
    # tasks.
    assert all(abs(r.estimate.value - expected[r.group["system"]]) < 1e-12 for r in jury)


def test_rankings_of_judges_and_experts() -> None:
    asked = restated(
        ASKED, statistic="rank_agreement", raters="judges", against="experts", criteria=("utility",)
    )
    rows = rows_of(asked)
    assert len(rows) == 9
    for judge in JUDGES:
        taus = []
        for criterion in ("accuracy", "utility"):
            theirs = against_rest(outcomes(criterion=criterion), SCORES["win_difference"])
            mine = against_rest(
                outcomes(lambda r, j=judge: r.rater == j, criterion), SCORES["win_difference"]
            )
            taus.append(
                stats.kendalltau([theirs[s] for s in SYSTEMS], [mine[s] for s in SYSTEMS]).statistic
            )
        found = [r.estimate.value for r in rows if r.group["rater"] == judge]
        np.testing.assert_allclose(found, [*taus, np.mean(taus)], atol=1e-12)
    jury = rows_of(replace(asked, consensus="mean"))
    assert [r.group["criterion"] for r in jury] == ["accuracy", "utility", "mean_over_criteria"]


def test_judges_and_their_own_systems() -> None:
    asked = restated(ASKED, statistic="self_preference", raters="judges", against="experts")
    rows = {r.group["rater"]: r.estimate for r in rows_of(asked)}
    experts = against_rest(outcomes(), SCORES["win_difference"])
    mine = against_rest(outcomes(lambda r: r.rater == "judge west"), SCORES["win_difference"])
    assert abs(rows["judge west"].value - (mine["west"] - experts["west"])) < 1e-12
    assert rows["judge west"].low > 0.3
    assert math.isnan(rows["judge none"].value)
    assert rows["judge none"].reason == "no own answers among them"
    beside = [r for r in rows_of(asked, "companion") if "version" in r.group]
    assert {r.group["version"] for r in beside} == {"minus_peers"}


CORRELATION = restated(ASKED, statistic="preference_correlation", criteria=("utility",))


def signed(data: Data, criterion: str) -> dict[tuple[str, str], int]:
    """Task and rater -> the preference for the answer that is first by its identifier."""
    return {
        (r.task, r.rater): (2 - LABELS.index(str(r.label)))
        * (1 if r.answers[0] < r.answers[1] else -1)
        for r in data.ratings
        if r.criterion == criterion and r.rater.startswith("r")
    }


def test_preferences_on_two_criteria_are_correlated_from_both_sides() -> None:
    x, y = signed(DATA, "accuracy"), signed(DATA, "utility")
    pairs = np.array([(x[key], y[key]) for key in x.keys() & y.keys()])
    [found] = rows_of(CORRELATION)
    assert found.group == {"criterion": "accuracy", "other": "utility"}
    both = np.concatenate([pairs, -pairs])
    assert found.estimate.value == pytest.approx(stats.spearmanr(*both.T).statistic)
    assert found.estimate.low < found.estimate.value < found.estimate.high
    assert (found.n_units, found.estimate.n_ratings) == (len(pairs), 2 * len(pairs))
    assert found.estimate.n_clusters == len({r.item for r in DATA.ratings})
    # By hand: (1, 1), (0, 1) and their mirrors have the centred mid-ranks 1.5, 0, -1.5, 0 of x and
    # 1, 1, -1, -1 of y: 3 / sqrt(4.5 * 4).
    tables = preference_tables(np.array([1, 0]), np.array([1, 1]), np.arange(2), 1)
    assert preference_correlation(1)(tables.sum(axis=0))[0] == pytest.approx(math.sqrt(0.5))


def test_exchanging_the_answers_of_comparisons_changes_no_correlation() -> None:
    turned = replace(
        DATA,
        ratings=tuple(
            replace(r, answers=r.answers[::-1], label=LABELS[4 - LABELS.index(str(r.label))])
            if n % 3 == 0
            else r
            for n, r in enumerate(DATA.ratings)
        ),
    )
    assert rows_of(CORRELATION, data=turned)[0].estimate == rows_of(CORRELATION)[0].estimate


def test_a_criterion_with_ties_alone_has_no_correlation() -> None:
    tied = replace(
        DATA,
        ratings=tuple(
            replace(r, label=LABELS[2]) if r.criterion == "utility" else r for r in DATA.ratings
        ),
    )
    [found] = rows_of(CORRELATION, data=tied)
    assert math.isnan(found.estimate.value)
    assert "ties on one of them" in found.estimate.reason


def test_agreement_on_the_same_two_answers_and_the_first_on_the_screen() -> None:
    both = rows_of(replace(ASKED, statistic="choice_agreement", raters="judges"))
    assert len(both) == 1
    assert 0.3 < both[0].estimate.value < 1
    assert any(
        "chance level" in r.estimate.method
        for r in rows_of(replace(ASKED, statistic="choice_agreement", raters="judges"), "companion")
    )
    kappa = rows_of(replace(ASKED, statistic="choice_kappa"))[0].estimate
    assert -1 <= kappa.value <= 1
    position = rows_of(replace(ASKED, statistic="position_bias"))[0].estimate
    assert position.low < 0 < position.high
    shown = {t.id: t.answers[0] for t in DATA.tasks}
    first = [step for a, _, step, r in outcomes() if shown[r.task] == f"{r.item} {a}"]
    assert abs(position.value - np.sign(first).mean()) < 1e-12


def test_worths_of_judges_and_in_paper_mode() -> None:
    of_judges = rows_of(replace(ASKED, statistic="davidson", raters="judges"))
    assert all(r.estimate.method.startswith("item-cluster bootstrap") for r in of_judges)
    published = replace(ASKED, statistic="davidson", mode="paper")
    assert all("Fisher information" in r.estimate.method for r in rows_of(published))
    ratios = {
        r.group["system"]: r.estimate
        for r in rows_of(published, "companion")
        if "version" in r.group
    }
    worths = {r.group["system"]: r.estimate for r in rows_of(published)}
    for s in ("north", "south", "west"):
        assert ratios[s].low < math.exp(worths[s].value - worths["east"].value) < ratios[s].high
    raters = rows_of(replace(ASKED, statistic="davidson", cluster="rater"))
    assert all(r.estimate.method.startswith("cluster-robust Wald (rater-cluster") for r in raters)


def few(seed: int) -> Data:
    """Nine comparisons of three of four systems: two items of each of two cases, three judges."""
    rng = random.Random(seed)
    items = tuple(Item(f"i{n}", "?", case=f"c{n // 2}") for n in range(4))
    answers = tuple(Answer(f"{i.id} {s}", i.id, s, text="x") for i in items for s in SYSTEMS)
    judges = tuple(Rater(f"j{n}", "judges", kind="llm", family="none") for n in range(3))
    tasks, ratings = [], []
    for n in range(9):
        item, rater = items[n % 4], judges[rng.randrange(3)]
        shown = tuple(f"{item.id} {s}" for s in sorted(rng.sample(SYSTEMS[:3], 2)))
        tasks.append(Task(f"t{n}", "p", rater.id, "pairs", item.id, shown))
        label = rng.choice(LABELS)
        ratings.append(Rating(f"t{n}", rater.id, "accuracy", item.id, shown, None, "rated", label))
    return Data(items, answers, judges, tuple(tasks), tuple(ratings))


@pytest.mark.parametrize(
    ("statistic", "settings"),
    [
        ("win_rate", {}),
        ("win_difference", {"consensus": "mean"}),
        ("margin", {"cluster": "case"}),
    ],
)
def test_n_counts_the_comparisons_that_entered(statistic: str, settings: dict[str, str]) -> None:
    asked = replace(ASKED, statistic=statistic, raters="judges", test="none", **settings)
    data = few(3)

    def numbers(ratings: Sequence[Rating]) -> dict[str, tuple[tuple[int, ...], float]]:
        rows = rows_of(asked, data=replace(data, ratings=tuple(ratings)), draws=100)
        return {
            str(r.group): (
                (r.n_units, r.n_raters, r.estimate.n_ratings, r.estimate.n_clusters),
                r.estimate.value,
            )
            for r in rows
        }

    whole = numbers(data.ratings)
    without = [numbers([r for r in data.ratings if r is not left_out]) for left_out in data.ratings]
    for group, (counts, value) in whole.items():
        nothing = ((0, 0, 0, 0), math.nan)
        each = [some.get(group, nothing)[0] for some in without]
        used = [r for r, of_rest in zip(data.ratings, each, strict=True) if of_rest != counts]
        if not used:
            assert math.isnan(value)
            continue
        alone = numbers(used)[group]
        assert alone == (counts, pytest.approx(value))
        cases = {r.item for r in used}
        if settings.get("cluster") == "case":
            cases = {f"c{int(item[1:]) // 2}" for item in cases}
        by_hand = (len({r.item for r in used}), len({r.rater for r in used}), len(used), len(cases))
        assert counts == by_hand


def test_raters_are_the_clusters_of_intervals_by_rater() -> None:
    for statistic in ("win_difference", "win_rate", "davidson"):
        by_rater = rows_of(replace(ASKED, statistic=statistic, cluster="rater"))
        by_item = rows_of(replace(ASKED, statistic=statistic))
        for a, b in zip(by_rater, by_item, strict=True):
            assert a.estimate.n_clusters == a.n_raters == b.n_raters
            assert b.estimate.n_clusters == b.n_units == a.n_units


ITEM_CLUSTERED = ("item-cluster bootstrap", "cluster-robust Wald (item", "Wilson", "exact")


def methods_of(asked: Analysis, kinds: tuple[str, ...] = ("estimate", "companion")) -> list[str]:
    """The methods of the item-clustered intervals, which have limits."""
    rows = [r for kind in kinds for r in rows_of(asked, kind) if math.isfinite(r.estimate.low)]
    return [r.estimate.method for r in rows if r.estimate.method.startswith(ITEM_CLUSTERED)]


@pytest.mark.parametrize(
    "statistic", ["win_difference", "win_rate", "margin", "position_bias", "bradley_terry"]
)
def test_intervals_of_a_single_judge_name_whom_they_are_about(statistic: str) -> None:
    asked = replace(ASKED, statistic=statistic, raters="judges")
    of_judge = methods_of(replace(asked, by=("rater",)))
    assert of_judge
    assert all(m.endswith(", conditional on this judge") for m in of_judge)
    of_judges = methods_of(asked)
    assert of_judges
    assert not any("conditional" in m for m in of_judges)
    of_person = methods_of(replace(ASKED, statistic=statistic, by=("rater",)))
    assert of_person
    assert all(m.endswith(", conditional on this rater") for m in of_person)


def test_differences_of_a_single_judge_and_a_jury_name_whom_they_are_about() -> None:
    one = replace(ASKED, raters="judges", by=("rater", "theme"), compare="theme")
    methods = methods_of(one, ("difference",))
    assert methods
    assert all(m.endswith(", conditional on this judge") for m in methods)
    # Two judges are compared by the items of both: they are not one.
    two = rows_of(replace(one, by=("rater",), compare="rater"), "difference")
    assert {r.n_raters for r in two if r.versus} == {2}
    assert {r.n_raters for r in two if not r.versus} == {3}
    assert not any("conditional" in r.estimate.method for r in two)
    jury = methods_of(replace(ASKED, raters="judges", consensus="mean"))
    assert jury
    assert all(m.endswith(", conditional on this jury") for m in jury)


@pytest.mark.parametrize("statistic", ["davidson", "bradley_terry"])
def test_a_penalty_is_named_in_methods_and_notes(statistic: str) -> None:
    data = always_losing("west")
    asked = restated(replace(ASKED, statistic=statistic), penalty=0.5)
    rows = {r.group["system"]: r for r in rows_of(asked, data=data)}
    assert min(rows.values(), key=lambda r: r.estimate.value).group["system"] == "west"
    assert sum(r.estimate.value for r in rows.values()) == pytest.approx(0, abs=1e-9)
    for r in rows.values():
        assert r.estimate.low < r.estimate.value < r.estimate.high
        assert r.estimate.method.startswith("penalised fit (")
        assert any(w.startswith("Not estimable without the penalty: ") for w in r.warnings)
    companions = [r for r in rows_of(asked, "companion", data) if r.estimate.method]
    assert companions
    assert all(r.estimate.method.startswith("penalised fit (") for r in companions)
    with_estimate = rows_of(restated(asked, penalty=0.5))
    assert not any("without the penalty" in w for r in with_estimate for w in r.warnings)
    [sentence] = [s for s in comparison_methods([asked], with_estimate) if "penalty" in s]
    assert "0.5 of each system with an average system" in sentence
    assert list(contradictions(restated(asked, penalty=0.05))) == [
        "penalty: expected 0, or from 0.1 to 100, got 0.05"
    ]


def test_a_system_that_lost_everything_is_below_the_others() -> None:
    data = always_losing("west")
    asked = replace(ASKED, statistic="davidson")
    rows = {r.group["system"]: r for r in rows_of(asked, data=data)}
    assert math.isnan(rows["west"].estimate.value)
    assert rows["west"].estimate.reason.startswith("below the systems with an estimate")
    others = [s for s in SYSTEMS if s != "west"]
    assert sum(rows[s].estimate.value for s in others) == pytest.approx(0, abs=1e-9)
    tasks = tuple(t for t in data.tasks if not any(a.endswith(" west") for a in t.answers))
    kept = {t.id for t in tasks}
    alone = replace(data, tasks=tasks, ratings=tuple(r for r in data.ratings if r.task in kept))
    of_others = {r.group["system"]: r for r in rows_of(asked, data=alone)}
    for s in others:
        mine, theirs = rows[s].estimate, of_others[s].estimate
        assert (mine.value, mine.low, mine.high) == pytest.approx(
            (theirs.value, theirs.low, theirs.high), abs=1e-9
        )
        assert any("3 of 4 systems" in w for w in rows[s].warnings)
    ratios = [r.group["system"] for r in rows_of(asked, "companion", data) if "version" in r.group]
    assert sorted(ratios) == sorted(others)


def test_paper_mode_is_percentiles_and_flips_of_comparisons() -> None:
    rows = rows_of(replace(ASKED, mode="paper"))
    assert all("percentiles" in r.estimate.method for r in rows)
    by_rater = rows_of(replace(ASKED, cluster="rater"))
    assert all(
        r.estimate.method.startswith("cluster-robust Wald (rater-clustered)") for r in by_rater
    )
    flipped = rows_of(replace(ASKED, test="flip"))
    beside = rows_of(ASKED, "companion")[::2]
    assert [r.estimate.p for r in flipped] == [b.estimate.p for b in beside]
    assert all(math.isnan(r.estimate.p) for r in rows_of(replace(ASKED, test="none")))


def test_the_methods_speak_of_no_majority_between_two_answers() -> None:
    asked = (
        restated(
            ASKED, name="own", statistic="self_preference", raters="judges", against="experts"
        ),
        replace(ASKED, name="taus", statistic="rank_agreement", raters="judges", against="experts"),
    )
    found = run(
        asked,
        DATA,
        RunSettings(
            instruments=[FORM], seed=1, resampling=Resampling(100), exclusions=Exclusions()
        ),
    )
    assert not [s for s in found.methods if "ajorit" in s]


def test_undefined_has_a_reason() -> None:
    tied = tuple(replace(r, label=LABELS[2]) for r in DATA.ratings)
    rows = rows_of(replace(ASKED, statistic="davidson"), data=replace(DATA, ratings=tied))
    assert {r.estimate.reason for r in rows} == {"every comparison is a tie"}


def test_comparisons_that_are_all_alike_have_an_exact_interval() -> None:
    """All ties, or a system that loses everything: no vote differs, and other raters and items
    may."""
    tied = tuple(replace(r, label=LABELS[2]) for r in DATA.ratings)
    for r in rows_of(ASKED, data=replace(DATA, ratings=tied)):
        assert r.estimate.value == 0
        assert -0.5 < r.estimate.low < 0 < r.estimate.high < 0.5
        assert r.estimate.low == pytest.approx(-r.estimate.high)
        assert math.isnan(r.estimate.se)
        assert r.estimate.p == 1
        assert r.estimate.method.startswith("exact, all comparisons identical")


def always_losing(name: str) -> Data:
    """The study with a system that loses every comparison."""
    labels = {
        r: LABELS[4 if r.answers[0].endswith(name) else 0]
        for r in DATA.ratings
        if f" {name}" in " ".join(r.answers)
    }
    return replace(
        DATA, ratings=tuple(replace(r, label=labels.get(r, r.label)) for r in DATA.ratings)
    )


def test_a_win_rate_of_nothing_has_an_interval_that_raters_and_items_widen() -> None:
    asked, data = replace(ASKED, statistic="win_rate"), always_losing("west")
    by_pair = {(r.group["system"], r.group["rival"]): r for r in rows_of(asked, data=data)}
    beside = [r for r in rows_of(asked, "companion", data) if r.group["system"] == "west"]
    for rival in set(SYSTEMS) - {"west"}:
        lost, won = by_pair["west", rival].estimate, by_pair[rival, "west"].estimate
        assert (lost.value, won.value) == (0.0, 1.0)
        assert lost.low == 0 and won.high == 1
        # Fewer raters than items, who are taken to vote alike: 1 - 0.025^(1/n) at their effective
        # number.
        n = float(lost.method.split(": ")[1].split()[0])
        assert 10 < n <= by_pair["west", rival].n_raters
        assert lost.high == pytest.approx(1 - 0.025 ** (1 / n), rel=0.01)
        assert won.low == pytest.approx(1 - lost.high)
    assert {r.estimate.method.rsplit(" ", 1)[1] for r in beside} >= {"item", "rater"}
    results = run(
        [asked, ASKED],
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(100),
            exclusions=Exclusions(),
        ),
    )
    assert any("Win rates have Wilson CIs" in sentence for sentence in results.methods)
    # Rates between have Wilson CIs with the effective sample size, of items without resamples.
    rate = by_pair["east", "north"].estimate
    assert rate.method.startswith("two-way Wilson with the effective sample size")
    assert 0 < rate.low < rate.value < rate.high < 1
    assert rate.high - rate.value != pytest.approx(rate.value - rate.low)


def test_of_judges_a_win_rate_has_wilson_over_items() -> None:
    rows = rows_of(replace(ASKED, statistic="win_rate", raters="judges", by=("rater",)))
    assert all(
        r.estimate.method.startswith(("Wilson with the effective", "exact, all comp")) for r in rows
    )
    paper = rows_of(
        replace(ASKED, statistic="win_rate", raters="judges", by=("rater",), mode="paper")
    )
    between = [r for r in paper if 0 < r.estimate.value < 1]
    assert between and all("percentile" in r.estimate.method for r in between)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"by": ("system",)}, "by[0]: 'win_difference' already has a row for each system"),
        (
            {"statistic": "davidson", "compare": "arm", "by": ("arm",)},
            "compare: 'davidson' does not support this option",
        ),
        (
            {"statistic": "davidson", "by": ("length",)},
            "by: 'length' belongs to win differences, win rates and margins",
        ),
        (
            {"statistic": "rank_agreement"},
            "against: rankings are compared with those of a panel; state the panel",
        ),
        (
            {"criteria": ("utility",), "statistic": "davidson"},
            "criteria: belongs to statistics such as 'win_difference'",
        ),
        (
            {"statistic": "choice_kappa", "consensus": "mean"},
            "consensus: 'choice_kappa' does not support this option",
        ),
        ({"statistic": "preference_correlation"}, "criteria: is empty; a correlation needs"),
        ({"consensus": "mean", "by": ("rater",)}, "by: a jury combines all its judges"),
        (
            {"against": "experts"},
            "statistic: 'win_difference' does not compare a rater with a consensus",
        ),
        ({"statistic": "win_rate", "test": "flip"}, "test: 'flip' needs two groups"),
    ],
)
def test_contradictions(changes: dict[str, object], said: str) -> None:
    found = list(contradictions(restated(ASKED, **changes)))  # type: ignore[arg-type]
    assert any(one.startswith(said) for one in found), found


def test_a_margin_is_about_a_win_difference_itself() -> None:
    verdicts = {
        m: [w for r in rows_of(replace(ASKED, margin=m)) for w in r.warnings] for m in (0.99, 0.001)
    }
    assert sum(
        str(w).startswith("Equivalent: the 95% CI lies within ±0.99") for w in verdicts[0.99]
    ) == len(SYSTEMS)
    assert sum(str(w).startswith("Equivalence not shown:") for w in verdicts[0.001]) == len(SYSTEMS)


def test_win_rates_alone_have_no_sentence_on_rare_outcomes() -> None:
    results = run(
        [replace(ASKED, statistic="win_rate")],
        DATA,
        RunSettings(instruments=[FORM], seed=1, resampling=Resampling(60), exclusions=Exclusions()),
    )
    assert {name_of(r.estimate.method) for r in results.rows} >= {"two_way.wilson"}
    sentences = [name_of(m) for m in results.methods]
    assert "two_way.win_rates" in sentences
    assert "methods.rare_outcomes" not in sentences
