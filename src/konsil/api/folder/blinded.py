"""What was collected, as somebody sees it for whom systems are letters; freezing and unblinding."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from konsil.analysis.table.calls.model_provenance import played
from konsil.analysis.table.columns import text_types
from konsil.api.folder.opened import PROTOCOL, OpenedStudy, now
from konsil.errors import StudyError, option
from konsil.errors.message import listed, message
from konsil.instrument import Criterion, Instrument, canonical
from konsil.plan.model.places import panel_of_slot
from konsil.records import Event, Rating, Task
from konsil.store import Batch, Store
from konsil.store.people.staff import pseudonym
from konsil.study import Study, study_digest
from konsil.study.data.blinding import Letters, letters, pair_criteria, without_families
from konsil.study.data.freezing import (
    FREEZE,
    LIFTED,
    TARGET,
    UNBLIND,
    PowerCalculation,
    frozen,
    is_blinded,
    look,
    mark_exploratory,
    plan_of_analyses,
    sentences,
    unblinded,
)
from konsil.study.data.label_numbering import numbering_sentences, with_frozen_numbers
from konsil.study.data.plan_status import Timing, plan_sentences, plan_statuses
from konsil.study.data.run_settings import target_of_plan
from konsil.study.interim.looks import mark_unadjusted

if TYPE_CHECKING:
    from konsil.analysis.model.rows import PlanStatus
    from konsil.analysis.table.columns import Columns
    from konsil.analysis.table.frame import Data
    from konsil.errors.message import TranslatableMessage


def data_in_letters(data: Data, names: Letters) -> Data:
    """The records under letters; what models were called is left out.

    Comparisons keep the order of the real names, on which agreement about the sides depends:
    `fit_to_show` makes of them what may be shown.
    """
    return dataclasses.replace(
        data,
        answers=tuple(sorted((names.answer(a) for a in data.answers), key=lambda a: a.id)),
        raters=tuple(sorted((names.rater(r) for r in data.raters), key=lambda r: r.id)),
        tasks=_renamed(data.tasks, names),
        ratings=_renamed(data.ratings, names),
        attempts=tuple(
            dataclasses.replace(a, rater=names.judges.get(a.rater, a.rater)) for a in data.attempts
        ),
        callees=(),
        usage=names.usage(data.usage),
        injected=names.injected(data.injected),
        lengths={names.answers.get(a, a): n for a, n in data.lengths.items()},
    )


def _renamed(columns: Any, names: Letters) -> Columns[Any]:  # noqa: ANN401 - tasks or ratings
    frame: pl.DataFrame = columns.frame
    lists = frame.get_column("answers").unique().to_list()
    renamed = {text: _dumps([names.answers.get(a, a) for a in json.loads(text)]) for text in lists}
    shown: Columns[Any] = columns.with_frame(
        frame.with_columns(
            pl.col("rater").replace(dict(names.judges)),
            pl.col("answers").replace_strict(renamed, return_dtype=pl.String),
        )
    )
    return shown


def fit_to_show(data: Data, names: Letters, instruments: Sequence[Instrument]) -> Data:
    """Records under blinding codes, without what reveals names.

    Identifiers of tasks, sides of comparisons and the order of rows reveal nothing.
    """
    return dataclasses.replace(
        data,
        tasks=_blinded_tasks(data.tasks, names),
        ratings=_turned(data.ratings, names, pair_criteria(instruments)),
        # A reply's body can name the model that gave it.
        attempts=tuple(
            dataclasses.replace(a, id=names.task_id(a.id), task=names.task_id(a.task), raw="")
            for a in data.attempts
        ),
        worked=tuple(dataclasses.replace(w, task=names.task_id(w.task)) for w in data.worked),
        panel_by_slot=_panel_by_slot(data.tasks, names),
    )


def _panel_by_slot(columns: Any, names: Letters) -> dict[str, str]:  # noqa: ANN401 - tasks
    """The panels of the plan's slots without a rater: their blinded names do not state them."""
    frame: pl.DataFrame = columns.frame
    slots = frame.filter(pl.col("rater") == "").get_column("slot").unique().to_list()
    return {names.slot(slot): panel_of_slot(slot) for slot in slots}


