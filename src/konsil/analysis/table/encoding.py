"""From the long table to codes: an analysis' ratings, units, clusters and labels as integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from konsil.analysis.model.catalogue.known import LENGTH, RATER_PAIR, statistic_of
from konsil.analysis.model.context import Context
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis
from konsil.analysis.model.terms import pair_of
from konsil.analysis.table.columns import enumerated
from konsil.analysis.table.conformity import refuse_unknown_labels
from konsil.analysis.table.derived import SCORE, derived_columns
from konsil.analysis.table.frame import NUMBERED, SUBJECT, RatingTable, excluded_sentence
from konsil.analysis.table.labels import Labels, labels_of
from konsil.analysis.table.screens import with_answers_displayed
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import TranslatableMessage, message, placed
from konsil.records.numerals import natural
from konsil.stats.engine.contract import Codes
from konsil.stats.engine.renumbering import renumbered

_USED = (
    "item",
    "case",
    "answers",
    "system",
    "span",
    "rater",
    "state",
    "label",
    "purpose",
    "task",
    "repeat_of",
)
"""The columns that analyses read, in addition to those that they name."""


_Dense = tuple[NDArray[np.int32] | NDArray[np.int64], tuple[str, ...]]
"""Integers in the order of the sorted names, and the names."""


def select(long: RatingTable, analysis: Analysis, panel: str) -> pl.DataFrame:
    """Select the ratings that an analysis uses, of one panel."""
    frame = long.part(analysis.criterion, panel)
    if analysis.display == "complete":
        frame = with_answers_displayed(frame, long.displays)
    conditions = [condition for _, condition in _conditions(long, analysis, frame)]
    named = [column for column in analysis.by if column not in {RATER_PAIR, LENGTH}]
    for column in named:
        require_column(analysis, frame, column)
    covariate = [
        name for name in map(SCORE.format, analysis.options.columns) if name in frame.columns
    ]
    further = statistic_of(analysis.statistic).columns
    columns = dict.fromkeys((*_USED, *further, SUBJECT, *NUMBERED.values(), *named, *covariate))
    # Lazily, so that the other columns are not copied.
    return frame.lazy().filter(conditions).select(list(columns)).collect()


def _conditions(
    long: RatingTable, analysis: Analysis, frame: pl.DataFrame
) -> Iterator[tuple[str, pl.Expr]]:
    """The settings of an analysis that select ratings, each by its key and as a condition."""
    yield "", pl.lit(value=True)
    # A repeat is a second label of the same unit by the same rater: only self-agreement has a use
    # for it.
    if analysis.statistic != "self_agreement":
        yield "purpose", pl.col("purpose") != "repeat"
    if analysis.arm is not None:
        yield "arm", pl.col("arm") == analysis.arm
    if analysis.items:
        if analysis.items not in long.sets:
            hint = nearest(analysis.items, long.sets)
            fact = message(
                "there is no set of items {name!r}; {hint}",
                message_id="refused.no_set",
                name=analysis.items,
                hint=hint,
            )
            raise AnalysisError(placed(analysis.name, fact))
        yield "items", pl.col("item").is_in(sorted(long.sets[analysis.items]))
    for column, values in analysis.where.items():
        require_column(analysis, frame, column)
        is_text = not frame.schema[column].is_numeric()
        yield (
            f"where.{column}",
            (pl.col(column) if is_text else pl.col(column).cast(pl.String)).is_in(list(values)),
        )
    for column in derived_columns(long, analysis.by):
        yield f"by.{column}", pl.col(column).is_not_null()


def empty_selection(long: RatingTable, analysis: Analysis, panel: str) -> TranslatableMessage:
    """Why an analysis selects no rating of a panel: the setting that leaves none, or none exist."""
    frame = long.part(analysis.criterion, panel)
    if not frame.height:
        excluded = long.excluded.filter(
            (pl.col("criterion") == analysis.criterion) & pl.col("panel").is_in(long.members(panel))
        )
        if excluded.height:
            return excluded_sentence(excluded)
        return message(
            "no ratings selected: {panel} has no ratings on {criterion}",
            message_id="selection.not_rated",
            panel=repr(panel),
            criterion=repr(str(analysis.criterion)),
        )
    if analysis.display == "complete":
        frame = with_answers_displayed(frame, long.displays)
        if not frame.height:
            return message(
                "no rating of an answer that is known to have been displayed to its end",
                message_id="display.no_ratings",
            )
    key, n_before = "", frame.height
    for condition_key, condition in _conditions(long, analysis, frame):
        key, n_before = condition_key, frame.height
        frame = frame.filter(condition)
        if not frame.height:
            break
    return message(
        "no ratings selected: {key} selects none of {n:,} {n|rating|ratings}",
        message_id="selection.none",
        key=key,
        n=n_before,
    )


def require_column(analysis: Analysis, frame: pl.DataFrame, column: str) -> None:
    """Refuse a column that no rating has, with the nearest name."""
    if column not in frame.columns:
        hint = nearest(column, [c for c in frame.columns if c not in {SUBJECT, *NUMBERED.values()}])
        fact = message(
            "ratings have no column {column!r}; {hint}",
            message_id="refused.no_column",
            column=column,
            hint=hint,
        )
        raise AnalysisError(placed(analysis.name, fact))


def groups(frame: pl.DataFrame, by: Sequence[str]) -> list[tuple[dict[str, str], pl.DataFrame]]:
    """Split by the columns' values, sorted.

    One group with an empty key where there is nothing to split by.
    """
    if not by:
        return [({}, frame)]
    # Maintained: names that are equal in the natural order (1 and 01) must not swap between runs.
    parts = frame.partition_by(list(by), as_dict=True, maintain_order=True)
    keyed = sorted(
        ((tuple("" if v is None else str(v) for v in k), part) for k, part in parts.items()),
        key=_first,
    )
    return [(dict(zip(by, key, strict=True)), part) for key, part in keyed]


def rater_pairs(
    keyed: Sequence[tuple[dict[str, str], pl.DataFrame]], raters: Sequence[str]
) -> list[tuple[dict[str, str], pl.DataFrame, tuple[str, str]]]:
    """Split each group by every two raters.

    The two are its columns, also where one of them gave no label in it.
    """
    return [
        (
            {**keys, "raters": pair_of(a, b)},
            part.filter(pl.col("rater").is_in([a, b])),
            (a, b),
        )
        for keys, part in keyed
        for a, b in combinations(raters, 2)
    ]


def _first(pair: tuple[tuple[str, ...], pl.DataFrame]) -> list[tuple[tuple[int, int, str], ...]]:
    return [natural(value) for value in pair[0]]


def encode(
    frame: pl.DataFrame, analysis: Analysis, labels: Labels, raters: Sequence[str] | None = None
) -> Sample:
    """Put a group's ratings into a matrix of codes.

    Abstentions are missing unless they are a label of their own.
    """
    coded = _coded(frame, analysis.collapse, labels)
    if analysis.spans in {"all", "any"}:
        coded = _over_sentences(coded, analysis)
    # A rater is no property of a unit: the cluster of its code is then its item.
    cluster = "item" if analysis.cluster == "rater" else analysis.cluster
    subjects, rater_numbers = _dense(subjects_of(coded)), _dense(_numbered(coded, "rater"))
    _refuse_twice(subjects, rater_numbers, analysis)
    codes = coded.get_column("code").to_numpy()
    # Of two systems the same one is always the first; of more, which one is follows from their
    # names.
    if labels.reverse is not None and coded.get_column("system").n_unique() < 2:
        labels = replace(labels, reverse=None)
    return _placed(
        subjects, rater_numbers, _dense(_numbered(coded, cluster)), codes, labels, raters
    )


def _numbered(frame: pl.DataFrame, column: str) -> pl.Series:
    numbered_column = NUMBERED.get(column, "")
    return (
        frame.get_column(numbered_column)
        if numbered_column in frame.columns
        else frame.get_column(column).fill_null("")
    )


def _coded(frame: pl.DataFrame, collapse: Mapping[str, str], labels: Labels) -> pl.DataFrame:
    codes = labels.codes()
    # A label that is collapsed into one that is not counted is missing because the protocol says
    # so.
    code_by_label = {
        **codes,
        **{before: codes.get(after, -1) for before, after in collapse.items()},
    }
    refuse_unknown_labels(frame, code_by_label)
    code = pl.col("label").replace_strict(code_by_label, default=-1, return_dtype=pl.Int64)
    if labels.abstain is not None:
        code = pl.when(pl.col("state") == "abstained").then(codes[labels.abstain]).otherwise(code)
    return frame.with_columns(code.fill_null(-1).alias("code"))


def _over_sentences(coded: pl.DataFrame, analysis: Analysis) -> pl.DataFrame:
    """One label per answer from those of its sentences: the worst of all, or the best of any."""
    worst_or_best = pl.col("code").filter(pl.col("code") >= 0)
    picked = worst_or_best.min() if analysis.spans == "all" else worst_or_best.max()
    keys = ["item", "case", "answers", "rater"]
    per_answer = coded.group_by(keys, maintain_order=True).agg(picked.fill_null(-1).alias("code"))
    return per_answer.with_columns(pl.lit("").alias("span"))


def of_tasks(frame: pl.DataFrame, analysis: Analysis, labels: Labels) -> pl.DataFrame:
    """One label per task and answer from those of its sentences, after collapsing.

    Answers without any are left out. Where each sentence has a task of its own, the tasks of an
    answer count as the first of them.
    """
    coded = _coded(_of_first_tasks(frame), analysis.collapse, labels).filter(pl.col("code") >= 0)
    picked = pl.col("code").min() if analysis.spans == "all" else pl.col("code").max()
    keys = ["item", "case", "answers", "rater", "task", "repeat_of"]
    per_answer = coded.group_by(keys, maintain_order=True).agg(picked)
    label = pl.col("code").replace_strict(dict(enumerate(labels.names)), return_dtype=pl.String)
    return per_answer.with_columns(
        label.alias("label"), pl.lit("").alias("span"), pl.lit("rated").alias("state")
    )


_LOOK = ("rater", "item", "case", "answers", "instrument", "phase", "batch", "purpose")
"""What the tasks have in common in which a rater rated the sentences of an answer one by one."""


def _of_first_tasks(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with the first of the tasks in which a rater rated different sentences of an answer.

    Tasks with the same sentence, such as two repeats, stay apart.
    """
    look = [c for c in _LOOK if c in frame.columns]
    is_one = pl.struct("task", "span").n_unique().over(look) == pl.col("span").n_unique().over(look)
    first = pl.when(is_one).then(pl.col("task").min().over(look)).otherwise(pl.col("task"))
    named = frame.with_columns(first.alias("first"))
    firsts = named.select(pl.col("task").alias("repeat_of"), pl.col("first").alias("repeated"))
    joined = named.join(
        firsts.unique(), on="repeat_of", how="left", maintain_order="left"
    ).with_columns(pl.coalesce("repeated", "repeat_of").alias("repeat_of"))
    return joined.with_columns(pl.col("first").alias("task")).drop("first", "repeated")


