"""konsil preference: verdicts of both orders, of several raters, and on scales are all used, or the
refusal prints the command that uses them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError, UnclearTableError

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "100")
N = 40
G = np.random.default_rng(5)
SYSTEMS = np.array(["amber", "birch", "cedar"])
PAIRS = pl.DataFrame(
    [(f"q{n:02}", *SYSTEMS[G.choice(3, 2, replace=False)]) for n in range(N)],
    ("item", "model_a", "model_b"),
    orient="row",
)
STEPS = G.choice([1, -1, 0], N, p=[0.5, 0.3, 0.2])
OTHER = np.where(G.random(N) < 0.7, STEPS, G.choice([1, -1, 0], N))
DEGREES = G.integers(-2, 3, N)
RATERS = pl.Series("rater", [f"r{n}" for n in G.integers(0, 6, N)])
JUDGE = pl.lit("gpt-4")


def named(steps: Sequence[int], pairs: pl.DataFrame = PAIRS) -> list[str]:
    """The winners' names, of steps in favour of the first system."""
    sides = zip(steps, pairs["model_a"], pairs["model_b"], strict=True)
    return [("tie", a, b)[step] for step, a, b in sides]


def worded(steps: Sequence[int], first: str, second: str, tie: str = "tie") -> list[str]:
    return [(tie, first, second)[step] for step in steps]


def long(*steps: Sequence[int], raters: Sequence[str]) -> pl.DataFrame:
    """A row for each comparison, with the winners' names."""
    return pl.concat(
        PAIRS.with_columns(rater=pl.lit(rater), winner=pl.Series(named(some)))
        for rater, some in zip(raters, steps, strict=True)
    )


MERGED = long(np.where(STEPS == OTHER, STEPS, 0), raters=["gpt-4"])
"""The verdicts of both orders; different ones are a tie."""
OPPOSITE = long(np.where(STEPS == -OTHER, STEPS, 0), raters=["gpt-4"])
"""The same where the words of the second order are for the sides as shown."""
POOLED = long(STEPS, OTHER, raters=["gpt-4", "gpt-4"])
AS_SHOWN = long(STEPS, -OTHER, raters=["gpt-4", "gpt-4"])
PEOPLE = long(STEPS, OTHER, raters=["anna", "ben"])
SCALED = PAIRS.with_columns(RATERS, winner=pl.Series(named(np.sign(DEGREES))))


def columns(**verdicts: Sequence[Any]) -> pl.DataFrame:
    return PAIRS.with_columns(**{name: pl.Series(cells) for name, cells in verdicts.items()})


def rows(first: Sequence[str], second: Sequence[str], **order: tuple[str, str]) -> pl.DataFrame:
    """A row for each order of each comparison."""
    (name, values), *_ = order.items()
    parts = [
        PAIRS.with_columns(pl.lit(value).alias(name), winner=pl.Series(cells), judge=JUDGE)
        for value, cells in zip(values, (first, second), strict=True)
    ]
    return pl.concat(parts).sort("item", maintain_order=True)


def exchanged(table: pl.DataFrame) -> pl.DataFrame:
    """The table with the systems of the second order in the columns as they were shown."""
    is_second = pl.col("order") == "BA"
    a, b = pl.col("model_a"), pl.col("model_b")
    return table.with_columns(
        model_a=pl.when(is_second).then(b).otherwise(a),
        model_b=pl.when(is_second).then(a).otherwise(b),
    )


def labelled(labels: Sequence[str], name: str, **names: str) -> pl.DataFrame:
    """Preferences with one of five labels, from the first to the second system preferred."""
    cells = [labels[2 - step] for step in DEGREES]
    return PAIRS.with_columns(RATERS, pl.Series(name, cells)).rename(names)


def sides(first: str, second: str) -> tuple[list[str], list[str]]:
    return worded(STEPS, first, second), worded(OTHER, first, second)


