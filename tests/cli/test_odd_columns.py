"""Columns that are no raters, counts that are none, and names in two spellings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from tests.analysis.roles.odd_tables import ratings
from tests.cli.test_odd_tables import shown, values
from tests.cli.test_printed_commands import IF_SO, followed

import konsil
from konsil.errors import UnclearTableError

from .conftest import Call

Rows = Sequence[Sequence[object]]
WORDS = ("ill", "well", "open")


def write(folder: Path, *lines: Sequence[object]) -> Path:
    file = folder / "table.csv"
    file.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return file


def others(seed: int, n: int) -> list[list[str]]:
    """Numbers that are no ratings of the same labels' raters."""
    draw = random.Random(seed)
    return [[str(draw.randint(1, 5)) for _ in range(2)] for _ in range(n)]


def check(call: Call, file: Path, truth: Rows) -> list[str]:
    words, result = followed(call, file)
    assert result is not None, words
    assert shown(result) == pytest.approx(values(truth), abs=1e-9)
    return words


def is_asked(words: Sequence[str]) -> bool:
    return len(words) > 4


@pytest.mark.parametrize(
    ("names", "are_asked"),
    [
        (("dr_a_conf", "dr_b_conf"), False),
        (("dr_a_seconds", "dr_b_seconds"), False),
        (("dr_a_size_mm", "dr_b_size_mm"), True),
        (("dr_a_second", "dr_b_second"), True),
        (("dr_a Wdh", "dr_b Wdh"), True),
        (("dr_a2", "dr_b2"), True),
        (("dr_final", "dr_truth"), False),
        (("dr_Konsens", "dr_adjudicated"), False),
    ],
)
def test_a_rater_with_a_further_word_is_no_further_rater(
    names: tuple[str, str], are_asked: bool, call: Call, tmp_path: Path
) -> None:
    truth = ratings(1, 30, 2)
    more = others(2, 30)
    head = ["case", "dr_a", "dr_b", *names]
    file = write(tmp_path, head, *([f"p{n}", *truth[n], *more[n]] for n in range(30)))
    assert is_asked(check(call, file, truth)) == are_asked


def test_a_surname_may_be_that_of_a_rater(call: Call, tmp_path: Path) -> None:
    rows = ratings(1, 30, 3)
    lines = [[f"p{n}", *row] for n, row in enumerate(rows)]
    code, _, err = call(
        "agreement", write(tmp_path, ["case", "Dr. A", "Dr. B", "Dr. Gold"], *lines)
    )
    assert code == 2
    assert "raters Dr. A, Dr. B, Dr. Gold" in err and "not used: Dr. Gold" in err


