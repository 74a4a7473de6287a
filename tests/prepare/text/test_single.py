"""The single-cloze filter: what becomes an item, and why the rest does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.prepare import single_cloze
from konsil.records import Item, Note
from konsil.sources.anki import read_anki


def note(
    text: str,
    *,
    guid: str = "n",
    is_cloze: bool = True,
    extra: str = "",
    clozed: tuple[str, ...] = ("Text",),
) -> Note:
    return Note(
        guid,
        "Cloze",
        is_cloze,
        {"Text": text, "Extra": extra},
        clozed,
        ("a::b", "c"),
        "Medizin::Innere",
    )


def one(text: str, **options: object) -> Item:
    [item] = single_cloze([note(text)], **options).items  # type: ignore[arg-type]
    return item


@pytest.mark.parametrize(
    ("text", "item", "reference"),
    [
        ("Insulin senkt {{c1::den <b>Blutzucker</b>}}.", "Insulin senkt ____.", "den Blutzucker"),
        (
            "{{c2::Insulin::Hormon}} senkt den Blutzucker",
            "____ (Hormon) senkt den Blutzucker",
            "Insulin",
        ),
        ("<b>a {{c1::b</b> c}}", "a ____", "b c"),
        (
            "Ursachen:<br><ul><li>{{c1::A &amp; B}}</li><li>C</li></ul>",
            "Ursachen:\n- ____\n- C",
            "A & B",
        ),
        (r"\(x = {{c1::\frac{a}{b_{c}}}}\)", r"\(x = ____\)", r"\frac{a}{b_{c}}"),
        ("{{c1::a::Hinweis genügt}}", "____ (Hinweis genügt)", "a"),
        ("{{c0::gezeigt}} {{c1::a}}", "gezeigt ____", "a"),
        ("{{c1,2::a}} b", "____ b", "a"),
    ],
)
def test_items(text: str, item: str, reference: str):
    made = one(text)
    assert (made.id, made.text, made.reference) == ("n", item, reference)
    assert made.strata == {"deck": "Medizin::Innere", "tags": "a::b c"}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (note("{{c1::a}} b", is_cloze=False), "not a cloze note"),
        (note("nichts"), "no deletion"),
        (note("{{c0::nur gezeigt}}"), "no deletion"),
        (note("nichts", extra="{{c1::a}}"), "no deletion"),
        (note("{{c1::a}} {{c2::b"), "broken deletion"),
        (note("{{c1::a}} {{c2::b}}"), "several deletions"),
        (note("{{c1::a}} {{c1::b}}"), "several deletions"),
        (note("{{c1::a {{c2::b}}}}"), "several deletions"),
        (note("{{c1::a}} b", extra="{{c2::c}}", clozed=("Text", "Extra")), "several deletions"),
        (note("a {{c1::&nbsp;<br>}}"), "empty deletion"),
        (note("a {{c1::::hint}}"), "empty deletion"),
        (note("a {{c1::<img src=x>}}"), "media needed"),
        (note("a <img src=x> {{c1::b}}"), "media needed"),
        (note("{{c1::image-occlusion:rect:left=.1}} a"), "media needed"),
        (note("<div>{{c1::alles}}</div>"), "nothing beside the gap"),
    ],
)
def test_dropped(made: Note, reason: str):
    found = single_cloze([made])
    assert (found.items, found.read, found.dropped) == ((), 1, {reason: 1})


def test_media_can_be_marked_but_not_guessed():
    found = single_cloze(
        [note("a <img src=x> {{c1::b}}"), note("{{c1::<img>}} a", guid="m")], media="mark"
    )
    assert [i.text for i in found.items] == ["a [image] ____"]
    assert found.dropped == {"media needed": 1}
    assert single_cloze([note("<img> {{c1::b}}")], media="mark").dropped == {
        "nothing beside the gap": 1
    }


def test_hints_can_be_left_out():
    assert one("{{c1::a::h}} b", hints=False).text == "____ b"
    assert single_cloze([note("{{c1::a::h}}")], hints=False).dropped == {
        "nothing beside the gap": 1
    }


def test_an_index_on_the_line_is_an_alias():
    item = one("Das Ion {{c1::Ca<sup>2+</sup>}}")
    assert (item.reference, item.aliases) == ("Ca²⁺", ("Ca2+",))


def test_identifiers_that_are_not_unique_name_nothing():
    found = single_cloze([note("{{c1::a}} b"), note("{{c1::c}} d"), note("{{c1::e}} f", guid="m")])
    assert [i.id for i in found.items] == ["m"]
    assert found.dropped == {"identifier not unique": 2}


def test_fields_strata_and_sets_of_choice():
    made = note("x", extra="{{c1::a}} <b>b</b>")
    [item] = single_cloze([made], fields=["Extra"], strata=["type", "Text"], sets=("pilot",)).items
    assert item == Item("n", "____ b", "a", sets=("pilot",), strata={"type": "Cloze", "Text": "x"})


MARKUP = st.lists(
    st.sampled_from(
        [
            "{{c1::",
            "{{c2::",
            "}}",
            "::",
            "a",
            " ",
            "<b>",
            "</b>",
            "<img>",
            "&lt;",
            r"\(",
            r"\)",
            "{",
            "}",
        ]
    ),
    max_size=12,
).map("".join)


@given(st.lists(st.tuples(MARKUP, st.booleans()), max_size=6))
def test_every_note_is_an_item_or_counted(drawn: list[tuple[str, bool]]):
    notes = [note(text, guid=str(n), is_cloze=is_cloze) for n, (text, is_cloze) in enumerate(drawn)]
    found = single_cloze(notes)
    assert found.read == len(notes) == len(found.items) + sum(found.dropped.values())
    for item in found.items:
        assert item.text.count("____") == 1
        assert item.reference
        assert "{{c" not in item.text


def test_the_real_deck(data: Callable[[str], Path]):
    found = single_cloze(read_anki(data("anki_eth_cs") / "eth_cs_anki21b.apkg").notes)
    assert (found.read, len(found.items)) == (858, 453)
    assert found.dropped == {"several deletions": 205, "not a cloze note": 190, "media needed": 10}
    assert all(item.text.count("____") == 1 for item in found.items)
    assert not any("&nbsp;" in item.text or "<div" in item.text for item in found.items)
