"""Agreement of a folder of Parquet files: the numbers of one table, however it is divided."""

from __future__ import annotations

import json
import pickle
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import konsil
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.api.datasets import agreements, coding
from konsil.api.datasets.agreements import agreement_of_data_set
from konsil.cli import main
from konsil.errors import KonsilError, SourceError, UnclearTableError
from konsil.sources.files.datasets import pieces_of


def ratings(seed: int = 1) -> pl.DataFrame:
    """Three raters, forty units, long."""
    g = np.random.default_rng(seed)
    truth = g.integers(0, 3, 40)
    given = np.where(g.random((3, 40)) < 0.7, truth, g.integers(0, 3, (3, 40)))
    return pl.DataFrame(
        {
            "unit": np.tile(np.arange(40), 3),
            "rater": np.repeat(["ann", "ben", "cem"], 40),
            "label": np.array(["low", "mid", "high"])[given.ravel()],
            "ward": np.tile(np.repeat(["A", "B"], 20), 3),
        }
    ).sample(fraction=1.0, shuffle=True, seed=seed)


def divided(table: pl.DataFrame, folder: Path, n: int) -> Path:
    for part in range(n):
        rows = table[part * table.height // n : (part + 1) * table.height // n]
        rows.write_parquet(folder / f"{part}.parquet")
    return folder


@pytest.mark.parametrize("n", [1, 7])
def test_a_divided_table_has_the_numbers_of_the_whole(tmp_path, n):
    request = AgreementRequest(resamples=200, where={"ward": "A"})
    parts = agreement_of_data_set(divided(ratings(), tmp_path, n), request)
    whole = konsil.agreement(ratings(), resamples=200, where={"ward": "A"})
    assert parts.to_json() == whole.to_json()


def test_groups_of_a_divided_table_have_the_differences_of_the_whole(tmp_path):
    of = {"statistics": ["krippendorff_alpha"], "compare": "ward", "resamples": 100}
    parts = agreement_of_data_set(divided(ratings(), tmp_path, 5), AgreementRequest(**of))
    whole = konsil.agreement(ratings(), **of)
    assert parts.to_json() == whole.to_json()


def test_labels_of_all_pieces_are_proved(tmp_path, monkeypatch):
    """Kills: a code or spelling that some rows do not have and that is computed as a label."""
    monkeypatch.setattr(coding, "_ROWS", 20)
    for label, message in (("High", "High=high"), ("n/a", "missing")):
        rows = pl.Series(range(120)) == 60
        table = ratings().with_columns(
            label=pl.when(rows).then(pl.lit(label)).otherwise(pl.col("label"))
        )
        folder = tmp_path / message[:4]
        folder.mkdir()
        with pytest.raises(UnclearTableError) as caught:
            agreement_of_data_set(divided(table, folder, 3), AgreementRequest(resamples=100))
        assert message in str(caught.value)


def test_some_rows_are_the_same_and_have_the_last_ones(tmp_path, monkeypatch):
    """Kills: rows in an order by chance, and totals at the end that nobody looks at."""
    monkeypatch.setattr(coding, "_ROWS", 30)
    table = ratings().with_columns(pl.Series("unit", range(120)))
    pieces = pieces_of(divided(table, tmp_path, 3))
    units = coding.some_rows(pieces, "t")["unit"].to_list()
    expected = [*range(30), *range(80, 110), *range(110, 120)]
    assert units == [str(unit) for unit in expected]


def outcome(make, *arguments, **options):
    """The numbers as they are printed; None where the table is refused."""
    try:
        return make(*arguments, **options).to_json()
    except KonsilError:
        return None


OPTIONS = {
    "plain": {},
    "abstention": {"abstain": "?"},
    "declared": {"labels": ("no", "yes"), "abstain": "?", "missing": ("", "NA")},
    "NA": {"labels": ("no", "yes", "NA", "?")},
    "missing": {"missing": ("?", "no")},
    "clusters": {"cluster": "ward"},
    "groups": {"by": "ward"},
    "criteria": {"criterion": "ward"},
    "condition": {"where": {"ward": "north"}},
    "recoded": {"recode": {"?": "no"}},
    "first": {"repeat": "first"},
    "sum": {"repeat": "sum", "recode": {"yes": "1", "no": "0"}, "missing": ("?", "")},
}


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["u1", "u2", "u10", " u1", "", "7"]),
            st.sampled_from(["ann", "ben", "Ann", "8"]),
            st.sampled_from(["yes", " yes", "no", "NA", "", "?", None]),
            st.sampled_from(["north", "south"]),
        ),
        min_size=3,
        max_size=14,
    ),
    name=st.sampled_from(sorted(OPTIONS)),
)
def test_any_parts_have_the_numbers_of_the_whole(rows, name):
    kinds = dict.fromkeys(("unit", "rater", "label", "ward"), pl.String)
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    roles = {"layout": "long", "unit": "unit", "rater": "rater", "label": "label"}
    given_options = {**roles, "resamples": 100, **OPTIONS[name]}
    if "ward" not in map(str, OPTIONS[name].values()) and name != "condition":
        given_options["unused"] = ["ward"]
    with TemporaryDirectory() as folder:
        request = AgreementRequest(**given_options)
        parts = outcome(agreement_of_data_set, divided(table, Path(folder), 3), request)
    assert parts == outcome(konsil.agreement, table, **given_options)


