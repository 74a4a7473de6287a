"""konsil compare: what is read, asked for, printed and written."""

from __future__ import annotations

import io
import json
import random
import re
import shlex
from pathlib import Path

import docx
import openpyxl
import pandas
import polars as pl
import pytest
import statsmodels.formula.api as formulas
from click.testing import CliRunner, Result

import konsil
from konsil.analysis.model.rows import Row
from konsil.cli.main import group
from konsil.errors import KonsilError, SourceError, UnclearTableError


def scores() -> pl.DataFrame:
    """60 cases, three models, three readers: model A is better by 0.8 of 5 points."""
    rng = random.Random(4)
    case = [rng.gauss(0, 0.7) for _ in range(60)]
    rows = [
        {
            "case": f"c{n:02}",
            "model": model,
            "reader": reader,
            "score": min(5, max(1, round(3 + case[n] + 0.8 * (model == "A") + rng.gauss(0, 0.8)))),
        }
        for n in range(60)
        for model in "ABC"
        for reader in ("R1", "R2", "R3")
    ]
    return pl.DataFrame(rows)


def answers() -> pl.DataFrame:
    """40 items answered by two systems, correct or incorrect, without raters."""
    rng = random.Random(5)
    rows = [
        {
            "item": n,
            "system": system,
            "correct": "yes" if rng.random() < (0.8 if system == "a" else 0.5) else "no",
        }
        for n in range(40)
        for system in "ab"
    ]
    return pl.DataFrame(rows)


def run(folder: Path, frame: pl.DataFrame, *options: str) -> Result:
    """The command on a frame's file."""
    frame.write_csv(folder / "table.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(group, ["compare", "table.csv", "--resamples", "300", *options])


def row_of(rows: tuple[Row, ...], name: str, other: str = "") -> Row:
    """The row of a group, or of a difference."""
    return next(
        row
        for row in rows
        if row.group["system"] == name and (not other or row.versus["system"] == other)
    )


def test_a_difference_of_means_is_that_of_statsmodels_with_clusters() -> None:
    """Every model was rated on every case: the difference and its cluster-robust interval."""
    frame = scores()
    result = konsil.compare(frame, resamples=300)
    two = frame.filter(pl.col("model") != "C").to_pandas()
    fit = formulas.ols("score ~ model", two).fit(
        cov_type="cluster", cov_kwds={"groups": two["case"]}
    )
    difference = row_of(result.differences, "A", "B").estimate
    assert difference.value == pytest.approx(-fit.params.iloc[1], rel=1e-9)
    low, high = -fit.conf_int().iloc[1].to_numpy()[::-1]
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=0.02)
    assert difference.p == pytest.approx(1 / 301)


def test_proportions_are_counted_and_their_difference_is_paired(tmp_path: Path) -> None:
    frame = answers()
    record = json.loads(run(tmp_path, frame, "--json").stdout)
    assert record["criteria"] == [{"name": "correct", "labels": ["no", "yes"], "success": ["yes"]}]
    hits = dict(frame.filter(pl.col("correct") == "yes").group_by("system").len().iter_rows())
    assert [(e["group"], e["value"]) for e in record["estimates"]] == [
        (system, hits[system] / 40) for system in "ab"
    ]
    (difference,) = record["differences"]
    assert difference["paired"] is True
    assert difference["value"] == pytest.approx((hits["a"] - hits["b"]) / 40)
    assert record["raters"] is None


def test_the_doors_have_the_same_numbers(tmp_path: Path) -> None:
    record = json.loads(run(tmp_path, scores(), "--json").stdout)
    result = konsil.compare(scores(), resamples=300)
    assert [e["low"] for e in record["estimates"]] == pytest.approx(
        [row.estimate.low for row in result.estimates], rel=1e-11
    )
    assert record["reading"] == result.reading


def test_a_reference_has_its_differences_alone_adjusted_together() -> None:
    pairs = konsil.compare(scores(), resamples=300)
    result = konsil.compare(scores(), resamples=300, reference="B")
    shown = [(row.group["system"], row.versus["system"]) for row in result.differences]
    assert shown == [("A", "B"), ("C", "B")]
    turned, straight = row_of(result.differences, "C"), row_of(pairs.differences, "B", "C")
    assert turned.estimate.value == -straight.estimate.value
    assert (turned.estimate.low, turned.estimate.high) == (
        -straight.estimate.high,
        -straight.estimate.low,
    )
    p_values = sorted(row.estimate.p for row in result.differences)
    adjusted = sorted(row.p_adjusted for row in result.differences)
    assert adjusted == pytest.approx([min(1, 2 * p_values[0]), max(2 * p_values[0], p_values[1])])


