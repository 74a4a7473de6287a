"""Interim analyses from the command line, from the first look to the report."""

from __future__ import annotations

import csv
import json
import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import konsil
from konsil.analysis.running.interim.pooled import CriterionQuality
from konsil.cli.interim import quality_lines
from konsil.errors import StoreError
from konsil.stats.engine.contract import Estimate
from small_studies import form, raters, study_text, systems

Call = Callable[..., tuple[int, str, str]]
ANALYSIS = """
[[analyses]]
name = "primary"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "people"
by = ["system"]
compare = "system"
"""
INTERIM = """
[interim]
panel = "people"
ratings = 240
analysis = "primary"
unblinded = "statistician-1"

[[interim.looks]]
fraction = 0.25

[[interim.looks]]
fraction = 0.5
kind = "comparative"

[[interim.looks]]
fraction = 0.75
kind = "comparative"
futility = 0.2

[[interim.rules]]
measure = "agreement"
criterion = "correct"
end = "high"
below = 0.99
action = "retrain"
text = "discuss the codebook"
"""
POOLED_ONLY = """
[interim]
panel = "people"
ratings = 240

[[interim.looks]]
fraction = 0.25
"""
PROTOCOL = study_text(
    "A trial",
    form(abstain="unsure"),
    systems("alpha", "beta"),
    raters("dr-1", "dr-2"),
    '[[sources]]\nfile = "ratings.csv"\nrecords = "ratings"',
    ANALYSIS,
    "[resampling]\ndraws = 400",
    seed=3,
    blinded=True,
)


def lines(effect: float = 0.15) -> list[str]:
    draw = random.Random(2)
    rows = []
    for item in range(62):
        for system, share in (("alpha", 0.6 + effect), ("beta", 0.6 - effect)):
            truth = draw.random() < share
            for rater in ("dr-1", "dr-2"):
                label = "yes" if truth != (draw.random() < 0.1) else "no"
                rows.append(f"q{item},{rater},{system},correct,{label}")
    return rows


@pytest.fixture
def trial(call: Call, tmp_path: Path) -> Callable[..., Path]:
    """The study after some of its ratings; call it again for more."""

    def rated(n: int, effect: float = 0.15, interim: str = INTERIM) -> Path:
        (tmp_path / "study.toml").write_text(PROTOCOL + interim, "utf-8")
        text = ["item,rater,system,criterion,label", *lines(effect)[:n]]
        (tmp_path / "ratings.csv").write_text("\n".join(text) + "\n", "utf-8")
        assert call("import", tmp_path)[0] == 0
        return tmp_path

    return rated


def events_of(study: Path, kind: str) -> list[dict[str, object]]:
    with konsil.open(study).store() as store:
        return [dict(e.data) for e in store.events() if e.kind == kind]


def looks_of(study: Path) -> list[dict[str, object]]:
    return events_of(study, "interim look")


