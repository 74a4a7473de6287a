"""Slow tests that a change can concern: those that entered or opened something that has changed.

python benchmarks/selection.py                     # the files of tests, one a line; why on stderr
python benchmarks/selection.py --record            # run those and update tests/entered.json
python benchmarks/selection.py --record --whole    # run all slow tests and write it anew
python benchmarks/selection.py --compare A B       # what the tests of record B did that A lacks

A recorded run gives every file of tests a process of its own, so that what was imported or cached
for another file hides nothing, and records with `entered.py` what it and all processes that it
starts enter and open. The record has a digest of each: of a function its syntax, of a module's body
its syntax without functions, of a file its bytes, of a folder its names. A file of tests is selected
if a digest is another one today, if it is not recorded, or if Python, a package or a program is not
the one of the record. A test that failed is not recorded, and so is selected until it passes.
"""

from __future__ import annotations

import argparse
import ast
import base64
import importlib.metadata
import json
import lzma
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from entered import CONTEXT, LISTED, OPENED, ROOT, USED, Function, contexts, in_checkout, recording

RECORD = Path("tests") / "entered.json"
SLOW = "slow and not long"
ALWAYS = ("pyproject.toml", ".ci/run", "benchmarks/entered.py", "benchmarks/selection.py")
"""What every slow test may depend on without opening it."""
PROGRAMS = {
    *("age", "caddy", "chromium", "google-chrome", "initdb", "latexmk", "lualatex", "node"),
    *("pandoc", "pdflatex", "runuser", "soffice", "xelatex"),
}
"""Without these some tests skip."""
_COLLECTED = re.compile(r"^(tests/\S+\.py): \d+$", re.MULTILINE)
_COUNTED = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)\b")

Key = tuple[str, str]
"""A path from the checkout on, and what of it: OPENED, LISTED, "" for a module's body, else the
name of a function."""


def digest(data: bytes) -> str:
    """Five letters that another content hardly has: one of a billion."""
    return base64.b64encode(blake2b(data, digest_size=6).digest()).decode()[:5]


