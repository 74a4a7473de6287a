"""How the items of a pool stand: undecided, suspected, kept or out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from konsil.prepare import (
    KEEP,
    Decision,
)
from konsil.prepare.questions.deciding import current_decisions
from konsil.prepare.questions.screening import UNDECIDED

Standing = Literal["undecided", "suspected", "kept", "out"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""Nobody decided; nobody decided, and a rule found something; a person kept it; a person left it
out."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How the whole pool stands."""

    decided: Mapping[str, str]
    """Item -> what people decided."""
    suspected: Mapping[str, str]
    """Item that nobody decided on -> the reason for which a rule leaves it out."""
    last: Mapping[str, Decision]
    """Item -> the last decision that was made on these pages."""
    by_model: Mapping[str, str]
    """Item -> the reason for which a model suspects it, where no rule does."""

    def after(self, later: Sequence[Decision]) -> Stand:
        """How it stands after some decisions more."""
        decided, suspected = current_decisions(self.decided, later), dict(self.suspected)
        for decision in later:
            suspected.pop(decision.item, None)
            if not decision.decision and decision.otherwise not in (KEEP, UNDECIDED):
                suspected[decision.item] = decision.otherwise
        return Stand(
            decided,
            suspected,
            {**self.last, **{decision.item: decision for decision in later}},
            self.by_model,
        )

    def of(self, item: str) -> Standing:
        """How one item stands."""
        if item in self.decided:
            return "kept" if self.decided[item] == KEEP else "out"
        return "suspected" if item in self.suspected else "undecided"

    def reason(self, item: str) -> str:
        """Why an item is left out, or suspected; empty: it is neither."""
        decided = self.decided.get(item, self.suspected.get(item, ""))
        return "" if decided == KEEP else decided
