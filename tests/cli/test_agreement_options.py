"""konsil agreement: every option in every layout changes the result or is refused, at both doors."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.roles.reading import Layout
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.records.request import FLAG

N = 14
RATERS = "abc"
Ratings = Mapping[str, Sequence[str | None]]
Options = dict[str, Any]


def ratings(seed: int = 3, *, gaps: bool = False, marks: bool = False) -> Ratings:
    """Three raters' labels 1 to 3; with gaps, or with the marks 9 and - among them."""
    generator = random.Random(seed)
    truth = [generator.choice("123") for _ in range(N)]
    by_rater: dict[str, list[str | None]] = {
        rater: [t if generator.random() < 0.65 else generator.choice("123") for t in truth]
        for rater in RATERS
    }
    if gaps:
        by_rater["a"][0] = by_rater["a"][1] = by_rater["c"][4] = None
    if marks:
        by_rater["a"][2], by_rater["b"][5], by_rater["c"][7], by_rater["b"][9] = "9", "9", "-", "-"
    return by_rater


UNITS = pl.DataFrame(
    {
        "unit": [f"u{n:02}" for n in range(N)],
        "case": [f"c{n // 2}" for n in range(N)],
        "site": ["x" if n < 7 else "y" for n in range(N)],
    }
)


def wide(given: Ratings) -> pl.DataFrame:
    return UNITS.with_columns(**{rater: pl.Series(labels) for rater, labels in given.items()})


def long(given: Ratings) -> pl.DataFrame:
    rows = wide(given).unpivot(index=UNITS.columns, variable_name="rater", value_name="label")
    rows = rows.drop_nulls("label")
    second = [str(1 + n % 3) for n in range(rows.height)]
    half = ["f" if n % 2 else "s" for n in range(rows.height)]
    swapped = {"a": "p", "b": "p", "c": "q"}
    return rows.with_columns(
        pl.Series("second", second),
        pl.Series("dimension", half),
        pl.col("rater").replace(swapped).alias("team"),
    )


def counts(given: Ratings) -> pl.DataFrame:
    labels = sorted({label for each in given.values() for label in each if label})
    n_given = {
        label: pl.Series([sum(each[n] == label for each in given.values()) for n in range(N)])
        for label in labels
    }
    return UNITS.with_columns(**n_given)


def lists(given: Ratings) -> pl.DataFrame:
    cells = [[each[n] for each in given.values() if each[n]] for n in range(N)]
    return UNITS.with_columns(label=pl.Series(cells), second=pl.Series([["1", "2", "1"]] * N))


def in_rows(given: Ratings) -> pl.DataFrame:
    by_unit = {f"u{n:02}": [each[n] for each in given.values()] for n in range(N)}
    return pl.DataFrame({"rater": list(given), "site": ["x", "x", "y"], **by_unit})


def crossed(given: Ratings) -> pl.DataFrame:
    labels = sorted({label for rater in "ab" for label in given[rater] if label})
    pairs = list(zip(given["a"], given["b"], strict=True))
    columns = {second: [pairs.count((first, second)) for first in labels] for second in labels}
    return pl.DataFrame({"rows": labels, **columns})


def named(given: Ratings) -> pl.DataFrame:
    columns = {
        f"R{rater}_Q{criterion}": pl.Series(labels[::step])
        for rater, labels in given.items()
        for criterion, step in ((1, 1), (2, -1))
    }
    return UNITS.with_columns(**columns)


def several(given: Ratings) -> pl.DataFrame:
    cells = {
        rater: pl.Series([f"{v};4" if v and n % 3 == 0 else v for n, v in enumerate(labels)])
        for rater, labels in given.items()
    }
    return UNITS.with_columns(**cells)


