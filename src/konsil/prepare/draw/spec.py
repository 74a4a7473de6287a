"""What a protocol says of the way from a study's items to those that are rated."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.errors import nearest
from konsil.prepare.cases.marking import Masking
from konsil.prepare.draw.lexical import MATCH, Sameness
from konsil.prepare.questions.asking import asking_problems
from konsil.prepare.questions.rewriting import Rewriting
from konsil.prepare.questions.screening import Screening
from konsil.prepare.questions.themes import THEME, Theming

SAMPLE_SET = "sample"
"""The set that every item of a sample is in."""


@dataclass(frozen=True, slots=True)
class Sample:
    """So many of the items, drawn at random."""

    size: int
    """How many items are drawn."""
    by: str = ""
    """The stratum that the sample is drawn by, such as lexical_match; empty: none."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Value of the stratum -> its share of the sample; empty: as the items have them. With
    `across`, values are joined by ' × '."""
    across: tuple[str, ...] = ()
    """Further strata: the sample is drawn by every combination of their values with those of
    `by`."""
    equal: bool = False
    """Whether every value, or combination, gets the same share."""
    short: Literal["refuse", "keep"] = "refuse"
    """What becomes of a stratum with fewer items than asked for: nothing is drawn, or those there
    are."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The strata that the sample is drawn by."""
        return (*([self.by] if self.by else []), *self.across)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Which items are rated, and in which sets."""

    screen: Screening | None = None
    """What items are looked through for before any is drawn; None: nothing."""
    lexical_match: bool = False
    """Whether items get the stratum lexical_match: 'yes' where a system gave the reference word for
    word, else 'no'."""
    same: Sameness = "exact"
    """When two texts are the same: as strings, or without case, white space and marks at their
    ends."""
    aliases: bool = False
    """Whether an item's aliases count as its reference."""
    systems: tuple[str, ...] = ()
    """The systems whose answers are compared; empty: all."""
    unanswered: Literal["refuse", "drop", "keep"] = "refuse"
    """Items without an answer of each of these systems: nothing is drawn, they drop out, or the
    others' answers do."""
    sample: Sample | None = None
    """How many of the items are rated; None: all."""
    sets: Mapping[str, int] = field(default_factory=dict)
    """Set -> how many items are drawn into it, each item into one at most."""
    mask: Masking | None = None
    """How the versions of cases are made of what is marked in them; None: the items are answered as
    they are."""
    rewrite: Rewriting | None = None
    """How items are put in better words before they are answered; None: not at all."""
    themes: Theming | None = None
    """How the themes of the items are looked for; None: not at all."""

    @property
    def draws(self) -> bool:
        """Whether it asks for a draw; rewriting and themes alone leave all items in."""
        return (
            self.lexical_match
            or self.sample is not None
            or bool(self.sets)
            or self.screen is not None
        )


def preparation_problems(spec: Preparation, systems: Collection[str], where: str) -> Iterator[str]:
    """Say what is wrong with a preparation; `systems` are the study's."""
    sample = spec.sample
    if not spec.draws and spec.mask is None and spec.themes is None and spec.rewrite is None:
        yield (
            f"{where}: is empty; expected lexical_match, a sample, sets, screen, mask,"
            " rewrite or themes"
        )
    yield from _step_problems(spec, where)
    for name in spec.systems:
        if systems and name not in systems:
            yield f"{where}.systems: there is no system {name!r}; {nearest(name, systems)}"
    for name, n in spec.sets.items():
        if n < 1 or not name.strip():
            yield f"{where}.sets.{name}: expected a name and 1 or more items, got {n}"
    if sample is not None:
        yield from _sample_problems(spec, sample, where)


def _step_problems(spec: Preparation, where: str) -> Iterator[str]:
    if spec.rewrite is not None:
        if not spec.rewrite.model:
            yield f"{where}.rewrite.model: missing; expected ENDPOINT:NAME, such as 'local:smollm2'"
        if spec.lexical_match:
            yield (
                f"{where}.rewrite: items are selected by their answers here, but rewritten"
                " before they are answered"
            )
        yield from asking_problems(spec.rewrite, ("rewrite",), f"{where}.rewrite")
    if spec.mask is not None and spec.lexical_match:
        yield (
            f"{where}.mask: items are selected by their answers here, but cases are masked"
            " before they are answered"
        )
    if spec.themes is not None:
        yield from asking_problems(spec.themes, ("phrases", "names", "tags"), f"{where}.themes")
        if spec.themes.smallest < 2:
            yield (
                f"{where}.themes.smallest: expected 2 or more questions, got {spec.themes.smallest}"
            )
        if spec.sample is not None and THEME in spec.sample.columns:
            yield (
                f"{where}.sample.by: themes are detected among the selected items; expected"
                " another characteristic"
            )
    if spec.screen is not None:
        yield from _screen_problems(spec.screen, f"{where}.screen")


def _sample_problems(spec: Preparation, sample: Sample, where: str) -> Iterator[str]:
    if sample.size < 1:
        yield f"{where}.sample.size: expected 1 or more items, got {sample.size}"
    if sum(spec.sets.values()) > sample.size > 0:
        total = sum(spec.sets.values())
        yield (
            f"{where}.sets: {total:,} items are requested for sets, but the sample has"
            f" {sample.size:,}"
        )
    if sample.across and (not sample.by or len({*sample.columns}) < len(sample.columns)):
        yield (
            f"{where}.sample.across: expected characteristics other than by, each once, got"
            f" {list(sample.columns)}"
        )
    if sample.equal and (sample.shares or not sample.by):
        yield f"{where}.sample.equal: requires a characteristic in by, without shares"
    if sample.shares:
        yield from _share_problems(sample, f"{where}.sample")


def _screen_problems(screen: Screening, where: str) -> Iterator[str]:
    yield from asking_problems(screen, ("screen",), where)
    if screen.model and not screen.rules and not screen.languages:
        yield f"{where}.model: has no reason to screen for; expected rules or languages"
    if not screen.rules and not screen.languages and not screen.criteria:
        yield f"{where}: is empty; expected rules, languages or criteria"
    for statement in screen.criteria:
        if not statement.strip() or screen.criteria.count(statement) > 1:
            yield f"{where}.criteria: expected different statements, got {statement!r}"
    for language in screen.languages:
        if len(language) != 2 or not language.isascii() or not language.islower():
            yield (
                f"{where}.languages: expected codes of two letters such as 'en' or 'de', got"
                f" {language!r}"
            )


def _share_problems(sample: Sample, where: str) -> Iterator[str]:
    if not sample.by:
        yield f"{where}.shares: expected the characteristic in by, got none"
    if any(share < 0 for share in sample.shares.values()):
        yield f"{where}.shares: expected shares from 0, got {dict(sample.shares)}"
    elif not math.isclose(sum(sample.shares.values()), 1, abs_tol=1e-9):
        yield f"{where}.shares: expected shares that sum to 1, got {sum(sample.shares.values()):g}"
    for value in sample.shares:
        if sample.columns == (MATCH,) and value not in ("yes", "no"):
            yield (
                f"{where}.shares: {value!r} is no value of {MATCH}; {nearest(value, ('yes', 'no'))}"
            )
