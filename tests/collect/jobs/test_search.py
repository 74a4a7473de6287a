"""Systems that search: the tool goes out, sources come back as structure and reach the answers."""

from __future__ import annotations

import pytest

from fake_server import running
from konsil.analysis.table.calls.model_provenance import model_call_sentences
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.systems import answer
from konsil.errors import CollectError, StudyError
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.calls.call_settings import callees
from konsil.store.calls.calls import Calls
from konsil.study import Study, check, parse, study_digest

AT = "2025-03-01T12:00:00Z"
QUICK = Options(back_off=0.001)
TEXT = """
title = "t"
seed = 1
[[endpoints]]
id = "near"
url = "{url}/v1"
[[systems]]
id = "searching"
model = "{model}"
settings = {{ {settings} }}
"""


def study(
    model: str = "fake:m", settings: str = 'tools = ["web_search"]', url: str = "http://127.0.0.1:9"
) -> Study:
    made = parse(TEXT.format(model=model, settings=settings, url=url), lambda name: name)
    check(made)
    return made


def test_sources_reach_the_answers(store: Store, items: tuple[Item, ...]) -> None:
    answer(study(), store, QUICK)
    answers = store.answers()
    assert len(answers) == len(items)
    assert all(1 <= len(a.citations) <= 3 for a in answers)
    assert all(
        c.title and c.url.startswith("https://example.org/") for a in answers for c in a.citations
    )
    assert all(c.asked["tools"] == c.sent["tools"] == ["web_search"] for c in Calls(store).each())
    assert store.verify_log() == ()
    [one] = callees(store)
    assert one.first == one.last == store_day(store)
    assert (
        f"searching (fake:m; sampling by the endpoint's default, with web search, on {one.first})"
        in str(next(iter(model_call_sentences([one], ()))))
    )


def store_day(store: Store) -> str:
    return next(Calls(store).each()).at[:10]


@pytest.mark.slow
def test_over_a_socket_too(store: Store) -> None:
    store.add(Batch(items=[Item("i", "Which drug?")]), source="items", at=AT)
    with running() as url:
        answer(study("near:m", url=url), store, QUICK)
    assert store.answers()[0].citations


@pytest.mark.slow
def test_an_endpoint_without_search_stops_the_run(store: Store, items: tuple[Item, ...]) -> None:
    with (
        running(refuse=("web_search_options",)) as url,
        pytest.raises(CollectError, match="does not let model 'm' use"),
    ):
        answer(study("near:m", url=url), store, QUICK)
    assert store.answers() == ()


def test_without_search_there_are_no_sources_and_it_is_another_study(
    store: Store, items: tuple[Item, ...]
) -> None:
    plain = study(settings="temperature = 0.5")
    answer(plain, store, QUICK)
    assert not any(a.citations for a in store.answers())
    assert study_digest(plain) != study_digest(
        study(settings='temperature = 0.5, tools = ["web_search"]')
    )
    with pytest.raises(CollectError, match="collected with another model, prompt or setting"):
        answer(study(settings='temperature = 0.5, tools = ["web_search"]'), store, QUICK)


def test_a_tool_that_nobody_knows_is_told() -> None:
    with pytest.raises(
        StudyError, match=r"tools\[0\]: 'websearch' is not one of 'web_search'; did you mean"
    ):
        study(settings='tools = ["websearch"]')
