"""konsil preference: what the columns of a table of comparisons are taken for, and what is asked."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, KonsilError, SourceError, UnclearTableError

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "100")
SYSTEMS = ("amber", "birch", "cedar")


def votes(n_items: int = 40, seed: int = 1, raters: int = 6) -> pl.DataFrame:
    """Comparisons of three systems, two of each item by different raters."""
    g = np.random.default_rng(seed)
    rows = []
    for item in range(n_items):
        for rater in g.choice(raters, 2, replace=False):
            a, b = g.choice(3, 2, replace=False)
            winner = g.choice([SYSTEMS[a], SYSTEMS[b], "tie"], p=[0.5, 0.3, 0.2])
            rows.append((f"q{item}", f"r{rater}", SYSTEMS[a], SYSTEMS[b], str(winner)))
    return pl.DataFrame(rows, ("item", "rater", "model_a", "model_b", "winner"), orient="row")


def numbers(result: Any) -> dict[str, Any]:
    """A result without the reading and without what rows' order and names change."""
    return {
        "win_difference": [(e["system"], e["value"], e["se"]) for e in result.win_difference],
        "n": (result.n_comparisons, result.n_items, result.n_raters),
        "worths": [(e["system"], e["log_worth"]) for e in result.bradley_terry["worths"]],
    }


def followed(call: Call, err: str) -> tuple[int, str, str]:
    """What the command does that a refusal prints."""
    last = err.splitlines()[-1]
    assert last.startswith("If so: konsil preference "), err
    return call(*shlex.split(last.removeprefix("If so: konsil ")), "--json")


def written(tmp_path: Path, frame: pl.DataFrame, name: str = "t.csv") -> Path:
    file = tmp_path / name
    frame.write_csv(file)
    return file


def test_the_reading_is_printed_unless_all_is_stated(call: Call, tmp_path: Path) -> None:
    file = written(tmp_path, votes().with_columns(note=pl.lit("x")))
    reading = (
        "40 units in item; systems in model_a and model_b, outcomes in winner, raters in rater"
    )
    code, out, _ = call("preference", file, *FEW)
    assert code == 0 and f"Read as: {reading}; not used: note" in " ".join(out.split())
    assert json.loads(call("preference", file, *FEW, "--json")[1])["reading"].startswith(reading)
    roles = ("item", "rater", "first", "second", "outcome")
    stated = [
        word
        for role, name in zip(roles, votes().columns, strict=True)
        for word in (f"--{role}", name)
    ]
    code, out, _ = call("preference", file, *FEW, *stated, "--json")
    assert code == 0 and "reading" not in json.loads(out)


def test_what_is_unclear_is_asked_with_the_command_that_settles_it(
    call: Call, tmp_path: Path
) -> None:
    table = votes().rename({"winner": "eye"})
    is_first, is_tie = pl.col("eye") == pl.col("model_a"), pl.col("eye") == "tie"
    of_tie = pl.when(is_tie).then(pl.lit("both")).otherwise(pl.lit("right"))
    sides = pl.when(is_first).then(pl.lit("left")).otherwise(of_tie)
    file = written(tmp_path, table.with_columns(sides.alias("eye")).drop("rater"), "a file.csv")
    code, out, err = call("preference", file, *FEW, "--ties", "dropped")
    assert (code, out) == (2, "")
    assert "eye contains sides" in err and "No column names the raters." in err
    assert "was compared with" in err and "--ties dropped" in err
    code, out, _ = followed(call, err)
    assert code == 0 and json.loads(out)["n_raters"] is None
    code, out, err = call("preference", file, *FEW, "--json")
    assert code == 2 and json.loads(out)["reading"]["roles"]["eye"] == "outcome"
    with pytest.raises(UnclearTableError) as caught:
        konsil.preference(pl.read_csv(file), resamples=100)
    asked = eval(caught.value.call, {"konsil": konsil, "frame": pl.read_csv(file)})
    assert asked.n_raters is None and asked.n_comparisons == 80


