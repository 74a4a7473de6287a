"""The latent world of a simulated study: difficult and easy items, right and wrong answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from konsil.plan import generator
from konsil.records import Answer, Item
from konsil.simulate.truth import SystemTruth, Truth

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """What is rated, answers or sentences: (n_units,) arrays."""

    item_of: Indices
    """The unit's item, 0 .. n_items - 1."""
    system_of: Indices
    """The unit's system, 0 .. n_systems - 1."""
    right: NDArray[np.bool_]
    """Whether it is right."""
    reasoned: NDArray[np.bool_]
    """Whether the reasoning behind it is right; that of a right one is."""
    clarity: Array
    """Standard normal: what everybody sees in it beyond right and wrong."""


@dataclass(frozen=True)
class World:
    """What the raters look at."""

    seed: int
    systems: tuple[str, ...]
    families: tuple[str, ...]
    """The systems' families, empty where there is none."""
    strengths: Array
    """(n_systems,)."""
    strengths_on: Mapping[str, Array]
    """Criterion -> the same with what is stated for it, (n_systems,); only criteria of which
    something is."""
    difficulty: Array
    """(n_items,) standard normal; the versions of a case share it."""
    strata: tuple[Mapping[str, str], ...]
    """The items' columns."""
    case_of: Indices
    """(n_items,) the items' cases, 0 .. n_cases - 1; an item without one is its own."""
    answers: Units
    sentences: Units
    first_sentence: Indices
    """(n_answers + 1,); the sentences of answer a are first_sentence[a] .. first_sentence[a + 1] -
    1."""

    @property
    def owner(self) -> Indices:
        """(n_sentences,) the sentences' answers."""
        return np.repeat(np.arange(len(self.answers.item_of)), np.diff(self.first_sentence))

    def every_item(self) -> Indices:
        """0 .. n_items - 1."""
        return np.arange(len(self.difficulty))


def build_world(
    items: Sequence[Item],
    answers: Sequence[Answer],
    families: Mapping[str, str],
    truth: Truth,
    seed: int,
) -> World:
    """Difficulties and correctness of the study's own items and answers, from their own streams."""
    places = {item.id: n for n, item in enumerate(items)}
    cases: dict[str, int] = {}
    # An item without a case is one of its own, whatever a case is called.
    case_of = np.array(
        [cases.setdefault(repr((i.case, i.case or i.id)), len(cases)) for i in items],
        dtype=np.int64,
    )
    strata = tuple(item.strata for item in items)
    systems = tuple(dict.fromkeys(a.system for a in answers))
    numbers = {s: n for n, s in enumerate(systems)}
    item_of = np.array([places[a.item] for a in answers], dtype=np.int64)
    system_of = np.array([numbers[a.system] for a in answers], dtype=np.int64)
    means = _means(systems, truth, strata, item_of, system_of)
    if truth.wrong_answers:
        wrong = set(truth.wrong_answers)
        right = np.array([a.id not in wrong for a in answers], dtype=np.bool_)
        drawn = _difficulty_given(
            right, case_of[item_of], means, truth.difficulty_spread, len(cases), seed
        )
    else:
        drawn = generator(seed, "world", "difficulty").standard_normal(len(cases))
        right = draw_right(drawn[case_of][item_of], means, truth.difficulty_spread, seed)
    lengths = [len(a.sentences) for a in answers]
    return _world(
        seed,
        systems,
        families,
        truth,
        _Items(drawn[case_of], strata, case_of),
        _Answers(item_of, system_of, right, lengths),
    )


