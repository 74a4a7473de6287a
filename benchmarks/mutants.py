"""Mutants: does some test fail where one operator, number or condition of konsil is another?

python benchmarks/mutants.py [--seed 1] [--each 5] [--entered FILE] [--out FILE]
python benchmarks/mutants.py --selected RECORD [--entered FILE]   # is the selection of slow tests right?

Of every package `--each` places are drawn: comparisons whose border moves, sums that become
differences, `and` that becomes `or`, conditions that are negated, numbers that grow by one. Each is
changed in a copy of the checkout, and so are those of BY_HAND; then tests run until the first fails:
those that reach the place (with what `entered.py` wrote), those that name the module, those of its
package, all fast ones, and the slow ones of its package. A mutant that lives is printed with its
change: a test is missing, or the change is equivalent, which is stated in EQUIVALENT.

With `--selected` all slow tests then run once with all mutants that live: a test that fails with
mutants for which `selection.py`, with a record of this code, does not select it was left out wrongly.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "analysis",
    "api",
    "collect",
    "instrument",
    "plan",
    "prepare",
    "report",
    "sources",
    "stats",
    "store",
    "study",
    "web",
    # Later than the others, whose mutants stay those of the same seed.
    "cli",
    "design",
    "rehearse",
    "simulate",
)
BORDERS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
MOST_TESTS, MOST_FILES = 150, 25
BY_HAND: tuple[tuple[str, str, str], ...] = (
    (
        "analysis/estimation/rare_events.py",
        "rarer >= FEW_HITS and",
        "rarer > FEW_HITS + 400 and",
    ),
    (
        "analysis/estimation/raters/sensitivity.py",
        "np.array([se]), n - 1, level",
        "np.array([se]), n, level",
    ),
    (
        "analysis/agreement/label_rows.py",
        '(2 * pl.col("most") <= pl.col("n"))',
        '(2 * pl.col("most") < pl.col("n"))',
    ),
    ("plan/changes/handover.py", "pair: (pair[0][0], token(", "pair: (False, token("),
    (
        "plan/draw/slot_holders.py",
        "[rated.get(t) or handed.get(t) or holders[slot] for t, slot in raters]",
        "[handed.get(t) or rated.get(t) or holders[slot] for t, slot in raters]",
    ),
    (
        "store/release/blinding.py",
        "key=order.get(kind, lambda record: record.id)",
        "key=lambda record: 0",
    ),
    ("collect/running/limits.py", "if began > self._halved_at:", "if True:"),
    ("records/bulk.py", "if before is row:", "if before is row or True:"),
    ("web/http/throttle.py", "<= self._most", "<= self._most + 1"),
    ("report/answers/answers.py", 'if spec.mode == "paper":', "if False:"),
    (
        "report/material/ranges.py",
        "numbers.interval(bounds.low, bounds.high)",
        "numbers.interval(bounds.high, bounds.low)",
    ),
    (
        "instrument/definition/mirror.py",
        "if len(sides) == 1 else text",
        "if len(sides) >= 1 else text",
    ),
    (
        "stats/judges/selection.py",
        "gains.append((inside[at, pick] - values[pick])[usable])",
        "gains.append((inside[at, pick] - np.nanmax(values))[usable])",
    ),
    ("study/data/planned.py", "and set(rating.answers) <= set(task.answers)", "and True"),
    (
        "prepare/cases/leftovers.py",
        "if at <= start and end <= at + len(part.text):",
        "if at <= start and end < at + len(part.text):",
    ),
)
"""(Module, text, changed text): promises that were once unguarded, one for each kind of promise."""
EQUIVALENT: dict[tuple[str, str], str] = {
    ("analysis/pairs/votes.py", ").reshape(-2, 2)"): "NumPy takes any negative length as the rest.",
    (
        "analysis/table/calls/model_provenance.py",
        "if not judges and not criteria:",
    ): "without judges or without criteria the loops below make no row either; it saves their work.",
    (
        "cli/main.py",
        "gc.set_threshold(50_000, 21, 100)",
    ): "how often memory is searched changes no result.",
    (
        "rehearse/server.py",
        "if self._process.poll() is not None or time.monotonic() >= until:",
    ): "a clock that shows the very instant of the limit is no case.",
    (
        "instrument/definition/fields.py",
        "@lru_cache(maxsize=513)",
    ): "how many results are remembered changes no result.",
}
"""(Module, line after the change) -> why no test can tell the two apart."""


@dataclass(frozen=True)
class Mutant:
    """One change of one line."""

    path: str
    """The module, from src/konsil."""
    line: int
    """Its line."""
    before: str
    """The line as it is."""
    after: str
    """The line as it becomes."""


def mutants_of(module: Path) -> Iterator[Mutant]:
    """Every change of one module that is made within one line."""
    text = module.read_text("utf-8")
    lines = text.split("\n")
    name = module.relative_to(ROOT / "src" / "konsil").as_posix()
    tree = ast.parse(text)
    # Messages of errors are told apart by few tests, and nothing is computed from them.
    skipped = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.AnnAssign) or is_type(node)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr):
            continue
        for start, end, new in changes(node, lines):
            before = lines[node.lineno - 1]
            yield Mutant(name, node.lineno, before, before[:start] + new + before[end:])


def is_type(node: ast.AST) -> bool:
    """Whether a node is about types alone."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def changes(node: ast.expr, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """(first column, last column, new text) of each change of one node."""
    if getattr(node, "lineno", 0) != getattr(node, "end_lineno", -1):
        return
    line = lines[node.lineno - 1]
    if not line.isascii():
        return
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        start, end = node.left.end_col_offset, node.comparators[0].col_offset
        new = BORDERS.get(type(node.ops[0]))
        if new and "(" not in line[start:end] and ")" not in line[start:end]:
            yield start, end, f" {new} "
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        start, end = node.left.end_col_offset, node.right.col_offset
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return
        if "(" not in line[start:end] and ")" not in line[start:end]:
            yield start, end, f" {SIGNS[type(node.op)]} "
    elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
        start, end = node.values[0].end_col_offset, node.values[1].col_offset
        if "(" not in line[start:end] and ")" not in line[start:end]:
            yield start, end, " or " if isinstance(node.op, ast.And) else " and "
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.col_offset, node.operand.col_offset, ""
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value < 1000:
        yield node.col_offset, node.end_col_offset, str(node.value + 1)


def drawn(seed: int, each: int) -> list[Mutant]:
    """The mutants of a seed: the same ones for the same code."""
    chance = random.Random(seed)
    chosen = []
    for package in PACKAGES:
        places = [
            mutant
            for module in sorted((ROOT / "src" / "konsil" / package).rglob("*.py"))
            if "migrations" not in module.parts
            for mutant in mutants_of(module)
        ]
        chosen += chance.sample(places, each)
    return chosen


def function_of(mutant: Mutant) -> str:
    """The innermost function around a mutant's line, as `entered.py` names it; "" outside."""
    dotted = dotted_name(mutant)
    tree = ast.parse((ROOT / "src" / "konsil" / mutant.path).read_text("utf-8"))
    around = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= mutant.line <= (node.end_lineno or node.lineno)
    ]
    return f"{dotted}:{max(around)}" if around else ""


