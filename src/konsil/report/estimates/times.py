"""Table 1, the part on the pages: rating times, and answers displayed to their end."""

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
        _("Active seconds per page"),
        _("Open seconds per page"),
        _("Answers displayed to the end"),
        _("Answers without this record"),
    )
    return table(
        material.caption(_("Time per page.")),
        head,
        rows,
        row_heads=2,
        general=(
            _(
                "Displayed to the end: answers on submitted pages whose last line was in"
                " the window at least once while the page was open, out of the answers"
                " with this record."
            ),
            _(
                "Active time: page visible with input within the previous 60 s, up to"
                " first submission. Open: total time the page was open. Median"
                " [interquartile range]; practice, pilot and pages without an item are"
                " excluded."
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
        *_displayed(material, task_times),
    )


def _displayed(material: Material, works: Sequence[Worked]) -> tuple[Cell, Cell]:
    """Proportion of answers displayed to their end where recorded, and the number not recorded."""
    answers = [shown for work in works for shown in work.displayed]
    n, n_shown = answers.count(True), sum(shown is not None for shown in answers)
    unknown = material.numbers.count(len(answers) - n_shown)
    return Cell(material.numbers.proportion(n, n_shown), number=True), Cell(unknown, number=True)


def _recorded(seconds: Iterable[float | None]) -> list[float]:
    return [s for s in seconds if s is not None]
