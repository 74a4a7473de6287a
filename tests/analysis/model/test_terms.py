"""Groups of results hold identifiers, names of the study's data and numbers; no sentences."""

from __future__ import annotations

import ast
import copy
import importlib
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis

import konsil
from konsil.analysis import Analysis, Exclusions, Resampling, Results
from konsil.analysis.model import terms
from konsil.analysis.model.catalogue.known import RATER_PAIR
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.interval_registry import METHODS
from konsil.analysis.model.terms import REST, WHOLE_ANSWER, Term, Word, is_term, key_of, words_of
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors.message import TranslatableMessage
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Span, Task
from konsil.report.material.language import language
from konsil.report.material.tables import Numbers

ROOT = Path(konsil.__file__).parent
IDENTIFIER = re.compile(r"[a-z0-9_.-]+")
FEW = Resampling(draws=60)
GRADE = Criterion("grade", "?", Scale(("poor", "fair", "good"), level="ordinal"))
BETTER = Criterion(
    "better", "?", Scale(("A better", "equal", "B better"), level="ordinal"), scope="pair"
)
LINE = Criterion("line", "?", Scale(("no", "partly", "yes"), level="ordinal"), scope="sentence")
SPANS = (Span(0, 4), Span(5, 9), Span(10, 14))
FORMS = (
    Instrument("form", (GRADE, LINE)),
    Instrument("pairs", (BETTER,), unit="pair"),
)
ANALYSES = (
    Analysis("alpha", "krippendorff_alpha", "grade", "people"),
    Analysis("of two", "cohen_kappa", "grade", "people", by=(RATER_PAIR,)),
    Analysis("rest", "percent_agreement", "grade", "people", against="rest", by=("rater",)),
    Analysis("judges", "percent_agreement", "grade", "judges", against="people", by=("rater",)),
    Analysis("means", "mean", "grade", "people", by=("system",), compare="system"),
    flat_analysis(
        "good", "share", "grade", "people", of=("good",), by=("system",), compare="system"
    ),
    Analysis(
        "ensembles",
        "ensembles_percent_agreement",
        "grade",
        "judges",
        against="people",
        collapse={"fair": "poor"},
    ),
    Analysis("parts", "part_whole", "line", "people"),
    Analysis("reliability", "reliability", "line", "people"),
    Analysis("wins", "win_difference", "better", "people"),
    Analysis("rates", "win_rate", "better", "people"),
    Analysis("worths", "davidson", "better", "people"),
)


