"""Rows of parts that are computed elsewhere, in any order, are those of one process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.running.rows import all_rows, parts
from konsil.analysis.running.rows.parts import RunData
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.columns import Columns, task_columns
from konsil.analysis.table.frame import Data
from konsil.api import open_folder
from konsil.errors import AnalysisError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Attempt, Item, Rater, Rating, System, Task
from konsil.stats.engine.parts import Compute, in_this_process
from konsil.stats.engine.weights import Remembered, bootstrap_weights
from konsil.study.data.run_settings import settings_of_results
from reported_studies import ReportedStudy
from small_protocols import SMALL

FORM = Instrument(
    "form",
    (
        Criterion("grade", "?", Scale(("1", "2", "3"), level="ordinal")),
        Criterion("fit", "?", Scale(("no", "yes"))),
    ),
)
ANALYSES = (
    Analysis("grades", "mean", "grade", "people", by=("system",), compare="system"),
    Analysis("nobody", "mean", "grade", "absent"),
    Analysis("no column", "mean", "grade", "people", leave_out=("site",)),
    Analysis("omissions", "mean", "grade", "people", by=("system",), leave_out=("item",)),
    Analysis("agreement", "percent_agreement", "fit", "people", by=("system",)),
)


class Elsewhere:
    """Computes the last part first, with copies as in other processes: one of the shared data for
    each part, or for all of them."""

    def __init__(self, *, is_one_worker: bool = False) -> None:
        self.is_one_worker = is_one_worker
        self.functions: list[str] = []
        self.parts: list[object] = []

    def __call__(
        self, function: Callable[[Any, Any], Any], shared: object, parts: Sequence[Any], /
    ) -> Any:
        self.functions.append(function.__name__)
        self.parts += parts
        sent = pickle.dumps(shared)
        received = pickle.loads(sent)
        results = []
        for part in reversed(parts):
            result = function(received if self.is_one_worker else pickle.loads(sent), part)
            results.append(pickle.loads(pickle.dumps(result)))
        return reversed(results)


def data() -> Data:
    items = tuple(Item(f"q{n:02}", "?") for n in range(5))
    answers = tuple(Answer(f"{i.id}:{s}", i.id, s, "word " * len(s)) for i in items for s in "ab")
    ratings = tuple(
        Rating(f"{c}-{a.id}-{r}", r, c, a.item, (a.id,), label=label(c, n, a.system, k))
        for c in ("grade", "fit")
        for n, a in enumerate(answers)
        for k, r in enumerate(("r1", "r2", "r3"))
    )
    raters = tuple(Rater(r, "people") for r in ("r1", "r2", "r3"))
    return Data(items, answers, raters, (), ratings)


def label(criterion: str, n: int, system: str, rater: int) -> str:
    number = (n * 7 + rater * (n % 5)) % 3
    if criterion == "fit":
        return "yes" if number else "no"
    return str(1 + (2 if system == "a" and n % 9 else number % 2))


def results(
    compute: Compute = in_this_process, *, strict: bool = False, draws: int = 40
) -> Results:
    settings = RunSettings(
        instruments=[FORM],
        seed=1,
        resampling=Resampling(draws),
        exclusions=Exclusions(),
        systems=(System("a"), System("b")),
        strict=strict,
    )
    return run(ANALYSES, data(), settings, compute)


def test_rows_warnings_and_refusals_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_VALUES", 2)
    elsewhere = Elsewhere()
    computed = results(elsewhere)
    assert repr(computed) == repr(results())
    # Every item is omitted once, whatever the pieces.
    ranges = [r for r in computed.rows if name_of(r.estimate.method) == "method.leave_out"]
    assert [(r.group["system"], r.estimate.n_clusters) for r in ranges] == [("a", 5), ("b", 5)]
    assert elsewhere.functions == ["analysis_outcome", "estimates_of_omissions"]
    # Five items in pieces, so that several workers share them.
    assert sum(isinstance(part, parts.Omitted) for part in elsewhere.parts) == 3


def test_further_draws_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_rows, "is_stated", lambda resampling: False)
    monkeypatch.setattr(
        all_rows,
        "limited",
        lambda rows, _: {n: 400 for n, row in enumerate(rows) if row.kind == "difference"},
    )
    elsewhere = Elsewhere()
    rows, again = results(elsewhere).rows, results().rows
    assert repr(rows) == repr(again)
    assert [p for p in elsewhere.parts if isinstance(p, parts.FurtherDraws)] == [
        parts.FurtherDraws(0, Resampling(400))
    ]


def test_a_strict_run_raises_the_first_refusal() -> None:
    with pytest.raises(AnalysisError) as alone:
        results(strict=True)
    with pytest.raises(type(alone.value)) as elsewhere:
        results(Elsewhere(), strict=True)
    assert str(elsewhere.value) == str(alone.value)


def test_resamples_are_drawn_anew_elsewhere() -> None:
    key = Remembered(7)
    drawn = bootstrap_weights(key, 100, 0, 1000)
    sent = pickle.dumps(key)
    assert len(sent) < 200
    received = pickle.loads(sent)
    assert isinstance(received, Remembered)
    assert (bootstrap_weights(received, 100, 0, 1000) == drawn).all()


def test_a_table_takes_no_ratings_twice() -> None:
    task = Task("t", "1", "r1", "form", "q00", ("q00:a", "q00:b"))
    records = replace(data(), tasks=(task,), attempts=(Attempt("1", "t", "r1", "ok"),))
    settings = RunSettings(
        instruments=[FORM], seed=1, resampling=Resampling(2), exclusions=Exclusions()
    )
    tables: list[RunData] = []

    def kept(function: Callable[[Any, Any], Any], shared: Any, parts: Sequence[Any], /) -> Any:
        tables.append(shared)
        return in_this_process(function, shared, parts)

    run(ANALYSES[:1], records, settings, kept)
    table = tables[0].tables.first
    table.part("grade", "people")
    sent = pickle.loads(pickle.dumps(table))
    assert sent.frame.equals(table.frame)
    assert sent.frame.schema == table.frame.schema
    assert "_parts" not in vars(sent)
    assert sent.part("grade", "people").equals(table.part("grade", "people"))
    assert not sent.data.ratings
    assert not sent.data.attempts
    assert sent.data.answers == table.data.answers
    assert isinstance(sent.data.tasks, Columns)
    names = ("id", "answers")
    assert task_columns(sent.data.tasks, names).equals(task_columns([task], names))
    with pytest.raises(TypeError, match="columns alone"):
        next(iter(sent.data.tasks))


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", *sorted(SMALL)])
def test_every_analysis_of_the_protocols_can_be_computed_elsewhere(
    name: str, reported: Callable[[str], ReportedStudy]
) -> None:
    folder = open_folder(reported(name).folder)
    view = folder._blinded_data()
    settings = settings_of_results(view.study, view.data, view.events, is_blinded=view.is_blinded)
    settings = replace(settings, resampling=Resampling(20))
    elsewhere = run(view.study.analyses, view.data, settings, Elsewhere(is_one_worker=True))
    assert repr(elsewhere) == repr(run(view.study.analyses, view.data, settings))
