"""Guesses about columns: right for odd names, the same in any order, never without a reason."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.analysis.roles.vocabulary import TEXT_WORDS, WORDS
from konsil.design.tables.columns import OWN_OF, Column
from konsil.design.tables.guessing import Hints, guesses
from konsil.design.tables.sources import Chosen, missing_roles, sources_of
from konsil.sources.tables.answers import FIELDS as ANSWER
from konsil.sources.tables.items import FIELDS as ITEM
from konsil.sources.tables.ratings import FIELDS as RATING

N = 12
SYSTEMS = ("Alpha", "Beta", "Gamma")


def text(word: str, k: int) -> str:
    return f"{word} number {k}: what is given to a patient with nausea after anaesthesia?"


def items(names=("Nr", "Question", "Gold", "Ward")) -> list[Column]:
    return [
        Column(names[0], [str(k) for k in range(N)]),
        Column(names[1], [text("question", k) for k in range(N)]),
        Column(names[2], [f"drug {k}" for k in range(N)]),
        Column(names[3], ["icu" if k % 3 else "ward" for k in range(N)]),
    ]


def answers(names=("Case", "Model", "Output")) -> list[Column]:
    rows = [(k, s) for k in range(N) for s in SYSTEMS]
    return [
        Column(names[0], [str(k) for k, _ in rows]),
        Column(names[1], [s for _, s in rows]),
        Column(names[2], [text(f"{s} answers", k) for k, s in rows]),
    ]


def ratings(names=("Initials", "Case", "Which", "Quality", "Harm")) -> list[Column]:
    rows = [(r, k, s) for r in ("ab", "cd", "ef") for k in range(N) for s in SYSTEMS]
    draw = random.Random(1)
    return [
        Column(names[0], [r for r, _, _ in rows]),
        Column(names[1], [str(k) for _, k, _ in rows]),
        Column(names[2], [s for _, _, s in rows]),
        Column(names[3], [str(draw.randint(1, 5)) for _ in rows]),
        Column(names[4], [draw.choice(["yes", "no"]) for _ in rows]),
    ]


def roles(columns, hints=None):
    return {g.column: g.role for g in guesses(columns, hints)}


def test_a_table_of_questions_is_read_by_its_names():
    assert roles(items()) == {
        "Nr": "item",
        "Question": "text",
        "Gold": "reference",
        "Ward": "stratum",
    }


def test_a_row_for_each_answer():
    assert list(roles(answers()).values()) == ["item", "system", "answer"]


def test_a_column_for_each_system():
    names = ("GPT-5", "ours", "Claude 4")
    made = [Column(name, [text(name, k) for k in range(N)]) for name in names]
    columns = [*items()[:2], *made]
    assert list(roles(columns).values()) == ["item", "text", *["answer_of"] * 3]


def test_ratings_with_a_column_for_each_question():
    found = roles(ratings(), Hints(frozenset(SYSTEMS)))
    assert list(found.values()) == ["rater", "item", "system", *["label_of_criterion"] * 2]


def test_ratings_with_a_row_for_each_rating():
    rows = [(r, k, c) for r in ("ab", "cd") for k in range(N) for c in ("correct", "safe")]
    columns = [
        Column("Reviewer", [r for r, _, _ in rows]),
        Column("Item", [str(k) for _, k, _ in rows]),
        Column("Dimension", [c for _, _, c in rows]),
        Column("Score", [str(k % 2) for _, k, _ in rows]),
    ]
    assert list(roles(columns).values()) == ["rater", "item", "criterion", "label"]


def test_ratings_with_a_column_for_each_rater():
    draw = random.Random(2)
    columns = [
        Column("Fall", [str(k) for k in range(40)]),
        *(
            Column(name, [str(draw.randint(1, 5)) for _ in range(40)])
            for name in ("Meier", "Schulz")
        ),
    ]
    assert list(roles(columns).values()) == ["item", "label_of_rater", "label_of_rater"]


def test_fields_of_konsil_keep_their_names():
    columns = [*items(), Column("aliases", ["a"] * N)]
    assert roles(columns)["aliases"] == "own"
    [source] = sources_of(Chosen("x.csv", roles(columns)))
    assert "aliases" not in source["columns"]


def test_a_column_with_a_fields_name_and_another_role_is_not_read():
    """'text' is the answer here; as an item's text it must not be read from the same column."""
    columns = answers(("Case", "Model", "text"))
    chosen = Chosen("x.csv", {**roles(columns), "Case": "item"})
    [source] = sources_of(chosen)
    assert source["columns"] == {"item": "Case", "system": "Model"}
    items_of_it = Chosen("x.csv", {"text": "unused", "Case": "item", "Q": "text"})
    [entry] = sources_of(items_of_it)
    assert entry["columns"] == {"item": "Case", "text": "Q", "case": []}
    reference = Chosen("x.csv", {"reference": "unused", "Case": "item", "Q": "text"})
    assert sources_of(reference)[0]["columns"]["reference"] == []


