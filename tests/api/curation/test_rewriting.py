"""From questions to accepted wordings: asked, killed, resumed, decided in a table, shown
everywhere, never too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.calls import CallRequest
from konsil.api.curation.requests import RewritingRequest
from konsil.api.curation.rewriting import progress_lines, rewrite_items
from konsil.api.rehearsal.rehearsal import simulate, truth_of
from konsil.api.running.planning import make_plan
from konsil.cli import main
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.collect.jobs.systems import answer
from konsil.errors import CollectError, PlanError, SourceError, StudyError
from konsil.prepare.questions.rewriting import Accepted, decided_event
from konsil.records import Answer
from konsil.store import Batch
from konsil.store.calls.calls import Calls
from konsil.store.curation.rewriting import Choice, decide
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens
from small_studies import (
    ITEMS,
    form,
    import_items,
    plan,
    raters,
    share_correct,
    study_text,
    systems,
)
from tables_of_csv import read_rows, write_rows

AT = "2025-03-01T12:00:00Z"
STUDY = study_text(
    "Reworded",
    form(),
    systems("a", model="fake:"),
    raters("p1"),
    raters("j1", panel="judges", kind="llm"),
    '[[judges]]\nrater = "j1"\nmodel = "fake:"',
    ITEMS,
    '[prepare.rewrite]\nmodel = "fake:seed=4"',
    plan(),
    plan("judges"),
    share_correct("judges"),
    seed=3,
    licence="CC0-1.0",
)
TEXTS = (
    "hi, pt w AF, stop apixaban? thanks",
    "Which dose at GFR 35?",
    "=pls compare both",
    "hx of dvt",
)
WORDED = (
    "Patient with AF, stop apixaban?",
    "Which dose at GFR 35?",
    "=please compare both?",
    "History of dvt?",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return import_items(
        tmp_path, STUDY, [("item", "text"), *((f"q{n}", text) for n, text in enumerate(TEXTS))]
    ).path


def _decided(folder: Path, *verdicts: tuple[str, str, str]) -> Path:
    return write_rows(folder / "decisions.csv", [("item", "rewritten", "decision"), *verdicts])


def test_from_the_model_to_pages_judges_and_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "rewritten.csv"
    main(["rewrite", str(folder), "--dry-run"])
    assert "rewrite: 4 to call" in capsys.readouterr().out
    main(["rewrite", str(folder), "--table", str(table)])
    out = capsys.readouterr().out
    assert "4 questions, 4 rewritten by the model, 1 of them unchanged" in out
    assert "3 await a decision" in out
    assert "rewritten questions: 3 of 4 await a decision" in _status(folder, capsys)
    rows = read_rows(table)
    assert [row["item"] for row in rows] == ["q0", "q2", "q3", "q1"]
    assert [row["rewritten"].lstrip("'") for row in rows] == [
        WORDED[0],
        WORDED[2],
        WORDED[3],
        WORDED[1],
    ]
    opened = open_folder(folder)
    with pytest.raises(PlanError, match="3 of 4 questions await a decision"):
        make_plan(opened)
    with opened.store() as store, pytest.raises(CollectError, match="3 of 4 questions await"):
        answer(opened.study, store)
    for row, verdict in zip(rows, ("accept", "Accept", "keep", ""), strict=True):
        row["decision"] = verdict
    rows[0]["rewritten"] = "Stop apixaban in a patient with AF?"
    write_rows(table, [tuple(rows[0]), *(tuple(row.values()) for row in rows)])
    main(["rewrite", str(folder), "--decisions", str(table), "--by", "p-1"])
    assert (
        "decided by reviewers: 1 accepted, 1 edited, 1 left unchanged\n0 await a decision"
        in capsys.readouterr().out
    )
    main(["rewrite", str(folder), "--decisions", str(table), "--by", "p-1"])
    assert "nothing has changed" in capsys.readouterr().out
    accepted = ["Stop apixaban in a patient with AF?", TEXTS[1], WORDED[2], TEXTS[3]]
    with opened.store() as store:
        answer(opened.study, store)
        asked = [call for call in Calls(store).each() if call.kind == "answer"]
        assert len(asked) == 4
    make_plan(opened)
    with opened.store() as store:
        shown = Calls(store).to_judge({"j1"})[1]
        assert [shown[f"q{n}"].text for n in range(4)] == accepted
        with reading(store.engine) as connection:
            page = screens.item(connection, "q0")
        assert page is not None
        assert page.text == accepted[0]
        judge(opened.study, store)
        assert [item.text for item in store.items()] == list(TEXTS)
    assert [item.text for item in opened.data().items] == accepted
    status = _status(folder, capsys)
    assert "before the study, rewrite: 4 ok" in status
    assert "rewritten questions: 0 of 4 await a decision" in status


@pytest.mark.slow
def test_both_wordings_are_exported_and_the_report_counts(folder: Path) -> None:
    opened = open_folder(folder)
    rewrite_items(opened)
    verdicts = [("q0", WORDED[0], "accept"), ("q2", "Compare both.", "accept"), ("q3", "", "keep")]
    rewrite_items(opened, RewritingRequest(decisions=_decided(folder, *verdicts)))
    with opened.store() as store:
        answer(opened.study, store)
    make_plan(opened)
    with opened.store() as store:
        judge(opened.study, store)
    opened.export(folder / "out", "csv")
    assert [row["text"] for row in read_rows(folder / "out" / "items.csv")] == [
        "'" + t if t[0] == "=" else t for t in TEXTS
    ]
    assert read_rows(folder / "out" / "sample.csv")[0]["text"] == WORDED[0]
    back = _empty(folder / "back")
    open_folder(back).import_export(folder / "out")
    assert open_folder(back).data().items == opened.data().items
    opened.release(folder / "release", linked=True)
    released = {row["id"]: row["text"] for row in read_rows(folder / "release" / "items.csv")}
    assert released == {"q0": WORDED[0], "q1": TEXTS[1], "q2": "Compare both.", "q3": TEXTS[3]}
    told = read_rows(folder / "release" / "rewritten.csv")
    assert [(row["item"], row["verdict"]) for row in told] == [
        ("q0", "accept"),
        ("q2", "edit"),
        ("q3", "keep"),
    ]
    assert "before" not in told[0]
    opened.release(folder / "noted", notes=True, linked=True)
    assert read_rows(folder / "noted" / "rewritten.csv")[2]["before"] == TEXTS[3]
    page = opened.report().read_text("utf-8")
    for words in (
        "Items rewritten by a model",
        "edited by people",
        "original wording retained",
        "Wording unchanged by the model",
    ):
        assert words in page
    assert "Before data collection, language models proposed rewritten questions" in page


@pytest.mark.slow
def test_a_rehearsal_keeps_the_questions_as_they_are(folder: Path) -> None:
    (folder / "study.toml").write_text(
        STUDY.replace("licence", "simulated = true\nlicence", 1), "utf-8"
    )
    (folder / "simulation.toml").write_text(
        "[panels.people]\naccuracy = 0.9\n[panels.judges]\naccuracy = 0.8\n", "utf-8"
    )
    opened = open_folder(folder)
    simulate(opened, truth_of(opened))
    assert [item.text for item in opened.data().items] == list(TEXTS)
    assert "Reviewers' decisions on rewritten" not in opened.report().read_text("utf-8")


def test_what_was_answered_before_needs_no_decision(folder: Path) -> None:
    opened = open_folder(folder)
    with opened.store() as store:
        store.add(
            Batch(answers=[Answer(f"q{n}:a", f"q{n}", "a", "Yes.") for n in range(4)]),
            source="x",
            at=AT,
        )
    done = rewrite_items(opened)
    assert (done.open, done.proposed) == ((), {})
    assert len(make_plan(opened).tasks) == 8


def _empty(path: Path) -> Path:
    path.mkdir()
    (path / "study.toml").write_text(STUDY, "utf-8")
    return path


def _status(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["status", str(folder)])
    return capsys.readouterr().out


def test_what_was_answered_keeps_its_words(folder: Path) -> None:
    opened = open_folder(folder)
    rewrite_items(opened)
    keep = [(f"q{n}", "", "keep") for n in range(4)]
    rewrite_items(opened, RewritingRequest(decisions=_decided(folder, *keep)))
    with opened.store() as store:
        answer(opened.study, store, Options(limit=1))
        answered = store.answers()[0].item
    late = _decided(folder, *((f"q{n}", "Another wording?", "accept") for n in range(4)))
    with pytest.raises(
        PlanError, match=f"{answered}.*already answered or rated with its present wording"
    ):
        rewrite_items(opened, RewritingRequest(decisions=late))
    with opened.store() as store:  # all or none
        assert all(e.data["verdict"] == "keep" for e in store.events() if e.kind == "rewriting")
        assert decide(store, [Choice(answered, "keep")], by="kim", at="2025-03-01T12:00:00Z") == 0
        others = [Choice(f"q{n}", "accept") for n in (0, 2, 3) if f"q{n}" != answered]
        assert decide(store, others, by="kim", at="2025-03-01T12:00:00Z") == len(others)


def test_a_stopped_run_goes_on_and_asks_nothing_twice(folder: Path) -> None:
    opened = open_folder(folder)
    first = rewrite_items(opened, RewritingRequest(calls=CallRequest(limit=2)))
    assert len(first.proposed) == 2
    second = rewrite_items(opened)
    assert second.run is not None
    assert (second.run.progress.calls, len(second.proposed)) == (2, 4)
    assert rewrite_items(opened).run.progress.calls == 0  # type: ignore[union-attr]
    with opened.store() as store:
        assert sum(e.kind == "rewriting proposed" for e in store.events()) == 4


def test_replies_that_cannot_be_read_are_counted_and_decided_by_people(folder: Path) -> None:
    text = STUDY.replace("fake:seed=4", "fake:malformed=1")
    (folder / "study.toml").write_text(text, "utf-8")
    opened = open_folder(folder)
    done = rewrite_items(opened)
    assert (done.unreadable, len(done.proposed), len(done.open)) == ({"not json": 4}, 0, 4)
    with pytest.raises(PlanError, match="a missing rewriting"):
        rewrite_items(opened, RewritingRequest(decisions=_decided(folder, ("q1", "", "accept"))))
    own = rewrite_items(
        opened,
        RewritingRequest(
            decisions=_decided(folder, ("q1", "Which dose at a GFR of 35?", "accept"))
        ),
    )
    assert own.decided["q1"].verdict == "edit"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((("q9", "x", "keep"),), "there is no item 'q9'"),
        (
            (("q1", "x", "acept"),),
            "the decision 'acept' is not one of 'accept', 'keep'; did you mean 'accept'",
        ),
        ((("q1", "x", "keep"), ("q1", "x", "accept")), "'q1' is decided as 'accept' and as 'keep'"),
    ],
)
def test_broken_tables_change_nothing(
    folder: Path, rows: tuple[tuple[str, str, str], ...], says: str
) -> None:
    opened = open_folder(folder)
    rewrite_items(opened)
    with pytest.raises(SourceError, match=says):
        rewrite_items(opened, RewritingRequest(decisions=_decided(folder, *rows)))
    with opened.store() as store:
        assert not [e for e in store.events() if e.kind == "rewriting"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('model = "fake:seed=4"', "", r"prepare\.rewrite\.model: missing"),
        (
            'model = "fake:seed=4"',
            'model = "hostd:m"',
            r"prepare\.rewrite\.model: there is no endpoint 'hostd'",
        ),
        (
            'model = "fake:seed=4"',
            'modl = "fake:"',
            r"prepare\.rewrite\.modl: unknown key; did you mean 'model'",
        ),
        (
            "seed=4",
            'seed=4"\nprompts = { rewrit = "x" }\nlanguage = "de',
            r"there is no prompt 'rewrit' here",
        ),
        (
            "seed=4",
            'seed=4"\nprompts = { rewrite = "p.md" }\nlanguage = "de',
            r"the file 'p.md' does not exist",
        ),
        (
            "seed=4",
            'seed=4"\nsettings = { temprature = 0 }\nlanguage = "de',
            r"rewrite\.settings: temprature: unknown key",
        ),
        (
            "seed=4",
            'seed=4"\nsettings = { tools = ["web_search"] }\nlanguage = "de',
            r"settings\.tools: applies to systems",
        ),
        (
            "[prepare.rewrite]",
            "[prepare]\nlexical_match = true\n[prepare.rewrite]",
            "selected by their answers",
        ),
    ],
)
def test_what_is_wrong_with_a_protocol_is_told(folder: Path, old: str, new: str, says: str) -> None:
    (folder / "study.toml").write_text(STUDY.replace(old, new, 1), "utf-8")
    with pytest.raises(StudyError, match=says):
        open_folder(folder)


def test_a_wording_with_a_warning_needs_an_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        ("q0", "Mrs Smith with AF, stop apixaban?", "accept"),
        ("q3", "History of no dvt?", "accept"),
    )
    table = _decided(folder, *rows)
    with pytest.raises(SystemExit):
        main(["rewrite", str(folder), "--decisions", str(table), "--by", "p-1"])
    said = capsys.readouterr().err
    assert (
        "item 'q0': possible identifier: Mrs Smith; item 'q3': negations: none in the question,"
        " no in" in said
    )
    with open_folder(folder).store() as store:
        assert not [event for event in store.events() if event.kind == "rewriting"], (
            "all or nothing"
        )
    answered = [(*row, f"because {row[0]}") for row in rows]
    write_rows(table, [("item", "rewritten", "decision", "answer"), *answered])
    main(["rewrite", str(folder), "--decisions", str(table), "--by", "p-1"])
    with open_folder(folder).store() as store:
        held = {event.subject: event.data for event in store.events() if event.kind == "rewriting"}
    assert (held["q0"]["despite"], held["q0"]["by"]) == ("because q0", "staff-1")
    assert held["q0"]["warnings"] == ["possible identifier: Mrs Smith"]
    main(["curation", str(folder)])
    assert "rewording\n  edit despite a warning: 2 by staff-1 (p-1)\n" in capsys.readouterr().out


def test_a_wording_that_was_accepted_before_is_looked_at_again(folder: Path) -> None:
    opened = open_folder(folder)
    with opened.store() as store:
        item = store.items()[0]
        event = decided_event(
            item,
            Accepted("edit", "Mrs Smith has AF, stop apixaban?", "table"),
            "2025-03-01T12:00:00Z",
        )
        store.add(Batch(events=[event]), source="t", at=event.at)
    assert any(
        "1 accepted with an unanswered warning (q0)" in one
        for one in progress_lines(
            rewrite_items(opened, RewritingRequest(calls=CallRequest(dry_run=True)))
        )
    )
