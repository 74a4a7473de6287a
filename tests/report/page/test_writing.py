"""The whole report: what it says, that it is whole, alone and the same every time."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from konsil.analysis import Results
from konsil.analysis.table.calls.model_provenance import played
from konsil.errors import KonsilError
from konsil.records import Callee
from konsil.study import Study
from report_files import write

HERE = Path(__file__).parents[1]
VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Document(HTMLParser):
    """Tags in order, and whether they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[int, str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._open and re.fullmatch("h[1-6]", self._open[-1]):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)


@pytest.fixture(scope="session")
def page(english: Path) -> str:
    text = (english / "index.html").read_text("utf-8")
    # Intervals without the spans that keep them on one line.
    return re.sub(r'<span class="whole">(.*?)</span>', r"\1", text)


@pytest.fixture(scope="session")
def document(page: str) -> Document:
    return Document(page)


def folder_digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        whole.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def test_files(english: Path) -> None:
    assert {p.name for p in english.iterdir()} == {
        "index.html",
        "figures",
        "estimates.csv",
        "estimates.json",
        "coverage.csv",
        "labels.csv",
        "outcomes.csv",
        "orders.csv",
        "usage.csv",
        "bounds.csv",
        "derived.csv",
        "curves.csv",
        "case_scores.csv",
    }
    names = sorted(p.stem for p in english.glob("figures/*.svg"))
    assert len(names) == len(list(english.glob("figures/*")))
    assert [re.sub("-[0-9a-f]{6}$", "", name) for name in names] == [
        "answer-accuracy",
        "answer-agreement",
        "answer-by-system",
        "answer-judges",
        "differences-by-system",
        "differences-judges",
        "forest-by-system",
        "forest-judges",
        "labels-correct",
        "labels-helpful",
        "pairs-pairs",
        "recovery-recovery",
        "series-accuracy",
    ]
    for path in english.glob("figures/*.svg"):
        assert b"<dc:date>" not in path.read_bytes()


def digits(text: str) -> int:
    """Significant digits of a number as it is written."""
    return len(text.lower().partition("e")[0].replace(".", "").replace("-", "").strip("0"))


def test_numbers_are_written_with_the_digits_that_hold_on_every_processor(english: Path) -> None:
    """Sums in another order, or another processor's arithmetic, differ in the last digits of a
    double."""
    tables = [file.read_text("utf-8").splitlines() for file in english.glob("*.csv")]
    cells = [cell for lines in tables for row in csv.reader(lines) for cell in row]
    numbers = [cell for cell in cells if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)]
    numbers += re.findall(
        r'": (-?\d+\.\d+(?:e-?\d+)?)', (english / "estimates.json").read_text("utf-8")
    )
    assert max(map(digits, numbers)) == 12


def test_page_weight(english: Path) -> None:
    assert (english / "index.html").stat().st_size < 1_500_000


def test_nothing_is_loaded(page: str, document: Document) -> None:
    allowed = {"http://www.w3.org/1999/xlink"}
    for tag, attributes in document.tags:
        assert tag not in {
            "link",
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "audio",
            "video",
            "image",
        }
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in {"src", "srcset", "poster", "data", "action", "xlink:href"}:
                raise AssertionError((tag, name, value))
            if name == "href" and tag != "a":
                assert (value or "").startswith("#")
    assert not re.search(r"@import|url\((?!#)", page)
    for address in set(re.findall(r'"(https?://[^"]*)"', page)) - allowed:
        assert f'<a href="{address}">' in page or "&lt;" in page.split(address)[0][-40:]


def test_the_only_script_is_the_one_that_the_policy_names(page: str) -> None:
    [script] = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL | re.IGNORECASE)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


def test_hostile_texts_are_shown_and_not_run(page: str) -> None:
    assert page.casefold().count("<script") == 1
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in page
    assert "&lt;script&gt;alert('codebook')&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page
    assert "<img" not in page


