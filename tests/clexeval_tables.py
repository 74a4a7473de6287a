"""Records with the counts that CLExEval prints: 40 cases, five levels, two systems, four judges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System

LEVELS = ("narrative", "0", "1", "2", "3")
SCALE = Scale(("0", "0.25", "0.5", "0.75", "1"), level="interval", values=(0, 0.25, 0.5, 0.75, 1))
CRITERIA = (
    "diagnostic_precision",
    "differential_reasoning",
    "evidence_integration",
    "justification_depth",
    "completeness",
    "clinical_plausibility",
    "communication",
)
RUBRIC = Instrument("rubric", tuple(Criterion(name, "?", SCALE) for name in CRITERIA))
NAMING = Instrument(
    "naming",
    tuple(
        Criterion(name, "?", Scale(("no", "yes"))) for name in ("reasoning_names", "answer_names")
    ),
)
SYSTEMS = (System("generalist", "north"), System("specialist", "south"))
EXPERTS = ("e1", "e2", "e3", "e4")

# Each string is one case: 1 right, 0 wrong, from the narrative to level 3; and how many cases
# answer like it.
GENERALIST = {
    "10100": 4,
    "10110": 1,
    "10010": 1,
    "10000": 6,
    "11001": 5,
    "11000": 1,
    "11100": 10,
    "11110": 2,
    "11111": 8,
    "00000": 2,
}
"""Right at 38, 26, 25, 12 and 13 of 40; 11 violations; potential 38; 102 steps."""
SPECIALIST = {
    "01010": 1,
    "01001": 2,
    "00101": 1,
    "00100": 2,
    "10100": 1,
    "10010": 2,
    "11010": 1,
    "00000": 3,
    "10000": 7,
    "11000": 5,
    "11100": 2,
    "11110": 7,
    "11111": 6,
}
"""Right at 31, 24, 19, 17 and 9 of 40; 10 violations; potential 37; 86 steps."""
HITS = {"generalist": (2, 12, 8, 20, 17), "specialist": (7, 7, 9, 11, 10)}
"""Failures by level whose reasoning names the diagnosis and whose answer does not."""


def grid(patterns: dict[str, int]) -> NDArray[np.float64]:
    """(40, 5) of 0 and 1."""
    return np.array([[float(c) for c in p] for p, n in patterns.items() for _ in range(n)])


RIGHT = {"generalist": grid(GENERALIST), "specialist": grid(SPECIALIST)}


def case(n: int) -> str:
    return f"c{n:02d}"


def answer(system: str, n: int, level: int) -> str:
    return f"{case(n)}:{LEVELS[level]}:{system}"


def items(n_cases: int = 40, levels: Sequence[str] = LEVELS) -> tuple[Item, ...]:
    return tuple(
        Item(f"{case(n)}:{level}", "?", case=case(n), strata={"level": level})
        for n in range(n_cases)
        for level in levels
    )


def answers(of: Sequence[Item], systems: Sequence[System] = SYSTEMS) -> tuple[Answer, ...]:
    return tuple(Answer(f"{i.id}:{s.id}", i.id, s.id) for i in of for s in systems)


def pair_of(n: int) -> tuple[str, str]:
    """Two pairs of experts share the cases."""
    return EXPERTS[:2] if n % 2 == 0 else EXPERTS[2:]


def rated(rater: str, criterion: str, about: str, label: str | None) -> Rating:
    item = about.rpartition(":")[0]
    state = "rated" if label is not None else "abstained"
    return Rating(f"{rater}-{about}", rater, criterion, item, (about,), label=label, state=state)


def published() -> Data:
    """Experts' scores of the diagnosis and the detector's labels, as the paper's counts ask for."""
    its = items()
    raters = (*(Rater(e, "experts") for e in EXPERTS), Rater("words", "detector", "program"))
    ratings = []
    for system, right in RIGHT.items():
        for level in range(5):
            hits = HITS[system][level]
            for n in range(40):
                about = answer(system, n, level)
                for expert in pair_of(n):
                    ratings.append(
                        rated(
                            expert,
                            "diagnostic_precision",
                            about,
                            "1" if right[n, level] else "0.25",
                        )
                    )
                failed = not right[n, level]
                named = failed and hits > 0
                hits -= named
                ratings.append(
                    rated("words", "reasoning_names", about, "yes" if named or not failed else "no")
                )
                ratings.append(rated("words", "answer_names", about, "no" if failed else "yes"))
    return Data(its, answers(its), raters, (), tuple(ratings))


def results(
    data: Data, *analyses: Analysis, draws: int = 300, systems: Sequence[System] = SYSTEMS
) -> Results:
    return run(
        analyses,
        data,
        RunSettings(
            instruments=[RUBRIC, NAMING],
            seed=1,
            resampling=Resampling(draws),
            exclusions=Exclusions(),
            systems=systems,
        ),
    )
