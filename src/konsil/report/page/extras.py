"""Sections beside the analyses: those that a caller adds, and reconciled public tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from konsil.errors.message import message
from konsil.report.estimates.plots import paged
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.material.overview import Material
from konsil.report.material.section import Recovered, Section
from konsil.report.material.slugs import anchor
from konsil.report.material.tables import Cell, Numbers, Table, table

READING = "reading"
"""The kind of the events that say what was read from files of ratings."""

KINDS = {
    "questions": message("Questions", message_id="reconciliation.questions"),
    "users": message("Raters", message_id="reconciliation.users"),
    "comparisons": message("Comparisons assigned", message_id="reconciliation.comparisons"),
    "comparisons rated": message(
        "Comparisons with a rating", message_id="reconciliation.comparisons_rated"
    ),
    "ratings of users": message("Ratings of people", message_id="reconciliation.ratings"),
    "verdicts of judges": message("Ratings of LLM judges", message_id="reconciliation.verdicts"),
    "replies": message("JSON replies of LLM judges", message_id="reconciliation.replies"),
    "values of replies": message(
        "Values of the replies with ratings", message_id="reconciliation.values"
    ),
}
"""Kind of row, as the import counts it -> what the table calls it, in the table's order."""

REASONS = {
    "user of the pilot (prior_users)": message(
        "rater of the pilot phase", message_id="reconciliation.pilot"
    ),
    "user in an arm outside the experiment": message(
        "rater in an arm outside the experiment", message_id="reconciliation.arm_outside"
    ),
    "user with a test address": message(
        "rater with a test address", message_id="reconciliation.test_address"
    ),
    "no user": message("no rater recorded", message_id="reconciliation.no_user"),
    "user in no table of users": message(
        "rater not in the tables", message_id="reconciliation.unknown_user"
    ),
    "question in no table of questions": message(
        "question not in the tables", message_id="reconciliation.question"
    ),
    "no comparison that enters": message(
        "rater without a retained comparison", message_id="reconciliation.idle"
    ),
    "of no assignment": message(
        "rating of no comparison", message_id="reconciliation.no_assignment"
    ),
    "of an assignment in no table": message(
        "comparison not in the tables", message_id="reconciliation.unknown_assignment"
    ),
    "of a comparison that does not enter": message(
        "comparison excluded", message_id="reconciliation.left_out"
    ),
    "of another arm than the assignment's": message(
        "arm other than that of the comparison", message_id="reconciliation.other_arm"
    ),
    "on an axis that criteria leaves out": message(
        "criterion excluded by the protocol", message_id="reconciliation.criterion"
    ),
    "no choice": message("no choice recorded", message_id="reconciliation.no_choice"),
    "unparseable reply": message("reply unparseable", message_id="reconciliation.unparseable"),
    "empty reply": message("reply empty", message_id="reconciliation.empty"),
    "value not on the scale": message("value not on the scale", message_id="reconciliation.scale"),
    "several values of a key": message(
        "several values of a key", message_id="reconciliation.several"
    ),
    "key without a value": message("key without a value", message_id="reconciliation.no_value"),
    "no key of the criterion": message(
        "no key of the criterion", message_id="reconciliation.no_key"
    ),
    "told twice": message("duplicate of another row", message_id="reconciliation.twice"),
}
"""Reason, as the import counts it -> its words."""


@dataclass(frozen=True)
class Extra:
    """A caller's section, ready for the page."""

    anchor: str
    """Where the page links to."""
    title: str
    """The heading."""
    paragraphs: tuple[str, ...]
    """Plain text."""
    tables: tuple[Table, ...]
    """Its tables."""
    figures: tuple[Drawing, ...]
    """Its figures."""


def extra(material: Material, section: Section) -> Extra:
    """Round, number and draw what the caller gave."""
    _, numbers = material.language.gettext, material.numbers
    section = _translated(section, numbers)
    tables: list[Table] = []
    figures: list[Drawing] = []
    if section.header:
        rows = [[numbers.cell(value) for value in row] for row in section.rows]
        caption = material.caption(section.caption or section.title)
        tables.append(table(caption, section.header, rows, general=section.notes))
    if section.recovered:
        rows = []
        for parameter in section.recovered:
            e = parameter.estimate
            inside = _("yes") if e.low <= parameter.truth <= e.high else _("no")
            truth = Cell(numbers.plain(parameter.truth), number=True)
            covered = Cell(inside if e.low == e.low else "–")
            rows.append(
                [Cell(parameter.group), Cell(_name(parameter)), truth, numbers.estimate(e), covered]
            )
        head = (
            _("Group"),
            _("Parameter"),
            _("True value"),
            _("Estimate and interval"),
            _("CI contains true value"),
        )
        first = 0 if any(parameter.group for parameter in section.recovered) else 1
        caption = material.caption(_("True values of the simulation and estimates."))
        general = [_("By definition, a 95% CI misses the true value in one of 20 cases.")]
        general += () if section.header else section.notes
        shown = [row[first:] for row in rows]
        tables.append(table(caption, head[first:], shown, row_heads=2 - first, general=general))
        figures += _recovery(material, section)
    return Extra(
        anchor("section", section.title),
        section.title,
        section.paragraphs,
        tuple(tables),
        tuple(figures),
    )


