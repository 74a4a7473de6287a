"""Every command's JSON is one object with the numbers of the text of the same run."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import konsil
from commands_doc import documented_keys
from konsil.cli import main
from konsil.store.people.people import Person, note_person
from small_studies import (
    ITEMS,
    form,
    plan,
    raters,
    share_correct,
    study_text,
    systems,
)
from tables_of_csv import write_rows

pytestmark = pytest.mark.slow

Numbers = Callable[[Any], Sequence[str]]


@dataclass(frozen=True)
class Step:
    """A command line, and what of its JSON must be in its text."""

    line: str
    texts: Numbers
    code: int = 0


def run(folder: Path, line: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command that is run in a folder."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main(list(line))
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def documented(words: Sequence[str]) -> set[str]:
    """The keys of a command's object; with options of its own if one of its rows has them."""
    rows = {
        command: keys
        for command, keys in documented_keys().items()
        if command.split()[0] == words[0]
        and all(w in words or (w.isupper() and len(words) > 1) for w in command.split())
    }
    return rows[max(rows, key=len)]


def check_step(place: Path, step: Step) -> None:
    """Run the command for people and in a copy of the folder for programs; the first one stays."""
    twin = place.with_name(f"{place.name}-twin")
    shutil.copytree(place, twin)
    words = step.line.split()
    code, text, err = run(place, words)
    assert code == step.code, (step.line, text, err)
    code, printed, err = run(twin, [*words, "--json"])
    shutil.rmtree(twin)
    assert code == step.code, (step.line, printed, err)
    record = json.loads(printed)
    assert isinstance(record, dict), step.line
    assert set(record) - {"notes"} == documented(words), step.line
    texts = step.texts(record)
    assert texts, step.line
    flat = " ".join(text.split())
    assert [part for part in texts if part not in flat] == [], (step.line, text, printed)


