"""Data sets under a URL have the numbers of the same files in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.api.datasets.agreements import agreement_of_data_set
from konsil.cli import main
from konsil.errors import SourceError
from konsil.sources.files import datasets
from konsil.sources.files.datasets import name_of, pieces_of, read_piece
from object_store import object_store

pytest.importorskip("pyarrow")


def ratings() -> pl.DataFrame:
    rows = [
        (f"u{n}", rater, label)
        for n in range(20)
        for rater, label in (("ann", "yes"), ("ben", "yes" if n % 3 else "no"))
    ]
    return pl.DataFrame(rows, schema=["unit", "rater", "label"], orient="row")


def written(folder: Path) -> Path:
    """Two files, one of which has several groups of rows, and what is no part of the data set."""
    (folder / "more").mkdir(parents=True)
    (folder / "_old").mkdir()
    ratings()[:25].write_parquet(folder / "a.parquet", row_group_size=4)
    ratings()[25:].select("label", "unit", "rater").write_parquet(folder / "more" / "b.parquet")
    (folder / "_old" / "c.parquet").write_bytes(b"")
    (folder / "notes.txt").write_bytes(b"not a table")
    return folder


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "ROWS", 7)


def test_pieces_of_a_url_are_those_of_the_folder(tmp_path: Path) -> None:
    folder = written(tmp_path / "votes")
    own, stored = pieces_of(folder), pieces_of(folder.as_uri())
    assert [(p.name, p.start, p.n_rows, p.number, p.columns, p.size) for p in stored] == [
        (p.name, p.start, p.n_rows, p.number, p.columns, p.size) for p in own
    ]
    assert len(own) == 7
    for piece, other in zip(own, stored, strict=True):
        assert read_piece(piece).equals(read_piece(other))
    assert pieces_of((folder / "a.parquet").as_uri())[-1].n_rows == 4
    assert name_of(folder.as_uri()) == "votes"


def test_the_command_reads_a_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = written(tmp_path / "votes").as_uri()
    main(["agreement", url, "--resamples", "100", "--statistic", "percent_agreement", "--json"])
    result = json.loads(capsys.readouterr().out)
    whole = konsil.agreement(ratings(), resamples=100, statistics=["percent_agreement"])
    assert result["statistics"] == whole.to_dict()["statistics"]
    with pytest.raises(SystemExit):
        main(["preference", url, "--where", "axis"])
    assert "--where 'axis': expected COLUMN=VALUE" in capsys.readouterr().err


def test_an_object_store_is_read_by_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    written(tmp_path / "bucket" / "votes")
    request = AgreementRequest(resamples=100, statistics=["percent_agreement"])
    with object_store(tmp_path) as (query, ranges):
        result = agreement_of_data_set(f"s3://bucket/votes?{query}", request)
        assert ranges
        with pytest.raises(SourceError, match="none: is a folder without Parquet files"):
            pieces_of(f"s3://bucket/none?{query}")
    whole = konsil.agreement(ratings(), resamples=100, statistics=["percent_agreement"])
    assert result.to_json() == whole.to_json()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("memory://votes/2026", "2026: memory://: there is no such store; expected file://, gs://"),
        ("ftp://key:secret@votes", "votes: ftp://: there is no such store"),
        ("file://relative", "relative: "),
    ],
)
def test_what_is_no_store_is_refused_without_its_keys(url: str, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        pieces_of(url)
    assert str(caught.value).startswith(sentence)
    assert "secret" not in str(caught.value)


def test_a_damaged_file_of_a_store_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(SourceError, match=r"a\.parquet: the Parquet file is damaged"):
        pieces_of(tmp_path.as_uri())