def _translated(section: Section, numbers: Numbers) -> Section:
    """The section in the report's language, where the caller's texts can be told in it."""

    def translated(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(numbers.translated(text) for text in texts)

    return replace(
        section,
        title=numbers.translated(section.title),
        paragraphs=translated(section.paragraphs),
        header=translated(section.header),
        rows=tuple(
            tuple(numbers.translated(v) if isinstance(v, str) else v for v in row)
            for row in section.rows
        ),
        caption=numbers.translated(section.caption),
        notes=translated(section.notes),
        recovered=tuple(
            replace(r, name=numbers.translated(r.name), group=numbers.translated(r.group))
            for r in section.recovered
        ),
    )


def _name(parameter: Recovered) -> str:
    """The parameter without its group, which is next to or above it."""
    return (
        parameter.name.removeprefix(f"{parameter.group}: ") if parameter.group else parameter.name
    )


def _recovery(material: Material, section: Section) -> list[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    dots = [
        Dot(
            _name(r),
            r.estimate.value,
            r.estimate.low,
            r.estimate.high,
            numbers.with_interval(r.estimate),
            r.group,
            r.truth,
        )
        for r in section.recovered
    ]
    parts = paged(dots)
    drawings = []
    for n, part in enumerate(parts):
        caption = _("Diamonds: true values; dots: estimates; lines: CI.")
        if len(parts) > 1:
            caption += " " + _("Part %(n)s of %(total)s.") % {"n": n + 1, "total": len(parts)}
        about = About(
            key=anchor("recovery", section.title) + (f"-{n + 1}" if len(parts) > 1 else ""),
            title=section.title,
            description="; ".join(f"{d.label}: {numbers.plain(d.mark)}, {d.text}" for d in part),
            caption=material.caption(caption),
            stamp=material.stamp,
        )
        heading = _("Estimate and interval")
        drawings.append(
            forest(
                about,
                part,
                numbers,
                axis=ValueAxis(_("Value")),
                heading=heading,
                mark=_("true value"),
            )
        )
    return drawings


def reconciliation(material: Material) -> Table | None:
    """What became of the rows of public tables; None where none were read."""
    numbers = material.numbers
    rows = []
    for event in sorted(
        (e for e in material.events if e.kind == READING), key=lambda e: (e.at, e.id)
    ):
        counted = _tallies(event.data)
        for kind, words in KINDS.items():
            tally = counted.get(kind) if isinstance(counted, Mapping) else None
            if not isinstance(tally, Mapping) or not (tally.get("read") or tally.get("kept")):
                continue
            name = numbers.translated(words)
            rows.append(_row(material, name, "", tally.get("read"), tally.get("kept"), None))
            left_out = tally.get("left out")
            reasons = (
                sorted(left_out.items(), key=lambda pair: (-pair[1], pair[0])) if left_out else ()
            )
            for reason, n in reasons:
                rows.append(
                    _row(
                        material,
                        name,
                        numbers.translated(REASONS.get(reason, reason)),
                        None,
                        None,
                        n,
                    )
                )
    if not rows:
        return None
    caption = message(
        "Rows of the imported tables: read, retained and excluded, with the reason.",
        message_id="reconciliation.caption",
    )
    head = (
        message("Rows", message_id="reconciliation.rows"),
        message("Reason", message_id="reconciliation.reason"),
        message("Read", message_id="reconciliation.read"),
        message("Retained", message_id="reconciliation.kept"),
        message("Excluded", message_id="reconciliation.out"),
    )
    return table(
        material.caption(numbers.translated(caption)),
        [numbers.translated(h) for h in head],
        rows,
        row_heads=2,
    )


def _tallies(data: Mapping[str, object]) -> object:
    """Kind of row -> its counts; of replies in cells, the import counts these beside the tables."""
    tables = data.get("tables")
    if data.get("of") != "replies":
        return tables
    tally = {"read": data.get("read"), "kept": data.get("kept"), "left out": data.get("dropped")}
    return {"replies": tally, **(tables if isinstance(tables, Mapping) else {})}


def _row(material: Material, kind: str, reason: str, *numbers: object) -> tuple[Cell, ...]:
    cells = [
        Cell(material.numbers.count(n) if isinstance(n, int) else "", number=True) for n in numbers
    ]
    return Cell(kind), Cell(reason), *cells
