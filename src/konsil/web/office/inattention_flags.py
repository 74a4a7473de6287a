"""Data-quality flags: signs that a rater may not have read closely.

They are for the analyst, never for the rater, and they prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from konsil.records.numerals import natural

FAST = 0.25
"""A screen is fast below this share of the panel's median on the instrument."""
FAST_SHARE = 0.1
"""From this share of fast screens on, it is flagged."""
FEWEST = 10
"""Screens before anything is flagged."""
SAME = 4
"""A screen is a straight line if so many questions on one scale, or more, all have one label."""
SAME_MORE = 0.25
"""A share of straight lines so much above the median of the panel is flagged."""
RUN = 3.0
"""A run of one label so many times as long as the median of the panel is flagged."""
RUN_FEWEST = 15
"""No run shorter than this is."""


@dataclass(frozen=True, slots=True)
class Screen:
    """One screen as it was handed in."""

    rater: str
    """By whom."""
    instrument: str
    """On what."""
    seconds: float | None
    """How long it took."""
    labels: tuple[tuple[str, str], ...]
    """Criterion and label, abstentions included, in the order of the screen."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What there is to see of one rater."""

    rater: str
    """Who."""
    screens: int
    """Screens handed in."""
    timed: int
    """Of these, those whose time is known."""
    fast: int
    """Of those, the fast ones."""
    lines: int
    """Straight lines."""
    wide: int
    """Screens that could be a straight line."""
    run: int
    """The longest run of one label on a criterion, over screens and within them."""
    criterion: str
    """That criterion."""
    flags: frozenset[str] = frozenset()
    """Of 'fast', 'line', 'run': what stands out."""


def signs(screens: Iterable[Screen], panels: Mapping[str, str]) -> tuple[Signs, ...]:
    """One for each rater, by panel and rater.

    A panel's raters are held against one another only.
    """
    screens_by_rater: dict[str, list[Screen]] = {}
    for screen in screens:
        screens_by_rater.setdefault(screen.rater, []).append(screen)
    members: dict[str, list[str]] = {}
    for rater in sorted(screens_by_rater, key=natural):
        members.setdefault(panels.get(rater, ""), []).append(rater)
    all_signs: list[Signs] = []
    for _, raters in sorted(members.items()):
        usual = _usual([s for r in raters for s in screens_by_rater[r]])
        panel_signs = [_signs(rater, screens_by_rater[rater], usual) for rater in raters]
        all_signs += [_flagged(rater_signs, panel_signs) for rater_signs in panel_signs]
    return tuple(all_signs)


def _usual(screens: Sequence[Screen]) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for screen in screens:
        if screen.seconds is not None:
            times.setdefault(screen.instrument, []).append(screen.seconds)
    return {instrument: median(seconds) for instrument, seconds in times.items()}


def _signs(rater: str, screens: Sequence[Screen], usual: Mapping[str, float]) -> Signs:
    timed = [s for s in screens if s.seconds is not None]
    fast = sum(s.seconds < FAST * usual[s.instrument] for s in timed if s.seconds is not None)
    groups = [_groups(s) for s in screens]
    wide = [[g for g in several.values() if len(g) >= SAME] for several in groups]
    lines = sum(bool(several) and all(len(set(g)) == 1 for g in several) for several in wide)
    run, criterion = 0, ""
    for name in sorted({name for several in groups for name in several}):
        longest = _longest([label for several in groups for label in several.get(name, ())])
        if longest > run:
            run, criterion = longest, name
    return Signs(
        rater, len(screens), len(timed), fast, lines, sum(bool(g) for g in wide), run, criterion
    )


def _groups(screen: Screen) -> dict[str, list[str]]:
    labels_by_criterion: dict[str, list[str]] = {}
    for criterion, label in screen.labels:
        labels_by_criterion.setdefault(criterion, []).append(label)
    # Seven questions on one scale are seven criteria with a label each; together they may be a
    # straight line.
    if len(labels_by_criterion) >= SAME and all(
        len(labels) == 1 for labels in labels_by_criterion.values()
    ):
        labels_by_criterion["*"] = [labels[0] for labels in labels_by_criterion.values()]
    return labels_by_criterion


def _longest(labels: Sequence[str]) -> int:
    best = run = 0
    before: str | None = None
    for label in labels:
        run = run + 1 if label == before else 1
        best, before = max(best, run), label
    return best


def _flagged(rater_signs: Signs, panel: Sequence[Signs]) -> Signs:
    flags = set()
    if rater_signs.screens >= FEWEST:
        if rater_signs.timed and rater_signs.fast / rater_signs.timed >= FAST_SHARE:
            flags.add("fast")
        others = [s.lines / s.wide for s in panel if s.wide and s is not rater_signs]
        if (
            rater_signs.wide >= FEWEST
            and others
            and rater_signs.lines / rater_signs.wide >= median(others) + SAME_MORE
        ):
            flags.add("line")
        runs = [s.run for s in panel if s is not rater_signs]
        if rater_signs.run >= RUN_FEWEST and runs and rater_signs.run >= RUN * median(runs):
            flags.add("run")
    return Signs(
        rater_signs.rater,
        rater_signs.screens,
        rater_signs.timed,
        rater_signs.fast,
        rater_signs.lines,
        rater_signs.wide,
        rater_signs.run,
        rater_signs.criterion,
        frozenset(flags),
    )
