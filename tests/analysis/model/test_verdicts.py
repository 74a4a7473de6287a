"""Verdicts: what each needs, and that none is made of a number that is no evidence."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest
from tests.analyses import flat_analysis

import konsil.analysis
from konsil.analysis import Analysis, Exclusions, Resampling
from konsil.analysis.model.verdicts import (
    VERDICTS,
    best_after_choice,
    equivalence,
    equivalence_sentence,
    has_margin,
    is_crossover,
    is_hidden_knowledge,
    is_order_shown,
    weakness,
)
from konsil.analysis.running.rules import contradictions
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.stats.cases.degradation import reversal, unanimous_interval
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.infer import Caution

ROOT = Path(__file__).resolve().parents[3]
FORM = Instrument("form", (Criterion("ok", "?", Scale(("no", "yes"))),))


def number(low: float, high: float, *, n_undefined: int = 0, level: float = 0.95) -> Estimate:
    return Estimate((low + high) / 2, low, high, level, n_undefined=n_undefined)


def test_an_interval_carries_a_verdict_only_where_it_is_evidence() -> None:
    assert weakness(number(-0.1, 0.1), 1000) is None
    assert "no width" in str(weakness(number(0.0, 0.0), 1000))
    assert "no width" in str(weakness(number(-0.1, 0.1), 1000, (Caution("no-variation"),)))
    assert "no width" in str(weakness(number(-0.1, 0.1), 1000, (Caution("one-width"),)))
    assert weakness(number(-0.1, 0.1), 1000, (Caution("few-clusters", (12, 50)),)) is None
    assert "no interval" in str(weakness(number(math.nan, 0.1), 1000))
    assert "no interval" in str(weakness(Estimate(math.nan, -0.1, 0.1), 1000))
    assert weakness(number(-0.1, 0.1, n_undefined=50), 1000) is None
    assert "51 of 1,000 resamples" in str(weakness(number(-0.1, 0.1, n_undefined=51), 1000))


def test_equivalence_is_two_one_sided_tests_and_says_their_level() -> None:
    assert equivalence(number(-0.09, 0.09), 0.1, 1000) == "shown"
    assert equivalence(number(-0.11, 0.05), 0.1, 1000) == "not shown"
    assert equivalence(number(-0.05, 0.1), 0.1, 1000) == "not shown"  # the margin itself is outside
    assert equivalence(number(0.0, 0.0), 0.1, 1000) == "not judged"
    sentence = equivalence_sentence(number(-0.09, 0.09, level=0.9), 0.1, 1000)
    assert (
        sentence == "Equivalent: the 90% CI lies within ±0.1 (two one-sided tests, each at 5.0%)."
    )
    assert (
        equivalence_sentence(number(0.0, 0.0), 0.1, 1000)
        == "Equivalence within ±0.1 not estimable: the interval has no width."
    )


def judges_and_panel() -> Data:
    """Twelve items; judge-1 gives exactly the panel's majority, judge-2 differs once."""
    items = tuple(Item(f"q{i:02d}", "?") for i in range(12))
    people = tuple(Rater(f"r{k}", "people") for k in range(3))
    judges = (Rater("judge-1", "judges", "llm"), Rater("judge-2", "judges", "llm"))
    ratings = []
    for n, item in enumerate(items):
        label = "yes" if n % 2 else "no"
        for rater in (*people, *judges):
            # The second judge differs on nine items: with fewer than eight a difference has no
            # interval.
            other = "no" if n % 2 else "yes"
            rating_label = other if rater.id == "judge-2" and n < 9 else label
            ratings.append(
                Rating(
                    f"{rater.id}-{n}",
                    rater.id,
                    "ok",
                    item.id,
                    (f"{item.id}:s",),
                    label=rating_label,
                )
            )
    return Data(
        items,
        tuple(Answer(f"{i.id}:s", i.id, "s") for i in items),
        (*people, *judges),
        (),
        tuple(ratings),
    )


def rows_of(data: Data, *analyses: Analysis):
    return run(
        analyses,
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(500),
            exclusions=Exclusions(),
            systems=(System("s"),),
        ),
    ).rows


