"""The plan's digest is that of the JSON of all its tasks."""

from __future__ import annotations

import dataclasses
import hashlib
import json

from hypothesis import example, given
from hypothesis import strategies as st

from konsil.api.running.planning import digest_of_plan
from konsil.records import Span, Task

# No database keeps a NUL or half a character.
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from(',"[]\\ '),
    max_size=5,
)
TASKS = st.builds(
    Task,
    TEXTS,
    TEXTS,
    TEXTS,
    TEXTS,
    st.none() | TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.lists(st.builds(Span, st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple),
    TEXTS,
    TEXTS,
    TEXTS,
    st.integers(0, 99),
    st.sampled_from(["main", "tiebreak", "repeat"]),
    st.none() | TEXTS,
)


def _of(*answers: str) -> Task:
    return Task("t", "p 1", "r", "form", "i", answers)


@given(st.lists(TASKS, max_size=3))
@example([_of("a,", "b"), _of("a, ", "b"), _of(",", ","), _of("", ",b")])
def test_the_digest_is_of_the_tasks_json(tasks: list[Task]) -> None:
    main = [dataclasses.asdict(t) for t in tasks if t.purpose != "tiebreak"]
    text = json.dumps(main, ensure_ascii=False, sort_keys=True)
    assert digest_of_plan(tasks) == hashlib.sha256(text.encode()).hexdigest()
