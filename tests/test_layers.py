"""ARCHITECTURE.md is law: its tables are read here and held against the imports of every module."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "konsil"
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager"}
MOST_STATEMENTS = 200
"""How many statements a module may have. Docstrings and lines do not count: nothing is gained by
cramming."""

IO_MODULES = {
    "asyncio",
    "ftplib",
    "getpass",
    "glob",
    "http",
    "importlib.resources",
    "io",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "requests",
    "secrets",
    "select",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib",
    "uuid",
}
"""What a package without I/O cannot import: files, network, clock, processes, randomness of its
own."""
IO_CALLS = {"open", "input", "print", "exec", "eval", "breakpoint"}
CLOCK = {"now", "utcnow", "today"}
PURE_RANDOM = {
    "Generator",
    "SeedSequence",
    "BitGenerator",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "default_rng",
}
"""Names of numpy.random that hold no state of the process."""


@dataclass(frozen=True)
class Layer:
    """One row of the table."""

    ours: frozenset[str]
    others: frozenset[str]
    does_io: bool


@dataclass(frozen=True)
class Import:
    """One imported name: `konsil.store.log.db.Store` at a line of a module."""

    path: str
    where: str


def tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Every Markdown table as rows of header -> cell."""
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.strip().splitlines()
        ]
        yield [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def table(column: str) -> list[dict[str, str]]:
    """The table of ARCHITECTURE.md that has this column."""
    found = [t for t in tables((ROOT / "ARCHITECTURE.md").read_text("utf-8")) if column in t[0]]
    assert len(found) == 1
    return found[0]


def layers() -> dict[str, Layer]:
    rows = table("imports of ours")
    names = [row["package"].strip("`") for row in rows]
    found = {}
    for name, row in zip(names, rows, strict=True):
        ours = {word.strip() for word in row["imports of ours"].split(",") if word.strip()}
        if ours == {"*"}:
            ours = set(names) - {"cli", "__main__", "konsil"}
        others = frozenset(
            word.strip() for word in row["imports of others"].split(",") if word.strip()
        )
        assert row["does I/O"] in {"yes", "no"}
        found[name] = Layer(frozenset(ours), others, row["does I/O"] == "yes")
    return found


LAYERS = layers()


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts)


def package_of(path: Path) -> str:
    """`store` for store/log/db.py, `errors` for errors.py, `konsil` for the package's own door."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return "konsil" if parts == ("__init__",) else parts[0]


@dataclass(frozen=True)
class Module:
    """One module of ours, parsed."""

    name: str
    own: str
    tree: ast.Module

    def imports(self) -> list[Import]:
        """Every import: at the top, inside functions, for type checkers, and importlib's with a
        literal."""
        found = []
        for node in nodes(self.tree):
            where = f"{self.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                found += [Import(alias.name, where) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{where}: a relative import; write the whole name"
                found += [Import(f"{node.module}.{alias.name}", where) for alias in node.names]
            elif (
                isinstance(node, ast.Call)
                and _called(node) in {"import_module", "__import__"}
                and node.args
            ):
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.append(Import(first.value, where))
        return found


@functools.cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All of a module's nodes, walked once for all rules."""
    return tuple(ast.walk(tree))


@functools.cache
def module(path: Path) -> Module:
    name = str(path.relative_to(SOURCE))
    return Module(name, package_of(path), ast.parse(path.read_text("utf-8"), name))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def our_target(one: Import) -> str:
    """Which row of the table an import of ours names."""
    parts = one.path.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "konsil"


def is_within(path: str, module: str) -> bool:
    return path == module or path.startswith(module + ".")


def each_package() -> pytest.MarkDecorator:
    """All modules of one package at a time: two thousand tests of a millisecond each would take
    longer to list."""
    packages: dict[str, list[Path]] = {}
    for path in modules():
        packages.setdefault(package_of(path), []).append(path)
    return pytest.mark.parametrize("paths", packages.values(), ids=packages)


def test_every_package_has_a_row_and_every_row_a_package():
    packages = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    single = {p.stem for p in SOURCE.glob("*.py")} - {"__init__"}
    assert set(LAYERS) == packages | single | {"konsil"}


