"""Reconciliation of public tables: rows read, retained and left out by kind, and why."""

from __future__ import annotations

from collections.abc import Mapping

from konsil.analysis.model.message import message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Table, table

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
