"""Offline kits without a browser: what is in the file, and what becomes of the answers that it
brings back."""

from __future__ import annotations

import dataclasses
import json
import re
import secrets
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from konsil.api.folder.folder import Folder
from konsil.api.running.kits import make_kit
from konsil.errors import KonsilError
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log import study_events
from konsil.store.people.people import Person, note_person
from konsil.store.release import kits
from konsil.store.tasks import screens
from konsil.store.tasks.withdrawal import withdraw
from konsil.study import Study
from konsil.study.sections.enrolment import Enrolment
from konsil.web.kit.kit import Kit, make
from konsil.web.kit.kit_answers import take_in
from konsil.web.site.site import Site

R1, R2 = "canary-rater-1", "canary-rater-2"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
Make = Callable[..., Site]


@pytest.fixture
def site(opened: Store, clock: Any, studies: dict[str, Study], kit: Any) -> Make:
    """A study of this name, its plan drawn, as a kit is made from it."""

    def made(name: str = "medqade", n_items: int = 4) -> Site:
        kit.fill(opened, studies[name], n_items)
        return Site(studies[name], opened, clock=clock)

    return made


class Offline:
    """What the file's script does, told in Python: one browser with its memory."""

    def __init__(self, html: str) -> None:
        self.kit = json.loads(
            re.findall(r'<script type="application/json" id="kit">(.*?)</script>', html)[0]
        )
        self.names = [one["public"] for one in self.kit["screens"]]
        self.copy, self.revision = secrets.token_hex(16), 0
        self.screens: dict[str, dict[str, Any]] = {}

    def say(
        self, name: str, values: dict[str, str], *, done: bool = True, seconds: float = 30.0
    ) -> None:
        spec = next(one for one in self.kit["screens"] if one["public"] == name)
        blank = {
            "base_rev": spec["rev"],
            "changes": [],
            "done": "",
            "values": {},
            "visits": {},
            "problems": [],
        }
        one = self.screens.setdefault(name, blank)
        for field, value in values.items():
            one["changes"].append(
                {
                    "id": secrets.token_hex(16),
                    "field": field,
                    "value": value,
                    "at": "2025-03-02T08:00:00.000Z",
                }
            )
        one["done"] = "2025-03-02T08:00:00.000Z" if done else ""
        one["values"] = {c["field"]: c["value"] for c in one["changes"]} if done else {}
        times = {"wall": str(seconds + 10), "active": str(seconds), "first_input": "2.5"}
        one["visits"][secrets.token_hex(16)] = times

    def file(self) -> str:
        self.revision += 1
        told = {
            "kit": self.kit["id"],
            "copy": self.copy,
            "revision": self.revision,
            "made_at": "",
            "screens": self.screens,
        }
        signed = json.dumps(told)
        mac = kits.signature(self.kit["key"], signed)
        return json.dumps({"konsil": "kit answers", "format": 1, "signed": signed, "mac": mac})


def kit_of(site: Site, rater: str = R1) -> tuple[Kit, Offline]:
    made = make(site, rater, "", "", "de")
    return made, Offline(made.html)


@pytest.mark.slow
def test_no_canary_is_in_the_file(site: Make, opened: Store) -> None:
    here = site()
    note_person(opened, Person(R1, "Canary Name", "canary@example.org"))
    public = here.desk.next_task(R2)
    here.desk.submit(R2, public, ALL_RIGHT, 0)
    made, offline = kit_of(here)
    assert "canary" not in made.html.casefold()
    assert not any(task.id in made.html for task in opened.tasks())
    assert (
        len(set(offline.names)) == made.screens == len([t for t in opened.tasks() if t.rater == R1])
    )


@pytest.mark.parametrize(
    "name", ["sentences", *(pytest.param(n, marks=pytest.mark.slow) for n in ("clexeval", "pairs"))]
)
def test_no_canary_is_in_the_file_of_any_unit(name: str, site: Make, opened: Store) -> None:
    here = site(name, 2)
    row = here.desk.line(R1)[0]
    made = make(here, R1, row.phase, row.batch, "en")
    assert "canary" not in made.html.casefold()
    assert all(task.id not in made.html for task in opened.tasks())


def test_the_file_stands_by_itself(site: Make) -> None:
    made, _ = kit_of(site())
    assert not re.search(r'\b(?:src|action|href)="(?!#|data:,|https?://)', made.html)
    assert "connect-src" not in made.html
    policy = unescape(
        re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made.html)[0]
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert made.html.count("Kodierbuch") < 10  # the codebook is in it once, and not for every task


