"""Checks of derived columns: means of a criterion, and groups of another column's values."""

from __future__ import annotations

from collections.abc import Iterator

from konsil.analysis.model.catalogue.known import NAME_COLUMNS
from konsil.analysis.model.spec import Derived
from konsil.study.definition.protocol import Study
from konsil.study.rules.form_rules import duplicate_problems
from konsil.study.rules.valid_names import panel_names, unknown_name_problems


def derived_problems(study: Study, where: str) -> Iterator[str]:
    """Problems of the derived columns: names that do not exist, and ranges the wrong way round."""
    yield from duplicate_problems(where, [d.name for d in study.derived])
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for n, column in enumerate(study.derived):
        if column.groups:
            yield from _groups(study, column, f"{where}[{n}]")
            continue
        yield from unknown_name_problems(
            f"{where}[{n}].criterion", "criterion", column.criterion, criteria
        )
        yield from unknown_name_problems(
            f"{where}[{n}].raters", "panel", column.raters, panel_names(study)
        )
        criterion = criteria.get(column.criterion)
        if criterion is not None and criterion.scale.kind == "text":
            yield (
                f"{where}[{n}].criterion: {column.criterion!r} is a free text; a derived number"
                " needs labels or numbers"
            )
        yield from duplicate_problems(f"{where}[{n}].bins", [b.label for b in column.bins])
        for m, part in enumerate(column.bins):
            if not part.low <= part.high:
                yield (
                    f"{where}[{n}].bins[{m}]: from {part.low:g} to {part.high:g}; expected the"
                    " lower end first"
                )


def _groups(study: Study, derived: Derived, where: str) -> Iterator[str]:
    if derived.criterion or derived.raters or derived.bins:
        yield (
            f"{where}.groups: a column has either groups or the mean of a criterion; remove"
            " 'groups', or 'criterion', 'raters' and 'bins'"
        )
    if derived.column in NAME_COLUMNS and study.blinded:
        yield (
            f"{where}.groups: groups of {derived.column!r} would tell the letters of a blinded"
            " study apart; remove them, or 'blinded = true'"
        )
    values = [value for group in derived.groups.values() for value in group]
    yield from duplicate_problems(f"{where}.groups", values)
    if derived.column == "system":
        for value in values:
            yield from unknown_name_problems(
                f"{where}.groups", "system", value, [s.id for s in study.systems]
            )
