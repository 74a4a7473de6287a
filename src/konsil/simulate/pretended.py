"""Items for a study whose items are not collected yet: as many as it will have, in the sets and strata it speaks of."""

from __future__ import annotations

from itertools import chain, cycle, islice

from konsil.prepare import in_sets, sizes
from konsil.records import Item
from konsil.study import Study


def pretended_items(study: Study, n: int) -> tuple[Item, ...]:
    """As many items without a text: the plan's strata are spread evenly over them, sets are drawn as the protocol does.

    Where the protocol's sets have more items than there are, they keep their proportions.
    """
    items = [Item(f"item-{k + 1:0{len(str(n))}}", "") for k in range(n)]
    for column in dict.fromkeys(a.match for a in study.plan if a.match):
        values = list(dict.fromkeys(r.strata[column] for r in study.everybody() if column in r.strata))
        if values:
            items = [_with(item, column, value) for item, value in zip(items, cycle(values), strict=False)]
    sample = study.prepare.sample if study.prepare is not None else None
    if sample is not None and sample.by and sample.shares:
        values = list(chain.from_iterable([value] * k for value, k in sizes(n, sample.shares).items()))
        items = [_with(item, sample.by, value) for item, value in zip(items, islice(cycle(values), n), strict=True)]
    sets = dict(study.prepare.sets) if study.prepare is not None else {}
    if sets and sum(sets.values()) != n:
        whole = sum(sets.values())
        sets = sizes(n, {name: k / whole for name, k in sets.items()}) if whole > n else sets
    return tuple(in_sets(items, sets, seed=study.seed, name="pretended"))


def _with(item: Item, column: str, value: str) -> Item:
    return Item(item.id, item.text, sets=item.sets, strata={**item.strata, column: value})
