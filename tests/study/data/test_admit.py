"""What may come in: labels, systems, items, raters and subjects are held against the protocol."""

from __future__ import annotations

import time

import pytest

from konsil.errors import PROBLEMS, SourceError
from konsil.instrument import Criterion, Instrument, Scale, digest
from konsil.records import Answer, Item, Rater, Rating, Span, System, Task
from konsil.study import Study
from konsil.study.data.admit import admit
from konsil.study.data.incoming import Admitted, Incoming, StoredRecords

CORRECT = Criterion("correct", "?", Scale(("no", "yes"), abstain="unsure"))
EASY = Criterion("easy", "?", Scale(("no", "yes")), scope="item")
BETTER = Criterion("better", "?", Scale(("A", "B")), scope="pair")
LINE = Criterion("line", "?", Scale(("no", "yes")), scope="sentence")
DAY = Criterion("day", "?", Scale(("bad", "good")), scope="rater")
FORM = Instrument("form", (CORRECT, EASY, BETTER, LINE, DAY))
STUDY = Study(
    "t",
    1,
    instruments=(FORM,),
    systems=(System("one"), System("two")),
    raters=(Rater("ann", "e"), Rater("ben", "e")),
)


def rating(
    criterion: str = "correct",
    label: str | None = "yes",
    rater: str = "ann",
    item: str | None = "q1",
    answers: tuple[str, ...] = ("q1:one",),
    span: Span | None = None,
) -> Rating:
    return Rating("t1", rater, criterion, item, answers, span, label=label)


def came(
    *ratings: Rating, study: Study = STUDY, stored: StoredRecords | None = None, **more: object
) -> Admitted:
    tasks = [Task("t1", "s", "ann", "", "q1")]
    lines = range(2, 2 + len(ratings))
    return admit(
        study, [Incoming("r.csv", tasks=tasks, ratings=ratings, lines=lines, **more)], stored
    )  # type: ignore[arg-type]


def refused(*ratings: Rating, **more: object) -> str:
    with pytest.raises(SourceError) as caught:
        came(*ratings, **more)  # type: ignore[arg-type]
    return str(caught.value)


def test_items_answers_and_raters_are_implied_by_their_ratings() -> None:
    found = came(rating(), rating(label="unsure", rater="ben"), rating("easy", answers=()))
    assert found.items == (Item("q1", ""),)
    assert found.answers == (Answer("q1:one", "q1", "one"),)
    assert [r.id for r in found.raters] == ["ann", "ben"]
    assert [(r.state, r.label) for r in found.ratings] == [
        ("rated", "yes"),
        ("abstained", None),
        ("rated", "yes"),
    ]
    assert found.tasks[0].instrument == "form"
    assert {r.instrument for r in found.ratings} == {digest(FORM)}


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (
            rating(label="yess"),
            "line 2: 'yess' is not a label of criterion 'correct'; did you mean 'yes'?",
        ),
        (rating("corect"), "line 2: there is no criterion 'corect'; did you mean 'correct'?"),
        (rating(rater="anna"), "line 2: there is no rater 'anna'; did you mean 'ann'?"),
        (rating(answers=("q1:onee",)), "line 2: there is no system 'onee'; did you mean 'one'?"),
        (
            rating(answers=()),
            (
                "line 2: criterion 'correct' is about answer: expected 1 answer, got 0 (name the"
                " system"
            ),
        ),
        (
            rating("easy"),
            (
                "line 2: criterion 'easy' is about item: expected 0 answers, got 1 (leave system"
                " and answer"
            ),
        ),
        (
            rating("better", "A"),
            "line 2: criterion 'better' is about pair: expected 2 answers, got 1",
        ),
        (
            rating("easy", answers=(), item=None),
            "line 2: criterion 'easy' is about item: the item is empty",
        ),
        (rating("line"), "line 2: criterion 'line' is about sentence: the span is empty"),
        (rating(answers=("a77",)), "line 2: answer 'a77': its system is not known"),
    ],
)
def test_each_fault_has_its_line_and_the_nearest_name(one: Rating, says: str) -> None:
    assert f"r.csv: 1 problem; nothing was imported: {says}" in refused(one)


