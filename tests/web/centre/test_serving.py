"""konsil serve --studies: what is refused, and what a server of two studies answers."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from konsil.api.serving.centre_logs import log_of_centre
from konsil.api.serving.opening import (
    check_centre,
    open_study,
    people_notes,
    readable_studies,
)
from konsil.cli.main import group, main
from konsil.errors import StoreError
from konsil.store import Store
from konsil.web.centre.settings import read_settings
from konsil.web.site.site import Options
from ports import free_port
from store.conftest import new_database

from ..both import server

__all__ = ["server"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("study", "--studies", "."), "state no FOLDER and no --database"),
        (("--studies", ".", "--database", "sqlite://"), "state no FOLDER and no --database"),
        (
            ("--studies", "nowhere"),
            "nowhere: there is no such folder or file; expected a folder of",
        ),
        (("--studies", "lst.toml"), "no such folder or file; did you mean 'list.toml'?"),
        (("--studies", "wardz"), "no such folder or file; did you mean 'wards'?"),
        (("--studies", "x/wards"), "no such folder or file; there is no folder 'x' either"),
        (("--studies", "near.toml"), "wardz: there is no such folder; did you mean 'wards'?"),
        (("--studies", "wards/one"), "it is a study itself: omit --studies"),
        (("--studies", "."), "contains no folder with a study.toml"),
        (
            ("--studies", ".", "--passkeys"),
            "browsers accept passkeys over TLS and with a host name",
        ),
        (
            ("--studies", ".", "--passkeys", "--url", "https://127.0.0.1"),
            "browsers accept passkeys over TLS and with a host name",
        ),
        (("--studies", "list.toml", "--workers", "2"), "state the database of 'a' in centre.toml"),
        (("--studies", "list.toml"), "a: there is no such folder"),
    ],
)
def test_what_cannot_be_served(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.toml").write_text("[[studies]]\nfolder = 'a'\n")
    (tmp_path / "near.toml").write_text("[[studies]]\nfolder = 'wardz'\n")
    (tmp_path / "wards" / "one").mkdir(parents=True)
    (tmp_path / "wards" / "one" / "study.toml").write_text("")
    result = run("serve", *arguments)
    assert result.exit_code != 0
    assert message in str(result.output) + str(result.exception)


@pytest.mark.slow
def test_a_log_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "study.toml").write_text("")
    (tmp_path / "centre.toml").write_text("log = 'nowhere/centre.db'\n")
    with pytest.raises(StoreError, match="nowhere' does not exist"):
        check_centre(read_settings(tmp_path), 1)
    (tmp_path / "centre.toml").write_text("log = 'access.db'\n")
    check_centre(read_settings(tmp_path), 1)
    log = log_of_centre(tmp_path)
    assert log is not None
    log.close()


def test_a_misspelt_folder_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    with pytest.raises(SystemExit) as end:
        main(["serve", "--studies", "studeis"])
    assert end.value.code == 2
    message = "konsil: studeis: there is no such folder or file; did you mean 'studies'?\n"
    assert capsys.readouterr().err == message


def test_one_database_for_all_studies_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KONSIL_DATABASE", "postgresql://db.example.org/konsil")
    result = run("serve", "--studies", str(tmp_path))
    assert result.exit_code != 0
    assert str(result.exception) == (
        "--studies: KONSIL_DATABASE is set and would give all studies one database; unset it, and"
        " state each study's database in centre.toml"
    )


PEOPLE = """[sign_in]
issuer = "https://login.example.org"
client_id = "konsil"
[[people]]
study = "hart"
role = "owner"
email = "a@b.org"
[[people]]
study = "heart"
role = "rater"
who = "physician-11"
email = "c@b.org"
[[people]]
study = "heart"
role = "rater"
who = "physician-1"
email = "d@b.org"
"""


def test_entries_of_people_that_fit_nobody_are_noted(tmp_path: Path) -> None:
    assert run("new", str(tmp_path / "heart"), "--protocol", "starter").exit_code == 0
    (tmp_path / "not open").mkdir()
    (tmp_path / "not open" / "study.toml").write_text("schema = 1\n")
    (tmp_path / "lung").mkdir()
    (tmp_path / "lung" / "study.toml").write_text("schema = 99\n")
    (tmp_path / "centre.toml").write_text(PEOPLE)
    settings = read_settings(tmp_path)
    studies = readable_studies(settings)
    assert list(studies) == ["heart"]
    assert list(people_notes(settings, studies)) == [
        "centre.toml: people 1: there is no study 'hart'; did you mean 'heart'?",
        "centre.toml: people 2: 'heart' has no rater 'physician-11'; did you mean 'physician-1'?",
    ]


def test_nothing_is_announced_on_a_port_that_is_taken(tmp_path: Path) -> None:
    study = prepared(tmp_path / "a")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for place in ((str(study),), ("--studies", str(tmp_path))):
            result = run("serve", *place, "--port", port)
            assert "cannot listen on this address" in str(result.exception)
            assert "Ctrl+C" not in result.output


def prepared(folder: Path) -> Path:
    """A study with a plan, whose ratings come from the pages."""
    assert run("new", str(folder), "--protocol", "starter").exit_code == 0
    protocol = folder / "study.toml"
    plan = '\n[[plan]]\npanel = "physicians"\ninstrument = "correctness"\n'
    before, _, rest = protocol.read_text().partition('[[sources]]\nfile = "ratings.csv"')
    sources = '[[sources]]\nfile = "answers.csv"\nrecords = "answers"\n'
    protocol.write_text(before + sources + rest[rest.index("# WHICH") :] + plan)
    (folder / "answers.csv").write_text(
        "id,item,system,text\n" + "".join(f"a{n},q{n},system-1,Answer {n}.\n" for n in range(1, 4))
    )
    assert run("import", str(folder)).exit_code == 0
    return folder


# A shell starts commands in the background so that they ignore Ctrl+C, and this holds for all that
# these start, such as tests.
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    " from konsil.cli import main; main()"
)


@contextmanager
def serving(place: Path, *options: str) -> Iterator[tuple[str, list[str]]]:
    """A server of studies in a process of its own: its address, and at the end what it printed."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", PROGRAM, "serve"]
    environment = {k: v for k, v in os.environ.items() if k != "KONSIL_DATABASE"}
    printed: list[str] = []
    with subprocess.Popen(
        [*command, "--studies", str(place), "--port", str(port), *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            deadline = time.monotonic() + 120
            while True:
                try:
                    httpx.get(f"{address}/health")
                    break
                except httpx.TransportError:
                    assert time.monotonic() < deadline
                    assert process.poll() is None
                    time.sleep(0.1)
            yield address, printed
        finally:
            process.send_signal(signal.SIGINT)
            try:
                printed.append(process.communicate(timeout=60)[0])
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@pytest.mark.slow
def test_a_server_of_two_studies(tmp_path: Path) -> None:
    """A real process: both studies answer, a broken one does not."""
    for name in ("a", "b"):
        prepared(tmp_path / name)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "study.toml").write_text("schema = 99\n")
    with serving(tmp_path) as (address, printed):
        assert httpx.get(f"{address}/health").text == "ok\n2 of 3 studies answer\n"
        assert httpx.get(f"{address}/c/health").status_code == 503
        for name in ("a", "b"):
            assert httpx.get(f"{address}/{name}/health").text == "ok\n"
            url = f"{address}/{name}"
            invited = ("--who", "lead", "--role", "owner", "--url", url)
            text = run("invite", str(tmp_path / name), *invited).output
            link = next(word for word in text.split() if word.startswith(f"{url}/come/"))
            with httpx.Client(headers={"origin": address}, follow_redirects=True) as client:
                assert client.post(link).url.path == f"/{name}/office"
                listed = client.get(f"{address}/").text
                assert f'href="/{name}/"' in listed
                assert listed.count('href="/a/"') + listed.count('href="/b/"') == 1
    assert f"{address}/a/" in printed[0]
    assert "2 studies" in printed[0]
    assert "not available, as the log states: c" in printed[0]


def test_what_workers_are_given_can_be_sent_to_them(tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text(
        "[[studies]]\nfolder = 'a'\n[sign_in]\nissuer = 'https://x.org'\nclient_id = 'c'\n"
        "[[people]]\nstudy = '*'\nrole = 'owner'\nemail = 'a@x.org'\n"
    )
    sent = (read_settings(tmp_path / "list.toml"), open_study, Options(url="https://x.org"))
    assert pickle.loads(pickle.dumps(sent)) == sent


@pytest.mark.slow
def test_several_workers_serve_studies_on_postgresql(tmp_path: Path, server: str) -> None:
    """Two processes know the same people: whoever signed in at one is signed in at both."""
    study = prepared(tmp_path / "a")
    database = new_database(server)
    with Store.open(database):
        pass
    assert run("import", str(study), "--database", database).exit_code == 0
    (tmp_path / "list.toml").write_text(
        f'[[studies]]\nfolder = "a"\npath = "one"\ndatabase = "{database}"\n'
    )
    with serving(tmp_path / "list.toml", "--workers", "2") as (address, _):
        url = f"{address}/one"
        invited = ("--who", "lead", "--role", "owner", "--url", url, "--database", database)
        text = run("invite", str(study), *invited).output
        link = next(word for word in text.split() if word.startswith(f"{url}/come/"))
        with httpx.Client(headers={"origin": address}, follow_redirects=True) as client:
            assert client.post(link).url.path == "/one/office"
        for _ in range(12):
            # Each on a new connection: either worker answers.
            answer = httpx.get(f"{url}/office", cookies=client.cookies)
            assert answer.status_code == 200
            assert httpx.get(f"{address}/health").text == "ok\n1 of 1 studies answer\n"
