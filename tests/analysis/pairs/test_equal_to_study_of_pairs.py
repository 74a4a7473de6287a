"""The preferences of a table are those of a study with the same comparisons, to the last bit."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.model.rows import Row
from konsil.analysis.standalone.preference_request import PreferenceRequest

SCALES = {
    3: ("A is better", "equal", "B is better"),
    4: ("A is much better", "A is better", "B is better", "B is much better"),
    5: ("A is much better", "A is better", "equal", "B is better", "B is much better"),
}
PROTOCOL = """\
title = "Comparisons"
seed = {seed}
resampling = {{ draws = {draws}, level = {level} }}
systems = [{systems}]
{raters}
[inference]
raters = "like these"
[[instruments]]
id = "form"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which answer is better?"
scope = "pair"
scale = {{ kind = "choice", level = "ordinal", labels = {labels} }}
[[sources]]
file = "votes.csv"
records = "items"
columns = {{ item = "item" }}
strata = ["topic"]
[[sources]]
file = "votes.csv"
records = "ratings"
missing = ["", "NA"]
columns = {{ item = "item", system_a = "system_a", system_b = "system_b", label = "label"{rater} }}
fixed = {{ criterion = "better" }}
{unknown}
"""
ANALYSIS = """
[[analyses]]
name = "{name}"
statistic = "{name}"
criterion = "better"
raters = "raters"
mode = "{mode}"
{groups}
"""


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Comparisons, each once, of several raters, one who gave most, one alone or unknown ones."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    column = draw(st.sampled_from(["rater", "rater", "-"]))
    n_raters = draw(st.sampled_from([1, 2, 6, 20]))
    doors = [*DOORS, *(["raters"] if column == "rater" and n_raters > 1 else [])]
    door = draw(st.sampled_from(doors))
    has_labels = door in ("labels", "raters")
    # Sums over as many kinds of outcomes as the table has are equal to the last bit.
    labels = SCALES[draw(st.sampled_from([3, 4, 5])) if has_labels else 3]
    systems = [f"s{n}" for n in range(draw(st.integers(2, 4)))]
    share_of_first = draw(st.sampled_from([0.0, 0.9])) if n_raters > 1 else 0.0
    rows: dict[tuple[str, str, frozenset[str]], dict[str, str]] = {}
    for _ in range(draw(st.integers(20, 90))):
        item = f"q{rng.randrange(25):02}"
        rater = f"r{0 if rng.random() < share_of_first else rng.randrange(n_raters):02}"
        first, second = rng.sample(systems, 2)
        lean = rng.gauss(0.6 * (systems.index(first) - systems.index(second)), 1.5)
        label = labels[min(max(round(lean + (len(labels) - 1) / 2), 0), len(labels) - 1)]
        rows[item, rater, frozenset((first, second))] = {
            "item": item,
            "rater": rater,
            "system_a": first,
            "system_b": second,
            "label": label,
            "topic": "xy"[int(item[1:]) % 2],
        }
    return pl.DataFrame(list(rows.values())), {
        "door": door,
        # A column in which a rater has no outcome at all is not one of outcomes.
        "is_missing": door != "raters" and draw(st.booleans()),
        "scale": labels,
        "strict": has_labels and len(labels) > 3 and draw(st.booleans()),
        "mode": draw(st.sampled_from(["valid", "valid", "paper"])),
        "rater": column,
        # Rows that are sorted by rater have differences with other last digits.
        "slicing": draw(st.sampled_from(["by", *COMPARED[door != "raters"], "where", "unused"])),
        "confidence": draw(st.sampled_from([0.95, 0.9])),
        "penalty": draw(st.sampled_from([0.0, 1.0])),
        "seed": draw(st.integers(0, 99)),
    }


COMPARED: Mapping[bool, Sequence[str]] = {True: ("compare",), False: ()}
DOORS = ("labels", "counts", "ends", "orders", "swapped", "winner")
"""How a table can state outcomes, beside a column for each rater."""


def table_of(
    frame: pl.DataFrame, options: Mapping[str, Any]
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The comparisons as a table that states the outcomes in one way, and the options for it."""
    labels, door = list(options["scale"]), options["door"]
    place = {label: n for n, label in enumerate(labels)}
    cells = frame["label"].to_list()
    middle = (len(labels) - 1) / 2
    steps = [0 if c == "NA" else int(np.sign(middle - place[c])) for c in cells]
    is_rated = [cell != "NA" for cell in cells]
    rest = frame.drop("label")
    if options["rater"] == "-":
        rest = rest.drop("rater")

    def words(first: str, second: str, some: Sequence[int]) -> list[str]:
        named = zip(some, is_rated, strict=True)
        return [("tie", first, second)[step] if known else "NA" for step, known in named]

    if door == "labels":
        return frame.select(rest.columns, label="label"), {"scale": labels}
    if door == "raters":
        raters = sorted(frame["rater"].unique())
        index = ["item", "system_a", "system_b", "topic"]
        wide = frame.pivot("rater", index=index, values="label").select(*index, *raters)
        return wide, {"scale": labels, "rater": raters, "first": "system_a", "second": "system_b"}
    if door == "counts":
        kinds = {"win_a": 1, "win_b": -1, "tie": 0}
        counts = {
            name: [int(step == kind and known) for step, known in zip(steps, is_rated, strict=True)]
            for name, kind in kinds.items()
        }
        return rest.with_columns(**{k: pl.Series(v) for k, v in counts.items()}), {}
    if door == "ends":
        numbers = [
            str(3 - step * (1 + n % 2)) if known else "NA"
            for n, (step, known) in enumerate(zip(steps, is_rated, strict=True))
        ]
        table = rest.with_columns(preference=pl.Series(numbers))
        return table, {"ends": [1, 5], "outcome": "preference"}
    if door == "orders":
        # A tie is also an outcome that is another one in the other order.
        first = [step or (n % 3) - 1 for n, step in enumerate(steps)]
        second = [step or 1 - (n % 3) for n, step in enumerate(steps)]
        both = {
            name: pl.Series(words("system_a", "system_b", some))
            for name, some in (("ab", first), ("ba", second))
        }
        return rest.with_columns(**both), {}
    if door == "swapped":
        is_second = [n % 2 > 0 for n in range(len(steps))]
        shown = [-step if second else step for step, second in zip(steps, is_second, strict=True)]
        order = pl.Series(["BA" if second else "AB" for second in is_second])
        table = rest.with_columns(order=order, winner=pl.Series(words("left", "right", shown)))
        return table, {"swapped": "order=BA"}
    winners = [
        {1: row["system_a"], -1: row["system_b"], 0: "tie"}[step] if known else "NA"
        for row, step, known in zip(frame.to_dicts(), steps, is_rated, strict=True)
    ]
    return rest.with_columns(winner=pl.Series(winners)), {}


