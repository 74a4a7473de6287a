"""The first page: which analyses it answers, what limits them, and links to the data."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Results, Row
from konsil.errors.message import message
from konsil.instrument import digest_of
from konsil.report.answers.answers import answered, by_question
from konsil.report.answers.limits import limits
from konsil.report.answers.result_table import link, places
from konsil.stats.engine.contract import Estimate

KAPPA = Analysis("kappa", "cohen_kappa", "correct", "physicians")


def test_without_questions_each_outcome_is_answered_once() -> None:
    analyses = [
        KAPPA,
        Analysis("pabak", "pabak", "correct", "physicians"),
        flat_analysis("share", "share", "correct", "physicians", of=("yes",)),
        Analysis("paper", "mean", "correct", "physicians", mode="paper"),
        Analysis("later", "abstention", "correct", "physicians", prespecified=False),
        Analysis("others", "cohen_kappa", "correct", "judges"),
    ]
    assert [a.name for a in answered(analyses)] == ["kappa", "share", "others"]


def test_with_questions_only_they_are_answered_in_the_order_of_the_protocol() -> None:
    analyses = [
        KAPPA,
        replace(KAPPA, name="b", question="Why?"),
        replace(KAPPA, name="c", question="How?", prespecified=False),
        replace(KAPPA, name="d", question="Why?"),
    ]
    chosen = answered(analyses)
    assert [a.name for a in chosen] == ["b", "c", "d"]
    assert [(q, [a.name for a in several]) for q, several in by_question(chosen)] == [
        ("Why?", ["b", "d"]),
        ("How?", ["c"]),
    ]


def test_an_absent_question_is_in_no_digest_and_a_question_is_in_the_frozen_plan() -> None:
    assert digest_of(replace(KAPPA, question="")) == digest_of(KAPPA)
    assert digest_of(replace(KAPPA, question="Why?")) != digest_of(KAPPA)


def test_limits_are_ordered_by_what_they_cost() -> None:
    without = Row("kappa", "share", "c", "r", Estimate(float("nan"), reason="no ratings"))
    results = Results(
        (without,),
        (),
        warnings=("A warning.",),
        all_excluded="All ratings are excluded.",
        inference=("Target.",),
        plan={"kappa": "not frozen"},
    )
    texts = [limit.text for limit in limits(results, [KAPPA], ["Why?"])]
    assert texts == [
        "All ratings are excluded.",
        "1 analysis has no result.",
        "Without an estimate: “Why?”.",
        "The analysis plan was not frozen: no analysis counts as prespecified.",
        "CIs and p values are about these raters only, not about raters like these.",
        "A warning.",
    ]


def test_intervals_of_some_answers_about_these_raters_only_are_a_limit() -> None:
    rows = tuple(
        Row(name, "share", "c", "r", Estimate(0.5, 0.4, 0.6, raters=whom))
        for name, whom in (("kappa", "these"), ("other", "like these"), ("third", "like these"))
    )
    analyses = [replace(KAPPA, name=name) for name in ("kappa", "other")]
    results = Results(rows, (), target="like these", inference=("Target.",))
    texts = [limit.text for limit in limits(results, analyses, [])]
    assert "In 1 of 2 answers, some or all CIs are about these raters only" in texts[-1]
    shown = [limit.text for limit in limits(results, analyses[1:], [])]
    assert not any("these raters only" in text for text in shown)


def test_a_warning_that_limits_only_what_reproduces_a_paper_comes_last() -> None:
    published = message("As published.", message_id="warning.as_published")
    results = Results((), (), warnings=(published, "A warning."))
    assert [x.text for x in limits(results, [], [])][-2:] == ["A warning.", "As published."]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("prespecified", None),
        ("frozen late", "Not all answers come from analyses that were frozen"),
        ("not frozen", "The analysis plan was not frozen"),
    ],
)
def test_the_plan_is_a_limit_unless_it_was_frozen_first(status: str, expected: str | None) -> None:
    texts = [x.text for x in limits(Results((), (), plan={"kappa": status}), [KAPPA], [])]  # type: ignore[dict-item]
    assert [t.startswith(expected or "") for t in texts] == ([] if expected is None else [True])
    exploratory = replace(KAPPA, prespecified=False)
    assert limits(Results((), (), plan={"kappa": "exploratory"}), [exploratory], []) == []


def test_lines_of_the_data_count_the_head_as_the_first() -> None:
    rows = [Row("a", "s", "c", "r", Estimate(0.1)), Row("b", "s", "c", "r", Estimate(0.2))]
    lines = places(rows)
    assert [lines[id(r)] for r in rows] == [2, 3]
    assert link(3) == "estimates.csv#row=3"


def test_every_link_leads_to_the_line_with_its_number(english: Path) -> None:
    page = (english / "index.html").read_text("utf-8")
    lines = list(csv.DictReader((english / "estimates.csv").read_text("utf-8").splitlines()))
    body = page[page.index('id="results"') : page.index('id="appendix"')]
    n_checked = 0
    for text in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL):
        found = re.search(r'href="estimates\.csv#row=(\d+)"', text)
        if found is None:
            continue
        line = lines[int(found[1]) - 2]
        shown = re.search(r'class="num"[^>]*><span>(−?[\d.]+) <span class="whole">\[', text)
        if shown and line["value"]:
            percent = abs(float(shown[1].replace("−", "-")) - 100 * float(line["value"])) < 0.06
            plain = abs(float(shown[1].replace("−", "-")) - float(line["value"])) < 0.006
            assert percent or plain, text
            n_checked += 1
    assert n_checked >= 3