@pytest.mark.slow
def test_from_the_first_look_to_the_report(call: Call, trial: Callable[..., Path]) -> None:
    study = trial(60)
    assert call("freeze", study, "--by", "lead")[0] == 0
    code, out, _ = call("interim", study)
    assert (code, out.splitlines()) == (
        0,
        [
            "ratings: 60 of 240 (25%)",
            f"look 1: pooled, at 25%: due; run 'konsil interim {study} --look 1'",
            "look 2: comparative, at 50%: planned",
            "look 3: comparative, at 75%: planned",
        ],
    )
    code, out, _ = call("interim", study, "--look", "1")
    assert code == 0
    assert out.splitlines()[0] == "look 1: pooled, at 60 of 240"
    assert out.splitlines()[-2].endswith("applies (discuss the codebook)")
    assert out.splitlines()[-1] == "decision: retrain"
    assert not any(name in out for name in ("alpha", "beta"))
    error = call("interim", study, "--look", "1")[2]
    assert "look 1: was already made at " in error
    assert error.rstrip().endswith("; each look is made once")

    trial(120)
    file = study.parent / f"{study.name}-closed.json"
    code, out, _ = call("interim", study, "--look", "2", "--by", "statistician-1", "--output", file)
    assert (code, out.splitlines()[-1]) == (0, "decision: continue")
    closed = json.loads(file.read_text("utf-8"))
    assert closed["critical"] == pytest.approx(2.96259, abs=1e-5)
    assert file.stat().st_mode & 0o077 == 0
    pooled, compared = looks_of(study)
    assert pooled["decision"] == "retrain"
    assert {*compared} == {
        "look",
        "is_planned",
        "fraction",
        "rated",
        "tasks",
        "interim",
        "analysis",
        "analysis_digest",
        "decision",
        "sha256",
        "spent",
        "by",
    }
    assert str(closed["estimate"]) not in json.dumps(compared)

    half = shutil.copyfile(study / "konsil.db", study.parent / f"{study.name}-half.db")
    trial(240)
    # A run of other data, such as simulated ones, is not the last analysis of the study.
    folder = konsil.open(study, database=f"sqlite:///{half}")
    assert folder.run(konsil.open(study).data()).sequential is not None
    with folder.store() as store:
        assert "last analysis" not in {e.kind for e in store.events()}
    assert "is late" in call("interim", study, "--look", "3", "--by", "statistician-1")[2]
    assert call("interim", study)[1].splitlines()[-1].startswith("the next report is the last")
    code, out, _ = call("analyse", study, "--json")
    assert code == 0
    estimates = json.loads((study / "estimates.json").read_text("utf-8"))
    adjusted = estimates["sequential"]
    [row] = [r for r in estimates["rows"] if r["kind"] == "difference"]
    assert adjusted["fractions"] == [0.5, 1.0]
    assert adjusted["spent"] == pytest.approx([0.00305065, 0.05], abs=1e-7)
    assert adjusted["p"] > row["p"]
    assert any("Not adjusted for the interim analyses" in w for w in row["warnings"])
    results = konsil.open(study).results()
    assert any("was group sequential" in sentence for sentence in results.methods)
    assert results.plan["primary"] != "exploratory"
    # Shown twice, it is in the log once, and no further comparison is one.
    [last] = events_of(study, "last analysis")
    assert (last["rated"], last["reason"]) == (240, "complete")
    assert last["p"] == pytest.approx(adjusted["p"], abs=1e-11)
    assert "last analysis: made at " in call("interim", study)[1].splitlines()[-1]
    for line in (
        ("--last", "--by", "lead", "--reason", "more ratings"),
        ("--unplanned", "comparative", "--by", "statistician-1", "--reason", "again"),
    ):
        code, _, error = call("interim", study, *line)
        assert (code, "would spend the type I error once more" in error) == (2, True)
    trial(240, interim=INTERIM + '[exclusions]\nraters = ["dr-1"]\n')
    excluded = konsil.open(study).results()
    assert excluded.plan["primary"] == "exploratory"
    assert any("but with another result" in warning for warning in excluded.warnings)
    trial(248)
    results = konsil.open(study).results()
    assert results.plan["primary"] == "exploratory"
    assert any("8 came in later. Only the first last" in warning for warning in results.warnings)