@pytest.mark.slow
def test_hostile_names_everywhere(
    tmp_path: Path, material: Callable[[], dict[str, object]]
) -> None:
    """System, panel, criterion and label names come from files too; also into figures."""
    evil = "<b onload=x>$\\frac{1}$ & \"'\u2028]]>"
    given = material()
    results = given["results"]
    assert isinstance(results, Results)
    renamed = tuple(
        replace(
            row,
            group={k: v + evil for k, v in row.group.items()},
            versus={k: v + evil for k, v in row.versus.items()},
        )
        for row in results.rows
    )
    counts = {
        (p + evil, c, s + evil, label): n for (p, c, s, label), n in results.label_counts.items()
    }
    given["results"] = replace(results, rows=renamed, label_counts=counts, warnings=(evil,))
    text = write(tmp_path / "r", **given).read_text("utf-8")  # type: ignore[arg-type]
    assert "<b " not in text
    Document(text)
    for path in tmp_path.glob("r/figures/*.svg"):
        ET.fromstring(path.read_text("utf-8"))


def test_headings_in_order(document: Document) -> None:
    levels = [level for level, _text in document.headings]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    titles = [text for level, text in document.headings if level == 2]
    assert titles == [
        "Limitations",
        "Answers",
        "Contents",
        "Results by question",
        "Appendix",
        "Declared analyses",
        "Exploratory analyses",
        "Raters, items and systems",
        "Study flow",
        "Distribution of ratings",
        "Recovery",
        "Costs",
        "Methods",
        "Instruments and codebooks",
        "Sample items",
        "Statistics and their sources",
        "Versions and checksums",
    ]


def test_anchors_are_unique_and_lead_somewhere(document: Document) -> None:
    ids = [str(a["id"]) for _tag, a in document.tags if "id" in a]
    assert len(ids) == len(set(ids))
    pointers = [
        str(a["href"])[1:] for _tag, a in document.tags if str(a.get("href", "")).startswith("#")
    ]
    labelled = [
        name for _tag, a in document.tags for name in str(a.get("aria-labelledby", "")).split()
    ]
    assert len(pointers) > 15
    assert set(pointers) | set(labelled) <= set(ids)


def test_tables_are_accessible(document: Document) -> None:
    tags = [tag for tag, _a in document.tags]
    report_tables = sum(
        tag == "div" and a.get("class") == "scroll" and a.get("role") == "region"
        for tag, a in document.tags
    )
    n_answers = sum(a.get("class") == "drawing scroll" for _tag, a in document.tags)
    assert n_answers >= 1
    assert tags.count("caption") + tags.count("figcaption") == report_tables
    svgs = [a for tag, a in document.tags if tag == "svg"]
    assert len(svgs) == tags.count("title") - 1 == tags.count("desc")
    assert all(a["role"] == "img" for a in svgs)


def test_simulated_is_stated_once_and_in_every_figure(
    page: str, document: Document, english: Path
) -> None:
    captions = re.findall(
        r"<(?:caption|figcaption)>(.*?)</(?:caption|figcaption)>", page, re.DOTALL
    )
    assert len(captions) > 15
    assert not any("Simulated ratings." in caption for caption in captions)
    without_figures = re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)
    assert without_figures.count("Simulated ratings.") == 1
    assert 'class="banner"' in page
    assert "@top-right { content" in page
    assert all("Simulated ratings." in p.read_text("utf-8") for p in english.glob("figures/*.svg"))
    assert json.loads((english / "estimates.json").read_text("utf-8"))["simulated"] is True


def test_real_ratings_are_not_called_simulated(
    thin: Callable[..., dict[str, object]], tmp_path: Path
) -> None:
    text = write(tmp_path / "report", **thin(simulated=False))  # type: ignore[arg-type]
    text = text.read_text("utf-8")
    assert "imulated ratings" not in text


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Scripted test endpoint: "), ("de", "Testendpunkt: ")]
)
def test_models_that_konsil_plays_are_told_like_simulated_ratings(
    thin: Callable[..., dict[str, object]], tmp_path: Path, language: str, words: str
) -> None:
    material = thin(language, simulated=False)
    notice = played([Callee("judge", "j", "fake:m", 9)], named=True)
    text = write(
        tmp_path / "r", **material | {"results": replace(material["results"], played=notice)}
    )  # type: ignore[arg-type,type-var]
    page = text.read_text("utf-8")
    assert f'<p class="banner" role="note">{words}' in page
    assert page.index(words) < page.index("<h1>")
    assert json.loads((tmp_path / "r" / "estimates.json").read_text("utf-8"))["played"] == notice
    stamp = "Scripted test endpoint" if language == "en" else "Testendpunkt"
    assert f" – {stamp}</title>" in page
    assert f'@top-right {{ content: "{stamp}."' in page


