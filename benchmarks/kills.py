"""Commands that write, and the server while raters post, killed with -9 at random moments: what is
lost or doubled?

    python benchmarks/kills.py --kills 300 --markdown
    python benchmarks/kills.py --kills 12 --seed 7 --command plan --command server

Each command runs once and twice to its end, in copies of a study at the point where it is due. Then
it is killed at a random moment of its running time in another copy, and run again. Afterwards the
log must be whole, every table must have as many rows as after one run or two, no file may be there
that such a run does not leave, and nothing that was there after the kill may be a part of an
output. The same seed draws the same moments, as shares of a running time."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import COMMANDS

AHEAD = (
    "konsil.api.folder.folder",
    "scipy.sparse",
    "scipy.special",
    "rich.console",
    "rich.table",
    "jinja2",
    "markdown_it",
    "matplotlib.figure",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "fontTools.subset",
    "aiohttp",
)
"""Imported once, before commands are forked. Polars starts threads as it is imported, so each
command imports it."""
WRITE_NOTHING = {
    "check": "reads the protocol",
    "curation": "lists decisions",
    "status": "lists what the database has",
    "verify-log": "reads the log",
    "agreement": "prints statistics of a table",
    "statistics": "prints what there is",
    "explain": "prints what there is",
    "preference": "prints statistics of a table",
    "compare": "prints statistics of a table; its files are no part of a study",
    "power": "reads the study; its --output is written as the other tables are",
    "local": "keeps models of this machine, outside of any study",
}
"""Commands that are not killed, and why: they write nothing into a study."""
ELSEWHERE = {
    "design": "a server on a copy, which saves by one exchange of a file (tests/api/design)",
    "letters": "killed between letters to a mail server of the tests (tests/letters)",
    "serve": "killed as 'server', while raters post",
}
SERVER, SERVER_SHARE = "server", 0.12
"""What the server's kills are called, and their share where commands are killed, too."""
TRIES = 10
"""A kill may come too late; so many times as many are tried as are wanted."""

STUDY = """
title = "To be killed"
seed = 3
licence = "CC0-1.0"
simulated = true
blinded = true
[resampling]
draws = 400
[[instruments]]
id = "form"
codebook = "Is the answer right?"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"] }
[interim]
panel = "people"
[[interim.looks]]
fraction = 0.1
[[systems]]
id = "a"
model = "fake:a,delay=0.02"
[[systems]]
id = "b"
model = "fake:b,delay=0.02"
[[raters]]
id = "p1"
panel = "people"
[[raters]]
id = "p2"
panel = "people"
[[raters]]
id = "j1"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j1"
model = "fake:j,delay=0.02"
[[sources]]
file = "items.csv"
records = "items"
[prepare.screen]
undecided = "kept"
model = "fake:delay=0.02"
[prepare.rewrite]
model = "fake:seed=4,delay=0.02"
[prepare.themes]
smallest = 3
[adjudication]
panel = "people"
steps = 1
[[plan]]
panel = "people"
instrument = "form"
[[plan]]
panel = "judges"
instrument = "form"
[[analyses]]
name = "Correct"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["system"]
"""
MASKED = """
title = "Masked"
seed = 3
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
[[sources]]
file = "items.csv"
records = "items"
[prepare.mask]
"""
PLACES = """
title = "With places"
seed = 1
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
[[places]]
panel = "people"
number = 3
[[plan]]
panel = "people"
instrument = "form"
[[sources]]
file = "items.csv"
records = "items"
"""
PEOPLE = '[[raters]]\nid = "p1"\npanel = "people"\n[[raters]]\nid = "p2"\npanel = "people"\n'
TOPICS = (
    "insulin in diabetes",
    "a skin rash",
    "apixaban in atrial fibrillation",
    "asthma in a child",
)


@dataclasses.dataclass(frozen=True)
class Step:
    """One command of a study's life, as it is called in the study's folder."""

    command: str
    arguments: tuple[str, ...]
    before: Callable[[Path], None] | None = None
    """What people do to the folder before it."""
    makes: str = ""
    """The new folder in which it makes a study; it is refused once this is there, and there only
    when it is whole."""
    asks: bool = False
    """Whether it asks models: it is no single transaction, and goes on where it was."""

    @property
    def line(self) -> tuple[str, ...]:
        """The whole command line."""
        return (self.command, *self.arguments)


