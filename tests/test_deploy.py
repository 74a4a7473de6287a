"""The files of deploy/: they parse, their commands and metrics exist, and their parts work together as
processes, without an engine of containers."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from konsil.api import open_folder
from konsil.api.running.archiving import archive_study, restore_study
from konsil.api.running.invitations import PATH, invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group
from konsil.rehearse import Server, work
from konsil.rehearse.people import Person
from konsil.rehearse.server import answers_at
from konsil.store.engine.engine import reading
from konsil.store.tasks import screens
from ports import free_port
from small_studies import ITEMS, form, import_items, plan, raters, study_text, systems
from store.conftest import new_database, server  # noqa: F401  a fixture

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
UNITS = ("konsil.service", "konsil.socket", "konsil-backup@.service", "konsil-backup@.timer")


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str
    parser.read_string((DEPLOY / name).read_text("utf-8"))
    return parser


COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
CENTRE = yaml.safe_load((DEPLOY / "centre.yaml").read_text("utf-8"))
RULES = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))


def command_lines() -> Iterator[list[str]]:
    """Every command of konsil in these files, without the program."""
    for name in UNITS:
        if unit(name).has_option("Service", "ExecStart"):
            yield unit(name)["Service"]["ExecStart"].split()[1:]
    services = COMPOSE["services"]
    yield services["konsil"]["command"]
    [script] = services["backup"]["command"]
    yield re.search(r"konsil (backup [^&]*)&&", script)[1].split()


def test_their_commands_parse() -> None:
    lines = list(command_lines())
    assert [line[0] for line in lines] == ["serve", "backup", "serve", "backup"]
    for name, *arguments in lines:
        values = group.get_command(None, name).make_context(name, list(arguments)).params
        assert values["folder"]


def test_the_units_of_systemd_fit_one_another() -> None:
    service, socket = unit("konsil.service"), unit("konsil.socket")
    assert service["Unit"]["Requires"] == "konsil.socket"
    # The proxy of the documents and of the Caddyfile expects konsil there.
    assert socket["Socket"]["ListenStream"] == "127.0.0.1:8000"
    assert "{$KONSIL_UPSTREAM:127.0.0.1:8000}" in (DEPLOY / "Caddyfile").read_text("utf-8")
    # Only one socket is passed on.
    assert list(socket["Socket"]) == ["ListenStream", "Backlog"]
    backup = unit("konsil-backup@.service")["Service"]
    for service_section in (service["Service"], backup):
        user, folder = service_section["User"], service_section["WorkingDirectory"]
        assert (user, folder) == ("konsil", "/srv/konsil")
        assert folder in service_section["ReadWritePaths"].split()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.slow
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """But for the program, which is installed elsewhere here."""
    for name in UNITS:
        text = (DEPLOY / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace("/srv/konsil/.venv/bin/konsil", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *(tmp_path / name.replace("@", "@trial") for name in UNITS)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_compose_file_names_what_it_uses() -> None:
    services, secrets, volumes = (COMPOSE[key] for key in ("services", "secrets", "volumes"))
    used = {secret for service in services.values() for secret in service.get("secrets", ())}
    assert used == {*secrets}
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source.startswith(("$", ".")) or source in volumes
    # No port of konsil or of the database is open to other machines: only the proxy's.
    assert {name for name, service in services.items() if "ports" in service} == {"proxy"}
    assert services["proxy"]["environment"]["KONSIL_UPSTREAM"] == "konsil:8000"
    assert "--port=8000" in services["konsil"]["command"]


def test_the_file_of_a_centre_changes_the_command_and_the_database_alone() -> None:
    """Compose lays it over compose.yaml: commands are replaced, and environments merged."""
    assert CENTRE["services"].keys() <= COMPOSE["services"].keys()
    changed = {key for service in CENTRE["services"].values() for key in service}
    assert changed == {"environment", "command"}
    for service in CENTRE["services"].values():
        assert service["environment"] == {"KONSIL_DATABASE": ""}
        assert service["environment"].keys() <= COMPOSE["services"]["konsil"]["environment"].keys()
    single, several = (of["services"]["konsil"]["command"] for of in (COMPOSE, CENTRE))
    assert [word for word in several if word not in single] == ["--studies=/study"]
    assert [word for word in single if word not in several] == ["/study"]
    context = group.get_command(None, "serve").make_context("serve", several[1:])
    assert context.params["studies"] == Path("/study")


@pytest.mark.slow
def test_the_parts_of_a_centre_together(tmp_path: Path, server: str) -> None:
    """The commands of centre.yaml as processes: two studies in their databases, and their backup."""
    place = tmp_path / "studies"
    environment = {**os.environ, **CENTRE["services"]["konsil"]["environment"]}
    program = [sys.executable, "-c", "from konsil.cli.main import main; main()"]

    def konsil(*arguments: str | Path) -> None:
        done = subprocess.run(
            [*program, *arguments], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    listed = []
    for name in ("one", "two"):
        (place / name).mkdir(parents=True)
        (place / name / "study.toml").write_text(PROTOCOL, "utf-8")
        (place / name / "items.csv").write_text("item,text\ni1,Why?\n")
        (place / name / "answers.csv").write_text("item,system,text\ni1,a,So.\ni1,b,Thus.\n")
        database = new_database(server)
        konsil("import", place / name, "--database", database)
        listed.append(f'[[studies]]\nfolder = "{name}"\ndatabase = "{database}"\n')
    (place / "centre.toml").write_text("".join(listed))
    port, metrics = free_port(), free_port()
    replaced = {
        "--studies=/study": f"--studies={place}",
        "--host=0.0.0.0": "--host=127.0.0.1",
        "--port=8000": f"--port={port}",
        "--url=https://${KONSIL_HOST:?the name of the server}": f"--url=http://127.0.0.1:{port}",
        "--metrics=0.0.0.0:9464": f"--metrics=127.0.0.1:{metrics}",
    }
    command = CENTRE["services"]["konsil"]["command"]
    arguments = [replaced.get(word, word) for word in command]
    with subprocess.Popen(
        [*program, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            until = time.monotonic() + 60
            while not answers_at(port):
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.1)
            assert read(f"http://127.0.0.1:{port}/health") == "ok\n2 of 2 studies answer\n"
            konsil("backup", place, tmp_path / "backups", "--keep", "30")
            assert 'konsil_database_up{study="one"} 1' in read(
                f"http://127.0.0.1:{metrics}/metrics"
            )
        finally:
            os.killpg(process.pid, 15)
            process.wait(30)
    assert len([*(tmp_path / "backups").iterdir()]) == 3


@pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("host", ["", "study.example.org"])
def test_caddy_accepts_its_file(tmp_path: Path, host: str) -> None:
    """With the name of a server and without, by which a trial on one machine begins."""
    names = {"KONSIL_HOST": host, "KONSIL_UPSTREAM": "konsil:8000"} if host else {}
    done = subprocess.run(
        ["caddy", "validate", "--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile"],
        env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), **names},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Valid configuration" in done.stdout


def test_the_proxy_does_not_compress() -> None:
    """Pages have secrets and the visitor's input: compressed, their size would give secrets away."""
    assert "encode" not in (DEPLOY / "Caddyfile").read_text("utf-8")