def test_a_comparison_is_kept_in_the_order_of_its_answers_whichever_way_round_the_file_has_it() -> (
    None
):
    pair = ("q1:two", "q1:one")
    shown = (rating("better", "A", answers=pair), rating("better", "B", "ben", answers=pair[::-1]))
    assert [(r.answers, r.label) for r in came(*shown).ratings] == [(("q1:one", "q1:two"), "B")] * 2
    # A scale that does not tell how it reads from the other side keeps the order shown.
    plain = Criterion("better", "?", Scale(("former", "latter")), scope="pair")
    other = Study("t", 1, instruments=(Instrument("form", (plain,)),))
    assert [
        (r.answers, r.label)
        for r in came(rating("better", "former", answers=pair), study=other).ratings
    ] == [(pair, "former")]
    silent = Criterion("better", "?", Scale(("A", "B"), abstain="tie"), scope="pair")
    other = Study("t", 1, instruments=(Instrument("form", (silent,)),))
    (found,) = came(rating("better", "tie", answers=pair), study=other).ratings
    assert (found.answers, found.state, found.label) == (("q1:one", "q1:two"), "abstained", None)


def test_a_survey_of_a_rater_needs_no_item() -> None:
    assert came(rating("day", "good", item=None, answers=())).items == ()


def test_what_the_store_holds_is_known() -> None:
    stored = StoredRecords(frozenset({"q1"}), {"q1:one": "one"})
    assert came(rating(), stored=stored).items == ()
    assert "there is no item 'q2'; known: q1" in refused(
        rating(item="q2", answers=("q2:one",)), stored=stored
    )
    assert "there is no answer 'q1:two'; did you mean 'q1:one'?" in refused(
        rating(answers=("q1:two",)), stored=stored
    )


def test_what_was_implied_once_is_implied_again() -> None:
    stored = StoredRecords(frozenset({"q1"}), {"q1:one": "one"}, bare=True)
    admitted = came(rating(item="q2", answers=("q2:one",)), stored=stored)
    assert [i.id for i in admitted.items] == ["q2"]
    assert [a.id for a in admitted.answers] == ["q2:one"]


def test_answers_name_systems_and_items_that_exist() -> None:
    files = [
        Incoming(
            "a.csv",
            items=[Item("q1", "?")],
            answers=[Answer("a1", "q1", "oen"), Answer("a2", "q2", "one")],
        )
    ]
    with pytest.raises(SourceError) as caught:
        admit(STUDY, files)
    assert len(caught.value.problems) == 2
    assert "did you mean 'one'?" in caught.value.problems[0]
    assert caught.value.problems[1] == "answer 'a2': there is no item 'q2'; known: q1"


def test_two_sources_that_contradict_each_other_are_refused() -> None:
    """Kills: the first or the last of two texts of one answer is stored."""
    item = Item("q1", "?")
    first = Incoming("a.csv", items=[item], answers=[Answer("a1", "q1", "one", "Yes.")])
    assert admit(STUDY, [first, first]).answers == (Answer("a1", "q1", "one", "Yes."),)
    for other, difference in (
        (
            Incoming("b.csv", answers=[Answer("a1", "q1", "one", "No.")]),
            ("text", "'No.'", "'Yes.'"),
        ),
        (Incoming("b.csv", items=[Item("q1", "!")]), ("text", "'!'", "'?'")),
    ):
        with pytest.raises(SourceError) as caught:
            admit(STUDY, [first, other])
        (problem,) = caught.value.problems
        assert all(word in problem for word in difference)


def test_a_criterion_of_two_instruments_needs_the_instrument() -> None:
    two = Study("t", 1, instruments=(FORM, Instrument("form2", (CORRECT,))))
    assert "is in several instruments (form, form2); state the instrument" in refused(
        rating(), study=two
    )


def test_one_fault_of_a_row_is_told_once_and_rows_of_sheets_are_rows() -> None:
    tasks = [Task("t1", "s", "ann", "", "q1")]
    both = (rating("corect"), rating("corect", rater="ben"))
    with pytest.raises(SourceError) as caught:
        admit(STUDY, [Incoming("r.xlsx", tasks=tasks, ratings=both, lines=(5, 5), place="row")])
    assert caught.value.problems == (
        "row 5: there is no criterion 'corect'; did you mean 'correct'?",
    )


@pytest.mark.slow
def test_very_many_faults_are_counted_and_do_not_take_long() -> None:
    items = [Item(f"item-{n:06}", "?") for n in range(5_000)]
    wrong = [rating("easy", answers=(), item=f"itme-{n:06}") for n in range(20_000)]
    started = time.thread_time()
    with pytest.raises(SourceError) as caught:
        admit(
            STUDY,
            [Incoming("r.csv", items=items, tasks=[Task("t1", "s", "ann", "", "")], ratings=wrong)],
        )
    assert time.thread_time() - started < 20
    assert str(caught.value).startswith("r.csv: 20,000 problems; nothing was imported: ")
    assert str(caught.value).endswith(f"; and {20_000 - PROBLEMS:,} more")
    assert len(caught.value.problems) == 20_000