def test_only_fields_that_the_records_have_are_kept_from_being_read():
    """Kills: `case = []` for ratings, which have no field of this name and would be refused."""
    for records, own in OWN_OF.items():
        assert own <= {*{"items": ITEM, "answers": ANSWER, "ratings": RATING}[records]}
    chosen = Chosen("x.csv", {"Case": "item", "Who": "rater", "Score": "label_of_criterion"})
    [entry] = sources_of(replace(chosen, criteria={"Score": "score"}))
    assert entry["columns"] == {"item": "Case", "rater": "Who"}


@pytest.mark.parametrize(
    "names",
    [
        ("Case no.", "What the ward asked", "Model answer", "Ward"),
        ("Lfd. Nr.", "Frage der Station", "Musterlösung", "Fachgebiet"),
    ],
)
def test_a_plain_table_of_questions_has_nothing_to_check(names):
    """Kills: "Model answer" as a number of the question, for its word of units."""
    weights = Column("Gewicht (kg)", [f"{60 + k}.5" for k in range(N)])
    guessed = guesses([*items(names), weights])
    assert [g.role for g in guessed] == ["item", "text", "reference", "stratum", "unused"]
    assert "unsure" not in {g.confidence for g in guessed[:4]}


def test_raters_and_questions_in_headings_have_nothing_to_check():
    """Kills: a rival reading of six raters whose labels have nothing in common."""
    who, n = ("Dr. Adler", "Dr. Brandt", "Dr. Cohen"), range(40)
    rated = [
        Column(f"{name}: {ask}", [labels[(k * (r + 2) + k // 3) % len(labels)] for k in n])
        for r, name in enumerate(who)
        for ask, labels in (("correct", ("no", "yes")), ("safe", ("1", "2", "3", "4", "5")))
    ]
    keys = [
        Column("Case", [f"F{k // 2}" for k in n]),
        Column("Model", ["Alpha" if k % 2 else "Beta" for k in n]),
    ]
    guessed = guesses([*keys, *rated])
    assert [g.role for g in guessed] == ["item", "system", *["label_of_both"] * 6]
    assert "unsure" not in {g.confidence for g in guessed}
    alone = guesses([*keys, *(replace(c, name=c.name.partition(":")[0]) for c in rated[::2])])
    assert [g.role for g in alone] == ["item", "system", *["label_of_rater"] * 3]
    assert "unsure" not in {g.confidence for g in alone}


def test_without_a_number_the_text_is_the_identifier():
    columns = [items()[1], Column("GPT-5", [text("g", k) for k in range(N)])]
    entries = sources_of(Chosen("x.csv", roles(columns)))
    assert [e["records"] for e in entries] == ["items", "answers"]
    assert all(e["hashed"] == ["item"] for e in entries)
    assert entries[1]["fixed"] == {"system": "GPT-5"}


opaque = st.lists(
    st.text("bcdfghjkpvwxyz", min_size=3, max_size=8).filter(
        lambda name: not any(name in words for words in (*WORDS.values(), *TEXT_WORDS.values()))
    ),
    min_size=4,
    max_size=4,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(names=opaque, order=st.permutations(range(4)))
def test_texts_are_found_under_any_name_and_in_any_order(names, order):
    columns = items(tuple(names))
    found = roles([columns[n] for n in order])
    assert found[names[0]] == "item"
    assert found[names[1]] == "text"
    assert found[names[3]] == "stratum"


@settings(max_examples=60, deadline=None)
@given(names=opaque, order=st.permutations(range(3)))
def test_answers_are_found_under_any_name_and_in_any_order(names, order):
    columns = answers(tuple(names[:3]))
    found = roles([columns[n] for n in order])
    assert [found[name] for name in names[:3]] == ["item", "system", "answer"]
    assert missing_roles(Chosen("x.csv", found)) == ()


@settings(max_examples=60, deadline=None)
@given(
    names=opaque,
    order=st.permutations(range(4)),
)
def test_what_no_name_says_is_not_called_clear(names, order):
    """A content alone may be guessed, and then asks to be checked or is likely; the number of a
    row of numbers is no exception."""
    for guess in guesses([items(tuple(names))[n] for n in order]):
        assert guess.confidence != "sure" or guess.role == "unused", guess


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(max_size=12),
            st.lists(st.none() | st.text(max_size=40), min_size=5, max_size=5),
        ),
        max_size=6,
        unique_by=lambda column: column[0],
    ),
    st.randoms(use_true_random=False),
)
def test_any_table_has_a_guess_for_each_column_whatever_their_order(table, draw):
    columns = [Column(name, values) for name, values in table]
    found = {g.column: g for g in guesses(columns)}
    assert set(found) == {name for name, _ in table}
    assert all(g.reason for g in found.values())
    shuffled = list(columns)
    draw.shuffle(shuffled)
    assert {g.column: g for g in guesses(shuffled)} == found


@pytest.mark.parametrize("role", ["item", "text", "answer"])
def test_missing_roles_are_named(role):
    table = {"item": "item", "text": "text", "answer": "answer", "system": "system"}
    without = {name: r for name, r in table.items() if r != role}
    expected = {"item": (), "text": (), "answer": ()}
    assert missing_roles(Chosen("x.csv", without)) == expected[role]
    assert missing_roles(Chosen("x.csv", {"a": "answer"})) == ("item", "system")
    assert missing_roles(Chosen("x.csv", {"a": "label"})) == ("item", "rater", "criterion")
    assert missing_roles(Chosen("x.csv", {"a": "item", "b": "label_of_rater"})) == ()
    assert missing_roles(Chosen("x.csv", {"b": "label_of_item"})) == ("rater",)
    assert missing_roles(Chosen("x.csv", {"a": "unused"})) == ("text",)


def _german_sheet() -> list[Column]:
    drugs = ("Ramipril", "Metformin", "Apixaban", "Ibuprofen")
    wards, rows = ("Innere", "Chirurgie", "Neurologie"), range(1, 25)
    cells = {
        "Lfd. Nr.": [str(n) for n in rows],
        "Frage der Station": [text(drugs[n % 4], n) for n in rows],
        "Musterlösung (OA)": [f"{drugs[n % 4]} halbieren" for n in rows],
        "Fachgebiet": [wards[n % 3] for n in rows],
        "KI 1 (GPT)": [text("gpt", n) for n in rows],
        "KI 2 (Haus)": [text("haus", n) for n in rows],
        "Bemerkung": ["fraglich" if n % 4 else None for n in rows],
    }
    return [Column(name, values) for name, values in cells.items()]


def test_two_columns_whose_pairs_are_unique_are_no_answers_where_a_column_numbers_the_rows():
    """A reference answer and a ward name each row together, as a question and a system do."""
    expected = ["item", "text", "reference", "stratum", "answer_of", "answer_of", "unused"]
    assert list(roles(_german_sheet()).values()) == expected


def test_short_reference_answers_beside_a_row_for_each_answer():
    columns = answers(("CaseID", "Modell", "Output"))
    columns.append(Column("Gold", [f"Labor {value}" for value in columns[0].values]))
    assert list(roles(columns).values()) == ["item", "system", "answer", "reference"]


def test_raters_and_questions_in_the_headings():
    draw = random.Random(3)
    heads = [f"Dr. {n} {what}" for what in ("correct?", "safe (1-5)") for n in ("Rossi", "Okafor")]
    values = {name: ["yes", "no"] if "?" in name else list("12345") for name in heads}
    columns = [Column("Q no.", [str(k) for k in range(40)])]
    columns += [Column(h, [draw.choice(values[h]) for _ in range(40)]) for h in heads]
    assert list(roles(columns).values()) == ["item", *["label_of_both"] * 4]


def test_columns_of_a_table_that_can_be_read_in_two_ways_are_to_be_checked():
    """A rubric: criteria with points, and whether each rater sees them met."""
    rows = [(p, c, r) for p in range(15) for c in range(5) for r in ("physician", "grader")]
    draw = random.Random(4)
    columns = [
        Column("prompt_id", [f"p{p}" for p, _, _ in rows]),
        Column("criterion_id", [f"p{p}c{c}" for p, c, _ in rows]),
        Column("points", [str(1 + (3 * p + c) % 7) for p, c, _ in rows]),
        Column("rater", [r for _, _, r in rows]),
        Column("criteria_met", [draw.choice(["true", "false"]) for _ in rows]),
    ]
    by_column = {guess.column: guess for guess in guesses(columns)}
    assert by_column["criteria_met"].role == "label_of_criterion"
    assert by_column["points"].role not in {"label", "label_of_criterion"}


def ratings_of_a_clinic() -> list[Column]:
    """Long ratings whose systems' column is named for a source, and a label for a certainty."""
    return ratings(("Prüfer", "Fall-Nr", "Quelle", "Qualität (1-5)", "Sicher?"))


def test_two_columns_of_the_same_role_that_a_table_has_once_are_to_be_checked():
    confidence = {g.column: (g.role, g.confidence) for g in guesses(ratings_of_a_clinic())}
    assert confidence["Fall-Nr"] == confidence["Quelle"] == ("item", "unsure")
    assert confidence["Prüfer"] == ("rater", "sure")


def test_a_label_named_for_a_certainty_may_be_a_question_of_its_own():
    guess = guesses(ratings_of_a_clinic())[-1]
    assert (guess.role, guess.confidence) == ("label_of_criterion", "unsure")
