"""Slips of people who compute agreement of a table: each is one sentence, or is understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError

Call = Callable[..., tuple[int, str, str]]
pandas = pytest.importorskip("pandas")
LONG = {"unit": list("aabbcc"), "rater": list("xyxyxy"), "label": ["no", "yes", "no", "no"] * 1}
LONG["label"] += ["yes", "yes"]
REPEATED = "unit,rater,label\na,x,no\na,y,no\nb,x,yes\nb,y,no\na,x,yes\n"


def agreement(frame: object, **options: Any) -> Any:
    return konsil.agreement(frame, resamples=100, **options)


def value(call: Call, *arguments: object) -> float:
    code, out, err = call(
        "agreement", *arguments, "--statistic", "percent_agreement", "--resamples", 100, "--json"
    )
    assert code == 0, err
    [statistic] = json.loads(out)["statistics"]
    return float(statistic["value"])


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("item,ann,ben\n1,hä,b\n2,b,b\n".encode("cp1252"), ("--encoding", "cp1252")),
        (b"item;ann;ben\n1;a;b\n2;a;a\n", ("--separator", ";")),
        (b"item\tann\tben\n1\ta\tb\n2\ta\ta\n", ("--separator", "\\t")),
    ],
)
def test_the_printed_option_reads_the_file(
    call: Call, tmp_path: Path, content: bytes, advice: tuple[str, str]
) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    # Preferences are read by the same settings; a wrong one names the option that is right.
    code, out, err = call("agreement", file, "--separator", "|", "--encoding", "utf-8")
    assert (code, out) == (2, "")
    name, argument = advice
    assert f"{name} {argument}" in err.replace('"', "")
    assert " = " not in err
    assert call("agreement", file, name, argument, "--resamples", 100)[0] == 0
    assert call("agreement", file, "--resamples", 100)[0] == 0


def test_a_wrong_sheet_names_the_others(call: Call, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    sheet = book.create_sheet("Ratings")
    for row in (["item", "ann", "ben"], [1, "a", "b"], [2, "a", "a"]):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    _, _, err = call("agreement", tmp_path / "t.xlsx", "--sheet", "Rating")
    assert "did you mean 'Ratings'? (sheets: 'Cover', 'Ratings')" in err
    _, _, err = call("agreement", tmp_path / "t.xlsx")
    assert "sheet 'Cover' is empty; other sheets: 'Ratings'" in err


def test_a_label_is_read_as_another_one(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item,ann,ben\n1,Yes,yes\n2,no,no\n3,YES,yes\n")
    _, out, err = call("agreement", file, "--resamples", 100)
    assert "--recode YES=yes --recode Yes=yes" in " ".join((out + err).split())
    assert value(call, file, "--labels", "no,yes,Yes,YES") == pytest.approx(1 / 3)
    assert value(call, file, "--recode", "YES=yes", "--recode", "Yes=yes") == 1
    assert value(call, file, "--recode", "Yes=yes") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("recode", "sentence"),
    [
        ("yess=yes", "no cell is 'yess'; did you mean 'yes'?"),
        ("Yes", "expected OLD=NEW"),
        ("=yes", "expected OLD=NEW"),
    ],
)
def test_a_recoding_without_effect_is_refused(
    call: Call, tmp_path: Path, recode: str, sentence: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item,ann,ben\n1,yes,yes\n2,no,yes\n")
    code, out, err = call("agreement", file, "--recode", recode)
    assert (code, out) == (2, "")
    assert sentence in err


def test_two_labels_are_read_as_each_other() -> None:
    frame = pl.DataFrame({"ann": ["a", "b", "b"], "ben": ["b", "b", "a"]})
    swapped = agreement(frame, recode={"a": "b", "b": "a"})
    assert swapped["cohen_kappa"].value == agreement(frame)["cohen_kappa"].value


@pytest.mark.parametrize(("repeat", "agreed"), [("first", 0.5), ("last", 0.0)])
def test_one_of_repeated_ratings_is_chosen(
    call: Call, tmp_path: Path, repeat: str, agreed: float
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(REPEATED)
    assert "--repeat first or --repeat last" in call("agreement", file)[2]
    assert value(call, file, "--repeat", repeat) == agreed
    rows = pl.read_csv(file)
    result = agreement(rows, repeat=repeat, statistics=["percent_agreement"])
    assert result["percent_agreement"].value == agreed
    assert any("1 repeated rating " in note for note in result.warnings)


def test_many_repeats_are_one_short_sentence(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    rows = [f"{n},{rater},{label}" for n in range(63) for rater, label in ("xa", "xb", "ya")]
    file.write_text("\n".join(["unit,rater,label", *rows]))
    names = [word for role in ("unit", "rater", "label") for word in (f"--{role}", role)]
    err = call("agreement", file, *names)[2]
    assert "lines 2 and 3" in err
    assert "62 more ratings have two labels" in err
    assert len(err) < 400


def test_repeats_of_a_data_frame_have_its_index() -> None:
    frame = pandas.DataFrame(LONG, index=[f"r{n}" for n in range(6)])
    frame.loc["again"] = ["a", "x", "yes"]
    with pytest.raises(SourceError, match="rows r0 and again: rater 'x' labelled unit 'a' both"):
        agreement(frame)


@pytest.mark.parametrize("name", ["criterion", "cluster", "by", "compare"])
def test_several_columns_where_one_is_meant(name: str) -> None:
    with pytest.raises(AnalysisError, match=f"^{name}: expected the name of one column, got list"):
        agreement(pandas.DataFrame(LONG), **{name: ["unit", "rater"]})


def test_a_part_of_a_name_is_the_only_statistic_that_has_it() -> None:
    result = agreement(pandas.DataFrame(LONG), statistics=["alpha", "krippendorff_alpha"])
    assert list(result) == ["krippendorff_alpha"]
    assert result["alpha"] == result["krippendorff_alpha"]


@pytest.mark.parametrize(
    ("name", "candidate"),
    [("kappa", "fleiss_kappa (Fleiss' kappa)"), ("icc", "icc2 (ICC(2,1))"), ("w", "")],
)
def test_a_part_of_several_names_is_refused_with_them(name: str, candidate: str) -> None:
    if not candidate:
        assert list(agreement(pandas.DataFrame(LONG), statistics=["fleiss"])) == ["fleiss_kappa"]
        return
    with pytest.raises(AnalysisError, match="can mean several statistics") as refusal:
        agreement(pandas.DataFrame(LONG), statistics=[name])
    assert candidate in str(refusal.value)


WORDS = ["low", "mid", "high", "high", "mid", "low"]
SCALE = ["low", "mid", "high", "extreme"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_ordered_categories_are_the_scale(kind: str) -> None:
    labels = (
        pandas.Categorical(WORDS, categories=SCALE, ordered=True)
        if kind == "pandas"
        else pl.Series(WORDS, dtype=pl.Enum(SCALE))
    )
    data = {"unit": LONG["unit"], "rater": LONG["rater"], "label": labels}
    frame = pandas.DataFrame(data) if kind == "pandas" else pl.DataFrame(data)
    result = agreement(frame, unit="unit", rater="rater", label="label", level="ordinal")
    plain = pl.DataFrame({**data, "label": WORDS})
    declared = agreement(plain, level="ordinal", labels=SCALE)
    assert result.labels == tuple(SCALE)
    assert result["krippendorff_alpha"].value == declared["krippendorff_alpha"].value
    assert result["gwet_ac2"].value == declared["gwet_ac2"].value


def test_labels_that_are_given_count_more_than_categories() -> None:
    labels = pandas.Categorical(WORDS, categories=SCALE, ordered=True)
    frame = pandas.DataFrame({**LONG, "label": labels})
    result = agreement(frame, label="label", unit="unit", rater="rater", labels=SCALE[:3])
    assert result.labels == tuple(SCALE[:3])


def test_unordered_categories_declare_nothing() -> None:
    frame = pandas.DataFrame({**LONG, "label": pandas.Categorical(WORDS, categories=SCALE)})
    result = agreement(frame, label="label", unit="unit", rater="rater")
    assert "extreme" not in result.labels


def test_a_notebook_shows_titles_clusters_and_methods() -> None:
    frame = pl.DataFrame({"ann": [3, 4, 2, 2, 5, 5], "ben": [3, 5, 2, 1, 5, 4]})
    result = agreement(frame, level="interval", statistics=["icc2"])
    html = result._repr_html_()
    assert "<td>ICC(2,1)</td>" in html
    assert f"<td>6</td><td>{result['icc2'].method}</td>" in html


def test_a_number_of_the_scale_is_the_same_number_in_a_cell(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    rows = [
        {"item": n, "rater": r, "a": "s", "b": "t", "outcome": 1.0 + (n + k) % 2}
        for n in range(6)
        for k, r in enumerate("xy")
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    columns = ["--first", "a", "--second", "b", "--outcome", "outcome", "--resamples", 100]
    results = [
        call("preference", file, *columns, "--scale", scale, "--json")
        for scale in ("1,2", "1.0,2.0", "2,1.50")
    ]
    assert results[0][0] == 0, results[0][2]
    assert results[0] == results[1]
    assert "'1' is not on the scale" in results[2][2]
