"""Replies of judges in the cells of a table: each gives its ratings, or is counted with a reason."""

from __future__ import annotations

import csv
import json
import re
import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.folder.sources.reply_cells import (
    EMPTY,
    NO_KEY,
    NO_VALUE,
    OFF_SCALE,
    SEVERAL,
    UNREADABLE,
)
from konsil.api.folder.sources.reply_ratings import with_replies
from konsil.errors import SourceError
from konsil.instrument import Criterion, Instrument, Scale, fields
from konsil.instrument.screens.reply import read_reply
from konsil.records import Source, Task
from konsil.sources.files.table import read_table

STUDY = """title = "Replies of judges"
seed = 1

[[instruments]]
id = "form"

[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = { labels = ["no", "yes"], abstain = "cannot tell" }

[[instruments.criteria]]
id = "confidence"
question = "How sure are you?"
scope = "task"
scale = { labels = ["low", "high"], level = "ordinal" }

[[instruments.criteria]]
id = "score"
question = "How good is it?"
scale = { labels = ["1", "2", "3", "4", "5"], level = "ordinal" }

[[sources]]
file = "r.csv"
records = "ratings"
"""
SCORE = 'replies = ["reply"]\ncriteria = { "reply.score" = "score" }\n'


def study(place: Path, source: str, replies: dict[str, str]) -> Folder:
    """A study of one judge's replies, by item."""
    (place / "study.toml").write_text(STUDY + source, encoding="utf-8")
    with (place / "r.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows([("rater", "item", "system", "reply")])
        rows.writerows([("j1", item, "gpt4", reply) for item, reply in replies.items()])
    return open_folder(place)


def ratings(folder: Folder) -> dict[tuple[str, str], str | None]:
    """Item and criterion of what is stored -> the label."""
    folder.import_sources()
    with folder.store() as store:
        return {(r.item or "", r.criterion): r.label for r in store.ratings()}


def outcomes(folder: Folder) -> dict[str, object]:
    with folder.store() as store:
        [event] = [e for e in store.events() if e.kind == "reading"]
    return dict(event.data)


def test_replies_of_judges_in_cells_become_ratings(tmp_path: Path):
    """Kills the mutants that take the first object, count no loss, or read unparseable cells."""
    folder = study(
        tmp_path,
        'replies = ["Reply"]\n'
        'criteria = { "Reply.verdict.correct" = "correct", "Reply.sure" = "confidence" }\n'
        'labels_of = { confidence = { "1" = "low", "2" = "high" } }\n',
        {
            "q1": '{"verdict": {"correct": "yes"}, "sure": 1}',
            "q2": 'The form was {"verdict": {"correct": "yes"}}.\n```json\n'
            '{"verdict": {"correct": "no",}, "sure": 2.0}\n```',
            "q3": "I cannot judge this.",
            "q4": '{"verdict": {"correct": "yes"',
            "q5": "",
            "q6": '{"verdict": {"correct": "yes", "correct": "no"}, "sure": null}',
            "q7": '{"verdict": {"correct": "cannot tell"}}',
        },
    )
    assert ratings(folder) == {
        ("q1", "correct"): "yes",
        ("q1", "confidence"): "low",
        ("q2", "correct"): "no",
        ("q2", "confidence"): "high",
        ("q7", "correct"): None,
    }
    assert folder.preparations() == (
        "r.csv: 7 replies, 3 with ratings, 4 excluded"
        " (unparseable reply 2, empty reply 1, several values of a key 1)",
        "  values of replies: 6 read, 5 included, 1 excluded (no key of the criterion 1)",
    )

    page = folder.report().read_text("utf-8")
    [rows] = [t for t in re.findall(r"<tbody>.*?</tbody>", page, re.DOTALL) if "JSON replies" in t]
    cells = " ".join(re.sub(r"<[^>]*>", " ", rows).split())
    assert cells == (
        "JSON replies of LLM judges 7 3 JSON replies of LLM judges reply unparseable 2"
        " JSON replies of LLM judges reply empty 1"
        " JSON replies of LLM judges several values of a key 1"
        " Values of the replies with ratings 6 5"
        " Values of the replies with ratings no key of the criterion 1"
    )


def test_a_reply_out_of_scale_is_counted_and_listed(tmp_path: Path):
    """Kills the mutant that refuses the file, and the one that drops the value without a note."""
    replies = {"q1": '{"score": 4}', "q2": '{"score": 9}', "q3": '{"score": [4]}'}
    folder = study(tmp_path, SCORE, replies)
    added = folder.import_sources()
    assert added.new["ratings"] == 1
    assert added.notes == (
        "r.csv: 2 values of replies are not on the scale and give no rating: line 3: '9' is not a"
        " label of criterion 'score'; known: 1, 2, 3, 4, 5; line 4: reply.score: is a list or an"
        " object",
    )
    assert folder.preparations() == (
        "r.csv: 3 replies, 1 with ratings, 2 excluded (value not on the scale 2)",
    )


def test_a_wrong_label_in_a_table_of_people_refuses_the_file(tmp_path: Path):
    """Replies are counted, checked data entry is not: kills the mutant that counts both."""
    folder = study(tmp_path, 'criteria = { reply = "score" }\n', {"q1": "4", "q2": "9", "q3": "8"})
    with pytest.raises(SourceError, match=r"2 problems; nothing was imported: line 3: .*line 4: "):
        folder.import_sources()
    with folder.store(create=True) as store:
        assert not store.ratings()


GOOD = {
    '{"score": 4}': "4",
    '{"Score": 5}': "5",
    "{'score': 3}": "3",
    "```json\n{'SCORE': '2', 'why': \"it's\"}\n```": "2",
    '{"score": " 1 "}': "1",
    '{"score": 4.0, "why": "{\\"score\\": 1}"}': "4",
    'The answer says {"score": 5}. My verdict: {"score": 1}': "1",
    '<think>{"score": 5}</think>{"score": 2}': "2",
}
BAD = {
    "": EMPTY,
    " \n": EMPTY,
    "I cannot evaluate this.": UNREADABLE,
    '{"score": 3': UNREADABLE,
    "It is {'score': 3}.": UNREADABLE,
    '{"score": 3} No: {"score": ': UNREADABLE,
    '{"score": 9}': OFF_SCALE,
    '{"score": 0}': OFF_SCALE,
    '{"score": "3,5"}': OFF_SCALE,
    '{"score": true}': OFF_SCALE,
    '{"score": 1e999}': OFF_SCALE,
    '{"score": {"value": 4}}': OFF_SCALE,
    '{"score": null}': NO_VALUE,
    '{"score": ""}': NO_VALUE,
    '{"score": "N/A"}': NO_VALUE,
    '{"verdict": 3}': NO_KEY,
    "{}": NO_KEY,
    '{"score": 3, "Score": 4}': SEVERAL,
    '{"score": 3, "score": 3}': SEVERAL,
}

PRINTED = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="{")
"""What a text file holds, without zero bytes, and without objects."""


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from([*GOOD, *BAD]) | st.text(PRINTED, max_size=40), min_size=1, max_size=12
    )
)
def test_any_replies_are_imported_and_counted(
    tmp_path_factory: pytest.TempPathFactory, replies: list[str]
):
    """Whatever models wrote: no file is refused, each reply has one outcome, the number of ratings
    is that of the stored ones, and nothing unread becomes a label."""
    items = {f"q{n}": reply for n, reply in enumerate(replies)}
    source = SCORE + 'missing = ["n/a"]\n'
    folder = study(tmp_path_factory.mktemp("replies"), source, items)
    expected = {(item, "score"): GOOD[reply] for item, reply in items.items() if reply in GOOD}
    assert ratings(folder) == expected
    counts = outcomes(folder)
    reasons = Counter(
        BAD.get(reply) or (UNREADABLE if reply.strip() else EMPTY)
        for reply in replies
        if reply not in GOOD
    )
    assert counts["dropped"] == reasons
    assert (counts["read"], counts["kept"]) == (len(replies), len(expected))
    assert "tables" not in counts