def decide(name: str, word: str) -> Callable[[Path], None]:
    """Write a word into the column `decision` of a table."""

    def write(folder: Path) -> None:
        import csv

        with (folder / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["decision"])
            writer.writeheader()
            writer.writerows({**row, "decision": word} for row in rows)

    return write


def reworded(folder: Path) -> None:
    """Change a form's words after ratings came in."""
    path = folder / "study.toml"
    path.write_text(
        path.read_text("utf-8").replace("Is it correct?", "Is this answer correct?"), "utf-8"
    )


BY = ("--by", "office-1")
WHY = (*BY, "--reason", "tried")
LIVES: tuple[tuple[Callable[[Path], None], tuple[Step, ...]], ...] = (
    (
        lambda folder: questions(folder, STUDY),
        (
            Step("new", ("fresh",)),
            Step("import", (".",)),
            Step("screen", (".", "--table", "screen.csv"), asks=True),
            Step("screen", (".", "--decisions", "screen.csv", *BY), decide("screen.csv", "keep")),
            Step("duplicates", (".", "--table", "groups.csv")),
            Step(
                "duplicates", (".", "--decisions", "groups.csv", *BY), decide("groups.csv", "apart")
            ),
            Step("themes", (".", "--table", "themes.csv")),
            Step("prepare", (".",)),
            Step("rewrite", (".", "--table", "words.csv"), asks=True),
            Step("rewrite", (".", "--decisions", "words.csv", *BY), decide("words.csv", "keep")),
            Step("answer", (".",), asks=True),
            Step("plan", (".",)),
            Step(
                "rehearse",
                (".", "--to", "rehearsal", "--most", "1", "--pace", "0"),
                makes="rehearsal",
            ),
            Step("invite", (".", "--who", "p1")),
            Step("kit", (".", "--rater", "p1")),
            Step("simulate", (".", "--truth", "truth.toml"), lambda folder: truth(folder)),
            Step("adjudication", (".", "--open", *BY)),
            Step("adjudication", (".", "--close", *BY)),
            Step("accept", (".", *WHY), reworded),
            Step("close", (".", "--batch", "")),
            Step("freeze", (".", *BY)),
            Step("unblind", (".", *WHY)),
            Step("interim", (".", "--look", "1")),
            Step("analyse", (".",)),
            Step("report", (".",)),
            Step("codebook", (".", "--pdf", "codebook.pdf")),
            Step("export", (".", "records")),
            Step("import", ("copy", "--export", "records"), lambda folder: copy_of(folder)),
            Step("export", (".", "records", "--overwrite", "--format", "parquet")),
            Step("export", (".", "release", "--release", "--linked", "--k", "1")),
            Step("backup", (".", "copy.db")),
            Step("backup", (".", "backups", "--keep", "1"), lambda folder: archive_of(folder)),
            Step("restore", ("archive.tar", "back"), makes="back"),
            Step("backup-key", ("backup.key",)),
            Step("close", (".", "--batch", ""), lambda folder: gone_back(folder)),
            Step("log", (".", "--output", "log.csv")),
            Step("person", (".", "p1", "person.json", "--forget-name")),
            Step("erase", (".", "p1", *WHY, "--yes")),
            Step("withdraw", (".", "--rater", "p2")),
        ),
    ),
    (
        lambda folder: questions(
            folder, PLACES.replace('[[places]]\npanel = "people"\nnumber = 3\n', PEOPLE)
        ),
        (
            Step("import", (".",)),
            Step("plan", (".",)),
            Step("withdraw", (".", "--rater", "p1")),
            Step("withdraw", (".", "--rater", "p2")),
            Step("succeed", (".", "--slot", "people 1", "--rater", "p9")),
        ),
    ),
    (
        lambda folder: cases(folder),
        (
            Step("import", (".",)),
            Step("mask", (".", "--marks", "marks.csv", *BY)),
            Step("probe", (".", "--model", "fake:delay=0.02", "--table", "guesses.csv"), asks=True),
            Step("mask", (".", "--approve", "--by", "office-2")),
        ),
    ),
    (
        lambda folder: questions(folder, PLACES),
        (Step("import", (".",)), Step("plan", (".",)), Step("places", (".", "--add", "2", *WHY))),
    ),
    (
        lambda folder: questions(
            folder, STUDY[: STUDY.index("[prepare")] + STUDY[STUDY.index("[[plan]]") :]
        ),
        (
            Step("import", (".",)),
            Step("answer", (".", "--budget", "1"), asks=True),
            Step("plan", (".",)),
            Step("judge", (".",), asks=True),
        ),
    ),
    (lambda _: None, (Step("demo", ("demo",), makes="demo"),)),
)
"""Studies, and what is done with each, one command after another."""


