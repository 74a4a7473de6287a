"""Pins: what a user can see of konsil, as files with digests, to compare before and after a change
of the machinery.

    python benchmarks/pins.py OUT                     the pins of the konsil that Python imports
    python benchmarks/pins.py OUT --only demo help    a part of them
    python benchmarks/pins.py --compare BEFORE AFTER  what differs

Of estimates, a comparison lists which rows and columns differ, and by how much.

Pinned are: the help of every command; the demonstration study, in English and German; the four
protocols as small simulated studies in both languages; the commands of the tutorials that need no
more than docs/example; K-QA and MT-Bench where KONSIL_TEST_DATA names their folder. Of each study:
what `check`, `status` and `simulate` print, the report's page, figures and tables, the estimates,
the exports, the codebook, prompts and schemas of its judges, and the rating and office pages. Times
and secrets are masked: they are new in every run. Two runs of one konsil are alike.

A part that fails is pinned as its error, so that an older konsil can be pinned by a newer copy of
this file:

    git worktree add ../before COMMIT
    PYTHONPATH=../before/src python benchmarks/pins.py pins/before
    python benchmarks/pins.py pins/after
    python benchmarks/pins.py --compare pins/before pins/after
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import difflib
import hashlib
import importlib.util
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

MANIFEST = "manifest.json"
SCALE = "A much better,A better,equal,B better,B much better"
LANGUAGES = ("en", "de")
PROTOCOLS = ("medqade", "real-pocqi", "clexeval", "cqa-eval")
MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?"), "<time>"),
    (re.compile(r'(name="csrf" value=|name=csrf value=|"csrf":\s*)"[^"]*"'), r'\1"<secret>"'),
    (re.compile(r'(data-public=|name="visit" value=)"[^"]*"'), r'\1"<secret>"'),
    (re.compile(r"/(come|task|practice|pilot)/[A-Za-z0-9_-]{12,}"), r"/\1/<secret>"),
    # Digests of files and of the log, which hold times.
    (
        re.compile(
            r'("(?:sha256|hash)": "|<dd class="digest">|last hash is |letzte Prüfsumme ist'
            r" )[0-9a-f]{64}"
        ),
        r"\1<digest>",
    ),
    (re.compile(r"(head: \d+-)[0-9a-f]{64}"), r"\1<digest>"),
)
SETTLED = datetime(2030, 1, 1, 12, tzinfo=UTC)
"""The clock of the pages: later than any clock that is right, so that what was written before lies
in the past."""
FAR = "2031-01-01T00:00:00Z"
Write = Callable[[str, str | bytes], None]


class Pins:
    """A folder that is filled with pins."""

    def __init__(self, out: Path, work: Path) -> None:
        self.out, self.work = out, work
        self.failed: list[str] = []

    def put(self, name: str, content: str | bytes) -> None:
        """Keep a text, masked, or the bytes of a file that is none."""
        if isinstance(content, bytes):
            with contextlib.suppress(UnicodeDecodeError):
                content = content.decode("utf-8")
        if isinstance(content, str):
            for place, mark in (
                (self.work, "<work>"),
                (self.work.resolve(), "<work>"),
                (ROOT, "<root>"),
            ):
                content = content.replace(str(place), mark)
            for pattern, mask in MASKS:
                content = pattern.sub(mask, content)
            content = content.encode()
        file = self.out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def put_folder(self, name: str, folder: Path) -> None:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            self.put(f"{name}/{file.relative_to(folder).as_posix()}", file.read_bytes())

    def run(self, name: str, *arguments: object) -> str:
        """Run a command in this process and keep what it prints."""
        from click.testing import CliRunner

        from konsil.cli.main import group
        from konsil.errors import KonsilError

        here = Path.cwd()
        os.chdir(self.work)
        try:
            done = CliRunner().invoke(group, [str(a) for a in arguments])
        finally:
            os.chdir(here)
        output = done.output
        if isinstance(done.exception, KonsilError):
            output += f"error: {done.exception}\n"
        elif done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        self.put(name, f"$ konsil {' '.join(map(str, arguments))}\n{output}")
        return output

    def part(self, name: str, make: Callable[[], None]) -> None:
        """One part; what breaks is pinned as its error, and the others are still made."""
        print(f"{datetime.now(UTC):%H:%M:%S} {name}", flush=True)
        try:
            make()
        except Exception as error:  # noqa: BLE001 - an older konsil may lack anything
            self.failed.append(name)
            place = traceback.extract_tb(error.__traceback__)[-1]
            self.put(
                f"{name}/error.txt",
                f"{type(error).__name__}: {error}\n{Path(place.filename).name}: {place.name}\n",
            )

    def close(self) -> None:
        """Write the manifest: every file with its SHA-256."""
        files = sorted(p for p in self.out.rglob("*") if p.is_file() and p.name != MANIFEST)
        digests = {
            p.relative_to(self.out).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in files
        }
        (self.out / MANIFEST).write_text(json.dumps(digests, indent=1) + "\n", "utf-8")


# ---------------------------------------------------------------- parts


def helps(pins: Pins) -> None:
    from konsil.cli.main import group

    pins.run("help/konsil.txt", "--help")
    for name in sorted(group.list_commands(None)):  # type: ignore[arg-type]
        command = group.get_command(None, name)  # type: ignore[arg-type]
        pins.run(f"help/{name}.txt", name, "--help")
        for inner in sorted(getattr(command, "commands", {})):
            pins.run(f"help/{name}-{inner}.txt", name, inner, "--help")


def routes(pins: Pins) -> None:
    from konsil.web.app.routes import ROUTES

    rows = sorted(
        f"{page.method:5} {page.path:40} {page.name:24} "
        + (
            ", ".join(sorted(page.audience))
            if isinstance(page.audience, frozenset)
            else type(page.audience).__name__
        )
        for page in ROUTES
    )
    pins.put("routes.txt", "\n".join(rows) + "\n")


def demo(pins: Pins) -> None:
    folder = pins.work / "demo"
    pins.run("demo/en/demo.txt", "demo", folder)
    study(pins, "demo/en", folder)
    german = pins.work / "demo-de"
    shutil.copytree(folder, german)
    protocol = german / "study.toml"
    text, n = re.subn(
        r'(?m)^language\s*=\s*".*"', 'language = "de"', protocol.read_text("utf-8"), count=1
    )
    protocol.write_text(text if n else f'language = "de"\n{text}', "utf-8")
    pins.run("demo/de/report.txt", "report", german)
    pins.put_folder("demo/de/report", german / "report")


def study(pins: Pins, name: str, folder: Path) -> None:
    """Everything that one folder's study gives, once its ratings are in."""
    for command in ("check", "status", "report", "analyse", "verify-log"):
        pins.run(f"{name}/{command}.txt", command, folder)
    pins.put_folder(f"{name}/report", folder / "report")
    for format_ in ("csv", "jsonl"):
        to = pins.work / f"export-{name.replace('/', '-')}-{format_}"
        pins.run(f"{name}/export-{format_}.txt", "export", folder, to, "--format", format_)
        pins.put_folder(f"{name}/export-{format_}", to)


