"""Modules of konsil that one analysis enters: from ratings to its result, and to its report.

    python benchmarks/traced.py

A small study with one Krippendorff's alpha is opened once, so that everything is imported; then its
results and its report are made again while the functions that are called are recorded by module.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import konsil

SOURCE = Path(konsil.__file__).parent
STUDY = """
schema = 1
title = "One alpha"
seed = 1
raters = [{ id = "r1", panel = "experts" }, { id = "r2", panel = "experts" }, { id = "r3", panel = "experts" }]
sources = [{ file = "items.csv", records = "items" }, { file = "answers.csv", records = "answers" }, { file = "ratings.csv", records = "ratings" }]

[[systems]]
id = "s"

[[instruments]]
id = "form"
codebook = "codebook.md"
criteria = [{ id = "correct", question = "Is it correct?", scale = { labels = ["no", "yes"] } }]

[[analyses]]
name = "alpha"
statistic = "krippendorff_alpha"
criterion = "correct"
raters = "experts"
"""
ITEMS = 20


def study(folder: Path) -> None:
    """Three raters who each labelled one answer to each of twenty items."""
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "codebook.md").write_text("Correct is what a specialist would act on.", "utf-8")
    numbers = range(ITEMS)
    (folder / "items.csv").write_text(
        "item,text\n" + "".join(f"i{n},Question {n}\n" for n in numbers), "utf-8"
    )
    (folder / "answers.csv").write_text(
        "answer,item,system,text\n" + "".join(f"a{n},i{n},s,Answer {n}\n" for n in numbers), "utf-8"
    )
    ratings = [
        f"r{r},i{n},a{n},correct,{'yes' if (n * r) % 5 else 'no'}\n"
        for n in numbers
        for r in (1, 2, 3)
    ]
    (folder / "ratings.csv").write_text(
        "rater,item,answer,criterion,label\n" + "".join(ratings), "utf-8"
    )


def entered(work: Callable[[], object]) -> set[str]:
    """The modules whose functions are called, as paths within the package."""
    modules: set[str] = set()

    def record(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                modules.add(path.relative_to(SOURCE).as_posix())

    sys.setprofile(record)
    try:
        work()
    finally:
        sys.setprofile(None)
    return modules


def main() -> None:
    """Print the number of modules by package, to the results and to the report."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        study(folder)
        konsil.open(folder).import_sources()
        konsil.open(folder).report()
        results = entered(lambda: konsil.open(folder).results())
        report = entered(lambda: konsil.open(folder).report())
    packages = sorted({name.partition("/")[0] for name in results | report})
    print(f"{'package':<12}{'results':>9}{'report':>9}")
    for package in packages:
        counts = [sum(n.partition("/")[0] == package for n in found) for found in (results, report)]
        print(f"{package:<12}{counts[0]:>9}{counts[1]:>9}")
    print(f"{'all':<12}{len(results):>9}{len(report):>9}")


if __name__ == "__main__":
    main()
