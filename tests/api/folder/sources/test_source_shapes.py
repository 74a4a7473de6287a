"""Shapes of tables of ratings in study.toml, in the words and with the numbers of the commands."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import konsil
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.api import open_folder
from konsil.errors import SourceError, UnclearTableError
from konsil.instrument import digest_of
from konsil.records import Source
from konsil.records.source import FileSettings

KEYS: Mapping[str, str] = {
    **{name: name for name in ("layout", "names", "unused", "repeat", "missing")},
    **{entry.name: entry.name for entry in fields(FileSettings)},
    **{"unit": "columns", "criterion": "columns", "label": "columns", "rater": "columns"},
    "recode": "labels",
}
"""Option of `konsil agreement` about the table -> the key of a source: of the same name, or where
fields have columns and the words of a file have labels."""
NO_KEYS: Mapping[str, str] = {
    "split": "a criterion has one label; a set of labels is a criterion for each",
    "where": "all rows are imported; analyses choose among them",
    "labels": "the scale of a criterion has its labels",
    "values": "the scale of a criterion has its numbers",
    "abstain": "the scale of a criterion has its abstention",
    "level": "the scale of a criterion has its level",
    **dict.fromkeys(("cluster", "by", "compare"), "an analysis has its clusters and groups"),
    **dict.fromkeys(("resamples", "confidence", "seed"), "inference of the study"),
    **dict.fromkeys(("statistics", "weights", "pair_weights", "pairs"), "an analysis has them"),
    "target": "the study has it, in [inference]",
}
"""Option -> why a source has no key for it."""

ITEMS = [f"q{n}" for n in range(12)]
RATERS = ("ann", "bob", "cem")
CRITERIA = ("correct", "safe")
LABELS = {
    (item, rater, criterion): random.Random(f"{item} {rater} {criterion}").choice("1234")
    for item in ITEMS
    for rater in RATERS
    for criterion in CRITERIA
}
PROTOCOL = """
schema = 1
title = "Shapes"
seed = 1
systems = [{ id = "x" }]
raters = [{ id = "ann", panel = "p" }, { id = "bob", panel = "p" }, { id = "cem", panel = "p" }]

[[instruments]]
id = "form"
codebook = "codebook.en.md"
criteria = [
    { id = "correct", question = "?", scale = { labels = ["1", "2", "3", "4"], abstain = "?" } },
    { id = "safe", question = "?", scale = { labels = ["1", "2", "3", "4"] } },
]
"""
ANALYSES = "".join(
    f"""
[[analyses]]
name = "{criterion}"
statistic = "krippendorff_alpha"
criterion = "{criterion}"
raters = "p"
"""
    for criterion in CRITERIA
)


def alphas(folder: Path, keys: str) -> dict[str, float]:
    """Criterion -> Krippendorff's alpha of a study whose ratings are read with these keys."""
    folder.mkdir(exist_ok=True)
    (folder / "codebook.en.md").write_text("A codebook.\n", "utf-8")
    fixed = "" if "system" in keys else 'fixed.system = "x"'
    source = f'[[sources]]\nrecords = "ratings"\n{fixed}\n{keys}\n'
    text = f"{PROTOCOL}{ANALYSES}\n[resampling]\ndraws = 100\n\n{source}"
    (folder / "study.toml").write_text(text, "utf-8")
    for path in folder.glob("konsil.db*"):
        path.unlink()
    opened = open_folder(folder)
    opened.import_sources()
    rows = opened.results().rows
    values = {row.analysis: row.estimate.value for row in rows if row.estimate is not None}
    return {criterion: value for criterion, value in values.items() if not math.isnan(value)}


def stated(frame: pl.DataFrame, **options: object) -> dict[str, float]:
    """Criterion -> the same of the table alone; one without a column of criteria is 'correct'."""
    options = {"statistics": ["krippendorff_alpha"], "resamples": 100, **options}
    result = konsil.agreement(frame, **options)  # type: ignore[arg-type]
    parts = result.groups or {"correct": result}
    return {name: part["krippendorff_alpha"].value for name, part in parts.items()}


