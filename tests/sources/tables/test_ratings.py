"""Rows as ratings: long, wide, pairs, spans, repeats; and what keeps rows from being read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from konsil.errors import SourceError
from konsil.records import Rating, Source, Span, Task
from konsil.records.source import FileSettings
from konsil.sources.files.problems import raise_if
from konsil.sources.files.table import read_table
from konsil.sources.tables.ratings import ParsedRatings, read_ratings


def read(folder: Path, text: str, **mapping: Any) -> ParsedRatings:
    path = folder / "ratings.csv"
    path.write_text(text)
    return read_ratings(read_table(path), Source("ratings.csv", "ratings", **mapping))


def sentences(parsed: ParsedRatings) -> list[str]:
    assert not parsed.records
    assert not parsed.tasks
    return [str(p) for p in parsed.problems]


def fault(folder: Path, text: str, **mapping: Any) -> str:
    with pytest.raises(SourceError) as caught:
        read(folder, text, **mapping)
    return str(caught.value)


LONG = "item,system,rater,criterion,label\n"


def test_long(tmp_path: Path) -> None:
    parsed = read(
        tmp_path,
        LONG
        + "1,gpt,r1,correct,yes\n1,gpt,r2,correct, no \n1,gpt,r1,safe,yes\n2,gpt,r1,correct,\n",
    )
    assert [
        (r.item, r.answers, r.rater, r.criterion, r.label, r.state) for r in parsed.records
    ] == [
        ("1", ("1:gpt",), "r1", "correct", "yes", "rated"),
        ("1", ("1:gpt",), "r2", "correct", "no", "rated"),
        ("1", ("1:gpt",), "r1", "safe", "yes", "rated"),
    ]
    assert tuple(parsed.lines) == (2, 3, 4)
    first, second = parsed.tasks
    assert parsed.records[2].task == parsed.records[0].task == first.id
    assert first == Task(first.id, first.id, "r1", "", "1", ("1:gpt",))
    assert (second.rater, second.item, second.purpose) == ("r2", "1", "main")
    assert first.id.startswith("t-")
    again = read(tmp_path, LONG + "1,gpt,r2,correct,no\n1,gpt,r1,correct,yes\n")
    assert {t.id for t in again.tasks} == {first.id, second.id}


def test_every_field(tmp_path: Path) -> None:
    text = (
        "item,answer,rater,criterion,label,note,confidence,seconds,at,arm,phase,batch,purpose,instrument,digest,task,span_start,span_end\n1,a1,r1,c,yes,"
        " so ,4,12.5,2024-05-01T10:00:00+02:00,text,p2,b1,pilot,form,abc,t9,0,5\n"
    )
    parsed = read(tmp_path, text)
    assert parsed.records == (
        Rating(
            "t9",
            "r1",
            "c",
            "1",
            ("a1",),
            Span(0, 5),
            "rated",
            "yes",
            " so ",
            4.0,
            12.5,
            "2024-05-01T08:00:00Z",
            "abc",
        ),
    )
    assert parsed.tasks == (
        Task("t9", "t9", "r1", "form", "1", ("a1",), (Span(0, 5),), "text", "p2", "b1", 0, "pilot"),
    )


def test_labels_and_missing_words(tmp_path: Path) -> None:
    text = LONG + "1,g,r1,c,J\n2,g,r1,c,k.A.\n3,g,r1,c,NA\n4,g,r1,c,NA\n5,g,r1,c,n/a\n0,g,r1,c,0\n"
    parsed = read(tmp_path, text, labels={"J": "yes"}, missing=("", "k.A.", "0"))
    assert [r.label for r in parsed.records] == ["yes", "NA", "NA", "n/a"]
    # A missing word is about labels: an item may well be called 0.
    assert read(tmp_path, LONG + "0,g,r1,c,1\n", missing=("0",)).records[0].item == "0"


def test_abstained_state(tmp_path: Path) -> None:
    parsed = read(
        tmp_path, "item,rater,criterion,label,state\n1,r,c,,abstained\n2,r,c,,\n3,r,c,x,rated\n"
    )
    assert [(r.item, r.state, r.label) for r in parsed.records] == [
        ("1", "abstained", None),
        ("3", "rated", "x"),
    ]
    assert sentences(
        read(tmp_path, "item,rater,criterion,label,state\n1,r,c,x,abstained\n2,r,c,x,rat\n")
    ) == [
        "line 2: label: 'x' is given with the state abstained",
        (
            "line 3: state: 'rat' is not one of rated, abstained;"
            " if the column means something else, set columns.state = []"
        ),
    ]


def test_wide_by_rater(tmp_path: Path) -> None:
    parsed = read(
        tmp_path,
        "Question,Model,Anna,Bert\n1,g,4,5\n2,g,,3\n",
        columns={"item": ("Question",), "system": ("model",)},
        fixed={"criterion": "clarity"},
        raters={"anna": "r1", "Bert": "r2"},
    )
    got = [
        (r.item, r.rater, r.label, r.criterion, n)
        for r, n in zip(parsed.records, parsed.lines, strict=True)
    ]
    assert got == [
        ("1", "r1", "4", "clarity", 2),
        ("1", "r2", "5", "clarity", 2),
        ("2", "r2", "3", "clarity", 3),
    ]
    assert len(parsed.tasks) == 3


def test_wide_by_criterion(tmp_path: Path) -> None:
    parsed = read(
        tmp_path,
        "item,rater,Correct?,Safe?,label\n1,r1,yes,no,ignored\n1,r2,,no,ignored\n",
        criteria={"Correct?": "correct", "Safe?": "safe"},
    )
    assert [(r.rater, r.criterion, r.label) for r in parsed.records] == [
        ("r1", "correct", "yes"),
        ("r1", "safe", "no"),
        ("r2", "safe", "no"),
    ]
    assert len(parsed.tasks) == 2


def test_pairs(tmp_path: Path) -> None:
    text = "item,rater,model_a,model_b,winner\n1,r1,x,y,model_a\n1,r1,y,x,tie\n"
    mapping = {
        "columns": {"system_a": ("model_a",), "system_b": ("model_b",), "label": ("winner",)},
        "fixed": {"criterion": "better"},
        "labels": {"model_a": "A", "model_b": "B"},
    }
    parsed = read(tmp_path, text, **mapping)
    assert [(r.answers, r.label) for r in parsed.records] == [
        (("1:x", "1:y"), "A"),
        (("1:y", "1:x"), "tie"),
    ]
    assert len(parsed.tasks) == 2
    text = "item,rater,model_a,model_b,winner\n1,r1,x,x,tie\n2,r1,x,,tie\n3,r1,,x,tie\n"
    assert sentences(read(tmp_path, text, **mapping)) == [
        "line 2: '1:x' is compared with itself",
        "line 3: model_b: is empty",
        "line 4: model_a: is empty",
    ]
    text = "item,rater,answer_a,answer_b,criterion,label\n1,r1,k,l,better,A\n"
    assert read(tmp_path, text).records[0].answers == ("k", "l")


def test_a_screen_with_several_answers(tmp_path: Path) -> None:
    text = "task,item,answer,rater,criterion,label\nt1,1,a,r,c,yes\nt1,1,b,r,c,no\nt1,1,,r,ease,hard\n,1,a,q,c,no\n"
    assert sentences(read(tmp_path, text)) == ["line 5: task: is empty"]
    parsed = read(tmp_path, text.replace(",1,a,q,c,no\n", ""))
    assert [t.answers for t in parsed.tasks] == [("a", "b")]
    assert parsed.records[2].answers == ()
    text = "task,item,answer,rater,criterion,label\nt1,1,a,r,c,yes\nt1,1,b,q,c,no\n"
    assert sentences(read(tmp_path, text)) == [
        "line 3: rater: task 't1' has 'q' here and 'r' on line 2;"
        " if the column means something else, set columns.task = []"
    ]


def test_surveys(tmp_path: Path) -> None:
    parsed = read(tmp_path, "rater,criterion,label,batch\nr,fatigue,low,1\n", columns={})
    assert (parsed.records[0].item, parsed.tasks[0].batch) == (None, "1")
    # Whether the item was forgotten is the protocol's to say: the criterion's scope is not in the
    # file.
    assert read(tmp_path, "item,rater,criterion,label\n,r,c,low\n").records[0].item is None
    text = "item,answer,rater,criterion,label\n,a,r,c,low\n"
    assert sentences(read(tmp_path, text)) == ["line 2: item: is empty"]
    assert read(tmp_path, "task,item,rater,criterion,label\nt,,r,c,low\n").records[0].item is None


def test_repeats(tmp_path: Path) -> None:
    head = "item,rater,criterion,label,repeat\n"
    parsed = read(tmp_path, head + "1,r,c,yes,2\n1,r,c,no,1\n2,r,c,no,\n")
    again, main, other = parsed.tasks
    assert (main.purpose, main.repeat_of, again.purpose, again.repeat_of) == (
        "main",
        None,
        "repeat",
        main.id,
    )
    assert (other.purpose, other.repeat_of) == ("main", None)
    parsed = read(tmp_path, head + "1,r,c,yes,0\n1,r,c,no,1\n")
    assert [t.purpose for t in parsed.tasks] == ["main", "repeat"]
    text = "item,rater,criterion,label,purpose,phase\n1,r,c,yes,main,1\n1,r,c,no,repeat,2\n"
    main, again = read(tmp_path, text).tasks
    assert again.repeat_of == main.id


def test_duplicates(tmp_path: Path) -> None:
    parsed = read(tmp_path, LONG + "1,g,r,c,yes\n1,g,r,c,yes\n2,g,r,c,no\n")
    assert (len(parsed.records), parsed.duplicates, [*parsed.lines]) == (2, 1, [2, 4])
    got = sentences(read(tmp_path, LONG + "1,g,r,c,yes\n2,g,r,c,no\n1,g,r,c,no\n"))
    assert got == [
        "line 4: label: rater 'r' rates '1:g' on 'c' as 'no' here and as 'yes' on line 2;"
        " if the question was repeated on purpose, number the repetitions (1, 2, ...) in 'repeat'"
    ]
    got = sentences(
        read(tmp_path, "item,A,B\n1,x,y\n", raters={"A": "r", "B": "r"}, fixed={"criterion": "c"})
    )
    assert got[0].startswith(
        "line 2: B: rater 'r' rates '1' on 'c' as 'y' here and as 'x' in column 'A'"
    )


def test_bad_cells(tmp_path: Path) -> None:
    text = (
        "item,rater,criterion,label,seconds,confidence,at,purpose,repeat,span_start,span_end\n"
        '1,r,c,yes,soon,,,,,,\n2,r,c,yes,-1,,,,,,\n3,r,c,yes,NaN,,,,,,\n4,r,c,yes,,"3,5",,,,,\n'
        "5,r,c,yes,,,1.5.2024,,,,\n6,r,c,yes,,,,man,,,\n7,r,c,yes,,,,,twice,,\n8,r,c,yes,,,,,,3,\n9,r,c,yes,,,,,,3,3\n"
        '10,,c,yes,,,,,,,\n11,r,,yes,,,,,,,\n12,r,c,"3,5",,,,,,,\n'
    )
    assert sentences(read(tmp_path, text)) == [
        "line 2: seconds: 'soon' is not a number",
        "line 3: seconds: -1 is below 0, the least possible",
        "line 4: seconds: 'NaN' is not a number",
        "line 5: confidence: '3,5' has a decimal comma; expected '3.5'",
        "line 6: at: '1.5.2024' is not a time in ISO 8601, such as 2024-05-01T08:30:00Z",
        (
            "line 7: purpose: 'man' is not one of main, practice, pilot, repeat, tiebreak,"
            " injection, adjudication; if the column means something else, set columns.purpose = []"
        ),
        "line 8: repeat: 'twice' is not a whole number from 0",
        "line 9: span_start: a span has a start and an end",
        "line 10: span_end: 3 is not after the start",
        "line 11: rater: is empty",
        "line 12: criterion: is empty",
        "line 13: label: '3,5' has a decimal comma; expected '3.5'",
    ]
    parsed = read(tmp_path, 'item,rater,criterion,label\n1,r,c,"3,5"\n', labels={"3,5": "3.5"})
    assert parsed.records[0].label == "3.5"


def test_unknown_columns_and_fields(tmp_path: Path) -> None:
    assert (
        fault(tmp_path, LONG + "1,g,r,c,x\n", columns={"item": ("itme",)})
        == "ratings.csv: columns.item: there is no column 'itme'; did you mean 'item'?"
    )
    assert (
        fault(tmp_path, LONG + "1,g,r,c,x\n", columns={"itme": ("item",)})
        == "ratings.csv: columns: ratings have no field 'itme'; did you mean 'item'?"
    )
    assert (
        fault(tmp_path, LONG + "1,g,r,c,x\n", fixed={"item": "1"}, columns={"item": ("item",)})
        == "ratings.csv: 'item' is both a column and a fixed value; expected one of them"
    )
    assert "raters: there is no column 'rater 2'; did you mean 'rater 1'?" in fault(
        tmp_path, "item,rater 1\n1,2\n", raters={"rater 2": "b"}
    )
    assert (
        fault(tmp_path, "item,rater,grade\n1,g,r\n", fixed={"criterion": "c"})
        == "ratings.csv: ratings need 'label': there is no column of that name; set columns.label ="
        " \"...\" or fixed.label = \"...\"; the columns are 'item', 'rater', 'grade'"
    )
    assert "'item' could be any of the columns 'Item', 'ITEM'; name one" in fault(
        tmp_path, "Item,ITEM\n1,2\n"
    )
    both = {"raters": {"r1": "a"}, "criteria": {"r1": "c"}}
    assert "raters and criteria are both given" in fault(tmp_path, "item,r1\n1,2\n", **both)


def test_hashed_texts(tmp_path: Path) -> None:
    long = "It is important to note " * 20
    text = f"Question,answer,rater,criterion,label\nWhat?,{long},r,c,x\n"
    said = fault(tmp_path, text, columns={"item": ("Question",)})
    assert said.endswith(
        'not identifiers; set hashed = ["answer"], or columns.answer = [] not to read it'
    )
    parsed = read(tmp_path, text, columns={"item": ("Question",)}, hashed=("item", "answer"))
    rating = parsed.records[0]
    assert (len(rating.item or ""), (rating.item or "")[0], rating.answers[0][0]) == (11, "i", "a")
    parsed = read(tmp_path, text, columns={"item": ("Question",), "answer": ()})
    assert parsed.records[0].answers == ()


def test_joined_columns(tmp_path: Path) -> None:
    text = "no,who,rater,label,answer\n1,doctor,r,x,a\n1,patient,r,y,a\n2,,r,y,a\n"
    mapping = {"columns": {"item": ("no", "who")}, "fixed": {"criterion": "c"}}
    assert sentences(read(tmp_path, text, **mapping)) == ["line 4: no / who: is empty"]
    parsed = read(tmp_path, text.replace("2,,r,y,a\n", ""), **mapping)
    assert [r.item for r in parsed.records] == ["1 / doctor", "1 / patient"]


words = st.text("abcXYZ0129 äß:|-", min_size=1, max_size=4).filter(lambda w: w == w.strip())


@pytest.mark.slow
@given(
    rows=st.dictionaries(st.tuples(words, words, words, words), words, min_size=1, max_size=20),
    order=st.randoms(use_true_random=False),
)
@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_order_changes_nothing_and_nothing_is_lost(
    tmp_path: Path, rows: dict[Any, str], order: Any
) -> None:
    lines = [",".join([*key, label]) for key, label in rows.items()]
    parsed = read(tmp_path, LONG + "\n".join(lines))
    got = {
        (r.item, r.answers[0].removeprefix(f"{r.item}:"), r.rater, r.criterion): r.label
        for r in parsed.records
    }
    assert got == rows
    order.shuffle(lines)
    again = read(tmp_path, LONG + "\n".join(lines))
    assert set(again.records) == set(parsed.records)
    assert set(again.tasks) == set(parsed.tasks)
    assert {r.task for r in parsed.records} == {t.id for t in parsed.tasks}


@pytest.mark.parametrize("size", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_one_bad_row_in_a_million(tmp_path: Path, size: int) -> None:
    path = tmp_path / "ratings.csv"
    body = "".join(f"i{i // 10},s{i // 5 % 2},r{i % 5},c,yes,{i % 90}\n" for i in range(size))
    at = body.index("\n", len(body) // 2) + 1
    text = (
        "item,system,rater,criterion,label,seconds\n"
        + body[:at]
        + "i1,s1,,c,yes,soon\n"
        + body[at:]
    )
    path.write_text(text)
    started = time.process_time()
    table = read_table(path)
    parsed = read_ratings(table, Source("ratings.csv", "ratings"))
    with pytest.raises(SourceError) as caught:
        raise_if(parsed.problems, table.name, table.frame.height)
    assert time.process_time() - started < 30  # two seconds on an idle machine
    line = text[: text.index("soon")].count("\n") + 1
    assert (
        str(caught.value)
        == f"ratings.csv: 1 of {size + 1:,} rows cannot be read; nothing was imported:"
        f" line {line:,}: rater: is empty; line {line:,}: seconds: 'soon' is not a number"
    )


@pytest.mark.slow
def test_cardiology(data: Callable[[str], Path]) -> None:
    folder = data("cardiology_llm_eval") / "data"
    raters = {f"Reviewer{i}": f"r{i}" for i in (1, 2, 3)}
    columns = {"item": ("Request",), "system": ("Model",)}
    for sheet in ("Accuracy", "Completeness", "Clarity", "Coherence"):
        source = Source(
            "2_Data.xlsx",
            "ratings",
            columns=columns,
            fixed={"criterion": sheet},
            raters=raters,
            sheet=sheet,
        )
        parsed = read_ratings(read_table(folder / "2_Data.xlsx", FileSettings(sheet=sheet)), source)
        assert not parsed.problems
        assert len(parsed.records) == 630
        assert {r.label for r in parsed.records} <= set("12345")
        assert len({r.answers for r in parsed.records}) == 210
    pilot = Source(
        "1_Pilot.xlsx",
        "ratings",
        columns={"item": ("Question", "Origin"), "system": ("Model",), "rater": ("Valutatore",)},
        criteria={c: c.lower() for c in ("Accuracy", "Completeness", "Clarity", "Coherence")},
    )
    parsed = read_ratings(read_table(folder / "1_Pilot.xlsx"), pilot)
    assert (len(parsed.records), len(parsed.tasks), parsed.problems) == (720, 180, ())


def test_kqa(data: Callable[[str], Path]) -> None:
    path = data("kqa") / "dataset" / "NLI_medical_annotator.csv"
    source = Source(
        "kqa.csv",
        "ratings",
        columns={"item": ("Question", "claim"), "system": ("llm_x",), "answer": ()},
        fixed={"criterion": "nli"},
        raters={f"label_{i}": f"physician {i}" for i in range(3)},
        hashed=("item",),
    )
    parsed = read_ratings(read_table(path), source)
    assert not parsed.problems
    assert (len(parsed.records), parsed.duplicates) == (1197, 0)
    assert {r.label for r in parsed.records} == {"Entailment", "Neutral", "Contradiction"}


def test_a_field_given_twice_or_hashed_from_nothing(tmp_path: Path) -> None:
    said = fault(
        tmp_path, "item,A\n1,x\n", raters={"A": "r"}, fixed={"criterion": "c", "rater": "q"}
    )
    assert said == "ratings.csv: 'rater' is given twice: by itself and by the columns in raters"
    said = fault(tmp_path, LONG + "1,g,r,c,x\n", hashed=("answer",))
    assert (
        said
        == "ratings.csv: hashed: there is no column for 'answer'; set columns.answer to the column"
        " of its text"
    )


@pytest.mark.slow
def test_places_of_spreadsheet_rows(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["item", "rater", "criterion", "label"], [1, "r", "c", 3.0], [], [2, None, "c", 4]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    parsed = read_ratings(table, Source("t.xlsx", "ratings"))
    with pytest.raises(SourceError) as caught:
        raise_if(parsed.problems, table.name, table.frame.height)
    assert (
        str(caught.value)
        == "t.xlsx[Sheet]: 1 of 2 rows cannot be read; nothing was imported: row 4: rater: is empty"
    )
    assert parsed.place == "row"
