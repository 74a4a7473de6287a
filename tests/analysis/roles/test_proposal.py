"""What a table is read as, and when konsil asks."""

from __future__ import annotations

import random
import time

import polars as pl
import pytest

from konsil.analysis.roles.names import named_parts, product
from konsil.analysis.roles.proof import MOST_ROWS, sample
from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import StatedRoles


def table(text: str) -> pl.DataFrame:
    """A table of texts, its cells divided by commas."""
    header, *rows = [line.split(",") for line in text.strip().split("\n")]
    return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")


LONG = "\n".join(
    ["physician_id,question,decision,confidence,type"]
    + [
        f"{p},{q},{('send', 'stay')[(p * q) % 3 == 0]},{(p * 7 + q * 5) % 10},{'ab'[q % 2]}"
        for q in range(1, 9)
        for p in (7, 8, 9)
    ]
)


def test_a_long_table_with_names_of_its_own() -> None:
    proposal = propose(table(LONG), StatedRoles())
    assert proposal.is_certain
    assert proposal.reading is not None
    reading = proposal.reading
    assert (reading.units, reading.rater, reading.labels) == (
        ("question",),
        "physician_id",
        ("decision",),
    )
    assert reading.roles["confidence"] == "confidence"
    assert reading.roles["type"] == "group"


def test_numbered_scores_beside_groups_may_be_criteria() -> None:
    rows = [
        f"{'ab'[n % 2]},{('yes', 'no')[n % 3 == 0]},{('yes', 'no')[n % 4 == 0]}" for n in range(20)
    ]
    proposal = propose(table("Domain,Score 1,Score 2\n" + "\n".join(rows)), StatedRoles())
    assert not proposal.is_certain
    assert proposal.reading is not None
    shapes = {proposal.reading.shape, proposal.rivals[0].shape}
    assert shapes == {"wide", "criteria"}
    assert proposal.reading.rated == proposal.rivals[0].rated == ("Score 1", "Score 2")
    assert proposal.unclear


def test_unknown_columns_of_ratings_are_asked_for() -> None:
    rows = "\n".join(f"{n},{n % 2},{n % 3 % 2}" for n in range(12))
    assert not propose(table("case,kolu,befa\n" + rows), StatedRoles()).is_certain


def test_counts_are_no_raters() -> None:
    text = "case,mild,severe\n1,4,2\n2,3,3\n3,6,0\n4,1,5\n5,2,4\n6,5,1"
    proposal = propose(table(text), StatedRoles())
    assert proposal.reading is not None
    assert proposal.reading.shape == "counts"


def test_columns_of_the_same_sum_in_each_row_are_never_raters_without_a_question() -> None:
    # Numbers of five raters for labels that are called like raters.
    text = "item,a,b,c\n1,4,1,0\n2,2,2,1\n3,0,5,0\n4,1,1,3\n5,3,0,2\n6,0,2,3\n7,5,0,0\n8,1,4,0"
    proposal = propose(table(text), StatedRoles())
    assert not proposal.is_certain
    shapes = {reading.shape for reading in (proposal.reading, *proposal.rivals) if reading}
    assert {"wide", "counts"} <= shapes


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("rater 1,ill,well\nill,9,2\nwell,1,8", "cross-table"),
        ("doc,annotator,start,end,label\nd,a,1,4,x\nd,b,1,5,x\ne,a,2,4,y", "spans"),
        ('item,reply\n1,{"score": 4}\n2,{"score": 2}\n3,{"score": 1}', "objects"),
        ("id,label\n1,pos\n2,neg\n3,pos\n4,neg", "one-rating"),
    ],
)
def test_shapes_of_cells(text: str, shape: str) -> None:
    reading = propose(table(text), StatedRoles()).reading
    assert reading is not None
    assert reading.shape == shape


def test_a_weight_is_never_left_out_silently() -> None:
    text = "item,rater,label,weight\n" + "\n".join(
        f"q{n},{r},{('yes', 'no')[n % 3 == 0]},{1 + n % 4}" for n in range(8) for r in ("a1", "b2")
    )
    unsettled = propose(table(text), StatedRoles())
    assert not unsettled.is_certain
    assert unsettled.reading is not None
    assert unsettled.reading.roles["weight"] in {"weight", "group"}