def write(path: Path, rows: list[tuple[str, ...]]) -> pl.DataFrame:
    """A table of texts whose first row has the names, as a file and as a frame."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(",".join(row) + "\n" for row in rows), "utf-8")
    return pl.read_csv(path, infer_schema=False)


def test_every_option_of_a_table_has_a_key_or_a_reason() -> None:
    options = {entry.name for entry in (*fields(AgreementRequest), *fields(FileSettings))}
    assert {*KEYS} | {*NO_KEYS} == options
    assert not {*KEYS} & {*NO_KEYS}
    assert {*KEYS.values()} <= {entry.name for entry in fields(Source)}


def test_a_column_for_each_rater_and_criterion_by_a_pattern(tmp_path: Path) -> None:
    names = [f"R{r}_Q{c}" for r in (1, 2, 3) for c in (1, 2)]
    rows = [
        (item, *(LABELS[item, r, c] for r in RATERS for c in CRITERIA), str(n))
        for n, item in enumerate(ITEMS)
    ]
    frame = write(tmp_path / "t.csv", [("Fall", *names, "R9_Q9x"), *rows])
    keys = """
file = "t.csv"
names = "R{rater}_Q{criterion}"
unused = ["R9_Q9x"]
columns = { item = "Fall" }
values.rater = { 1 = "ann", 2 = "bob", 3 = "cem" }
values.criterion = { 1 = "correct", 2 = "safe" }
"""
    study = alphas(tmp_path, keys)
    table = stated(frame, unit="Fall", names="R{rater}_Q{criterion}", unused=["R9_Q9x"])
    assert study == {"correct": table["1"], "safe": table["2"]}
    assert study["correct"] != study["safe"]
    with pytest.raises(UnclearTableError) as caught:
        alphas(tmp_path, keys.replace(', 3 = "cem"', ""))
    assert "'R3_Q1'" in caught.value.unclear[0]
    stated_twice = keys.replace('{ item = "Fall"', '{ rater = "R9_Q9x", item = "Fall"')
    with pytest.raises(SourceError) as refused:
        alphas(tmp_path, stated_twice.replace('unused = ["R9_Q9x"]', ""))
    assert not isinstance(refused.value, UnclearTableError)
    with pytest.raises(SourceError, match='names = "Z'):
        alphas(tmp_path, keys.replace("R{", "Z{"))


def test_raters_in_columns(tmp_path: Path) -> None:
    rows = [(item, "gpt", *(LABELS[item, r, "correct"] for r in RATERS)) for item in ITEMS]
    frame = write(tmp_path / "t.csv", [("Wer", "Vendor", *RATERS), *rows])
    keys = 'file = "t.csv"\nlayout = "wide"\nfixed.criterion = "correct"\nvalues.system.gpt = "x"\n'
    study = alphas(tmp_path, f'{keys}columns = {{ item = "Wer", system = "Vendor" }}')
    assert study == stated(frame, layout="wide", unit="Wer", unused=["Vendor"])
    with pytest.raises(SourceError, match="'item'"):
        alphas(tmp_path, f'{keys}columns = {{ system = "Vendor" }}')


def test_raters_in_rows(tmp_path: Path) -> None:
    rows = [(r, *(LABELS[i, r, "correct"] for i in ITEMS)) for r in RATERS]
    frame = write(tmp_path / "t.csv", [("Wer", *ITEMS), *rows])
    keys = """
