"""The simulation of each protocol: every table has an estimate in every row, in the direction of
the paper, and without effects there is none to find."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.analysis import Results, Row
from konsil.analysis.model.terms import words_of
from konsil.api import open_folder
from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import now
from konsil.api.rehearsal.rehearsal import truth_of
from konsil.api.rehearsal.rehearsing import prepared_copy
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.prepare import in_study
from konsil.simulate import check_truth, people, without_effects
from konsil.store import Batch

ITEMS = {"medqade": 400, "clexeval": 42, "real-pocqi": 300, "cqa-eval": 106}
CRITERIA = ("accuracy", "clinical utility", "source quality", "verifiability", "completeness")


@dataclass(frozen=True)
class Drawn:
    """A simulated study of a protocol, with the analyses of its tables and figures."""

    folder: Folder
    results: Results

    def value(self, analysis: str, *group: str) -> float:
        """The estimate of an analysis in the group with these values."""
        [row] = [
            r
            for r in self.rows(analysis)
            if {words_of(value) for value in r.group.values()} >= {*group}
            and len(r.group) == len(group)
        ]
        return row.estimate.value

    def rows(self, analysis: str) -> list[Row]:
        return [r for r in self.results.rows if r.analysis == analysis and r.kind == "estimate"]


def drawn(tmp_path: Path, name: str, *, null: bool = False) -> Drawn:
    run = CliRunner().invoke(
        group, ["new", str(tmp_path / name), "--protocol", name, "--language", "en"]
    )
    assert run.exit_code == 0, run.output
    protocol = tmp_path / name / "study.toml"
    protocol.write_text(protocol.read_text("utf-8") + "\n[resampling]\ndraws = 100\n", "utf-8")
    folder = open_folder(tmp_path / name)
    truth = truth_of(folder)
    if null:
        truth = without_effects(truth)
    copy = prepared_copy(folder, truth, tmp_path / "copy", pretend=ITEMS[name])
    study = copy.study
    for _ in range(2):  # tie-breaks follow from the ratings
        make_plan(copy)
        with copy.store() as store:
            items = in_study(store.items(), store.events())
            item_ids = {i.id for i in items}
            answers = [a for a in store.answers() if a.item in item_ids]
            rated = {r.task for r in store.ratings()}
            tasks = [replace(t, rater=t.rater or t.slot) for t in store.tasks()]
            desk = people(study, items, answers, truth, study.seed)
            tasks.sort(key=lambda t: (t.rater, t.position, t.id))
            ratings = desk.rate([t for t in tasks if t.id not in rated])
            store.add(Batch(raters=study.everybody(), ratings=ratings), source="test", at=now())
    laid = {a for layout in (*study.tables, *study.figures) for a in layout.analyses}
    analyses = tuple(replace(a, leave_out=()) for a in study.analyses if a.name in laid)
    copy = replace(copy, study=replace(study, analyses=analyses))
    return Drawn(copy, copy.results())


def empty_rows(study: Drawn) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Rows of tables without any estimate."""
    for table in study.folder.study.tables:
        values: dict[tuple[str, ...], list[float]] = {}
        for analysis in table.analyses:
            for row in study.rows(analysis):
                cells = {**row.group, "analysis": analysis}
                key = tuple(words_of(cells.get(column, "")) for column in table.rows)
                values.setdefault(key, []).append(row.estimate.value)
        assert values or table.parts, table.id
        for key, estimates in values.items():
            if all(map(math.isnan, estimates)):
                yield table.id, dict(zip(table.rows, key, strict=True))


def medqade(s: Drawn) -> Iterator[bool]:
    caution = "abstention of raters by difficulty"
    yield s.value(caution, "easy") < s.value(caution, "hard")
    yield all(
        s.value("abstention of judges", f"judge-{n}") < s.value("abstention of raters") / 2
        for n in range(1, 10)
    )
    for system in ("system-1", "system-2", "system-3", "system-4", "system-5"):
        correct = "correct answers by lexical match"
        yield s.value(correct, "no", system) < s.value(correct, "yes", system)
        correct = "correct answers by difficulty"
        yield s.value(correct, "hard", system) < s.value(correct, "easy", system)
    drop = "relative difference by lexical match"
    yield s.value(drop, "no", "system-3") < s.value(drop, "no", "system-1")
    drop = "relative difference by model size"
    yield s.value(drop, "no", "small") < s.value(drop, "no", "frontier") < -0.2
    kappa = "each judge against the panel, kappa"
    yield s.value(kappa, "judge-3") < s.value(kappa, "judge-6")
    yield s.value("model-family preference by system", "judge-3", "system-2") > 0.05


