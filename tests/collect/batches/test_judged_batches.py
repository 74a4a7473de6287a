"""Judgements by batches: votes and both orders in one batch, and the commands that show it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_vendors import OpenAIVendor, chat, serving

from konsil.cli.main import main
from konsil.collect.batches import batch_lanes
from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.records import Answer, Item, Rater, Task
from konsil.store import Batch, Store
from konsil.store.calls.usages import usages
from konsil.study import check, parse

pytestmark = pytest.mark.slow
QUICK = Pace(0.0, 0.0, 0.0, 0.0)
AT = "2025-03-01T12:00:00Z"
N = 6
TEXT = """
title = "t"
seed = 1
[[endpoints]]
id = "h"
url = "{url}/v1"
[[systems]]
id = "north"
[[systems]]
id = "south"
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "better"
question = "Which answer is better?"
scope = "pair"
scale = {{ labels = ["A", "tie", "B"] }}
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j"
model = "h:m"
votes = 2
orders = "both"
settings = {{ temperature = 0.7, seed = 3 }}
"""


@pytest.fixture
def vendor() -> OpenAIVendor:
    made = OpenAIVendor()

    def fate(body: dict[str, Any]) -> Any:
        """The longer answer is better, wherever it stands."""
        form = body["response_format"]["json_schema"]["schema"]["properties"]
        text = body["messages"][-1]["content"]
        label = "A" if text.index("long") < text.index("short") else "B"
        return 200, chat(json.dumps(dict.fromkeys(form, label)))

    made.fate = fate
    return made


@pytest.fixture
def url(vendor: OpenAIVendor) -> Iterator[str]:
    with serving(vendor) as address:
        yield address


def fill(folder: Path, url: str) -> Store:
    (folder / "study.toml").write_text(TEXT.format(url=url))
    store = Store.open(folder)
    store.add(
        Batch(
            items=[Item(f"i{n}", f"Question {n}?") for n in range(N)],
            answers=[
                answer
                for n in range(N)
                for answer in (
                    Answer(f"i{n}:north", f"i{n}", "north", "a long reply"),
                    Answer(f"i{n}:south", f"i{n}", "south", "short"),
                )
            ],
            raters=[Rater("j", "judges", "llm")],
            tasks=[
                Task(f"t{n}", f"s{n}", "j", "form", f"i{n}", (f"i{n}:north", f"i{n}:south"))
                for n in range(N)
            ],
        ),
        source="x",
        at=AT,
    )
    return store


def test_votes_and_both_orders_are_in_one_batch(
    vendor: OpenAIVendor, url: str, tmp_path: Path
) -> None:
    with fill(tmp_path, url) as store:
        study = parse((tmp_path / "study.toml").read_text(), str)
        check(study)
        done = judge(study, store, Options(batch=BatchOptions(pace=QUICK)))
        assert (done.n_records, done.progress.outcomes) == (N, {"ok": 4 * N})
        assert [len(b.requests) for b in vendor.batches.values()] == [4 * N]
        [data] = [data for _, data in vendor.files.values()]
        for name in (b"north", b"south", b'"t1', b'"i1'):
            assert name not in data
        ratings = store.batch().ratings
        assert {(r.label, r.seconds, r.confidence) for r in ratings} == {("A", None, 1.0)}
        [usage] = usages(store)
        assert (usage.replies, usage.median) == (4 * N, None)
        assert judge(study, store, Options()).progress.total == 0


def test_the_commands_send_show_and_cancel(
    vendor: OpenAIVendor,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(batch_lanes.BatchOptions.__init__, "__defaults__", (True, False, QUICK))
    fill(tmp_path, url).close()

    def command(*words: str) -> str:
        main([words[0], str(tmp_path), *words[1:]])
        return capsys.readouterr().out

    vendor.looks = 99
    planned = command("judge", "--batch", "--dry-run")
    assert planned.startswith(f"j: {4 * N} to call")
    sent = command("judge", "--batch", "--no-wait")
    assert f"1 batch under way with {4 * N} requests; run the command with --batch" in sent
    shown = command("status")
    assert f"batch of {4 * N} requests of j to h: under way since" in shown
    [record] = json.loads(command("status", "--json"))["batches"]
    assert (record["who"], record["requests"], record["state"]) == ("j", 4 * N, "under way")
    assert "no calls to make" in command("judge")
    assert "done in" in command("judge", "--cancel-batches")
    assert "batch of" not in command("status")
    with pytest.raises(SystemExit) as ended:
        main(["judge", str(tmp_path), "--no-wait"])
    assert ended.value.code == 2
    assert "--no-wait: needs --batch" in capsys.readouterr().err
