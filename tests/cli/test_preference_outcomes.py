"""konsil preference: outcomes are taken without a question where their column is named for them and
their words have one meaning; otherwise the refusal reads out who would win."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, UnclearTableError

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "100")
N = 40
G = np.random.default_rng(8)
ORDER = G.permuted(np.tile(["amber", "birch"], (N, 1)), axis=1)
PAIRS = pl.DataFrame(
    {
        "question": [f"q{n // 2:02}" for n in range(N)],
        "rater": [("r1", "r2")[n % 2] for n in range(N)],
        "model_a": ORDER[:, 0],
        "model_b": ORDER[:, 1],
    }
)
STEPS = np.where(G.random(N) < 0.7, 1, -1) * np.where(ORDER[:, 0] == "amber", 1, -1)
WITH_TIES = np.where(G.random(N) < 0.2, 0, STEPS)


def words(steps: Sequence[int], first: str, second: str, tie: str = "tie") -> list[str]:
    return [(tie, first, second)[step] for step in steps]


def names(steps: Sequence[int]) -> list[str]:
    """The winners' names, of steps in favour of the first system."""
    return [("tie", a, b)[step] for step, (a, b) in zip(steps, ORDER, strict=True)]


def with_column(name: str, cells: Sequence[Any], **others: Sequence[Any]) -> pl.DataFrame:
    return PAIRS.with_columns(
        pl.Series(name, cells), **{k: pl.Series(v) for k, v in others.items()}
    )


def of_amber(plain: dict[str, Any]) -> tuple[int, float]:
    """The number of comparisons, and the win difference of amber."""
    return plain["n_comparisons"], round(plain["win_difference"][0]["value"], 9)


def truth(steps: Sequence[int]) -> tuple[int, float]:
    sign = np.where(ORDER[:, 0] == "amber", 1, -1)
    return N, round(float((sign * np.array(steps)).mean()), 9)


def computed(table: pl.DataFrame, **options: Any) -> tuple[int, float]:
    return of_amber(konsil.preference(table, resamples=100, **options).to_dict())


def refusal(table: pl.DataFrame, **options: Any) -> UnclearTableError:
    with pytest.raises(UnclearTableError) as refused:
        konsil.preference(table, resamples=100, **options)
    return refused.value


def followed(call: Call, table: pl.DataFrame, folder: Path) -> tuple[tuple[int, float], str]:
    """What the command prints that the refusal prints, and what it asks."""
    file = folder / "t.csv"
    table.write_csv(file)
    code, _, err = call("preference", file, *FEW, "--json")
    assert code == 2
    asked = err.splitlines()[-1]
    assert asked.startswith("If so: konsil preference "), err
    code, out, other = call(*shlex.split(asked.removeprefix("If so: konsil ")), *FEW, "--json")
    assert code == 0, other
    return of_amber(json.loads(out)), err


NAMED = ["Sieger", "Gewinner", "preferred", "better", "besser", "Urteil", "verdict", "result"]
NAMED += ["preferredAnswer", "which is better", "gpt4_verdict", "human_preference"]


@pytest.mark.parametrize("name", NAMED)
def test_sides_in_a_column_of_verdicts_are_not_asked(name: str) -> None:
    assert computed(with_column(name, words(WITH_TIES, "A", "B"))) == truth(WITH_TIES)


OTHERS = ["shown_first", "judge_model", "baseline", "generated_by", "longer_answer", "gold"]
OTHERS += ["hallucinated", "position", "removed", "more_harmful", "preferred_language"]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("cells", [names(STEPS), words(STEPS, "A", "B")], ids=["names", "sides"])
def test_columns_that_are_named_for_no_verdict_are_asked(name: str, cells: list[str]) -> None:
    asked = refusal(with_column(name, cells))
    assert f"{name} contains s" in " ".join(asked.unclear)
    assert "named for outcomes" in " ".join(asked.unclear)
    stated = {"item": "question", "rater": "rater", "first": "model_a", "second": "model_b"}
    assert computed(with_column(name, cells), outcome=name, **stated) == truth(STEPS)


