"""Logs of Inspect, written by Inspect itself with its mock model, as items, answers and judges'
ratings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.sources.inspect_files import sample, write_json_log

from konsil.api import open_folder
from konsil.cli import main
from konsil.errors import SourceError
from konsil.records import Answer, Citation, Source, SourceKind
from konsil.sources.exports.recognition import is_inspect_log
from konsil.sources.inspect.inspect_logs import read_inspect_log, with_citations
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items

MODEL = "mockllm/model"
PROTOCOL = """
title = "Answers from a log"
seed = 1

[[instruments]]
id = "form"

[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = { labels = ["incorrect", "correct"] }

[[systems]]
id = "mock"

[[raters]]
id = "grader"
panel = "judges"
kind = "llm"

[[sources]]
file = "run.eval"
records = "items"
strata = ["specialty"]

[[sources]]
file = "run.eval"
records = "answers"
fixed = { system = "mock" }

[[sources]]
file = "run.eval"
records = "ratings"
fixed = { system = "mock", rater = "grader" }
columns = { note = "model_graded_qa.explanation" }
criteria = { model_graded_qa = "correct" }
labels = { C = "correct", I = "incorrect" }

[[analyses]]
name = "right"
statistic = "share"
of = ["correct"]
criterion = "correct"
raters = "judges"
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder a run, each with one log."""
    folder = tmp_path_factory.mktemp("logs")
    program = Path(__file__).parents[1] / "inspect_runs.py"
    done = subprocess.run(
        [sys.executable, program, folder], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def log(logs: Path, name: str) -> Path:
    (found,) = (logs / name).iterdir()
    return found


def answers(path: Path, **more: object) -> tuple[Answer, ...]:
    source = Source(path.name, "answers", **more)  # type: ignore[arg-type]
    found = read_inspect_log(path, source)
    return with_citations(read_answers(found.table, source), found)


@pytest.mark.slow
def test_items_are_what_the_samples_ask(logs: Path) -> None:
    source = Source("run.eval", "items", strata=("specialty",))
    items = read_items(read_inspect_log(log(logs, "epochs"), source).table, source).records
    assert [(i.id, i.text, i.reference, i.aliases, i.strata) for i in items] == [
        ("q1", "Which drug comes first?", "metformin", ("Glucophage",), {"specialty": "endo"}),
        (
            "2",
            "User: She is short of breath.\n\nAssistant: Since when?\n\nUser: Since Monday.",
            "heart failure",
            (),
            {"specialty": "cardio"},
        ),
    ]
    source = Source("run.eval", "items")
    (item,) = read_items(read_inspect_log(log(logs, "choices"), source).table, source).records
    assert (item.text, item.reference) == (
        "Which is a loop diuretic?\n\nA) Amiloride\nB) Furosemide",
        "B) Furosemide",
    )


@pytest.mark.slow
def test_every_epoch_is_an_answer_with_its_reasoning_and_sources(logs: Path) -> None:
    found = {a.id: a for a in answers(log(logs, "epochs"))}
    assert {name: (a.item, a.system, a.text) for name, a in found.items()} == {
        f"q1:{MODEL}": ("q1", MODEL, "metformin"),
        f"q1:{MODEL}:2": ("q1", MODEL, "insulin"),
        f"2:{MODEL}": ("2", MODEL, "Start low."),
        f"2:{MODEL}:2": ("2", MODEL, "heart failure"),
    }
    assert found[f"2:{MODEL}"].reasoning == "Consider the dose."
    assert found[f"2:{MODEL}"].citations == (Citation("Guideline", "https://example.org/g"),)
    stated = answers(log(logs, "epochs"), fixed={"system": "mock"})
    assert {a.id for a in stated} == {"q1:mock", "q1:mock:2", "2:mock", "2:mock:2"}


@pytest.mark.slow
def test_what_has_no_answer_is_missing_and_counted(logs: Path) -> None:
    source = Source("run.eval", "answers")
    found = read_inspect_log(log(logs, "outcomes"), source)
    assert [a.item for a in read_answers(found.table, source).records] == ["a", "f"]
    assert found.counts["read"] == 6
    assert found.counts["dropped"] == {"truncated": 2, "empty": 1, "filtered": 1}
    found = read_inspect_log(log(logs, "errors"), source)
    assert [a.text for a in read_answers(found.table, source).records] == ["only one"]
    assert found.counts["dropped"] == {"error": 1}
    with pytest.raises(SourceError, match=r"no sample has an answer \(message limit 1\)"):
        read_inspect_log(log(logs, "limits"), source)


@pytest.mark.slow
def test_json_logs_and_runs_that_were_stopped(logs: Path) -> None:
    path = log(logs, "json")
    assert path.suffix == ".json"
    assert [a.text for a in answers(path)] == ["x"]
    # What a run that was cancelled leaves: samples it was to ask and did not.
    text = path.read_text("utf-8").replace('"sample_ids": [', '"sample_ids": ["z", ')
    stopped = logs / "stopped.json"
    stopped.write_text(text, "utf-8")
    assert read_inspect_log(stopped, Source("stopped.json", "answers")).counts["dropped"] == {
        "not run": 1
    }


@pytest.mark.slow
def test_a_study_takes_items_answers_and_the_graders_ratings_from_one_log(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    (tmp_path / "run.eval").write_bytes(log(logs, "epochs").read_bytes())
    main(["import", str(tmp_path)])
    assert capsys.readouterr().out.splitlines() == [
        "new: 2 items, 4 answers, 1 rater, 4 tasks, 4 ratings, 2 events",
        "run.eval: 4 samples, 4 included as answers, 0 excluded",
        "run.eval: 4 samples, 4 included as ratings, 0 excluded",
    ]
    folder = open_folder(tmp_path)
    with folder.store() as store:
        ratings = {r.answers: (r.label, r.note) for r in store.batch().ratings}
    assert ratings == {
        ("q1:mock",): ("correct", "GRADE: C"),
        ("q1:mock:2",): ("incorrect", "GRADE: I"),
        ("2:mock",): ("incorrect", "GRADE: I"),
        ("2:mock:2",): ("correct", "GRADE: C"),
    }
    assert [r.estimate.value for r in folder.results().rows if r.kind == "estimate"] == [0.5]
    main(["import", str(tmp_path)])
    assert capsys.readouterr().out.startswith("new: nothing; ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil", [lambda b: b[: len(b) // 2], lambda b: b"PK\x03\x04" + b[:200], lambda _: b"no log"]
)
def test_a_broken_log_is_one_sentence(logs: Path, tmp_path: Path, spoil: object) -> None:
    broken = tmp_path / "broken.eval"
    broken.write_bytes(spoil(log(logs, "epochs").read_bytes()))  # type: ignore[operator]
    with pytest.raises(
        SourceError, match=r"^broken\.eval: cannot be read as a log of Inspect: .+$"
    ) as caught:
        read_inspect_log(broken, Source("broken.eval", "answers"))
    assert "\n" not in str(caught.value)


def test_without_the_extra_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    path = tmp_path / "run.eval"
    path.write_bytes(b"PK")
    for records in ("answers", "items", "ratings"):
        kind: SourceKind = records  # type: ignore[assignment]
        with pytest.raises(
            SourceError,
            match=(
                r"^run\.eval: .* needs an extra; install it with pip install '\.\[inspect\]' in"
                r" konsil's folder$"
            ),
        ):
            read_inspect_log(path, Source("run.eval", kind))


def test_a_log_is_known_by_its_beginning(tmp_path: Path) -> None:
    made = {
        "run.eval": "",
        "log.json": '{\n  "version": 2,\n  "status": "success",\n  "eval": {"task": "t"}',
        "rows.json": '[{"status": 1, "eval": 2}]',
        "object.json": '{"status": 1}',
        "rows.jsonl": '{"status": 1, "eval": 2}',
    }
    for name, text in made.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert [is_inspect_log(tmp_path / name) for name in made] == [True, True, False, False, False]
    assert not is_inspect_log(tmp_path / "absent.json")


@pytest.mark.slow
def test_metadata_called_sentence_keep_their_name(tmp_path: Path):
    path = write_json_log(tmp_path / "log.json", [sample("q1", metadata={"sentence": "Rest."})])
    log = read_inspect_log(path, Source(path.name, "items", columns={"text": ("sentence",)}))
    assert log.table.frame["sentence"].to_list() == ["Rest."]
