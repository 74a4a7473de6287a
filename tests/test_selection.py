"""Which slow tests a change selects: those that entered or opened what has changed, in any process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        testpaths = ["tests"]
        addopts = "-q --import-mode=importlib"
        markers = ["slow", "long"]
        """,
    "src/konsil/__init__.py": "",
    "src/konsil/sums.py": '''
        """Sums."""

        def total(n):
            """All of them."""
            return sum(n)

        def mean(n):
            return total(n) / len(n)

        class Table:
            def rows(self):
                return 3

            @property
            def width(self):
                return 4
        ''',
    "src/konsil/limits.py": "MOST = 7\n\n\ndef most():\n    return MOST\n",
    "src/konsil/bounds.py": "from konsil.limits import MOST\n\nUPPER = MOST + 1\n",
    "src/konsil/command.py": """
        import importlib
        import sys

        def main():
            importlib.import_module("konsil." + sys.argv[1]).run()

        if __name__ == "__main__":
            main()
        """,
    "src/konsil/show.py": "def run():\n    print('shown')\n",
    "src/konsil/hide.py": "def run():\n    print('hidden')\n",
    "src/konsil/forked.py": "def answer():\n    return 0\n",
    "src/konsil/waiting.py": """
        import time

        def begin():
            print("begun", flush=True)
            time.sleep(60)
        """,
    "src/konsil/pages/page.html": "<p>text</p>",
    "src/konsil/protocols/one.toml": "title = 1",
    "docs/guide.md": "# Guide",
    "docs/script.py": "print('run')",
}
TESTS = {
    "total": "import konsil.sums\ndef test(): assert konsil.sums.total([1, 2]) == 3",
    "mean": "import konsil.sums\ndef test(): assert konsil.sums.mean([1, 3]) == 2",
    "bounds": "def test():\n    from konsil.bounds import UPPER\n    assert UPPER",
    "page": """
        from importlib.resources import files
        def test(): assert files("konsil").joinpath("pages/page.html").read_text()
        """,
    "protocols": """
        from pathlib import Path
        import konsil
        def test(): assert list((Path(konsil.__file__).parent / "protocols").glob("*.toml"))
        """,
    "guide": "from pathlib import Path\ndef test(): assert Path('docs/guide.md').read_text()",
    "command": """
        import subprocess, sys
        def test(): subprocess.run([sys.executable, "-m", "konsil.command", "show"], check=True)
        """,
    "script": """
        import subprocess, sys
        def test(): subprocess.run([sys.executable, "docs/script.py"], check=True)
        """,
    "removed": """
        import os, shutil
        def test(tmp_path, monkeypatch):
            (tmp_path / "docs" / "a").mkdir(parents=True)
            shutil.rmtree(tmp_path / "docs")
            (tmp_path / "b").mkdir()
            monkeypatch.chdir(tmp_path / "b")
            (tmp_path / "b").rmdir()
            assert not os.path.lexists("c")
            try:
                open("c")
            except FileNotFoundError:
                pass
        """,
    "forked": """
        import os
        import konsil.forked
        def test():
            child = os.fork()
            if child == 0:
                os._exit(konsil.forked.answer())
            assert os.waitpid(child, 0)[1] == 0
        """,
    "killed": """
        import subprocess, sys
        def test():
            command = [sys.executable, "-c", "from konsil.waiting import begin; begin()"]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                process.kill()
        """,
    "failed": "def test(): assert False",
}


def written(text: str) -> str:
    """A text without the margin that it has here."""
    lines = text.strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[margin:] for line in lines).rstrip() + "\n"


def loaded(folder: Path) -> ModuleType:
    """The script of a checkout, which is about that checkout."""
    modules: dict[str, ModuleType] = {}
    before = {name: sys.modules.pop(name, None) for name in ("entered", "selection")}
    try:
        for name in ("entered", "selection"):
            spec = importlib.util.spec_from_file_location(
                name, folder / "benchmarks" / f"{name}.py"
            )
            assert spec is not None
            assert spec.loader is not None
            modules[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(modules[name])
        return modules["selection"]
    finally:
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


@pytest.fixture(scope="module")
def selection() -> ModuleType:
    return loaded(ROOT)


# Digests


BEFORE = PACKAGE["src/konsil/sums.py"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("sum(n)", "sum(n) + 0", {"total"}),
        ("sum(n)", "sum(n)  # of numbers", set()),
        ("All of them.", "All.", {"total"}),
        ("def total(n)", "def total(n=())", {"total"}),
        ("def mean(n)", "def median(n)", {"mean", "median"}),
        ("return 3", "return 4", {"Table.rows"}),
        ("return 4", "return 5", {"Table.width"}),
        ("def rows(self)", "def __len__(self)", {"", "Table.rows", "Table.__len__"}),
        ('"""Sums."""', '"""Sums."""\nLEAST = 1', {""}),
        ("@property", "@cached_property", {"", "Table.width"}),
    ],
)
def test_a_change_has_the_digest_of_its_function_or_of_the_body(
    selection: ModuleType, old: str, new: str, changed: set[str]
) -> None:
    text = written(BEFORE)
    first, second = selection.units(text)[0], selection.units(text.replace(old, new))[0]
    assert text.count(old) == 1
    assert {n for n in first | second if first.get(n) != second.get(n)} == changed


