"""konsil invite and serve, called as from a shell."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.web.site.site import Options, checked

PROTOCOL = """
title = "A study"
seed = 1
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[raters]]
id = "physician-1"
panel = "panel"
[[raters]]
id = "judge-1"
panel = "judges"
kind = "llm"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    Store.open(tmp_path).close()
    return tmp_path


def run(*arguments: object) -> str:
    return CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False).output


def test_links_that_lead_to_this_machine_alone_say_so(folder: Path) -> None:
    found = CliRunner().invoke(group, ["invite", str(folder)], catch_exceptions=False)
    assert "/come/" in found.stdout
    assert found.stderr.startswith("note: these links work on this machine")
    elsewhere = CliRunner().invoke(
        group, ["invite", str(folder), "--url", "https://x.org"], catch_exceptions=False
    )
    assert (elsewhere.stderr, "https://x.org/come/" in elsewhere.stdout) == ("", True)


def test_every_person_gets_a_link(folder: Path) -> None:
    [line] = run("invite", folder, "--url", "https://x.org/").splitlines()
    assert line.startswith("physician-1  https://x.org/come/")
    with Store.open(folder) as store:
        [made] = Access(store).invitations()
        assert (made.who, made.role, made.most_uses) == ("physician-1", "rater", None)
        secret = line.rpartition("/")[2]
        assert Access(store).invitation(secret, made.made_at) == made
    assert run("invite", folder, "--who", "physician-1", "--revoke") == "1 link revoked\n"
    assert run("invite", folder, "--who", "physician-1", "--revoke") == "0 links revoked\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--who", "physician-2"], "there is no rater 'physician-2'; did you mean 'physician-1'?"),
        (["--who", "judge-1"], "is not a person"),
        (["--role", "owner"], "state whom to invite with --who"),
        (["--revoke"], "state whose links to revoke"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], sentence: str, folder: Path) -> None:
    with pytest.raises(KonsilError, match=sentence.replace("?", r"\?")):
        run("invite", folder, *arguments)
    with Store.open(folder) as store:
        assert Access(store).invitations() == ()


def test_those_who_run_the_study_come_in_once(folder: Path) -> None:
    run("invite", folder, "--who", "office", "--role", "coordinator")
    with Store.open(folder) as store:
        [made] = Access(store).invitations()
    assert (made.role, made.most_uses) == ("coordinator", 1)


@pytest.mark.parametrize(
    "url", ["study.example.org", "ftp://x.org", "https://", "https://x.org?a=b"]
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(KonsilError, match="url: expected an address"):
        checked(Options(url=url))


def test_the_machine_itself_has_several_names() -> None:
    assert Options(url="http://127.0.0.1:8000").origins == {
        "http://localhost:8000",
        "http://127.0.0.1:8000",
        "http://[::1]:8000",
    }
    assert Options(url="https://x.org/").origins == {"https://x.org"}


def test_a_port_that_is_taken_is_told(folder: Path) -> None:
    items = tuple(Item(f"i{n}", "?") for n in range(2))
    said = tuple(Answer(f"a{n}", f"i{n}", "s", "x") for n in range(2))
    with Store.open(folder) as store:
        store.add(Batch(items=items, answers=said), source="s", at="2025-03-01T12:00:00Z")
    protocol = folder / "study.toml"
    protocol.write_text(PROTOCOL + '[[plan]]\npanel = "panel"\ninstrument = "form"\n', "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(KonsilError, match="cannot listen on this address"):
            run("serve", folder, "--port", taken.getsockname()[1])


def test_closing_says_what_is_not_done(folder: Path) -> None:
    with Store.open(folder) as store:
        batch = Batch(items=(Item("q", "Q?"),), answers=(Answer("a", "q", "s", "x"),))
        store.add(batch, source="s", at="2025-03-01T12:00:00Z")
    (folder / "study.toml").write_text(
        PROTOCOL + '[[plan]]\npanel = "panel"\ninstrument = "form"\n', "utf-8"
    )
    run("plan", folder)
    assert run("close", folder, "--batch", "") == "batch '': now closed; tasks not done: 1\n"
    assert run("close", folder, "--batch", "") == "batch '': was already closed\n"
    assert (
        run("close", folder, "--batch", "", "--reopen", "--reason", "a slip")
        == "batch '': now open\n"
    )
