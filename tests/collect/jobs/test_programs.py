"""The program that rates: what it finds, what it leaves alone, and that `konsil judge` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.collect.jobs.programs import named
from konsil.errors import StudyError
from konsil.records import Item
from konsil.study.sections.calling import settings_of

STUDY = """
title = "Who names it"
seed = 1
[[instruments]]
id = "naming"
show_reference = true
show_reasoning = true
[[instruments.criteria]]
id = "reasoning_names"
question = "Does the reasoning name the diagnosis?"
scale = { labels = ["no", "yes"] }
[[instruments.criteria]]
id = "answer_names"
question = "Does the final response name the diagnosis?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "s"
[[raters]]
id = "finder"
panel = "detector"
kind = "program"
[[programs]]
rater = "finder"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "detector"
instrument = "naming"
"""
ITEMS = """item,text,reference,aliases
i1,A case,multiple sclerosis,MS | disseminated sclerosis
i2,A case,Sarkoidose,
i3,A case,gout,
i4,A case,,
"""
ANSWERS = """item,system,text,reasoning
i1,s,Vasculitis.,Could be MS or a vasculitis.
i2,s,Sarcoidosis,Granulomas.
i3,s,Not gout but septic arthritis,Gout was considered and ruled out.
i4,s,Gout,Gout
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    for name, text in (("study.toml", STUDY), ("items.csv", ITEMS), ("answers.csv", ANSWERS)):
        (tmp_path / name).write_text(text, "utf-8")
    opened = open_folder(tmp_path)
    opened.import_sources()
    make_plan(opened)
    return opened


def test_judge_runs_the_program_once(folder: Folder) -> None:
    run = CliRunner().invoke
    path = str(folder.path)
    done = run(group, ["judge", path, "--dry-run"])
    assert done.output == "finder: 3 tasks rated by the program, 0 before, 1 without a reference\n"
    assert not folder.store().ratings()
    run(group, ["judge", path])
    with folder.store() as store:
        said = {(r.item, r.criterion): (r.label, r.note) for r in store.ratings()}
    assert said == {
        ("i1", "reasoning_names"): ("yes", "'MS' at 9: named"),
        ("i1", "answer_names"): ("no", ""),
        ("i2", "reasoning_names"): ("no", ""),
        ("i2", "answer_names"): ("yes", "'Sarcoidosis' at 0: form"),
        ("i3", "reasoning_names"): ("yes", "'Gout' at 0: named"),
        ("i3", "answer_names"): ("no", ""),
    }
    done = run(group, ["judge", path, "--judge", "finder"])
    assert done.output == "finder: 0 tasks rated by the program, 3 before, 1 without a reference\n"
    done = run(group, ["judge", path, "--judge", "nobody"])
    assert done.exit_code != 0


def test_misspellings_are_a_matter_of_the_study() -> None:
    item = Item("i", "?", "sarcoidosis")
    found = named(item, "sarcodosis; sarcoidosis")
    assert found is not None
    assert (found.start, found.way) == (12, "named")
    assert named(item, "sarcodosis") is not None
    assert named(item, "sarcodosis", misspelt=False) is None
    assert named(item, "sarcoid granulomas") is None


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            'rater = "finder"',
            'rater = "findre"',
            "program 'findre', rater: there is no rater of kind 'program' 'findre'; did",
        ),
        (
            'rater = "finder"',
            'rater = "finder"\nreasoning = ""\nanswer = ""',
            "program 'finder': is empty",
        ),
        (
            'rater = "finder"',
            'rater = "finder"\nanswer = ""',
            "also contains 'answer_names', which this program cannot rate",
        ),
        (
            'rater = "finder"',
            'rater = "finder"\nanswer = "answers_names"',
            "has no criterion 'answers_names'; did you",
        ),
        (
            'labels = ["no", "yes"]',
            'labels = ["no", "part", "yes"]',
            "expected one about an answer, with two labels",
        ),
        (
            'rater = "finder"',
            'rater = "finder"\nmispelt = true',
            "unknown key; did you mean 'misspelt'?",
        ),
    ],
)
def test_what_is_wrong_with_a_program_is_told(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(before, after), "utf-8")
    with pytest.raises(StudyError) as error:
        open_folder(tmp_path)
    assert told in str(error.value)


def test_examples_and_sections_of_a_called_system(tmp_path: Path) -> None:
    from konsil.collect.jobs.systems import _job
    from konsil.study import parse

    text = (
        'title = "t"\nseed = 1\n[[systems]]\nid = "s"\nmodel = "fake:m"\n[systems.settings]\nsystem'
        ' = "Be brief."\ntemplate = "Case: {text}"\nsections = ["Thinking", "Final"]\nexamples = [{'
        ' text = "Fever", answer = "one.md" }]\n'
    )
    study = parse(text, {"one.md": "Thinking: heat\nFinal: influenza"}.__getitem__)
    request = _job(study, study.systems[0], {"i": Item("i", "Rash")}).request("i")
    assert [(m.role, m.text) for m in request.messages] == [
        ("system", "Be brief."),
        ("user", "Case: Fever"),
        ("assistant", "Thinking: heat\nFinal: influenza"),
        ("user", "Case: Rash"),
    ]
    assert settings_of(study.systems[0].settings, "").sections == ("Thinking", "Final")


def test_a_reply_is_kept_in_its_sections() -> None:
    from konsil.collect.jobs.systems import answer_of
    from konsil.records import Call

    reply = {"text": "Thinking: heat\nFinal: influenza\n", "reasoning": "native"}
    call = Call("w", 1, "answer", "s", "i", "k", "fake", "m", "ok", 1, 200, reply=reply)
    kept = answer_of(call, ("Thinking", "Final"))
    assert (kept.reasoning, kept.text) == ("native\n\nheat", "influenza")
    whole = answer_of(call)
    assert (whole.reasoning, whole.text) == ("native", "Thinking: heat\nFinal: influenza")


def test_a_fake_model_thinks_of_the_answer_as_often_as_it_is_told() -> None:
    import random

    from konsil.collect.fake.fake import script_of
    from konsil.collect.providers.provider import Message, Request
    from konsil.collect.providers.replies import read_body
    from konsil.collect.running.verdicts import part_thoughts

    asked = [Request("m", (Message("user", f"Case {n}"),)) for n in range(200)]
    known = {f"Case {n}": "sarcoidosis" for n in range(200)}
    script = script_of("right=0.5,reasons=0.8", known)
    replies = [read_body(script.act(one)[1]) for one in asked]
    parted = [part_thoughts(r.text) for r in replies if r is not None]
    assert len(parted) == 200
    assert all("<think>" not in text for _, text in parted)
    n_thought = sum("sarcoidosis" in reasoning for reasoning, _ in parted)
    n_said = sum(text == "sarcoidosis" for _, text in parted)
    assert 140 < n_thought < 180
    assert 80 < n_said < 120
    assert script_of("reasons=0", known).rule(asked[0], random.Random(1)).startswith("<think>")