def units(text: str) -> tuple[dict[str, str], dict[int, str]]:
    """Name of each function of a module, "" for its body, -> digest; and line -> name.

    A function counts with its decorators, defaults, docstring, the imports of the names in it, and
    inner functions, which have its name: whoever enters those has entered it. The body counts
    without plain functions of the module, whose names alone do nothing, without the bodies of all
    others, and without imports that only functions use or types. Functions of one name, as a
    property's two, count as one. Comments do not count.
    """
    tree = ast.parse(text)
    parts: dict[str, list[ast.AST]] = {}
    lines: dict[int, str] = {0: ""}

    def visit(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                name = f"{outer}{child.name}"
                parts.setdefault(name, []).append(child)
                inner = (node for node in ast.walk(child) if isinstance(node, Function))
                lines.update({node.lineno: name for node in inner})
            else:
                visit(child, f"{outer}{child.name}." if isinstance(child, ast.ClassDef) else outer)

    visit(tree, "")
    imports, body = _imports_and_body(tree)
    dumps = {
        name: [ast.dump(node) for node in nodes]
        + [imports[used] for used in sorted(imports.keys() & _names(nodes))]
        for name, nodes in parts.items()
    }
    used = {name for nodes in parts.values() for name in _names(nodes)}
    for function in (node for statement in body for node in ast.walk(statement)):
        if isinstance(function, Function):
            function.body = function.body[: ast.get_docstring(function) is not None]
    own = imports.keys() & _names(body) | imports.keys() - used
    dumps[""] = [*map(ast.dump, body), *(imports[name] for name in sorted(own))]
    return {name: digest("\n".join(p).encode()) for name, p in dumps.items()}, lines


def _imports_and_body(tree: ast.Module) -> tuple[dict[str, str], list[ast.stmt]]:
    """Name -> the import that binds it; and the module's other statements."""
    imports: dict[str, str] = {}
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = f"{node.level}{node.module}" if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imports[name] = f"{imports.get(name, '')} {source} {alias.name} as {alias.asname}"
        elif isinstance(node, Function) and not node.decorator_list:
            continue
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            body += node.orelse
        else:
            body.append(node)
    return imports, body


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


class Checkout:
    """The digests of a checkout as it is."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._units = cache(self._units_of)
        self.digest = cache(self._digest_of)

    def key(self, place: str) -> Key | None:
        """What a record's line names; nothing where it is gone."""
        if place[0] in (OPENED, LISTED):
            return place[1:], place[0]
        module, _, line = place.partition(":")
        path = Path("src", *module.split("."))
        file = path / "__init__.py" if (self.root / path).is_dir() else path.with_suffix(".py")
        name = self._units(file.as_posix())[1].get(int(line))
        return None if name is None else (file.as_posix(), name)

    def _units_of(self, path: str) -> tuple[dict[str, str], dict[int, str]]:
        try:
            return units((self.root / path).read_text("utf-8"))
        except (OSError, SyntaxError):
            return {}, {}

    def _digest_of(self, key: Key) -> str:
        path, unit = key
        place = self.root / path
        if unit not in (OPENED, LISTED):
            return self._units(path)[0].get(unit, "")
        try:
            if place.is_dir():
                inside = sorted(place.rglob("*") if unit == OPENED else place.iterdir())
                names = [p for p in inside if in_checkout(ROOT / p.relative_to(self.root))]
                parts = [p.relative_to(place).as_posix().encode() for p in names]
                if unit == OPENED:
                    parts += [p.read_bytes() for p in names if p.is_file()]
                return digest(b"\n".join(parts))
            return digest(place.read_bytes())
        except OSError:
            return ""


def surroundings() -> dict[str, str]:
    """What is outside the checkout and decides which tests run, and how."""
    packages = {d.name.lower(): d.version for d in importlib.metadata.distributions()}
    packages.pop("konsil", None)
    programs = {name: "there" for name in sorted(PROGRAMS) if shutil.which(name)}
    data = Path(os.environ.get("KONSIL_TEST_DATA", ROOT.parent / "shared" / "data"))
    folders = sorted(p.name for p in data.iterdir()) if data.is_dir() else []
    models = Path(os.environ.get("KONSIL_MODELS", "-"))
    return {
        "Python": platform.python_version(),
        **dict(sorted(packages.items())),
        **programs,
        "test data": " ".join(folders),
        "models": " ".join(sorted(p.name for p in models.iterdir())) if models.is_dir() else "",
    }


@dataclass(frozen=True)
class Record:
    """What each file of tests entered and opened, with the digests of that time."""

    around: Mapping[str, str]
    digests: Mapping[Key, str]
    entered: Mapping[str, frozenset[Key]]
    seconds: Mapping[str, float]

    def write(self, path: Path) -> None:
        """As JSON, a line for each file; what a file of tests entered is a row of bits, all of which
        are packed together."""
        keys = sorted({key for entered in self.entered.values() for key in entered})
        places = {key: place for place, key in enumerate(keys)}
        digests: dict[str, dict[str, str]] = {}
        for file, unit in keys:
            digests.setdefault(file, {})[unit] = self.digests[file, unit]
        width = len(keys) // 8 + 1
        rows = b"".join(
            sum(1 << places[key] for key in self.entered[test]).to_bytes(width, "little")
            for test in sorted(self.entered)
        )
        parts = {
            "around": self.around,
            "digests": digests,
            "tests": {test: round(self.seconds.get(test, 0), 1) for test in sorted(self.entered)},
        }
        blocks = []
        for name, part in parts.items():
            dumped = (json.dumps({k: v}, separators=(",", ":"))[1:-1] for k, v in part.items())
            blocks.append(f'"{name}":{{\n' + ",\n".join(dumped) + "\n}")
        blocks.append(f'"entered":"{base64.b85encode(lzma.compress(rows)).decode()}"')
        path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record of a file; an empty one where there is none."""
        if not path.is_file():
            return cls({}, {}, {}, {})
        parts = json.loads(path.read_text("utf-8"))
        digests = {(f, u): d for f, row in parts["digests"].items() for u, d in row.items()}
        keys = sorted(digests)
        width = len(keys) // 8 + 1
        rows = lzma.decompress(base64.b85decode(parts["entered"]))
        entered = {}
        for row, test in enumerate(parts["tests"]):
            bits = int.from_bytes(rows[row * width : (row + 1) * width], "little")
            entered[test] = frozenset(k for place, k in enumerate(keys) if bits >> place & 1)
        return cls(parts["around"], digests, entered, parts["tests"])


def longest(test: str) -> int:
    """The place of a file of tests among the longest ones."""
    sys.path.insert(0, str(ROOT / "tests"))
    from longest import LONGEST

    name = Path(test).stem
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def test_files(root: Path) -> list[str]:
    """All files of tests."""
    return [p.relative_to(root).as_posix() for p in sorted((root / "tests").rglob("test_*.py"))]


def with_slow_tests(files: Sequence[str]) -> set[str]:
    """Those that have slow tests, which marks may get from elsewhere."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", SLOW, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        sys.exit(done.stdout + done.stderr)
    return set(_COLLECTED.findall(done.stdout))


def beside(file: str) -> set[Key]:
    """What decides whether a file of tests has slow ones: it and the fixtures of its folders."""
    folders = Path(file).parents
    conftests = [
        (p / "conftest.py").as_posix() for p in folders if (ROOT / p / "conftest.py").is_file()
    ]
    return {(path, OPENED) for path in [file, *conftests]}


def selected(
    record: Record, checkout: Checkout, around: Mapping[str, str], files: Iterable[str]
) -> dict[str, str]:
    """File of tests -> why it is selected, as the first thing that changed."""
    for name in sorted(record.around.keys() | around.keys()):
        before, now = record.around.get(name, "none"), around.get(name, "none")
        if before != now and record.around:
            return dict.fromkeys(files, f"{name}: {before} was recorded, here is {now}")
    reasons = {}
    changed = {key: value for key, value in record.digests.items() if checkout.digest(key) != value}
    for test in files:
        entered = record.entered.get(test)
        keys = sorted(changed.keys() & entered) if entered is not None else []
        if entered is None:
            reasons[test] = "not recorded"
        elif keys:
            reasons[test] = named(keys[0])
    return reasons


def named(key: Key) -> str:
    """A recorded thing in words."""
    path, unit = key
    words = {"": "the module's body", OPENED: "", LISTED: "the folder's names"}
    return f"{path} {words.get(unit, unit)}".strip()


def explain(reasons: Mapping[str, str], n_files: int, seconds: Mapping[str, float]) -> list[str]:
    """How many files are selected, and the commonest reasons."""
    took = sum(seconds.get(test, 0.0) for test in reasons)
    lines = [
        f"{len(reasons)} of {n_files} files of tests"
        f" ({took:.0f} of {sum(seconds.values()):.0f} recorded seconds):"
    ]
    counts = Counter(reasons.values()).most_common()
    lines += [f"  {n} by {reason}" for reason, n in counts[:12]]
    return lines + ([f"  and {len(counts) - 12} more reasons"] if len(counts) > 12 else [])


def recorded(
    files: Sequence[str], n_workers: int, kept: Record, without_slow: Iterable[str] = ()
) -> tuple[Record, list[str], Counter[str]]:
    """Run files of tests, each in a process of its own; the record of those that passed with what is
    kept of another one, those that failed, and how many tests had which outcome."""
    outcomes: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    failed: list[str] = []
    memory = Path("/dev/shm")
    room = memory.is_dir() and shutil.disk_usage(memory).free >= 16 * 2**30
    with (
        recording() as (records, environment),
        tempfile.TemporaryDirectory(dir=memory if room else None) as place,
        ThreadPoolExecutor(n_workers) as pool,
    ):

        def run(number: int) -> None:
            file, began = files[number], time.monotonic()
            command = [sys.executable, "-m", "pytest", "-m", SLOW, "-p", "no:cacheprovider"]
            command += ["-n", "0"]
            done = subprocess.run(
                [*command, "--basetemp", f"{place}/{number}", file],
                cwd=ROOT,
                env={**environment, CONTEXT: file},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            took = time.monotonic() - began
            last = done.stdout.rstrip().rpartition("\n")[2]
            outcomes.update({word: int(n) for n, word in _COUNTED.findall(last)})
            if done.returncode == 0:
                seconds[file] = took
                shutil.rmtree(f"{place}/{number}", ignore_errors=True)
            else:
                failed.append(file)
                print(done.stdout)
            print(f"{file}: {last.strip('= ')}", flush=True)

        # An interrupt leaves the files that were not run unrecorded.
        with suppress(KeyboardInterrupt):
            list(pool.map(run, range(len(files))))
        entered = contexts(records)
    checkout = Checkout()
    always = {(path, OPENED) for path in ALWAYS}

    def keys(test: str, ahead: tuple[str, ...] = ()) -> set[Key]:
        places = entered.get(test, set())
        of_others = [place[1:] for place in places if place[0] == USED]
        own = {checkout.key(place) for place in places if place[0] != USED}
        found = {key for key in own if key is not None}
        return found.union(*(keys(c, (*ahead, test)) for c in of_others if c not in ahead))

    sets = {
        **kept.entered,
        **{test: frozenset(keys(test) | always) for test in seconds},
        **{test: frozenset(beside(test) | always) for test in without_slow},
    }
    digests = {key: checkout.digest(key) for test in sets for key in sets[test]}
    return (
        Record(surroundings(), digests, sets, {**kept.seconds, **seconds}),
        sorted(failed),
        outcomes,
    )


def kept_of(record: Record, without: Iterable[str], files: Iterable[str]) -> Record:
    """The part of a record that holds today."""
    still = set(files) - set(without)
    return Record(
        record.around,
        record.digests,
        {test: entered for test, entered in record.entered.items() if test in still},
        {test: took for test, took in record.seconds.items() if test in still},
    )


def compared(first: Record, second: Record) -> list[str]:
    """What tests of the second record entered and not in the first."""
    lines = []
    for test in sorted(first.entered.keys() & second.entered.keys()):
        new = sorted(second.entered[test] - first.entered[test])
        lines += [f"{test}: {named(key)}" for key in new]
    return lines


def main() -> None:
    """Print the selected files, or run and record them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--record", action="store_true", help="run and record")
    parser.add_argument("--whole", action="store_true", help="all files, whatever is recorded")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    parser.add_argument("--file", type=Path, default=ROOT / RECORD, help="the record")
    parser.add_argument("-n", type=int, default=2, help="files at a time")
    parser.add_argument("only", nargs="*", help="these files or folders of tests alone")
    options = parser.parse_args()
    if options.compare:
        first, second = map(Record.read, options.compare)
        lines = compared(first, second)
        print("\n".join([*lines, f"{len(lines)} more in {len(second.entered)} files of tests"]))
        sys.exit(bool(lines))
    files = test_files(ROOT)
    record = Record.read(options.file)
    reasons = (
        dict.fromkeys(files, "all are asked for")
        if options.whole
        else selected(record, Checkout(), surroundings(), files)
    )
    stale = set(reasons)
    if options.only:
        reasons = {
            test: reason
            for test, reason in reasons.items()
            if any(test == o or test.startswith(f"{o.rstrip('/')}/") for o in options.only)
        }
    print("\n".join(explain(reasons, len(files), record.seconds)), file=sys.stderr)
    if not options.record:
        print("\n".join(reasons))
        return
    began = time.monotonic()
    # A stale file that is not run now stays so: the record has one digest for all files of tests.
    kept = kept_of(record, stale | set(reasons), files)
    slow = sorted(with_slow_tests([*reasons]) if reasons else ())
    order = sorted(slow, key=lambda test: (-record.seconds.get(test, inf), longest(test)))
    result, failed, outcomes = recorded(order, options.n, kept, set(reasons) - set(slow))
    result.write(options.file)
    took = time.monotonic() - began
    counts = ", ".join(f"{n} {word}" for word, n in sorted(outcomes.items()))
    print("".join(f"failed: {file}\n" for file in failed), end="")
    missing = len(set(slow) - set(result.entered) - set(failed))
    if missing:
        print(f"interrupted: {missing} files were not run")
    print(f"{counts} in {took:.2f}s")
    sys.exit(bool(failed or missing))


if __name__ == "__main__":
    main()
