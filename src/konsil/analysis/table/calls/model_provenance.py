"""Methods sentences on requests to models, and on pairs shown in both orders.

The sentences claim no setting that a model did not accept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import polars as pl

from konsil.analysis.model.results import OrderRow
from konsil.analysis.table.columns import rating_columns
from konsil.analysis.table.frame import Data
from konsil.errors.message import COMMA, TranslatableMessage, listed, message
from konsil.instrument import Instrument
from konsil.records import Callee, System

REPORTED_SETTINGS = ("temperature", "top_p", "seed")
"""The parameters that the sentence on a model names."""


def orders(data: Data, instruments: Sequence[Instrument]) -> tuple[OrderRow, ...]:
    """How often each judge contradicted itself on pairs that it saw in both orders, by criterion.

    share = inconsistent / compared; compared are the pairs with a label in each order.
    """
    judges = {c.who for c in data.callees if c.both_orders}
    criteria = [
        c.id
        for i in instruments
        for c in i.criteria
        if c.scope == "pair" and c.scale.kind != "text"
    ]
    if not judges or not criteria:
        return ()
    contradicted: dict[tuple[str, str], set[str]] = {}
    for attempt in data.attempts:
        if attempt.outcome == "inconsistent" and attempt.rater in judges:
            criterion = str(json.loads(attempt.raw)["criterion"])
            contradicted.setdefault((attempt.rater, criterion), set()).add(attempt.task)
    ratings = rating_columns(data.ratings).filter(pl.col("rater").is_in(sorted(judges)))
    rows = []
    for judge in sorted(judges):
        for criterion in dict.fromkeys(criteria):
            of_judge = (pl.col("rater") == judge) & (pl.col("criterion") == criterion)
            rated = set(ratings.filter(of_judge).get_column("task").to_list())
            against = contradicted.get((judge, criterion), set())
            if rated | against:
                rows.append(OrderRow(judge, criterion, len(rated | against), len(against)))
    return tuple(rows)


def model_call_sentences(
    callees: Sequence[Callee], rows: Sequence[OrderRow]
) -> Iterator[TranslatableMessage]:
    """Methods sentences on models: which models, how requested, and parameters not accepted."""
    helped = [c for c in callees if c.kind == "prepare"]
    answered = [c for c in callees if c.kind == "answer"]
    judged = [c for c in callees if c.kind == "judge"]
    if helped:
        steps = listed([_callee_phrase(c) for c in helped], "; ")
        yield message(
            "Before data collection, language models proposed {steps}; reviewers made all"
            " decisions.",
            message_id="methods.helpers",
            steps=steps,
        )
    if answered:
        yield message(
            "Answers were collected from {models}.",
            models=listed([_callee_phrase(c) for c in answered], "; "),
        )
    if judged:
        yield message(
            "LLM judge ratings were collected from {models}.",
            models=listed([_callee_phrase(c) for c in judged], "; "),
        )
    if played := [_name(c) for c in callees if c.model.startswith("fake:")]:
        yield message(
            (
                "{names}: konsil's scripted test endpoint, not a language model; the results"
                " cannot be interpreted."
            ),
            names=listed(played),
        )
    for callee in callees:
        yield from _without(callee)
    yield from _votes(judged)
    yield from _combined(judged)
    yield from _orders(judged, rows)


def played(callees: Sequence[Callee], *, named: bool) -> TranslatableMessage | None:
    """The first sentence of a report on numbers that rest on models that konsil plays.

    None where there are none.
    """
    names = list(dict.fromkeys(_name(c) for c in callees if c.model.startswith("fake:")))
    if not names:
        return None
    if not named:
        return message(
            (
                "Scripted test endpoint: some of the answers or ratings are not from language"
                " models; konsil generated them. The results below do not describe any real"
                " system."
            ),
            message_id="played.unnamed",
        )
    return message(
        (
            "Scripted test endpoint: {names} are not language models; konsil generated their"
            " output. The results below do not describe any real system."
        ),
        message_id="played.named",
        names=listed(names),
    )


def imported(systems: Sequence[System]) -> Iterator[TranslatableMessage]:
    """The sentence on systems that were not called, such as products.

    It contains the protocol's description of them in its own words.

    >>> desk = System("desk", settings={"accessed": "2025-03-04", "web search": "on"})
    >>> print(*imported([desk, System("b")]))
    Answers were imported for desk (accessed 2025-03-04, web search on).
    """
    descriptions = [
        f"{system.id} ({', '.join(f'{name} {value}' for name, value in system.settings.items())})"
        for system in systems
        if system.model is None and system.settings
    ]
    if descriptions:
        yield message("Answers were imported for {systems}.", systems=listed(descriptions, "; "))


_STEPS = {
    "rewrite": message("rewritten questions"),
    "screen": message("reasons for excluding questions"),
    "phrases": message("key phrases of the questions"),
    "names": message("names of themes"),
    "tags": message("the questions' themes"),
    "guess": message("the diagnosis of masked cases", message_id="called.diagnosis_guessed"),
}


def _name(callee: Callee) -> str:
    """The rater called, or the step of preparation for calls before the study."""
    return _STEPS.get(callee.who, callee.who) if callee.kind == "prepare" else callee.who


def _callee_phrase(callee: Callee) -> TranslatableMessage:
    claimed = [
        n
        for n in REPORTED_SETTINGS
        if n in callee.asked and callee.without.get(n, 0) < callee.calls
    ]
    settings = [
        message("{parameter} {value}", parameter=n, value=_values(callee.asked[n])) for n in claimed
    ]
    default_sampling = message("sampling by the endpoint's default")
    searches = any(
        "web_search" in tools for tools in callee.asked.get("tools", ()) if isinstance(tools, list)
    )
    about = listed(
        [
            *(settings or [default_sampling]),
            *([message("with web search")] if searches else []),
            *_when(callee),
        ],
        end=COMMA,
    )
    echoed = [name for name in callee.echoed if name != callee.model.partition(":")[2]]
    if echoed:
        return message(
            "{who} ({model}, reported by the endpoint as {echoed}; {settings})",
            who=_name(callee),
            model=callee.model,
            echoed=listed(echoed),
            settings=about,
        )
    return message(
        "{who} ({model}; {settings})", who=_name(callee), model=callee.model, settings=about
    )


def _when(callee: Callee) -> Iterator[TranslatableMessage]:
    """The days of access, since a model's replies may change from day to day."""
    if callee.first and callee.first == callee.last:
        yield message("on {day}", day=callee.first)
    elif callee.first:
        yield message("from {first} to {last}", first=callee.first, last=callee.last)


