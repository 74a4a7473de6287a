"""How much may be asked of models, in every command that calls some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from konsil.records import Outcome
from konsil.records.request import Flag, Request, setting

if TYPE_CHECKING:
    from konsil.collect.jobs.collection import Options

UNREADABLE = tuple(
    o
    for o in get_args(Outcome)
    if o not in ("ok", "repaired", "re-asked", "no majority", "inconsistent")
)
"""Outcomes of which no record is made; only these can be asked for again."""


@dataclass(frozen=True, kw_only=True)
class CallLimits(Request):
    """How much may be asked of models."""

    limit: int | None = setting(None, Flag("Maximum number of calls in this run.", minimum=1))
    budget: float | None = setting(
        None, Flag("Budget for all calls together, in US dollars.", minimum=0)
    )
    again: tuple[str, ...] = setting(
        (), Flag("Repeat the calls that ended in this outcome.", choices=UNREADABLE)
    )

    def options(self, only: Sequence[str] = (), *, dry_run: bool = False) -> Options:
        """The same for a run, of these systems or judges alone if some are named."""
        from konsil.collect.jobs.collection import Options

        return Options(tuple(only), self.limit, self.budget, self.again, dry_run)


@dataclass(frozen=True, kw_only=True)
class CallRequest(CallLimits):
    """The calls of a command that does nothing else."""

    dry_run: bool = setting(
        False, Flag("Dry run: print the number of calls and their estimated cost.")
    )
