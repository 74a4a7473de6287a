"""Of an item that was screened out, and of a rater who withdrew, no release has a word: canaries in
every field."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.instrument import Criterion, Instrument, Scale
from konsil.prepare import Screened, screening_event
from konsil.prepare.questions.rewriting import REWRITING
from konsil.records import Answer, Attempt, Citation, Event, Item, Rater, Rating, Span, Task
from konsil.store import Batch, Store
from konsil.store.engine.frames import read_csv
from konsil.store.release.release import Disclosure, release
from konsil.store.release.released import Released
from konsil.study import Study
from konsil.study.sections.enrolment import CONSENT, PROFILE, Enrolment

AT, KEY = "2025-03-01T12:00:00Z", b"a secret of thirty-two bytes....."
N_ITEMS, N_RATERS = 4, 4
FORM = Instrument(
    "form",
    (
        Criterion("correct", "Is it correct?", Scale(("no", "yes"), abstain="cannot tell")),
        Criterion("better", "Which is better?", Scale(("A", "B")), "pair"),
        Criterion("remark", "Anything else?", Scale(kind="text"), "item"),
    ),
)
STUDY = Study(
    "A trial",
    seed=1,
    licence="CC0-1.0",
    instruments=(FORM,),
    enrolment=Enrolment("I agree.", withdrawn="exclude"),
)


def batch(out: Collection[int], gone: Collection[int]) -> Batch:
    """A study in which whatever belongs to item i says item-canary-i, and whatever belongs to rater
    r rater-canary-r.

    Ratings, tasks and attempts belong to both.
    """
    items, answers, tasks, ratings, attempts, raters, events = [], [], [], [], [], [], []
    for i in range(N_ITEMS):
        item = f"item-canary-{i}."
        for version in ("", "v"):
            case = item if version else None
            fields = (
                f"{item} ref",
                (f"{item} alias",),
                case,
                (f"{item} set",),
                {"stratum": f"{item} stratum"},
            )
            items.append(Item(item + version, f"{item} text", *fields))
        for s in range(2):
            citation = Citation(f"{item} title", f"https://x.org/{item}")
            answers.append(
                Answer(
                    f"{item}a{s}",
                    item,
                    f"s{s}",
                    f"{item} answer",
                    f"{item} thought",
                    (citation,),
                    (Span(0, 3),),
                )
            )
        events.append(
            Event(
                f"{item} rewriting", REWRITING, item, AT, {"number": i, "text": f"{item} reworded"}
            )
        )
    for r in range(N_RATERS):
        rater = f"rater-canary-{r}."
        raters.append(
            Rater(rater, "panel", "human", f"{rater} family", {"years": f"{rater} years"})
        )
        events.append(
            Event(f"{rater} profile", PROFILE, rater, AT, {"replies": {"x": f"{rater} reply"}})
        )
        for i in range(N_ITEMS):
            item = f"item-canary-{i}."
            both, task = (f"{item}a0", f"{item}a1"), f"{item}{rater}task"
            tasks.append(
                Task(
                    task,
                    f"{rater} slot",
                    rater,
                    FORM.id,
                    item,
                    both,
                    (),
                    f"arm of {rater}",
                    "p",
                    f"batch of {rater}",
                )
            )
            more = {"note": f"{item}{rater} note", "at": AT, "instrument": ""}
            ratings += [
                Rating(
                    task, rater, "correct", item, both[:1], label=f"{item}{rater} label", **more
                ),
                Rating(task, rater, "better", item, both, label="A", **more),
                Rating(task, rater, "remark", item, label=f"{item}{rater} remark", **more),
            ]
            attempts.append(Attempt(f"{task} attempt", task, rater, "ok", f"{item}{rater} raw", AT))
    for r in gone:
        data = {"version": "1", "agreed": False, "withdrawn": True}
        events.append(Event(f"rater-canary-{r}. consent", CONSENT, f"rater-canary-{r}.", AT, data))
    reasons = {"identifier": [f"item-canary-{i}." for i in out]} if out else {}
    events.append(screening_event(Screened("", "", reasons), 1, AT))
    return Batch(items, answers, raters, tasks, ratings, attempts, events)


def released(
    folder: Path, out: Collection[int], gone: Collection[int], *, texts: bool
) -> tuple[str, Released]:
    """Everything that a release says, file names included."""
    with Store.open(folder) as store:
        store.add(batch(out, gone), source="x", at=AT)
        done = release(
            store,
            STUDY,
            folder / "out",
            key=KEY,
            disclosure=Disclosure(linked=True, texts=texts, k=1),
        )
    words = [p.name for p in (folder / "out").rglob("*")]
    for path in (folder / "out").rglob("*"):
        if path.suffix == ".parquet":
            words += [str(pl.read_parquet(path).to_dicts())]
            assert read_csv(path.with_suffix(".csv")).height == pl.read_parquet(path).height
        elif path.is_file():
            words.append(path.read_text("utf-8"))
    return "\n".join(words), done


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.sets(st.integers(0, N_ITEMS - 1)),
    st.sets(st.integers(0, N_RATERS - 1)),
    st.booleans(),
)
def test_no_canary_of_what_was_screened_out_or_withdrawn(
    out: set[int], gone: set[int], texts: bool
) -> None:
    with TemporaryDirectory() as folder:
        text, done = released(Path(folder), out, gone, texts=texts)
    for i in range(N_ITEMS):
        assert (f"item-canary-{i}." in text) == (i not in out), "what is not screened out is there"
    for r in range(N_RATERS):
        # Notes and free texts are asked for, and may name who wrote them; else no rater's name is
        # anywhere.
        assert (f"rater-canary-{r}. note" in text) == (
            texts and r not in gone and len(out) < N_ITEMS
        )
        if r in gone:
            assert f"rater-canary-{r}." not in text
    # Who did nothing that is released is not listed.
    assert done.records["raters"] == (N_RATERS - len(gone) if len(out) < N_ITEMS else 0)
    assert done.records["tasks"] == (N_RATERS - len(gone)) * (N_ITEMS - len(out))
    assert done.records["answers"] == 2 * (N_ITEMS - len(out))


def test_the_canaries_sing_where_nothing_is_out(tmp_path: Path) -> None:
    text, _ = released(tmp_path, (), (), texts=True)
    assert all(
        f"item-canary-0. {word}" in text
        for word in ("text", "answer", "thought", "ref", "alias", "stratum")
    )
    assert "rater-canary-0. years" in text


@pytest.mark.parametrize("keep", [True, False])
def test_who_withdrew_is_released_where_the_protocol_keeps_the_ratings(
    tmp_path: Path, keep: bool
) -> None:
    way = dataclasses.replace(
        STUDY, enrolment=Enrolment("I agree.", withdrawn="keep" if keep else "exclude")
    )
    with Store.open(tmp_path) as store:
        store.add(batch((), (0,)), source="x", at=AT)
        done = release(store, way, tmp_path / "out", key=KEY, disclosure=Disclosure(linked=True))
    assert done.records["raters"] == N_RATERS - (not keep)
