"""From a refused parameter and a contradiction to the report's words and numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fake_server import running
from konsil.api import open_folder
from konsil.api.running.planning import make_plan
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.judges import judge
from konsil.collect.jobs.systems import answer

QUICK = Options(back_off=0.001)
STUDY = """
title = "Models"
seed = 1
language = "{language}"
[[endpoints]]
id = "near"
url = "{url}/v1"
[[systems]]
id = "a"
model = "near:m"
settings = {{ temperature = 0.2, seed = 7 }}
[[systems]]
id = "b"
model = "fake:b"
[[instruments]]
id = "form"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which is better?"
scope = "pair"
scale = {{ labels = ["A", "tie", "B"] }}
[[raters]]
id = "j"
panel = "judges"
kind = "llm"
[[judges]]
rater = "j"
model = "fake:j"
orders = "both"
[[plan]]
panel = "judges"
instrument = "form"
show = "pair"
[[sources]]
file = "items.csv"
records = "items"
[[analyses]]
name = "Preference"
statistic = "share"
of = ["A"]
criterion = "better"
raters = "judges"
"""


@pytest.fixture
def called(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    language = getattr(request, "param", "en")
    (tmp_path / "items.csv").write_text(
        "item,text\n" + "".join(f"i{n},Question {n}?\n" for n in range(24))
    )
    with running(refuse=("temperature",)) as url:
        (tmp_path / "study.toml").write_text(STUDY.format(url=url, language=language))
        folder = open_folder(tmp_path)
        folder.import_sources()
        with folder.store() as store:
            answer(folder.study, store, QUICK)
        make_plan(folder)
        with folder.store() as store:
            judge(folder.study, store, QUICK)
    return tmp_path


@pytest.mark.slow
def test_methods_claim_nothing_that_was_not_so(called: Path) -> None:
    results = open_folder(called).results()
    # What is said of plan and log comes first.
    start = next(n for n, sentence in enumerate(results.methods) if "near:m" in sentence)
    answered, judged, played, refused, both, *_ = results.methods[start:]
    assert re.search(r"a \(near:m; seed 7, (on|from) \d{4}-\d\d-\d\d", answered)
    assert "temperature" not in answered
    assert "j (fake:j" in judged
    assert played.startswith("b and j: konsil's scripted test endpoint")
    assert refused == "a does not accept temperature: all its 24 calls were made without."
    [row] = results.orders
    assert (row.rater, row.criterion, row.compared) == ("j", "better", 24)
    assert 0 < row.inconsistent < 24
    assert f"j {row.inconsistent} of 24 on better" in both
    assert len(open_folder(called).data().ratings) == 24 - row.inconsistent
    [outcome] = [o for o in results.outcomes if not o.column]
    assert outcome.counts["inconsistent"] == row.inconsistent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("called", "words"),
    [
        (
            "en",
            [
                "Pairs shown to LLM judges in both orders.",
                "a does not accept temperature",
                "inconsistent",
            ],
        ),
        (
            "de",
            [
                "Paare, die LLM-Judges in beiden Reihenfolgen sahen.",
                "a nimmt temperature nicht an",
                "widersprüchlich",
            ],
        ),
    ],
    indirect=["called"],
)
def test_the_report_says_it_in_its_language(called: Path, words: list[str]) -> None:
    path = open_folder(called).report()
    [row] = open_folder(called).results().orders
    assert f"j,better,24,{row.inconsistent}," in (path.parent / "orders.csv").read_text("utf-8")
    page = path.read_text("utf-8")
    for word in words:
        assert word in page
