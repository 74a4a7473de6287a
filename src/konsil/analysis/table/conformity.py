"""Whether the protocol describes the ratings: labels, criteria, raters, scopes and forms.

The check is made before any analysis.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.model.spec import Exclusions
from konsil.analysis.table.columns import Columns, task_columns, text_types
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import message
from konsil.instrument import Criterion, Instrument, LabelError, read_label
from konsil.instrument.definition.form import ANSWERS, ITEMS
from konsil.records import Answer, Rating, Span

SHOWN = 5
"""Mismatches of one kind that are spelt out; of the others only the number is given."""

_FIELDS = ("task", "rater", "criterion", "item", "answers", "span", "state", "label", "instrument")


@dataclass(frozen=True)
class Mismatch:
    """Ratings that the protocol does not describe."""

    text: str
    """What they have and the protocol has not, with the nearest name."""
    remedy: str
    """What the protocol may say of them."""
    of_form: bool = True
    """Whether a new form would do as well."""


def used(data: Data, exclusions: Exclusions) -> pl.DataFrame:
    """One row a rating that analyses may use, with its form's id and digest.

    The columns are `instrument` (id) and `form` (digest). Excluded are practice, pilot, withdrawn
    raters and what the protocol excludes by name.
    """
    ratings = rating_columns(data.ratings).rename({"instrument": "form"})
    tasks = task_columns(data.tasks, ("id", "instrument", "purpose")).rename({"id": "task"})
    out = sorted({*exclusions.raters, *data.withdrawn})
    frame = ratings.join(tasks, on="task", how="left").with_columns(
        pl.col("instrument").fill_null(""), pl.col("purpose").fill_null("main")
    )
    is_used = frame.select(
        ~pl.col("purpose").is_in(["practice", "pilot"])
        & ~pl.col("rater").is_in(out)
        & ~pl.col("item").fill_null("").is_in(list(exclusions.items))
    ).to_series()
    # Where all are used, as in most studies, no second copy is made.
    return frame if is_used.all() else frame.filter(is_used)


def rating_columns(ratings: Sequence[Rating]) -> pl.DataFrame:
    """Ratings as columns: what a form can contradict, answers and spans as texts."""
    if isinstance(ratings, Columns):
        return ratings.frame.select(_FIELDS)
    texts = {r.answers: '["' + '","'.join(r.answers) + '"]' if r.answers else "[]" for r in ratings}
    data: dict[str, list[object]] = {name: [getattr(r, name) for r in ratings] for name in _FIELDS}
    data["answers"] = [texts[r.answers] for r in ratings]
    data["span"] = [str(r.span) if isinstance(r.span, Span) else "" for r in ratings]
    return pl.DataFrame(data, schema=text_types(*_FIELDS))


def mismatches(
    frame: pl.DataFrame, instruments: Sequence[Instrument], raters: Collection[str] = ()
) -> tuple[Mismatch, ...]:
    """Criteria, labels, scopes and raters in the ratings of `used` that the protocol lacks.

    Without listed raters any rater may have rated. Shapes: each check is one group-by, and Python
    processes its groups alone.
    """
    by_instrument = {i.id: i for i in instruments}
    problems = [
        *_several(_unknown_instruments(frame, by_instrument)),
        *_several(_unknown_criteria(frame, by_instrument)),
        *_several(_unknown_labels(frame, by_instrument)),
        *_several(_other_scopes(frame, by_instrument)),
        *_several(_unknown_raters(frame, raters)),
    ]
    return tuple(problems)


def unlisted_systems(
    frame: pl.DataFrame, answers: Sequence[Answer], systems: Collection[str]
) -> tuple[Mismatch, ...]:
    """Systems in the answers rated in `used` that the protocol does not list.

    Without listed systems any system may have answered.
    """
    unlisted = {a.id: a.system for a in answers if a.system not in systems} if systems else {}
    if not unlisted:
        return ()
    n_ratings: dict[str, int] = defaultdict(int)
    for rated, n in frame.filter(pl.col("answers") != "[]").group_by("answers").len().iter_rows():
        for system in {unlisted[answer] for answer in json.loads(rated) if answer in unlisted}:
            n_ratings[system] += n
    return tuple(
        _several(
            Mismatch(
                message(
                    "there is no system {system!r}, to whose answers {n:,} {n|rating was|ratings"
                    " were} given; {hint}",
                    message_id="mismatch.system",
                    system=system,
                    n=n,
                    hint=nearest(system, systems),
                ),
                message(
                    "list every rated system under [[systems]] with the identifier in the answers",
                    message_id="mismatch.list_systems",
                ),
                of_form=False,
            )
            for system, n in sorted(n_ratings.items())
        )
    )


def forms(frame: pl.DataFrame) -> dict[tuple[str, str], int]:
    """(instrument, digest) -> how many ratings were given on that form.

    Ratings that name no form are not counted.
    """
    with_form = frame.filter((pl.col("form") != "") & pl.col("form").is_not_null())
    counted = with_form.group_by("instrument", "form").len().sort("instrument", "form")
    return {(instrument, digest): n for instrument, digest, n in counted.iter_rows()}


def _several(problems: Iterator[Mismatch]) -> list[Mismatch]:
    every = list(problems)
    if len(every) <= SHOWN:
        return every
    more = message(
        "{first} (and {n:,} more like it)",
        message_id="problems.alike",
        first=every[SHOWN - 1].text,
        n=len(every) - SHOWN,
    )
    return [*every[: SHOWN - 1], replace(every[SHOWN - 1], text=more)]


def _unknown_instruments(
    frame: pl.DataFrame, by_id: Mapping[str, Instrument]
) -> Iterator[Mismatch]:
    counted = frame.filter(~pl.col("instrument").is_in(["", *by_id])).group_by("instrument").len()
    for name, n in counted.sort("instrument").iter_rows():
        yield Mismatch(
            message(
                "there is no instrument {name!r}, on which {n:,} {n|rating was|ratings were} given;"
                " {hint}",
                message_id="mismatch.instrument",
                name=name,
                n=n,
                hint=nearest(name, by_id),
            ),
            message(
                "retain that instrument in addition to the new one",
                message_id="mismatch.retain_instrument",
            ),
        )


def _criteria(by_id: Mapping[str, Instrument], instrument: str, criterion: str) -> list[Criterion]:
    """The criteria that a rating may be about.

    A rating whose task is not there may be of every instrument.
    """
    instruments = (
        by_id.values() if instrument == "" else [by_id[instrument]] if instrument in by_id else []
    )
    return [c for i in instruments for c in i.criteria if c.id == criterion]


def _unknown_criteria(frame: pl.DataFrame, by_id: Mapping[str, Instrument]) -> Iterator[Mismatch]:
    counted = frame.group_by("instrument", "criterion").len().sort("instrument", "criterion")
    for instrument, criterion, n in counted.iter_rows():
        if _criteria(by_id, instrument, criterion) or (instrument and instrument not in by_id):
            continue
        ids = [c.id for i in by_id.values() for c in i.criteria if instrument in ("", i.id)]
        rated = {c for i, c, _ in counted.iter_rows() if i == instrument}
        unused = [name for name in ids if name not in rated]
        where = (
            message("instrument {name!r}", message_id="mismatch.on_instrument", name=instrument)
            if instrument
            else message("the protocol", message_id="mismatch.on_protocol")
        )
        yield Mismatch(
            message(
                "{where} has no criterion {criterion!r}, on which {n:,} {n|rating was|ratings were}"
                " given; {hint}",
                message_id="mismatch.criterion",
                where=where,
                criterion=criterion,
                n=n,
                hint=nearest(criterion, unused or ids, ids),
            ),
            message(
                'write formerly = ["{criterion}"] under the criterion that has another identifier'
                " now",
                message_id="mismatch.formerly",
                criterion=criterion,
            ),
        )


def _unknown_labels(frame: pl.DataFrame, by_id: Mapping[str, Instrument]) -> Iterator[Mismatch]:
    counted = frame.group_by("instrument", "criterion", "state", "label").len()
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    abstained: dict[tuple[str, str], int] = {}
    for instrument, criterion, state, label, n in counted.sort(
        "instrument", "criterion", "label"
    ).iter_rows():
        if state == "abstained":
            abstained[(instrument, criterion)] = n
        else:
            counts[(instrument, criterion)][label or ""] = n
    for place in sorted({*counts, *abstained}):
        criteria = _criteria(by_id, *place)
        if not criteria:
            continue
        if place in abstained and not any(c.scale.abstain is not None for c in criteria):
            yield Mismatch(
                message(
                    "criterion {criterion!r} has no abstention, but {n:,} {n|rating was|ratings"
                    " were} abstentions",
                    message_id="mismatch.abstention",
                    criterion=place[1],
                    n=abstained[place],
                ),
                message(
                    'give its scale the abstention that it had, abstain = "..."',
                    message_id="mismatch.give_abstention",
                ),
            )
        options = [label for c in criteria for label in c.scale.labels]
        unused = [label for label in options if label not in counts[place]]
        for label, n in counts[place].items():
            if not any(_is_on_scale(c, label) for c in criteria):
                fact = message(
                    "criterion {criterion!r} has no label {label!r}, which {n:,}"
                    " {n|rating has|ratings have}",
                    message_id="mismatch.label",
                    criterion=place[1],
                    label=label,
                    n=n,
                )
                if options:
                    hint = nearest(label, unused or options, options)
                    fact = message(
                        "{fact}; {hint}", message_id="mismatch.with_hint", fact=fact, hint=hint
                    )
                yield Mismatch(
                    fact,
                    message(
                        'write renamed = {{ "{label}" = "..." }} with today\'s label under the'
                        " criterion",
                        message_id="mismatch.renamed",
                        label=label,
                    ),
                )


def _is_on_scale(criterion: Criterion, label: str) -> bool:
    """Whether a stored label is one that the scale stores."""
    try:
        return read_label(criterion, label) == ("rated", label)
    except LabelError:
        return False


def _other_scopes(frame: pl.DataFrame, by_id: Mapping[str, Instrument]) -> Iterator[Mismatch]:
    # Identifiers may contain commas and quotation marks, but in JSON a mark within a text has a
    # stroke before it.
    several = pl.col("answers").str.count_matches(r'",\s?"') + 1
    shape = frame.select(
        "instrument",
        "criterion",
        pl.when(pl.col("answers") == "[]").then(0).otherwise(several).alias("n_answers"),
        pl.col("item").is_not_null().alias("has_item"),
        (pl.col("span").fill_null("") != "").alias("has_span"),
    )
    counted = shape.group_by(pl.all()).len().sort(pl.all())
    for instrument, criterion, n_answers, has_item, has_span, n in counted.iter_rows():
        criteria = _criteria(by_id, instrument, criterion)
        if criteria and not any(_fits(c, n_answers, has_item, has_span) for c in criteria):
            about = (
                message("{n} {n|answer|answers}", message_id="mismatch.n_answers", n=n_answers)
                if n_answers
                else message("no answer", message_id="mismatch.no_answer")
            )
            lacks_sentence = not has_span and criteria[0].scope == "sentence"
            yield Mismatch(
                message(
                    "criterion {criterion!r} is about {scope}, but {n:,} {n|rating is|ratings are}"
                    " about {about}{no_item}{no_sentence}",
                    message_id="mismatch.scope",
                    criterion=criterion,
                    scope=criteria[0].scope,
                    n=n,
                    about=about,
                    no_item=""
                    if has_item
                    else message(" and no item", message_id="mismatch.no_item"),
                    no_sentence=message(" without a sentence", message_id="mismatch.no_sentence")
                    if lacks_sentence
                    else "",
                ),
                message(
                    "give the criterion the scope that it had", message_id="mismatch.give_scope"
                ),
            )


def _fits(criterion: Criterion, n_answers: int, has_item: bool, has_span: bool) -> bool:
    return (
        n_answers == ANSWERS[criterion.scope]
        and (has_item or criterion.scope not in ITEMS)
        and (has_span or criterion.scope != "sentence")
    )


def _unknown_raters(frame: pl.DataFrame, raters: Collection[str]) -> Iterator[Mismatch]:
    if not raters:
        return
    counted = (
        frame.filter(~pl.col("rater").is_in(sorted(raters))).group_by("rater").len().sort("rater")
    )
    for rater, n in counted.iter_rows():
        yield Mismatch(
            message(
                "there is no rater {rater!r}, who gave {n:,} {n|rating|ratings}; {hint}",
                message_id="mismatch.rater",
                rater=rater,
                n=n,
                hint=nearest(rater, raters),
            ),
            message(
                "list that rater under [[raters]], and under exclusions if those ratings should"
                " stay out",
                message_id="mismatch.list_raters",
            ),
            of_form=False,
        )


def refuse_unknown_labels(frame: pl.DataFrame, valid_labels: Collection[str]) -> None:
    """Refuse labels that no scale and no recoding names.

    They would be counted as missing without notice.
    """
    rated = frame.filter(pl.col("state") == "rated") if "state" in frame.columns else frame
    labels = rated.get_column("label").drop_nulls()
    strange = labels.filter(~labels.is_in(list(valid_labels)))
    if strange.len():
        label = str(strange[0])
        n = int((strange == label).sum())
        raise AnalysisError(
            message(
                "{label!r}, which {n:,} {n|rating has|ratings have}, is not a label of the scale;"
                " {hint}",
                message_id="mismatch.not_on_scale",
                label=label,
                n=n,
                hint=nearest(label, valid_labels),
            )
        )
