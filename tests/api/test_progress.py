"""Which steps of long work are reported, and how often a bar draws them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from konsil.api import progress as bars
from konsil.api.folder.folder import Folder
from konsil.api.rehearsal.rehearsal import simulate
from konsil.progress import count, listening
from konsil.simulate import Truth
from small_studies import form, import_items, plan, raters, share_correct, study_text, systems

PARTS = (form(), systems("s1", "s2"), raters("r1", "r2"), plan(), share_correct())
SOURCE = '[[sources]]\nfile = "items.csv"\nrecords = "items"\n[resampling]\ndraws = 100\n'


@contextmanager
def last_steps() -> Iterator[dict[str, tuple[int, int]]]:
    """Stage -> its last step, of what is done within."""
    steps: dict[str, tuple[int, int]] = {}

    def hear(stage: str, done: int, total: int) -> None:
        steps[stage] = done, total

    with listening(hear):
        yield steps


@pytest.fixture
def simulated(tmp_path: Path) -> tuple[Folder, dict[str, tuple[int, int]]]:
    folder = tmp_path / "study"
    folder.mkdir()
    text = study_text("Two systems", *PARTS, SOURCE, simulated=True, seed=1)
    rows = [("item", "text"), *((f"q{n}", f"What helps in case {n}?") for n in range(5))]
    study = import_items(folder, text, rows)
    with last_steps() as steps:
        simulate(study, Truth())
    return study, steps


def test_a_simulation_reports_the_tasks_rated_and_the_records_stored(
    simulated: tuple[Folder, dict[str, tuple[int, int]]],
) -> None:
    study, steps = simulated
    n_tasks, n_ratings = len(study.tasks()), len(study.data().ratings)
    assert n_tasks > 0
    assert steps["tasks rated"] == (n_tasks, n_tasks)
    assert steps["ratings stored"] == (n_ratings, n_ratings)
    assert steps["tasks stored"] == (n_tasks, n_tasks)


@pytest.mark.slow
def test_a_report_counts_its_figures_and_the_files_of_its_manuscript(
    simulated: tuple[Folder, dict[str, tuple[int, int]]], tmp_path: Path
) -> None:
    study, _ = simulated
    with last_steps() as steps:
        page = study.report(output=tmp_path / "report", to=("markdown", "latex"))
    assert steps["manuscript files"] == (2, 2)
    drawn, total = steps["figures"]
    assert drawn >= len(list((page.parent / "figures").glob("*.svg"))) > 0
    assert total == 0, "nobody knows before how many there are"


def test_a_count_begins_anew_with_every_listener() -> None:
    for _ in range(2):
        with last_steps() as steps:
            count("figures")
        count("figures")
        assert steps == {"figures": (1, 0)}


def test_a_stage_of_many_steps_is_drawn_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    class Rows:
        def start(self) -> None: ...

        def stop(self) -> None: ...

        def add_task(self, _stage: str, total: int | None) -> int:
            return total or 0

        def update(self, _row: int, *, completed: int, total: int | None) -> None:
            drawn.append(completed if total else -1)

    monkeypatch.setattr(bars, "_bar", Rows)
    monkeypatch.setattr(bars, "PAUSE", 1e9)
    bar = bars.Bar(patience=0.0)
    for step in range(1001):
        bar("tasks rated", step, 1000)
    bar.close()
    assert drawn == [0, 1000], "the first and the last step, however short the others are"