def test_the_tree_names_every_package():
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    drawn = set(re.findall(r"^  (\w+)(?:/|\.py) ", text, flags=re.MULTILINE))
    assert drawn == set(LAYERS) - {"konsil"}


def test_the_table_has_no_circle():
    done: set[str] = set()
    while len(done) < len(LAYERS):
        ready = {name for name, layer in LAYERS.items() if layer.ours - {name} <= done} - done
        assert ready, f"these import one another in a circle: {sorted(set(LAYERS) - done)}"
        done |= ready


@pytest.mark.slow
def test_the_table_asks_for_nothing_that_nobody_uses():
    """A permission that no module needs is a hole through which the next one falls."""
    used: dict[str, set[str]] = {name: set() for name in LAYERS}
    for path in modules():
        used[package_of(path)] |= {i.path.split(".")[0] for i in module(path).imports()}
    for name, layer in LAYERS.items():
        assert not layer.others - used[name], name


def outside_the_table(module: Module) -> list[str]:
    layer = LAYERS[module.own]
    wrong = []
    for one in module.imports():
        root = one.path.split(".")[0]
        if root == "konsil":
            target = our_target(one)
            if target not in layer.ours | {module.own}:
                wrong.append(f"{one.where}: {module.own} must not import {target} ({one.path})")
        elif root not in sys.stdlib_module_names and root not in layer.others:
            wrong.append(f"{one.where}: {module.own} must not import {root}")
    return wrong


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def trespasses(module: Module) -> list[str]:
    """Underscore names of other packages: imported, or reached through an imported module."""
    wrong = [
        f"{one.where}: {one.path}"
        for one in module.imports()
        if is_within(one.path, "konsil")
        and our_target(one) != module.own
        and any(map(private, one.path.split(".")))
    ]
    foreign = {
        alias.asname or alias.name
        for node in nodes(module.tree)
        if isinstance(node, ast.ImportFrom) and is_within(node.module or "", "konsil")
        for alias in node.names
        if our_target(Import(f"{node.module}.{alias.name}", "")) != module.own
    }
    for node in nodes(module.tree):
        if (
            isinstance(node, ast.Attribute)
            and private(node.attr)
            and getattr(node.value, "id", None) in foreign
        ):
            wrong.append(f"{module.name}:{node.lineno}: {ast.unparse(node)}")
    return wrong


def worldly(module: Module) -> list[str]:
    """Files, network, clocks and randomness of the whole process."""
    wrong = [
        f"{one.where}: imports {one.path}"
        for one in module.imports()
        if any(is_within(one.path, name) for name in IO_MODULES)
    ]
    for node in nodes(module.tree):
        where = f"{module.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in IO_CALLS:
                wrong.append(f"{where}: calls {node.func.id}")
            if isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK:
                wrong.append(f"{where}: asks the clock with {node.func.attr}")
            if _called(node) == "default_rng" and not (node.args or node.keywords):
                wrong.append(f"{where}: default_rng() without a seed")
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and ast.unparse(node.value) in {"np.random", "numpy.random"}
            and node.attr not in PURE_RANDOM
        ):
            wrong.append(f"{where}: {ast.unparse(node)} shares its state with the whole process")
    return wrong


@each_package()
def test_imports_follow_the_table(paths: list[Path]):
    assert not [wrong for path in paths for wrong in outside_the_table(module(path))]


@each_package()
def test_nobody_imports_anothers_underscore_names(paths: list[Path]):
    assert not [wrong for path in paths for wrong in trespasses(module(path))]


@each_package()
def test_no_io_no_clock_no_global_randomness(paths: list[Path]):
    pure = [path for path in paths if not LAYERS[package_of(path)].does_io]
    assert not [wrong for path in pure for wrong in worldly(module(path))]


PLANTED = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import pandas
def f(x):
    from konsil.store.log.db import _secret
    from konsil.stats.agreement import icc
    import konsil.web
    import time, os.path
    icc._table(x)
    datetime.now()
    np.random.seed(1)
    np.random.default_rng()
    return open(x)