def protocol(pins: Pins, which: str, language: str) -> None:
    from small_protocols import SMALL

    name, folder = f"protocols/{which}/{language}", pins.work / f"{which}-{language}"
    pins.run(f"{name}/new.txt", "new", folder, "--protocol", which, "--language", language)
    SMALL[which](folder)
    file = folder / "study.toml"
    fresh = pins.work / f"{which}-{language}-fresh"
    shutil.copytree(folder, fresh)
    text = file.read_text("utf-8")
    marked, n = re.subn(r"(?m)^simulated\s*=\s*\w+", "simulated = true", text, count=1)
    file.write_text(marked if n else f"simulated = true\n{text}", "utf-8")
    (folder / "simulation.toml").write_text("difficulty_spread = 1.0\n", "utf-8")
    pins.run(f"{name}/simulate.txt", "simulate", folder)
    study(pins, name, folder)
    pins.run(f"{name}/codebook.txt", "codebook", folder)
    for codebook in sorted(folder.rglob("*codebook*.html")):
        pins.put(f"{name}/{codebook.relative_to(folder).as_posix()}", codebook.read_bytes())
    prompts(pins, name, folder)
    pages(pins, name, fresh)


def prompts(pins: Pins, name: str, folder: Path) -> None:
    """What a judge is sent for an example of every form, and what it may reply."""
    import konsil
    from konsil.instrument.definition.schema import schema
    from konsil.instrument.screens import parity
    from konsil.instrument.screens.prompt import prompt

    for form in konsil.open(folder).study.instruments:
        for n in (1, 2) if form.unit == "pair" else (1, 3):
            try:
                # An older konsil has one example of every form.
                former = vars(parity).get("example")
                each = parity.examples(form, n) if former is None else (former(form, n),)
                sent = [
                    {"messages": prompt(shown, "task").messages(), "schema": schema(shown.fields)}
                    for shown in each
                ]
                text = json.dumps(sent[0] if len(sent) == 1 else sent, ensure_ascii=False, indent=1)
            except Exception as error:  # noqa: BLE001 - forms that take no such number of answers
                text = f"{type(error).__name__}: {error}"
            pins.put(f"{name}/prompts/{form.id}-{n}.json", text + "\n")


