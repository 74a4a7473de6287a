"""Answers for the rehearsal of a study that has no answers yet.

Some are the reference, the others are not.
"""

from __future__ import annotations

from collections.abc import Sequence

from konsil.prepare import MATCH, Preparation, in_sets
from konsil.records import Answer, Item

SHARE = 0.2
"""The share of items with a verbatim match where the protocol's sample states none."""


def pretended_answers(
    items: Sequence[Item], systems: Sequence[str], spec: Preparation, seed: int
) -> tuple[Answer, ...]:
    """Answers by which a protocol's items can be drawn.

    The first system's match in the sample's own share of items.

    >>> items = [Item(f"i{n}", "?", "reference") for n in range(10)]
    >>> sum(a.text == "reference" for a in pretended_answers(items, ["a", "b"], Preparation(), 1))
    2
    """
    shares = spec.sample.shares if spec.sample is not None and spec.sample.by == MATCH else {}
    n = round(shares.get("yes", SHARE) * len(items))
    matched = {
        i.id for i in in_sets(items, {MATCH: n}, seed=seed, name="rehearsal") if MATCH in i.sets
    }
    return tuple(
        Answer(
            f"{item.id}:{system}",
            item.id,
            system,
            item.reference or "" if item.id in matched and k == 0 else "-",
        )
        for item in items
        for k, system in enumerate(systems)
    )