LAYOUTS: Mapping[str, tuple[Callable[[Ratings], pl.DataFrame], Options]] = {
    "wide": (wide, {"layout": "wide", "unit": "unit", "unused": ["case", "site"]}),
    "raters' columns": (wide, {"unit": "unit", "rater": ["a", "b", "c"]}),
    "long": (long, {"layout": "long", "unit": "unit", "rater": "rater", "label": "label"}),
    "counts": (counts, {"layout": "counts", "unit": "unit", "unused": ["case", "site"]}),
    "lists": (lists, {"layout": "lists", "unit": "unit", "label": "label"}),
    "raters-in-rows": (in_rows, {"layout": "raters-in-rows", "rater": "rater", "unused": ["site"]}),
    "cross-table": (crossed, {"layout": "cross-table"}),
    "names": (named, {"unit": "unit", "names": "R{rater}_Q{criterion}"}),
    "several labels": (several, {"unit": "unit", "rater": ["a", "b", "c"], "split": ";"}),
}
ORDER = (
    "wide",
    "raters' columns",
    "long",
    "counts",
    "lists",
    "raters-in-rows",
    "cross-table",
    "names",
    "several labels",
)
SCALE = ["1", "2", "3", "4", "5"]
VALUES: Mapping[str, Options] = {
    "layout": {"layout": "counts"},
    "unit": {"unit": "case"},
    "rater": {"rater": ["a", "b"]},
    "label": {"label": "second"},
    "criterion": {"criterion": "dimension"},
    "names": {"names": "R{rater}_Q1"},
    "unused": {"unused": ["c"]},
    "split": {"split": "|"},
    "cluster": {"cluster": "case"},
    "level": {"level": "interval"},
    "labels": {"labels": SCALE},
    "values": {"labels": ["1", "2", "3"], "level": "interval", "values": [1, 2, 7]},
    "abstain": {"abstain": "9", "missing": ["", "-"]},
    "statistics": {"statistics": ["gwet_ac1"]},
    "weights": {"weights": "linear"},
    "pair_weights": {"pair_weights": "units"},
    "pairs": {"pairs": True},
    "where": {"where": {"site": "x"}},
    "by": {"by": "site"},
    "compare": {"compare": "site"},
    "target": {"compare": "site", "target": "like these"},
    "missing": {"missing": ["", "-"]},
    "recode": {"recode": {"1": "2"}},
    "repeat": {"repeat": "last"},
    "resamples": {"resamples": 200},
    "confidence": {"confidence": 0.9},
    "seed": {"seed": 4},
}
"""For each option a value that is not what a table would be read as without it."""
UNLIKE: Mapping[tuple[str, str], Options] = {
    ("layout", "counts"): {"layout": "cross-table"},
    ("cluster", "wide"): {"cluster": "case", "unused": ["site"]},
    ("cluster", "counts"): {"cluster": "case", "unused": ["site"]},
}
"""Other values where those are the layout's own, or contradict it."""
TABLE = """
             wide   raters' columns   long   counts   lists   raters-in-rows   cross-table   names   several labels
layout       +      -                 -      -        -       -                +             -       -
unit         -      +                 -      -        +       -                -             -       +
rater        +      +                 -      -        -       -                -             -       +
label        -      -                 +      -        +       -                -             -       -
criterion    -      -                 +      -        -       -                -             -       -
names        -      -                 -      -        -       -                -             +       -
unused       +      -                 -      -        -       -                -             -       -
split        +      +                 +      -        -       +                -             +       +
cluster      +      +                 +      +        +       -                -             +       +
level        +      +                 +      +        +       +                +             +       -
labels       +      +                 +      -        +       +                +             +       +
values       +      +                 +      +        +       +                +             +       -
abstain      +      +                 +      +        +       +                -             +       +
statistics   +      +                 +      +        +       +                +             +       +
weights      +      +                 +      +        +       +                +             +       -
pair_weights +      +                 +      -        -       +                -             +       +
pairs        +      +                 +      -        -       +                +             +       +
where        +      +                 +      +        +       +                -             +       +
by           +      +                 +      +        +       -                -             -       +
compare      +      +                 +      +        +       -                -             -       -
target       +      +                 +      +        +       -                -             -       -
missing      +      +                 +      +        +       +                +             +       +
recode       +      +                 +      +        +       +                +             +       +
repeat       -      -                 +      -        -       +                -             +       -
resamples    +      +                 +      +        +       +                +             +       +
confidence   +      +                 +      +        +       +                +             +       +
seed         +      +                 +      +        +       +                +             +       +
"""
"""+: the option changes numbers; -: it is refused."""


def expected() -> dict[tuple[str, str], str]:
    head, *lines = TABLE.strip("\n").splitlines()
    assert tuple(re.split(" {2,}", head.strip())) == ORDER
    cells = [line.split() for line in lines]
    return {
        (name, layout): sign
        for name, *signs in cells
        for layout, sign in zip(ORDER, signs, strict=True)
    }


def numbers(result: Any) -> Any:
    """The numbers of a result: what an option can change, apart from its words."""
    if isinstance(result, list):
        return [numbers(each) for each in result]
    if not isinstance(result, dict):
        return result
    words = {"reading", "warnings", "level", "labels", "confidence", "pair_weights", "method"}
    return {name: numbers(each) for name, each in result.items() if name not in words}


def computed(frame: pl.DataFrame, options: Options) -> dict[str, Any] | str:
    """A result as plain data, or the sentence of a refusal."""
    try:
        return konsil.agreement(frame, **{"resamples": 100, **options}).to_dict()
    except KonsilError as error:
        return str(error)


def table_of(layout: str, option: str, seed: int = 3) -> tuple[pl.DataFrame, Options]:
    """A table in which an option can have an effect, and what is stated beside it."""
    make, stated = LAYOUTS[layout]
    given = ratings(seed, gaps=option == "pair_weights", marks=option in {"abstain", "missing"})
    frame = make(given)
    if option == "repeat":
        again = frame.head(1)
        rated = "label" if layout == "long" else frame.columns[-1]
        if layout not in {"counts", "lists", "cross-table"}:
            other = "1" if again.item(0, rated) != "1" else "2"
            again = again.with_columns(pl.lit(other).alias(rated))
        frame = pl.concat([frame, again])
    return frame, stated


def value_of(option: str, layout: str) -> Options:
    return UNLIKE.get((option, layout), VALUES[option])


