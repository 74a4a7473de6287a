"""Comparisons as they are really published: the authors' own tables, blinded ones, other names, one
flat table."""

from __future__ import annotations

import copy
import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from konsil.cli.main import group
from konsil.errors import AnalysisError, SourceError
from konsil.records import Source
from konsil.sources.pocqi.real_pocqi import Pocqi, read_real_pocqi
from pocqi_tables import (
    CHOICES,
    Made,
    as_the_authors_lay_out,
    read_inner_tables,
    tables,
    write,
)

PLAIN = tables(7, questions=60, comparisons=120, raters=12, specialties=3, fast=4, healthbench=20)
SOURCE = Source("tables", "real-pocqi")
STEPS = dict(zip(CHOICES, (1, 1, 0, -1, -1), strict=True))


@pytest.fixture
def plain() -> Made:
    return copy.deepcopy(PLAIN)


@pytest.fixture
def authors() -> Made:
    return as_the_authors_lay_out(PLAIN)


def eligible(data: Made) -> set[str]:
    """The users that the authors' rules let in, from the tables alone."""
    pilot = {row["id"] for row in data.tables["prior_users"]}
    return {
        row["id"]
        for row in data.tables["users"]
        if row["id"] not in pilot
        and row["subversion"] in {"qa_text_only", "qa_text_citations"}
        and not row["email"].lower().endswith(("eval.test", "example.com", "openevidence.com"))
    }


def win_differences(data: Made) -> dict[str, float]:
    """Wins minus losses by system, accuracy, text arm, own questions, ten seconds or more: every
    rival counts alike."""
    users, slots = eligible(data), {row["id"]: row for row in data.tables["qa_assignments"]}
    arm = {row["id"]: row["subversion"] for row in data.tables["users"]}
    bench = {
        row["id"]
        for row in data.tables["qa_questions"]
        if row["external_key"].startswith("healthbench-")
    }
    outcomes: dict[tuple[str, str], list[int]] = {}
    for row in data.tables["ratings"]:
        task = slots[row["qa_assignment_id"]]
        seconds = row["submission_time_seconds"]
        if (
            row["axis"] != "accuracy"
            or task["user_id"] not in users
            or arm[task["user_id"]] != "qa_text_only"
        ):
            continue
        if task["question_id"] in bench or seconds == "" or seconds < 10:
            continue
        a, b = task["slot_a_provider"], task["slot_b_provider"]
        outcomes.setdefault((a, b), []).append(STEPS[row["choice"]])
        outcomes.setdefault((b, a), []).append(-STEPS[row["choice"]])
    systems = {a for a, _ in outcomes}
    return {
        s: float(np.mean([np.mean(v) for (a, _), v in outcomes.items() if a == s])) for s in systems
    }


