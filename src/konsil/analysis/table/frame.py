"""All ratings as one long table: one row a rating, with its task, item, answers and rater."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NoReturn

import polars as pl

from konsil.analysis.model.catalogue.known import COLUMNS
from konsil.analysis.model.composite.score_rows import Composite
from konsil.analysis.model.spec import Derived, Exclusions
from konsil.analysis.model.terms import Term
from konsil.analysis.table.adjudicated import Adjudicated, with_adjudicated_labels
from konsil.analysis.table.columns import (
    Columns,
    enumerated,
    rating_columns,
    task_columns,
    text_type,
    text_types,
)
from konsil.analysis.table.screens import Displays, about_screens, displays
from konsil.errors import AnalysisError
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.instrument import Instrument
from konsil.records import Answer, Attempt, Callee, Injected, Item, Rater, Rating, Task, Usage
from konsil.records.worked import Worked

_OF_TASK = {
    "instrument": "",
    "arm": "",
    "phase": "",
    "batch": "",
    "purpose": "main",
    "repeat_of": None,
}
"""What a rating's task says, and what holds where the task is not among the records."""

SUBJECT = "item, answers, span"
"""The column of what one label is about, whose values sort as the three together; only in a panel's
part.

What is about no item is about its rater, phase and batch, and is in one cluster with all else that
its rater said so. """

NUMBERED = {"rater": "rater, numbered", "item": "item, numbered", "case": "case, numbered"}
"""Column -> the same as an Enum of its sorted values, so that they are counted and not compared;
only in a part."""


@dataclass(frozen=True)
class Data:
    """Everything collected, as records."""

    items: Sequence[Item] = ()
    """What was asked."""
    answers: Sequence[Answer] = ()
    """What was answered."""
    raters: Sequence[Rater] = ()
    """Who rated."""
    tasks: Sequence[Task] = ()
    """Which screens there are."""
    ratings: Sequence[Rating] = ()
    """Which labels were given."""
    attempts: Sequence[Attempt] = ()
    """What the judges' calls gave."""
    callees: Sequence[Callee] = ()
    """Which models were called, and how."""
    withdrawn: frozenset[str] = frozenset()
    """Raters whose ratings stay out because they withdrew their consent."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Answer -> its length, where its text is not at hand."""
    worked: Sequence[Worked] = ()
    """How long people had their screens open, and which answers were displayed to their end."""
    usage: Sequence[Usage] = ()
    """What the calls of each system and judge took."""
    injected: Sequence[Injected] = ()
    """Labels of judges with and without an injected instruction, which are in nothing else here."""
    panel_by_slot: Mapping[str, str] = field(default_factory=dict)
    """Slot of a plan -> its panel, where the name of the slot does not state it."""


