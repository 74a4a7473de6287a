"""Simulated raters at a real browser, by its keyboard alone."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsing import rehearse
from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.cli.main import group
from konsil.errors import KonsilError
from konsil.simulate import Truth

PLACES = """schema = 1
title = "Places"
seed = 3
language = "en"
[enrolment]
consent = "consent.md"
[[enrolment.profile]]
id = "specialty"
question = "What is your specialty?"
scale = { labels = ["medicine", "surgery"] }
[[enrolment.profile]]
id = "years"
question = "Years in practice?"
scale = { kind = "number", low = 0, high = 60 }
[[places]]
panel = "doctors"
number = 2
strata = { specialty = "surgery" }
[[instruments]]
id = "pairs"
unit = "pair"
[[instruments.criteria]]
id = "better"
scope = "pair"
question = "Which is better?"
scale = { labels = ["A", "equal", "B"], level = "ordinal" }
[[instruments.criteria]]
id = "sure"
scope = "item"
question = "How sure are you, in per cent?"
scale = { kind = "number", low = 0, high = 100 }
[[instruments.criteria]]
id = "useful"
scope = "item"
question = "Is it useful?"
scale = { labels = ["no", "yes"], abstain = "cannot tell" }
[[systems]]
id = "one"
family = "f"
[[systems]]
id = "two"
family = "f"
[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"
[[plan]]
panel = "doctors"
instrument = "pairs"
show = "pair"
raters_per_item = 2
[[analyses]]
name = "agreement"
statistic = "percent_agreement"
criterion = "useful"
raters = "doctors"
"""


@pytest.fixture
def places(tmp_path: Path) -> Path:
    folder = tmp_path / "places"
    folder.mkdir()
    (folder / "study.toml").write_text(PLACES, "utf-8")
    (folder / "consent.md").write_text("I take part.", "utf-8")
    (folder / "items.csv").write_text(
        "item,text\n" + "".join(f"i{k},Question {k}?\n" for k in range(3)), "utf-8"
    )
    rows = "".join(f"i{k},{s},Text of {s} on {k}\n" for k in range(3) for s in ("one", "two"))
    (folder / "answers.csv").write_text(f"item,system,text\n{rows}", "utf-8")
    return folder


def test_without_playwright_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with as_file(files("konsil.demo")) as source:
        shutil.copytree(source, tmp_path / "demo")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    given = ["rehearse", str(tmp_path / "demo"), "--browser", "1"]
    with pytest.raises(
        KonsilError,
        match=r"^--browser: needs playwright.*pip install '\.\[browser\]' in konsil's folder$",
    ):
        CliRunner().invoke(group, given, catch_exceptions=False)
    assert not (tmp_path / "demo-rehearsal").exists()


needs_browser = pytest.mark.skipif(
    importlib.util.find_spec("playwright") is None
    or not (shutil.which("chromium") or shutil.which("google-chrome")),
    reason="there is no Chromium",
)


@pytest.mark.slow
@needs_browser
def test_some_rate_in_a_browser_among_the_others(tmp_path: Path) -> None:
    with as_file(files("konsil.demo")) as source:
        shutil.copytree(source, tmp_path / "demo")
    folder = open_folder(tmp_path / "demo")
    done = rehearse(folder, RehearsalRequest(target=tmp_path / "copy", most=3, windows=1))
    assert done.outcome.times.faults == []
    assert done.outcome.handed_in == {f"physician-{n}": 3 for n in range(1, 6)}
    assert done.outcome.times.seconds()["in a browser"]
    with done.folder.store() as store:
        assert len([r for r in store.ratings() if r.rater == "physician-1"]) == 3 * 4


@pytest.mark.slow
@needs_browser
def test_consent_profile_place_numbers_and_labels_by_keys(places: Path, tmp_path: Path) -> None:
    done = rehearse(
        open_folder(places), RehearsalRequest(target=tmp_path / "copy", windows=2), Truth()
    )
    assert done.outcome.times.faults == []
    assert sorted(done.outcome.handed_in.values()) == [3, 3]
    with done.folder.store() as store:
        ratings = store.ratings()
        assert {r.criterion for r in ratings} == {"better", "sure", "useful"}
        assert len(ratings) == 2 * 3 * 3
