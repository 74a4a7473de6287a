"""Programs that rate: which rater is one, and what it looks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from konsil.errors import nearest
from konsil.instrument import Instrument
from konsil.plan import Allocation
from konsil.records import Rater


@dataclass(frozen=True, slots=True)
class Program:
    """A program that checks whether an answer names the item's reference.

    It checks the reasoning, the final response or both.
    """

    rater: str
    """The id of a rater of kind program."""
    reasoning: str = "reasoning_names"
    """The criterion that asks of the reasoning; empty: none does."""
    answer: str = "answer_names"
    """The criterion that asks of the final response; empty: none does."""
    misspelt: bool = True
    """Whether a name that is spelt almost rightly counts as the name."""


def program_problems(
    program: Program,
    raters: Sequence[Rater],
    instruments: Sequence[Instrument],
    plan: Sequence[Allocation],
    where: str,
) -> Iterator[str]:
    """Say what is wrong with a program: who it is, and what its instruments ask."""
    program_by_id = {r.id: r for r in raters if r.kind == "program"}
    if program.rater not in program_by_id:
        yield (
            f"{where}.rater: there is no rater of kind 'program' {program.rater!r};"
            f" {nearest(program.rater, program_by_id)}"
        )
        return
    if not program.reasoning and not program.answer:
        yield (f"{where}: is empty; expected a criterion under reasoning, under answer or both")
    used = {a.instrument for a in plan if a.panel == program_by_id[program.rater].panel}
    for instrument in instruments:
        if instrument.id in used:
            yield from _form_problems(program, instrument, where)


def _form_problems(program: Program, instrument: Instrument, where: str) -> Iterator[str]:
    program_criteria = [name for name in (program.reasoning, program.answer) if name]
    criteria = {c.id: c for c in instrument.criteria}
    for name in program_criteria:
        criterion = criteria.get(name)
        if criterion is None:
            yield (
                f"{where}: instrument {instrument.id!r} has no criterion {name!r};"
                f" {nearest(name, criteria)}"
            )
        elif (
            criterion.scope != "answer"
            or criterion.scale.kind != "choice"
            or len(criterion.scale.labels) != 2
        ):
            yield (
                f"{where}: criterion {name!r} of {instrument.id!r}: expected one about an answer,"
                " with two labels: not named, and named"
            )
    for name in criteria:
        if name not in program_criteria:
            yield (
                f"{where}: instrument {instrument.id!r} also contains {name!r}, which this"
                " program cannot rate"
            )