def dotted_name(mutant: Mutant) -> str:
    """The module's name."""
    return "konsil." + mutant.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def reaching(mutant: Mutant, entered: Mapping[str, Sequence[str]]) -> list[str]:
    """Tests that enter the mutant's function, or its module, those that enter least first."""
    function, module = function_of(mutant), f"{dotted_name(mutant)}:"
    tests = [
        test
        for test, places in entered.items()
        if test and (function in places if function else any(p.startswith(module) for p in places))
    ]
    return sorted(tests, key=lambda test: (len(entered[test]), test))


def stages(mutant: Mutant, copy: Path, entered: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Options of pytest, in the order in which tests are run."""
    package = mutant.path.split("/")[0]
    tests = reaching(mutant, entered)
    if tests:
        yield tests[:MOST_TESTS]
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        yield ["-m", "not slow", *files[:MOST_FILES]]
    near = [
        str(file.relative_to(copy))
        for file in sorted((copy / "tests").rglob("test_*.py"))
        if dotted_name(mutant) in file.read_text("utf-8")
    ]
    if near:
        yield ["-m", "not slow", *near]
    yield ["-m", "not slow", f"tests/{package}"]
    yield ["-m", "not slow", "tests", "--ignore", f"tests/{package}"]
    yield ["-m", "slow", *near, f"tests/{package}"]
    yield ["-m", "slow", "tests/golden", "tests/protocols", "tests/cli", "tests/api"]


def selected_files(copy: Path, record: Path) -> list[str]:
    """The files of slow tests that the change of the copy selects."""
    command = [sys.executable, "benchmarks/selection.py", "--file", str(record)]
    done = subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


def missed_by_selection(
    mutants: Sequence[Mutant], copy: Path, limit: float, record: Path
) -> Iterator[str]:
    """Slow tests that fail with mutants that do not select them.

    All slow tests run once with all mutants together. The tests of a file that fail then run again
    with those of the mutants that do not select this file.
    """
    selecting = {}
    for mutant in mutants:
        with applied([mutant], copy):
            selecting[mutant] = frozenset(selected_files(copy, record))
    slow = ["-m", "slow and not long"]
    with applied(mutants, copy):
        failed = failures(copy, limit, [*slow, "-n", "2", "tests"])
    for file in dict.fromkeys(test.partition("::")[0] for test in failed):
        others = [mutant for mutant in mutants if file not in selecting[mutant]]
        tests = [test for test in failed if test.partition("::")[0] == file]
        if not others:
            continue
        with applied(others, copy):
            failed_again = failures(copy, limit, [*slow, "-n", "0", *tests])
        # What fails without any mutant is not about them.
        anyway = failures(copy, limit, [*slow, "-n", "0", *failed_again]) if failed_again else []
        places = ", ".join(f"{mutant.path}:{mutant.line}" for mutant in others)
        for test in failed_again:
            if test not in anyway:
                yield f"NOT SELECTED: {test} with one of {places}"


def killer(copy: Path, limit: float, planned: Iterable[list[str]]) -> str:
    """The first test that fails, or nothing."""
    for options in planned:
        failed = failures(copy, limit, ["-x", "-n", "0", *options])
        if failed:
            return failed[0]
    return ""


def failures(copy: Path, limit: float, options: Sequence[str]) -> list[str]:
    """The tests that fail, or how pytest ended."""
    surroundings = os.environ | {"PYTHONPATH": str(copy / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--basetemp", str(copy.parent / "temporary"), *options]
    try:
        outcome = subprocess.run(
            command, cwd=copy, env=surroundings, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return [f"a test that does not end in {limit:.0f} s"]
    failed = [x for x in outcome.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
    if not failed and outcome.returncode not in (0, 5):
        return [f"pytest ended with {outcome.returncode}"]
    return [line.partition(" ")[2].partition(" - ")[0] for line in failed]


def by_hand() -> list[Mutant]:
    """The fixed mutants, each at the one place of its text."""
    mutants = []
    for path, old, new in BY_HAND:
        lines = (ROOT / "src" / "konsil" / path).read_text("utf-8").split("\n")
        places = [n for n, line in enumerate(lines, 1) if old in line]
        if len(places) != 1:
            sys.exit(f"{path}: has {old!r} {len(places)} times; the mutant needs a new text")
        line = lines[places[0] - 1]
        mutants.append(Mutant(path, places[0], line, line.replace(old, new)))
    return mutants


def mutated(text: str, mutant: Mutant) -> str:
    """The module's text with the change."""
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.after
    return "\n".join(lines)


_modified = count(int(time.time()), 2)
"""Each written module has a time of its own, by which Python knows that its bytecode is old."""


@contextmanager
def applied(mutants: Iterable[Mutant], copy: Path) -> Iterator[None]:
    """The checkout with these mutants."""
    texts: dict[Path, str] = {}
    for mutant in mutants:
        module = copy / "src" / "konsil" / mutant.path
        text = module.read_text("utf-8")
        texts.setdefault(module, text)
        write(module, mutated(text, mutant))
    try:
        yield
    finally:
        for module, text in texts.items():
            write(module, text)


def write(module: Path, text: str) -> None:
    """Write a module, later than ever before."""
    module.write_text(text, "utf-8")
    modified = next(_modified)
    os.utime(module, (modified, modified))


def main() -> None:
    """Draw, change, test and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds of one stage of tests")
    parser.add_argument("--whole-limit", type=float, default=7200.0, help="of all slow tests")
    parser.add_argument("--stages", type=int, default=9, help="stages of tests at most")
    parser.add_argument("--entered", type=Path, help="what entered.py wrote: reaching tests first")
    parser.add_argument("--selected", type=Path, help="a record of selection.py: is it enough?")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the mutants to run")
    parser.add_argument("--out", type=Path, help="also write the lines to this file")
    options = parser.parse_args()
    numbered = list(enumerate(by_hand() + drawn(options.seed, options.each), 1))
    chosen = [(n, m) for n, m in numbered if options.only is None or n in options.only]
    entered = json.loads(options.entered.read_text("utf-8")) if options.entered else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
        lives = []
        for n, mutant in chosen:
            began = time.monotonic()
            reason = EQUIVALENT.get((mutant.path, mutant.after.strip()), "")
            planned = islice(stages(mutant, copy, entered), options.stages)
            with applied([mutant], copy):
                test = f"equivalent: {reason}" if reason else killer(copy, options.limit, planned)
            if not test:
                lives.append(mutant)
            line = (
                f"{n}/{len(numbered)} {time.monotonic() - began:.0f} s {mutant.path}:{mutant.line}\n"
                f"    - {mutant.before.strip()}\n    + {mutant.after.strip()}\n"
                f"    {test or 'ALIVE'}"
            )
            print(line, flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
        print(f"{len(chosen) - len(lives)} of {len(chosen)} killed or equivalent", flush=True)
        if options.selected:
            record = options.selected.resolve()
            missed = list(missed_by_selection(lives, copy, options.whole_limit, record))
            print("\n".join(missed))
            print(f"{len(missed)} slow tests that were not selected")
            sys.exit(bool(missed))


if __name__ == "__main__":
    main()