def test_a_kit_has_a_page_for_each_sentence(site: Make, opened: Store) -> None:
    here = site("alone", 1)
    made, offline = kit_of(here)
    n_answers = len({t.answers for t in opened.tasks() if t.rater == R1})
    assert made.screens == n_answers * 3
    assert made.html.count('aria-current="true"') == n_answers * 2
    for name, spec in zip(offline.names, offline.kit["screens"], strict=True):
        if spec.get("numbers"):
            [number] = spec["numbers"]
            offline.say(name, {number: "7", "~3": ""})
        else:
            offline.say(name, {"~1.s1": "no"})
    take_in(here, offline.file(), "answers.json")
    assert len(opened.ratings()) == made.screens


def test_what_the_pages_know_already_is_in_the_file(site: Make) -> None:
    here = site()
    done, half = here.desk.next_task(R1), None
    here.desk.submit(R1, done, ALL_RIGHT, 0)
    half = here.desk.next_task(R1)
    here.desk.put_off(R1, half, {"correctness.a2": "Falsch"}, 0)
    _, offline = kit_of(here)
    assert done not in offline.names
    [spec] = [one for one in offline.kit["screens"] if one["public"] == half]
    assert spec["values"] == {"~1.a2": "Falsch"}
    assert spec["rev"] == 1


def test_what_somebody_typed_cannot_break_out_of_the_file(site: Make) -> None:
    here = site()
    half, rude = here.desk.next_task(R1), "</script></template><img src=x onerror=alert(1)>"
    here.desk.put_off(
        R1, half, {"correctness.a2": "Keine Angabe", "correctness.a2.reason": rude}, 0
    )
    made, offline = kit_of(here)
    assert rude not in made.html
    assert "<img" not in made.html
    [spec] = [one for one in offline.kit["screens"] if one["public"] == half]
    assert spec["values"]["~1.a2.reason"] == rude


def test_nobody_has_looked_at_what_is_in_a_kit(site: Make, opened: Store) -> None:
    _, offline = kit_of(site())
    with reading(opened.engine) as connection:
        states = [screens.public(connection, name) for name in offline.names]
        assert all(state and screens.visits(connection, state.task) == () for state in states)


