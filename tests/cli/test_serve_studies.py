"""konsil serve --studies: what is refused, and what a server of two studies answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from konsil.cli.main import group
from ports import free_port


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, list(arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("study", "--studies", "."), "state no FOLDER and no --database"),
        (("--studies", ".", "--database", "sqlite://"), "state no FOLDER and no --database"),
        (("--studies", "nowhere"), "nowhere: there is no such folder or file"),
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
    ],
)
def test_what_cannot_be_served(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.toml").write_text("[[studies]]\nfolder = 'a'\n")
    result = run("serve", *arguments)
    assert result.exit_code != 0
    assert message in str(result.output) + str(result.exception)


@pytest.mark.slow
def test_a_server_of_two_studies(tmp_path: Path) -> None:
    """A real process: both studies answer, a broken one does not, a new one is served."""
    for name in ("a", "b"):
        assert run("new", str(tmp_path / name), "--protocol", "starter").exit_code == 0
        protocol = tmp_path / name / "study.toml"
        plan = '\n[[plan]]\npanel = "physicians"\ninstrument = "correctness"\n'
        # Ratings come from the pages: the example's own are not imported.
        before, _, rest = protocol.read_text().partition('[[sources]]\nfile = "ratings.csv"')
        sources = '[[sources]]\nfile = "answers.csv"\nrecords = "answers"\n'
        protocol.write_text(before + sources + rest[rest.index("# WHICH") :] + plan)
        (tmp_path / name / "answers.csv").write_text(
            "id,item,system,text\n"
            + "".join(f"a{n},q{n},system-1,Answer {n}.\n" for n in range(1, 4))
        )
        assert run("import", str(tmp_path / name)).exit_code == 0
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "study.toml").write_text("schema = 99\n")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", "from konsil.cli import main; main()", "serve"]
    environment = {k: v for k, v in os.environ.items() if k != "KONSIL_DATABASE"}
    with subprocess.Popen(
        [*command, "--studies", str(tmp_path), "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    health = httpx.get(f"{address}/health")
                    break
                except httpx.TransportError:
                    assert time.monotonic() < deadline
                    assert process.poll() is None
                    time.sleep(0.1)
            assert health.text == "ok\n2 of 3 studies answer\n"
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
        finally:
            process.send_signal(signal.SIGINT)
            output = process.communicate(timeout=30)[0]
    assert f"{address}/a/" in output
    assert "3 studies" in output
