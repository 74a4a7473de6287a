"""Mutants: does some test fail where one operator, number or condition of konsil is another?

python benchmarks/mutants.py [--seed 1] [--each 5] [--out FILE]

Of every package `--each` places are drawn: comparisons whose border moves, sums that become
differences, `and` that becomes `or`, conditions that are negated, numbers that grow by one. Each is
changed in a copy of the checkout; then tests run until the first fails: those that name the module,
those of its package, all fast ones, and the slow ones of its package. A mutant that lives is printed
with its change: a test is missing, or the change is equivalent, which is stated in EQUIVALENT.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
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
EQUIVALENT: dict[tuple[str, str], str] = {}
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
        if id(node) in skipped:
            continue
        for start, end, new in changes(node, lines):
            before = lines[node.lineno - 1]
            yield Mutant(name, node.lineno, before, before[:start] + new + before[end:])


def is_type(node: ast.AST) -> bool:
    """Whether a node is about types alone."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def changes(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, int, str]]:
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


def stages(mutant: Mutant, copy: Path) -> Iterator[list[str]]:
    """Options of pytest, in the order in which tests are run."""
    package = mutant.path.split("/")[0]
    dotted = "konsil." + mutant.path.removesuffix(".py").replace("/", ".")
    near = [
        str(file.relative_to(copy))
        for file in sorted((copy / "tests").rglob("test_*.py"))
        if dotted in file.read_text("utf-8")
    ]
    if near:
        yield ["-m", "not slow", *near]
    yield ["-m", "not slow", f"tests/{package}"]
    yield ["-m", "not slow", "tests", "--ignore", f"tests/{package}"]
    yield ["-m", "slow", *near, f"tests/{package}"]
    yield ["-m", "slow", "tests/golden", "tests/protocols", "tests/cli", "tests/api"]


def killer(mutant: Mutant, copy: Path, limit: float, most: int) -> str:
    """The first test that fails, or nothing."""
    surroundings = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for options in islice(stages(mutant, copy), most):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "no:randomly", "--basetemp", str(copy.parent / "temporary"), *options]
        try:
            outcome = subprocess.run(
                command, cwd=copy, env=surroundings, capture_output=True, text=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return "a test that does not end"
        if outcome.returncode not in (0, 5):
            failed = [x for x in outcome.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" ")[1] if failed else "tests that cannot be collected"
    return ""


def main() -> None:
    """Draw, change, test and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds of one stage of tests")
    parser.add_argument("--stages", type=int, default=9, help="stages of tests at most")
    parser.add_argument("--out", type=Path, help="also write the lines to this file")
    options = parser.parse_args()
    alive = 0
    chosen = drawn(options.seed, options.each)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
        for n, mutant in enumerate(chosen, 1):
            reason = EQUIVALENT.get((mutant.path, mutant.after.strip()), "")
            module = copy / "src" / "konsil" / mutant.path
            text = module.read_text("utf-8")
            lines = text.split("\n")
            began = time.monotonic()
            lines[mutant.line - 1] = mutant.after
            module.write_text("\n".join(lines), "utf-8")
            test = (
                f"equivalent: {reason}"
                if reason
                else killer(mutant, copy, options.limit, options.stages)
            )
            module.write_text(text, "utf-8")
            alive += not test
            line = (
                f"{n}/{len(chosen)} {time.monotonic() - began:.0f} s {mutant.path}:{mutant.line}\n"
                f"    - {mutant.before.strip()}\n    + {mutant.after.strip()}\n"
                f"    {test or 'ALIVE'}"
            )
            print(line, flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
    print(f"{len(chosen) - alive} of {len(chosen)} killed or equivalent")


if __name__ == "__main__":
    main()
