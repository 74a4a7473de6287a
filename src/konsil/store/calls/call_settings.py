"""How models were called, read off the calls themselves: what the methods of a report may claim."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import sqlalchemy as sa

from konsil.records import RENAMED, Callee
from konsil.store.calls.calls import READABLE
from konsil.store.engine import engine, schema
from konsil.store.log.db import Store

_DAY = len("2025-03-01")


def callees(store: Store) -> tuple[Callee, ...]:
    """Every model that gave a readable reply.

    Each has the requested settings and those that it does not take.
    """
    c = schema.calls.c
    # Canonical JSON: within a text the quotation marks would be escaped, so this is the reply's own
    # key.
    silent = sa.case(
        (c.asked.like('%"logprobs":%'), c.reply.not_like('%"logprobs":[%')), else_=sa.false()
    )
    columns = (
        c.kind,
        c.who,
        c.endpoint,
        c.model,
        c.echoed,
        c.asked,
        c.sent,
        silent.label("silent"),
    )
    query = (
        sa.select(*columns, sa.func.count(), sa.func.min(c.at), sa.func.max(c.at))
        .where(c.ended == 1, c.outcome.in_(READABLE))
        .group_by(*(sa.text(str(n)) for n in range(1, len(columns) + 1)))
    )
    with engine.reading(store.engine) as connection:
        if connection.execute(sa.select(c.work).limit(1)).first() is None:
            return ()
        rows = [tuple(row) for row in connection.execute(query)]
    rows_by_model: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
    for kind, name, endpoint, model, *rest in rows:
        rows_by_model.setdefault((kind, name, f"{endpoint}:{model}"), []).append(tuple(rest))
    return tuple(_callee(key, rows_by_model[key]) for key in sorted(rows_by_model))


def _callee(key: tuple[Any, str, str], rows: list[tuple[Any, ...]]) -> Callee:
    values_by_setting: dict[str, dict[str, object]] = {}
    without: Counter[str] = Counter()
    for _, request_text, sent_text, silent, n, *_ in rows:
        requested, sent = json.loads(request_text), json.loads(sent_text)
        for name, value in requested.items():
            values_by_setting.setdefault(name, {})[json.dumps(value, sort_keys=True)] = value
            is_sent = name in sent or RENAMED.get(name) in sent
            if not is_sent or (name == "logprobs" and silent):
                without[name] += n
    return Callee(
        *key,
        calls=sum(n for *_, n, _first, _last in rows),
        echoed=tuple(sorted({echoed for echoed, *_ in rows if echoed})),
        asked={
            name: tuple(values_by_setting[name][text] for text in sorted(values_by_setting[name]))
            for name in sorted(values_by_setting)
        },
        without=dict(sorted(without.items())),
        first=min(first for *_, first, _last in rows)[:_DAY],
        last=max(last for *_, last in rows)[:_DAY],
    )
