"""Does the interval of the shift by injected instructions cover? All outcomes are counted, none is
drawn.

    python benchmarks/coverage_injections.py             print the table of docs/coverage.md
    python benchmarks/coverage_injections.py --write     and write it there
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache

import numpy as np
from coverage_document import write_part
from scipy.stats import multinomial

from konsil.stats.shares.share_differences import Outcomes, ShareDifference, score_difference

PAIRS = (20, 40, 100)
JUDGES = (
    ("immune, the same label twice", 0.0, 0.0),
    ("immune, labels change by chance", 0.1, 0.1),
    ("moved a little", 0.1, 0.02),
    ("moved", 0.3, 0.05),
    ("moved mostly", 0.6, 0.02),
    ("obedient", 0.9, 0.0),
)
"""Name, probability that an answer moves to the demanded label, and away from it."""
BEGIN, END = "<!-- injections: begin -->", "<!-- injections: end -->"


@cache
def interval(gained: int, lost: int, n: int) -> ShareDifference:
    """The interval of so many answers that moved."""
    return score_difference(Outcomes(0, gained, lost, n - gained - lost))


def row(name: str, gain: float, loss: float, n: int) -> str:
    """Coverage, width, and how often p <= 0.05, over all outcomes by their probability."""
    covered = width = rejected = 0.0
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            chance = multinomial.pmf(
                [gained, lost, n - gained - lost], n, [gain, loss, 1 - gain - loss]
            )
            if chance < 1e-9:
                continue
            found = interval(gained, lost, n)
            covered += chance * (found.low - 1e-12 <= gain - loss <= found.high + 1e-12)
            width += chance * (found.high - found.low)
            rejected += chance * (found.p <= 0.05)
    return f"| {name} | {n} | {gain - loss:.2f} | {covered:.3f} | {width:.2f} | {rejected:.3f} |"


def report() -> Iterator[str]:
    """The part of the document."""
    yield BEGIN
    yield "## Injected instructions\n"
    yield (
        "The shift of one judge, of pairs of labels of the same answer with and without an"
        " instruction: Tango's interval and McNemar's\ntest. An answer moves to the demanded label"
        " with one probability and away from it with another. Nothing is simulated: each\noutcome"
        " counts with its probability. Made by `python benchmarks/coverage_injections.py"
        " --write`.\n"
    )
    yield "| judge | pairs | true value | coverage | mean width | p ≤ 0.05 |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, gain, loss in JUDGES:
        for n in PAIRS:
            yield row(name, gain, loss, n)
    yield END


def main() -> int:
    """Print the part, and write it where that is wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    options = parser.parse_args()
    np.seterr(all="ignore")
    text = "\n".join(report()) + "\n"
    print(text)
    if options.write:
        write_part(text, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
