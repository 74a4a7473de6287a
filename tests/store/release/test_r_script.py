"""The script for R in every export and release."""

from __future__ import annotations

from konsil.instrument import Criterion, Instrument, Scale
from konsil.store.release.r_script import r_script


def form(name: str, *criteria: Criterion) -> Instrument:
    return Instrument(name, criteria)


def choice(name: str, *labels: str, level: str = "nominal") -> Criterion:
    return Criterion(name, "?", Scale(labels=labels, level=level))


def test_labels_are_levels_in_the_order_of_the_form():
    script = r_script(
        [form("a", choice("safety", "low", 'hi"gh', level="ordinal"), choice("kind", "b", "a"))],
        ["ratings"],
        "csv",
    )
    assert 'scales[["safety"]] <- list(labels = c("low", "hi\\"gh"), ordered = TRUE)' in script
    assert 'scales[["kind"]] <- list(labels = c("b", "a"), ordered = FALSE)' in script


def test_a_criterion_of_two_forms_is_ordered_only_where_they_agree():
    first = form("a", choice("safety", "low", "high", level="ordinal"))
    second = form("b", choice("safety", "high", "none", level="ordinal"))
    assert 'c("low", "high"), ordered = TRUE' in r_script([first, first], ["ratings"], "csv")
    assert 'c("low", "high", "none"), ordered = FALSE' in r_script(
        [first, second], ["ratings"], "csv"
    )
