"""Odd but ordinary tables of ratings, each with its true ratings: a row for each unit."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Rows = list[list[str]]
Ratings = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Odd:
    """A table and what it truly contains."""

    lines: tuple[str, ...]
    """The lines of its file."""
    truth: Mapping[str, Ratings]
    """Group -> the ratings of each unit by each rater; a lone group is ''."""


def ratings(seed: int, n_units: int, n_raters: int, words: Sequence[str] = "12345") -> Rows:
    """Ratings near the true label of each unit; every label occurs."""
    draw = random.Random(seed)
    labels = [n % len(words) for n in range(n_units)]
    draw.shuffle(labels)
    steps = (0, 0, 0, 1, -1)
    last = len(words) - 1
    return [
        [words[min(last, max(0, n + draw.choice(steps)))] for _ in range(n_raters)] for n in labels
    ]


def table(head: str, rows: Sequence[Sequence[object]], sign: str = ",") -> tuple[str, ...]:
    return (head, *(sign.join(map(str, row)) for row in rows))


def wide(head: str, rows: Ratings, names: Callable[[int], Sequence[object]]) -> Odd:
    return Odd(table(head, [[*names(n), *row] for n, row in enumerate(rows)]), {"": rows})


def long(head: str, rows: Ratings, raters: Sequence[str]) -> Odd:
    each = [
        [f"u{n}", rater, label]
        for n, row in enumerate(rows)
        for rater, label in zip(raters, row, strict=True)
    ]
    return Odd(table(head, each), {"": rows})


def in_rounds(head: str, first: Ratings, second: Ratings, *, is_long: bool) -> Odd:
    truth = {"1": first, "2": second}
    rows: list[list[object]] = []
    for name, part in truth.items():
        for n, labels in enumerate(part):
            each = [[r, x] for r, x in zip(("Anna", "Ben"), labels, strict=True)]
            rows += [[f"P{n}", name, *x] for x in each] if is_long else [[f"P{n}", name, *labels]]
    return Odd(table(head, rows), truth)


def raters_in_rows(head: str, parts: Mapping[str, Ratings]) -> Odd:
    rows = [
        [("Meier", "Schulz", "Koch")[k], *([name] if name else []), *(row[k] for row in part)]
        for k in range(3)
        for name, part in parts.items()
    ]
    return Odd(table(head, rows), parts)


def tables(seed: int) -> dict[str, Odd]:
    """All tables, with other ratings for each seed."""
    two, three = ratings(seed, 20, 2), ratings(seed + 1, 15, 3)
    other, words = ratings(seed + 2, 20, 2), ratings(seed, 20, 2, ("mild", "moderate", "severe"))
    persons, more = ratings(seed, 5, 3), ratings(seed + 9, 5, 3)
    items = ",".join(f"q{n}" for n in range(5))
    blank = wide("case,Anna,Ben", two, lambda n: [f"c{n}"])
    criteria = [[a, b, c, d] for (a, b), (c, d) in zip(two, other, strict=True)]
    coded = [[*row] for row in two]
    coded[3][1] = "k.A."
    empty = [[("" if cell == "k.A." else cell) for cell in row] for row in coded]
    names = [["Anna", a, "Ben", b] for a, b in two]
    return {
        "Untersucher": wide("Patient,Untersucher 1,Untersucher 2", words, lambda n: [f"P{n}"]),
        "Untersucher in a column": long("Patient,Untersucher,Befund", words, ("U1", "U2")),
        "raters with their names": wide(
            "case,Rater A (Dr. Meier),Rater B (Dr. Schulz),Rater C (Dr. Koch)",
            three,
            lambda n: [n + 1],
        ),
        "both sexes": wide("Nr,Kodierer*in 1,Kodierer*in 2", words, lambda n: [f"T{n}"]),
        "own names": long("vignette,panelist,opinion", words, ("north", "south")),
        "rounds": in_rounds("patient,round,rater,score", two, other, is_long=True),
        "Durchgang": in_rounds("Fall,Durchgang,Gutachter,Punkte", two, other, is_long=True),
        "rounds beside raters": in_rounds("patient,round,Anna,Ben", two, other, is_long=False),
        "patient and question": wide(
            "patient,question,A,B", two, lambda n: [f"P{n // 4}", f"Q{n % 4}"]
        ),
        "lesions of patients": wide(
            "patient_id,lesion_no,reader_1,reader_2", two, lambda n: [n // 4 + 101, n % 4 + 1]
        ),
        "names of raters that never change": Odd(
            table(
                "case,rater_1,score_1,rater_2,score_2", [[f"c{n}", *r] for n, r in enumerate(names)]
            ),
            {"": two},
        ),
        "criteria before raters": Odd(
            table(
                "Fall,Schmerz Untersucher 1,Schmerz Untersucher 2,Kraft Untersucher 1,"
                "Kraft Untersucher 2",
                [[f"c{n}", *row] for n, row in enumerate(criteria)],
            ),
            {"Kraft": other, "Schmerz": two},
        ),
        "a row for each rater": raters_in_rows(f"Untersucher,{items}", {"": persons}),
        "a row for each person": raters_in_rows(f"Person,{items}", {"": persons}),
        "a row for each rater and round": raters_in_rows(
            f"Rater,Runde,{items}", {"1": persons, "2": more}
        ),
        "rows without a cell": Odd((*blank.lines[:5], ",,", ",,", *blank.lines[5:]), blank.truth),
        "no answer": Odd(wide("id,rater1,rater2", coded, lambda n: [n]).lines, {"": empty}),
    }


def redcap(seed: int) -> dict[str, Odd]:
    """Exports of REDCap with columns of raters and models."""
    first, second = ratings(seed, 6, 3), ratings(seed + 1, 6, 3)
    items = ",".join(f"q{n}" for n in range(6))
    people = ("meier", "schulz", "koch")

    def rows(parts: Mapping[str, Ratings]) -> Rows:
        return [
            [f"{k}{m}", name, model, *(row[k] for row in part), "2"]
            for k, name in enumerate(people)
            for m, (model, part) in enumerate(parts.items())
        ]

    head = f"record_id,rater_name,model,{items},form_complete"
    both = {"gpt-4": first, "llama": second}
    return {
        "one model": Odd(table(head, rows({"gpt-4": first})), {"": first}),
        "two models": Odd(table(head, rows(both)), both),
    }


COUNTS = ((20, 5, 1), (4, 18, 3), (0, 2, 25))
LABELS = ("mild", "moderate", "severe")


def cross_table(*, change: int = 0, has_column: bool = True) -> Odd:
    """A cross table with totals, of which one can be wrong."""
    rows = [[name, *row, sum(row)] for name, row in zip(LABELS, COUNTS, strict=True)]
    rows.append(["Total", *(sum(c) for c in zip(*COUNTS, strict=True)), 78])
    rows[-1][2] = int(rows[-1][2]) + change
    head = ["", *LABELS, "Total"]
    cut = len(head) - (not has_column)
    pairs = [
        [LABELS[i], LABELS[j]]
        for i, row in enumerate(COUNTS)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    return Odd(table(",".join(head[:cut]), [row[:cut] for row in rows]), {"": pairs})
