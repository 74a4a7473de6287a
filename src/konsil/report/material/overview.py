"""Table 1 and the study flow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Results
from konsil.analysis.model.catalogue.known import AUDIT
from konsil.analysis.model.terms import words_of
from konsil.analysis.table.columns import work_by_rater
from konsil.errors.message import message
from konsil.instrument import Criterion
from konsil.prepare import MATCH
from konsil.records import Rater
from konsil.records.numerals import natural as natural
from konsil.report.material.language import Language
from konsil.report.material.study_records import StudyRecords
from konsil.report.material.tables import Cell, Numbers, Table, table
from konsil.study import Study

MOST_VALUES = 12
"""A stratum with more values than this (identifiers, ages) is summarised by their number."""


@dataclass(frozen=True, kw_only=True)
class Material(StudyRecords):
    """What the report tells: the study, its results and its records."""

    study: Study
    """The protocol."""
    results: Results
    """What the analyses gave."""
    language: Language
    """The report's language."""
    numbers: Numbers
    """How numbers are shown."""
    digest: str = ""
    """The protocol's digest, where the study is told in letters; empty: the study's own."""
    is_blinded: bool = False
    """Whether systems are letters, so that prices are withheld."""

    @property
    def stamp(self) -> str:
        """What figures and tables say where ratings are simulated or models are played by konsil.

        Empty otherwise.
        """
        if self.study.simulated:
            return self.language.gettext("Simulated ratings.")
        return (
            self.numbers.translated(message("Scripted test endpoint.", message_id="played.stamp"))
            if self.results.played
            else ""
        )

    @property
    def records(self) -> tuple[Sequence[object], ...]:
        """All records by kind, for their digest."""
        return (self.items, self.answers, self.raters, self.ratings)

    def word(self, value: str) -> str:
        """What a reader sees of a value of a key column: of a term its words, else the value."""
        return self.numbers.translated(words_of(value))

    def caption(self, text: str) -> str:
        """A caption as a sentence; the banner and the figures say that ratings are simulated."""
        return text if text.endswith((".", "?", "!")) else f"{text}."

    def criteria(self) -> dict[str, Criterion]:
        """Criterion id -> criterion, in the protocol's order.

        The first instrument that has it decides.
        """
        by_id: dict[str, Criterion] = {}
        for instrument in self.study.scored_instruments():
            for criterion in instrument.criteria:
                by_id.setdefault(criterion.id, criterion)
        return by_id

    def criterion(self, name: str) -> str:
        """What figures call a criterion: its title, else its identifier in words."""
        declared = self.criteria().get(name)
        return declared.title if declared is not None and declared.title else name.replace("_", " ")

    def outcome(self, spec: Analysis) -> str:
        """What an analysis is about: its criterion, or how many criteria it takes together."""
        further = spec.options.further_criteria
        if spec.statistic in AUDIT and further:
            return self.numbers.translated(
                message("{n:,} criteria", message_id="answer.criteria", n=1 + len(further))
            )
        return self.criterion(spec.criterion)

    def answer_lengths(self) -> dict[str, int]:
        """Answer -> its length in characters, those that are known."""
        return {a.id: len(a.text) for a in self.answers if a.text} | dict(self.lengths)

    def counts(self) -> dict[str, int]:
        """How many items, answers, systems, raters and panels the study has."""
        return {
            "items": len(self.items),
            "answers": len(self.answers),
            "systems": len(self.study.systems) or len({a.system for a in self.answers}),
            "raters": len(self.raters),
            "panels": len(self.panels()),
        }

    def ordered_systems(self, names: Iterable[str]) -> list[str]:
        """Some systems in the order of the protocol, then others by name."""
        present = set(names)
        declared = [s.id for s in self.study.systems if s.id in present]
        return [*declared, *sorted(present.difference(declared), key=natural)]

    def panels(self) -> dict[str, list[Rater]]:
        """Panel -> its raters, in the protocol's order, then others by name."""
        order = list(self.study.panels())
        by_panel: dict[str, list[Rater]] = {panel: [] for panel in order}
        for rater in sorted(self.raters, key=lambda r: (r.panel, natural(r.id))):
            by_panel.setdefault(rater.panel, []).append(rater)
        return {panel: members for panel, members in by_panel.items() if members}


def characteristics(material: Material) -> list[Table]:
    """Table 1 in three parts: raters with times, items, systems with lengths of answers."""
    return [part for part in (_raters(material), _items(material), _systems(material)) if part.rows]


