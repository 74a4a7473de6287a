"""Workers and batches on one study: neither asks what the other has asked, nor spends its money."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from batch_vendors import OpenAIVendor, serving

from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.systems import answer
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.leases import Leases, Offer
from konsil.store.calls.reservations import Allowance, Reservation, reserve
from konsil.store.calls.worker_states import lost, workers
from konsil.study import check, parse

pytestmark = pytest.mark.slow
AT = "2025-03-01T12:00:00Z"
N = 5
PROTOCOL = """
title = "t"
seed = 1
[[endpoints]]
id = "h"
url = "{url}/v1"
[[systems]]
id = "s"
model = "h:m"
settings = {{ max_tokens = 64, price_in = 10.0, price_out = 20.0 }}
[[instruments]]
id = "form"
criteria = [{{ id = "correct", question = "?", scale = {{ labels = ["no", "yes"] }} }}]
[[raters]]
id = "r"
panel = "people"
"""
QUICK = Pace(0.0, 0.0, 0.0, 0.0)


@pytest.fixture
def vendor() -> OpenAIVendor:
    return OpenAIVendor()


@pytest.fixture
def url(vendor: OpenAIVendor) -> Iterator[str]:
    with serving(vendor) as address:
        yield address


def test_batches_are_sent_alone_and_workers_leave_them_alone(
    vendor: OpenAIVendor, url: str, database: str
) -> None:
    study = parse(PROTOCOL.format(url=url), str)
    check(study)
    with Store.open(database) as store:
        store.add(Batch(items=[Item(f"i{n}", f"Q{n}?") for n in range(N)]), source="x", at=AT)
        # A worker was killed a moment ago, with a call under way.
        killed = Leases(store, "answer")
        killed.register()
        killed.offer([Offer(f"{n:032x}", "s", 0, n) for n in range(N)])
        killed.take(["s"], 2)
        request = Reservation(f"{0:032x}", "h", Allowance(2), 100, 0.25)
        assert [g.verdict for g in reserve(killed, [request]).grants] == ["go"]

        vendor.looks = 1_000_000
        options = Options(batch=BatchOptions(pace=QUICK, is_waiting=False), budget=10.0)
        sent = answer(study, store, options)
        assert (sent.progress.batches, len(vendor.tokens)) == (1, N)
        assert workers(store) == ()
        assert lost(store) == 0.25

        # What is in a batch is not left for workers.
        direct = answer(study, store, Options(budget=10.0))
        assert (direct.progress.total, direct.progress.calls) == (0, 0)

        # Another item: its call would need money that the batch may need.
        store.add(Batch(items=[Item("late", "Q?")]), source="y", at=AT)
        reserved = Batches(store).reserved()
        assert reserved > 0
        poor = answer(study, store, Options(budget=0.25 + reserved))
        assert (poor.progress.total, poor.progress.calls) == (1, 0)
        assert poor.progress.stopped

        for batch in vendor.batches.values():
            vendor.end(batch, "completed")
        collected = answer(study, store, options)
        assert collected.progress.outcomes["ok"] >= N
        assert len(store.batch().answers) >= N
