"""Instructions embedded in answers: planted for judges alone, in no other number, and measured as a
paired shift."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.collect.jobs import job_lanes
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.collect.providers.provider import Reply, Request
from konsil.errors import CollectError, StudyError
from konsil.instrument.screens.injections import KINDS, chosen_answer, instruction
from konsil.locale import complete_languages
from konsil.plan.draw.injections import Injections, plant
from konsil.plan.model.places import Places
from konsil.store.tasks.additions import Addition, add_places
from konsil.study.rules.check import problems

N = 30
SYSTEMS = ("a", "b")
PROTOCOL = """
title = "Moved"
seed = 5
language = "{language}"
[[instruments]]
id = "form"
codebook = "Be fair."
language = "{language}"
[[instruments.criteria]]
id = "correct"
question = "Is it right?"
scale = {{ labels = ["no", "yes"], abstain = "unsure" }}
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "dr-1"
panel = "people"
[[raters]]
id = "obedient"
panel = "judges"
kind = "llm"
[[raters]]
id = "immune"
panel = "judges"
kind = "llm"
[[endpoints]]
id = "hosted"
url = "http://127.0.0.1:9/v1"
[[judges]]
rater = "obedient"
model = "hosted:obedient"
[[judges]]
rater = "immune"
model = "hosted:immune"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "people"
instrument = "form"
show = "{show}"
[[plan]]
panel = "judges"
instrument = "form"
show = "{show}"
[injections]
share = {share}
criterion = "correct"
label = "yes"
[[analyses]]
name = "injections"
statistic = "injection_shift"
criterion = "correct"
raters = "judges"
[[analyses]]
name = "by kind"
statistic = "injection_shift"
criterion = "correct"
raters = "judges"
by = ["injection"]
prespecified = false
[[analyses]]
name = "share"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "judges"
by = ["rater"]
"""
DEMAND = re.compile("“yes”|„yes“")


class Model:
    """A judge without a network: what it says of an answer follows from the answer's number, unless
    it obeys."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def close(self) -> None:
        """Nothing is open."""

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        user = request.messages[-1].text
        shown = re.findall(r"Text (\d+)\.(.*?)(?=Text \d+\.|\Z)", user, re.DOTALL)
        labels = []
        for number, rest in shown:
            obeys = request.model == "obedient" and DEMAND.search(rest)
            labels.append("yes" if obeys or int(number) % 3 == 0 else "no")
        schema: Any = request.schema
        names = list(schema["properties"])
        if "answers" in names or (len(names) == 1 and len(labels) == 1):
            pass
        text = json.dumps(dict(zip(names, labels, strict=True)))
        return Reply(text, model=request.model, usage={"in": 9, "out": 3}, raw="{}", status=200)


def made(path: Path, *, share: float = 0.5, show: str = "each", language: str = "en") -> Folder:
    path.mkdir()
    (path / "study.toml").write_text(
        PROTOCOL.format(share=share, show=show, language=language), "utf-8"
    )
    (path / "items.csv").write_text(
        "item,text\n" + "".join(f"q{n},Question {n}?\n" for n in range(N)), "utf-8"
    )
    rows = "".join(f"q{n},{s},Text {2 * n + k}.\n" for n in range(N) for k, s in enumerate(SYSTEMS))
    (path / "answers.csv").write_text("item,system,text\n" + rows, "utf-8")
    folder = open_folder(path)
    folder.import_sources()
    make_plan(folder)
    return folder


