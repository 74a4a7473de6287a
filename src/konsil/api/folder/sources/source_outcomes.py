"""Outcomes of comparisons in other words than those of the scale: as its labels.

A win of the first or second system, or a tie, can be a word for it (left, model_b, tie) or the name
of the system. What a word means is decided where `konsil preference` decides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from konsil.analysis.roles.outcomes import sense_of, unclear_codes
from konsil.analysis.roles.reading import Role, TableReading
from konsil.analysis.roles.statement import sentence
from konsil.analysis.table.pair_labels import steps_of_criterion, steps_of_scale
from konsil.analysis.tabular.vote_outcomes import known_steps
from konsil.api.folder.sources.source_keys import UNKNOWN
from konsil.api.folder.sources.source_labels import rated_cells
from konsil.api.folder.sources.source_names import StudyNames
from konsil.errors import AnalysisError, SourceError
from konsil.errors.message import COMMA, Listed, listed, message
from konsil.instrument import Criterion, Instrument
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import Columns, resolve
from konsil.sources.tables.lookalikes import FIELDS_OF

_SIDES = (("system_a", "system_b"), ("answer_a", "answer_b"))
"""Fields of the two sides of a comparison."""
_SHOWN = 6
"""Words that a sentence lists."""


@dataclass(frozen=True)
class SourceTable:
    """The table of a source with labels of its criteria in place of other words for outcomes."""

    source: Source
    """The source; where something is asked, with keys for it."""
    table: Table
    notes: tuple[str, ...] = ()
    """Which words are which labels."""
    questions: tuple[str, ...] = ()
    """Words that are no label without a statement."""


@dataclass
class _Meanings:
    """What outcomes of one criterion mean."""

    criterion: Criterion
    label_by_step: Mapping[int, str]
    words: dict[str, str] = field(default_factory=dict)
    """Word for a side or a tie -> label."""
    names: dict[int, str] = field(default_factory=dict)
    """Side of which the system is named -> label."""
    codes: tuple[str, ...] = ()
    """Numbers of which one is 0."""
    sides_alone: dict[str, None] = field(default_factory=dict)
    """Words and names for a side that has several labels."""

    @property
    def step_by_label(self) -> dict[str, int]:
        """Label -> its step in favour of the first answer."""
        return {label: step for step, label in self.label_by_step.items()}


def with_outcomes(table: Table, source: Source, instruments: Sequence[Instrument]) -> SourceTable:
    """The table with labels of criteria about pairs where words or names say who won.

    Labels of the scale, and words that the source translates, stay what they are.
    """
    if source.records != "ratings":
        return SourceTable(source, table)
    columns = resolve(table, source, FIELDS_OF["ratings"])
    sides = fields_of_sides(columns)
    meanings = dict(_meanings(instruments)) if sides is not None else {}
    if sides is None or not meanings or not table.frame.height:
        return SourceTable(source, table)
    # Outcomes name systems as the file does.
    systems = [replace(columns, values={}).expression(name) for name in sides]
    headings = columns.called(sides[0]), columns.called(sides[1])
    frame = table.frame
    for heading, criterion, cells in rated_cells(table, source, columns):
        if heading not in frame.columns:
            continue
        rows = table.frame.select(
            criterion.alias("criterion"),
            systems[0].alias("first"),
            systems[1].alias("second"),
            cells.str.strip_chars().alias("outcome"),
        ).with_row_index("row")
        labels = _labels(rows, heading, headings, source, meanings, table)
        if labels is not None:
            keys = ["criterion", "first", "second", "outcome"]
            named = rows.join(labels, on=keys, how="left", nulls_equal=True, maintain_order="left")
            cell = pl.coalesce(named["label"], frame[heading]).alias(heading)
            frame = frame.with_columns(cell)
    return SourceTable(
        _with_keys(source, [*meanings.values()]),
        replace(table, frame=frame),
        tuple(note for meaning in meanings.values() for note in _notes(table.name, meaning)),
        tuple(text for meaning in meanings.values() for text in _questions(meaning)),
    )


def fields_of_sides(columns: Columns) -> tuple[str, str] | None:
    """The fields of the two sides that a table of comparisons has."""
    return next((pair for pair in _SIDES if all(name in columns for name in pair)), None)


def criteria_on_sides(instruments: Sequence[Instrument]) -> tuple[str, ...]:
    """The criteria whose labels are a scale from the first to the second of two answers."""
    return tuple(name for name, _ in _meanings(instruments))


def _meanings(instruments: Sequence[Instrument]) -> Iterator[tuple[str, _Meanings]]:
    """The criteria whose labels are a scale from the first to the second of two answers."""
    for criterion in (c for form in instruments for c in form.criteria if c.scope == "pair"):
        try:
            steps = steps_of_criterion(criterion, criterion.id)
        except AnalysisError:
            continue
        yield criterion.id, _Meanings(criterion, {step: label for label, step in steps.items()})


def _labels(
    rows: pl.DataFrame,
    heading: str,
    headings: tuple[str, str],
    source: Source,
    meanings: Mapping[str, _Meanings],
    table: Table,
) -> pl.DataFrame | None:
    """The label of each combination of criterion, systems and outcome that has another word."""
    keys = ["criterion", "first", "second", "outcome"]
    combinations = rows.drop_nulls().unique(keys, keep="first", maintain_order=True)
    parts = []
    for name, meaning in meanings.items():
        stated = {*source.missing, *source.labels, *source.labels_of.get(name, ()), ""}
        # In a column of losers a label is a word for the side that lost.
        options = {*meaning.criterion.scale.options()} if sense_of(heading) >= 0 else set()
        of_it = combinations.filter(pl.col("criterion") == name)
        words = of_it.filter(~pl.col("outcome").is_in(stated | options))
        _refuse_two_meanings(of_it, meaning, stated, table)
        meaning.codes = meaning.codes or _codes(of_it["outcome"], words["outcome"])
        words = words.filter(~pl.col("outcome").is_in(meaning.codes))
        if words.height:
            parts.append(_labelled(words, heading, headings, meaning, table))
    labels = pl.concat(parts).drop_nulls("label") if parts else pl.DataFrame()
    return labels if labels.height else None


def _codes(observed: pl.Series, words: pl.Series) -> tuple[str, ...]:
    """Outcomes that are numbers with a 0, none of which is a label."""
    orders = unclear_codes([*observed])
    return orders[0] if orders and {"0"} & {*words} else ()


def _labelled(
    words: pl.DataFrame, heading: str, headings: tuple[str, str], meaning: _Meanings, table: Table
) -> pl.DataFrame:
    """Combinations with the label that each means, null where it means none."""
    sense = sense_of(heading) or 1
    steps = known_steps(words, headings)
    if sense < 0:
        of_labels = words["outcome"].replace_strict(
            meaning.step_by_label, default=None, return_dtype=pl.Int64
        )
        steps = steps.fill_null(of_labels) * sense
    is_wide = max(meaning.label_by_step) > 1 and {*steps.abs().drop_nulls()} <= {0, 1}
    systems = {*words["first"].str.to_lowercase(), *words["second"].str.to_lowercase()}
    labels: list[str | None] = []
    columns = (words["outcome"], words["first"], words["row"], steps)
    for word, first, row, step in zip(*columns, strict=True):
        is_name = word.casefold() in systems
        if step is None and is_name:
            raise SourceError(
                f"{table.name}: {table.place} {table.line(row):,}: the winner {word!r} is neither"
                " of the two systems compared"
            )
        label = None if step is None else meaning.label_by_step.get(step)
        if label is not None and is_wide and step:
            meaning.sides_alone[word], label = None, None
        if label is not None and is_name:
            meaning.names[1 if word.casefold() == first.casefold() else -1] = label
        elif label is not None:
            meaning.words[word] = label
        labels.append(label)
    keys = words.select("criterion", "first", "second", "outcome")
    return keys.with_columns(pl.Series("label", labels, dtype=pl.String))


def _refuse_two_meanings(
    words: pl.DataFrame, meaning: _Meanings, stated: set[str], table: Table
) -> None:
    """Refuse a word that is a label for one side and the name of the other side's system."""
    steps = {word: step for word, step in meaning.step_by_label.items() if word not in stated}
    label = pl.col("outcome").replace_strict(steps, default=None, return_dtype=pl.Int64)
    word = pl.col("outcome")
    name = pl.when(word == pl.col("first")).then(1).when(word == pl.col("second")).then(-1)
    for row, cell in words.filter(label != name).select("row", "outcome").iter_rows():
        raise SourceError(
            f"{table.name}: {table.place} {table.line(row):,}: {cell!r} is a label of criterion"
            f" {meaning.criterion.id!r}, and the name of the system on the other side; if it is"
            f' the label, set labels_of.{meaning.criterion.id} = {{ "{cell}" = "{cell}" }}'
        )