GERMAN = {"item": "Frage", "rater": "Gutachter", "model_a": "Modell A", "model_b": "Modell B"}
AB, LR = sides("A", "B"), sides("left", "right")
NAMES = named(STEPS), named(OTHER)
SHOWN_FIRST = rows(*LR, first_shown=("model_a", "model_b"))
ORDERS: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {
    "ab and ba": (columns(ab=NAMES[0], ba=NAMES[1]), MERGED),
    "ab and ba with letters": (columns(ab=AB[0], ba=AB[1]), MERGED),
    "winner_ab": (columns(winner_ab=NAMES[0], winner_ba=NAMES[1]), MERGED),
    "orders by number": (columns(winner_order1=NAMES[0], winner_order2=NAMES[1]), MERGED),
    "swapped": (columns(winner=NAMES[0], winner_swapped=NAMES[1]), MERGED),
    "sides as shown": (
        columns(first_order=LR[0], second_order=worded(-OTHER, "left", "right")),
        MERGED,
    ),
    "German sides": (
        columns(
            urteil_ab=worded(STEPS, "links", "rechts", "unentschieden"),
            urteil_ba=worded(-OTHER, "links", "rechts", "unentschieden"),
        ),
        MERGED,
    ),
    "rows with names": (rows(*NAMES, order=("AB", "BA")), POOLED),
    "rows with sides": (rows(*LR, order=("AB", "BA")), AS_SHOWN),
    "rows in German": (rows(*sides("links", "rechts"), Reihenfolge=("AB", "BA")), AS_SHOWN),
    "rows swapped": (rows(*AB, swapped=("false", "true")), AS_SHOWN),
    "rows as shown": (exchanged(rows(*LR, order=("AB", "BA"))), AS_SHOWN),
    "rows with names of columns": (
        rows(*sides("model_a", "model_b"), order=("AB", "BA")),
        POOLED,
    ),
    "rows with the first column": (SHOWN_FIRST, AS_SHOWN),
    "rows with the first system": (
        SHOWN_FIRST.with_columns(
            first_shown=pl.when(pl.col("first_shown") == "model_a")
            .then("model_a")
            .otherwise("model_b")
        ),
        AS_SHOWN,
    ),
}
OF_RATERS: dict[str, tuple[pl.DataFrame, pl.DataFrame]] = {
    "names": (columns(anna=NAMES[0], ben=NAMES[1]), PEOPLE),
    "letters": (columns(anna=AB[0], ben=AB[1]), PEOPLE),
    "numbered": (columns(rater1=NAMES[0], rater2=NAMES[1]), PEOPLE),
    "winner of each": (columns(winner_anna=NAMES[0], winner_ben=NAMES[1]), PEOPLE),
    "German": (
        columns(**{"Urteil Arzt 1": AB[0], "Urteil Arzt 2": AB[1]}).rename({"item": "Frage"}),
        PEOPLE,
    ),
    "beside another rater": (columns(anna=AB[0], ben=AB[1], judge=["gpt-4"] * N), PEOPLE),
}


def of_both(labels: str, tie: str) -> list[str]:
    """Labels of a scale from those of one side."""
    texts = labels.split("|")
    return [*(t.format("A") for t in texts), tie, *(t.format("B") for t in reversed(texts))]


ON_SCALE: dict[str, pl.DataFrame] = {
    "much": labelled(of_both("{} much better|{} slightly better", "about the same"), "preference"),
    "deutlich": labelled(
        of_both("{} deutlich besser|{} etwas besser", "gleich gut"), "Urteil", **GERMAN
    ),
    "viel": labelled(
        ["A viel besser", "A besser", "gleich", "B besser", "B viel besser"],
        "Präferenz",
        **GERMAN,
    ),
    "responses": labelled(
        of_both(
            "Response {} is significantly better|Response {} is slightly better",
            "Both are equally good",
        ),
        "label",
    ),
    "left": labelled(
        ["Left much better", "Left better", "Same", "Right better", "Right much better"], "rating"
    ),
    "signs": labelled(["A>>B", "A>B", "A=B", "B>A", "B>>A"], "preference"),
    "another name": labelled(
        of_both("{} strongly preferred|{} preferred", "no preference"), "opinion"
    ),
}
NUMBERS: dict[str, tuple[pl.DataFrame, tuple[float, float]]] = {
    "around zero": (PAIRS.with_columns(RATERS, score=-DEGREES), (-2, 2)),
    "one to seven": (
        PAIRS.with_columns(
            RATERS, pl.Series("Präferenz", 4 - np.array([-3, -1, 0, 1, 2])[DEGREES + 2])
        ).rename(GERMAN),
        (1, 7),
    ),
    "one to five": (PAIRS.with_columns(RATERS, rating=3 - DEGREES), (1, 5)),
    "percent": (PAIRS.with_columns(RATERS, preference=50 - 23 * DEGREES), (0, 100)),
    "share": (PAIRS.with_columns(RATERS, preference=0.5 - 0.21 * DEGREES), (0, 1)),
}