def test_a_comma_that_no_cell_settles() -> None:
    rows = [(f"c{n}", f"{n},234", f"{n},567") for n in range(1, 8)]
    frame = pl.DataFrame(rows, schema=["case", "Anna", "Ben"], orient="row")
    proposal = propose(frame, StatedRoles())
    assert not proposal.is_certain
    settled = frame.with_columns(pl.col("Ben").str.head(3))
    assert propose(settled, StatedRoles()).is_certain


def test_comparisons_without_raters_are_asked_for() -> None:
    rows = "\n".join(f"q{n},x,y,{'xy'[n % 2]}" for n in range(9))
    frame = table("item,model_a,model_b,winner\n" + rows)
    assert not propose(frame, StatedRoles(), "comparisons").is_certain
    assert propose(frame, StatedRoles(has_no_raters=True), "comparisons").is_certain


def test_outcomes_of_raters_have_common_words() -> None:
    # Beside sides of a rater, x and y name two others; 'left' may be an eye as well.
    rows = [f"{n},{('left', 'right')[n % 3 == 0]},gpt,claude,{'xy'[n % 2]}" for n in range(8)]
    text = "item,dr_a,system_a,system_b,who\n" + "\n".join(rows)
    proposal = propose(table(text), StatedRoles(), "comparisons")
    assert not proposal.is_certain
    assert proposal.reading is not None
    assert not proposal.reading.rated
    # The same words are those of two raters.
    both = propose(table(text.replace(",x", ",left").replace(",y", ",right")), StatedRoles())
    assert both.reading is not None
    assert both.reading.rated == ("dr_a", "who")


def test_stated_raters_without_outcomes_are_named() -> None:
    rows = [f"{n},{('left', 'right')[n % 3 == 0]},gpt,claude,{n % 4}" for n in range(8)]
    text = "item,dr_a,system_a,system_b,notes\n" + "\n".join(rows)
    proposal = propose(table(text), StatedRoles(raters=("dr_a", "notes")), "comparisons")
    assert proposal.reading is None
    assert "not all of dr_a and notes do" in str(proposal.unclear[0])


@pytest.mark.parametrize("beside", ["", "item"])
def test_a_pattern_of_names_takes_no_texts(beside: str) -> None:
    text = "item,obs_1,obs_2,obs_text\n" + "\n".join(
        f"{n},{n % 2},{n % 3 % 2},the patient was in ward {n} and left it on the next day"
        for n in range(8)
    )
    stated = StatedRoles(units=(beside,) if beside else (), names="obs_{rater}")
    reading = propose(table(text), stated).reading
    assert reading is not None
    assert (reading.shape, reading.rated) == ("rater-by-criterion", ("obs_1", "obs_2"))
    assert reading.roles["obs_text"] != "rater"


def test_a_column_that_divides_comparisons_is_asked_for() -> None:
    rows = "\n".join(
        f"q{n},r1,x,y,{'xy'[n % 2]},{axis}" for n in range(9) for axis in ("harm", "tone")
    )
    frame = table("item,rater,model_a,model_b,winner,axis\n" + rows)
    proposal = propose(frame, StatedRoles(), "comparisons")
    assert not proposal.is_certain
    assert any("axis" in text for text in proposal.unclear)
    assert propose(frame, StatedRoles(groups=("axis",)), "comparisons").is_certain


def large(n: int) -> pl.DataFrame:
    draw = random.Random(1)
    return pl.DataFrame(
        {
            "item": [f"q{row // 5}" for row in range(n)],
            "annotator": [f"ann{row % 5}" for row in range(n)],
            "label": [draw.choice(("yes", "no")) for _ in range(n)],
            "site": [f"s{row // 5 % 9}" for row in range(n)],
        }
    )


@pytest.mark.parametrize("order", ["item", "annotator", "label"])
def test_a_large_table_is_read_alike_in_any_order(order: str) -> None:
    frame = large(20_000).sort(order, maintain_order=True)
    assert sample(frame).height <= MOST_ROWS
    proposal = propose(frame, StatedRoles())
    assert proposal.is_certain
    assert proposal.reading is not None
    assert (proposal.reading.units, proposal.reading.rater) == (("item",), "annotator")


def test_a_reading_is_proved_on_all_rows() -> None:
    """One repeated rating among many, which no sample contains."""
    frame = large(20_000)
    repeated = pl.concat([frame, frame[13_337:13_338]])
    proposal = propose(repeated, StatedRoles())
    assert not proposal.is_certain
    assert any("annotator" in text for text in proposal.unclear)


