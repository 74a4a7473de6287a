"""Ratings without raters: numbered among equal rows, in whatever order and however often read."""

from __future__ import annotations

import csv
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.errors import SourceError, UnknownRatersError
from konsil.records import Rating, Source, Task
from konsil.sources.files.table import read_table
from konsil.sources.tables.ratings import read_ratings

HEAD = ("item", "system_a", "system_b", "arm", "criterion", "label")
Row = tuple[str, str, str, str, str, str]
rows_of_a_study = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2"]),
        st.sampled_from(["x", "y"]),
        st.just("z"),
        st.sampled_from(["text", "links"]),
        st.sampled_from(["better", "safer"]),
        st.sampled_from(["A", "equal", "B"]),
    ).map(lambda r: r if len(r[0] + r[3]) % 2 else (r[0], r[2], r[1], *r[3:])),
    min_size=1,
    max_size=25,
)


def read(
    folder: Path, rows: list[Row], head: tuple[str, ...] = HEAD, **keys: object
) -> tuple[tuple[Rating, ...], tuple[Task, ...]]:
    file = folder / "ratings.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([head, *rows])
    source = Source("ratings.csv", "ratings", unknown_raters="people", **keys)  # type: ignore[arg-type]
    parsed = read_ratings(read_table(file), source)
    assert parsed.problems == ()
    return parsed.records, parsed.tasks


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=rows_of_a_study, seed=st.integers(0, 99))
def test_every_row_is_a_rating_in_whatever_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    ratings, tasks = read(folder, rows)
    shuffled = random.Random(seed).sample(rows, len(rows))
    again, tasks_again = read(folder, shuffled)
    assert len(ratings) == len(set(ratings)) == len(rows)
    assert set(ratings) == set(again)
    assert {t.id: t for t in tasks} == {t.id: t for t in tasks_again}
    labels = [(r.item, *sorted(r.answers), r.criterion, r.label) for r in ratings]
    expected = [
        (item, *sorted((f"{item}:{a}", f"{item}:{b}")), criterion, label)
        for item, a, b, _, criterion, label in rows
    ]
    assert Counter(labels) == Counter(expected)
    # No rater answers a question about the same pair twice, shown whichever way round.
    places = [(r.rater, r.item, *sorted(r.answers), r.criterion) for r in ratings]
    assert len(set(places)) == len(places)


def test_equal_rows_are_raters_of_their_own(tmp_path: Path) -> None:
    row = ("q1", "x", "y", "text", "better", "A")
    ratings, tasks = read(tmp_path, [row, row])
    assert [r.rater for r in ratings] == ["people-unknown-1", "people-unknown-2"]
    assert len({r.task for r in ratings}) == len(tasks) == 2


def test_answers_to_several_questions_are_linked_where_only_one_rater_gave_them(
    tmp_path: Path,
) -> None:
    one = [("q1", "x", "y", "text", c, "A") for c in ("better", "safer")]
    several = [("q2", "x", "y", "text", c, label) for c in ("better", "safer") for label in "AB"]
    ratings, tasks = read(tmp_path, one + several)
    by_item = Counter(t.item for t in tasks)
    assert by_item == {"q1": 1, "q2": 4}
    assert {r.rater for r in ratings} == {"people-unknown-1", "people-unknown-2"}


def test_a_row_with_a_column_for_each_criterion_is_of_one_rater(tmp_path: Path) -> None:
    rows = [("q1", "x", "y", "A", "B"), ("q1", "x", "y", "B", "A")]
    ratings, tasks = read(
        tmp_path,
        rows,  # type: ignore[arg-type]
        ("item", "system_a", "system_b", "better", "safer"),
        criteria={"better": "better", "safer": "safer"},
    )
    assert len(tasks) == 2
    labels = {(r.rater, r.criterion): r.label for r in ratings}
    for n in (1, 2):
        rater = f"people-unknown-{n}"
        assert {labels[rater, "better"], labels[rater, "safer"]} == {"A", "B"}


@pytest.mark.parametrize(
    ("column", "sentence"),
    [("rater", "identifies the raters"), ("repeat", "identifies the repeated ratings")],
)
def test_a_file_that_identifies_raters_is_refused(
    tmp_path: Path, column: str, sentence: str
) -> None:
    with pytest.raises(SourceError, match=sentence):
        read(tmp_path, [("q1", "x", "y", "text", "better", "1")], (*HEAD[:5], column))  # type: ignore[list-item]


STUDY = """
title = "Ratings without raters"
seed = 1
[resampling]
draws = 200
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "right"
question = "Is it right?"
scale = { labels = ["no", "yes"] }
[[sources]]
file = "ratings.csv"
records = "ratings"
unknown_raters = "people"
[exclusions]
MORE
[[analyses]]
name = "right"
statistic = "share"
of = ["yes"]
criterion = "right"
raters = "people"
leave_out = ["rater"]
[[analyses]]
name = "by arm"
statistic = "share"
of = ["yes"]
criterion = "right"
raters = "people"
by = ["arm"]
compare = "arm"
[[analyses]]
name = "agreement"
statistic = "fleiss_kappa"
criterion = "right"
raters = "people"
[[analyses]]
name = "pairs"
statistic = "cohen_kappa"
criterion = "right"
raters = "people"
[[analyses]]
name = "clusters"
statistic = "share"
of = ["yes"]
criterion = "right"
raters = "people"
cluster = "rater"
[[analyses]]
name = "single"
statistic = "share"
of = ["yes"]
criterion = "right"
raters = "people"
by = ["rater"]
"""
NOT_POSSIBLE = {
    "pairs": "needs to know which ratings are of the same rater",
    "clusters": "cannot be the clusters",
    "single": "'rater' is a column of raters",
}


