"""What every process of a test enters and opens, and modules of which no fast test runs a function.

python benchmarks/entered.py [--out FILE] [-- OPTIONS OF PYTEST]

Every module and every function of konsil gets a first statement that records its run, without a
change of its lines; files and folders of the checkout are recorded as they are opened. Python
imports this module at the start of every process (`recording`), and each record is written at once:
nothing is lost with a process that is killed.

As a command, the fast tests run once, and modules whose functions were all left alone are printed:
a module that no fast test enters could lose its content unnoticed. `--out` writes which test entered
which functions: `mutants.py --entered FILE` runs the tests that reach a mutant, the most specific
first. `selection.py` records the slow tests.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import marshal
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
"""The variable that names the folder to which every process writes."""
CONTEXT = "KONSIL_ENTERED_BY"
"""The variable that names the test, or the file of tests, for which a process runs."""
SLOW_ALONE = {
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
LISTED, OPENED, USED = "/", "=", "@"
"""First letters of a record: a folder's entries, a file, what another context entered; functions
have none."""
_CACHED = re.compile(r"/__pycache__/([^/]+?)\.cpython-[^/]*$")
_HIDDEN = re.compile(
    r"/(\.(?!ci/|ci$|gitignore$|containerignore$)|__pycache__|[^/]*\.egg-info(/|$))"
)
# Importing and collecting search folders for names that the records of files have already.
_SEARCHING = re.compile(r"^<frozen importlib|/_pytest/|/importlib/metadata/|/pkgutil\.py$")
# A process may lose its environment; what it starts then is not recorded.
_FOLDER = os.environ.get(FOLDER, "")
# Reads the source of every module for numbers to try.
_GUESSING = f"{os.sep}hypothesis{os.sep}internal{os.sep}constants_ast.py"

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
    """The module, in which every function records `name:line`, and the module `name:0`, before all
    else."""
    tree = ast.parse(text)
    for node in [*functions(tree), tree]:
        place = int(ast.get_docstring(node, clean=False) is not None)
        while place < len(node.body) and _is_future(node.body[place]):
            place += 1
        line = 0 if isinstance(node, ast.Module) else node.lineno
        look = ast.Subscript(ast.Name(MARK, ast.Load()), ast.Constant(f"{name}:{line}"), ast.Load())
        statement = ast.Expr(look)
        if node.body:
            ast.copy_location(statement, node.body[min(place, len(node.body) - 1)])
        else:
            statement.lineno = statement.end_lineno = 1
            statement.col_offset = statement.end_col_offset = 0
        ast.fix_missing_locations(statement)
        node.body.insert(place, statement)
    return tree


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


class Marking(SourceFileLoader):
    """Loads a module with marks; its bytecode is in the folder of the records."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the marked module."""
        path = self.get_filename(fullname)
        data = self.get_data(path)
        key = hashlib.sha256(f"{fullname} {path} ".encode() + data).hexdigest()
        cached = Path(_FOLDER) / f"{key}.code"
        try:
            code: CodeType = marshal.loads(cached.read_bytes())
        except (OSError, EOFError, ValueError, TypeError):
            tree = with_marks(data.decode(), fullname)
            code = compile(tree, path, "exec", dont_inherit=True)
            unfinished = cached.with_suffix(f".{os.getpid()}")
            try:
                unfinished.write_bytes(marshal.dumps(code))
                unfinished.replace(cached)
            except OSError:
                return code
        return code


class Finder(MetaPathFinder):
    """Finds konsil's modules as ever, and has those of the checkout loaded with marks."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification with the loader above."""
        if fullname.partition(".")[0] != "konsil":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if (
            spec is not None
            and type(spec.loader) is SourceFileLoader
            and spec.origin
            and spec.origin.startswith(f"{SOURCE}{os.sep}")
        ):
            spec.loader = Marking(fullname, spec.origin)
        return spec