def _with_keys(source: Source, meanings: Sequence[_Meanings]) -> Source:
    """The source with keys for words that are no label without a statement."""
    labels_of = {name: dict(of_it) for name, of_it in source.labels_of.items()}
    for meaning in meanings:
        labels = dict.fromkeys(meaning.sides_alone, UNKNOWN)
        steps = steps_of_scale(meaning.codes) if meaning.codes else {}
        is_wide = max(meaning.label_by_step) > 1
        for code, step in steps.items():
            labels[code] = UNKNOWN if is_wide else meaning.label_by_step.get(step, UNKNOWN)
        if labels:
            labels_of[meaning.criterion.id] = labels_of.get(meaning.criterion.id, {}) | labels
    return replace(source, labels_of=labels_of)


def _questions(meaning: _Meanings) -> Iterator[str]:
    """What is asked of words that are no label without a statement."""
    if meaning.codes:
        yield message(
            "Outcomes are numbers with a 0 ({codes}), which may mean a side or a tie: state the"
            " label of each with {key}.",
            message_id="import.codes_of_outcomes",
            codes=listed([repr(code) for code in sorted(meaning.codes)], end=COMMA),
            key=f"labels_of.{meaning.criterion.id}",
        )
    if meaning.sides_alone:
        yield message(
            "Outcomes name a side alone ({words}), for which criterion {criterion} has several"
            " labels: state the label of each word with {key}, or use a criterion with one label"
            " for each side.",
            message_id="import.sides_alone",
            words=listed([repr(word) for word in meaning.sides_alone][:_SHOWN], end=COMMA),
            criterion=repr(meaning.criterion.id),
            key=f"labels_of.{meaning.criterion.id}",
        )


