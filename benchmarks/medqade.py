"""MedQADE at its full size, from the deck to the report, by konsil's own commands; simulated true
values beside estimates.

    python benchmarks/medqade.py                      print the tables of docs/medqade-full-size.md
    python benchmarks/medqade.py --write              and write them there
    python benchmarks/medqade.py --small              a twentieth of it, in half a minute

44,185 notes, of which 26,598 have one gap, are imported; five systems answer them; 3,800 are drawn;
nine physicians, one who breaks ties and nine judges rate them. Systems and judges are models of a
server on this machine, called as any other would be, with faults. What they and the physicians say
is drawn from stated parameters (konsil.simulate): the judges' replies are served, the physicians'
ratings are a file that is imported. Every command is a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import csv
import dataclasses
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np

from konsil.api import open_folder
from konsil.collect.fake.fake import Faults, Script
from konsil.instrument import fields
from konsil.prepare import MATCH, in_study
from konsil.records import Answer, Item
from konsil.simulate import PanelTruth, SystemTruth, Truth, draw, recovery, sets_of
from konsil.simulate.world import build_world
from konsil.store.calls.calls import Calls

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from fake_server import serve

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "medqade-full-size.md"
MARK = "<!-- figures -->\n"
SEED = 4
SYSTEMS = tuple(f"system-{n}" for n in range(1, 6))
JUDGES = tuple(f"judge-{n}" for n in range(1, 10))
PHYSICIAN = PanelTruth(
    accuracy=0.93, severity=0.2, abstention=0.05, abstention_slope=0.9, perception=0.7
)
TRUTH = Truth(
    systems={
        s: SystemTruth(q) for s, q in zip(SYSTEMS, (0.72, 0.66, 0.52, 0.6, 0.41), strict=True)
    },
    panels={
        "physicians": PHYSICIAN,
        "tiebreaker": PHYSICIAN,
        "judges": PanelTruth(
            accuracy=0.88, severity=0.1, leniency=0.3, self_preference=0.4, abstention=0.02
        ),
    },
    raters={
        "judge-1": PanelTruth(
            accuracy=0.94, leniency=0.1, self_preference=0.5, abstention=0.03, abstention_slope=0.7
        ),
        "judge-5": PanelTruth(accuracy=0.75, leniency=0.7, self_preference=0.8, abstention=0.01),
    },
)
"""What is simulated: systems of unequal quality; physicians who abstain more where it is hard; judges
who are lenient, more so with their own family, and hardly more cautious where it is hard. Judge 1
is able and cautious, 5 neither."""
OF_SYSTEMS = Faults(busy=0.002, server=0.001, refused=0.001, truncated=0.0005, empty=0.0005)
OF_JUDGES = Faults(busy=0.002, server=0.001, malformed=0.02, refused=0.002, truncated=0.001)
NATURAL = 0.2
"""The share of items with a verbatim match, the sample's own: so the sample is like all items and
has their truth."""
_NUMBER = re.compile(r"Befund (\d{5})")


@dataclasses.dataclass(frozen=True)
class Size:
    """How large the study is."""

    notes: int
    single: int
    core: int
    split: int


FULL, SMALL = Size(44_185, 26_598, 200, 3_600), Size(2_209, 1_330, 10, 180)


COMMAND = """
import sys
try:
    from konsil.cli import main
    main(sys.argv[2:])
finally:
    with open("/proc/self/status") as status, open(sys.argv[1], "w") as memory:
        memory.write(next((line.split()[1] for line in status if line.startswith("VmHWM:")), "0"))
"""
"""One command, which tells its peak memory itself: what is told of a child's end counts its
parent's memory too."""