def test_a_named_column_is_read_beside_one_that_is_not() -> None:
    table = with_column("baseline", names(-STEPS), winner=words(STEPS, "A", "B"))
    assert computed(table) == truth(STEPS)


LOSERS = ["loser", "worse", "worst", "rejected", "Verlierer", "schlechter", "least_preferred"]
LOSERS += ["dispreferred", "Schlechtere Antwort"]


@pytest.mark.parametrize("name", LOSERS)
def test_a_column_of_losers_has_the_other_system_as_the_winner(name: str) -> None:
    for cells in (names(-STEPS), words(-STEPS, "A", "B")):
        table = with_column(name, cells)
        result = konsil.preference(table, resamples=100)
        assert of_amber(result.to_dict()) == truth(STEPS)
        assert f"outcomes in {name} (the system that lost)" in result.reading


def test_a_stated_column_of_losers_is_read_out() -> None:
    table = with_column("loser", names(-STEPS))
    stated = {"item": "question", "rater": "rater", "first": "model_a", "second": "model_b"}
    result = konsil.preference(table, outcome="loser", resamples=100, **stated)
    assert of_amber(result.to_dict()) == truth(STEPS)
    assert "loser (the system that lost)" in result.reading
    # Labels in order say themselves which side is preferred.
    table = with_column("loser", words(STEPS, "x1", "x2"))
    assert computed(table, outcome="loser", scale=["x1", "x2"], **stated) == truth(STEPS)


def test_losers_of_each_rater_and_beside_winners() -> None:
    beside = with_column("winner", names(WITH_TIES), loser=names(-WITH_TIES))
    assert computed(beside) == truth(WITH_TIES)
    wide = PAIRS.drop("rater").with_columns(
        loser_anna=pl.Series(names(-STEPS)), loser_ben=pl.Series(names(-STEPS))
    )
    stated = {"item": "question", "first": "model_a", "second": "model_b"}
    both = konsil.preference(wide, rater=["loser_anna", "loser_ben"], resamples=100, **stated)
    assert both.win_difference[0]["value"] == pytest.approx(truth(STEPS)[1])


CODES = {
    "sides": (with_column("winner", words(STEPS, "0", "1")), truth(STEPS), "1,0"),
    "sides beside ties": (
        with_column("winner", words(WITH_TIES, "0", "1")),
        truth(WITH_TIES),
        "1,tie,0",
    ),
    "a tie": (with_column("winner", words(WITH_TIES, "1", "2", "0")), truth(WITH_TIES), "0,2,1"),
}


@pytest.mark.parametrize("name", CODES)
def test_numbers_with_a_0_are_asked(call: Call, tmp_path: Path, name: str) -> None:
    table, right, other = CODES[name]
    numbers, asked = followed(call, table, tmp_path)
    assert numbers == right
    assert f"or --scale {other}." in asked
    stated = {"item": "question", "rater": "rater", "first": "model_a", "second": "model_b"}
    refusal(table, outcome="winner", **stated)


def test_sides_without_a_0_are_plain() -> None:
    assert computed(with_column("winner", words(STEPS, "1", "2"))) == truth(STEPS)
    named = with_column("winner", words(WITH_TIES, "A", "B", "0"))
    assert computed(named) == truth(WITH_TIES)