@pytest.mark.slow
def test_a_stop_is_decided_and_the_estimate_adjusted(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(180, effect=0.38)
    call("freeze", study, "--by", "lead")
    file = study.parent / f"{study.name}-closed.json"
    code, out, _ = call("interim", study, "--look", "3", "--by", "statistician-1", "--output", file)
    assert (code, out.splitlines()[-1]) == (0, "decision: stop")
    results = konsil.open(study).results()
    assert results.sequential is not None
    # One analysis, at the fraction of the stop: no look came before it.
    assert results.sequential.fractions == (0.75,)
    assert results.sequential.p < 0.05


def test_undefined_agreement_is_in_words() -> None:
    nothing = CriterionQuality(
        "difficulty", "krippendorff_alpha", *[Estimate(math.nan, reason="no units")] * 3, 0, 0, 0, 0
    )
    [line] = quality_lines([nothing])
    assert line == (
        "difficulty: Krippendorff's alpha is undefined (no units); 0 units with two raters or"
        " more; 0 of 0 ratings are abstentions"
    )


def test_refusals(call: Call, trial: Callable[..., Path]) -> None:
    study = trial(120)
    by = ("--by", "statistician-1")
    for arguments, text in (
        (("--look", "2", *by), "the analysis plan is not frozen; run 'konsil freeze'"),
        (("--look", "3", *by), "look 3: is planned at 75% of the ratings; 120 of 240 are there"),
        (("--look", "4"), "look 4: the protocol has 3; expected a number from 1 to 3"),
        (("--unplanned", "comparative"), "--reason: is empty; the log keeps it"),
        (("--look", "1", "--unplanned", "pooled"), "expected one of them"),
        (by, "--look: missing"),
    ):
        code, _, error = call("interim", study, *arguments)
        assert (code, text in error) == (2, True), error
    call("freeze", study, "--by", "lead")
    error = call("interim", study, "--look", "2", "--by", "lead")[2]
    assert "--by: got 'lead'; expected the unblinded person that the protocol names" in error
    assert "statistician" not in error
    error = call("interim", study, "--look", "2", *by)[2]
    assert "--output: is missing; expected a new file outside of the study's folder" in error
    assert "--by: is missing; expected the unblinded" in call("interim", study, "--look", "2")[2]
    inside = study / "deep" / ".." / "closed.json"
    error = call("interim", study, "--look", "2", *by, "--output", inside)[2]
    assert "is in the study's folder" in error
    assert looks_of(study) == []
    trial(120, interim=INTERIM.replace("0.75", "0.8"))
    assert "[interim] is not the one of the frozen" in call("interim", study, "--look", "2", *by)[2]
    protocol = study / "study.toml"
    trial(120)
    text = protocol.read_text("utf-8").replace('of = ["yes"]', 'of = ["no"]')
    protocol.write_text(text, "utf-8")
    error = call("interim", study, "--look", "2", *by)[2]
    assert "the analysis 'primary' is not the one of the frozen analysis plan" in error
    trial(120, interim="")
    assert f"{study / 'study.toml'}: has no [interim]" in call("interim", study)[2]


@pytest.mark.slow
def test_an_unplanned_look_makes_the_analysis_exploratory(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(120)
    call("freeze", study, "--by", "lead")
    by = ("--by", "statistician-1", "--output", study.parent / f"{study.name}-closed.json")
    code, out, _ = call("interim", study, "--unplanned", "comparative", *by, "--reason", "why")
    assert (code, "exploratory: not a look of a frozen protocol" in out) == (0, True)
    trial(240)
    assert "the next report" not in call("interim", study)[1]
    results = konsil.open(study).results()
    assert results.sequential is None
    assert results.plan["primary"] == "exploratory"
    assert not any(row.prespecified for row in results.rows if row.analysis == "primary")
    assert any("interim looks at the comparison" in warning for warning in results.warnings)


@pytest.mark.slow
def test_a_report_between_looks_is_not_the_last_analysis(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(120)
    call("freeze", study, "--by", "lead")
    by = ("--by", "statistician-1", "--output", study.parent / f"{study.name}-closed.json")
    assert call("interim", study, "--look", "2", *by)[0] == 0
    results = konsil.open(study).results()
    assert results.sequential is None
    assert results.plan["primary"] == "exploratory"
    assert any("withheld until its last analysis" in warning for warning in results.warnings)


@pytest.mark.slow
def test_a_result_is_seen_only_once_the_look_is_in_the_log(
    call: Call, trial: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = trial(120)
    call("freeze", study, "--by", "lead")
    file = study.parent / f"{study.name}-closed.json"
    line = ("interim", study, "--look", "2", "--by", "statistician-1", "--output", file)

    def failing(*_: object) -> None:
        raise StoreError("the disk is full; nothing was written")

    with monkeypatch.context() as patch:
        patch.setattr("konsil.api.running.interim._store", failing)
        assert call(*line)[0] == 2
    assert not file.exists()
    assert looks_of(study) == []

    with monkeypatch.context() as patch:
        patch.setattr(
            Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full"))
        )
        code, _, error = call(*line)
    assert (code, "the look is stored as made" in error) == (2, True)
    assert len(looks_of(study)) == 1
    assert file.read_bytes() == b""
    assert call(*line[:-1], study.parent / f"{study.name}-again.json")[0] == 2


@pytest.mark.slow
def test_closed_data_have_their_last_analysis_until_ratings_come_in(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(120)
    call("freeze", study, "--by", "lead")
    by = ("--by", "statistician-1", "--output", study.parent / f"{study.name}-closed.json")
    assert call("interim", study, "--look", "2", *by)[0] == 0
    trial(200)
    # Beyond the last planned look, too, nothing is the last analysis by itself.
    assert konsil.open(study).results().plan["primary"] == "exploratory"
    assert "--reason: is empty" in call("interim", study, "--last", "--by", "lead")[2]
    line = ("interim", study, "--last", "--by", "lead", "--reason", "no more money")
    code, out, _ = call(*line)
    assert (code, out.splitlines()[0]) == (0, "data collection is closed at 200 of 240")
    assert "was declared closed" in call(*line)[2]
    results = konsil.open(study).results()
    assert results.sequential is not None
    assert results.sequential.fractions == (0.5, pytest.approx(200 / 240))
    assert results.sequential.spent[-1] == pytest.approx(0.05)
    assert results.plan["primary"] != "exploratory"

    trial(240)
    results = konsil.open(study).results()
    assert results.sequential is None
    assert results.plan["primary"] == "exploratory"
    assert any("40 came in later" in warning for warning in results.warnings)


@pytest.mark.slow
def test_a_comparison_before_any_look_is_exploratory_and_withheld_while_blinded(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(160)
    call("freeze", study, "--by", "lead")
    results = konsil.open(study).results()
    assert results.plan["primary"] == "exploratory"
    assert any("withheld until its last analysis" in warning for warning in results.warnings)
    [difference] = [row for row in results.rows if row.kind == "difference"]
    assert not math.isfinite(difference.estimate.value)
    assert not math.isfinite(difference.estimate.p)
    assert "withheld while the study is blinded" in difference.estimate.reason
    for row in results.rows:
        assert any("before the last analysis" in warning for warning in row.warnings)
        assert not row.prespecified
        assert not math.isfinite(row.estimate.value)
    assert {system for _, _, system, _ in results.label_counts} == {""}
    assert call("report", study)[0] == 0

    # The freeze states the looks: without the comparative ones nothing else is shown.
    for removed in (POOLED_ONLY, ""):
        results = konsil.open(trial(160, interim=removed)).results()
        assert all(math.isnan(row.estimate.value) for row in results.rows)
        assert results.plan["primary"] == "exploratory"
    trial(160)

    assert call("unblind", study, "--by", "lead", "--reason", "a test")[0] == 0
    results = konsil.open(study).results()
    assert any("shown before its last analysis" in warning for warning in results.warnings)
    [difference] = [row for row in results.rows if row.kind == "difference"]
    assert all(math.isfinite(row.estimate.value) for row in results.rows)
    assert math.isfinite(difference.estimate.p)
    assert math.isnan(difference.p_adjusted)
    assert not difference.prespecified


@pytest.mark.slow
def test_an_unplanned_look_at_the_ratings_of_a_planned_one(
    call: Call, trial: Callable[..., Path]
) -> None:
    study = trial(120)
    call("freeze", study, "--by", "lead")
    files = [study.parent / f"{study.name}-{n}.json" for n in (1, 2)]
    by = ("--by", "statistician-1", "--output")
    assert call("interim", study, "--look", "2", *by, files[0])[0] == 0
    line = ("interim", study, "--unplanned", "comparative", "--reason", "again", *by, files[1])
    code, out, error = call(*line)
    assert (code, out.splitlines()[-1]) == (0, "decision: continue"), error


DIGEST = re.compile("[0-9a-f]{64}")
FURTHER = """
[[analyses]]
name = "unsure"
statistic = "abstention"
criterion = "correct"
raters = "people"
by = ["system"]

[[analyses]]
name = "agreement"
statistic = "fleiss_kappa"
criterion = "correct"
raters = "people"
"""


@pytest.mark.slow
def test_nothing_before_the_last_analysis_depends_on_who_gave_which_answer(
    call: Call, tmp_path: Path
) -> None:
    """Exchanging the systems of some items changes every number by system and no pooled one.

    Of one system more labels are abstentions and missing, so that counts would show the exchange.
    """
    rated = lines()[:160]
    rated = [
        line.rsplit(",", 1)[0] + ",unsure" if ",alpha," in line and n % 5 == 0 else line
        for n, line in enumerate(rated)
        if ",beta," not in line or n % 7
    ]
    other = {"alpha": "beta", "beta": "alpha"}
    exchanged = []
    for line in rated:
        item, rater, system, *rest = line.split(",")
        system = other[system] if int(item[1:]) < 20 else system
        exchanged.append(",".join([item, rater, system, *rest]))
    shown = []
    for name, rows in (("as rated", rated), ("exchanged", exchanged)):
        study = tmp_path / name
        study.mkdir()
        (study / "study.toml").write_text(PROTOCOL + FURTHER + INTERIM, "utf-8")
        text = ["item,rater,system,criterion,label", *sorted(rows)]
        (study / "ratings.csv").write_text("\n".join(text) + "\n", "utf-8")
        assert call("import", study)[0] == 0
        assert call("report", study)[0] == 0
        files = [p for p in (study / "report").rglob("*") if p.is_file()]
        # Checksums are of the records.
        shown.append({p.name: DIGEST.sub("", p.read_text("utf-8")) for p in files})
    assert shown[0] == shown[1]
    table = csv.DictReader(shown[0]["estimates.csv"].splitlines())
    counts = {(r["group.system"] != "", r["n_units"], r["n_ratings"]) for r in table}
    assert (True, "", "") in counts
    assert {is_of_system for is_of_system, units, _ in counts if units} == {False}