def analysed(folder: Path, data: Made, refused: str = "") -> list[dict[str, str]]:
    """The estimates of the protocol on these tables; `refused` is in the sentence that the analyses
    end with."""
    CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "real-pocqi"], catch_exceptions=False
    )
    read_inner_tables(folder)
    write(data, folder / "tables")
    text = (folder / "study.toml").read_text("utf-8").replace("blinded = true", "blinded = false")
    (folder / "study.toml").write_text(text + "\n[resampling]\ndraws = 100\n", "utf-8")
    assert CliRunner().invoke(group, ["import", str(folder)], catch_exceptions=False).exit_code == 0
    if refused:
        with pytest.raises(AnalysisError, match=refused):
            CliRunner().invoke(
                group, ["analyse", str(folder)], catch_exceptions=False, standalone_mode=False
            )
    else:
        CliRunner().invoke(
            group, ["analyse", str(folder)], catch_exceptions=False, standalone_mode=False
        )
    with (folder / "estimates.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_authors_layout_gives_the_authors_numbers(tmp_path: Path, authors: Made) -> None:
    rows = analysed(tmp_path / "study", authors)
    primary = {
        row["group.system"]: float(row["value"])
        for row in rows
        if row["analysis"] == "win difference, accuracy" and row["kind"] == "estimate"
    }
    assert primary == pytest.approx(win_differences(authors), abs=1e-11)


def test_what_the_authors_leave_out_is_left_out_and_counted(tmp_path: Path, authors: Made) -> None:
    authors.tables["ratings"][7]["qa_assignment_id"] = ""
    authors.tables["ratings"][8]["qa_assignment_id"] = "x-nowhere"
    authors.tables["qa_assignments"][5]["user_id"] = ""
    authors.tables["qa_assignments"][6]["user_id"] = "u-nowhere"
    write(authors, tmp_path)
    records = read_real_pocqi(tmp_path, SOURCE, "comparison")
    users = eligible(authors)
    assert {r.id for r in records.raters if r.kind == "human"} == users
    entering = [row for row in authors.tables["qa_assignments"] if row["user_id"] in users]
    assert sum(t.phase == "" for t in records.tasks) == len(entering)
    counted: dict[str, Any] = records.counts["tables"]  # type: ignore[assignment]
    assert counted["users"]["left out"] == {
        "user in an arm outside the experiment": 1,
        "user with a test address": 1,
        "user of the pilot (prior_users)": 1,
    }
    by_user = Counter(row["user_id"] for row in authors.tables["qa_assignments"])
    out = [row["id"] for row in authors.tables["users"][:3]]
    assert counted["comparisons"]["left out"] == {
        "user in an arm outside the experiment": by_user[out[0]],
        "user with a test address": by_user[out[1]],
        "user of the pilot (prior_users)": by_user[out[2]],
        "no user": 1,
        "user in no table of users": 1,
    }
    for part in ("users", "comparisons", "ratings of users", "verdicts of judges"):
        tally = counted[part]
        assert tally["read"] == tally["kept"] + sum(tally["left out"].values()), part
    assert counted["ratings of users"]["left out"]["of no assignment"] == 1
    assert counted["ratings of users"]["left out"]["of an assignment in no table"] == 1


def test_origin_theme_and_account_status_come_from_where_the_authors_keep_them(
    tmp_path: Path, authors: Made
) -> None:
    write(authors, tmp_path)
    records = read_real_pocqi(tmp_path, SOURCE, "comparison")
    sources = {row["id"]: row["source"] for row in PLAIN.tables["qa_questions"]}
    assert {i.id: i.strata["source"] for i in records.items} == sources
    themes = {
        row["id"]: row["primary_question_type"] or "untagged"
        for row in authors.tables["tagged_questions"]
    }
    assert {i.id: i.strata["theme"] for i in records.items} == themes
    exposure = {row["id"]: row["exposure"] for row in PLAIN.tables["users"]}
    people = [r for r in records.raters if r.kind == "human"]
    assert {r.id: r.strata["exposure"] for r in people} == {r.id: exposure[r.id] for r in people}
    # Addresses join two tables and are stored nowhere.
    assert "@" not in json.dumps([[*r.strata.values()] for r in records.raters])


def test_lengths_may_be_absent_or_decimal(tmp_path: Path, authors: Made) -> None:
    for row in authors.tables["answer_lengths"]:
        row["answer_len"] = f"{row['answer_len']}.0"
    first = authors.tables["answer_lengths"][0]["answer_id"]
    authors.tables["answer_lengths"][0]["answer_len"] = ""
    write(authors, tmp_path)
    lengths = read_real_pocqi(tmp_path, SOURCE, "comparison").lengths
    expected = {row["answer_id"]: row["answer_len"] for row in PLAIN.tables["answer_lengths"]}
    assert lengths == {answer: n for answer, n in expected.items() if answer != first}


def test_a_verdict_counts_only_where_variant_and_subversion_are_of_the_text_arm(
    tmp_path: Path, plain: Made
) -> None:
    plain.tables["machineRatings"][0]["subversion"] = "qa_text_citations"
    plain.tables["machineRatings"][1] |= {"choices": None, "error": "timeout"}
    write(plain, tmp_path)
    records = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert records.counts["dropped"] == {"of another arm than the assignment's": 5}


def same(first: Pocqi, second: Pocqi) -> bool:
    return (first.ratings, first.tasks, first.raters) == (
        second.ratings,
        second.tasks,
        second.raters,
    )


def camel(data: Made) -> None:
    of = data.tables
    of["qa_questions"] = [
        {"questionId": r.pop("id"), "text": r.pop("question"), **r} for r in of["qa_questions"]
    ]
    of["qa_assignments"] = [
        {
            "id": r["id"],
            "userId": r["user_id"],
            "questionId": r["question_id"],
            "providerA": r["slot_a_provider"],
            "providerB": r["slot_b_provider"],
            "completed_at": r["completed_at"],
        }
        for r in of["qa_assignments"]
    ]
    of["ratings"] = [
        {
            "assignmentId": r["qa_assignment_id"],
            "axis": r["axis"],
            "choice": r["choice"],
            "seconds": r["submission_time_seconds"],
        }
        for r in of["ratings"]
    ]


def numbered(data: Made) -> None:
    for row in data.tables["ratings"]:
        row["choice"] = str(1 + CHOICES.index(row["choice"]))


def odd(data: Made) -> None:
    for row in data.tables["qa_assignments"]:
        row["left"], row["right"] = row.pop("slot_a_provider"), row.pop("slot_b_provider")
    for row in data.tables["ratings"]:
        row["id"] = row.pop("qa_assignment_id")


@pytest.mark.parametrize(
    ("change", "source"),
    [
        (camel, SOURCE),
        (
            numbered,
            Source("tables", "real-pocqi", labels={str(n + 1): c for n, c in enumerate(CHOICES)}),
        ),
        (
            odd,
            Source(
                "tables",
                "real-pocqi",
                columns={
                    "slot_a_provider": ("left",),
                    "slot_b_provider": ("right",),
                    "ratings.qa_assignment_id": ("id",),
                },
            ),
        ),
    ],
)
def test_other_names_give_the_same_records(
    tmp_path: Path, plain: Made, change: Callable[[Made], None], source: Source
) -> None:
    from dataclasses import replace

    from konsil.api.folder.pocqi import translated

    named = dict(zip(CHOICES, "abcde", strict=True))
    write(plain, tmp_path / "plain")
    expected = read_real_pocqi(tmp_path / "plain", replace(SOURCE, labels=named), "comparison")
    change(plain)
    write(plain, tmp_path / "other")
    labels = translated(source.labels, tuple(named.values()))
    records = read_real_pocqi(tmp_path / "other", replace(source, labels=labels), "comparison")
    assert same(records, expected)


def test_the_blinded_tables_are_read_where_the_others_are_absent(
    tmp_path: Path, plain: Made
) -> None:
    letter = dict(
        zip(sorted({r["provider_key"] for r in plain.tables["qa_answers"]}), "ABCD", strict=True)
    )
    lengths = {r["answer_id"]: r["answer_len"] for r in plain.tables["answer_lengths"]}
    of = plain.tables
    blinded = Made(
        {
            "blinded_qa_assignments": [
                {
                    "id": r["id"],
                    "user_id": r["user_id"],
                    "question_id": r["question_id"],
                    "slot_a_vendor": letter[r["slot_a_provider"]],
                    "slot_b_vendor": letter[r["slot_b_provider"]],
                }
                for r in of["qa_assignments"]
            ],
            "blinded_qa_answers": [
                {
                    "question_id": r["question_id"],
                    "answer_id": r["id"],
                    "vendor": letter[r["provider_key"]],
                    "answer_len": lengths[r["id"]],
                }
                for r in of["qa_answers"]
            ],
            "blinded_qa_questions": of["qa_questions"],
            "blinded_ratings": of["ratings"],
            "blinded_users": of["users"],
        }
    )
    write(blinded, tmp_path)
    records = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert {a.system for a in records.answers} == set("ABCD")
    assert records.lengths == lengths
    # With both, the plain ones are read, and the letters are not mixed with the names.
    write(plain, tmp_path)
    assert {a.system for a in read_real_pocqi(tmp_path, SOURCE, "comparison").answers} == set(
        letter
    )


def test_without_a_table_of_answers_the_slots_imply_them(tmp_path: Path, plain: Made) -> None:
    for name in ("qa_answers", "answer_lengths"):
        plain.tables.pop(name)
    write(plain, tmp_path)
    records = read_real_pocqi(tmp_path, SOURCE, "comparison")
    assert {(a.item, a.system) for a in records.answers} == {
        (r["question_id"], r[s])
        for r in plain.tables["qa_assignments"]
        for s in ("slot_a_provider", "slot_b_provider")
    }
    assert (
        "there is no table qa_answers, so every system of a slot is assumed to have answered"
        in records.notes
    )


def flat(data: Made) -> Made:
    """One row a comparison and axis, with columns named otherwise."""
    slots = {r["id"]: r for r in data.tables["qa_assignments"]}
    users = {r["id"]: r for r in data.tables["users"]}
    questions = {r["id"]: r for r in data.tables["qa_questions"]}
    rows = []
    for r in data.tables["ratings"]:
        slot = slots[r["qa_assignment_id"]]
        user, question = users[slot["user_id"]], questions[slot["question_id"]]
        rows.append(
            {
                "Physician": slot["user_id"],
                "Question ID": slot["question_id"],
                "prompt": question["question"],
                "specialty": question["specialty"],
                "source": question["source"],
                "theme": question["theme"],
                "model_left": slot["slot_a_provider"],
                "model_right": slot["slot_b_provider"],
                "Arm": user["subversion"],
                "exposure": user["exposure"],
                "dimension": r["axis"],
                "verdict": r["choice"],
                "Seconds": r["submission_time_seconds"],
            }
        )
    return Made({"flat": rows})


FLAT = Source(
    "flat.csv",
    "real-pocqi",
    columns={
        "slot_a_provider": ("model_left",),
        "slot_b_provider": ("model_right",),
        "choice": ("verdict",),
        "text": ("prompt",),
    },
)


def test_one_flat_table_has_the_same_ratings(tmp_path: Path, plain: Made) -> None:
    plain.tables.pop("machineRatings")
    write(plain, tmp_path)
    write(flat(plain), tmp_path)
    expected = read_real_pocqi(tmp_path, SOURCE, "comparison")
    records = read_real_pocqi(tmp_path / "flat.csv", FLAT, "comparison")
    assert {
        (i.id, i.text, i.strata["source"], i.strata["theme"], i.strata["specialty"])
        for i in records.items
    } == {
        (i.id, i.text, i.strata["source"], i.strata["theme"], i.strata["specialty"])
        for i in expected.items
        if i.id in {t.item for t in expected.tasks}
    }
    assert {(r.id, r.strata["exposure"]) for r in records.raters} == {
        (r.id, r.strata["exposure"]) for r in expected.raters
    }
    arm = {t.id: t.arm for t in expected.tasks}
    system = {a.id: a.system for layout in (expected, records) for a in layout.answers}

    def votes(layout: Pocqi, arms: dict[str, str]) -> Counter[tuple[Any, ...]]:
        return Counter(
            (
                r.rater,
                r.item,
                tuple(system[a] for a in r.answers),
                r.criterion,
                r.label,
                r.seconds,
                arms[r.task],
            )
            for r in layout.ratings
        )

    assert votes(records, {t.id: t.arm for t in records.tasks}) == votes(expected, arm)


@pytest.mark.parametrize(
    ("change", "source", "sentence"),
    [
        (
            {},
            Source("flat.csv", "real-pocqi"),
            "no column is the slot_a_provider; write columns = { slot_a_provider =",
        ),
        (
            {},
            Source("flat.csv", "real-pocqi", columns={"slot_a_provider": ("model_lft",)}),
            "did you mean 'model_left'?",
        ),
        (
            {"Arm": "qa_text_citations"},
            FLAT,
            "in the arms 'qa_text_citations' and 'qa_text_only'; expected one arm",
        ),
        ({"verdict": "5"}, FLAT, "'5' is not a choice; known: slightly_a,"),
    ],
)
def test_a_flat_table_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, plain: Made, change: dict[str, Any], source: Source, sentence: str
) -> None:
    data = flat(plain)
    data.tables["flat"][0] |= {k: v for k, v in change.items() if v is not None}
    write(data, tmp_path)
    with pytest.raises(SourceError) as caught:
        read_real_pocqi(tmp_path / "flat.csv", source, "comparison")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_rater_that_no_column_tells_is_left_out_unless_the_source_says_otherwise(
    tmp_path: Path, plain: Made
) -> None:
    from dataclasses import replace

    data = flat(plain)
    data.tables["flat"] = [r for r in data.tables["flat"] if r["dimension"] == "accuracy"]
    for row in data.tables["flat"][::7]:
        row["Physician"] = ""
    write(data, tmp_path)
    lost = len(data.tables["flat"][::7])
    without = read_real_pocqi(tmp_path / "flat.csv", FLAT, "comparison")
    assert without.counts["tables"]["comparisons"]["left out"] == {"no user": lost}  # type: ignore[index]
    data.tables["flat"] = [r | {"Arm": "qa_text_only"} for r in data.tables["flat"]]
    write(data, tmp_path)
    fixed = replace(FLAT, fixed={"user_id": "rater-unknown"})
    records = read_real_pocqi(tmp_path / "flat.csv", fixed, "comparison")
    assert sum(r.rater == "rater-unknown" for r in records.ratings) == lost