@pytest.mark.parametrize("reply", [*GOOD, *BAD])
def test_the_study_s_own_judges_are_read_alike(reply: str):
    """One decision for imported and for live replies; konsil's own prompt allows no other keys."""
    scale = Scale(("1", "2", "3", "4", "5"), level="ordinal")
    form = Instrument("form", (Criterion("score", "?", scale, "item"),))
    reading = read_reply(fields(form, Task("t", "s", "j1", "form", "q1", ())), reply)
    expected = GOOD.get(reply) if "why" not in reply else None
    assert [r.label for r in reading.replies] == ([expected] if expected else [])
    assert reading.readable == (expected is not None)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["yes", "YES", "maybe", 7, None, "absent"]),
            st.sampled_from(["high", "low", "2", [], "absent"]),
            st.sampled_from([12, 3.5, "soon", -1, "absent"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_the_values_of_replies_add_up(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[object, object, object]]
):
    """With several keys, one of them no label: ratings are those of whole and readable replies."""
    names = ("correct", "sure", "time")
    replies = {
        f"q{n}": json.dumps({k: v for k, v in zip(names, row, strict=True) if v != "absent"})
        for n, row in enumerate(values)
    }
    folder = study(
        tmp_path_factory.mktemp("values"),
        'replies = ["reply"]\ncolumns = { seconds = "reply.time" }\n'
        'criteria = { "reply.correct" = "correct", "reply.sure" = "confidence" }\n',
        replies,
    )
    expected = {}
    for n, (correct, sure, time) in enumerate(values):
        if time not in ("soon", -1):
            if str(correct).lower() == "yes":
                expected[f"q{n}", "correct"] = "yes"
            if sure in ("high", "low"):
                expected[f"q{n}", "confidence"] = sure
    assert ratings(folder) == expected
    counts = outcomes(folder)
    rated = {item for item, _ in expected}
    assert (counts["read"], counts["kept"]) == (len(values), len(rated))
    dropped = counts["dropped"]
    assert isinstance(dropped, dict)
    assert sum(dropped.values()) == len(values) - len(rated)
    tables = counts.get("tables")
    if isinstance(tables, dict):
        tally = tables["values of replies"]
        assert (tally["read"], tally["kept"]) == (2 * len(rated), len(expected))
        assert sum(tally["left out"].values()) == tally["read"] - tally["kept"]
    else:
        assert len(expected) == 2 * len(rated)


def test_a_key_that_no_reply_has_is_named(tmp_path: Path):
    """A misspelt key is an error, another one is counted with the keys that the replies have."""
    replies = {"q1": '{"correct": "yes", "why": "x"}'}
    source = 'replies = ["reply"]\ncriteria = { "reply.corect" = "correct" }\n'
    with pytest.raises(SourceError, match=r"did you mean 'reply\.correct'\?"):
        study(tmp_path, source, replies).import_sources()
    added = study(tmp_path, SCORE, replies).import_sources()
    assert "ratings" not in {kind for kind, n in added.new.items() if n}
    assert (
        "r.csv: no reply in 'reply' has the key 'score'; the keys are 'correct', 'why'"
        in added.notes
    )


NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab {}\"'\\ü\n", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.booleans())
def test_every_reply_gives_its_keys_and_values(
    tmp_path_factory: pytest.TempPathFactory, reply: dict[str, object], is_python: bool
):
    """Against a walk of Python's own objects."""

    def leaves(value: object, name: str) -> dict[str, str]:
        if value is None or value == "" or (isinstance(value, str) and not value.strip()):
            return {}
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value, 1)
            return {k: v for key, of in inner for k, v in leaves(of, f"{name}.{key}").items()}
        return {name: value if isinstance(value, str) else json.dumps(value)}

    expected = leaves(reply, "c")
    path = tmp_path_factory.mktemp("replies") / "r.jsonl"
    path.write_text(json.dumps({"c": repr(reply) if is_python else json.dumps(reply)}))
    source = Source("r.jsonl", "ratings", replies=("c",), criteria=dict.fromkeys(expected, "x"))
    replied = with_replies(read_table(path), source)
    frame = replied.table.frame
    assert {name: frame[name][0] for name in frame.columns if name != "c"} == expected
    assert replied.counts["kept"] == int(bool(expected))