def pages(pins: Pins, name: str, folder: Path) -> None:
    """The first pages of a rater and every page of the office, over a plan without ratings."""
    from starlette.testclient import TestClient

    import konsil
    from konsil.api.rehearsal.rehearsing import prepared_copy
    from konsil.api.running.planning import make_plan
    from konsil.simulate import Truth
    from konsil.store.people.access import Access, role_of
    from konsil.web.app.app import create_app
    from konsil.web.app.routes import ROUTES
    from konsil.web.site.site import Options

    copy = prepared_copy(konsil.open(folder), Truth(), folder.with_name(folder.name + "-copy"))
    plan = make_plan(copy)
    tasks = [
        f"{t.id}\t{t.slot}\t{t.rater}\t{t.instrument}\t{t.item}\t{list(t.answers)}\t{t.arm}"
        for t in plan.tasks
    ]
    pins.put(f"{name}/plan.tsv", "\n".join(tasks) + "\n")
    url = "http://testserver"
    with copy.store() as store:
        app = create_app(
            copy.study, store, Options(url=url, tries_a_minute=10_000), clock=lambda: SETTLED
        )
        first = next(t.rater or t.slot for t in plan.tasks if t.item is not None)
        for who, role in ((first, "rater"), ("owner", "owner")):
            with TestClient(app, base_url=url) as client:
                secret = Access(store).invite(
                    who, role_of(role), at="2029-12-31T00:00:00Z", expires_at=FAR
                )
                page = client.get(f"/come/{secret}")
                pins.put(f"{name}/pages/{role}/come.html", page.text)
                page = client.post(
                    f"/come/{secret}", data={"csrf": csrf(page.text)}, headers={"origin": url}
                )
                pins.put(f"{name}/pages/{role}/first.html", page.text)
                if role == "rater":
                    page = client.get("/codebook")
                    pins.put(f"{name}/pages/{role}/codebook.html", page.text)
                    continue
                for route in ROUTES:
                    audience = route.audience
                    if (
                        route.method == "GET"
                        and isinstance(audience, frozenset)
                        and "owner" in audience
                    ):
                        page = client.get(route.path)
                        pins.put(
                            f"{name}/pages/{role}/{route.name}.html",
                            f"<!-- {page.status_code} -->\n{page.text}",
                        )


def csrf(page: str) -> str:
    match = re.search(r'name="csrf" value="([^"]*)"', page)
    return match[1] if match else ""


