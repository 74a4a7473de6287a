"""Whom the cases are about: each case once, by decade and sex."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsal import simulate
from konsil.report.figures.svg_primitives import About
from konsil.report.material.language import ENGLISH
from konsil.report.material.tables import Numbers
from konsil.report.people.composition import decade_of, stacked
from konsil.simulate import Truth

STUDY = """
title = "Cases"
seed = 1
language = "LANGUAGE"
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "right"
question = "Is it right?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "s"
[[sources]]
file = "rows.csv"
records = "items"
strata = ["age", "sex", "level"]
[[sources]]
file = "rows.csv"
records = "ratings"
criterion = "right"
label = "label"
[[analyses]]
name = "right"
statistic = "share"
of = ["yes"]
criterion = "right"
raters = "raters"
"""
ROWS = """item,case,age,sex,level,system,rater,label
a:0,a,34,female,0,s,r1,yes
a:1,a,34,female,1,s,r1,no
b:0,b,6 months,male,0,s,r1,yes
b:1,b,6 months,male,1,s,r1,yes
c,c,51-year-old,female,0,s,r1,yes
d,d,,male,0,s,r1,no
"""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_case_once(tmp_path: Path, language: str) -> None:
    text = STUDY.replace("LANGUAGE", language).replace(
        'criterion = "right"\nlabel = "label"\n', RATINGS
    )
    (tmp_path / "study.toml").write_text(text, "utf-8")
    (tmp_path / "rows.csv").write_text(ROWS, "utf-8")
    folder = open_folder(tmp_path)
    folder.import_sources()
    page = folder.report().read_text("utf-8")
    if language == "en":
        assert (
            "The 3 cases by age in years and sex, each case once. Age or sex is not"
            " reported for 1." in page
        )
    else:
        assert "Die 3 Fälle nach Alter in Jahren und Geschlecht, jeder Fall einmal." in page
    assert "0–9: male 1; 30–39: female 1; 50–59: female 1" in page


RATINGS = 'columns = { label = "label" }\nfixed = { criterion = "right" }\n'


def test_bars_show_their_counts() -> None:
    about = About("key", "Age", "what it shows", "caption", "Simulated ratings.")
    drawn = stacked(
        about,
        [("0–9", (3, 0)), ("10–19", (12, 4))],
        ["female", "male"],
        Numbers(ENGLISH),
        axis="Cases",
    )
    shown = [
        "".join(e.itertext()).strip()
        for e in ET.fromstring(drawn.svg).iter("{http://www.w3.org/2000/svg}text")
    ]
    for word in ("0–9", "10–19", "3", "12", "4", "female", "male", "Cases", "Simulated ratings."):
        assert word in shown, word


def test_ages_as_they_are_written() -> None:
    assert [
        decade_of(age) for age in ("7", "72 y", "18 Monate", "45-jährig", "0.5", "999", "old")
    ] == [
        0,
        7,
        0,
        4,
        0,
        None,
        None,
    ]


def test_the_flow_goes_from_cases_to_their_versions(tmp_path: Path) -> None:
    from konsil.api.curation.masking import mask_cases
    from konsil.api.curation.preparing import prepare

    (tmp_path / "study.toml").write_text(
        'title = "t"\nseed = 1\nsimulated = true\n[prepare]\nsample = { size = 1'
        ' }\n[prepare.mask]\n[[instruments]]\nid = "form"\n[[instruments.criteria]]\nid ='
        ' "right"\nquestion = "?"\nscale = { labels = ["no", "yes"] }\n[[systems]]\nid ='
        ' "s"\n[[raters]]\nid = "r"\npanel = "people"\n[[sources]]\nfile = "cases.csv"\nrecords ='
        ' "items"\n[[plan]]\npanel = "people"\ninstrument = "form"\n[[analyses]]\nname ='
        ' "a"\nstatistic = "share"\nof = ["yes"]\ncriterion = "right"\nraters = "people"\n',
        "utf-8",
    )
    text = "Gout with crystals and a toe."
    (tmp_path / "cases.csv").write_text(
        f"item,text,reference\na,{text},gout\nb,{text},gout\n", "utf-8"
    )
    rows = [
        f"{c},{k}"
        for c in "ab"
        for k in ("diagnosis,,Gout", "cue,1,crystals", "cue,2,toe", "temporal,,a")
    ]
    (tmp_path / "marks.csv").write_text(
        "case,kind,rank,text,occurrence\n" + "\n".join(f"{r},1" for r in rows), "utf-8"
    )
    folder = open_folder(tmp_path)
    folder.import_sources()
    prepare(folder)
    mask_cases(folder, tmp_path / "marks.csv", approve=True)
    simulate(folder, Truth())
    page = re.sub(r"<[^>]+>|\s+", " ", folder.report().read_text("utf-8"))
    flow = re.sub(r" +", " ", page)
    assert (
        "Items 2 Items sampled 1 Versions of these cases, which are items from here on 5 Items rated"
        " by people 5" in flow
    )