RUNNING = study_text(
    "A study",
    form(),
    systems("a", "b", model="fake:right=0.8"),
    raters("p1", "p2"),
    raters("j1", panel="judges", kind="llm"),
    '[[judges]]\nrater = "j1"\nmodel = "fake:"',
    ITEMS,
    plan(),
    plan("judges"),
    share_correct("judges"),
    "[resampling]\ndraws = 100",
    seed=3,
    blinded=True,
    licence="CC0-1.0",
)
STEPS = [
    Step(
        "check s",
        lambda r: [r["title"], f"plan: {r['plan']}", f"checksum (SHA-256): {r['digest']}"],
    ),
    Step("check --statistics", lambda r: [f"{s['id']} {s['title']}" for s in r["statistics"]]),
    Step("statistics", lambda r: [s["title"] for s in r["statistics"]]),
    Step("statistics icc2", lambda r: [f"{r['id']}: {r['title']}", f"source: {r['source'][:20]}"]),
    Step("explain resampling", lambda r: [key["path"] for key in r["keys"]]),
    Step("codebook s --pdf c.pdf", lambda r: r["files"]),
    Step("import s", lambda r: [f"new: {r['new']['items']} items"]),
    Step("status s", lambda r: [f"items {r['records']['items']} ", r["title"]]),
    Step("duplicates s", lambda r: [f"{r['items']} items: {r['in_groups']} in"]),
    Step(
        "answer s --dry-run",
        lambda r: [f"{c['callee']}: {c['to_call']} to call" for c in planned(r)],
    ),
    Step("answer s", lambda r: [f"{r['answers']['ended']} done in {r['answers']['calls']} calls"]),
    Step(
        "plan s",
        lambda r: [
            f"{r['tasks']} tasks",
            f"checksum (SHA-256): {r['digest']}",
            *(f"{x['rater']}: {x['tasks']} tasks, {x['items']} items" for x in r["raters"]),
        ],
    ),
    Step(
        "judge s",
        lambda r: [f"{r['ratings']['ended']} done in", f"{r['ratings']['outcomes']['ok']} ok"],
    ),
    Step(
        "power s --studies 2 --resamples 40",
        lambda r: [f"{r['studies']} simulated studies", f"{r['rows'][0]['mean']:.3f}"],
    ),
    Step(
        "simulate s --to simulated",
        lambda r: [f"{r['folder']}: {r['simulated_ratings']} simulated"],
    ),
    Step("kit s --rater p1 --output k.html", lambda r: [f"{r['file']}: {r['screens']} screens"]),
    Step(
        "kit s", lambda r: [f"{k['rater']}: {k['screens']} screens, no answers" for k in r["kits"]]
    ),
    Step("close s", lambda r: [f"{b['done']} of {b['tasks']} tasks done" for b in r["batches"]]),
    Step(
        "withdraw s --rater p1 --dry-run",
        lambda r: [
            f"{r['kept']} tasks kept, {r['reassigned']} reassigned, {r['cancelled']} cancelled",
            *(f"{u['rater']}: {u['before']} unfinished before" for u in r["unfinished"]),
        ],
    ),
    Step("succeed s", lambda r: ["" for _ in [r["vacant"]]]),
    Step("withdraw s --rater p2", lambda r: [f"{r['kept']} tasks kept"]),
    Step("freeze s --by o", lambda r: [f"{r['analyses']} analysis ", *r["notes"]]),
    Step(
        "analyse s",
        lambda r: [f"{r['estimates']} estimates: {r['table']}, {r['data']}", r["log"], *r["notes"]],
    ),
    Step("report s", lambda r: [r["page"]]),
    Step("export s out", lambda r: [r["folder"]]),
    Step("unblind s --by o --reason done", lambda r: ["unblinded at "] if r["at"] else []),
    Step("export s released --release --unlink", lambda r: [r["folder"]]),
    Step(
        "export s ls --to label-studio",
        lambda r: [f"{p['rater']}: {p['tasks']} tasks" for p in r["projects"]],
    ),
    Step("backup s copy.db", lambda r: [f"{r['file']}: {r['bytes']:,} bytes"]),
    Step("backup s backups --keep 3", lambda r: [f"{r['files']} files, log verified"]),
    Step("backup centre.toml centre", lambda r: [f"backups of {len(r['studies'])} study"]),
    Step("backup-key secret.key", lambda r: [f"{r['file']}: secret key"]),
    Step("verify-log s", lambda r: [f"{r['head'].partition('-')[0]}-"] if r["is_intact"] else []),
    Step("verify-log s --expect 1-" + "a" * 64, lambda r: [""] if r["problems"] else [], code=2),
    Step("log s --last 3", lambda r: [f"{e['seq']} {e['at'][:10]}" for e in r["entries"]]),
    Step("curation s", lambda r: [r["independence"]]),
    Step("person s p1 p1.json", lambda r: [f"{n} in {name}" for name, n in r["records"].items()]),
    Step(
        "erase s p1 --by o --reason asked --yes", lambda r: [f"{r['rater']}: erased on {r['at']}"]
    ),
    Step(
        "invite s --who p2 --url https://x.org",
        lambda r: [link["recipient"] for link in r["links"]],
    ),
    Step("invite s --who p2 --revoke", lambda r: [f"{r['revoked']} link"]),
    Step("local list", lambda r: [f"no models in {r['folder']}"]),
]