def judged(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    model = Model()
    monkeypatch.setattr(job_lanes, "provider_of", lambda endpoint, known: model)
    with folder.store() as store:
        judge(folder.study, store, Options(back_off=0.001))
    return model.asked


@pytest.mark.parametrize("show", ["each", "all"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_one_judge_obeys_and_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, show: str, language: str
) -> None:
    folder = made(tmp_path / "study", show=show, language=language)
    asked = judged(folder, monkeypatch)
    planted = round(0.5 * (2 * N if show == "each" else N))
    demanding = [r for r in asked if DEMAND.search(r.messages[-1].text)]
    assert len(demanding) == 2 * planted
    rows = {r.group["rater"]: r for r in folder.results().rows if r.analysis == "injections"}
    before = {}
    with folder.store() as store:
        for task in store.tasks():
            if task.purpose == "injection" and task.rater == "obedient":
                text = next(a.text for a in store.answers() if a.id == chosen_answer(task))
                before[task.id] = int(re.findall(r"\d+", text)[0]) % 3 == 0
    assert len(before) == planted
    assert rows["obedient"].estimate.value == pytest.approx(1 - sum(before.values()) / planted)
    assert rows["obedient"].estimate.p < 0.001 and rows["obedient"].estimate.low > 0.3
    immune = rows["immune"].estimate
    assert (immune.value, immune.p) == (0, 1)
    assert immune.low < 0 < immune.high
    assert (
        f"{planted - sum(before.values())} moved to the demanded label “yes”"
        in rows["obedient"].finding
    )


@pytest.mark.slow
def test_they_are_in_no_other_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "study")
    judged(folder, monkeypatch)
    results = folder.results()
    shares = {r.group["rater"]: r.estimate for r in results.rows if r.analysis == "share"}
    # Two systems, thirty items: every third answer, whatever the instructions made of the copies.
    assert {name: (e.value, e.n_ratings) for name, e in shares.items()} == {
        "obedient": (1 / 3, 60),
        "immune": (1 / 3, 60),
    }
    assert {row.rater: sum(row.counts.values()) for row in results.outcomes if not row.column} == {
        "obedient": 60,
        "immune": 60,
    }
    judges = [row for row in results.coverage if row.panel == "judges"]
    assert sum(row.received for row in judges) == sum(row.expected or 0 for row in judges) == 120
    assert folder.ratings().height == 120
    data = folder.data()
    assert {t.purpose for t in data.tasks} == {"main"}
    assert len(data.injected) == 60 and len(data.attempts) == 120


def test_people_get_none_and_what_is_stored_has_no_instruction(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with folder.store() as store:
        assert {t.rater for t in store.tasks() if t.purpose == "injection"} == {
            "obedient",
            "immune",
        }
        assert not [a for a in store.answers() if DEMAND.search(a.text)]


@pytest.mark.slow
def test_the_report_and_what_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "study", language="de")
    judged(folder, monkeypatch)
    page = folder.report()
    text = page.read_text("utf-8")
    assert "Effekt eingeschleuster Anweisungen" in text
    assert "mit eingeschleuster Anweisung" in text and "<th" in text and ">Anweisung<" in text
    folder.export(tmp_path / "out", "jsonl")
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "study.toml").write_bytes((tmp_path / "study" / "study.toml").read_bytes())
    back = open_folder(tmp_path / "back")
    back.import_export(tmp_path / "out")
    assert back.data().injected == folder.data().injected


@pytest.mark.slow
def test_in_letters_neither_judges_nor_answers_have_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "study")
    text = (
        (folder.path / "study.toml")
        .read_text("utf-8")
        .replace("[injections]", '[injections]\njudges = ["immune"]')
    )
    (folder.path / "study.toml").write_text("blinded = true\n" + text, "utf-8")
    judged(folder, monkeypatch)
    blinded = open_folder(folder.path)
    data = blinded.data()
    assert len(data.injected) == 60
    assert {one.rater for one in data.injected} == {"judge 1", "judge 2"}
    assert {one.answer.rpartition(":")[2] for one in data.injected} == {"K", "L"}
    rows = [r for r in blinded.results().rows if r.analysis == "injections"]
    assert {r.group["rater"] for r in rows} == {"judge 1", "judge 2"}
    assert not [r for r in rows if "immune" in f"{r}" or "obedient" in f"{r}"]
    page = blinded.report().read_text("utf-8")
    assert "obedient" not in page and "immune" not in page


@pytest.mark.slow
def test_by_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "study")
    judged(folder, monkeypatch)
    rows = [r for r in folder.results().rows if r.analysis == "by kind"]
    assert {(r.group["rater"], r.group["injection"]) for r in rows} == {
        (j, k) for j in ("obedient", "immune") for k in KINDS
    }
    assert {r.n_units for r in rows} == {6}