def study_rows(folder: Path, frame: pl.DataFrame, options: Mapping[str, Any]) -> list[Row]:
    """The rows of a study of the comparisons."""
    is_known, strict = options["rater"] != "-", "_strict" * options["strict"]
    (frame if is_known else frame.drop("rater")).write_csv(folder / "votes.csv")
    systems = sorted({*frame["system_a"], *frame["system_b"]})
    raters = frame["rater"].unique().sort() if is_known else []
    text = PROTOCOL.format(
        seed=options["seed"],
        draws=200,
        level=options["confidence"],
        systems=", ".join(f'{{ id = "{name}" }}' for name in systems),
        raters="\n".join(f'[[raters]]\nid = "{name}"\npanel = "raters"' for name in raters),
        labels=list(options["scale"]),
        rater=', rater = "rater"' if is_known else "",
        unknown="" if is_known else 'unknown_raters = "raters"',
    )
    groups = {
        "unused": "",
        "by": 'by = ["topic"]',
        "compare": 'by = ["topic"]\ncompare = "topic"',
        "where": 'where = { topic = ["x"] }',
    }
    names = [f"win_rate{strict}"]
    # As published, win differences have the fixed weights of one paper, and no table has.
    names += [f"win_difference{strict}"] if options["mode"] == "valid" else []
    # A study's models take any preference for a win.
    names += [] if strict else ["davidson", "bradley_terry"]
    for name in names:
        stated = groups[options["slicing"]]
        stated = stated if name.startswith("win_difference") else stated.split("\n")[0]
        if not name.startswith("win"):
            stated += f"\npenalty = {options['penalty']}"
        text += ANALYSIS.format(name=name, mode=options["mode"], groups=stated)
    (folder / "study.toml").write_text(text)
    opened = konsil.open(folder)
    opened.import_sources()
    return [row for row in opened.results().rows if not row.detail]


ABOUT = (", conditional on this rater", ", about these raters")
"""What a table, and a study of strengths, adds to the method of an interval about these raters."""


def plain(method: str) -> str:
    """A method without what is added to it."""
    for suffix in ABOUT:
        method = method.removesuffix(suffix)
    return method


def same(shown: Mapping[str, Any], rows: Sequence[Row], value: float, name: str) -> Row | None:
    """The row with a shown interval; None where it has no limits."""
    if shown["low"] is None:
        return None
    method = plain(str(shown["method"]))
    (row,) = [r for r in rows if plain(str(r.estimate.method)).split("; p: ")[0] == method]
    e = row.estimate
    assert list(map(repr, (e.value, e.low, e.high))) == list(
        map(repr, (value, shown["low"], shown["high"]))
    ), name
    return row


