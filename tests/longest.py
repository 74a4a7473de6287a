"""Which files of tests start first, so that all workers end at about the same time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

LONGEST = (
    "test_docs",
    "test_benchmark",
    "test_real_pocqi_whole",
    "test_browser",
    "test_null_studies",
    "test_recovery",
    "test_packaging",
    "test_recipes",
    "test_kills",
    "test_cqa_eval",
    "test_power",
    "test_rehearsal",
    "test_medqade",
    "test_hardship",
    "test_german",
    "test_pins",
)
"""Names of files whose slow tests, few as they are, take longest; the longest first."""


def in_order(n_tests: Mapping[Path, int]) -> list[Path]:
    """The files of so many tests each: the longest first, then those with more tests.

    pytest-xdist alone goes by the number of tests, so that a worker would begin a file of one test
    that takes a minute when the others have nothing left to do.
    """
    places = {name: place for place, name in enumerate(LONGEST)}
    return sorted(n_tests, key=lambda path: (places.get(path.stem, len(LONGEST)), -n_tests[path]))