def tutorials(pins: Pins) -> None:
    """The commands of README and of the tutorials that need only docs/example."""
    example = ROOT / "docs" / "example"
    raters = [word for rater in ("dr_a", "dr_b", "dr_c") for word in ("--rater", rater)]
    plain: list[object] = [
        "agreement",
        example / "ratings.csv",
        *raters,
        "--abstain",
        "cannot judge",
    ]
    asks: dict[str, list[object]] = {
        "agreement": [*plain, "--cluster", "item", "--labels", "incorrect,correct"],
        "agreement-unclustered": plain,
        "preference": ["preference", example / "preferences.csv", "--scale", SCALE],
    }
    for name, ask in asks.items():
        pins.run(f"tutorials/{name}.txt", *ask)
        pins.run(f"tutorials/{name}.json", *ask, "--json")
    folder = pins.work / "starter"
    pins.run("tutorials/starter/new.txt", "new", folder)
    study(pins, "tutorials/starter", folder)


def test_module(name: str) -> ModuleType:
    """A module of the tests, for the studies that it makes of published data."""
    place = ROOT / "tests" / name
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[place.stem] = module
    spec.loader.exec_module(module)
    return module


def kqa(pins: Pins, data: Path) -> None:
    folder = pins.work / "kqa"
    folder.mkdir()
    shutil.copy(data / "kqa" / "dataset" / "NLI_medical_annotator.csv", folder)
    (folder / "study.toml").write_text(test_module("protocols/test_kqa.py").PROTOCOL, "utf-8")
    pins.run("kqa/import.txt", "import", folder)
    pins.run("kqa/report.txt", "report", folder)
    pins.put_folder("kqa/report", folder / "report")


def mt_bench(pins: Pins, data: Path) -> None:
    import polars as pl

    tests = test_module("golden/test_vote_studies.py")
    place = data / "mtbench_human_judgments" / "data" / "snapshots" / "mtbench"
    item = pl.concat_str("question_id", pl.lit("-"), "turn").alias("asked")
    keys = ["item", "rater", "system_a", "system_b"]
    people, judge = (
        tests.columns(
            pl.read_ndjson(place / file).with_columns(item), "asked", who, "model_a", "model_b"
        ).unique(keys, maintain_order=True)
        for file, who in (("human.jsonl", "judge"), ("gpt4_pair.jsonl", pl.lit("gpt-4 as a judge")))
    )
    folder = tests.study(pins.work / "mt-bench", "MT-Bench", people, judge)
    pins.run("mt-bench/import.txt", "import", folder)
    pins.run("mt-bench/report.txt", "report", folder)
    pins.put_folder("mt-bench/report", folder / "report")


def write(out: Path, only: list[str]) -> int:
    if out.exists() and any(out.iterdir()):
        sys.exit(f"{out}: is not empty; expected a new folder")
    out.mkdir(parents=True, exist_ok=True)
    import konsil

    print(f"konsil at {Path(konsil.__file__).parent}")
    with tempfile.TemporaryDirectory() as place:
        pins = Pins(out.resolve(), Path(place))
        parts: dict[str, Callable[[], None]] = {
            "help": lambda: helps(pins),
            "routes": lambda: routes(pins),
            "tutorials": lambda: tutorials(pins),
            "demo": lambda: demo(pins),
        }
        for which in PROTOCOLS:
            for language in LANGUAGES:
                parts[f"protocols/{which}/{language}"] = lambda w=which, la=language: protocol(
                    pins, w, la
                )  # type: ignore[misc]
        if data := os.environ.get("KONSIL_TEST_DATA"):
            parts["kqa"] = lambda: kqa(pins, Path(data))
            parts["mt-bench"] = lambda: mt_bench(pins, Path(data))
        for name, make in parts.items():
            if not only or any(name.startswith(wanted) for wanted in only):
                pins.part(name, make)
        pins.close()
    for name in pins.failed:
        print(f"{name}: failed: {(out / name / 'error.txt').read_text('utf-8').strip()}")
    return 1 if pins.failed else 0


# ---------------------------------------------------------------- comparing