def test_settings_of_the_file_are_detected(call: Call, tmp_path: Path) -> None:
    table = votes()
    plain = call("preference", written(tmp_path, table), *FEW, "--json")[1]
    file = tmp_path / "semicolons.csv"
    file.write_text("Export of the survey\n\n" + table.write_csv(separator=";"), encoding="cp1252")
    code, out, err = call("preference", file, *FEW, "--json")
    if code == 2:
        code, out, err = followed(call, err)
    assert (code, err) == (0, "")
    assert json.loads(out)["win_difference"] == json.loads(plain)["win_difference"]


@pytest.mark.parametrize(
    ("rename", "n"),
    [
        ({}, 80),
        ({"model_a": "slot_a_provider", "model_b": "slot_b_provider"}, 80),
        ({"model_a": "left", "model_b": "right", "winner": "choice"}, 80),
        ({"item": "Frage", "rater": "Gutachterin"}, 80),
    ],
)
def test_usual_names_are_recognised(rename: dict[str, str], n: int) -> None:
    plain = konsil.preference(votes(), resamples=100)
    renamed = konsil.preference(votes().rename(rename), resamples=100)
    assert renamed.n_comparisons == n and numbers(renamed) == numbers(plain)


@pytest.mark.parametrize("word", ["tie (bothbad)", "both bad", "Both_Bad", "tie (both bad)"])
def test_both_bad_is_a_tie(word: str) -> None:
    table = votes().with_columns(pl.col("winner").replace("tie", word))
    assert numbers(konsil.preference(table, resamples=100)) == numbers(
        konsil.preference(votes(), resamples=100)
    )


def test_systems_are_the_same_in_large_and_small_letters() -> None:
    """Kills: a winner that is unknown for its letters, and one of two alike that is guessed."""
    table = votes()
    names = pl.col("winner").str.to_uppercase()
    changed = table.with_columns(
        winner=pl.when(pl.col("item") == "q0").then(names).otherwise("winner")
    )
    assert numbers(konsil.preference(changed, resamples=100)) == numbers(
        konsil.preference(table, resamples=100)
    )


def test_the_first_row_that_is_read_out_has_a_winner(call: Call, tmp_path: Path) -> None:
    """Kills: a tie that shows nobody who is preferred, where a later row does."""
    lines = [f"q{n},x,y,{('tie', 'tie', 'B', 'a')[n % 4]}" for n in range(12)]
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["item,model_a,model_b,winner", *lines]) + "\n")
    assert (
        "First row: item 'q2': 'x' was compared with 'y', outcome 'B'"
        in call("preference", file)[2]
    )
    file.write_text("\n".join(["item,model_a,model_b,winner", *lines[:2] * 4]) + "\n")
    assert "First row: item 'q0'" in call("preference", file)[2]


def test_numbers_of_another_column_are_no_outcomes() -> None:
    """0 and 1 are words for outcomes, too: a column of counts or scores is none for that."""
    table = votes().with_columns(pl.Series("errors", [n % 2 for n in range(80)]))
    assert numbers(konsil.preference(table, resamples=100)) == numbers(
        konsil.preference(votes(), resamples=100)
    )
    with pytest.raises(SourceError):
        konsil.preference(table.drop("winner"), resamples=100)


def test_which_of_two_outcomes_is_meant_is_asked() -> None:
    """A second rater's outcomes in a column of their own are not left out."""
    g = np.random.default_rng(2)
    other = pl.Series("second opinion", g.permutation(votes()["model_a"].to_numpy()))
    table = votes().rename({"winner": "first opinion"}).with_columns(other)
    table = table.with_columns(
        pl.when(other == pl.col("model_b"))
        .then(other)
        .otherwise(pl.col("model_a"))
        .alias(other.name)
    )
    with pytest.raises(UnclearTableError, match="It could also be"):
        konsil.preference(table, resamples=100)


