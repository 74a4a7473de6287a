"""Table 1, the part on the work: tasks per rater and item, comparisons per system, lengths."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from konsil.analysis.table.columns import rating_columns, tasks_by_panel
from konsil.errors.message import TranslatableMessage, message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Numbers, Table, table

Comparison = tuple[str, str, tuple[str, str]]
"""A rater, an item and the two answers that the rater compared."""


def workload(material: Material) -> list[Table]:
    """The tables of the work; those on comparisons only where two answers were compared.

    Without these while numbers of single systems are withheld: they count ratings by system.
    """
    tables = [_tasks(material)]
    by_panel = _comparisons(material)
    if by_panel and not material.results.is_withheld:
        tables.append(_by_system(material, by_panel))
        people = {r.id for r in material.raters if r.kind == "human"}
        of_people = [c for several in by_panel.values() for c in several if c[0] in people]
        tables.append(longer_answers(material, of_people))
    return [part for part in tables if part.rows]


def _tasks(material: Material) -> Table:
    """One row a panel: tasks per rater and per item, and how many planned ratings were given."""
    _, numbers = material.language.gettext, material.numbers
    panel_of = {rater.id: rater.panel for rater in material.raters}
    per_rater, per_item = tasks_by_panel(material.ratings, panel_of, ("rater", "item"))
    planned, given = _planned(material)
    rows = [
        (
            Cell(panel),
            *_distribution(numbers, per_rater[panel]),
            *_distribution(numbers, per_item[panel]),
            Cell(
                numbers.proportion(given[panel], planned[panel]) if planned.get(panel) else "–",
                number=True,
            ),
        )
        for panel in material.panels()
        if panel in per_rater
    ]
    texts = (
        message("Tasks per rater, mean (SD)", message_id="workload.per_rater"),
        message("Range", message_id="workload.range"),
        message("Tasks per item, mean (SD)", message_id="workload.per_item"),
        message("Range", message_id="workload.range"),
        message("Ratings given of those planned", message_id="workload.completed"),
    )
    notes = [
        message(
            "Submitted tasks of raters with at least one, and of items with at least one; excluded"
            " ratings and repeated tasks are included.",
            message_id="workload.submitted",
        ),
    ]
    if any(form.present == "sentence" for form in material.study.instruments):
        notes.append(
            message(
                "On forms with one marked sentence per page, each sentence is a task.",
                message_id="workload.sentences",
            )
        )
    return table(
        material.caption(
            numbers.translated(
                message("Tasks per rater and per item.", message_id="workload.caption")
            )
        ),
        (_("Panel"), *map(numbers.translated, texts)),
        rows,
        general=map(numbers.translated, notes),
    )


def _planned(material: Material) -> tuple[Counter[str], Counter[str]]:
    """Panel -> its planned ratings, and those of them that were given; without a plan none."""
    planned: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for row in material.results.coverage:
        if row.expected is not None:
            planned[row.panel] += row.expected
            given[row.panel] += min(row.received, row.expected)
    return planned, given


def _distribution(numbers: Numbers, counts: Sequence[int]) -> tuple[Cell, Cell]:
    """Mean with standard deviation, and range."""
    low, high = numbers.count(min(counts)), numbers.count(max(counts))
    return (
        Cell(numbers.mean_and_deviation([float(n) for n in counts]), number=True),
        Cell(low if low == high else f"{low}–{high}", number=True),
    )


def _comparisons(material: Material) -> dict[str, list[Comparison]]:
    """Panel -> its comparisons, each once whatever the number of criteria."""
    of_pairs = [c.id for c in material.criteria().values() if c.scope == "pair"]
    if not of_pairs:
        return {}
    frame = rating_columns(material.ratings).select("task", "rater", "item", "answers", "criterion")
    panel_of = {rater.id: rater.panel for rater in material.raters}
    by_panel: dict[str, dict[tuple[str, str], Comparison]] = defaultdict(dict)
    for task, rater, item, answers, criterion in frame.iter_rows():
        two = tuple(json.loads(answers)) if criterion in of_pairs else ()
        if len(two) == 2:
            by_panel[panel_of.get(rater, "")][(task, rater)] = (rater, item, two)
    return {panel: [*each.values()] for panel, each in by_panel.items()}


def _by_system(material: Material, by_panel: Mapping[str, Sequence[Comparison]]) -> Table:
    """One row a panel and system: its comparisons, and of how many items and raters they are."""
    _, numbers = material.language.gettext, material.numbers
    system_of = {a.id: a.system for a in material.answers}
    rows = []
    for panel in [p for p in material.panels() if p in by_panel]:
        of_system: dict[str, list[Comparison]] = defaultdict(list)
        for comparison in by_panel[panel]:
            for system in {system_of.get(answer, "") for answer in comparison[2]}:
                of_system[system].append(comparison)
        rows += [
            (
                Cell(panel),
                Cell(system),
                *(
                    Cell(numbers.count(n), number=True)
                    for n in (
                        len(of_system[system]),
                        len({item for _rater, item, _two in of_system[system]}),
                        len({rater for rater, _item, _two in of_system[system]}),
                    )
                ),
            )
            for system in material.ordered_systems(of_system)
        ]
    comparisons = message("Comparisons", message_id="workload.comparisons")
    caption = message("Comparisons per system.", message_id="workload.per_system")
    return table(
        material.caption(numbers.translated(caption)),
        (_("Panel"), _("System"), numbers.translated(comparisons), _("Items"), _("Raters")),
        rows,
        row_heads=2,
    )


def longer_answers(material: Material, comparisons: Sequence[Comparison]) -> Table:
    """How often the answer of a row's system is longer than that of a column's.

    The proportion of the comparisons of the two systems; equal lengths stay in its denominator, and
    comparisons with an answer of unknown length are left out and counted.
    """
    _, numbers = material.language.gettext, material.numbers
    lengths = material.answer_lengths()
    system_of = {a.id: a.system for a in material.answers}
    longer: Counter[tuple[str, str]] = Counter()
    compared: Counter[tuple[str, str]] = Counter()
    n_unknown = n_equal = 0
    for _rater, _item, (first, second) in comparisons:
        if not lengths.get(first) or not lengths.get(second):
            n_unknown += 1
            continue
        n_equal += lengths[first] == lengths[second]
        for a, b in ((first, second), (second, first)):
            two = system_of.get(a, ""), system_of.get(b, "")
            compared[two] += 1
            longer[two] += lengths[a] > lengths[b]
    systems = material.ordered_systems(system for two in compared for system in two)
    rows = [
        (
            Cell(row),
            *(
                Cell(
                    numbers.proportion(longer[row, column], compared[row, column])
                    if compared[row, column]
                    else "–",
                    number=True,
                )
                for column in systems
            ),
        )
        for row in systems
    ]
    caption = message(
        "Comparisons by people in which the answer of the row's system is longer than that of the"
        " column's.",
        message_id="workload.longer",
    )
    return table(
        material.caption(numbers.translated(caption)),
        (_("System"), *systems),
        rows,
        general=map(numbers.translated, _length_notes(n_equal, n_unknown)),
    )


def _length_notes(n_equal: int, n_unknown: int) -> Iterator[TranslatableMessage]:
    yield message("Lengths in characters; dash: never compared.", message_id="workload.characters")
    if n_equal:
        yield message(
            "{n:,} {n|comparison|comparisons} of answers of equal length {n|is|are} in the"
            " denominators only.",
            message_id="workload.equal_lengths",
            n=n_equal,
        )
    if n_unknown:
        yield message(
            "{n:,} {n|comparison|comparisons} with an answer of unknown length {n|is|are} left"
            " out.",
            message_id="workload.unknown_lengths",
            n=n_unknown,
        )
