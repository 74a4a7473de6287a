"""Random tables in a study that declares their form: imported rightly, or refused with right keys."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.analysis.roles.generated_tables import (
    KINDS,
    SHAPES,
    Truth,
    long,
    long_by_criterion,
    long_criteria,
    make,
    rater_by_criterion,
    raters_in_rows,
    wide,
    wide_with_repeated_units,
)
from tests.analysis.roles.test_generated import partition

from konsil.api import open_folder
from konsil.errors import SourceError, UnclearTableError

Ratings = list[tuple[str, str, str, str, str]]
"""Item, system, rater, criterion and label of each rating."""
IMPORTABLE = frozenset(
    {"wide", "long", "long-criteria", "rater-by-criterion", "raters-in-rows", "repeats"}
)
"""Shapes with an item, a rater and a criterion for each rating."""
IMPORTED = (wide, long, long_criteria, long_by_criterion, rater_by_criterion, raters_in_rows)
BETWEEN = (" - ", ": ", "_")
ONLY = "quality"
"""The criterion of tables that do not name it."""


def ratings_of(frame: pl.DataFrame, truth: Truth, unit: str) -> Ratings:
    """The right ratings of a table, by what its makers know; items are called as in `unit`."""
    ratings: Ratings = []
    system = truth.units[1] if len(truth.units) > 1 else ""
    for row in frame.iter_rows(named=True):
        for name in truth.rated:
            item, of_system = row.get(unit, ""), row.get(system, "")
            rater, criterion = row.get(truth.rater or "", name), ONLY
            if truth.criterion is not None:
                criterion = row[truth.criterion]
            elif truth.shape == "long-criteria":
                criterion = name
            elif truth.shape == "rater-by-criterion":
                parts = next(name.split(sign) for sign in BETWEEN if sign in name)
                rater, criterion = parts if truth.is_rater_first else parts[::-1]
            elif truth.shape == "raters-in-rows":
                item = name
            if row[name]:
                ratings.append((item, of_system, rater, criterion, plain(row[name])))
    return ratings


def plain(label: str | None) -> str:
    """A number in one way."""
    is_number = re.fullmatch(r"\d+(\.\d+)?", label or "")
    return f"{float(label):g}" if label and is_number else str(label)


def units_of(frame: pl.DataFrame, truth: Truth) -> list[str]:
    """The columns that name the units, or as the units are, or each row where nothing does."""
    right = partition(frame, truth.units[:1]) if truth.units else [*range(frame.height)]
    return ["", *(name for name in frame.columns if partition(frame, (name,)) == right)]


def protocol(ratings: Ratings, truth: Truth, draw: random.Random) -> tuple[str, Mapping[str, str]]:
    """A study that declares the form, and criterion in the table -> identifier in the study.

    Criteria are called as in the table, or have the table's name as their title, and there may be a
    further one. Raters are listed, or anybody may rate.
    """
    systems, raters, names = ({rating[n] for rating in ratings} for n in (1, 2, 3))
    is_titled, has_other = draw.random() < 0.3, draw.random() < 0.3
    ids = {name: f"c{n}" if is_titled else name for n, name in enumerate(sorted(names))}
    scope = "answer" if systems - {""} else "item"
    scope = "pair" if truth.shape == "pairs" else scope
    lines = ['schema = 1\ntitle = "Generated"\nseed = 1\n']
    if systems - {""}:
        listed = ", ".join(f"{{ id = {json.dumps(system)} }}" for system in sorted(systems))
        lines.append(f"systems = [{listed}]")
    if draw.random() < 0.6:
        listed = ", ".join(f'{{ id = {json.dumps(r)}, panel = "p" }}' for r in sorted(raters))
        lines.append(f"raters = [{listed}]")
    lines.append('[[instruments]]\nid = "form"')
    for name in sorted(names):
        labels = {rating[4] for rating in ratings if rating[3] == name}
        scale = '{ labels = ["A", "tie", "B"] }' if scope == "pair" else scale_of(labels)
        lines += criterion(ids[name], name if is_titled else "", scope, scale)
    if has_other:
        lines += criterion("remark", "", scope, '{ labels = ["short", "long"] }')
    return "\n".join(lines), ids


def criterion(identifier: str, title: str, scope: str, scale: str) -> list[str]:
    return [
        "[[instruments.criteria]]",
        f'id = {json.dumps(identifier)}\nquestion = "?"\nscope = "{scope}"\nscale = {scale}',
        f"title = {json.dumps(title)}" if title else "",
    ]


def scale_of(labels: set[str]) -> str:
    if any(re.fullmatch(r"\d+\.\d", label) for label in labels):
        return '{ kind = "number", low = 0, high = 100 }'
    return f"{{ labels = {json.dumps(sorted({*labels, 'other'}))} }}"


def stored(folder: Path) -> Ratings:
    with open_folder(folder).store() as store:
        systems = {answer.id: answer.system for answer in store.answers()}
        return [
            (
                str(r.item),
                "".join(map(systems.get, r.answers)),
                r.rater,
                r.criterion,
                plain(r.label),
            )
            for r in store.ratings()
        ]


def followed(folder: Path, text: str, source: str) -> tuple[str, str]:
    """Import and follow what is printed: the outcome, and the last refusal."""
    for step in range(4):
        (folder / "study.toml").write_text(f"{text}\n{source}\n", "utf-8")
        try:
            open_folder(folder).import_sources()
        except UnclearTableError as error:
            if not error.call or error.call == source or '"..."' in error.call:
                return "refused", str(error)
            source = error.call
        except SourceError as error:
            return "refused", str(error)
        else:
            return ("at once" if not step else "after keys"), source
    return "refused again and again", source


def with_codes(frame: pl.DataFrame, truth: Truth, draw: random.Random) -> tuple[pl.DataFrame, ...]:
    """The table with other spellings, or a code in place of some numbers, and what it truly says."""
    labels = {label for name in truth.rated for label in frame[name]} - {""}
    if draw.random() < 0.6 or truth.shape not in IMPORTABLE:
        return frame, frame
    if all(label.isdigit() for label in labels):
        coded = draw.sample(range(frame.height), 2)
        places = pl.int_range(frame.height).is_in(coded)
        rated = pl.col(sorted(truth.rated))
        written, meant = (pl.when(~places).then(rated).otherwise(pl.lit(w)) for w in ("99", ""))
        return frame.with_columns(written), frame.with_columns(meant)
    if any(label.upper() != label and label.upper() in labels for label in labels):
        return frame, frame
    places = pl.int_range(frame.height) % 5 == 0
    rated = pl.col(sorted(truth.rated))
    return frame.with_columns(
        pl.when(places).then(rated.str.to_uppercase()).otherwise(rated)
    ), frame


def outcome(folder: Path, seed: int, number: int) -> tuple[str, str]:
    """How a generated table with some of its rows is imported, and the last keys or refusal."""
    frame, truth, _ = make(seed * len(SHAPES) + number)
    draw = random.Random(seed)
    n_rows = frame.height if frame.height < 8 else max(8, frame.height * 4 // 5)
    rows = sorted(draw.sample(range(frame.height), n_rows))
    frame = frame.fill_null("")[rows].select(draw.sample(frame.columns, frame.width))
    written, frame = with_codes(frame, truth, draw)
    folder.mkdir()
    written.write_csv(folder / "r.csv")
    text, ids = protocol(ratings_of(frame, truth, (*truth.units, "")[0]), truth, draw)
    fate, words = followed(folder, text, '[[sources]]\nfile = "r.csv"\nrecords = "ratings"')
    if fate.startswith("refused"):
        return fate, words
    imported = Counter(stored(folder))
    for unit in units_of(frame, truth) if truth.shape in IMPORTABLE else ():
        right = ((*r[:3], ids[r[3]], r[4]) for r in ratings_of(frame, truth, unit))
        if Counter(right) == imported:
            return fate, words
    return f"wrong {fate}", f"{truth.shape}: {words}"


@pytest.mark.slow
@settings(
    deadline=None,
    max_examples=120,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.integers(0, 10_000), st.integers(0, len(SHAPES) - 1))
def test_no_other_ratings_than_the_right_ones_are_stored(
    tmp_path: Path, seed: int, number: int
) -> None:
    """Kills: a role by the order of columns, keys that read another column, a code as a label."""
    kind = make(seed * len(SHAPES) + number)[2]
    fate, words = outcome(Path(tempfile.mkdtemp(dir=tmp_path)) / "s", seed, number)
    assert fate != "wrong at once", words
    # With names that are no words of the field, and items in several rows, keys are a question.
    if kind in KINDS[:2] and SHAPES[number] is not wide_with_repeated_units:
        assert fate in {"at once", "after keys", "refused"}, words


@pytest.mark.slow
def test_most_tables_with_usual_names_are_imported(tmp_path: Path) -> None:
    """Kills: a refusal of everything."""
    shapes = [number for number, shape in enumerate(SHAPES) if shape in IMPORTED]
    fates = Counter(
        outcome(tmp_path / f"{seed}-{number}", seed, number)[0]
        for seed in (0, 1, 4, 5)
        for number in shapes
    )
    assert fates["at once"] > 8 and fates["at once"] + fates["after keys"] > 14, fates