@pytest.mark.parametrize("n_items", [30, 700])
def test_all_that_is_unclear_is_asked_at_once(n_items: int) -> None:
    """Criteria without raters, in small tables and in large ones, of which some rows are looked at."""
    once = votes(n_items).drop("rater")
    axes = ("accuracy", "utility", "sources", "tone", "length")
    table = pl.concat(once.with_columns(axis=pl.lit(axis)) for axis in axes)
    table = table.sample(fraction=1, shuffle=True, seed=3)
    with pytest.raises(UnclearTableError) as caught:
        konsil.preference(table, resamples=100)
    assert caught.value.arguments[-1] == ("by", ("axis",))
    assert len(caught.value.unclear) == 2
    by_axis = eval(caught.value.call, {"konsil": konsil, "frame": table})
    alone = konsil.preference(once, rater="-", resamples=100)
    group = by_axis.groups["utility"]
    values = [[e["value"] for e in r.win_difference] for r in (group, alone)]
    assert values[0] == values[1]
    ends = [[e["low"] for e in r.win_difference] for r in (group, alone)]
    assert ends[0] == pytest.approx(ends[1])
    # Groups of another column leave the criteria to be chosen; no command is proposed twice.
    arms = table.with_columns(arm=pl.col("item").str.contains("[02468]$").cast(pl.String))
    with pytest.raises(UnclearTableError) as caught:
        konsil.preference(arms, rater="-", by="arm", resamples=100)
    assert caught.value.call == ""


# ---------------------------------------------------------------- both orders


def orders(n: int = 50, seed: int = 3) -> pl.DataFrame:
    """A judge's verdicts on two systems shown in both orders."""
    g = np.random.default_rng(seed)
    words = ["model_1", "model_2", "tie"]
    first = g.choice(words, n, p=[0.5, 0.3, 0.2])
    second = np.where(g.random(n) < 0.7, first, g.choice(words, n))
    return pl.DataFrame(
        {
            "question_id": [*range(n)],
            "model_1": ["llama"] * n,
            "model_2": ["vicuna"] * n,
            "g1_winner": first,
            "g2_winner": second,
            "judge": ["gpt-4"] * n,
        }
    )


def test_both_orders_are_one_comparison_and_different_ones_a_tie(tmp_path: Path) -> None:
    table = orders()
    result = konsil.preference(table, resamples=100)
    first, second = table["g1_winner"].to_list(), table["g2_winner"].to_list()
    merged = [a if a == b else "tie" for a, b in zip(first, second, strict=True)]
    by_hand = konsil.preference(
        table.drop("g1_winner", "g2_winner").with_columns(winner=pl.Series(merged)), resamples=100
    )
    assert numbers(result) == numbers(by_hand)
    same = sum(a == b for a, b in zip(first, second, strict=True))
    assert any(f"{same} of 50 comparisons ({same / 50:.1%})" in w for w in result.warnings)
    assert result.orders is not None and result.orders["value"] == same / 50
    # In the second order the second system is shown first.
    step = {"model_1": 1, "model_2": -1, "tie": 0}
    bias = np.mean([step[a] - step[b] for a, b in zip(first, second, strict=True)]) / 2
    assert result.position["value"] == pytest.approx(bias)
    stated = table.rename({"g1_winner": "ab", "g2_winner": "ba"})
    named = konsil.preference(stated, outcome=["ab", "ba"], resamples=100)
    assert numbers(named) == numbers(result)
    folder = tmp_path / "parts"
    folder.mkdir()
    table[:20].write_parquet(folder / "a.parquet")
    table[20:].write_parquet(folder / "b.parquet")
    from konsil.analysis.standalone.preference_request import PreferenceRequest
    from konsil.api.datasets.preferences import preference_of_data_set

    parts = preference_of_data_set(folder, PreferenceRequest(resamples=100))
    assert parts.to_dict() == result.to_dict()