def test_the_table_has_every_option_and_every_layout() -> None:
    """Kills: an option or a layout that is added without its row or column here."""
    assert set(VALUES) == {entry.name for entry in fields(AgreementRequest)}
    assert {name for name, _ in expected()} == set(VALUES)
    stated = {options.get("layout") for _, options in LAYOUTS.values()} - {None}
    assert stated == set(get_args(Layout))
    assert set(ORDER) == set(LAYOUTS)


@pytest.mark.parametrize(("option", "layout"), [k for k, v in expected().items() if v == "-"])
def test_an_option_that_can_change_nothing_is_refused(option: str, layout: str) -> None:
    """Kills: an option that is accepted and has no effect."""
    frame, stated = table_of(layout, option)
    result = computed(frame, {**stated, **value_of(option, layout)})
    assert isinstance(result, str), numbers(result)
    assert "\\x1f" not in repr(result)


@pytest.mark.slow
@pytest.mark.parametrize(("option", "layout"), [k for k, v in expected().items() if v == "+"])
def test_every_other_option_changes_the_numbers(option: str, layout: str) -> None:
    """Kills: an option that is accepted and not passed on."""
    frame, stated = table_of(layout, option)
    result = computed(frame, {**stated, **value_of(option, layout)})
    assert not isinstance(result, str), result
    without = computed(frame, stated)
    assert isinstance(without, str) or numbers(without) != numbers(result)


def flags(options: Options) -> list[str]:
    """Options of the function as a user types them."""
    words: list[str] = []
    by_name = {entry.name: entry.metadata[FLAG] for entry in fields(AgreementRequest)}
    for name, value in options.items():
        flag = by_name[name]
        typed = f"--{flag.name or name.replace('_', '-')}"
        if flag.by_value is not None:
            words.append(f"--{value}")
        elif value is True:
            words.append(typed)
        elif flag.is_listed:
            words += [typed, ",".join(map(str, value))]
        elif isinstance(value, dict):
            words += [w for k, v in value.items() for w in (typed, f"{k}={v}")]
        elif isinstance(value, list):
            words += [w for v in value if v != "" for w in (typed, str(v))]
        else:
            words += [typed, str(value)]
    return words


def typed(frame: pl.DataFrame, options: Options) -> dict[str, Any] | str:
    """The result of the command, or the sentence of its refusal."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.jsonl"
        frame.write_ndjson(file)
        words = ["agreement", str(file), *flags({"resamples": 100, **options}), "--json"]
        result = CliRunner().invoke(group, words)
    if result.exit_code == 0:
        return dict(json.loads(result.stdout))
    assert isinstance(result.exception, KonsilError | SystemExit), result.exception
    return str(result.exception) or result.stderr


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    layout=st.sampled_from([name for name in ORDER if name != "lists"]),
    names=st.lists(st.sampled_from(sorted(set(VALUES) - {"layout"})), max_size=3, unique=True),
    seed=st.integers(0, 1_000),
)
def test_both_doors_give_the_same_numbers(layout: str, names: list[str], seed: int) -> None:
    """Kills: an option that one door reads, completes or passes on in another way."""
    frame, options = table_of(layout, names[0] if names else "", seed)
    for name in names:
        options = {**options, **value_of(name, layout)}
    called, commanded = computed(frame, options), typed(frame, options)
    if isinstance(called, str) or isinstance(commanded, str):
        assert isinstance(called, str) and isinstance(commanded, str), (called, commanded)
        return
    assert without_words(json.loads(json.dumps(called))) == without_words(commanded)


def without_words(result: Any) -> Any:
    """A result without its warnings, which name options as their reader writes them."""
    if isinstance(result, list):
        return [without_words(each) for each in result]
    if not isinstance(result, dict):
        return result
    return {k: len(v) if k == "warnings" else without_words(v) for k, v in result.items()}


@pytest.mark.parametrize(
    ("layout", "options", "sentence"),
    [
        ("long", {"names": "R{rater}"}, "no column has such a name"),
        ("names", {"names": "R{rater}_Q{rater}"}, "each at most once"),
        ("names", {"names": "R{reader}_Q1"}, "each at most once"),
        ("wide", {"statistics": ["gwet_ac1"], "weights": "linear"}, "weights: has no effect on"),
        ("cross-table", {"pair_weights": "units"}, "without a mean over several pairs"),
        ("wide", {"statistics": ["fleiss_kappa"], "pair_weights": "units"}, "without a mean over"),
        ("wide", {"unused": ["site", "unit"]}, "unused 'unit': this column has another role"),
        ("wide", {"cluster": "case"}, "cluster 'case': this column has another role"),
        ("counts", {"split": ";"}, "split=';': has no effect on a column for each label"),
        ("long", {"layout": "cross-table"}, "layout='cross-table': has no effect on a row for"),
    ],
)
def test_refusals_name_the_option_and_the_reason(
    layout: str, options: Options, sentence: str
) -> None:
    frame, stated = table_of(layout, "")
    result = computed(frame, {**stated, **options})
    assert isinstance(result, str) and sentence in result, result
