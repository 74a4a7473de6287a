"""CQA-Eval end to end, small: from questions to the report by commands, people through the pages,
fake models."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.running.invitations import invite
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.prepare import in_study
from konsil.records import Answer
from konsil.rehearse import Replies, Server, work
from konsil.rehearse.panel import REASON
from konsil.rehearse.people import Person
from konsil.rehearse.replies import about
from konsil.simulate import CriterionTruth, PanelTruth, SystemTruth, Truth
from konsil.study.sections.calibration import REASON as WRITTEN

SIZES = (
    ("coarse-first = 27", "coarse-first = 2"),
    ("fine-first = 23", "fine-first = 1"),
    ("size = 106", "size = 8"),
    ("pilot-coarse = 3", "pilot-coarse = 1"),
    ("pilot-fine = 3", "pilot-fine = 1"),
    ("batches = 9", "batches = 3"),
    ("spans = 6", "spans = 3"),
    ("per_rater = 2", "per_rater = 1"),
)
SIX = tuple(f"physician-{n}" for n in range(1, 7))
TRUTH = Truth(
    systems={
        "physician": SystemTruth(0.9),
        "system-1": SystemTruth(0.7),
        "system-2": SystemTruth(0.6),
    },
    panels={"group-1": PanelTruth(accuracy=0.9), "group-2": PanelTruth(accuracy=0.9)},
    criteria={"communicates_risks": CriterionTruth(right=0.0, shift=-0.5)},
)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def write_study(folder: Path) -> None:
    """The protocol as it comes with konsil, with small sizes and models that are fakes; and made-up
    questions."""
    run("new", folder, "--protocol", "cqa-eval")
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    for before, after in SIZES:
        assert before in text
        text = text.replace(before, after)
    # What is commented out for want of a model, with a fake in its place.
    text = re.sub(
        r'(?m)^#model = "hosted:MODEL-1"$', 'model = "fake:right=1,seed=1"', text, count=1
    )
    text = re.sub(
        r'(?m)^#model = "hosted:MODEL-2"$',
        'model = "fake:right=1,seed=2,truncated=0.15"',
        text,
        count=1,
    )
    text = re.sub(r"(?m)^#(?=settings = \{ temperature = 0, max_tokens = 1200)", "", text)
    for n in (1, 2):
        text += (
            f'\n[[judges]]\nrater = "judge-{n}"\nmodel = "fake:judge-{n}"\nsettings = {{'
            " temperature = 0 }\n"
        )
    place.write_text(f"{text}\n[resampling]\ndraws = 200\n", "utf-8")
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "text", "reference"])
        for n in range(12):
            said = " ".join(f"Take {k}.5 mg p.o. in case {n}." for k in range(1, 3 + n % 4))
            rows.writerow(
                [
                    f"q{n}",
                    f"What helps in case {n}?",
                    f"Reasoning\nThink of {n}.\n\nFinal answer\n{said}",
                ]
            )
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "system", "text"])
        for n in range(12):
            rows.writerow(
                [
                    f"q{n}",
                    "physician",
                    f"Rest, e.g. for {n} d. Call Dr. Lee if in doubt.\n\n- Drink\n- Sleep",
                ]
            )


@pytest.mark.slow
def test_cqa_eval_from_questions_to_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "cqa"
    write_study(folder)
    for command in ("import", "prepare", "answer"):
        run(command, folder)
    opened = open_folder(folder)
    with opened.store() as store:
        items = in_study(store.items(), store.events())
        known = {i.id for i in items}
        answers = [a for a in store.answers() if a.item in known]
    by_system = Counter(a.system for a in answers)
    assert (by_system["physician"], by_system["system-1"]) == (8, 8)
    truncated = 8 - by_system["system-2"]
    assert truncated > 0
    _sentences(answers)
    said = run("plan", folder)
    assert "has fewer than 3" in said or "have fewer than 3" in said
    assert "ratings of answers on a second form" in said

    with opened.store() as store:
        replies = Replies(opened.study, store, items, answers, TRUTH, 5)
        with Server(folder) as server:
            links = invite(opened, InvitationRequest(url=server.url, days=1))
            done = work(
                [Person(link.recipient, link.url, about(opened.study, None)) for link in links],
                replies.to,
            )
            told = server.output()
        tasks = [t for t in store.tasks() if t.rater in SIX]
        ratings, events = store.ratings(), store.events()
    assert done.times.faults == [], told
    assert done.handed_in == Counter(t.rater for t in tasks)
    spans = {t.id: set(t.spans) for t in tasks}
    assert {r.span for r in ratings if r.span is not None and r.rater in SIX} == set().union(
        *spans.values()
    )
    assert all(r.span in spans[r.task] for r in ratings if r.span is not None)
    for e in events:
        if e.kind == WRITTEN:
            assert e.data["text"] == REASON

    run("judge", folder)
    with opened.store() as store:
        judged = Counter(
            (r.rater, r.criterion) for r in store.ratings() if r.rater.startswith("judge")
        )
    main = {t.answers for t in tasks if t.purpose == "main" and t.answers}
    assert judged["judge-1", "confidence"] == judged["judge-2", "confidence"] == 2 * len(main)
    run("report", folder)
    page = (folder / "report" / "index.html").read_text("utf-8")
    name = next(
        a.name
        for a in opened.study.analyses
        if (a.statistic, a.criterion, a.raters, a.spans)
        == ("randolph_kappa", "correctness", "physicians", "each")
    )
    assert name in page
    assert all(rater in page for rater in SIX)
    results = opened.results()
    agreed = {
        r.group["instrument"]: r.n_units
        for r in results.rows
        if r.analysis == name and r.kind == "estimate"
    }
    # Answers under the coarse design, up to three sentences of each under the fine one.
    assert set(agreed) == {"coarse", "fine"}
    assert agreed["fine"] > agreed["coarse"] == len(main)


def _sentences(answers: list[Answer]) -> None:
    cut = {a.id: [a.text[s.start : s.end] for s in a.sentences] for a in answers}
    for answer in answers:
        n = int(answer.item[1:])
        if answer.system == "physician":
            assert cut[answer.id] == [
                f"Rest, e.g. for {n} d.",
                "Call Dr. Lee if in doubt.",
                "Drink",
                "Sleep",
            ]
        else:
            assert answer.reasoning.strip() == f"Think of {n}."
            assert cut[answer.id] == [
                f"Take {k}.5 mg p.o. in case {n}." for k in range(1, 3 + n % 4)
            ]
