"""The abstract of Real-POCQi computed again, end to end: from raw questions to the report, with
simulated preferences.

    python benchmarks/real_pocqi.py            print what docs/real-pocqi-end-to-end.md shows
    python benchmarks/real_pocqi.py --write    and write it there
    python benchmarks/real_pocqi.py --paper    the paper's size: 807 questions, 8 comparisons each

Raw questions of 30 specialties are screened and drawn; four systems answer them, one of them a
product whose answers are imported; physicians of all specialties come in by personal links,
consent, say their specialty and take a place, compare and hand in, all through the pages; three
judges, which are three of the systems, compare the same pairs; the plan of analyses is frozen while
systems are letters, then they get their names; the report follows. Systems and judges are models of
a server on this machine (konsil's fake provider). What physicians and judges prefer is drawn from
stated parameters (konsil.simulate). Every command is a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from medqade import Stage, insist

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsing import invited
from konsil.collect.fake.fake import Faults, Script
from konsil.instrument import fields
from konsil.prepare import in_study
from konsil.records import Answer, Item, Task
from konsil.rehearse import Replies, Server, work
from konsil.rehearse.people import Person
from konsil.simulate import PanelTruth, SystemTruth, Truth, people

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from fake_server import serve

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "real-pocqi-end-to-end.md"
MARK = "<!-- figures -->\n"
SEED = 11
SYSTEMS = ("system-1", "system-2", "system-3", "system-4")
JUDGES = {"judge-2": "system-2", "judge-3": "system-3", "judge-4": "system-4"}
CRITERIA = ("accuracy", "clinical_utility", "source_quality", "verifiability", "completeness")
TRUTH = Truth(
    systems={
        s: SystemTruth(0.75, y) for s, y in zip(SYSTEMS, (0.5, -0.35, 0.1, -0.1), strict=True)
    },
    panels={
        "physicians": PanelTruth(accuracy=0.7, shared=0.3, rater_system=0.25, tie=0.35),
        "judges": PanelTruth(accuracy=0.8, shared=0.5, self_preference=0.5, tie=0.25),
    },
)
"""What is simulated: the first system is preferred to all others and the second to none; physicians
have tastes of their own; judges see more alike than physicians and like their own answers
better."""
OF_SYSTEMS = Faults(busy=0.005, server=0.002)
OF_JUDGES = Faults(busy=0.005, server=0.002, malformed=0.02, refused=0.002)
THEMES = ("treatment", "work-up", "prognosis", "drug safety")
RAW = (
    ("identifier", "Mr. John Miller, born 03/04/1951, MRN 4432871, is short of breath. What now?"),
    ("follow-up", "And what about the dose you mentioned above?"),
    (
        "no question for a decision",
        "Write a letter of appeal to the insurance about the denied claim.",
    ),
)
_NUMBER = re.compile(r"Question (\d{4})")
_CODE = re.compile(r"\(ref ([0-9a-f]{8})\)")


@dataclass(frozen=True)
class Size:
    """How large the study is."""

    own: int
    """Questions of the study's own source, before the draw a tenth more."""
    other: int
    """Questions of the other source."""
    each: int
    """Comparisons a physician."""
    draws: int
    """Resamples."""


SMALL, PAPER = Size(300, 90, 4, 2_000), Size(620, 187, 8, 10_000)


def code(number: str, system: str) -> str:
    """What tells an answer's system to the server and to nobody else."""
    return hashlib.blake2b(f"{SEED}/{number}/{system}".encode(), digest_size=4).hexdigest()


def answer_text(number: str, system: str) -> str:
    """A system's answer; some write more than others."""
    rng = np.random.default_rng([int(number), SYSTEMS.index(system)])
    words = rng.integers(40, (160, 80, 150, 140)[SYSTEMS.index(system)])
    return (
        f"In short: see below. {'The evidence is told here. ' * int(words // 5)}(ref"
        f" {code(number, system)})"
    )