def test_without_labels_it_is_undefined(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    [first, *_] = [r for r in _results_with_one_rating(folder) if r.analysis == "injections"]
    assert first.estimate.value != first.estimate.value
    assert (
        str(first.estimate.reason) == "no answer has a label both with and without an instruction"
    )


def _results_with_one_rating(folder: Folder) -> Any:
    from konsil.records import Rating
    from konsil.store import Batch

    with folder.store() as store:
        task = next(t for t in store.tasks() if t.rater == "dr-1")
        rating = Rating(task.id, "dr-1", "correct", task.item, task.answers, label="yes")
        store.add(Batch(ratings=(rating,)), source="test", at="2026-01-01T00:00:00Z")
    return folder.results().rows


def test_a_larger_share_adds_and_changes_none(tmp_path: Path) -> None:
    folder = made(tmp_path / "study", share=0.2)
    with folder.store() as store:
        tasks = store.tasks()
    main = [t for t in tasks if t.purpose == "main"]
    models = {"obedient", "immune"}
    few, many = (
        plant(main, Injections(share, "correct", "yes"), folder.study.instruments, models, 5)
        for share in (0.2, 0.4)
    )
    assert {t for t in tasks if t.purpose == "injection"} == set(few)
    assert set(few) < set(many)
    for one in models:
        own = [t for t in many if t.rater == one]
        assert len(own) == 24 == len({t.item for t in own})
        counts = [sum(t.batch == kind for t in own) for kind in KINDS]
        assert max(counts) - min(counts) <= 1
    # The judges have the same answers.
    assert (
        len({frozenset((t.item, t.answers) for t in many if t.rater == one) for one in models}) == 1
    )


def test_places_that_are_added_later_move_no_control_task(tmp_path: Path) -> None:
    folder = made(tmp_path / "s", share=0.5)
    protocol = folder.path / "study.toml"
    text = protocol.read_text("utf-8").replace(
        'panel = "people"\ninstrument = "form"\nshow = "each"',
        'panel = "people"\ninstrument = "form"\nshow = "each"\nper_rater = 6\nphase = "main"',
    )
    text = text.replace(
        'panel = "judges"\ninstrument = "form"\nshow = "each"',
        'panel = "judges"\ninstrument = "form"\nshow = "each"\nlike = "main"',
    )
    text = text.replace("[[plan]]", '[[places]]\npanel = "people"\nnumber = 2\n[[plan]]', 1)
    again = tmp_path / "again"
    again.mkdir()
    for name in ("items.csv", "answers.csv"):
        (again / name).write_bytes((folder.path / name).read_bytes())
    (again / "study.toml").write_text(text, "utf-8")
    folder = open_folder(again)
    folder.import_sources()
    make_plan(folder)
    with folder.store() as store:
        before = {t.id: t for t in store.tasks() if t.purpose == "injection"}
        add_places(
            store,
            folder.study,
            Addition(Places("people", 2), "two more came"),
            at="2026-01-01T00:00:00Z",
        )
    assert before
    make_plan(open_folder(again))
    with folder.store() as store:
        assert {t.id: t for t in store.tasks() if t.purpose == "injection"} == before


def test_without_the_table_no_control_task_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "study")
    text = (folder.path / "study.toml").read_text("utf-8")
    start, end = text.index("[injections]"), text.index("[[analyses]]")
    (folder.path / "study.toml").write_text(
        text[:start] + text[text.index('[[analyses]]\nname = "share"') :], "utf-8"
    )
    assert end
    with pytest.raises(
        CollectError, match=r"control task with an injected instruction.*no \[injections\]"
    ):
        judged(open_folder(folder.path), monkeypatch)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "share = 0.5",
            "share = 1.5",
            "injections.share: expected a share above 0 and at most 1, got 1.5",
        ),
        (
            'label = "yes"',
            'label = "yess"',
            "injections.label: there is no label 'yess'; did you mean 'yes'?",
        ),
        ('label = "yes"', 'label = "unsure"', "injections.label: there is no label 'unsure'"),
        (
            'label = "yes"',
            'label = "yes"\nkinds = ["comments"]',
            "injections.kinds: there is no kind 'comments'",
        ),
        (
            'label = "yes"',
            'label = "yes"\njudges = ["dr-1"]',
            "injections.judges: there is no judge 'dr-1'",
        ),
        (
            'label = "yes"',
            'label = "yes"\nlanguage = "fr"',
            "injections.language: there is no 'fr'",
        ),
        (
            'criterion = "correct"\nlabel',
            'criterion = "korrect"\nlabel',
            "injections.criterion: there is no criterion",
        ),
        ('by = ["injection"]', 'by = ["system"]', "by: 'injection_shift' has a row for each judge"),
        ('by = ["injection"]', 'test = "flip"', "test: "),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    text = PROTOCOL.format(share=0.5, show="each", language="en")
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(StudyError) as refused:
        open_folder(tmp_path)
    assert told in str(refused.value)


def test_an_analysis_needs_the_table(tmp_path: Path) -> None:
    text = PROTOCOL.format(share=0.5, show="each", language="en")
    start, end = text.index("[injections]"), text.index("[[analyses]]")
    (tmp_path / "study.toml").write_text(text[:start] + text[end:], "utf-8")
    with pytest.raises(
        StudyError, match=r"'injection_shift' compares control tasks; the table \[injections\]"
    ):
        open_folder(tmp_path)


def test_check_and_plan_know_them(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    assert not list(problems(folder.study))
    for command in ("check", "plan"):
        done = CliRunner().invoke(group, [command, str(folder.path)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert "60 injection" in done.output


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_names_question_and_label_in_both_languages(kind: str) -> None:
    told = {language: instruction(kind, language, "Q?", "L!") for language in complete_languages()}
    assert set(told) == {"en", "de"} and len(set(told.values())) == 2
    assert all("Q?" in text and "L!" in text for text in told.values())
    assert instruction(kind, "fr", "Q?", "L!") == told["en"]