@pytest.mark.slow
def test_alerts_are_about_metrics_that_exist(tmp_path: Path) -> None:
    with parts(tmp_path, f"sqlite:///{tmp_path}/konsil.db", workers=1) as (served, metrics):
        read(f"{served.url}/ready")
        families = list(text_string_to_metric_families(read(metrics)))
    names = {sample.name for family in families for sample in family.samples}
    expressions = [rule["expr"] for g in RULES["groups"] for rule in g["rules"]]
    assert len(expressions) == 4
    for expression in expressions:
        wanted = set(re.findall(r"konsil_\w+", expression))
        assert wanted
        assert wanted <= names


def read(url: str, context: ssl.SSLContext | None = None) -> str:
    with urllib.request.urlopen(url, timeout=60, context=context) as reply:
        return reply.read().decode()


PROTOCOL = study_text(
    "Deployed",
    form(),
    systems("a", "b"),
    raters("p1", "p2", "p3"),
    plan(),
    ITEMS,
    '[[sources]]\nfile = "answers.csv"\nrecords = "answers"',
    seed=1,
)


@contextmanager
def parts(folder: Path, database: str, *, workers: int) -> Iterator[tuple[Server, str]]:
    """A study on a server with metrics, and the address of these."""
    address = f"127.0.0.1:{free_port()}"
    (folder / "study").mkdir()
    answers = [f"i{n},{s},Answer {n} of {s}" for n in range(12) for s in "ab"]
    (folder / "study" / "answers.csv").write_text("\n".join(["item,system,text", *answers]))
    rows = [("item", "text"), *((f"i{n}", f"Question {n}?") for n in range(12))]
    import_items(folder / "study", PROTOCOL, rows)
    opened = open_folder(folder / "study", database=database)
    opened.import_sources()
    make_plan(opened)
    more = ("--metrics", address)
    with Server(folder / "study", database=database, workers=workers, more=more) as served:
        yield served, f"http://{address}/metrics"