def study() -> Data:
    """Three people and three judges rate two systems, and compare them; by a fixed pattern."""
    items = [Item(f"q{n:02}", "?") for n in range(12)]
    answers = [Answer(f"{i.id}:{s}", i.id, s, "text " * 3) for i in items for s in "ab"]
    raters = [Rater(f"p{n}", "people") for n in range(3)]
    raters += [Rater(f"j{n}", "judges", "llm") for n in range(3)]
    tasks, ratings = [], []
    for place, rater in enumerate(raters):
        for n, item in enumerate(items):
            for k, system in enumerate("ab"):
                task, own = f"{rater.id}/{item.id}/{system}", (f"{item.id}:{system}",)
                tasks.append(Task(task, task, rater.id, "form", item.id, own))
                about = {"task": task, "rater": rater.id, "item": item.id, "answers": own}
                at = (n * (k + 1) + (place * n) % 4 // 3 + k) % 3
                ratings.append(Rating(criterion="grade", label=GRADE.scale.labels[at], **about))  # type: ignore[arg-type]
                for m, span in enumerate(SPANS):
                    label = LINE.scale.labels[(at + (m * n + place) % 5 // 3) % 3]
                    ratings.append(Rating(criterion="line", label=label, span=span, **about))  # type: ignore[arg-type]
            task, both = f"{rater.id}/{item.id}", (f"{item.id}:a", f"{item.id}:b")
            tasks.append(Task(task, task, rater.id, "pairs", item.id, both))
            label = BETTER.scale.labels[(n + place * n // 5) % 3]
            ratings.append(
                Rating(
                    criterion="better",
                    label=label,
                    task=task,
                    rater=rater.id,
                    item=item.id,
                    answers=both,
                )
            )
    return Data(items, answers, raters, tasks, ratings)


def results() -> Results:
    return run(
        ANALYSES,
        study(),
        RunSettings(seed=3, resampling=FEW, exclusions=Exclusions(), instruments=FORMS),
    )


NAMES = {"a", "b", *(f"{kind}{n}" for kind in "pj" for n in range(3)), "people", "judges"}
"""The study's own names."""


def keys(found: Results) -> Iterator[str]:
    groups: list[Mapping[str, str]] = [m for r in found.rows for m in (r.group, r.versus)]
    for group in [*groups, *(b.group for b in found.bounds)]:
        for column, value in group.items():
            yield column
            yield value
    for row in found.coverage:
        yield from row.excluded


def is_identifier(key: str) -> bool:
    """Whether a key is a term, a name, a number, or names joined as an ensemble is."""
    if isinstance(key, Term):
        return bool(IDENTIFIER.fullmatch(key.identifier)) and str(key) == ":".join(
            [key.identifier, *(v if isinstance(v, str) else f"{v:g}" for v in key.values)]
        )
    parts = set(key.split(" + "))
    return not isinstance(key, TranslatableMessage) and (
        parts <= NAMES or bool(IDENTIFIER.fullmatch(key)) or key == ""
    )


def test_groups_hold_identifiers_names_and_numbers() -> None:
    found = results()
    assert sorted({key for key in keys(found) if not is_identifier(key)}) == []
    present = {key.identifier for key in keys(found) if isinstance(key, Term)}
    assert present >= {"rest", "leave_one_out", "pair", "best_out_of_bag", "ratio_to_best"}
    assert present >= {"overlap_alone", "other_sentences"}


def test_methods_have_an_identifier_that_is_known() -> None:
    methods = {r.estimate.method for r in results().rows if r.estimate.method}
    assert sorted(str(m) for m in methods if name_of(m) not in METHODS) == []
    assert len({name_of(m) for m in methods}) > 6


def ids(sentences: Iterable[str]) -> list[str]:
    return [getattr(s, "message_id", "") or getattr(s, "template", s) for s in sentences]


def facts(found: Results) -> list[object]:
    """What must not depend on a wording."""
    return [
        ids(found.methods),
        ids(found.warnings),
        [
            (
                row.analysis,
                row.kind,
                dict(row.group),
                dict(row.versus),
                repr(replace(row.estimate, method="", reason="")),
                name_of(row.estimate.method),
                repr((row.p_adjusted, row.p_max_t)),
                ids(row.warnings),
                ids([row.finding]),
            )
            for row in found.rows
        ],
    ]


@pytest.mark.slow
def test_other_words_change_no_number_no_rule_and_no_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = facts(results())
    messages = importlib.import_module("konsil.errors.message")
    filled = messages._filled

    def reworded(template: str, *rest: object) -> str:
        return filled(re.sub(r"[A-Za-z]+(?![^{]*\})", "zz", template), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(messages, "_filled", reworded)
    assert str(messages.message("of {n} draws", n=3)) == "zz 3 zz"
    assert facts(results()) == before


def constructed() -> set[str]:
    """The identifiers of all terms that the package makes."""
    calls = (
        node
        for path in ROOT.rglob("*.py")
        if "Term(" in path.read_text("utf-8")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Term"
    )
    first = [call.args[0] for call in calls if call.args]
    return {str(a.value) for a in first if isinstance(a, ast.Constant)}


def test_every_term_has_words_and_all_words_a_term() -> None:
    assert sorted(constructed()) == sorted(terms._WORDS)


def test_the_documents_list_every_identifier() -> None:
    page = (Path(__file__).parents[3] / "docs" / "howto-study.md").read_text("utf-8")
    part = page.partition("## Identifiers in data files")[2].partition("\n## ")[0]
    assert sorted(set(re.findall(r"`([a-z_]+)(?::[A-Z]+)*`(?=[^|]*\|[^|]*\|[^|]*\|\n)", part))) == (
        sorted(constructed())
    )


def test_a_term_is_shown_in_the_readers_language() -> None:
    german = Numbers(language("de"))
    assert words_of(WHOLE_ANSWER) == "whole answer"
    assert german.translated(words_of(Term("best_out_of_bag", 4))) == "bestes von 4, out of bag"
    assert german.translated(words_of(Term("faster_than", 0.5))) == "schneller als 0,5 Sekunden"
    assert words_of("whole_answer") == "whole_answer"


def test_a_word_remembers_its_term_and_a_name_is_none() -> None:
    word = Word("ganze Antwort", WHOLE_ANSWER)
    assert (word, key_of(word), key_of("3")) == ("ganze Antwort", "whole_answer", "3")
    assert is_term(word, WHOLE_ANSWER)
    assert not is_term(word, REST)
    assert not is_term("rest", REST)
    assert not is_term(None, REST)
    for clone in (copy.deepcopy(word), pickle.loads(pickle.dumps(word))):
        assert is_term(clone, WHOLE_ANSWER)
    assert pickle.loads(pickle.dumps(Term("pair", "a", "b"))).values == ("a", "b")