def write_material(folder: Path, size: Size, specialties: list[str]) -> int:
    """The raw questions, some of which must not be rated, and the product's answers."""
    n = round(1.1 * (size.own + size.other))
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["item", "text", "specialty", "source", "theme"])
        for k in range(n):
            source = "healthbench" if k % (size.own + size.other) < size.other else "real-pocqi"
            where = specialties[(7 * k) % 30]
            text = f"Question {k:04}: which step comes next in this case of {where}?"
            table.writerow([f"q{k:04}", text, where, source, THEMES[k // 3 % 4]])
        for k, (_, text) in enumerate(RAW * 5, start=n):
            table.writerow(
                [f"q{k:04}", f"{text}", specialties[k % 30], "real-pocqi", THEMES[k % 4]]
            )
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["item", "system", "text"])
        table.writerows(
            [f"q{k:04}", SYSTEMS[0], answer_text(f"{k:04}", SYSTEMS[0])]
            for k in range(n + len(RAW * 5))
        )
    return n + len(RAW * 5)


def write_protocol(folder: Path, size: Size, url: str) -> list[str]:
    """The protocol that comes with konsil, with these questions and models; gives its
    specialties."""
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    begin, end = text.index("# WHERE the records come from"), text.index("# WHO rates WHAT")
    sources = (
        '[[sources]]\nfile = "questions.csv"\nrecords = "items"\nstrata = ["specialty", "source",'
        ' "theme"]\n[[sources]]\nfile = "answers.csv"\nrecords ='
        ' "answers"\n\n[prepare.screen]\nundecided = "kept"\n[prepare.sample]\nsize ='
        f' {size.own + size.other}\nby = "specialty"\n\n'
    )
    text = text[:begin] + sources + text[end:]
    text = text.replace("#require_seconds", "require_seconds")
    text = re.sub(r"(?m)^title = \"", 'title = "Rehearsal: ', text, count=1)
    text = text.replace("per_rater = 18", f"per_rater = {size.each}")
    asked = 'settings = { temperature = 0, seed = 42, max_tokens = 2000, tools = ["web_search"] }'
    for system in SYSTEMS[1:]:
        text = re.sub(
            rf'(\[\[systems\]\]\nid = "{system}"\n)', rf'\1model = "here:{system}"\n{asked}\n', text
        )
    text += f'\n[[endpoints]]\nid = "here"\nurl = "{url}/v1"\nconcurrency = 32\n'
    for judge in JUDGES:
        text += (
            f'\n[[judges]]\nrater = "{judge}"\nmodel = "here:{judge}"\nsettings = {{ temperature ='
            " 0 }\n"
        )
    place.write_text(f"{text}\n[resampling]\ndraws = {size.draws}\n", "utf-8")
    return list(dict.fromkeys(re.findall(r'strata = \{ specialty = "([^"]+)"', text)))


class Simulated(Script):
    """The server's models: systems write their answers, judges say what the file of replies has for
    the pair."""

    def __init__(self, file: Path) -> None:
        super().__init__(self.say, OF_JUDGES, SEED)
        self.file, self.known = file, {}
        self.systems = Script(self.say, OF_SYSTEMS, SEED)

    def act(self, request):
        """What goes wrong, by whether a system or a judge is asked, and the body."""
        return self.systems.act(request) if request.model in SYSTEMS else super().act(request)

    def say(self, request, _rng):
        """The reply; the file is there once the plan is."""
        user = next(m.text for m in request.messages if m.role == "user")
        number = _NUMBER.search(user)[1]
        if request.model in SYSTEMS:
            return answer_text(number, request.model)
        if not self.known:
            self.known = json.loads(self.file.read_text("utf-8"))
        return self.known["/".join((request.model, number, *_CODE.findall(user)))]


def material(store) -> tuple[list[Item], list[Answer]]:
    """The questions that were drawn, and their answers."""
    items = list(in_study(store.items(), store.events()))
    chosen = {i.id for i in items}
    return items, [a for a in store.answers() if a.item in chosen]


def write_replies(file: Path, folder: Path) -> None:
    """What the judges will say to each of their tasks, as its form asks for it."""
    opened = open_folder(folder)
    with opened.store() as store:
        items, answers = material(store)
        tasks = [t for t in store.tasks() if t.rater in JUDGES]
    desk = people(opened.study, items, answers, TRUTH, SEED)
    said = {(r.task, r.criterion): (r.answers, r.label) for r in desk.rate(tasks)}
    [instrument] = opened.study.instruments
    replies = {}
    for task in tasks:
        codes = [code(a.partition(":")[0][1:], a.partition(":")[2]) for a in task.answers]
        reply = {f.name: said[task.id, f.criterion.id][1] for f in fields(instrument, task)}
        replies["/".join((task.rater, task.item[1:], *codes))] = json.dumps(reply)
    file.write_text(json.dumps(replies), "utf-8")


def rate_on_the_pages(folder: Path) -> str:
    """149 of the 150 places are taken by people who come by links, sign up and compare; what came
    of it."""
    opened = open_folder(folder)
    began = time.perf_counter()
    with opened.store() as store:
        items, answers = material(store)
        replies = Replies(opened.study, store, items, answers, TRUTH, SEED)
        guests = invited(opened.study, store)[:-1]
        with Server(folder) as server:
            come = [Person(g.rater, server.url + g.link, g.about) for g in guests]
            outcome = work(come, replies.to)
    insist(not outcome.times.faults, f"faults on the pages: {outcome.times.faults[:3]}")
    seconds, requests = time.perf_counter() - began, sum(r.count for r in outcome.times.rows())
    worst = max(outcome.times.rows(), key=lambda r: r.p95)
    return (
        f"{len(guests)} people signed in with personal links, consented, signed up and submitted"
        f" {sum(outcome.handed_in.values()):,} pages: {requests:,} requests in {seconds:.0f} s,"
        f" without a fault; the slowest kind of request ({worst.kind}) took"
        f" {1000 * worst.p95:.0f} ms at its 95th percentile."
    )


def true_values(folder: Path) -> dict[str, dict[tuple[str, str], float]]:
    """Rater or panel -> (criterion, system) -> its win difference among very many new questions and
    new physicians."""
    study = open_folder(folder).study
    n, rng = 1_500, np.random.default_rng(SEED)
    items = [Item(f"t{k:04}", "") for k in range(n)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS]
    desk = people(study, items, answers, TRUTH, SEED + 1)
    physicians = [r.id for r in study.everybody() if r.kind == "human"]
    tasks = []
    for rater in (*physicians, *JUDGES):
        for k in range(n) if rater in JUDGES else rng.choice(n, 400, replace=False):
            a, b = rng.choice(4, 2, replace=False)
            two = (f"t{k:04}:{SYSTEMS[a]}", f"t{k:04}:{SYSTEMS[b]}")
            tasks.append(Task(f"{rater} {k}", rater, rater, "comparison", f"t{k:04}", two))
    scores = defaultdict(list)
    for r in desk.rate(tasks):
        one, other = (a.partition(":")[2] for a in r.answers)
        score = r.label.startswith("A is") * 1.0 - r.label.startswith("B is")
        who = r.rater if r.rater in JUDGES else "physicians"
        scores[who, r.criterion, one, other].append(score)
        scores[who, r.criterion, other, one].append(-score)
    found = defaultdict(dict)
    for who in ("physicians", *JUDGES):
        for criterion in CRITERIA:
            for s in SYSTEMS:
                means = [
                    np.mean(scores[who, criterion, s, other]) for other in SYSTEMS if other != s
                ]
                found[who][criterion, s] = float(np.mean(means))
    return found


def main() -> None:
    """Run it, print what is told, and with --write put it into its document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paper", action="store_true", help="The paper's size.")
    parser.add_argument(
        "--write", action="store_true", help=f"Write what is told into docs/{DOCUMENT.name}."
    )
    parser.add_argument("--keep", default="", help="An empty folder in which everything stays.")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(Simulated(Path(given.serve))))
        return
    size = PAPER if given.paper else SMALL
    if given.keep:
        said = run(Path(given.keep), size)
    else:
        with tempfile.TemporaryDirectory() as folder:
            said = run(Path(folder), size)
    print(said)
    if given.write:
        before = DOCUMENT.read_text("utf-8").split(MARK)[0]
        DOCUMENT.write_text(f"{before}{MARK}\n{said}", "utf-8")


def run(folder: Path, size: Size) -> str:
    """The whole study; gives what is told."""
    folder.mkdir(exist_ok=True)
    stage, replies = Stage(folder / "study"), folder / "replies.json"
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__)), "--serve", str(replies)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        stage.run("new", "--protocol", "real-pocqi", "--language", "en")
        specialties = write_protocol(stage.folder, size, server.stdout.readline().strip())
        raw = write_material(stage.folder, size, specialties)
        stage.run("import", n=raw)
        screened = stage.run("screen", n=raw)
        stage.run("prepare", n=raw)
        stage.run("answer", n=3 * (size.own + size.other))
        stage.run("plan", n=150 * size.each)
        pages = rate_on_the_pages(stage.folder)
        write_replies(replies, stage.folder)
        stage.run("judge", n=300 * size.each)
        stage.run("judge")
    finally:
        server.terminate()
        server.wait()
    blinded = stage.run("analyse")
    insist("Blinded: systems carry codes" in blinded, blinded)
    names = re.compile("|".join(SYSTEMS))
    insist(
        not names.search((stage.folder / "estimates.csv").read_text("utf-8")),
        "a system's name in blinded estimates",
    )
    stage.run("freeze", "--by", "the analyst")
    stage.run("unblind", "--by", "the analyst", "--reason", "the plan of analyses stands")
    mark_as_simulated(stage.folder)
    stage.run("report")
    stage.run("verify-log")
    return told(stage, screened, pages)


def mark_as_simulated(folder: Path) -> None:
    """From here on every page says that these are no ratings of people; letters are lifted by
    then."""
    place = folder / "study.toml"
    place.write_text("simulated = true\n" + place.read_text("utf-8"), "utf-8")


def told(stage: Stage, screened: str, pages: str) -> str:
    """Everything that is told, as Markdown."""
    folder = stage.folder
    opened = open_folder(folder)
    results, true = opened.results(), true_values(folder)
    with opened.store() as store:
        items = {i.id: i for i in material(store)[0]}
        ratings = store.ratings()
    panel = {r.rater: r.rater if r.rater in JUDGES else "physicians" for r in ratings}
    rated = [r for r in ratings if panel[r.rater] == "physicians"]
    numbers = {
        "questions": len({r.item for r in rated if items[r.item].strata["source"] == "real-pocqi"}),
        "others": len({r.item for r in rated if items[r.item].strata["source"] == "healthbench"}),
        "specialties": len({items[r.item].strata["specialty"] for r in rated}),
        "physicians": len({r.rater for r in rated}),
        "comparisons": len({r.task for r in rated}),
        "judgements": len({r.task for r in ratings if r.rater in JUDGES}),
    }
    machine = (
        f"{os.cpu_count()} cores, Python {platform.python_version()}; load {os.getloadavg()[0]:.1f}"
    )
    return "\n".join(
        [
            f"Measured on {machine}.\n",
            stage.table(),
            (
                f"Exclusions of raw questions: {', '.join(re.findall('excluded, (.+)', screened))}."
                f" {pages}\n"
            ),
            "## The abstract\n",
            abstract(results, numbers),
            "## Simulated true values and estimates\n",
            beside(results, true),
            f"## The report\n\n{figures(folder / 'report' / 'figures')}\nThe methods paragraph of the report:\n",
            "\n".join(f"> {line}" for line in results.methods) + "\n",
        ]
    )


FIGURES = {
    "1a, 4: assignment of comparisons": ("scheme-",),
    "1b, 1c: specialties, themes": ("items-specialty", "items-theme"),
    "2a, 2b: win differences and their components": ("wins-win-difference-accuracy-",),
    "2c, 9: pairwise win rates, plain and strict": (
        "matrices-win-rates-accuracy-text",
        "matrices-strict-win-rates-accuracy",
    ),
    "2d, 11: by length, by account": (
        "strata-win-difference-accuracy-longer",
        "strata-win-difference-accuracy-users",
    ),
    "3: win differences by rater": ("graders-",),
    "6: lengths of the answers": ("lengths-answers",),
    "10: the same with citations": ("wins-win-difference-accuracy-with-citations",),
    "12: strength parameters": ("worths-",),
}
"""The paper's figures, and how the names of the report's begin."""


def figures(folder: Path) -> str:
    """Which figure of the report is which of the paper's, as a table; ends the run where one
    lacks."""
    there = sorted(p.stem for p in folder.glob("*.svg"))
    lines = [
        f"{len(there)} figures, including those of the paper:\n",
        "| figure of the paper | figure of the report |",
        "|---|---|",
    ]
    for of_paper, starts in FIGURES.items():
        found = [next((f for f in there if f.startswith(start)), "") for start in starts]
        insist(all(found), f"no figure of the report is the paper's {of_paper}: {there}")
        lines.append(f"| {of_paper} | {', '.join(f'`{f}`' for f in found)} |")
    lines.append("| 5: rating pages | [the pages](pages.md) |")
    lines.append("| 7, 8: prompts | full text under *Instruments and codebooks* |")
    return "\n".join(lines) + "\n"


def rows_of(results, name: str, **group: str) -> list:
    """The estimates of an analysis, of one group."""
    found = [r for r in results.rows if r.analysis == name and r.kind == "estimate"]
    return [r for r in found if group.items() <= r.group.items()]


def abstract(results, n: dict[str, int]) -> str:
    """The sentences of an abstract, from the analyses alone."""
    primary = {c: rows_of(results, f"win difference, {c.replace('_', ' ')}") for c in CRITERIA}
    best = {c: max(rows, key=lambda r: r.estimate.value) for c, rows in primary.items()}
    first = SYSTEMS[0]
    insist(
        {r.group["system"] for r in best.values()} == {first},
        "another system was preferred than the simulated one",
    )
    low, high = min(best.values(), key=value), max(best.values(), key=value)
    holm, together = (
        max(getattr(r, name) for r in best.values()) for name in ("p_adjusted", "p_max_t")
    )
    lines = [
        (
            f"We report a blinded evaluation of four systems on {n['questions']} questions from"
            f" practice and {n['others']} of another source, of {n['specialties']} specialties."
            f" {n['physicians']} physicians of the questions' own specialties compared two answers"
            f" at a time, {n['comparisons']:,} times, on five criteria."
        ),
        (
            f"{first} was preferred on all five: its win differences against the others ranged from"
            f" {points(low)} ({words(low)}) to {points(high)} ({words(high)}) percentage points;"
            f" adjusted for all twenty tests, p was {adjusted(holm)} by Holm's method and"
            f" {adjusted(together)} by max-T on every criterion."
        ),
        same_sign(results, first),
        judges_sentence(results, n["judgements"], first),
    ]
    return "\n".join(lines) + "\n"


def value(row) -> float:
    """What a row estimates."""
    return row.estimate.value


def points(row) -> str:
    """An estimate with its interval in percentage points."""
    e = row.estimate
    return f"{100 * e.value:.0f} [{100 * e.low:.0f}, {100 * e.high:.0f}]"


def words(row) -> str:
    """A criterion in words."""
    return row.criterion.replace("_", " ")


def adjusted(p: float) -> str:
    """A p value as it is written."""
    return "below 0.001" if p < 0.001 else f"{p:.3f} at most"


def same_sign(results, first: str) -> str:
    """In which of the sensitivity analyses the first system still is the most preferred."""
    kinds = {
        "with citations": {},
        "much better alone": {},
        "the longer answer": {"length": "longer"},
        "the shorter answer": {"length": "shorter"},
        "users": {"exposure": "user"},
        "others": {"exposure": "non-user"},
        "HealthBench": {},
    }
    suffix = {
        "the longer answer": "longer and shorter answers",
        "the shorter answer": "longer and shorter answers",
        "users": "users and others",
        "others": "users and others",
    }
    parts = []
    for kind, group in kinds.items():
        held = 0
        for c in CRITERIA:
            name = f"win difference, {c.replace('_', ' ')}: {suffix.get(kind, kind)}"
            rows = [r for r in rows_of(results, name, **group) if np.isfinite(value(r))]
            held += max(rows, key=value).group["system"] == first if rows else 0
        parts.append(f"{kind} {held} of 5")
    return f"It was also preferred in the sensitivity analyses: {', '.join(parts)}."


def judges_sentence(results, judgements: int, first: str) -> str:
    """How judges' rankings agree with the physicians', and whom they prefer."""
    taus = {
        r.group["rater"]: r
        for r in rows_of(
            results, "rankings of judges and physicians", criterion="mean_over_criteria"
        )
    }
    told_ = ", ".join(
        f"{j} {value(r):.2f} [{r.estimate.low:.2f}, {r.estimate.high:.2f}]" for j, r in taus.items()
    )
    agreeing = sum(
        max(
            rows_of(results, f"win differences by judge, {c.replace('_', ' ')}", rater=j), key=value
        ).group["system"]
        == first
        for j in JUDGES
        for c in CRITERIA
    )
    return (
        f"Three LLM judges, which are also systems, made the same comparisons ({judgements:,}"
        " ratings). Kendall's tau of their win differences with the physicians', over the five"
        f" criteria: {told_}; the best system was the same in {agreeing} of 15."
    )


def beside(results, true) -> str:
    """Simulated true values and estimates win differences of physicians and judges, as a table."""
    lines = [
        "| raters | criterion | system | true value | estimate | 95% CI | contains true value |",
        "|---|---|---|---:|---:|---|---|",
    ]
    inside = judged = 0
    for who in ("physicians", *JUDGES):
        for c in CRITERIA:
            spoken = c.replace("_", " ")
            if who == "physicians":
                rows = rows_of(results, f"win difference, {spoken}")
            else:
                rows = rows_of(results, f"win differences by judge, {spoken}", rater=who)
            for row in sorted(rows, key=lambda r: r.group["system"]):
                e, t = row.estimate, true[who][c, row.group["system"]]
                judged, hit = judged + 1, e.low <= t <= e.high
                inside += hit
                if who == "physicians" or c == CRITERIA[0]:
                    lines.append(
                        f"| {who} | {spoken} | {row.group['system']} | {t:.3f} | {e.value:.3f} |"
                        f" {e.low:.3f} to {e.high:.3f} | {'yes' if hit else 'no'} |"
                    )
    lines.append(
        f"\nOf all {judged} intervals, judges on the other criteria included, {inside} contain"
        " the true value.\n"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