def questions(folder: Path, study: str) -> None:
    """A study of two dozen questions."""
    (folder / "study.toml").write_text(study, "utf-8")
    rows = [f"q{n},What about {TOPICS[n % 4]} number {n}?" for n in range(22)]
    (folder / "items.csv").write_text(
        "\n".join(["item,text", *rows, "q98,Twice the same?", "q99,Twice the same?"])
    )


def cases(folder: Path) -> None:
    """A study of cases and their marks."""
    (folder / "study.toml").write_text(MASKED, "utf-8")
    rows = [
        f"c{n},Cough. Biopsy had granulomas: sarcoidosis {n}.,sarcoidosis {n}" for n in range(8)
    ]
    (folder / "items.csv").write_text("\n".join(["item,text,reference", *rows]))
    marks = [f"c{n},diagnosis,,sarcoidosis {n}\nc{n},cue,1,granulomas" for n in range(8)]
    (folder / "marks.csv").write_text("\n".join(["case,kind,rank,text", *marks]))


def gone_back(folder: Path) -> None:
    """Put the backup in the place of the database, as the documents say; what is left beside it
    would not fit."""
    for path in folder.glob("konsil.db*"):
        path.unlink()
    shutil.copy(folder / "copy.db", folder / "konsil.db")


def archive_of(folder: Path) -> None:
    """An empty folder for backups, and a backup under a name that does not depend on the time."""
    from konsil.api import open_folder
    from konsil.api.running.archiving import archive_study

    (folder / "backups").mkdir()
    made = archive_study(open_folder(folder), folder / "backups")
    made.path.rename(folder / "archive.tar")


def truth(folder: Path) -> None:
    """The parameters that ratings are drawn from."""
    (folder / "truth.toml").write_text(TRUTH, "utf-8")


def copy_of(folder: Path) -> None:
    """A folder with the protocol alone."""
    (folder / "copy").mkdir()
    for name in ("study.toml", "items.csv"):
        shutil.copy(folder / name, folder / "copy" / name)


TRUTH = """
[systems.a]
quality = 0.8
[systems.b]
quality = 0.6
[panels.people]
accuracy = 0.9
[panels.judges]
accuracy = 0.9
"""


def left_out() -> list[str]:
    """Commands that are neither killed nor stated to write nothing."""
    killed = {step.command for _, steps in LIVES for step in steps}
    return sorted({*COMMANDS} - killed - {*WRITE_NOTHING} - {*ELSEWHERE})


class Run:
    """A command in a fork of this process."""

    def __init__(self, line: Sequence[str], folder: Path) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the command has ended
        self._began = time.perf_counter()
        sys.stdout.flush()
        sys.stderr.flush()
        self.process = os.fork()
        if self.process == 0:
            os.chdir(folder)
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDONLY)
            for stream, file in enumerate((nothing, self._output.fileno(), self._output.fileno())):
                os.dup2(file, stream)
            sys.argv = [str(Path(sys.executable).with_name("konsil")), *line]
            code = 1
            try:
                from konsil.cli import main

                main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            except BaseException:  # noqa: BLE001 - printed as Python would
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def kill_after(self, seconds: float) -> None:
        """Kill it and all that it started; one that has ended meanwhile stays as it is."""
        time.sleep(max(0.0, seconds - (time.perf_counter() - self._began)))
        os.kill(self.process, signal.SIGKILL)

    def end(self) -> tuple[int, str, float]:
        """Its exit code, what it wrote, and the seconds it took."""
        _, status = os.waitpid(self.process, 0)
        seconds = time.perf_counter() - self._began
        self._output.seek(0)
        text = self._output.read().decode("utf-8", "replace")
        self._output.close()
        return os.waitstatus_to_exitcode(status), text, seconds


