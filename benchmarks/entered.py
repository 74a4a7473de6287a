"""Modules of which no fast test runs a single function.

python benchmarks/entered.py [--out FILE] [-- OPTIONS OF PYTEST]

Every function of konsil gets a first statement that records its call, without a change of its lines;
then the fast tests run once, and modules whose functions were all left alone are printed. A module
that no fast test enters could lose its content unnoticed. Processes that tests start are recorded
as well, unless they are killed. `--out` writes which test entered which functions:
`mutants.py --entered FILE` runs the tests that reach a mutant, the most specific first.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import builtins
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

# Every process that a test starts imports this module: nothing that takes time.
if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "konsil"
MARK = "_konsil_entered"
FOLDER = "KONSIL_ENTERED"
"""The variable that names the folder to which every process of pytest writes."""
SLOW_ALONE = {
    "konsil.collect.fake.fake_server": "a server in a process of its own",
    "konsil.collect.providers.vendor_calls": "the vendors' library takes seconds to load",
    "konsil.collect.providers.vendors": "likewise",
    "konsil.rehearse.leash": "processes that are killed",
    "konsil.rehearse.panel": "a rehearsal with a server",
    "konsil.rehearse.replies": "likewise",
    "konsil.rehearse.server": "likewise",
    "konsil.rehearse.visitor": "likewise",
    "konsil.sources.inspect.inspect_samples": "the library of Inspect takes seconds to load",
}
"""Modules that slow tests alone enter, and what makes these slow."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[Function]:
    """Functions and methods of a module, inner ones included; stubs of protocols are not run."""
    stubs = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(b) for b in node.bases)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, Function) and id(node) not in stubs:
            yield node


def with_marks(text: str, name: str) -> ast.Module:
    """The module, in which every function records `name:line` before all else."""
    tree = ast.parse(text)
    for node in list(functions(tree)):
        place = int(ast.get_docstring(node, clean=False) is not None)
        call = ast.Call(
            ast.Name(MARK, ast.Load()), [ast.Constant(f"{name}:{node.lineno}")], keywords=[]
        )
        after = node.body[min(place, len(node.body) - 1)]
        statement = ast.copy_location(ast.Expr(call), after)
        ast.fix_missing_locations(statement)
        node.body.insert(place, statement)
    return tree


class Marking(SourceFileLoader):
    """Loads a module with marks, and neither reads nor writes bytecode."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the marked module."""
        path = self.get_filename(fullname)
        tree = with_marks(self.get_data(path).decode(), fullname)
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code


class Finder(MetaPathFinder):
    """Finds konsil's modules as ever, and has them loaded with marks."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification with the loader above."""
        if fullname.partition(".")[0] != "konsil":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and spec.origin:
            spec.loader = Marking(fullname, spec.origin)
        return spec


class Recorder:
    """What this process entered: by test under pytest, else under no name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entered: set[str] = set()
        self._by_test: dict[str, list[str]] = {}
        setattr(builtins, MARK, self._entered.add)
        atexit.register(self._write)

    def pytest_runtest_logstart(self) -> None:
        """What was entered before belongs to imports and fixtures of the session."""
        self._note("")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """One test with its fixtures is over."""
        self._note(nodeid)

    def pytest_sessionfinish(self) -> None:
        """Workers of pytest may be ended before they come to their last functions."""
        self._write()

    def _note(self, name: str) -> None:
        self._by_test[name] = sorted({*self._by_test.get(name, ()), *self._entered})
        self._entered.clear()

    def _write(self) -> None:
        self._note("")
        place = self._folder / f"{os.getpid()}.json"
        place.write_text(json.dumps(self._by_test), "utf-8")


RECORDER: Recorder | None = None
if FOLDER in os.environ:
    # Before any module of konsil is loaded.
    RECORDER = Recorder(Path(os.environ[FOLDER]))
    sys.meta_path.insert(0, Finder())


def pytest_configure(config: pytest.Config) -> None:
    """As a plugin: record test by test."""
    if RECORDER is not None:
        config.pluginmanager.register(RECORDER)


def record(options: Sequence[str]) -> dict[str, list[str]]:
    """Test -> functions that it entered, as module:line."""
    with tempfile.TemporaryDirectory() as folder:
        # Python imports this module at the start of every process.
        (Path(folder) / "sitecustomize.py").write_text("import entered\n", "utf-8")
        (Path(folder) / "entering.py").write_text("from entered import pytest_configure\n", "utf-8")
        paths = [folder, str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")]
        surroundings = os.environ | {FOLDER: folder, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-m", "pytest", "-p", "entering", "-q", "-m", "not slow"]
        subprocess.run([*command, *options], cwd=ROOT, env=surroundings, check=False)
        tests: dict[str, list[str]] = {}
        for part in sorted(Path(folder).glob("*.json")):
            for test, places in json.loads(part.read_text("utf-8")).items():
                tests[test] = sorted({*tests.get(test, ()), *places})
        return tests


def untouched(tests: dict[str, list[str]]) -> list[str]:
    """Modules that have functions, none of which was entered."""
    entered = {place.partition(":")[0] for places in tests.values() for place in places}
    missing = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        # Alembic loads migrations by their paths: every database of the tests is made by them.
        if "migrations" in path.parts or name in SLOW_ALONE:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        if name.removesuffix(".__init__") not in entered and any(functions(tree)):
            missing.append(name)
    return missing


def main() -> None:
    """Run the fast tests once and print the modules that none of them enters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write test -> functions to this file, as JSON")
    parser.add_argument("options", nargs="*", default=["-n", "2"], help="options of pytest")
    options: Any = parser.parse_args()
    tests = record(options.options)
    if options.out:
        options.out.write_text(json.dumps(tests), "utf-8")
    missing = untouched(tests)
    print("\n".join(missing) or "every module with functions is entered by a fast test")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