def test_functions_of_one_name_count_as_one(selection: ModuleType) -> None:
    text = "class A:\n  @property\n  def x(self): return 1\n  @x.setter\n  def x(self, y): pass\n"
    digests, names = selection.units(text)
    assert set(digests) == {"", "A.x"}
    assert names == {0: "", 3: "A.x", 5: "A.x"}
    assert selection.units(text.replace("pass", "y"))[0]["A.x"] != digests["A.x"]


def test_inner_functions_count_with_the_outer_one(selection: ModuleType) -> None:
    text = "def f():\n  def g():\n    return 1\n  return g\n"
    digests, names = selection.units(text)
    later = selection.units(text.replace("1", "2"))[0]
    assert names == {0: "", 1: "f", 2: "f"}
    assert {n for n in digests if digests[n] != later[n]} == {"f"}


def test_an_import_counts_where_its_name_is_used(selection: ModuleType) -> None:
    text = (
        "import json\nfrom a import b, c, d, e\n"
        "if TYPE_CHECKING:\n  from x import Y\n"
        "LEAST = c(1)\ndef f(): return b\ndef g(): return json, d\n"
    )

    def changed(old: str, new: str) -> set[str]:
        assert text.count(old) == 1
        first, second = selection.units(text)[0], selection.units(text.replace(old, new))[0]
        return {name for name in first if first[name] != second[name]}

    assert changed("import json", "import simplejson as json") == {"g"}
    assert changed("import b", "import bb as b") == {"f"}
    assert changed("c, d", "cc as c, d") == {""}
    assert changed("e\nif", "ee as e\nif") == {""}, "what is used nowhere is there for others"
    assert changed("import Y", "import Z") == set(), "types are not run"


# Records and reasons


KEY = ("src/konsil/a.py", "f")


def of(selection: ModuleType, around: Mapping[str, str], value: str = "A") -> object:
    return selection.Record(
        around, {KEY: value}, {"tests/test_a.py": frozenset({KEY})}, {"tests/test_a.py": 2.0}
    )


def test_a_record_is_read_as_it_was_written(selection: ModuleType, tmp_path: Path) -> None:
    place = tmp_path / "record.json"
    keys = [("a", "f"), ("a", ""), ("b", selection.OPENED), ("c", selection.LISTED)]
    digests = {key: str(n) for n, key in enumerate(keys)}
    entered = {"tests/test_a.py": frozenset(keys[:2]), "tests/test_b.py": frozenset(keys[1:])}
    record = selection.Record({"Python": "3.11.9"}, digests, entered, {"tests/test_a.py": 1.5})
    record.write(place)
    again = selection.Record.read(place)
    assert again.entered == entered
    assert again.digests == digests
    assert again.around == {"Python": "3.11.9"}
    assert again.seconds["tests/test_a.py"] == 1.5


def test_without_a_record_every_file_is_selected(selection: ModuleType, tmp_path: Path) -> None:
    nothing = selection.Record.read(tmp_path / "none.json")
    reasons = selection.selected(nothing, selection.Checkout(), {"Python": "3"}, ["tests/x.py"])
    assert reasons == {"tests/x.py": "not recorded"}


@pytest.mark.parametrize(
    ("around", "reason"),
    [
        ({"Python": "3.11.9", "numpy": "2.1"}, "numpy: 2.0 was recorded, here is 2.1"),
        ({"Python": "3.11.9"}, "numpy: 2.0 was recorded, here is none"),
        (
            {"Python": "3.11.9", "numpy": "2.0", "caddy": "there"},
            "caddy: none was recorded, here is there",
        ),
    ],
)
def test_other_versions_and_programs_select_every_file(
    selection: ModuleType, tmp_path: Path, around: dict[str, str], reason: str
) -> None:
    recorded = of(selection, {"Python": "3.11.9", "numpy": "2.0"})
    checkout = selection.Checkout(tmp_path)
    assert set(selection.selected(recorded, checkout, around, ["x", "y"]).values()) == {reason}


def test_a_second_record_is_compared_with_the_first(selection: ModuleType) -> None:
    more = selection.Record(
        {}, {}, {"tests/test_a.py": frozenset({KEY, ("docs/a.md", selection.OPENED)})}, {}
    )
    recorded = of(selection, {})
    assert selection.compared(more, recorded) == []
    assert selection.compared(recorded, more) == ["tests/test_a.py: docs/a.md"]