@dataclass(frozen=True)
class RatingTable:
    """The long table and what was left out of it."""

    frame: pl.DataFrame
    """One row a rating that may be used, columns as in COLUMNS and the strata."""
    excluded: pl.DataFrame
    """The ratings left out, with a column `reason`."""
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Named set -> its items."""
    data: Data | None = None
    """The records that it was made from: what few analyses need of answers and tasks."""
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names for several panels as one."""
    adjudicated: Adjudicated = field(default_factory=Adjudicated)
    """What became of labels at the adjudication, whichever of them the table has."""
    derived: tuple[str, ...] = ()
    """The columns that were derived from ratings."""
    groups: tuple[Derived, ...] = ()
    """The columns of groups, each from the values of another column."""
    composites: Mapping[str, Composite] = field(default_factory=dict)
    """Composite scores, which analyses name as they name criteria."""

    def __getstate__(self) -> dict[str, object]:
        """What analyses read, for another process.

        Without parts, which are sooner selected than sent, and with the records of `data` alone
        that single analyses need. The same texts occur in many rows, so that compressed frames have
        a thirtieth of the bytes.
        """
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        state |= {name: _compressed(state[name]) for name in _FRAMES}
        return {**state, "data": None if self.data is None else _read_by_analyses(self.data)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The table in the other process."""
        self.__dict__.update(state)
        self.__dict__.update({name: pl.read_ipc(state[name]).rechunk() for name in _FRAMES})

    def part(self, criterion: str, panel: str) -> pl.DataFrame:
        """The ratings of a panel, or of several with one name, on one criterion or score.

        With SUBJECT and NUMBERED. They are selected once, since analyses use them often.
        """
        key = (criterion, panel)
        if key not in self._parts:
            is_of_panel = pl.col("panel").is_in(self.members(panel))
            composite = self.composites.get(criterion)
            self._parts[key] = (
                self._with_subjects.filter((pl.col("criterion") == criterion) & is_of_panel)
                if composite is None
                else composite.rows(self._with_subjects.filter(is_of_panel))
            )
        return self._parts[key]

    def members(self, panel: str) -> tuple[str, ...]:
        """The panels of a name: several where it names them together, else itself."""
        return self.together.get(panel, (panel,))

    def has_models(self, panel: str) -> bool:
        """Whether any rater of a panel is a model."""
        members, raters = self.members(panel), () if self.data is None else self.data.raters
        return any(r.kind == "llm" and r.panel in members for r in raters)

    def has_unknown_raters(self, panel: str) -> bool:
        """Whether any rater of a panel is unknown."""
        members, raters = self.members(panel), () if self.data is None else self.data.raters
        return any(r.kind == "unknown" and r.panel in members for r in raters)

    @cached_property
    def of_raters(self) -> frozenset[str]:
        """The columns that say something of the rater: who it was, and its characteristics."""
        return frozenset({"rater"} | ({*_rater_columns(self.data)} if self.data else set()))

    @cached_property
    def displays(self) -> Displays:
        """Whether the answers on each screen were displayed to their end, as far as recorded."""
        return {} if self.data is None else displays(self.data.worked, self.data.tasks)

    @cached_property
    def _parts(self) -> dict[tuple[str, str], pl.DataFrame]:
        return {}

    @cached_property
    def _with_subjects(self) -> pl.DataFrame:
        subject = pl.concat_str(
            [pl.col(c).fill_null("") for c in ("item", "answers", "span")], separator="\x1f"
        )
        # Answers about no item have no unit of their own: it is who was asked, and when.
        survey = pl.concat_str([pl.lit(""), "rater", "phase", "batch"], separator="\x1f")
        words = self.frame.select(
            pl.when(pl.col("item").is_null()).then(survey).otherwise(subject).alias(SUBJECT),
            *(pl.col(c).fill_null(pl.col("rater")).alias(n) for c, n in NUMBERED.items()),
        )
        # As Enums, whose names are sorted once: every encoding then takes their numbers and sorts
        # nothing.
        return self.frame.with_columns(map(enumerated, words))


_FRAMES = ("frame", "excluded")
"""The frames of a rating table."""


def _compressed(frame: pl.DataFrame) -> bytes:
    return frame.write_ipc(None, compression="zstd").getvalue()


def _read_by_analyses(data: Data) -> Data:
    """The records beside the rows of the table: not the ratings, which are its rows."""
    tasks: Columns[Task] = Columns(task_columns(data.tasks, ("id", "answers")), _no_tasks)
    return replace(data, tasks=tasks, ratings=(), attempts=(), callees=(), usage=())


def _no_tasks(frame: pl.DataFrame) -> NoReturn:
    raise TypeError(f"{frame.height} tasks: in a process of analyses there are columns alone")


def rating_table(
    data: Data,
    exclusions: Exclusions,
    instruments: Sequence[Instrument],
    together: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    *,
    after: bool = False,
) -> RatingTable:
    """Join the records into one long table and set aside excluded ratings, with the reason.

    The protocol determines the exclusions. `after`: whether labels are those after the
    adjudication, where there was one.
    """
    frame, adjudicated = with_adjudicated_labels(_joined(data, instruments), after=after)
    frame = _with_strata(frame, data)
    frame, excluded = _exclude(frame, exclusions, data.withdrawn)
    named: dict[str, set[str]] = {}
    for item in data.items:
        for name in item.sets:
            named.setdefault(name, set()).add(item.id)
    return RatingTable(
        frame,
        excluded,
        {name: frozenset(ids) for name, ids in named.items()},
        data,
        together,
        adjudicated,
    )


def _joined(data: Data, instruments: Sequence[Instrument]) -> pl.DataFrame:
    """Every rating with the columns of its rater, item, answers and task."""
    ratings = about_screens(rating_columns(data.ratings), data.tasks, instruments)
    raters = {name: [getattr(r, name) for r in data.raters] for name in ("panel", "kind", "family")}
    rater_frame = pl.DataFrame(
        {"rater": [r.id for r in data.raters], **raters}, schema=text_types("rater", *raters)
    )
    unknown = ratings.filter(~pl.col("rater").is_in(rater_frame.get_column("rater").to_list()))
    if unknown.height:
        task, rater = unknown.row(0)[:2]
        raise AnalysisError(
            message(
                "rating of task {task!r}: the rater {rater!r} is not known",
                message_id="refused.rater_not_known",
                task=task,
                rater=rater,
            )
        )
    cases = {"item": [i.id for i in data.items], "case": [i.case or i.id for i in data.items]}
    case_frame = pl.DataFrame(cases, schema=text_types(*cases))
    tasks = task_columns(data.tasks, ("id", "rater", "item", *_OF_TASK)).rename({"id": "task"})
    frame = (
        ratings.join(rater_frame, on="rater", how="left", maintain_order="left")
        .join(case_frame, on="item", how="left", maintain_order="left")
        .join(tasks.drop("rater", "item"), on="task", how="left", maintain_order="left")
        .join(_answer_texts(ratings, data), on="answers", how="left", maintain_order="left")
    )
    # Spans are few and ratings many: each distinct text is parsed once.
    spans = {
        text: "-".join(map(str, json.loads(text))) if text else ""
        for text in frame.get_column("span").unique()
    }
    frame = frame.with_columns(
        pl.col("case").fill_null(pl.col("item")),
        pl.col("shown").alias("answers"),
        pl.col("span").replace_strict(spans, return_dtype=text_type("span")),
        *(
            pl.col(name).fill_null(pl.lit(default))
            for name, default in _OF_TASK.items()
            if default is not None
        ),
    )
    return _with_design(frame, tasks).select(COLUMNS)


def _with_design(frame: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """A survey's design: the one instrument of the same rater's tasks.

    Of the tasks in the batch, else of those in the phase, else the survey's own instrument.
    """
    design = pl.col("instrument")
    if frame.get_column("item").null_count():
        about = tasks.filter(pl.col("item").is_not_null())
        for n, place in enumerate((["rater", "phase", "batch"], ["rater", "phase"])):
            only = about.group_by(place).agg(pl.col("instrument").unique().alias(f"of {n}"))
            only = only.filter(pl.col(f"of {n}").list.len() == 1).with_columns(
                pl.col(f"of {n}").list.first()
            )
            frame = frame.join(only, on=place, how="left", maintain_order="left")
        design = (
            pl.when(pl.col("item").is_null())
            .then(pl.coalesce("of 0", "of 1", design))
            .otherwise(design)
        )
    return frame.with_columns(design.alias("design"))


def _answer_texts(ratings: pl.DataFrame, data: Data) -> pl.DataFrame:
    """For each tuple of answers, as JSON text: how it is shown, and whose answers they are."""
    systems = {a.id: a.system for a in data.answers}
    texts = ratings.get_column("answers").unique().to_list()
    answers = [json.loads(text) for text in texts]
    columns = {
        "answers": texts,
        "shown": [" | ".join(ids) for ids in answers],
        "system": [" | ".join([systems.get(answer, "") for answer in ids]) for ids in answers],
    }
    return pl.DataFrame(columns, schema=text_types(*columns))


def _rater_columns(data: Data) -> dict[str, str]:
    """Column -> the raters' characteristic in it.

    Its name has a prefix where the items or all ratings have one of that name.
    """
    of_items = {name for i in data.items for name in i.strata}
    of_raters = sorted({name for r in data.raters for name in r.strata})
    return {
        f"rater_{name}" if name in of_items or name in COLUMNS else name: name for name in of_raters
    }


def _with_strata(frame: pl.DataFrame, data: Data) -> pl.DataFrame:
    """Add the strata of items and raters to the ratings.

    A name that both use is prefixed for the raters.
    """
    of_items = sorted({name for i in data.items for name in i.strata})
    reserved = [name for name in of_items if name in {*COLUMNS, "reason"}]
    if reserved:
        raise AnalysisError(
            message(
                "the items' characteristic {name!r} has the name of a column of the ratings; rename"
                " it",
                message_id="refused.reserved_name",
                name=reserved[0],
            )
        )
    for name in of_items:
        values = {i.id: i.strata.get(name) for i in data.items}
        frame = frame.with_columns(
            pl.col("item").replace_strict(values, default=None, return_dtype=pl.String).alias(name)
        )
    for column, name in _rater_columns(data).items():
        values = {r.id: r.strata.get(name) for r in data.raters}
        frame = frame.with_columns(
            pl.col("rater")
            .replace_strict(values, default=None, return_dtype=pl.String)
            .alias(column)
        )
    return frame


def reasons(rules: Exclusions) -> tuple[Term, ...]:
    """Why a rating stays out, in the order in which the reasons are tried."""
    return (
        Term("phase_practice"),
        Term("phase_pilot"),
        Term("consent_withdrawn"),
        Term("rater_excluded"),
        Term("item_excluded"),
        Term("no_time"),
        Term("faster_than", rules.min_seconds),
    )


def excluded_sentence(excluded: pl.DataFrame) -> TranslatableMessage:
    """That all of some ratings are excluded, and how many by which rule."""
    keys = {
        str(Term(code)): key
        for code, key in (
            ("phase_practice", "purpose = 'practice'"),
            ("phase_pilot", "purpose = 'pilot'"),
            ("consent_withdrawn", "withdrawn consent"),
            ("rater_excluded", "[exclusions] raters"),
            ("item_excluded", "[exclusions] items"),
            ("no_time", "[exclusions] require_seconds"),
        )
    }
    counts = excluded.group_by("reason").len().sort("len", "reason", descending=[True, False])
    rules = [f"{keys.get(text, '[exclusions] min_seconds')} ({n:,})" for text, n in counts.rows()]
    return message(
        "no ratings selected: all {n:,} {n|rating is|ratings are} excluded by {rules}",
        message_id="selection.excluded",
        n=excluded.height,
        rules=listed(rules),
    )


def _exclude(
    frame: pl.DataFrame, rules: Exclusions, withdrawn: Collection[str] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split into what may be used and what is left out.

    The first reason that applies is the one counted.
    """
    practice, pilot, consent, rater, item, timeless, fast = (str(r) for r in reasons(rules))
    # A judge that replies within a second has not hurried, and an imported one has no time at all.
    people = pl.col("kind").is_in(["human", "unknown"])
    reason = (
        pl.when(pl.col("purpose") == "practice")
        .then(pl.lit(practice))
        .when(pl.col("purpose") == "pilot")
        .then(pl.lit(pilot))
        .when(pl.col("rater").is_in(sorted(withdrawn)))
        .then(pl.lit(consent))
        .when(pl.col("rater").is_in(list(rules.raters)))
        .then(pl.lit(rater))
        .when(pl.col("item").is_in(list(rules.items)))
        .then(pl.lit(item))
        .when(people & pl.col("seconds").is_null() & pl.lit(rules.require_seconds))
        .then(pl.lit(timeless))
        .when(people & (pl.col("seconds") < rules.min_seconds))
        .then(pl.lit(fast))
        .otherwise(None)
    )
    marked = frame.with_columns(reason.alias("reason"))
    if marked.get_column("reason").null_count() == marked.height:
        return frame, marked.clear()
    included = marked.filter(pl.col("reason").is_null()).drop("reason")
    return included, marked.filter(pl.col("reason").is_not_null())
