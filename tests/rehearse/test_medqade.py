"""MedQADE end to end, small: from the deck to the report by commands, people through the pages,
fake judges."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.running.invitations import invite
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.prepare import in_study
from konsil.rehearse import Replies, Server, work
from konsil.rehearse.people import Person
from konsil.rehearse.replies import about
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw

SYSTEMS = tuple(f"system-{n}" for n in range(1, 6))
JUDGES = tuple(f"judge-{n}" for n in range(1, 10))
NINE = tuple(f"physician-{n}" for n in range(1, 10))
CORE, SPLIT, NOTES = 4, 36, 80
HUMAN = PanelTruth(accuracy=0.9, severity=0.2, abstention=0.05)
TRUTH = Truth(
    systems={s: SystemTruth(q) for s, q in zip(SYSTEMS, (0.8, 0.7, 0.6, 0.5, 0.4), strict=True)},
    panels={"physicians": HUMAN, "tiebreaker": HUMAN},
)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def write_study(folder: Path) -> None:
    """The protocol as it comes with konsil, with small sizes and models that are fakes; and a
    deck."""
    run("new", folder, "--protocol", "medqade")
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    for before, after in (
        ('file = "deck.apkg"', 'file = "deck.json"'),
        ("size = 3800", f"size = {CORE + SPLIT}"),
        ("core = 200, split = 3600", f"core = {CORE}, split = {SPLIT}"),
    ):
        assert before in text
        text = text.replace(before, after, 1)
    for k, system in enumerate(SYSTEMS):
        model = f'model = "fake:right={0.2 if k == 0 else 0.05},seed={k}"'
        text = re.sub(rf'(\[\[systems\]\]\nid = "{system}"\n)', rf"\1{model}\n", text)
    for judge in JUDGES:
        text += (
            f'\n[[judges]]\nrater = "{judge}"\nmodel = "fake:{judge}"\nsettings = {{ temperature ='
            " 0 }\n"
        )
    place.write_text(text, "utf-8")
    kind = {
        "crowdanki_uuid": "cloze",
        "name": "Cloze",
        "type": 1,
        "flds": [{"name": "Text"}, {"name": "Extra"}],
        "tmpls": [{"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}"}],
    }
    notes = [
        {
            "guid": f"n{n}",
            "note_model_uuid": "cloze",
            "tags": [],
            "fields": [f"Bei Befund {n} ist {{{{c1::Begriff {n}::Begriff}}}} die Ursache.", ""],
        }
        for n in range(NOTES)
    ]
    deck = {
        "__type__": "Deck",
        "name": "Medizin",
        "note_models": [kind],
        "notes": notes,
        "children": [],
    }
    (folder / "deck.json").write_text(json.dumps(deck, ensure_ascii=False), "utf-8")


@pytest.mark.slow
def test_medqade_from_the_deck_to_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "medqade"
    write_study(folder)
    given = {p.name: p.read_bytes() for p in folder.iterdir()}
    for command in ("import", "answer", "prepare", "plan"):
        run(command, folder)
    opened = open_folder(folder)
    with opened.store() as store:
        items = in_study(store.items(), store.events())
        known = {i.id for i in items}
        answers = [a for a in store.answers() if a.item in known]
        replies = Replies(opened.study, store, items, answers, TRUTH, 5)
        with Server(folder) as server:
            links = invite(opened, InvitationRequest(url=server.url, days=1))
            profile = about(opened.study, None)
            people = [Person(link.recipient, link.url, profile) for link in links]
            done = work(people, replies.to)
            said = server.output()
        tasks, collected = store.tasks(), store.ratings()
    assert done.times.faults == [], said

    seen: dict[str, set[str]] = {}
    for task in tasks:
        if task.rater in NINE:
            seen.setdefault(task.item or "", set()).add(task.rater)
    pairs = Counter(p for r in seen.values() if len(r) == 2 for p in combinations(sorted(r), 2))
    assert Counter(len(r) for r in seen.values()) == {9: CORE, 2: SPLIT}
    assert set(pairs.values()) == {SPLIT // 36}
    assert {r: done.handed_in[r] for r in NINE} == dict.fromkeys(NINE, CORE + 2 * SPLIT // 9)

    drawn = draw(opened.study, items, answers, TRUTH, 5)
    ties = {t.item for t in tasks if t.purpose == "tiebreak"}
    assert ties
    assert ties == {t.item for t in drawn.tasks if t.purpose == "tiebreak"}, (
        "one tie-break for each item in conflict"
    )
    assert done.handed_in["physician-10"] == CORE + len(ties)
    human = {(r.item, r.rater, r.criterion, r.answers): (r.state, r.label or "") for r in collected}
    assert human == {
        (r.item, r.rater, r.criterion, r.answers): (r.state, r.label or "")
        for r in drawn.ratings
        if r.rater.startswith("physician")
    }

    run("judge", folder)
    run("report", folder)
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert "Ensembles von Modellen" in page
    assert "Zeit je Seite." in page, "how long people worked on a screen"
    assert all(rater in page for rater in (*NINE, "physician-10"))
    with opened.store() as store:
        judged = Counter(r.rater for r in store.ratings() if r.rater in JUDGES)
        assert set(judged) == set(JUDGES)
        assert set(judged.values()) == {(CORE + SPLIT) * 6}
        assert store.verify_log() == ()
    # Nothing was touched by hand: the folder has what the user gave, the database, and what is made
    # from both.
    made = {p.name for p in folder.iterdir()} - given.keys()
    assert {name for name in made if not name.startswith("konsil.db")} == {"report"}
    assert {name: (folder / name).read_bytes() for name in given} == given
    before = {p.name: p.read_bytes() for p in (folder / "report").iterdir() if p.is_file()}
    run("report", folder)
    assert {p.name: p.read_bytes() for p in (folder / "report").iterdir() if p.is_file()} == before
    results = opened.results()
    found = [r for r in results.rows if r.analysis == "Korrekte Antworten" and r.kind == "estimate"]
    share = {r.group["system"]: r.estimate.value for r in found}
    assert share["system-1"] > share["system-5"]
