"""Which files of tests start first, so that all workers end at about the same time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

LONGEST = (
    "test_docs",
    "test_null_studies",
    "test_fuzz",
    "test_benchmark",
    "test_all",
    "test_first_page_browser",
    "test_recovery",
    "test_real_pocqi_whole",
    "test_judge_gap",
    "test_inspect_bounds",
    "test_browser",
    "test_protocols_recounted",
    "test_cases_browser",
    "test_units",
    "test_canaries",
    "test_kills",
    "test_acceptance_browser",
    "test_crash",
    "test_medqade",
    "test_packaging",
    "test_real_pocqi",
    "test_visible_browser",
    "test_documents",
    "test_slips_browser",
    "test_bounds",
    "test_inspect_logs",
    "test_kit_browser",
    "test_joining_browser",
    "test_site",
    "test_cardiology",
    "test_pins",
    "test_cqa_eval",
    "test_unmasking",
    "test_power",
    "test_killed_copies",
    "test_hardship",
    "test_pairs",
    "test_modes",
)
"""Names of files whose slow tests take long, each one or all together; the longest first."""


def in_order(n_tests: Mapping[Path, int]) -> list[Path]:
    """The files of so many tests each: the longest first, then those with more tests.

    pytest-xdist alone goes by the number of tests, so that a worker would begin a file of one test
    that takes a minute when the others have nothing left to do.
    """
    places = {name: place for place, name in enumerate(LONGEST)}
    return sorted(n_tests, key=lambda path: (places.get(path.stem, len(LONGEST)), -n_tests[path]))
