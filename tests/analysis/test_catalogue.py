"""The catalogue of statistics: what each takes is all that it takes, and another package can add
one."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from konsil.analysis import Analysis, contradictions, known_statistics
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.entry import OPTIONAL
from konsil.analysis.model.catalogue.keys import misplaced_keys
from konsil.analysis.model.catalogue.known import CATALOGUE, statistic_of
from konsil.analysis.running.families import FAMILIES
from konsil.errors import AnalysisError
from konsil.report.material.glossary import entry
from konsil.report.material.language import language

from .test_run import EXPERTS, ask, one, results, rows, used

OTHER: dict[str, Any] = {
    "weights": "linear",
    "of": ("yes",),
    "pass_line": 0.5,
    "tiebreak": "chiefs",
    "covariate": "difficulty",
    "coverage": 0.2,
    "ensemble_units": "members",
    "criteria": ("grade",),
    "levels": ("0", "1"),
    "correct": 0.6,
    "failure": 0.1,
    "failure_by": "mean",
    "approve": 0.4,
    "denominator": "recovered",
    "clock": "open",
    "target": 0.7,
    "minutes": (2.0,),
    "display": "complete",
}
"""Another value than the default of each key that only some statistics take."""


def test_each_statistic_has_a_family_that_makes_its_rows() -> None:
    assert {statistic.family for statistic in CATALOGUE.values()} == set(FAMILIES)
    for name, statistic in CATALOGUE.items():
        assert statistic.id == name
        assert statistic.title and statistic.text and statistic.definition and statistic.group
        assert statistic.range[0] < statistic.range[1]


def test_the_keys_that_some_statistics_take_are_those_of_an_analysis() -> None:
    assert set(OPTIONAL) == set(OTHER) <= {field.name for field in fields(Analysis)}
    assert {key for statistic in CATALOGUE.values() for key in statistic.keys} == set(OPTIONAL)


@pytest.mark.parametrize("key", OPTIONAL)
def test_a_key_is_refused_by_every_statistic_that_does_not_take_it(key: str) -> None:
    for name, statistic in CATALOGUE.items():
        stated = Analysis("a", name, "correct", "experts", **{key: OTHER[key]})
        refused = [
            problem
            for problem in contradictions(stated)
            if problem.startswith(f"{key}: belongs to ")
        ]
        assert len(refused) == (key not in statistic.keys), (key, name)
        assert all(problem.endswith(f", not to {name!r}") for problem in refused)


def test_owners_are_named_as_far_as_they_are_few() -> None:
    stated = Analysis(
        "a", "mean", "correct", "experts", minutes=(1.0,), failure=0.1, criteria=("grade",)
    )
    minutes, failure, criteria = sorted(
        misplaced_keys(stated), key=lambda problem: "mfc".index(problem[0])
    )
    assert minutes == "minutes: belongs to the statistic 'budget_reliability', not to 'mean'"
    assert (
        failure == "failure: belongs to the statistics 'approval' and 'strictness', not to 'mean'"
    )
    assert criteria.startswith("criteria: belongs to statistics such as 'win_difference', ")


def test_a_failure_of_strictness_lies_below_what_is_right() -> None:
    audit = Analysis("a", "strictness", "correct", "judges", against="experts", failure=0.8)
    assert "failure: 0.8 is not below correct = 0.75" in list(contradictions(audit))
    assert not [p for p in contradictions(replace(audit, correct=0.9)) if p.startswith("failure")]
    # What judges approve of knows no successes.
    assert not [
        p for p in contradictions(replace(audit, statistic="approval")) if p.startswith("failure")
    ]


def test_nothing_is_told_of_a_statistic_that_there_is_not() -> None:
    assert not list(
        contradictions(
            Analysis("a", "meen", "correct", "experts", of=("yes",), consensus="majority")
        )
    )


MODULE = '''
import numpy as np
from konsil.analysis.model.catalogue.additions import Addition
from konsil.analysis.model.catalogue.entry import SHARE, Statistic
from konsil.stats.engine.contract import Codes, Statistic as Formula


def first_label(codes: Codes) -> Formula:
    """The share of labels that are the first of the scale."""

    def tally(codes: Codes):
        sums = np.zeros((codes.n_clusters, 2))
        counts = np.stack([(codes.labels == 0).sum(axis=1), (codes.labels >= 0).sum(axis=1)], axis=1)
        np.add.at(sums, codes.clusters, counts)
        return sums

    def finalise(totals):
        hits, given = totals[..., :1], totals[..., 1:]
        return np.divide(hits, given, out=np.full(hits.shape, np.nan), where=given > 0)

    return Formula("first_label", tally, finalise, "convention")


FIRST_LABEL = Addition(
    Statistic(
        id="first_label",
        family="shares",
        title="First label",
        text="The share of labels that are the first of the scale.",
        definition="the share of labels that are the first of the scale",
        undefined="there are no labels",
        range=SHARE,
    ),
    first_label,
    {"de": ("Erstes Label", "Der Anteil der Labels, die das erste der Skala sind.")},
)
NO_ADDITION = 3
OTHER_FAMILY = Addition(Statistic("other_family", "pairs", "t", "t", "d", "u"), first_label)
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package that is installed beside konsil, with the entry points that it is given."""

    def install(**points: str) -> Path:
        (tmp_path / "konsil_extra.py").write_text(MODULE, "utf-8")
        about = tmp_path / "konsil_extra-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: konsil-extra\nVersion: 1.0\n", "utf-8"
        )
        lines = [f"{name} = konsil_extra:{target}" for name, target in points.items()]
        (about / "entry_points.txt").write_text(
            "\n".join(["[konsil.statistics]", *lines, ""]), "utf-8"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        additions.cache_clear()
        return tmp_path

    yield install
    additions.cache_clear()
    sys.modules.pop("konsil_extra", None)


def test_another_package_adds_a_statistic(package: Any) -> None:
    package(first_label="FIRST_LABEL")
    assert known_statistics()[-1] == "first_label" and "first_label" not in CATALOGUE
    given = used("correct", EXPERTS)
    assert one(ask("first_label")) == pytest.approx(
        sum(r.label == "no" for r in given) / len(given), abs=1e-12
    )
    assert one(ask("first_label")) == pytest.approx(one(ask("share", of=("no",))), abs=1e-12)
    [row] = rows(ask("first_label"))
    assert 0 <= row.estimate.low < row.estimate.value < row.estimate.high <= 1
    by_system = results(ask("first_label", by=("system",), compare="system")).rows
    differences = [r.estimate for r in by_system if r.kind == "difference"]
    assert differences and all(math.isfinite(e.p) for e in differences)
    # Its words are in the report, in the study's language.
    assert entry("first_label").title == "First label"
    assert entry("first_label", language("de")).title == "Erstes Label"
    assert statistic_of("first_label").family == "shares"
    assert list(contradictions(replace(ask("first_label"), of=("no",)))) == [
        "of: belongs to the statistic 'share', not to 'first_label'"
    ]


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        (
            {"first_label": "ABSENT"},
            "konsil-extra: the statistic 'first_label' cannot be loaded: AttributeError",
        ),
        (
            {"first_label": "NO_ADDITION"},
            "konsil-extra: the statistic 'first_label' is no Addition but int",
        ),
        (
            {"share": "FIRST_LABEL"},
            "konsil-extra: the statistic 'share' has another name in its entry, 'first_label'",
        ),
        (
            {"other_family": "OTHER_FAMILY"},
            "is of the family 'pairs'; expected 'agreement' or 'shares'",
        ),
    ],
)
def test_what_cannot_be_added_is_one_sentence(
    package: Any, points: dict[str, str], problem: str
) -> None:
    package(**points)
    with pytest.raises(AnalysisError, match="konsil-extra") as error:
        known_statistics()
    assert problem in str(error.value)