@contextmanager
def proxy(folder: Path, upstream: str) -> Iterator[tuple[str, ssl.SSLContext]]:
    """Caddy with the Caddyfile of deploy/: its address, and its authority as one to be trusted."""
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("Caddy is not installed")
    url = f"https://localhost:{free_port()}"
    # Without its port for plain HTTP and for administration, which the machine may have in use.
    (folder / "Caddyfile").write_text(
        "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
        f"import {DEPLOY / 'Caddyfile'}\n"
    )
    process = subprocess.Popen(
        [program, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"],
        env={
            **os.environ,
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder),
            "KONSIL_HOST": url,
            "KONSIL_UPSTREAM": upstream.removeprefix("http://"),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        authority = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        until = time.monotonic() + 60
        while not authority.exists() or not authority.read_text().endswith("-----\n"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield url, ssl.create_default_context(cafile=str(authority))
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_the_parts_together(tmp_path: Path, server: str) -> None:
    """PostgreSQL, two workers, the proxy with TLS: raters work while a worker dies; then the backup
    is restored to another database."""
    database = new_database(server)
    with parts(tmp_path, database, workers=2) as (served, metrics):
        opened = open_folder(tmp_path / "study", database=database)
        links = [link.url for link in invite(opened, InvitationRequest(url="", days=1))]
        people = [
            Person(f"p{n}", served.url + PATH + link.partition(PATH)[2])
            for n, link in enumerate(links, 1)
        ]

        killed: list[str] = []

        def kill_a_worker(n_pages: int) -> None:
            if n_pages >= 9 and not killed:
                children = Path(f"/proc/{served.process}/task/{served.process}/children")
                for child in children.read_text().split():
                    if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                        os.kill(int(child), 9)
                        killed.append(child)
                        break

        outcome = work(
            people,
            lambda _: ({"~1.a1": "no", "~1.a2": "yes"}, 1.0),
            patience=60,
            watch=kill_a_worker,
        )
        assert outcome.times.faults == []
        assert killed
        with proxy(tmp_path, served.url) as (url, context):
            # What comes over TLS is passed on with its path, and secrets are not compressed.
            request = urllib.request.Request(f"{url}/ready", headers={"accept-encoding": "gzip"})
            with urllib.request.urlopen(request, timeout=60, context=context) as reply:
                assert reply.read() == b"ready\n"
                assert "content-encoding" not in reply.headers
        families = {f.name: f for f in text_string_to_metric_families(read(metrics))}
    tasks = {s.labels["state"]: s.value for s in families["konsil_tasks"].samples}
    assert tasks == {"completed": 36, "open": 0}
    # Counts of both processes, and of the one that was killed.
    submits = sum(
        s.value
        for s in families["konsil_requests"].samples
        if s.name == "konsil_requests_total" and s.labels["page"] == "submit"
    )
    assert submits >= 36
    with opened.store() as store, reading(store.engine) as connection:
        assert store.verify_log() == ()
        for public, values in outcome.submitted.items():
            task = screens.public(connection, public).task
            assert len(screens.ratings_of_task(connection, task)) == len(values)
    (tmp_path / "backups").mkdir()
    archived = archive_study(opened, tmp_path / "backups")
    other = new_database(server)
    restored = restore_study(archived.path, tmp_path / "back", database=other)
    assert restored.rows["ratings"] == 72
    assert not (tmp_path / "back" / "konsil.db").exists()
    with open_folder(tmp_path / "back", database=other).store() as back, opened.store() as store:
        assert back.batch() == store.batch()
