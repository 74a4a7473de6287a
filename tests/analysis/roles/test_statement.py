"""A reading in words, and as the options that state it."""

from __future__ import annotations

import polars as pl
import pytest
from tests.analysis.roles.generated_tables import make

from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.questions.arguments import arguments
from konsil.analysis.roles.reading import COMPUTABLE, StatedRoles
from konsil.analysis.roles.statement import first_row, sentence
from konsil.locale import translations

WIDE = pl.DataFrame(
    {
        "answer": ["q1", "q2", "q3", "q4"],
        "Topic": ["heart", "lung", "heart", "lung"],
        "Dr. A": ["correct", "incorrect", "correct", "correct"],
        "Dr. B": ["incorrect", "incorrect", "correct", "correct"],
        "Comment": ["", "no dose", "", ""],
    }
)
KEYS = {"rater": "raters", "unit": "units", "item": "units", "label": "labels", "labels": "scale"}
SINGLE = {"criterion", "system", "repeat", "weight", "cluster", "first", "second", "outcome"}


def stated_of(options: list[tuple[str, tuple[str, ...]]]) -> StatedRoles:
    """What options state."""
    fields: dict[str, object] = {}
    for name, values in options:
        if values == ("-",):
            fields["has_no_units" if name == "item" else "has_no_raters"] = True
        elif name in SINGLE | {"layout", "names", "split", "won", "lost", "tied"}:
            fields[name] = values[0]
        else:
            fields[KEYS.get(name, name)] = values
    return StatedRoles(**fields)  # type: ignore[arg-type]


def test_the_reading_in_one_line_and_its_first_row() -> None:
    proposal = propose(WIDE, StatedRoles())
    assert proposal.is_certain
    assert proposal.reading is not None
    assert sentence(proposal.reading, WIDE) == (
        "4 units in answer; raters Dr. A, Dr. B; not used: Topic, Comment"
    )
    assert first_row(proposal.reading, WIDE) == (
        "answer 'q1': Dr. A rated it 'correct', Dr. B 'incorrect'"
    )
    assert arguments(proposal.reading) == [("unit", ("answer",)), ("rater", ("Dr. A", "Dr. B"))]


def test_the_reading_in_german() -> None:
    reading = propose(WIDE, StatedRoles()).reading
    assert reading is not None
    line = sentence(reading, WIDE).translated(translations("de").gettext, format)
    assert line == (
        "4 Einheiten in answer; Bewertende Dr. A, Dr. B; nicht verwendet: Topic, Comment"
    )


def test_texts_are_cut_at_sixty_characters() -> None:
    name = "n" * 200
    frame = WIDE.rename({"Comment": name}).with_columns(pl.lit("c" * 200).alias("answer text"))
    reading = propose(frame, StatedRoles()).reading
    assert reading is not None
    assert max(map(len, sentence(reading, frame).split(", "))) <= 60


@pytest.mark.slow
def test_a_reading_stated_by_its_own_options_is_certain_and_the_same() -> None:
    n_stated = 0
    for seed in range(700, 800):
        frame, _, _ = make(seed)
        reading = propose(frame, StatedRoles()).reading
        assert reading is not None
        # Rows of raters whom no column names are never stated by a command.
        is_nameless = reading.shape == "raters-in-rows" and reading.rater is None
        if reading.shape not in COMPUTABLE or is_nameless:
            continue
        again = propose(frame, stated_of(arguments(reading)))
        assert again.is_certain, (seed, arguments(reading), again.unclear)
        assert again.reading is not None
        parts = ("shape", "units", "rater", "rated", "criterion", "sides", "outcome", "names")
        for part in parts:
            assert getattr(again.reading, part) == getattr(reading, part), (seed, part)
        n_stated += 1
    assert n_stated > 40


@pytest.mark.parametrize(
    ("stated", "shape"),
    [
        (StatedRoles(raters=("Dr. A", "Topic")), "wide"),
        (StatedRoles(units=("answer",), raters=("Topic",), labels=("Dr. A",)), "long"),
        (StatedRoles(layout="wide"), "wide"),
    ],
)
def test_what_is_stated_is_never_overruled(stated: StatedRoles, shape: str) -> None:
    proposal = propose(WIDE, stated)
    assert proposal.is_certain
    assert proposal.reading is not None
    assert proposal.reading.shape == shape
    if stated.raters[1:]:
        assert proposal.reading.raters == stated.raters
    assert stated.labels in ((), proposal.reading.labels)


def test_columns_that_choose_rows_are_no_raters() -> None:
    frame = WIDE.with_columns(pl.Series("half", ["correct", "incorrect", "correct", "correct"]))
    reading = propose(frame, StatedRoles(groups=("half",))).reading
    assert reading is not None
    assert reading.raters == ("Dr. A", "Dr. B")
    assert reading.roles["half"] == "group"