class Stage:
    """Commands with their wall time, processor time and peak memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[tuple[str, int, float, float, float]] = []

    def run(self, command: str, *options: str, n: int = 0) -> str:
        """Run one command of konsil's in a process of its own; `n` is what it does so many of."""
        began = time.perf_counter()
        with tempfile.TemporaryFile("w+") as out, tempfile.NamedTemporaryFile("r") as memory:
            process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, memory.name, command, str(self.folder), *options],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - began
            out.seek(0)
            said = out.read()
            peak = int(memory.read() or 0) / 1024
        insist(process.returncode == 0, f"konsil {command} ended with {process.returncode}: {said}")
        named = " ".join(
            ("konsil", command, *(o for o in options if o.startswith("--") or "." in Path(o).name))
        )
        self.rows.append(
            (
                named.replace(str(self.folder.parent) + os.sep, ""),
                n,
                seconds,
                used.ru_utime + used.ru_stime,
                peak,
            )
        )
        print(f"{named}: {seconds:.1f} s\n{said}", file=sys.stderr)
        return said

    def table(self) -> str:
        """The commands as Markdown."""
        lines = [
            "| command | records | wall time, s | CPU time, s | records/s | peak MB |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for name, n, wall, cpu, peak in self.rows:
            count, rate = (f"{n:,}", f"{n / wall:,.0f}") if n else ("", "")
            lines.append(f"| `{name}` | {count} | {wall:.1f} | {cpu:.1f} | {rate} | {peak:.0f} |")
        wall, cpu = (sum(row[k] for row in self.rows) for k in (2, 3))
        return (
            "\n".join(
                [
                    *lines,
                    f"| all | | {wall:.1f} | {cpu:.1f} | | {max(r[4] for r in self.rows):.0f} |",
                ]
            )
            + "\n"
        )


def insist(holds: bool, otherwise: str) -> None:
    """End the run where something is not as it must be."""
    if not holds:
        raise SystemExit(otherwise)


def write_deck(file: Path, size: Size) -> None:
    """A deck in CrowdAnki's form: notes with one gap, and others."""
    kind = {
        "crowdanki_uuid": "cloze",
        "name": "Cloze",
        "type": 1,
        "flds": [{"name": "Text"}, {"name": "Extra"}],
        "tmpls": [{"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}"}],
    }
    notes = []
    for n in range(size.notes):
        text = (
            f"Bei Befund {n:05} ist {{{{c1::Begriff {n:05}::Begriff}}}} die häufigste Ursache,"
            " besonders im Alter."
        )
        if n >= size.single:
            text = (
                text.replace("häufigste", "{{c2::häufigste}}")
                if n % 3
                else f"Befund {n:05} ohne <b>Lücke</b>."
            )
        notes.append(
            {
                "guid": f"n{n:05}",
                "note_model_uuid": "cloze",
                "fields": [text, ""],
                "tags": [f"fach-{n % 12}"],
            }
        )
    deck = {
        "__type__": "Deck",
        "name": "Medizin",
        "note_models": [kind],
        "notes": notes,
        "children": [],
    }
    file.write_text(json.dumps(deck, ensure_ascii=False), "utf-8")


def write_protocol(folder: Path, size: Size, url: str) -> None:
    """The protocol that comes with konsil, with this deck, these sizes and these models."""
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    for before, after in (
        ('file = "deck.apkg"', 'file = "deck.json"'),
        ("size = 3800", f"size = {size.core + size.split}"),
        ("core = 200, split = 3600", f"core = {size.core}, split = {size.split}"),
        ("lexical_match = true\n", 'lexical_match = true\nunanswered = "drop"\n'),
        ("schema = 1\n", "schema = 1\nsimulated = true\n"),
    ):
        insist(before in text, f"study.toml: no {before!r} in it any more")
        text = text.replace(before, after, 1)
    for system in SYSTEMS:
        asked = (
            'settings = { temperature = 0.2, max_tokens = 32, system = "Sie sind in der Prüfung.'
            ' Ein kurzer Begriff." }'
        )
        text = re.sub(
            rf'(\[\[systems\]\]\nid = "{system}"\n)', rf'\1model = "here:{system}"\n{asked}\n', text
        )
    text += f'\n[[endpoints]]\nid = "here"\nurl = "{url}/v1"\nconcurrency = 64\n'
    for judge in JUDGES:
        text += (
            f'\n[[judges]]\nrater = "{judge}"\nmodel = "here:{judge}"\nsettings = {{ temperature ='
            " 0 }\n"
        )
    place.write_text(text, "utf-8")


def simulated_answers(size: Size) -> tuple[dict[str, str], set[str]]:
    """Answer -> its text, and the wrong ones; one in five items is answered word for word by a
    system."""
    items = [Item(f"n{n:05}", "") for n in range(size.single)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS]
    right = build_world(items, answers, {}, TRUTH, SEED).answers.right.reshape(
        len(items), len(SYSTEMS)
    )
    rng = np.random.default_rng(SEED)
    can = np.flatnonzero(right.any(axis=1))
    matched = set(rng.choice(can, round(NATURAL * len(items)), replace=False).tolist())
    texts, wrong = {}, set()
    for n in range(len(items)):
        verbatim = rng.choice(np.flatnonzero(right[n])) if n in matched else -1
        for k, system in enumerate(SYSTEMS):
            name = f"n{n:05}:{system}"
            if not right[n, k]:
                wrong.add(name)
            texts[name] = (
                f"Begriff {n:05}"
                if k == verbatim
                else f"Begriff {n:05}, erworben"
                if right[n, k]
                else f"Irrtum {k} zu {n:05}"
            )
    return texts, wrong


class Simulated(Script):
    """The server's models: each says what the file of replies has for it and the item."""

    def __init__(self, file: Path) -> None:
        super().__init__(self.say, OF_SYSTEMS, SEED)
        self.file, self.known, self.size = file, {}, 0
        self.systems = Script(self.say, OF_SYSTEMS, SEED)
        self.judges = Script(self.say, OF_JUDGES, SEED)

    def say(self, request, _rng):
        """The reply; the file is read on where it has grown: judges' replies are known once the
        plan is."""
        number = _NUMBER.search(next(m.text for m in request.messages if m.role == "user"))
        key = (request.model, number[1] if number else "")
        if key not in self.known:
            with self.file.open(encoding="utf-8") as lines:
                lines.seek(self.size)
                while line := lines.readline():
                    model, name, text = json.loads(line)
                    self.known[model, name] = text
                self.size = lines.tell()
        return self.known[key]

    def act(self, request):
        """What goes wrong, by whether a system or a judge is asked, and the body."""
        return (self.judges if request.model in JUDGES else self.systems).act(request)


def simulated(folder: Path, wrong: set[str]):
    """Everybody's ratings of the study as it was prepared, and the study's items."""
    opened = open_folder(folder)
    with opened.store() as store:
        items = in_study(store.items(), store.events())
        chosen = {i.id for i in items}
        answers = [a for a in store.answers() if a.item in chosen]
    truth = dataclasses.replace(TRUTH, wrong_answers=tuple(a.id for a in answers if a.id in wrong))
    return opened.study, items, draw(opened.study, items, answers, truth, SEED, panel_seed=SEED)


def write_ratings(file: Path, study, drawn, purposes: set[str]) -> int:
    """The people's ratings as a table; an abstention is the scale's own word."""
    words = {c.id: c.scale.abstain for i in study.instruments for c in i.criteria}
    people = {r.id for r in study.raters if r.kind == "human"}
    wanted = {t.id for t in drawn.tasks if t.purpose in purposes and t.rater in people}
    rows = 0
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["rater", "item", "system", "criterion", "label", "seconds"])
        for r in drawn.ratings:
            if r.task in wanted:
                system = r.answers[0].partition(":")[2] if r.answers else ""
                table.writerow(
                    [r.rater, r.item, system, r.criterion, r.label or words[r.criterion], r.seconds]
                )
                rows += 1
    return rows