@dataclasses.dataclass(frozen=True)
class State:
    """What a folder holds: rows by table and database, and its files with their sizes."""

    rows: dict[str, int]
    files: dict[str, int]


def state_of(folder: Path) -> State:
    """Count the rows of every database and list the files, numbers in their names left out."""
    rows: dict[str, int] = {}
    files: dict[str, int] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(("-wal", "-shm")):
            files[re.sub(r"\d+", "0", str(path.relative_to(folder)))] = path.stat().st_size
    for path in sorted(folder.rglob("konsil.db")):
        with closing(sqlite3.connect(path)) as base:
            tables = [
                name
                for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for table in tables:
                (count,) = base.execute(f'SELECT count(*) FROM "{table}"').fetchone()
                rows[f"{path.relative_to(folder)}: {table}"] = count
            if "calls" in tables:
                (count,) = base.execute("SELECT count(*) FROM calls WHERE ended = 1").fetchone()
                rows[f"{path.relative_to(folder)}: calls ended"] = count
    return State(rows, files)


@dataclasses.dataclass
class Tally:
    """What became of the kills of one command."""

    kills: int = 0
    lost: int = 0
    doubled: int = 0
    tracebacks: int = 0
    leftovers: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count the other's kills, too."""
        for name in ("kills", "lost", "doubled", "tracebacks", "leftovers"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults


UNEVEN = ("audit_log", "imports", "calls", "sqlite_sequence", "sqlite_stat1")
"""Tables that grow by how often a command that asks models went on; the calls that ended are
counted apart."""


class Place:
    """A command at the point of a study's life where it is due."""

    def __init__(self, step: Step, at: Path, work: Path) -> None:
        self.step, self._at, self.work = step, at, work
        self.before = state_of(at)
        code, text, self.seconds = self._run(self._copy("once"))
        if code != 0:
            raise SystemExit(f"konsil {' '.join(step.line)}: exit {code}: {text[-600:]}")
        self.once = state_of(work / "once")
        self._run(work / "once")
        self.twice = state_of(work / "once")

    def _run(self, folder: Path) -> tuple[int, str, float]:
        return Run(self.step.line, folder).end()

    def _copy(self, name: str) -> Path:
        folder = self.work / name
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(self._at, folder)
        return folder

    def kill(self, share: float) -> Tally | None:
        """Kill it after this share of its time and look at what is left; None where the kill came
        too late."""
        folder, tally = self._copy("killed"), Tally(kills=1)
        run = Run(self.step.line, folder)
        run.kill_after(share * self.seconds)
        code, text, _ = run.end()
        if code != -signal.SIGKILL:
            return None
        where = f"konsil {' '.join(self.step.line)}, killed at {share:.3f}"
        self._parts(folder, tally, where)
        is_made = bool(self.step.makes) and (folder / self.step.makes).exists()
        again, said, _ = self._run(folder)
        if "Traceback" in text + said:
            tally.tracebacks += 1
            tally.faults.append(f"{where}: traceback: {(text + said)[-400:]}")
        if again not in ((2,) if is_made else (0,) if self.step.makes else (0, 2)):
            tally.lost += 1
            tally.faults.append(f"{where}: run again it exits {again}: {said[-300:]}")
        self._rows(folder, tally, where)
        if extra := sorted({*state_of(folder).files} - {*self.once.files} - {*self.twice.files}):
            tally.leftovers += 1
            tally.faults.append(f"{where}: left over: {extra[:3]}")
        for base in folder.rglob("konsil.db"):
            checked, said, _ = Run(("verify-log", str(base.parent)), folder).end()
            if checked != 0:
                tally.lost += 1
                tally.faults.append(f"{where}: verify-log: {said[-300:]}")
        return tally

    def _parts(self, folder: Path, tally: Tally, where: str) -> None:
        """Files and folders that were there after the kill, before anything ran again, must be
        whole."""
        there = state_of_files(folder)
        outputs = {name.split("/")[0] for name in there if name not in self.before.files}
        for output in sorted(outputs):
            if output.startswith(".") or output in ("konsil.db", "copy"):
                continue  # drafts, and a study that is imported step by step
            whole = {n: s for n, s in self.once.files.items() if n.split("/")[0] == output}
            here = {n: s for n, s in there.items() if n.split("/")[0] == output}
            if {*whole} - {*here} or any(here[n] < 0.9 * whole[n] - 200 for n in whole):
                tally.lost += 1
                tally.faults.append(f"{where}: a part of {output}")

    def _rows(self, folder: Path, tally: Tally, where: str) -> None:
        now = state_of(folder).rows
        for table in sorted({*now, *self.once.rows, *self.twice.rows}):
            if self.step.asks and table.rsplit(" ", 1)[1] in UNEVEN:
                continue
            allowed = (self.once.rows.get(table, 0), self.twice.rows.get(table, 0))
            count = now.get(table, 0)
            if count < min(allowed):
                tally.lost += 1
                tally.faults.append(f"{where}: {table}: {count} rows, expected {allowed[0]}")
            if count > max(allowed):
                tally.doubled += 1
                tally.faults.append(f"{where}: {table}: {count} rows, expected {allowed[1]}")


def kill_server(kills: int, rng: random.Random, work: Path) -> Tally:
    """Kill the server while simulated raters post, start it again, and look for all that it
    acknowledged."""
    from konsil.api import open_folder
    from konsil.api.running.invitations import invite
    from konsil.api.running.planning import make_plan
    from konsil.rehearse import Server
    from konsil.rehearse import work as rate
    from konsil.rehearse.panel import Person

    tally, number = Tally(), 0
    while tally.kills < kills:
        number += 1
        place = work / f"served{number}"
        shutil.copytree(Path(__file__).resolve().parents[1] / "src" / "konsil" / "demo", place)
        folder = open_folder(place)
        folder.import_sources()
        make_plan(folder)
        stop, outcomes = threading.Event(), list[Any]()
        with Server(place) as server:
            people = [
                Person(link.recipient, link.url)
                for link in invite(folder, InvitationRequest(url=server.url, days=1))
            ]
            raters = threading.Thread(
                target=lambda: outcomes.append(rate(people, reply, stop=stop, patience=120.0))  # noqa: B023
            )
            raters.start()
            while raters.is_alive() and tally.kills < kills:
                time.sleep(rng.uniform(0.2, 1.2))
                server.kill()
                server.start()
                tally.kills += 1
            stop.set()
            raters.join(180)
            said = server.output()
        _check_served(folder, outcomes[0], said, tally, f"server {number}")
    return tally


def reply(public: str) -> tuple[dict[str, str], float]:
    """Something for every field of a page, the same whenever the page is asked for."""
    rng = random.Random(public)
    labels = {f"~1.a{n}": rng.choice(("Incorrect", "Correct")) for n in range(1, 4)}
    return {**labels, "~2": rng.choice(("Easy", "Hard"))}, 1.0


def _check_served(folder: Any, outcome: Any, said: str, tally: Tally, where: str) -> None:
    """What was acknowledged is stored, once."""
    from konsil.instrument import PageNames
    from konsil.store.engine.engine import reading
    from konsil.store.tasks import drafts, screens

    lost, names = list(outcome.times.faults), PageNames(folder.study.instruments)
    with folder.store() as store:
        with reading(store.engine) as connection:
            for (public, field), value in outcome.saved.items():
                state = screens.public(connection, public)
                saved = drafts.values(connection, state.task) if state is not None else {}
                name = names.field(field)
                if name not in saved or saved[name].value != value:
                    lost.append(f"{public} {field}")
            for public, values in outcome.submitted.items():
                state = screens.public(connection, public)
                stored = (
                    screens.ratings_of_task(connection, state.task) if state is not None else ()
                )
                if state is None or state.submitted_at is None or len(stored) != len(values):
                    lost.append(public)
        lost += [str(fault) for fault in store.verify_log()]
    with closing(sqlite3.connect(folder.path / "konsil.db")) as base:
        doubled = base.execute(
            "SELECT kind, subject, count(*) FROM events WHERE kind = 'submission' GROUP BY 1, 2"
            " HAVING count(*) > 1"
        ).fetchall()
    extra = {path.name for path in folder.path.iterdir() if path.name.startswith(".")} - {
        ".konsil-key"
    }
    tally.lost += len(lost)
    tally.doubled += len(doubled)
    tally.tracebacks += "Traceback" in said
    tally.leftovers += bool(extra)
    facts = (("lost", lost), ("doubled", doubled), ("left over", sorted(extra)))
    tally.faults += [f"{where}: {word}: {things[:3]}" for word, things in facts if things]
    if "Traceback" in said:
        tally.faults.append(f"{where}: {said[said.index('Traceback') :][:600]}")


def state_of_files(folder: Path) -> dict[str, int]:
    """The files of a folder and their sizes, numbers in their names left out."""
    return {
        re.sub(r"\d+", "0", str(path.relative_to(folder))): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def places(work: Path, only: Sequence[str]) -> Iterator[Place]:
    """Every command where it is due, after all before it."""
    for number, (make, steps) in enumerate(LIVES):
        last = max(
            (n for n, step in enumerate(steps) if not only or step.command in only), default=-1
        )
        folder = work / f"life{number}"
        folder.mkdir()
        make(folder)
        for n, step in enumerate(steps[: last + 1]):
            if step.before is not None:
                step.before(folder)
            if not only or step.command in only:
                at = work / f"at{number}-{n}"
                shutil.copytree(folder, at)
                at_work = work / f"work{number}-{n}"
                at_work.mkdir()
                yield Place(step, at, at_work)
            code, text, _ = Run(step.line, folder).end()
            if code != 0:
                raise SystemExit(f"konsil {' '.join(step.line)}: exit {code}: {text[-600:]}")


def main() -> None:
    """Kill, and print what became of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", action="append", help="default: all, and 'server'")
    parser.add_argument("--markdown", action="store_true", help="a table for the documents")
    given = parser.parse_args()
    if names := left_out():
        sys.exit(f"commands that are neither killed nor said to write nothing: {', '.join(names)}")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in AHEAD:
        importlib.import_module(name)
    rng = random.Random(given.seed)
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as folder:
        due = list(places(Path(folder), given.command or ()))
        with_server = not given.command or SERVER in given.command
        n_server = (
            round(given.kills * SERVER_SHARE) if due and with_server else given.kills * with_server
        )
        wanted = given.kills - n_server
        for n, place in enumerate(due):
            tally = tallies.setdefault(place.step.command, Tally())
            for _ in range(wanted * (n + 1) // len(due) - wanted * n // len(due)):
                tally.add(
                    next((t for _ in range(TRIES) if (t := place.kill(rng.random()))), Tally())
                )
            shutil.rmtree(place.work)
            print(
                place.step.command,
                tally.kills,
                *tally.faults,
                sep="\n  ",
                file=sys.stderr,
                flush=True,
            )
        if n_server:
            tallies[SERVER] = kill_server(n_server, rng, Path(folder))
            print(SERVER, *tallies[SERVER].faults, sep="\n  ", file=sys.stderr, flush=True)
    print_table(tallies, given.markdown)
    sys.exit(any(tally.faults for tally in tallies.values()))


def print_table(tallies: dict[str, Tally], markdown: bool) -> None:
    """One row a command, and their sum."""
    total = Tally()
    rows = [("command", "kills", "lost", "doubled", "tracebacks", "leftovers")]
    for name, tally in [*sorted(tallies.items()), ("all", total)]:
        counts = (tally.kills, tally.lost, tally.doubled, tally.tracebacks, tally.leftovers)
        rows.append((name, *(f"{count:,}" for count in counts)))
        if tally is not total:
            total.add(tally)
    if markdown:
        rows.insert(1, ("---", *["---:"] * 5))
    print("\n".join(" | ".join(row) if not markdown else f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