file = "t.csv"
layout = "raters-in-rows"
fixed.criterion = "correct"
columns.rater = "Wer"
values.item.q3 = "third"
"""
    assert alphas(tmp_path, keys) == stated(frame, layout="raters-in-rows", rater="Wer")
    with open_folder(tmp_path).store() as store:
        assert {item.id for item in store.items()} == {*ITEMS, "third"} - {"q3"}
    with pytest.raises(SourceError):
        alphas(tmp_path, keys.replace("raters-in-rows", "long"))


def test_criteria_by_a_pattern_beside_a_column_of_raters(tmp_path: Path) -> None:
    rows = [(i, r, *(LABELS[i, r, c] for c in CRITERIA)) for i in ITEMS for r in RATERS]
    frame = write(tmp_path / "t.csv", [("item", "rater", "P 1", "P 2"), *rows])
    values = 'values.criterion = { 1 = "correct", 2 = "safe" }'
    study = alphas(tmp_path, f'file = "t.csv"\nnames = "P {{criterion}}"\n{values}')
    table = stated(frame, unit="item", rater="rater", names="P {criterion}")
    assert study == {"correct": table["1"], "safe": table["2"]}


@pytest.mark.parametrize("rule", ["first", "last", "max", "sum"])
def test_several_labels_by_one_rater_count_by_the_stated_rule(tmp_path: Path, rule: str) -> None:
    rows = []
    for n, (item, rater) in enumerate((i, r) for i in ITEMS for r in RATERS):
        rows.append((item, rater, "1" if n % 2 else "2"))
        if n % 3:
            rows.append((item, rater, "2" if n % 5 else "1"))
    rows.append(("q0", "ann", "?"))
    frame = write(tmp_path / "t.csv", [("item", "rater", "label"), *rows])
    keys = 'file = "t.csv"\nfixed.criterion = "correct"\n'
    study = alphas(tmp_path, f'{keys}repeat = "{rule}"')
    roles = {"unit": "item", "rater": "rater", "label": "label", "abstain": "?"}
    assert study == stated(frame, repeat=rule, **roles)
    if rule == "first":
        with pytest.raises(SourceError, match="'ann'"):
            alphas(tmp_path, keys)


def test_several_files_and_sheets_name_the_rater(tmp_path: Path) -> None:
    frames = []
    for rater in RATERS:
        rows = [(i, *(LABELS[i, rater, c] for c in CRITERIA)) for i in ITEMS]
        frame = write(tmp_path / "forms" / f"{rater}.csv", [("item", "P correct", "P safe"), *rows])
        frames.append(frame.with_columns(pl.lit(rater).alias("file")))
    table = stated(pl.concat(frames), unit="item", rater="file", names="P {criterion}")
    keys = 'names = "P {criterion}"\n'
    assert alphas(tmp_path, f'{keys}file = "forms/*.csv"\nnamed = "rater"') == table
    book = openpyxl.Workbook(write_only=True)
    for rater, frame in zip(RATERS, frames, strict=True):
        sheet = book.create_sheet(rater)
        for row in (frame.columns[:-1], *(row[:-1] for row in frame.rows())):
            sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    assert alphas(tmp_path, f'{keys}file = "t.xlsx"\nsheet = "*"\ncolumns.rater = "sheet"') == table


@pytest.mark.parametrize(
    "keys",
    [
        'names = "R{rater}_Q{criterion}"\nraters = { a = "ann" }',
        'names = "{rater}_{unit}"',
        'repeat = "last"\nunknown_raters = "p"\nfixed.criterion = "correct"',
        'layout = "raters-in-rows"\nraters = { a = "ann", b = "bob" }',
        'unused = ["z"]\nlayout = "long"',
    ],
)
def test_keys_that_contradict_each_other_are_refused(tmp_path: Path, keys: str) -> None:
    write(tmp_path / "t.csv", [("item", "a", "b"), ("1", "1", "2"), ("2", "1", "1")])
    with pytest.raises(SourceError):
        alphas(tmp_path, f'file = "t.csv"\n{keys}')


def test_keys_that_are_not_stated_leave_checksums_as_they_were() -> None:
    words = b'{"file": "t.csv", "records": "ratings"}'
    assert digest_of(Source("t.csv", "ratings")) == hashlib.sha256(words).hexdigest()
