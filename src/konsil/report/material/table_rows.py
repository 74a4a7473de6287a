"""Rows of estimates for tables and figures, with companions, columns and contrasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.analysis import Row
from konsil.analysis.judges.injections import KIND
from konsil.analysis.model.catalogue.known import OF_WHOLE_CASES
from konsil.analysis.model.options import CaseOptions
from konsil.errors.message import message
from konsil.prepare import MATCH
from konsil.report.material.overview import Material, natural
from konsil.report.material.tables import MINUS


@dataclass(frozen=True)
class Joined:
    """A row with its alternative intervals and its benchmark."""

    row: Row
    """An estimate or a difference."""
    companions: tuple[Row, ...] = ()
    """Other intervals of the same number."""
    benchmark: Row | None = None
    """The same statistic of another group, to be compared with: the ceiling that a panel sets its
    judges."""

    @property
    def benchmark_name(self) -> str:
        """What the row beside is about: the values of its group that are not this row's."""
        if self.benchmark is None:
            return ""
        return ", ".join(v for c, v in self.benchmark.group.items() if self.row.group.get(c) != v)


def join(rows: Sequence[Row]) -> list[Joined]:
    """Join companions to their row.

    A companion has the same group, or all of the group but one column.
    """
    joined: list[Joined] = []
    for row in rows:
        if row.kind != "companion" or not joined:
            joined.append(Joined(row))
        elif (row.group, row.versus) == (joined[-1].row.group, joined[-1].row.versus):
            joined[-1] = replace(joined[-1], companions=(*joined[-1].companions, row))
        else:
            last = [
                n
                for n, line in enumerate(joined)
                if line.row.kind == "estimate" and _neighbours(line.row, row)
            ][-1:]
            joined = [
                replace(line, benchmark=row) if n in last else line for n, line in enumerate(joined)
            ]
            joined += [] if last else [Joined(row)]
    return joined


def _neighbours(row: Row, other: Row) -> bool:
    columns = {*row.group, *other.group}
    return sum(row.group.get(c) != other.group.get(c) for c in columns) == 1


def columns_of(rows: Sequence[Joined]) -> list[str]:
    """The group columns in the order in which the rows name them."""
    return list(
        dict.fromkeys(column for line in rows for column in (*line.row.group, *line.row.versus))
    )


def in_order(material: Material, rows: Sequence[Joined]) -> list[Joined]:
    """Sort rows as the protocol orders ranges, systems and raters.

    Strata naturally, other columns as they come.
    """
    study = material.study
    value_orders = {d.name: list(d.labels) for d in study.derived}
    value_orders |= {"level": list(levels_of(material)), "criterion": list(material.criteria())}
    value_orders |= {"system": [s.id for s in study.systems], "rater": [r.id for r in study.raters]}
    places: dict[str, dict[str, int]] = {}
    for column in columns_of(rows):
        present = dict.fromkeys(line.row.group[column] for line in rows if column in line.row.group)
        first = dict.fromkeys(value for value in value_orders.get(column, ()) if value in present)
        rest = list(present) if column in _AS_THEY_COME else sorted(present, key=natural)
        places[column] = {
            value: n for n, value in enumerate([*first, *(v for v in rest if v not in first)])
        }
    return sorted(
        rows, key=lambda line: [places[c].get(line.row.group.get(c, ""), -1) for c in places]
    )


def levels_of(material: Material) -> tuple[str, ...]:
    """The levels of information in the order that the protocol's analyses give them.

    Empty where none does.
    """
    options = (a.options for a in material.study.analyses)
    return next((o.levels for o in options if isinstance(o, CaseOptions) and o.levels), ())


_AS_THEY_COME = {
    "ensemble",
    "size",
    "raters",
    "version",
    "effect",
    "other",
    "systems",
    "sentences",
    MATCH,
}
"""Columns whose values the analysis has put into an order: by rank, or no before yes in any
language."""


def benchmark_names(rows: Sequence[Joined]) -> list[str]:
    """What the rows beside are about, each once."""
    return list(dict.fromkeys(line.benchmark_name for line in rows if line.benchmark is not None))


