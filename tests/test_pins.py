"""The pins of what users see: two runs are alike, and what differs is named."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADER = "analysis,kind,group.system,value,low,method\n"


@pytest.fixture(scope="module")
def pins() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pins", ROOT / "benchmarks" / "pins.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pins"] = module
    spec.loader.exec_module(module)
    return module


def pinned(pins: ModuleType, folder: Path, **files: str) -> Path:
    pins_of_folder = pins.Pins(folder, folder / "work")
    for name, content in files.items():
        pins_of_folder.put(name.replace("__", "/").replace("_", "."), content)
    pins_of_folder.close()
    return folder


def test_what_moved_is_named(
    pins: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pinned(
        pins,
        tmp_path / "a",
        demo__estimates_csv=HEADER
        + "a,estimate,x,0.5,0.4,BCa\na,estimate,y,0.25,0.1,BCa\nb,estimate,x,0.9,,BCa\n",
        help_txt="one\ntwo\n",
        same_txt="at 2025-03-01T12:00:00Z",
        old_txt="gone",
    )
    after = pinned(
        pins,
        tmp_path / "b",
        demo__estimates_csv=HEADER
        + "a,estimate,x,0.500000000000001,0.3,BCa\na,estimate,y,0.25,0.1,Wilson\n",
        help_txt="one\nthree\n",
        same_txt="at 2026-04-02T13:01:01Z",
        new_txt="new",
    )
    assert pins.compare(before, after) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines() == [
        "gone: old.txt",
        "new: new.txt",
        "changed: demo/estimates.csv",
        "    row gone: 1, such as analysis=b kind=estimate group.system=x",
        "    low: 1 of 2 rows, such as '0.4' -> '0.3' at analysis=a kind=estimate group.system=x",
        (
            "    method: 1 of 2 rows, such as 'BCa' -> 'Wilson' at analysis=a kind=estimate"
            " group.system=y"
        ),
        "changed: help.txt",
        "    -two",
        "    +three",
        "2 changed, 1 gone, 1 new, 1 alike",
    ]
    assert pins.compare(before, before) == 0


@pytest.mark.slow
def test_two_runs_are_alike(
    pins: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["help", "routes", "tutorials", "protocols/cqa-eval/de"]
    assert pins.write(tmp_path / "a", only) == 0
    assert pins.write(tmp_path / "b", only) == 0
    capsys.readouterr()
    assert pins.compare(tmp_path / "a", tmp_path / "b") == 0, capsys.readouterr().out
    pages = {p.parent.name for p in (tmp_path / "a" / "protocols").rglob("pages/*/*.html")}
    assert pages == {"rater", "owner"}
