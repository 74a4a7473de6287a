"""Preference statistics of a folder of Parquet files: the numbers of one table, however it is
divided."""

from __future__ import annotations

import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.analysis.tabular import coded_votes
from konsil.analysis.tabular.dataframes import as_categories, as_text
from konsil.api.datasets.preferences import preference_of_data_set
from konsil.errors import KonsilError, SourceError, UnclearTableError, options_as_flags


def comparisons(n: int = 160, seed: int = 1) -> pl.DataFrame:
    """Comparisons with missing outcomes, repeated pairs, spaces and two criteria."""
    g = np.random.default_rng(seed)
    systems = np.array(["amber", "birch ", "cedar"])
    first = g.integers(0, 3, n)
    second = (first + g.integers(1, 3, n)) % 3
    lean = 0.5 * (second - first) + g.normal(0, 1, n)
    winner = np.where(lean > 0.3, "left", np.where(lean < -0.3, "right", "tie"))
    return pl.DataFrame(
        {
            "item": g.integers(0, 40, n),
            "rater": [f"r{i}" for i in g.integers(0, 12, n)],
            "model_a": systems[first],
            "model_b": systems[second],
            "winner": np.where(g.random(n) < 0.1, "", winner),
            "axis": np.array(["accuracy", "safety"])[g.integers(0, 2, n)],
        }
    )


def divided(table: pl.DataFrame, ends: list[int], folder: Path) -> Path:
    """The rows in as many files as there are ends, and one more."""
    bounds = [0, *sorted(ends), table.height]
    for n, (start, stop) in enumerate(pairwise(bounds)):
        table[start:stop].write_parquet(folder / f"part-{n:03}.parquet")
    return folder


REQUESTS = {
    "plain": PreferenceRequest(resamples=100),
    "paper": PreferenceRequest(resamples=100, mode="paper"),
    "by": PreferenceRequest(resamples=100, by="axis"),
    "compare": PreferenceRequest(resamples=100, compare="axis"),
    "where": PreferenceRequest(resamples=100, where={"axis": "safety"}),
    "raters unknown": PreferenceRequest(resamples=100, rater="-"),
}


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    ends=st.lists(st.integers(0, 160), max_size=6),
    seed=st.integers(0, 50),
    name=st.sampled_from(sorted(REQUESTS)),
)
def test_a_divided_table_has_the_numbers_of_the_whole(ends, seed, name):
    table, request = comparisons(seed=seed), REQUESTS[name]
    try:
        whole = konsil.preference(table, **vars(request))
    except UnclearTableError:
        assume(False)  # some drawn tables can be read in two ways
    with tempfile.TemporaryDirectory() as folder:
        parts = preference_of_data_set(divided(table, ends, Path(folder)), request)
    # Repeated, to the last digit: texts of the same doubles.
    assert parts.to_dict() == whole.to_dict()
    assert repr(parts.win_difference) == repr(whole.win_difference)
    assert repr(parts.davidson) == repr(whole.davidson)


# Dask's own threads may warn while they end.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_dask_workers_have_the_numbers_of_the_whole(tmp_path):
    pytest.importorskip("distributed")
    table = comparisons(60)
    divided(table, [7, 30], tmp_path)
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"], "local:2")
    assert parts.to_json() == konsil.preference(table, resamples=100).to_json()


def test_three_files_have_the_numbers_of_the_whole(tmp_path):
    table = comparisons(60)
    whole = konsil.preference(table, resamples=100)
    divided(table, [7, 30], tmp_path)
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"])
    assert parts.to_json() == whole.to_json()
    assert any("comparisons repeat an item" in warning for warning in parts.warnings)


def test_the_order_of_the_rows_does_not_matter(tmp_path):
    table = comparisons(60)
    divided(table.reverse(), [20], tmp_path)
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"])
    assert parts.to_json() == konsil.preference(table, resamples=100).to_json()


def test_counted_wins_can_be_divided(tmp_path):
    table = pl.DataFrame(
        {
            "item": ["a", "b", "c", "d"],
            "i": ["x", "y", "x", "z"],
            "j": ["y", "z", "z", "x"],
            "win_i": [3, 0, 2, 1],
            "win_j": [1, 2, 0, 1],
            "tie": [1, 1, 0, 0],
        }
    )
    divided(table, [1, 3], tmp_path)
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"])
    assert parts.to_json() == konsil.preference(table, resamples=100).to_json()