def test_a_column_that_is_filled_late_is_read() -> None:
    late = ["" if row < 19_000 else "yes" for row in range(20_000)]
    frame = large(20_000).with_columns(pl.Series("gold", late))
    reading = propose(frame, StatedRoles()).reading
    assert reading is not None
    assert reading.roles["gold"] == "gold"


def test_the_same_table_has_the_same_reading() -> None:
    frame = large(6_000)
    assert propose(frame, StatedRoles()) == propose(frame, StatedRoles())


@pytest.mark.slow
def test_a_million_rows_are_read_within_half_a_second() -> None:
    frame = large(1_000_000).with_columns(comment=pl.lit("x"), date=pl.lit("2024-01-01"))
    start = time.process_time()
    assert propose(frame, StatedRoles()).is_certain
    assert time.process_time() - start < 0.5


def crossed(*names: str) -> pl.DataFrame:
    """Ratings in columns of these names, and the item."""
    rng = random.Random(2)
    labels = [[f"case {n}", *(rng.choice("1234") for _ in names)] for n in range(20)]
    return pl.DataFrame(labels, schema=dict.fromkeys(["item", *names], pl.String), orient="row")


@pytest.mark.parametrize(
    ("pattern", "raters"),
    [
        ("R{rater}Q{criterion}", ("1", "2", "10")),
        ("Q{criterion}R{rater}", ("1", "2", "10")),
        ("rater{rater}{criterion}", ("1", "2")),
        ("{criterion} ({rater})", ("Dr. A", "Dr. B")),
        ("{criterion} [{rater}]", ("Dr. A", "Dr. B")),
        ("{criterion}({rater})", ("expert 1", "expert 2")),
    ],
)
def test_names_that_cross_raters_and_criteria_give_the_pattern(
    pattern: str, raters: tuple[str, ...]
) -> None:
    """The pattern divides the names as they were made, in any order of the columns."""
    criteria = ("1", "2") if "Q{" in pattern else ("accuracy", "tone")
    names = [pattern.format(rater=r, criterion=c) for r in raters for c in criteria]
    for order in (names, names[::-1], sorted(names)):
        proposal = propose(crossed(*order), StatedRoles())
        assert proposal.is_certain, proposal.unclear
        assert proposal.reading is not None
        assert (proposal.reading.shape, proposal.reading.names) == ("rater-by-criterion", pattern)
    parts = named_parts(pattern, names)
    assert [*dict.fromkeys(parts["rater"].values())] == [*raters]
    assert [*dict.fromkeys(parts["criterion"].values())] == [*criteria]


@pytest.mark.parametrize(
    "names",
    [
        ("T1Q1", "T1Q2", "T2Q1", "T2Q2"),
        ("T1_Q1", "T1_Q2", "T2_Q1", "T2_Q2"),
        ("tone [before]", "tone [after]", "accuracy [before]", "accuracy [after]"),
        ("accuracy (GPT-4)", "accuracy (Claude)", "tone (GPT-4)", "tone (Claude)"),
    ],
)
def test_parts_that_no_rater_is_named_by_are_asked_and_read_where_they_are_stated(
    names: tuple[str, ...],
) -> None:
    """Occasions and systems stand beside criteria as raters do."""
    proposal = propose(crossed(*names), StatedRoles())
    assert not proposal.is_certain
    assert proposal.reading is not None
    pattern = proposal.reading.names
    assert "{rater}" in pattern
    assert propose(crossed(*names), StatedRoles(names=pattern)).is_certain


def test_names_with_letters_and_numbers_that_are_not_crossed_have_no_pattern() -> None:
    for names in (("R1Q1", "R1Q2", "R2Q1"), ("R1Q1", "R2Q1"), ("A1B1", "C1B1", "A1B2", "C1B2")):
        assert product(names) is None


def test_a_model_beside_people_is_asked_about_and_not_stated_as_a_rater() -> None:
    """Kills: a model that is a third rater without a question, or one that is left out silently."""
    rows = "\n".join(f"i{n},{n % 2},{n % 3 % 2},{n % 5 % 2}" for n in range(24))
    for head in ("item,A,B,Model", "item,Anna,Ben,gpt-4"):
        proposal = propose(table(f"{head}\n{rows}"), StatedRoles())
        people = tuple(head.split(",")[1:3])
        assert not proposal.is_certain
        assert proposal.reading is not None and proposal.reading.rated == people
        assert proposal.rivals[0].rated == (*people, head.split(",")[3])