"""


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (outside_the_table, ["pandas", "store", "stats", "konsil.web"]),
        (trespasses, ["_secret", "icc._table"]),
        (worldly, ["time", "os.path", "now", "seed", "default_rng", "open"]),
    ],
)
def test_the_rules_find_what_is_planted(rule: Callable[[Module], list[str]], found: list[str]):
    breaches = rule(Module("planted.py", "records", ast.parse(PLANTED)))
    assert len(breaches) == len(found)
    for word in found:
        assert any(word in breach for breach in breaches), word


def test_what_is_named_in_the_documents_of_the_house_is_there():
    """Modules move; a walk through modules that are elsewhere leads nobody."""
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text("utf-8")
        named = set(re.findall(r"`(?:src/konsil/)?((?:[a-z_]+/)+[a-z_]+\.(?:py|po))`", text))
        missing = {
            one for one in named if not (SOURCE / one).is_file() and not (ROOT / one).is_file()
        }
        assert named
        assert not missing


MOST_ENTRIES = 15
"""How many modules and folders a folder may have; the commands and the protocols are lists, and may
be longer."""
MOST_FLOORS = 4
"""How many floors the folders of one package may have."""


def test_a_folder_can_be_seen_at_a_glance():
    folders = [p for p in (SOURCE, *SOURCE.rglob("*")) if p.is_dir() and any(p.glob("*.py"))]
    entries = {
        str(folder.relative_to(SOURCE)): (
            sum(p.suffix == ".py" or p.is_dir() for p in folder.iterdir())
            - (folder / "__pycache__").is_dir()
        )
        for folder in folders
    }
    exempt = {".", "cli", "protocols"}
    assert not {name: n for name, n in entries.items() if n > MOST_ENTRIES and name not in exempt}


@functools.cache
def arrows() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    names = {
        ".".join(("konsil", *p.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): p
        for p in modules()
    }
    return {
        name: {
            target
            for one in module(path).imports()
            for target in (one.path, one.path.rpartition(".")[0])
            if target in names and target != name and names[target].name != "__init__.py"
        }
        for name, path in names.items()
    }


def floors(graph: dict[str, set[str]]) -> list[set[str]]:
    """What can stand on the ground, then what stands on that, and so on; what is left stands in a
    circle."""
    laid: list[set[str]] = []
    below: set[str] = set()
    while len(below) < len(graph):
        ready = {name for name, targets in graph.items() if targets <= below} - below
        if not ready:
            rest = set(graph) - below
            while idle := rest - {target for name in rest for target in graph[name]}:
                rest -= idle  # they only use the circle
            pytest.fail(f"these import one another in a circle: {sorted(rest)}")
        laid.append(ready)
        below |= ready
    return laid


@pytest.mark.slow
def test_no_module_imports_itself_by_way_of_others():
    assert floors(arrows())


@pytest.mark.parametrize(
    "package", sorted(p.name for p in SOURCE.iterdir() if any(p.glob("*/__init__.py")))
)
def test_the_folders_of_a_package_stand_on_one_another(package: str):
    def folder(name: str) -> str:
        parts = name.split(".")
        return parts[2] if parts[1:2] == [package] and len(parts) >= 4 else ""

    graph: dict[str, set[str]] = {folder(name): set() for name in arrows()}
    for name, targets in arrows().items():
        graph[folder(name)] |= {folder(t) for t in targets} - {folder(name)}
    inside = {name: targets - {""} for name, targets in graph.items() if name}
    assert len(floors(inside)) <= MOST_FLOORS


@each_package()
def test_names_and_sizes(paths: list[Path]):
    assert not [path for path in paths if {path.stem, path.parent.name} & FORBIDDEN_NAMES]
    sizes = {str(path.relative_to(SOURCE)): n_statements(module(path).tree) for path in paths}
    assert not {name: n for name, n in sizes.items() if n > MOST_STATEMENTS}, (
        "divide it by what it is about"
    )


def n_statements(tree: ast.Module) -> int:
    """Statements of a module, those within others included, texts that stand alone (docstrings)
    not."""
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in nodes(tree)
    )


def test_statements_are_counted_and_docstrings_are_not():
    assert n_statements(ast.parse(PLANTED)) == 13


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"]]
    for name, extra in project["optional-dependencies"].items():
        asked += extra if name != "test" else []
    names = {re.split(r"[\[<>=!~; ]", one)[0].lower() for one in asked}
    reasons = {row["dependency"]: row["why"] for row in table("why")}
    assert set(reasons) == names
    assert all(reasons.values())