def write_replies(file: Path, study, drawn) -> None:
    """What the judges will say, appended to the server's file: the reply to each task as its form
    asks for it."""
    [instrument] = study.instruments
    said = {(r.task, r.criterion, r.answers): r for r in drawn.ratings if r.rater in JUDGES}
    with file.open("a", encoding="utf-8") as out:
        for task in drawn.tasks:
            if task.rater not in JUDGES:
                continue
            reply = {}
            for field in fields(instrument, task):
                one = said[
                    task.id, field.criterion.id, tuple(task.answers[n] for n in field.answers)
                ]
                reply[field.name] = one.label or field.criterion.scale.abstain
            out.write(
                json.dumps([task.rater, task.item[1:], json.dumps(reply, ensure_ascii=False)])
                + "\n"
            )


def check_plan(tasks, size: Size) -> str:
    """The paper's counts, exactly."""
    nine = [f"physician-{n}" for n in range(1, 10)]
    loads, seen = Counter(t.rater for t in tasks), {}
    for task in tasks:
        if task.rater in nine:
            seen.setdefault(task.item, set()).add(task.rater)
    core = sum(len(r) == 9 for r in seen.values())
    pairs = Counter(p for r in seen.values() if len(r) == 2 for p in combinations(sorted(r), 2))
    each = size.core + 2 * size.split // 9
    insist({loads[r] for r in nine} == {each}, f"loads {loads}")
    insist(
        (core, len(seen)) == (size.core, size.core + size.split),
        f"{core} core items of {len(seen)}",
    )
    insist(len(pairs) == 36 and set(pairs.values()) == {size.split // 36}, f"pairs {pairs}")
    insist({loads[j] for j in JUDGES} == {size.core + size.split}, f"judges' loads {loads}")
    insist({len(t.answers) for t in tasks} == {5}, "a screen has not five answers")
    return (
        f"9 physicians x {each:,} items; {size.core:,} core items by all nine; {len(pairs)} pairs x"
        f" {size.split // 36:,} split items; 9 judges x {size.core + size.split:,} tasks"
    )


def outcomes(folder: Path) -> str:
    """How all works ended, as Markdown."""
    with open_folder(folder).store() as store:
        ended, (made, _) = Calls(store).counts(), Calls(store).spent()
    kinds = {kind: Counter() for kind in ("answer", "judge")}
    for one in ended:
        kinds[one.kind][one.outcome] += one.works
    lines = [
        f"{made:,} calls were made.",
        "",
        "| outcome | answers | judgements |",
        "|---|---:|---:|",
    ]
    for name in sorted(
        {*kinds["answer"], *kinds["judge"]}, key=lambda o: -kinds["answer"][o] - kinds["judge"][o]
    ):
        lines.append(f"| {name} | {kinds['answer'][name]:,} | {kinds['judge'][name]:,} |")
    return "\n".join(lines) + "\n"


def compared(study, items, results) -> str:
    """Ceiling, kappa, preference and caution: true values beside estimates."""
    told = recovery(study, TRUTH, results, seed=SEED, sets=sets_of(study, items))
    # The simulated model knows of no strata: an item with a verbatim match has a right answer, which
    # it does not say.
    told = tuple(r for r in told if MATCH not in r.group)
    statistics = {a.name: a for a in study.analyses}
    lines = [
        "| parameter | true value | estimate | 95% CI | contains true value |",
        "|---|---:|---:|---:|---|",
    ]
    for r in told:
        asked, judge = statistics[r.analysis], r.group.get("rater", "")
        ceiling = asked.against == "rest" and not judge
        of_judge = judge in ("judge-1", "judge-5") and asked.statistic in (
            "cohen_kappa",
            "self_preference",
            "abstention_slope",
        )
        if ceiling or of_judge:
            inside = "" if r.covered is None else "yes" if r.covered else "no"
            lines.append(
                f"| {r.parameter} | {r.truth:.3f} | {r.estimate:.3f} | {r.low:.3f} to {r.high:.3f}"
                f" | {inside} |"
            )
    judged = [r for r in told if r.covered is not None]
    hit = sum(bool(r.covered) for r in judged)
    return (
        "\n".join(lines)
        + f"\n\nOf all {len(judged)} CIs whose true value is known, {hit} contain it.\n"
    )


def run(folder: Path, size: Size) -> str:
    """The whole study; gives the tables."""
    stage, replies = Stage(folder / "study"), folder / "replies.jsonl"
    texts, wrong = simulated_answers(size)
    with replies.open("w", encoding="utf-8") as out:
        for name, text in texts.items():
            item, _, system = name.partition(":")
            out.write(json.dumps([system, item[1:], text]) + "\n")
    del texts
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__)), "--serve", str(replies)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        stage.run("new", "--protocol", "medqade")
        write_protocol(stage.folder, size, server.stdout.readline().strip())
        write_deck(stage.folder / "deck.json", size)
        n = size.core + size.split
        stage.run("import", n=size.notes)
        stage.run("answer", n=len(SYSTEMS) * size.single)
        stage.run("answer", n=len(SYSTEMS) * size.single)
        stage.run("prepare", n=size.single)
        stage.run("plan", n=n)
        began = time.perf_counter()
        study, items, drawn = simulated(stage.folder, wrong)
        write_replies(replies, study, drawn)
        first, second = folder / "ratings.csv", folder / "tiebreaks.csv"
        rows = write_ratings(first, study, drawn, {"main"})
        print(f"simulated in {time.perf_counter() - began:.1f} s", file=sys.stderr)
        stage.run("import", "--file", str(first), n=rows)
        stage.run("plan", n=n)
        with open_folder(stage.folder).store() as store:
            stored = store.tasks()
        ties = sum(t.purpose == "tiebreak" for t in stored)
        insist(
            {t.id for t in stored} == {t.id for t in drawn.tasks},
            "the plan is not the simulation's",
        )
        counts = check_plan(stored, size) + f"; {ties:,} tie-breaks"
        stage.run(
            "import", "--file", str(second), n=write_ratings(second, study, drawn, {"tiebreak"})
        )
        del drawn, stored
        stage.run("judge", n=len(JUDGES) * n)
        stage.run("judge", n=len(JUDGES) * n)
    finally:
        server.terminate()
        server.wait()
    stage.run("report")
    stage.run("verify-log")
    results = open_folder(stage.folder).results()
    machine = (
        f"{os.cpu_count()} cores, Python {platform.python_version()}; load average at the end"
        f" {os.getloadavg()[2]:.1f}"
    )
    return "\n".join(
        [
            f"Measured on {machine}.\n",
            stage.table(),
            f"The plan: {counts}.\n",
            outcomes(stage.folder),
            compared(study, items, results),
        ]
    )


def main() -> None:
    """Run it, print the tables, and with --write put them into their document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="A twentieth of the size.")
    parser.add_argument(
        "--write", action="store_true", help="Write the tables into docs/medqade-full-size.md."
    )
    parser.add_argument("--keep", default="", help="An empty folder in which everything stays.")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(Simulated(Path(given.serve))))
        return
    size = SMALL if given.small else FULL
    if given.keep:
        said = run(Path(given.keep), size)
    else:
        with tempfile.TemporaryDirectory() as folder:
            said = run(Path(folder), size)
    print(said)
    if given.write:
        before = DOCUMENT.read_text("utf-8").split(MARK)[0]
        DOCUMENT.write_text(f"{before}{MARK}\n{said}", "utf-8")


if __name__ == "__main__":
    main()