def of(rows: Sequence[Row], name: str, group: str, **keys: str) -> list[Row]:
    """The rows of a number, without those of ratios."""
    chosen = {**keys, **({"topic": group} if group else {})}
    return [
        row
        for row in rows
        if row.analysis.startswith(name)
        and not row.versus
        and {k: str(v) for k, v in row.group.items()} == chosen
    ]


def check_group(result: Any, rows: Sequence[Row], group: str, options: Mapping[str, Any]) -> int:
    """How many intervals of one group are equal to those of the study."""
    n = 0
    wins = [("win_difference", {"system": one["system"]}, one) for one in result.win_difference]
    wins = wins if options["mode"] == "valid" else []
    for one in result.win_rate:
        wins.append(("win_rate", {k: one[k] for k in ("system", "rival")}, one))
    for name, keys, one in wins:
        theirs = of(rows, name, group, **keys)
        if one["value"] is None:
            assert [str(row.estimate.reason) for row in theirs] == [str(one["reason"])]
            continue
        assert {row.n_units for row in theirs} == {one["n_items"]}
        is_valid = options["mode"] == "valid"
        for way in (one, one["item"], one["rater"]) if is_valid else (one, one["two_way"]):
            row = same(way, theirs, one["value"], name)
            n += row is not None
            if row is not None and name == "win_difference" and way is one and one["p"]:
                assert repr(row.estimate.p) == repr(one["p"])
        by_item = [row for row in theirs if "; p: " in str(row.estimate.method)]
        for row in by_item:
            assert row.estimate.p == one["p_flip"]
    for model in ("davidson", "bradley_terry") if not options["strict"] else ():
        worths = getattr(result, model)["worths"]
        for one in worths:
            theirs = of(rows, model, group, system=one["system"])
            if one["log_worth"] is None:
                assert {str(row.estimate.reason) for row in theirs} == {str(one["reason"])}
                continue
            assert {repr(row.estimate.value) for row in theirs} == {repr(one["log_worth"])}
            # As published, a study has the model's own interval in place of that by item.
            if options["mode"] == "valid" or "two-way" in str(one["method"]):
                n += same(one, theirs, one["log_worth"], model) is not None
    return n


@given(tables())
@settings(max_examples=30, deadline=None)
@pytest.mark.slow
def test_the_preferences_are_those_of_a_study(case: tuple[pl.DataFrame, dict[str, Any]]) -> None:
    """Every value, interval, p value and reason, of the whole and of groups, and differences.

    Kills: resamples of another key, another choice of intervals where one rater gave most of the
    comparisons or raters are unknown, another variance of differences.
    """
    frame, options = case
    # A single column of raters has their names; one rater's outcomes in it are refused.
    assume(options["door"] != "raters" or frame["rater"].n_unique() > 1)
    is_missing = (pl.int_range(pl.len()) % 9 == 7) & pl.lit(options["is_missing"])
    label = pl.when(is_missing).then(pl.lit("NA")).otherwise("label")
    frame = frame.with_columns(label.alias("label"))
    with tempfile.TemporaryDirectory() as folder:
        rows = study_rows(Path(folder), frame, options)
    slicing = options["slicing"]
    values = {"unused": ["topic"], "where": {"topic": "x"}}
    common = {k: options[k] for k in ("strict", "mode", "rater", "confidence", "seed", "penalty")}
    table, roles = table_of(frame, options)
    stated = {"item": "item", "resamples": 200, **common, **roles}
    stated |= {"missing": ["", "NA"], slicing: values.get(slicing, "topic")}
    result = konsil.preference(table, **stated)
    groups = dict(result.groups) or {"": result}
    assert sum(check_group(part, rows, name, options) for name, part in groups.items())
    if result.comparison is None or options["mode"] == "paper":
        return
    for one in result.comparison["differences"]:
        theirs = [row for row in rows if row.versus and row.group["system"] == one["system"]]
        if one["value"] is None:
            assert not theirs
            continue
        for way in (one, one["item"], one["rater"]):
            row = same(way, theirs, one["value"], "difference")
            assert row is None or repr(row.estimate.se) == repr(way["se"])
            if row is not None and way is one:
                assert repr(row.estimate.p) == repr(one["p"])


_COMPARED = (
    *("item", "rater", "first", "second", "outcome", "swapped", "scale", "ends", "won", "lost"),
    *("tied", "unused", "strict", "mode", "where", "by", "compare", "missing", "resamples"),
    *("confidence", "seed", "penalty"),
)
OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(_COMPARED, "compared"),
    "ties": "a study's Bradley-Terry model takes a tie for half a win of each",
}
"""Each option of a table: that its numbers are compared with a study's, or why they are not.

Repeated comparisons of one rater are pooled in a table, and refused in a study. A study has no mean
preference.
"""


def test_every_option_of_a_table_is_compared_or_has_a_reason() -> None:
    assert {field.name for field in fields(PreferenceRequest)} == {*OPTIONS}