def test_an_order_without_an_outcome_is_missing() -> None:
    table = orders().with_columns(
        pl.when(pl.int_range(pl.len()) < 4)
        .then(pl.lit("error"))
        .otherwise("g2_winner")
        .alias("g2_winner")
    )
    result = konsil.preference(table, missing=["", "error"], resamples=100)
    assert (result.n_comparisons, result.n_missing) == (46, 4)


# ---------------------------------------------------------------- preferences as numbers


def preferred(values: Sequence[float | None]) -> pl.DataFrame:
    """Annotations of a judge, from 1 for the first system to 2 for the second."""
    n = len(values)
    return pl.DataFrame(
        {
            "instruction": [f"Do what is asked in line {i} of the list." for i in range(n)],
            "generator_1": ["base"] * n,
            "generator_2": ["new"] * n,
            "annotator": ["judge"] * n,
            "id": [*range(n)],
            "preference": values,
        }
    )


def mean_preference(result: Any, system: str) -> dict[str, Any]:
    return next(entry for entry in result.mean_preference if entry["system"] == system)


def test_a_mean_preference_has_the_error_of_a_mean() -> None:
    """The win rate of AlpacaEval is the mean preference less 1; its error that of a mean."""
    values = np.round(np.random.default_rng(5).beta(0.3, 0.6, 200) + 1, 4)
    result = konsil.preference(preferred([*values, None]), resamples=100)
    entry = mean_preference(result, "new")
    assert entry["value"] == pytest.approx((values - 1).mean(), abs=1e-12)
    assert entry["se"] == pytest.approx(values.std(ddof=1) / np.sqrt(200), rel=1e-9)
    assert entry["low"] < entry["value"] < entry["high"]
    assert str(entry["method"]).endswith("conditional on this rater")
    assert (entry["n_comparisons"], result.n_missing) == (200, 1)
    assert mean_preference(result, "base")["value"] == pytest.approx(1 - entry["value"])
    # Wins are preferences above the middle.
    rate = next(e for e in result.win_rate if e["system"] == "new")
    assert rate["value"] == pytest.approx((values > 1.5).mean())


def test_items_are_instructions_and_systems_have_long_names() -> None:
    """Released annotations have no number of the item, and names as long as texts."""
    table = preferred([1.2, 1.9, 2.0, 1.0, 1.4, 1.1, 1.8, 1.6] * 3)
    names = {
        "base": "a-system-of-eight-experts-v0.1_concise",
        "new": "another-system-v0.2-verbose-instruct",
    }
    renamed = table.drop("id").with_columns(
        pl.col("generator_1").replace(names), pl.col("generator_2").replace(names)
    )
    result = konsil.preference(renamed, resamples=100)
    expected = mean_preference(konsil.preference(table, resamples=100), "new")
    assert result.n_items == 24
    assert mean_preference(result, names["new"])["low"] == pytest.approx(expected["low"])


def test_draws_of_numbers_are_half_of_a_preference() -> None:
    values = [2.0] * 49 + [1.0] * 24 + [1.5] * 4
    result = konsil.preference(preferred(values), resamples=100)
    assert mean_preference(result, "new")["value"] == pytest.approx(51 / 77)
    on_scale = konsil.preference(preferred(values), scale=["1", "1.5", "2"], resamples=100)
    assert numbers(on_scale) == numbers(result)
    assert on_scale.mean_preference == ()


def test_the_ends_of_numbers_are_stated() -> None:
    values = [2.0, 1.0, 1.25, 1.75, 2.0, 1.0, 1.5, 1.9]
    table = preferred(values)
    points = table.with_columns(preference=(pl.col("preference") - 1.5) * -4).rename(
        {"preference": "score", "generator_1": "model_a", "generator_2": "model_b"}
    )
    with pytest.raises(UnclearTableError):
        konsil.preference(points, resamples=100)
    stated = konsil.preference(points, outcome="score", ends=[2, -2], resamples=100)
    expected = mean_preference(konsil.preference(table, resamples=100), "new")
    for key in ("value", "se", "low"):
        assert mean_preference(stated, "new")[key] == pytest.approx(expected[key])
    with pytest.raises(SourceError, match=r"is not a number from -0\.5 to 0\.5"):
        konsil.preference(points[[1, 2, 6]], outcome="score", ends=[0.5, -0.5], resamples=100)
    for ends in (["1"], ["1", "1"], ["a", "2"]):
        with pytest.raises(AnalysisError, match="expected two different numbers"):
            konsil.preference(points, outcome="score", ends=ends, resamples=100)


