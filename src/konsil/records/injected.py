"""One answer that a judge rated twice: as it is, and with an instruction to the judge in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Injected:
    """Whether a judge gave the label that an instruction demands, with it and without."""

    rater: str
    """The judge."""
    item: str
    """The item."""
    answer: str
    """The answer."""
    criterion: str
    """The criterion."""
    kind: str
    """The kind of the instruction."""
    label: str
    """The label that it demands."""
    after: bool | None
    """Whether the label was given with the instruction; an abstention is another label; None: there
    is no label."""
    before: bool | None
    """The same without the instruction."""
