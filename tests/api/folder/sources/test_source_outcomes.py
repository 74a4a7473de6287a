"""Comparisons in every shape that `preference` reads: imported with its numbers, or refused."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.api import open_folder
from konsil.errors import SourceError, UnclearTableError
from konsil.locale import translations
from konsil.records import Source

PROTOCOL = """
schema = 1
title = "Comparisons"
seed = 1
systems = [{ id = "amber" }, { id = "birch" }, { id = "cedar" }]
raters = [{ id = "dr_a", panel = "p" }, { id = "dr_b", panel = "p" }]
inference = { raters = "like these" }

[[instruments]]
id = "form"
unit = "pair"
codebook = "codebook.en.md"
criteria = [
    { id = "better", question = "?", scope = "pair", scale = { labels = LABELS, level = "ordinal" } },
]

[[instruments]]
id = "answers"
codebook = "codebook.en.md"
criteria = [{ id = "correct", question = "Correct?", scale = { labels = ["no", "yes"] } }]

[[analyses]]
name = "wins"
statistic = "win_difference"
criterion = "better"
raters = "p"
"""
THREE, FIVE = '["A", "equal", "B"]', '["A much", "A", "equal", "B", "B much"]'
SYSTEMS = ("amber", "birch", "cedar")
RATERS = ("dr_a", "dr_b")
Cells = Sequence[Sequence[str]]
OUTCOMES = {
    (f"q{n}", rater): random.Random(f"{n} {rater}").choice(["left", "left", "right", "tie"])
    for n in range(24)
    for rater in RATERS
}


def sides(item: str) -> tuple[str, str]:
    """The two systems of a comparison, in both orders over the items."""
    n = int(item[1:])
    return SYSTEMS[n % 3], SYSTEMS[(n + 1 + n % 2) % 3]


def named(item: str, outcome: str) -> str:
    """The outcome with the system's name in place of its side."""
    first, second = sides(item)
    return {"left": first, "right": second}.get(outcome, outcome)


def other(item: str, outcome: str) -> str:
    """The system that lost."""
    return named(item, {"left": "right", "right": "left"}.get(outcome, outcome))


def long(outcome: str, *, by_name: bool = False, losers: bool = False) -> Cells:
    """A row for each comparison by each rater."""
    say = other if losers else named
    rows = [
        (item, rater, *sides(item), say(item, o) if by_name else o)
        for (item, rater), o in OUTCOMES.items()
    ]
    return [("item", "rater", "system_a", "system_b", outcome), *rows]


def wide(words: Mapping[str, str] | None = None, *, by_name: bool = False) -> Cells:
    """A row for each comparison, with a column of each rater's outcomes."""

    def cell(item: str, rater: str) -> str:
        outcome = OUTCOMES[item, rater]
        return named(item, outcome) if by_name else (words or {}).get(outcome, outcome)

    items = dict.fromkeys(item for item, _ in OUTCOMES)
    rows = [(item, *sides(item), *(cell(item, rater) for rater in RATERS)) for item in items]
    return [("item", "system_a", "system_b", *RATERS), *rows]


def renamed(rows: Cells, **words: str) -> Cells:
    return [[words.get(cell, cell) for cell in row] for row in rows]


def won_and_lost() -> Cells:
    rows = [
        (item, rater, named(item, o), other(item, o))
        for (item, rater), o in OUTCOMES.items()
        if o != "tie"
    ]
    return [("item", "rater", "chosen", "rejected"), *rows]


TABLES: Mapping[str, Cells] = {
    "sides, a column for each rater": wide(),
    "labels of the scale, a column for each rater": wide(
        {"left": "A", "right": "B", "tie": "equal"}
    ),
    "names of systems, a column for each rater": wide(by_name=True),
    "sides": long("winner"),
    "names of systems": long("winner", by_name=True),
    "names of columns": renamed(long("winner"), left="system_a", right="system_b"),
    "systems that lost": long("loser", by_name=True, losers=True),
    "names in other letters": [
        (*row[:-1], row[-1].upper() if n else row[-1])
        for n, row in enumerate(long("winner", by_name=True))
    ],
    "systems that won and that lost": won_and_lost(),
    "codes without a 0": renamed(long("winner"), left="1", right="2"),
    "German": renamed(long("Sieger"), left="links", right="rechts", tie="unentschieden"),
}