# The columns have no type of their own: they are as `_renamed` returns them.
def _blinded_tasks(columns: Any, names: Letters) -> Columns[Task]:  # noqa: ANN401
    """Tasks under identifiers that nobody can make again, in their order."""
    frame: pl.DataFrame = columns.frame
    ids = {task: names.task_id(task) for task in frame["id"].to_list()}
    slots = {slot: names.slot(slot) for slot in frame["slot"].unique().to_list()}
    blinded: Columns[Task] = columns.with_frame(
        frame.with_columns(
            pl.col("id", "repeat_of").replace(ids), pl.col("slot").replace(slots)
        ).sort("id")
    )
    return blinded


def _turned(
    columns: Any,  # noqa: ANN401
    names: Letters,
    pairs: Mapping[str, Criterion],
) -> Columns[Rating]:
    """Comparisons in the order of their letters: that of the real names would give them away.

    Rows likewise.
    """
    frame: pl.DataFrame = columns.frame
    ids = {task: names.task_id(task) for task in frame["task"].unique().to_list()}
    frame = frame.with_columns(pl.col("task").replace(ids))
    kinds = (
        frame.filter(pl.col("criterion").is_in(list(pairs)))
        .select("criterion", "answers", "label")
        .unique()
    )
    changed = {}
    for criterion, text, label in kinds.iter_rows():
        answers, new_label = canonical(pairs[criterion], tuple(json.loads(text)), label)
        changed[criterion, text, label] = (_dumps(list(answers)), new_label)
    if changed:
        key = ["criterion", "answers", "label"]
        rows = [(*before, *after) for before, after in changed.items()]
        table = pl.DataFrame(rows, schema=text_types(*key, "_answers", "_label"), orient="row")
        frame = (
            frame.join(table, on=key, how="left", nulls_equal=True, maintain_order="left")
            .with_columns(
                pl.coalesce("_answers", "answers").alias("answers"),
                pl.when(pl.col("_answers").is_null())
                .then("label")
                .otherwise("_label")
                .alias("label"),
            )
            .drop("_answers", "_label")
        )
    turned: Columns[Rating] = columns.with_frame(
        frame.sort("task", "criterion", "answers", maintain_order=True)
    )
    return turned


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def freeze(
    folder: OpenedStudy, by: str, note: str = "", power: PowerCalculation | None = None
) -> Event:
    """Keep the digests of the plan of analyses in the audit log, and its power calculation.

    Whatever changes later is told in the report.
    """
    named(by, option("by"))
    if not folder.study.analyses:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there are no [[analyses]], so there is no analysis plan"
            " to freeze"
        )
    # A plan may be frozen before anything is imported: ratings that come in later were not known to
    # whoever made it.
    with folder.store(create=True) as store:
        before = frozen(store.events())
        if before is not None:
            raise StudyError(
                f"{folder.path / PROTOCOL}: the analysis plan was frozen at {before.at} by"
                f" {before.data.get('by')!r}; the report lists later changes"
            )
        by = pseudonym(store, by)
        about = {
            "by": by,
            "note": note,
            "ratings": store.counts()["ratings"],
            "study": study_digest(folder.study),
        }
        plan = plan_of_analyses(folder.study)
        data = {**about, **plan, TARGET: target_of_plan(folder.study).raters}
        if power is not None:
            stored = dataclasses.asdict(power)
            data["power"] = {k: v for k, v in stored.items() if v is not None}
        return _written(store, Event("freeze", FREEZE, folder.study.title, now(), data))


def unblind(folder: OpenedStudy, by: str, reason: str) -> Event:
    """Give the systems their names; refused until the plan of analyses is frozen."""
    named(by, option("by"))
    named(reason, option("reason"))
    if not folder.study.blinded:
        raise StudyError(
            f"{folder.path / PROTOCOL}: the study is not blinded; set blinded = true to blind it"
        )
    with folder.store() as store:
        events = store.events()
        if frozen(events) is None:
            raise StudyError(
                f"{folder.path / PROTOCOL}: the analysis plan is not frozen; run 'konsil"
                " freeze' first"
            )
        before = unblinded(events)
        if before is not None:
            raise StudyError(
                f"{folder.path}: was unblinded at {before.at} by {before.data.get('by')!r}"
            )
        return _written(
            store,
            Event(
                "unblind",
                UNBLIND,
                folder.study.title,
                now(),
                {"by": pseudonym(store, by), "reason": reason},
            ),
        )