def _raters(material: Material) -> Table:
    _, numbers = material.language.gettext, material.numbers
    seconds_by_panel: dict[str, list[float]] = defaultdict(list)
    screens: Counter[str] = Counter()
    ratings: Counter[str] = Counter()
    active: Counter[str] = Counter()
    panel_of = {rater.id: rater.panel for rater in material.raters}
    for rater, times, n_screens, n_ratings in work_by_rater(material.ratings):
        panel = panel_of.get(rater, "")
        seconds_by_panel[panel] += times
        screens[panel] += n_screens
        ratings[panel] += n_ratings
        active[panel] += 1
    kinds = {"human": _("people"), "llm": _("LLM judges"), "program": _("programs")}
    rows = []
    for panel, members in material.panels().items():
        kind = Counter(kinds[rater.kind] for rater in members if rater.kind in kinds)
        is_known = kind.total() == len(members)
        seconds = seconds_by_panel[panel]
        untimed = screens[panel] - len(seconds)
        no_time = message(
            "{n:,} {n|page has|pages have} no recorded time.", message_id="table.untimed", n=untimed
        )
        remarks = (numbers.translated(no_time),) if seconds and untimed else ()
        rows.append(
            (
                Cell(panel),
                Cell(
                    ", ".join(
                        [
                            *(f"{name}: {numbers.count(n)}" for name, n in kind.items()),
                            *([] if is_known else [_("unknown")]),
                        ]
                    )
                ),
                Cell(_strata([r.strata for r in members], material)),
                Cell(numbers.count(active[panel] if is_known else None), number=True),
                Cell(numbers.count(ratings[panel]), number=True),
                Cell(numbers.count(screens[panel]), number=True),
                Cell(numbers.spread(seconds), remarks, number=True),
            )
        )
    head = (
        _("Panel"),
        _("Raters"),
        _("Characteristics"),
        _("With ratings"),
        _("Ratings"),
        _("Screens"),
        _("Seconds per page"),
    )
    return table(
        material.caption(_("Raters and their work.")),
        head,
        rows,
        general=(
            _(
                "Seconds per page, counted once regardless of the number of criteria:"
                " median [interquartile range]."
            ),
        ),
    )


def _items(material: Material) -> Table:
    _, numbers = material.language.gettext, material.numbers
    rows = [(Cell(_("All items")), Cell(""), Cell(numbers.count(len(material.items)), number=True))]
    cases = {item.case for item in material.items if item.case is not None}
    if cases:
        rows.append((Cell(_("Cases")), Cell(""), Cell(numbers.count(len(cases)), number=True)))
    sets = Counter(name for item in material.items for name in item.sets)
    rows.extend(
        (Cell(_("Set")), Cell(name), Cell(numbers.count(sets[name]), number=True))
        for name in sorted(sets)
    )
    for column, values in values_by_column([item.strata for item in material.items]).items():
        if len(values) > MOST_VALUES:
            text = _("%(n)s different values") % {"n": numbers.count(len(values))}
            rows.append(
                (Cell(column), Cell(text), Cell(numbers.count(sum(values.values())), number=True))
            )
            continue
        labels = {"yes": _("yes"), "no": _("no")} if column == MATCH else {}
        rows.extend(
            (
                Cell(_("Verbatim match") if labels else column),
                Cell(labels.get(value, value)),
                Cell(numbers.count(values[value]), number=True),
            )
            for value in sorted(values, key=natural)
        )
    return table(
        material.caption(_("Items by set and characteristic.")),
        ("", _("Value"), _("Items")),
        rows,
        row_heads=2,
    )


