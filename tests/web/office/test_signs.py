"""Pace, forecast, signs of haste, answers that name somebody: pure functions."""

from __future__ import annotations

from datetime import date

from konsil.instrument import Criterion, Scale
from konsil.records import Answer, System
from konsil.store.tasks.progress import Count, Handed
from konsil.web.http.naming import named
from konsil.web.office.flags import _as_shown
from konsil.web.office.inattention_flags import Screen, signs
from konsil.web.office.pace import forecast, paces

NOW = "2025-03-08T12:00:00Z"


def handed(rater: str, days: list[int], seconds: float | None = 60.0) -> list[Handed]:
    return [Handed(rater, f"2025-03-{day:02}T12:00:00Z", seconds) for day in days]


def count(rater: str, tasks: int, done: int) -> Count:
    return Count(rater, "form", "", "", 0, tasks, done)


def test_the_pace_is_that_of_the_last_seven_days() -> None:
    counts = [count("a", 20, 10), count("b", 20, 2), count("c", 4, 0), count("", 3, 0)]
    told = [*handed("a", [1, 1, 1, 2, 3, 4, 5, 6, 7, 8]), *handed("b", [7, 8], 30.0)]
    found = {p.rater: p for p in paces(counts, told, NOW)}
    assert set(found) == {"a", "b", "c"}, "what lapsed is nobody's"
    assert found["a"].a_day == 1.0
    assert found["a"].end == date(2025, 3, 18)
    assert found["b"].a_day == 2.0, "she began a day ago"
    assert found["b"].seconds is None
    assert found["b"].hours == 18 * 60 / 3600, "by the median of all"
    assert found["c"].end is None
    told_ = forecast(found.values())
    assert told_.end == date(2025, 3, 18)
    assert told_.without == ("c",)


def test_nothing_is_foretold_from_nothing() -> None:
    [one] = paces([count("a", 5, 0)], [], NOW)
    assert (one.hours, one.end, one.a_day, one.last) == (None, None, 0.0, None)
    assert forecast([one]).hours is None
    assert forecast([]).end is None


def screens(rater: str, seconds: float, labels: list[list[str]]) -> list[Screen]:
    return [
        Screen(rater, "form", seconds, tuple(("correct", label) for label in row)) for row in labels
    ]


MIXED = [["yes", "no", "yes", "yes", "no"], ["no", "no", "yes", "yes", "yes"]] * 10


def test_who_is_much_faster_than_the_panel_stands_out() -> None:
    told = [*screens("a", 60, MIXED), *screens("b", 50, MIXED), *screens("c", 10, MIXED)]
    found = {s.rater: s for s in signs(told, dict.fromkeys("abc", "p"))}
    assert found["c"].flags == {"fast"}
    assert found["c"].fast == 20
    assert not found["a"].flags | found["b"].flags


def test_who_always_says_the_same_stands_out_unless_all_do() -> None:
    same = [["yes"] * 5] * 20
    panel = dict.fromkeys("abc", "p")
    told = [*screens("a", 60, MIXED), *screens("b", 60, MIXED), *screens("c", 60, same)]
    found = {s.rater: s for s in signs(told, panel)}
    assert found["c"].flags == {"line", "run"}
    assert (found["c"].lines, found["c"].wide, found["c"].run) == (20, 20, 100)
    everybody = signs([s for r in "abc" for s in screens(r, 60, same)], panel)
    assert not any(s.flags for s in everybody), "an easy set is not haste"


def test_few_screens_say_nothing() -> None:
    told = [*screens("a", 60, MIXED[:5]), *screens("b", 1, [["yes"] * 5] * 5)]
    assert not any(s.flags for s in signs(told, {}))


def test_seven_questions_on_one_scale_can_be_a_straight_line() -> None:
    def one(rater: str, label: str) -> Screen:
        rest = label or "2"
        return Screen(
            rater,
            "form",
            60,
            tuple((f"c{n}", "1" if n == 3 and not label else rest) for n in range(7)),
        )

    found = {
        s.rater: s for s in signs([one("a", "2")] * 12 + [one("b", "")] * 12, {"a": "p", "b": "p"})
    }
    assert (found["a"].lines, found["b"].lines) == (12, 0)
    assert "line" in found["a"].flags


def test_whole_words_name_a_system() -> None:
    systems = [System("careful-system", "acme", model="local:acme/wise-7b")]
    texts = (
        "I am GPT-4o.",
        "Grokking gptlike openairways",
        "The ACME family",
        "see UpToDate.",
        "wise-7b",
        "local",
    )
    found = {n.answer: n.names for n in named([Answer(t, "i", "s", t) for t in texts], systems)}
    assert found == {
        texts[0]: ("GPT-4o",),
        texts[2]: ("ACME",),
        texts[3]: ("UpToDate",),
        texts[4]: ("wise-7b",),
    }


def test_labels_of_a_run_stand_as_they_were_chosen_on_the_screen() -> None:
    pair = Criterion("better", "?", Scale(("A", "same", "B")), "pair")
    assert [_as_shown(pair, label, True) for label in ("A", "same", "B", None)] == [
        "B",
        "same",
        "A",
        "",
    ]
    assert [_as_shown(pair, label, False) for label in ("A", "B")] == ["A", "B"]
    assert _as_shown(None, "yes", True) == "yes"
