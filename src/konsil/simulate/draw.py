"""draw: a whole study's tasks and ratings from stated parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.plan import History, assign
from konsil.records import Answer, Item, Rating, Task
from konsil.simulate.desk import Desk
from konsil.simulate.panel import labeller
from konsil.simulate.truth import Truth
from konsil.simulate.truth_check import check_truth
from konsil.simulate.world import build_world
from konsil.study import Study


@dataclass(frozen=True, slots=True)
class Latent:
    """What nobody sees in a real study."""

    difficulty: Mapping[str, float]
    """Item -> difficulty, in standard deviations."""
    right: Mapping[str, bool]
    """Answer -> whether it is right."""
    severity: Mapping[str, float]
    """Rater -> shift towards the worse labels."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """One simulated study."""

    tasks: tuple[Task, ...]
    """The plan's tasks, tie-breaks included."""
    ratings: tuple[Rating, ...]
    """Every rater's ratings; those of tie-breaks come last."""
    truth_values: Latent
    """The latent values they were drawn from."""


def draw(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    truth: Truth,
    seed: int,
    *,
    panel_seed: int | None = None,
) -> Simulated:
    """Tasks by `plan.assign` and, for each, ratings on every criterion.

    The same arguments give the same ratings.

    Each rater, criterion and repeat has a stream of its own that covers all items, whoever sees
    them: another allocation, criterion, rater or analysis changes no rating. Free texts are left
    unanswered. Tie-breaks are planned from the simulated ratings and then rated too. `seed` draws
    the panel; the plan follows the study's own seed, so that it is the plan of a real study.
    `panel_seed` makes the raters' severity and likings instead, so that the same raters can meet
    new items. The order of items and answers does not matter.
    """
    check_truth(truth, study, answers, items=items)
    item_ids = {i.id for i in items}
    items = sorted(items, key=lambda i: i.id)
    answers = sorted((a for a in answers if a.item in item_ids), key=lambda a: a.id)
    desk = people(study, items, answers, truth, seed, panel_seed=panel_seed)

    def plan(ratings: Sequence[Rating]) -> tuple[Task, ...]:
        tasks = assign(
            study.plan,
            items=items,
            answers=answers,
            raters=study.everybody(),
            instruments=study.instruments,
            seed=study.seed,
            history=History(ratings=ratings),
        )
        return tuple(tasks)

    tasks = plan(())
    ratings = desk.rate(tasks)
    if any(a.when == "disagreed" for a in study.plan):
        first = {t.id for t in tasks}
        tasks = plan(ratings)
        ratings += desk.rate([t for t in tasks if t.id not in first])
    latent = Latent(
        difficulty=dict(zip((i.id for i in items), desk.world.difficulty.tolist(), strict=True)),
        right=dict(zip((a.id for a in answers), desk.world.answers.right.tolist(), strict=True)),
        severity={r: rater_labeller.severity for r, rater_labeller in desk.labellers.items()},
    )
    return Simulated(tasks, tuple(ratings), latent)


def people(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    truth: Truth,
    seed: int,
    *,
    panel_seed: int | None = None,
) -> Desk:
    """The simulated raters of `draw`, who can be asked task by task.

    Their ratings do not depend on the order in which they are asked.
    """
    item_ids = {i.id for i in items}
    items = sorted(items, key=lambda i: i.id)
    answers = sorted((a for a in answers if a.item in item_ids), key=lambda a: a.id)
    families = {s.id: s.family for s in study.systems}
    world = build_world(items, answers, families, truth, seed)
    labeller_seed = seed if panel_seed is None else panel_seed
    labellers = {r.id: labeller(world, r, truth, labeller_seed) for r in study.everybody()}
    return Desk(study, items, answers, world, truth, labellers)
