"""A study in a notebook: frames, tables, plots and figures, and the bar of long work."""

from __future__ import annotations

import io
import math
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import konsil
from konsil.api import progress as bars
from konsil.api.folder.folder import Folder
from konsil.api.frames import item_frame, task_frame
from konsil.errors import AnalysisError
from konsil.progress import is_listening, listening, tracked
from konsil.records import Item, Task
from konsil.report.files.data_files import write_estimates

STUDY = """
title = "Two <systems>"
seed = 1

[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scale = { labels = ["incorrect", "correct"], abstain = "cannot judge" }

[[sources]]
file = "ratings.csv"
records = "ratings"
raters = { dr_a = "dr-a", dr_b = "dr-b", dr_c = "dr-c" }
fixed = { criterion = "correct" }

[[analyses]]
name = "correct answers"
statistic = "share"
of = ["correct"]
criterion = "correct"
raters = "raters"
consensus = "majority"
by = ["system"]
compare = "system"

[[analyses]]
name = "nobody rated this"
statistic = "cohen_kappa"
criterion = "correct"
raters = "raters"
where = { system = ["system-x"] }

[resampling]
draws = 100
"""
RATINGS = Path(__file__).resolve().parents[2] / "docs" / "example" / "ratings.csv"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    shutil.copy(RATINGS, folder)
    opened = konsil.open(folder)
    opened.import_sources()
    return opened


def test_the_frame_of_results_is_the_file_of_estimates(study: Folder, tmp_path: Path):
    results = study.results()
    path, _ = write_estimates(tmp_path, study.study, results)
    file = pl.read_csv(path, infer_schema=False)
    frame = results.to_polars()
    assert frame.columns == [c for c in file.columns if c not in ("mode", "simulated")]
    assert frame.height == file.height == 4
    for name in ("value", "low", "high", "p", "n_units", "n_clusters"):
        numbers = file[name].cast(pl.Float64, strict=False).to_list()
        assert frame[name].cast(pl.Float64).to_list() == numbers
    for name in ("analysis", "kind", "group.system", "versus.system", "method", "reason"):
        assert [value or None for value in frame[name].to_list()] == file[name].to_list()
    assert frame.schema["value"] == pl.Float64
    assert frame.schema["n_units"] == pl.Int64
    assert frame.schema["warnings"] == pl.List(pl.String)
    assert all(type(value) is str for value in frame["method"].to_list())


def test_what_is_undefined_has_no_number_and_a_reason(study: Folder):
    frame = study.results().to_polars().filter(pl.col("analysis") == "nobody rated this")
    assert frame["value"].to_list() == [None]
    assert frame["reason"].item()
    pandas = pytest.importorskip("pandas")
    table = study.results().to_pandas()
    assert table["value"].dtype == "float64"
    assert table["n_units_versus"].dtype == pandas.Int64Dtype()
    assert table["value"].isna().sum() == 1
    assert table["n_units_versus"].isna().any()


def test_a_notebook_shows_numbers_and_escapes_names(study: Folder):
    shown = study.results()._repr_html_()
    assert "system-a minus system-b" in shown
    assert "not estimable: " in shown
    assert repr(study.results()).startswith("<Results: 2 analyses, ")
    assert "<b>Two &lt;systems&gt;</b>" in study._repr_html_()
    assert "<td>ratings</td><td>174</td>" in study._repr_html_()