def test_numbers_on_the_page(page: str) -> None:
    for shown in (
        "0.612 [0.552, 0.672]",
        "[0.542, 0.682]",
        "small-llm − Large LLM",
        "&lt; 0.001",
        "0.10",
        "All labels are the same.",
        "t with 57–59 degrees of freedom",
        "physicians, leave-one-out",
        "as published",
        "Not estimable for 2 pairs of raters",
        "There are no ratings for this analysis.",
        "55 [34, 71]",
        "60 different values",
        "12\u202f345",
    ):
        assert shown in page, shown
    assert "nan" not in re.sub(r"<[^>]*>", "", page).split()


def test_ceiling_stands_beside_the_judges(page: str) -> None:
    part = page[page.index('id="analysis-judges"') :]
    table = part[part.index("<thead>") : part.index("</table>")]
    assert '<th scope="col" class="num">physicians, leave-one-out</th>' in table
    assert table.count("<tr") == 3
    assert table.count("0.840 [0.810, 0.870]") == 2
    assert "Vertical line and band: physicians, leave-one-out with CI." in part


def test_recovery_names_groups_once(page: str) -> None:
    assert ">accuracy of physician 1</th>" in page
    assert "physicians: accuracy of physician 1" not in page


def test_codebook(page: str) -> None:
    assert "<h5>Rating guide</h5>" in page
    assert "<h6>Abstaining</h6>" in page
    assert "<td>names the reference or a synonym</td>" in page
    assert '<a href="https://example.org/guideline">the guideline</a>' in page


@pytest.mark.slow
def test_german(german: Path) -> None:
    page = (german / "index.html").read_text("utf-8")
    assert '<html lang="de">' in page
    for shown in (
        "Simulierte Bewertungen.",
        '0,612 <span class="whole">[0,552; 0,672]</span>',
        "Krippendorffs Alpha",
        "nicht schätzbar",
        "Abbildung 1.",
    ):
        assert shown in page, shown
    for english_word in ("Summary", "Study flow", "undefined", "Table 1", "Estimate"):
        assert english_word not in re.sub(
            r"<style.*?</style>|<[^>]*>", "", page, flags=re.DOTALL
        ), english_word


def test_estimates_are_those_of_the_analyses(
    english: Path, material: Callable[[], dict[str, object]]
) -> None:
    results = material()["results"]
    assert isinstance(results, Results)
    told = json.loads((english / "estimates.json").read_text("utf-8"))["rows"]
    with (english / "estimates.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(told) == len(lines) == len(results.rows)
    for row, record, line in zip(results.rows, told, lines, strict=True):
        assert (record["analysis"], line["analysis"]) == (row.analysis, row.analysis)
        if math.isnan(row.estimate.value):
            assert record["value"] is None
            assert line["value"] == ""
            assert record["reason"] == line["reason"] != ""
        else:
            assert (
                record["value"]
                == float(line["value"])
                == pytest.approx(row.estimate.value, rel=1e-11)
            )
            assert record["low"] == float(line["low"]) == pytest.approx(row.estimate.low, rel=1e-11)
        assert record["group"] == row.group
        assert all(line[f"group.{column}"] == value for column, value in row.group.items())
    assert {r["mode"] for r in told if r["analysis"] == "as_in_paper"} == {"paper"}


def test_coverage(english: Path) -> None:
    with (english / "coverage.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 12
    assert lines[0]["excluded.faster_than:10"] == "6"
    assert lines[0]["simulated"] == "true"


@pytest.mark.slow
def test_same_bytes_in_another_process(english: Path, tmp_path: Path) -> None:
    code = (
        "import runpy, sys; from pathlib import Path;"
        f"sys.path[:0] = [{str(HERE.parent)!r}, {str(HERE.parents[1])!r}];"
        f"there = runpy.run_path({str(HERE / 'conftest.py')!r});"
        "there['quick_fonts'](); there['write_example'](Path(sys.argv[1]))"
    )
    there = tmp_path / "english"
    env = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, str(there)], check=True, env=env, timeout=120)
    assert folder_digest(there) == folder_digest(english)


