"""The order in which files of tests start."""

from __future__ import annotations

from pathlib import Path

from longest import LONGEST, in_order


def test_the_longest_files_start_first_and_those_of_few_tests_last() -> None:
    files = {
        Path("a/test_one.py"): 1,
        Path("a/test_kills.py"): 1,
        Path("b/test_many.py"): 9,
        Path("b/test_docs.py"): 3,
    }
    assert [path.stem for path in in_order(files)] == [
        "test_docs",
        "test_kills",
        "test_many",
        "test_one",
    ]


def test_every_one_of_them_is_a_file() -> None:
    names = {path.stem for path in Path(__file__).parent.rglob("test_*.py")}
    assert [name for name in LONGEST if name not in names] == []
    assert len(set(LONGEST)) == len(LONGEST)
