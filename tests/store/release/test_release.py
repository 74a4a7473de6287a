"""A release holds the data and no person."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import StoreError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Span, System, Task
from konsil.store import Batch, Store
from konsil.store.engine.fields import meanings
from konsil.store.engine.frames import read_csv
from konsil.store.release.pseudonyms import SUPPRESSED, Pseudonyms, coarsened, mentions
from konsil.store.release.release import Disclosure, release
from konsil.study import Study
from small_studies import exit_code

AT = "2025-03-01T12:00:00Z"
KEY = b"a secret of thirty-two bytes....."
PEOPLE = ("weber", "Dr. Özil", "R12", "amara", "lind", "chen", "novak")
FORM = Instrument(
    "quality/form",
    (
        Criterion(
            "accuracy",
            "Is it accurate?",
            Scale(("-1", "0", "1"), abstain="cannot tell"),
            guidance="Be strict.",
        ),
        Criterion("remark", "Anything else?", Scale(kind="text"), scope="item"),
    ),
    codebook="Read *all* of it.",
)
STUDY = Study(
    "A trial",
    seed=1,
    description="What it is about.",
    licence="CC-BY-4.0",
    instruments=(FORM,),
    systems=(System("s1", "acme", "acme-1", {"temperature": 0.0}),),
)


def _batch() -> Batch:
    specialties = ["cardiology"] * 4 + ["neurology"] * 3
    years = ["10"] * 6 + ["41"]
    people = tuple(
        Rater(p, "doctors", family="Weber & Sons", strata={"specialty": s, "years": y})
        for p, s, y in zip(PEOPLE, specialties, years, strict=True)
    )
    tasks, ratings = [], []
    for rater in (*PEOPLE, "judge-1"):
        task = f"i1/{rater}"
        tasks.append(
            Task(
                task,
                f"slot-{rater}",
                rater,
                FORM.id,
                "i1",
                ("a1",),
                batch=f"batch of {rater}",
                phase="one",
            )
        )
        ratings.append(
            Rating(
                task,
                rater,
                "accuracy",
                "i1",
                ("a1",),
                Span(0, 4),
                label="-1",
                note=f"{rater} thinks so",
                seconds=2.5,
                at="2025-03-01T23:59:00Z",
            )
        )
        ratings.append(Rating(task, rater, "remark", "i1", label=f"signed {rater}"))
    tasks.append(
        Task(
            "again", "slot", "weber", FORM.id, "i1", ("a1",), purpose="repeat", repeat_of="i1/weber"
        )
    )
    return Batch(
        items=(Item("i1", "=Question?\nReally?", None, strata={"level": "easy"}),),
        answers=(Answer("a1", "i1", "s1", "Yes. No."),),
        raters=(*people, Rater("judge-1", "judges", "llm", "acme", {"size": "large"})),
        tasks=tuple(tasks),
        ratings=tuple(ratings),
    )


@pytest.fixture
def made(tmp_path: Path) -> Path:
    with Store.open(tmp_path) as store:
        store.add(_batch(), source="x", at=AT)
        release(store, STUDY, tmp_path / "release", key=KEY)
    return tmp_path / "release"


def _everything(folder: Path) -> str:
    texts = [
        p.read_text(encoding="utf-8")
        for p in sorted(folder.rglob("*"))
        if p.suffix != ".parquet" and p.is_file()
    ]
    texts += [str(pl.read_parquet(p).to_dicts()) for p in folder.glob("*.parquet")]
    return "\n".join(texts)


def test_no_person_and_no_key_in_any_file(made: Path) -> None:
    text = _everything(made)
    for canary in (
        *PEOPLE,
        "Weber & Sons",
        "signed",
        "thinks so",
        "23:59",
        "2025-03-01",
        KEY.decode(),
        KEY.hex(),
    ):
        assert canary not in text, canary
    assert "judge-1" in text


def test_the_data_are_there(made: Path) -> None:
    ratings = pl.read_parquet(made / "ratings.parquet")
    assert ratings.height == 8
    assert set(ratings["label"]) == {"-1"}
    assert set(ratings["span_end"]) == {4}
    assert ratings["rater"].n_unique() == 8
    assert set(ratings["criterion"]) == {"accuracy"}
    tasks = pl.read_parquet(made / "tasks.parquet")
    assert set(ratings["task"]) <= set(tasks["task"])
    assert tasks.height == 8
    assert set(tasks["purpose"]) == {"main"}
    assert set(tasks["batch"]) == {"", "batch of judge-1"}
    assert set(tasks["phase"]) == {"one"}
    assert set(ratings["rater"]) == set(pl.read_parquet(made / "raters.parquet")["rater"])
    assert (made / "codebooks" / "quality-form.md").read_text().count("Read *all* of it.") == 1
    assert json.loads((made / "instruments.json").read_text())[0]["id"] == "quality/form"
    assert "SPDX-License-Identifier: CC-BY-4.0" in (made / "LICENCE.txt").read_text()


def test_csv_and_parquet_hold_the_same(made: Path) -> None:
    for path in made.glob("*.parquet"):
        table = pl.read_parquet(path)
        texts = read_csv(path.with_suffix(".csv"))
        assert texts.with_columns(pl.col(c).cast(t) for c, t in table.schema.items()).equals(
            table
        ), path.name
    with (made / "items.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["text"] == "'=Question?\nReally?"


def test_rows_are_sorted_by_pseudonym(made: Path) -> None:
    for table, columns in (("raters", ["rater"]), ("tasks", ["task"]), ("ratings", ["task"])):
        frame = pl.read_parquet(made / f"{table}.parquet")
        assert frame.equals(frame.sort(columns, maintain_order=True)), table


def test_rare_strata_are_suppressed(made: Path) -> None:
    raters = {r["rater"]: r for r in pl.read_parquet(made / "raters.parquet").to_dicts()}
    strata = [json.loads(r["strata"]) for r in raters.values() if r["kind"] == "human"]
    assert Counter(s["specialty"] for s in strata) == {"cardiology": 4, "neurology": 3}
    # One neurologist of 41 years would be recognisable by the suppression itself: the others' years
    # go too.
    assert Counter((s["specialty"], s["years"]) for s in strata) == {
        ("cardiology", "10"): 4,
        ("neurology", SUPPRESSED): 3,
    }
    assert json.loads(raters["judge-1"]["strata"]) == {"size": "large"}


def test_every_column_is_explained(made: Path) -> None:
    dictionary = read_csv(made / "data_dictionary.csv")
    explained = set(dictionary.select("table", "column").iter_rows())
    columns = {(p.stem, c) for p in made.glob("*.parquet") for c in pl.read_parquet(p).columns}
    assert explained == columns
    assert all(len(m) > 10 for m in dictionary["meaning"])


def test_the_digests_hold(made: Path) -> None:
    lines = (made / "SHA256SUMS").read_text().splitlines()
    named = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    files = {p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()} - {
        "SHA256SUMS"
    }
    assert set(named) == files
    for name, digest in named.items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=made).returncode == 0


def test_the_same_key_gives_the_same_bytes_and_another_key_other_names(
    made: Path, tmp_path: Path
) -> None:
    with Store.open(tmp_path) as store:
        again = release(store, STUDY, tmp_path / "again", key=KEY)
        release(store, STUDY, tmp_path / "other", key=KEY[::-1])
    assert again.withheld == {
        "times of day": 8,
        "notes": 8,
        "free-text replies": 8,
        "values of 'years' of raters (panel 'doctors')": 3,
    }
    for path in (p for p in made.rglob("*") if p.is_file()):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(made)).read_bytes(), (
            path.name
        )
    names = [
        set(pl.read_parquet(f / "ratings.parquet")["rater"]) for f in (made, tmp_path / "other")
    ]
    assert names[0] & names[1] == {"judge-1"}


def test_texts_only_when_asked(made: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        release(store, STUDY, tmp_path / "texts", key=KEY, disclosure=Disclosure(texts=True))
    ratings = pl.read_parquet(tmp_path / "texts" / "ratings.parquet")
    assert ratings.height == 16
    assert "weber thinks so" in set(ratings["note"])
    assert "check them for personal data" in (tmp_path / "texts" / "README.md").read_text()


def test_a_rater_nobody_knows_is_taken_for_a_person(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.add(
            Batch(ratings=(Rating("t", "mystery", "accuracy", "i1", label="1"),)), source="x", at=AT
        )
        release(store, STUDY, tmp_path / "release", key=KEY)
    assert "mystery" not in _everything(tmp_path / "release")


def test_who_is_called_a_person_anywhere_is_one(made: Path, tmp_path: Path) -> None:
    study = dataclasses.replace(STUDY, raters=(Rater("weber", "doctors", "llm", "Weber & Sons"),))
    with Store.open(tmp_path) as store:
        release(store, study, tmp_path / "again", key=KEY)
    text = _everything(tmp_path / "again")
    assert "weber" not in text
    assert "Weber & Sons" not in text


def test_order_and_repeats_are_there_on_request(made: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        release(
            store,
            STUDY,
            tmp_path / "ordered",
            key=KEY,
            disclosure=Disclosure(linked=True, order=True),
        )
    tasks = pl.read_parquet(tmp_path / "ordered" / "tasks.parquet")
    assert tasks["repeat_of"].drop_nulls().to_list()[0] in set(tasks["task"])
    assert tasks["batch"].n_unique() == 9, "and no batch is named after a person"
    assert not any(person in name for name in tasks["batch"] for person in PEOPLE)


def test_simulated_ratings_are_labelled(made: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        release(
            store,
            dataclasses.replace(STUDY, simulated=True),
            tmp_path / "simulated",
            key=KEY,
            disclosure=Disclosure(linked=True),
        )
    assert "simulated" in (tmp_path / "simulated" / "README.md").read_text()
    assert "simulated" not in (made / "README.md").read_text()


def test_what_makes_no_release(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        for study, key, k, message in (
            (dataclasses.replace(STUDY, licence=" "), KEY, 3, r"study\.toml\.licence: is empty"),
            (STUDY, b"short", 3, "at least 16 secret bytes, got 5"),
            (STUDY, KEY, 0, "expected 1 or more raters, got 0"),
        ):
            with pytest.raises(StoreError, match=message):
                release(store, study, tmp_path / "release", key=key, disclosure=Disclosure(k=k))
    assert not (tmp_path / "release").exists()


@given(
    st.lists(
        st.tuples(st.sampled_from("pq"), st.sampled_from(["a", "b", "c", "d", None])), max_size=25
    ),
    st.integers(1, 5),
)
def test_no_group_is_smaller_than_k(people: list[tuple[str, str | None]], k: int) -> None:
    raters = [
        Rater(str(n), panel, strata={} if s is None else {"x": s})
        for n, (panel, s) in enumerate(people)
    ]
    shown = coarsened(raters, k)
    if not any(r.strata for r in raters):
        return  # no column, nothing shown
    for panel in "pq":
        members = [r for r in raters if r.panel == panel]
        counts = Counter(shown[r.id].get("x", "") for r in members)
        hidden = counts.pop(SUPPRESSED, 0)
        assert all(n >= k for n in counts.values())
        assert hidden == 0 or hidden >= min(k, len(members))


def test_pseudonyms_differ_by_kind_and_do_not_reveal_order() -> None:
    names = Pseudonyms(KEY)
    assert names.name("rater", "a") != names.name("task", "a")
    made = [names.name("rater", f"rater-{n:03}") for n in range(200)]
    assert len(set(made)) == 200
    assert sum(a < b for a, b in pairwise(made)) in range(70, 130)


def test_a_name_is_found_as_a_word_only() -> None:
    assert mentions("batch of R1", ["R1"])
    assert not mentions("batch of R12", ["R1"])
    assert not mentions("anything", [""])


def test_field_meanings_come_from_the_source() -> None:
    for record in (Item, Answer, Rater, Task, Rating, System):
        assert set(meanings(record)) == {f.name for f in dataclasses.fields(record)}


FAKE = """title = "A trial"
seed = 1
licence = "CC-BY-4.0"
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
model = "fake:a"
[[sources]]
file = "items.csv"
records = "items"
"""


def test_a_release_says_that_models_were_played(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(FAKE)
    (tmp_path / "items.csv").write_text("item,text\nq1,Why?\n")
    assert exit_code("import", tmp_path) == 0
    assert exit_code("export", tmp_path, tmp_path / "before", "--release") == 0
    assert exit_code("answer", tmp_path) == 0
    assert exit_code("export", tmp_path, tmp_path / "after", "--release") == 0
    before, after = (
        (tmp_path / name / "README.md").read_text("utf-8") for name in ("before", "after")
    )
    assert "scripted test endpoint" in after
    assert "played" not in before