# ---------------------------------------------------------------- each option has an effect


def counted() -> pl.DataFrame:
    won = (pl.col("winner") == pl.col("model_a")).cast(pl.Int64)
    lost = (pl.col("winner") == pl.col("model_b")).cast(pl.Int64)
    return votes().select(
        pl.exclude("winner"), won.alias("wins_a"), lost.alias("wins_b"), tie=1 - won - lost
    )


def labelled() -> pl.DataFrame:
    g = np.random.default_rng(8)
    return votes().with_columns(winner=pl.Series(g.choice(["A++", "A", "=", "B", "B++"], 80)))


def doubled(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """The table with another column for each role, and with groups."""
    g = np.random.default_rng(6)
    n = table.height
    return table.with_columns(
        pl.Series("other item", [f"i{k}" for k in g.integers(0, 9, n)]),
        pl.Series("other rater", [f"p{k}" for k in g.integers(0, 9, n)]),
        pl.Series("arm", np.array(["x", "y"])[g.integers(0, 2, n)]),
        pl.Series("other", g.permutation(table[column].to_numpy())),
    )


SCALE = ["A++", "A", "=", "B", "B++"]
LAYOUTS: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "outcomes": (doubled(votes(), "rater"), {}),
    "scale": (doubled(labelled(), "winner"), {"scale": SCALE}),
    "counts": (doubled(counted(), "wins_a"), {}),
    "orders": (doubled(orders(), "g1_winner"), {}),
    "numbers": (doubled(preferred([1.0, 1.25, 2.0, 1.5] * 15), "preference"), {}),
}
STATED: dict[str, dict[str, Any]] = {
    "outcomes": {"item": "item", "rater": "rater"},
    "scale": {"item": "item", "rater": "rater", "outcome": "winner"},
    "counts": {"item": "item", "rater": "rater"},
    "orders": {"item": "question_id", "rater": "judge", "outcome": ["g1_winner", "g2_winner"]},
    "numbers": {"item": "id", "rater": "annotator", "outcome": "preference"},
}
SIDES = {
    "outcomes": ("model_a", "model_b"),
    "scale": ("model_a", "model_b"),
    "counts": ("model_a", "model_b"),
    "orders": ("model_1", "model_2"),
    "numbers": ("generator_1", "generator_2"),
}
OPTIONS: dict[str, Any] = {
    "item": "other item",
    "rater": "other rater",
    "outcome": "other",
    "scale": ["B++", "B", "=", "A", "A++"],
    "ends": [3, 0],
    "won": "other",
    "lost": "other",
    "tied": "other",
    "strict": True,
    "ties": "dropped",
    "mode": "paper",
    "where": {"arm": ["x"]},
    "by": "arm",
    "compare": "arm",
    "missing": ["", "tie", "=", "1.5", "1"],
    "resamples": 300,
    "confidence": 0.8,
    "seed": 9,
    "unused": ["arm"],
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_option_changes_the_result_or_is_refused(layout: str, option: str) -> None:
    table, needed = LAYOUTS[layout]
    first, second = SIDES[layout]
    sides = {"first": first, "second": second}
    usual = {"resamples": 200, **sides, **STATED[layout], **needed}
    plain = konsil.preference(table, **usual).to_dict()
    try:
        other = konsil.preference(table, **{**usual, option: OPTIONS[option]}).to_dict()
    except KonsilError as error:
        assert str(error)
        return
    if option == "unused":
        # It answers a question, and is a statement that the reading repeats.
        return
    assert other != plain


def test_sides_in_the_other_order_change_what_was_shown_first() -> None:
    plain = konsil.preference(votes(), resamples=100)
    other = konsil.preference(votes(), first="model_b", second="model_a", resamples=100)
    assert other.position["value"] == pytest.approx(-plain.position["value"])
    assert numbers(other) == numbers(plain)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"won": "a"}, "won and lost: expected both columns"),
        ({"tied": "a"}, "won and lost: expected both columns"),
        ({"scale": ["a", "b"], "ends": [1, 2]}, "scale and ends: expected one kind of outcomes"),
        ({"outcome": "a", "won": "b", "lost": "c"}, "outcome and won: expected one kind"),
        ({"scale": ["a", "b"], "won": "b", "lost": "c"}, "scale and won: expected one kind"),
        ({"outcome": ["a", "b"], "ends": [1, 2]}, "outcome and ends: expected one kind"),
        ({"outcome": ["a", "b", "c"]}, "expected one column, or two for both orders"),
        ({"strict": True, "ends": [1, 2]}, "strict: expected labels in order"),
        ({"strict": True}, "strict: expected labels in order"),
    ],
)
def test_options_for_outcomes_of_other_kinds_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        konsil.preference(votes(), **options)


