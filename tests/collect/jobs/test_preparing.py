"""Replies to what is asked before a study are read strictly; the endpoint for trials serves every
kind."""

from __future__ import annotations

import asyncio
import json

import pytest

from konsil.collect.fake.fake import FakeProvider
from konsil.collect.jobs.preparing import PromptBatch, ask, read_object
from konsil.collect.providers.provider import Message, Request
from konsil.errors import CollectError
from konsil.prepare.questions.asking import Asking
from konsil.prepare.questions.prompts import (
    name_form,
    phrases_form,
    rewriting_form,
    screening_form,
    tag_form,
)
from konsil.store import Store
from konsil.study import Study

FORMS = (
    (rewriting_form(), {"question": "Which dose?"}),
    (screening_form(["identifier"]), {"reason": "identifier", "evidence": "Mrs Smith"}),
    (phrases_form(), {"phrases": ["atrial fibrillation", "apixaban"]}),
    (name_form(), {"name": "Anticoagulation"}),
    (tag_form(["Drugs", "Skin"]), {"theme": "Skin"}),
)


@pytest.mark.parametrize(("form", "reply"), FORMS)
def test_a_reply_is_read_back(form: dict[str, object], reply: dict[str, object]) -> None:
    text = json.dumps(reply)
    assert read_object(text, form) == (reply, "ok")
    assert read_object(f"Here it is:\n```json\n{text}\n```", form) == (reply, "repaired")
    assert read_object(text[:-3], form)[1] == "not json"
    assert read_object(json.dumps({**reply, "more": 1}), form) == (None, "off schema")
    first = next(iter(reply))
    assert read_object(json.dumps({**reply, first: 1}), form) == (None, "off schema")
    assert read_object("{}", form) == (None, "off schema")


def test_what_the_form_does_not_allow_is_off_schema() -> None:
    assert read_object('{"theme": "skin"}', tag_form(["Skin"])) == (None, "off schema")
    assert read_object('{"phrases": []}', phrases_form()) == (None, "off schema")
    assert read_object('{"phrases": ["a", "b", "c", "d", "e", "f"]}', phrases_form()) == (
        None,
        "off schema",
    )
    assert read_object('{"phrases": [" a  b ", "a b", ""]}', phrases_form())[0] == {
        "phrases": ["a b"]
    }


async def _reply(form: dict[str, object]) -> str:
    request = Request(
        "",
        (Message("system", "s"), Message("user", "pls dose for Mrs Smith with a rash")),
        schema=form,
    )
    return (await FakeProvider().complete(request)).text


@pytest.mark.parametrize("form", [form for form, _ in FORMS])
def test_the_trial_endpoint_serves_every_kind(form: dict[str, object]) -> None:
    text = asyncio.run(_reply(form))
    assert read_object(text, form)[1] == "ok"
    if "question" in text:
        assert json.loads(text) == {"question": "Please dose for Mrs Smith with a rash?"}


def test_the_same_words_are_asked_once_and_other_words_anew(store: Store) -> None:
    study, asking = Study("t", 1), Asking(model="fake:")
    wanted = PromptBatch(
        "rewrite", "Better words.", rewriting_form(), {"a": "pls dose", "b": "hx of dvt"}
    )
    said = ask(study, store, asking, wanted)
    assert {item: reply["question"] for item, reply in said.replies.items()} == {
        "a": "Please dose?",
        "b": "History of dvt?",
    }
    assert (said.collected.progress.calls, said.n_pending) == (2, 0)
    assert ask(study, store, asking, wanted).collected.progress.calls == 0
    other = PromptBatch("rewrite", "Other words.", rewriting_form(), wanted.texts)
    assert ask(study, store, asking, other).collected.progress.calls == 2
    assert ask(study, store, asking, wanted).works == said.works
    with pytest.raises(CollectError, match="is nothing to set"):
        ask(study, store, Asking(model="fake:wrong=1"), wanted)
