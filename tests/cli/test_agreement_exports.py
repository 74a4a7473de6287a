"""konsil agreement of a tool's export: from the file to the agreement in one command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.sources.exports import examples
from tests.sources.exports.examples import EXPORTS, OTHERS, RATINGS, SURVEYS, task, write
from tests.sources.inspect_files import sample, write_json_log

import konsil

Call = Callable[..., tuple[int, str, str]]
ONE = ("--statistic", "krippendorff_alpha", "--resamples", "100")
TRUTH = pl.DataFrame(
    [(unit, rater, label) for (unit, rater), label in RATINGS.items()],
    schema=["unit", "rater", "label"],
    orient="row",
)


def near(frame: pl.DataFrame, **options: Any) -> Any:
    result = konsil.agreement(frame, statistics=["krippendorff_alpha"], resamples=100, **options)
    # JSON has 12 significant digits.
    return pytest.approx(result["krippendorff_alpha"].value, rel=1e-11)


def result_of(call: Call, path: Path, *flags: str) -> dict[str, Any]:
    code, out, err = call("agreement", path, *ONE, "--json", *flags)
    assert (code, err) == (0, "")
    result: dict[str, Any] = json.loads(out)
    return result


def alpha(result: dict[str, Any]) -> float:
    (value,) = (s["value"] for s in result["statistics"] if s["name"] == "krippendorff_alpha")
    return float(value)


def printed_command(message: str) -> list[str]:
    (command,) = re.findall(r"^If so: konsil agreement (.*)$", message, re.MULTILINE)
    return shlex.split(command)


@pytest.mark.parametrize("name", EXPORTS)
def test_one_command(name: str, call: Call, tmp_path: Path) -> None:
    tool, ending, content = EXPORTS[name]
    result = result_of(call, write(tmp_path, ending, content))
    assert alpha(result) == near(TRUTH)
    assert (result["n_units"], result["n_raters"], result["n_ratings"]) == (4, 3, 11)
    assert result["reading"].startswith(f"{tool}'s export; 4 units in ")


def test_the_reading_says_what_is_left_out(call: Call, tmp_path: Path) -> None:
    tasks = [task(unit) for unit in examples.UNITS]
    tasks[0]["annotations"][0] |= {"was_cancelled": True}
    tasks[0]["predictions"] = tasks[1]["predictions"] = [{"model_version": "m", "result": []}]
    path = write(tmp_path, ".json", json.dumps(tasks))
    expected = (
        "Label Studio's export without 2 predictions, 1 cancelled annotation; 4 units in id; raters"
        " in completed_by, labels in quality; not used: text, topic"
    )
    assert result_of(call, path)["reading"] == expected
    code, out, _ = call("agreement", path, *ONE)
    assert (code, " ".join(out.split()).startswith(f"Read as: {expected}")) == (0, True)


def test_criteria_are_results_of_their_own_or_chosen(call: Call, tmp_path: Path) -> None:
    tasks = [task(unit) for unit in examples.UNITS]
    for each in tasks:
        for annotation in each["annotations"]:
            annotation["result"].append(examples.choice("tone", "ok"))
    path = write(tmp_path, ".json", json.dumps(tasks))
    result = result_of(call, path)
    quality, tone = result["groups"]
    assert [(g["group"], g["labels"]) for g in (quality, tone)] == [
        ("quality", ["bad", "good"]),
        ("tone", ["ok"]),
    ]
    assert alpha(quality) == near(TRUTH)
    chosen = result_of(call, path, "--label", "quality")
    assert alpha(chosen) == near(TRUTH)
    assert chosen["reading"].endswith("labels in quality; not used: text, topic, tone")


def test_facts_about_the_tasks_are_conditions_and_groups(call: Call, tmp_path: Path) -> None:
    tasks = [task(unit) for unit in examples.UNITS]
    tasks[0]["data"]["topic"] = "lung"
    path = write(tmp_path, ".json", json.dumps(tasks))
    rest = TRUTH.filter(pl.col("unit") != "1")
    assert alpha(result_of(call, path, "--where", "topic=heart")) == near(rest)


def test_a_second_annotation_of_a_task_needs_a_rule(call: Call, tmp_path: Path) -> None:
    tasks = [task(unit) for unit in examples.UNITS]
    again = dict(tasks[0]["annotations"][2], result=[examples.choice("quality", "good")])
    tasks[0]["annotations"].append({**again, "created_at": "2026-01-02"})
    path = write(tmp_path, ".json", json.dumps(tasks))
    code, _, err = call("agreement", path, *ONE)
    assert (code, "--repeat first" in err) == (2, True)
    changed = TRUTH.with_columns(
        pl.when(unit="1", rater="cleo").then(pl.lit("good")).otherwise("label").alias("label")
    )
    assert alpha(result_of(call, path, "--repeat", "first")) == near(TRUTH)
    assert alpha(result_of(call, path, "--repeat", "last")) == near(changed)


def test_roles_that_the_user_states_are_read(call: Call, tmp_path: Path) -> None:
    rows = [{**row, "text": f"t{row['id'] in ('1', '2')}"} for row in examples.FLAT]
    path = write(tmp_path, ".csv", examples.table(rows))
    named = ("--unit", "id", "--rater", "annotator", "--label", "quality", "--long")
    result = result_of(call, path, *named)
    assert (result["reading"], alpha(result)) == ("Label Studio's export", near(TRUTH))
    code, _, err = call("agreement", path, *ONE, "--unit", "nothing")
    assert (code, "'nothing'" in err) == (2, True)
    assert result_of(call, path, "--wide", "--unit", "id")["n_ratings"] == 3 * len(examples.FLAT)


SURVEY = pl.DataFrame(
    [
        (str(question), rater, label)
        for question, answers in enumerate(examples._ANSWERS)
        for rater, label in answers.items()
    ],
    schema=["unit", "rater", "label"],
    orient="row",
)


@pytest.mark.parametrize("name", SURVEYS)
def test_surveys_ask_once(name: str, call: Call, tmp_path: Path) -> None:
    """The printed command states the raters, and is right."""
    tool, ending, content = SURVEYS[name]
    path = write(tmp_path, ending, content)
    code, out, err = call("agreement", path, "--json")
    reading = json.loads(out)["reading"]
    assert (code, "are the respondents the raters" in err) == (2, True)
    assert reading["first_row"].startswith("rater 'ann': ")
    file, *options = printed_command(err)
    assert (file, "--raters-in-rows" in options) == (str(path), True)
    result = result_of(call, path, *options, "--level", "ordinal")
    assert alpha(result) == near(SURVEY, level="ordinal")
    assert result["reading"].startswith(f"{tool}'s export; 3 units, a column for each; raters in ")


def test_questions_that_are_no_ratings_are_left_out_of_a_survey(call: Call, tmp_path: Path) -> None:
    rows: Sequence[Any] = [
        {**row, "age": 30 + n, "kind": k}
        for n, (row, k) in enumerate(zip(examples.REDCAP, "aab", strict=True))
    ]
    path = write(tmp_path, ".csv", examples.table(rows))
    _, _, err = call("agreement", path)
    _, *options = printed_command(err)
    result = result_of(call, path, *options, "--level", "ordinal")
    assert alpha(result) == near(SURVEY, level="ordinal")
    assert result["reading"].endswith("q1, q2, q3; not used: age, kind")
    assert "--unused" not in options


def test_a_survey_whose_rows_are_units_is_read_as_stated(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, ".csv", SURVEYS["redcap"][2])
    result = result_of(call, path, "--rater", "q1", "--rater", "q2", "--unit", "record_id")
    assert (result["n_units"], result["n_raters"], result["reading"]) == (3, 2, "REDCap's export")


def test_several_questions_of_mechanical_turk_are_asked(call: Call, tmp_path: Path) -> None:
    """Kills: agreement on the remarks of workers, without a question or by the printed command."""
    more = {"Answer.feedback": "nice"}
    rows = [examples.assignment(u, r, label, **more) for (u, r), label in RATINGS.items()]
    path = write(tmp_path, ".csv", examples.table(rows))
    code, out, err = call("agreement", path, *ONE)
    assert (code, out) == (2, "")
    _, *options = printed_command(err)
    for stated in (options, ("--label", "quality")):
        assert alpha(result_of(call, path, *stated)) == near(TRUTH)


@pytest.mark.parametrize("name", OTHERS)
def test_one_annotator_is_refused(name: str, call: Call, tmp_path: Path) -> None:
    code, _, err = call("agreement", write(tmp_path, *OTHERS[name][1:]), *ONE)
    assert (code, "Traceback" in err) == (2, False)


@pytest.mark.slow
def test_scorers_of_a_log_are_asked(call: Call, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    first, second = "CCICI", "CIICI"
    samples = [
        sample(f"q{n}", scores={"strict": {"value": a}, "lenient": {"value": b}})
        for n, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    path = write_json_log(tmp_path / "any.json", samples)
    code, _, err = call("agreement", path, *ONE)
    assert code == 2
    _, *options = printed_command(err)
    result = result_of(call, path, *options)
    scores = {"strict": list(first), "lenient": list(second)}
    expected = near(pl.DataFrame(scores), layout="wide")
    assert alpha(result) == expected
    lone = [sample(f"q{n}", scores={"strict": {"value": "C"}}) for n in range(5)]
    code, _, err = call("agreement", write_json_log(tmp_path / "lone.json", lone), *ONE)
    assert (code, "If so" in err) == (2, False)


def test_the_export_of_one_rater_is_refused_with_the_files_of_all(
    call: Call, tmp_path: Path
) -> None:
    """Kills: a refusal that leaves the other files to be found; one that reads another tool's."""
    states = []
    for rater in examples.RATERS:
        (tmp_path / rater).mkdir()
        states.append(
            write(tmp_path / rater, ".json", json.dumps(examples.potato_state(rater)), "state")
        )
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", ".json", '{"user_id": "x"}', "state")
    texts = tmp_path / "texts"
    texts.mkdir()
    doccano = [
        write(
            texts,
            ".jsonl",
            examples.lines(
                [
                    {"id": int(unit), "text": f"Answer {unit}", "label": [label]}
                    for (unit, name), label in RATINGS.items()
                    if name == rater
                ]
            ),
            rater,
        )
        for rater in examples.RATERS
    ]
    write(texts, ".jsonl", '{"id": 1, "score": 3}\n', "scores")
    for files in (states, doccano):
        code, out, err = call("agreement", files[0], "--resamples", 100)
        assert (code, out) == (2, "")
        (line,) = re.findall(r"^If so: konsil (.*)$", err, re.MULTILINE)
        words = shlex.split(line)
        assert [Path(word) for word in words if Path(word).is_file()] == files
        code, out, err = call(*words, "--json")
        assert (code, err) == (0, "")
        document = json.loads(out)
        assert (document["n_raters"], document["n_ratings"]) == (3, len(RATINGS))
    alone = tmp_path / "alone"
    alone.mkdir()
    code, _, err = call(
        "agreement", write(alone, ".json", json.dumps(examples.potato_state("ann")), "one")
    )
    assert code == 2 and "only one rater ('ann')" in err and "If so" not in err