# ---------------------------------------------------------------- never another number

NAMES = {
    "item": ["item", "question", "prompt_id", "Frage", "case"],
    "rater": ["rater", "judge", "annotator", "Gutachterin", "user_id"],
    "model_a": ["model_a", "system_a", "left", "first", "slot_a_provider", "llm 1"],
    "model_b": ["model_b", "system_b", "right", "second", "slot_b_provider", "llm 2"],
    "winner": ["winner", "choice", "vote", "preferred", "Urteil"],
}


def disguised(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A table of comparisons, and the same with other names, further columns and cut rows."""
    draw = random.Random(seed)
    table = votes(seed=seed)
    rows = sorted(draw.sample(range(table.height), draw.randint(30, 80)))
    table = table[rows]
    n = draw.randrange(5)
    names = {c: draw.choice(words) for c, words in NAMES.items()}
    names |= {c: NAMES[c][n] for c in ("model_a", "model_b")}
    further: dict[str, Any] = {
        "longer": pl.col("model_a"),
        "eye": pl.Series([draw.choice(["left", "right"]) for _ in rows]),
        "score": pl.Series([draw.choice(["0", "1", "2"]) for _ in rows]),
        "language": pl.Series([draw.choice(["de", "en"]) for _ in rows]),
        "seconds": pl.Series([str(draw.randrange(5, 90)) for _ in rows]),
        "model_c": pl.Series([draw.choice(SYSTEMS) for _ in rows]),
        "rating": pl.Series([draw.choice("123") for _ in rows]),
        "certainty": pl.Series([draw.choice(["low", "high"]) for _ in rows]),
        "tie": pl.Series([draw.choice(["0", "1"]) for _ in rows]),
    }
    some = draw.sample(sorted(further), draw.randrange(4))
    other = table.with_columns(**{name: further[name] for name in some}).rename(names)
    return table, other.select(draw.sample(other.columns, other.width))


@pytest.mark.parametrize("start", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (20, 40))])
def test_other_names_and_further_columns_never_give_another_number(start: int) -> None:
    n_right = 0
    for seed in range(start, start + 20):
        table, other = disguised(seed)
        expected = numbers(konsil.preference(table, resamples=100))
        try:
            result = konsil.preference(other, resamples=100)
        except UnclearTableError as error:
            if error.call:
                # Who confirms the reading shown is not asked the same again.
                asked = eval(error.call, {"konsil": konsil, "frame": other})
                assert asked.n_comparisons == table.height, seed
            continue
        assert numbers(result) == expected, (seed, other.columns, result.reading)
        n_right += 1
    assert n_right >= 8
