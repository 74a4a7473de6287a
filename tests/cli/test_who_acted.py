"""Who acted is in the log: every command that takes --by hands it on to each entry that it
writes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import konsil
from konsil.cli.main import COMMANDS, group
from konsil.instrument import fields
from konsil.instrument.screens.reply import ratings, read_form
from konsil.store.engine.engine import reading
from konsil.store.log.entries import Entry, read_entries
from konsil.store.people.staff import names
from tables_of_csv import write_rows

Call = Callable[..., tuple[int, str, str]]
Rows = Sequence[tuple[str, ...]]
AT = "2025-03-01T12:00:00Z"
WHO = "A. Author"
REWORD = "reword the protocol"
HEAD = 'title = "Acts"\nseed = 1\n'
FORM = """
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "Correct?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
[[raters]]
id = "p1"
panel = "panel"
[[raters]]
id = "p2"
panel = "panel"
[[sources]]
file = "items.csv"
records = "items"
"""
PLAN = """
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "panel"
instrument = "form"
[[analyses]]
name = "right"
statistic = "share"
criterion = "correct"
of = ["yes"]
raters = "panel"
"""
PLACES = """
[[places]]
panel = "guests"
number = 1
[[plan]]
panel = "guests"
instrument = "form"
"""
TEXTS = (
    "hi, pt w AF, stop apixaban? thanks",
    "And what about his kidneys?",
    "Which dose?",
    "Which dose?",
)
TOPICS = (
    *(
        "insulin dose in type 2 diabetes",
        "basal insulin in diabetes",
        "metformin in diabetes",
        "diabetes and HbA1c",
    ),
    *(
        "itchy rash on the arm",
        "rash in a child",
        "treatment of a skin rash",
        "eczema or another rash",
    ),
)
MARKS = (
    ("case", "kind", "rank", "text"),
    ("q0", "diagnosis", "", "Gicht"),
    ("q0", "cue", "1", "Kristalle"),
    ("q0", "cue", "2", "roter Zeh"),
    ("q0", "disease-specific", "", "-2 Grad"),
)


@dataclass(frozen=True)
class Study:
    """What a command acts on."""

    protocol: str = HEAD + FORM + PLAN
    """Its study.toml."""
    items: Rows = (("item", "text"), *((f"q{n}", text) for n, text in enumerate(TEXTS)))
    """Its table of items."""
    tables: Mapping[str, Rows] = field(default_factory=dict)
    """File name -> what the command reads."""
    is_rated: bool = False
    """Whether everything of the plan is rated, by two who differ."""


def decisions(*rows: tuple[str, ...]) -> dict[str, Rows]:
    return {"given.csv": rows}


TRIAL, RATED = Study(), Study(is_rated=True)
MASKED = Study(
    HEAD + "[prepare.mask]\n" + FORM,
    (
        ("item", "text", "reference"),
        ("q0", "Eine Frau mit Gicht: Kristalle, roter Zeh, -2 Grad.", "Gicht"),
    ),
    {"marks.csv": MARKS},
)
LOOKED = Study(
    f'{HEAD}{FORM}{PLAN}[interim]\npanel = "panel"\n[[interim.looks]]\nfraction = 0.5\n',
    is_rated=True,
)
ADJUDICATED = Study(f'{HEAD}{FORM}{PLAN}[adjudication]\npanel = "panel"\n', is_rated=True)
SCREENED = Study(
    f'{HEAD}[prepare.screen]\nrules = ["follow-up"]\n{FORM}',
    tables=decisions(("item", "decision"), ("q1", "keep")),
)
TWICE = Study(
    f'{HEAD}[prepare.screen]\nrules = ["follow-up"]\n{FORM}',
    tables=decisions(("item", "decision"), ("q3", "apart")),
)
REWORDED = Study(
    f'{HEAD}[prepare.rewrite]\nmodel = "fake:seed=4"\n{FORM}',
    tables=decisions(("item", "rewritten", "decision"), ("q0", "Stop apixaban?", "accept")),
)
THEMED = Study(
    f"{HEAD}[prepare.themes]\nsmallest = 3\n{FORM}",
    (("item", "text"), *((f"q{n}", text) for n, text in enumerate(TOPICS))),
    decisions(("item", "decision"), ("q0", "Sugar")),
)

ACTS = (
    ("invite", TRIAL, "", "--who p1 --url https://x.org"),
    ("invite", TRIAL, "invite --who p1", "--who p1 --revoke"),
    ("kit", TRIAL, "", "--rater p1"),
    ("withdraw", TRIAL, "", "--rater p1 --reason moved"),
    ("succeed", TRIAL, "withdraw --rater p1; withdraw --rater p2", "--slot 'panel 1' --rater p3"),
    ("close", TRIAL, "", "--batch ''"),
    ("close", TRIAL, "", "--batch '' --rater p1"),
    ("close", TRIAL, "close --batch ''", "--batch '' --reopen --reason slip"),
    ("places", Study(HEAD + FORM + PLAN + PLACES), "", "--add 1 --reason 'more came'"),
    ("erase", RATED, "", "p1 --reason 'asked by letter' --yes"),
    ("freeze", TRIAL, "", ""),
    (
        "unblind",
        Study(HEAD + "blinded = true\n" + FORM + PLAN),
        "freeze --by 'B. Other'",
        "--reason stands",
    ),
    ("accept", RATED, REWORD, "--reason 'plainer words'"),
    ("adjudication", ADJUDICATED, "", "--open"),
    ("adjudication", ADJUDICATED, "adjudication --open --by 'B. Other'", "--close"),
    ("interim", LOOKED, "", "--unplanned pooled --reason early"),
    ("screen", SCREENED, "", "--decisions given.csv"),
    ("duplicates", TWICE, "screen", "--leave-one"),
    ("duplicates", TWICE, "screen", "--decisions given.csv"),
    ("rewrite", REWORDED, "rewrite", "--decisions given.csv"),
    ("mask", MASKED, "", "--marks marks.csv"),
    ("mask", MASKED, "mask --marks marks.csv --by 'B. Other'", "--approve"),
    pytest.param("themes", THEMED, "themes", "--decisions given.csv", marks=pytest.mark.slow),
)
"""A command, on which study, after which commands, with which arguments beside --by."""
ABOUT_NOBODY = frozenset({"agreement", "compare", "preference"})
"""Commands whose --by is a column of a table."""
WITH_A_SERVER = frozenset({"letters"})
"""Commands that need a server: their own tests read who acted from the log."""
OF_THE_MACHINE = frozenset({"calls", "protocol", "traces"})
"""Kinds of entries about what konsil itself brings up to date."""


def make(call: Call, folder: Path, study: Study) -> None:
    """The study imported, planned and rated."""
    (folder / "study.toml").write_text(study.protocol, "utf-8")
    write_rows(folder / "items.csv", study.items)
    answers = [(row[0], "a", f"Answer to {row[0]}") for row in study.items[1:]]
    write_rows(folder / "answers.csv", [("item", "system", "text"), *answers])
    for name, rows in study.tables.items():
        write_rows(folder / name, rows)
    run(call, "import", folder)
    if "[[plan]]" in study.protocol:
        run(call, "plan", folder)
    if study.is_rated:
        opened = konsil.open(folder)
        form = opened.study.instruments[0]
        with opened.store() as store:
            for task in store.tasks():
                replies = {
                    f.name: "yes" if task.rater == "p1" else "no" for f in fields(form, task)
                }
                rated = ratings(read_form(fields(form, task), replies), form, task, at=AT)
                store.revise(rated, at=AT, event_id=f"rated {task.id}")


def run(call: Call, command: str, folder: Path, *arguments: str) -> str:
    files = [str(folder / a) if a.endswith(".csv") else a for a in arguments]
    code, out, err = call(command, folder, *files)
    assert code == 0, (command, out, err)
    return out


def entries(folder: Path) -> list[Entry]:
    with konsil.open(folder).store() as store, reading(store.engine) as connection:
        return list(read_entries(connection))


@pytest.mark.parametrize(("command", "study", "before", "arguments"), ACTS)
def test_each_entry_of_a_command_has_who_acted(
    call: Call, tmp_path: Path, command: str, study: Study, before: str, arguments: str
) -> None:
    make(call, tmp_path, study)
    if before == REWORD:
        (tmp_path / "study.toml").write_text(study.protocol.replace("Correct?", "Right?"), "utf-8")
    else:
        for line in filter(None, before.split("; ")):
            name, *rest = shlex.split(line)
            run(call, name, tmp_path, *rest)
    first = len(entries(tmp_path))
    out = run(call, command, tmp_path, *shlex.split(arguments), "--by", WHO)
    written = [one for one in entries(tmp_path)[first:] if one.kind not in OF_THE_MACHINE]
    with konsil.open(tmp_path).store() as store, reading(store.engine) as connection:
        [pseudonym] = [who for who, name in names(connection).items() if name == WHO]
        assert store.verify_log() == ()
    assert written, out
    assert {(one.kind, one.who) for one in written} == {(one.kind, pseudonym) for one in written}
    listed = run(call, "log", tmp_path, "--last", str(len(written))).splitlines()
    assert all(
        f"  by {pseudonym} ({WHO})" in line
        for line in listed
        if line.split("  ")[-1] not in OF_THE_MACHINE
    )
    run(call, "log", tmp_path, "--output", str(tmp_path / "log.jsonl"))
    table = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    assert {row["who"] for row in table if row["seq"] in {one.seq for one in written}} == {
        pseudonym
    }
    assert WHO not in (tmp_path / "log.jsonl").read_text("utf-8"), (
        "a table that is passed on has pseudonyms alone"
    )


def test_every_command_that_takes_who_acts_is_among_them() -> None:
    context = group.make_context("konsil", ["--help"], resilient_parsing=True)
    taking = {
        name
        for name in COMMANDS
        if (command := group.get_command(context, name))
        and "by" in {p.name for p in command.params}
    }
    assert taking - ABOUT_NOBODY - WITH_A_SERVER == {getattr(act, "values", act)[0] for act in ACTS}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("close",), "--batch: missing; state the batch, such as --batch 1"),
        (
            ("succeed",),
            "--slot: missing; state the slot to assign; without it nothing is written",
        ),
        (("kit",), "--rater: missing; state the rater of the kit, such as --rater physician-1"),
    ],
)
def test_a_list_has_nobody_who_acts(
    call: Call, tmp_path: Path, arguments: tuple[str], says: str
) -> None:
    make(call, tmp_path, TRIAL)
    code, _, err = call(*arguments, tmp_path, "--by", WHO)
    assert (code, says in err) == (2, True), err


@pytest.mark.parametrize(
    ("command", "arguments", "subject"),
    [("close", ("--batch", "", "--rater", "p1"), "p1"), ("kit", ("--rater", "p1"), "p1")],
)
def test_whom_an_act_is_about_did_not_act(
    call: Call, tmp_path: Path, command: str, arguments: tuple[str, ...], subject: str
) -> None:
    make(call, tmp_path, TRIAL)
    run(call, command, tmp_path, *arguments)
    last = entries(tmp_path)[-1]
    assert (last.who, last.subject.split(", ")[-1]) == ("", subject)
