"""konsil agreement: the documented JSON, wide as long, and one clear sentence for each kind of bad
input."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

import konsil

Call = Callable[..., tuple[int, str, str]]
WIDE = "unit,ann,ben,cem\n1,a,a,a\n2,b,b,a\n3,a,b,\n4,b,b,b\n5,a,a,b\n6,b,b,b\n"
ORDINAL = "unit,ann,ben\n1,1,2\n2,2,2\n3,3,3\n4,4,3\n5,5,5\n6,1,1\n7,2,3\n"
FEW = ("--resamples", "200")
NAMES = {
    "nominal": {
        "percent_agreement",
        "multirater_percent_agreement",
        "cohen_kappa",
        "pabak",
        "scott_pi",
        "fleiss_kappa",
        "conger_kappa",
        "randolph_kappa",
        "krippendorff_alpha",
        "gwet_ac1",
    },
    "ordinal": {
        "percent_agreement",
        "within_one",
        "cohen_kappa",
        "cohen_kappa_linear",
        "cohen_kappa_quadratic",
        "pabak",
        "scott_pi",
        "fleiss_kappa",
        "conger_kappa",
        "randolph_kappa",
        "krippendorff_alpha",
        "gwet_ac1",
        "gwet_ac2_linear",
        "gwet_ac2",
        "icc1",
        "icc2",
        "icc3",
        "icc1k",
        "icc2k",
        "icc3k",
        "kendall_w",
        "spearman",
        "kendall_tau_b",
    },
}
KEYS = [
    "n_units",
    "n_raters",
    "n_ratings",
    "n_abstained",
    "level",
    "labels",
    "confidence",
    "target",
    "pair_weights",
    "raters",
    "statistics",
    "overlap",
    "warnings",
]
FIELDS = ["name", "value", "low", "high", "se", "n_clusters", "n_undefined", "method", "reason"]


@pytest.fixture
def refused(call: Call, tmp_path: Path) -> Callable[..., str]:
    def run(content: bytes | str | Path, *flags: str, name: str = "ratings.csv") -> str:
        """The one sentence that a file is refused with."""
        file = content if isinstance(content, Path) else tmp_path / name
        if isinstance(content, bytes):
            file.write_bytes(content)
        elif isinstance(content, str):
            file.write_text(content, encoding="utf-8")
        code, out, err = call("agreement", file, *FEW, *flags)
        assert (code, out) == (2, "")
        assert err.startswith("konsil: ")
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        return err.removeprefix("konsil: ").strip()

    return run


def table(call: Call, tmp_path: Path, text: str, *flags: str) -> dict[str, Any]:
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")
    code, out, err = call("agreement", file, "--json", *FEW, *flags)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(
        out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON")
    )
    return found


def values(found: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {s["name"]: tuple(s[f] for f in FIELDS[1:]) for s in found["statistics"]}


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize(("level", "text"), [("nominal", WIDE), ("ordinal", ORDINAL)])
def test_the_json_has_the_documented_structure(
    call: Call, tmp_path: Path, level: str, text: str
) -> None:
    found = table(call, tmp_path, text, "--level", level)
    assert list(found) == [*KEYS, "reading"]
    assert (found["level"], found["target"]) == (level, "these raters")
    assert {s["name"] for s in found["statistics"]} == NAMES[level]
    for one in found["statistics"]:
        assert list(one) == [*FIELDS, "companions"]
        assert isinstance(one["n_clusters"], int)
        assert isinstance(one["n_undefined"], int)
        assert one["value"] is not None or one["reason"]
    assert all(isinstance(w, str) for w in found["warnings"])


def test_the_counts_are_of_labels(call: Call, tmp_path: Path) -> None:
    found = table(call, tmp_path, WIDE)
    assert (found["n_units"], found["n_raters"], found["n_ratings"]) == (6, 3, 17)
    pairs = [(4, 6), (4, 5), (3, 5)]
    agree = sum(a / n for a, n in [(5, 6), (3, 5), (3, 5)]) / len(pairs)
    assert values(found)["percent_agreement"][0] == pytest.approx(agree)


def test_the_same_call_prints_the_same_bytes_and_another_seed_does_not(
    call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(WIDE)
    first = call("agreement", file, "--json", *FEW)
    assert first == call("agreement", file, "--json", *FEW)
    assert first != call("agreement", file, "--json", *FEW, "--seed", "9")


def test_the_table_for_people_says_what_was_done(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(WIDE)
    code, out, _ = call("agreement", file, *FEW)
    assert code == 0
    assert "6 units, 3 raters, 17 ratings" in out
    assert "Krippendorff" in out
    assert "The CIs account for the sampling of units, not of raters." in out
    assert (
        "posterior of the rating patterns (unit clusters), a prior for each limit, 200 posterior"
        " samples"
    ) in " ".join(out.split())
    assert "the scale was taken from the 2 labels observed" in " ".join(out.split())


def test_wide_is_long_in_any_order(call: Call, tmp_path: Path) -> None:
    wide = table(call, tmp_path, WIDE, "--unit", "unit", "--labels", "a,b")
    lines = WIDE.splitlines()
    raters = lines[0].split(",")[1:]
    long = [
        f"{line.split(',')[0]},{rater},{label}"
        for line in lines[1:]
        for rater, label in zip(raters, line.split(",")[1:], strict=True)
        if label
    ]
    for order in (long, long[::-1], sorted(long, key=lambda one: one[::-1])):
        text = "\n".join(["unit,rater,label", *order])
        assert values(table(call, tmp_path, text, "--labels", "a,b")) == values(wide)


def test_names_of_raters_and_units_mean_nothing(call: Call, tmp_path: Path) -> None:
    other = "unit,row,Prüferin Ä,🩺\n" + "\n".join(f"Fall {line}" for line in WIDE.splitlines()[1:])
    flags = [word for name in ("row", "Prüferin Ä", "🩺") for word in ("--rater", name)]
    assert values(table(call, tmp_path, other, "--unit", "unit", *flags)) == values(
        table(call, tmp_path, WIDE, "--unit", "unit")
    )


def test_numbers_are_one_label_however_they_are_written(call: Call, tmp_path: Path) -> None:
    other = ORDINAL.replace(",3", ",3.0").replace(",5\n", ",05\n").replace("4,4,", "4, 4 ,")
    assert values(table(call, tmp_path, other, "--level", "ordinal")) == values(
        table(call, tmp_path, ORDINAL, "--level", "ordinal")
    )


def test_clusters_and_abstentions(call: Call, tmp_path: Path) -> None:
    rows = [line + f",{n // 2}" for n, line in enumerate(WIDE.splitlines()[1:])]
    text = "\n".join(["unit,ann,ben,cem,patient", *rows])
    found = table(call, tmp_path, text, "--cluster", "patient")
    assert values(found)["fleiss_kappa"][4] == 3
    abstained = table(call, tmp_path, WIDE.replace("3,a,b,", "3,a,b,?"), "--abstain", "?")
    assert values(abstained) == values(table(call, tmp_path, WIDE))


@pytest.mark.parametrize("word", ["NA", ""])
def test_rs_word_for_missing_is_missing(call: Call, tmp_path: Path, word: str) -> None:
    text = WIDE.replace("3,a,b,", f"3,a,b,{word}")
    assert values(table(call, tmp_path, text)) == values(table(call, tmp_path, WIDE))


def test_what_r_and_german_excel_write(call: Call, tmp_path: Path) -> None:
    by_r = '"","ann","ben","cem"\n' + "\n".join(
        ",".join(f'"{c}"' if c else "NA" for c in line.split(",")) for line in WIDE.splitlines()[1:]
    )
    assert values(table(call, tmp_path, by_r)) == values(table(call, tmp_path, WIDE))
    german = "\ufeff" + WIDE.replace(",", ";").replace("\n", "\r\n")
    assert values(table(call, tmp_path, german, "--separator", ";")) == values(
        table(call, tmp_path, WIDE)
    )


@pytest.mark.slow
def test_a_spreadsheet_a_parquet_and_a_jsonl_are_the_same_table(call: Call, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"unit": range(1, 8), "ann": [1, 2, 3, 4, 5, 1, 2], "ben": [2, 2, 3, 3, 5, 1, None]}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    book = openpyxl.Workbook()
    for row in [frame.columns, *frame.rows()]:
        book.active.append(row)  # type: ignore[union-attr]
    book.save(tmp_path / "t.xlsx")
    frame.write_csv(tmp_path / "t.csv")
    found = [
        call("agreement", tmp_path / f"t.{end}", "--json", *FEW)
        for end in ("csv", "parquet", "jsonl", "xlsx")
    ]
    assert all(one == found[0] for one in found)


# ---------------------------------------------------------------- undefined


def test_constant_labels_are_no_error_and_have_a_note_and_reasons(
    call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("ann,ben\n" + "yes,yes\n" * 12)
    code, out, err = call("agreement", file, "--json", *FEW)
    assert (code, err) == (0, "")
    note = (
        "Every rating is 'yes', so chance-corrected agreement is not estimable; declare the scale with"
        " --labels."
    )
    assert json.loads(out)["warnings"].count(note) == 1
    found = {s["name"]: s for s in json.loads(out)["statistics"]}
    assert found["percent_agreement"]["value"] == 1
    for name in ("cohen_kappa", "krippendorff_alpha", "fleiss_kappa"):
        assert found[name]["value"] is None
        assert "all labels are identical" in found[name]["reason"]


def test_constant_labels_on_a_declared_scale_are_no_fault(call: Call, tmp_path: Path) -> None:
    found = values(table(call, tmp_path, "ann,ben\n" + "yes,yes\n" * 12, "--labels", "no,yes"))
    assert found["cohen_kappa"][0] is None
    assert found["pabak"][0] == 1
    assert found["gwet_ac1"][0] == 1


def test_raters_without_a_common_unit(call: Call, tmp_path: Path) -> None:
    found = values(table(call, tmp_path, "unit,ann,ben\n1,a,\n2,b,\n3,,a\n4,,b\n"))
    assert {v[0] for v in found.values()} == {None}
    assert {v[-1] for v in found.values()} == {"no unit was rated by two raters"}


def test_one_unit_has_a_value_and_no_interval(call: Call, tmp_path: Path) -> None:
    one = table(call, tmp_path, "unit,ann,ben\n1,a,b\n", "--wide")
    value, low, high, *_ = values(one)["percent_agreement"]
    assert (value, low, high) == (0, None, None)


# ---------------------------------------------------------------- bad input


def test_an_empty_file(refused: Callable[..., str]) -> None:
    assert refused("") == "ratings.csv: the file is empty"
    assert "no row below it" in refused("unit,ann,ben\n")
    assert "every cell is empty" in refused("unit,ann,ben\n1,,\n2,,\n", "--wide")
    assert "No columns contain ratings by two raters" in refused("unit,ann,ben\n1,,\n2,,\n")


def test_one_rater(refused: Callable[..., str]) -> None:
    alone = "unit,ann\n1,a\n2,b\n"
    assert "No columns contain ratings by two raters" in refused(alone)
    assert "one rater column (ann); agreement needs at least two raters" in refused(alone, "--wide")
    long = ("--unit", "unit", "--rater", "rater", "--label", "label")
    one_of_long = refused("unit,rater,label\n1,ann,a\n2,ann,b\n", *long)
    assert "only one rater ('ann') gave labels" in one_of_long
    assert "only one rater ('ann') gave labels" in refused("unit,ann,ben\n1,a,\n2,b,\n", "--wide")


def test_labels_outside_the_scale(refused: Callable[..., str]) -> None:
    assert (
        refused(WIDE.replace("2,b", "2,bb"), "--labels", "a,b")
        == "ratings.csv: line 3, rater 'ann': 'bb' is not one of the declared labels; did you mean"
        " 'b'?"
    )


def test_words_where_an_order_is_needed(refused: Callable[..., str]) -> None:
    assert "give them in order with --labels" in refused(WIDE, "--level", "ordinal")
    assert "level interval needs numbers" in refused(WIDE, "--level", "interval")


def test_ratings_that_disagree_with_themselves(refused: Callable[..., str]) -> None:
    text = "unit,rater,label\n1,ann,a\n1,ben,a\n1,ann,b\n2,ann,a\n2,ben,b\n"
    assert (
        refused(text)
        == "ratings.csv: lines 2 and 4: rater 'ann' labelled unit '1' both 'a' and 'b'; expected"
        " one label of a rater for a unit, or --repeat first or --repeat last"
    )


def test_ratings_that_say_the_same_twice_are_one(call: Call, tmp_path: Path) -> None:
    once = "unit,rater,label\n1,ann,a\n1,ben,a\n2,ann,a\n2,ben,b\n"
    assert values(table(call, tmp_path, once + "2,ben,b\n")) == values(table(call, tmp_path, once))


def test_the_right_encoding_is_read(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes("unit,Jörg,Änne\n1,a,b\n2,b,b\n".encode("cp1252"))
    assert call("agreement", file, "--encoding", "cp1252", *FEW)[0] == 0


@pytest.mark.slow
def test_a_spreadsheet_with_merged_headers(call: Call, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["", "Raters", None], ["unit", "ann", "ben"], [1, "a", "b"], [2, "b", "b"]):
        sheet.append(row)
    sheet.merge_cells("B1:C1")
    book.save(tmp_path / "t.xlsx")
    code, _, err = call("agreement", tmp_path / "t.xlsx", *FEW)
    assert code == 2
    assert "The names of the columns are taken from rows 1 to 2." in err
    flags = [word for line in err.splitlines() if "If so: " in line for word in shlex.split(line)]
    assert call(*flags[flags.index("agreement") :])[0] == 0


@pytest.mark.slow
def test_numbers_as_text_in_a_spreadsheet_are_numbers(call: Call, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["unit", "ann", "ben"], [1, "1", 1], [2, 2.0, "2"], [3, "3 ", 3], [4, 1, "2"]):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    code, out, _ = call("agreement", tmp_path / "t.xlsx", "--level", "interval", "--json", *FEW)
    assert code == 0
    assert values(json.loads(out))["percent_agreement"][0] == 0.75


@pytest.mark.parametrize("word", ["NaN", "nan", "#N/A", "inf"])
def test_what_programs_write_for_no_number(refused: Callable[..., str], word: str) -> None:
    assert (
        refused(ORDINAL.replace("4,4,3", f"4,{word},3"), "--level", "ordinal", "--wide")
        == f"ratings.csv: line 5, rater 'ann': {word!r} is not a number;"
        f" leave the cell empty or use --missing {word} if it means not rated"
    )


def test_declared_missing_words_are_missing(call: Call, tmp_path: Path) -> None:
    found = table(
        call,
        tmp_path,
        ORDINAL.replace("4,4,3", "4,NaN,3"),
        "--level",
        "ordinal",
        "--missing",
        "NaN",
    )
    assert found["n_ratings"] == 13


def test_a_table_of_a_german_spreadsheet(call: Call, tmp_path: Path) -> None:
    german = "Fall;Jörg;Änne\n1;1,5;2\n2;2;2\n3;3,5;3\n4;1,5;1\n"
    file = tmp_path / "t.csv"
    file.write_bytes(german.encode("cp1252"))
    code, out, err = call("agreement", file, "--level", "interval", "--json", *FEW)
    assert (code, err) == (0, "")
    english = german.replace(",", ".").replace(";", ",").replace("Jörg", "a").replace("Änne", "b")
    assert values(json.loads(out)) == values(table(call, tmp_path, english, "--level", "interval"))


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--unit", "untit"), "--unit 'untit': there is no such column; did you mean 'unit'?"),
        (
            ("--cluster", "patient"),
            "--cluster 'patient': there is no such column; known: ann, ben, cem, unit",
        ),
        (
            ("--rater", "anna", "--rater", "ben"),
            "--rater 'anna': there is no such column; did you mean 'ann'?",
        ),
        (("--rater", "ann", "--rater", "ann"), "this column has another role already"),
        (("--labels", "a,a,b"), "--labels: 'a' occurs twice; expected each label once"),
        (("--labels", "a,,b"), "--labels: label 2 is empty"),
        (
            ("--labels", "a,b", "--abstain", "a"),
            "--abstain 'a' is among --labels; an abstention is not a value",
        ),
        (("--confidence", "95"), "confidence: expected from 0.5 to below 1, got 95"),
        (("--sheet", "Data"), "sheet"),
        (("--encoding", "utf-9"), "utf-9"),
    ],
)
def test_flags_that_do_not_fit(
    refused: Callable[..., str], flags: tuple[str, ...], says: str
) -> None:
    assert says in refused(WIDE, *flags)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["agrement", "x.csv"], "no such command 'agrement'; did you mean 'agreement'?"),
        (["agreement", "x.csv", "--lables", "a,b"], "--lables"),
        (["agreement", "x.csv", "--level", "ordnal"], "'ordnal' is not one of"),
        (["agreement", "x.csv", "--resamples", "5"], "5 is not in the range x>=100"),
        (["agreement", "x.csv", "--resamples", "many"], "'many' is not a valid integer"),
        (["agreement"], "Missing argument 'FILE...'"),
        (["agreement", "there is no such file.csv"], "there is no such file"),
        (["agreement", "."], ": is a folder"),
    ],
)
def test_a_wrong_call_is_one_sentence(call: Call, arguments: list[str], says: str) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err


def test_a_file_that_is_no_table(refused: Callable[..., str]) -> None:
    assert "PDF" in refused(b"%PDF-1.7 ...", name="t.csv")
    refused(b"\x00\x01\x02\x03" * 50, name="t.csv")
    refused(b"PK\x03\x04 broken", name="t.xlsx")
    refused("{not json", name="t.jsonl")
    refused(b"PAR1 broken", name="t.parquet")
    assert ".docx" in refused("x", name="t.docx")


def test_every_rating_an_abstention(refused: Callable[..., str]) -> None:
    assert "every rating is the abstention '?'" in refused(
        "unit,ann,ben\n1,?,?\n2,?,?\n", "--abstain", "?"
    )


@pytest.mark.slow
def test_one_bad_row_among_a_million(refused: Callable[..., str], tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    labels = chance.integers(0, 3, 1_000_000).astype(str)
    labels[654_321] = "oops"
    units = np.repeat(np.arange(250_000), 4)
    frame = pl.DataFrame({"unit": units, "rater": np.tile(list("abcd"), 250_000), "label": labels})
    frame.write_csv(tmp_path / "big.csv")
    assert refused(tmp_path / "big.csv", "--labels", "0,1,2") == (
        f"big.csv: line 654,323, rater {'abcd'[654_321 % 4]!r}: 'oops' is not one of the declared"
        " labels; known: 0, 1, 2"
    ).replace("654,323", "654323")


# ---------------------------------------------------------------- from Python


@pytest.mark.slow
def test_pandas_polars_and_the_command_say_the_same(call: Call, tmp_path: Path) -> None:
    command = values(table(call, tmp_path, ORDINAL, "--level", "ordinal", "--unit", "unit"))
    frame = pl.read_csv(tmp_path / "t.csv")
    text = frame.cast(pl.String)
    frames = [
        frame,
        text,
        frame.lazy(),
        frame.cast(pl.Float64),
        frame.to_pandas(),
        frame.to_pandas().astype("float64"),
        frame.to_pandas().astype("Int64"),
        frame.to_pandas().astype("category"),
        frame.to_pandas().astype("string"),
        frame.to_pandas().set_index("unit"),
        frame.to_pandas().astype(object),
    ]
    for one in frames:
        found = konsil.agreement(one, unit="unit", level="ordinal", resamples=200)
        assert values(found.to_dict()) == command


def test_missing_is_missing_in_every_frame() -> None:
    columns = {"ann": [1, 2, None, 1, 2, 1], "ben": [1, 2, 2, None, 1, 1]}
    found = [
        konsil.agreement(frame, labels=["1", "2"], resamples=200).to_json()
        for frame in (
            pl.DataFrame(columns),
            pl.DataFrame(columns).with_columns(pl.all().cast(pl.Float64).fill_null(math.nan)),
            pd.DataFrame(columns),
            pd.DataFrame(columns, dtype="Int64"),
            pd.DataFrame(columns, dtype="object"),
            pd.DataFrame(columns).astype("category"),
        )
    ]
    assert set(found) == {found[0]}


def test_bools_are_labels_of_the_same_name() -> None:
    columns = {"ann": [True, False, True], "ben": [True, True, False]}
    both = [
        konsil.agreement(frame, resamples=100)
        for frame in (pl.DataFrame(columns), pd.DataFrame(columns))
    ]
    assert both[0].labels == both[1].labels == ("false", "true")


def test_a_result_is_typed_and_becomes_a_frame() -> None:
    found = konsil.agreement(
        pl.DataFrame({"ann": list("aabbab"), "ben": list("aabbba")}), resamples=200
    )
    assert found["cohen_kappa"].value == pytest.approx(1 / 3)
    with pytest.raises(konsil.errors.AnalysisError, match="did you mean 'cohen_kappa'"):  # type: ignore[attr-defined]
        found["cohens_kappa"]
    assert list(found.to_pandas().columns) == FIELDS
    assert found.to_polars().columns == FIELDS
    assert found.to_pandas()["value"].iloc[0] == found.to_polars()["value"][0]


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ([1, 2], "expected a Polars or pandas data frame, got list"),
        (pl.DataFrame({"a": [[1], [2]], "b": [[1], [2]]}), "it is not clear what each column is"),
        (pd.DataFrame([[1, 2], [1, 1]], columns=["a", "a"]), "two columns named 'a'"),
        (pd.DataFrame({"a": [1.0, math.inf], "b": [1.0, 2.0]}), "'inf' is not a number"),
        (pl.DataFrame({"a": [1.0, math.inf], "b": [1.0, 2.0]}), "'inf' is not a number"),
        (pl.DataFrame({"a": [1e300, 1.0], "b": [1.0, 2.0]}), "too large for a label"),
        (pl.DataFrame(), "has no rows"),
    ],
)
def test_frames_that_are_no_ratings(frame: object, says: str) -> None:
    from konsil.errors import KonsilError

    # Columns of numbers that are not stated to be raters are asked for.
    layout = None if "not clear" in says else "wide"
    with pytest.raises(KonsilError, match=says):
        konsil.agreement(frame, layout=layout, resamples=100)


def test_columns_may_have_any_name() -> None:
    plain = konsil.agreement(
        pl.DataFrame({"a": list("xyxx"), "b": list("xyyx"), "c": list("yyyx")}), resamples=200
    )
    for names in (("row", "rater", "label"), ("cluster", "label", "row"), ("", " ", "\t")):
        columns = dict(zip(names, plain_columns(), strict=True))
        found = konsil.agreement(pl.DataFrame(columns), rater=list(names), resamples=200)
        assert rounded(values(found.to_dict())) == rounded(values(plain.to_dict()))


def rounded(estimates: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Without the last digits, which may depend on the order of the raters."""
    return {
        name: tuple(round(v, 12) if isinstance(v, float) else v for v in of)
        for name, of in estimates.items()
    }


def plain_columns() -> list[list[str]]:
    return [list("xyxx"), list("xyyx"), list("yyyx")]


def test_continuous_labels_are_told_and_not_tallied_to_death() -> None:
    chance = np.random.default_rng(2)
    truth = chance.normal(size=800)
    frame = pl.DataFrame({f"r{n}": truth + chance.normal(size=800) / 4 for n in range(3)})
    found = konsil.agreement(frame, level="interval", layout="wide", resamples=200)
    assert 0.8 < found["icc2"].value < 1
    assert found["cohen_kappa_quadratic"].value == pytest.approx(found["icc2"].value, abs=1e-3)
    radical = konsil.agreement(
        frame,
        level="interval",
        layout="wide",
        resamples=200,
        statistics=["cohen_kappa"],
        weights="radical",
    )
    assert math.isnan(radical["cohen_kappa"].value)
    assert "round or group the values" in radical["cohen_kappa"].reason