def test_order_of_records_changes_nothing(
    tmp_path: Path, thin: Callable[..., dict[str, object]]
) -> None:
    given = thin()
    write(tmp_path / "a", **given)  # type: ignore[arg-type]
    for name in ("items", "answers", "raters", "ratings"):
        given[name] = tuple(reversed(given[name]))  # type: ignore[call-overload]
    write(tmp_path / "b", **given)  # type: ignore[arg-type]
    assert folder_digest(tmp_path / "a") == folder_digest(tmp_path / "b")


def test_replaces_an_earlier_report(thin: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write(folder, **thin("de"))  # type: ignore[arg-type]
    (folder / "figures" / "old.svg").write_text("old")
    write(folder, **thin())  # type: ignore[arg-type]
    assert not (folder / "figures" / "old.svg").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


def test_leaves_other_folders_alone(thin: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(KonsilError, match=r"contains 'thesis\.doc', which is not part of a report"):
        write(tmp_path, **thin())  # type: ignore[arg-type]
    with pytest.raises(KonsilError, match="is not a folder"):
        write(tmp_path / "thesis.doc", **thin())  # type: ignore[arg-type]
    assert (tmp_path / "thesis.doc").read_text() == "years of work"


def test_nothing_is_left_when_writing_fails(
    thin: Callable[..., dict[str, object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "report"
    write(folder, **thin())  # type: ignore[arg-type]
    before = folder_digest(folder)
    real = Path.write_bytes

    def full_disk(self: Path, data: bytes) -> int:
        if self.name == "labels.csv":
            raise OSError(28, "No space left on device")
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        write(folder, **thin("de"))  # type: ignore[arg-type]
    assert folder_digest(folder) == before
    assert [p.name for p in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_empty_study(tmp_path: Path, language: str) -> None:
    study = Study(title="Nothing yet", seed=1, language=language)
    path = write(
        tmp_path / "r", study, Results((), ()), items=(), answers=(), raters=(), ratings=()
    )
    Document(path.read_text("utf-8"))


@pytest.mark.slow
def test_many_rows_make_several_figures(
    tmp_path: Path, material: Callable[[], dict[str, object]]
) -> None:
    given = material()
    results = given["results"]
    assert isinstance(results, Results)
    one = next(r for r in results.rows if r.analysis == "accuracy")
    rows = tuple(
        replace(one, group={"specialty": "all", "system": f"system {n}"}) for n in range(100)
    )
    given["results"] = replace(results, rows=rows)
    write(tmp_path / "r", **given)  # type: ignore[arg-type]
    assert sorted(p.name for p in tmp_path.glob("r/figures/forest*.svg")) == [
        f"forest-accuracy-{n}.svg" for n in (1, 2, 3)
    ]


def test_single_estimates_share_a_table_and_the_print_can_omit_the_appendix(page: str) -> None:
    tables = re.findall(r'<figure class="table.*?</figure>', page, re.DOTALL)
    shared = [t for t in tables if "analyses with one estimate." in t]
    for text in shared:
        assert text.count("<tr") > 2
    singles = [t for t in tables if "Estimates of the analysis" in t and t.count("<tr") == 2]
    assert len(singles) < 2 or not shared
    assert page.count('name="print"') == 3
    for choice in ("print-open", "print-none"):
        assert f'id="{choice}"' in page
        assert f"body:has(#{choice}:checked)" in page


def test_no_table_has_a_footnote_of_all_of_its_rows(page: str) -> None:
    n_checked = 0
    for text in re.findall(r"<table.*?</table>", page, re.DOTALL):
        rows = [set(re.findall(r"<sup>(.*?)</sup>", row)) for row in text.split("<tr")[2:]]
        letters = [{letter for marks in row for letter in marks.split(",")} for row in rows]
        if len(letters) > 1:
            assert not set.intersection(*letters), text[:300]
            n_checked += 1
    assert n_checked > 3