def clexeval(s: Drawn) -> Iterator[bool]:
    accuracy = "diagnostic accuracy by information level"
    for system in ("system-1", "system-2"):
        yield s.value(accuracy, system, "3") < s.value(accuracy, system, "narrative") - 0.25
    yield s.value(accuracy, "system-1", "narrative") > s.value(accuracy, "system-2", "narrative")
    yield s.value(accuracy, "system-1", "2") < s.value(accuracy, "system-2", "2")
    mismatch = "diagnosis in the reasoning only"
    yield s.value(mismatch, "system-1") > s.value(mismatch, "system-2")
    approved = "approved failures"
    yield s.value(approved, "judge-1") < s.value(approved, "judge-4") < 1
    for criterion in ("differential reasoning", "communication", "overall score"):
        mean = f"mean {criterion}"
        yield s.value(mean, "system-1") > s.value(mean, "system-2") + 0.1


def real_pocqi(s: Drawn) -> Iterator[bool]:
    for criterion in CRITERIA:
        wins = f"win difference, {criterion}"
        yield s.value(wins, "system-1") > 0.05
        yield s.value(f"{wins}: with citations", "system-1") > 0
        yield s.value(f"{wins}: HealthBench", "system-1") > 0
        yield s.value(wins, "system-2") < -0.05
    yield s.value("win difference, accuracy: HealthBench", "system-1") < s.value(
        "win difference, accuracy", "system-1"
    )
    for system in ("system-1", "system-2", "system-3", "system-4"):
        by_length = "win difference, accuracy: longer and shorter answers"
        yield s.value(by_length, system, "longer") > s.value(by_length, system, "shorter")
    users = "win difference, accuracy: users and others"
    yield s.value(users, "system-1", "user") > s.value(users, "system-1", "non-user") > 0


def cqa_eval(s: Drawn) -> Iterator[bool]:
    agreement = "agreement: {}, three points"
    correct, relevant = agreement.format("correctness"), agreement.format("relevance")
    yield s.value(correct, "fine") > s.value(correct, "coarse") + 0.05
    yield s.value(relevant, "coarse") > s.value(relevant, "fine") + 0.05
    yield 1.5 < s.value("seconds", "fine") / s.value("seconds", "coarse") < 2.5
    yield s.value("ease", "fine") < s.value("ease", "coarse")
    yield s.value("frustration", "fine") < s.value("frustration", "coarse")
    part = "part–whole correlation: correctness"
    yield s.value(part, "1") < s.value(part, "3") < s.value(part, "6")


DIRECTIONS = {
    "medqade": medqade,
    "clexeval": clexeval,
    "real-pocqi": real_pocqi,
    "cqa-eval": cqa_eval,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DIRECTIONS))
def test_every_table_has_estimates_in_the_direction_of_the_paper(tmp_path: Path, name: str) -> None:
    study = drawn(tmp_path, name)
    assert not list(empty_rows(study))
    assert [n for n, holds in enumerate(DIRECTIONS[name](study)) if not holds] == []


@pytest.mark.slow
def test_without_effects_there_is_nothing_to_find(tmp_path: Path) -> None:
    study = drawn(tmp_path, "real-pocqi", null=True)
    for criterion in CRITERIA:
        for system in ("system-1", "system-2", "system-3", "system-4"):
            assert abs(study.value(f"win difference, {criterion}", system)) < 0.15
    directions = list(real_pocqi(study))
    assert sum(directions) < 0.75 * len(directions)


@pytest.mark.parametrize("name", sorted(DIRECTIONS))
def test_the_simulation_names_what_the_protocol_has(tmp_path: Path, name: str) -> None:
    for language in ("en", "de"):
        folder = tmp_path / language
        CliRunner().invoke(group, ["new", str(folder), "--protocol", name, "--language", language])
        opened = open_folder(folder)
        check_truth(truth_of(opened), opened.study)
