"""Columns of other intervals: their groups depend on message ids, not on any catalogue's words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.conftest import arguments

import konsil.report.estimates.interval_methods as tables
from konsil.analysis import Results, Row
from konsil.analysis.model.interval_registry import METHODS
from konsil.errors.message import message
from konsil.report.estimates.interval_methods import column_heading, key_of_column
from konsil.report.material.language import ENGLISH, Language, language
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import Joined
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import Estimate


class Reworded(Language):
    """A language in which all methods and headings begin alike, and have commas elsewhere."""

    def gettext(self, text: str) -> str:
        return f"interval, {text} {{cluster}}" if text in METHODS else f"heading, {text}"


REWORDED = Reworded("en", ".", ", ", "%")


def wald(df: int, cluster: str = "item") -> str:
    return message(
        "{cluster}: Wald, t with {df} degrees of freedom",
        message_id="method.wald",
        cluster=cluster,
        df=df,
    )


def exact(name: str, n: float) -> str:
    return message("exact, {n:.3g} by {cluster}", message_id=name, n=n, cluster="item")


CUT = message("{method}, truncated", message_id="range.cut_below", method=wald(7))


def joined(value: float, *methods: str) -> Joined:
    own = Row("a", "share", "correct", "physicians", Estimate(value, 0.1, 0.9), {"system": "s"})
    return Joined(
        own,
        tuple(
            replace(own, estimate=Estimate(value, n / 10, 0.9, method=m), kind="companion")
            for n, m in enumerate(methods)
        ),
    )


ROWS = [
    joined(0.5, wald(9), wald(9, "rater"), exact("two_way.exact", 4)),
    joined(0.6, CUT, wald(8, "rater"), exact("two_way.exact", 5), exact("two_way.exact_both", 5)),
]


def material(words: Language) -> Material:
    given = arguments()
    records = {k: given[k] for k in ("items", "answers", "raters", "ratings")}
    return Material(
        study=given["study"],  # type: ignore[arg-type]
        results=Results((), ()),
        **records,  # type: ignore[arg-type]
        language=words,
        numbers=Numbers(words),
    )


def cells(words: Language) -> list[list[str]]:
    about, columns = material(words), tables.companion_columns(ROWS)
    return [[c.text for c in tables.companion_cells(about, row, columns)] for row in ROWS]


def test_each_kind_of_interval_has_one_column() -> None:
    assert tables.companion_headings(material(ENGLISH), ROWS) == [
        "Cluster-robust Wald (item-clustered)",
        "Cluster-robust Wald (rater-clustered)",
        "Exact (item clusters)",
        "Exact (item or rater clusters)",
    ]
    assert cells(ENGLISH) == [
        ["[0.000, 0.900]", "[0.100, 0.900]", "[0.200, 0.900]", ""],
        ["[0.000, 0.900]", "[0.100, 0.900]", "[0.200, 0.900]", "[0.300, 0.900]"],
    ]


@pytest.mark.parametrize("words", [REWORDED, language("de")])
def test_another_wording_leaves_the_groups_as_they_are(words: Language) -> None:
    assert cells(words) == [
        [text.replace(".", words.decimal).replace(", ", words.between) for text in row]
        for row in cells(ENGLISH)
    ]
    assert len(tables.companion_headings(material(words), ROWS)) == 4


def test_notes_print_methods_in_the_reader_s_language() -> None:
    notes = tables.method_notes(material(language("de")), ROWS)
    assert any("t mit 7–9 Freiheitsgraden" in note or "t mit 8–9" in note for note in notes)
    assert not any("degrees of freedom" in note for note in notes)


def test_the_first_of_two_intervals_of_a_kind_is_shown() -> None:
    row = joined(0.5, wald(9), wald(8))
    columns = tables.companion_columns([row])
    assert [c.text for c in tables.companion_cells(material(ENGLISH), row, columns)] == [
        "[0.000, 0.900]"
    ]


def test_a_method_without_a_heading_is_printed_in_full() -> None:
    tukey = message("Tukey's HSD of {n} cells, alone", message_id="method.tukey", n=3)
    assert str(column_heading(tukey)) == "Tukey's HSD of 3 cells, alone"
    assert key_of_column(column_heading("an addition's own, method")) == (
        "an addition's own, method",
        "",
    )
    assert key_of_column(column_heading("")) == ("column.unnamed", "")