def test_a_judge_that_never_differs_is_not_called_equivalent() -> None:
    asked = Analysis(
        "x", "cohen_kappa", "ok", "judges", against="people", by=("rater",), margin=0.1
    )
    rows = {
        r.group["rater"]: r for r in rows_of(judges_and_panel(), asked) if r.kind == "difference"
    }
    assert rows["judge-1"].estimate.value == 0
    assert not any(str(w).startswith("Equivalent:") for r in rows.values() for w in r.warnings)
    assert any("not estimable" in str(w) for w in rows["judge-1"].warnings)
    assert any("not shown" in str(w) for w in rows["judge-2"].warnings)


@pytest.mark.parametrize(
    ("statistic", "more", "known"),
    [
        ("share", {}, False),
        ("share", {"compare": "system"}, True),
        ("cohen_kappa", {}, False),
        ("cohen_kappa", {"against": "rest"}, False),
        ("cohen_kappa", {"against": "people"}, True),
        ("win_difference", {}, True),
        ("win_rate", {}, False),
        ("davidson", {}, False),
        ("self_preference", {"against": "people"}, True),
        ("abstention_slope", {}, False),
        ("abstention_slope", {"against": "people"}, True),
        ("diagnostic_potential", {}, True),
        ("reliability", {}, True),
        ("budget_reliability", {}, False),
    ],
)
def test_a_margin_is_honoured_or_refused(statistic: str, more: dict[str, str], known: bool) -> None:
    by = (more["compare"],) if "compare" in more else ()
    asked = flat_analysis("x", statistic, "ok", "judges", margin=0.1, by=by, **more)  # type: ignore[arg-type]
    assert has_margin(asked) is known
    assert (
        any(c.startswith("margin: applies to differences") for c in contradictions(asked))
        is not known
    )


def test_a_crossover_is_above_zero_at_both_levels() -> None:
    low, high = np.array([0.2, -1.0]), np.array([0.6, -0.5])
    assert is_crossover(reversal(low, high)[0])
    # Three cases that are all alike: the bootstrap has no width, and so few show nothing.
    assert not is_crossover(
        reversal(*unanimous_interval(np.array([1.0, -1.0]), np.array([3, 3]), 0.95))[0]
    )
    assert is_crossover(
        reversal(*unanimous_interval(np.array([1.0, -1.0]), np.array([30, 30]), 0.95))[0]
    )
    assert not is_crossover(math.nan)
    assert not is_crossover(0.0)


def test_hidden_knowledge_is_above_margin_and_luck() -> None:
    assert is_hidden_knowledge(0.2, 0.05, 0.1)
    assert not is_hidden_knowledge(0.2, 0.05, 0.2)
    assert not is_hidden_knowledge(0.05, 0.05, 0.0)
    assert not is_hidden_knowledge(math.nan, 0.05, 0.0)


def test_the_best_of_several_and_an_order_go_by_adjusted_p_values() -> None:
    assert best_after_choice([0.02, 0.4, 0.9]).tolist() == [0.06, 1.0, 1.0]
    assert is_order_shown(0.05, 0.95)
    assert not is_order_shown(0.051, 0.95)
    assert not is_order_shown(math.nan, 0.95)


def listed_verdicts() -> dict[str, tuple[str, str]]:
    """Identifier -> code place and test, of the table of docs/verdicts.md."""
    verdicts = {}
    for line in (ROOT / "docs" / "verdicts.md").read_text("utf-8").splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            assert len(cells) == 6, line
            verdicts[cells[0].strip("` ")] = (cells[4].strip("`"), cells[5].strip("` "))
    return verdicts


FULL_NAMES = {
    m.name.rpartition(".")[2]: m.name
    for m in walk_packages(konsil.analysis.__path__, "konsil.analysis.")
}
"""Every module of the analyses by the last part of its name."""


def test_the_list_of_verdicts_is_the_code_s() -> None:
    listed = listed_verdicts()
    assert sorted(listed) == sorted(VERDICTS)
    for name, (code, test) in listed.items():
        module, function = code.split(".")
        assert callable(getattr(import_module(FULL_NAMES[module]), function)), name
        path, function = test.split("::")
        assert f"def {function}(" in (ROOT / path).read_text("utf-8"), name
