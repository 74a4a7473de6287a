"""Pairs drawn for specialists: the weighted system, sides, specialties and arms of a Real-POCQi
plan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.plan import assign, balance
from konsil.plan.changes.pairing_design import meetings
from konsil.records import Answer, Item


@pytest.mark.slow
def test_a_plan_of_the_protocol(tmp_path: Path) -> None:
    CliRunner().invoke(
        group, ["new", str(tmp_path / "s"), "--protocol", "real-pocqi"], catch_exceptions=False
    )
    study = open_folder(tmp_path / "s").study
    specialties = sorted({p.strata["specialty"] for p in study.places})
    assert (len(specialties), sum(p.number for p in study.places)) == (30, 150)
    items = [Item(f"q{n:03}", "?", strata={"specialty": specialties[n % 30]}) for n in range(620)]
    answers = [Answer(f"{i.id}:{s.id}", i.id, s.id) for i in items for s in study.systems]
    tasks = assign(
        study.plan,
        items=items,
        answers=answers,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        places=study.places,
    )
    people = [t for t in tasks if t.phase == "main"]
    assert max(Counter(t.slot for t in people).values()) == 18
    arm_of = {t.slot: t.arm for t in people}
    assert Counter(arm_of.values()) == {"text": 100, "citations": 50}
    assert all(arm_of[t.slot] == t.arm for t in people)  # an arm stays
    specialty = {i.id: i.strata["specialty"] for i in items}
    of_slot = {
        t.slot: {specialty[str(u.item)] for u in people if u.slot == t.slot} for t in people[::97]
    }
    assert all(len(found) == 1 for found in of_slot.values())
    judged = [t for t in tasks if t.phase == "judging"]
    assert len(judged) == 3 * sum(t.arm == "text" for t in people)
    assert {t.arm for t in judged} == {"text"}
    found = balance(people, answers)
    n = len(people)
    [met] = meetings(people, answers, items).values()
    assert met.comparisons == n == 150 * 18
    shown = Counter(a.rsplit(":", 1)[1] for t in people for a in t.answers)
    # One third of the weight for the first draw: 1/3 + 3 * 2/9 * (1/3) / (7/9) = 0.619 of the pairs
    # have system-1.
    assert abs(shown["system-1"] / n - 13 / 21) < 0.03
    assert set(met.first) == {(a, b) for a in shown for b in shown if a < b}
    for first, second in found.positions.values():
        assert abs(first - second) < 4 * (first + second) ** 0.5