def hides(folder: OpenedStudy, store: Store) -> bool:
    """Whether systems are letters."""
    return folder.study.blinded and is_blinded(folder.study, store.events())


def plan_timings(folder: OpenedStudy, events: Sequence[Event]) -> tuple[Timing, ...]:
    """Whether ratings were given before or after the freeze of the plan; none without one."""
    from konsil.store.tasks.timing import timings

    freeze = frozen(events)
    if freeze is None:
        return ()
    with folder.store() as store:
        return timings(store, freeze.id, freeze.at)


def log_disclosure(folder: OpenedStudy, store: Store) -> bool:
    """Log, once, that ratings are about to be shown with the systems' names.

    Returns whether systems have blinding codes instead; `hides` answers that without a write.
    """
    events = store.events()
    kind = look(folder.study, events) if store.counts()["ratings"] else ""
    if kind and not store.is_read_only:
        at = now()
        reason = "simulated = true" if kind == LIFTED else "no blinded = true"
        event_id = LIFTED if kind == LIFTED else f"{kind} {at}"
        _written(
            store,
            Event(event_id, kind, folder.study.title, at, {"reason": f"{reason} in the protocol"}),
        )
    return is_blinded(folder.study, events)


@dataclass(frozen=True)
class BlindedData:
    """A study and its records as its analyses see them."""

    study: Study
    """The protocol, in letters while it is blinded; what was changed after the freeze is
    exploratory."""
    data: Data
    """The records, likewise."""
    events: tuple[Event, ...]
    """What happened, likewise."""
    names: Letters | None = None
    """The letters of the systems; None where they have their names."""
    warnings: tuple[str, ...] = ()
    """What the report must say of it."""
    methods: tuple[str, ...] = ()
    """Sentences of the methods paragraph."""
    played: str = ""
    """That models were played by konsil; empty: none was."""
    plan: Mapping[str, PlanStatus] = dataclasses.field(default_factory=dict)
    """Analysis -> whether it was frozen before the ratings that it uses."""

    @property
    def is_blinded(self) -> bool:
        """Whether systems are letters."""
        return self.names is not None


def blinded_view(
    study: Study,
    data: Data,
    events: Sequence[Event],
    further: Sequence[TranslatableMessage] = (),
    timings: Sequence[Timing] = (),
    *,
    key: bytes,
) -> BlindedData:
    """The study and its records as the analyses see them.

    `further` are sentences of the methods, `timings` says which ratings were there before the
    freeze; `key` is the secret behind the letters.
    """
    warnings, methods = sentences(study, events)
    freeze, study = frozen(events), with_frozen_numbers(study, events)
    methods = (*methods, *numbering_sentences(study, events))
    study = dataclasses.replace(study, analyses=mark_exploratory(study, freeze))
    analyses, unadjusted = mark_unadjusted(study, events)
    study, warnings = dataclasses.replace(study, analyses=analyses), (*warnings, *unadjusted)
    late, when = plan_sentences(study, freeze, timings)
    warnings, methods = (*warnings, *late), (*when, *methods, *further)
    plan = plan_statuses(
        study, study.analyses, freeze, timings, {r.id: r.panel for r in data.raters}
    )
    hidden = is_blinded(study, events)
    fake = played(data.callees, named=not hidden) or ""
    if not hidden:
        return BlindedData(study, data, tuple(events), None, warnings, methods, fake, plan)
    if no_estimates := without_families(study):
        withheld = message(
            "Model families are withheld while the study is blinded; without them there are no"
            " estimates of {names}.",
            message_id="blinding.families_withheld",
            names=listed(no_estimates),
        )
        warnings = (*warnings, withheld)
    names = letters(study, data.raters, data.answers, key)
    shown = tuple(names.event(e) for e in events)
    blinded = fit_to_show(data_in_letters(data, names), names, study.instruments)
    return BlindedData(names.study(study), blinded, shown, names, warnings, methods, fake, plan)


def _written(store: Store, event: Event) -> Event:
    entry = (event.kind, {k: v for k, v in event.data.items() if k != "analyses"})
    store.add(Batch(events=(event,)), source=event.kind, at=event.at, entries=[entry])
    return event


def named(text: str, option: str) -> None:
    """Refuse an empty word of the log."""
    if not text.strip():
        raise StudyError(f"{option}: is empty; the log keeps it")
