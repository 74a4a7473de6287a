"""Whether what a simulation.toml states fits the study, name by name and number by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from konsil.errors import StudyError, nearest
from konsil.records import Answer, Item
from konsil.simulate.truth import Departure, PanelTruth, SystemTruth, Truth
from konsil.study import Study


def check_truth(
    truth: Truth,
    study: Study,
    answers: Iterable[Answer] = (),
    name: str = "simulation.toml",
    *,
    items: Sequence[Item] = (),
) -> None:
    """Raise a StudyError that lists every unknown name and every number out of its range.

    A name is unknown that the study does not have. With `items`, the columns and values that
    qualities are stated for must be theirs.
    """
    problems = (
        *_names(truth, study, answers, name),
        *_numbers(truth, study, name),
        *_columns(truth, items, name),
        *_places(truth, study, name),
    )
    if problems:
        raise StudyError("\n".join(problems))


def _names(truth: Truth, study: Study, answers: Iterable[Answer], name: str) -> Iterator[str]:
    known_answers = {a.id: a.system for a in answers}
    panels, raters = set(study.panels()), {r.id for r in study.everybody()}
    systems = {s.id for s in study.systems} | set(known_answers.values())
    criteria = {c.id for i in study.instruments for c in i.criteria}
    named: list[tuple[str, Iterable[str], set[str]]] = [
        ("systems", truth.systems, systems),
        ("panels", truth.panels, panels),
        ("raters", truth.raters, raters),
        ("criteria", truth.criteria, criteria),
        ("wrong_answers", truth.wrong_answers, set(known_answers)),
    ]
    for system, stated in truth.systems.items():
        named.append((f"systems.{system}.strength_on: criteria", stated.strength_on, criteria))
    for n, departure in enumerate(truth.exceptions):
        instruments = {
            i.id
            for i in study.instruments
            if not departure.criterion or departure.criterion in _ids(i.criteria)
        }
        named += [
            (f"exceptions[{n}].panels", departure.panels, panels),
            (f"exceptions[{n}].raters", departure.raters, raters),
            (f"exceptions[{n}].criterion: criteria", filter(None, [departure.criterion]), criteria),
        ]
        if departure.criterion in {"", *criteria}:
            scope = f" with the criterion {departure.criterion!r}" if departure.criterion else ""
            if departure.instrument and departure.instrument not in instruments:
                yield (
                    f"{name}: exceptions[{n}].instrument: the study has no instrument"
                    f" {departure.instrument!r}{scope};"
                    f" {nearest(departure.instrument, instruments)}"
                )
    for where, names, valid_names in named:
        for stated_name in names:
            if stated_name not in valid_names:
                kind = _SINGULAR.get(where.split()[-1].split(".")[-1], "")
                yield (
                    f"{name}: {where.removesuffix(': criteria')}: the study has no {kind}"
                    f" {stated_name!r}; " + (nearest(stated_name, valid_names))
                )


def _places(truth: Truth, study: Study, name: str) -> Iterator[str]:
    """Columns and values of raters and arms that an exception names and nobody has."""
    values: dict[str, set[str]] = {
        "arm": {arm for a in study.plan for arm in a.arms},
        "phase": {a.phase for a in study.plan},
    }
    for rater in study.everybody():
        for column, value in rater.strata.items():
            values.setdefault(column, set()).add(value)
    for n, departure in enumerate(truth.exceptions):
        for column, value in departure.where.items():
            where = f"{name}: exceptions[{n}].where"
            if column not in values:
                yield f"{where}: the raters have no column {column!r}; {nearest(column, values)}"
            elif value not in values[column]:
                yield f"{where}.{column}: nobody has {value!r}; {nearest(value, values[column])}"


def _ids(criteria: Iterable[object]) -> set[str]:
    return {str(getattr(c, "id", "")) for c in criteria}


def _columns(truth: Truth, items: Sequence[Item], name: str) -> Iterator[str]:
    if not items:
        return
    values: dict[str, set[str]] = {}
    for item in items:
        for column, value in item.strata.items():
            values.setdefault(column, set()).add(value)
    for system, stated in truth.systems.items():
        for column, by in stated.quality_by.items():
            where = f"{name}: systems.{system}.quality_by"
            if column not in values:
                yield f"{where}: the items have no column {column!r}; {nearest(column, values)}"
                continue
            for value in by:
                if value not in values[column]:
                    yield (
                        f"{where}.{column}: no item has {value!r} there;"
                        f" {nearest(value, values[column])}"
                    )


def _numbers(truth: Truth, study: Study, name: str) -> Iterator[str]:
    yield from _item_problems(truth, name)
    for system, stated in truth.systems.items():
        yield from _system_problems(stated, f"{name}: systems.{system}")
    for where, panels in (("panels", truth.panels), ("raters", truth.raters)):
        for panel, panel_truth in panels.items():
            yield from _panel_problems(panel_truth, f"{name}: {where}.{panel}")
    for n, exception in enumerate(truth.exceptions):
        yield from _exception_problems(truth, study, exception, f"{name}: exceptions[{n}]")
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for criterion, criterion_truth in truth.criteria.items():
        if criterion in criteria and criterion_truth.best:
            labels = criteria[criterion].scale.labels
            if criterion_truth.best not in (labels[:1] + labels[-1:]):
                yield (
                    f"{name}: criteria.{criterion}.best: {criterion_truth.best!r} is not the first"
                    f" or last"
                    f" label of {list(labels)}"
                )
        if not 0 <= criterion_truth.right <= 1:
            yield (
                f"{name}: criteria.{criterion}.right: expected a number from 0 to 1, got"
                f" {criterion_truth.right:g}"
            )
    for share in ("sentence_errors", "sentence_shared", "length_shared"):
        value = getattr(truth, share)
        if not 0 <= value <= 1:
            yield f"{name}: {share}: expected a number from 0 to 1, got {value:g}"
    if not truth.difficulty_spread >= 0 or not truth.label_width > 0:
        yield f"{name}: difficulty_spread is 0 or more and label_width is above 0"


def _item_problems(truth: Truth, name: str) -> Iterator[str]:
    for column, shares in truth.items.items():
        if not shares or min(shares.values()) < 0 or sum(shares.values()) <= 0:
            yield f"{name}: items.{column}: expected a share above 0 for each value"


def _exception_problems(
    truth: Truth, study: Study, departure: Departure, where: str
) -> Iterator[str]:
    yield from _panel_problems(departure, where)
    for panel in departure.panels or study.panels():
        plain = truth.panels.get(panel, PanelTruth())
        shared = plain.shared if departure.shared is None else departure.shared
        both = shared + (plain.item_rater if departure.item_rater is None else departure.item_rater)
        if both > 1 and {departure.shared, departure.item_rater} != {None}:
            yield (
                f"{where}.shared: with the item_rater of {panel!r} it makes {both:g}, more than the"
                " whole"
            )
    if departure.criterion and departure.seconds is not None:
        yield f"{where}.seconds: times apply to whole tasks; remove criterion"


def _system_problems(stated: SystemTruth, where: str) -> Iterator[str]:
    qualities = {"quality": stated.quality} | {
        f"quality_by.{column}.{value}": quality
        for column, by in stated.quality_by.items()
        for value, quality in by.items()
    }
    for key, quality in qualities.items():
        if not 0 < quality < 1:
            yield f"{where}.{key}: expected a number between 0 and 1, got {quality:g}"
    if not stated.length >= 0:
        yield f"{where}.length: expected 0 or more characters, got {stated.length:g}"
    if not 0 <= stated.hidden <= 1:
        yield f"{where}.hidden: expected a number from 0 to 1, got {stated.hidden:g}"


def _panel_problems(panel: PanelTruth | Departure, where: str) -> Iterator[str]:
    for f in fields(panel):
        value = getattr(panel, f.name)
        if not isinstance(value, (int, float)):
            continue
        low, high = _RANGES.get(f.name, (0.0, float("inf")))
        if not low <= value <= high:
            yield f"{where}.{f.name}: expected a number from {low:g} to {high:g}, got {value:g}"
    if (panel.shared or 0) + (panel.item_rater or 0) > 1:
        both = (panel.shared or 0) + (panel.item_rater or 0)
        yield f"{where}.shared: with item_rater it makes {both:g}, more than the whole"


_SINGULAR = {
    "systems": "system",
    "panels": "panel",
    "raters": "rater",
    "criteria": "criterion",
    "wrong_answers": "wrong answer",
}
_ANY = (-20.0, 20.0)
_RANGES: Mapping[str, tuple[float, float]] = {
    "accuracy": (0.001, 0.999),
    "approves": (0.001, 0.999),
    "leniency": _ANY,
    "shift": _ANY,
    "self_preference": _ANY,
    "shared": (0.0, 1.0),
    "item_rater": (0.0, 1.0),
    "perception": (0.0, 1.0),
    "abstention": (0.0, 0.999),
    "abstention_slope": _ANY,
    "position": _ANY,
}