@pytest.mark.parametrize("names", [("meier", "schulz", "final_label"), ("x1", "y2", "Mehrheit")])
def test_persons_beside_a_consensus_are_raters(
    names: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    truth = ratings(3, 30, 2, WORDS)
    rows = ([f"p{n}", *row, row[0]] for n, row in enumerate(truth))
    assert is_asked(check(call, write(tmp_path, ["case", *names], *rows), truth))


@pytest.mark.parametrize("names", [("before", "after"), ("vorher", "nachher")])
def test_columns_that_no_name_tells_are_proposed_as_raters_last(
    names: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    truth = ratings(4, 30, 2)
    file = write(tmp_path, ["case", *names], *([f"p{n}", *row] for n, row in enumerate(truth)))
    assert is_asked(check(call, file, truth))


@pytest.mark.parametrize("names", ["12", "01", "123"])
@pytest.mark.parametrize("head", [(), ("case",)])
def test_numbers_of_raters_above_columns_are_no_labels(
    names: str, head: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    truth = ratings(5, 30, len(names))
    rows = ([*(f"p{n}" for _ in head), *row] for n, row in enumerate(truth))
    assert is_asked(check(call, write(tmp_path, [*head, *names], *rows), truth))


def test_a_first_row_of_ratings_has_no_names(call: Call, tmp_path: Path) -> None:
    truth = ratings(6, 40, 2)
    words = check(call, write(tmp_path, *([f"P{n}", *row] for n, row in enumerate(truth))), truth)
    assert words[words.index("--header") + 1] == "0"


def counted(sums: Sequence[int], seed: int = 1) -> list[list[int]]:
    """Three numbers with each sum."""
    draw = random.Random(seed)
    ends = [sorted(draw.randint(0, total) for _ in range(2)) for total in sums]
    return [[a, b - a, total - b] for (a, b), total in zip(ends, sums, strict=True)]


@pytest.mark.parametrize(
    ("sums", "is_computed"),
    [
        ([6] * 12, True),
        ([6, 6, 5] * 4, True),
        ([6, 9, 3, 14] * 3, False),
        ([100] * 12, False),
    ],
)
def test_counts_are_of_one_panel(
    sums: list[int], is_computed: bool, call: Call, tmp_path: Path
) -> None:
    rows = ([f"p{n}", *row] for n, row in enumerate(counted(sums)))
    file = write(tmp_path, ["case", "mild", "moderate", "severe"], *rows)
    code, out, err = call("agreement", file, "--resamples", 100)
    assert (code == 0) == is_computed
    assert is_computed or "--counts" in err
    assert not is_computed or f"{sum(sums)} ratings" in out


@pytest.mark.parametrize("names", [("anna", "ben"), ("rater1", "rater2")])
def test_a_unit_with_two_rows_is_named(names: tuple[str, str], call: Call, tmp_path: Path) -> None:
    """Kills: the numbers of units as a rater, where one of them is there twice."""
    rows = [[1, 3, 3], [2, 2, 3], [3, 4, 4], [3, 4, 3], [5, 5, 4], [6, 2, 2], [7, 1, 1], [8, 3, 3]]
    file = write(tmp_path, ["case", *names], *rows)
    code, _, err = call("agreement", file, "--resamples", 100)
    assert code == 2 and "'3' is in 2 rows of case" in err
    words, result = followed(call, file)
    assert result is not None and words[words.index("--cluster") + 1] == "case"
    assert (result["n_raters"], result["n_ratings"]) == (2, 16)


@pytest.mark.parametrize("name", ["", "model", "case"])
def test_counts_of_systems_are_asked_about(name: str, call: Call, tmp_path: Path) -> None:
    """Kills: agreement of raters from numbers of right answers of systems."""
    file = write(tmp_path, [name, "correct", "wrong"], ["GPT", 20, 5], ["Claude", 10, 15])
    code, _, err = call("agreement", file, "--resamples", 100)
    assert code == 2 and "rows are systems ('GPT' and 'Claude')" in err
    words, result = followed(call, file)
    assert result is not None and "--counts" in words
    assert (result["n_units"], result["n_ratings"]) == (2, 50)


def test_columns_of_raters_beside_units_are_no_systems(call: Call, tmp_path: Path) -> None:
    """Kills: a comparison of units with the ratings of one rater, won by those of another."""
    rows = ([k, "abc"[n], "bca"[n]] for k, n in zip("bcabca", (0, 1, 2, 1, 2, 0), strict=True))
    code, _, err = call("agreement", write(tmp_path, ["Einheit", "Gutachter", "Wahl"], *rows))
    assert code == 2 and "systems in" not in err


def test_counts_beside_their_sum_need_no_equal_sums(call: Call, tmp_path: Path) -> None:
    sums = [6, 9, 3, 14] * 3
    rows = ([f"p{n}", *row, sum(row)] for n, row in enumerate(counted(sums)))
    file = write(tmp_path, ["case", "mild", "moderate", "severe", "raters"], *rows)
    code, out, err = call("agreement", file, "--resamples", 100)
    assert code == 0, err
    assert f"{sum(sums)} ratings" in out


def test_shares_in_per_cent_are_never_counts(call: Call, tmp_path: Path) -> None:
    rows = [[f"p{n}", 20 * (n % 6), 100 - 20 * (n % 6)] for n in range(12)]
    code, _, err = call("agreement", write(tmp_path, ["case", "yes", "no"], *rows))
    assert code == 2 and "in per cent" in err and IF_SO not in err


@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("words", ["123", WORDS])
def test_a_cross_table_of_pandas_is_read_like_its_file(
    margins: bool, words: Sequence[str], tmp_path: Path
) -> None:
    rows = ratings(7, 40, 2, words)
    first, second = (pd.Series([row[k] for row in rows], name="ab"[k] * 3) for k in (0, 1))
    crossed = pd.crosstab(first, second, margins=margins)
    crossed.to_csv(tmp_path / "t.csv")
    for frame in (crossed, pl.read_csv(tmp_path / "t.csv")):
        result = konsil.agreement(frame, resamples=100)
        assert result["percent_agreement"].value == pytest.approx(values(rows)[0])
        assert (result.n_units, result.n_raters) == (40, 2)


def test_a_cross_table_with_names_above_and_beside(call: Call, tmp_path: Path) -> None:
    rows = ratings(8, 40, 2, WORDS)
    count = {(a, b): sum([a, b] == row for row in rows) for a in WORDS for b in WORDS}
    lines = [["Reader 1" if a == WORDS[0] else "", a, *(count[a, b] for b in WORDS)] for a in WORDS]
    file = write(tmp_path, ["", "", "Reader 2", "", ""], ["", "", *WORDS], *lines)
    words, result = followed(call, file)
    assert result is not None and "--cross-table" in words
    assert shown(result)[0] == pytest.approx(values(rows)[0])


def test_numbers_of_shared_units_are_no_cross_table(call: Call, tmp_path: Path) -> None:
    lines = [["ann", 40, 25, 24], ["ben", 25, 40, 23], ["cem", 24, 23, 40]]
    file = write(tmp_path, ["", "ann", "ben", "cem"], *lines)
    code, _, err = call("agreement", file)
    assert code == 2 and "--cross-table" in err and IF_SO not in err
    assert call("agreement", file, "--cross-table", "--resamples", 100)[0] == 0


def spelled(folder: Path, *names: str) -> tuple[Path, Rows]:
    truth = ratings(9, 30, 2)
    rows = [
        [f"p{n}", rater, label]
        for n, row in enumerate(truth)
        for rater, label in zip((names[n % len(names)], "Dr. B"), row, strict=True)
    ]
    return write(folder, ["case", "reader", "score"], *rows), truth


def test_one_rater_in_two_spellings_is_asked_and_recoded(call: Call, tmp_path: Path) -> None:
    file, truth = spelled(tmp_path, "Dr. A", "dr. a ", "Dr. A ")
    words = check(call, file, truth)
    assert words[words.index("--recode") + 1] == "dr. a=Dr. A"
    apart = call("agreement", file, "--recode", "dr. a=dr. a", "--resamples", 100)
    assert apart[0] == 0 and "3 raters" in apart[1]
    with pytest.raises(UnclearTableError) as refusal:
        konsil.agreement(pl.read_csv(file))
    assert "recode={'dr. a': 'Dr. A'}" in refusal.value.call


def test_blanks_at_the_ends_of_names_say_nothing(call: Call, tmp_path: Path) -> None:
    file, truth = spelled(tmp_path, "Dr. A", "Dr. A ")
    assert not is_asked(check(call, file, truth))


def compared(call: Call, file: Path) -> tuple[list[str], dict[str, float]]:
    words, result = followed(call, file, command="compare")
    assert result is not None, words
    return words, {row["group"]: row["value"] for row in result["estimates"]}


def test_one_system_in_two_spellings_is_asked(call: Call, tmp_path: Path) -> None:
    rows = [
        [f"q{n // 2}", (("x", "y"), ("X", "y"))[n // 2 % 2][n % 2], ("no", "yes")[n % 3 > 0]]
        for n in range(40)
    ]
    code, _, err = call("compare", write(tmp_path, ["item", "system", "correct"], *rows))
    assert code == 2 and "--recode x=X" in err


@pytest.mark.parametrize("rater", ["rater1", "dr_a", "ann"])
def test_the_ratings_of_one_rater_are_compared_and_not_the_reference(
    rater: str, call: Call, tmp_path: Path
) -> None:
    draw = random.Random(1)
    rows = [
        [f"q{n // 2}", "xy"[n % 2], *(draw.choice(("correct", "incorrect")) for _ in range(2))]
        for n in range(60)
    ]
    file = write(tmp_path, ["item", "system", rater, "gold"], *rows)
    code, out, err = call("compare", file, "--resamples", 100)
    assert code == 0, err
    assert f"labels {rater}" in out and "not used: gold" in out


def test_columns_of_systems_beside_raters_are_systems(call: Call, tmp_path: Path) -> None:
    rows = [
        [f"q{n}", rater, *row]
        for n, pair in enumerate(zip(ratings(1, 20, 2), ratings(2, 20, 2), strict=True))
        for rater, row in zip(("ann", "ben"), pair, strict=True)
    ]
    words, result = followed(
        call, write(tmp_path, ["question", "rater", "amber", "birch"], *rows), command="compare"
    )
    assert result is not None
    assert words.count("--system") == 2


def test_counts_of_systems_are_no_ratings(call: Call, tmp_path: Path) -> None:
    file = write(tmp_path, ["system", "correct", "incorrect"], ["x", 27, 13], ["y", 21, 19])
    code, _, err = call("compare", file)
    assert code == 2 and IF_SO not in err


def test_columns_with_the_names_of_each_rows_raters_are_no_ratings(
    call: Call, tmp_path: Path
) -> None:
    names = ["text", "hate_G1", "annotator_G1", "hate_G2", "annotator_G2"]
    rows = [[f"t{n}", n % 2, "ABC"[n % 3], n // 2 % 2, "CAB"[n // 2 % 3]] for n in range(30)]
    code, _, err = call("agreement", write(tmp_path, names, *rows))
    assert code == 2 and "annotator_G1, annotator_G2 may name the raters" in err


def test_a_confidence_with_the_name_of_a_rater_is_no_rating(call: Call, tmp_path: Path) -> None:
    names = ["item", "label (expert 1)", "label (expert 2)", "confidence (expert 2)"]
    rows = [[n, "yes" if n % 2 else "no", "yes" if n % 3 else "no", 1 + n % 4] for n in range(8)]
    code, _, err = call("agreement", write(tmp_path, names, *rows))
    assert code == 2 and "not used: confidence (expert 2)." in err and IF_SO not in err


def test_yes_and_no_among_numbers_are_another_raters_labels(call: Call, tmp_path: Path) -> None:
    rows = [[n, "yes" if n % 2 else "no", 1 + n % 6] for n in range(24)]
    code, _, err = call("agreement", write(tmp_path, ["case", "rater_1", "rater_2"], *rows))
    assert code == 2 and "no label in common" in err and "--missing" not in err


def test_criteria_with_an_identifier_are_not_pooled(call: Call, tmp_path: Path) -> None:
    names = ["article", "annotator", "criteriaID", "annotation"]
    rows = [
        [f"a{n}", rater, criterion, 1 + (n + (rater == "ben" and n % 3 == 0)) % 2]
        for n in range(12)
        for criterion in ("bias", "tone")
        for rater in ("ann", "ben")
    ]
    code, out, _ = call("agreement", write(tmp_path, names, *rows))
    assert code == 0 and "criteria in criteriaID" in out and "12 units" in out


def of_many_words(call: Call, tmp_path: Path, *, n_equal: int) -> tuple[int, str, str]:
    """60 rows of two coders with 20 codes, the first rows of every ten equal."""
    rows = [[n, f"K{n % 20}", f"K{(n if n % 10 < n_equal else n + 7) % 20}"] for n in range(60)]
    return call("agreement", write(tmp_path, ["case", "coder_a", "coder_b"], *rows))


def test_many_codes_are_labels_where_raters_agree_on_them(call: Call, tmp_path: Path) -> None:
    code, out, _ = of_many_words(call, tmp_path, n_equal=6)
    assert code == 0 and "60 units in case; raters coder_a, coder_b" in out and "0.600" in out


def test_many_words_that_raters_rarely_share_are_no_labels(call: Call, tmp_path: Path) -> None:
    code, _, err = of_many_words(call, tmp_path, n_equal=2)
    assert code == 2 and "coder_a and coder_b have more than 12 different words" in err


def test_counts_beside_their_sum_and_the_commonest_label(call: Call, tmp_path: Path) -> None:
    names = ["", "count", "hate_speech", "offensive_language", "neither", "class", "tweet"]
    votes = [(3, 0, 0), (0, 3, 0), (0, 2, 1), (0, 0, 3), (1, 2, 0), (0, 6, 0)]
    rows = [
        [n, sum(votes[n % 6]), *votes[n % 6], votes[n % 6].index(max(votes[n % 6])), f"text {n}"]
        for n in range(60)
    ]
    words, result = followed(call, write(tmp_path, names, *rows))
    assert result is not None
    assert "--counts" in words
    assert (result["n_units"], result["n_ratings"]) == (60, 210)


def test_errors_of_several_kinds_and_their_sum_are_no_counts_of_raters(
    call: Call, tmp_path: Path
) -> None:
    kinds = ["000", "100", "200", "011", "000", "120", "003", "010"]
    errors = [[int(digit) for digit in row] for row in kinds]
    rows = [[n, *errors[n % 8], sum(errors[n % 8])] for n in range(64)]
    file = write(tmp_path, ["answer", "hallucination", "omission", "wording", "total"], *rows)
    code, _, err = call("agreement", file)
    assert code == 2 and IF_SO not in err


def test_each_file_is_that_of_a_rater_with_many_findings(call: Call, tmp_path: Path) -> None:
    findings = ["No Finding", *(f"Finding {letter}" for letter in "ABCDEFGHI")]
    files = [tmp_path / f"bc{n}.csv" for n in (4, 6)]
    for shift, file in enumerate(files):
        rows = [
            [f"scan{n}", *((n * (k + 2) + shift * (n % 4 == 0)) % 3 % 2 for k in range(10))]
            for n in range(40)
        ]
        write(tmp_path, ["Study", *findings], *rows).replace(file)
    code, _, err = call("agreement", *files)
    assert code == 2 and "40 units in Study; raters in file" in err
    assert err.count("--label") == 10 and "--rater file" in err


def test_what_is_of_a_question_is_no_unit(call: Call, tmp_path: Path) -> None:
    names = ["Question", "Difficulty of the question", "Rating (first reviewer)"]
    rows = [[f"q{n}", 1 + n % 3, 1 + n % 4, 1 + (n + (n % 5 == 0)) % 4] for n in range(40)]
    file = write(tmp_path, [*names, "Rating (second reviewer)"], *rows)
    code, out, _ = call("agreement", file)
    assert code == 0 and "40 units in Question" in out and "Percent agreement" in out
    assert "not used: Difficulty of the question" in " ".join(out.split())


def test_conditions_are_no_raters_beside_two_columns_named_for_units(
    call: Call, tmp_path: Path
) -> None:
    rows = [
        [f"v{n}", f"S{k}", condition, 1 + (n + k + (condition == "pc")) % 5]
        for n in range(12)
        for k in range(6)
        for condition in ("pc", "mobile")
    ]
    file = write(tmp_path, ["video_id", "subject", "context", "rating"], *rows)
    code, _, err = call("agreement", file)
    assert code == 2 and IF_SO not in err


def test_files_of_raters_beside_two_columns_named_for_units(call: Call, tmp_path: Path) -> None:
    files = [tmp_path / f"bc{n}.csv" for n in (4, 6)]
    for shift, file in enumerate(files):
        rows = [
            [f"p{n}", f"q{k}", 1 + (n + k + shift * (n % 3 == 0)) % 5]
            for n in range(12)
            for k in range(3)
        ]
        write(tmp_path, ["patient", "question", "rating"], *rows).replace(file)
    code, _, err = call("agreement", *files)
    assert code == 2 and "--rater file" in err


def test_a_further_score_is_not_proposed_as_raters_of_groups(call: Call, tmp_path: Path) -> None:
    names = ["Item ID", "Model Tested", "Narrative Substitution (0-3)", "Accuracy (0-4)"]
    rows = [
        [f"K{n:03}", model, 3 - (n + len(model)) % 4, (n * 3 + len(model)) % 5]
        for n in range(24)
        for model in ("ChatGPT", "Claude", "Gemini")
    ]
    code, _, err = call("compare", write(tmp_path, names, *rows))
    assert code == 2 and "--rater 'Narrative" not in err and "not used: Narrative Sub" in err
    assert "--by 'Model Tested' --unit 'Item ID' --rater - --label 'Accuracy (0-4)'" in err


def test_empty_cells_are_no_agreement_on_many_words(call: Call, tmp_path: Path) -> None:
    rows = [
        [n, *(("-", "-") if n % 2 else (f"K{n // 2 % 15}", f"K{(n // 2 + 7) % 15}"))]
        for n in range(120)
    ]
    code, _, err = call("agreement", write(tmp_path, ["case", "coder_a", "coder_b"], *rows))
    assert code == 2 and "coder_a and coder_b have more than 12 different words" in err
