"""Real-POCQi's public tables: what becomes of them, and what keeps them from being read."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.cli.main import group
from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.pocqi.real_pocqi import read_real_pocqi
from pocqi_tables import CHOICES, JUDGES, Made, read_inner_tables, tables, write

SMALL = tables(3, questions=24, comparisons=40, raters=6, specialties=3, fast=2, healthbench=4)
SOURCE = Source("tables", "real-pocqi")
STEPS = {
    "A is much better": 2,
    "A is somewhat better": 1,
    "About equal": 0,
    "B is somewhat better": -1,
}


@pytest.fixture
def made() -> Made:
    return copy.deepcopy(SMALL)


def study(folder: Path) -> Folder:
    done = CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "real-pocqi"], catch_exceptions=False
    )
    assert done.exit_code == 0
    read_inner_tables(folder)
    return open_folder(folder)


def imported(folder: Path, made: Made, ending: str = "csv") -> Folder:
    opened = study(folder)
    write(made, folder / "tables", ending)
    opened.import_sources()
    return opened


def outcomes(opened: Folder) -> dict[tuple[str, str, str], tuple[str, int]]:
    """(assignment, rater, criterion) -> (the alphabetically first system, steps in its favour)."""
    with opened.store() as store:
        systems = {a.id: a.system for a in store.answers()}
        found = {}
        for r in store.ratings():
            first, second = (systems[a] for a in r.answers)
            steps = STEPS.get(r.label or "", -2)
            found[r.task.split(":")[0], r.rater, r.criterion] = (
                (first, steps) if first < second else (second, -steps)
            )
        return found


@pytest.mark.slow
def test_the_papers_size(tmp_path: Path) -> None:
    opened = imported(tmp_path / "study", tables())
    with opened.store() as store:
        items, raters, tasks, ratings = (
            store.items(),
            store.raters(),
            store.tasks(),
            store.ratings(),
        )
        people = [r for r in raters if r.kind == "human"]
        assert (len(items), len(people), len(store.answers())) == (620, 149, 2480)
        assert len({i.strata["specialty"] for i in items}) == 30
        assert Counter(t.phase for t in tasks) == {
            "": 1156,
            "judging": 3 * sum(t.arm == "text" for t in tasks) // 4,
        }
        assert sum(r.rater in {p.id for p in people} for r in ratings) == 5 * 1156
        assert {r.strata["system"] for r in raters if r.kind == "llm"} == set(JUDGES)
        assert {p.strata["exposure"] for p in people} == {"user", "non-user"}
        assert {t.arm for t in tasks} == {"text", "citations"}
    excluded = opened.ratings().filter(kind="human").height
    assert excluded == 5 * (1156 - 18 - 11)  # under ten seconds, and without a time


def test_what_was_chosen_is_read_by_answer_and_not_by_side(tmp_path: Path, made: Made) -> None:
    expected = {}
    slots = {row["id"]: row for row in made.tables["qa_assignments"]}
    said = [
        (r["qa_assignment_id"], slots[r["qa_assignment_id"]]["user_id"], r["axis"], r["choice"])
        for r in made.tables["ratings"]
    ]
    said += [
        (r["assignmentId"], r["grader"], axis, choice)
        for r in made.tables["machineRatings"]
        for axis, choice in r["choices"].items()
    ]
    for task, rater, axis, choice in said:
        a, b = slots[task]["slot_a_provider"], slots[task]["slot_b_provider"]
        steps = 2 - CHOICES.index(choice)
        criterion = "source_quality" if axis == "authoritativeness" else axis
        expected[task, rater, criterion] = (a, steps) if a < b else (b, -steps)
    assert outcomes(imported(tmp_path / "study", made)) == expected


def test_slots_exchanged_and_choices_mirrored_are_the_same(tmp_path: Path, made: Made) -> None:
    before = outcomes(imported(tmp_path / "one", made))
    for row in made.tables["qa_assignments"]:
        row["slot_a_provider"], row["slot_b_provider"] = (
            row["slot_b_provider"],
            row["slot_a_provider"],
        )
    for row in made.tables["ratings"]:
        row["choice"] = CHOICES[4 - CHOICES.index(row["choice"])]
    for row in made.tables["machineRatings"]:
        row["choices"] = {x: CHOICES[4 - CHOICES.index(c)] for x, c in row["choices"].items()}
    assert outcomes(imported(tmp_path / "two", made)) == before


@pytest.mark.slow
def test_parquet_says_the_same(tmp_path: Path, made: Made) -> None:
    one, two = imported(tmp_path / "one", made), imported(tmp_path / "two", made, "parquet")
    with one.store() as a, two.store() as b:
        assert (a.items(), a.answers(), a.raters(), a.tasks()) == (
            b.items(),
            b.answers(),
            b.raters(),
            b.tasks(),
        )
        assert a.ratings() == b.ratings()


def test_again_changes_nothing_and_lengths_are_told(tmp_path: Path, made: Made) -> None:
    opened = imported(tmp_path / "study", made)
    assert opened.import_sources().total_new() == 0
    with opened.store() as store:
        [told] = [e for e in store.events() if e.kind == "answer lengths"]
    assert told.data == {
        row["answer_id"]: row["answer_len"] for row in made.tables["answer_lengths"]
    }


def test_in_german_the_choices_are_the_german_labels(tmp_path: Path, made: Made) -> None:
    folder = tmp_path / "de"
    CliRunner().invoke(group, ["new", str(folder), "--protocol", "real-pocqi", "--language", "de"])
    read_inner_tables(folder)
    write(made, folder / "tables")
    opened = open_folder(folder)
    opened.import_sources()
    with opened.store() as store:
        labels = {r.label for r in store.ratings()}
    assert labels <= set(opened.study.instruments[0].criteria[0].scale.labels)
    assert "Etwa gleich" in labels


def test_a_file_by_flags(tmp_path: Path, made: Made) -> None:
    opened = study(tmp_path / "study")
    place = write(made, tmp_path / "elsewhere")
    done = CliRunner().invoke(
        group,
        ["import", str(opened.path), "--file", str(place), "--records", "real-pocqi"],
        catch_exceptions=False,
    )
    assert "24 items, 96 answers" in done.output


def test_what_is_asked_and_not_rated_is_missing(tmp_path: Path, made: Made) -> None:
    gone = {row["id"] for row in made.tables["qa_assignments"][:4]}
    made.tables["ratings"] = [
        r for r in made.tables["ratings"] if r["qa_assignment_id"] not in gone
    ]
    made.tables["ratings"][0]["choice"] = ""
    opened = imported(tmp_path / "study", made)
    with opened.store() as store:
        assert gone <= {t.id for t in store.tasks()}
        [told] = [e.data for e in store.events() if e.kind == "reading"]
    assert told["dropped"] == {"no choice": 1}


def test_judges_on_another_arm_are_left_out_and_counted(tmp_path: Path, made: Made) -> None:
    made.tables["machineRatings"][0]["variant"] = "text_citations"
    write(made, tmp_path)
    found = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert found.counts["dropped"] == {"of another arm than the assignment's": 5}
    assert {t.arm for t in found.tasks if t.phase == "judging"} == {"text"}


def test_only_the_first_five_tables_are_needed(tmp_path: Path, made: Made) -> None:
    for name in ("answer_lengths", "machineRatings"):
        made.tables.pop(name)
    write(made, tmp_path)
    found = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert not found.lengths
    assert {r.panel for r in found.raters} == {"physicians"}


def test_who_was_never_asked_is_no_rater(tmp_path: Path, made: Made) -> None:
    made.tables["users"].append({**made.tables["users"][0], "id": "u-idle"})
    write(made, tmp_path)
    assert "u-idle" not in {r.id for r in read_real_pocqi(tmp_path, SOURCE, "comparison").raters}


def test_columns_that_have_other_names(tmp_path: Path, made: Made) -> None:
    for row in made.tables["users"]:
        row["on_product"] = row.pop("exposure")
    source = Source("tables", "real-pocqi", columns={"exposure": ("on_product",)})
    write(made, tmp_path)
    assert {
        r.strata["exposure"]
        for r in read_real_pocqi(tmp_path, source, "c").raters
        if r.kind == "human"
    } == {
        "user",
        "non-user",
    }


def test_what_is_not_known_of_the_schema_is_told(tmp_path: Path, made: Made) -> None:
    tables_of = made.tables
    for row in tables_of["qa_questions"]:
        row["asked"] = row.pop("question")
        row.pop("theme")
    for n, row in enumerate(tables_of["qa_questions"]):
        row["created"], row["setting"] = (
            f"2026-01-01T00:00:{n:02}Z",
            "ward" if n % 2 else "practice",
        )
    for row in tables_of["users"]:
        row.pop("exposure")
    for n in range(8):  # ten are enough for a column that tells people apart
        tables_of["users"].append({**tables_of["users"][0], "id": f"u-{n}"})
    for n, row in enumerate(tables_of["users"]):
        row["email"] = f"p{n}@example.org"
    for row in tables_of["qa_assignments"]:
        row.pop("completed_at")
    for row in tables_of["ratings"]:
        row["comment"] = "-"
    for row in tables_of["machineRatings"]:
        row.pop("variant"), row.pop("subversion")
    tables_of.pop("answer_lengths")
    write(made, tmp_path)
    found = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert {key for item in found.items for key in item.strata} == {
        "specialty",
        "source",
        "patient_context",
        "setting",
    }
    people = [r for r in found.raters if r.kind == "human"]
    assert {key for r in people for key in r.strata} == {"specialty"}
    assert {t.arm for t in found.tasks if t.phase == "judging"} == {"text"}
    told = "\n".join(found.notes)
    for sentence in (
        (
            "qa_questions.csv: there is no column 'theme', so analyses by theme are not possible; if it has another"
        ),
        "further columns are characteristics: patient_context, setting",
        "not used as characteristics because nearly every row has a different value: asked, created;",
        "no question has a text; expected one in a column text or question or question_text",
        "users.csv: there is no column 'exposure', so analyses by exposure are not possible",
        "ratings.csv: not read: comment",
        "no table answer_lengths, so analyses of length are not possible",
        (
            "machineRatings.jsonl: there is no column 'variant' or 'subversion', so LLM judges"
            " are assigned to the text arm"
        ),
    ):
        assert sentence in told
    assert len(found.notes) == 8
    assert not any("@" in value for r in people for value in r.strata.values())
    named = Source(
        "tables", "real-pocqi", columns={"text": ("asked",)}, strata=("specialty", "created")
    )
    again = read_real_pocqi(tmp_path, named, "comparison")
    assert again.items[0].text == "Question number 0?"
    assert "created" in again.items[0].strata


def test_tables_as_described_are_worth_one_note(tmp_path: Path, made: Made) -> None:
    write(made, tmp_path)
    assert read_real_pocqi(tmp_path, SOURCE, "comparison").notes == (
        "qa_questions.csv: further columns are characteristics: patient_context",
    )


def _put(table: str, column: str, value: Any, row: int = 0) -> Callable[[Made], None]:
    def change(made: Made) -> None:
        made.tables[table][row][column] = value

    return change


def _gone(table: str, column: str = "") -> Callable[[Made], None]:
    def change(made: Made) -> None:
        if column:
            for row in made.tables[table]:
                row.pop(column)
        else:
            made.tables.pop(table)

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_gone("users"), "there is no table users.csv (or .parquet); "),
        (_gone("ratings", "axis"), "ratings.csv: there is no column 'axis'; "),
        (
            _put("ratings", "choice", "strongly_c"),
            "line 2: choice: 'strongly_c' is not a choice; did you mean",
        ),
        (
            _put("ratings", "axis", "acuracy"),
            "there is no criterion 'acuracy'; did you mean 'accuracy'?",
        ),
        (
            _put("ratings", "submission_time_seconds", "soon"),
            "submission_time_seconds: 'soon' is not a time; expected",
        ),
        (
            _put("qa_assignments", "slot_a_provider", "clinicdesc"),
            "slot_a_provider: there is no answer of 'clinicdesc'",
        ),
        (_put("qa_answers", "question_id", "q-9"), "qa_answers.csv: 1 of 96 rows cannot be read"),
        (
            _put("qa_answers", "id", "", 3),
            "qa_answers.csv: line 5: the id is empty; expected an id for each row",
        ),
        (
            _put("answer_lengths", "answer_len", "long"),
            "answer_len: 'long' is not a length; expected a whole number",
        ),
        (_put("answer_lengths", "answer_id", "a-9"), "answer_id: there is no answer 'a-9'; "),
        (
            _put("machineRatings", "choices", {"accuracy": "A"}),
            "choices.accuracy: 'A' is not a choice; ",
        ),
        (
            _put("machineRatings", "choices", "tie"),
            "choices: 'tie' is not an object of axes and choices",
        ),
    ],
)
def test_errors(tmp_path: Path, made: Made, change: Callable[[Made], None], sentence: str) -> None:
    opened = study(tmp_path / "study")
    change(made)
    write(made, opened.path / "tables")
    with pytest.raises(SourceError) as caught:
        opened.import_sources()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (opened.path / "konsil.db").exists() or not opened.store().counts()["ratings"]


def test_a_file_instead_of_the_folder(tmp_path: Path) -> None:
    opened = study(tmp_path / "study")
    with pytest.raises(
        SourceError, match="tables: is not a folder; 'real-pocqi' reads a folder with the tables"
    ):
        opened.import_sources()