def column_title(material: Material, column: str) -> str:
    """The title of a group column.

    Konsil's own in the report's language, strata by the study's name.
    """
    _ = material.language.gettext
    titles = {
        "system": _("System"),
        "rater": _("Rater"),
        "panel": _("Panel"),
        "arm": _("Arm"),
        "item": _("Item"),
    }
    titles |= {
        "case": _("Case"),
        "phase": _("Phase"),
        "batch": _("Batch"),
        "instrument": _("Instrument"),
    }
    titles |= {
        "ensemble": _("Ensemble"),
        "size": _("Judges"),
        "raters": _("Raters"),
        "version": _("Version"),
    }
    titles |= {"rival": _("Against"), "length": _("Length"), "criterion": _("Criterion")}
    titles |= {
        "level": _("Information level"),
        "systems": _("Systems"),
        "effect": _("Effect"),
        "other": _("Other criterion"),
    }
    titles |= {
        "design": _("Design"),
        "sentences": _("Sentences"),
        "minutes": _("Minutes per answer"),
    }
    titles |= {MATCH: _("Verbatim match")}
    titles |= {
        KIND: material.numbers.translated(message("Instruction", message_id="injection.column"))
    }
    titles |= {d.name: d.title for d in material.study.derived if d.title}
    return titles.get(column, column)


def contrast(row: Row, column: str, material: Material | None = None) -> str:
    """One value where both groups share it, else: this minus that; criteria by their titles."""
    value, subtracted = (
        group.get(column, "")
        if material is None
        else shown_value(material, column, group.get(column, ""))
        for group in (row.group, row.versus)
    )
    return value if value == subtracted or not subtracted else f"{value} {MINUS} {subtracted}"


def shown_value(material: Material, column: str, value: str) -> str:
    """A value of a group column as a reader sees it: of a criterion its title.

    Of a correlation of criteria the other one is a criterion too.
    """
    if column not in _CRITERIA or value not in material.criteria():
        return value
    return material.criterion(value)


_CRITERIA = ("criterion", "other")
"""Columns whose values may be criteria."""


def shared_contrast(rows: Sequence[Row], column: str) -> str:
    """The contrast of a column where all of several differences have the same; else nothing."""
    contrasts = {contrast(row, column) for row in rows}
    is_contrast = all(row.kind == "difference" and row.versus.get(column) for row in rows)
    several_columns = any(len(row.group) > 1 for row in rows)
    return contrasts.pop() if is_contrast and several_columns and len(contrasts) == 1 else ""


def estimates_of(material: Material, analysis: str) -> list[Joined]:
    """The estimates of an analysis that could be made, in the order of the protocol's groups."""
    rows = [r for r in material.results.rows if r.analysis == analysis and not r.detail]
    estimates = [line for line in join(rows) if line.row.kind == "estimate" and line.row.is_made]
    return in_order(material, estimates)


def value_head(material: Material, rows: Sequence[Joined]) -> str:
    """The heading of the column of values, with the intervals' level where they share one."""
    _ = material.language.gettext
    difference = rows[0].row.kind == "difference"
    return with_level(material, _("Difference") if difference else _("Estimate"), rows)


def with_level(material: Material, word: str, rows: Sequence[Joined]) -> str:
    """A heading with the intervals' level where they share one."""
    levels = {line.row.estimate.level for line in rows}
    level = material.numbers.level(levels.pop()) if len(levels) == 1 else ""
    text = material.language.gettext("%(word)s [%(level)s%% CI]")
    return text % {"word": word, "level": level} if level else word


def n_counted(row: Row) -> int:
    """What an estimate rests on: the rated units, or the cases where it is of whole cases."""
    return row.estimate.n_clusters if row.statistic in OF_WHOLE_CASES else row.n_units


def counts_of(row: Row) -> tuple[int, ...]:
    """What an estimate rests on; of a difference what each group rests on, if they differ."""
    if row.statistic in OF_WHOLE_CASES or not row.n_units_versus:
        return (n_counted(row),)
    return (row.n_units, row.n_units_versus)


def raters_of(material: Material, row: Row) -> str:
    """How many raters an estimate has; a dash where that is withheld."""
    return material.numbers.count(None if row.is_withheld else row.n_raters)


def units_of(material: Material, row: Row) -> str:
    """The units of both groups of a difference: its clusters are those of both.

    A dash where they are withheld.
    """
    if row.is_withheld:
        return material.numbers.count(None)
    return " / ".join(material.numbers.count(n) for n in counts_of(row))