def test_the_reasons_are_counted(selection: ModuleType) -> None:
    lines = selection.explain({"a": "x", "b": "y", "c": "x"}, 9, {"a": 10.0, "c": 5.0, "d": 20.0})
    assert lines == ["3 of 9 files of tests (15 of 35 recorded seconds):", "  2 by x", "  1 by y"]


# A whole run, and what changes select after it


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small package whose slow tests were run and recorded; all but one passed."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "benchmarks").mkdir()
    for name in ("benchmarks/entered.py", "benchmarks/selection.py"):
        shutil.copyfile(ROOT / name, folder / name)
    texts = {
        f"tests/test_{name}.py": f"import pytest\npytestmark = pytest.mark.slow\n{written(text)}"
        for name, text in TESTS.items()
    }
    texts["tests/test_fast.py"] = "def test(): pass\n"
    texts["tests/longest.py"] = "LONGEST = ()\n"
    for name, text in {**{n: written(t) for n, t in PACKAGE.items()}, **texts}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "benchmarks/selection.py", "--record", "--whole"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "KONSIL_TEST_DATA": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "failed: tests/test_failed.py\n1 failed, 11 passed in " in done.stdout
    return folder


@pytest.fixture
def choose(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Mapping[str, tuple[str, str]]], dict[str, str]]]:
    """The names of the files that changes of (old, new) text select, beside the one that failed."""
    copy = tmp_path / "checkout"
    shutil.copytree(recorded, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("KONSIL_TEST_DATA", str(recorded))
    script = loaded(copy)

    def chosen(changes: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        for name, (old, new) in changes.items():
            path = copy / name
            text = path.read_text("utf-8") if path.exists() else ""
            assert old in text
            path.write_text(text.replace(old, new, 1), "utf-8")
        record = script.Record.read(copy / script.RECORD)
        reasons = script.selected(
            record, script.Checkout(), script.surroundings(), script.test_files(copy)
        )
        assert reasons.pop("tests/test_failed.py") == "not recorded"
        return {Path(test).stem.removeprefix("test_"): why for test, why in reasons.items()}

    yield chosen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "selected"),
    [
        ("src/konsil/sums.py", "return sum(n)", "return sum(n, 1)", {"total", "mean"}),
        ("src/konsil/sums.py", "/ len(n)", "// len(n)", {"mean"}),
        ("src/konsil/sums.py", "return 3", "return 4", set()),
        ("src/konsil/sums.py", "def mean", "def more():\n    pass\n\ndef mean", set()),
        ("src/konsil/limits.py", "return MOST", "return MOST + 1", set()),
        ("src/konsil/limits.py", "MOST = 7", "MOST = 8", {"bounds"}),
        ("src/konsil/show.py", "shown", "seen", {"command"}),
        ("src/konsil/hide.py", "hidden", "gone", set()),
        ("src/konsil/forked.py", "return 0", "return 1", {"forked"}),
        ("src/konsil/waiting.py", "begun", "began", {"killed"}),
        ("src/konsil/pages/page.html", "text", "words", {"page"}),
        ("src/konsil/protocols/two.toml", "", "title = 2", {"protocols"}),
        ("docs/guide.md", "Guide", "Guides", {"guide"}),
        ("docs/other.md", "", "# Other", set()),
        ("docs/script.py", "run", "ran", {"script"}),
        ("tests/test_page.py", "assert", "assert 1 and", {"page"}),
        ("tests/test_fast.py", "pass", "return", {"fast"}),
        ("tests/test_new.py", "", "def test(): pass", {"new"}),
        ("pyproject.toml", "testpaths", "# tests\ntestpaths", {*TESTS, "fast"} - {"failed"}),
    ],
)
def test_a_change_selects_the_files_that_it_concerns(
    choose: Callable[[Mapping[str, tuple[str, str]]], dict[str, str]],
    file: str,
    old: str,
    new: str,
    selected: set[str],
) -> None:
    reasons = choose({file: (old, new)})
    assert reasons.keys() == selected
    named = (file, f"{Path(file).parent.as_posix()} the folder's names", "not recorded")
    assert all(why.startswith(named) for why in reasons.values())


@pytest.mark.slow
def test_recording_some_of_the_files_leaves_the_others_selected(
    choose: Callable[[Mapping[str, tuple[str, str]]], dict[str, str]], tmp_path: Path
) -> None:
    """Kills: one digest for all files, so that the record of one made the others look run."""
    change = {"src/konsil/sums.py": ("return sum(n)", "return sum(n, 0)")}
    assert choose(change).keys() == {"total", "mean"}
    copy = tmp_path / "checkout"
    done = subprocess.run(
        [sys.executable, "benchmarks/selection.py", "--record", "tests/test_total.py"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert choose({}) == {"mean": "not recorded"}
