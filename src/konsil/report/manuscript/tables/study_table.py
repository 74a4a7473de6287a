"""Table 1 of a manuscript: design, raters, items, and ratings with those that are missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from konsil.analysis.table.columns import tasks_by_panel, work_by_rater
from konsil.errors.message import message
from konsil.records.numerals import natural
from konsil.report.material.overview import MOST_VALUES, Material, values_by_column
from konsil.report.material.tables import Cell, Table, table

Line = tuple[str, str, str]
"""A part of the study, a characteristic, and its number."""


def study_table(material: Material) -> Table:
    """The table; empty rows are those of numbers that the study does not have."""
    _ = material.language.gettext
    lines = [*_design(material), *_raters(material), *_items(material), *_ratings(material)]
    caption = material.numbers.translated(
        message(
            "Design, raters, items and completeness of ratings.",
            message_id="manuscript.table_one",
        )
    )
    body = [(Cell(part), Cell(name), Cell(text, number=True)) for part, name, text in lines]
    value = material.numbers.translated(message("Number", message_id="manuscript.number"))
    notes = [
        message(
            "Numbers are n, n (%), mean (SD) or median [interquartile range], as stated.",
            message_id="manuscript.table_one_numbers",
        )
    ]
    if any(row.expected is not None for row in material.results.coverage):
        notes.append(
            message(
                "Percentages of ratings: of the planned ratings of the panel.",
                message_id="manuscript.table_one_planned",
            )
        )
    return table(
        material.caption(caption),
        ("", _("Characteristic"), value),
        body,
        row_heads=2,
        general=map(material.numbers.translated, notes),
    )


def _design(material: Material) -> Iterator[Line]:
    _, count = material.language.gettext, material.numbers.count
    part, counts = _("Design"), material.counts()
    yield part, _("Items"), count(counts["items"])
    cases = {item.case for item in material.items if item.case is not None}
    if cases:
        yield part, _("Cases"), count(len(cases))
    if counts["systems"]:
        yield part, _("Systems"), count(counts["systems"])
    if counts["answers"]:
        yield part, _("Answers"), count(counts["answers"])
    yield part, _("Criteria"), count(len(material.criteria()))


def _raters(material: Material) -> Iterator[Line]:
    _, numbers = material.language.gettext, material.numbers
    kinds = {"human": _("people"), "llm": _("LLM judges"), "program": _("programs")}
    panel_of = {rater.id: rater.panel for rater in material.raters}
    seconds_by_panel: dict[str, list[float]] = defaultdict(list)
    for rater, seconds, _n_screens, _n_ratings in work_by_rater(material.ratings):
        seconds_by_panel[panel_of.get(rater, "")] += seconds
    tasks = tasks_by_panel(material.ratings, panel_of, ("rater",))[0]
    for panel, members in material.panels().items():
        part = numbers.translated(
            message("Raters, {panel}", message_id="manuscript.raters_of", panel=panel)
        )
        for kind, n in sorted(Counter(rater.kind for rater in members).items()):
            name = kinds.get(kind, _("unknown"))
            yield part, name[:1].upper() + name[1:], numbers.count(n)
        for column, values in values_by_column([r.strata for r in members]).items():
            yield from _values(material, part, column, values, len(members))
        if tasks.get(panel):
            per_rater = [float(n) for n in tasks[panel]]
            text = message("Tasks per rater, mean (SD)", message_id="workload.per_rater")
            yield part, numbers.translated(text), numbers.mean_and_deviation(per_rater)
        if seconds_by_panel[panel]:
            text = message(
                "Seconds per page, median [interquartile range]",
                message_id="manuscript.seconds",
            )
            yield part, numbers.translated(text), numbers.spread(seconds_by_panel[panel])


def _items(material: Material) -> Iterator[Line]:
    _ = material.language.gettext
    part, n_items = _("Items"), len(material.items)
    sets = Counter(name for item in material.items for name in item.sets)
    yield from _values(material, part, _("Set"), sets, n_items)
    for column, values in values_by_column([item.strata for item in material.items]).items():
        yield from _values(material, part, column, values, n_items)


def _values(
    material: Material, part: str, column: str, values: Counter[str], n_all: int
) -> Iterator[Line]:
    """A line for each value of a characteristic; of too many their number."""
    _, numbers = material.language.gettext, material.numbers
    name = column.replace("_", " ")
    if len(values) > MOST_VALUES:
        text = _("%(n)s different values") % {"n": numbers.count(len(values))}
        yield part, name, text
        return
    for value in sorted(values, key=natural):
        share = f"{numbers.count(values[value])} ({_percent(material, values[value], n_all)})"
        yield part, f"{name}: {value}", share


def _percent(material: Material, n: int, n_all: int) -> str:
    return f"{material.numbers.plain(100 * n / max(1, n_all), 0)}{material.language.per_cent}"


def _ratings(material: Material) -> Iterator[Line]:
    """Planned, usable, abstained, invalid, missing and excluded ratings of each panel."""
    _, numbers = material.language.gettext, material.numbers
    for panel in dict.fromkeys(row.panel for row in material.results.coverage):
        rows = [row for row in material.results.coverage if row.panel == panel]
        excluded: Counter[str] = Counter()
        for row in rows:
            excluded.update(row.excluded)
        counts = [
            (_("Rated"), sum(row.rated for row in rows)),
            (_("Abstained"), sum(row.abstained for row in rows)),
            (_("Invalid"), sum(row.unreadable for row in rows)),
        ]
        if all(row.missing is not None for row in rows):
            counts.append((_("Missing"), sum(row.missing or 0 for row in rows)))
        counts += [
            (_("Excluded: %(reason)s") % {"reason": reason}, n)
            for reason, n in sorted(excluded.items())
        ]
        part = numbers.translated(
            message("Ratings, {panel}", message_id="manuscript.ratings_of", panel=panel)
        )
        expected = [row.expected for row in rows if row.expected is not None]
        planned = sum(expected) if len(expected) == len(rows) else 0
        if planned:
            text = message("Planned", message_id="manuscript.planned")
            yield part, numbers.translated(text), numbers.count(planned)
        for name, n in counts:
            share = f" ({_percent(material, n, planned)})" if planned else ""
            yield part, name, f"{numbers.count(n)}{share}"
