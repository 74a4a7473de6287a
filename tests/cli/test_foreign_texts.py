"""Texts out of files, databases and endpoints never move the terminal's cursor nor make lines of
their own."""

from __future__ import annotations

import ast
import csv
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

from konsil.errors import KonsilError
from konsil.web.http.redacted_logging import fault_summary
from small_studies import exit_code

SOURCE = Path(__file__).resolve().parents[2] / "src" / "konsil"
FORGED = "FORGED"
HOSTILE = (
    "\x1b[2J\x1b]0;title\x07\x9b1m\u202e\u2066\u061c\r\x08\n"
    f"{FORGED}: audit log verified: chain and records intact\x7f"
)
"""What clears the screen, names the window, rings, turns the order of signs, and begins a line."""
CONTROL = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

# ---- the code ------------------------------------------------------------------------------------

PLACES = {
    "api/progress.py": "a bar with konsil's own words: the stages of long work",
    "cli/terminal.py": "the one place: what passes through it is escaped",
    "collect/running/display.py": (
        "numbers and words of konsil's own, on a line that is drawn again and again"
    ),
    "collect/running/interrupting.py": "a number, within a signal",
}
"""Modules that write to the terminal's streams by themselves, and what."""


def writes_by_itself(node: ast.AST) -> bool:
    """Whether this calls what writes to the terminal without the guard; `click.echo` is guarded
    while commands run."""
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        return (
            node.module == "click" and bool(names & {"echo", "secho", "style", "prompt", "confirm"})
        ) or (node.module == "rich" and "print" in names)
    if not isinstance(node, ast.Call):
        return False
    text = ast.unparse(node.func)
    return text in {
        "print",
        "click.secho",
        "click.style",
        "click.progressbar",
        "click.echo_via_pager",
    } or (
        text.split(".")[-1] == "Console"
        or re.fullmatch(r"sys\.(__)?std(out|err)(__)?(\.buffer)?\.write(lines)?", text) is not None
    )


def modules(word: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        if re.search(word, text):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def test_nothing_is_printed_but_in_one_place() -> None:
    words = r"\bprint\b|click import|secho|style\(|progressbar|pager|Console|\.std|import std"
    found = {name for name, tree in modules(words) if any(map(writes_by_itself, ast.walk(tree)))}
    assert found == {*PLACES}


def test_only_commands_use_clicks_echo_which_is_guarded_there() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules(r"click\.(echo|prompt|confirm)")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) in ("click.echo", "click.prompt", "click.confirm")
        if not name.startswith("cli/")
    ]
    assert found == []


# ---- the commands --------------------------------------------------------------------------------


class Refusing(BaseHTTPRequestHandler):
    """An endpoint whose errors and replies are hostile."""

    def do_POST(self) -> None:
        data = json.loads(self.rfile.read(int(self.headers["content-length"])))
        model = data["model"]
        body: object = {"error": {"message": f"no {HOSTILE}", "type": HOSTILE, "code": HOSTILE}}
        if model == "replies":
            message = {"role": "assistant", "content": HOSTILE}
            body = {"model": HOSTILE, "choices": [{"message": message, "finish_reason": HOSTILE}]}
        text = json.dumps(body, ensure_ascii=False) if model != "text" else f"<html>{HOSTILE}"
        self.send_response({"replies": 200, "key": 401}.get(model, 400))
        payload = text.encode()
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def hostile(plain: str) -> str:
    """A name with everything in it, as TOML."""
    return (
        json.dumps(f"{plain}{HOSTILE}")
        .replace("\\u007f", "\\u007F")
        .replace("\x7f", "\\u007F")
        .replace("\x9b", "\\u009B")
    )


def study(folder: Path, url: str, models: tuple[str, ...]) -> Path:
    """A study in which every name and every text is hostile, and its models' endpoint, too."""
    folder.mkdir()
    systems = [f"s{n}" for n in range(3)]
    text = f"title = {hostile('T')}\nseed = 1\nlicence = {hostile('L')}\n"
    text += f"[[instruments]]\nid = {hostile('form')}\ncodebook = {hostile('Is it right?')}\n"
    text += (
        f"[[instruments.criteria]]\nid = {hostile('correct')}\nquestion = {hostile('Correct?')}\n"
    )
    text += f'scale = {{ labels = ["no", {hostile("yes")}] }}\n'
    for name, model in zip(systems, models or ("replies",) * 3, strict=True):
        text += (
            f'[[systems]]\nid = {hostile(name)}\nmodel = "there:{model}"\nfamily = {hostile("f")}\n'
        )
    for name in ("p1", "p2"):
        text += f"[[raters]]\nid = {hostile(name)}\npanel = {hostile('people')}\n"
    text += f'[[raters]]\nid = {hostile("j")}\npanel = {hostile("models")}\nkind = "llm"\n'
    text += f'[[judges]]\nrater = {hostile("j")}\nmodel = "there:{(models or systems)[0]}"\n'
    text += f'[[endpoints]]\nid = "there"\nurl = "{url}"\n'
    text += f"[[plan]]\npanel = {hostile('people')}\ninstrument = {hostile('form')}\n"
    text += f"[[plan]]\npanel = {hostile('models')}\ninstrument = {hostile('form')}\n"
    file = f"items{HOSTILE[:20]}.csv"
    sources = (
        (file, "items"),
        ("answers.csv", "answers"),
        *(() if models else (("rated.csv", "ratings"),)),
    )
    for name, records in sources:
        text += (
            f"[[sources]]\nfile = {json.dumps(name).replace(chr(0x9B), chr(92) + 'u009B')}\nrecords"
            f' = "{records}"\n'
        )
    text += "" if models else f"fixed = {{ criterion = {hostile('correct')} }}\n"
    text += (
        f'[[analyses]]\nname = {hostile("share")}\nstatistic = "share"\nof = [{hostile("yes")}]\n'
    )
    text += f'criterion = {hostile("correct")}\nraters = {hostile("people")}\nby = ["system"]\n'
    text += (
        '[resampling]\ndraws = 100\n[prepare.screen]\nundecided = "kept"\nrules = ["follow-up"]\n'
    )
    (folder / "study.toml").write_text(text, "utf-8", newline="\n")
    rows = [(f"q{n}{HOSTILE}", f"Why {n % 2}?{HOSTILE}", HOSTILE) for n in range(4)]
    write(folder / file, ("item", "text", "reference"), rows)
    write(
        folder / "answers.csv",
        ("item", "system", "text"),
        [(rows[n][0], f"s0{HOSTILE}", f"So {n}") for n in range(4)],
    )
    labels = [
        (f"p2{HOSTILE}", row[0], f"s0{HOSTILE}", ("no", f"yes{HOSTILE}")[n % 2])
        for n, row in enumerate(rows)
    ]
    write(folder / "rated.csv", ("rater", "item", "system", "label"), labels)
    return folder