def test_long_tables_are_cut_and_say_so(study: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("konsil.analysis.model.notebook.LONGEST", 1)
    shown = study.results()._repr_html_()
    assert shown.count("<tr>") == 2
    assert "3 more rows" in shown


def test_a_plot_has_the_estimates_on_axes_to_change(study: Folder):
    results = study.results()
    axes = results.plot("correct answers", kind="difference")
    row = next(r for r in results.rows if r.kind == "difference")
    limits = [list(line.get_xdata()) for line in axes.lines]
    assert [row.estimate.low, row.estimate.high] in limits
    assert [row.estimate.value] in limits
    assert [0.0, 0.0] in limits, "no difference is marked"
    assert [t.get_text() for t in axes.get_yticklabels()] == ["system-a minus system-b"]
    again = results.plot("correct answers", ax=axes)
    assert again is axes
    undefined = results.plot("nobody rated this")
    assert [note.get_text() for note in undefined.texts] == ["not estimable"]
    with pytest.raises(AnalysisError, match="did you mean 'correct answers'"):
        results.plot("correct answer")
    with pytest.raises(AnalysisError, match="has no differences"):
        results.plot("nobody rated this", kind="difference")


@pytest.mark.slow
def test_figures_of_the_report_can_be_changed(study: Folder):
    figures = study.figures()
    drawing = next(iter(figures.values()))
    assert drawing.figure is not None
    assert drawing.figure.axes
    assert drawing._repr_html_().startswith("<figure>\n<svg")
    page = study.report()
    written = {path.stem for path in (page.parent / "figures").glob("*.svg")}
    assert written == set(figures)
    assert drawing.svg == (page.parent / "figures" / f"{drawing.key}.svg").read_bytes()


def test_records_are_frames(study: Folder):
    items, answers, tasks = study.items(), study.answers(), study.tasks()
    assert (items.height, answers.height, tasks.height) == (30, 60, 174)
    assert set(answers["system"]) == {"system-a", "system-b"}
    assert tasks.schema["answers"] == pl.List(pl.String)
    assert set(tasks["rater"]) == {"dr-a", "dr-b", "dr-c"}


def test_a_stratum_named_like_a_field_is_another_column():
    frame = item_frame([Item("q1", "Which?", strata={"text": "short", "ward": "A"})])
    assert frame.row(0, named=True) == {
        "id": "q1",
        "text": "Which?",
        "reference": None,
        "case": None,
        "stratum.text": "short",
        "ward": "A",
    }


def test_tasks_that_are_objects_make_the_same_frame(study: Folder):
    objects: list[Task] = list(study.data().tasks)
    assert_frame_equal(task_frame(objects), study.tasks())


def test_tables_of_any_ratings_show_themselves():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"<i>": list("aabb"), "ben": list("abab")})
    result = konsil.agreement(table, layout="wide", labels=["a", "b"], resamples=100)
    assert repr(result) == "<Agreement: 4 units, 2 raters, 8 ratings>"
    assert "<td>Cohen&#x27;s kappa</td><td>0.000 [" in result._repr_html_()
    axes = result.plot(["cohen_kappa"])
    assert [t.get_text() for t in axes.get_yticklabels()] == ["cohen_kappa"]
    with pytest.raises(AnalysisError, match="cohen_kapa"):
        result.plot(["cohen_kapa"])
    votes = pandas.DataFrame(
        {
            "item": ["1", "2", "3"],
            "a": ["x", "x", "y"],
            "b": ["y", "y", "x"],
            "won": ["x", "x", "x"],
        }
    )
    preference = konsil.preference(
        votes, first="a", second="b", outcome="won", item="item", rater="-", resamples=100
    )
    assert repr(preference) == "<HeadToHead: 2 systems, 3 comparisons of 3 items>"
    assert "<td>x</td><td>1.000" in preference._repr_html_()
    assert list(preference.to_pandas()["system"]) == ["x", "y"]
    assert math.isclose(preference.plot().lines[-1].get_xdata()[0], -1.0)


def test_progress_is_reported_to_the_listener_alone():
    steps: list[tuple[str, int, int]] = []
    assert list(tracked([1, 2], "parts")) == [1, 2]
    with listening(lambda *step: steps.append(step)):
        assert list(tracked(iter([1, 2]), "parts", 2)) == [1, 2]
    assert steps == [("parts", 0, 2), ("parts", 1, 2), ("parts", 2, 2)]
    assert not is_listening()


@pytest.mark.slow
def test_long_work_has_a_bar_where_somebody_watches(
    study: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    stages: list[str] = []

    class Watched(bars.Bar):
        def __call__(self, stage: str, done: int, total: int) -> None:
            stages.append(stage)
            super().__call__(stage, done, total)

    monkeypatch.setattr(bars, "Bar", lambda: Watched(patience=0.0))
    study.report()
    assert not stages, "standard error is no terminal here"
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    study.report()
    assert {"analyses", "tables and figures"} <= set(stages)
    assert "tables and figures" in terminal.getvalue()
    assert capsys.readouterr().out == "", "results on standard output stay clean"


def test_short_work_has_no_bar(monkeypatch: pytest.MonkeyPatch):
    bar = bars.Bar()
    monkeypatch.setattr(bars, "_bar", lambda: pytest.fail("a bar before its time"))
    bar("analyses", 0, 3)
    bar.close()


def test_conditions_are_a_mapping():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"ann": list("aabb"), "ben": list("abab")})
    with pytest.raises(AnalysisError, match="where: expected a mapping of columns"):
        konsil.agreement(table, labels=["a", "b"], where=["ward=A"])
