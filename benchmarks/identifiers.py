"""How many of the identifiers in made-up questions the rules find, on questions of somebody who
never saw the rules.

    python benchmarks/identifiers.py             print the tables of docs/identifiers.md
    python benchmarks/identifiers.py --missed    what is missed and wrongly suspected, other half
    python benchmarks/identifiers.py --write     write the tables into docs/identifiers.md

The questions are in tests/prepare/identifiers; all persons, numbers and addresses are invented, and
{name:Lucy} marks an identifier and its kind. Two hundred by another hand (another_*.txt) measure:
whoever wrote them has never seen the rules, and no rule may be written or changed because of one.
Two hundred more, written by the author of today's rules before reading the older ones, served to
mend them; every second of these ("h") was held out."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.prepare.identifiers.suspects import spans
from konsil.stats.shares.shares import wilson

TEXTS = Path(__file__).resolve().parents[1] / "tests" / "prepare" / "identifiers"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "identifiers.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
LANGUAGES = ("en", "de")
_MARK = re.compile(r"\{(\w+):([^{}]*)\}")


@dataclass(frozen=True)
class Question:
    """A question and where its identifiers are."""

    text: str
    """The question."""
    identifiers: tuple[tuple[str, int, int], ...]
    """Kind, first character and one past the last, of each identifier."""
    language: str
    """en or de."""
    held_out: bool
    """Whether no rule may be written because of it."""

    @property
    def suspected(self) -> list[tuple[int, int]]:
        """What the rules suspect."""
        return spans(self.text, "identifier")

    def finds(self, identifier: tuple[str, int, int]) -> bool:
        """Whether the rules suspect a part of an identifier."""
        return any(start < identifier[2] and identifier[1] < end for start, end in self.suspected)


def questions() -> Iterator[Question]:
    """All questions."""
    for language in LANGUAGES:
        for line in (TEXTS / f"{language}.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                yield _read(line, language)


def by_another_hand() -> Iterator[Question]:
    """The questions that measure: of somebody who has never seen the rules."""
    for language in LANGUAGES:
        for line in (TEXTS / f"another_{language}.txt").read_text("utf-8").splitlines():
            if not line.startswith("#"):
                yield _read(f"h {line}", language)


def _read(line: str, language: str) -> Question:
    text, identifiers, at = "", [], 2
    for mark in _MARK.finditer(line):
        text += line[at : mark.start()]
        identifiers.append((mark[1], len(text), len(text) + len(mark[2])))
        text += mark[2]
        at = mark.end()
    return Question(text + line[at:], tuple(identifiers), language, line.startswith("h"))


def other_author() -> Iterator[tuple[bool, bool]]:
    """Of each question of another author: whether it has an identifier, and whether the rules
    suspect something."""
    for line in (TEXTS / "other.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield line.startswith("+"), bool(spans(line[2:], "identifier"))


@dataclass(frozen=True)
class Count:
    """So many of so many."""

    k: int
    n: int

    def __str__(self) -> str:
        if not self.n:
            return "none"
        low, high = wilson(self.k, self.n)
        return (
            f"{self.k / self.n:.0%} ({self.k}/{self.n}; 95% CI, {float(low):.0%} to"
            f" {float(high):.0%})"
        )


def recall(some: Sequence[Question]) -> Count:
    """Questions with an identifier in which at least one part of one is suspected."""
    with_identifiers = [one for one in some if one.identifiers]
    return Count(
        sum(any(map(one.finds, one.identifiers)) for one in with_identifiers), len(with_identifiers)
    )


def false_alarms(some: Sequence[Question]) -> Count:
    """Questions without an identifier in which something is suspected."""
    without = [one for one in some if not one.identifiers]
    return Count(sum(bool(one.suspected) for one in without), len(without))


def precision(some: Sequence[Question]) -> Count:
    """Suspected questions that have an identifier."""
    suspected = [one for one in some if one.suspected]
    return Count(sum(bool(one.identifiers) for one in suspected), len(suspected))


def recall_of(some: Sequence[Question], kind: str) -> Count:
    """Identifiers of a kind of which a part is suspected."""
    finds = [one.finds(each) for one in some for each in one.identifiers if each[0] == kind]
    return Count(sum(finds), len(finds))


def tables() -> Iterator[str]:
    """The lines of the page's tables."""
    everything, measuring = list(questions()), list(by_another_hand())
    yield "| questions | recall | precision | questions without an identifier that are suspected |"
    yield "|---|---|---|---|"
    for language, spoken in (("", ""), ("en", ", English"), ("de", ", German")):
        some = [one for one in measuring if language in ("", one.language)]
        yield (
            f"| by another hand{spoken} | {recall(some)} | {precision(some)} |"
            f" {false_alarms(some)} |"
        )
    for held_out, name in (
        (True, "of the rules' author, held out"),
        (False, "seen while the rules were mended"),
    ):
        for language, spoken in (("", ""), ("en", ", English"), ("de", ", German")):
            some = [
                one
                for one in everything
                if one.held_out == held_out and language in ("", one.language)
            ]
            yield f"| {name}{spoken} | {recall(some)} | {precision(some)} | {false_alarms(some)} |"
    others = list(other_author())
    hits = Count(sum(found for has, found in others if has), sum(has for has, _ in others))
    alarms = Count(
        sum(found for has, found in others if not has), sum(not has for has, _ in others)
    )
    yield (
        f"| 48 older ones of another author | {hits} | {Count(hits.k, hits.k + alarms.k)} |"
        f" {alarms} |"
    )
    yield ""
    yield "| identifier, by another hand | found |"
    yield "|---|---|"
    for kind in dict.fromkeys(each[0] for one in measuring for each in one.identifiers):
        yield f"| {kind} | {recall_of(measuring, kind)} |"


def missed() -> Iterator[str]:
    """What the rules miss and wrongly suspect in the half that they may be mended with."""
    for one in questions():
        if not one.held_out:
            lost = [
                one.text[start:end]
                for kind, start, end in one.identifiers
                if not one.finds((kind, start, end))
            ]
            if lost:
                yield f"missed {lost}: {one.text}"
            if not one.identifiers and one.suspected:
                yield f"wrongly suspected {[one.text[a:b] for a, b in one.suspected]}: {one.text}"


def main() -> None:
    """Print the tables, or what was missed; or write the tables into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(before + BEGIN + "\n".join(["", *tables(), ""]) + END + after, "utf-8")
    else:
        print("\n".join(missed() if given.missed else tables()))


if __name__ == "__main__":
    main()
