"""Ratings whose answers were displayed to their end: what is not known never counts as
displayed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.running.rules import misplaced_keys
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data, rating_table
from konsil.analysis.table.screens import displayed, displays
from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.records.worked import Worked
from konsil.study import check, parse

N = 8
FORM = Instrument(
    "form",
    (
        Criterion("correct", "Correct?", Scale(("no", "yes"))),
        Criterion("better", "Better?", Scale(("A", "B")), scope="pair"),
        Criterion("hard", "Hard?", Scale(("no", "yes")), scope="task"),
    ),
)
SHOWN: tuple[tuple[bool | None, bool | None], ...] = (
    (True, True),
    (True, False),
    (True, None),
    (None, None),
)
"""Of the two answers of each item's screen, in turn, whether they were displayed to their end."""


def data(*, with_pages: bool = True) -> Data:
    """Two answers an item, rated by a person and by a model; the person says yes to what was
    displayed, else no."""
    items = [Item(f"i{n}", "?") for n in range(N)]
    answers = [Answer(f"i{n}:{s}", f"i{n}", s, "x") for n in range(N) for s in "ab"]
    tasks, ratings, worked = [], [], []
    for n in range(N):
        shown = SHOWN[n % len(SHOWN)]
        # On the screen the second system's answer stands first: places are those of the task, not
        # of names.
        ids, states = (f"i{n}:b", f"i{n}:a"), (shown[1], shown[0])
        for rater in ("doc", "model"):
            task = Task(f"t{n}-{rater}", f"s{n}-{rater}", rater, "form", f"i{n}", ids)
            tasks.append(task)
            for answer, state in zip(ids, states, strict=True):
                label = "yes" if state or rater == "model" else "no"
                ratings.append(Rating(task.id, rater, "correct", f"i{n}", (answer,), label=label))
            ratings.append(Rating(task.id, rater, "better", f"i{n}", tuple(sorted(ids)), label="A"))
            ratings.append(Rating(task.id, rater, "hard", f"i{n}", label="yes"))
        worked.append(Worked(f"t{n}-doc", "doc", 9.0, 9.0, states))
    raters = [Rater("doc", "people"), Rater("model", "models", "llm")]
    return Data(items, answers, raters, tasks, ratings, worked=worked if with_pages else ())


def results(given: Data, *analyses: Analysis) -> Results:
    """Results with the numbers alone, and none of the intervals beside them."""
    found = run(
        analyses,
        given,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
            strict=False,
        ),
    )
    return replace(found, rows=tuple(row for row in found.rows if row.kind == "estimate"))


def share(name: str, **more: Any) -> Analysis:
    return replace(
        flat_analysis(name, "share", "correct", "people", of=("yes",), prespecified=False), **more
    )


def test_a_rating_is_of_displayed_answers_only_where_all_of_them_are_known_to_be() -> None:
    given = data()
    frame = rating_table(given, Exclusions(), [FORM]).frame
    found = frame.with_columns(
        displayed(frame, displays(given.worked, given.tasks)).alias("displayed")
    )
    rows = {
        (row["item"], row["criterion"], row["answers"]): row["displayed"]
        for row in found.filter(found["rater"] == "doc").iter_rows(named=True)
    }
    for n, (of_a, of_b) in enumerate(SHOWN):
        assert rows[f"i{n}", "correct", f"i{n}:a"] is of_a
        assert rows[f"i{n}", "correct", f"i{n}:b"] is of_b
        assert rows[f"i{n}", "hard", ""] is None
    assert [rows[f"i{n}", "better", f"i{n}:a | i{n}:b"] for n in range(4)] == [
        True,
        False,
        None,
        None,
    ]
    assert set(found.filter(found["rater"] == "model")["displayed"]) == {None}


def test_an_analysis_restricted_to_answers_displayed_to_their_end() -> None:
    every, only, model = results(
        data(),
        share("every"),
        share("only", display="complete"),
        share("model", display="complete", raters="models"),
    ).rows
    # Of sixteen answers eight were displayed to their end; of two it is known that they were not,
    # of six nothing is.
    assert (every.estimate.value, every.n_units) == (0.5, 16)
    assert (only.estimate.value, only.n_units) == (1.0, 8)
    assert (model.estimate.value, model.n_units) == (1.0, 16), "models read the whole answer"


def test_the_panel_that_others_are_compared_with_is_restricted_too() -> None:
    [row] = results(
        data(),
        Analysis(
            "a",
            "percent_agreement",
            "correct",
            "models",
            against="people",
            mode="paper",
            display="complete",
        ),
    ).rows
    assert (row.estimate.value, row.n_units) == (1.0, 8)


def test_comparisons_are_restricted_where_both_answers_were_displayed() -> None:
    [row] = results(
        data(), Analysis("a", "win_difference", "better", "people", display="complete")
    ).rows[:1]
    assert row.n_units == N // len(SHOWN)


def test_methods_state_the_restriction_and_how_much_is_left() -> None:
    found = results(data(), share("every"), share("only", display="complete"))
    assert (
        "only use ratings by people only if every rated answer was displayed to its end on the"
        " rating page. This applies to 10 of 24 ratings of answers by people; for 10 it is"
        " unknown, and they are excluded. All ratings by models are used." in found.methods
    )
    assert not any("displayed" in sentence for sentence in results(data(), share("every")).methods)


def test_without_records_of_the_pages_nothing_counts_as_displayed() -> None:
    [row] = results(data(with_pages=False), share("only", display="complete")).rows
    assert not row.is_made
    assert (
        row.estimate.reason
        == "no rating of an answer that is known to have been displayed to its end"
    )


@pytest.mark.parametrize("statistic", ["seconds", "rater_hours", "injection_shift", "mismatch"])
def test_statistics_that_are_not_of_rated_answers_alone_refuse_the_key(statistic: str) -> None:
    [problem] = misplaced_keys(Analysis("a", statistic, "correct", "people", display="complete"))
    assert problem.startswith("display: belongs to statistics such as ") and problem.endswith(
        f"not to {statistic!r}"
    )


STUDY = """
title = "t"
seed = 1
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Correct?"
scale = { kind = "choice", labels = ["no", "yes"] }
[[instruments.criteria]]
id = "hard"
question = "Hard?"
scope = "task"
scale = { kind = "choice", labels = ["no", "yes"] }
[[analyses]]
name = "a"
statistic = "share"
of = ["yes"]
raters = "raters"
criterion = "CRITERION"
display = "DISPLAY"
"""


@pytest.mark.parametrize(
    ("criterion", "display", "problem"),
    [
        ("correct", "complete", ""),
        ("hard", "any", ""),
        (
            "hard",
            "complete",
            "display: applies to ratings of answers, but 'hard' is not about answers (task)",
        ),
        ("correct", "all", "display"),
    ],
)
def test_the_protocol_is_checked(criterion: str, display: str, problem: str) -> None:
    text = STUDY.replace("CRITERION", criterion).replace("DISPLAY", display)
    try:
        check(parse(text, lambda name: name))
    except StudyError as error:
        assert problem and problem in str(error)
    else:
        assert not problem
