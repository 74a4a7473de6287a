"""References: each source of the registry and each interval method has its entries, complete."""

from __future__ import annotations

import json
import re

import pytest
from tests.report.conftest import study

from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.analysis.model.interval_registry import METHODS
from konsil.errors.message import message
from konsil.report.manuscript.citations import (
    bibtex,
    cite,
    cited,
    csl_json,
    entries,
    in_words,
    keys_of_method,
    keys_of_source,
    keys_of_statistic,
    parts,
)

DEFINITIONS = {
    "convention",
    "mean preference in scale points; equal weight for every comparator",
    "proportion of comparisons won, ties in the denominator",
    "proportion of units with equal labels, by pair of raters",
    "proportion of units with equal or adjacent labels, by pair of raters",
}
"""Sources that are definitions and no publications."""
NO_PUBLICATION = {
    "comparisons.about_these",
    "comparisons.about_this",
    "comparisons.about_this_judge",
    "comparisons.about_this_jury",
    "edges.by_share",
    "edges.uneven_tails",
    "method.chance_level",
    "method.chance_over_sides",
    "method.model",
    "range.cut_above",
    "range.cut_at_both",
    "range.cut_below",
}
"""Methods that add something of konsil's to another one, or have the model's own interval."""


@pytest.mark.parametrize("source", sorted({s.source for s in CATALOGUE.values() if s.source}))
def test_every_source_of_the_registry_resolves(source: str) -> None:
    keys = keys_of_source(source)
    assert bool(keys) != (source in DEFINITIONS)
    for key in keys:
        entry = entries()[key]
        author = entry["author"][0]
        name = (author.get("family") or author["literal"]).split()[0]
        assert name in source, "the first author is named by the source"


def test_years_of_references_are_those_of_the_sources() -> None:
    for source in {s.source for s in CATALOGUE.values() if s.source}:
        stated = {int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", source)}
        years = {
            entries()[key]["issued"]["date-parts"][0][0]
            for key in keys_of_source(source)
            if "issued" in entries()[key]
        }
        assert stated <= years, source


def test_every_interval_method_has_a_line() -> None:
    assert {key for m in METHODS.values() for key in m.references} <= set(entries())
    without = {name for name in METHODS if not keys_of_method(message("x", message_id=name))}
    assert without == NO_PUBLICATION


def test_a_method_within_a_method_is_cited_too() -> None:
    inner = message("Wilson", message_id="method.wilson")
    outer = message("{method}, cut at 1", message_id="range.cut_above", method=inner)
    assert keys_of_method(outer) == ("wilson1927",)
    assert keys_of_method("a text of another program") == ()


@pytest.mark.parametrize("key", sorted(entries()))
def test_entries_are_complete(key: str) -> None:
    entry = entries()[key]
    assert entry["id"] == key
    assert entry["author"] and entry["title"]
    if entry["type"] == "article-journal":
        assert {"container-title", "issued", "volume", "page"} <= entry.keys()
    elif "note" not in entry and entry["type"] != "software":
        assert "issued" in entry and {"publisher", "container-title"} & entry.keys()
    if "DOI" in entry:
        assert re.fullmatch(r"10\.\d{4,}/\S+", entry["DOI"])
    text = in_words(entry)
    assert ".." not in text and "?." not in text and "  " not in text


WITHOUT_ADDRESS = {
    "clexeval": "not published yet",
    "konsil": "the software itself",
    "kendall1948": "a book older than ISBN",
    "kirk2013": "a book",
    "korn1998": "an article without a DOI",
    "mease2003": "an article whose DOI was not at hand",
    "steiger1997": "a chapter of a book",
}
"""References that have no DOI, URL or ISBN, and why."""


@pytest.mark.parametrize("key", sorted(entries()))
def test_a_reference_can_be_found(key: str) -> None:
    """Authors with names, a year, and a DOI, URL or ISBN, in all three forms of a reference."""
    entry = entries()[key]
    for person in entry["author"]:
        assert person.get("literal") or (person["family"] and person["given"]), key
    if key not in {"clexeval", "konsil"}:
        year = entry["issued"]["date-parts"][0][0]
        assert 1900 < year < 2030
        assert f"year = {{{year}}}" in bibtex([key]) and str(year) in in_words(entry)
    addresses = [entry[name] for name in ("DOI", "URL", "ISBN") if name in entry]
    assert bool(addresses) != (key in WITHOUT_ADDRESS)
    for address in addresses:
        assert address in bibtex([key])
        assert address in in_words(entry) or "DOI" in entry
    assert "URL" not in entry or re.fullmatch(r"https://[^\s{}\\]+", entry["URL"])


def test_of_many_authors_a_list_names_six_and_a_file_all() -> None:
    entry = entries()["gallifant2025"]
    assert in_words(entry).startswith(
        "Gallifant J, Afshar M, Ameen S, Aphinyanaphongs Y, Chen S, Cacciamani G, et al. The TRIPOD"
    )
    assert bibtex(["gallifant2025"]).count(" and ") == len(entry["author"]) - 1 == 24
    kottner = in_words(entries()["kottner2011"])
    assert "et al" not in kottner and kottner.count(",") == 8, "up to ten are named in full"


def test_entries_are_all_used() -> None:
    used = {key for s in CATALOGUE.values() for key in keys_of_statistic(s.id)}
    used |= {key for name in METHODS for key in keys_of_method(message("x", message_id=name))}
    of_text = {"konsil", "holm1979", "westfall1993", "kottner2011", "bender2018"}
    of_text |= {"horowitz1995", "gallifant2025", "huo2025"}
    assert set(entries()) == used | of_text


def test_citations_of_a_text_come_in_order_and_once() -> None:
    text = f"B{cite(['holm1979', 'cohen1960'])}, A{cite(['cohen1960'])}."
    assert parts(text) == [
        ("B", ("holm1979", "cohen1960")),
        (", A", ("cohen1960",)),
        (".", ()),
    ]
    assert cited([text, text]) == ("holm1979", "cohen1960")
    assert cite([]) == ""


def test_bibtex_and_csl_have_the_same_entries() -> None:
    keys = ["tango1998", "cameron2011", "searle1992"]
    text = bibtex(keys)
    assert re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE) == sorted(keys)
    assert r"Journal of Business \& Economic Statistics" in text
    assert "doi = {10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B}" in text
    assert text.count("{") == text.count("}")
    assert [entry["id"] for entry in json.loads(csl_json(keys))] == sorted(keys)


def test_the_example_uses_statistics_of_the_registry() -> None:
    assert all(a.statistic in CATALOGUE for a in study().analyses)
