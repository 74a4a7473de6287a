"""What a browser without a window sees."""

from __future__ import annotations

import math

import pytest

from konsil.rehearse.forms import forms, own_files
from konsil.rehearse.times import Times, quantile

PAGE = """
<link rel="stylesheet" href="/static/1/a.css"><link rel="icon" href="https://elsewhere.org/i.svg">
<form method="post" action="/language"><input type="hidden" name="csrf" value="t&quot;1">
<button name="language" value="de">
</button></form>
<form id="rating" action="/task/x" data-save="/task/x/save" data-rev="3" data-closed>
<input type="hidden" name="visit" value="v"><input type="hidden" name="wall">
<fieldset><input value="A &amp; B" type="radio" name="q" checked><input type="radio" name="q" value="&gt;5"></fieldset>
<input type="text" inputmode="decimal" name="n" value=""><textarea name="words"></textarea>
</form>
"""


def test_forms_are_read_as_they_stand() -> None:
    language, rating = forms(PAGE)
    assert (language.action, language.hidden, language.buttons) == (
        "/language",
        {"csrf": 't"1'},
        (("language", "de"),),
    )
    assert rating.data == {"save": "/task/x/save", "rev": "3", "closed": ""}
    assert rating.hidden == {"visit": "v", "wall": ""}
    assert rating.options == {"q": ("A & B", ">5"), "n": (), "words": ()}
    assert own_files(PAGE) == ("/static/1/a.css",)
    assert forms("no page") == ()


@pytest.mark.parametrize(("share", "value"), [(0.5, 2.0), (0.95, 4.0), (0.0, 1.0), (1.0, 4.0)])
def test_quantiles_are_values_that_were_there(share: float, value: float) -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], share) == value


def test_times_by_kind() -> None:
    times = Times()
    assert times.rows() == ()
    assert math.isnan(quantile([], 0.5))
    for n in range(1, 101):
        times.took("save", n / 1000, 10)
    [row] = times.rows()
    assert (row.kind, row.count, row.p50, row.p95, row.p99, row.largest, row.size) == (
        "save",
        100,
        0.05,
        0.095,
        0.099,
        0.1,
        10.0,
    )
