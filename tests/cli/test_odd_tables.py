"""Odd but ordinary tables: read rightly at once, or by the command that a refusal prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.analysis.roles.odd_tables import Odd, Ratings, cross_table, redcap, tables
from tests.cli.test_printed_commands import followed

import konsil

from .conftest import Call


def values(ratings: Ratings) -> tuple[float, float]:
    """Percent agreement and Fleiss' kappa of the true ratings."""
    columns = {f"R{k}": [row[k] or None for row in ratings] for k in range(len(ratings[0]))}
    frame = pl.DataFrame({"unit": [f"u{n:03}" for n in range(len(ratings))], **columns})
    result = konsil.agreement(frame, layout="wide", unit="unit", resamples=100)
    return result["percent_agreement"].value, result["krippendorff_alpha"].value


def shown(result: Mapping[str, Any]) -> tuple[float, float]:
    found = {each["name"]: each["value"] for each in result["statistics"]}
    return found["percent_agreement"], found["krippendorff_alpha"]


def write(odd: Odd, folder: Path) -> Path:
    file = folder / "table.csv"
    file.write_text("\n".join(odd.lines) + "\n", encoding="utf-8")
    return file


def check(call: Call, odd: Odd, folder: Path) -> list[str]:
    """The command that has the true values, group by group."""
    words, result = followed(call, write(odd, folder))
    assert result is not None, words
    groups = {group["group"]: group for group in result.get("groups", [])} or {"": result}
    assert groups.keys() == odd.truth.keys()
    for name, group in groups.items():
        assert shown(group) == pytest.approx(values(odd.truth[name]), abs=1e-9), name
    return words


@pytest.mark.slow
@pytest.mark.parametrize("name", tables(0))
def test_a_table_is_right_at_once_or_by_the_printed_command(
    name: str, call: Call, tmp_path: Path
) -> None:
    """Kills: raters that no word names, rounds and clusters that the command forgets."""
    for seed in (1, 20, 300):
        words = check(call, tables(seed)[name], tmp_path)
    assert ("--cluster" in words) == ("patient" in name)
    assert ("--by" in words) == ("round" in name or name == "Durchgang")


@pytest.mark.parametrize("name", redcap(0))
def test_a_column_of_raters_is_proposed_before_respondents(
    name: str, call: Call, tmp_path: Path
) -> None:
    words = check(call, redcap(5)[name], tmp_path)
    assert "--rater" not in words or words[words.index("--rater") + 1] == "rater_name"


def test_rounds_ask_for_options_that_settle_them(call: Call, tmp_path: Path) -> None:
    """Kills: an option of other layouts, a command that leaves the rounds together."""
    for name, has_rule in (("rounds", True), ("rounds beside raters", False)):
        file = write(tables(3)[name], tmp_path)
        code, _, err = call("agreement", file)
        assert code == 2 and "--by round, --where round=..." in err
        assert ("--repeat first" in err) == has_rule
        assert call("agreement", file, "--where", "round=1", "--resamples", 100)[0] == 0
    assert call("agreement", file, "--where", "round=1", "--resamples", 100)[0] == 0


@pytest.mark.parametrize("has_column", [True, False])
def test_totals_of_a_cross_table_are_no_labels(
    has_column: bool, call: Call, tmp_path: Path
) -> None:
    """Kills: a total that does not add up and is read as a label, or as numbers of raters."""
    check(call, cross_table(has_column=has_column), tmp_path)
    file = write(cross_table(change=1, has_column=has_column), tmp_path)
    for flags in ((), ("--cross-table",)):
        code, _, err = call("agreement", file, *flags)
        assert code == 2 and "If so" not in err
        assert "The counts of 'moderate' add up to 25, its total is 26" in err


REFUSED = {
    "a mean that the first column does not name": (
        ",case,Anna,Ben",
        *(f"{n},c{n},{n % 5},{(n + n // 3) % 5}" for n in range(12)),
        ",Mean,2.1,2.2",
    ),
    "a row without a name at the end": (
        "case,Anna,Ben",
        *(f"c{n},{n % 5},{(n + n // 3) % 5}" for n in range(12)),
        ",2.1,2.2",
    ),
    "names of columns again": (
        "case,Anna,Ben",
        *(f"c{n},{n % 5},{(n + n // 3) % 5}" for n in range(6)),
        "case,Anna,Ben",
        *(f"d{n},{n % 5},{(n + n // 3) % 5}" for n in range(6)),
    ),
    "raters that change": (
        "case,rater_1,score_1,rater_2,score_2",
        *(f"c{n},{'abc'[n % 3] * 3},{n % 4},{'bca'[n % 3] * 3},{n % 3}" for n in range(12)),
    ),
    "no ratings": ("name,birthday", *(f"n{n},2001-01-{n + 10}" for n in range(9))),
    "names that say nothing": (
        "thing,north,south",
        *(f"t{n},{n % 5},{(n + n // 3) % 5}" for n in range(12)),
    ),
}
SETTLED = (
    *("Leave it out of the table", "Leave it out of the table", "leave it out of the table"),
    *("write a row for each rating", "--unit, --rater and --label", "with --rater, or"),
)


@pytest.mark.parametrize(("name", "words"), [*zip(REFUSED, SETTLED, strict=True)])
def test_a_refusal_without_a_command_says_what_settles_it(
    name: str, words: str, call: Call, tmp_path: Path
) -> None:
    """Kills: totals and names as ratings, and a refusal that leaves its reader alone."""
    file = tmp_path / "table.csv"
    file.write_text("\n".join(REFUSED[name]) + "\n")
    code, _, err = call("agreement", file)
    assert code == 2 and "If so" not in err
    assert words in err


def test_cells_without_an_answer_are_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: 'n/a' as a third label beside yes and no; a minus sign beside a plus as no label."""
    for word, is_asked in (("n/a", True), ("Keine Angabe", True), ("unclear", False)):
        rows = [f"c{n},{'yes' if n % 3 else 'no'},{'yes' if n % 2 else 'no'}" for n in range(10)]
        rows[3] = f"c3,{word},yes"
        file = write(Odd(("case,Anna,Ben", *rows), {}), tmp_path)
        words, result = followed(call, file)
        assert ("--missing" in words) == is_asked
        assert result is not None and json.dumps(result["n_ratings"]) == str(20 - is_asked)
    signs = [f"c{n},{'+-'[n % 2]},{('+', '++', '-')[n % 3]}" for n in range(12)]
    words, _ = followed(call, write(Odd(("case,Anna,Ben", *signs), {}), tmp_path))
    assert "--missing" not in words
