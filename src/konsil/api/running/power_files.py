"""Files of `konsil power --output` as the reason for a sample size: read, checked, blinded."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.model.catalogue.known import NAME_COLUMNS
from konsil.analysis.model.terms import pair_of, words_of
from konsil.api.folder.blinded import hides
from konsil.api.folder.opened import LARGEST, OpenedStudy
from konsil.errors import KonsilError, nearest, option
from konsil.records import Rater
from konsil.store.engine.folders import sha256
from konsil.study import Study
from konsil.study.data.freezing import PowerCalculation, WithheldPower

if TYPE_CHECKING:
    from konsil.report.manuscript.preregistration.power import PowerLine

FEWEST_STUDIES = 2
"""Simulated studies of a power calculation at least: a proportion of one study is no power."""


def power_lines(file: Path, study: Study | None = None) -> tuple[PowerLine, ...]:
    """The rows of `konsil power --output FILE.json` of declared analyses.

    Every row is checked, and the names of analyses against a study's where one is given.
    """
    expected = f"expected a file made by 'konsil power {option('output')} FILE.json'"
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise KonsilError(f"{file}: is larger than {LARGEST:,} bytes; {expected}")
        rows = json.loads(content)
    except OSError as error:
        raise KonsilError(f"{file}: cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):
        raise KonsilError(f"{file}: is no power calculation; {expected}") from None
    if not isinstance(rows, list):
        raise KonsilError(f"{file}: is no power calculation; {expected}")
    problems = [
        f"{file}: is no power calculation: row {n}{problem}"
        for n, row in enumerate(rows, start=1)
        for problem in (*_shape_problems(row), *_name_problems(row, study))
    ]
    if problems:
        raise KonsilError(problems[0])
    lines = tuple(_line(row) for row in rows if row["prespecified"])
    if not lines:
        raise KonsilError(
            f"{file}: is no power calculation: it has no row of a prespecified analysis; {expected}"
        )
    return lines


def _line(row: Mapping[str, object]) -> PowerLine:
    from konsil.report.manuscript.preregistration.power import PowerLine

    sides = [dict(_mapping(row[key])) for key in ("group", "versus")]
    return PowerLine(
        str(row["analysis"]),
        " − ".join(", ".join(map(str, group.values())) for group in sides if group),
        int(str(row["studies"])),
        _number(row["width"]),
        _number(row["power"]),
        tuple((column, str(value)) for group in sides for column, value in group.items()),
    )


_KEYS = ("analysis", "group", "versus", "prespecified", "studies", "width", "power")
"""What a row needs."""


def _shape_problems(row: object) -> Iterator[str]:
    """What is wrong with the values of a row, whatever the study is."""
    if not isinstance(row, Mapping):
        yield f": expected an object with the keys {', '.join(_KEYS)}"
        return
    absent = [key for key in _KEYS if key not in row]
    if absent:
        yield f": has no {absent[0]!r}; expected the keys {', '.join(_KEYS)}"
        return
    if not isinstance(row["analysis"], str):
        yield f", analysis: expected a name, got {row['analysis']!r}"
    if not isinstance(row["prespecified"], bool):
        yield f", prespecified: expected true or false, got {row['prespecified']!r}"
    for key in ("group", "versus"):
        group = row[key]
        if not isinstance(group, Mapping) or not all(isinstance(v, str) for v in group.values()):
            yield f", {key}: expected an object of columns and their values, got {group!r}"
    counts = row["studies"], row.get("undefined", 0)
    if not all(_is_count(n) for n in counts) or sum(counts) < FEWEST_STUDIES:
        yield (
            f", studies: expected a whole number of {FEWEST_STUDIES} or more simulated studies,"
            f" got {row['studies']!r}"
        )
    if not _is_between(row["width"], 0.0, math.inf):
        yield f", width: expected a finite number of 0 or more, or null, got {row['width']!r}"
    if not _is_between(row["power"], 0.0, 1.0):
        yield f", power: expected a number from 0 to 1, or null, got {row['power']!r}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_between(value: object, low: float, high: float) -> bool:
    """Whether a value is null, or a finite number within limits."""
    if value is None:
        return True
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and low <= value <= high and value < math.inf  # type: ignore[operator]


def _name_problems(row: object, study: Study | None) -> Iterator[str]:
    """What a row has that the study does not: its analysis, or whether this is prespecified."""
    if study is None or not isinstance(row, Mapping):
        return
    declared = {a.name: a.prespecified for a in study.analyses}
    name, given = row.get("analysis"), row.get("prespecified")
    if isinstance(name, str) and name not in declared:
        names = [known for known, is_prespecified in declared.items() if is_prespecified]
        yield f", analysis: there is no prespecified analysis {name!r}; {nearest(name, names)}"
    elif isinstance(name, str) and isinstance(given, bool) and declared[name] != given:
        kinds = {True: "prespecified", False: "exploratory"}
        yield (
            f", analysis: {name!r} is {kinds[declared[name]]} in the study, but {kinds[given]} in"
            " this file; run 'konsil power' again"
        )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


def shown_power(
    folder: OpenedStudy, lines: Sequence[PowerLine]
) -> tuple[tuple[PowerLine, ...], WithheldPower | None]:
    """The lines that a study may show, and a summary of those that it withholds.

    While a study is blinded, lines by system, judge or family are withheld. Blinding codes in the
    place of names would not do: widths and powers would tell which is which.
    """
    if not lines or not folder.study.blinded:
        return tuple(lines), None
    with folder.store(create=True) as store:
        if not hides(folder, store):
            return tuple(lines), None
        raters = {r.id: r for r in (*folder.study.everybody(store.events()), *store.raters())}
        answering = {a.system for a in store.answers()}
    people = _people(raters.values())
    names = _names(folder.study, raters.values()) | answering
    withheld = [
        line
        for line in lines
        if any(_is_name(column, value, people, names) for column, value in line.groups)
    ]
    if not withheld:
        return tuple(lines), None
    powers = [line.power for line in withheld if line.power is not None]
    summary = WithheldPower(
        len(withheld),
        max(line.studies for line in withheld),
        min(powers, default=None),
        max(powers, default=None),
    )
    return tuple(line for line in lines if line not in withheld), summary


def _people(raters: Iterable[Rater]) -> frozenset[str]:
    """Raters that are no judges, alone and every two as one value; blinding leaves them as is."""
    ids = [r.id for r in raters if r.kind != "llm"]
    return frozenset((*ids, *(words_of(pair_of(a, b)) for a, b in permutations(ids, 2))))


def _names(study: Study, raters: Iterable[Rater]) -> set[str]:
    """Names of systems, judges and families, which no column may show."""
    judges = [r for r in raters if r.kind == "llm"]
    families = {s.family for s in study.systems} | {r.family for r in judges}
    return {s.id for s in study.systems} | {r.id for r in judges} | families - {""}


def _is_name(column: str, value: str, people: Collection[str], names: Collection[str]) -> bool:
    """Whether the value of a column can tell who a system, a judge or a family is."""
    if value in names:
        return True
    if NAME_COLUMNS.get(column) == "rater":
        # Designs of a rating study have numbers of raters there.
        return value not in people and not value.isdecimal()
    return column in NAME_COLUMNS


def power_calculation(
    file: Path, lines: Sequence[PowerLine], withheld: WithheldPower | None = None
) -> PowerCalculation:
    """What a freeze stores of a power calculation: its declared analyses, and its file's digest."""
    studies = [line.studies for line in lines]
    return PowerCalculation(
        file.name,
        sha256(file),
        max((*studies, *([withheld.studies] if withheld else [])), default=0),
        tuple(
            {"analysis": p.analysis, "group": p.of, "width": p.width, "power": p.power}
            for p in lines
        ),
        withheld,
    )