def study(folder: Path, more: str = "", seconds: str = "") -> Path:
    (folder / "study.toml").write_text(STUDY.replace("MORE", more))
    draw = random.Random(5)
    rows = [
        f"q{n},s,{('text', 'links')[n % 2]},right,{draw.choice(['no', 'yes', 'yes'])},{seconds}"
        for n in range(24)
        for _ in range(3)
    ]
    head = "item,system,arm,criterion,label,seconds"
    (folder / "ratings.csv").write_text("\n".join([head, *rows]) + "\n")
    return folder


def test_a_study_without_raters_is_analysed_over_items(tmp_path: Path) -> None:
    folder = open_folder(study(tmp_path))
    folder.import_sources()
    before = (folder.path / "ratings.csv").read_text().splitlines()
    (folder.path / "ratings.csv").write_text("\n".join([before[0], *reversed(before[1:])]) + "\n")
    assert folder.import_sources().total_new() == 0
    results = folder.results()
    assert not results.refused
    assert results.reasons_without_result.keys() == NOT_POSSIBLE.keys()
    for name, reason in NOT_POSSIBLE.items():
        assert reason in results.reasons_without_result[name]
    assert {row.n_raters for row in results.rows} == {0}
    assert {row.estimate.raters for row in results.rows} == {"these"}
    assert not any("rater" in row.estimate.method for row in results.rows)
    (difference,) = (row for row in results.rows if row.kind == "difference")
    assert difference.estimate.n_clusters == 24
    (sentence,) = results.inference
    assert "inference to other raters is not possible" in sentence
    assert "inference to other raters is not possible" in " ".join(results.methods)


def test_a_run_that_is_strict_refuses_in_one_sentence(tmp_path: Path) -> None:

    from konsil.analysis.running.run import run
    from konsil.study.data.run_settings import run_settings

    folder = open_folder(study(tmp_path))
    folder.import_sources()
    strict = replace(run_settings(folder.study), strict=True)
    with pytest.raises(UnknownRatersError, match="the raters are unknown"):
        run(folder.study.analyses, folder.data(), strict)


def test_a_panel_that_no_analysis_names_is_refused(tmp_path: Path) -> None:
    study(tmp_path)
    folder = open_folder(tmp_path)
    source = replace(folder.study.sources[0], unknown_raters="poeple")
    with pytest.raises(SourceError, match="there is no panel 'poeple'; did you mean 'people'"):
        folder.import_sources([source])


@pytest.mark.parametrize(
    ("more", "seconds", "rule"),
    [
        ("require_seconds = true", "", "[exclusions] require_seconds (72)"),
        ("min_seconds = 10", "4", "[exclusions] min_seconds (72)"),
        (
            'raters = ["people-unknown-1", "people-unknown-2", "people-unknown-3"]',
            "",
            "raters (72)",
        ),
    ],
)
def test_where_all_is_excluded_commands_name_the_rule_and_end_with_3(
    tmp_path: Path, more: str, seconds: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from small_studies import exit_code

    open_folder(study(tmp_path, more, seconds)).import_sources()
    assert exit_code("analyse", tmp_path) == 3
    out, err = capsys.readouterr()
    assert "estimates.csv" in out
    assert err.startswith("konsil: 6 analyses have no result: ")
    assert f"all 72 ratings are excluded by {rule}" in err or rule in err


def test_the_reason_names_the_setting_that_selects_nothing(tmp_path: Path) -> None:
    study(tmp_path)
    text = 'raters = [{ id = "r1", panel = "others" }]' + (tmp_path / "study.toml").read_text()
    more = '[[analyses]]\nname = "NAME"\nstatistic = "share"\nof = ["yes"]\ncriterion = "right"\n'
    text += more.replace("NAME", "arm") + 'raters = "people"\narm = "sound"\n'
    text += more.replace("NAME", "where") + 'raters = "people"\nwhere = { item = ["q99"] }\n'
    text += more.replace("NAME", "panel") + 'raters = "others"\n'
    (tmp_path / "study.toml").write_text(text)
    folder = open_folder(tmp_path)
    folder.import_sources()
    reasons = folder.results().reasons_without_result
    assert reasons["arm"] == "no ratings selected: arm selects none of 72 ratings"
    assert reasons["where"] == "no ratings selected: where.item selects none of 72 ratings"
    assert reasons["panel"] == "no ratings selected: 'others' has no ratings on 'right'"


def test_nobody_can_be_erased_among_unknown_raters(tmp_path: Path) -> None:
    open_folder(study(tmp_path)).import_sources()
    done = CliRunner().invoke(
        group, ["erase", str(tmp_path), "people-unknown-1", "--by", "me", "--reason", "asked"]
    )
    assert "not a person" in str(done.exception)
