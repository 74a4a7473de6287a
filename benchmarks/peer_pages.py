"""A peer's rating pages under the same load: Potato, run as its own program and only where it is
installed.

    python -m venv peer && peer/bin/pip install potato-annotation
    python benchmarks/pages.py --peer peer/bin/potato

The task is the same: a question, five answers, three labels each, and a difficulty. A simulated
rater asks for what its page asks for: the page, a save at every choice, the step to the next one,
and that page. What its scripts fetch beside is left out, to its favour; scripts and style sheets
are counted by their weight."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from konsil.rehearse.times import Times

READY_SECONDS = 90.0
LABELS = ("Falsch", "Richtig", "Keine Angabe")
ANSWERS = "abcde"
_ITEM = re.compile(r'name="instance_id" type="hidden" value="([^"]*)"')
_OWN = re.compile(r'(?:src|href)="(/static/[^"]+\.(?:js|css)[^"]*)"')


def installed(given: str) -> str:
    """The program; empty where there is none."""
    return shutil.which(given or "potato") or ""


def write_task(folder: Path, items: int, words: str, each: int) -> None:
    """The same texts and questions as a file of items and a configuration."""
    folder.mkdir(parents=True)
    with (folder / "data.json").open("w", encoding="utf-8") as file:
        for k in range(items):
            answers = "".join(
                f"<h4>Antwort {c.upper()}</h4><p>Begriff {k} von {n}. {words * 4}</p>"
                for n, c in enumerate(ANSWERS)
            )
            text = f"<p>Frage {k}: {words}?</p><p>Begriff {k}</p>{answers}"
            file.write(json.dumps({"id": f"i{k}", "text": text}, ensure_ascii=False) + "\n")

    def radio(name: str, asks: str, labels: tuple[str, ...]) -> dict[str, object]:
        return {
            "annotation_type": "radio",
            "name": name,
            "description": asks,
            "labels": list(labels),
        }

    schemes = [
        radio(f"correctness_{c}", f"Antwort {c.upper()}: ist sie richtig?", LABELS) for c in ANSWERS
    ]
    schemes.append(
        radio("difficulty", "Wie schwer ist die Frage?", ("Einfach", "Mittel", "Schwer"))
    )
    settings = {
        "annotation_task_name": "Last",
        "task_dir": ".",
        "data_files": ["data.json"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "out",
        "output_annotation_format": "jsonl",
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "assignment_strategy": "random",
        "max_annotations_per_user": each,
        "max_annotations_per_item": 100,
        "alert_time_each_instance": 100_000,
        "annotation_schemes": schemes,
    }
    # JSON is YAML.
    (folder / "config.yaml").write_text(json.dumps(settings, ensure_ascii=False), "utf-8")


@contextmanager
def served(program: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Its server: the port, and the number of the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [program, "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    try:
        until = time.monotonic() + READY_SECONDS
        while True:
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=5).request("GET", "/")
                break
            except OSError:
                if time.monotonic() > until or process.poll() is not None:
                    raise SystemExit(
                        f"the peer did not start: {(folder / 'server.log').read_text()[-400:]}"
                    ) from None
                time.sleep(0.2)
        yield port, process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(15)


class _Browser:
    """One rater's connection and cookie."""

    def __init__(self, port: int, times: Times) -> None:
        self._port, self._times = port, times
        self._line: http.client.HTTPConnection | None = None
        self._cookie = ""

    def ask(self, kind: str, method: str, path: str, body: bytes = b"", media: str = "") -> str:
        began = time.perf_counter()
        headers = {"cookie": self._cookie} | ({"content-type": media} if media else {})
        for again in (True, False):
            try:
                self._line = self._line or http.client.HTTPConnection(
                    "127.0.0.1", self._port, timeout=60
                )
                self._line.request(method, path, body or None, headers)
                answer = self._line.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                # A connection that was closed meanwhile: once more on a new one, as browsers do.
                self._line = None
                if not again:
                    raise
        for value in answer.headers.get_all("set-cookie") or []:
            self._cookie = value.partition(";")[0]
        if answer.will_close:
            self._line = None
        if answer.status >= 400:
            self._times.fault(f"{method} {path}: {answer.status}")
        self._times.took(kind, time.perf_counter() - began, len(text))
        return text.decode()


def load(
    port: int,
    raters: int,
    pause: Callable[[], float],
    arrive: Callable[[], float],
    stop: threading.Event,
) -> tuple[Times, int, float]:
    """Let so many raters work at once; their times, the pages they finished, and the seconds it
    took."""
    times, pages, lock = Times(), [0], threading.Lock()

    def rate(who: str) -> None:
        rng, browser = random.Random(who), _Browser(port, times)
        time.sleep(arrive())
        try:
            form = urlencode({"action": "login", "email": who, "pass": ""}).encode()
            browser.ask("come in", "POST", "/auth", form, "application/x-www-form-urlencoded")
            page = browser.ask("come in", "GET", "/annotate")
            while not stop.is_set():
                found = _ITEM.search(page)
                if found is None:
                    raise ValueError("its page names no item")
                said: dict[str, str] = {}
                for name in [*(f"correctness_{c}" for c in ANSWERS), "difficulty"]:
                    time.sleep(pause())
                    label = rng.choice(
                        ["Einfach", "Mittel", "Schwer"] if name == "difficulty" else LABELS[:2]
                    )
                    said[f"{name}:{label}"] = label
                    told = {
                        "instance_id": found[1],
                        "annotations": said,
                        "span_annotations": [],
                        "cleared_schemas": [],
                    }
                    browser.ask(
                        "save",
                        "POST",
                        "/updateinstance",
                        json.dumps(told).encode(),
                        "application/json",
                    )
                time.sleep(pause())
                began = time.perf_counter()
                step = json.dumps({"action": "next_instance", "instance_id": found[1]}).encode()
                browser.ask("submit", "POST", "/annotate", step, "application/json")
                page = browser.ask("next task", "GET", "/annotate")
                times.took("go on", time.perf_counter() - began, len(page.encode()))
                with lock:
                    pages[0] += 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            times.fault(f"{who}: {error}")

    began = time.perf_counter()
    threads = [threading.Thread(target=rate, args=(f"r{n}",), daemon=True) for n in range(raters)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return times, pages[0], time.perf_counter() - began


def weight(port: int) -> tuple[int, int]:
    """Bytes of one page, and of the scripts and style sheets that it names."""
    browser = _Browser(port, Times())
    form = urlencode({"action": "login", "email": "weigher", "pass": ""}).encode()
    browser.ask("come in", "POST", "/auth", form, "application/x-www-form-urlencoded")
    page = browser.ask("page", "GET", "/annotate")
    files = dict.fromkeys(_OWN.findall(page))
    return len(page.encode()), sum(len(browser.ask("file", "GET", file).encode()) for file in files)
