"""Figures of comparisons: one for all criteria, in both languages, with the numbers of the
estimates."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Results, Row
from konsil.cli.main import group
from konsil.records import Rater, System
from konsil.report.figures.matrices import Grid, MatrixAxes, grids
from konsil.report.figures.svg_primitives import About, Dot, ValueAxis
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.shared_figures import families, is_in_family_figure
from konsil.report.material.tables import Numbers
from konsil.report.pairs.pair_figures import strata, wins
from konsil.report.pairs.pairs import pair_figures
from konsil.report.people.composition import boxes, counts
from konsil.stats.engine.contract import Estimate
from konsil.study import Study
from pocqi_tables import read_inner_tables, tables, write

ABOUT = About("key", "title", "description", "caption", "Simulated ratings.")
EN = Numbers(language("en"))
SYSTEMS = ("a", "b", "c")
CRITERIA = ("accuracy", "source_quality")


def analysis(statistic: str, criterion: str, raters: str = "experts", **more: object) -> Analysis:
    name = f"{statistic} {criterion} {raters} {' '.join(map(str, more.values()))}"
    return flat_analysis(name, statistic, criterion, raters, **more)  # type: ignore[arg-type]


def rows_of(one: Analysis) -> list[Row]:
    def made(value: float, **keys: str) -> Row:
        return Row(
            one.name,
            one.statistic,
            one.criterion,
            one.raters,
            Estimate(value, value - 0.1, value + 0.1),
            keys,
        )

    if one.statistic == "win_rate":
        return [
            made(0.5 if a < b else 0.3, system=a, rival=b)
            for a in SYSTEMS
            for b in SYSTEMS
            if a != b
        ]
    if one.statistic == "win_rate_strict":
        return [
            made(0.2 if a < b else 0.1, system=a, rival=b)
            for a in SYSTEMS
            for b in SYSTEMS
            if a != b
        ]
    by = one.by[0] if one.by else ""
    values = {
        "rater": ("judge",),
        "theme": ("t1", "t2", "t3", "t4"),
        "exposure": ("yes", "no"),
    }.get(by, ("",))
    return [
        made(0.1 * n, system=s, **({by: v} if by else {}))
        for v in values
        for n, s in enumerate(SYSTEMS)
    ]


def material(*analyses: Analysis) -> Material:
    study = Study("t", 1, systems=tuple(System(s) for s in SYSTEMS), analyses=analyses)
    results = Results(tuple(r for a in analyses for r in rows_of(a)), ())
    judge = Rater("judge", "judges", "llm", strata={"system": "b"})
    return Material(
        study=study,
        results=results,
        items=(),
        answers=(),
        raters=(judge,),
        ratings=(),
        language=language("en"),
        numbers=EN,
    )


def both(statistic: str, **more: object) -> list[Analysis]:
    return [analysis(statistic, criterion, **more) for criterion in CRITERIA]  # type: ignore[arg-type]


def test_a_family_is_analyses_that_differ_in_the_criterion_alone() -> None:
    made = material(
        *both("win_difference"), *both("win_difference", arm="text"), analysis("margin", "accuracy")
    )
    assert [len(f.members) for f in families(made)] == [2, 2]
    assert [is_in_family_figure(made, a) for a in made.study.analyses] == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("statistic", "more", "key"),
    [
        ("win_difference", {}, "criteria"),
        ("win_rate", {}, "matrices"),
        ("win_difference", {"by": ("exposure",)}, "strata"),
        ("win_difference", {"by": ("theme",)}, "parts"),
        ("win_difference", {"by": ("rater",), "raters": "judges"}, "graders"),
    ],
)
def test_every_kind_has_its_form(statistic: str, more: dict[str, object], key: str) -> None:
    made = material(*both(statistic, **more))
    [drawn] = pair_figures(made)
    assert drawn.key.startswith(f"{key}-")
    assert "source quality" in drawn.description
    assert drawn.svg.startswith(b"<?xml")


@pytest.mark.slow
def test_outcomes_are_beside_win_differences_where_the_rates_are_known() -> None:
    made = material(*both("win_difference"), *both("win_rate"), *both("win_rate_strict"))
    drawn = {d.key.split("-")[0]: d for d in pair_figures(made)}
    assert set(drawn) == {"wins", "matrices"}
    text = drawn["wins"].svg.decode()
    # Of system a: 0.2 much better, 0.3 somewhat, 0.2 equal, 0.2 somewhat worse, 0.1 much worse.
    assert text.count(">20<") >= 3
    assert ">30<" in text


def test_judges_stand_beside_people_and_their_own_answers_are_framed() -> None:
    made = material(
        *both("win_difference"),
        *both("win_difference", raters="judges", by=("rater",)),
        *both("win_difference", raters="judges", consensus="mean"),
    )
    [drawn] = [d for d in pair_figures(made) if d.key.startswith("graders")]
    assert [w in drawn.description for w in ("experts: a", "jury: a", "judge: a")] == [True] * 3
    plain = grids(
        ABOUT,
        [Grid("t", ("judge",), SYSTEMS, {("judge", "a"): 0.5})],
        EN,
        axes=MatrixAxes("d", "a", (-1, 1)),
    )
    framed = grids(
        ABOUT,
        [Grid("t", ("judge",), SYSTEMS, {("judge", "a"): 0.5}, frozenset({("judge", "b")}))],
        EN,
        axes=MatrixAxes("d", "a", (-1, 1)),
    )
    assert len(framed.svg) > len(plain.svg)


def test_what_is_undefined_is_a_dash_and_never_a_number() -> None:
    nothing = Dot("a", math.nan, math.nan, math.nan, "")
    for drawn in (
        wins(
            ABOUT,
            [nothing, Dot("b", 0.1, 0, 0.2, "")],
            [(math.nan,) * 5, (0.2,) * 5],
            "12345",
            EN,
            axis=ValueAxis("x", reference=0.0),
            shares_axis="y",
        ),
        strata(
            ABOUT, {"one": [nothing], "two": [Dot("a", 0.1, 0.0, 0.2, "")]}, EN, axis=ValueAxis("x")
        ),
        grids(
            ABOUT,
            [Grid("t", ("r",), ("a", "b"), {("r", "a"): math.nan})],
            EN,
            axes=MatrixAxes("d", "a", (0, 1)),
        ),
        boxes(
            ABOUT,
            [("a", (1.0, 2.0, 3.0, 4.0, 5.0)), ("b", (1.0, 2.0, 3.0, 4.0, 5.0, 3.2))],
            EN,
            axis="x",
        ),
        counts(ABOUT, [("a", 3)], EN, axis="x"),
    ):
        text = drawn.svg.decode()
        assert "nan" not in re.sub(r"<[^>]+>", " ", text)
        assert "Simulated ratings." in text


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "de"])
def test_a_whole_report_of_the_public_tables(tmp_path: Path, code: str) -> None:
    folder = tmp_path / "study"
    new = ["new", str(folder), "--protocol", "real-pocqi", "--language", code]
    assert CliRunner().invoke(group, new, catch_exceptions=False).exit_code == 0
    write(
        tables(4, questions=60, comparisons=150, raters=15, specialties=3, fast=3, healthbench=15),
        folder / "tables",
    )
    read_inner_tables(folder)
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text() + "\n[resampling]\ndraws = 100\n")
    assert CliRunner().invoke(group, ["report", str(folder)], catch_exceptions=False).exit_code == 0
    kinds = {p.name.split("-")[0] for p in (folder / "report" / "figures").glob("*.svg")}
    assert kinds >= {
        "wins",
        "matrices",
        "strata",
        "graders",
        "worths",
        "lengths",
        "items",
        "criteria",
        "scheme",
    }
    page = (folder / "report" / "index.html").read_text()
    assert (
        "Verblindet: Systeme tragen Codes" if code == "de" else "Blinded: systems carry codes"
    ) in page
    if code == "de":
        [graders] = (folder / "report" / "figures").glob("graders-*.svg")
        assert "Klinischer Nutzen" in graders.read_text("utf-8")
        assert not [
            w for w in ("Rater", "much better", "Winner", "System rated") if f">{w}<" in page
        ]
    rows = json.loads((folder / "report" / "estimates.json").read_text())["rows"]
    primary = [
        r for r in rows if r["declared"] and r["p_adjusted"] is not None and r["kind"] == "estimate"
    ]
    assert len({r["analysis"] for r in primary}) == 5
    assert all(0 < r["p_max_t"] <= 1 for r in primary)
    # The arm with citations too says what its win differences are made of.
    beside = [p.name for p in (folder / "report" / "figures").glob("wins-*.svg")]
    assert [n for n in beside if "with-citations" in n or "mit-quellen" in n]
    assert "JSON" in page[page.index('<pre class="prompt"') :]


def test_judges_without_answers_of_their_own_are_left_out_and_named() -> None:
    analyses = both("self_preference", raters="judges", against="experts")
    given = material(*analyses)
    judges = tuple(Rater(f"judge-{n}", "judges", "llm") for n in (1, 2, 3))
    rows = [
        Row(
            a.name,
            a.statistic,
            a.criterion,
            "judges",
            Estimate(value, value, value),
            {"rater": who},
            n_units=n,
        )
        for a in analyses
        for who, value, n in (
            ("judge-3", math.nan, 0),
            ("judge-2", 0.2, 9),
            ("judge-1", math.nan, 9),
        )
    ]
    (drawn,) = pair_figures(replace(given, raters=judges, results=Results(tuple(rows), ())))
    assert "answers of their own: judge-3." in drawn.caption
    # In the protocol's order, and one that is undefined for another reason stays.
    shown = re.findall(r"judge-\d", drawn.inline.split("<svg", 1)[-1].split("</desc>", 1)[-1])
    assert shown[:2] == ["judge-1", "judge-2"]
    assert "judge-3" not in shown