def test_labels_and_repeated_ratings_of_a_divided_table_are_rewritten(tmp_path):
    again = pl.concat([ratings(), ratings(2).head(9)])
    of = {"recode": {"mid": "low"}, "repeat": "last", "resamples": 100}
    parts = agreement_of_data_set(divided(again, tmp_path, 4), AgreementRequest(**of))
    assert parts.to_json() == konsil.agreement(again, **of).to_json()
    assert parts.labels == ("high", "low")


def test_labels_of_two_files_are_the_same_without_the_spaces_around_them(tmp_path):
    first = pl.DataFrame({"unit": ["10", "2", "1"], "rater": ["0"] * 3, "label": ["y", "n", "y"]})
    second = first.with_columns(rater=pl.lit("1.5"), label=pl.Series(["y", " n", None]))
    first.write_parquet(tmp_path / "0.parquet")
    second.write_parquet(tmp_path / "1.parquet")
    request = AgreementRequest(resamples=100)
    result = agreement_of_data_set(tmp_path, request)
    assert [(r.name, r.n_ratings) for r in result.raters] == [("0", 3), ("1.5", 2)]
    assert result["percent_agreement"].value == 1


def test_lists_of_labels_are_no_long_table(tmp_path):
    """The labels decide, which only the workers see."""
    lists = ratings().group_by("unit", maintain_order=True).agg("label")
    parts = agreement_of_data_set(
        divided(lists, tmp_path, 3), AgreementRequest(resamples=100, label="label", unit="unit")
    )
    whole = konsil.agreement(lists, resamples=100, label="label", unit="unit")
    assert parts.to_json() == whole.to_json()


def test_a_column_without_words_is_refused_also_where_no_statistic_needs_it(tmp_path):
    table = ratings().with_columns(pl.lit(b"x").alias("photo"))
    with pytest.raises(SourceError, match="column 'photo' contains Binary"):
        agreement_of_data_set(divided(table, tmp_path, 2), AgreementRequest(resamples=100))


class Distant:
    """A runner whose parts and results travel as those of other processes, the last one first."""

    def __init__(self):
        self.functions = []
        self.works = []

    def of(self, work):
        self.works.append(work.part)
        return self

    def map(self, function, parts):
        results = []
        for part in reversed(parts):
            own, copy = pickle.loads(pickle.dumps((function, part)))
            results.append(pickle.loads(pickle.dumps(own(copy))))
        return reversed(results)

    def map_with(self, function, shared, parts):
        self.functions.append(function.__name__)
        return self.map(partial(_of_shared, function, shared), parts)


def _of_shared(function, shared, part):
    return function(shared, part)


@pytest.mark.parametrize(
    ("cluster", "by", "pairs"),
    [("", None, False), ("", "ward", False), ("local:2", None, True), ("local:2", "ward", False)],
)
def test_workers_have_the_numbers_of_the_whole(tmp_path, monkeypatch, cluster, by, pairs):
    if cluster:
        pytest.importorskip("distributed")
    runner = Distant()
    monkeypatch.setattr(agreements, "open_runner", lambda *_, **__: nullcontext(runner))
    given = {"resamples": 100, "by": by, "pairs": pairs, "pair_weights": "units"}
    folder = divided(ratings(), tmp_path, 3)
    parts = agreement_of_data_set(folder, AgreementRequest(**given), cluster)
    assert parts.to_json() == konsil.agreement(ratings(), **given).to_json()
    of_table = ["estimates", *(["_pair_result"] if pairs else [])]
    assert runner.functions == (of_table * (2 if by else 1) if cluster else [])
    # What a worker that ends again and again had: no piece of the table.
    assert runner.works == (["statistic"] if cluster else [])


def test_statistics_are_in_the_order_of_the_request():
    names = ["percent_agreement", "fleiss_kappa", "cohen_kappa", "krippendorff_alpha"]
    result = konsil.agreement(ratings(), resamples=100, statistics=names)
    assert [s.name for s in result.statistics] == names


def test_the_table_of_a_long_data_set_is_never_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(agreements, "estimate_agreement", None)
    whole = coding.words

    def of_few_rows(piece, *, name):
        assert piece.n_rows <= 5
        return whole(piece, name=name)

    monkeypatch.setattr(agreements, "words", of_few_rows)
    monkeypatch.setattr(coding, "words", of_few_rows)
    monkeypatch.setattr(coding, "_ROWS", 5)
    folder = divided(ratings(), tmp_path, 3)
    assert agreement_of_data_set(folder, AgreementRequest(resamples=100)).n_ratings == 120


def test_wide_tables_can_be_divided(tmp_path):
    wide = ratings().pivot("rater", index="unit", values="label").sort("unit")
    wide = wide.select("unit", "ann", "ben", "cem")
    parts = agreement_of_data_set(divided(wide, tmp_path, 3), AgreementRequest(resamples=200))
    assert parts.to_json() == konsil.agreement(wide, resamples=200).to_json()


def test_the_command_reads_a_folder(tmp_path, capsys):
    folder = divided(ratings(), tmp_path, 2)
    main(["agreement", str(folder), "--resamples", "200", "--json"])
    assert json.loads(capsys.readouterr().out)["n_ratings"] == 120


def test_an_error_names_the_file_and_its_row(tmp_path):
    table = ratings().with_columns(pl.col("rater").replace("cem", ""))
    row = table.get_column("rater").to_list().index("")
    table.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=f"line {row + 1} of a.parquet: the rater is empty"):
        roles = AgreementRequest(unit="unit", rater="rater", label="label", resamples=200)
        agreement_of_data_set(tmp_path, roles)
