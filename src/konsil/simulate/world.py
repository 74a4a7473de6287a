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
    difficulty: Array
    """(n_items,) standard normal."""
    answers: Units
    sentences: Units
    first_sentence: Indices
    """(n_answers + 1,); the sentences of answer a are first_sentence[a] .. first_sentence[a + 1] - 1."""

    def every_item(self) -> Indices:
        """0 .. n_items - 1."""
        return np.arange(len(self.difficulty))


SENTENCE_ERRORS = 0.4
"""In a wrong answer each sentence is wrong with this probability, and at least one is."""


def build_world(
    items: Sequence[Item], answers: Sequence[Answer], families: Mapping[str, str], truth: Truth, seed: int
) -> World:
    """Difficulties and correctness of the study's own items and answers, from streams of their own."""
    places = {item.id: n for n, item in enumerate(items)}
    systems = tuple(dict.fromkeys(a.system for a in answers))
    numbers = {s: n for n, s in enumerate(systems)}
    item_of = np.array([places[a.item] for a in answers], dtype=np.int64)
    system_of = np.array([numbers[a.system] for a in answers], dtype=np.int64)
    means = _means(systems, truth)
    if truth.wrong_answers:
        wrong = set(truth.wrong_answers)
        right = np.array([a.id not in wrong for a in answers], dtype=np.bool_)
        difficulty = _difficulty_given(right, item_of, system_of, means, truth.difficulty_spread, len(items), seed)
    else:
        difficulty = generator(seed, "world", "difficulty").standard_normal(len(items))
        right = draw_right(difficulty, item_of, system_of, means, truth.difficulty_spread, seed)
    return _world(
        seed, systems, families, truth, difficulty, item_of, system_of, right, [len(a.sentences) for a in answers]
    )


def large_world(
    n_items: int, systems: Sequence[str], families: Mapping[str, str], truth: Truth, seed: int, n_sentences: int = 0
) -> World:
    """New items, all answered by the same systems: what the study's items are a sample of."""
    item_of = np.repeat(np.arange(n_items), len(systems))
    system_of = np.tile(np.arange(len(systems)), n_items)
    difficulty = generator(seed, "world", "difficulty").standard_normal(n_items)
    right = draw_right(difficulty, item_of, system_of, _means(systems, truth), truth.difficulty_spread, seed)
    lengths = [n_sentences] * len(item_of)
    return _world(seed, tuple(systems), families, truth, difficulty, item_of, system_of, right, lengths)


def draw_right(
    difficulty: Array, item_of: Indices, system_of: Indices, means: Array, spread: float, seed: int
) -> NDArray[np.bool_]:
    """Right or wrong: probit in the difficulty, so scaled that a system's share of right answers is `quality`."""
    noise = generator(seed, "world", "right").standard_normal(len(item_of))
    return np.asarray(means[system_of] - spread * difficulty[item_of] + noise > 0, dtype=np.bool_)


def _means(systems: Sequence[str], truth: Truth) -> Array:
    quality = np.array([truth.systems.get(s, SystemTruth()).quality for s in systems], dtype=np.float64)
    return np.asarray(ndtri(quality) * np.sqrt(1 + truth.difficulty_spread**2), dtype=np.float64)


def _difficulty_given(
    right: NDArray[np.bool_],
    item_of: Indices,
    system_of: Indices,
    means: Array,
    spread: float,
    n_items: int,
    seed: int,
) -> Array:
    """Difficulties drawn from what the known right and wrong answers say of them, on a fine grid."""
    grid = np.linspace(-3.5, 3.5, 141)
    chance = ndtr(means[:, None] - spread * grid)
    log_posterior = np.tile(-(grid**2) / 2, (n_items, 1))
    np.add.at(
        log_posterior, item_of, np.log(np.where(right[:, None], chance[system_of], 1 - chance[system_of]) + 1e-300)
    )
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    sums = np.cumsum(posterior, axis=1)
    u = generator(seed, "world", "difficulty").random(n_items)
    return np.asarray(grid[np.minimum((sums < u[:, None] * sums[:, -1:]).sum(axis=1), len(grid) - 1)])


def _world(
    seed: int,
    systems: tuple[str, ...],
    families: Mapping[str, str],
    truth: Truth,
    difficulty: Array,
    item_of: Indices,
    system_of: Indices,
    right: NDArray[np.bool_],
    lengths: Sequence[int],
) -> World:
    clarity = generator(seed, "world", "clarity").standard_normal(len(item_of))
    first = np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64)))).astype(np.int64)
    owner = np.repeat(np.arange(len(item_of)), np.diff(first))
    rng = generator(seed, "world", "sentences")
    bad = rng.random(len(owner)) < SENTENCE_ERRORS
    chosen = first[:-1] + (rng.random(len(item_of)) * np.diff(first)).astype(np.int64)
    bad[chosen[np.diff(first) > 0]] = True
    sentences = Units(item_of[owner], system_of[owner], right[owner] | ~bad, rng.standard_normal(len(owner)))
    return World(
        seed=seed,
        systems=systems,
        families=tuple(families.get(s, "") for s in systems),
        strengths=np.array([truth.systems.get(s, SystemTruth()).strength for s in systems], dtype=np.float64),
        difficulty=difficulty,
        answers=Units(item_of, system_of, right, clarity),
        sentences=sentences,
        first_sentence=first,
    )
