"""CQA-Eval's protocol: the same study in both languages, with the paper's counts, ready to
check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.instrument.screens.parity import parity_of
from konsil.plan import History, assign, washouts
from konsil.prepare import draw, event_of, sentences
from konsil.records import Answer, Item, Span, Task
from konsil.study import Study, parse
from konsil.study.sections.calling import settings_of

LABELS = {
    "en": ("Disagree", "Partially disagree", "Neutral", "Partially agree", "Agree"),
    "de": ("Stimme nicht zu", "Stimme eher nicht zu", "Neutral", "Stimme eher zu", "Stimme zu"),
}
CRITERIA = ("correctness", "relevance", "communicates_risks")
PHASES = ("coarse 1", "fine 1", "fine 2", "coarse 2")
SOURCE = Path(__file__).resolve().parents[2] / "src" / "konsil" / "protocols" / "cqa-eval"


def new(folder: Path, *options: str) -> Study:
    done = CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "cqa-eval", *options], catch_exceptions=False
    )
    assert done.exit_code == 0
    return open_folder(folder).study


@pytest.mark.parametrize("language", ["de", "en"])
def test_labels_and_codebooks(tmp_path: Path, language: str):
    study = new(tmp_path / "study", "--language", language)
    coarse, fine = (study.instrument(name) for name in ("coarse", "fine"))
    assert coarse is not None
    assert fine is not None
    assert (coarse.unit, fine.unit) == ("answer", "sentence")
    for instrument in (coarse, fine):
        assert instrument.language == study.language == language
        assert [c.id for c in instrument.criteria] == [*CRITERIA, "confidence"]
        assert {c.scale.labels for c in instrument.criteria[:3]} == {LABELS[language]}
        assert all(f"| {label} |" in instrument.codebook for label in LABELS[language])
        assert parity_of(instrument, n_answers=1).missing == ()
    names = ["codebook-coarse", "codebook-fine", *(f"example-{n}" for n in range(1, 6)), "prompt"]
    made = sorted(p.name for p in (tmp_path / "study").iterdir())
    others = ["simulation.toml", "study.schema.json", "study.toml"]
    assert made == [*(f"{name}.{language}.md" for name in names), *others]


def test_both_languages_are_one_study(tmp_path: Path):
    english, german = (new(tmp_path / name, "--language", name) for name in ("en", "de"))
    for name in (
        "systems",
        "raters",
        "plan",
        "sources",
        "prepare",
        "together",
        "calibration",
        "exclusions",
    ):
        assert getattr(english, name) == getattr(german, name), name
    forms = [
        [[(c.id, c.scope, c.scale.level) for c in i.criteria] for i in s.instruments]
        for s in (english, german)
    ]
    assert forms[0] == forms[1]
    assert [(a.statistic, a.criterion, a.raters, a.by) for a in english.analyses] == [
        (a.statistic, a.criterion, a.raters, a.by) for a in german.analyses
    ]


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_sentences_form_does_not_ask_about_answers(tmp_path: Path, language: str):
    """What is asked about a sentence names the sentence, and its codebook's rules and examples are
    about sentences."""
    fine = new(tmp_path / "study", "--language", language).instrument("fine")
    assert fine is not None
    word, whole = (
        ("sentence", r"answers?\b|as a whole")
        if language == "en"
        else ("Satz", r"\bAntwort|als Ganzes")
    )
    assert all(word in c.question for c in fine.criteria[:3])
    asked = " ".join([fine.role, fine.codebook, *(c.question + c.guidance for c in fine.criteria)])
    found = [m[0] for m in re.finditer(rf"[^.|\n]*(?:{whole})[^.|\n]*", asked)]
    # To answer a part of the question is what a sentence may do.
    assert [f for f in found if "answers a part of the question" not in f] == []


@cache
def planned(edits: tuple[tuple[str, str], ...] = ()) -> tuple[Study, tuple[Task, ...]]:
    text = (SOURCE / "study.toml").read_text("utf-8")
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    study = parse(text, lambda name: (SOURCE / name).read_text("utf-8"))
    items = [Item(f"q{n:03}", "?") for n in range(201)]
    assert study.prepare is not None
    systems = [s.id for s in study.systems]
    drawn = event_of(
        draw(study.prepare, items, (), systems=systems, seed=study.seed), 1, "2026-01-01T00:00:00Z"
    )
    answers = [
        Answer(
            f"{i.id}:{s}",
            i.id,
            s,
            "...",
            sentences=tuple(Span(2 * k, 2 * k + 1) for k in range(3 + n % 9)),
        )
        for n, i in enumerate(items)
        for s in systems
    ]
    return study, assign(
        study.plan,
        items=items,
        answers=answers,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        history=History(events=[drawn]),
    )


def looks(tasks: Iterable[Task]) -> list[Task]:
    """One page of each answer in each phase: sentences have pages of their own."""
    first: dict[object, Task] = {}
    for t in tasks:
        first.setdefault((t.rater, t.phase, t.purpose, t.item, t.answers) if t.item else t.id, t)
    return list(first.values())


def of(rater: str) -> list[Task]:
    return looks(sorted((t for t in planned()[1] if t.rater == rater), key=lambda t: t.position))


def test_the_panels_rate_what_the_paper_has_them_rate():
    study, tasks = planned()
    screens = looks(t for t in tasks if t.purpose == "main" and t.item is not None)
    people = [t for t in screens if not t.rater.startswith("judge")]
    pairs = {(t.item, t.answers) for t in people}
    assert len({t.item for t in people}) == 100
    assert len(pairs) == 300
    assert Counter((t.rater, t.instrument) for t in people) == {
        (r.id, design): 150
        for r in study.raters
        if r.kind == "human"
        for design in ("coarse", "fine")
    }
    for panel in ("group-1", "group-2"):
        mine = {r.id for r in study.raters if r.panel == panel}
        by_rater = {r: {(t.item, t.answers) for t in people if t.rater == r} for r in mine}
        assert len(mine) == 3
        assert len(set(map(frozenset, by_rater.values()))) == 1
    for judge in ("judge-1", "judge-2"):
        for design in ("coarse", "fine"):
            seen = [
                (t.item, t.answers) for t in screens if (t.rater, t.instrument) == (judge, design)
            ]
            assert len(seen) == 300
            assert set(seen) == pairs


def test_seventeen_batches_a_design():
    for n in range(1, 7):
        mine = of(f"physician-{n}")
        batches = {
            p: Counter(t.batch for t in mine if t.phase == p and t.item and t.purpose == "main")
            for p in PHASES
        }
        assert [len(batches[p]) for p in PHASES] == [9, 8, 9, 8]
        assert [sum(batches[p].values()) for p in PHASES] == [81, 69, 81, 69]
        assert {p: sorted(b.values()) for p, b in batches.items()} == {
            "coarse 1": [9] * 9,
            "fine 1": [6] + [9] * 7,
            "fine 2": [9] * 9,
            "coarse 2": [6] + [9] * 7,
        }
        order = list(dict.fromkeys(t.phase for t in mine))
        assert order == ["pilot coarse", "pilot fine", *PHASES, "again coarse", "again fine"]


def test_the_answers_of_a_question_share_a_batch_and_everybody_has_an_order_of_her_own():
    orders = []
    for n in (1, 2, 3):
        mine = [t for t in of(f"physician-{n}") if t.item and t.purpose == "main"]
        for phase in PHASES:
            batches: dict[str | None, set[str]] = {}
            for t in mine:
                if t.phase == phase:
                    batches.setdefault(t.item, set()).add(t.batch)
            assert {len(b) for b in batches.values()} == {1}
        orders.append([t.answers for t in mine])
    assert len({str(o) for o in orders}) == 3


def test_one_sample_of_up_to_six_sentences_is_everybodys():
    study, tasks = planned()
    samples: dict[tuple[str, ...], dict[tuple[str, str], list[Span]]] = {}
    for t in tasks:
        if t.instrument == "fine":
            assert len(t.spans) <= 1, "one marked sentence on a page"
            sample = samples.setdefault(t.answers, {}).setdefault((t.rater, t.phase), [])
            sample += t.spans
    assert {len(set(map(tuple, s.values()))) for s in samples.values()} == {1}
    sizes = {len(next(iter(s.values()))) for s in samples.values()}
    assert sizes == {3, 4, 5, 6}
    assert {i.id: i.unit for i in study.instruments}["fine"] == "sentence"


def test_two_early_questions_come_again_in_both_designs_and_two_pilots_come_first():
    main = {t.id: t for t in planned()[1]}
    for n in range(1, 7):
        mine = of(f"physician-{n}")
        again = [t for t in mine if t.purpose == "repeat"]
        assert Counter(t.instrument for t in again) == {"coarse": 6, "fine": 6}
        assert len({t.item for t in again}) == 2
        assert {main[t.repeat_of or ""].answers for t in again} == {t.answers for t in again}
        assert {main[t.repeat_of or ""].batch for t in again if t.instrument == "coarse"} == {
            "coarse 1 1"
        }
        assert mine.index(again[0]) > max(
            k for k, t in enumerate(mine) if t.purpose == "main" and t.item
        )
        pilots = [t for t in mine if t.purpose == "pilot"]
        assert mine[: len(pilots)] == pilots
        assert Counter(t.instrument for t in pilots) == {"coarse": 9, "fine": 9}
        assert not {t.item for t in pilots} & {t.item for t in mine if t.purpose != "pilot"}


def test_eight_batches_lie_between_the_two_looks_at_an_answer():
    study, tasks = planned()
    people = {r.id for r in study.raters if r.kind == "human"}
    found = washouts(t for t in tasks if t.rater in people)
    assert {key: one.looks for key, one in found.items()} == {
        ("group-1", "designs"): 450,
        ("group-1", "repeats"): 36,
        ("group-2", "designs"): 450,
        ("group-2", "repeats"): 36,
    }
    for panel in ("group-1", "group-2"):
        one = found[panel, "designs"]
        assert one.batches >= 8
        assert one.least >= 69


def test_ease_after_every_batch_load_after_each_design_and_one_closing_question():
    for n in range(1, 7):
        mine = [t for t in of(f"physician-{n}") if t.item is None]
        assert Counter(t.instrument for t in mine) == {"ease": 34, "load": 2, "closing": 1}
        assert [t.phase for t in mine if t.instrument == "load"] == ["fine 2", "coarse 2"]
        assert mine[-1].instrument == "closing"
        assert of(f"physician-{n}")[-1] == mine[-1]


def test_numbers_are_parameters():
    """Other sizes of parts, samples and batches, and the plan follows from them."""
    study, tasks = planned(
        edits=(
            ("= 27", "= 5"),
            ("= 23", "= 4"),
            ("batches = 9", "batches = 6"),
            ("= 106", "= 24"),
            ("spans = 6", "spans = 2"),
            ("per_rater = 2", "per_rater = 1"),
        )
    )
    pages = [t for t in tasks if t.rater == "physician-1" and t.item]
    mine = looks(pages)
    main = [t for t in mine if t.purpose == "main"]
    assert study.prepare is not None
    assert Counter(t.instrument for t in main) == {"coarse": 27, "fine": 27}
    assert [len({t.batch for t in main if t.phase == p}) for p in PHASES] == [3, 2, 3, 2]
    spans = Counter((t.phase, t.answers) for t in pages if t.spans and t.purpose == "main")
    assert set(spans.values()) == {2}
    assert sum(t.purpose == "repeat" for t in mine) == 6


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_places_of_models_become_a_study_that_calls_them(tmp_path: Path, language: str):
    before = new(tmp_path / "study", "--language", language)
    assert not before.endpoints
    file = tmp_path / "study" / "study.toml"
    file.write_text(re.sub(r"(?m)^#(?=[^\s:])", "", file.read_text("utf-8")), "utf-8")
    study = open_folder(tmp_path / "study").study
    assert {j.rater for j in study.judges} == {r.id for r in study.panels()["judges"]}
    called = [s for s in study.systems if s.model is not None]
    assert [s.id for s in called] == ["system-1", "system-2"]
    asked = [settings_of(s.settings, "") for s in called]
    assert asked[0] == asked[1]
    assert "270" in asked[0].system
    reasoning, final = asked[0].sections
    assert f"{reasoning}" in asked[0].system
    assert f"{final}" in asked[0].system
    assert len(asked[0].examples) == 5
    for example in asked[0].examples:
        thought, said = example.answer.split(f"\n{final}\n")
        assert thought.startswith(f"{reasoning}\n")
        assert 60 < len(said.split()) < 270
        assert len(sentences(said)) >= 4