def test_a_0_below_the_sample_is_refused() -> None:
    rows = 2_400
    table = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(rows)],
            "rater": ["r1", "r2"] * (rows // 2),
            "model_a": ["amber", "birch"] * (rows // 2),
            "model_b": ["birch", "amber"] * (rows // 2),
            "winner": ["1", "2", "2"] * 799 + ["0", "1", "2"],
        }
    )
    with pytest.raises(UnclearTableError, match="numbers with a 0"):
        konsil.preference(table, resamples=100)


def test_the_first_row_says_who_wins() -> None:
    steps = STEPS.copy()
    steps[0] = 0
    table = with_column("baseline", words(steps, "A", "B"))
    winner, loser = ORDER[1].tolist()[:: int(STEPS[1])]
    end = f"outcome {words(STEPS, 'A', 'B')[1]!r}, so {winner!r} wins over {loser!r}"
    assert refusal(table).first_row.endswith(end)
    alone = refusal(with_column("winner", words(steps, "A", "B")).drop("question", "rater"))
    assert alone.first_row.startswith("row 2: ") and alone.first_row.endswith(end)


@pytest.mark.parametrize(
    ("name", "normal", "other"),
    [
        ("flipped", "False", "True"),
        ("a_left", "yes", "no"),
        ("b_first", "0", "1"),
        ("presentation_order", "AB", "BA"),
        ("vertauscht", "nein", "ja"),
        ("Reihenfolge", "AB", "BA"),
    ],
)
def test_an_order_that_columns_do_not_repeat_is_asked(
    call: Call, tmp_path: Path, name: str, normal: str, other: str
) -> None:
    """The outcomes are sides as shown, in either order of the columns."""
    swapped = G.random(N) < 0.5
    cells = words(np.where(swapped, -STEPS, STEPS), "A", "B")
    order = np.where(swapped, other, normal)
    numbers, asked = followed(call, with_column("winner", cells, **{name: order}), tmp_path)
    assert numbers == truth(STEPS)
    assert f"--swapped {name}={other}" in asked and "--swapped -" in asked
    # All other roles stated: the order is asked all the same, unless it is stated as unused.
    table = with_column("winner", cells, **{name: order})
    roles: dict[str, Any] = {"item": "question", "rater": "rater", "outcome": "winner"}
    roles |= {"first": "model_a", "second": "model_b", "resamples": 100}
    with pytest.raises(UnclearTableError, match="shown in two orders"):
        konsil.preference(table, **roles)
    assert konsil.preference(table, **roles, unused=[name]).n_comparisons == N
    # Names of systems are the same in both orders.
    assert computed(with_column("winner", names(STEPS), **{name: order})) == truth(STEPS)


def test_the_system_at_the_first_place_is_asked(call: Call, tmp_path: Path) -> None:
    left = np.where(G.random(N) < 0.5, "amber", "birch")
    cells = words(np.where(left == ORDER[:, 0], STEPS, -STEPS), "left", "right")
    numbers, _ = followed(call, with_column("winner", cells, left_system=left), tmp_path)
    assert numbers == truth(STEPS)


RESULTS = [("winner", "loser"), ("chosen", "rejected"), ("Gewinner", "Verlierer")]


@pytest.mark.parametrize("sides", RESULTS)
def test_columns_of_winners_and_losers_are_read(sides: tuple[str, str]) -> None:
    table = PAIRS.select(
        "question",
        "rater",
        pl.Series(sides[1], names(-STEPS)),
        pl.Series(sides[0], names(STEPS)),
    )
    result = konsil.preference(table, resamples=100)
    assert of_amber(result.to_dict()) == truth(STEPS)
    assert f"systems that won in {sides[0]}" in result.reading
    assert result.position == {}  # the first column always won
    stated = {"item": "question", "rater": "rater", "first": sides[0], "second": sides[1]}
    assert computed(table, **stated) == truth(STEPS)


def test_winners_and_losers_beside_ties_are_refused() -> None:
    table = PAIRS.select(
        "question", "rater", winner=pl.Series(names(STEPS)), loser=pl.Series(names(-STEPS))
    ).with_columns(tie=pl.Series((WITH_TIES == 0).astype(int)))
    refusal(table)
    yes = [("yes", "no"), ("no", "yes")]
    labels = PAIRS.select(
        "question",
        preferred=pl.Series([yes[int(s > 0)][0] for s in STEPS]),
        rejected=pl.Series([yes[int(s > 0)][1] for s in STEPS]),
    )
    refusal(labels)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("a_better", words(STEPS, "TRUE", "FALSE")),
        ("b_preferred", words(STEPS, "no", "yes")),
        ("pref", words(WITH_TIES, "-1", "1", "0")),
    ],
)
def test_the_order_of_truth_values_and_signs_is_proposed(
    call: Call, tmp_path: Path, name: str, cells: list[str]
) -> None:
    steps = WITH_TIES if name == "pref" else STEPS
    assert followed(call, with_column(name, cells), tmp_path)[0] == truth(steps)


