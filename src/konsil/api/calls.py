"""How much may be asked of models, in every command that calls some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from konsil.errors import CollectError, option
from konsil.records import Outcome
from konsil.records.request import Flag, Request, setting

if TYPE_CHECKING:
    from konsil.collect.jobs.collection import Options

UNREADABLE = tuple(
    o
    for o in get_args(Outcome)
    if o not in ("ok", "repaired", "re-asked", "expired", "no majority", "inconsistent")
)
"""Outcomes of which no record is made; only these can be asked for again. What expired in a batch
is asked again without being named."""


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


@dataclass(frozen=True, kw_only=True)
class BatchCallRequest(CallRequest):
    """Calls that can also be made by the vendors' batch interfaces."""

    batch: bool = setting(
        False, Flag("Send the requests in batches, within a day and at half the price.")
    )
    wait: bool = setting(
        True,
        Flag(
            "Wait until all batches have ended; otherwise send, store completed replies and exit.",
            off="no-wait",
        ),
    )
    cancel_batches: bool = setting(
        False, Flag("Cancel the batches under way; completed replies are stored.")
    )

    def options(self, only: Sequence[str] = (), *, dry_run: bool = False) -> Options:
        """The same for a run, by batches where they are chosen."""
        from konsil.collect.batches.batch_lanes import BatchOptions

        options = super().options(only, dry_run=dry_run)
        if not (self.batch or self.cancel_batches):
            if not self.wait:
                raise CollectError(
                    f"{option('wait', flag='no-wait')}: needs {option('batch')}; other"
                    " requests are always waited for"
                )
            return options
        return replace(
            options,
            batch=BatchOptions(is_waiting=self.wait, is_cancelling=self.cancel_batches),
        )