def averaged(
    frame: pl.DataFrame, analysis: Analysis, labels: Labels
) -> tuple[pl.DataFrame, Labels]:
    """One number per answer: the mean of its sentences' numbers, for each rater.

    The numbers are then the labels.
    """
    values = dict(enumerate(labels.values))
    coded = _coded(frame, analysis.collapse, labels).filter(pl.col("code") >= 0)
    number = pl.col("code").replace_strict(values, return_dtype=pl.Float64).mean()
    keys = ["item", "case", "answers", "rater"]
    per_answer = coded.group_by(keys, maintain_order=True).agg(number.alias("number"))
    distinct = per_answer.get_column("number").unique().sort()
    words = per_answer.with_columns(
        pl.col("number").cast(pl.String).alias("label"), pl.lit("").alias("span")
    )
    names = tuple(distinct.cast(pl.String).to_list())
    return words, Labels(names, tuple(distinct.to_list()), "interval")


def subjects_of(frame: pl.DataFrame) -> pl.Series:
    """What each row's label is about: its item, answers and span together."""
    if SUBJECT in frame.columns:
        return frame.get_column(SUBJECT)
    parts = [pl.col(c).fill_null("") for c in ("item", "answers", "span")]
    return frame.select(pl.concat_str(parts, separator="\x1f").alias("subject")).to_series()


