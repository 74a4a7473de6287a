"""The protocols' questions: each states its kind, and its analysis has estimates of that kind."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.running.question_kinds import is_of_estimates, kinds_answered, question_kind
from konsil.study import Study, parse
from konsil.study.rules.design_rules import design_problems
from small_protocols import SMALL

if TYPE_CHECKING:
    from reported_studies import ReportedStudy

PROTOCOLS = Path(str(files("konsil.protocols")))
FILES = sorted(p for p in PROTOCOLS.glob("*/study*.toml") if p.parent.name in SMALL)
UNKNOWN = "the lengths of the answers are not known"
"""The reason of the protocol whose answers are placeholders in a simulation."""


def read(file: Path) -> Study:
    return parse(file.read_text("utf-8"), lambda name: (file.parent / name).read_text("utf-8"))


def asked(study: Study) -> list[Analysis]:
    return [a for a in study.analyses if a.question]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_every_question_states_a_kind_that_its_analysis_answers(file: Path) -> None:
    study = read(file)
    assert len(asked(study)) >= 5
    for analysis in asked(study):
        assert analysis.question_kind in kinds_answered(analysis), analysis.name
        # What is compared between conditions is what changes, and no level or other difference.
        if analysis.compare == "arm":
            assert question_kind(analysis) == "change"
    assert [*design_problems(study)] == []


def test_a_question_on_a_change_or_a_difference_is_about_a_difference() -> None:
    """Of win differences by arm, length or user alone no sentence could state the change."""
    for name in ("accuracy", "completeness"):
        study = read(PROTOCOLS / "real-pocqi" / "study.toml")
        compared = {a.compare: a for a in asked(study) if a.criterion == name and a.compare}
        assert list(compared) == ["arm", "length", "exposure"]
        assert {a.test for a in compared.values()} == {"none"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_question_has_an_estimate_of_its_kind(
    reported: Callable[[str], ReportedStudy], name: str
) -> None:
    folder = reported(name).folder
    with (folder / "report" / "estimates.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for analysis in asked(read(folder / "study.toml")):
        own = [r for r in rows if r["analysis"] == analysis.name and r["kind"] != "companion"]
        compares = analysis.compare and not is_of_estimates(analysis)
        kind = "difference" if compares else "estimate"
        if statistic_of(analysis.statistic).id == "mann_whitney":
            kind = "difference"
        of_kind = [r for r in own if r["kind"] == kind]
        reasons = {r["reason"] for r in own}
        assert of_kind or reasons == {UNKNOWN}, analysis.name
        if not any(math.isfinite(float(r["value"] or "nan")) for r in of_kind):
            assert all(reasons), analysis.name
