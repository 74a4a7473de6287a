"""Made-up tables in the schema of Real-POCQi's public ones, at the paper's size unless asked
otherwise.

What is in them is drawn from worths of the systems; nothing of the paper's own data is here.
`tables` gives them as lists of rows, `write` as files."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SYSTEMS = ("northwind-9", "clinicdesk", "southpaw-3", "eastern-5")
"""The systems in the files' order; the second is the one that is drawn more often."""
WORTHS = np.array([-0.25, 0.3, 0.05, 0.0])
JUDGES = ("northwind-9", "southpaw-3", "eastern-5")
AXES = ("accuracy", "clinical_utility", "authoritativeness", "verifiability", "completeness")
CHOICES = ("strongly_a", "slightly_a", "tie", "slightly_b", "strongly_b")
THEMES = ("treatment", "work-up", "prognosis")

Row = dict[str, Any]


@dataclass
class Made:
    """The tables, and what they were made from."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    """File's name without its ending -> rows."""


def tables(
    seed: int = 1,
    *,
    questions: int = 620,
    comparisons: int = 1156,
    raters: int = 149,
    specialties: int = 30,
    healthbench: int = 0,
    fast: int = 18,
    judged: bool = True,
) -> Made:
    """Draw all tables; `fast` comparisons took under ten seconds, and every hundredth has no
    time."""
    rng = np.random.default_rng(seed)
    names = [f"specialty {n + 1:02d}" for n in range(specialties)]
    of_question = rng.permutation(np.arange(questions) % specialties)
    of_rater = np.arange(raters) % specialties
    question_ids = [f"q-{rng.integers(1 << 40):010x}" for _ in range(questions)]
    user_ids = [f"u-{rng.integers(1 << 40):010x}" for _ in range(raters)]
    lengths = rng.normal([1500, 2400, 2300, 2450], 350, (questions, 4)).clip(200).astype(int)
    answer_ids = [[f"a-{rng.integers(1 << 40):010x}" for _ in SYSTEMS] for _ in range(questions)]
    made = Made()
    made.tables["qa_questions"] = [
        {
            "id": q,
            "specialty": names[of_question[n]],
            "question": f"Question number {n}?",
            "source": "healthbench" if n < healthbench else "real-pocqi",
            "theme": THEMES[n % 3],
            "patient_context": "yes" if n % 2 else "no",
        }
        for n, q in enumerate(question_ids)
    ]
    made.tables["users"] = [
        {
            "id": u,
            "subversion": "qa_text_citations" if n % 3 == 2 else "qa_text_only",
            "exposure": "user" if n % 2 else "non-user",
            "specialty": names[of_rater[n]],
        }
        for n, u in enumerate(user_ids)
    ]
    made.tables["qa_answers"] = [
        {"id": answer_ids[q][s], "question_id": question_ids[q], "provider_key": SYSTEMS[s]}
        for q in range(questions)
        for s in range(4)
    ]
    made.tables["answer_lengths"] = [
        {"answer_id": answer_ids[q][s], "answer_len": int(lengths[q, s])}
        for q in range(questions)
        for s in range(4)
    ]
    assignments: list[Row] = []
    ratings: list[Row] = []
    machine: list[Row] = []
    of_rater_effect = rng.normal(0, 0.3, raters)
    pools = [
        list(rng.permutation(np.flatnonzero(of_question == of_rater[u]))) for u in range(raters)
    ]
    for n in range(comparisons):
        user = n % raters
        question = int(pools[user].pop())
        a, b = (int(s) for s in rng.choice(4, 2, replace=False, p=[2 / 9, 1 / 3, 2 / 9, 2 / 9]))
        name = f"x-{n:05d}"
        assignments.append(
            {
                "id": name,
                "user_id": user_ids[user],
                "question_id": question_ids[question],
                "slot_a_provider": SYSTEMS[a],
                "slot_b_provider": SYSTEMS[b],
                "completed_at": f"2026-06-{16 + n % 5}T1{n % 10}:00:00Z",
            }
        )
        seconds = round(float(rng.lognormal(4.8, 0.5)) + 11, 1) if n >= fast else 4.5
        longer = np.sign(lengths[question, a] - lengths[question, b])
        lean = WORTHS[a] - WORTHS[b] + 0.2 * longer + of_rater_effect[user]
        for axis in AXES:
            ratings.append(
                {
                    "qa_assignment_id": name,
                    "axis": axis,
                    "choice": _choice(lean + rng.normal(0, 0.8)),
                    "submission_time_seconds": "" if n % 100 == 99 else seconds,
                }
            )
        if judged and user % 3 != 2:
            for judge in JUDGES:
                own = 0.5 * ((judge == SYSTEMS[a]) - (judge == SYSTEMS[b]))
                machine.append(
                    {
                        "assignmentId": name,
                        "grader": judge,
                        "variant": "text_only",
                        "subversion": "qa_text_only",
                        "choices": {
                            x: _choice(1.4 * (lean + own) + rng.normal(0, 0.5)) for x in AXES
                        },
                    }
                )
    made.tables["qa_assignments"] = assignments
    made.tables["ratings"] = ratings
    if judged:
        made.tables["machineRatings"] = machine
    return made


def _choice(lean: float) -> str:
    return CHOICES[int(np.searchsorted([-1.2, -0.35, 0.35, 1.2], -lean))]


def write(made: Made, folder: Path, ending: str = "csv") -> Path:
    """Write the tables into a folder, machineRatings as JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in made.tables.items():
        if name == "machineRatings":
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif ending == "parquet":
            import polars as pl

            pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(
                folder / f"{name}.parquet"
            )
        else:
            with (folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
    return folder


def as_the_authors_lay_out(data: Made) -> Made:
    """The same tables as the authors' analysis code reads them.

    Questions have an external key in place of source and theme; account status is in a table of
    registrations, by address. The first user is in an arm outside the experiment, the second has a
    test address, the third was in the pilot."""
    other = Made({name: [dict(row) for row in rows] for name, rows in data.tables.items()})
    of = other.tables
    for n, row in enumerate(of["qa_questions"]):
        row["external_key"] = (
            f"healthbench-{n}" if row.pop("source") == "healthbench" else f"oe-{n}"
        )
        row["question_text"] = row.pop("question")
    of["tagged_questions"] = [
        {
            "id": row["id"],
            "primary_question_type": row.pop("theme") if n % 5 else row.pop("theme") * 0,
        }
        for n, row in enumerate(of["qa_questions"])
    ]
    of["recruitment_combined"] = []
    for n, row in enumerate(of["users"]):
        row["email"] = "Tester@Example.com" if n == 1 else f"dr{n}@hospital.org"
        status = "On OE" if row.pop("exposure") == "user" else "Off OE"
        of["recruitment_combined"].append({"Email": f"DR{n}@hospital.org", "OE Status": status})
    of["users"][0]["subversion"] = "qa_full_render"
    of["prior_users"] = [{"id": of["users"][2]["id"]}]
    return other


def read_inner_tables(folder: Path) -> None:
    """Let a study made from the protocol read these tables, from its folder `tables`.

    They have raters, times and judges, which the released tables lack."""
    file = folder / "study.toml"
    text = file.read_text("utf-8")
    begin, end = text.index("[[sources]]"), re.search(r"\n# (WHICH questions|WELCHE Fragen)", text)
    assert end is not None
    inner = '[[sources]]\nfile = "tables"\nrecords = "real-pocqi"\n'
    text = text[:begin] + inner + text[end.start() :]
    file.write_text(text.replace("#require_seconds", "require_seconds"), "utf-8")