def _refuse_twice(subjects: _Dense, raters: _Dense, analysis: Analysis) -> None:
    """One label per rater and unit: two would be counted twice or one silently dropped."""
    (unit, units), (rater, names) = subjects, raters
    times = np.bincount(unit.astype(np.int64) * len(names) + rater, minlength=1)
    if times.max() <= 1:
        return
    first = int(np.argmax(times > 1))
    item, answers, *_ = units[first // len(names)].split("\x1f")
    fact = message(
        "rater {rater!r} labelled item {item!r} {n} {n|time|times}; select one with where"
        " (instrument, phase, batch) or arm{way_out}",
        message_id="refused.labelled_twice",
        rater=names[first % len(names)],
        item=item,
        n=int(times[first]),
        way_out=""
        if answers
        else message(
            "; a question about each task of an item has the scope 'task'",
            message_id="refused.scope_task",
        ),
    )
    raise AnalysisError(placed(analysis.name, fact))


def matrix(
    units: pl.Series,
    raters: pl.Series,
    clusters: pl.Series | None,
    codes: NDArray[np.int32] | NDArray[np.int64],
    labels: Labels,
    columns: Sequence[str] | None = None,
) -> Sample:
    """Long columns to a units x raters matrix; without clusters each unit is one.

    Rows, columns and clusters are sorted, so that order changes nothing.
    """
    by_unit = _dense(units)
    return _placed(
        by_unit,
        _dense(raters),
        by_unit if clusters is None else _dense(clusters),
        codes,
        labels,
        columns,
    )


def _placed(
    units: _Dense,
    raters: _Dense,
    clusters: _Dense,
    codes: NDArray[np.int32] | NDArray[np.int64],
    labels: Labels,
    columns: Sequence[str] | None,
) -> Sample:
    (unit, unit_names), (rater, rater_names), (cluster, cluster_names) = units, raters, clusters
    if columns is not None:
        position = {name: n for n, name in enumerate(columns)}
        rater = np.array([position[name] for name in rater_names], dtype=np.int64)[rater]
        rater_names = tuple(columns)
    # int8 holds -1 and the codes up to 126 in a quarter of the memory.
    shape = (len(unit_names), len(rater_names))
    table: NDArray[np.int8] | NDArray[np.int32] = (
        np.full(shape, -1, dtype=np.int8)
        if len(labels.names) < 127
        else np.full(shape, -1, dtype=np.int32)
    )
    table[unit, rater] = codes
    of_unit = np.zeros(len(unit_names), dtype=np.int64)
    of_unit[unit] = cluster
    coded = Codes(table, of_unit, len(labels.names), labels.values, labels.reverse)
    return Sample(coded, rater_names, unit_names, cluster_names)


def _dense(column: pl.Series) -> _Dense:
    """Integers in the order of the sorted names, and the names."""
    # Asked once: Polars makes an Enum's anew each time and looks through all its names.
    dtype = column.dtype
    if isinstance(dtype, pl.Enum):  # its names are sorted already, and few of them may occur
        occurring, codes = renumbered(column.to_physical().to_numpy())
        return codes, tuple(dtype.categories.gather(occurring).to_list())
    names = column.unique().sort()
    if dtype == pl.Categorical:
        numbers = names.to_physical().to_numpy()
        place = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int32)
        place[numbers] = np.arange(len(numbers))
        codes = place[column.to_physical().to_numpy()]
    elif dtype == pl.String:
        codes = enumerated(column).to_physical().to_numpy()
    else:
        codes = column.rank("dense").to_numpy() - 1
    return codes.astype(np.int32), tuple(names.cast(pl.String).to_list())


def labels_in(context: Context, frame: pl.DataFrame) -> Labels:
    """The labels of the analysis; for numbers and means of sentences those observed."""
    if context.criterion.scale.kind != "number":
        return labels_of(context.analysis, context.criterion)
    observed = (
        frame.filter(pl.col("state") == "rated").get_column("label").drop_nulls().unique().to_list()
    )
    return labels_of(context.analysis, context.criterion, observed)


def sample_of(context: Context, frame: pl.DataFrame, raters: tuple[str, ...] | None) -> Sample:
    """The group's ratings as codes."""
    analysis, labels = context.analysis, labels_in(context, frame)
    if analysis.spans == "mean":
        if analysis.statistic != "mean":
            raise AnalysisError(
                f"{analysis.name}: spans = 'mean' yields numbers; only the statistic 'mean'"
                " accepts them"
            )
        frame, labels = averaged(frame, analysis, labels)
        return encode(frame, replace(analysis, collapse={}), labels, raters)
    return encode(frame, analysis, labels, raters)