def test_identifiers_are_the_same_as_numbers_and_as_texts(tmp_path):
    table = comparisons(60)
    table[:20].write_parquet(tmp_path / "a.parquet")
    texts = table[20:].with_columns(pl.col("item").cast(pl.String))
    texts.write_parquet(tmp_path / "b.parquet")
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"])
    assert parts.to_json() == konsil.preference(table, resamples=100).to_json()


WORDS = ["a", " a", "b ", "", "e\u0301", "\u00e9", None]
CELLS = {
    pl.Int8: st.integers(-(2**7), 2**7 - 1),
    pl.UInt64: st.integers(0, 2**64 - 1),
    pl.Float64: st.sampled_from([0.0, -0.0, 2.0, 2.5, 1e20, float("nan"), None]),
    pl.Boolean: st.sampled_from([True, False, None]),
    pl.String: st.sampled_from(WORDS),
    pl.Categorical: st.sampled_from(WORDS),
    pl.List(pl.Int64): st.sampled_from([[1], [1, 2], [], None]),
}


@settings(max_examples=40, deadline=None)
@given(data=st.data(), kind=st.sampled_from(list(CELLS)))
def test_categories_and_codes_are_the_words_of_the_cells(data, kind):
    cells = data.draw(st.lists(CELLS[kind], max_size=12))
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=kind, strict=False)})
    categories = as_categories(frame, "table", ["x"])
    assert categories.dtypes == [pl.Categorical]
    texts = as_text(frame, "table", ["x"])
    assert categories.cast(pl.String).equals(texts)
    column = coded_votes.coded(categories.to_series())
    stripped = [(word or "").strip() for word in texts.to_series()]
    assert column.words.to_list() == sorted({*stripped})
    assert column.words.gather(column.codes).to_list() == stripped


@pytest.mark.parametrize("ends", [[], [60], [3], [115]])
def test_a_column_with_many_values_explains_no_repeats(tmp_path, ends):
    table = comparisons(120)
    table = pl.concat([table, table[:10]]).with_columns(
        pl.Series("note", [f"note {n}" for n in range(130)])
    )
    divided(table, ends, tmp_path)
    parts = preference_of_data_set(tmp_path, REQUESTS["plain"])
    assert parts.to_json() == konsil.preference(table, resamples=100).to_json()


def refusal(folder: Path, request: PreferenceRequest = REQUESTS["plain"], cluster: str = "") -> str:
    with options_as_flags(), pytest.raises(KonsilError) as caught:
        preference_of_data_set(folder, request, cluster)
    return str(caught.value)


def test_an_error_names_the_file_and_its_row(tmp_path):
    table = comparisons(30).with_columns(pl.lit("left").alias("winner"))
    table[20, "rater"] = ""
    divided(table, [18], tmp_path)
    assert f"{tmp_path.name}: line 3 of part-001.parquet: the rater is empty" in refusal(tmp_path)


def test_what_no_data_set_has_is_refused(tmp_path):
    assert "is a folder without Parquet files" in refusal(tmp_path)
    table = comparisons(30)
    table.write_parquet(tmp_path / "a.parquet")
    where = PreferenceRequest(resamples=100, where={"axis": "safty"})
    assert "did you mean 'safety'?" in refusal(tmp_path, where)
    arms = tmp_path / "arms"
    arms.mkdir()
    table.with_columns(arm=pl.Series(["x", "y", "z"] * 10)).write_parquet(arms / "a.parquet")
    assert "expected two values" in refusal(arms, PreferenceRequest(resamples=100, compare="arm"))
    shutil.rmtree(arms)
    assert "expected local:N" in refusal(tmp_path, cluster="two")
    table.drop("axis").write_parquet(tmp_path / "b.parquet")
    assert "expected the same in all files" in refusal(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    assert "b.parquet: the Parquet file is damaged" in refusal(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"item,rater")
    with pytest.raises(SourceError, match="not a Parquet file"):
        preference_of_data_set(tmp_path, REQUESTS["plain"])


def test_without_dask_there_is_one_sentence(tmp_path, monkeypatch):
    comparisons(30).write_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert "pip install '.[cluster]'" in refusal(tmp_path, cluster="local:2")
