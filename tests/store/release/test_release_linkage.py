"""Nobody finds out who a pseudonym is by drawing the plan again, nor by a rare combination of
strata."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.errors import StoreError
from konsil.instrument import Criterion, Instrument, Scale, canonical
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item, Rater, Rating, System, Task
from konsil.store import Batch, Store
from konsil.store.release.pseudonyms import SUPPRESSED, coarsened
from konsil.store.release.release import Disclosure, release
from konsil.study import Study

AT, KEY = "2025-03-01T12:00:00Z", b"a secret of thirty-two bytes....."
FORM = Instrument(
    "form",
    (
        Criterion("better", "Which is better?", Scale(("A", "equal", "B")), "pair"),
        Criterion("margin", "By how much?", Scale(kind="number", low=-2, high=2), "pair"),
    ),
    unit="pair",
)
RATERS = tuple(Rater(f"physician-{n}", "physicians") for n in range(1, 6))
ITEMS = tuple(Item(f"q{n:02}", f"Question {n}?") for n in range(20))
SYSTEMS = (System("s1"), System("s2"), System("s3"))
ANSWERS = tuple(Answer(f"{s.id}-{i.id}", i.id, s.id, "Yes.") for s in SYSTEMS for i in ITEMS)
FULL = Allocation("physicians", "form", show="pair", systems=("s1", "s2"), repeats=4, batches=4)
SPARSE = dataclasses.replace(FULL, raters_per_item=2, repeats=0)


def planned(allocation: Allocation) -> tuple[Study, tuple[Task, ...]]:
    study = Study(
        "A trial",
        seed=7,
        licence="CC0-1.0",
        instruments=(FORM,),
        systems=SYSTEMS,
        raters=RATERS,
        plan=(allocation,),
    )
    return study, drawn(study)


def drawn(study: Study) -> tuple[Task, ...]:
    return assign(
        study.plan,
        items=ITEMS,
        answers=ANSWERS,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
    )


def released(
    tmp_path: Path, allocation: Allocation, **options: Any
) -> tuple[Path, tuple[Task, ...], Any]:
    study, tasks = planned(allocation)
    # Every rater prefers the answer of the first system: labels would tell the order in which
    # answers were shown.
    ratings = [
        Rating(
            t.id,
            t.rater,
            "better",
            t.item,
            t.answers,
            label="A" if t.answers[0].startswith("s1") else "B",
        )
        for t in tasks
    ]
    ratings += [Rating(t.id, t.rater, "margin", t.item, t.answers, label="1") for t in tasks]
    with Store.open(tmp_path) as store:
        store.add(
            Batch(items=ITEMS, answers=ANSWERS, raters=RATERS, tasks=tasks, ratings=ratings),
            source="x",
            at=AT,
        )
        done = release(
            store,
            study,
            tmp_path / "out",
            key=KEY,
            disclosure=Disclosure(**({"linked": True} | options)),
        )
    return tmp_path / "out", drawn(study), done


def suspects(folder: Path, tasks: tuple[Task, ...]) -> dict[str, set[str]]:
    """Pseudonym -> raters who have, in the plan drawn again, everything that the release tells of
    its tasks."""
    known: dict[str, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    rows = pl.read_parquet(folder / "tasks.parquet").to_dicts()
    columns = [
        c for c in rows[0] if c not in ("task", "rater", "repeat_of") and any(r[c] for r in rows)
    ]
    ordered = any(json.loads(r["answers"]) != sorted(json.loads(r["answers"])) for r in rows)

    def seen(row: dict[str, Any]) -> tuple[Any, ...]:
        answers = (
            json.loads(row["answers"]) if isinstance(row["answers"], str) else list(row["answers"])
        )
        cells = {**row, "answers": json.dumps(answers if ordered else sorted(answers)), "spans": ""}
        return tuple(cells[c] for c in columns)

    for task in tasks:
        known[task.rater][seen(dataclasses.asdict(task))] += 1
    given: dict[str, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    for row in rows:
        given[row["rater"]][seen(row)] += 1
    return {
        name: {r for r, all_of in known.items() if own <= all_of} for name, own in given.items()
    }


def test_the_plan_drawn_again_matches_everybody_alike(tmp_path: Path) -> None:
    folder, tasks, done = released(tmp_path, FULL)
    found = suspects(folder, tasks)
    assert len(found) == 5
    assert all(len(who) == 5 for who in found.values()), "everybody may be anybody"
    assert done.recognisable == 0
    assert (
        done.withheld["ratings of repeated tasks"]
        == 2 * sum(t.purpose == "repeat" for t in tasks)
        > 0
    )


def test_the_order_is_what_would_tell_who_is_who(tmp_path: Path) -> None:
    folder, tasks, done = released(tmp_path, FULL, order=True)
    found = suspects(folder, tasks)
    assert all(len(who) == 1 for who in found.values()), "the attack of the test above works"
    assert done.recognisable == 5
    assert "can be identified with study.toml" in (folder / "README.md").read_text("utf-8")
    assert pl.read_parquet(folder / "tasks.parquet")["position"].null_count() == 0


def test_the_labels_of_turned_comparisons_say_the_same(tmp_path: Path) -> None:
    folder, tasks, done = released(tmp_path, FULL)
    rows = pl.read_parquet(folder / "ratings.parquet").to_dicts()
    assert {(r["answer"][:2], r["answer_b"][:2], r["label"]) for r in rows} == {
        ("s1", "s2", "A"),
        ("s1", "s2", "1"),
    }
    # Nobody knows what a number says of two answers that change places.
    margins = sum(r["criterion"] == "margin" for r in rows)
    assert (
        margins
        == sum(t.answers[0] < t.answers[1] for t in tasks if t.purpose != "repeat")
        < len(tasks)
    )
    assert (
        done.withheld[
            ("comparisons with a label that cannot be reversed with the order of the answers")
        ]
        > 0
    )
    assert {t.answers[0][:2] for t in tasks} == {"s1", "s2"}, "they were shown in both orders"
    assert canonical(FORM.criteria[0], ("b", "a"), "A") == (("a", "b"), "B")


def test_sets_of_items_that_tell_are_counted_and_can_be_unlinked(tmp_path: Path) -> None:
    folder, tasks, done = released(tmp_path, SPARSE)
    assert all(len(who) == 1 for who in suspects(folder, tasks).values())
    assert done.recognisable == 5
    assert "5 raters have a set of tasks shared by fewer than 3" in (
        folder / "README.md"
    ).read_text("utf-8")
    other = tmp_path / "other"
    other.mkdir()
    folder, tasks, done = released(other, SPARSE, unlink=True)
    found = suspects(folder, tasks)
    assert done.recognisable == 0
    assert len(found) == len(tasks), "another pseudonym on every item"
    assert all(len(who) >= 2 for who in found.values())


def test_without_a_word_on_it_no_release_is_written_that_tells_who_is_who(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"5 raters have a set of tasks shared .* unlink=True .* linked=True"
    ):
        released(tmp_path, SPARSE, linked=False)
    assert not (tmp_path / "out").exists()


QUASI = st.fixed_dictionaries(
    {
        "sex": st.sampled_from("fm"),
        "years": st.sampled_from(["5", "10", "30"]),
        "field": st.sampled_from("abcd"),
    }
)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from("pq"), QUASI), max_size=20), st.integers(1, 5))
def test_every_combination_that_is_shown_belongs_to_k(
    people: list[tuple[str, dict[str, str]]], k: int
) -> None:
    raters = [Rater(str(n), panel, strata=strata) for n, (panel, strata) in enumerate(people)]
    shown = coarsened(raters, k)
    for panel in "pq":
        members = [r for r in raters if r.panel == panel]
        classes = Counter(tuple(sorted(shown[r.id].items())) for r in members)
        if len(members) >= k:
            assert all(n >= k for n in classes.values())
        else:
            assert all(value == SUPPRESSED for r in members for value in shown[r.id].values())
        assert all(v in (r.strata[c], SUPPRESSED) for r in members for c, v in shown[r.id].items())


def test_nothing_is_suppressed_without_need() -> None:
    panel = [Rater(str(n), "p", strata={"sex": s, "years": "5"}) for n, s in enumerate("fffmmm")]
    assert all(SUPPRESSED not in row.values() for row in coarsened(panel, 3).values())


@pytest.mark.parametrize(
    ("years", "k", "expected"),
    [
        # The smallest of the other classes hides those who are left over; larger ones stay as they
        # are.
        ("aaaccb", 2, "aaa---"),
        ("aaaccb", 3, "aaa---"),
        ("aaab", 2, "----"),
        # Two who are left over are hidden by one another.
        ("aaabc", 2, "aaa--"),
        ("aaabc", 3, "-----"),
        ("aabb", 2, "aabb"),
    ],
)
def test_who_is_left_over_is_hidden_among_the_smallest_class(
    years: str, k: int, expected: str
) -> None:
    panel = [Rater(str(n), "p", strata={"years": y}) for n, y in enumerate(years)]
    shown = [row["years"] for row in coarsened(panel, k).values()]
    assert shown == [SUPPRESSED if y == "-" else y for y in expected]


@pytest.mark.parametrize("n", [2, 3])
def test_a_panel_too_small_for_k_is_named(tmp_path: Path, n: int) -> None:
    raters = tuple(dataclasses.replace(r, strata={"sex": "f"}) for r in RATERS[:n])
    tasks = tuple(Task(f"t{r.id}", "", r.id, "form", "q00", ("s1-q00", "s2-q00")) for r in raters)
    study = dataclasses.replace(planned(FULL)[0], raters=raters, plan=())
    with Store.open(tmp_path) as store:
        store.add(
            Batch(items=ITEMS, answers=ANSWERS, raters=raters, tasks=tasks), source="x", at=AT
        )
        done = release(store, study, tmp_path / "out", key=KEY, disclosure=Disclosure(linked=True))
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    if n < 3:
        assert done.small_panels == {"physicians": 2}
        assert "physicians (2)" in text
        assert done.withheld["values of 'sex' of raters (panel 'physicians')"] == 2
    else:
        assert not done.small_panels
        assert "with fewer than 3 raters" not in text