def write(path: Path, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def commands(folder: Path) -> list[tuple[object, ...]]:
    """What is run on the study, in this order."""
    out, rater = folder.parent / f"out{HOSTILE[:9]}", f"p1{HOSTILE}"
    return [
        ("check", folder),
        ("import", folder),
        ("status", folder),
        ("screen", folder, "--by", "p-1", "--table", folder / f"t{HOSTILE[:9]}.csv"),
        ("duplicates", folder, "--table", folder / f"d{HOSTILE[:9]}.csv"),
        ("prepare", folder),
        ("answer", folder),
        ("plan", folder),
        ("judge", folder),
        ("curation", folder),
        ("status", folder),
        ("log", folder),
        ("invite", folder),
        ("kit", folder, "--rater", rater),
        ("kit", folder, "--rater", f"nobody{HOSTILE}"),
        ("succeed", folder),
        ("close", folder),
        ("withdraw", folder, "--rater", rater, "--reason", HOSTILE, "--dry-run"),
        ("person", folder, rater, folder / f"person{HOSTILE[:9]}.json"),
        ("erase", folder, rater, "--by", "p-1", "--reason", "asked", "--yes"),
        ("adjudication", folder),
        ("export", folder, out),
        ("export", folder, out),
        ("import", folder, "--export", out),
        ("analyse", folder),
        ("report", folder),
        ("codebook", folder),
        ("backup", folder, folder / f"b{HOSTILE[:9]}.db"),
        ("verify-log", folder, "--expect", HOSTILE),
        ("status", f"{folder}{HOSTILE[:20]}"),
        (f"no{HOSTILE}",),
        ("agreement", folder / f"items{HOSTILE[:20]}.csv"),
        ("agreement", folder / "ratings.csv"),
        ("agreement", folder / "ratings.csv", *ROLES),
        ("agreement", folder / "ratings.csv", *ROLES, "--json"),
    ]


ROLES = ("--unit", "item", "--rater", "rater", "--label", "label")


@pytest.mark.slow
@pytest.mark.parametrize("models", [("error", "text", "replies"), ("replies", "key", "error"), ()])
def test_no_command_prints_what_controls_a_terminal(
    models: tuple[str, ...],
    endpoint: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(click, "echo", click.echo)
    folder = study(tmp_path / "study", endpoint, models)
    rows = [
        (f"p{r}{HOSTILE}", f"q{n}{HOSTILE}", f"{'ny'[(n + r) % 2]}{HOSTILE}")
        for r in (1, 2)
        for n in range(6)
    ]
    write(folder / "ratings.csv", ("rater", "item", "label"), rows)
    worked: set[str] = set()
    for arguments in commands(folder):
        code = exit_code(*arguments)
        out, err = capfd.readouterr()
        where = f"{arguments[0]!r}: exit code {code}"
        assert code in (0, 2), f"{where}\n{err[-2000:]}"
        worked |= {str(arguments[0])} if code == 0 else set()
        for text in (out, err):
            assert not CONTROL.search(text), f"{where}: {CONTROL.search(text)} in {text!r}"
            forged = [line for line in text.split("\n") if line.strip().startswith(FORGED)]
            assert not forged, f"{where}: a line of its own: {text!r}"
        if arguments[-1] == "--json":
            json.loads(out)
    assert worked >= {
        "check",
        "import",
        "status",
        "log",
        "invite",
        "export",
        "codebook",
        "agreement",
        "erase",
    }
    further = {
        "error": {"answer", "plan", "judge", "kit"},
        "replies": {"screen", "prepare"},
        "": {"analyse", "report"},
    }
    assert worked >= further[models[0] if models else ""]


def test_faults_in_the_servers_log_are_one_line() -> None:
    line = fault_summary(KonsilError(HOSTILE))
    assert FORGED in line
    assert not CONTROL.search(line) and "\n" not in line