def large_world(
    n_items: int,
    systems: Sequence[str],
    families: Mapping[str, str],
    truth: Truth,
    seed: int,
    lengths: Mapping[str, Sequence[int]] | None = None,
    cases: Sequence[Sequence[Mapping[str, str]]] = (({},),),
) -> World:
    """New items, all answered by the same systems: what the study's items are a sample of.

    `lengths` are the numbers of sentences of each system's answers; the new ones have these again
    and again. `cases` are the study's own, the columns of each version: the new ones are like them,
    again and again, about `n_items` versions in all.
    """
    versions = [version for case in cases for version in case]
    again = max(1, n_items // len(versions))
    strata = tuple(versions) * again
    case_of = np.repeat(
        np.arange(again * len(cases)), np.tile([len(case) for case in cases], again)
    )
    item_of = np.repeat(np.arange(len(strata)), len(systems))
    system_of = np.tile(np.arange(len(systems)), len(strata))
    difficulty = generator(seed, "world", "difficulty").standard_normal(again * len(cases))[case_of]
    means = _means(systems, truth, strata, item_of, system_of)
    right = draw_right(difficulty[item_of], means, truth.difficulty_spread, seed)
    lengths_by_system = [
        np.asarray((lengths or {}).get(s) or (0,), dtype=np.int64) for s in systems
    ]
    of_each = np.column_stack([np.resize(n, len(strata)) for n in lengths_by_system]).ravel()
    return _world(
        seed,
        tuple(systems),
        families,
        truth,
        _Items(difficulty, strata, case_of),
        _Answers(item_of, system_of, right, of_each.tolist()),
    )


def draw_right(difficulty: Array, means: Array, spread: float, seed: int) -> NDArray[np.bool_]:
    """Whether each answer is correct: probit in the difficulty.

    It is scaled so that the proportion correct is `quality`.
    """
    noise = generator(seed, "world", "right").standard_normal(len(means))
    return np.asarray(means - spread * difficulty + noise > 0, dtype=np.bool_)


def _means(
    systems: Sequence[str],
    truth: Truth,
    strata: Sequence[Mapping[str, str]],
    item_of: Indices,
    system_of: Indices,
) -> Array:
    """The latent mean of every answer, by its system and the values of its item's columns."""
    system_truths = [truth.systems.get(s, SystemTruth()) for s in systems]
    means = ndtri(np.array([t.quality for t in system_truths], dtype=np.float64))[system_of]
    for n, system_truth in enumerate(system_truths):
        for column, values in system_truth.quality_by.items():
            shifts = {
                value: ndtri(quality) - ndtri(system_truth.quality)
                for value, quality in values.items()
            }
            by_item = np.array(
                [shifts.get(columns.get(column, ""), 0.0) for columns in strata], dtype=np.float64
            )
            means = means + np.where(system_of == n, by_item[item_of], 0.0)
    return np.asarray(means * np.sqrt(1 + truth.difficulty_spread**2), dtype=np.float64)


def _difficulty_given(
    right: NDArray[np.bool_], item_of: Indices, means: Array, spread: float, n_items: int, seed: int
) -> Array:
    """Difficulties drawn from their law given the known right and wrong answers, on a fine grid."""
    grid = np.linspace(-3.5, 3.5, 141)
    chance = ndtr(means[:, None] - spread * grid)
    log_posterior = np.tile(-(grid**2) / 2, (n_items, 1))
    np.add.at(log_posterior, item_of, np.log(np.where(right[:, None], chance, 1 - chance) + 1e-300))
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    sums = np.cumsum(posterior, axis=1)
    u = generator(seed, "world", "difficulty").random(n_items)
    return np.asarray(
        grid[np.minimum((sums < u[:, None] * sums[:, -1:]).sum(axis=1), len(grid) - 1)]
    )


@dataclass(frozen=True)
class _Items:
    """The items of a world."""

    difficulty: Array
    """(n_items,) their latent difficulty."""
    strata: tuple[Mapping[str, str], ...]
    """Their columns."""
    case_of: Indices
    """(n_items,) the case that each is a version of."""


@dataclass(frozen=True)
class _Answers:
    """The answers of a world."""

    item_of: Indices
    """(n_answers,) the item of each."""
    system_of: Indices
    """(n_answers,) the system of each."""
    right: NDArray[np.bool_]
    """(n_answers,) whether it is correct."""
    lengths: Sequence[int]
    """The number of sentences of each."""


def _world(
    seed: int,
    systems: tuple[str, ...],
    families: Mapping[str, str],
    truth: Truth,
    items: _Items,
    answers: _Answers,
) -> World:
    item_of, system_of, right = answers.item_of, answers.system_of, answers.right
    system_truths = [truth.systems.get(s, SystemTruth()) for s in systems]
    clarity = generator(seed, "world", "clarity").standard_normal(len(item_of))
    first = np.concatenate(([0], np.cumsum(np.asarray(answers.lengths, dtype=np.int64)))).astype(
        np.int64
    )
    owner = np.repeat(np.arange(len(item_of)), np.diff(first))
    rng = generator(seed, "world", "sentences")
    bad = rng.random(len(owner)) < truth.sentence_errors
    chosen = first[:-1] + (rng.random(len(item_of)) * np.diff(first)).astype(np.int64)
    bad[chosen[np.diff(first) > 0]] = True
    fine = right[owner] | ~bad
    noise, part = rng.standard_normal(len(owner)), truth.sentence_shared
    sentence_clarity = np.sqrt(part) * clarity[owner] + np.sqrt(1 - part) * noise
    hidden = np.array([t.hidden for t in system_truths], dtype=np.float64)[system_of]
    reasoned = right | (generator(seed, "world", "hidden").random(len(right)) < hidden)
    strengths = np.array([t.strength for t in system_truths], dtype=np.float64)
    named = dict.fromkeys(criterion for t in system_truths for criterion in t.strength_on)
    return World(
        seed=seed,
        systems=systems,
        families=tuple(families.get(s, "") for s in systems),
        strengths=strengths,
        strengths_on={
            c: strengths + np.array([t.strength_on.get(c, 0.0) for t in system_truths])
            for c in named
        },
        difficulty=items.difficulty,
        strata=items.strata,
        case_of=items.case_of,
        answers=Units(item_of, system_of, right, reasoned, clarity),
        sentences=Units(
            item_of[owner], system_of[owner], fine, fine | reasoned[owner], sentence_clarity
        ),
        first_sentence=first,
    )