def _systems(material: Material) -> Table:
    _, numbers = material.language.gettext, material.numbers
    texts: dict[str, list[str]] = defaultdict(list)
    known_lengths = material.answer_lengths()
    characters: dict[str, list[float]] = defaultdict(list)
    for answer in material.answers:
        texts[answer.system].append(answer.text)
        if answer.id in known_lengths:
            characters[answer.system].append(float(known_lengths[answer.id]))
    declared = {system.id: system for system in material.study.systems}
    if texts and not declared.keys() & texts.keys():
        # whole tables came with systems of their own, and the protocol's are examples
        declared = {}
    absent = sum(a.id not in known_lengths for a in material.answers)
    # Answers that are known by their ratings only: their number is that of rated answers by system.
    is_withheld = material.results.is_withheld and absent > 0
    rows = []
    for system in (*declared, *sorted(texts.keys() - declared.keys(), key=natural)):
        known_texts = [text for text in texts[system] if text]
        words = [float(len(text.split())) for text in known_texts]
        declaration = declared.get(system)
        rows.append(
            (
                Cell(system),
                Cell(declaration.family if declaration else ""),
                Cell((declaration.model or _("imported")) if declaration else ""),
                Cell(numbers.count(None if is_withheld else len(texts[system])), number=True),
                Cell(numbers.spread(words), number=True),
                Cell(numbers.mean_and_deviation(words), number=True),
                Cell(numbers.spread(characters[system]), number=True),
            )
        )
    without_text = sum(not a.text and a.id in known_lengths for a in material.answers)
    general = [_("Lengths: median [interquartile range].")]
    if absent:
        general.append(
            numbers.translated(
                message(
                    (
                        "The {n|text|texts} of {n:,} {n|answer is|answers are} not available"
                        " and not included in the lengths."
                    ),
                    message_id="table.texts_absent",
                    n=absent,
                )
            )
        )
    if without_text:
        lengths_alone = message(
            "Of {n:,} {n|answer|answers} only the number of characters was imported, without the"
            " text.",
            message_id="table.lengths_alone",
            n=without_text,
        )
        general.append(numbers.translated(lengths_alone))
    for candidate in declared.values():
        if candidate.dropped:
            reason = message(
                "{system} was tried in the pilot and not evaluated: {reason}",
                message_id="table.system_dropped",
                system=candidate.id,
                reason=candidate.dropped,
            )
            general.append(numbers.translated(reason))
    head = (
        _("System"),
        _("Family"),
        _("Model"),
        _("Answers"),
        _("Words per answer"),
        _("Words, mean (SD)"),
        _("Characters per answer"),
    )
    return table(material.caption(_("Systems and their answers.")), head, rows, general=general)


def values_by_column(strata: Sequence[Mapping[str, str]]) -> dict[str, Counter[str]]:
    """Column -> value -> how often."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in strata:
        for column, value in row.items():
            counts[column][value] += 1
    return dict(sorted(counts.items()))


def _strata(strata: Sequence[Mapping[str, str]], material: Material) -> str:
    """One line: specialty: cardiology 3, surgery 2; years: 5 different values."""
    _, numbers = material.language.gettext, material.numbers
    parts = []
    for column, values in values_by_column(strata).items():
        shown = (
            _("%(n)s different values") % {"n": numbers.count(len(values))}
            if len(values) > MOST_VALUES
            else ", ".join(
                f"{value} {numbers.count(values[value])}" for value in sorted(values, key=natural)
            )
        )
        parts.append(f"{column}: {shown}")
    return "; ".join(parts)


def flow(material: Material) -> Table:
    """The flow of ratings: expected, rated, abstained, unreadable, missing, excluded and why."""
    _, numbers = material.language.gettext, material.numbers
    coverage = material.results.coverage
    reasons = sorted({reason for row in coverage for reason in row.excluded})
    systems = any(row.system for row in coverage)
    planned = any(row.expected is not None for row in coverage)
    head = [
        _("Panel"),
        _("Criterion"),
        *([_("System")] if systems else []),
        *([_("Expected")] if planned else []),
    ]
    head += [_("Rated"), _("Abstained"), _("Invalid"), *([_("Missing")] if planned else [])]
    head += [_("Excluded: %(reason)s") % {"reason": reason} for reason in reasons]
    rows = []
    for row in coverage:
        counts = [row.rated, row.abstained, row.unreadable]
        counts += [row.excluded.get(reason, 0) for reason in reasons]
        cells = [Cell(numbers.count(n), number=True) for n in counts]
        if planned:
            cells.insert(0, Cell(numbers.count(row.expected), number=True))
            cells.insert(4, Cell(numbers.count(row.missing), number=True))
        rows.append(
            (
                Cell(row.panel),
                Cell(row.criterion),
                *([Cell(row.system or "–")] if systems else []),
                *cells,
            )
        )
    general = [_("Excluded ratings are not part of any analysis or of any other column.")]
    if planned:
        general.append(_("Missing: ratings that were planned but not given."))
    else:
        general.append(
            _(
                "There is no assignment plan, so the numbers of expected and"
                " missing ratings are unknown."
            )
        )
    return table(
        material.caption(_("Completeness of ratings by panel, criterion and system.")),
        head,
        rows,
        row_heads=3 if systems else 2,
        general=general,
    )