def test_a_column_for_each_system_is_the_same_table() -> None:
    frame = answers()
    wide = frame.pivot("system", index="item", values="correct").rename(
        {"a": "model-a", "b": "model-b"}
    )
    long = konsil.compare(frame, resamples=300)
    result = konsil.compare(wide, unit="item", system=["model-a", "model-b"], resamples=300)
    numbers = [(row.estimate.value, row.estimate.low, row.estimate.p) for row in long.differences]
    assert [
        (row.estimate.value, row.estimate.low, row.estimate.p) for row in result.differences
    ] == numbers


def test_which_label_is_a_success_is_asked(tmp_path: Path) -> None:
    frame = answers().with_columns(pl.col("correct").replace({"yes": "good", "no": "poor"}))
    asked = run(tmp_path, frame)
    assert asked.exit_code != 0
    with pytest.raises(KonsilError):
        konsil.compare(frame)
    stated = konsil.compare(frame, success=["good"], resamples=300)
    assert [row.estimate.value for row in stated.estimates] == [
        row.estimate.value for row in konsil.compare(answers(), resamples=300).estimates
    ]
    with pytest.raises(KonsilError):
        konsil.compare(frame, success=["god"])


@pytest.mark.parametrize("columns", [("arm", "site"), ()])
def test_unclear_groups_are_asked_for_with_a_call_that_computes(columns: tuple[str, ...]) -> None:
    """Two columns can be the groups, or none: nothing is computed, and one call settles it."""
    frame = answers().drop("system").unique("item", maintain_order=True)
    for n, name in enumerate(columns, start=1):
        frame = frame.with_columns((pl.int_range(pl.len()) // n % 2).cast(pl.String).alias(name))
    with pytest.raises(UnclearTableError) as refusal:
        konsil.compare(frame, resamples=300)
    if columns:
        assert ("by", ("arm",)) in refusal.value.arguments
        call = refusal.value.call.replace("konsil.compare(frame, ", "dict(")
        stated = eval(call)
        assert konsil.compare(frame, **stated).groups == ("0", "1")


def test_documents_have_the_table_and_its_numbers(tmp_path: Path) -> None:
    options = ("--to", "markdown", "--to", "docx", "--to", "xlsx", "--to", "latex")
    result = run(tmp_path, scores(), *options, "--output", "out", "--reference", "B")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"manuscript.qmd", "manuscript.docx", "tables.xlsx", "manuscript.tex"}
    assert {path.suffix for path in (tmp_path / "out/figures").iterdir()} == {
        ".svg",
        ".png",
        ".pdf",
    }
    text = (tmp_path / "out/manuscript.qmd").read_text()
    difference = row_of(
        konsil.compare(scores(), resamples=300, reference="B").differences, "A"
    ).estimate
    assert f"{difference.value:.2f}" in text
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "out/tables.xlsx").read_bytes()))
    head = [cell.value for cell in book.worksheets[1][2]]
    # A mean and its SD, and the ends of intervals, are numbers in cells of their own.
    assert head[:5] == ["model", "Mean (SD)", "Mean (SD): SD", "95% CI: lower", "95% CI: upper"]
    assert isinstance(book.worksheets[1]["D3"].value, float)
    assert {row[0].value for row in book["estimates"].iter_rows(min_row=2)} >= {"score: mean"}


def document_text(folder: Path, frame: pl.DataFrame) -> str:
    """All text of the document in Word."""
    assert run(folder, frame, "--to", "docx", "--output", "out").exit_code == 0
    document = docx.Document(str(folder / "out/manuscript.docx"))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    texts = [*(paragraph.text for paragraph in document.paragraphs), *cells]
    return "\n".join(texts).replace("\xa0", " ")