def test_answers_come_back_as_ratings(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    first, second, third, *_ = offline.names
    offline.say(first, ALL_RIGHT)
    offline.say(
        second,
        {**ALL_RIGHT, "correctness.a3": "Keine Angabe", "correctness.a3.reason": "fremdes Fach"},
    )
    offline.say(third, {"correctness.a1": "Falsch"}, done=False)
    told = take_in(here, offline.file(), "answers.json")
    assert (told.handed_in, told.n_incomplete, told.unchanged, told.reason_by_screen) == (
        2,
        1,
        0,
        {},
    )
    found = opened.ratings()
    assert len(found) == 12
    assert {r.rater for r in found} == {R1}
    assert {r.seconds for r in found} == {30.0}
    assert [r.note for r in found if r.state == "abstained"] == ["fremdes Fach"]
    half = here.desk.open(R1, third)
    assert [a.value for g in half.everything for a in g.questions if a.value] == ["Falsch"]
    assert here.desk.next_task(R1) == third
    assert opened.verify_log() == ()


def test_the_same_file_again_changes_nothing(site: Make, opened: Store, clock: Any) -> None:
    here = site()
    _, offline = kit_of(here)
    offline.say(offline.names[0], ALL_RIGHT)
    file = offline.file()
    take_in(here, file, "f")
    before = opened.ratings(), opened.counts()
    clock.pass_(60)
    assert take_in(here, file, "f").again
    assert (opened.ratings(), opened.counts()) == before


def test_a_later_file_revises_and_an_older_one_does_not(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    one, two = offline.names[:2]
    offline.say(one, ALL_RIGHT)
    early = offline.file()
    assert take_in(here, early, "f").handed_in == 1
    offline.say(one, {"difficulty": "Schwer"})
    offline.say(two, ALL_RIGHT)
    late = offline.file()
    told = take_in(here, late, "f")
    assert (told.handed_in, told.unchanged) == (2, 0)
    assert sorted(r.label for r in opened.ratings() if r.criterion == "difficulty") == [
        "Mittel",
        "Schwer",
    ]
    assert take_in(here, early, "f").again
    third = take_in(here, offline.file(), "f")
    assert (third.handed_in, third.unchanged) == (0, 2)
    assert len(opened.ratings()) == 12


def test_a_later_file_changes_no_rating_where_a_change_needs_a_reason(
    site: Make, opened: Store
) -> None:
    here = dataclasses.replace(
        site(), study=dataclasses.replace(site().study, reasons_for_changes=True)
    )
    _, offline = kit_of(here)
    one = offline.names[0]
    offline.say(one, ALL_RIGHT)
    assert take_in(here, offline.file(), "f").handed_in == 1
    offline.say(one, {"difficulty": "Schwer"})
    told = take_in(here, offline.file(), "f")
    assert (told.handed_in, dict(told.reason_by_screen)) == (
        0,
        {one: "a change needs a reason; give it on the page"},
    )
    assert [r.label for r in opened.ratings() if r.criterion == "difficulty"] == ["Mittel"]
    sheet = here.desk.open(R1, one)
    assert sheet is not None
    assert [a.value for g in sheet.everything for a in g.questions if a.name == "difficulty"] == [
        "Schwer"
    ]


def test_the_pages_word_stands_where_both_said_something(site: Make, opened: Store) -> None:
    """Whoever rates in the kit and on the pages loses neither; what came by the pages is left as it
    is."""
    here = site()
    _, offline = kit_of(here)
    name = offline.names[0]
    offline.say(name, ALL_RIGHT)
    here.desk.submit(R1, name, {**ALL_RIGHT, "difficulty": "Schwer"}, 0)
    told = take_in(here, offline.file(), "f")
    assert told.handed_in == 0
    assert "on the study website in the meantime" in told.reason_by_screen[name]
    assert [r.label for r in opened.ratings() if r.criterion == "difficulty"] == ["Schwer"]


def test_a_correction_on_the_pages_after_the_kit_stays(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    name = offline.names[0]
    offline.say(name, ALL_RIGHT)
    take_in(here, offline.file(), "f")
    sheet = here.desk.open(R1, name)
    here.desk.submit(R1, name, {**ALL_RIGHT, "difficulty": "Schwer"}, sheet.rev)
    told = take_in(here, offline.file(), "f")
    assert (told.handed_in, told.unchanged) == (0, 1)
    assert [r.label for r in opened.ratings() if r.criterion == "difficulty"] == ["Schwer"]


def altered(file: str, change: Callable[[dict[str, Any]], None]) -> str:
    outer = json.loads(file)
    inner = json.loads(outer["signed"])
    change(inner)
    return json.dumps({**outer, "signed": json.dumps(inner)})


def test_what_was_altered_is_refused_whole(site: Make, opened: Store) -> None:
    here = site()
    made, offline = kit_of(here)
    offline.say(offline.names[0], ALL_RIGHT)
    file = offline.file()

    def falsely(inner: dict[str, Any]) -> None:
        inner["screens"][offline.names[0]]["changes"][0]["value"] = "Falsch"

    for bad in (
        altered(file, falsely),
        file.replace('"mac": "', '"mac": "0'),
        file[:-40] + file[-20:],
    ):
        with pytest.raises(KonsilError, match=r"signature invalid|something else"):
            take_in(here, bad, "f")
    other = altered(file, lambda inner: inner.update(kit="0" * 24))
    with pytest.raises(KonsilError, match="not made from this study's database"):
        take_in(here, other, "f")
    assert opened.ratings() == ()
    assert take_in(here, file, "f").kit == made.id


def test_what_is_no_answers_file_is_said(site: Make) -> None:
    here = site(n_items=2)
    for text in (
        "",
        "{}",
        "[1]",
        '"x"',
        "null",
        '{"konsil": "kit answers", "format": 2}',
        "[" * 5000,
    ):
        with pytest.raises(KonsilError, match=r"f: expected the answers file of an offline kit"):
            take_in(here, text, "f")


def test_a_signed_file_that_makes_no_sense_is_refused(site: Make, opened: Store) -> None:
    """The rater has the key, so a good signature is no reason to believe what it says."""
    here = site()
    _, offline = kit_of(here)
    name = offline.names[0]
    for spoil in (
        {"changes": [{"id": "x y", "field": "difficulty", "value": "Mittel", "at": ""}]},
        {"changes": [{"field": "difficulty"}]},
        {"visits": {"v": {"wall": "nan", "active": "1", "first_input": ""}}},
        {"visits": {"v": {"wall": "1", "active": "9", "first_input": ""}}},
        {"base_rev": "many"},
        {"base_rev": 10**30},
        {"base_rev": -1},
        {"problems": 3},
    ):
        offline.screens = {}
        offline.say(name, ALL_RIGHT)
        offline.screens[name].update(spoil)
        with pytest.raises(KonsilError, match="is signed, but"):
            take_in(here, offline.file(), "f")
    theirs = make(here, R2, "", "", "de")
    offline.screens = {Offline(theirs.html).names[0]: offline.screens[name] | {"problems": []}}
    with pytest.raises(KonsilError, match=r"is signed, but|not in its kit"):
        take_in(here, offline.file(), "f")
    assert opened.ratings() == ()


def test_an_unknown_label_is_told_and_not_stored(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    offline.say(offline.names[0], {**ALL_RIGHT, "difficulty": "Egal"})
    told = take_in(here, offline.file(), "f")
    assert "Egal" in told.reason_by_screen[offline.names[0]]
    assert opened.ratings() == ()


def test_a_closed_batch_is_refused_whole(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    offline.say(offline.names[0], ALL_RIGHT)
    here.desk.close_batch("", "", R1)
    with pytest.raises(KonsilError, match="is closed"):
        take_in(here, offline.file(), "f")
    with pytest.raises(KonsilError, match="is closed"):
        kit_of(here)
    assert opened.ratings() == ()


def test_answers_to_another_form_are_refused(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    offline.say(offline.names[0], ALL_RIGHT)
    first, *others = here.study.instruments
    changed = dataclasses.replace(
        here.study, instruments=(dataclasses.replace(first, codebook="Anders."), *others)
    )
    with pytest.raises(KonsilError, match="form was changed"):
        take_in(Site(changed, opened, clock=here.clock), offline.file(), "f")


def test_a_problem_arrives_once(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    name = offline.names[0]
    offline.say(name, {}, done=False)
    offline.screens[name]["problems"].append({"id": "p1", "text": "Das Bild fehlt."})
    assert take_in(here, offline.file(), "f").problems == 1
    take_in(here, offline.file(), "f")
    with reading(opened.engine) as connection:
        [event] = study_events.of_kind(connection, study_events.PROBLEM)
    assert event.data["text"] == "Das Bild fehlt."


def test_what_cannot_be_made_is_said(site: Make) -> None:
    here = site(n_items=2)
    with pytest.raises(KonsilError, match="has no batch '7'"):
        make(here, R1, "", "7", "de")
    for _ in range(9):
        public = here.desk.next_task(R1)
        if public is None:
            break
        here.desk.submit(R1, public, ALL_RIGHT, 0)
    with pytest.raises(KonsilError, match="no unfinished tasks"):
        make(here, R1, "", "", "de")


def test_no_kit_leads_past_consent(site: Make, opened: Store) -> None:
    here = site()
    asks = dataclasses.replace(here.study, enrolment=Enrolment(consent="Ich nehme teil."))
    there = Site(asks, opened, clock=here.clock)
    with pytest.raises(KonsilError, match="must complete the page 'consent'"):
        kit_of(there)
    there.reception.agree(R1, there.reception.version)
    _, offline = kit_of(there)
    offline.say(offline.names[0], ALL_RIGHT)
    there.reception.withdraw(R1)
    with pytest.raises(KonsilError, match="must complete the page 'consent'"):
        take_in(there, offline.file(), "f")
    assert opened.ratings() == ()


def test_what_changed_hands_is_told_and_not_stored(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    for name in offline.names:
        offline.say(name, ALL_RIGHT)
    withdraw(opened, here.study, R1, at=here.now())
    told = take_in(here, offline.file(), "f")
    assert told.handed_in == 0
    assert told.n_reassigned > 0
    assert not any(r.rater == R1 for r in opened.ratings())


@pytest.mark.slow
def test_a_tie_break_follows_from_a_kit_as_from_the_pages(site: Make, opened: Store) -> None:
    here = site()
    _, offline = kit_of(here)
    for name in offline.names:
        offline.say(name, {**ALL_RIGHT, "correctness.a1": "Falsch"})
    take_in(here, offline.file(), "f")
    for rater in (R2, "canary-rater-3"):
        _, other = kit_of(here, rater)
        for name in other.names:
            other.say(name, ALL_RIGHT)
        take_in(here, other.file(), "f")
    assert any(t.purpose == "tiebreak" for t in opened.tasks())


PROTOCOL = """
title = "A study"
seed = 1
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "Right?", scale = { labels = ["no", "yes"] } }]
[[raters]]
id = "dr a/b"
panel = "panel"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "panel"
instrument = "form"
"""


@pytest.mark.slow
def test_the_commands(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from konsil.cli.main import group

    def run(*arguments: object) -> str:
        return CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False).output

    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    (tmp_path / "items.csv").write_text("item,text\ni,What?\n", "utf-8")
    (tmp_path / "answers.csv").write_text("item,system,text\ni,s,This.\n", "utf-8")
    run("import", tmp_path)
    told = run("kit", tmp_path, "--rater", "dr a/b")
    path = tmp_path / "kit-dr-a-b.html"
    assert told.startswith(f"{path}: 1 screen, ")
    offline = Offline(path.read_text("utf-8"))
    offline.say(offline.names[0], {"correct.a1": "yes"})
    answers = tmp_path / "answers.json"
    answers.write_text(offline.file(), "utf-8")
    assert run("kit", tmp_path) == "dr a/b: 1 screen, no answers yet\n"
    assert run("import", tmp_path, "--kit", answers) == "dr a/b: 1 handed in\n"
    assert "nothing changed" in run("import", tmp_path, "--kit", answers)
    assert run("kit", tmp_path) == "dr a/b: 1 screen, answers came back\n"
    # Of several files those before a refused one are in, and their lines are printed.
    files = ["--kit", str(answers), "--kit", str(tmp_path / "none.json")]
    done = CliRunner().invoke(group, ["import", str(tmp_path), *files])
    assert "nothing changed" in done.output
    assert "cannot be read" in str(done.exception)
    for arguments, sentence in (
        (["kit", tmp_path, "--rater", "dr b"], "no rater 'dr b' with tasks"),
        (["kit", tmp_path, "--rater", "dr a/b"], "has no unfinished tasks"),
        (["kit", tmp_path, "--batch", "1"], "--rater: missing"),
        (
            ["kit", tmp_path, "--rater", "dr a/b", "--language", "xx"],
            "--language: there is no 'xx'",
        ),
        (["import", tmp_path, "--kit", tmp_path / "none.json"], "cannot be read"),
        (["import", tmp_path, "--kit", tmp_path / "konsil.db"], "expected the answers file"),
    ):
        with pytest.raises(KonsilError, match=sentence):
            run(*arguments)


@pytest.mark.slow
def test_a_kits_file_name_says_nothing_of_the_plan(tmp_path: Path) -> None:
    """A phase called "again" would tell the rater that these answers come once more."""
    from click.testing import CliRunner

    from konsil.cli.main import group

    (tmp_path / "study.toml").write_text(PROTOCOL + 'phase = "again"\nbatches = 1\n', "utf-8")
    (tmp_path / "items.csv").write_text("item,text\ni,What?\nj,Who?\n", "utf-8")
    (tmp_path / "answers.csv").write_text("item,system,text\ni,s,This.\nj,s,That.\n", "utf-8")
    for command in (["import"], ["kit", "--rater", "dr a/b"]):
        done = CliRunner().invoke(
            group, [command[0], str(tmp_path), *command[1:]], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
    [file] = tmp_path.glob("kit-*")
    assert file.name == "kit-dr-a-b-1.html"


def test_a_kit_holds_its_key_and_is_its_makers_alone(
    site: Make, opened: Store, database: str, tmp_path: Path
) -> None:
    study = site().study
    opened.close()
    output = tmp_path / "kit.html"
    _, path = make_kit(Folder(tmp_path, study, database), study.raters[0].id, output=output)
    assert path == output
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("times", "stored"),
    [
        ({"first_input": "inf"}, True),
        ({"first_input": "nan"}, True),
        ({"first_input": "-1"}, True),
        ({"wall": "nan"}, False),
        ({"active": 10**400}, False),
    ],
)
def test_times_behind_the_signature_are_finite(
    site: Make, times: dict[str, Any], stored: bool
) -> None:
    here = site()
    [(phase, batch)] = {(row.phase, row.batch) for row in here.desk.line(R1)}
    offline = Offline(make(here, R1, phase, batch, "de").html)
    offline.say(offline.names[0], {})
    next(iter(offline.screens[offline.names[0]]["visits"].values())).update(times)
    if not stored:
        with pytest.raises(
            KonsilError, match="is signed, but does not have the format of this kit version"
        ):
            take_in(here, offline.file(), "a.json")
        return
    take_in(here, offline.file(), "a.json")
    with reading(here.store.engine) as connection:
        rows = connection.exec_driver_sql("SELECT wall, first_input FROM visits").all()
    assert (40.0, None) in rows