def study(folder: Path, rows: Cells, sources: str = "", labels: str = THREE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(PROTOCOL.replace("LABELS", labels) + sources, "utf-8")
    (folder / "codebook.en.md").write_text("A codebook.\n", "utf-8")
    with (folder / "votes.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder


Numbers = dict[str, tuple[float, float, float, int]]


def of_table(rows: Cells, **options: object) -> Numbers:
    """Win differences with their limits, as `preference` computes them from the table itself."""
    frame = pl.DataFrame([*rows[1:]], schema=[*rows[0]], orient="row")
    differences = konsil.preference(frame, **options).win_difference
    return {d["system"]: (d["value"], d["low"], d["high"], d["n_comparisons"]) for d in differences}


def of_study(folder: Path) -> Numbers:
    """The same of the study's ratings."""
    estimates = [
        (row.group["system"], row.estimate)
        for row in open_folder(folder).results().rows
        if row.estimate.method.startswith("two-way")
    ]
    return {name: (e.value, e.low, e.high, e.n_ratings) for name, e in estimates}


@pytest.mark.slow
@pytest.mark.parametrize("shape", TABLES)
def test_a_study_has_the_numbers_of_the_table(shape: str, tmp_path: Path) -> None:
    folder = study(tmp_path / "s", TABLES[shape])
    added = open_folder(folder).import_sources((Source("votes.csv", "ratings"),))
    assert added.new["raters"] == 2 and "read as" in added.notes[0]
    numbers = of_study(folder)
    assert numbers == of_table(TABLES[shape]) and len(numbers) == 3


STATED = """
[[sources]]
file = "votes.csv"
records = "ratings"
fixed = { criterion = "better" }
raters = { dr_a = "dr_a", dr_b = "dr_b" }
"""


def test_raters_with_a_column_each_are_stated_in_the_protocol(tmp_path: Path) -> None:
    folder = study(tmp_path / "s", wide(by_name=True), STATED)
    added = open_folder(folder).import_sources()
    assert added.new["ratings"] == len(OUTCOMES)
    assert added.notes == (
        "votes.csv: outcomes as labels of criterion 'better': 'tie' = 'equal'",
        "votes.csv: systems named in outcomes as labels of criterion 'better': the first one as"
        " 'A', the second one as 'B'",
    )
    assert {*open_folder(folder).ratings()["label"]} == {"A", "B", "equal"}


def refusal(folder: Path, source: Source) -> str:
    with pytest.raises(SourceError) as info:
        open_folder(folder).import_sources((source,))
    return str(info.value)


@pytest.mark.slow
def test_comparisons_of_several_criteria(tmp_path: Path) -> None:
    """A column for each criterion, or a column that names it; the same ratings as in two tables."""
    safer = [(*row[:-1], row[-1]) for row in renamed(long("winner"), left="right", right="tie")]
    both = [(*row, other[-1]) for row, other in zip(long("better")[1:], safer[1:], strict=True)]
    in_columns = [("item", "rater", "model_a", "model_b", "better", "safer"), *both]
    in_rows = [("item", "rater", "criterion", "model_a", "model_b", "winner")]
    for *row, first, second in both:
        in_rows += [(*row[:2], "better", *row[2:], first), (*row[:2], "safer", *row[2:], second)]
    ratings = []
    for name, rows in {"columns": in_columns, "rows": in_rows}.items():
        folder = study(tmp_path / name, rows)
        text = (
            (folder / "study.toml").read_text("utf-8").partition('[[instruments]]\nid = "answers')
        )
        second_of_pairs = text[0].replace(
            "\n]\n",
            '\n    { id = "safer", question = "?", scope ='
            f' "pair", scale = {{ labels = {THREE}, level = "ordinal" }} }},\n]\n',
        )
        analyses = text[2][text[2].index("[[analyses]]") :]
        (folder / "study.toml").write_text(second_of_pairs + analyses, "utf-8")
        added = open_folder(folder).import_sources((Source("votes.csv", "ratings"),))
        assert added.new["ratings"] == 2 * len(OUTCOMES)
        assert of_study(folder) == of_table(long("winner"))
        ratings.append(open_folder(folder).ratings().sort("item", "rater", "criterion"))
    assert ratings[0]["label"].equals(ratings[1]["label"])


PLAIN = Source("votes.csv", "ratings")


def test_what_the_source_translates_is_not_read_otherwise(tmp_path: Path) -> None:
    """Kills: a known word before the statement."""
    folder = study(tmp_path / "s", wide())
    stated = Source("votes.csv", "ratings", labels={"left": "B"}, missing=("", "tie"))
    added = open_folder(folder).import_sources((stated,))
    assert added.new["ratings"] == sum(outcome != "tie" for outcome in OUTCOMES.values())
    assert added.notes[1:] == (
        "votes.csv: outcomes as labels of criterion 'better': 'right' = 'B'",
    )
    plain = study(tmp_path / "plain", wide({"left": "B", "right": "B", "tie": ""}))
    open_folder(plain).import_sources((PLAIN,))
    assert open_folder(folder).ratings().equals(open_folder(plain).ratings())


def test_a_winner_that_was_not_compared_has_its_line(tmp_path: Path) -> None:
    rows = [list(row) for row in long("winner", by_name=True)]
    rows[4][4] = next(name for name in SYSTEMS if name not in rows[4][2:4])
    stated = Source(
        "votes.csv", "ratings", columns={"label": ("winner",)}, fixed={"criterion": "better"}
    )
    assert refusal(study(tmp_path / "s", rows), stated) == (
        f"votes.csv: line 5: the winner {rows[4][4]!r} is neither of the two systems compared"
    )


def test_a_label_that_is_the_other_system_is_asked_about(tmp_path: Path) -> None:
    """Kills: systems called A and B whose rows have them in both orders, read as sides."""
    rows = [("item", "rater", "system_a", "system_b", "winner")]
    rows += [(f"q{n}", r, *("AB" if n % 2 else "BA"), "A") for n in range(8) for r in RATERS]
    folder = study(tmp_path / "s", rows)
    text = (folder / "study.toml").read_text("utf-8")
    named_so = text.replace('{ id = "amber" }, { id = "birch" }', '{ id = "A" }, { id = "B" }')
    (folder / "study.toml").write_text(named_so, "utf-8")
    assert refusal(folder, PLAIN) == (
        "votes.csv: line 2: 'A' is a label of criterion 'better', and the name of the system on the"
        ' other side; if it is the label, set labels_of.better = { "A" = "A" }'
    )
    stated = Source("votes.csv", "ratings", labels_of={"better": {"A": "A"}})
    assert open_folder(folder).import_sources((stated,)).new["ratings"] == 16


def test_numbers_with_a_0_are_asked_about_with_keys(tmp_path: Path) -> None:
    rows = renamed(long("winner"), left="1", right="2", tie="0")
    folder = study(tmp_path / "s", rows)
    with pytest.raises(UnclearTableError) as info:
        open_folder(folder).import_sources((PLAIN,))
    assert (
        "Outcomes are numbers with a 0 ('0', '1', '2'), which may mean a side or a tie: state the"
        " label of each with labels_of.better." in str(info.value)
    )
    assert 'labels_of = { better = { 1 = "A", 0 = "equal", 2 = "B" } }' in str(info.value)


def test_a_side_alone_is_none_of_several_labels(tmp_path: Path) -> None:
    """Kills: left as a slight preference, of a scale with two labels for each side."""
    folder = study(tmp_path / "s", wide(), labels=FIVE)
    with pytest.raises(UnclearTableError) as info:
        open_folder(folder).import_sources((PLAIN,))
    assert "name a side alone" in str(info.value)
    assert 'left = "..."' in str(info.value) and "tie" not in str(info.value).partition("keys")[2]


def counts() -> Cells:
    rows = [
        (item, *sides(item), *(list(of).count(o) for o in ("left", "right", "tie")))
        for item in dict.fromkeys(item for item, _ in OUTCOMES)
        for of in [[OUTCOMES[item, rater] for rater in RATERS]]
    ]
    head = ("item", "system_a", "system_b", "wins_a", "wins_b", "ties")
    return [head, *([str(cell) for cell in row] for row in rows)]


def orders() -> Cells:
    head, *rows = long("winner", by_name=True)
    return [(*head, "winner_swapped"), *((*row, row[-1]) for row in rows)]


def in_orders() -> Cells:
    """Outcomes by side, with a column of the order in which the systems were shown."""
    head, *rows = long("winner")
    return [(*head, "order"), *((*row, ("ab", "ba")[n % 3 == 0]) for n, row in enumerate(rows))]


@pytest.mark.slow
def test_sides_of_two_orders_are_those_of_the_columns_if_the_order_is_left_out(
    tmp_path: Path,
) -> None:
    folder = study(tmp_path / "s", in_orders())
    source = Source("votes.csv", "ratings", unused=("order",))
    assert open_folder(folder).import_sources((source,)).new["ratings"] == len(OUTCOMES)
    assert of_study(folder) == of_table(in_orders(), swapped="-")


@pytest.mark.parametrize(
    ("rows", "english", "german"),
    [
        (in_orders(), "name 'order' in 'unused'", "'order' in 'unused' nennen"),
        (counts(), "which counts do not say", "was Anzahlen nicht angeben"),
        (orders(), "one outcome for each comparison", "ein Ergebnis für jeden Vergleich"),
    ],
    ids=["sides of orders", "counts", "orders"],
)
def test_comparisons_that_are_no_ratings_are_refused_with_their_command(
    rows: Cells, english: str, german: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as info:
        open_folder(study(tmp_path / "s", rows)).import_sources((PLAIN,))
    assert english in str(info.value) and "'konsil preference votes.csv'" in str(info.value)
    [text] = info.value.args[:1]
    assert german in text.translated(translations("de").gettext, format)


OF_WINNER = Source(
    "votes.csv", "ratings", columns={"label": ("winner",)}, fixed={"criterion": "better"}
)


def with_order(rows: Cells, name: str = "order", values: Sequence[str] = ("AB", "BA")) -> Cells:
    head, *rest = rows
    return [(*head, name), *((*row, values[n % 2]) for n, row in enumerate(rest))]


@pytest.mark.parametrize(
    ("rows", "source"),
    [
        (in_orders(), OF_WINNER),
        (with_order(long("winner"), "left_system", SYSTEMS), OF_WINNER),
        (
            with_order([(*row[:2], row[4]) for row in long("winner")]),
            replace(
                OF_WINNER,
                fixed={"criterion": "better", "system_a": "amber", "system_b": "birch"},
            ),
        ),
        (
            with_order(wide()),
            Source(
                "votes.csv",
                "ratings",
                fixed={"criterion": "better"},
                raters={name: name for name in RATERS},
            ),
        ),
        (
            with_order(renamed(long("chosen"), left="A", right="B", tie="equal")),
            Source("votes.csv", "ratings", criteria={"chosen": "better"}),
        ),
    ],
    ids=["labels", "system at the left", "fixed systems", "raters", "criteria"],
)
def test_stated_columns_leave_no_order_unread(rows: Cells, source: Source, tmp_path: Path) -> None:
    """Kills: sides as they stand in both orders, as every column but that of the order is stated."""
    folder, order = study(tmp_path / "s", rows), rows[0][-1]
    assert f"name {order!r} in 'unused'" in refusal(folder, source)
    unread = replace(source, unused=(order,))
    assert open_folder(folder).import_sources((unread,)).new["ratings"] == len(OUTCOMES)


def test_names_of_systems_have_no_order(tmp_path: Path) -> None:
    rows = with_order(long("winner", by_name=True))
    added = open_folder(study(tmp_path / "s", rows)).import_sources((OF_WINNER,))
    assert added.new["ratings"] == len(OUTCOMES)


@pytest.mark.parametrize("heading", ["loser", "winner", "verdict"])
def test_a_stated_criterion_is_that_of_the_only_column(heading: str, tmp_path: Path) -> None:
    """Kills: the criterion stated by the key, and again by the column's heading."""
    is_of_losers = heading == "loser"
    rows = long(heading, by_name=is_of_losers, losers=is_of_losers)
    expected = study(tmp_path / "labels", long("winner"))
    open_folder(expected).import_sources((OF_WINNER,))
    folder = study(tmp_path / "s", rows)
    open_folder(folder).import_sources((replace(PLAIN, fixed={"criterion": "better"}),))
    columns = ("item", "rater", "criterion", "label")
    read = open_folder(folder).ratings().select(columns).sort(columns)
    assert read.equals(open_folder(expected).ratings().select(columns).sort(columns))
    assert read["label"].n_unique() == len(("A", "equal", "B"))
