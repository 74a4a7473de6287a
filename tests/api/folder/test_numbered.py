"""Ratings of sentences that a file names by their numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.running.checking import findings
from konsil.api.running.planning import make_plan
from konsil.errors import SourceError
from konsil.records import Rating, Span, Task

FORM = """title = "Sentences"
seed = 1

[[instruments]]
id = "fine"
unit = "sentence"

[[instruments.criteria]]
id = "correct"
question = "Is the sentence correct?"
scope = "sentence"
scale = { labels = ["no", "yes"] }

[[instruments.criteria]]
id = "clear"
question = "Is the answer clear?"
scope = "answer"
scale = { labels = ["no", "yes"] }

[[sources]]
file = "ratings.csv"
records = "ratings"
"""
ANSWERS = """
[[sources]]
file = "answers.csv"
records = "answers"
"""
TEXTS = """item,system,text
1,g,"Take 2.5 mg p.o. with food. Dr. Lee agrees.

# Heading

- Rest
- Drink 2 l. Call us!"
2,g,Wait.
3,g,
"""
# Counted by hand: five sentences, since the heading is none and "2.5", "p.o." and "Dr." end none.
SPANS = ((0, 27), (28, 43), (58, 62), (65, 75), (76, 84))
BY_NUMBER = """rater,item,system,criterion,label,sentence
r,1,g,correct,yes,1
r,1,g,correct,no,2
r,1,g,correct,yes,3
r,1,g,correct,no,5.0
r,1,g,clear,no,
r,2,g,correct,yes,1
s,1,g,correct,no,4
"""


def by_offsets() -> str:
    """The same ratings with the offsets of the sentences."""
    head, *rows = BY_NUMBER.splitlines()
    lines = [head.replace("sentence", "span_start,span_end")]
    for row in rows:
        cells, _, number = row.rpartition(",")
        if not number:
            start = end = ""
        elif ",2,g," in row:
            start, end = "0", "5"
        else:
            start, end = map(str, SPANS[int(float(number)) - 1])
        lines.append(f"{cells},{start},{end}")
    return "\n".join(lines) + "\n"


def study(place: Path, ratings: str, *, form: str = FORM + ANSWERS, texts: str = TEXTS) -> Folder:
    place.mkdir(exist_ok=True)
    (place / "study.toml").write_text(form, encoding="utf-8")
    (place / "ratings.csv").write_text(ratings, encoding="utf-8")
    (place / "answers.csv").write_text(texts, encoding="utf-8")
    return open_folder(place)


def stored(folder: Folder) -> tuple[tuple[Rating, ...], tuple[Task, ...]]:
    with folder.store() as store:
        return store.ratings(), store.tasks()


def fault(folder: Folder) -> str:
    """Why the import is refused; nothing is stored, and a check gives the same reason."""
    with pytest.raises(SourceError) as caught:
        folder.import_sources()
    if folder.has_store():
        with folder.store() as store:
            assert not any(store.counts().values())
    assert any(str(caught.value) in problem.sentence for problem in findings(folder).problems)
    return str(caught.value)


def test_numbers_are_stored_as_offsets(tmp_path: Path):
    numbers, offsets = study(tmp_path / "n", BY_NUMBER), study(tmp_path / "o", by_offsets())
    assert findings(numbers).problems == ()
    added = numbers.import_sources()
    offsets.import_sources()
    ratings, tasks = stored(numbers)
    assert (ratings, tasks) == stored(offsets)
    assert {r.span for r in ratings if r.item == "1"} == {None, *(Span(*s) for s in SPANS)}
    assert {t.spans for t in tasks if t.rater == "s"} == {(Span(*SPANS[3]),)}
    assert added.new["ratings"] == 7
    assert not any(numbers.import_sources().new.values())


def test_numbers_refer_to_answers_that_are_stored_already(tmp_path: Path):
    folder = study(tmp_path / "n", BY_NUMBER)
    folder.import_sources([s for s in folder.study.sources if s.records == "answers"])
    assert findings(folder).problems == ()
    folder.import_sources([s for s in folder.study.sources if s.records == "ratings"])
    offsets = study(tmp_path / "o", by_offsets())
    offsets.import_sources()
    assert stored(folder) == stored(offsets)


@pytest.mark.parametrize(
    ("mapping", "head"),
    [
        ('columns = { sentence = "Satz" }\n', "rater,item,system,criterion,label,Satz"),
        ("", "rater,item,system,criterion,label,Sentence"),
    ],
)
def test_the_column_of_the_numbers_can_have_another_name(tmp_path: Path, mapping: str, head: str):
    rows = BY_NUMBER.partition("\n")[2]
    folder = study(tmp_path / "n", f"{head}\n{rows}", form=FORM + mapping + ANSWERS)
    folder.import_sources()
    offsets = study(tmp_path / "o", by_offsets())
    offsets.import_sources()
    assert stored(folder) == stored(offsets)
    called = head.rpartition(",")[2]
    folder = study(tmp_path / "f", f"{head}\nr,2,g,correct,no,2\n", form=FORM + mapping + ANSWERS)
    assert f"line 2: {called}: there is no sentence 2" in fault(folder)


def test_wide_tables_have_numbers(tmp_path: Path):
    mapping = 'criteria = { correct = "correct" }\nfixed = { sentence = "1" }\n'
    folder = study(
        tmp_path, "rater,item,system,correct\nr,1,g,yes\n", form=FORM + mapping + ANSWERS
    )
    folder.import_sources()
    [rating] = stored(folder)[0]
    assert rating.span == Span(*SPANS[0])


HEAD = "rater,item,system,criterion,label,sentence\n"


@pytest.mark.parametrize(
    ("ratings", "sentence"),
    [
        (
            HEAD + "r,1,g,correct,yes,1\nr,1,g,correct,yes,6\n",
            "line 3: sentence: there is no sentence 6 in answer '1:g': the answer has 5 sentences",
        ),
        (
            HEAD + "r,2,g,correct,yes,2\n",
            "line 2: sentence: there is no sentence 2 in answer '2:g': the answer has 1 sentence",
        ),
        (
            HEAD + "r,1,h,correct,yes,1\n",
            "line 2: sentence: there is no answer '1:h'; did you mean '1:g'?",
        ),
        (
            HEAD + "r,3,g,correct,yes,1\n",
            "line 2: sentence: answer '3:g' has no text: import the answers with their texts first",
        ),
        (
            HEAD + "r,1,,correct,yes,1\n",
            "line 2: sentence: sentence 1 needs one answer, got 0",
        ),
        *(
            (
                HEAD + f"r,1,g,correct,yes,{cell}\n",
                f"line 2: sentence: '{cell}' is not a whole number from 1; if the column means"
                " something else, set columns.sentence = []",
            )
            for cell in ("0", "-1", "1.5", "first", "1e3")
        ),
        (
            HEAD.replace("sentence", "sentence,span_start,span_end")
            + "r,1,g,correct,yes,,28,43\nr,1,g,correct,yes,1,0,27\n",
            "line 3: sentence: the number 1 of a sentence is given in a file with offsets"
            " (span_start and span_end); expected either of them in all rows; if the column means"
            " something else, set columns.sentence = []",
        ),
    ],
)
def test_numbers_without_a_sentence_are_refused(tmp_path: Path, ratings: str, sentence: str):
    text = fault(study(tmp_path, ratings))
    assert text.startswith("ratings.csv: ")
    assert text.endswith(sentence)
    assert "nothing was imported" in text


def test_rows_that_rate_a_sentence_differently_are_refused(tmp_path: Path):
    rows = "r,1,g,correct,yes,2\nr,1,g,correct,no,2.0\n"
    assert "rates '1:g' on 'correct' as 'no' here and as 'yes' on line 2" in fault(
        study(tmp_path, HEAD + rows)
    )


def test_empty_columns_of_offsets_do_not_prevent_numbers(tmp_path: Path):
    head = HEAD.replace("sentence", "sentence,span_start,span_end")
    folder = study(tmp_path, head + "r,1,g,correct,yes,2,,\n")
    folder.import_sources()
    assert stored(folder)[0][0].span == Span(*SPANS[1])


def test_the_text_of_a_sentence_next_to_its_offsets_is_not_read(tmp_path: Path):
    head = HEAD.replace("sentence", "sentence,span_start,span_end")
    rows = "r,1,g,correct,yes,Dr. Lee agrees.,28,43\nr,1,g,correct,yes,1e0,0,27\n"
    folder = study(tmp_path / "s", head + rows)
    folder.import_sources()
    assert {r.span for r in stored(folder)[0]} == {Span(*SPANS[1]), Span(*SPANS[0])}
    mapping = 'columns = { sentence = "sentence" }\n'
    mapped = study(tmp_path / "m", head + rows, form=FORM + mapping + ANSWERS)
    assert fault(mapped).startswith(
        "ratings.csv: 2 of 2 rows cannot be read; nothing was imported: line 2: sentence: 'Dr. Lee"
        " agrees.' is not a whole number from 1; line 3: "
    )


def test_a_sentence_without_a_number_and_offsets_is_refused(tmp_path: Path):
    assert "the span is empty (the number in 'sentence', or span_start and span_end)" in fault(
        study(tmp_path, HEAD + "r,1,g,correct,yes,\n")
    )


def test_a_study_without_ratings_of_sentences_reads_no_numbers(tmp_path: Path):
    answers_only = (
        FORM.replace('unit = "sentence"\n', "").replace('scope = "sentence"', 'scope = "answer"')
        + ANSWERS
    )
    folder = study(tmp_path / "a", HEAD + "r,1,g,correct,yes,Rest\n", form=answers_only)
    folder.import_sources()
    assert stored(folder)[0][0].span is None
    mapped = answers_only.replace(ANSWERS, 'columns = { sentence = "sentence" }\n' + ANSWERS)
    folder = study(tmp_path / "m", HEAD + "r,1,g,correct,yes,1\n", form=mapped)
    with pytest.raises(SourceError, match=r"no instrument rates sentences; expected one with unit"):
        folder.import_sources()


def test_a_check_without_the_answers_does_not_try_numbers(tmp_path: Path):
    folder = study(tmp_path, BY_NUMBER)
    (tmp_path / "answers.csv").unlink()
    checked = findings(folder)
    assert (checked.problems, checked.absent) == ((), ("answers.csv",))


@pytest.mark.parametrize("present", ["answer", "sentence"])
def test_numbered_sentences_are_at_the_tasks_of_the_plan(tmp_path: Path, present: str):
    form = FORM.replace('unit = "sentence"\n', f'unit = "sentence"\npresent = "{present}"\n')
    people = '\n[[raters]]\nid = "r"\npanel = "p"\n[[plan]]\npanel = "p"\ninstrument = "fine"\n'
    texts = TEXTS.partition("3,g,")[0]
    rows = "".join(f"r,1,g,correct,yes,{n}\n" for n in (5, 2))
    folder = study(tmp_path, HEAD + rows, form=form + ANSWERS + people, texts=texts)
    folder.import_sources([s for s in folder.study.sources if s.records == "answers"])
    make_plan(folder)
    before = stored(folder)[1]
    folder.import_sources([s for s in folder.study.sources if s.records == "ratings"])
    ratings, tasks = stored(folder)
    assert tasks == before
    spans = {t.id: t.spans for t in tasks}
    assert sorted(r.span.start for r in ratings if r.span) == [28, 76]
    assert all(r.span in spans[r.task] for r in ratings)
    assert all(len(spans[r.task]) == (1 if present == "sentence" else 5) for r in ratings)


def test_answers_that_were_stored_without_sentences_have_no_numbers(tmp_path: Path):
    form = FORM + ANSWERS
    whole = form.replace('unit = "sentence"\n', "").replace('"sentence"', '"answer"')
    folder = study(tmp_path, BY_NUMBER, form=whole)
    folder.import_sources([s for s in folder.study.sources if s.records == "answers"])
    folder = study(tmp_path, HEAD + "r,1,g,correct,yes,1\n", form=form)
    with pytest.raises(SourceError, match="answer '1:g' has not been split into sentences: import"):
        folder.import_sources()


@pytest.mark.parametrize("kind", ["numbers", "offsets"])
def test_labels_of_the_answer_that_each_sentence_repeats_are_stored_once(
    tmp_path: Path, kind: str
) -> None:
    """Kills: an answer that counts as often as it has sentences."""
    rows = BY_NUMBER.replace("r,1,g,clear,no,\n", "r,1,g,clear,no,1\nr,1,g,clear,no,2\n")
    if kind == "offsets":
        rows = by_offsets().replace(
            "r,1,g,clear,no,,\n", "r,1,g,clear,no,0,27\nr,1,g,clear,no,28,43\n"
        )
    folder = study(tmp_path / kind, rows)
    folder.import_sources()
    with folder.store() as store:
        clear = [r for r in store.ratings() if r.criterion == "clear"]
        assert [(r.rater, r.label, r.span) for r in clear] == [("r", "no", None)]
        assert len(store.ratings()) == len(BY_NUMBER.splitlines()) - 1


def test_labels_of_one_answer_that_differ_by_sentence_are_refused(tmp_path: Path) -> None:
    rows = BY_NUMBER.replace("r,1,g,clear,no,\n", "r,1,g,clear,no,1\nr,1,g,clear,yes,2\n")
    folder = study(tmp_path / "s", rows)
    with pytest.raises(SourceError) as refused:
        folder.import_sources()
    assert (
        "line 7: criterion 'clear' is about answer: expected the same value in the rows of all"
        in (str(refused.value))
    )
    assert "got 'no' before and 'yes' here" in str(refused.value)