def _notes(name: str, meaning: _Meanings) -> Iterator[str]:
    """Which words are which labels."""
    if meaning.words:
        yield message(
            "{file}: outcomes as labels of criterion {criterion}: {labels}",
            message_id="import.words_of_outcomes",
            file=name,
            criterion=repr(meaning.criterion.id),
            labels=_equalities(meaning),
        )
    if meaning.names:
        yield message(
            "{file}: systems named in outcomes as labels of criterion {criterion}: the first one as"
            " {first}, the second one as {second}",
            message_id="import.names_of_outcomes",
            file=name,
            criterion=repr(meaning.criterion.id),
            first=repr(meaning.names.get(1, meaning.label_by_step[1])),
            second=repr(meaning.names.get(-1, meaning.label_by_step[-1])),
        )


def _equalities(meaning: _Meanings) -> Listed:
    """Words with their labels, in the order of the scale."""
    order = meaning.criterion.scale.labels
    words = sorted(meaning.words.items(), key=lambda pair: order.index(pair[1]))
    return listed([f"{word!r} = {label!r}" for word, label in words], end=COMMA)


def no_records(table: Table, reading: TableReading) -> str:
    """Why comparisons that `konsil preference` computes are no ratings of a study."""
    file, read_as = table.name, sentence(reading, table.frame)
    if reading.wins:
        return message(
            "{file}: read as: {reading}; ratings of a study are the outcome of each comparison and"
            " who gave it, which counts do not say; 'konsil preference {file}' computes them",
            message_id="import.counts_of_wins",
            file=file,
            reading=read_as,
        )
    if reading.second_outcome:
        return message(
            "{file}: read as: {reading}; ratings of a study have one outcome for each comparison:"
            " write a column with a tie where the two orders differ, and name the others in"
            " 'unused'; 'konsil preference {file}' uses both orders",
            message_id="import.outcomes_of_orders",
            file=file,
            reading=read_as,
        )
    if reading.swapped:
        return message(
            "{file}: read as: {reading}; outcomes name sides, and {column} has the order in which"
            " the systems were shown: if the first side is the system of the first column in both"
            " orders, name {column} in 'unused'; otherwise exchange the systems of the rows in the"
            " other order; 'konsil preference {file}' reads both",
            message_id="import.sides_of_orders",
            file=file,
            reading=read_as,
            column=repr(reading.swapped.partition("=")[0]),
        )
    return message(
        "{file}: read as: {reading}; ratings of a study are labels of a scale, and no numbers"
        " between two ends; 'konsil preference {file}' computes them",
        message_id="import.outcomes_as_numbers",
        file=file,
        reading=read_as,
    )


def with_criteria(reading: TableReading, names: StudyNames) -> TableReading:
    """The reading, in which other columns of criteria about two answers have outcomes, too."""
    if reading.outcome is None or names.of_comparisons.criterion(reading.outcome) is None:
        return reading
    others = [name for name in reading.unused if names.of_comparisons.criterion(name)]
    roles: dict[str, Role] = dict.fromkeys(others, "outcome")
    unused = {name: reason for name, reason in reading.unused.items() if name not in others}
    return replace(reading, roles={**reading.roles, **roles}, unused=unused)
