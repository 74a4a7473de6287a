"""One analysis that cannot be made stops no other, neither among the numbers nor in a figure."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from konsil.analysis.model.results import Results
from konsil.api.rehearsal.rehearsal import write_report
from konsil.errors import IncompleteError
from small_studies import exit_code, import_ratings

STUDY = """
title = "Pairs"
seed = 1
{derived}
[resampling]
draws = 100
[[instruments]]
id = "pairs"
unit = "pair"
[[instruments.criteria]]
id = "better"
question = "Which is better?"
scope = "pair"
scale = {{ labels = ["A", "equal", "B"], level = "ordinal" }}
[[instruments.criteria]]
id = "safer"
question = "Which is safer?"
scope = "pair"
scale = {{ labels = ["A", "equal", "B"], level = "ordinal" }}
[[systems]]
id = "a"
[[systems]]
id = "b"
[[raters]]
id = "r1"
panel = "people"
[[raters]]
id = "r2"
panel = "people"
[[sources]]
file = "r.csv"
records = "ratings"
[[analyses]]
name = "better"
statistic = "win_rate"
criterion = "better"
raters = "people"
{more}
[[analyses]]
name = "safer"
statistic = "win_rate"
criterion = "safer"
raters = "people"
"""
ROWS = [
    ("rater", "item", "system_a", "system_b", "criterion", "label"),
    *(
        (f"r{r}", f"i{n}", "a", "b", criterion, "AB"[(r + n) % 2])
        for r, n, criterion in itertools.product((1, 2), range(6), ("better", "safer"))
    ),
]
DERIVED = """[[derived]]
name = "item"
criterion = "better"
raters = "people"
bins = [{ label = "easy", low = 0, high = 9 }]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "n_refused"),
    [
        ("", 0),
        ('where = { item = ["nothing"] }', 0),
        ('where = { colour = ["red"] }', 1),
        ('items = "core"', 1),
    ],
)
def test_figures_are_of_what_was_made(tmp_path: Path, more: str, n_refused: int) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(more=more, derived=""))
    page, results = write_report(import_ratings(tmp_path, ROWS))
    assert len(results.refused) == n_refused
    assert {row.analysis for row in results.estimable_rows} == (
        {"safer"} if more else {"better", "safer"}
    )
    assert {row.analysis for row in results.rows} == {"better", "safer"}
    assert page.is_file()


@pytest.mark.slow
def test_both_commands_write_everything_and_end_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(more='items = "core"', derived=""))
    import_ratings(tmp_path, ROWS)
    for command, written in (("analyse", "estimates.csv"), ("report", "report/index.html")):
        assert exit_code(command, tmp_path) == 2
        assert (tmp_path / written).is_file()
        out, err = capsys.readouterr()
        assert written in out
        assert err.startswith("konsil: better: there is no set of items 'core'")
        assert err.count("\n") == 1
    (tmp_path / "study.toml").write_text(STUDY.format(more="", derived=""))
    assert [exit_code(command, tmp_path) for command in ("analyse", "report")] == [0, 0]


def test_a_derived_column_that_cannot_be_made_stops_those_that_name_it(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.format(more='by = ["item"]', derived=DERIVED))
    results: Results = import_ratings(tmp_path, ROWS).results()
    assert results.refused == (
        "better: derived 'item': ratings have a column of this name already; choose another",
    )
    assert {row.analysis for row in results.estimable_rows} == {"safer"}


def test_an_analysis_whose_panel_has_not_rated_yet_is_not_impossible(tmp_path: Path) -> None:
    more = """[[analyses]]
name = "ranks"
statistic = "rank_agreement"
criterion = "better"
criteria = ["safer"]
raters = "people"
against = "later"
[[analyses]]
name = "better"
statistic = "win_rate"
criterion = "better"
raters = "people"
"""
    text = STUDY.format(more="", derived="").replace(
        "[[sources]]", '[[raters]]\nid = "r3"\npanel = "later"\n[[sources]]'
    )
    (tmp_path / "study.toml").write_text(text.replace(text[text.index("[[analyses]]") :], more))
    results = import_ratings(tmp_path, ROWS).results()
    assert results.refused == ()
    (row,) = (row for row in results.rows if row.analysis == "ranks")
    assert row.estimate.reason == "panel 'later' has no ratings on every criterion"
    assert not row.is_made


def test_each_reason_has_a_line() -> None:
    assert IncompleteError(["a: x", "b: y"]).sentences == ("a: x", "b: y")
    assert str(IncompleteError(["a: x", "b: y"])) == "a: x\nb: y"
