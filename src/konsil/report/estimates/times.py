"""Table 1, the part on time: how long people worked on a screen, by rater and all together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from konsil.records.worked import Worked
from konsil.report.material.overview import Material, natural
from konsil.report.material.tables import Cell, Table, table

MOST_RATERS = 60
"""With more raters than this the table has a row a panel and none a rater."""


def times(material: Material) -> Table | None:
    """Active and open seconds a screen; None where nothing was rated on the pages."""
    _ = material.language.gettext
    if not material.times:
        return None
    by_rater: dict[str, list[Worked]] = {}
    for task_time in material.times:
        by_rater.setdefault(task_time.rater, []).append(task_time)
    panel_of = {rater.id: rater.panel for rater in material.raters}
    panels: dict[str, list[str]] = {}
    for rater in sorted(by_rater, key=natural):
        panels.setdefault(panel_of.get(rater, ""), []).append(rater)
    rows = []
    for panel, raters in sorted(panels.items(), key=lambda pair: natural(pair[0])):
        if len(by_rater) <= MOST_RATERS:
            rows += [_row(material, panel, rater, by_rater[rater]) for rater in raters]
        if len(raters) > 1 or len(by_rater) > MOST_RATERS:
            rows.append(
                _row(material, panel, _("all"), [w for rater in raters for w in by_rater[rater]])
            )
    if len(panels) > 1:
        rows.append(_row(material, _("all panels"), "", material.times))
    head = (
        _("Panel"),
        _("Rater"),
        _("Screens"),
        _("Active seconds per screen"),
        _("Open seconds per screen"),
    )
    return table(
        material.caption(_("Time for a screen.")),
        head,
        rows,
        row_heads=2,
        general=(
            _(
                "Active: until it was handed in first, the page visible and some input within the"
                " last minute. Open: all the time its page was open. Median [interquartile range];"
                " practice, pilot and pages without an item are left out."
            ),
        ),
    )


def _row(
    material: Material, panel: str, rater: str, task_times: Sequence[Worked]
) -> tuple[Cell, ...]:
    numbers = material.numbers
    return (
        Cell(panel),
        Cell(rater),
        Cell(numbers.count(len(task_times)), number=True),
        Cell(numbers.spread(_recorded(w.active for w in task_times)), number=True),
        Cell(numbers.spread(_recorded(w.wall for w in task_times)), number=True),
    )


def _recorded(seconds: Iterable[float | None]) -> list[float]:
    return [s for s in seconds if s is not None]
