"""konsil agreement: what a table is taken for without being told, and what is said of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, UnclearTableError
from konsil.instrument import Criterion, Scale, read_label

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "200")
COMPOSED, APART = "caf\u00e9", "cafe\u0301"


def rows(*lines: str) -> pl.DataFrame:
    """A table from lines of a CSV."""
    head, *body = (line.split(",") for line in lines)
    return pl.DataFrame(body, schema=head, orient="row")


def printed(call: Call, tmp_path: Path, lines: Sequence[str], *flags: str) -> tuple[int, str, str]:
    file = tmp_path / "t.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, err = call("agreement", file, *FEW, *flags)
    return code, " ".join(out.split()), err


def json_of(call: Call, tmp_path: Path, lines: Sequence[str], *flags: str) -> dict[str, Any]:
    code, out, err = printed(call, tmp_path, lines, "--json", *flags)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


LONG = ("u,rater,label", "1,a,y", "1,b,y", "2,a,n", "2,b,y", "3,a,n", "3,b,n")


def test_a_long_table_is_recognised_whatever_its_units_are_called(
    call: Call, tmp_path: Path
) -> None:
    result = json_of(call, tmp_path, LONG)
    assert (result["n_units"], result["n_raters"], result["n_ratings"]) == (3, 2, 6)
    assert result["reading"] == "3 units in u; raters in rater, labels in label"
    stated = json_of(call, tmp_path, LONG, "--unit", "u", "--rater", "rater", "--label", "label")
    assert stated["statistics"] == result["statistics"]
    assert "reading" not in stated
    assert json_of(call, tmp_path, LONG, "--wide")["n_raters"] == 3


@pytest.mark.parametrize("head", ["item,who,label", "case,who,Score", "case,annotator,verdict"])
def test_columns_of_a_long_table_are_no_raters(head: str) -> None:
    expected = konsil.agreement(rows("unit,rater,label", *LONG[1:]), resamples=100)
    result = konsil.agreement(rows(head, *LONG[1:]), resamples=100)
    assert (result.n_units, result.n_raters) == (3, 2)
    assert result["cohen_kappa"] == expected["cohen_kappa"]
    by = rows(f"{head},day", *(f"{line},{'112233'[n]}" for n, line in enumerate(LONG[1:])))
    split = konsil.agreement(by, resamples=100, by="day")
    assert {group.n_raters for group in split.groups.values()} == {2}


def test_what_columns_are_is_asked_with_the_call_that_states_it() -> None:
    """Columns of a colleague's sheet: none of them is a rater for being unknown."""
    table = rows(
        "topic,first score,second score,remark",
        *("heart,1,1,x", "lung,1,2,y", "heart,2,2,z", "skin,3,3,x", "lung,2,2,v", "skin,1,1,w"),
    )
    with pytest.raises(UnclearTableError) as caught:
        konsil.agreement(table, level="interval", resamples=100)
    error = caught.value
    assert error.reading["roles"] != {}
    assert error.call.startswith("konsil.agreement(frame, ")
    assert "level='interval'" in error.call
    stated = konsil.agreement(
        table, rater=["first score", "second score"], level="interval", resamples=100
    )
    assert (stated.n_units, stated.n_raters) == (6, 2)