def _values(values: Sequence[object]) -> str:
    """One value as it was stated; of several the first and the last."""
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in sorted(values, key=str)]
    return texts[0] if len(texts) == 1 else f"{texts[0]}–{texts[-1]}"


def _without(callee: Callee) -> Iterator[TranslatableMessage]:
    by_number: dict[int, list[str]] = {}
    for name, n in callee.without.items():
        if name == "logprobs":
            yield message(
                "{who} gave no log-probabilities in {n:,} of {all:,} calls; their labels have no"
                " confidence.",
                who=_name(callee),
                n=n,
                all=callee.calls,
            )
        else:
            by_number.setdefault(n, []).append(name)
    for n, names in by_number.items():
        if n == callee.calls:
            yield message(
                (
                    "{who} does not accept {parameters}: all its {n:,} {n|call was|calls were}"
                    " made without."
                ),
                who=_name(callee),
                parameters=listed(names),
                n=n,
            )
        else:
            yield message(
                (
                    "{who} did not always accept {parameters}: {n:,} of {all:,} calls were"
                    " made without."
                ),
                who=_name(callee),
                parameters=listed(names),
                n=n,
                all=callee.calls,
            )


def _votes(judged: Sequence[Callee]) -> Iterator[TranslatableMessage]:
    by_number: dict[int, list[str]] = {}
    for callee in judged:
        if callee.votes > 1:
            by_number.setdefault(callee.votes, []).append(callee.who)
    for votes, names in by_number.items():
        yield message(
            "{judges} rated each task {votes} times; the majority label was used, and"
            " ratings without a majority are missing.",
            message_id="methods.votes",
            judges=listed(names),
            votes=votes,
        )


def _combined(judged: Sequence[Callee]) -> Iterator[TranslatableMessage]:
    if middle := [callee.who for callee in judged if callee.combine == "median"]:
        yield message(
            "On ordered scales the label of {judges} is the median of the votes (of an even number"
            " the lower one).",
            message_id="called.median",
            judges=listed(middle),
        )
    if nearest := [callee.who for callee in judged if callee.combine == "expectation"]:
        yield message(
            "On ordered scales the label of {judges} is the one nearest to the mean of the votes,"
            " weighted with the labels' probabilities where these are known.",
            message_id="called.expectation",
            judges=listed(nearest),
        )


def _orders(judged: Sequence[Callee], rows: Sequence[OrderRow]) -> Iterator[TranslatableMessage]:
    for tie in (False, True):
        names = {c.who for c in judged if c.both_orders and c.tie == tie}
        judge_phrases = [
            message(
                "{who} {n:,} of {all:,} on {criterion} ({share:.1%})",
                who=r.rater,
                n=r.inconsistent,
                all=r.compared,
                criterion=r.criterion,
                share=r.inconsistent / r.compared,
            )
            for r in rows
            if r.rater in names
        ]
        if judge_phrases and tie:
            yield message(
                "Judges saw each pair in both orders; order-inconsistent verdicts counted"
                " as ties: {judges}.",
                message_id="methods.both_orders",
                judges=listed(judge_phrases),
            )
        elif judge_phrases:
            yield message(
                "Judges saw each pair in both orders; order-inconsistent verdicts counted"
                " as missing: {judges}.",
                message_id="methods.both_orders_missing",
                judges=listed(judge_phrases),
            )