def numbers(plain: dict[str, Any]) -> tuple[object, ...]:
    """A result without the names of its raters and their order."""
    wins = [[e[key] for key in ("system", "value", "se", "low")] for e in plain["win_difference"]]
    worths = [(e["system"], e["log_worth"]) for e in plain["davidson"]["worths"]]
    return plain["n_comparisons"], plain["n_items"], plain["n_raters"], wins, worths


def followed(call: Call, table: pl.DataFrame, folder: Path) -> tuple[dict[str, Any], str]:
    """What the command prints, or the one that it prints; with what it asks."""
    file = folder / "t.csv"
    table.write_csv(file)
    code, out, err = call("preference", file, *FEW, "--json")
    if code == 2:
        asked = err.splitlines()[-1]
        assert asked.startswith("If so: konsil preference "), err
        arguments = shlex.split(asked.removeprefix("If so: konsil "))
        code, out, _ = call(*arguments, *FEW, "--json")
    assert code == 0, (err, out)
    return json.loads(out), err


def called(table: pl.DataFrame) -> dict[str, Any]:
    """The same in Python."""
    try:
        return konsil.preference(table, resamples=100).to_dict()
    except UnclearTableError as error:
        result = eval(error.call, {"konsil": konsil, "frame": table})
        return dict(result.to_dict())


def expected(table: pl.DataFrame, **options: Any) -> tuple[object, ...]:
    return numbers(konsil.preference(table, unused=[], resamples=100, **options).to_dict())


@pytest.mark.parametrize("name", ORDERS)
def test_both_orders_are_used(call: Call, tmp_path: Path, name: str) -> None:
    table, truth = ORDERS[name]
    table = table if "judge" in table.columns else table.with_columns(judge=JUDGE)
    plain, _ = followed(call, table, tmp_path)
    assert numbers(plain) == expected(truth)
    assert numbers(called(table)) == numbers(plain)


@pytest.mark.parametrize("name", OF_RATERS)
def test_the_verdicts_of_all_raters_are_used(call: Call, tmp_path: Path, name: str) -> None:
    table, truth = OF_RATERS[name]
    plain, asked = followed(call, table, tmp_path)
    assert numbers(plain) == expected(truth)
    assert numbers(called(table)) == numbers(plain)
    assert bool(asked) == ("judge" in table.columns)


@pytest.mark.parametrize("name", ON_SCALE)
def test_labels_in_order_are_proposed(call: Call, tmp_path: Path, name: str) -> None:
    """Also where no row has one of the labels: the scale has both sides."""
    table = ON_SCALE[name]
    plain, asked = followed(call, table, tmp_path)
    assert numbers(plain) == expected(SCALED) and "--scale" in asked
    assert numbers(called(table)) == numbers(plain)
    part = DEGREES < 2
    plain, _ = followed(call, table.filter(part), tmp_path)
    assert numbers(plain) == expected(SCALED.filter(part))


@pytest.mark.parametrize("name", NUMBERS)
def test_the_ends_of_numbers_are_proposed(call: Call, tmp_path: Path, name: str) -> None:
    table, (low, high) = NUMBERS[name]
    plain, asked = followed(call, table, tmp_path)
    assert numbers(plain) == expected(SCALED) and f"--ends {low},{high}" in asked
    # The mean share of the preference of each ordered pair, by hand.
    preferred = 1 - (table[table.columns[-1]].to_numpy() - low) / (high - low)
    for entry in plain["mean_preference"]:
        pair = entry["system"], entry["rival"]
        is_pair, is_reverse = (
            (PAIRS["model_a"] == a).to_numpy() & (PAIRS["model_b"] == b).to_numpy()
            for a, b in (pair, pair[::-1])
        )
        shares = [*preferred[is_pair], *(1 - preferred[is_reverse])]
        assert entry["value"] == pytest.approx(np.mean(shares))
    assert numbers(called(table)) == numbers(plain)