class Marks(dict[str, None]):
    """What this process entered for the present context: what is looked up for the first time is
    written, in one call of the system, to the process's own file.

    A lookup that succeeds costs what any lookup in a dictionary costs, also in a loop."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self._first = os.environ.get(CONTEXT, "")
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # A fork enters again what it runs itself, perhaps for another context.
        self.clear()
        self._file: int | None = None
        self._written = ""

    def __missing__(self, place: str) -> None:
        self[place] = None
        context = os.environ.get(CONTEXT, self._first)
        lines = f"{place}\n"
        if self._file is None or context != self._written:
            lines = f"# {context}\n{lines}"
            self._written = context
        if self._file is None:
            path = f"{self._folder}/{os.getpid()}.entered"
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self._file, lines.encode("utf-8", "surrogateescape"))


def in_checkout(path: object) -> str:
    """The path from the checkout on of what a test may depend on; "" outside, and of caches."""
    if not isinstance(path, str | bytes | os.PathLike):
        return ""
    # Without a look at the disk: also what is not there, and links by their own names.
    try:
        absolute = _CACHED.sub(r"/\1.py", os.path.abspath(os.fsdecode(path)))  # noqa: PTH100
    except FileNotFoundError:
        # The folder in which the process works was removed.
        return ""
    root = str(ROOT)
    if absolute != root and not absolute.startswith(f"{root}/"):
        return ""
    inside = absolute[len(root) :]
    return "" if _HIDDEN.search(inside) else inside[1:] or "."


def noting(marks: Marks) -> Any:
    """The hook that records files and folders of the checkout as they are opened and listed."""
    source = f"{SOURCE.relative_to(ROOT).as_posix()}/"

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "sqlite3.connect"):
            path = in_checkout(arguments[0])
            # A folder that is removed is named from the folder above it on.
            if path and _callers(1) == ["_rmtree_safe_fd"]:
                return
            # A module that is imported has marks.
            if path and not (path.startswith(source) and path.endswith(".py") and _by_import()):
                marks[f"{OPENED}{path}"]
        elif event in ("os.listdir", "os.scandir"):
            path = in_checkout("." if arguments[0] is None else arguments[0])
            if path and not any(map(_SEARCHING.search, _callers(1, "co_filename"))):
                marks[f"{LISTED}{path}"]
        elif event == "subprocess.Popen":
            _, words, folder, _ = arguments
            for word in (words,) if isinstance(words, str | bytes | os.PathLike) else words:
                path = Path(os.fsdecode(folder or "."), os.fsdecode(word))
                inside = in_checkout(path)
                if inside and os.path.lexists(path):
                    marks[f"{OPENED}{inside}"]

    return note


def _callers(n: int, what: str = "co_name") -> list[str]:
    """Names, or files, of the functions that called the hook, the nearest first; Python itself opens
    a script without any."""
    names: list[str] = []
    frame = sys._getframe(1).f_back
    while frame is not None and len(names) < n:
        names.append(getattr(frame.f_code, what))
        frame = frame.f_back
    return names


def _by_import() -> bool:
    files = _callers(6, "co_filename")
    return any(name.startswith("<frozen importlib") or name.endswith(_GUESSING) for name in files)


class ByTest:
    """A plugin of pytest: the context is the test that runs."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test with its fixtures begins."""
        self._marks.clear()
        os.environ[CONTEXT] = nodeid

    def pytest_runtest_logfinish(self) -> None:
        """What is entered between tests belongs to imports and fixtures of the session."""
        self._marks.clear()
        os.environ[CONTEXT] = ""


def pytest_configure(config: pytest.Config) -> None:
    """As a plugin: record test by test."""
    marks = getattr(builtins, MARK, None)
    if marks is not None:
        config.pluginmanager.register(ByTest(marks))


@contextmanager
def recording() -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A folder for the records, and the environment of a process that is recorded with all that it
    starts."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        # Python imports this module at the start of every process.
        (Path(folder) / "sitecustomize.py").write_text("import entered\n", "utf-8")
        (Path(folder) / "entering.py").write_text("from entered import pytest_configure\n", "utf-8")
        # Alone: the other scripts of its folder have names of packages.
        (Path(folder) / "entered.py").symlink_to(__file__)
        records = Path(folder) / "records"
        records.mkdir()
        # The checkout's package, and not an installed copy of it.
        paths = [folder, str(SOURCE.parent), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, paths))
        yield records, os.environ | {FOLDER: str(records), "PYTHONPATH": path}


def contexts(records: Path) -> dict[str, set[str]]:
    """Context -> what it entered, of all processes."""
    entered: dict[str, set[str]] = {}
    for path in records.glob("*.entered"):
        context = ""
        for line in path.read_text("utf-8", "surrogateescape").splitlines():
            if line.startswith("# "):
                context = line[2:]
            else:
                entered.setdefault(context, set()).add(line)
    return entered


def record(options: Sequence[str]) -> dict[str, list[str]]:
    """Test -> functions that it entered, as module:line."""
    import subprocess

    with recording() as (records, surroundings):
        command = [sys.executable, "-m", "pytest", "-p", "entering", "-q", "-m", "not slow"]
        subprocess.run([*command, *options], cwd=ROOT, env=surroundings, check=False)
        return {
            test: sorted(p for p in places if p[0] not in (LISTED, OPENED, USED))
            for test, places in contexts(records).items()
        }


def untouched(tests: dict[str, list[str]]) -> list[str]:
    """Modules that have functions, none of which was entered."""
    entered = {
        place.partition(":")[0]
        for places in tests.values()
        for place in places
        if not place.endswith(":0")
    }
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
    import argparse
    import json

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
elif FOLDER in os.environ and not hasattr(builtins, MARK):
    # Before any module of konsil is loaded.
    setattr(builtins, MARK, Marks(_FOLDER))
    sys.meta_path.insert(0, Finder())
    sys.addaudithook(noting(getattr(builtins, MARK)))
