"""How models were called, as the calls themselves say it."""

from __future__ import annotations

from pathlib import Path

from konsil.records import Call, Callee
from konsil.store import Store
from konsil.store.calls.call_settings import callees
from konsil.store.calls.calls import Calls


def call(n: int, **more: object) -> Call:
    about: dict[str, object] = {
        "asked": {"temperature": 0.0, "seed": 7, "max_tokens": 9},
        "sent": {"temperature": 0.0, "seed": 7, "max_tokens": 9},
        "echoed": "m",
        "reply": {"text": "ok"},
        **more,
    }
    return Call(f"w{n:031d}", 1, "judge", "j", f"t{n}", "k", "hosted", "m", "ok", 1, 200, **about)  # type: ignore[arg-type]


def test_what_was_asked_and_what_was_taken(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        assert callees(store) == ()
        renamed = {"max_completion_tokens": 9, "seed": 7}
        mute = {"asked": {"logprobs": 5}, "sent": {"logprobs": 5}}
        Calls(store).add(
            [
                call(1),
                call(2, sent=renamed, echoed="m-2"),
                call(3, sent={}, asked={"seed": 8}),
                call(4, **mute),
                call(5, **mute, reply={"text": 'he said "logprobs":[ and fell silent'}),
                call(6, **mute, reply={"logprobs": [{"token": "a"}], "text": "ok"}),
            ]
        )
        unread = call(7, sent={})
        Calls(store).add(
            [Call(**{**{f: getattr(unread, f) for f in Call.__slots__}, "outcome": "not json"})]
        )
        assert callees(store) == (
            Callee(
                "judge",
                "j",
                "hosted:m",
                6,
                ("m", "m-2"),
                {"logprobs": (5,), "max_tokens": (9,), "seed": (7, 8), "temperature": (0.0,)},
                {"logprobs": 2, "seed": 1, "temperature": 1},
            ),
        )
