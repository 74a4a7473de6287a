"""A study that people sign up for, from its folder to its numbers: places, profiles, a consent that
is withdrawn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.running.invitations import invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.errors import StudyError
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.placing import Placing
from konsil.web.rating.rating_service import Desk

STUDY = """
title = "Places"
licence = "CC-BY-4.0"
seed = 3

[enrolment]
consent = "consent.md"
withdrawn = "exclude"
[[enrolment.profile]]
id = "specialty"
question = "What is your specialty?"
scale = { labels = ["medicine", "surgery"] }

[[places]]
panel = "doctors"
number = 2
strata = { specialty = "medicine" }
[[places]]
panel = "doctors"
number = 2
strata = { specialty = "surgery" }

[[instruments]]
id = "pairs"
unit = "pair"
[[instruments.criteria]]
id = "better"
scope = "pair"
question = "Which is better?"
scale = { labels = ["A", "equal", "B"], level = "ordinal" }

[[sources]]
file = "items.csv"
records = "items"
strata = ["field"]
[[sources]]
file = "answers.csv"
records = "answers"

[[plan]]
panel = "doctors"
instrument = "pairs"
show = "pair"
per_rater = 3
arms = { text = 1, citations = 1 }

[[analyses]]
name = "ties"
statistic = "share"
of = ["equal"]
criterion = "better"
raters = "doctors"
by = ["specialty"]
cluster = "rater"
"""
AT = "2025-03-01T12:00:00Z"


def run(*arguments: str) -> str:
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    path = tmp_path / "study"
    path.mkdir()
    (path / "study.toml").write_text(STUDY)
    (path / "consent.md").write_text("I take part.")
    (path / "items.csv").write_text(
        "item,text,field\n" + "".join(f"q{k},Question {k}?,x\n" for k in range(6))
    )
    rows = "".join(f"q{k},sys-{s},Answer {s} {k}\n" for k in range(6) for s in "ab")
    (path / "answers.csv").write_text("item,system,text\n" + rows)
    run("import", str(path))
    run("plan", str(path))
    return open_folder(path)


def rate(folder: Folder, who: str, specialty: str, label: str) -> None:
    with folder.store() as store:
        here = Reception(folder.study, store, lambda: AT)
        here.agree(who, here.version)
        assert here.reply("profile", who, {"specialty": specialty}) == {}
        assert Placing(folder.study, store, lambda: AT).take(who)
        desk = Desk(folder.study, store, lambda: AT)
        while (public := desk.next_task(who)) is not None:
            done = desk.submit(who, public, {"better": label}, 0)
            assert done is not None
            assert done.is_stored


@pytest.mark.slow
def test_from_signing_up_to_the_numbers(folder: Folder, tmp_path: Path) -> None:
    digest = make_plan(folder, save=False).digest
    for who, specialty, label in (
        ("person-one", "medicine", "equal"),
        ("person-two", "surgery", "A"),
        ("person-three", "surgery", "equal"),
    ):
        rate(folder, who, specialty, label)
    planned = make_plan(folder)
    assert planned.new == 0
    assert planned.digest == digest, "who takes a place is no other plan"
    found = {row.group["specialty"]: row.estimate.value for row in folder.results().rows}
    assert found == {"medicine": 1.0, "surgery": 0.5}
    ratings = folder.ratings()
    assert {kind for kind in ratings.dtypes if not kind.is_numeric()} == {pl.String}
    assert ratings.height == 9
    assert dict(ratings.group_by("specialty").len().iter_rows()) == {"medicine": 3, "surgery": 6}
    with folder.store() as store:
        assert Reception(folder.study, store, lambda: AT).withdraw("person-two")
    assert set(folder.ratings().get_column("rater")) == {"person-one", "person-three"}
    excluded = {
        reason
        for row in folder.results().coverage
        for reason in row.excluded
        if row.excluded[reason]
    }
    assert {str(reason) for reason in excluded} == {"consent_withdrawn"}
    released = folder.release(tmp_path / "release", linked=True).folder
    texts = {p.name: p.read_text("utf-8") for p in released.rglob("*.csv")}
    assert len(pl.read_csv(next(p for p in released.rglob("ratings.csv")))) == 6
    assert not any("person-two" in text for text in texts.values())
    with folder.store() as store:
        assert len(store.ratings()) == 9, "nothing is deleted"
        assert store.verify_log() == ()


def test_a_link_for_anybody_needs_places(folder: Folder) -> None:
    assert "\nanybody  http" in run("invite", str(folder.path), "--anybody")
    assert "\ndr-17  http" in run("invite", str(folder.path), "--who", "dr-17")
    assert run("invite", str(folder.path), "--anybody", "--revoke") == "1 link revoked\n"
    with pytest.raises(StudyError, match="cannot be combined with who"):
        invite(folder, InvitationRequest(who=("x",), url="http://localhost", days=1, anybody=True))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("withdrawn", "withdrwan", "enrolment.withdrwan: unknown key; did you mean 'withdrawn'?"),
        ('"surgery" }', '"surgry" }', "there is no label 'surgry'; did you mean 'surgery'?"),
        ("{ specialty = ", "{ speciality = ", "no question of the profile is called 'speciality'"),
        ("number = 2", "number = 0", "places 1, number: expected 1 or more, got 0"),
        (
            'consent = "consent.md"\n',
            "",
            "there is no consent that could be withdrawn",
        ),
        ("consent.md", "agreed.md", "enrolment.consent: the file 'agreed.md' does not exist"),
        (
            "[[enrolment.profile]]",
            (
                '[[enrolment.eligibility]]\nid = "a"\nquestion = "?"\nscale = { labels = ["n", "y"]'
                " }\n[[enrolment.profile]]"
            ),
            "enrolment.eligibility 'a', admits: is empty",
        ),
    ],
)
def test_what_is_wrong_is_said_where(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new, 1))
    (tmp_path / "consent.md").write_text("I take part.")
    with pytest.raises(StudyError) as error:
        open_folder(tmp_path)
    assert message in str(error.value)