def planned(record: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = record["answers"]["planned"]
    return entries


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is copied for each command; models are in no other place."""
    monkeypatch.setenv("KONSIL_MODELS", str(tmp_path / "models"))
    (tmp_path / "place" / "s").mkdir(parents=True)
    return tmp_path / "place"


def test_a_study_from_its_check_to_its_end(place: Path) -> None:
    study = place / "s"
    (study / "study.toml").write_text(RUNNING, "utf-8")
    (study / "simulation.toml").write_text(
        "[panels.people]\naccuracy = 0.9\n[panels.judges]\naccuracy = 0.8\n", "utf-8"
    )
    write_rows(study / "items.csv", [("item", "text"), *((f"q{n}", f"Why {n}?") for n in range(6))])
    (place / "centre.toml").write_text('[[studies]]\nfolder = "s"\n', "utf-8")
    for step in STEPS:
        check_step(place, step)
    protocol = study / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace("Is it correct?", "Correct?"), "utf-8")
    check_step(
        place,
        Step(
            "accept s --reason typing --by o",
            lambda r: [f"form '{a['form']}' accepted" for a in r["accepted"]],
        ),
    )
    check_step(
        place, Step("new other", lambda r: [f"{r['folder']}: created from '{r['protocol']}'"])
    )
    assert run(place, ["new", "third", "--guided", "--json"])[0] == 2
    assert run(place, ["erase", "s", "p2", "--by", "o", "--reason", "x", "--json"])[0] == 2


def test_the_problems_of_a_check_have_places(place: Path) -> None:
    study = place / "s"
    for protocol, line, column, analysis in (
        (RUNNING.replace('raters = "judges"', 'ratres = "judges"'), None, 1, "Correct"),
        (RUNNING.replace("[resampling]", "[resampling"), None, 12, None),
        (RUNNING.replace('file = "items.csv"', 'file = "item.csv"'), None, 1, None),
    ):
        (study / "study.toml").write_text(protocol, "utf-8")
        write_rows(study / "items.csv", [("item", "text"), ("q1", "Why?")])
        code, printed, err = run(place, ["check", "s", "--json"])
        [problem] = json.loads(printed)["problems"]
        assert code == 2
        assert line is None
        assert (problem["file"], problem["column"], problem["analysis"]) == (
            "s/study.toml",
            column,
            analysis,
        )
        assert err == (f"konsil: s/study.toml:{problem['line']}:{column}: {problem['sentence']}\n")
        assert not json.loads(printed)["is_sound"]


def test_names_and_addresses_are_in_no_json(place: Path) -> None:
    study = place / "s"
    (study / "study.toml").write_text(RUNNING, "utf-8")
    write_rows(study / "items.csv", [("item", "text"), ("q1", "Why?")])
    for command in ("import", "answer", "plan"):
        run(place, [command, "s"])
    run(place, ["invite", "s", "--role", "lead", "--who", "Mrs Canary"])
    with konsil.open(study).store() as store:
        note_person(store, Person("p1", name="Mrs Canary", email="canary@x.org"))
    for line in ("log s", "status s", "curation s", "verify-log s", "person s p1 p.json"):
        code, printed, _ = run(place, [*line.split(), "--json"])
        assert code == 0, line
        assert "anary" not in printed, line


PREPARED = study_text(
    "Prepared",
    form(),
    systems("a"),
    raters("p1"),
    ITEMS,
    '[prepare.screen]\nundecided = "kept"\nmodel = "fake:seed=4"',
    '[prepare.rewrite]\nmodel = "fake:seed=4"',
    plan(),
    share_correct(),
    seed=3,
)


def test_the_steps_before_a_study(place: Path) -> None:
    study = place / "s"
    (study / "study.toml").write_text(PREPARED, "utf-8")
    texts = ("Which dose at GFR 30?", "Which dose at GFR 30?", "My patient Mrs Smith has AF")
    write_rows(
        study / "items.csv", [("item", "text"), *((f"q{n}", t) for n, t in enumerate(texts))]
    )
    for step in (
        Step("import s", lambda r: [f"{r['new']['items']} items"]),
        Step("screen s --dry-run", lambda r: [f"{r['calls']['planned'][0]['to_call']} to call"]),
        Step(
            "screen s --table t.csv",
            lambda r: [f"{r['items']} items", f"{r['eligible']} items eligible", r["table"]],
        ),
        Step("screen s", lambda r: ["already screened"] if not r["is_changed"] else []),
        Step(
            "prepare s",
            lambda r: [f"{r['items']} items", f"{r['size']} kept"],
        ),
        Step(
            "duplicates s",
            lambda r: [f"{r['items']} items: {r['in_groups']} in {len(r['groups'])} groups"],
        ),
        Step(
            "rewrite s",
            lambda r: [
                f"{r['questions']} questions, {r['rewritten']} rewritten",
                f"{r['undecided']} await",
                f"{r['calls']['ended']} done in {r['calls']['calls']} calls",
            ],
        ),
        Step("curation s", lambda r: [r["independence"]]),
    ):
        check_step(place, step)


def test_masked_cases(place: Path) -> None:
    study = place / "s"
    (study / "study.toml").write_text(
        study_text(
            "Masked", "[prepare.mask]", form(), systems("a"), raters("p1"), ITEMS, plan(), seed=1
        ),
        "utf-8",
    )
    case = "A man had sarcoidosis: granulomas, nodes, fever."
    write_rows(study / "items.csv", [("item", "text", "reference"), ("c1", case, "sarcoidosis")])
    (study / "marks.csv").write_text(
        "case,kind,rank,text,occurrence,replacement\nc1,diagnosis,,sarcoidosis,,\n"
        "c1,cue,1,granulomas,,\nc1,cue,2,nodes,,\n",
        "utf-8",
    )
    for step in (
        Step("import s", lambda r: [f"{r['new']['items']} item"]),
        Step(
            "mask s --marks s/marks.csv --by p-1",
            lambda r: [f"{r['cases']} cases: {r['marked']} marked, {r['approved']} approved"],
        ),
        Step(
            "probe s --model fake:",
            lambda r: (
                [
                    f"({level['guessed']}/{level['versions']}; 95% CI, {level['low']:.0%}"
                    for level in r["levels"]
                ]
                or [f"{r['calls']['ended']} done in"]
            ),
        ),
    ):
        check_step(place, step)


def test_places_rounds_and_batches(place: Path) -> None:
    study = place / "s"
    rules = '[adjudication]\npanel = "people"'
    (study / "study.toml").write_text(
        study_text("A", form(), systems("a"), raters("p1", "p2"), plan(), ITEMS, rules, seed=1),
        "utf-8",
    )
    write_rows(study / "items.csv", [("item", "text"), ("q1", "Why?")])
    for step in (
        Step("import s", lambda r: [f"{r['new']['items']} item"]),
        Step("plan s", lambda r: [f"{r['tasks']} tasks"]),
        Step("adjudication s", lambda r: [f"not opened yet: {r['waiting']}"]),
        Step("withdraw s --rater p1", lambda r: [f"{r['reassigned']} reassigned"]),
        Step("withdraw s --rater p2", lambda r: [f"{r['kept']} tasks kept"]),
        Step("succeed s", lambda r: [f"{v['slot']}: {v['tasks']} tasks" for v in r["vacant"]]),
    ):
        check_step(place, step)


def test_places_to_sign_up_for(place: Path) -> None:
    study = place / "s"
    signing = '[[places]]\npanel = "people"\nnumber = 2'
    (study / "study.toml").write_text(
        study_text("A", form(), systems("a"), signing, plan(), ITEMS, seed=1), "utf-8"
    )
    write_rows(study / "items.csv", [("item", "text"), ("q1", "Why?")])
    for step in (
        Step("import s", lambda r: [f"{r['new']['items']} item"]),
        Step("plan s", lambda r: [f"{r['tasks']} tasks"]),
        Step(
            "places s --add 2 --by o --reason more",
            lambda r: [
                f"{r['added']['places']} rater slots added, {r['added']['tasks']} tasks assigned",
                *(f"{g['panel']}: {g['places']} rater slots" for g in r["groups"]),
            ],
        ),
    ):
        check_step(place, step)
