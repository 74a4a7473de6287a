"""The ratings of a table as a study in memory: records, settings and analyses.

What is computed of them is what a study with the same ratings gives, to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, get_args

import polars as pl

from konsil.analysis.model.options import CriterionRef, Options, ShareOptions
from konsil.analysis.model.spec import Analysis, Cluster, Exclusions
from konsil.analysis.roles.names import names_codes
from konsil.analysis.roles.vocabulary import known_pair
from konsil.analysis.running.comparing.compare_request import Compared, CompareRequest
from konsil.analysis.running.comparing.table_ratings import CriterionRatings, TableRatings
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.columns import RATING, Columns, json_texts, text_type
from konsil.analysis.table.frame import Data
from konsil.analysis.table.labels import Labels
from konsil.errors import SourceError, nearest, option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import Criterion, Instrument, Scale, ScaleLevel, number_word
from konsil.records import Answer, Item, Rater, RaterKind, Rating, System
from konsil.records.numerals import natural, own_numbers

SYSTEM = "system"
"""The column of the groups in the study in memory."""
RATERS = "raters"
"""The panel of all raters."""
NUMBERS: tuple[Compared, ...] = ("mean", "standard_deviation", "median")
COMPARED: frozenset[Compared] = frozenset({"share", "mean"})
"""Statistics whose differences are computed."""


@dataclass(frozen=True)
class ComparedCriterion:
    """One criterion, and what is computed of it."""

    name: str
    """The criterion."""
    labels: tuple[str, ...]
    """Its labels in order."""
    success: tuple[str, ...]
    """The labels that count as a success; empty: no proportion is computed."""
    statistics: tuple[Compared, ...]
    """What is computed."""

    @property
    def outcome(self) -> TranslatableMessage:
        """What was rated, and which labels are counted, against which others."""
        others = [name for name in self.labels if name not in self.success]
        if not self.success:
            return message(
                "Outcome: {criterion}.", message_id="comparison.outcome", criterion=self.name
            )
        if not others:
            return message(
                "Counted for {criterion}: {labels}.",
                message_id="comparison.counted_alone",
                criterion=self.name,
                labels=listed(self.success, end="{some}, {last}"),
            )
        return message(
            "Counted for {criterion}: {labels} (against {others}).",
            message_id="comparison.counted",
            criterion=self.name,
            labels=listed(self.success, end="{some}, {last}"),
            others=listed(others, end="{some}, {last}"),
        )


@dataclass(frozen=True, eq=False)
class TableStudy:
    """A study of the ratings of a table."""

    criteria: tuple[ComparedCriterion, ...]
    """What is compared."""
    groups: tuple[str, ...]
    """The systems or groups with ratings."""
    data: Data
    """The records."""
    settings: RunSettings
    """The form, the seed and the resamples."""
    analyses: tuple[Analysis, ...]
    """An analysis for each criterion and statistic."""


def table_study(ratings: TableRatings, request: CompareRequest, table: str) -> TableStudy:
    """The study of a table's ratings; its systems are the groups that are compared.

    Raises SourceError where it is not known which label is a success, or where words have no
    numbers.
    """
    _check_successes(ratings, request, table)
    scales = [_scale(criterion) for criterion in ratings.criteria]
    criteria = tuple(
        _compared(criterion, scale, request, table)
        for criterion, scale in zip(ratings.criteria, scales, strict=True)
    )
    rows = pl.concat([_with_states(criterion) for criterion in ratings.criteria])
    names = rows.get_column("group").unique().to_list()
    groups = tuple(sorted(names, key=natural))
    _check_groups(groups, request, table)
    form = tuple(
        Criterion(c.name, c.name, replace(scale, abstain=request.abstain))
        for c, scale in zip(criteria, scales, strict=True)
    )
    settings = RunSettings(
        instruments=[Instrument(table, form)],
        seed=request.seed,
        resampling=request.resampling,
        exclusions=Exclusions(),
        systems=[System(group) for group in groups],
        strict=False,
    )
    analyses = tuple(
        analysis_of(
            criterion,
            statistic,
            cluster="case" if ratings.has_clusters else "item",
            is_compared=len(groups) > 1,
        )
        for criterion in criteria
        for statistic in criterion.statistics
    )
    return TableStudy(criteria, groups, _records(rows, ratings), settings, analyses)


def _with_states(criterion: CriterionRatings) -> pl.DataFrame:
    rated = criterion.rated.with_columns(pl.lit("rated").alias("state"))
    no_label = pl.lit(None, pl.String).alias("label")
    abstained = criterion.abstained.with_columns(pl.lit("abstained").alias("state"), no_label)
    return pl.concat([rated, abstained])


def _scale(ratings: CriterionRatings) -> Scale:
    """The labels with their numbers; of a known pair both, also where one was never given."""
    labels = ratings.labels
    pair = known_pair(labels.names)
    if pair and len(labels.names) == 1:
        name = labels.names[0]
        return Scale(tuple(name if word == name.casefold() else word for word in pair))
    return Scale(labels.names, level=_level(labels), values=labels.values)


def _level(labels: Labels) -> ScaleLevel:
    return next(level for level in get_args(ScaleLevel) if level == labels.level)


def _check_successes(ratings: TableRatings, request: CompareRequest, table: str) -> None:
    """Refuse a success that no criterion has among its labels."""
    names = [name for criterion in ratings.criteria for name in _scale(criterion).labels]
    for label in request.successes:
        if _canonical(label) not in names:
            raise SourceError(
                message(
                    "{table}: {success}: no rating has this label; {nearest}; declare all labels"
                    " with {labels} if it was never given",
                    message_id="error.success_not_observed",
                    table=table,
                    success=option("success", label, several=True),
                    nearest=nearest(label, names),
                    labels=option("labels", example="[...]"),
                )
            )


def _canonical(label: str) -> str:
    """A label as the table has it: numbers in one way."""
    (number,) = own_numbers((label,))
    return label if number is None else number_word(number)


def _success(labels: Sequence[str], request: CompareRequest) -> tuple[str, ...]:
    """The labels that count as a success: as stated, or that of a known pair."""
    if request.successes:
        stated = {_canonical(label) for label in request.successes}
        return tuple(label for label in labels if label in stated)
    pair = known_pair(labels)
    return tuple(label for label in labels if pair and label.casefold() == pair[1])


def _compared(
    ratings: CriterionRatings, scale: Scale, request: CompareRequest, table: str
) -> ComparedCriterion:
    """What is computed of a criterion."""
    success, has_numbers = _success(scale.labels, request), scale.level != "nominal"
    statistics = tuple(dict.fromkeys(request.statistics))
    if not statistics:
        statistics = ("share",) if success else NUMBERS if has_numbers else ()
    shown = listed([repr(name) for name in scale.labels[:_MOST_SHOWN]], end="{some}, {last}")
    order, level = option("labels", example="[...]"), option("level", "ordinal")
    is_open = not request.statistics and request.level is None and not request.labels
    if is_open and not success:
        _check_numbers(ratings, scale, table)
    if is_open and not success and has_numbers and _are_codes_of_two(scale.labels):
        statistics = ()
    if not statistics or ("share" in statistics and not success):
        raise SourceError(
            message(
                "{table}: {criterion}: it is not known which of the labels {labels} is a success;"
                " name it with {success} and an abstention with {abstain}, or give all labels in"
                " order with {order} and {level}",
                message_id="error.success_not_known",
                table=table,
                criterion=repr(ratings.name),
                labels=shown,
                success=option("success", example="[...]"),
                abstain=option("abstain"),
                order=order,
                level=level,
            )
        )
    of_numbers = [s for s in statistics if s != "share"]
    if of_numbers and not has_numbers:
        raise SourceError(
            message(
                "{table}: {criterion}: {statistic} needs numbers, and the labels {labels} are"
                " words; give all labels in order with {order} and {level}",
                message_id="error.words_without_numbers",
                table=table,
                criterion=repr(ratings.name),
                statistic=repr(of_numbers[0]),
                labels=shown,
                order=order,
                level=level,
            )
        )
    return ComparedCriterion(ratings.name, scale.labels, success, statistics)


_MOST_SHOWN = 12
"""Labels that a sentence names."""
_NO_NUMBER = re.compile(r"\s*[+-]?\d+([.,]\d+)?\s*(%|/\s*\d+)\s*")
"""A percentage or a fraction as a text."""


def _are_codes_of_two(labels: Sequence[str]) -> bool:
    """Whether labels are two numbers that may stand for yes and no, such as 1 and 2."""
    return len(labels) == len(known_pair(labels) or ("", "")) and not known_pair(labels)


def _check_numbers(ratings: CriterionRatings, scale: Scale, table: str) -> None:
    """Refuse numbers that are named for codes, and texts that are almost numbers."""
    if scale.labels and all(map(_NO_NUMBER.fullmatch, scale.labels)):
        raise SourceError(
            message(
                "{table}: {criterion}: cells such as {label} are no numbers; write each as a"
                " number, such as 20 or 0.2, or state which label is counted with {success}",
                message_id="error.no_plain_number",
                table=table,
                criterion=repr(ratings.name),
                label=repr(scale.labels[0]),
                success=option("success", example="[...]"),
            )
        )
    if scale.level != "nominal" and names_codes(ratings.name):
        raise SourceError(
            message(
                "{table}: {criterion} is named for codes, and the mean of codes says nothing: name"
                " another column with {column}, the label that is counted with {success}, or state"
                " that these are measurements with {level}",
                message_id="error.mean_of_codes",
                table=table,
                criterion=repr(ratings.name),
                column=option("label"),
                success=option("success", example="[...]"),
                level=option("level", "interval"),
            )
        )


def _check_groups(groups: Sequence[str], request: CompareRequest, table: str) -> None:
    """Refuse a reference that is none of the groups, or the only one."""
    if request.reference == groups[0] and len(groups) == 1:
        raise SourceError(
            message(
                "{table}: {group} is the only group with ratings; a comparison needs two",
                message_id="error.one_group",
                table=table,
                group=repr(groups[0]),
            )
        )
    if request.reference is not None and request.reference not in groups:
        raise SourceError(
            message(
                "{table}: {reference}: no group has this name; {nearest}",
                message_id="error.no_such_reference",
                table=table,
                reference=option("reference", request.reference),
                nearest=nearest(request.reference, groups),
            )
        )


def analysis_of(
    criterion: ComparedCriterion,
    statistic: Compared,
    panel: str = RATERS,
    by: str = SYSTEM,
    cluster: Cluster = "item",
    *,
    is_compared: bool = True,
) -> Analysis:
    """The analysis of one statistic of a criterion."""
    name = criterion.name if panel == RATERS else f"{criterion.name}, {panel}"
    return Analysis(
        f"{name}: {statistic}",
        statistic,
        CriterionRef(criterion.name),
        panel,
        by=(by,),
        compare=by if is_compared and statistic in COMPARED else "",
        cluster=cluster,
        options=ShareOptions(of=criterion.success) if statistic == "share" else Options(),
    )


def _records(rows: pl.DataFrame, ratings: TableRatings) -> Data:
    """The ratings with their units, systems and raters as the records of a study."""
    answer = pl.concat_str("unit", "group", separator=_BETWEEN)
    rows = rows.with_columns(answer.alias("answer"))
    units = rows.unique("unit", maintain_order=True)
    answers = rows.unique("answer", maintain_order=True)
    kind: RaterKind = "human" if ratings.has_raters else "unknown"
    text = json_texts(rows.get_column("answer"))
    columns = {
        "task": rows.select(pl.concat_str("answer", "rater", separator=_BETWEEN)).to_series(),
        "rater": rows.get_column("rater"),
        "criterion": rows.get_column("criterion"),
        "item": rows.get_column("unit"),
        "answers": "[" + text + "]",
        "span": pl.Series([""]).new_from_index(0, rows.height),
        "state": rows.get_column("state"),
        "label": rows.get_column("label"),
        "seconds": pl.Series([None], dtype=pl.Float64).new_from_index(0, rows.height),
        "confidence": pl.Series([None], dtype=pl.Float64).new_from_index(0, rows.height),
    }
    frame = pl.DataFrame(columns).cast({name: text_type(name) for name in RATING[:-2]})
    return Data(
        items=[Item(unit, "", case=case) for unit, case in units.select("unit", "cluster").rows()],
        answers=[Answer(*record) for record in answers.select("answer", "unit", "group").rows()],
        raters=[Rater(name, RATERS, kind) for name in rows.get_column("rater").unique().sort()],
        ratings=Columns[Rating](frame.select(RATING), _no_ratings),
    )


_BETWEEN = "\x1f"
"""Between the unit and the system of an answer: no cell of a table has it."""


def _no_ratings(frame: pl.DataFrame) -> NoReturn:
    raise TypeError(f"{frame.height} ratings: a table's ratings are columns alone")