@pytest.mark.slow
def test_raters_and_orders_on_scales(call: Call, tmp_path: Path) -> None:
    """Two raters with labels in order; both orders with labels, and with numbers."""
    labels = ["A much better", "A better", "equal", "B better", "B much better"]
    cells = [labels[2 - n] for n in DEGREES], [labels[2 - n] for n in DEGREES[::-1]]
    truth = long(np.sign(DEGREES), np.sign(DEGREES[::-1]), raters=["anna", "ben"])
    plain, _ = followed(call, columns(anna=cells[0], ben=cells[1]), tmp_path)
    assert numbers(plain) == expected(truth)
    merged = long(np.where(DEGREES == OTHER * 2, np.sign(DEGREES), 0), raters=["gpt-4"])
    of_orders = columns(ab=cells[0], ba=[labels[2 - 2 * n] for n in OTHER])
    for swapped, table in (
        ("-", of_orders),
        ("ba", of_orders.with_columns(ba=pl.Series([labels[2 + 2 * n] for n in OTHER]))),
    ):
        result = konsil.preference(
            table.with_columns(judge=JUDGE), outcome=["ab", "ba"], scale=labels, swapped=swapped,
            resamples=100,
        )  # fmt: skip
        assert numbers(result.to_dict())[:4] == expected(merged)[:4]
    table = columns(ab=-DEGREES, ba=-DEGREES).with_columns(judge=JUDGE)
    plain, asked = followed(call, table, tmp_path)
    assert numbers(plain) == expected(
        SCALED.with_columns(rater=JUDGE)
    ) and "--scale=-2,-1,0,1,2" in asked.replace("--scale ", "--scale=")


def test_names_that_may_be_raters_or_orders_are_asked() -> None:
    table = columns(winner_1=NAMES[0], winner_2=NAMES[1]).with_columns(judge=JUDGE)
    with pytest.raises(UnclearTableError, match="It could also be"):
        konsil.preference(table, resamples=100)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"swapped": "order=CC"}, "no row has this value"),
        ({"swapped": "shown=BA"}, "there is no such column"),
        ({"swapped": "shown"}, "there is no such column"),
        ({"swapped": "order=BA", "won": "a", "lost": "b"}, "counts of wins have no words"),
        ({"rater": ["anna", "ben"], "outcome": "winner"}, "expected one of them"),
    ],
)
def test_statements_that_a_table_does_not_have_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    table = ORDERS["rows with sides"][0]
    with pytest.raises((AnalysisError, SourceError), match=sentence):
        konsil.preference(table, resamples=100, **options)


STATED = {"item": "item", "first": "model_a", "second": "model_b"}


def test_a_second_order_that_is_no_outcome_is_refused() -> None:
    table = ORDERS["ab and ba"][0].with_columns(judge=JUDGE)
    with pytest.raises(SourceError, match="has no effect"):
        konsil.preference(table, **STATED, rater="judge", outcome=["ab", "ba"], swapped="judge")
    # What is recognised need not be stated.
    assert konsil.preference(table, swapped="ba", resamples=100).n_comparisons == N


def test_a_line_of_a_rater_s_column_is_named() -> None:
    table = columns(anna=AB[0], ben=[*AB[1][:7], "?", *AB[1][8:]])
    with pytest.raises(AnalysisError, match="line 9"):
        konsil.preference(table, **STATED, rater=["anna", "ben"])


@pytest.mark.parametrize("name", ["letters", "rows with sides"])
def test_a_data_set_has_the_same_numbers(tmp_path: Path, name: str) -> None:
    from konsil.analysis.standalone.preference_request import PreferenceRequest
    from konsil.api.datasets.preferences import preference_of_data_set

    table = {**ORDERS, **OF_RATERS}[name][0]
    options: dict[str, Any] = {"swapped": "order=BA"} if "order" in table.columns else {}
    table[:15].write_parquet(tmp_path / "a.parquet")
    table[15:].write_parquet(tmp_path / "b.parquet")
    request = PreferenceRequest(resamples=100, **options)
    parts = preference_of_data_set(tmp_path, request).to_dict()
    assert parts == konsil.preference(table, resamples=100, **options).to_dict()