@pytest.mark.parametrize(("n_items", "digits"), [(40, ""), (120, r"\.\d")])
def test_percentages_have_the_decimals_of_their_differences(
    tmp_path: Path, n_items: int, digits: str
) -> None:
    """None where a group has fewer than 100 ratings."""
    parts = [answers().with_columns(item=pl.col("item") + 40 * n) for n in range(n_items // 40)]
    text = document_text(tmp_path, pl.concat(parts))
    (of_a,) = re.findall(rf"\b\d+/{n_items} \((\S+)%\)", text)[:1]
    interval, difference = re.findall(r"^(.*)\[(\S+), (\S+)\]$", text, re.MULTILINE)[::2][:2]
    for number in (of_a, *interval[1:], difference[0].strip(), *difference[1:]):
        assert re.fullmatch(rf"−?\d+{digits}", number), number


def test_a_document_names_its_deviations_and_says_each_limitation_once(tmp_path: Path) -> None:
    """Limits of several numbers are one sentence, with the widest."""
    text = document_text(tmp_path, scores())
    assert text.count("SD: standard deviation of all ratings of a group.") == 1
    assert text.count("Allowing for rater sampling") == 1
    assert re.search(r"widens \d CIs, most that of (Mean|Median), .* by \d+%", text)
    assert "raters of raters" not in text and "3 people who were to rate (panel: raters)" in text


def test_a_place_without_effect_is_refused(tmp_path: Path) -> None:
    assert isinstance(run(tmp_path, scores(), "--compute", "local:2").exception, KonsilError)
    assert run(tmp_path, scores(), "--compute", "cores:1").exit_code == 0


def test_the_notebook_shows_methods_and_numbers() -> None:
    shown = konsil.compare(scores(), resamples=300)._repr_html_()
    assert "Standard deviation" in shown
    assert "item-cluster bootstrap" in shown


def test_one_system_has_a_proportion_and_no_difference(tmp_path: Path) -> None:
    """Its numbers are those that it has beside another system."""
    both, single = answers(), answers().filter(pl.col("system") == "a")
    result = run(tmp_path, single, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    (alone,) = document["estimates"]
    of_both = json.loads(run(tmp_path, both, "--json").stdout)["estimates"]
    assert alone == next(row for row in of_both if row["group"] == "a")
    assert document["differences"] == []
    assert any("'a' is the only group" in note for note in document["notes"])
    assert isinstance(run(tmp_path, single, "--reference", "a").exception, SourceError)


def test_ratings_without_groups_are_one_group_where_that_is_stated(tmp_path: Path) -> None:
    """The command that the refusal prints gives the numbers of all ratings."""
    table = answers().filter(pl.col("system") == "a").drop("system")
    refusal = run(tmp_path, table).exception
    assert isinstance(refusal, UnclearTableError)
    words = shlex.split(refusal.call)
    assert words[:5] == ["konsil", "compare", "table.csv", "--resamples", "300"]
    document = json.loads(run(tmp_path, table, *words[5:], "--json").stdout)
    (all_ratings,) = document["estimates"]
    n = table.height
    assert all_ratings["value"] == pytest.approx(table["correct"].eq("yes").sum() / n, rel=1e-11)
    assert (document["by"], document["groups"], document["differences"]) == ("", ["all"], [])
    wide = pl.DataFrame({"item": range(30), "ann": [1, 2, 3] * 10, "ben": [1, 3, 3] * 10})
    document = json.loads(run(tmp_path, wide, "--wide", "--by", "-", "--json").stdout)
    mean = next(row for row in document["estimates"] if row["statistic"] == "mean")
    assert mean["value"] == pytest.approx(13 / 6, rel=1e-11)


ORDER = ["low", "mid", "high", "extreme"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("is_stated", [True, False])
def test_ordered_categories_are_the_scale(kind: str, is_stated: bool) -> None:
    """As in agreement, also where the groups are categories themselves."""
    table = answers().with_columns(
        label=pl.Series([random.Random(n).choice(ORDER[:3]) for n in range(answers().height)])
    )
    columns = [name for name in ("unit", "item", "system", "rater") if name in table.columns]
    table = table.select(*columns, "label")
    systems = sorted(table["system"].unique())
    frame: object = table.with_columns(
        pl.col("label").cast(pl.Enum(ORDER)), pl.col("system").cast(pl.Enum([*systems, "none"]))
    )
    if kind == "pandas":
        plain = table.to_dict(as_series=False)
        ordered = {"label": ORDER, "system": [*systems, "none"]}
        plain |= {c: pandas.Categorical(plain[c], o, ordered=True) for c, o in ordered.items()}
        frame = pandas.DataFrame(plain)
    roles = {"label": "label", "by": "system"} if is_stated else {}
    result = konsil.compare(frame, level="ordinal", resamples=100, **roles)  # type: ignore[arg-type]
    stated = konsil.compare(table, level="ordinal", labels=ORDER, resamples=100)
    values = [row.estimate.value for row in result.rows]
    assert values == [row.estimate.value for row in stated.rows]
    # Words of which nobody states the order have none.
    with pytest.raises(SourceError, match="are words; give them in order"):
        konsil.compare(table, level="ordinal", resamples=100)


def test_the_level_that_is_stated_counts() -> None:
    """Numbers without an order have proportions alone."""
    table = scores()
    with pytest.raises(SourceError, match="it is not known which"):
        konsil.compare(table, level="nominal", resamples=100)
    result = konsil.compare(table, level="nominal", success=["5"], resamples=100)
    usual = konsil.compare(table, success=["5"], resamples=100)
    values = [
        (row.estimate.value, row.estimate.low, row.estimate.high)
        for rows in (result, usual)
        for row in rows.estimates
    ]
    assert values[: len(values) // 2] == values[len(values) // 2 :]
