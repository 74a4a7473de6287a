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
from tests.analyses import flat_analysis, restated

from konsil.analysis import Analysis, contradictions, known_statistics
from konsil.analysis.model.catalogue.additions import additions
from konsil.analysis.model.catalogue.entry import DISPLAY
from konsil.analysis.model.catalogue.known import CATALOGUE, statistic_of
from konsil.analysis.model.catalogue.limits import DEFAULTS, MODES, Limits, Refusal, Stated
from konsil.analysis.model.options import OPTIONS, CaseOptions, Options, ShareOptions, keys_of
from konsil.analysis.running.families import FAMILIES
from konsil.analysis.running.sensitivity import bounds
from konsil.errors import AnalysisError, StudyError
from konsil.instrument import digest_of, stated
from konsil.report.material.glossary import entry
from konsil.report.material.language import language
from konsil.study.sections.decode import decode

from .running.test_run import EXPERTS, FORM, ask, one, results, rows, used

OTHER: dict[str, Any] = {
    "weights": "linear",
    "of": ("yes",),
    "pass_line": 0.5,
    "tiebreak": "chiefs",
    "reference": {"specialty": "x"},
    "covariate": "difficulty",
    "coverage": 0.2,
    "ensemble_units": "members",
    "criteria": ("grade",),
    "penalty": 1.0,
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
    keys = {key for kind in OPTIONS.values() for key in keys_of(kind)}
    assert set(OTHER) == {*keys, DISPLAY}
    assert {key for statistic in CATALOGUE.values() for key in statistic.keys} == set(OTHER)
    for statistic in CATALOGUE.values():
        assert statistic.keys <= {*keys_of(OPTIONS[statistic.family]), DISPLAY}, statistic.id


def test_no_key_is_common_and_of_a_family() -> None:
    common = {field.name for field in fields(Analysis)}
    assert not [key for kind in OPTIONS.values() for key in keys_of(kind) if key in common]


def decoded(statistic: str, **settings: Any) -> Analysis:
    """What study.toml makes of an analysis."""
    lists = {k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()}
    common = {"name": "a", "statistic": statistic, "criterion": "correct", "raters": "experts"}
    return decode(Analysis, common | lists, "study.toml")


def test_the_defaults_of_settings_are_those_of_an_analysis() -> None:
    """Kills: a default that changes in one of the two places."""
    plain = Analysis("a", "share", "correct", "experts")
    assert {key: getattr(plain, key) for key in DEFAULTS} == dict(DEFAULTS)


STATED = {
    "against": "others",
    "arm": "x",
    "by": ("specialty",),
    "cluster": "case",
    "collapse": {"no": "yes"},
    "compare": "system",
    "consensus": "majority",
    "labels": ("no", "yes"),
    "spans": "all",
    "test": "none",
    "where": {"system": ("s",)},
}
"""A value of each setting that is not its default."""


def stated_problems(statistic: str, refusal: Refusal, value: object) -> set[str]:
    settings = {refusal.key: value}
    stated = Stated(statistic, refusal.modes[0], settings)
    return set(Limits((refusal,)).problems(stated))


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_refusal_refuses_and_names_the_statistic_or_the_value(name: str) -> None:
    """Kills: a refusal without effect, one of a default, a sentence with an unfilled place."""
    for refusal in CATALOGUE[name].limits.refusals:
        assert set(STATED) == set(DEFAULTS)
        assert refusal.key in DEFAULTS
        values = refusal.values or (STATED[refusal.key],)
        for value in values:
            shown = (value,) if refusal.key == "by" and isinstance(value, str) else value
            problems = stated_problems(name, refusal, shown)
            assert len(problems) == 1, (refusal, value)
            assert all("{" not in problem for problem in problems)
        assert not stated_problems(name, refusal, DEFAULTS[refusal.key])
        for value in refusal.allowed:
            assert not stated_problems(name, refusal, (value,))


def test_what_is_needed_is_missed_in_its_modes_only() -> None:
    """Kills: a need in every mode, a panel that 'rest' counts as, an empty option that passes."""
    needed = {name: entry.limits.needs for name, entry in CATALOGUE.items() if entry.limits.needs}
    assert {"share", "rank_agreement", "approval", "budget_reliability"} <= set(needed)
    for name, needs in needed.items():
        for need in needs:
            one = Limits((), (need,))
            filled = "experts" if need.key == "against" else ("x",)
            for mode in MODES:
                expected = mode in need.modes
                assert bool(list(one.problems(Stated(name, mode)))) == expected
                assert not list(one.problems(Stated(name, mode, {need.key: filled})))
            if need.key == "against":
                rest = Stated(name, need.modes[0], {"against": "rest"})
                assert list(one.problems(rest))


def test_an_analysis_has_the_problems_of_its_statistics_limits() -> None:
    """Kills: an analysis that does not hand its options or its mode to the limits."""
    refused = Analysis("a", "self_preference", "correct", "judges")
    assert "against: preference is adjusted" in " ".join(contradictions(refused))
    assert not list(contradictions(replace(refused, mode="paper")))
    spent = Analysis("a", "budget_reliability", "correct", "experts")
    assert [p.partition(":")[0] for p in contradictions(spent)] == ["minutes"]


def test_every_rule_of_bounds_is_one_that_there_is() -> None:
    """Kills: a rule that is renamed in one of the two places, so that bounds vanish."""
    used = {entry.bounds for entry in CATALOGUE.values()}
    assert used - {"", "audit", "none"} == set(bounds._RULES)


@pytest.mark.parametrize("key", OTHER)
def test_a_key_is_refused_by_every_statistic_that_does_not_take_it(key: str) -> None:
    for name, statistic in CATALOGUE.items():
        try:
            problems = list(contradictions(decoded(name, **{key: OTHER[key]})))
        except StudyError as error:
            # The family does not know it.
            assert key not in keys_of(OPTIONS[statistic.family])
            problems = [str(error).removeprefix("study.toml: ")]
        refused = [problem for problem in problems if problem.startswith(f"{key}: belongs to ")]
        assert len(refused) == (key not in statistic.keys), (key, name)
        assert all(problem.endswith(f", not to {name!r}") for problem in refused)


def test_a_key_of_another_family_is_refused_even_with_its_default() -> None:
    with pytest.raises(StudyError, match="denominator: belongs to the statistic"):
        decoded("share", of=("yes",), denominator="cases")


def test_flat_keys_become_the_options_of_the_family() -> None:
    assert decoded("stability", levels=("a", "b"), correct=1).options == CaseOptions(
        levels=("a", "b"), correct=1.0
    )
    assert decoded("mean").options == ShareOptions()
    assert decoded("rank_agreement", criteria="grade").criteria == ("grade",)
    assert decoded("mean").criteria == ()


def test_a_statistic_that_there_is_not_takes_the_keys_of_all() -> None:
    assert decoded("meen", of=("yes",), levels=("a", "b")).options == Options()
    with pytest.raises(StudyError, match=r"correct: expected a number, got 'x'"):
        decoded("meen", correct="x")
    with pytest.raises(StudyError, match=r"levles: unknown key; did you mean 'levels'\?"):
        decoded("meen", levles=("a", "b"))


@pytest.mark.parametrize("statistic", ["share", "stability", "meen"])
def test_a_misspelt_key_is_compared_with_those_of_all_families(statistic: str) -> None:
    with pytest.raises(StudyError, match=r"study.toml: covarate: unknown key; did you mean 'cova"):
        decoded(statistic, covarate="x")


def test_options_of_another_family_are_a_programming_error() -> None:
    with pytest.raises(TypeError, match="'mean' has CaseOptions, not ShareOptions"):
        Analysis("a", "mean", "correct", "experts", options=CaseOptions())
    with pytest.raises(TypeError, match="'mean' has ShareOptions, not CaseOptions"):
        Analysis("a", "mean", "correct", "experts").options_as(CaseOptions)


def test_digests_are_those_of_the_flat_keys() -> None:
    settings = {"levels": ("a", "b"), "correct": 0.5, "by": ("level",)}
    common = {"name": "a", "statistic": "stability", "criterion": "c", "raters": "experts"}
    analysis = flat_analysis(**common, **settings)  # type: ignore[arg-type]
    assert stated(analysis) == common | {
        k: v if k == "correct" else list(v) for k, v in settings.items()
    }
    assert digest_of(analysis) == digest_of(common | settings)


def test_owners_are_named_as_far_as_they_are_few() -> None:
    with pytest.raises(StudyError) as error:
        decoded("mean", minutes=(1.0,), failure=0.1, criteria=("grade",))
    minutes, failure, criteria = str(error.value).splitlines()
    assert minutes == (
        "study.toml: minutes: belongs to the statistic 'budget_reliability', not to 'mean'"
    )
    assert failure == (
        "study.toml: failure: belongs to the statistics 'approval' and 'strictness', not to 'mean'"
    )
    assert criteria.startswith(
        "study.toml: criteria: belongs to statistics such as 'win_difference', "
    )


def test_a_failure_of_strictness_lies_below_what_is_right() -> None:
    audit = flat_analysis("a", "strictness", "correct", "judges", against="experts", failure=0.8)
    assert "failure: 0.8 is not below correct = 0.75" in list(contradictions(audit))
    assert not [p for p in contradictions(restated(audit, correct=0.9)) if p.startswith("failure")]
    # What judges approve of knows no successes.
    assert not [
        p for p in contradictions(replace(audit, statistic="approval")) if p.startswith("failure")
    ]


def test_nothing_is_told_of_a_statistic_that_there_is_not() -> None:
    assert not list(
        contradictions(Analysis("a", "meen", "correct", "experts", consensus="majority"))
    )


MODULE = '''
from dataclasses import dataclass, replace

import numpy as np
from konsil.analysis.model.options import AgreementOptions, ShareOptions
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


@dataclass(frozen=True, slots=True)
class PlaceOptions(ShareOptions):
    place: int = 0
    """Which label of the scale is counted."""


def label_at(codes: Codes, options: PlaceOptions) -> Formula:
    moved = np.where(codes.labels < 0, -1, (codes.labels - options.place) % codes.n_labels)
    first = first_label(codes)
    return Formula("label_at", lambda codes: first.tally(replace(codes, labels=moved)),
                   first.finalise, "convention")


def addition_of(name, options, formula=label_at):
    words = ("Label at a place", "The share of labels at a place of the scale.", "d", "u")
    return Addition(Statistic(name, "shares", *words, range=SHARE, options=options), formula)


@dataclass(frozen=True, slots=True)
class TakenOptions(ShareOptions):
    by: str = ""


LABEL_AT = addition_of("label_at", PlaceOptions)
TAKEN_KEY = addition_of("taken_key", TakenOptions)
FOREIGN = addition_of("foreign", AgreementOptions)
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
    assert list(contradictions(restated(ask("first_label"), of=("no",)))) == [
        "of: belongs to the statistics 'share' and 'relative_difference', not to 'first_label'"
    ]


def test_an_added_statistic_has_options_of_its_own(package: Any) -> None:
    package(label_at="LABEL_AT", first_label="FIRST_LABEL")
    labels = FORM.criteria[0].scale.labels
    for place, label in enumerate(labels):
        asked = decoded("label_at", place=place)
        assert not list(contradictions(asked))
        assert one(asked) == pytest.approx(one(ask("share", of=(label,))), abs=1e-12)
    assert statistic_of("label_at").takes("place") and not statistic_of("share").takes("place")
    for other in ("share", "first_label", "stability"):
        with pytest.raises(StudyError) as error:
            decoded(other, place=1)
        assert str(error.value) == (
            f"study.toml: place: belongs to the statistic 'label_at', not to {other!r}"
        )
    with pytest.raises(StudyError, match="place: expected a whole number, got 'first'"):
        decoded("label_at", place="first")
    with pytest.raises(StudyError, match=r"plaec: unknown key; did you mean 'place'\?"):
        decoded("share", plaec=1)


def test_options_of_an_added_statistic_take_no_key_that_all_have(package: Any) -> None:
    package(taken_key="TAKEN_KEY")
    with pytest.raises(AnalysisError, match=r"konsil_extra.TakenOptions have the key 'by'"):
        decoded("mean")


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        (
            {"first_label": "ABSENT"},
            "konsil-extra: the statistic 'first_label' cannot be loaded: AttributeError",
        ),
        (
            {"first_label": "NO_ADDITION"},
            "konsil-extra: the statistic 'first_label' is not an Addition but int",
        ),
        (
            {"share": "FIRST_LABEL"},
            "konsil-extra: the statistic 'share' has another name in its entry, 'first_label'",
        ),
        (
            {"other_family": "OTHER_FAMILY"},
            "is of the family 'pairs'; expected 'agreement' or 'shares'",
        ),
        (
            {"foreign": "FOREIGN"},
            "has the options AgreementOptions; expected a dataclass that inherits from"
            " ShareOptions",
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