COUNTS = [["amber", "birch", 3, 15, 4], ["amber", "cedar", 1, 16, 3], ["birch", "cedar", 7, 26, 5]]


@pytest.mark.parametrize(
    "heads",
    [
        ("model", "opponent", "losses", "wins", "draws"),
        ("Modell", "Gegner", "Niederlagen", "Siege", "Unentschieden"),
        ("model_a", "model_b", "b_wins", "a_wins", "ties"),
        ("Modell A", "Modell B", "Siege B", "Siege A", "unentschieden"),
    ],
)
def test_counts_of_wins_are_read_by_their_names(heads: tuple[str, ...]) -> None:
    table = pl.DataFrame(COUNTS, heads, orient="row")
    rates = konsil.preference(table, resamples=100).win_rate
    assert (rates[0]["system"], rates[0]["rival"]) == ("amber", "birch")
    assert rates[0]["value"] == pytest.approx(15 / 22)
    both = [[b, a, won, lost, tied] for a, b, lost, won, tied in COUNTS]
    mirrored = refusal(pl.DataFrame([*COUNTS, *both], heads, orient="row"))
    assert "keep one of them" in " ".join(mirrored.unclear) and not mirrored.call


def test_scores_of_each_system_are_no_outcomes() -> None:
    scores = G.integers(1, 6, (2, N))
    asked = refusal(with_column("score_a", scores[0], score_b=scores[1]))
    assert "No columns contain comparisons." in asked.unclear


def test_equal_rows_count_once_and_different_ones_are_pooled() -> None:
    table = with_column("winner", names(WITH_TIES))
    doubled = konsil.preference(pl.concat([table, table.head(10)]), resamples=100)
    assert doubled.win_difference == konsil.preference(table, resamples=100).win_difference
    assert any("count once" in str(note) for note in doubled.warnings)
    counts = table.select(
        *table.columns[:4],
        won=pl.Series(np.where(WITH_TIES > 0, 1, 0)),
        lost=pl.Series(np.where(WITH_TIES < 0, 1, 0)),
        tied=pl.Series(np.where(WITH_TIES == 0, 1, 0)),
    )
    assert computed(pl.concat([counts, counts.head(10)])) == truth(WITH_TIES)
    again = with_column("winner", names(STEPS))
    pooled = konsil.preference(pl.concat([table, again]), resamples=100)
    assert pooled.n_comparisons == 2 * N
    assert any("no column distinguishes them" in str(note) for note in pooled.warnings)
    apart = [t.with_columns(turn=pl.lit(n)) for n, t in enumerate((table, table))]
    turns = konsil.preference(pl.concat(apart), unused=["turn"], resamples=100)
    assert turns.n_comparisons == 2 * N


def test_counts_of_votes_are_not_left_out_silently(call: Call, tmp_path: Path) -> None:
    table = with_column("winner", words(STEPS, "A", "B"), votes=G.integers(1, 9, N))
    numbers, asked = followed(call, table, tmp_path)
    assert numbers == truth(STEPS)
    assert "votes may count or weight the rows." in asked and "--unused votes" in asked


def test_words_for_no_outcome_are_refused_with_the_way_out() -> None:
    table = with_column("winner", ["skip", *names(STEPS)[1:]])
    with pytest.raises(AnalysisError, match=re.escape("no outcome with missing=['skip']")):
        konsil.preference(table, resamples=100)
    assert computed(table, missing=["", "skip"])[0] == N - 1


def test_a_winner_in_other_letters_is_read_out() -> None:
    table = with_column("baseline", [name.upper() for name in names(STEPS)])
    winner, loser = ORDER[0].tolist()[:: int(STEPS[0])]
    assert refusal(table).first_row.endswith(f"so {winner!r} wins over {loser!r}")


def test_the_first_column_is_named(call: Call, tmp_path: Path) -> None:
    table = with_column("choice", words(STEPS, "A", "B"))
    file = tmp_path / "t.csv"
    table.select("question", "rater", "model_b", "model_a", "choice").write_csv(file)
    _, out, _ = call("preference", file, *FEW)
    assert "of the systems in model_a; a bias where they were shown first." in out
