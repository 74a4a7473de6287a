"""datacite.json and croissant.json of a release: what is stated, what is missing, nothing made up."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System, Task
from konsil.store import Batch, Store
from konsil.store.release.release import Disclosure, release
from konsil.store.release.released import Released
from konsil.study import Study
from konsil.study.definition.publication import Creator, Publication

AT = "2025-03-01T12:00:00Z"
FORM = Instrument("quality", (Criterion("accuracy", "Is it accurate?", Scale(("no", "yes"))),))
STUDY = Study(
    "A trial",
    seed=1,
    description="What it\n  is about.",
    licence="CC-BY-4.0",
    instruments=(FORM,),
    systems=(System("s1", "acme", "acme-1"),),
)
PUBLICATION = Publication(
    title="Ratings of a trial",
    creators=(
        Creator("Weber, Anna", "0000-0002-1825-0097", "Clinic"),
        Creator("The group", kind="organisation"),
    ),
    publisher="Zenodo",
    year=2026,
    doi="10.5281/zenodo.1234567",
    keywords=("agreement", "LLM"),
)
REQUIRED = {"doi", "creators", "titles", "publisher", "publicationYear", "types", "schemaVersion"}
"""What DataCite 4.5 requires."""


@pytest.fixture
def store(tmp_path: Path):
    batch = Batch(
        items=(Item("i1", "Which drug?"),),
        answers=(Answer("a1", "i1", "s1", "Metformin."),),
        raters=(Rater("wombat", "doctors"),),
        tasks=(Task("t1", "slot", "wombat", "quality", "i1", ("a1",)),),
        ratings=(Rating("t1", "wombat", "accuracy", "i1", ("a1",), label="yes", seconds=3.5),),
    )
    with Store.open(tmp_path) as opened:
        opened.add(batch, source="test", at=AT)
        yield opened


def made(
    store: Store, folder: Path, study: Study
) -> tuple[Released, dict[str, Any], dict[str, Any]]:
    released = release(store, study, folder, key=b"k" * 32, disclosure=Disclosure(linked=True))
    files = [
        json.loads((folder / n).read_text("utf-8")) for n in ("datacite.json", "croissant.json")
    ]
    return released, files[0], files[1]


def test_datacite_has_all_required_facts_and_the_licence(store: Store, tmp_path: Path):
    study = dataclasses.replace(STUDY, publication=PUBLICATION)
    released, datacite, _ = made(store, tmp_path / "out", study)
    assert released.missing == ()
    assert set(datacite) >= REQUIRED
    assert datacite["types"]["resourceTypeGeneral"] == "Dataset"
    assert datacite["titles"] == [{"title": "Ratings of a trial"}]
    person, group = datacite["creators"]
    assert person["nameIdentifiers"][0]["nameIdentifier"] == "https://orcid.org/0000-0002-1825-0097"
    assert (person["nameType"], group["nameType"]) == ("Personal", "Organizational")
    assert "nameIdentifiers" not in group
    assert datacite["descriptions"][0]["description"] == "What it is about."
    assert datacite["rightsList"][0]["rightsIdentifier"] == "CC-BY-4.0"
    readme = (tmp_path / "out/README.md").read_text("utf-8")
    assert "No required fact is missing." in readme


def test_what_is_missing_is_stated_once_and_left_out(store: Store, tmp_path: Path):
    released, datacite, croissant = made(store, tmp_path / "out", STUDY)
    assert released.missing == ("creators", "publisher", "year", "doi")
    assert REQUIRED - set(datacite) == {"doi", "creators", "publisher", "publicationYear"}
    assert not {"creator", "publisher", "datePublished", "url", "citeAs"} & set(croissant)
    readme = (tmp_path / "out/README.md").read_text("utf-8")
    assert readme.count("lack: creators, publisher, year, doi; state them in [publication]") == 1


def test_croissant_lists_every_file_and_every_column(store: Store, tmp_path: Path):
    folder = tmp_path / "out"
    study = dataclasses.replace(STUDY, publication=PUBLICATION)
    _, _, croissant = made(store, folder, study)
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    listed = {file["contentUrl"]: file for file in croissant["distribution"]}
    assert set(listed) == files - {"croissant.json", "SHA256SUMS"}
    for name, file in listed.items():
        content = (folder / name).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
        assert file["encodingFormat"] != "application/octet-stream"
    sums = (folder / "SHA256SUMS").read_text("utf-8")
    for name in ("croissant.json", "datacite.json"):
        assert re.search(rf"^[0-9a-f]{{64}}  {re.escape(name)}$", sums, flags=re.MULTILINE)
    sets = {table["name"]: table for table in croissant["recordSet"]}
    assert set(sets) == {p.stem for p in folder.glob("*.parquet")}
    types = {pl.Int64: "sc:Integer", pl.Float64: "sc:Float", pl.String: "sc:Text"}
    for name, table in sets.items():
        schema = pl.read_parquet_schema(folder / f"{name}.parquet")
        stated = {field["source"]["extract"]["column"]: field for field in table["field"]}
        assert list(stated) == list(schema)
        for column, field in stated.items():
            assert field["source"]["fileObject"] == {"@id": f"{name}.parquet"}
            assert field["dataType"] == types.get(type(schema[column]), types.get(schema[column]))
            assert len(field["description"]) > 10
        if "key" in table:
            column = table["key"]["@id"].removeprefix(f"{name}/")
            assert pl.read_parquet(folder / f"{name}.parquet")[column].is_unique().all()


def test_croissant_cites_and_dates_only_what_is_known(store: Store, tmp_path: Path):
    study = dataclasses.replace(STUDY, publication=PUBLICATION)
    _, _, croissant = made(store, tmp_path / "out", study)
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert croissant["citeAs"] == (
        "Weber, Anna; The group (2026): Ratings of a trial. Zenodo."
        " https://doi.org/10.5281/zenodo.1234567"
    )
    assert [c["@type"] for c in croissant["creator"]] == ["sc:Person", "sc:Organization"]
    assert croissant["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"


def test_simulated_ratings_are_called_so_and_no_rater_is_named(store: Store, tmp_path: Path):
    study = dataclasses.replace(STUDY, simulated=True)
    _, datacite, croissant = made(store, tmp_path / "out", study)
    for text in (datacite["descriptions"][0]["description"], croissant["description"]):
        assert text == "Simulated ratings. What it is about."
    for name in ("datacite.json", "croissant.json"):
        assert "wombat" not in (tmp_path / "out" / name).read_text("utf-8")


def test_the_licence_of_the_publication_is_enough(store: Store, tmp_path: Path):
    study = dataclasses.replace(
        STUDY, licence="", publication=Publication(licence="MIT OR CC0-1.0")
    )
    _, datacite, croissant = made(store, tmp_path / "out", study)
    assert datacite["rightsList"] == [{"rights": "MIT OR CC0-1.0"}]
    assert croissant["license"] == "MIT OR CC0-1.0"
    assert "MIT OR CC0-1.0" in (tmp_path / "out/LICENCE.txt").read_text("utf-8")