def test_an_axis_may_be_left_out_by_name(tmp_path: Path, plain: Made) -> None:
    from dataclasses import replace

    n = sum(r["axis"] == "verifiability" for r in plain.tables["ratings"])
    m = len(plain.tables["machineRatings"])
    write(plain, tmp_path)
    records = read_real_pocqi(
        tmp_path, replace(SOURCE, criteria={"verifiability": ""}), "comparison"
    )
    assert records.counts["dropped"] == {"on an axis that criteria leaves out": n + m}
    assert "verifiability" not in {r.criterion for r in records.ratings}


@pytest.mark.slow
def test_an_analysis_on_a_column_that_no_table_has_is_refused_and_says_so(
    tmp_path: Path, plain: Made
) -> None:
    for row in plain.tables["qa_questions"]:
        row.pop("source")
    rows = analysed(
        tmp_path / "study",
        plain,
        r"\d+ analyses have no result .*ratings have no column 'source'",
    )
    [row] = [r for r in rows if r["analysis"] == "win difference, accuracy"]
    assert row["value"] == ""
    assert "ratings have no column 'source'" in row["reason"]


def test_nothing_that_enters_is_an_error(tmp_path: Path, authors: Made) -> None:
    authors.tables["prior_users"] = [{"id": row["id"]} for row in authors.tables["users"]]
    write(authors, tmp_path)
    with pytest.raises(SourceError, match="no comparison is included: user of the pilot"):
        read_real_pocqi(tmp_path, SOURCE, "comparison")
