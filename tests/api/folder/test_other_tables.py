"""Tables of studies that were run elsewhere: answers with systems, several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.errors import SourceError

FORM = """title = "Another study"
seed = 1

[[instruments]]
id = "form"

[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = { labels = ["no", "yes"] }

[[instruments.criteria]]
id = "confidence"
question = "How sure are you?"
scope = "task"
scale = { labels = ["low", "high"], level = "ordinal" }
"""


def study(place: Path, source: str, **files: str) -> Folder:
    """A study with one source; the names of files have `_` for `/` and end in .csv."""
    (place / "study.toml").write_text(FORM + "\n[[sources]]\n" + source, encoding="utf-8")
    for name, text in files.items():
        path = place / f"{name.replace('__', '/')}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return open_folder(place)


def ratings(folder: Folder) -> set[tuple[str, ...]]:
    """Rater, item, answers, criterion and label of what is stored."""
    folder.import_sources()
    with folder.store() as store:
        return {
            (r.rater, r.item or "", *r.answers, r.criterion, r.label or "") for r in store.ratings()
        }


def fault(folder: Folder) -> str:
    with pytest.raises(SourceError) as caught:
        folder.import_sources()
    with folder.store(create=True) as store:
        assert not store.ratings()
    return str(caught.value)


PLAIN = 'file = "r.csv"\nrecords = "ratings"\n'


def test_a_table_can_have_both_the_answer_and_its_system(tmp_path: Path):
    folder = study(
        tmp_path,
        PLAIN,
        r="rater,item,system,answer,criterion,label\n"
        "r1,q1,gpt4,gpt4_1,correct,yes\nr1,q1,llama,llama_1,correct,no\n",
    )
    assert ratings(folder) == {
        ("r1", "q1", "gpt4_1", "correct", "yes"),
        ("r1", "q1", "llama_1", "correct", "no"),
    }
    with folder.store() as store:
        assert {a.id: a.system for a in store.answers()} == {"gpt4_1": "gpt4", "llama_1": "llama"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            "r2,q1,llama,a1,correct,no",
            "'a1' belongs to system 'llama' here and to 'gpt4' on line 2",
        ),
        ("r2,q2,gpt4,a1,correct,no", "'a1' belongs to item 'q2' here and to 'q1' on line 2"),
    ],
)
def test_an_answer_has_one_item_and_one_system(tmp_path: Path, row: str, expected: str):
    text = f"rater,item,system,answer,criterion,label\nr1,q1,gpt4,a1,correct,yes\n{row}\n"
    sentence = fault(study(tmp_path, PLAIN, r=text))
    assert expected in sentence
    assert "line 3" in sentence
    assert "columns.answer = []" in sentence


def test_the_system_of_an_imported_answer_cannot_be_another(tmp_path: Path):
    answers = '[[sources]]\nfile = "a.csv"\nrecords = "answers"\n\n[[sources]]\n'
    folder = study(
        tmp_path,
        PLAIN,
        r="rater,item,system,answer,criterion,label\nr1,q1,llama,a1,correct,yes\n",
        a="item,system,answer,text\nq1,gpt4,a1,Yes.\n",
    )
    protocol = tmp_path / "study.toml"
    protocol.write_text(protocol.read_text().replace("[[sources]]\n", answers, 1))
    sentence = fault(open_folder(tmp_path))
    assert "answer 'a1' belongs to system 'llama' here and to 'gpt4' in the study" in sentence
    assert folder.path == tmp_path


TASKS = "rater,item,criterion,label,task\nr1,q1,confidence,low,t1\nr1,q1,confidence,high,t2\n"


def test_a_question_on_the_task_is_rated_once_for_each_task(tmp_path: Path):
    folder = study(tmp_path, PLAIN, r=TASKS)
    folder.import_sources()
    with folder.store() as store:
        assert [(r.task, r.label) for r in store.ratings()] == [("t1", "low"), ("t2", "high")]


def test_a_question_on_the_task_can_name_the_answer_that_was_shown(tmp_path: Path):
    folder = study(
        tmp_path,
        PLAIN,
        r="rater,item,system,criterion,label\nr1,q1,gpt4,confidence,low\n"
        "r1,q1,llama,confidence,high\nr1,q1,gpt4,correct,yes\n",
    )
    folder.import_sources()
    with folder.store() as store:
        tasks = {t.id: t.answers for t in store.tasks()}
        assert {(tasks[r.task], r.answers, r.criterion, r.label) for r in store.ratings()} == {
            (("q1:gpt4",), (), "confidence", "low"),
            (("q1:llama",), (), "confidence", "high"),
            (("q1:gpt4",), ("q1:gpt4",), "correct", "yes"),
        }


def test_one_task_has_one_label_for_a_question_on_it(tmp_path: Path):
    """Kills the mutant that keeps the answers in the key of such rows."""
    text = (
        "rater,item,system,criterion,label,task\n"
        "r1,q1,gpt4,confidence,low,t1\nr1,q1,llama,confidence,high,t1\n"
    )
    assert "as 'high' here and as 'low' on line 2" in fault(study(tmp_path, PLAIN, r=text))


def test_a_question_on_the_answer_still_has_one_label_in_two_tasks(tmp_path: Path):
    text = (
        "rater,item,system,criterion,label,task\n"
        "r1,q1,gpt4,correct,no,t1\nr1,q1,gpt4,correct,yes,t2\n"
    )
    assert "as 'yes' here and as 'no' on line 2" in fault(study(tmp_path, PLAIN, r=text))


EACH = 'file = "forms/rated by *.csv"\nrecords = "ratings"\nnamed = "rater"\n'
ROWS = "item,system,correct\nq1,gpt4,{}\n"
WIDE = 'criteria = { correct = "correct" }\n'


def test_each_rater_can_have_a_file(tmp_path: Path):
    folder = study(
        tmp_path,
        EACH + WIDE + 'values = { rater = { "Dr. Smith" = "r1" } }\n',
        **{
            "forms__rated by Dr. Smith": ROWS.format("yes"),
            "forms__rated by r2": ROWS.format("no"),
            "forms__~$rated by r3": ROWS.format("no"),
            "forms__notes": "x\n1\n",
        },
    )
    assert ratings(folder) == {
        ("r1", "q1", "q1:gpt4", "correct", "yes"),
        ("r2", "q1", "q1:gpt4", "correct", "no"),
    }
    # A further file later on adds its ratings alone.
    (tmp_path / "forms" / "rated by r4.csv").write_text(ROWS.format("yes"))
    assert folder.import_sources().new["ratings"] == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('file = "*.csv"\nrecords = "items"\n', "'*' in the name of a file is for ratings"),
        ('file = "*/r.csv"\nrecords = "ratings"\n', "expected one '*', in the name of the file"),
        ('file = "*-*.csv"\nrecords = "ratings"\n', "expected one '*'"),
        (PLAIN + 'named = "rater"\n', "named = 'rater' is for files whose name has a '*'"),
        (EACH + 'columns = { rater = "item" }\n', "comes from the name of the file and from"),
        ('file = "f*.csv"\nrecords = "ratings"\n', "f*.csv"),
        ('file = "r*.csv"\nrecords = "ratings"\nnamed = "ratr"\n', "did you mean 'rater'?"),
    ],
)
def test_patterns_that_mean_nothing_are_refused(tmp_path: Path, source: str, expected: str):
    assert expected in fault(study(tmp_path, source, r1="item,system,criterion,label\n1,a,c,yes\n"))


def test_values_and_labels_of_a_criterion_are_translated(tmp_path: Path):
    folder = study(
        tmp_path,
        PLAIN + 'values = { rater = { Smith = "r1" }, criterion = { Right = "correct" } }\n'
        'labels = { "1" = "yes" }\n'
        'labels_of = { confidence = { "1" = "high", "0,5" = "low" } }\n',
        r="rater,item,system,criterion,label\nSmith,q1,gpt4,Right,1\nSmith,q1,gpt4,confidence,1\n"
        'r2,q1,gpt4,confidence,"0,5"\n',
    )
    assert ratings(folder) == {
        ("r1", "q1", "q1:gpt4", "correct", "yes"),
        ("r1", "q1", "confidence", "high"),
        ("r2", "q1", "confidence", "low"),
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('values = { ratr = { a = "b" } }', "did you mean 'rater'?"),
        ('values = { label = { a = "b" } }', "translate labels in 'labels' or 'labels_of'"),
        ('labels_of = { corect = { a = "b" } }', "did you mean 'correct'?"),
    ],
)
def test_translations_of_nothing_are_refused(tmp_path: Path, source: str, expected: str):
    rows = "rater,item,system,criterion,label\nr1,q1,gpt4,correct,yes\n"
    assert expected in fault(study(tmp_path, f"{PLAIN}{source}\n", r=rows))