def test_the_printed_command_is_quoted_and_has_the_options_that_were_given(
    call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "a table.csv"
    file.write_text(
        "topic,Dr. A's score,Dr. B's score,\n" + "heart,1,1,x\nlung,1,2,y\nheart,2,2,z\n" * 3
    )
    code, out, err = call("agreement", file, "--level", "ordinal", "--pairs", *FEW)
    if code == 2:
        line = next(line for line in err.splitlines() if line.startswith("If so: "))
        words = shlex.split(line.removeprefix("If so: "))
        assert words[:3] == ["konsil", "agreement", str(file)]
        assert {"--level", "--pairs", "--resamples"} <= {*words}
        again, out, err = call(*words[1:])
        assert again == 0 or err.splitlines()[-1] != line
    assert "topic" not in out.splitlines()[0] or "not used: topic" in out


def test_a_judge_beside_an_expert_is_a_rater() -> None:
    result = konsil.agreement(rows("item,expert,judge", "1,y,y", "2,n,y", "3,n,n"), resamples=100)
    assert result.n_raters == 2


@pytest.mark.parametrize(
    "units",
    [("1", "2", "3", "4"), ("0", "1", "2", "3"), ("p1", "p2", "p7", "p9"), ("101", "88", "7", "9")],
)
def test_a_first_column_with_another_value_in_every_row_is_the_units(units: Sequence[str]) -> None:
    table = rows(
        "u,a,b",
        *(
            f"{unit},{labels}"
            for unit, labels in zip(units, ("1,1", "1,2", "2,2", "1,1"), strict=True)
        ),
    )
    try:
        result = konsil.agreement(table, resamples=100)
    except UnclearTableError as error:
        # Units called 1, 2, ... may be labels as well.
        assert "unit='u'" in error.call
        result = konsil.agreement(table, unit="u", rater=["a", "b"], resamples=100)
    assert [r.name for r in result.raters] == ["a", "b"]
    as_rater = konsil.agreement(table, layout="wide", resamples=100)
    assert as_rater.n_raters == 3
    # Groups are read as the whole table is.
    split = konsil.agreement(
        table.with_columns(day=pl.Series(["1", "2", "1", "2"])),
        unit="u",
        rater=["a", "b"],
        by="day",
        resamples=100,
    )
    assert {group.n_raters for group in split.groups.values()} == {2}


def test_a_rater_with_other_labels_every_time_is_one_where_stated() -> None:
    # Scores that other raters give as well, and ranks: they could number the units.
    scores = rows("r1,r2,r3", "7,7,5", "5,5,5", "9,7,7", "4,5,4")
    ranks = rows("r1,r2,r3", "1,1,2", "2,3,1", "3,2,3", "4,4,4")
    for table in (scores, ranks):
        result = konsil.agreement(table, layout="wide", level="interval", resamples=100)
        assert result.n_raters == 3


def test_repeated_rows_are_counted() -> None:
    once = konsil.agreement(rows("unit,rater,label", *LONG[1:]), resamples=100)
    again = konsil.agreement(rows("unit,rater,label", *LONG[1:], LONG[1]), resamples=100)
    thrice = konsil.agreement(
        rows("unit,rater,label", *LONG[1:], *LONG[1:3]),
        unit="unit",
        rater="rater",
        label="label",
        resamples=100,
    )
    assert not any("repeat" in w for w in once.warnings)
    assert (
        any(w.startswith("1 row repeats a rating") for w in again.warnings) and again.n_ratings == 6
    )
    assert (
        any(w.startswith("2 rows repeat ratings") for w in thrice.warnings)
        and thrice.n_ratings == 6
    )


def test_a_label_is_one_however_its_accent_is_written() -> None:
    table = rows(
        "unit,a,b", f"1,{COMPOSED},{APART}", f"2,{APART},{APART}", "3,no,no", f"4,no,{COMPOSED}"
    )
    for labels in ((), (APART, "no"), (COMPOSED, "no")):
        result = konsil.agreement(table, labels=labels, resamples=100)
        assert result["percent_agreement"].value == 0.75
        assert set(result.labels) == {COMPOSED, "no"}
    assert konsil.agreement(table, abstain=APART, resamples=100).n_abstained == 5
    named = table.rename({"a": COMPOSED})
    assert (
        konsil.agreement(named, rater=[APART, "b"], resamples=100)["percent_agreement"].value
        == 0.75
    )
    where = {"b": [APART]}
    assert (
        konsil.agreement(
            named.with_columns(c=pl.col("b")), rater=[APART, "c"], where=where, resamples=100
        ).n_units
        == 3
    )


def test_a_study_reads_a_label_however_its_accent_is_written() -> None:
    for on_form, in_file in ((COMPOSED, APART), (APART, COMPOSED)):
        criterion = Criterion("drink", "?", Scale((on_form, "tea"), abstain="k\u00e4se"))
        assert read_label(criterion, in_file) == ("rated", on_form)
        assert read_label(criterion, "ka\u0308se") == ("abstained", None)


def test_systems_are_one_however_their_accent_is_written() -> None:
    table = pl.DataFrame(
        {
            "item": ["1", "2", "3", "4"],
            "first": [COMPOSED, APART, "tea", "Tea"],
            "second": ["tea", "tea", COMPOSED, APART],
            "winner": [APART, COMPOSED, APART, "tie"],
        }
    )
    result = konsil.preference(table, rater="-", resamples=100)
    assert set(result.systems) == {"Tea", COMPOSED, "tea"}
    assert any("'Tea' and 'tea' differ only in case or spaces" in w for w in result.warnings)


def test_labels_that_differ_in_case_alone_are_asked_about() -> None:
    """Kills: spellings that are labels of their own without a question, truth values as such."""
    pairs = "yes,Yes", "no,no", "yes,yes", "no, YES", "No,no", "no,no"
    lines = [f"{n},{pair}" for n, pair in enumerate(pairs * 2)]
    table = rows("unit,a,b", *lines)
    with pytest.raises(UnclearTableError) as error:
        konsil.agreement(table, resamples=100)
    same = eval(error.value.call, {"konsil": konsil, "frame": table})
    plain = konsil.agreement(rows("unit,a,b", *(n.casefold() for n in lines)), resamples=100)
    assert same["cohen_kappa"].value == plain["cohen_kappa"].value
    some = konsil.agreement(table, recode={"Yes": "yes"}, resamples=100)
    assert any("'No' and 'no'" in warning for warning in some.warnings)
    declared = konsil.agreement(table, labels=["no", "No", "yes", "Yes", "YES"], resamples=100)
    assert declared["cohen_kappa"].value < same["cohen_kappa"].value
    truths = rows("unit,a,b", "1,true,TRUE", "2,False,false", "3,true,false", "4,True,false")
    assert konsil.agreement(truths, resamples=100).n_ratings == 8


POINTS = ("unit,a,b", "1,3,97", "2,97,3", "3,3,3", "4,97,97", "5,3,97", "6,50,97")


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_labels_observed_with_gaps_have_no_steps(level: Any) -> None:
    table = rows(*POINTS)
    result = konsil.agreement(table, level=level, resamples=100)
    assert "within_one" not in list(result)
    notes = " ".join(result.warnings)
    assert "to within one category is not computed" in notes and (
        "Weights count the steps" in notes
    ) == (level == "ordinal")
    with pytest.raises(AnalysisError, match="within_one: the labels observed have gaps"):
        konsil.agreement(table, level=level, statistics=["within_one"], resamples=100)
    declared = konsil.agreement(table, level=level, labels=[3, 50, 97], resamples=100)
    assert declared["within_one"].value == 0.5
    whole = konsil.agreement(
        rows("unit,a,b", "1,1,2", "2,3,3", "3,2,1", "4,1,3"), level=level, resamples=100
    )
    assert whole["within_one"].value == 0.75 and "within one step" not in " ".join(whole.warnings)


def test_no_method_is_printed_of_intervals_that_are_not_there(call: Call, tmp_path: Path) -> None:
    one_cluster = ("unit,case,a,b", "1,x,y,y", "2,x,n,y", "3,x,n,n")
    code, out, _ = printed(call, tmp_path, one_cluster, "--cluster", "case")
    assert code == 0 and "[" not in out and "Intervals:" not in out and "BCa" not in out
    assert "The CIs account for" not in out


def test_numbers_of_clusters_are_told_with_their_statistics() -> None:
    # Cohen's kappa of a pair rests on the clusters that both rated, alpha on all with two labels.
    table = rows(
        "unit,a,b,c", "1,y,y,", "2,n,y,", "3,n,n,", "4,y,n,", "5,,y,", "6,,,n", "7,y,,", "8,n,n,y"
    )
    notes = [w for w in konsil.agreement(table, resamples=400).warnings if "interval rests on" in w]
    assert len(notes) < 2 or all(":" in note for note in notes)