def compare(before: Path, after: Path, most: int = 6) -> int:
    """Say what differs; 0 where nothing does."""
    old, new = (json.loads((folder / MANIFEST).read_text("utf-8")) for folder in (before, after))
    for word, names in (("gone", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
        for name in sorted(names):
            print(f"{word}: {name}")
    changed = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    for name in changed:
        print(f"changed: {name}")
        a, b = (before / name).read_bytes(), (after / name).read_bytes()
        lines = differences_of_tables(a, b) if name.endswith(".csv") else differences_of_texts(a, b)
        if name.endswith("/estimates.json"):
            lines = iter(["as in estimates.csv"])
        for n, line in enumerate(lines):
            if n == most:
                print("    ...")
                break
            print(f"    {line}")
    print(
        f"{len(changed)} changed, {len(old.keys() - new.keys())} gone,"
        f" {len(new.keys() - old.keys())} new, {len(old.keys() & new.keys()) - len(changed)} alike"
    )
    return 1 if old != new else 0


def differences_of_texts(a: bytes, b: bytes) -> Iterator[str]:
    try:
        ours, theirs = a.decode().splitlines(), b.decode().splitlines()
    except UnicodeDecodeError:
        yield f"{len(a):,} and {len(b):,} bytes"
        return
    for line in difflib.unified_diff(ours, theirs, n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield line if len(line) <= 160 else f"{line[:157]}..."


VALUES = {
    "value",
    "low",
    "high",
    "level",
    "se",
    "p",
    "p_adjusted",
    "p_max_t",
    "n_units",
    "n_raters",
    "n_ratings",
    "n_clusters",
    "n_undefined",
    "n_undefined_pairs",
    "method",
    "reason",
    "prespecified",
    "warnings",
    "mode",
    "simulated",
    "missing",
    "given",
    "expected",
    "rated",
    "abstained",
    "unreadable",
}
"""Columns of konsil's tables that are results; all others say what a row is about."""


def differences_of_tables(a: bytes, b: bytes) -> Iterator[str]:
    """Rows that came or went, and for each column that moved: how many rows, the largest change and
    where."""
    before, after = keyed(a), keyed(b)
    for word, keys in (
        ("row gone", before.keys() - after.keys()),
        ("row new", after.keys() - before.keys()),
    ):
        if keys:
            yield f"{word}: {len(keys)}, such as {' '.join(filter(None, min(keys)))[:100]}"
    moved: Counter[str] = Counter()
    largest: dict[str, tuple[float, str]] = {}
    for key in sorted(before.keys() & after.keys()):
        old, new = before[key], after[key]
        for column in sorted(old.keys() | new.keys()):
            was, now = old.get(column, ""), new.get(column, "")
            if was == now or nearly(was, now):
                continue
            moved[column] += 1
            size = math.inf
            if is_number(was) and is_number(now):
                size = abs(float(now) - float(was))
            example = f"{was[:60]!r} -> {now[:60]!r} at {' '.join(filter(None, key))[:80]}"
            largest[column] = max(largest.get(column, (-1.0, "")), (size, example))
    for column, n in sorted(moved.items(), key=lambda pair: (-pair[1], pair[0])):
        yield (
            f"{column}: {n} of {len(before.keys() & after.keys())} rows, such as"
            f" {largest[column][1]}"
        )


def keyed(content: bytes) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows of a table by what they are about; the nth of several alike has its number."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    occurrences: Counter[tuple[str, ...]] = Counter()
    for row in csv.DictReader(io.StringIO(content.decode())):
        key = tuple(f"{c}={v}" for c, v in row.items() if c not in VALUES and v)
        occurrences[key] += 1
        rows[(*key, "" if occurrences[key] == 1 else f"#{occurrences[key]}")] = {
            c: v for c, v in row.items() if c in VALUES
        }
    return rows


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def nearly(a: str, b: str) -> bool:
    """Whether two numbers are one in the digits that konsil writes."""
    return (
        is_number(a)
        and is_number(b)
        and math.isclose(float(a), float(b), rel_tol=1e-11, abs_tol=1e-15)
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", nargs="?", type=Path, help="the folder of the pins; new or empty")
    parser.add_argument("--only", nargs="+", default=[], help="parts whose names begin so")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--most", type=int, default=6, help="lines shown of each file that differs")
    prompts = parser.parse_args()
    if prompts.compare:
        before, after = prompts.compare
        return compare(before, after, most=prompts.most)
    if prompts.out is None:
        parser.error("name a folder, or two with --compare")
    return write(prompts.out, prompts.only)


if __name__ == "__main__":
    sys.exit(main())
